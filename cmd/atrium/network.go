package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// placeFlags name the database of a command that can also go to a server.
type placeFlags struct {
	databaseFlags

	// Where settings come from: a variable or a file; "" means the command line.
	urlFrom, contextFrom, databaseFrom string
	hasDatabase                        bool // whether the command line names the database
}

// describe records where settings come from.
func (c *placeFlags) describe(parsed *kong.Context, from map[string]string) {
	c.urlFrom, c.databaseFrom, c.contextFrom = from["url"], from["database-url"], from["context"]
	c.hasDatabase = slices.ContainsFunc(parsed.Path, func(given *kong.Path) bool {
		return given.Flag != nil && !given.Resolved && given.Flag.Name == "database-url"
	})
}

// networkFlags are the flags of commands that can go to a server in place of a database.
type networkFlags struct {
	contextFlags
	URL   string `name:"url" group:"Server:" placeholder:"URL" help:"Server to use over the network instead of the database. You need no access to the database then. If a variable sets it, --database-url on the command line overrides it. Default: the server of the current context of 'atrium login', unless a database is named."`
	Token string `group:"Server:" secret:"" placeholder:"TOKEN" help:"Bearer token for --url. Prefer the environment variable, because process lists show flags. Default: the token of the context, the ID token of the CI job, or, for a development server on this machine, an owner's token made from the database."`

	client clientFlags
}

// checkServer checks the server. A database that is named counts before the current context, and on the command line also before a server
// and a context in a variable.
func (c *networkFlags) checkServer(f *faults, of placeFlags) {
	if of.hasDatabase && of.urlFrom != "" {
		c.URL = ""
	}
	if of.hasDatabase && of.contextFrom != "" {
		c.Context = ""
	}
	if c.URL == "" && c.Context == "" {
		if of.hasDatabase || of.databaseFrom != "" || c.env == nil || strings.TrimSpace(c.Token) != "" {
			return
		}
		switch current, err := c.find(""); {
		case err != nil:
			f.add("context", "%s", explainFileError(err))
			return
		case current == nil:
			return
		default:
			c.URL = current.Server
		}
	}
	c.client = clientFlags{databaseFlags: of.databaseFlags, contextFlags: c.contextFlags, URL: c.URL, Token: c.Token}
	c.client.checkServer(f)
	c.URL = c.client.URL
}

// maxDownloadWait is longer than a server takes until it sends the first row of a file.
const maxDownloadWait = 2 * time.Minute

// download prints the file that a server has at a path.
func (c *graphqlClient) download(ctx context.Context, p program, path string, query url.Values) error {
	transport, _ := c.http.Transport.(*http.Transport)
	transport.ResponseHeaderTimeout = maxDownloadWait
	response, err := c.fetch(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch _, err = io.Copy(p.stdout, response.Body); {
	case errors.Is(err, syscall.EPIPE): // the reader of the output has closed it
		return nil
	case err != nil:
		return fmt.Errorf("the output is not complete: %w", err)
	}
	return nil
}
