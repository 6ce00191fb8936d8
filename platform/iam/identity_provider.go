package iam

import (
	"cmp"
	"context"
	"encoding/json"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// An IdentityProvider lets the users of an OpenID provider sign in to a group: the
// first token of a user creates an identity in the group with the default role. It
// takes effect once the organization has proven that it controls the issuer (see
// Verify).
type IdentityProvider struct {
	UID         core.UID  `json:"uid"`
	Name        string    `json:"name"` // unique in its group
	Description string    `json:"description,omitempty"`
	CreateTime  core.Time `json:"createTime,omitzero"`
	UpdateTime  core.Time `json:"updateTime,omitzero"`
	DefaultRole core.UID  `json:"defaultRole"`
	OIDC        *OIDC     `json:"oidc,omitempty"` // nil means that nobody can sign in

	// New users can sign in only after the organization has proven the issuer.
	IssuerVerified   bool      `json:"issuerVerified"`
	IssuerVerifyTime core.Time `json:"issuerVerifyTime,omitzero"`

	EncryptedSecret []byte `json:"-"` // the client secret, encrypted

	// FormerRule is the correlation rule of a removed configuration. The identities of the
	// users still have the ids of that rule.
	FormerRule CorrelationRule `json:"-"`
}

// OIDC describes the tokens that a provider accepts. A token must be issued for
// the client, or for this service through the client.
type OIDC struct {
	Issuer           string          `json:"issuer"`
	ClientID         string          `json:"clientId"`
	ClientSecret     Secret          `json:"clientSecret,omitzero"`      // input only, kept for clients; no response contains it
	AdditionalScopes []string        `json:"additionalScopes,omitempty"` // kept for clients, which start sign-ins
	GroupsClaim      string          `json:"groupsClaim,omitempty"`      // the claim that lists the external groups of the user
	CorrelationRule  CorrelationRule `json:"correlationRule,omitempty"`
	PKCEEnabled      bool            `json:"pkceEnabled"` // kept for clients
}

// A Secret is a text that clients can write and not read. An absent secret leaves
// the stored one unchanged; an empty secret removes it.
type Secret struct {
	Text  string
	Given bool
}

// MarshalJSON writes the text. Fields are tagged omitzero to leave absent ones
// out.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.Text) }

// UnmarshalJSON reads the text; null is empty.
func (s *Secret) UnmarshalJSON(b []byte) error {
	s.Given = true
	return json.Unmarshal(b, &s.Text)
}

// UnmarshalJSON decodes a configuration. Unknown members are an error.
func (o *OIDC) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{
		"issuer": &o.Issuer, "clientId": &o.ClientID, "clientSecret": &o.ClientSecret,
		"additionalScopes": &o.AdditionalScopes, "groupsClaim": &o.GroupsClaim,
		"correlationRule": &o.CorrelationRule, "pkceEnabled": &o.PKCEEnabled})
}

// CorrelationRule selects the claim that identifies a user of a provider.
type CorrelationRule string

// The rules. The default is sub.
const (
	CorrelationRuleSub CorrelationRule = "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID"
	CorrelationRuleOID CorrelationRule = "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID"
)

var correlationRules = []CorrelationRule{CorrelationRuleSub, CorrelationRuleOID}

// UnmarshalJSON reads the name or the number of a rule.
func (r *CorrelationRule) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalEnum(b, r, correlationRules)
}

// Values lists the constants.
func (CorrelationRule) Values() []string { return fieldmask.Texts(correlationRules) }

// Check adds the violations of the fields.
func (o *OIDC) Check(v *core.Violations) {
	if o.Issuer == "" {
		v.Add("oidc.issuer", "is required")
	} else {
		checkIssuer(v, "oidc.issuer", o.Issuer)
	}
	v.CheckRequiredLine("oidc.clientId", o.ClientID)
	v.CheckLine("oidc.clientSecret", o.ClientSecret.Text)
	v.CheckLines("oidc.additionalScopes", o.AdditionalScopes, 20)
	v.CheckLine("oidc.groupsClaim", o.GroupsClaim)
	core.CheckOneOf(v, "oidc.correlationRule", o.CorrelationRule, correlationRules)
}

// IdentityProviderFilter restricts a list of identity providers.
type IdentityProviderFilter struct {
	core.ChangeFilter

	Name string `json:",omitempty"` // exact name
}

// Check adds the violations of the conditions.
func (f *IdentityProviderFilter) Check(v *core.Violations) { v.CheckFilter("name", f.Name) }

