package platform

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An organisation decides by identity providers and by rules with patterns that
// callers of an issuer belong to it. Such a decision takes effect once the
// organisation has proven that the issuer is its own, or the operator has
// allowed it; else anybody could draw the callers of anybody's issuer into
// their organisation. A rule of exactly one issuer and subject needs no proof,
// since whoever writes it knows the caller already, nor does an invite, which
// the caller accepts.

// ProofMethod says how an issuer was proven.
type ProofMethod string

// The methods. ProofUpgrade stands for providers from before there were proofs:
// those whom they had let in still come in, and nobody new does.
const (
	ProofFile     ProofMethod = "file"
	ProofToken    ProofMethod = "token"
	ProofOperator ProofMethod = "operator"
	ProofUpgrade  ProofMethod = "upgrade"
)

// Complete reports whether newcomers are let in too.
func (m ProofMethod) Complete() bool { return m != "" && m != ProofUpgrade }

// An IssuerProof says that an organisation may decide about callers of issuers.
type IssuerProof struct {
	Organisation UID
	Issuer       string // as in RuleKey: one issuer, those of a host, or all
	Method       ProofMethod
	VerifyTime   Time // when it was last confirmed
	CheckTime    Time // when that was last tried
}

// OrganisationClaim is the claim of a token by which its issuer says which
// organisations its callers may be let into: a root group's UID, or a list.
const OrganisationClaim = "atrium_organisation"

const (
	recheckInterval = 24 * time.Hour     // between two looks at the file of an issuer
	unreachableFor  = 7 * 24 * time.Hour // until a file that cannot be read proves nothing any more
	recheckInterim  = time.Hour          // between two looks at which are due
	recheckAtOnce   = 100
)

// A SharedIssuer serves many tenants, whom its subjects tell apart. Patterns of
// subjects that name a tenant literally need no proof.
type SharedIssuer struct {
	Issuer string
	Tenant *regexp.Regexp // matches the start of a subject, up to the end of the tenant's name
}

// DefaultSharedIssuers are public services whose subjects begin with their
// tenant.
func DefaultSharedIssuers() []SharedIssuer {
	return []SharedIssuer{
		{"https://token.actions.githubusercontent.com", regexp.MustCompile(`^repo:[^/:]+/`)},
		{"https://gitlab.com", regexp.MustCompile(`^project_path:[^/:]+/`)},
	}
}

// tenant gives the tenant that a subject, or the literal start of a pattern,
// names at its start; "" where it names none.
func (p *Platform) tenant(issuer, subject string) string {
	for _, shared := range p.options.SharedIssuers {
		if at := shared.Tenant.FindStringIndex(subject); shared.Issuer == issuer && at != nil && at[0] == 0 {
			return subject[:at[1]]
		}
	}
	return ""
}

// namesTenant reports whether a rule is about one tenant of a shared issuer.
func (p *Platform) namesTenant(m *ClaimMatch) bool {
	prefix, _ := literalPrefix(m.SubjectPattern)
	return p.tenant(m.Issuer, prefix) != ""
}

// rulesOfKey is how many identities of an organisation tokens find by one key.
const rulesOfKey = 20

// admitRule decides, inside the transaction that writes the rule of an identity,
// whether its organisation may have it.
func (p *Platform) admitRule(ctx context.Context, tx Tx, identity UID, m *ClaimMatch) error {
	key, root := m.Key(), identity.Root()
	if key == (RuleKey{}) {
		return nil
	}
	if err := tx.Lock(ctx, root); err != nil {
		return err
	}
	n, err := tx.CountRules(ctx, root, key, identity)
	if err != nil {
		return err
	}
	if n >= rulesOfKey {
		return blocked("TOO_MANY_RULES", m.subjectField(), "an organisation may have 20 identities for the same issuer and subject, or for the same issuer and start of a subject pattern; make the patterns' literal starts longer, or delete identities")
	}
	if !key.HasPattern() || p.namesTenant(m) {
		return nil
	}
	proof, err := p.proof(ctx, tx, root, key.Issuer)
	if err != nil || proof.Method.Complete() {
		return err
	}
	return unproven(m, root)
}

func (m *ClaimMatch) subjectField() string {
	if m.Subject == "" {
		return "claimMatch.subjectPattern"
	}
	return "claimMatch.subject"
}

// unproven is the answer to a rule that its organisation may not have yet.
func unproven(m *ClaimMatch, root UID) error {
	switch {
	case m.Issuer != "":
		return blocked("ISSUER_NOT_VERIFIED", m.subjectField(), "a subject pattern needs an issuer that the organisation has verified: verify an identity provider of this issuer, or ask the operator to allow it (atrium issuers allow --org "+string(root)+" --issuer "+m.Issuer+")")
	case literalHost(m.IssuerPattern) != "":
		return blocked("ISSUER_NOT_VERIFIED", "claimMatch.issuerPattern", "issuer patterns need the operator's allowance (atrium issuers allow --org "+string(root)+" --issuer "+literalHost(m.IssuerPattern)+"/*)")
	default:
		return blocked("ISSUER_NOT_VERIFIED", "claimMatch.issuerPattern", "must begin with a literal scheme and host, such as https://login\\.example\\.com/; else the operator must allow the organisation every issuer (atrium issuers allow --org "+string(root)+" --issuer '*')")
	}
}

