package iam

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// An Identity represents a caller. A token acts as every identity whose rule it
// matches. An identity has no rights outside of the group that contains it.
type Identity struct {
	UID             core.UID    `json:"uid"`
	Name            string      `json:"name"`
	Description     string      `json:"description,omitempty"`
	Email           string      `json:"email,omitempty"`
	EmailUnverified string      `json:"emailUnverified,omitempty"`
	Company         string      `json:"company,omitempty"`
	LastSeenTime    core.Time   `json:"lastSeenTime,omitzero"` // zero before the first request
	CreateTime      core.Time   `json:"createTime,omitzero"`
	UpdateTime      core.Time   `json:"updateTime,omitzero"`
	ClaimMatch      *ClaimMatch `json:"claimMatch,omitempty"`
	StaticKeys      *StaticKeys `json:"staticKeys,omitempty"`

	Provider   core.UID   `json:"-"` // the provider that provisioned the identity
	ExternalID ExternalID `json:"-"` // the user of the provider
}

// An ExternalID identifies a user of an issuer.
type ExternalID struct{ Issuer, ID string }

// RelationshipType is the type of the rule of an identity.
type RelationshipType string

// The types of rules.
const (
	RelationshipTypeClaimMatch RelationshipType = "RELATIONSHIP_TYPE_CLAIM_MATCH"
	RelationshipTypeStatic     RelationshipType = "RELATIONSHIP_TYPE_STATIC"
)

var relationshipTypes = []RelationshipType{RelationshipTypeClaimMatch, RelationshipTypeStatic}

// Values lists the types.
func (RelationshipType) Values() []string { return fieldmask.Texts(relationshipTypes) }

// An IdentityType is a way to act as an identity.
type IdentityType string

// The kinds.
const (
	IdentityTypeUser       IdentityType = "IDENTITY_KIND_USER"        // a user of an identity provider
	IdentityTypeClaimMatch IdentityType = "IDENTITY_KIND_CLAIM_MATCH" // a token whose claims match
	IdentityTypeStaticKeys IdentityType = "IDENTITY_KIND_STATIC_KEYS" // a token signed with keys of the identity
	IdentityTypeNobody     IdentityType = "IDENTITY_KIND_NOBODY"      // nothing acts as it
)

var identityTypes = []IdentityType{IdentityTypeUser, IdentityTypeClaimMatch, IdentityTypeStaticKeys, IdentityTypeNobody}

// Values lists the kinds.
func (IdentityType) Values() []string { return fieldmask.Texts(identityTypes) }

// IdentityFilter restricts a list of identities.
type IdentityFilter struct {
	core.ChangeFilter

	Name             string           `json:",omitempty"` // exact name
	RelationshipType RelationshipType `json:",omitempty"`
	LastSeenBefore   core.Time        `json:",omitzero"`  // includes identities that were never seen
	NeverSeen        *bool            `json:",omitempty"` // whether nothing has acted as the identity; nil means any
	WithoutBindings  *bool            `json:",omitempty"` // whether no binding gives the identity a role; nil means any
	Query            string           `json:",omitempty"` // see SearchWords
}

// Check adds the violations of the conditions.
func (f *IdentityFilter) Check(v *core.Violations) {
	v.CheckFilter("name", f.Name)
	v.CheckQuery(f.Query)
	core.CheckOneOf(v, "relationship_type", f.RelationshipType, relationshipTypes)
}

// IdentityKind has the facts about identities.
var IdentityKind = core.Kind[*Identity]{
	Name: "Identity", Plural: "identities", Area: core.AreaIAM, Number: 2, Event: "iam.identity", Parent: core.GroupRef,
	Verbs: []string{"created", "updated", "deleted"},
	List:  core.CapIdentityList, Create: core.CapIdentityCreate, Update: core.CapIdentityUpdate, Delete: core.CapIdentityDelete,
	Blocked: "RESOURCE_IN_USE",
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable},
		{Name: "description", Mode: fieldmask.Updatable}, {Name: "email", Mode: fieldmask.Volatile},
		{Name: "emailUnverified", Mode: fieldmask.Volatile}, {Name: "company", Mode: fieldmask.Updatable},
		{Name: "lastSeenTime", Mode: fieldmask.Volatile}, {Name: "createTime", Mode: fieldmask.OutputOnly},
		{Name: "updateTime", Mode: fieldmask.Volatile}, {Name: "claimMatch", Mode: fieldmask.Updatable},
		{Name: "staticKeys", Mode: fieldmask.Updatable},
	},
	Required: []string{"name"},
	Orders: []core.OrderField[*Identity]{
		{Name: "name", Value: func(i *Identity) any { return i.Name }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(i *Identity) any { return i.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(i *Identity) any { return i.UpdateTime }},
		{Name: "uid", Value: func(i *Identity) any { return string(i.UID) }},
		{Name: "last_seen_time", Spellings: []string{"lastSeenTime", "last_seen"}, Value: func(i *Identity) any { return i.LastSeenTime }},
		{Name: "email", Value: func(i *Identity) any { return i.Email }},
	},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(i *Identity) core.UID { return i.UID },
	Group:        core.ParentOf(func(i *Identity) core.UID { return i.UID }),
	Stamp: func(i *Identity, uid core.UID, now core.Time) {
		i.UID, i.CreateTime, i.UpdateTime = uid, now, now
	},
	Check: func(i *Identity, changed func(string) bool, v *core.Violations) {
		if changed("name") {
			v.CheckName(i.Name, core.NamePattern, core.MaxNameBytes)
		}
		if changed("description") {
			v.CheckLine("description", i.Description)
		}
		if changed("company") {
			v.CheckLine("company", i.Company)
		}
		if changed("claimMatch") && i.ClaimMatch != nil {
			i.ClaimMatch.Check(v)
		}
		if changed("staticKeys") && i.StaticKeys != nil {
			i.StaticKeys.Check(v)
		}
		if i.ClaimMatch != nil && i.StaticKeys != nil {
			v.Add("staticKeys", "cannot be given together with claimMatch")
		}
	},
}

