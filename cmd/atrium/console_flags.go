package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"atrium/internal/server"
)

// consoleFlags say whether there is a console, and where people sign in to it.
type consoleFlags struct {
	Console         bool   `default:"true" negatable:"" help:"Serve the console at /console."`
	ConsoleIssuer   string `placeholder:"URL" help:"Issuer URL of the OpenID provider where people sign in to the console. Without it, they paste a token."`
	ConsoleName     string `placeholder:"NAME" help:"Name of the provider on the sign-in button. Default: its host."`
	ConsoleClientID string `name:"console-client-id" placeholder:"ID" help:"Client ID of the console at the provider. The client is public, with the redirect URI <public URL>/console/~signed-in/ISSUER, where ISSUER has no https:// and no slash at its end."`
	LoginClientID   string `name:"login-client-id" placeholder:"ID" help:"Client ID of 'atrium login' at the provider. The client is public, with the redirect URI http://127.0.0.1/~signed-in/ISSUER and any port. Default: the console's client."`
	ConsoleScope    string `default:"openid profile email" placeholder:"SCOPES" help:"Scopes that the console asks for, separated by spaces. Some providers need a scope of the API, such as api://ID/access."`

	ConsoleParameter []string `sep:"none" placeholder:"NAME=VALUE" help:"Parameter that the console adds to its requests for a sign-in, such as audience=URL, resource=URL, or response_type=id_token for a provider that gives codes only to clients with a secret; may be repeated. In a variable, put each parameter on its own line."`
	ConsoleProvider  []string `sep:"none" placeholder:"JSON" help:"Another provider where people can sign in to the console, such as {\"name\": \"Staff\", \"issuer\": \"https://login.example.com\", \"clientId\": \"console\"}, also with a scope, an object of parameters and a loginClientId; may be repeated. In the file of --config it may be a map."`

	providers []consoleProvider
}

// A consoleProvider is a provider with the flag that gave it.
type consoleProvider struct {
	server.SignInProvider
	flag string
}

// consoleScope is the default of --console-scope, and of the providers of --console-provider.
const consoleScope = "openid profile email"

func (c *consoleFlags) check(f *faults) {
	switch {
	case c.ConsoleIssuer != "" && c.ConsoleClientID == "":
		f.add("console-client-id", "is required with --console-issuer")
	case c.ConsoleIssuer == "" && c.ConsoleClientID != "":
		f.add("console-issuer", "is required with --console-client-id")
	case c.ConsoleIssuer != "" && !c.Console:
		f.add("console-issuer", "cannot be given with --no-console")
	case c.ConsoleIssuer == "" && len(c.ConsoleParameter) > 0:
		f.add("console-issuer", "is required with --console-parameter")
	case c.ConsoleIssuer == "" && c.LoginClientID != "":
		f.add("console-issuer", "is required with --login-client-id")
	case c.ConsoleIssuer == "" && c.ConsoleName != "":
		f.add("console-issuer", "is required with --console-name")
	}
	if len(c.ConsoleProvider) > 0 && !c.Console {
		f.add("console-provider", "cannot be given with --no-console")
	}
	if c.ConsoleIssuer != "" {
		c.add(f, "console-issuer", server.SignInProvider{Name: c.ConsoleName, Issuer: c.ConsoleIssuer, ClientID: c.ConsoleClientID, Scope: c.ConsoleScope, Parameters: readParameters(f, c.ConsoleParameter), LoginClientID: c.LoginClientID})
	}
	c.addMore(f)
}

// addMore adds the providers of --console-provider.
func (c *consoleFlags) addMore(f *faults) {
	const flag = "console-provider"
	decoder := json.NewDecoder(strings.NewReader(strings.Join(c.ConsoleProvider, "\n")))
	decoder.DisallowUnknownFields()
	for {
		p := server.SignInProvider{Scope: consoleScope}
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			f.add(flag, "must be an object with the texts issuer, clientId, loginClientId, name and scope, and the object parameters: %s", strings.TrimPrefix(err.Error(), "json: "))
			return
		case p.Issuer == "" || p.ClientID == "":
			f.add(flag, "needs an issuer and a clientId")
		default:
			c.add(f, flag, p)
		}
	}
}

// add checks a provider and adds it.
func (c *consoleFlags) add(f *faults, flag string, p server.SignInProvider) {
	checkIssuer(f, flag, p.Issuer)
	for _, other := range c.providers {
		if redirectName(other.Issuer) == redirectName(p.Issuer) { // they would have one redirect URI
			f.add(flag, "%s is given twice", p.Issuer)
		}
	}
	if !slices.Contains(strings.Fields(p.Scope), "openid") {
		f.add(flag, "the scope %.200q must contain openid", p.Scope)
	}
	for name, value := range p.Parameters {
		switch {
		case name == "" || value == "":
			f.add(flag, "the parameter %q must be NAME=VALUE", name+"="+value)
		case slices.Contains(ownParameters, name):
			f.add(flag, "the parameter %s is set by the console; remove it", name)
		case name == responseType && value != "code" && value != "id_token":
			f.add(flag, "the parameter response_type must be code or id_token, not %.50q", value)
		}
	}
	c.providers = append(c.providers, consoleProvider{p, flag})
}

// redirectName returns the part of the redirect URI that belongs to a provider, as the console makes it.
func redirectName(issuer string) string {
	_, name, _ := strings.Cut(issuer, "://")
	return strings.TrimSuffix(name, "/")
}

// responseType is the parameter that says whether the provider gives a code or an ID token.
const responseType = "response_type"

// ownParameters are those that the console sets itself.
var ownParameters = []string{"client_id", "code_challenge", "code_challenge_method", "nonce", "redirect_uri", "response_mode", "scope", "state"}

// readParameters reads lines of NAME=VALUE.
func readParameters(f *faults, given []string) map[string]string {
	parameters := map[string]string{}
	for line := range strings.SplitSeq(strings.Join(given, "\n"), "\n") {
		name, value, found := strings.Cut(strings.TrimSpace(line), "=")
		_, isRepeated := parameters[name]
		switch {
		case name == "" && !found:
		case !found:
			f.add("console-parameter", "%q must be NAME=VALUE", line)
		case isRepeated:
			f.add("console-parameter", "%s is given twice", name)
		default:
			parameters[name] = value
		}
	}
	return parameters
}

// signInProviders returns the providers at which people can sign in.
func (c *consoleFlags) signInProviders() []server.SignInProvider {
	providers := make([]server.SignInProvider, 0, len(c.providers))
	for _, provider := range c.providers {
		providers = append(providers, provider.SignInProvider)
	}
	return providers
}
