package server

import (
	"net/http"
	"time"

	"atrium/demo"
	"atrium/web"
)

// pageTokenLife is how long the playground's token holds: a working day, since
// the page is not loaded again while someone works in it.
const pageTokenLife = 12 * time.Hour

// playground is the page, filled in with a token of the demonstration's owner
// in development mode.
func (c *Config) playground(dev *development) http.Handler {
	if dev == nil {
		return web.Playground(web.Options{Examples: demo.Examples("")})
	}
	token := func(r *http.Request) string {
		token, err := dev.issuer.Mint("owner", c.Audience[0], pageTokenLife, nil)
		if err != nil {
			c.Logger.ErrorContext(r.Context(), "no token for the playground", "error", err)
		}
		return token
	}
	return web.Playground(web.Options{Token: token, Examples: demo.Examples(dev.organisation)})
}
