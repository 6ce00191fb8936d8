package platform

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
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
	PrivateSinks  []string         // hosts that event sinks may name although they are private or not https
	Logger        *slog.Logger

	// AllowIssuers takes every issuer as proven: for development.
	AllowIssuers bool
	// SharedIssuers serve many tenants; nil: DefaultSharedIssuers.
	SharedIssuers []SharedIssuer
	// IssuerFile reads the organisations that an issuer lists at IssuerFileURL;
	// none where the issuer answers that there is no such file. Without it
	// nobody proves an issuer by a file.
	IssuerFile func(ctx context.Context, issuer string) ([]UID, error)

	AuditRetention    time.Duration // of events, which are the audit log; 0: 90 days
	DeliveryRetention time.Duration // of deliveries after they have ended; 0: 30 days
	DeliveryTimeScale float64       // of the waits between attempts, for tests; 0: 1
}

// Platform offers every operation of every kind. It is safe for concurrent
// use. Each operation takes its caller from the context (WithActor) and
// answers a result or an *Error; AsError gives that of any other error.
type Platform struct {
	Groups          Groups
	Identities      Identities
	Roles           Roles
	RoleBindings    RoleBindings
	Repos           Repos
	Tags            Tags
	Images          Images
	Advisories      Advisories
	Vulnerabilities Vulnerabilities
	Subscriptions   Subscriptions
	Events          Events
	AuditLog        AuditLog
	Deliveries      Deliveries
	Webhooks        Webhooks

	AdvisoryDocuments         AdvisoryDocuments
	ResolvedVulnerabilities   ResolvedVulnerabilities
	Artifacts                 Artifacts
	ArtifactVersions          ArtifactVersions
	IdentityProviders         IdentityProviders
	AccountAssociations       AccountAssociations
	GroupInvites              GroupInvites
	ExternalGroupRoleMappings ExternalGroupRoleMappings
	Terms                     Terms
	Issuers                   Issuers

	store   Store
	options Options
	secrets cipher.AEAD

	sealerLock sync.Mutex
	sealer     atomic.Pointer[sealer]
	sealerRead time.Time

	patterns *patterns
	seen     chan UID
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
	options.AuditRetention = cmp.Or(options.AuditRetention, 90*24*time.Hour)
	options.DeliveryRetention = cmp.Or(options.DeliveryRetention, 30*24*time.Hour)
	options.DeliveryTimeScale = cmp.Or(options.DeliveryTimeScale, 1)
	if options.SharedIssuers == nil {
		options.SharedIssuers = DefaultSharedIssuers()
	}
	p := &Platform{store: store, options: options, patterns: newPatterns(), seen: make(chan UID, 256)}
	if err := store.SyncBuiltInRoles(ctx, builtInRoles()); err != nil {
		return nil, fmt.Errorf("built-in roles: %w", err)
	}
	if err := p.loadSealer(ctx); err != nil {
		return nil, fmt.Errorf("page token keys: %w", err)
	}
	if err := p.loadSecretsKey(ctx); err != nil {
		return nil, fmt.Errorf("encryption key: %w", err)
	}
	p.Groups = Groups{resources[Group, GroupFilter]{p, &groupKind, Reader.Groups, Tx.GroupRows}}
	p.Identities = Identities{resources[Identity, IdentityFilter]{p, &identityKind, Reader.Identities, Tx.IdentityRows}}
	p.Roles = Roles{resources[Role, RoleFilter]{p, &roleKind, Reader.Roles, Tx.RoleRows}}
	p.RoleBindings = RoleBindings{resources[RoleBinding, RoleBindingFilter]{p, &roleBindingKind, Reader.RoleBindings, Tx.RoleBindingRows}}
	p.Repos = Repos{resources[Repo, RepoFilter]{p, &repoKind, Reader.Repos, Tx.RepoRows}}
	p.Tags = Tags{resources[Tag, TagFilter]{p, &tagKind, Reader.Tags, Tx.TagRows}}
	p.Images = Images{p}
	p.Advisories = Advisories{resources[Advisory, AdvisoryFilter]{p, &advisoryKind, Reader.Advisories, Tx.AdvisoryRows}}
	p.Vulnerabilities = Vulnerabilities{resources[Vulnerability, VulnerabilityFilter]{p, &vulnerabilityKind, Reader.Vulnerabilities, Tx.VulnerabilityRows}}
	p.Subscriptions = newSubscriptions(p)
	p.IdentityProviders = IdentityProviders{resources[IdentityProvider, IdentityProviderFilter]{p, &identityProviderKind, Reader.IdentityProviders, Tx.IdentityProviderRows}}
	p.AccountAssociations = AccountAssociations{resources[AccountAssociation, AccountAssociationFilter]{p, &accountAssociationKind, Reader.AccountAssociations, Tx.AccountAssociationRows}}
	p.GroupInvites = GroupInvites{resources[GroupInvite, GroupInviteFilter]{p, &groupInviteKind, Reader.GroupInvites, Tx.GroupInviteRows}}
	p.ExternalGroupRoleMappings = ExternalGroupRoleMappings{resources[ExternalGroupRoleMapping, ExternalGroupRoleMappingFilter]{p, &externalGroupRoleMappingKind, Reader.ExternalGroupRoleMappings, Tx.ExternalGroupRoleMappingRows}}
	p.Terms = Terms{resources[TermsAcceptance, TermsFilter]{p, &termsKind, Reader.Terms, Tx.TermsRows}}
	p.Issuers = Issuers{p}
	p.Events = Events{p}
	p.AuditLog = AuditLog{p}
	p.Deliveries = Deliveries{resources[Delivery, DeliveryFilter]{p, &deliveryKind, Reader.Deliveries, Tx.DeliveryRows}}
	p.Webhooks = Webhooks{p}
	p.AdvisoryDocuments = AdvisoryDocuments{p}
	p.ResolvedVulnerabilities = ResolvedVulnerabilities{p}
	p.Artifacts = Artifacts{resources[Artifact, ArtifactFilter]{p, &artifactKind, Reader.Artifacts, Tx.ArtifactRows}}
	p.ArtifactVersions = ArtifactVersions{resources[ArtifactVersion, ArtifactVersionFilter]{p, &artifactVersionKind, Reader.ArtifactVersions, Tx.ArtifactVersionRows}}
	return p, nil
}