// proof reads what an organisation has proven of an issuer. What the operator
// writes, and everything in development mode, is proven by being written.
func (p *Platform) proof(ctx context.Context, tx Tx, root UID, issuer string) (*IssuerProof, error) {
	found, err := tx.IssuerProof(ctx, root, issuer)
	if err != nil || found.Method.Complete() {
		return found, err
	}
	if a := ActorOf(ctx); p.options.AllowIssuers || a != nil && a.operator != "" {
		found = &IssuerProof{Organisation: root, Issuer: issuer, Method: ProofOperator, VerifyTime: p.now(), CheckTime: p.now()}
		err = tx.PutIssuerProof(ctx, found)
	}
	return found, err
}

// Issuers are the operator's operations on proofs.
type Issuers struct{ p *Platform }

// Allow lets an organisation decide about callers of an issuer: one issuer,
// `https://host/*` for patterns over the issuers of a host, or `*` for all.
func (s Issuers) Allow(ctx context.Context, root UID, issuer string) error {
	key, err := s.key(ctx, root, issuer)
	if err != nil {
		return err
	}
	err = s.p.store.Write(ctx, func(tx Tx) error {
		found, err := s.p.Groups.table(tx).Get(ctx, Keys{uids: []UID{root}})
		if err == nil && len(found) == 0 {
			err = groupKind.notFound(root)
		}
		if err != nil {
			return err
		}
		return tx.PutIssuerProof(ctx, &IssuerProof{Organisation: root, Issuer: key, Method: ProofOperator, VerifyTime: s.p.now(), CheckTime: s.p.now()})
	})
	return err
}

// Revoke takes a proof away, however it came about.
func (s Issuers) Revoke(ctx context.Context, root UID, issuer string) error {
	key, err := s.key(ctx, root, issuer)
	if err != nil {
		return err
	}
	return s.p.store.Write(ctx, func(tx Tx) error { return tx.DeleteIssuerProof(ctx, root, key) })
}

// List tells of every proof, and of what waits for one: with an empty Method,
// what organisations have providers and patterns for. Its issuers are spelled
// as Allow takes them.
func (s Issuers) List(ctx context.Context) ([]*IssuerProof, error) {
	if err := operating(ctx); err != nil {
		return nil, err
	}
	proofs, err := s.p.store.IssuerProofs(ctx)
	for _, proof := range proofs {
		if key, ok := strings.CutPrefix(proof.Issuer, PatternMark); ok {
			proof.Issuer = strings.TrimPrefix(key+"/*", "/")
		}
	}
	return proofs, err
}

// key checks what the operator names, and gives the issuer as it is kept.
func (s Issuers) key(ctx context.Context, root UID, issuer string) (string, error) {
	if err := operating(ctx); err != nil {
		return "", err
	}
	var v violations
	if v.uid("org", root); len(v) == 0 && !root.IsRoot() {
		v.add("org", "must be the UID of a root group")
	}
	if issuer == "*" {
		return PatternMark, v.err()
	}
	v.issuer("issuer", issuer)
	if host, ok := strings.CutSuffix(issuer, "/*"); ok {
		if hostOf(issuer) != host {
			v.add("issuer", "must be an issuer, https://host/* for the issuers of a host, or *")
		}
		return PatternMark + host, v.err()
	}
	return issuer, v.err()
}

// Verify looks whether the organisation of a provider has proven its issuer: by
// a token of that issuer whose claim OrganisationClaim names the organisation,
// brought by the caller, or by a file at the issuer that lists it. It needs
// identity_providers.update.
func (s IdentityProviders) Verify(ctx context.Context, uid UID) (*IdentityProvider, error) {
	provider, err := s.verify(ctx, uid)
	if err != nil {
		return nil, s.refused(ctx, "updated", uid, err)
	}
	return provider, nil
}

