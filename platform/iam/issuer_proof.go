package iam

import (
	"context"
	"slices"
	"strings"
	"time"

	"atrium/platform/core"
)

// IssuerQueries read and write issuers in other ways than a Table does.
type IssuerQueries interface {
	// IssuerProof reads the proof of an organization for an issuer. The method is
	// empty if there is no proof.
	IssuerProof(ctx context.Context, on core.Conn, root core.UID, issuer string) (*IssuerProof, error)

	// IssuerProofs lists all proofs, and the issuers of providers and patterns
	// without a proof, which have no method.
	IssuerProofs(ctx context.Context, on core.Conn) ([]*IssuerProof, error)

	// DueIssuerProofs lists proofs by a file that were not checked since a time,
	// the least recently checked first.
	DueIssuerProofs(ctx context.Context, on core.Conn, before core.Time, limit int) ([]*IssuerProof, error)

	// ProvidersOfIssuer lists the identity providers that an organization has for
	// an issuer.
	ProvidersOfIssuer(ctx context.Context, on core.Conn, root core.UID, issuer string) ([]core.UID, error)

	// CountRules counts, for each identity, the others of its organization with its rule key, or with
	// static keys for its issuer and subject, in one round trip.
	CountRules(ctx context.Context, on core.Conn, keys map[core.UID]RuleKey) (map[core.UID]int, error)

	// CountBindings counts the role bindings of each identity, together with the others that CountRules
	// counts for its key, in one round trip. It counts no more than most.
	CountBindings(ctx context.Context, on core.Conn, keys map[core.UID]RuleKey, most int) (map[core.UID]int, error)

	// HasOwner reports whether an owner of an organization, whose role binding never expires, has
	// a rule or static keys, or is a user of an identity provider. It leaves out one role binding, or the rule and the
	// keys of one identity; "" leaves out nothing. It also leaves out all of some identities.
	HasOwner(ctx context.Context, on core.Conn, root, without core.UID, identities ...core.UID) (bool, error)

	// PutIssuerProof stores a proof, or replaces the one of the same
	// organization and issuer. DeleteIssuerProof removes it, if it is there.
	PutIssuerProof(ctx context.Context, tx core.Tx, proof *IssuerProof) error

	DeleteIssuerProof(ctx context.Context, tx core.Tx, root core.UID, issuer string) error
}

const (
	recheckInterval = 24 * time.Hour     // time between two checks of the file of an issuer
	unreachableFor  = 7 * 24 * time.Hour // time after which a file that cannot be read no longer proves anything
	recheckAtOnce   = 100
)

// RecheckTick is the time between two searches for due checks.
const RecheckTick = time.Hour

// Verify checks whether the organization of a provider has proven the issuer:
// either the caller's token is from that issuer and its OrganizationClaim names the
// organization, or a file at the issuer lists the organization. It needs
// identity_providers.update.
func (s IdentityProviders) Verify(ctx context.Context, uid core.UID) (*IdentityProvider, error) {
	provider, err := s.verify(ctx, uid)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "updated", uid, err)
	}
	return provider, nil
}

func (s IdentityProviders) verify(ctx context.Context, uid core.UID) (*IdentityProvider, error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, err
	}
	if err := core.InvalidUID("uid", uid); err != nil {
		return nil, err
	}
	actor, err := core.Require(ctx, uid, s.rows.Kind.UpdateCapabilities()...)
	if err != nil {
		return nil, err
	}
	provider, err := s.rows.GetCurrent(ctx, uid)
	if err != nil {
		return nil, err
	}
	if provider.OIDC == nil {
		return nil, core.FailedPrecondition("ISSUER_NOT_VERIFIED", string(uid), "the identity provider has no issuer")
	}
	method, err := s.findProof(ctx, actor, uid.Root(), provider.OIDC.Issuer)
	if err != nil {
		return nil, err
	}
	var verified *IdentityProvider
	err = s.area.Store.Write(ctx, func(tx core.Tx) error {
		current, err := s.rows.GetLocked(ctx, tx, uid)
		if err != nil {
			return err
		}
		if current.OIDC == nil || current.OIDC.Issuer != provider.OIDC.Issuer {
			return core.NewAborted("the issuer of the identity provider was changed at the same time", nil)
		}
		// Only the operator can revoke what the operator has allowed.
		proof, err := s.area.Tables.IssuerProof(ctx, tx, uid.Root(), provider.OIDC.Issuer)
		if err == nil && proof.Method != ProofOperator {
			err = s.area.Issuers.put(ctx, tx, &IssuerProof{Organization: uid.Root(), Issuer: provider.OIDC.Issuer, Method: method, VerifyTime: s.area.Now(), CheckTime: s.area.Now()})
		}
		if err != nil {
			return err
		}
		verified, err = s.rows.GetLocked(ctx, tx, uid)
		return err
	})
	return verified, err
}

