package rest

import (
	"context"
	"net/http"

	"atrium/internal/ingest"
	"atrium/platform"
	"atrium/platform/core"
)

// importRoutes returns the routes by which callers hand in what the commands of the operator import. They belong to no area of the
// API.
func importRoutes(p *platform.Platform, o Options) []route {
	limiter := newUploadLimiter(o.Uploads)
	type delivery = ingest.Delivery
	group := value("group", parseText[core.UID], func(d *delivery) *core.UID { return &d.Group })
	events := value("noEvents", parseBool, func(d *delivery) *bool { return &d.NoEvents })
	return []route{
		importRoute(p, limiter, ingest.DeliverSBOM, "ImportSBOMs", group,
			value("image", parseText[string], func(d *delivery) *string { return &d.Image }),
			value("architecture", parseText[string], func(d *delivery) *string { return &d.Architecture }),
			value("create", parseBool, func(d *delivery) *bool { return &d.Create }).withDefault(false)),
		importRoute(p, limiter, ingest.DeliverVEX, "ImportVEX", group.asRequired()),
		importRoute(p, limiter, ingest.DeliverOSV, "ImportOSV", group.asRequired()),
		importRoute(p, limiter, ingest.DeliverRegistry, "ImportRegistry", group.asRequired(), events.withDefault(false)),
	}
}

// acceptedTypes are the media types that the OpenAPI document shows; others that mean the same are accepted too.
var acceptedTypes = []string{"application/json", "application/x-ndjson", "application/gzip", "application/zip", "application/octet-stream"}

// importRoute returns the route of an import. Whoever may not import is refused before the body is read.
func importRoute(p *platform.Platform, limiter *uploadLimiter, kind ingest.DeliveryKind, name string, filters ...filter[ingest.Delivery]) route {
	return route{
		name: name, method: http.MethodPost, pattern: "/import/" + string(kind), capabilities: kind.Needed(), reportsQuery: true, accepts: acceptedTypes,
		query: parametersOf(filters), answer: zeroOf[*ingest.Report](),
		call: func(r *request) (any, error) {
			if err := core.RequireAuthenticated(r.Context()); err != nil {
				return nil, err
			}
			asked := ingest.Delivery{Kind: kind}
			if malformed := decodeFilters(r, filters, &asked); len(malformed) > 0 {
				return nil, core.Invalid(malformed...)
			}
			job, err := ingest.Accept(r.Context(), p, asked)
			if err != nil {
				return nil, err
			}
			if err := limiter.checkHeaders(r); err != nil {
				return nil, err
			}
			return limiter.run(r, job)
		},
	}
}

// run receives a body and imports it. From here on the handler runs once.
func (u *uploadLimiter) run(r *request, job *ingest.Job) (any, error) {
	if err := core.Prove(r.Context()); err != nil {
		return nil, err
	}
	leave, err := u.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	if u.LeaveWork != nil {
		u.LeaveWork(r.writer)
	}
	upload, release, err := u.read(r)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := checkContent(r, upload.Content()); err != nil {
		return nil, err
	}
	if u.Charge != nil {
		u.Charge(r.writer, upload.Size)
	}
	ctx, cancel := context.WithTimeout(r.Context(), uploadTime)
	defer cancel()
	end, err := u.takeTurn(ctx, upload.Size)
	if err != nil {
		return nil, err
	}
	defer end()
	report, err := job.Run(ctx, upload, nil)
	if err != nil {
		return nil, err
	}
	return report, nil
}
