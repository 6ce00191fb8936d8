package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atrium/platform"
)

// clientFlags say which server a command asks, and as whom.
type clientFlags struct {
	databaseFlags
	URL   string `name:"url" default:"http://127.0.0.1:8080" help:"URL of the server."`
	Token string `secret:"" placeholder:"TOKEN" help:"Bearer token. Prefer the environment variable, because process lists show flags. Not needed for a server in development mode on this machine: a token of the owner is made from its database."`

	server *url.URL
}

func (c *clientFlags) check(f *faults) {
	c.databaseFlags.check(f)
	c.server = serverURL(f, "url", c.URL)
	c.Token = strings.TrimSpace(c.Token)
	switch {
	case c.Token == "" && c.server != nil && !ofThisMachine(c.server.Hostname()):
		f.add("token", "is required for a server on another machine") // which must not get to see one of this machine's
	case strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		f.add("token", "must be a token without spaces") // not shown
	}
}

func ofThisMachine(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// A graphqlClient asks one server by GraphQL, as one caller.
type graphqlClient struct {
	server *url.URL
	token  string
	made   bool // from the database, so that another server may not take it
	http   *http.Client
	silent time.Duration // how long a stream may say nothing, not even that it is there
}

const (
	maxDial = 10 * time.Second
	// A query may take 30 s, and its answer some time on the way.
	maxAnswerWait = 45 * time.Second
	// A server tells every 12 s that it is there.
	maxSilence = 40 * time.Second
)

// client is that of the flags.
func (c *clientFlags) client(ctx context.Context) (*graphqlClient, error) {
	made := &graphqlClient{server: c.server, token: c.Token, silent: maxSilence, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: maxDial}).DialContext, TLSHandshakeTimeout: maxDial,
			ForceAttemptHTTP2: true, ResponseHeaderTimeout: maxAnswerWait,
		},
		// A token is for who was named, and for nobody that it names.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if c.Token != "" {
		return made, nil
	}
	var err error
	if made.token, err = c.mint(ctx, "owner", defaultAudience, maxTTL, nil); err != nil {
		return nil, fmt.Errorf("no --token (%s) is given, and none can be made from the database: %w", variable("token"), err)
	}
	made.made = true
	return made, nil
}

// A question is what GraphQL is asked.
type question struct {
	Query     string `json:"query"`
	Variables any    `json:"variables,omitempty"`
}

// An answer is a response of GraphQL.
type answer struct {
	raw    json.RawMessage // all of it
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Extensions struct{ Status platform.Code }
	}
}

func readAnswer(raw []byte) (*answer, error) {
	a := &answer{raw: raw}
	if err := json.Unmarshal(raw, a); err != nil || a.Data == nil && a.Errors == nil {
		return nil, errors.New("the answer is not a GraphQL response; check that --url is the URL of an Atrium server")
	}
	return a, nil
}

// err is what the answer says went wrong; nil where nothing did.
func (a *answer) err() error {
	if len(a.Errors) == 0 {
		return nil
	}
	all := make([]string, len(a.Errors))
	for i, e := range a.Errors {
		all[i] = printable(e.Message)
	}
	return &platform.Error{Code: a.Errors[0].Extensions.Status, Message: strings.Join(all, "; ")}
}

const (
	mediaGraphQL = "application/graphql-response+json"
	mediaEvents  = "text/event-stream"
)

// ask gives the answer to a query or a mutation, whatever it says. An error is
// that there is none.
func (c *graphqlClient) ask(ctx context.Context, q question) (*answer, error) {
	response, err := c.send(ctx, mediaGraphQL, q)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotAcceptable {
		return nil, usageError{errors.New("the document is a subscription; add --watch")}
	}
	if mediaOf(response) != mediaGraphQL || response.StatusCode == http.StatusUnauthorized {
		return nil, c.refusal(response)
	}
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, connectionLostError(err)
	}
	return readAnswer(raw)
}

// send posts a question. What it gives has an open body.
func (c *graphqlClient) send(ctx context.Context, accept string, q question) (*http.Response, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server.JoinPath("graphql").String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, platform.Unavailable("the server cannot be reached", err)
	}
	return response, nil
}

func mediaOf(response *http.Response) string {
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

// connectionLostError is that a connection ended before what it was to bring.
func connectionLostError(cause error) error {
	return platform.Unavailable("the connection was lost", cause)
}

// passing reports whether err may be gone the next time.
func passing(err error) bool {
	var e *platform.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case platform.CodeUnavailable, platform.CodeResourceExhausted, platform.CodeDeadlineExceeded, platform.CodeAborted:
		return true
	}
	return false
}

// maxRefusalBytes bounds what is read of an answer that is only an error.
const maxRefusalBytes = 64 << 10

// refusal is what a response says that is not what was asked for: an error of
// GraphQL, one as the guards before it answer, or one of whoever stands between.
func (c *graphqlClient) refusal(response *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxRefusalBytes))
	if err != nil {
		return connectionLostError(err)
	}
	if a, err := readAnswer(raw); err == nil && a.err() != nil {
		return c.addHint(platform.AsError(a.err()))
	}
	var status struct {
		Code    platform.Code
		Message string
	}
	_ = json.Unmarshal(raw, &status) // what is no JSON has none
	e := &platform.Error{
		Code:    cmp.Or(status.Code, codeOf(response.StatusCode)),
		Message: cmp.Or(printable(status.Message), fmt.Sprintf("%s answered %d %s", c.server, response.StatusCode, http.StatusText(response.StatusCode))),
	}
	return c.addHint(e)
}

// addHint adds to the refusal of a token what could be wrong with it.
func (c *graphqlClient) addHint(e *platform.Error) error {
	if e.Code == platform.CodeUnauthenticated && c.made {
		e.Message += "; the token was made from --database-url, which must be that of a server in development mode: --token gives another"
	}
	return e
}

// codeOf is the code of an answer that has none in its body.
func codeOf(status int) platform.Code {
	switch status {
	case http.StatusTooManyRequests:
		return platform.CodeResourceExhausted
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return platform.CodeUnavailable
	case http.StatusUnauthorized:
		return platform.CodeUnauthenticated
	}
	return platform.CodeInternal
}
