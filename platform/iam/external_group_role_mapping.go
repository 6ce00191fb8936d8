package iam

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// An ExternalGroupRoleMapping gives a role to every caller whose token of an
// identity provider lists an external group. It applies to requests with such a
// token and is not bound to an identity.
type ExternalGroupRoleMapping struct {
	UID                 core.UID  `json:"uid"`
	IdentityProviderUID core.UID  `json:"identityProviderUid"`
	ExternalGroupID     string    `json:"externalGroupId"`
	RoleUID             core.UID  `json:"roleUid"`
	Scope               core.UID  `json:"scope"` // the group on which the mapping applies, including everything below
	CreateTime          core.Time `json:"createTime,omitzero"`
}

// ExternalGroupRoleMappingFilter restricts a list of mappings.
type ExternalGroupRoleMappingFilter struct {
	IdentityProvider core.UID  `json:",omitempty"`
	ExternalGroupID  string    `json:",omitempty"` // exact external group
	Role             core.UID  `json:",omitempty"`
	Scope            core.UID  `json:",omitempty"` // exact scope
	CreatedSince     core.Time `json:",omitzero"`
}

// Check adds the violations of the conditions.
func (f *ExternalGroupRoleMappingFilter) Check(v *core.Violations) {
	if f.IdentityProvider != "" {
		v.CheckUID("identity_provider_uid", f.IdentityProvider)
	}
	v.CheckFilter("external_group_id", f.ExternalGroupID)
}

// checkNames returns NOT_FOUND for a provider that is not there.
func (s ExternalGroupRoleMappings) checkNames(ctx context.Context, f *ExternalGroupRoleMappingFilter, listed []core.UID) error {
	return s.area.IdentityProviders.rows.FindNamed(ctx, "identity_provider_uid", core.AnyContains(listed, f.IdentityProvider), f.IdentityProvider)
}

// ExternalGroupRoleMappingKind has the facts about external group role mappings.
var ExternalGroupRoleMappingKind = core.Kind[*ExternalGroupRoleMapping]{
	Name: "ExternalGroupRoleMapping", Plural: "externalGroupRoleMappings", Area: core.AreaIAM, Number: 13, Event: "iam.external_group_role_mappings", Parent: core.Ref{Name: "IdentityProvider", Area: core.AreaIAM},
	Verbs: []string{"created", "deleted", "deleted.batch"},
	List:  core.CapIdentityProvidersList, Create: core.CapIdentityProvidersCreate, Delete: core.CapIdentityProvidersDelete, HandsOut: true,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "identityProviderUid", Mode: fieldmask.OutputOnly},
		{Name: "externalGroupId", Mode: fieldmask.AtCreation}, {Name: "roleUid", Mode: fieldmask.AtCreation},
		{Name: "scope", Mode: fieldmask.AtCreation}, {Name: "createTime", Mode: fieldmask.OutputOnly},
	},
	Required: []string{"externalGroupId", "roleUid"},
	Unique:   []string{"externalGroupId", "roleUid", "scope"},
	Orders: []core.OrderField[*ExternalGroupRoleMapping]{
		{Name: "uid", Value: func(m *ExternalGroupRoleMapping) any { return string(m.UID) }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(m *ExternalGroupRoleMapping) any { return m.CreateTime }},
		{Name: "external_group_id", Spellings: []string{"externalGroupId", "name"}, Value: func(m *ExternalGroupRoleMapping) any { return m.ExternalGroupID }},
	},
	DefaultOrder: core.Order{Field: "uid"},
	UID:          func(m *ExternalGroupRoleMapping) core.UID { return m.UID },
	Group:        func(m *ExternalGroupRoleMapping) core.UID { return m.UID.Parent().Parent() },
	Stamp: func(m *ExternalGroupRoleMapping, uid core.UID, now core.Time) {
		m.UID, m.IdentityProviderUID, m.CreateTime = uid, uid.Parent(), now
		if m.Scope == "" {
			m.Scope = m.IdentityProviderUID.Parent()
		}
	},
	Check: func(m *ExternalGroupRoleMapping, changed func(string) bool, v *core.Violations) {
		if changed("externalGroupId") {
			v.CheckRequiredLine("externalGroupId", m.ExternalGroupID)
		}
		if changed("roleUid") {
			v.CheckRequiredUID("roleUid", m.RoleUID)
		}
		if changed("scope") && m.Scope != "" {
			v.CheckUID("scope", m.Scope)
		}
	},
}

// ExternalGroupRoleMappings are the operations on mappings.
type ExternalGroupRoleMappings struct {
	core.Resources[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]
	rows *core.Collection[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]
	area *Area
}

