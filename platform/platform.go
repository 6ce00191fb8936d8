package platform

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/feeds"
	"atrium/platform/iam"
	"atrium/platform/intake"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/operations"
	"atrium/platform/registry"
	"atrium/platform/reports"
	"atrium/platform/secrets"
	"atrium/platform/webhooks"
)

// Options are the settings of a Platform. The zero value is valid.
type Options struct {
	Clock         func() time.Time // nil means time.Now
	AllowSignup   bool             // whether identities of organizations may create organizations
	EncryptionKey []byte           // AES-256 key that encrypts secrets in the store; nil means a key in the database
	// NextEncryptionKey is the key to which ChangeEncryptionKey changes the store while this process runs; nil
	// means none.
	NextEncryptionKey []byte
	// NoSecrets is for commands: keys are neither read nor created, and page tokens are
	// valid only in this process.
	NoSecrets    bool
	PrivateSinks []string // host:port of event sinks that may be private or use plain http
	SinkPorts    []string // ports of public hosts that event sinks may use, besides 443
	// PrivateSources are the host:port of sources that may be private, use plain http, or another port than 443.
	PrivateSources []string
	Logger         *slog.Logger

	// AllowIssuers treats every issuer as proven, for development.
	AllowIssuers bool
	// SharedIssuers are issuers that serve many tenants; nil means DefaultSharedIssuers.
	SharedIssuers []iam.SharedIssuer
	// IssuerFile reads the organizations that an issuer lists at IssuerFileURL. It returns
	// none if the issuer has no such file. If it is nil, no issuer is proven by a file.
	IssuerFile func(ctx context.Context, issuer string) ([]core.UID, error)

	Observer Observer // receives measurements of background work; nil discards them

	AuditRetention    time.Duration // how long events are kept; 0 means 90 days
	DeliveryRetention time.Duration // how long ended deliveries are kept; 0 means 30 days
	DeliveryTimeScale float64       // factor for the pauses between attempts, for tests; 0 means 1

	Mail         bool          // whether this service can send mail
	MailInterval time.Duration // shortest time between two messages of a subscription by mail
	TestPatience time.Duration // how long a test of a subscription waits for the answer of its sink; 0 means webhooks.TestPatience

	DecidedAtOnce int // findings of a transaction of a decision in the background, for tests; 0 means inventory.DecidedAtOnce
}

// Operations are the operations on each kind.
type Operations struct {
	Groups                    iam.Groups
	Identities                iam.Identities
	Roles                     iam.Roles
	RoleBindings              iam.RoleBindings
	IdentityProviders         iam.IdentityProviders
	AccountAssociations       iam.AccountAssociations
	GroupInvites              iam.GroupInvites
	ExternalGroupRoleMappings iam.ExternalGroupRoleMappings
	Terms                     iam.Terms
	Repos                     inventory.Repos
	Tags                      inventory.Tags
	Subscriptions             webhooks.Subscriptions
	Deliveries                webhooks.Deliveries
	Advisories                inventory.Advisories
	Vulnerabilities           inventory.Vulnerabilities
	Artifacts                 libraries.Artifacts
	ArtifactVersions          libraries.ArtifactVersions
	Findings                  inventory.Findings
	Packages                  inventory.Packages
	PackageVersions           inventory.PackageVersions
	Sources                   intake.Sources
}

// Platform offers every operation of every kind. It is safe for concurrent
// use. Each operation takes its caller from the context (WithActor). It returns an error
// that AsError converts to an *Error.
type Platform struct {
	Operations

	Images                  inventory.Images
	Events                  events.Events
	AuditLog                events.AuditLog
	Webhooks                webhooks.Webhooks
	Search                  core.Search
	Feeds                   *feeds.Feeds
	Registry                *registry.Registry
	Activities              reports.Activities
	AdvisoryDocuments       reports.AdvisoryDocuments
	ResolvedVulnerabilities reports.ResolvedVulnerabilities
	ImageChecks             reports.ImageChecks
	ImageComparisons        reports.ImageComparisons
	SBOMs                   reports.SBOMs
	Exports                 reports.Exports
	FindingRankings         reports.FindingRankings
	Remediations            reports.Remediations
	PackageOrigins          reports.PackageOrigins
	Issuers                 iam.Issuers
	LongRunning             operations.Operations

	core    *core.Core
	store   Store
	secrets *secrets.Secrets

	iam       *iam.Area
	inventory *inventory.Area
	libraries *libraries.Area
	events    *events.Area
	webhooks  *webhooks.Area
	sources   *intake.Area
}

