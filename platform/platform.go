package platform

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the settings of a Platform. The zero value is valid.
type Options struct {
	Clock         func() time.Time // nil means time.Now
	AllowSignup   bool             // whether identities of organisations may create organisations
	EncryptionKey []byte           // AES-256 key that encrypts secrets in the store; nil means a key in the database
	// NextEncryptionKey is the key to which ChangeEncryptionKey changes the store while this process runs; nil
	// means none.
	NextEncryptionKey []byte
	// NoSecrets is for commands: keys are neither read nor created, and page tokens are
	// valid only in this process.
	NoSecrets    bool
	PrivateSinks []string // host:port of event sinks that may be private or use plain http
	SinkPorts    []string // ports of public hosts that event sinks may use, besides 443
	Logger       *slog.Logger

	// AllowIssuers treats every issuer as proven, for development.
	AllowIssuers bool
	// SharedIssuers are issuers that serve many tenants; nil means DefaultSharedIssuers.
	SharedIssuers []SharedIssuer
	// IssuerFile reads the organisations that an issuer lists at IssuerFileURL. It returns
	// none if the issuer has no such file. If it is nil, no issuer is proven by a file.
	IssuerFile func(ctx context.Context, issuer string) ([]UID, error)

	Observer Observer // receives measurements of background work; nil discards them

	AuditRetention    time.Duration // how long events are kept; 0 means 90 days
	DeliveryRetention time.Duration // how long ended deliveries are kept; 0 means 30 days
	DeliveryTimeScale float64       // factor for the pauses between attempts, for tests; 0 means 1
}

// Platform offers every operation of every kind. It is safe for concurrent
// use. Each operation takes its caller from the context (WithActor). It returns an error
// that AsError converts to an *Error.
type Platform struct {
	Operations

	Images                  Images
	Events                  Events
	AuditLog                AuditLog
	Webhooks                Webhooks
	Search                  Search
	AdvisoryDocuments       AdvisoryDocuments
	ResolvedVulnerabilities ResolvedVulnerabilities
	Issuers                 Issuers

	store   Store
	tables  Tables
	types   *EventTypes
	options Options
	secrets []*encryption // those that this process knows, of which the store has one; nil if Options.NoSecrets is set

	broadcast *broadcast // sends new events to the live feeds

	sealer     atomic.Pointer[sealer]
	sealerTurn chan struct{} // holds one element while the keys of the sealer are read
	sealerRead time.Time     // time of that read; only the holder of the turn uses it

	patterns *patterns
	seen     chan UID
	denials  denials
	relayed  relayProgress
}

// New prepares a Platform over store: shared keys and built-in roles are in
// place when it returns.
func New(ctx context.Context, store Store, options Options) (*Platform, error) {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Observer == nil {
		options.Observer = noopObserver{}
	}
	options.AuditRetention = cmp.Or(options.AuditRetention, 90*24*time.Hour)
	options.DeliveryRetention = cmp.Or(options.DeliveryRetention, 30*24*time.Hour)
	options.DeliveryTimeScale = cmp.Or(options.DeliveryTimeScale, 1)
	if options.SharedIssuers == nil {
		options.SharedIssuers = DefaultSharedIssuers()
	}
	p := &Platform{
		store: store, tables: store.Tables(), types: allEventTypes, options: options, broadcast: newBroadcast(store, options),
		sealerTurn: make(chan struct{}, 1), patterns: newPatterns(), seen: make(chan UID, 256),
	}
	p.denials.p = p
	p.broadcast.callers.identify = p.identify
	if err := store.SyncBuiltInRoles(ctx, BuiltInRoles()); err != nil {
		return nil, fmt.Errorf("built-in roles: %w", err)
	}
	if err := p.openEncryption(ctx); err != nil {
		return nil, fmt.Errorf("encryption key: %w", err)
	}
	if err := p.loadSealer(ctx); err != nil {
		return nil, fmt.Errorf("page token keys: %w", err)
	}
	p.Operations = newOperations(p)
	p.Images = newImages(p)
	p.Events = Events{p}
	p.AuditLog = AuditLog{p}
	p.Webhooks = Webhooks{p}
	p.Search = newSearch(p)
	p.AdvisoryDocuments = AdvisoryDocuments{p, &resources[*AdvisoryDocument, *DocumentFilter]{p: p, kind: &documentKind}}
	p.ResolvedVulnerabilities = ResolvedVulnerabilities{p, &resources[*ResolvedVulnerabilityReport, *ResolvedVulnerabilityFilter]{p: p, kind: &resolvedReportKind}}
	p.Issuers = Issuers{p}
	return p, nil
}

