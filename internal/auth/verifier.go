package auth

import (
	"context"
	"crypto"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// A Directory finds the identities of tokens. *platform.Platform is one.
type Directory interface {
	// KnowsIssuer reports whether a stored record names exactly this issuer.
	// Otherwise the issuer is not asked for its keys.
	KnowsIssuer(ctx context.Context, issuer string) (bool, error)

	// StaticKeys lists the keys that are stored with identities of this issuer
	// and subject.
	StaticKeys(ctx context.Context, issuer, subject string) ([]iam.IdentityKeys, error)

	// Authenticate returns the caller that verified claims describe.
	Authenticate(ctx context.Context, claims iam.Claims) (*core.Actor, error)

	// Presume returns ctx with the caller that Authenticate returned for these
	// claims at an earlier request. core.Prove checks that it still would.
	Presume(ctx context.Context, claims iam.Claims, last *core.Actor) context.Context
}

// Options configures a Verifier.
type Options struct {
	Directory Directory

	// Audience lists the audiences of this service. A token with none of them in
	// its aud matches only identities that name an audience of their own.
	Audience []string

	// Issuers are trusted in addition to those that the directory knows.
	Issuers []string

	// Development switches development mode on if it is not nil. Tokens of
	// DevelopmentIssuer are then accepted, and the development key may sign for
	// every known issuer, so that rules can be tried without that issuer.
	Development *Issuer

	// Guard decides which issuers may be asked for their keys. nil means a guard
	// without exemptions.
	Guard *Guard

	// Observe is called with the outcome for the token of each request: anonymous,
	// accepted, or the code of the error in lower case. It may be nil.
	Observe func(outcome string)

	Clock  func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil means slog.Default
}

// A Verifier verifies tokens and finds their bearers. It is safe for concurrent
// use. It caches only public keys, and the claims of tokens that the keys of issuers have
// verified, with their last bearers.
type Verifier struct {
	directory   Directory
	audience    []string
	development *Issuer
	issuers     *issuers
	verified    *verifiedTokens
	static      staticKeys
	now         func() time.Time
	observe     func(outcome string)
}

// New returns a Verifier. It fetches no keys yet.
func New(o Options) *Verifier {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Guard == nil {
		o.Guard = NewGuard(nil)
	}
	return &Verifier{
		directory:   o.Directory,
		audience:    slices.Clone(o.Audience),
		development: o.Development,
		now:         o.Clock,
		observe:     o.Observe,
		verified:    newVerifiedTokens(),
		static:      newStaticKeys(),
		issuers: &issuers{
			directory: o.Directory,
			trusted:   slices.Clone(o.Issuers),
			fetcher:   fetcher{o.Guard, o.Guard.Client(fetchTimeout, maxDocument)},
			now:       o.Clock,
			logger:    o.Logger,
			staleWait: defaultStaleWait,
			sets:      map[string]*usedKeySet{},
		},
	}
}

// Verify verifies raw, a JWT in compact form, and returns its bearer. The error is
// UNAUTHENTICATED if the token is not valid, and UNAVAILABLE if the keys of its
// issuer cannot be fetched. Errors of the directory are returned unchanged.
func (v *Verifier) Verify(ctx context.Context, raw string) (*core.Actor, error) {
	hash := sha256.Sum256([]byte(raw))
	claims, err := v.verifyClaims(ctx, hash, raw)
	if err != nil {
		noteRefused(ctx, raw)
		return nil, countFailure(ctx, claimantOf(claims), err)
	}
	actor, err := v.directory.Authenticate(ctx, claims)
	if err == nil && len(actor.Identities) == 0 && !claims.ServiceAudience {
		noteRefused(ctx, raw)
		return nil, countFailure(ctx, claimantOf(claims), core.Unauthenticated(fmt.Sprintf("the token's aud does not name this service, whose audience is %q, and no identity accepts it", v.audience)))
	}
	if err == nil {
		v.verified.keepBearer(hash, actor)
	}
	return actor, err
}

// noteRefused notes for the log whom a refused token names, so that an operator knows whose it is. A token that is not a
// JWT names nobody.
func noteRefused(ctx context.Context, raw string) {
	if t, err := parse(raw); err == nil {
		issuer, _ := t.claims["iss"].(string)
		subject, _ := t.claims["sub"].(string)
		core.TraceOf(ctx).NoteRefused(issuer, subject)
	}
}

// presume returns ctx with the bearer of raw that an earlier request found, if raw is
// still valid and the bearer is known.
func (v *Verifier) presume(ctx context.Context, raw string) (_ context.Context, isPresumed bool, err error) {
	known, err := v.findVerified(ctx, sha256.Sum256([]byte(raw)))
	if err != nil {
		noteRefused(ctx, raw)
		return ctx, false, countFailure(ctx, Claimant{}, err)
	}
	if known == nil {
		return ctx, false, nil
	}
	last := known.bearer.Load()
	if last == nil {
		return ctx, false, nil
	}
	return v.directory.Presume(ctx, known.claims, last), true, nil
}

// verifyClaims returns the claims of raw, if its signature and times are valid now.
func (v *Verifier) verifyClaims(ctx context.Context, hash [sha256.Size]byte, raw string) (iam.Claims, error) {
	if known, err := v.findVerified(ctx, hash); err != nil {
		return iam.Claims{}, err
	} else if known != nil {
		return known.claims, nil
	}
	// The cheap checks come first, so that invalid tokens cause no queries to the
	// database or to an issuer.
	t, claims, err := readToken(raw, v.audience, v.now())
	if err != nil {
		return claims, core.Unauthenticated(err.Error())
	}
	key, err := v.verify(ctx, t, &claims)
	if err == nil && key != nil {
		v.verified.add(hash, t, claims, key)
	}
	return claims, err
}

// findVerified returns a token that was verified before, if it is still valid, and
// nil if it is not known. It checks the times of the token, and that its issuer still
// has the key that verified it.
func (v *Verifier) findVerified(ctx context.Context, hash [sha256.Size]byte) (*verifiedToken, error) {
	t, found := v.verified.find(hash)
	if !found {
		return nil, nil
	}
	if _, err := t.checkTimes(v.now()); err != nil {
		v.verified.remove(hash)
		return nil, core.Unauthenticated(err.Error())
	}
	keys, _, err := v.cachedKeys(ctx, t.claims.Issuer, t.token)
	if err == nil && slices.ContainsFunc(keys, func(key crypto.PublicKey) bool { return equalKeys(key, t.key) }) {
		return t, nil
	}
	v.verified.remove(hash)
	return nil, err
}

// verify checks the signature with the cached keys of the issuer, then with the
// static keys of identities, then with keys fetched from the issuer. It returns the
// key of the issuer that verified the signature, or nil if a static key did.
func (v *Verifier) verify(ctx context.Context, t *token, c *iam.Claims) (crypto.PublicKey, error) {
	keys, isCached, err := v.cachedKeys(ctx, c.Issuer, t)
	if err != nil {
		return nil, err
	}
	if key, err := t.verify(keys); err == nil {
		return key, nil
	}
	if err := v.admit(ctx, t, *c); err != nil {
		return nil, err
	}
	if c.StaticIdentities, err = v.findStaticIdentities(ctx, t, *c); err != nil || len(c.StaticIdentities) > 0 {
		return nil, err
	}
	if !isCached {
		if keys, err = v.fetchKeys(ctx, c.Issuer, t); err != nil {
			return nil, err
		}
	}
	key, err := t.verify(keys)
	if err != nil {
		return nil, core.Unauthenticated(err.Error())
	}
	return key, nil
}

// admit asks the Throttle. It is called before the database is asked about a token that no
// cached key verifies. A token that a stale key verifies, or a static key that has verified
// others, is admitted whatever others have forged.
func (v *Verifier) admit(ctx context.Context, t *token, c iam.Claims) error {
	return throttleFrom(ctx).Admit(claimantOf(c), func() bool {
		keys := v.issuers.staleKeys(c.Issuer, t)
		if static, found := v.static.Get(staticKeyOf(t, c)); found {
			keys = append(keys, static)
		}
		_, err := t.verify(keys)
		return err == nil
	})
}

func claimantOf(c iam.Claims) Claimant { return Claimant{c.Issuer, c.Subject} }

// cachedKeys returns the keys with one of which a token of issuer must be signed, if the
// issuer need not be asked for them.
func (v *Verifier) cachedKeys(ctx context.Context, issuer string, t *token) (keys []crypto.PublicKey, isCached bool, err error) {
	switch {
	case v.development.isSignerOf(t):
		if issuer != DevelopmentIssuer {
			err = v.issuers.checkKnown(ctx, issuer)
		}
		return []crypto.PublicKey{v.development.public.key}, true, err
	case issuer == DevelopmentIssuer:
		return nil, false, nil
	default:
		keys, isCached = v.issuers.cachedKeys(issuer, t)
		return keys, isCached, nil
	}
}

// fetchKeys returns the keys with one of which a token of issuer must be signed, and
// fetches the keys of the issuer if necessary.
func (v *Verifier) fetchKeys(ctx context.Context, issuer string, t *token) ([]crypto.PublicKey, error) {
	switch {
	case issuer != DevelopmentIssuer:
		return v.issuers.keys(ctx, issuer, t)
	case v.development != nil:
		return nil, core.Unauthenticated("the token is not signed with the development key of this database")
	default:
		return nil, core.Unauthenticated("the token's issuer is unknown")
	}
}
