package server

import (
	"net/http"
	"time"

	"atrium/docs"
	"atrium/internal/demo"
	"atrium/internal/web"
	"atrium/platform/core"
)

// pageTokenLife is how long the token of the playground is valid: a working day,
// because nobody reloads the page while they work in it.
const pageTokenLife = 12 * time.Hour

// links says which pages there are.
func (c *Config) links() web.Links {
	return web.Links{Playground: !c.NoPlayground, Console: !c.NoConsole}
}

// home returns the handler of the page at /.
func (c *Config) home(dev *development) http.Handler {
	return web.Home(web.HomeOptions{Links: c.links(), Version: c.Version, Endpoint: graphPath, Demonstration: dev != nil && dev.organization != "", GuideFiles: docs.Pages(), GuideNames: docs.Names(), Pictures: docs.Pictures})
}

// playground returns the handler of the playground. In development mode, the page
// contains a token of the owner of the demonstration organization.
func (c *Config) playground(dev *development) http.Handler {
	var organization core.UID
	if dev != nil {
		organization = dev.organization
	}
	return web.Playground(web.Options{Token: c.pageToken(dev), Link: dev.signInLink(), Examples: demo.Examples(organization), Hidden: c.NoPlayground, Console: !c.NoConsole})
}

// reference returns the handler of the REST reference, which contains the same token.
func (c *Config) reference(dev *development) http.Handler {
	return web.Reference(web.ReferenceOptions{Document: "/openapi.json", Endpoint: graphPath, Token: c.pageToken(dev), Link: dev.signInLink(), Playground: !c.NoPlayground, Console: !c.NoConsole})
}

// console returns the handler of the console, which contains the same token.
func (c *Config) console(dev *development) http.Handler {
	return web.Console(web.ConsoleOptions{
		Endpoint: graphPath, Token: c.pageToken(dev), Roles: c.demonstrationRoles(dev), Link: dev.signInLink(),
		Providers: c.ConsoleProviders, Audience: c.Audience, Playground: !c.NoPlayground,
	})
}

// pageToken returns a function that creates the token of a page, or nil outside
// development mode.
func (c *Config) pageToken(dev *development) func(*http.Request) string {
	if dev == nil {
		return nil
	}
	return func(r *http.Request) string { return c.mintPageToken(r, dev, "owner") }
}

// demonstrationRoles returns a function that creates a token for each role of the
// demonstration, or nil if there is none.
func (c *Config) demonstrationRoles(dev *development) func(*http.Request) map[string]string {
	if dev == nil || dev.organization == "" {
		return nil
	}
	return func(r *http.Request) map[string]string {
		tokens := map[string]string{}
		for _, role := range []string{"owner", "editor", "viewer"} {
			tokens[role] = c.mintPageToken(r, dev, role)
		}
		return tokens
	}
}

func (c *Config) mintPageToken(r *http.Request, dev *development, subject string) string {
	token, err := dev.issuer.Mint(subject, c.Audience[0], pageTokenLife, nil)
	if err != nil {
		c.Logger.ErrorContext(r.Context(), "could not create a token for a page", "error", err)
	}
	return token
}
