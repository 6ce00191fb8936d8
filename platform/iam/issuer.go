package iam

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"atrium/platform/core"
)

// Identity providers, and rules with patterns, let many callers of an issuer act
// in an organization. They take effect once the organization has proven that it
// controls the issuer, or the operator has allowed it. Otherwise any organization
// could capture the callers of any issuer. A rule with one exact issuer and
// subject needs no proof, because its author knows the caller. An invite needs no
// proof, because the caller accepts it.

// ProofMethod is the way in which an issuer was proven.
type ProofMethod string

// The methods. ProofUpgrade is for providers that existed before proofs did:
// their existing users can sign in, and new users cannot.
const (
	ProofFile     ProofMethod = "file"
	ProofToken    ProofMethod = "token"
	ProofOperator ProofMethod = "operator"
	ProofUpgrade  ProofMethod = "upgrade"
)

// AdmitsNewUsers reports whether new users can sign in too.
func (m ProofMethod) AdmitsNewUsers() bool { return m != "" && m != ProofUpgrade }

// An IssuerProof allows an organization to decide about callers of an issuer.
type IssuerProof struct {
	Organization core.UID
	Issuer       string // one issuer, those of a host, or all, as in RuleKey
	Method       ProofMethod
	VerifyTime   core.Time // time of the last successful check
	CheckTime    core.Time // time of the last check
}

// OrganizationClaim is the claim in which an issuer names the organizations that
// may decide about its callers: the UID of a root group, or a list of UIDs.
const OrganizationClaim = "atrium_organization"

// A SharedIssuer serves many tenants. Its subjects begin with the tenant. Subject
// patterns that begin with a literal tenant need no proof.
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

// tenant returns the tenant at the start of a subject, or of the literal start of
// a pattern, or "" if there is none.
func (area *Area) tenant(issuer, subject string) string {
	for _, shared := range area.options.SharedIssuers {
		if at := shared.Tenant.FindStringIndex(subject); shared.Issuer == issuer && at != nil && at[0] == 0 {
			return subject[:at[1]]
		}
	}
	return ""
}

// namesTenant reports whether a rule is about one tenant of a shared issuer.
func (area *Area) namesTenant(m *ClaimMatch) bool {
	prefix, _ := literalPrefix(m.SubjectPattern)
	return area.tenant(m.Issuer, prefix) != ""
}

// rulesOfKey limits the identities of an organization with the same RuleKey.
const rulesOfKey = 20

// admitRule fails unless the organization may have the rule of an identity. It must be called in the transaction
// that writes the rule.
func (area *Area) admitRule(ctx context.Context, tx core.Tx, i *Identity) error {
	admit, err := area.readRules(ctx, tx, i)
	if err != nil {
		return err
	}
	return admit(0)
}