func (p *Platform) now() Time { return At(p.options.Clock()) }

// pingResponse is what Ping answers, to anyone.
const pingResponse = "pong"

// Ping reports that the service answers. It needs no token.
func (p *Platform) Ping(context.Context) string { return pingResponse }

// Ready reports whether the store answers, and has the schema and the
// encryption key that this process knows.
func (p *Platform) Ready(ctx context.Context) error {
	if err := p.store.CheckSchema(ctx); err != nil {
		return err
	}
	return p.checkEncryption(ctx, p.store)
}

// noteAllSeen records that identities acted, at most once a minute for each. It does not
// delay the request: if the queue is full, a later request records it.
func (p *Platform) noteAllSeen(identities []*Identity) {
	for _, i := range identities {
		p.noteSeen(i)
	}
}

func (p *Platform) noteSeen(i *Identity) {
	if p.now().Sub(i.LastSeenTime.Time) < time.Minute {
		return
	}
	select {
	case p.seen <- i.UID:
	default:
	}
}

// WritesAtOnce reports whether the store has several writers at the same time.
func (p *Platform) WritesAtOnce() bool { return p.store.WritesAtOnce() }

// AllowStandby marks ctx as that of a request that changes nothing, such as a GET of REST
// or a query of GraphQL. The store may answer its reads from a copy of the database that
// has everything which was acknowledged before the request.
func (p *Platform) AllowStandby(ctx context.Context) context.Context {
	return p.store.AllowStandby(ctx)
}

// Gather announces that n concurrent calls of operations will read for one response, so
// that the store can combine their statements. Each call uses the context that join
// returns for its own, and calls end when it has finished.
func (p *Platform) Gather(n int) (join func(context.Context) context.Context, end func()) {
	return p.store.Gather(n)
}

// AwaitOther calls wait while one of these calls waits for the read of another.
func (p *Platform) AwaitOther(ctx context.Context, wait func()) { p.store.AwaitOther(ctx, wait) }

// Changed returns a channel that is closed when this process has stored the next event
// or, while Run runs, when another process may have stored one. Callers that wait on it
// must also poll.
func (p *Platform) Changed() <-chan struct{} { return p.store.Changed() }

// repeat does a chore at intervals until ctx ends.
func (p *Platform) repeat(ctx context.Context, interval time.Duration, run func(context.Context) error, warning string) {
	work := p.newChore(warning)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			work.note(ctx, run(ctx))
		}
	}
}

// Run does the background work of the process until ctx ends.
func (p *Platform) Run(ctx context.Context) {
	ctx = InBackground(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		p.store.Follow(ctx, func(err error) {
			p.options.Logger.Warn("not receiving notifications from other replicas; polling every second instead", "error", err)
		})
	})
	following.Go(func() {
		p.repeat(ctx, recheckTick, p.Issuers.Recheck, "rechecking the files of issuers failed; trying again later")
	})
	following.Go(func() { p.Findings.follow(ctx) })
	following.Go(func() {
		p.repeat(ctx, expiryTick, p.RoleBindings.DeleteExpired, "role bindings that have expired were not deleted; they give nothing all the same, and are deleted later")
	})
	defer following.Wait()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	clean := time.NewTicker(retentionInterval)
	defer clean.Stop()
	acted := map[UID]bool{}
	maintain := p.newChore("old events or deliveries were not removed, or the next partitions not made; trying again every 10 minutes")
	sealing := p.newChore("the keys of page tokens were not read again; a new one is used later")
	marking := p.newChore("last seen times were not written")
	maintain.note(ctx, p.Maintain(ctx))
	for {
		select {
		case <-ctx.Done():
			return
		case uid := <-p.seen:
			acted[uid] = true
		case <-clean.C:
			maintain.note(ctx, p.Maintain(ctx))
			sealing.note(ctx, p.loadSealer(ctx))
		case <-tick.C:
			if len(acted) == 0 {
				continue
			}
			uids := make([]UID, 0, len(acted))
			for uid := range acted {
				uids = append(uids, uid)
			}
			marking.note(ctx, p.store.MarkSeen(ctx, uids, p.now()))
			clear(acted)
		}
	}
}