// IdentityProviderKind has the facts about identity providers.
var IdentityProviderKind = core.Kind[*IdentityProvider]{
	Name: "IdentityProvider", Plural: "identityProviders", Area: core.AreaIAM, Number: 10, Event: "iam.identity_providers",
	OtherEvents: []core.EventKind{{Event: "iam.group", Verbs: []string{issuerAllowed, issuerRevoked}, Body: "iam.AllowedIssuer", Resource: "Group"}},
	Parent:      core.GroupRef, LevelsInside: 1,
	Verbs: []string{"created", "updated", "deleted"},
	List:  core.CapIdentityProvidersList, Create: core.CapIdentityProvidersCreate, Update: core.CapIdentityProvidersUpdate, Delete: core.CapIdentityProvidersDelete,
	HandsOut: true, Blocked: "RESOURCE_NOT_EMPTY",
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable},
		{Name: "description", Mode: fieldmask.Updatable}, {Name: "createTime", Mode: fieldmask.OutputOnly},
		{Name: "updateTime", Mode: fieldmask.Volatile}, {Name: "defaultRole", Mode: fieldmask.Updatable},
		{Name: "oidc", Mode: fieldmask.Updatable}, {Name: "oidc.correlationRule", Mode: fieldmask.AtCreation},
		{Name: "issuerVerified", Mode: fieldmask.Volatile}, {Name: "issuerVerifyTime", Mode: fieldmask.Volatile},
	},
	Required: []string{"name", "defaultRole"},
	Unique:   []string{"name"},
	Orders: []core.OrderField[*IdentityProvider]{
		{Name: "name", Value: func(p *IdentityProvider) any { return p.Name }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(p *IdentityProvider) any { return p.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(p *IdentityProvider) any { return p.UpdateTime }},
		{Name: "uid", Value: func(p *IdentityProvider) any { return string(p.UID) }},
	},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(p *IdentityProvider) core.UID { return p.UID },
	Group:        core.ParentOf(func(p *IdentityProvider) core.UID { return p.UID }),
	Stamp: func(p *IdentityProvider, uid core.UID, now core.Time) {
		p.UID, p.CreateTime, p.UpdateTime = uid, now, now
	},
	Check: func(p *IdentityProvider, changed func(string) bool, v *core.Violations) {
		if changed("name") {
			v.CheckName(p.Name, core.NamePattern, core.MaxNameBytes)
		}
		if changed("description") {
			v.CheckLine("description", p.Description)
		}
		if changed("defaultRole") {
			v.CheckRequiredUID("defaultRole", p.DefaultRole)
		}
		if changed("oidc") && p.OIDC != nil {
			p.OIDC.Check(v)
		}
	},
}

// IdentityProviderQueries read and write identity providers in other ways than a Table does.
type IdentityProviderQueries interface {
	// MappedGrants reads the roles that an identity provider maps external groups
	// to, for the given groups or for all if none are given. The Identity of each
	// grant is the provider.
	MappedGrants(ctx context.Context, on core.Conn, provider core.UID, externalGroups ...string) ([]core.Grant, error)

	// ProvisionedGrants reads the roles that are bound to the identities of an identity
	// provider. Grants of several identities on the same group are one.
	ProvisionedGrants(ctx context.Context, on core.Conn, provider core.UID) ([]core.Grant, error)
}

// IdentityProviders are the operations on identity providers.
type IdentityProviders struct {
	core.Resources[*IdentityProvider, *IdentityProviderFilter]
	rows *core.Collection[*IdentityProvider, *IdentityProviderFilter]
	area *Area
}

func providerKeyFilter(p *IdentityProvider) *IdentityProviderFilter {
	return &IdentityProviderFilter{Name: p.Name}
}

// Create makes an identity provider. The caller must hold what the default
// role grants.
func (s IdentityProviders) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*IdentityProvider]) (*IdentityProvider, error) {
	made, err := s.rows.AuthorizeCreate(ctx, parent, in)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, err)
	}
	given := made.OIDC
	return s.rows.Insert(ctx, parent, made, func(tx core.Tx) error {
		made.OIDC = given // with the secret, also if the transaction is retried
		var proof *IssuerProof
		err := tx.RunTogether(ctx,
			func(ctx context.Context) error { return s.encryptClientSecret(ctx, tx, made) },
			func(ctx context.Context) error {
				return s.area.Roles.requireMayGrant(ctx, tx, "defaultRole", made.DefaultRole, parent)
			},
			func(ctx context.Context) (err error) { proof, err = s.readProof(ctx, tx, made); return err },
		)
		if err != nil {
			return err
		}
		made.IssuerVerified, made.IssuerVerifyTime = proof.Method.AdmitsNewUsers(), proof.VerifyTime
		return nil
	})
}

// readProof reads the proof that the organization of p has for the issuer of p.
func (s IdentityProviders) readProof(ctx context.Context, tx core.Tx, p *IdentityProvider) (*IssuerProof, error) {
	if p.OIDC == nil {
		return &IssuerProof{}, nil
	}
	return s.area.readProof(ctx, tx, p.UID.Root(), p.OIDC.Issuer)
}

