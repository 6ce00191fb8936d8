package rest

import (
	"context"
	"net/http"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/intake"
)

func sourcesRoutes(p *platform.Platform) []route {
	return []route{
		list("/sources/v2/sources", p.Sources,
			textFilter("name", func(f *intake.SourceFilter) *string { return &f.Name }),
			textFilter("type", func(f *intake.SourceFilter) *intake.SourceType { return &f.Type }),
			textFilter("state", func(f *intake.SourceFilter) *intake.SourceState { return &f.State })),
		get("/sources/v2/sources/{uid=**}", p.Sources),
		create("/sources/v2/sources/{parent=**}", p.Sources),
		update("/sources/v2/sources/{uid=**}", p.Sources),
		remove("/sources/v2/sources/{uid=**}", p.Sources),
		askSource("RunSource", "/sources/v2/sources:run", p.Sources.Run),
		askSource("CancelSource", "/sources/v2/sources:cancel", p.Sources.Cancel),
		{
			name: "GetSourceRuns", method: http.MethodGet, pattern: "/sources/v2/sources/{uid=**}/runs",
			capabilities: capabilityList(core.CapSourcesList), answer: sourceRuns{},
			call: func(r *request) (any, error) {
				runs, err := p.Sources.RunsOf(r.Context(), r.uid())
				return sourceRuns{runs}, err
			},
		},
	}
}

type (
	sourceKey struct {
		UID core.UID `json:"uid"`
	}
	sourceRuns struct {
		Runs []*intake.SourceRun `json:"runs,omitempty"`
	}
)

// askSource returns the route of a request to those who read sources.
func askSource(name, pattern string, ask func(context.Context, core.UID) (*intake.Source, error)) route {
	return route{
		name: name, method: http.MethodPost, pattern: pattern, capabilities: capabilityList(core.CapSourcesUpdate), body: sourceKey{}, answer: intake.Source{},
		call: func(r *request) (any, error) {
			var uid core.UID
			if err := r.decode(func(d *decoding, body []byte) { uid = d.uid("uid", d.object("", body, "uid")["uid"]) }); err != nil {
				return nil, err
			}
			return ask(r.Context(), uid)
		},
	}
}