// IdentityQueries read and write identities in other ways than a Table does.
type IdentityQueries interface {
	// FacetIdentities counts the identities of each scope by facet, with one statement. The values of a facet are
	// not sorted.
	FacetIdentities(ctx context.Context, on core.Conn, filter *IdentityFilter, scopes []core.Scope) ([]*IdentityFacets, error)
}

// Identities are the operations on identities.
type Identities struct {
	core.Resources[*Identity, *IdentityFilter]
	rows *core.Collection[*Identity, *IdentityFilter]
	area *Area
}

// Capabilities returns what a caller needs besides the right to list identities.
func (f *IdentityFilter) Capabilities() []core.Capability {
	if f.WithoutBindings == nil {
		return nil
	}
	return []core.Capability{core.CapRoleBindingsList}
}

// Create makes an identity below a group.
func (s Identities) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*Identity]) (*Identity, error) {
	made, err := s.rows.AuthorizeCreate(ctx, parent, in)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, err)
	}
	return s.rows.Insert(ctx, parent, made, func(tx core.Tx) error { return s.area.admitRule(ctx, tx, made) })
}

// CreateBatch makes several identities: all or none.
func (s Identities) CreateBatch(ctx context.Context, requests []core.BatchRequest[*Identity]) ([]*Identity, error) {
	return s.rows.CreateBatch(ctx, requests, func(tx core.Tx, made []*Identity) (func(int) error, error) { return s.area.readRules(ctx, tx, made...) })
}

// Update changes an identity. A change of its rule decides who gets the roles
// bound to it, so the caller must hold everything that they grant. What was reviewed
// before does not count any longer.
func (s Identities) Update(ctx context.Context, uid core.UID, in fieldmask.Input[*Identity]) (*Identity, error) {
	return s.rows.UpdateChecked(ctx, uid, in, func(tx core.Tx, change *fieldmask.Change[*Identity]) error {
		change.Fields = change.Row.addOtherRule(change.Fields)
		if !change.Writes("claimMatch") && !change.Writes("staticKeys") {
			return nil
		}
		change.Row.UID = uid
		var bound map[core.UID][]core.Grant
		var caller *core.Actor
		var current *Identity
		var admitRule func(int) error
		err := tx.RunTogether(ctx,
			func(ctx context.Context) (err error) {
				caller, bound, err = s.area.readCallerAndBound(ctx, tx, uid)
				return err
			},
			func(ctx context.Context) (err error) { current, err = s.rows.GetRow(ctx, tx, uid); return err },
			func(ctx context.Context) (err error) {
				admitRule, err = s.area.readRules(ctx, tx, change.Row)
				return err
			},
		)
		if err != nil {
			return err
		}
		if _, err := checkMayGrantAll(caller, bound[uid]); err != nil {
			return err
		}
		if err := s.checkMayDisable(ctx, tx, current, change); err != nil {
			return err
		}
		if change.Differs(current, "claimMatch") || change.Differs(current, "staticKeys") {
			s.area.Tables.EndReviews(tx, uid)
		}
		return admitRule(0)
	})
}

// checkMayDisable fails if the change leaves an identity without a rule, and the organization
// without an owner who could sign in.
func (s Identities) checkMayDisable(ctx context.Context, tx core.Tx, current *Identity, change *fieldmask.Change[*Identity]) error {
	isGiven := change.Row.ClaimMatch != nil || change.Row.StaticKeys != nil
	if isGiven || current.ClaimMatch != nil && !change.Writes("claimMatch") || current.StaticKeys != nil && !change.Writes("staticKeys") {
		return nil
	}
	return s.area.checkOwnerStays(ctx, tx, current.UID.Root(), current.UID)
}

