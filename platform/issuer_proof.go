package platform

import (
	"context"
	"slices"
	"strings"
	"time"
)

const (
	recheckInterval = 24 * time.Hour     // between two looks at the file of an issuer
	unreachableFor  = 7 * 24 * time.Hour // until a file that cannot be read proves nothing any more
	recheckInterim  = time.Hour          // between two looks at which are due
	recheckAtOnce   = 100
)

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
			err = s.p.Issuers.put(ctx, tx, &IssuerProof{Organisation: uid.Root(), Issuer: provider.OIDC.Issuer, Method: method, VerifyTime: s.p.now(), CheckTime: s.p.now()})
		}
		if err != nil {
			return err
		}
		verified, err = s.locked(ctx, tx, uid)
		return err
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
				return s.remove(ctx, tx, proof.Organisation, proof.Issuer)
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