// New prepares a Platform over store: shared keys and built-in roles are in
// place when it returns.
func New(ctx context.Context, store Store, options Options) (*Platform, error) {
	options = options.complete()
	tables := store.Tables()
	p := &Platform{store: store}
	store = conditionalStore{store}
	p.core = core.NewCore(store, options.Clock, options.Logger)
	p.core.Idempotency = tables.Idempotency
	if err := store.SyncBuiltInRoles(ctx, iam.BuiltInRoles()); err != nil {
		return nil, fmt.Errorf("built-in roles: %w", err)
	}
	var err error
	p.secrets, err = secrets.New(ctx, p.core, tables.Secrets, secrets.Options{EncryptionKey: options.EncryptionKey, NextEncryptionKey: options.NextEncryptionKey, NoSecrets: options.NoSecrets})
	if err != nil {
		return nil, fmt.Errorf("encryption key: %w", err)
	}
	p.core.Tokens.Read = p.secrets.PageTokenKeys
	if err := p.core.Tokens.Load(ctx); err != nil {
		return nil, fmt.Errorf("page token keys: %w", err)
	}
	p.iam = iam.New(p.core, store, tables.IAM, p.secrets, iam.Options{AllowSignup: options.AllowSignup, AllowIssuers: options.AllowIssuers, SharedIssuers: options.SharedIssuers, IssuerFile: options.IssuerFile})
	p.LongRunning = operations.New(p.core, tables.Operations)
	p.inventory = inventory.New(p.core, tables.Inventory, p.iam, p.LongRunning, options.DecidedAtOnce)
	p.libraries = libraries.New(p.core, tables.Libraries)
	p.events = events.New(p.core, store, tables.Events, allEventTypes, p.iam, events.Options{AuditRetention: options.AuditRetention, DeliveryRetention: options.DeliveryRetention, Observer: options.Observer})
	p.webhooks = webhooks.New(p.core, store, tables.Webhooks, p.secrets, p.iam, p.inventory, p.events, webhooks.Options{
		PrivateSinks: options.PrivateSinks, SinkPorts: options.SinkPorts, DeliveryTimeScale: options.DeliveryTimeScale, Mail: options.Mail, MailInterval: options.MailInterval,
		TestPatience: options.TestPatience, Observer: options.Observer,
	})
	p.sources = intake.New(p.core, tables.Sources, p.secrets, intake.Options{Private: options.PrivateSources, Observer: options.Observer})
	p.Operations = Operations{
		p.iam.Groups, p.iam.Identities, p.iam.Roles, p.iam.RoleBindings, p.iam.IdentityProviders, p.iam.AccountAssociations, p.iam.GroupInvites,
		p.iam.ExternalGroupRoleMappings, p.iam.Terms, p.inventory.Repos, p.inventory.Tags, p.webhooks.Subscriptions, p.webhooks.Deliveries,
		p.inventory.Advisories, p.inventory.Vulnerabilities, p.libraries.Artifacts, p.libraries.ArtifactVersions, p.inventory.Findings,
		p.inventory.Packages, p.inventory.PackageVersions, p.sources.Sources,
	}
	p.Images = p.inventory.Images
	p.Feeds = feeds.New(p.core, tables.Feeds)
	p.Registry = registry.New(p.core, tables.Registry, p.inventory)
	report := reports.New(p.core, tables.Reports, p.iam, p.inventory)
	p.ImageChecks = report.ImageChecks
	p.AdvisoryDocuments, p.ResolvedVulnerabilities, p.ImageComparisons, p.Exports, p.SBOMs = report.AdvisoryDocuments, report.ResolvedVulnerabilities, report.ImageComparisons, report.Exports, report.SBOMs
	p.FindingRankings, p.Remediations = report.FindingRankings, report.Remediations
	p.PackageOrigins, p.Activities = report.PackageOrigins, report.Activities
	p.Events, p.AuditLog, p.Webhooks, p.Issuers = p.events.Events, p.events.AuditLog, p.webhooks.Webhooks, p.iam.Issuers
	p.Search = core.NewSearch(p.core, tables.Search, p.iam.Searchables(), p.inventory.Searchables())
	return p, nil
}

// A conditionalStore heeds what the callers of operations ask of their changes.
type conditionalStore struct{ Store }

// Write runs unit in a transaction, under the conditions of the operation.
func (s conditionalStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	return core.WriteUnderConditions(ctx, s.Store.Write, unit)
}

// complete returns the options with the defaults of those that are not set.
func (o Options) complete() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = noopObserver{}
	}
	o.AuditRetention = cmp.Or(o.AuditRetention, 90*24*time.Hour)
	o.DeliveryRetention = cmp.Or(o.DeliveryRetention, 30*24*time.Hour)
	o.DeliveryTimeScale = cmp.Or(o.DeliveryTimeScale, 1)
	o.TestPatience = cmp.Or(o.TestPatience, webhooks.TestPatience)
	o.DecidedAtOnce = cmp.Or(o.DecidedAtOnce, inventory.DecidedAtOnce)
	if o.SharedIssuers == nil {
		o.SharedIssuers = iam.DefaultSharedIssuers()
	}
	return o
}

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
	return p.secrets.CheckEncryption(ctx, p.store)
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