func (s IdentityProviders) verify(ctx context.Context, uid UID) (*IdentityProvider, error) {
	if _, err := caller(ctx); err != nil {
		return nil, err
	}
	if err := invalidUID("uid", uid); err != nil {
		return nil, err
	}
	actor, err := need(ctx, uid, s.kind.Updating()...)
	if err != nil {
		return nil, err
	}
	provider, err := s.unchanged(ctx, uid)
	if err != nil {
		return nil, err
	}
	if provider.OIDC == nil {
		return nil, blocked("ISSUER_NOT_VERIFIED", string(uid), "the identity provider has no issuer")
	}
	method, err := s.prove(ctx, actor, uid.Root(), provider.OIDC.Issuer)
	if err != nil {
		return nil, err
	}
	var verified *IdentityProvider
	err = s.p.store.Write(ctx, func(tx Tx) error {
		current, err := s.locked(ctx, tx, uid)
		if err != nil {
			return err
		}
		if current.OIDC == nil || current.OIDC.Issuer != provider.OIDC.Issuer {
			return &Error{Code: CodeAborted, Reason: "ABORTED", Message: "Aborted: the issuer of the identity provider has just changed"}
		}
		// What the operator allowed stays so: nothing can take it back but the operator.
		proof, err := tx.IssuerProof(ctx, uid.Root(), provider.OIDC.Issuer)
		if err == nil && proof.Method != ProofOperator {
			err = tx.PutIssuerProof(ctx, &IssuerProof{Organisation: uid.Root(), Issuer: provider.OIDC.Issuer, Method: method, VerifyTime: s.p.now(), CheckTime: s.p.now()})
		}
		if err != nil {
			return err
		}
		if verified, err = s.locked(ctx, tx, uid); err != nil {
			return err
		}
		tx.Record(s.p.event(ctx, s.kind.Event, "updated", uid, s.kind.Group(verified), verified))
		return nil
	})
	return verified, err
}

// prove finds a proof that an issuer belongs to an organisation.
func (s IdentityProviders) prove(ctx context.Context, actor *Actor, root UID, issuer string) (ProofMethod, error) {
	switch {
	case s.p.options.AllowIssuers, actor.operator != "":
		return ProofOperator, nil
	case actor.Issuer == issuer && slices.Contains(actor.vouched, string(root)):
		return ProofToken, nil
	case s.p.options.IssuerFile == nil:
		return "", blocked("ISSUER_NOT_VERIFIED", issuer, "this service reads no files of issuers; ask the operator to allow the issuer")
	}
	listed, err := s.p.options.IssuerFile(ctx, issuer)
	if err != nil {
		s.p.options.Logger.WarnContext(ctx, "the organisations of an issuer were not read", "issuer", issuer, "error", err)
		return "", Unavailable("the issuer's file "+IssuerFileURL(issuer)+" cannot be read", err)
	}
	if !slices.Contains(listed, root) {
		return "", blocked("ISSUER_NOT_VERIFIED", issuer, IssuerFileURL(issuer)+" does not list the organisation "+string(root)+`; serve {"organisations": ["`+string(root)+`"]} there, or bring a token of the issuer whose claim `+OrganisationClaim+" is that UID")
	}
	return ProofFile, nil
}

// IssuerFileURL is where an issuer lists the organisations that may decide about
// its callers, beside its OpenID discovery document: a JSON object whose member
// "organisations" is a list of UIDs of root groups.
func IssuerFileURL(issuer string) string {
	return strings.TrimSuffix(issuer, "/") + "/.well-known/atrium-organisation"
}

// recheckRegularly calls Recheck now and then until ctx ends.
func (s Issuers) recheckRegularly(ctx context.Context) {
	tick := time.NewTicker(recheckInterim)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.Recheck(ctx); err != nil {
				s.p.options.Logger.Warn("the files of issuers were not checked again", "error", err)
			}
		}
	}
}

// Recheck looks again at the files of issuers that were not looked at for a day.
// One that does not list its organisation any more proves nothing from then on,
// nor does one that could not be read for a week.
func (s Issuers) Recheck(ctx context.Context) error {
	if s.p.options.IssuerFile == nil {
		return nil
	}
	now := s.p.now()
	due, err := s.p.store.DueIssuerProofs(ctx, At(now.Add(-recheckInterval)), recheckAtOnce)
	for _, proof := range due {
		listed, failed := s.p.options.IssuerFile(ctx, proof.Issuer)
		if failed != nil {
			s.p.options.Logger.WarnContext(ctx, "the organisations of an issuer were not read", "issuer", proof.Issuer, "error", failed)
		}
		err = s.p.store.Write(ctx, func(tx Tx) error {
			current, err := tx.IssuerProof(ctx, proof.Organisation, proof.Issuer)
			if err != nil || *current != *proof {
				return err // somebody was faster
			}
			switch {
			case failed == nil && slices.Contains(listed, proof.Organisation):
				current.VerifyTime = now
			case failed == nil, now.Sub(proof.VerifyTime.Time) > unreachableFor:
				s.p.options.Logger.WarnContext(ctx, "an issuer is no longer proven", "issuer", proof.Issuer, "organisation", proof.Organisation)
				return tx.DeleteIssuerProof(ctx, proof.Organisation, proof.Issuer)
			}
			current.CheckTime = now
			return tx.PutIssuerProof(ctx, current)
		})
		if err != nil {
			return err
		}
	}
	return err
}
