package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/platform"
)

var identityProviders = newTable(&table[*platform.IdentityProvider, *platform.IdentityProviderFilter]{
	name:        "identity_provider",
	uniqueNames: true,
	uid:         func(p *platform.IdentityProvider) platform.UID { return p.UID },
	enclosed:    parentUID,
	joins:       []join{{" LEFT JOIN issuer_proof v ON v.issuer = ", "issuer"}, {" AND v.root = ", "root"}},
	columns: []column[*platform.IdentityProvider]{
		{"t.uid", "", func(p *platform.IdentityProvider) any { return keyOf(&p.UID) }},
		{"t.name", "name", func(p *platform.IdentityProvider) any { return &p.Name }},
		{"t.description", "description", func(p *platform.IdentityProvider) any { return &p.Description }},
		{"t.default_role", "defaultRole", func(p *platform.IdentityProvider) any { return keyOf(&p.DefaultRole) }},
		{"t.oidc", "oidc", func(p *platform.IdentityProvider) any { return jsonOf((*storedProvider)(p)) }},
		{"t.client_secret", "clientSecret", func(p *platform.IdentityProvider) any { return &p.EncryptedSecret }},
		{"t.create_time", "", func(p *platform.IdentityProvider) any { return timeOf(&p.CreateTime) }},
		{"t.update_time", "", func(p *platform.IdentityProvider) any { return timeOf(&p.UpdateTime) }},
		{"COALESCE(v.method, '')", "", func(p *platform.IdentityProvider) any { return verifiedColumn{&p.IssuerVerified} }},
		{"v.verify_time", "", func(p *platform.IdentityProvider) any { return timeOf(&p.IssuerVerifyTime) }},
	},
	writeOnly: []column[*platform.IdentityProvider]{
		{"t.issuer", "oidc", func(p *platform.IdentityProvider) any { issuer := issuerOf(p); return &issuer }},
	},
	where: func(f *platform.IdentityProviderFilter, s *statement) {
		s.addName(f.Name)
		s.addChanged(&f.ChangeFilter)
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
	*c.to = platform.ProofMethod(method).AdmitsNewUsers()
	return nil
}

func issuerOf(p *platform.IdentityProvider) string {
	if p.OIDC == nil {
		return ""
	}
	return p.OIDC.Issuer
}

// A storedProvider is the configuration of an identity provider as it is stored. A removed one
// leaves its correlation rule behind, without an issuer.
type storedProvider platform.IdentityProvider

// MarshalJSON writes the configuration.
func (p *storedProvider) MarshalJSON() ([]byte, error) {
	if p.OIDC == nil && p.FormerRule != "" {
		return json.Marshal(platform.OIDC{CorrelationRule: p.FormerRule})
	}
	return json.Marshal(p.OIDC)
}

// UnmarshalJSON reads the configuration.
func (p *storedProvider) UnmarshalJSON(text []byte) error {
	var read platform.OIDC
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
func (queries) ProvisionedGrants(ctx context.Context, on platform.Conn, provider platform.UID) ([]platform.Grant, error) {
	s := tablesOf(on)
	q := newStatement(s.dialect)
	q.add("SELECT DISTINCT b.parent, b.role, r.capabilities, b.expire_time FROM identity i JOIN role_binding b ON b.identity = i.uid JOIN role r ON r.uid = b.role WHERE i.provider = ? AND ", provider)
	addUnexpired(q, "b")
	var grants []platform.Grant
	err := s.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		g := platform.Grant{Identity: provider}
		err := scan(keyOf(&g.Group), keyOf(&g.Role), capabilityColumn{&g.Capabilities}, timeOf(&g.ExpireTime))
		grants = append(grants, g)
		return err
	}))
	return grants, err
}

// MappedGrants reads the roles that a provider maps external groups to.
func (queries) MappedGrants(ctx context.Context, on platform.Conn, provider platform.UID, externalGroups ...string) ([]platform.Grant, error) {
	s := tablesOf(on)
	q := newStatement(s.dialect)
	q.add("SELECT m.scope, m.role, m.external_group_id, r.capabilities FROM external_group_role_mapping m JOIN role r ON r.uid = m.role WHERE m.parent = ?", provider)
	if len(externalGroups) > 0 {
		q.add(" AND m.external_group_id ?", valueList(externalGroups))
	}
	var grants []platform.Grant
	err := s.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		g := platform.Grant{Identity: provider}
		err := scan(keyOf(&g.Group), keyOf(&g.Role), &g.ExternalGroup, capabilityColumn{&g.Capabilities})
		grants = append(grants, g)
		return err
	}))
	return grants, err
}
