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

// Options are the settings of a Platform; the zero value serves.
type Options struct {
	Clock         func() time.Time // time.Now
	AllowSignup   bool             // root identities may create root groups
	EncryptionKey []byte           // AES-256 key of secrets at rest; nil: one kept in the database
	NoSecrets     bool             // for commands: keys are neither read nor made, page tokens hold in this process only
	PrivateSinks  []string         // each host (at any port) or host:port, which event sinks may name although it is private or not https
	SinkPorts     []string         // ports of public hosts that event sinks may name beside 443
	Logger        *slog.Logger

	// AllowIssuers takes every issuer as proven: for development.
	AllowIssuers bool
	// SharedIssuers serve many tenants; nil: DefaultSharedIssuers.
	SharedIssuers []SharedIssuer
	// IssuerFile reads the organisations that an issuer lists at IssuerFileURL;
	// none where the issuer answers that there is no such file. Without it
	// nobody proves an issuer by a file.
	IssuerFile func(ctx context.Context, issuer string) ([]UID, error)

	Observer Observer // hears what happens beside requests; nil: nobody

	AuditRetention    time.Duration // of events, which are the audit log; 0: 90 days
	DeliveryRetention time.Duration // of deliveries after they have ended; 0: 30 days
	DeliveryTimeScale float64       // of the waits between attempts, for tests; 0: 1
}

// Platform offers every operation of every kind. It is safe for concurrent
// use. Each operation takes its caller from the context (WithActor) and
// answers a result or an *Error; AsError gives that of any other error.
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
	options Options
	secrets *encryption // nil: Options.NoSecrets

	broadcast *broadcast // of new events, to the live feeds

	sealer     atomic.Pointer[sealer]
	sealerTurn chan struct{} // holds one while the sealer's keys are read
	sealerRead time.Time     // when they were, by whoever has the turn

	patterns *patterns
	seen     chan UID
	denials  denials
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
		store: store, options: options, broadcast: newBroadcast(store, options),
		sealerTurn: make(chan struct{}, 1), patterns: newPatterns(), seen: make(chan UID, 256),
	}
	p.denials.p = p
	if err := store.SyncBuiltInRoles(ctx, builtInRoles()); err != nil {
		return nil, fmt.Errorf("built-in roles: %w", err)
	}
	if err := p.openEncryption(ctx); err != nil {
		return nil, fmt.Errorf("encryption key: %w", err)
	}
	if err := p.loadSealer(ctx); err != nil {
		return nil, fmt.Errorf("page token keys: %w", err)
	}
	p.Operations = newOperations(p)
	p.Images = Images{p}
	p.Events = Events{p}
	p.AuditLog = AuditLog{p}
	p.Webhooks = Webhooks{p}
	p.Search = newSearch(p)
	p.AdvisoryDocuments = AdvisoryDocuments{p}
	p.ResolvedVulnerabilities = ResolvedVulnerabilities{p}
	p.Issuers = Issuers{p}
	return p, nil
}

func (p *Platform) now() Time { return At(p.options.Clock()) }

// PingAnswer is what Ping answers, to anyone.
const PingAnswer = "pong"

// Ping reports that the service answers. It needs no token.
func (p *Platform) Ping(context.Context) string { return PingAnswer }

// Ready reports whether the store answers, and has the schema and the
// encryption key that this process knows.
func (p *Platform) Ready(ctx context.Context) error {
	if err := p.store.CheckSchema(ctx); err != nil {
		return err
	}
	return p.checkEncryption(ctx, p.store)
}

// noteSeen remembers that an identity acted, at most once a minute and off the
// request's path: when the queue is full the next request tells it.
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

// Gather says that n calls of operations are about to read for one answer, each
// with the context that join makes of its own, so that what they ask for can be
// read together. Each says by end that it is over.
func (p *Platform) Gather(n int) (join func(context.Context) context.Context, end func()) {
	return p.store.Gather(n)
}

// AwaitOther says that one of these calls waits for what another reads.
func (p *Platform) AwaitOther(ctx context.Context, wait func()) { p.store.AwaitOther(ctx, wait) }

// Changed is closed when the next event may be there: that this process has
// stored or, while Run runs, another on the same database. Whoever waits for
// it looks now and then all the same.
func (p *Platform) Changed() <-chan struct{} { return p.store.Changed() }

// Run does what happens beside requests, until ctx ends.
func (p *Platform) Run(ctx context.Context) {
	ctx = InBackground(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		p.store.Follow(ctx, func(err error) {
			p.options.Logger.Warn("not receiving notifications from other replicas; polling every second instead", "error", err)
		})
	})
	following.Go(func() { p.Issuers.recheckRegularly(ctx) })
	defer following.Wait()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	clean := time.NewTicker(retentionInterval)
	defer clean.Stop()
	acted := map[UID]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case uid := <-p.seen:
			acted[uid] = true
		case <-clean.C:
			if err := p.Purge(ctx); err != nil {
				p.options.Logger.Warn("old events were not removed", "error", err)
			}
		case <-tick.C:
			if len(acted) == 0 {
				continue
			}
			uids := make([]UID, 0, len(acted))
			for uid := range acted {
				uids = append(uids, uid)
			}
			if err := p.store.MarkSeen(ctx, uids, p.now()); err != nil {
				p.options.Logger.Warn("last seen times were not written", "error", err)
			}
			clear(acted)
		}
	}
}
