package rest

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"atrium/internal/ingest"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/operations"
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
		checkRoute(p, limiter),
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
			return limiter.run(r, p, job)
		},
	}
}

// answerWithin is how long a request waits for its import. Then it is answered with an operation, which goes on.
const answerWithin = 25 * time.Second

// run receives a body and imports it.
func (u *uploadLimiter) run(r *request, p *platform.Platform, job *ingest.Job) (any, error) {
	upload, end, err := u.receive(r)
	if err != nil {
		return nil, err
	}
	return u.start(r.Context(), job, upload, end).answer(r, p, job)
}

// receive receives a body, and counts it as an upload until end is called. From here on the handler runs once.
func (u *uploadLimiter) receive(r *request) (upload *ingest.Upload, end func(), err error) {
	if err := core.Prove(r.Context()); err != nil {
		return nil, nil, err
	}
	leave, err := u.enter()
	if err != nil {
		return nil, nil, err
	}
	if u.LeaveWork != nil {
		u.LeaveWork(r.writer)
	}
	upload, release, err := u.read(r)
	if err != nil {
		leave()
		return nil, nil, err
	}
	end = func() { release(); leave() }
	if err := checkContent(r, upload.Content()); err != nil {
		end()
		return nil, nil, err
	}
	if u.Charge != nil {
		u.Charge(r.writer, upload.Size)
	}
	return upload, end, nil
}

// An importing is an import that goes on, perhaps longer than its request.
type importing struct {
	stop    context.CancelFunc
	ended   chan struct{}
	records atomic.Int64
	percent atomic.Int64
	report  *ingest.Report // set when it has ended, as is err
	err     error
}

// start starts an import of a caller who is proven. It calls end when the upload is no longer needed. The import may outlive its
// request, so it has nothing of it but the caller.
func (u *uploadLimiter) start(ctx context.Context, job *ingest.Job, upload *ingest.Upload, end func()) *importing {
	caller := *core.ActorOf(ctx)
	caller.Prover = nil
	ctx, stop := context.WithTimeout(core.WithActor(context.Background(), &caller), importTime)
	i := &importing{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(i.ended)
		defer stop()
		defer end()
		endTurn, err := u.takeTurn(ctx, upload.Size)
		if err != nil {
			i.err = err
			return
		}
		defer endTurn()
		i.report, i.err = job.Run(ctx, upload, func(so ingest.Progress) {
			i.records.Store(int64(so.Records))
			if so.Total > 0 {
				i.percent.Store(100 * so.Read / so.Total)
			}
		})
	}()
	return i
}

// answer waits for the import, or answers with an operation if the caller asks for one or it takes long.
func (i *importing) answer(r *request, p *platform.Platform, job *ingest.Job) (any, error) {
	wait := time.NewTimer(answerWithin)
	defer wait.Stop()
	if prefersAsync(r) {
		r.writer.Header().Set("Preference-Applied", "respond-async")
		wait.Reset(0)
	}
	select {
	case <-i.ended:
		if i.err != nil {
			return nil, i.err
		}
		return i.report, nil
	case <-r.Context().Done(): // the client has gone, and nobody would see what came of it
		i.stop()
		<-i.ended
		return nil, r.Context().Err()
	case <-wait.C:
	}
	operation, err := p.LongRunning.Begin(r.Context(), "import/"+job.Kind(), job.Place())
	if err != nil {
		i.stop()
		<-i.ended
		return nil, err
	}
	go p.LongRunning.Run(context.Background(), operation, func(ctx context.Context, progress func(records, percent int)) (any, error) {
		defer context.AfterFunc(ctx, i.stop)()
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-i.ended:
				if i.report == nil {
					return nil, i.err
				}
				return i.report, i.err
			case <-ticker.C:
				progress(int(i.records.Load()), int(i.percent.Load()))
			}
		}
	})
	return acceptedAnswer(r, operation, operation), nil
}

// acceptedAnswer returns the answer of a request whose work goes on in an operation.
func acceptedAnswer(r *request, o *operations.Operation, answer any) statusAnswer {
	r.writer.Header().Set("Location", "/operations/v2/"+string(o.UID))
	return statusAnswer{http.StatusAccepted, answer}
}

// prefersAsync reports whether the caller asks for an operation, as RFC 7240 says.
func prefersAsync(r *request) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("Prefer"), ","), ",") {
		name, _, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
			return true
		}
	}
	return false
}

// operationRoutes returns the routes of operations, as AIP-151 has them.
func operationRoutes(p *platform.Platform) []route {
	newRoute := func(name, method, suffix string, call func(context.Context, core.UID) (*operations.Operation, error)) route {
		return route{
			name: name, method: method, pattern: "/operations/v2/{uid=**}" + suffix, answer: zeroOf[*operations.Operation](),
			call: func(r *request) (any, error) { return call(r.Context(), r.uid()) },
		}
	}
	return []route{
		newRoute("GetOperation", http.MethodGet, "", p.LongRunning.Get),
		newRoute("CancelOperation", http.MethodPost, "/cancel", p.LongRunning.Cancel),
	}
}
