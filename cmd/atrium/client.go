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

	"atrium/internal/login"
	"atrium/platform/core"
)

// contextFlags name where the token is from, if there is no --token.
type contextFlags struct {
	Context  string   `group:"Server:" placeholder:"NAME" help:"Context of 'atrium login' with the server and the token to use. Default: the current context, unless --url names another server."`
	Audience []string `group:"Server:" placeholder:"NAME" help:"Audience of the ID token that a job of GitHub Actions requests; if you give several, the first one is used. Default: the audience that the server names."`

	env    func(name string) string
	folder *login.Folder
	chosen *login.Context // nil means that the token is from elsewhere
	job    *login.Job     // nil means that this is no job, or that it needs no token
}

// useEnvironment keeps the environment, which has the folder of contexts and the ID token of a job.
func (c *contextFlags) useEnvironment(p program) { c.env = p.env }

func (c *contextFlags) audience() string {
	return strings.Join(c.Audience[:min(1, len(c.Audience))], "")
}

// clientFlags are the flags of commands that send requests to a server.
type clientFlags struct {
	databaseFlags
	contextFlags
	URL   string `name:"url" group:"Server:" placeholder:"URL" help:"URL of the server. Default: the server of the current context of 'atrium login', or http://127.0.0.1:8080."`
	Token string `group:"Server:" secret:"" placeholder:"TOKEN" help:"Bearer token. Prefer the environment variable, because process lists show flags. Default: the token of the context, the ID token of the CI job, or, for a development server on this machine, an owner's token made from the database."`

	server *url.URL
}

// defaultURL is where a server on this machine is.
const defaultURL = "http://127.0.0.1:8080"

func (c *clientFlags) check(f *faults) {
	c.databaseFlags.check(f)
	c.checkServer(f)
}

// checkServer checks the server and the token.
func (c *clientFlags) checkServer(f *faults) {
	c.Token = strings.TrimSpace(c.Token)
	c.choose(f)
	c.server = serverURL(f, "url", cmp.Or(c.URL, defaultURL))
	switch {
	case c.Token == "" && c.chosen == nil && c.job == nil && c.server != nil && !isThisMachine(c.server.Hostname()):
		f.add("token", "is required for a server on another machine, unless you sign in with `atrium login %s`", c.server) // it must not receive a token of this machine
	case !isToken(c.Token):
		f.add("token", "must be a token without spaces") // the message does not show it
	}
}

