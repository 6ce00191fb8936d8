package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"atrium/store"
)

// A connector is a command that opens connections to a database.
type connector interface {
	// fillPasswords adds the password of --database-password-command to the URLs.
	fillPasswords(ctx context.Context) error
}

// A passwordCommand runs a program that prints a password.
type passwordCommand struct {
	arguments []string

	lock     sync.Mutex
	password string
	until    time.Time // when the password is no longer used without asking again
}

const (
	passwordLifetime = time.Minute      // much less than the lifetime of the tokens of any cloud provider
	commandTimeout   = 10 * time.Second // for one run of the program
	maxShownOutput   = 300              // bytes of an error of the program
)

// get returns a password that is at most a minute old. Callers that come meanwhile wait for one run.
func (c *passwordCommand) get(ctx context.Context) (string, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if time.Now().Before(c.until) {
		return c.password, nil
	}
	within, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	command := exec.CommandContext(within, c.arguments[0], c.arguments[1:]...) //nolint:gosec // the operator names it
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	password := strings.TrimRight(string(out), "\r\n")
	switch {
	case err != nil:
		return "", fmt.Errorf("--database-password-command: %s fails: %w %.*s", c.arguments[0], err, maxShownOutput, bytes.TrimSpace(said.Bytes()))
	case password == "" || strings.ContainsAny(password, "\r\n"):
		return "", fmt.Errorf("--database-password-command: %s must print one line, the password", c.arguments[0])
	}
	c.password, c.until = password, time.Now().Add(passwordLifetime)
	return password, nil
}

// newPasswordCommand returns nil if there is no command.
func (d *databaseFlags) newPasswordCommand() *passwordCommand {
	if arguments := strings.Fields(d.DatabasePasswordCommand); len(arguments) > 0 {
		return &passwordCommand{arguments: arguments}
	}
	return nil
}

func (d *databaseFlags) fillPasswords(ctx context.Context) error {
	return d.fillPasswordsOf(ctx, &d.DatabaseURL, &d.DatabaseDirectURL)
}

func (c *serveCommand) fillPasswords(ctx context.Context) error {
	urls := []*string{&c.DatabaseURL, &c.DatabaseDirectURL}
	for i := range c.ReadDatabaseURL {
		urls = append(urls, &c.ReadDatabaseURL[i])
	}
	return c.fillPasswordsOf(ctx, urls...)
}

func (d *databaseFlags) fillPasswordsOf(ctx context.Context, urls ...*string) error {
	command := d.newPasswordCommand()
	if command == nil {
		return nil
	}
	password, err := command.get(ctx)
	if err != nil {
		return err
	}
	for _, url := range urls {
		if *url == "" {
			continue
		}
		if *url, err = store.SetPassword(*url, password); err != nil {
			return fmt.Errorf("--database-password-command: %w", err)
		}
	}
	return nil
}

// credentials returns what a long-lived server asks for each new connection: the file that a URL came from is read again, or the
// command for the password is run again. A URL of another source has no entry.
func (c *serveCommand) credentials(p program) map[string]store.Credentials {
	found := map[string]store.Credentials{}
	command := c.newPasswordCommand()
	for flag, urls := range map[string][]string{"database-url": {c.DatabaseURL}, "database-direct-url": {c.DatabaseDirectURL}, "read-database-url": c.ReadDatabaseURL} {
		path := p.env(variable(flag) + "_FILE")
		for i, url := range urls {
			switch read := (urlFile{path, i}); {
			case !isPostgres(url):
			case command != nil:
				found[url] = askCommand(command, url)
			case read.contains(url):
				found[url] = read.credentials
			}
		}
	}
	return found
}

func askCommand(command *passwordCommand, url string) store.Credentials {
	return func(ctx context.Context) (user, password string, err error) {
		if user, _, err = store.ReadCredentials(url); err != nil {
			return "", "", err
		}
		password, err = command.get(ctx)
		return user, password, err
	}
}

// A urlFile is one URL in a file, by its number.
type urlFile struct {
	path  string
	index int
}

var errNoURL = errors.New("contains no URL at the place where there was one")

func (f urlFile) read() (string, error) {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return "", errors.New(explainFileError(err))
	}
	urls := strings.Fields(string(text))
	if f.index >= len(urls) {
		return "", fmt.Errorf("%s %w", f.path, errNoURL)
	}
	return urls[f.index], nil
}

// contains reports whether the URL came from the file. A flag takes precedence over a file.
func (f urlFile) contains(url string) bool {
	if f.path == "" {
		return false
	}
	now, err := f.read()
	return err == nil && now == url
}

func (f urlFile) credentials(context.Context) (user, password string, err error) {
	now, err := f.read()
	if err != nil {
		return "", "", err
	}
	return store.ReadCredentials(now)
}
