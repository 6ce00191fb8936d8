package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/platform/fieldmask"
)

// An ExternalGroupRoleMapping gives a role to every caller whose token of an
// identity provider lists an external group. It applies to requests with such a
// token and is not bound to an identity.
type ExternalGroupRoleMapping struct {
	UID                 UID    `json:"uid"`
	IdentityProviderUID UID    `json:"identityProviderUid"`
	ExternalGroupID     string `json:"externalGroupId"`
	RoleUID             UID    `json:"roleUid"`
	Scope               UID    `json:"scope"` // the group on which the mapping applies, including everything below
	CreateTime          Time   `json:"createTime,omitzero"`
}

// ExternalGroupRoleMappingFilter restricts a list of mappings.
type ExternalGroupRoleMappingFilter struct {
	IdentityProvider UID    `json:",omitempty"`
	ExternalGroupID  string `json:",omitempty"` // exact external group
	Role             UID    `json:",omitempty"`
	Scope            UID    `json:",omitempty"` // exact scope
	CreatedSince     Time   `json:",omitzero"`
}

func (f *ExternalGroupRoleMappingFilter) check(v *violations) {
	if f.IdentityProvider != "" {
		v.checkUID("identity_provider_uid", f.IdentityProvider)
	}
	v.checkFilter("external_group_id", f.ExternalGroupID)
}

// checkNames returns NOT_FOUND for a provider that is not there.
func (s ExternalGroupRoleMappings) checkNames(ctx context.Context, f *ExternalGroupRoleMappingFilter, listed []UID) error {
	return s.area.IdentityProviders.rows.findNamed(ctx, "identity_provider_uid", contains(listed, f.IdentityProvider), f.IdentityProvider)
}

var externalGroupRoleMappingKind = Kind[*ExternalGroupRoleMapping]{
	Name: "ExternalGroupRoleMapping", Plural: "externalGroupRoleMappings", Area: areaIAM, Number: 13, Event: "iam.external_group_role_mappings", Parent: Ref{"IdentityProvider", areaIAM},
	Verbs: []string{"created", "deleted", "deleted.batch"},
	List:  CapIdentityProvidersList, Create: CapIdentityProvidersCreate, Delete: CapIdentityProvidersDelete, HandsOut: true,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "identityProviderUid", Mode: fieldmask.OutputOnly},
		{Name: "externalGroupId", Mode: fieldmask.AtCreation}, {Name: "roleUid", Mode: fieldmask.AtCreation},
		{Name: "scope", Mode: fieldmask.AtCreation}, {Name: "createTime", Mode: fieldmask.OutputOnly},
	},
	Required: []string{"externalGroupId", "roleUid"},
	Unique:   []string{"externalGroupId", "roleUid", "scope"},
	Orders: []OrderField[*ExternalGroupRoleMapping]{
		{"uid", nil, func(m *ExternalGroupRoleMapping) any { return string(m.UID) }},
		{"create_time", createTimeSpellings, func(m *ExternalGroupRoleMapping) any { return m.CreateTime }},
		{"external_group_id", []string{"externalGroupId", "name"}, func(m *ExternalGroupRoleMapping) any { return m.ExternalGroupID }},
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
			v.checkRequiredLine("externalGroupId", m.ExternalGroupID)
		}
		if changed("roleUid") {
			v.checkRequiredUID("roleUid", m.RoleUID)
		}
		if changed("scope") && m.Scope != "" {
			v.checkUID("scope", m.Scope)
		}
	},
}

// ExternalGroupRoleMappings are the operations on mappings.
type ExternalGroupRoleMappings struct {
	Resources[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]
	rows *Collection[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]
	area *iamArea
}

func mappingKeyFilter(m *ExternalGroupRoleMapping) *ExternalGroupRoleMappingFilter {
	return &ExternalGroupRoleMappingFilter{ExternalGroupID: m.ExternalGroupID, Role: m.RoleUID, Scope: m.Scope}
}

