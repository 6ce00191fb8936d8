package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// An ExternalGroupRoleMapping gives a role to everybody whose token of an
// identity provider lists an external group. It counts for the requests that
// bring such a token, and is bound to no identity.
type ExternalGroupRoleMapping struct {
	UID                 UID    `json:"uid"`
	IdentityProviderUID UID    `json:"identityProviderUid"`
	ExternalGroupID     string `json:"externalGroupId"`
	RoleUID             UID    `json:"roleUid"`
	Scope               UID    `json:"scope"` // the group that it counts on, and below
	CreateTime          Time   `json:"createTime,omitzero"`
}

// ExternalGroupRoleMappingFilter restricts a list of mappings.
type ExternalGroupRoleMappingFilter struct {
	IdentityProvider UID    `json:",omitempty"`
	ExternalGroupID  string `json:",omitempty"` // exactly
	Role             UID    `json:",omitempty"`
	Scope            UID    `json:",omitempty"` // exactly
}

func (f ExternalGroupRoleMappingFilter) check(v *violations) {
	if f.IdentityProvider != "" {
		v.uid("identity_provider_uid", f.IdentityProvider)
	}
	v.filter("external_group_id", f.ExternalGroupID)
}

var externalGroupRoleMappingKind = Kind[ExternalGroupRoleMapping]{
	Name: "ExternalGroupRoleMapping", Plural: "externalGroupRoleMappings", Area: "iam", Number: 13, Event: "iam.external_group_role_mappings", Parent: "IdentityProvider",
	Verbs: []string{"created", "deleted", "deleted.batch"},
	List:  CapIdentityProvidersList, Create: CapIdentityProvidersCreate, Delete: CapIdentityProvidersDelete, HandsOut: true,
	Fields: []Field{
		{"uid", OutputOnly}, {"identityProviderUid", OutputOnly}, {"externalGroupId", AtCreation}, {"roleUid", AtCreation},
		{"scope", AtCreation}, {"createTime", OutputOnly},
	},
	Required: []string{"externalGroupId", "roleUid"},
	Orders: []OrderField[ExternalGroupRoleMapping]{
		{"uid", nil, func(m *ExternalGroupRoleMapping) any { return string(m.UID) }},
		{"create_time", createTimeSpellings, func(m *ExternalGroupRoleMapping) any { return m.CreateTime }},
		{"external_group_id", []string{"externalGroupId"}, func(m *ExternalGroupRoleMapping) any { return m.ExternalGroupID }},
	},
	DefaultOrder: Order{Field: "uid"},
	UID:          func(m *ExternalGroupRoleMapping) UID { return m.UID },
	Group:        func(m *ExternalGroupRoleMapping) UID { return m.UID.Parent().Parent() },
	Stamp: func(m *ExternalGroupRoleMapping, uid UID, now Time) {
		m.UID, m.IdentityProviderUID, m.CreateTime = uid, uid.Parent(), now
		if m.Scope == "" {
			m.Scope = m.IdentityProviderUID.Parent()
		}
	},
	Check: func(m *ExternalGroupRoleMapping, changed func(string) bool, v *violations) {
		if changed("externalGroupId") {
			v.label("externalGroupId", m.ExternalGroupID)
		}
		if changed("roleUid") {
			v.requiredUID("roleUid", m.RoleUID)
		}
		if changed("scope") && m.Scope != "" {
			v.uid("scope", m.Scope)
		}
	},
}

// ExternalGroupRoleMappings are the operations on mappings.
type ExternalGroupRoleMappings struct {
	resources[ExternalGroupRoleMapping, ExternalGroupRoleMappingFilter]
}

func sameMapping(m *ExternalGroupRoleMapping) ExternalGroupRoleMappingFilter {
	return ExternalGroupRoleMappingFilter{ExternalGroupID: m.ExternalGroupID, Role: m.RoleUID, Scope: m.Scope}
}

