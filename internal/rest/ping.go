package rest

import (
	"net/http"

	"atrium/platform"
)

type pingResponse struct {
	Response string `json:"response"`
}

func pingRoutes(p *platform.Platform) []route {
	return []route{{
		name: "Ping", method: http.MethodGet, pattern: "/ping/v2/ping", answer: pingResponse{}, public: true,
		call: func(r *request) (any, error) { return pingResponse{p.Ping(r.Context())}, nil },
	}}
}
