package iam

import (
	"context"
	"strings"

	"atrium/platform/core"
)

// Issuers are the operator's operations on proofs.
type Issuers struct{ area *Area }

// The verbs of events that record the operator's decisions about issuers.
const (
	issuerAllowed = "issuer_allowed"
	issuerRevoked = "issuer_revoked"
)

// An AllowedIssuer is the body of the events of Allow and Revoke. Issuer has the
// form that Allow accepts.
type AllowedIssuer struct {
	Group  core.UID `json:"group"`
	Issuer string   `json:"issuer"`
}

// Allow lets an organization decide about callers of an issuer: one issuer,
// `https://host/*` for patterns over the issuers of a host, or `*` for all.
func (s Issuers) Allow(ctx context.Context, root core.UID, issuer string) error {
	key, err := s.key(ctx, root, issuer)
	if err != nil {
		return err
	}
	return s.area.Store.Write(ctx, func(tx core.Tx) error {
		if _, err := s.area.Groups.rows.GetLocked(ctx, tx, root); err != nil {
			return err
		}
		tx.Record(s.area.Event(ctx, GroupKind.Event, issuerAllowed, root, root, &AllowedIssuer{root, issuer}))
		return s.put(ctx, tx, &IssuerProof{Organization: root, Issuer: key, Method: ProofOperator, VerifyTime: s.area.Now(), CheckTime: s.area.Now()})
	})
}

// Revoke removes a proof, whatever its method. It fails if there is none.
func (s Issuers) Revoke(ctx context.Context, root core.UID, issuer string) error {
	key, err := s.key(ctx, root, issuer)
	if err != nil {
		return err
	}
	return s.area.Store.Write(ctx, func(tx core.Tx) error {
		if _, err := s.area.Groups.rows.GetLocked(ctx, tx, root); err != nil {
			return err
		}
		proof, err := s.area.Tables.IssuerProof(ctx, tx, root, key)
		if err == nil && proof.Method == "" {
			err = core.FailedPrecondition("ISSUER_NOT_VERIFIED", issuer, "the organization "+string(root)+" has no proof for this issuer; `atrium admin issuers list` shows its proofs")
		}
		if err != nil {
			return err
		}
		tx.Record(s.area.Event(ctx, GroupKind.Event, issuerRevoked, root, root, &AllowedIssuer{root, issuer}))
		return s.remove(ctx, tx, root, key)
	})
}

// put stores a proof and records the resulting changes.
func (s Issuers) put(ctx context.Context, tx core.Tx, proof *IssuerProof) error {
	if err := s.area.Tables.PutIssuerProof(ctx, tx, proof); err != nil {
		return err
	}
	return s.record(ctx, tx, proof.Organization, proof.Issuer)
}

// remove deletes a proof and records the resulting changes.
func (s Issuers) remove(ctx context.Context, tx core.Tx, root core.UID, issuer string) error {
	if err := s.area.Tables.DeleteIssuerProof(ctx, tx, root, issuer); err != nil {
		return err
	}
	return s.record(ctx, tx, root, issuer)
}

// record records that the identity providers of an issuer have been verified, or
// are no longer verified.
func (s Issuers) record(ctx context.Context, tx core.Tx, root core.UID, issuer string) error {
	providers := s.area.IdentityProviders
	uids, err := s.area.Tables.ProvidersOfIssuer(ctx, tx, root, issuer)
	if err != nil {
		return err
	}
	changed, err := providers.rows.Table.Get(ctx, tx, core.Keys{UIDs: uids})
	for _, provider := range changed {
		providers.rows.RecordUpdate(ctx, tx, provider, []core.EventChange{core.NewValueChange("issuerVerified", nil, provider.IssuerVerified)})
	}
	return err
}

// List lists all proofs, and the issuers of providers and patterns without a
// proof, whose Method is empty. Issuers have the form that Allow accepts.
func (s Issuers) List(ctx context.Context) ([]*IssuerProof, error) {
	if err := core.RequireOperator(ctx); err != nil {
		return nil, err
	}
	proofs, err := s.area.Tables.IssuerProofs(ctx, s.area.Store)
	for _, proof := range proofs {
		if key, ok := strings.CutPrefix(proof.Issuer, PatternMark); ok {
			proof.Issuer = strings.TrimPrefix(key+"/*", "/")
		}
	}
	return proofs, err
}

// key checks the arguments of the operator and returns the issuer as it is stored.
func (s Issuers) key(ctx context.Context, root core.UID, issuer string) (string, error) {
	if err := core.RequireOperator(ctx); err != nil {
		return "", err
	}
	var v core.Violations
	if v.CheckUID("org", root); len(v) == 0 && !root.IsRoot() {
		v.Add("org", "must be the UID of a root group")
	}
	if issuer == "*" {
		return PatternMark, v.Err()
	}
	checkIssuer(&v, "issuer", issuer)
	if host, ok := strings.CutSuffix(issuer, "/*"); ok {
		if hostOf(issuer) != host {
			v.Add("issuer", "must be an issuer, https://host/* for the issuers of a host, or *")
		}
		return PatternMark + host, v.Err()
	}
	return issuer, v.Err()
}
