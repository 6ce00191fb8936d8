package auth

import (
	"context"
	"crypto"
	"log/slog"
	"slices"
	"time"

	"atrium/platform"
)

// A Directory knows who tokens are made out to; *platform.Platform is one.
type Directory interface {
	// KnowsIssuer reports whether something stored names exactly this issuer.
	// Only then is the issuer asked for its keys.
	KnowsIssuer(ctx context.Context, issuer string) (bool, error)

	// Authenticate gives the caller that verified claims describe.
	Authenticate(ctx context.Context, claims platform.Claims) (*platform.Actor, error)
}

// Options is what a Verifier needs.
type Options struct {
	Directory Directory

	// Audience is by which names this service is called. A token with none of
	// them in its aud matches only identities that name an audience.
	Audience []string

	// Issuers are trusted beside those that the directory knows.
	Issuers []string

	// Development, where not nil, switches development mode on: tokens of
	// DevelopmentIssuer are accepted, and the development key may sign for
	// every known issuer, so that rules can be tried without a real one.
	Development *Issuer

	// AllowHosts are the issuers' hosts (host or host:port) that may be
	// private or plain http: for local use and tests.
	AllowHosts []string

	Clock  func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: slog.Default
}

// A Verifier tells from a token who its bearer is. It is safe for concurrent
// use, and holds nothing but the public keys of issuers.
type Verifier struct {
	directory   Directory
	audience    []string
	development *Issuer
	issuers     *issuers
	now         func() time.Time
}

// New makes a Verifier. It fetches nothing yet.
func New(o Options) *Verifier {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Verifier{
		directory:   o.Directory,
		audience:    slices.Clone(o.Audience),
		development: o.Development,
		now:         o.Clock,
		issuers: &issuers{
			directory: o.Directory,
			trusted:   slices.Clone(o.Issuers),
			fetcher:   fetcher{client: NewGuard(o.AllowHosts).Client(fetchTimeout, maxDocument)},
			now:       o.Clock,
			logger:    o.Logger,
			sets:      map[string]*usedKeySet{},
		},
	}
}

// Verify gives the caller that raw, a JWT in compact form, proves. What is
// wrong with a token is UNAUTHENTICATED; an issuer that must be asked for its
// keys and does not answer, UNAVAILABLE; the directory's errors come as they
// are.
func (v *Verifier) Verify(ctx context.Context, raw string) (*platform.Actor, error) {
	// What costs nothing comes first: neither the database nor an issuer is
	// bothered with a token that cannot hold anyway.
	t, claims, err := read(raw, v.audience, v.now())
	if err != nil {
		return nil, platform.Unauthenticated(err.Error())
	}
	key, err := v.key(ctx, claims.Issuer, t)
	if err != nil {
		return nil, err
	}
	if err := t.verify(key); err != nil {
		return nil, platform.Unauthenticated(err.Error())
	}
	return v.directory.Authenticate(ctx, claims)
}

// key gives the key by which a token of issuer must be signed.
func (v *Verifier) key(ctx context.Context, issuer string, t *token) (crypto.PublicKey, error) {
	switch {
	case v.development.signs(t):
		if issuer != DevelopmentIssuer {
			if err := v.issuers.checkKnown(ctx, issuer); err != nil {
				return nil, err
			}
		}
		return v.development.public.key, nil
	case issuer != DevelopmentIssuer:
		return v.issuers.key(ctx, issuer, t)
	case v.development != nil:
		return nil, platform.Unauthenticated("the token is not signed with the development key of this database")
	default:
		return nil, platform.Unauthenticated("the token's issuer is unknown")
	}
}
