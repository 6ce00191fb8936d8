package auth

import (
	"context"
	"crypto"
	"crypto/sha256"
	"fmt"
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

	// StaticKeys lists the keys that identities of this issuer and subject
	// bring themselves.
	StaticKeys(ctx context.Context, issuer, subject string) ([]platform.IdentityKeys, error)

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
// use, and holds nothing but the public keys of issuers and the tokens that
// these verified last.
type Verifier struct {
	directory   Directory
	audience    []string
	development *Issuer
	issuers     *issuers
	verified    *verifiedTokens
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
	guard := NewGuard(o.AllowHosts)
	return &Verifier{
		directory:   o.Directory,
		audience:    slices.Clone(o.Audience),
		development: o.Development,
		now:         o.Clock,
		verified:    newVerifiedTokens(),
		issuers: &issuers{
			directory: o.Directory,
			trusted:   slices.Clone(o.Issuers),
			fetcher:   fetcher{guard, guard.Client(fetchTimeout, maxDocument)},
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
	claims, err := v.proven(ctx, raw)
	if err != nil {
		return nil, failed(ctx, err)
	}
	actor, err := v.directory.Authenticate(ctx, claims)
	if err == nil && len(actor.Identities) == 0 && !claims.ServiceAudience {
		return nil, failed(ctx, platform.Unauthenticated(fmt.Sprintf("the token's aud does not name this service, which is called %q, and no identity accepts it", v.audience)))
	}
	return actor, err
}

// proven gives what a token claims that holds at this moment.
func (v *Verifier) proven(ctx context.Context, raw string) (platform.Claims, error) {
	hash := sha256.Sum256([]byte(raw))
	if claims, known, err := v.remembered(ctx, hash); known || err != nil {
		return claims, err
	}
	// What costs nothing comes first: neither the database nor an issuer is
	// bothered with a token that cannot hold anyway.
	t, claims, err := read(raw, v.audience, v.now())
	if err != nil {
		return claims, platform.Unauthenticated(err.Error())
	}
	key, err := v.verify(ctx, t, &claims)
	if err == nil && key != nil {
		v.verified.add(hash, t, claims, key)
	}
	return claims, err
}

// remembered gives what a token claims that was verified before, if it still
// holds: its times are checked, and its issuer must hold the very key that
// verified it.
func (v *Verifier) remembered(ctx context.Context, hash [sha256.Size]byte) (claims platform.Claims, known bool, err error) {
	t, found := v.verified.find(hash)
	if !found {
		return claims, false, nil
	}
	claims = t.claims
	if claims.Expires, err = t.checkTimes(v.now()); err != nil {
		v.verified.remove(hash)
		return claims, false, platform.Unauthenticated(err.Error())
	}
	key, held, err := v.heldKey(ctx, claims.Issuer, t.token)
	if err == nil && held && sameKey(key, t.key) {
		return claims, true, nil
	}
	v.verified.remove(hash)
	return claims, false, err
}

// verify checks the signature: under keys of the issuer that are at hand, keys
// that identities bring, and keys that the issuer is asked for, in this order.
// It gives the key of the issuer that the signature is right under, nil where
// it is one that identities bring.
func (v *Verifier) verify(ctx context.Context, t *token, c *platform.Claims) (crypto.PublicKey, error) {
	key, held, err := v.heldKey(ctx, c.Issuer, t)
	if err != nil {
		return nil, err
	}
	if held && t.verify(key) == nil {
		return key, nil
	}
	if err := v.admit(ctx, c.Issuer, t); err != nil {
		return nil, err
	}
	if c.StaticIdentities, err = v.staticIdentities(ctx, t, *c); err != nil || len(c.StaticIdentities) > 0 {
		return nil, err
	}
	if !held {
		if key, err = v.askedKey(ctx, c.Issuer, t); err != nil {
			return nil, err
		}
	}
	if err := t.verify(key); err != nil {
		return nil, platform.Unauthenticated(err.Error())
	}
	return key, nil
}

// admit asks the gate before the database is asked about a token that nothing
// at hand verifies.
func (v *Verifier) admit(ctx context.Context, issuer string, t *token) error {
	if key, found := v.issuers.olderKey(issuer, t); found && t.verify(key) == nil {
		return nil
	}
	return gateOf(ctx).Admit()
}

// heldKey gives the key by which a token of issuer must be signed, where the
// issuer need not be asked for it.
func (v *Verifier) heldKey(ctx context.Context, issuer string, t *token) (key crypto.PublicKey, held bool, err error) {
	switch {
	case v.development.signs(t):
		if issuer != DevelopmentIssuer {
			err = v.issuers.checkKnown(ctx, issuer)
		}
		return v.development.public.key, true, err
	case issuer == DevelopmentIssuer:
		return nil, false, nil
	default:
		key, held = v.issuers.heldKey(issuer, t)
		return key, held, nil
	}
}

// askedKey gives that key after asking the issuer, if it must be.
func (v *Verifier) askedKey(ctx context.Context, issuer string, t *token) (crypto.PublicKey, error) {
	switch {
	case issuer != DevelopmentIssuer:
		return v.issuers.key(ctx, issuer, t)
	case v.development != nil:
		return nil, platform.Unauthenticated("the token is not signed with the development key of this database")
	default:
		return nil, platform.Unauthenticated("the token's issuer is unknown")
	}
}
