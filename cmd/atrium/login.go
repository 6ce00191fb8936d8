package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"atrium/internal/login"
)

type loginCommand struct {
	URL       string   `arg:"" name:"url" help:"URL of the server; without a scheme, https."`
	Context   string   `placeholder:"NAME" help:"Name for the server. Default: its host."`
	Provider  string   `placeholder:"NAME" help:"Provider to sign in at, by its name, host or issuer, if the server has several."`
	Device    bool     `help:"Sign in with a browser on another machine."`
	WithToken bool     `help:"Read a token from standard input instead of signing in."`
	Browser   bool     `default:"true" negatable:"" help:"Open the browser. With --no-browser, only print the address of the page."`
	Port      int      `placeholder:"N" help:"Port on this machine for the redirect from the provider, if the provider accepts only a fixed port. Default: any free port."`
	Audience  []string `placeholder:"NAME" help:"Audience of tokens that the server may ask for, even if it is the URL of another host; if you give several, the first one is used."`

	server *url.URL
}

// Help returns the detailed help.
func (c *loginCommand) Help() string {
	return `Opens the page of the provider at which people sign in to the console of the server, and waits for the answer on 127.0.0.1.
The server becomes the current context: commands without --url and --token use it. Its token is renewed before it expires, if the
provider issues a refresh token. The token is stored in a file that only you can read, and is sent only to this server.

In jobs of GitHub Actions (permission id-token: write) and GitLab (an ID token as $ATRIUM_ID_TOKEN) no sign-in is needed: commands with --url
use the ID token of the job.

Examples:
  atrium login https://atrium.example.com
  atrium login https://atrium.example.com --device
  atrium login https://atrium.example.com --with-token < token`
}

func (c *loginCommand) check(f *faults) {
	if !strings.Contains(c.URL, "://") {
		scheme := "https://"
		if guess, err := url.Parse("http://" + c.URL); err == nil && isThisMachine(guess.Hostname()) {
			scheme = "http://"
		}
		c.URL = scheme + c.URL
	}
	c.server = serverURL(&faults{}, "", c.URL)
	switch {
	case c.server == nil:
		*f = append(*f, "the argument must be a URL of scheme and host only, such as https://atrium.example.com")
	case c.server.Scheme == "http" && !isThisMachine(c.server.Hostname()):
		*f = append(*f, "the URL of a server on another machine must begin with https://, since others could read the token")
	}
	if c.server != nil {
		c.server = &url.URL{Scheme: c.server.Scheme, Host: strings.ToLower(c.server.Host)}
		c.Context = cmp.Or(c.Context, login.NameOf(c.server))
	}
	if err := login.CheckName(c.Context); err != nil {
		f.add("context", "%s", err)
	}
	if c.Device && c.WithToken {
		f.add("device", "cannot be given with --with-token")
	}
	if c.Port < 0 || c.Port > 65535 {
		f.add("port", "must be a port, or 0 for a free one")
	}
}

func (c *loginCommand) run(ctx context.Context, p program) error {
	folder, err := login.FindFolder(p.env)
	if err != nil {
		return err
	}
	made, err := c.signIn(ctx, p)
	if err != nil {
		return lineError{err}
	}
	caller, err := askViewer(ctx, c.server, made.Token)
	if err != nil {
		return fmt.Errorf("you are not signed in: %w", err)
	}
	made.Name = c.Context
	if err := folder.Save(ctx, made); err != nil {
		return err
	}
	said := fmt.Sprintf("Signed in to %s as %s.", c.server, caller.names(made.Token))
	if made.RefreshToken == "" && !made.Expires.IsZero() {
		said += fmt.Sprintf(" The session ends at %s, since there is no refresh token.", formatTime(made.Expires))
	}
	_, err = fmt.Fprintln(p.stderr, escapeLine(said))
	return err
}

// A lineError is an error with texts of a server or of a provider, which could have lines that seem to be of this program.
type lineError struct{ error }

// Error returns the message on one line.
func (e lineError) Error() string { return escapeLine(e.error.Error()) }

// Unwrap returns the error.
func (e lineError) Unwrap() error { return e.error }

// signIn gets the token of the person.
func (c *loginCommand) signIn(ctx context.Context, p program) (*login.Context, error) {
	if c.WithToken {
		text, err := io.ReadAll(io.LimitReader(p.stdin, maxSecretBytes))
		token := strings.TrimSpace(string(text))
		if err == nil && (token == "" || !isToken(token)) {
			err = usageError{errors.New("standard input must be a token, without spaces")}
		}
		return login.MakeContext(c.server, token), err
	}
	client := login.NewClient(nil)
	said, err := client.Describe(ctx, c.server)
	if err != nil {
		return nil, err
	}
	if len(c.Audience) > 0 {
		said.Trust(c.Audience[0])
	}
	provider, err := c.pick(p, said)
	if err != nil {
		return nil, err
	}
	if c.Device {
		return client.SignInElsewhere(ctx, said, provider, func(code login.Code) {
			text := fmt.Sprintf("Open %s in any browser, and enter the code %s", escapeLine(code.Page), escapeLine(code.Text))
			if code.Complete != "" {
				text += fmt.Sprintf("\n(or open %s, and compare the code)", escapeLine(code.Complete))
			}
			_, _ = fmt.Fprintln(p.stderr, text)
		})
	}
	return client.SignIn(ctx, said, provider, c.Port, func(page string) {
		if c.Browser && openBrowser(ctx, page) == nil {
			_, _ = fmt.Fprintf(p.stderr, "Sign in at %s in the browser that has opened. If none has, open this page:\n%s\n", escapeLine(provider.Title()), escapeLine(page))
			return
		}
		_, _ = fmt.Fprintf(p.stderr, "Open this page in a browser on this machine (--device is for another one):\n%s\n", escapeLine(page))
	})
}