// addOtherRule adds the other type of rule to the changed fields, because an identity
// has only one rule.
func (i *Identity) addOtherRule(fields []string) []string {
	if i.StaticKeys != nil && !slices.Contains(fields, "claimMatch") {
		return append(fields, "claimMatch")
	}
	if i.ClaimMatch != nil && !slices.Contains(fields, "staticKeys") {
		return append(fields, "staticKeys")
	}
	return fields
}

// Delete deletes an identity without role bindings.
func (s Identities) Delete(ctx context.Context, uid core.UID) error {
	return s.rows.RemoveChecked(ctx, uid, preventBindings)
}

// DeleteBatch deletes several identities without role bindings: all or none.
func (s Identities) DeleteBatch(ctx context.Context, uids []core.UID) error {
	return s.rows.RemoveBatchChecked(ctx, uids, preventBindings)
}

// preventBindings lets nobody bind an identity while it is deleted.
func preventBindings(tx core.Tx, uid core.UID) error {
	tx.Lock(uid.Root())
	return nil
}

// Lookup finds the identity whose rule names exactly this issuer and subject, the
// oldest if there are several. Any valid token may call it, and finds the identities
// that it acts as, and those that it may list.
func (s Identities) Lookup(ctx context.Context, issuer, subject string) (core.UID, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return "", err
	}
	var v core.Violations
	if issuer == "" {
		v.Add("issuer", "is required")
	}
	v.CheckFilter("issuer", issuer)
	if subject == "" {
		v.Add("subject", "is required")
	}
	v.CheckFilter("subject", subject)
	if err := v.Err(); err != nil {
		return "", err
	}
	organizations := organizationsWith(actor, s.rows.Kind.List)
	found, err := s.area.Tables.LookupIdentities(ctx, s.area.Store, issuer, subject, organizations)
	if err != nil {
		return "", err
	}
	for _, uid := range found {
		if slices.Contains(actor.Identities, uid) || s.rows.Kind.ReadableBy(actor, uid) {
			return uid, nil
		}
	}
	return "", core.NewNotFoundBecause(core.IdentityRef, fieldmask.TruncateForMessage(subject), "no identity that you may see has this issuer and subject")
}

// organizationsWith lists the organizations of the actor's identities, and those in which it
// holds a capability.
func organizationsWith(a *core.Actor, capability core.Capability) []core.UID {
	var roots []core.UID
	for _, uid := range slices.Concat(a.Identities, a.Scopes(capability)) {
		roots = append(roots, uid.Root())
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// EffectiveGrants are what the role bindings of one identity grant. They can be asked
// about any number of resources.
type EffectiveGrants struct{ held core.Actor }

// EffectiveGrants reads the grants of identities with one read. The results are in the
// order of identities; each has grants or an error. The caller must be allowed to list
// identities and role bindings of the group of each identity.
func (s Identities) EffectiveGrants(ctx context.Context, identities []core.UID) ([]*EffectiveGrants, []error) {
	each, errs := make([]*EffectiveGrants, len(identities)), make([]error, len(identities))
	var permitted []core.UID
	for i, uid := range identities {
		if _, errs[i] = core.Require(ctx, uid, core.CapIdentityList, core.CapRoleBindingsList); errs[i] == nil {
			permitted = append(permitted, uid)
		}
	}
	if len(permitted) == 0 {
		return each, errs
	}
	found, err := s.area.Tables.Grants(ctx, s.area.Store, permitted)
	bound := map[core.UID][]core.Grant{}
	for _, g := range found {
		bound[g.Identity] = append(bound[g.Identity], g)
	}
	for i, uid := range identities {
		switch {
		case errs[i] != nil:
		case err != nil:
			errs[i] = err
		default:
			each[i] = &EffectiveGrants{core.Actor{Grants: core.LimitToHome(bound[uid])}}
		}
	}
	return each, errs
}

// CheckOn fails if on is not a UID that EffectiveGrants can be asked about.
func CheckOn(on core.UID) error { return core.InvalidUID("within", on) }

// CapabilitiesOn lists the granted capabilities on a UID, including inherited ones,
// whether or not the resource exists. Grants that could not be read, nil, have none.
func (e *EffectiveGrants) CapabilitiesOn(on core.UID) []core.Capability {
	if e == nil {
		return nil
	}
	return e.held.CapabilitySetOn(on).List()
}

// ListOwn lists the identities of the caller. It needs no capability.
func (s Identities) ListOwn(ctx context.Context) ([]*Identity, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil || len(actor.Identities) == 0 {
		return nil, err
	}
	return s.rows.Table.Get(ctx, s.area.Store, core.Keys{UIDs: actor.Identities})
}
