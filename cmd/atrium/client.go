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

	"atrium/platform/core"
)

// clientFlags are the flags of commands that send requests to a server.
type clientFlags struct {
	databaseFlags
	URL   string `name:"url" default:"http://127.0.0.1:8080" help:"URL of the server."`
	Token string `secret:"" placeholder:"TOKEN" help:"Bearer token. Prefer the environment variable, because process lists show flags. Without it, the command creates a token of the owner from the database, for a server in development mode on this machine."`

	server *url.URL
}

func (c *clientFlags) check(f *faults) {
	c.databaseFlags.check(f)
	c.checkServer(f)
}

// checkServer checks the server and the token.
func (c *clientFlags) checkServer(f *faults) {
	c.server = serverURL(f, "url", c.URL)
	c.Token = strings.TrimSpace(c.Token)
	switch {
	case c.Token == "" && c.server != nil && !isThisMachine(c.server.Hostname()):
		f.add("token", "is required for a server on another machine") // it must not receive a token of this machine
	case strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		f.add("token", "must be a token without spaces") // the message does not show it
	}
}

func isThisMachine(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// A graphqlClient sends GraphQL requests to one server, as one caller.
type graphqlClient struct {
	server *url.URL
	token  string
	made   bool // whether the token was created from the database, so another server may reject it
	http   *http.Client
	silent time.Duration // longest time without any data on a stream
}

const (
	maxDial = 10 * time.Second
	// A query may take 30 s. The rest is for the network.
	maxAnswerWait = 45 * time.Second
	// A server sends a sign of life every 12 s.
	maxSilence = 40 * time.Second
)

// client returns the client that the flags configure.
func (c *clientFlags) client(ctx context.Context) (*graphqlClient, error) {
	made := &graphqlClient{server: c.server, token: c.Token, silent: maxSilence, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: maxDial}).DialContext, TLSHandshakeTimeout: maxDial,
			ForceAttemptHTTP2: true, ResponseHeaderTimeout: maxAnswerWait,
		},
		// The token is for the named server only, so the client follows no redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if c.Token != "" {
		return made, nil
	}
	var err error
	if made.token, err = c.mint(ctx, "owner", defaultAudience, maxTTL, nil); err != nil {
		return nil, fmt.Errorf("there is no --token (%s), and creating one from the database failed: %w", variable("token"), err)
	}
	made.made = true
	return made, nil
}

// A question is a GraphQL request.
type question struct {
	Query     string `json:"query"`
	Variables any    `json:"variables,omitempty"`
}

// An answer is a GraphQL response.
type answer struct {
	raw    json.RawMessage // the whole response
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Extensions struct{ Status core.Code }
	}
}

func readAnswer(raw []byte) (*answer, error) {
	a := &answer{raw: raw}
	if err := json.Unmarshal(raw, a); err != nil || a.Data == nil && a.Errors == nil {
		return nil, errors.New("the answer is not a GraphQL response; check that --url is the URL of an Atrium server")
	}
	return a, nil
}

// err returns the errors of the answer as one error, or nil.
func (a *answer) err() error {
	if len(a.Errors) == 0 {
		return nil
	}
	all := make([]string, len(a.Errors))
	for i, e := range a.Errors {
		all[i] = escapeLine(e.Message)
	}
	return &core.Error{Code: a.Errors[0].Extensions.Status, Message: strings.Join(all, "; ")}
}

const (
	mediaGraphQL = "application/graphql-response+json"
	mediaEvents  = "text/event-stream"
)

// ask sends a query or a mutation and returns its answer, which may contain errors. It
// fails if there is no answer.
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

// send posts a question. The caller must close the body of the response.
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
		return nil, core.Unavailable("the server cannot be reached", err)
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

// connectionLostError returns the error for a connection that ended too early.
func connectionLostError(cause error) error {
	return core.Unavailable("the connection was lost", cause)
}

// isTemporary reports whether a retry may succeed.
func isTemporary(err error) bool {
	var e *core.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case core.CodeUnavailable, core.CodeResourceExhausted, core.CodeDeadlineExceeded, core.CodeAborted:
		return true
	}
	return false
}

// maxRefusalBytes limits how much is read of a response that is only an error.
const maxRefusalBytes = 64 << 10

// refusal returns the error of a response that is not the requested one. It may come from
// GraphQL, from the layers before it, or from a proxy.
func (c *graphqlClient) refusal(response *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxRefusalBytes))
	if err != nil {
		return connectionLostError(err)
	}
	if a, err := readAnswer(raw); err == nil && a.err() != nil {
		return c.addHint(core.AsError(a.err()))
	}
	var status struct {
		Code    core.Code
		Message string
	}
	_ = json.Unmarshal(raw, &status) // status stays empty if the body is not JSON
	e := &core.Error{
		Code:    cmp.Or(status.Code, codeOf(response.StatusCode)),
		Message: cmp.Or(escapeLine(status.Message), fmt.Sprintf("%s answered %d %s", c.server, response.StatusCode, http.StatusText(response.StatusCode))),
	}
	return c.addHint(e)
}

// addHint adds to the rejection of a token what could be wrong with the token.
func (c *graphqlClient) addHint(e *core.Error) error {
	if e.Code == core.CodeUnauthenticated && c.made {
		e.Message += "; the token was created from --database-url, which must be the database of a server in development mode; use --token for another token"
	}
	return e
}

// codeOf returns the code for an HTTP status, for a response without a code in its body.
func codeOf(status int) core.Code {
	switch status {
	case http.StatusTooManyRequests:
		return core.CodeResourceExhausted
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return core.CodeUnavailable
	case http.StatusUnauthorized:
		return core.CodeUnauthenticated
	}
	return core.CodeInternal
}