// readRules reads what decides whether organizations may have the rules of identities. The function that it returns
// fails unless they may have the i-th, together with those that it has admitted before.
func (area *Area) readRules(ctx context.Context, tx core.Tx, identities ...*Identity) (admit func(i int) error, _ error) {
	keys, roots := map[core.UID]RuleKey{}, map[core.UID]bool{}
	for _, i := range identities {
		if key := i.ruleKey(); key != (RuleKey{}) {
			keys[i.UID], roots[i.UID.Root()] = key, true
		}
	}
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		tx.Lock(root)
	}
	var rules, bindings map[core.UID]int
	err := tx.RunTogether(ctx,
		func(ctx context.Context) (err error) { rules, err = area.Tables.CountRules(ctx, tx, keys); return err },
		func(ctx context.Context) (err error) {
			bindings, err = area.Tables.CountBindings(ctx, tx, keys, bindingsOfKey+1)
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	type rule struct {
		root core.UID
		key  RuleKey
	}
	admitted, proofs := map[rule]int{}, map[rule]*IssuerProof{}
	return func(i int) (err error) {
		uid, m := identities[i].UID, identities[i].ClaimMatch
		key, root := keys[uid], uid.Root()
		issuer := rule{root, RuleKey{Issuer: key.Issuer}}
		switch n := rules[uid] + admitted[rule{root, key}]; {
		case key == (RuleKey{}):
			return nil
		case n >= rulesOfKey:
			return core.FailedPrecondition("TOO_MANY_RULES", identities[i].subjectField(), fmt.Sprintf("an organization may have %d identities for the same issuer and subject, or for the same issuer and start of a subject pattern; make the patterns' literal starts longer, or delete identities", rulesOfKey))
		case bindings[uid] > bindingsOfKey:
			return tooManyBindings(uid)
		}
		admitted[rule{root, key}]++
		if !key.hasPattern() || area.namesTenant(m) {
			return nil
		}
		if proofs[issuer] == nil {
			if proofs[issuer], err = area.readProof(ctx, tx, root, key.Issuer); err != nil {
				return err
			}
		}
		if proofs[issuer].Method.AdmitsNewUsers() {
			return nil
		}
		return unprovenError(m, root)
	}, nil
}

// bindingsOfKey limits the role bindings of the identities of an organization with the same
// RuleKey. Each request of a caller who has the rule reads them, and the rule may be about
// somebody who knows nothing of the organization.
const bindingsOfKey = 1000

// checkBindings fails if one of these identities of an organization would have too many role bindings with new ones, together
// with the others whose rule has its key. Then it returns the identity.
func (area *Area) checkBindings(ctx context.Context, tx core.Tx, keys map[core.UID]RuleKey, made ...*RoleBinding) (overfull core.UID, _ error) {
	maps.DeleteFunc(keys, func(_ core.UID, key RuleKey) bool { return key == (RuleKey{}) }) // no token reads the bindings
	added := map[RuleKey]int{}
	for _, b := range made {
		added[keys[b.IdentityUID]]++
	}
	counts, err := area.Tables.CountBindings(ctx, tx, keys, bindingsOfKey+1)
	if err != nil {
		return "", err
	}
	for _, uid := range slices.Sorted(maps.Keys(keys)) {
		if counts[uid]+added[keys[uid]] > bindingsOfKey {
			return uid, tooManyBindings(uid)
		}
	}
	return "", nil
}

func tooManyBindings(uid core.UID) error {
	return core.FailedPrecondition("TOO_MANY_BINDINGS", string(uid), fmt.Sprintf("an organization may have %d role bindings for identities with the same issuer and subject, or with the same issuer and start of a subject pattern; bind roles on groups further up, or delete bindings", bindingsOfKey))
}

// ruleKey returns the key of the rule or of the static keys.
func (i *Identity) ruleKey() RuleKey {
	if k := i.StaticKeys; k != nil {
		return RuleKey{k.Issuer, k.Subject}
	}
	return i.ClaimMatch.Key()
}

func (i *Identity) subjectField() string {
	if i.StaticKeys != nil {
		return "staticKeys.subject"
	}
	return i.ClaimMatch.subjectField()
}

func (m *ClaimMatch) subjectField() string {
	if m.Subject == "" {
		return "claimMatch.subjectPattern"
	}
	return "claimMatch.subject"
}

// unprovenError returns the error for a rule whose issuer is not proven.
func unprovenError(m *ClaimMatch, root core.UID) error {
	switch {
	case m.Issuer != "":
		return core.FailedPrecondition("ISSUER_NOT_VERIFIED", m.subjectField(), "a subject pattern needs an issuer that the organization has verified: verify an identity provider of this issuer, or ask the operator to allow it (atrium admin issuers allow --org "+string(root)+" --issuer "+m.Issuer+")")
	case literalHost(m.IssuerPattern) != "":
		return core.FailedPrecondition("ISSUER_NOT_VERIFIED", "claimMatch.issuerPattern", "an issuer pattern must be allowed by the operator (atrium admin issuers allow --org "+string(root)+" --issuer "+literalHost(m.IssuerPattern)+"/*)")
	default:
		return core.FailedPrecondition("ISSUER_NOT_VERIFIED", "claimMatch.issuerPattern", "must begin with a literal scheme and host, such as https://login\\.example\\.com/; otherwise the operator must allow every issuer for the organization (atrium admin issuers allow --org "+string(root)+" --issuer '*')")
	}
}

// readProof reads the proof that an organization has for an issuer. For the
// operator and in development mode, it stores a proof if there is none.
func (area *Area) readProof(ctx context.Context, tx core.Tx, root core.UID, issuer string) (*IssuerProof, error) {
	found, err := area.Tables.IssuerProof(ctx, tx, root, issuer)
	if err != nil || found.Method.AdmitsNewUsers() {
		return found, err
	}
	if a := core.ActorOf(ctx); area.options.AllowIssuers || a != nil && a.Operator != "" {
		found = &IssuerProof{Organization: root, Issuer: issuer, Method: ProofOperator, VerifyTime: area.Now(), CheckTime: area.Now()}
		err = area.Tables.PutIssuerProof(ctx, tx, found)
	}
	return found, err
}