func mappingKeyFilter(m *ExternalGroupRoleMapping) *ExternalGroupRoleMappingFilter {
	return &ExternalGroupRoleMappingFilter{ExternalGroupID: m.ExternalGroupID, Role: m.RoleUID, Scope: m.Scope}
}

// Create makes a mapping of an identity provider. Without a scope, it applies to
// the provider's group. The scope cannot be outside of that group. The caller must
// hold there what the role grants.
func (s ExternalGroupRoleMappings) Create(ctx context.Context, provider core.UID, in fieldmask.Input[*ExternalGroupRoleMapping]) (*ExternalGroupRoleMapping, error) {
	made, err := s.rows.AuthorizeCreate(ctx, provider, in)
	if err == nil && !made.Scope.Within(provider.Parent()) {
		err = core.Invalid(fieldmask.Violation{Field: "scope", Description: fmt.Sprintf("must lie within the group of the identity provider, %s", provider.Parent())})
	}
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", provider, err)
	}
	return s.rows.Insert(ctx, provider, made, func(tx core.Tx) error {
		if _, err := core.Require(ctx, made.Scope, core.CapRoleBindingsCreate); err != nil {
			return err
		}
		// The error of the insert does not tell whether the scope or the provider is
		// missing. If the provider exists, so does its group.
		return tx.RunTogether(ctx,
			func(ctx context.Context) error {
				if made.Scope == provider.Parent() {
					return nil
				}
				_, err := s.area.Groups.rows.GetRow(ctx, tx, made.Scope)
				return err
			},
			func(ctx context.Context) error {
				return s.area.Roles.requireMayGrant(ctx, tx, "roleUid", made.RoleUID, made.Scope)
			},
		)
	})
}

// Delete removes a mapping. It takes effect with the next request.
func (s ExternalGroupRoleMappings) Delete(ctx context.Context, uid core.UID) error {
	return s.rows.Remove(ctx, uid)
}

// maxBatchMappings is the maximum number of mappings in one batchDelete.
const maxBatchMappings = 200

// DeleteBatch removes mappings below parent, which is an identity provider or a
// group: all or none. It returns the removed mappings in the order of uids.
func (s ExternalGroupRoleMappings) DeleteBatch(ctx context.Context, parent core.UID, uids []core.UID) ([]*ExternalGroupRoleMapping, error) {
	removed, err := s.deleteBatch(ctx, parent, uids)
	return removed, s.rows.RecordIfDenied(ctx, "deleted.batch", parent, err)
}

func (s ExternalGroupRoleMappings) deleteBatch(ctx context.Context, parent core.UID, uids []core.UID) ([]*ExternalGroupRoleMapping, error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, err
	}
	var v core.Violations
	v.CheckRequiredUID("parent", parent)
	if len(uids) == 0 || len(uids) > maxBatchMappings {
		v.Add("names", "must have 1 to %d items", maxBatchMappings)
	}
	for i, uid := range uids[:min(len(uids), maxBatchMappings)] { // the limit also bounds the comparisons below
		field := fmt.Sprintf("names[%d]", i)
		switch {
		case !uid.Valid():
			v.CheckUID(field, uid)
		case parent.Valid() && !uid.Below(parent):
			v.Add(field, "must lie below the parent")
		case slices.Contains(uids[:i], uid):
			v.Add(field, "is given twice")
		}
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	if _, err := core.Require(ctx, parent, s.rows.Kind.Delete); err != nil {
		return nil, err
	}
	var removed []*ExternalGroupRoleMapping
	err := s.area.Store.Write(ctx, func(tx core.Tx) (err error) {
		removed, err = s.removeAll(ctx, tx, uids, "deleted.batch")
		return err
	})
	return removed, s.rows.NameMissing(ctx, err, core.ListOfNames, uids)
}

func (s ExternalGroupRoleMappings) removeAll(ctx context.Context, tx core.Tx, uids []core.UID, verb string) ([]*ExternalGroupRoleMapping, error) {
	if len(uids) == 0 {
		return nil, nil
	}
	removed, indices := make([]*ExternalGroupRoleMapping, len(uids)), core.SortIndices(uids)
	rows, err := s.rows.Table.DeleteAll(ctx, tx, slices.Sorted(slices.Values(uids)))
	if errors.Is(err, core.ErrNotFound) {
		err = s.rows.Kind.NotFound(uids[indices[len(rows)]])
	}
	if err != nil {
		return nil, err
	}
	for n, row := range rows {
		removed[indices[n]] = row
		tx.Record(s.area.Event(ctx, s.rows.Kind.Event, verb, row.UID, s.rows.Kind.Group(row), row))
	}
	return removed, nil
}
