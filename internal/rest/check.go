package rest

import (
	"net/http"

	"atrium/internal/ingest"
	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/reports"
)

// An sbomCheck is a check of an SBOM that is not stored, with what could not be read of it.
type sbomCheck struct {
	*wire.ImageCheck
	Ignored []ingest.Problem `json:"ignored"`
}

// checkRoute returns the route that decides about an SBOM as about an image, and stores nothing. It takes bodies as imports do.
func checkRoute(p *platform.Platform, limiter *uploadLimiter) route {
	filters := append([]filter[reports.CheckRequest]{
		value("image", parseText[string], func(q *reports.CheckRequest) *string { return &q.Image }),
	}, checkFilters()...)
	return route{
		name: "CheckSBOM", method: http.MethodPost, pattern: "/check/sbom", capabilities: p.Findings.Kind().ReadCapabilities(), reportsQuery: true, accepts: acceptedTypes,
		query: parametersOf(filters), answer: sbomCheck{},
		call: func(r *request) (any, error) {
			if err := core.RequireAuthenticated(r.Context()); err != nil {
				return nil, err
			}
			var asked reports.CheckRequest
			if malformed := decodeFilters(r, filters, &asked); len(malformed) > 0 {
				return nil, core.Invalid(malformed...)
			}
			check, err := p.ImageChecks.AcceptSBOM(r.Context(), asked)
			if err != nil {
				return nil, err
			}
			if err := limiter.checkHeaders(r); err != nil {
				return nil, err
			}
			return limiter.check(r, p, check)
		},
	}
}

// check receives an SBOM and decides about it, in its turn among the uploads.
func (u *uploadLimiter) check(r *request, p *platform.Platform, check *reports.SBOMCheck) (any, error) {
	upload, end, err := u.receive(r)
	if err != nil {
		return nil, err
	}
	defer end()
	endTurn, err := u.takeTurn(r.Context(), upload.Size)
	if err != nil {
		return nil, err
	}
	defer endTurn()
	decided, ignored, err := ingest.CheckSBOM(r.Context(), check, upload)
	if err != nil {
		return nil, err
	}
	shown, err := wire.New(p).ShowCheck(r.Context(), decided)
	return sbomCheck{shown, ignored}, err
}
