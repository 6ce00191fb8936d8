package platform

import (
	"context"
	"fmt"
	"regexp"
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
		return blocked("TOO_MANY_RULES", m.subjectField(), fmt.Sprintf("an organisation may have %d identities for the same issuer and subject, or for the same issuer and start of a subject pattern; make the patterns' literal starts longer, or delete identities", rulesOfKey))
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
