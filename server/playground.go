package server

import (
	"net/http"
	"time"

	"atrium/demo"
	"atrium/platform"
	"atrium/web"
)

// pageTokenLife is how long the playground's token holds: a working day, since
// the page is not loaded again while someone works in it.
const pageTokenLife = 12 * time.Hour

// playground is the page, filled in with a token of the demonstration's owner
// in development mode.
func (c *Config) playground(dev *development) http.Handler {
	var organisation platform.UID
	if dev != nil {
		organisation = dev.organisation
	}
	return web.Playground(web.Options{Token: c.pageToken(dev), Examples: demo.Examples(organisation), Hidden: c.NoPlayground, Console: !c.NoConsole})
}

// reference is the page of REST, filled in as the playground is.
func (c *Config) reference(dev *development) http.Handler {
	return web.Reference(web.ReferenceOptions{Document: "/openapi.json", Endpoint: graphPath, Token: c.pageToken(dev), Playground: !c.NoPlayground, Console: !c.NoConsole})
}

// console is the dashboard over the graph, with a token of the demonstration's owner in development mode.
func (c *Config) console(dev *development) http.Handler {
	return web.Console(web.ConsoleOptions{
		Endpoint: graphPath, Token: c.pageToken(dev), Issuer: c.ConsoleIssuer, ClientID: c.ConsoleClientID, Playground: !c.NoPlayground,
	})
}

// pageToken gives the token that pages are filled in with; nil outside of
// development mode.
func (c *Config) pageToken(dev *development) func(*http.Request) string {
	if dev == nil {
		return nil
	}
	return func(r *http.Request) string {
		token, err := dev.issuer.Mint("owner", c.Audience[0], pageTokenLife, nil)
		if err != nil {
			c.Logger.ErrorContext(r.Context(), "no token for the pages", "error", err)
		}
		return token
	}
}