// isToken reports whether a text can be in a header.
func isToken(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// choose finds the context or the job that has the token. A token of a context goes only to the server of the context.
func (c *clientFlags) choose(f *faults) {
	switch {
	case c.env == nil, c.Context == "" && c.Token != "":
		return
	case c.Token != "":
		f.add("context", "cannot be given with --token")
		return
	}
	if job, found := login.FindJob(c.env); found && c.Context == "" && c.URL != "" {
		c.job = &job
		return
	}
	found, err := c.find(c.Context)
	switch {
	case err != nil:
		f.add("context", "%s", explainFileError(err))
	case found == nil:
	case c.URL == "" || isSameServer(c.URL, found.Server):
		c.chosen, c.URL = found, found.Server
	case c.Context != "":
		f.add("context", "%s is signed in to %s, and its token is sent to no other server; leave out --url, or sign in to the other server with `atrium login`", found.Name, found.Server)
	}
}

// find returns the context with a name, or the current one, which is nil if there is none.
func (c *contextFlags) find(name string) (*login.Context, error) {
	folder, err := login.FindFolder(c.env)
	if err != nil {
		if name == "" {
			return nil, nil // Without a folder there is no current context.
		}
		return nil, err
	}
	c.folder = folder
	if name == "" {
		if name, err = folder.Current(); err != nil || name == "" {
			return nil, err
		}
	}
	found, err := folder.Load(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return found, nil
}

// isSameServer compares the scheme and the host of two URLs.
func isSameServer(a, b string) bool {
	one, err := url.Parse(a)
	other, errOther := url.Parse(b)
	return err == nil && errOther == nil && one.Scheme == other.Scheme && strings.EqualFold(one.Host, other.Host)
}

func isThisMachine(host string) bool { return login.IsThisMachine(host) }

// A graphqlClient sends GraphQL requests to one server, as one caller.
type graphqlClient struct {
	server *url.URL
	token  func(context.Context) (string, error) // returns one that is valid at that moment
	sent   string                                // the token of the last request
	hint   string                                // what could be wrong with the token, if the server refuses it
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
	made := newGraphqlClient(c.server)
	var err error
	token := c.Token
	switch {
	case token != "":
	case c.chosen != nil:
		made.hint = fmt.Sprintf("; sign in again with `atrium login %s`", c.server)
		made.token = func(ctx context.Context) (string, error) {
			return explainToken(login.NewClient(nil).Token(ctx, c.folder, c.chosen.Name))
		}
		return made, nil
	case c.job != nil:
		made.token = func(ctx context.Context) (string, error) {
			if expires := login.ReadClaims(token).Expires; token == "" || !expires.IsZero() && time.Until(expires) < time.Minute {
				token, err = explainToken(login.NewClient(nil).JobToken(ctx, *c.job, c.server, c.audience()))
			}
			return token, err
		}
		return made, nil
	default:
		if token, err = c.mint(ctx, "owner", defaultAudience, maxTTL, nil); err != nil {
			return nil, fmt.Errorf("there is no --token (%s) and no context of `atrium login`, and creating a token from the database failed: %w", variable("token"), err)
		}
		made.hint = "; the token was created from --database-url, which must be the database of a server in development mode; use --token for another token"
	}
	made.token = func(context.Context) (string, error) { return token, nil }
	return made, nil
}

func newGraphqlClient(server *url.URL) *graphqlClient {
	return &graphqlClient{server: server, silent: maxSilence, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: maxDial}).DialContext, TLSHandshakeTimeout: maxDial,
			ForceAttemptHTTP2: true, ResponseHeaderTimeout: maxAnswerWait,
		},
		// The token is for the named server only, so the client follows no redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// explainToken returns a temporary error if a provider is away.
func explainToken(token string, err error) (string, error) {
	switch {
	case login.IsAway(err):
		return "", core.Unavailable("the token cannot be renewed", lineError{err})
	case err != nil:
		return "", lineError{err}
	}
	return token, nil
}

// do sends a request with the token. The caller must close the body of the response.
func (c *graphqlClient) do(request *http.Request) (response *http.Response, err error) {
	if c.sent, err = c.token(request.Context()); err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.sent)
	if response, err = c.http.Do(request); err != nil {
		return nil, core.Unavailable("the server cannot be reached, or the connection was lost", err)
	}
	return response, nil
}

// fetch sends a request to a path, and returns the response to be read. A body is a file. The caller must close the body of the response.
func (c *graphqlClient) fetch(ctx context.Context, method, path string, query url.Values, body io.Reader) (*http.Response, error) {
	target := c.server.JoinPath(path)
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/octet-stream")
	}
	response, err := c.do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, c.refusal(response)
	}
	return response, nil
}

// read sends a request to a path of REST, and returns the JSON that answers it. A body is a file.
func (c *graphqlClient) read(ctx context.Context, method, path string, query url.Values, body io.Reader) ([]byte, error) {
	response, err := c.fetch(ctx, method, path, query, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if mediaOf(response) != "application/json" {
		return nil, c.refusal(response)
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, connectionLostError(err)
	}
	return answer, nil
}

// hasNewToken reports whether there is another token than that of the last request, which the server may accept.
func (c *graphqlClient) hasNewToken(ctx context.Context) bool {
	token, err := c.token(ctx)
	return err == nil && token != c.sent
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

// failure returns the errors of the answer as one error, or nil if each says only what the caller may not see, or that it is not there.
func (a *answer) failure() error {
	for _, e := range a.Errors {
		if e.Extensions.Status != core.CodeNotFound && e.Extensions.Status != core.CodePermissionDenied {
			return a.err()
		}
	}
	return nil
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
	request.Header.Set("Content-Type", "application/json")
	return c.do(request)
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
	if e.Code == core.CodeUnauthenticated {
		e.Message += c.hint
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
