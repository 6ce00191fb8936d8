package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/table"
)

var identityProviders = table.New(&table.Definition[*iam.IdentityProvider, *iam.IdentityProviderFilter]{
	Name:           "identity_provider",
	HasUniqueNames: true,
	UID:            func(p *iam.IdentityProvider) core.UID { return p.UID },
	LiesIn:         parentUID,
	Joins:          []table.Join{{SQL: " LEFT JOIN issuer_proof v ON v.issuer = ", Column: "issuer"}, {SQL: " AND v.root = ", Column: "root"}},
	Columns: []table.Column[*iam.IdentityProvider]{
		{SQL: "t.uid", To: func(p *iam.IdentityProvider) any { return table.UIDOf(&p.UID) }},
		{SQL: "t.name", Field: "name", To: func(p *iam.IdentityProvider) any { return &p.Name }},
		{SQL: "t.description", Field: "description", To: func(p *iam.IdentityProvider) any { return &p.Description }},
		{SQL: "t.default_role", Field: "defaultRole", To: func(p *iam.IdentityProvider) any { return table.UIDOf(&p.DefaultRole) }},
		{SQL: "t.oidc", Field: "oidc", To: func(p *iam.IdentityProvider) any { return table.JSONOf((*storedProvider)(p)) }},
		{SQL: "t.client_secret", Field: "clientSecret", To: func(p *iam.IdentityProvider) any { return &p.EncryptedSecret }},
		{SQL: "t.create_time", To: func(p *iam.IdentityProvider) any { return table.TimeOf(&p.CreateTime) }},
		{SQL: "t.update_time", To: func(p *iam.IdentityProvider) any { return table.TimeOf(&p.UpdateTime) }},
		{SQL: "COALESCE(v.method, '')", To: func(p *iam.IdentityProvider) any { return verifiedColumn{&p.IssuerVerified} }},
		{SQL: "v.verify_time", To: func(p *iam.IdentityProvider) any { return table.TimeOf(&p.IssuerVerifyTime) }},
	},
	WriteOnly: []table.Column[*iam.IdentityProvider]{
		{SQL: "t.issuer", Field: "oidc", To: func(p *iam.IdentityProvider) any { issuer := issuerOf(p); return &issuer }},
	},
	Where: func(f *iam.IdentityProviderFilter, s *table.Statement) {
		s.AddName(f.Name)
		s.AddChanged(&f.ChangeFilter)
	},
})

// verifiedColumn reads whether the method of a proof admits new users.
type verifiedColumn struct{ to *bool }

func (c verifiedColumn) Scan(src any) error {
	method, ok := src.(string)
	if !ok {
		return fmt.Errorf("cannot read a method from %T", src)
	}
	return c.ScanBytes([]byte(method))
}

// ScanBytes reads the name of a method.
func (c verifiedColumn) ScanBytes(method []byte) error {
	*c.to = iam.ProofMethod(method).AdmitsNewUsers()
	return nil
}

func issuerOf(p *iam.IdentityProvider) string {
	if p.OIDC == nil {
		return ""
	}
	return p.OIDC.Issuer
}

// A storedProvider is the configuration of an identity provider as it is stored. A removed one
// leaves its correlation rule behind, without an issuer.
type storedProvider iam.IdentityProvider

// MarshalJSON writes the configuration.
func (p *storedProvider) MarshalJSON() ([]byte, error) {
	if p.OIDC == nil && p.FormerRule != "" {
		return json.Marshal(iam.OIDC{CorrelationRule: p.FormerRule})
	}
	return json.Marshal(p.OIDC)
}

// UnmarshalJSON reads the configuration.
func (p *storedProvider) UnmarshalJSON(text []byte) error {
	var read iam.OIDC
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	if read.Issuer == "" {
		p.FormerRule = read.CorrelationRule
	} else {
		p.OIDC = &read
	}
	return nil
}

// ProvisionedGrants reads the roles that are bound to the identities of a provider.
func (queries) ProvisionedGrants(ctx context.Context, on core.Conn, provider core.UID) ([]core.Grant, error) {
	s := tablesOf(on)
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT DISTINCT b.parent, b.role, r.capabilities, b.expire_time FROM identity i JOIN role_binding b ON b.identity = i.uid JOIN role r ON r.uid = b.role WHERE i.provider = ? AND ", provider)
	addUnexpired(q, "b")
	var grants []core.Grant
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		g := core.Grant{Identity: provider}
		err := scan(table.UIDOf(&g.Group), table.UIDOf(&g.Role), capabilityColumn{&g.Capabilities}, table.TimeOf(&g.ExpireTime))
		grants = append(grants, g)
		return err
	}))
	return grants, err
}

// MappedGrants reads the roles that a provider maps external groups to.
func (queries) MappedGrants(ctx context.Context, on core.Conn, provider core.UID, externalGroups ...string) ([]core.Grant, error) {
	s := tablesOf(on)
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT m.scope, m.role, m.external_group_id, r.capabilities FROM external_group_role_mapping m JOIN role r ON r.uid = m.role WHERE m.parent = ?", provider)
	if len(externalGroups) > 0 {
		q.Add(" AND m.external_group_id ?", table.Values(externalGroups))
	}
	var grants []core.Grant
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		g := core.Grant{Identity: provider}
		err := scan(table.UIDOf(&g.Group), table.UIDOf(&g.Role), &g.ExternalGroup, capabilityColumn{&g.Capabilities})
		grants = append(grants, g)
		return err
	}))
	return grants, err
}