func (p *Platform) now() Time { return At(p.options.Clock()) }

// PingAnswer is what Ping answers, to anyone.
const PingAnswer = "pong"

// Ping reports that the service answers. It needs no token.
func (p *Platform) Ping(context.Context) string { return PingAnswer }

// Ready reports whether the store answers.
func (p *Platform) Ready(ctx context.Context) error { return p.store.Ping(ctx) }

// DevelopmentKey is the PKCS #8 key that signs development tokens, made on
// first use and kept in the database.
func (p *Platform) DevelopmentKey(ctx context.Context) ([]byte, error) {
	keys, err := p.ensureKeys(ctx, "development-issuer", newSigningKey)
	if err != nil {
		return nil, err
	}
	return keys[len(keys)-1].Material, nil
}

// ensureKeys gives the keys of a purpose, of which there is at least one.
func (p *Platform) ensureKeys(ctx context.Context, purpose string, newKey func() ([]byte, error)) ([]Key, error) {
	keys, err := p.store.Keys(ctx, purpose)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	material, err := newKey()
	if err != nil {
		return nil, err
	}
	if err := p.store.EnsureKey(ctx, Key{ID: 1, Purpose: purpose, Material: material, CreateTime: p.now()}); err != nil {
		return nil, err
	}
	return p.store.Keys(ctx, purpose)
}

func newAESKey() ([]byte, error) {
	b := make([]byte, 32)
	_, err := rand.Read(b)
	return b, err
}

// newSigningKey is an ECDSA key on P-256 in PKCS #8.
func newSigningKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKCS8PrivateKey(key)
}