// Create makes a mapping of an identity provider. Without a scope, it applies to
// the provider's group. The scope cannot be outside of that group. The caller must
// hold there what the role grants.
func (s ExternalGroupRoleMappings) Create(ctx context.Context, provider UID, in fieldmask.Input[*ExternalGroupRoleMapping]) (*ExternalGroupRoleMapping, error) {
	made, err := s.rows.authorizeCreate(ctx, provider, in)
	if err == nil && !made.Scope.Within(provider.Parent()) {
		err = Invalid(fieldmask.Violation{Field: "scope", Description: fmt.Sprintf("must lie within the group of the identity provider, %s", provider.Parent())})
	}
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "created", provider, err)
	}
	return s.rows.insert(ctx, provider, made, func(tx Tx) error {
		if _, err := require(ctx, made.Scope, CapRoleBindingsCreate); err != nil {
			return err
		}
		// The error of the insert does not tell whether the scope or the provider is
		// missing. If the provider exists, so does its group.
		return tx.RunTogether(ctx,
			func(ctx context.Context) error {
				if made.Scope == provider.Parent() {
					return nil
				}
				_, err := s.area.Groups.rows.getRow(ctx, tx, made.Scope)
				return err
			},
			func(ctx context.Context) error {
				return s.area.Roles.requireMayGrant(ctx, tx, "roleUid", made.RoleUID, made.Scope)
			},
		)
	})
}

// Delete removes a mapping. It takes effect with the next request.
func (s ExternalGroupRoleMappings) Delete(ctx context.Context, uid UID) error {
	return s.rows.remove(ctx, uid)
}

// maxBatchMappings is the maximum number of mappings in one batchDelete.
const maxBatchMappings = 200

// DeleteBatch removes mappings below parent, which is an identity provider or a
// group: all or none. It returns the removed mappings in the order of uids.
func (s ExternalGroupRoleMappings) DeleteBatch(ctx context.Context, parent UID, uids []UID) ([]*ExternalGroupRoleMapping, error) {
	removed, err := s.deleteBatch(ctx, parent, uids)
	return removed, s.rows.recordIfDenied(ctx, "deleted.batch", parent, err)
}

func (s ExternalGroupRoleMappings) deleteBatch(ctx context.Context, parent UID, uids []UID) ([]*ExternalGroupRoleMapping, error) {
	if _, err := requireCaller(ctx); err != nil {
		return nil, err
	}
	var v violations
	v.checkRequiredUID("parent", parent)
	if len(uids) == 0 || len(uids) > maxBatchMappings {
		v.add("names", "must be 1 to %d", maxBatchMappings)
	}
	for i, uid := range uids[:min(len(uids), maxBatchMappings)] { // the limit also bounds the comparisons below
		field := fmt.Sprintf("names[%d]", i)
		switch {
		case !uid.Valid():
			v.checkUID(field, uid)
		case parent.Valid() && !uid.Below(parent):
			v.add(field, "must lie below the parent")
		case slices.Contains(uids[:i], uid):
			v.add(field, "is given twice")
		}
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if _, err := require(ctx, parent, s.rows.kind.Delete); err != nil {
		return nil, err
	}
	var removed []*ExternalGroupRoleMapping
	err := s.area.store.Write(ctx, func(tx Tx) (err error) {
		removed, err = s.removeAll(ctx, tx, uids, "deleted.batch")
		return err
	})
	return removed, s.rows.nameMissing(ctx, err, listOfNames, uids)
}

func (s ExternalGroupRoleMappings) removeAll(ctx context.Context, tx Tx, uids []UID, verb string) ([]*ExternalGroupRoleMapping, error) {
	if len(uids) == 0 {
		return nil, nil
	}
	removed, indices := make([]*ExternalGroupRoleMapping, len(uids)), sortIndices(uids)
	rows, err := s.rows.table.DeleteAll(ctx, tx, slices.Sorted(slices.Values(uids)))
	if errors.Is(err, ErrNotFound) {
		err = s.rows.kind.notFound(uids[indices[len(rows)]])
	}
	if err != nil {
		return nil, err
	}
	for n, row := range rows {
		removed[indices[n]] = row
		tx.Record(s.area.event(ctx, s.rows.kind.Event, verb, row.UID, s.rows.kind.Group(row), row))
	}
	return removed, nil
}
