package server

import (
	"net/http"

	"atrium/docs"
	"atrium/internal/web"
)

// guide returns the handler of the guide.
func guide(links web.Links) http.Handler {
	return web.Guide(docs.Pages(), docs.Names(), docs.Parts(), links)
}
