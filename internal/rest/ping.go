package rest

import (
	"net/http"

	"atrium/platform"
)

type pingAnswer struct {
	Response string `json:"response"`
}

func pingRoutes(p *platform.Platform) []route {
	return []route{{
		name: "Ping", method: http.MethodGet, pattern: "/ping/v2/ping", answer: pingAnswer{}, public: true,
		call: func(r *request) (any, error) { return pingAnswer{p.Ping(r.Context())}, nil },
	}}
}