// Create makes a mapping of an identity provider. Without a scope it counts on
// the provider's group; it cannot reach outside of that. The caller must hold
// what the role grants there.
func (s ExternalGroupRoleMappings) Create(ctx context.Context, provider UID, in Input[ExternalGroupRoleMapping]) (*ExternalGroupRoleMapping, error) {
	made, err := s.accept(ctx, provider, in)
	if err == nil && !made.Scope.Within(provider.Parent()) {
		err = Invalid(Violation{"scope", fmt.Sprintf("must lie within the group of the identity provider, %s", provider.Parent())})
	}
	if err != nil {
		return nil, s.refused(ctx, "created", provider, err)
	}
	return s.insert(ctx, provider, made, sameMapping, func(tx Tx) error {
		if _, err := need(ctx, made.Scope, CapRoleBindingsCreate); err != nil {
			return err
		}
		// The insert would not tell which is missing, the scope or the provider;
		// a provider that is there has its group.
		if made.Scope != provider.Parent() {
			if _, err := resolve(ctx, groupKind.Name, made.Scope, TableOf[Group, GroupFilter](tx).Get); err != nil {
				return err
			}
		}
		return handsOutRole(ctx, tx, "roleUid", made.RoleUID, made.Scope)
	})
}

// handOutAll demands of the caller all that the mappings of a provider grant.
func (s ExternalGroupRoleMappings) handOutAll(ctx context.Context, tx Tx, provider UID) error {
	mapped, err := tx.MappedGrants(ctx, provider)
	if err != nil {
		return err
	}
	for _, g := range mapped {
		if err := handsOut(ctx, tx, setOf(g.Capabilities), g.Group); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes a mapping; it counts from the next request on.
func (s ExternalGroupRoleMappings) Delete(ctx context.Context, uid UID) error {
	return s.remove(ctx, uid)
}

// MaxBatchDelete is how many mappings one batchDelete may name.
const MaxBatchDelete = 200

// DeleteBatch removes mappings that lie below parent, an identity provider or
// a group: all or none. It gives what was removed, in the order asked for.
func (s ExternalGroupRoleMappings) DeleteBatch(ctx context.Context, parent UID, uids []UID) ([]*ExternalGroupRoleMapping, error) {
	removed, err := s.deleteBatch(ctx, parent, uids)
	return removed, s.refused(ctx, "deleted.batch", parent, err)
}

func (s ExternalGroupRoleMappings) deleteBatch(ctx context.Context, parent UID, uids []UID) ([]*ExternalGroupRoleMapping, error) {
	if _, err := caller(ctx); err != nil {
		return nil, err
	}
	var v violations
	v.requiredUID("parent", parent)
	if len(uids) == 0 || len(uids) > MaxBatchDelete {
		v.add("names", "must be 1 to %d", MaxBatchDelete)
	}
	for i, uid := range uids[:min(len(uids), MaxBatchDelete)] { // each is compared with those before it
		field := fmt.Sprintf("names[%d]", i)
		switch {
		case !uid.Valid():
			v.uid(field, uid)
		case parent.Valid() && !uid.Below(parent):
			v.add(field, "must lie below the parent")
		case slices.Contains(uids[:i], uid):
			v.add(field, "is given twice")
		}
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if _, err := need(ctx, parent, s.kind.Delete); err != nil {
		return nil, err
	}
	var removed []*ExternalGroupRoleMapping
	err := s.p.store.Write(ctx, func(tx Tx) (err error) {
		removed, err = s.removeAll(ctx, tx, uids, "deleted.batch")
		return err
	})
	return removed, err
}

func (s ExternalGroupRoleMappings) removeAll(ctx context.Context, tx Tx, uids []UID, verb string) ([]*ExternalGroupRoleMapping, error) {
	removed := make([]*ExternalGroupRoleMapping, len(uids))
	for i, uid := range uids {
		row, err := s.rows(tx).Delete(ctx, uid)
		if errors.Is(err, ErrNotFound) {
			err = s.kind.notFound(uid)
		}
		if err != nil {
			return nil, err
		}
		removed[i] = row
		tx.Record(s.p.event(ctx, s.kind.Event, verb, uid, s.kind.Group(row), row))
	}
	return removed, nil
}