// Authenticate finds the identities that a verified token matches, and their grants: see iam.
// An exception that has ended by then has ended in all that the caller reads.
func (p *Platform) Authenticate(ctx context.Context, c iam.Claims) (*core.Actor, error) {
	p.Findings.AwaitEnded(ctx)
	return p.iam.Authenticate(ctx, c)
}

// Presume returns a context with the caller of an earlier request with the same
// claims. Prove must be called before the request is answered.
func (p *Platform) Presume(ctx context.Context, c iam.Claims, last *core.Actor) context.Context {
	p.Findings.AwaitEnded(ctx)
	return p.iam.Presume(ctx, c, last)
}

// KnowsIssuer reports whether an identity or an identity provider names exactly
// this issuer. Only then may the keys of the issuer be fetched.
func (p *Platform) KnowsIssuer(ctx context.Context, issuer string) (bool, error) {
	return p.iam.KnowsIssuer(ctx, issuer)
}

// StaticKeys lists the keys of identities with this issuer and subject that have not
// expired. A token that such a key verifies acts only as the identity of that key:
// see Claims.StaticIdentities.
func (p *Platform) StaticKeys(ctx context.Context, issuer, subject string) ([]iam.IdentityKeys, error) {
	return p.iam.StaticKeys(ctx, issuer, subject)
}

// DevelopmentKey returns the PKCS #8 key that signs development tokens. It is
// stored unencrypted in the database. Only a server in development mode creates
// it; others get nil if there is none.
func (p *Platform) DevelopmentKey(ctx context.Context) ([]byte, error) {
	return p.secrets.DevelopmentKey(ctx)
}

// RotateKeys adds a key that seals new page tokens. Existing tokens stay valid.
func (p *Platform) RotateKeys(ctx context.Context) error {
	if err := p.secrets.Rotate(ctx); err != nil {
		return err
	}
	return p.core.Tokens.Load(ctx)
}

// Maintain makes the partitions of the coming events and deliveries, where the store has
// partitions, and deletes recorded events and ended deliveries whose retention time is over.
// Run calls it when it starts and at intervals.
func (p *Platform) Maintain(ctx context.Context) error { return p.events.Maintain(ctx) }

// repeat does a chore at intervals until ctx ends.
func (p *Platform) repeat(ctx context.Context, interval time.Duration, run func(context.Context) error, warning string) {
	work := p.core.NewChore(warning)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			work.Note(ctx, run(ctx))
		}
	}
}

// Run does the background work of the process until ctx ends.
func (p *Platform) Run(ctx context.Context) {
	ctx = core.InBackground(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		p.store.Follow(ctx, func(err error) {
			p.core.Logger.Warn("not receiving notifications from other replicas; polling every second instead", "error", err)
		})
	})
	following.Go(func() {
		p.repeat(ctx, iam.RecheckTick, p.Issuers.Recheck, "rechecking the files of issuers failed; trying again later")
	})
	following.Go(func() { p.Findings.Follow(ctx) })
	following.Go(func() {
		p.repeat(ctx, iam.ExpiryTick, p.RoleBindings.DeleteExpired, "expired role bindings were not deleted; they grant nothing, and are deleted later")
	})
	defer following.Wait()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	clean := time.NewTicker(events.RetentionInterval)
	defer clean.Stop()
	acted := map[core.UID]bool{}
	maintain := p.core.NewChore("old events or deliveries were not removed, or the next partitions were not created; trying again every 10 minutes")
	sealing := p.core.NewChore("the keys of page tokens were not reloaded; a new key is used later")
	marking := p.core.NewChore("last seen times were not written")
	maintain.Note(ctx, p.events.Maintain(ctx))
	for {
		select {
		case <-ctx.Done():
			return
		case uid := <-p.iam.Seen:
			acted[uid] = true
		case <-clean.C:
			maintain.Note(ctx, p.events.Maintain(ctx))
			sealing.Note(ctx, p.core.Tokens.Load(ctx))
		case <-tick.C:
			marking.Note(ctx, p.markSeen(ctx, acted))
			clear(acted)
		}
	}
}

// NoteSeen stores that identities which have acted since the last call were seen now. Run does this every second; NoteSeen is
// for a process without Run.
func (p *Platform) NoteSeen(ctx context.Context) error {
	acted := map[core.UID]bool{}
	for {
		select {
		case uid := <-p.iam.Seen:
			acted[uid] = true
		default:
			return p.markSeen(ctx, acted)
		}
	}
}

// markSeen writes that identities have acted now.
func (p *Platform) markSeen(ctx context.Context, acted map[core.UID]bool) error {
	if len(acted) == 0 {
		return nil
	}
	return p.iam.Store.MarkSeen(ctx, slices.Collect(maps.Keys(acted)), p.core.Now())
}

// Now returns the time of the clock by which changes are dated.
func (p *Platform) Now() core.Time { return p.core.Now() }