// encryptClientSecret replaces the client secret of p by its encrypted form, so
// that no response and no event contains it.
func (s IdentityProviders) encryptClientSecret(ctx context.Context, tx core.Tx, p *IdentityProvider) (err error) {
	p.EncryptedSecret = []byte{}
	if p.OIDC == nil {
		return nil
	}
	if p.OIDC.ClientSecret.Text != "" {
		p.EncryptedSecret, err = s.area.secrets.EncryptSecret(ctx, tx, p.OIDC.ClientSecret.Text, p.UID)
	}
	withoutSecret := *p.OIDC // the input must stay unchanged, because the transaction can be retried
	withoutSecret.ClientSecret = Secret{}
	p.OIDC = &withoutSecret
	return err
}

// Update changes an identity provider. An absent client secret stays as it is.
// The correlation rule cannot be changed. The caller must hold everything that
// users of the provider are granted.
func (s IdentityProviders) Update(ctx context.Context, uid core.UID, in fieldmask.Input[*IdentityProvider]) (*IdentityProvider, error) {
	return s.rows.UpdateChecked(ctx, uid, in, func(tx core.Tx, change *fieldmask.Change[*IdentityProvider]) error {
		if !change.Writes("oidc") && !change.Writes("defaultRole") {
			return nil
		}
		change.Row.UID = uid
		tx.Lock(uid.Root())
		var current *IdentityProvider
		reads := []func(context.Context) error{
			func(ctx context.Context) (err error) { current, err = s.rows.GetRow(ctx, tx, uid); return err },
		}
		if change.Writes("oidc") {
			if p := change.Row; p.OIDC == nil || p.OIDC.ClientSecret.Given {
				change.Fields = append(change.Fields, "clientSecret") // otherwise it keeps the stored one
			}
			reads = append(reads,
				func(ctx context.Context) error { return s.encryptClientSecret(ctx, tx, change.Row) },
				func(ctx context.Context) error { _, err := s.readProof(ctx, tx, change.Row); return err },
				func(ctx context.Context) error { return s.requireMayGrantUsers(ctx, tx, uid) },
			)
		}
		if change.Writes("defaultRole") {
			reads = append(reads, func(ctx context.Context) error {
				return s.area.Roles.requireMayGrant(ctx, tx, "defaultRole", change.Row.DefaultRole, uid.Parent())
			})
		}
		if err := tx.RunTogether(ctx, reads...); err != nil {
			return err
		}
		if change.Writes("oidc") {
			if err := change.Row.keepCorrelationRule(current.correlationRule()); err != nil {
				return err
			}
		}
		if !change.Writes("defaultRole") {
			return s.area.Roles.requireMayGrant(ctx, tx, "defaultRole", current.DefaultRole, uid.Parent())
		}
		return nil
	})
}

// requireMayGrantUsers fails unless the caller holds everything that users of a provider are
// granted. Another configuration can let others sign in as them.
func (s IdentityProviders) requireMayGrantUsers(ctx context.Context, tx core.Tx, provider core.UID) error {
	var caller *core.Actor
	var mapped, bound []core.Grant
	err := tx.RunTogether(ctx,
		func(ctx context.Context) (err error) {
			mapped, err = s.area.Tables.MappedGrants(ctx, tx, provider)
			return err
		},
		func(ctx context.Context) (err error) {
			bound, err = s.area.Tables.ProvisionedGrants(ctx, tx, provider)
			return err
		},
		func(ctx context.Context) (err error) { caller, err = s.area.readCaller(ctx, tx); return err },
	)
	if err != nil {
		return err
	}
	_, err = checkMayGrantAll(caller, append(mapped, bound...))
	return err
}

// keepCorrelationRule keeps the stored correlation rule when the configuration changes.
func (p *IdentityProvider) keepCorrelationRule(rule CorrelationRule) error {
	switch {
	case p.OIDC == nil:
		p.FormerRule = rule
	case rule == "": // it never had a configuration
	case p.OIDC.CorrelationRule != "" && p.OIDC.CorrelationRule != rule:
		return core.Invalid(fieldmask.Violation{Field: "oidc.correlationRule", Description: "cannot be changed"})
	default:
		p.OIDC.CorrelationRule = rule
	}
	return nil
}

// correlationRule returns the rule of the configuration, or of the removed one, or "" if the
// provider never had any.
func (p *IdentityProvider) correlationRule() CorrelationRule {
	if p.OIDC == nil {
		return p.FormerRule
	}
	return cmp.Or(p.OIDC.CorrelationRule, CorrelationRuleSub)
}

// Delete deletes an identity provider without mappings. Its users lose their
// access at once. Their identities are kept for reference.
func (s IdentityProviders) Delete(ctx context.Context, uid core.UID) error {
	return s.rows.Remove(ctx, uid)
}
