package platform

import (
	"context"
	"encoding/json"
)

// An IdentityProvider lets people of a group's own OpenID provider in: who
// brings a token of it gets an identity in the group on first use, with the
// default role. It takes effect once the organisation has proven that the issuer
// is its own: see Verify.
type IdentityProvider struct {
	UID         UID    `json:"uid"`
	Name        string `json:"name"` // unique in its group
	Description string `json:"description,omitempty"`
	CreateTime  Time   `json:"createTime,omitzero"`
	UpdateTime  Time   `json:"updateTime,omitzero"`
	DefaultRole UID    `json:"defaultRole"`
	OIDC        *OIDC  `json:"oidc,omitempty"` // none: nobody comes in

	// Nobody comes in before the organisation has proven the issuer.
	IssuerVerified   bool `json:"issuerVerified"`
	IssuerVerifyTime Time `json:"issuerVerifyTime,omitzero"`

	HiddenSecret []byte `json:"-"` // the client secret, as stored
}

// OIDC says which tokens a provider stands for. A token must be made for the
// client, or for this service by way of the client.
type OIDC struct {
	Issuer           string          `json:"issuer"`
	ClientID         string          `json:"clientId"`
	ClientSecret     Secret          `json:"clientSecret,omitzero"` // input only; no answer has it
	AdditionalScopes []string        `json:"additionalScopes,omitempty"`
	GroupsClaim      string          `json:"groupsClaim,omitempty"` // lists the external groups of the bearer
	CorrelationRule  CorrelationRule `json:"correlationRule,omitempty"`
	PKCEEnabled      bool            `json:"pkceEnabled"`
}

// A Secret is text that is written and never read. It tells an absent one,
// which leaves what is stored, from an empty one, which removes it.
type Secret struct {
	Text  string
	Given bool
}

// MarshalJSON writes the text: absent ones are tagged omitzero.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.Text) }

// UnmarshalJSON reads text; null is empty.
func (s *Secret) UnmarshalJSON(b []byte) error {
	s.Given = true
	return json.Unmarshal(b, &s.Text)
}

// UnmarshalJSON reads a configuration; a member it does not know is an error.
func (o *OIDC) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b,
		member{"issuer", &o.Issuer}, member{"clientId", &o.ClientID}, member{"clientSecret", &o.ClientSecret},
		member{"additionalScopes", &o.AdditionalScopes}, member{"groupsClaim", &o.GroupsClaim},
		member{"correlationRule", &o.CorrelationRule}, member{"pkceEnabled", &o.PKCEEnabled})
}

// CorrelationRule says which claim tells the people of a provider apart.
type CorrelationRule string

// The rules: sub where none is given.
const (
	CorrelationRuleSub CorrelationRule = "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID"
	CorrelationRuleOID CorrelationRule = "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID"
)

var correlationRules = []CorrelationRule{CorrelationRuleSub, CorrelationRuleOID}

// UnmarshalJSON reads the name or the number of a rule.
func (r *CorrelationRule) UnmarshalJSON(b []byte) error { return unmarshalEnum(b, r, correlationRules) }

// Values lists the constants.
func (CorrelationRule) Values() []string { return textsOf(correlationRules) }

func (o *OIDC) check(v *violations) {
	if o.Issuer == "" {
		v.add("oidc.issuer", "is required")
	} else {
		v.issuer("oidc.issuer", o.Issuer)
	}
	v.label("oidc.clientId", o.ClientID)
	v.line("oidc.clientSecret", o.ClientSecret.Text)
	v.lines("oidc.additionalScopes", o.AdditionalScopes, 20)
	v.line("oidc.groupsClaim", o.GroupsClaim)
	oneOf(v, "oidc.correlationRule", o.CorrelationRule, correlationRules)
}

// IdentityProviderFilter restricts a list of identity providers.
type IdentityProviderFilter struct {
	Name string `json:",omitempty"` // exactly
}

func (f IdentityProviderFilter) check(v *violations) { v.filter("name", f.Name) }

var identityProviderKind = Kind[IdentityProvider]{
	Name: "IdentityProvider", Plural: "identityProviders", Area: "iam", Number: 10, Event: "iam.identity_providers", Parent: "Group",
	Verbs: []string{"created", "updated", "deleted"},
	List:  CapIdentityProvidersList, Create: CapIdentityProvidersCreate, Update: CapIdentityProvidersUpdate, Delete: CapIdentityProvidersDelete,
	HandsOut: true, Blocked: "RESOURCE_NOT_EMPTY",
	Fields: []Field{
		{"uid", OutputOnly}, {"name", Updatable}, {"description", Updatable}, {"createTime", OutputOnly}, {"updateTime", Volatile},
		{"defaultRole", Updatable}, {"oidc", Updatable}, {"oidc.correlationRule", AtCreation},
		{"issuerVerified", Volatile}, {"issuerVerifyTime", Volatile},
	},
	Required: []string{"name", "defaultRole"},
	Orders: []OrderField[IdentityProvider]{
		{"name", nil, func(p *IdentityProvider) any { return p.Name }},
		{"create_time", createTimeSpellings, func(p *IdentityProvider) any { return p.CreateTime }},
		{"update_time", updateTimeSpellings, func(p *IdentityProvider) any { return p.UpdateTime }},
		{"uid", nil, func(p *IdentityProvider) any { return string(p.UID) }},
	},
	DefaultOrder: Order{Field: "name"},
	UID:          func(p *IdentityProvider) UID { return p.UID },
	Group:        parentOf(func(p *IdentityProvider) UID { return p.UID }),
	Stamp:        func(p *IdentityProvider, uid UID, now Time) { p.UID, p.CreateTime, p.UpdateTime = uid, now, now },
	Check: func(p *IdentityProvider, changed func(string) bool, v *violations) {
		if changed("name") {
			v.name(p.Name, namePattern)
		}
		if changed("description") {
			v.line("description", p.Description)
		}
		if changed("defaultRole") {
			v.requiredUID("defaultRole", p.DefaultRole)
		}
		if changed("oidc") && p.OIDC != nil {
			p.OIDC.check(v)
		}
	},
}