// findProof finds a proof that an issuer belongs to an organization.
func (s IdentityProviders) findProof(ctx context.Context, actor *core.Actor, root core.UID, issuer string) (ProofMethod, error) {
	switch {
	case s.area.options.AllowIssuers, actor.Operator != "":
		return ProofOperator, nil
	case actor.Issuer == issuer && slices.Contains(actor.IssuerOrganizations, string(root)):
		return ProofToken, nil
	case s.area.options.IssuerFile == nil:
		return "", core.FailedPrecondition("ISSUER_NOT_VERIFIED", issuer, "this service does not read the files of issuers; ask the operator to allow the issuer")
	}
	listed, err := s.area.options.IssuerFile(ctx, issuer)
	if err != nil {
		s.area.Logger.WarnContext(ctx, "reading the organization file of an issuer failed", "issuer", issuer, "error", err)
		return "", core.Unavailable("the issuer's file "+IssuerFileURL(issuer)+" cannot be read", err)
	}
	if !slices.Contains(listed, root) {
		return "", core.FailedPrecondition("ISSUER_NOT_VERIFIED", issuer, IssuerFileURL(issuer)+" does not list the organization "+string(root)+`; serve {"organizations": ["`+string(root)+`"]} there, or use a token of the issuer whose claim `+OrganizationClaim+" is that UID")
	}
	return ProofFile, nil
}

// IssuerFileURL returns the URL of the file in which an issuer lists the
// organizations that may decide about its callers: a JSON object whose member
// "organizations" is a list of UIDs of root groups.
func IssuerFileURL(issuer string) string {
	return strings.TrimSuffix(issuer, "/") + "/.well-known/atrium-organization"
}

// Recheck checks the files of issuers again that were not checked for a day. It
// removes a proof if the file no longer lists the organization, or could not be
// read for a week. One failed check after a pause, in which nobody checked, is not enough.
func (s Issuers) Recheck(ctx context.Context) error {
	if s.area.options.IssuerFile == nil {
		return nil
	}
	now := s.area.Now()
	due, err := s.area.Tables.DueIssuerProofs(ctx, s.area.Store, core.At(now.Add(-recheckInterval)), recheckAtOnce)
	for _, proof := range due {
		listed, failed := s.area.options.IssuerFile(ctx, proof.Issuer)
		if failed != nil {
			s.area.Logger.WarnContext(ctx, "reading the organization file of an issuer failed", "issuer", proof.Issuer, "error", failed)
		}
		err = s.area.Store.Write(ctx, func(tx core.Tx) error {
			tx.Lock(proof.Organization)
			current, err := s.area.Tables.IssuerProof(ctx, tx, proof.Organization, proof.Issuer)
			if err != nil || *current != *proof {
				return err // another process has changed it
			}
			switch {
			case failed == nil && slices.Contains(listed, proof.Organization):
				current.VerifyTime = now
			case failed == nil, proof.CheckTime.Add(recheckInterval).Sub(proof.VerifyTime.Time) > unreachableFor:
				s.area.Logger.WarnContext(ctx, "removing the proof of an issuer: its file no longer confirms it", "issuer", proof.Issuer, "organization", proof.Organization)
				return s.remove(ctx, tx, proof.Organization, proof.Issuer)
			}
			current.CheckTime = now
			return s.area.Tables.PutIssuerProof(ctx, tx, current)
		})
		if err != nil {
			return err
		}
	}
	return err
}