const tokenKeys = "page-token"

func (p *Platform) loadSealer(ctx context.Context) error {
	keys, err := p.ensureKeys(ctx, tokenKeys, newAESKey)
	if err != nil {
		return err
	}
	s, err := newSealer(keys)
	if err != nil {
		return err
	}
	p.sealer.Store(s)
	return nil
}

// openToken opens a page token. A key that another replica made meanwhile is
// read, at most once in a while: forged tokens must not cause reads.
func (p *Platform) openToken(ctx context.Context, sealed string, list []byte) (token, error) {
	s := p.sealer.Load()
	t, err := s.open(sealed, list)
	if err == nil || s.knows(sealed) {
		return t, err
	}
	p.sealerLock.Lock()
	defer p.sealerLock.Unlock()
	if now := p.options.Clock(); now.Sub(p.sealerRead) > 10*time.Second {
		p.sealerRead = now
		if err := p.loadSealer(ctx); err != nil {
			return token{}, err
		}
	}
	return p.sealer.Load().open(sealed, list)
}

// RotateKeys adds a key that new page tokens are sealed with; tokens out there
// stay good.
func (p *Platform) RotateKeys(ctx context.Context) error {
	keys, err := p.store.Keys(ctx, tokenKeys)
	if err != nil {
		return err
	}
	if len(keys) == 255 {
		return errors.New("the 255 page token keys are used up")
	}
	material, err := newAESKey()
	if err != nil {
		return err
	}
	next := Key{ID: keys[len(keys)-1].ID + 1, Purpose: tokenKeys, Material: material, CreateTime: p.now()}
	if err := p.store.EnsureKey(ctx, next); err != nil {
		return err
	}
	return p.loadSealer(ctx)
}

func (p *Platform) loadSecretsKey(ctx context.Context) error {
	material := p.options.EncryptionKey
	if material == nil {
		keys, err := p.ensureKeys(ctx, "secrets", newAESKey)
		if err != nil {
			return err
		}
		material = keys[len(keys)-1].Material
		p.options.Logger.Warn("secrets are encrypted with a key kept in the database; set --encryption-key to keep it elsewhere")
	}
	block, err := aes.NewCipher(material)
	if err != nil {
		return err
	}
	p.secrets, err = cipher.NewGCMWithRandomNonce(block)
	return err
}

// hide encrypts a secret for storage; of says whose it is, and must be the
// same when it is read.
func (p *Platform) hide(secret string, of UID) []byte {
	return p.secrets.Seal(nil, nil, []byte(secret), []byte(of))
}

// reveal decrypts what hide has encrypted.
func (p *Platform) reveal(hidden []byte, of UID) (string, error) {
	secret, err := p.secrets.Open(nil, nil, hidden, []byte(of))
	if err != nil {
		return "", fmt.Errorf("a secret of %s cannot be decrypted; was --encryption-key changed? %w", of, err)
	}
	return string(secret), nil
}

// noteSeen remembers that an identity acted, at most once a minute and off the
// request's path: when the queue is full the next request tells it.
func (p *Platform) noteSeen(i *Identity) {
	if p.now().Sub(i.LastSeenTime.Time) < time.Minute {
		return
	}
	select {
	case p.seen <- i.UID:
	default:
	}
}

// Changed is closed when the next event may be there: that this process has
// stored or, while Run runs, another on the same database. Whoever waits for
// it looks now and then all the same.
func (p *Platform) Changed() <-chan struct{} { return p.store.Changed() }

// Run does what happens beside requests, until ctx ends.
func (p *Platform) Run(ctx context.Context) {
	var following sync.WaitGroup
	following.Go(func() {
		p.store.Follow(ctx, func(err error) {
			p.options.Logger.Warn("other replicas are not heard: their events come up to a second late", "error", err)
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
			if err := p.store.Seen(ctx, uids, p.now()); err != nil {
				p.options.Logger.Warn("last seen times were not written", "error", err)
			}
			clear(acted)
		}
	}
}