// IdentityProviders are the operations on identity providers.
type IdentityProviders struct {
	resources[IdentityProvider, IdentityProviderFilter]
}

func providerNamed(p *IdentityProvider) IdentityProviderFilter {
	return IdentityProviderFilter{Name: p.Name}
}

// Create makes an identity provider. The caller must hold what the default
// role grants.
func (s IdentityProviders) Create(ctx context.Context, parent UID, in Input[IdentityProvider]) (*IdentityProvider, error) {
	made, err := s.accept(ctx, parent, in)
	if err != nil {
		return nil, s.refused(ctx, "created", parent, err)
	}
	if err := s.hideSecret(made); err != nil {
		return nil, err
	}
	return s.insert(ctx, parent, made, providerNamed, func(tx Tx) error {
		if err := s.holdSecret(ctx, tx, made); err != nil {
			return err
		}
		if err := handsOutRole(ctx, tx, "defaultRole", made.DefaultRole, parent); err != nil {
			return err
		}
		proof, err := s.proof(ctx, tx, made)
		made.IssuerVerified, made.IssuerVerifyTime = proof.Method.Complete(), proof.VerifyTime
		return err
	})
}

// proof reads what the organisation of p has proven of p's issuer.
func (s IdentityProviders) proof(ctx context.Context, tx Tx, p *IdentityProvider) (*IssuerProof, error) {
	if p.OIDC == nil {
		return &IssuerProof{}, nil
	}
	proof, err := s.p.proof(ctx, tx, p.UID.Root(), p.OIDC.Issuer)
	if err != nil {
		return &IssuerProof{}, err
	}
	return proof, nil
}

// hideSecret encrypts the client secret that came with p, so that neither
// answer nor event has it.
func (s IdentityProviders) hideSecret(p *IdentityProvider) (err error) {
	p.HiddenSecret = []byte{}
	if p.OIDC == nil {
		return nil
	}
	if p.OIDC.ClientSecret.Text != "" {
		p.HiddenSecret, err = s.p.hide(p.OIDC.ClientSecret.Text, p.UID)
	}
	shown := *p.OIDC // what came in stays as it is, for another attempt
	shown.ClientSecret = Secret{}
	p.OIDC = &shown
	return err
}

// holdSecret keeps the encryption key from changing while p is stored.
func (s IdentityProviders) holdSecret(ctx context.Context, tx Tx, p *IdentityProvider) error {
	if len(p.HiddenSecret) == 0 {
		return nil
	}
	return s.p.holdEncryption(ctx, tx)
}

// Update changes an identity provider. An absent client secret stays as it is;
// the correlation rule can not be changed. Who says whose tokens come in must
// hold all that they then get.
func (s IdentityProviders) Update(ctx context.Context, uid UID, in Input[IdentityProvider]) (*IdentityProvider, error) {
	return s.updateIf(ctx, uid, in, providerNamed, func(tx Tx, change *change[IdentityProvider]) error {
		if !change.writes("oidc") && !change.writes("defaultRole") {
			return nil
		}
		current, err := s.locked(ctx, tx, uid)
		if err != nil {
			return err
		}
		if err := s.keep(current, change); err != nil {
			return err
		}
		if err := s.holdSecret(ctx, tx, change.row); err != nil {
			return err
		}
		role := current.DefaultRole
		if change.writes("defaultRole") {
			role = change.row.DefaultRole
		}
		if err := handsOutRole(ctx, tx, "defaultRole", role, uid.Parent()); err != nil || !change.writes("oidc") {
			return err
		}
		if _, err := s.proof(ctx, tx, change.row); err != nil {
			return err
		}
		return s.p.ExternalGroupRoleMappings.handOutAll(ctx, tx, uid)
	})
}

// keep leaves of a provider whose configuration changes what stays: its
// correlation rule, and its secret where none is given.
func (s IdentityProviders) keep(current *IdentityProvider, change *change[IdentityProvider]) error {
	if !change.writes("oidc") {
		return nil
	}
	p := change.row
	p.UID = current.UID
	if p.OIDC == nil || p.OIDC.ClientSecret.Given {
		change.fields = append(change.fields, "clientSecret")
	}
	if err := s.hideSecret(p); err != nil || p.OIDC == nil || current.OIDC == nil {
		return err
	}
	rule := current.OIDC.CorrelationRule
	if p.OIDC.CorrelationRule != "" && p.OIDC.CorrelationRule != rule {
		return Invalid(Violation{"oidc.correlationRule", "cannot be changed"})
	}
	p.OIDC.CorrelationRule = rule
	return nil
}

// Delete removes an identity provider without mappings. The people it let in
// lose their access at once; their identities stay, for who wants to know.
func (s IdentityProviders) Delete(ctx context.Context, uid UID) error { return s.remove(ctx, uid) }