// pick returns the provider, and asks the person on a terminal if there are several.
func (c *loginCommand) pick(p program, said *login.Server) (*login.Provider, error) {
	if keyboard, ok := p.stdin.(*os.File); ok && c.Provider == "" && len(said.Providers) > 1 && isTerminal(keyboard) && isTerminal(p.stderr) {
		for i := range said.Providers {
			if _, err := fmt.Fprintf(p.stderr, "%d  %s\n", i+1, escapeLine(said.Providers[i].Title())); err != nil {
				return nil, err
			}
		}
		if _, err := fmt.Fprint(p.stderr, "Sign in at (number): "); err != nil {
			return nil, err
		}
		line, _ := bufio.NewReader(keyboard).ReadString('\n') // An empty line chooses none.
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && n > 0 && n <= len(said.Providers) {
			return &said.Providers[n-1], nil
		}
	}
	return said.Find(c.Provider)
}

// openBrowser opens a page whose URL was checked.
func openBrowser(ctx context.Context, page string) error {
	var command *exec.Cmd
	ctx = context.WithoutCancel(ctx) // The browser stays.
	switch runtime.GOOS {
	case "windows":
		command = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", page)
	case "darwin":
		command = exec.CommandContext(ctx, "open", page)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("this machine has no display")
		}
		command = exec.CommandContext(ctx, "xdg-open", page)
	}
	if err := command.Start(); err != nil {
		return err
	}
	go func() { _ = command.Wait() }() // How it ends says nothing.
	return nil
}

type logoutCommand struct {
	Context string `placeholder:"NAME" help:"Context to sign out of. Default: the current one."`
}

func (*logoutCommand) check(*faults) {}

// Help returns the detailed help.
func (c *logoutCommand) Help() string {
	return `Revokes the refresh token at the provider (RFC 7009), if the provider supports this, and removes the context. An access token that was
already issued stays valid until it expires, usually for some minutes.`
}

func (c *logoutCommand) run(ctx context.Context, p program) error {
	flags := contextFlags{env: p.env}
	found, err := flags.find(c.Context)
	if err != nil {
		return err
	}
	if found == nil {
		return errors.New("you are not signed in to any server")
	}
	revoked := login.NewClient(nil).Revoke(ctx, found)
	if err := flags.folder.Remove(ctx, found.Name); err != nil {
		return err
	}
	if revoked != nil {
		return fmt.Errorf("the token for %s was deleted on this machine, but could not be revoked at the provider: %w", found.Server, lineError{revoked})
	}
	_, err = fmt.Fprintf(p.stderr, "Signed out of %s.\n", found.Server)
	return err
}

type contextListCommand struct{}

func (contextListCommand) check(*faults) {}

func (contextListCommand) run(_ context.Context, p program) error {
	folder, err := login.FindFolder(p.env)
	if err != nil {
		return err
	}
	names, err := folder.List()
	if err != nil {
		return err
	}
	current, err := folder.Current()
	if err != nil {
		return err
	}
	rows := [][]string{{"", "NAME", "SERVER", "UNTIL"}}
	for _, name := range names {
		found, err := folder.Load(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		mark := ""
		if name == current {
			mark = "*"
		}
		rows = append(rows, []string{mark, name, found.Server, describeEnd(found)})
	}
	return writeColumns(p.stdout, rows)
}

// describeEnd says when a session ends.
func describeEnd(c *login.Context) string {
	switch {
	case c.RefreshToken != "":
		return "renewed"
	case c.Expires.IsZero():
		return "unknown"
	default:
		return formatTime(c.Expires)
	}
}

type contextUseCommand struct {
	Name string `arg:"" help:"Name of the context."`
}

func (*contextUseCommand) check(*faults) {}

func (c *contextUseCommand) run(_ context.Context, p program) error {
	folder, err := login.FindFolder(p.env)
	if err != nil {
		return err
	}
	return folder.Use(c.Name)
}

type contextRemoveCommand struct {
	Name string `arg:"" help:"Name of the context."`
}

func (*contextRemoveCommand) check(*faults) {}

func (c *contextRemoveCommand) run(ctx context.Context, p program) error {
	folder, err := login.FindFolder(p.env)
	if err != nil {
		return err
	}
	return folder.Remove(ctx, c.Name)
}

// askViewer asks a server who the caller with a token is.
func askViewer(ctx context.Context, server *url.URL, token string) (*viewer, error) {
	client := newGraphqlClient(server)
	client.token = func(context.Context) (string, error) { return token, nil }
	return client.askViewer(ctx)
}
