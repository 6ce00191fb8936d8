package platform

import (
	"context"
	"slices"
)

// An Identity is who acts. A token acts as every identity whose rule it
// matches. What an identity may do ends at the group it lives under.
type Identity struct {
	UID             UID         `json:"uid"`
	Name            string      `json:"name"`
	Description     string      `json:"description,omitempty"`
	Email           string      `json:"email,omitempty"`
	EmailUnverified string      `json:"emailUnverified,omitempty"`
	Company         string      `json:"company,omitempty"`
	LastSeenTime    Time        `json:"lastSeenTime,omitzero"`
	CreateTime      Time        `json:"createTime,omitzero"`
	UpdateTime      Time        `json:"updateTime,omitzero"`
	ClaimMatch      *ClaimMatch `json:"claimMatch,omitempty"`
	StaticKeys      *StaticKeys `json:"staticKeys,omitempty"`

	Provider   UID        `json:"-"` // which made it, for somebody whom it let in
	ExternalID ExternalID `json:"-"` // whom it was made for
}

// An ExternalID is what an issuer tells somebody by.
type ExternalID struct{ Issuer, ID string }

// RelationshipType says by which rule an identity is found.
type RelationshipType string

// The types of rules.
const (
	RelationshipTypeClaimMatch RelationshipType = "RELATIONSHIP_TYPE_CLAIM_MATCH"
	RelationshipTypeStatic     RelationshipType = "RELATIONSHIP_TYPE_STATIC"
)

var relationshipTypes = []RelationshipType{RelationshipTypeClaimMatch, RelationshipTypeStatic}

// Values lists the types.
func (RelationshipType) Values() []string { return textsOf(relationshipTypes) }

// IdentityFilter restricts a list of identities.
type IdentityFilter struct {
	Name             string           `json:",omitempty"` // exactly
	RelationshipType RelationshipType `json:",omitempty"`
	LastSeenBefore   Time             `json:",omitzero"`  // never seen counts as before
	Query            string           `json:",omitempty"` // see SearchWords
}

func (f IdentityFilter) check(v *violations) {
	v.filter("name", f.Name)
	v.query(f.Query)
	oneOf(v, "relationship_type", f.RelationshipType, relationshipTypes)
}

var identityKind = Kind[Identity]{
	Name: "Identity", Plural: "identities", Area: "iam", Number: 2, Event: "iam.identity", Parent: "Group",
	Verbs: []string{"created", "updated", "deleted"},
	List:  CapIdentityList, Create: CapIdentityCreate, Update: CapIdentityUpdate, Delete: CapIdentityDelete,
	Blocked: "RESOURCE_IN_USE",
	Fields: []Field{
		{"uid", OutputOnly}, {"name", Updatable}, {"description", Updatable}, {"email", Volatile}, {"emailUnverified", Volatile},
		{"company", Updatable}, {"lastSeenTime", Volatile}, {"createTime", OutputOnly}, {"updateTime", Volatile},
		{"claimMatch", Updatable}, {"staticKeys", Updatable},
	},
	Required: []string{"name"},
	Orders: []OrderField[Identity]{
		{"name", nil, func(i *Identity) any { return i.Name }},
		{"create_time", createTimeSpellings, func(i *Identity) any { return i.CreateTime }},
		{"update_time", updateTimeSpellings, func(i *Identity) any { return i.UpdateTime }},
		{"uid", nil, func(i *Identity) any { return string(i.UID) }},
		{"last_seen_time", []string{"lastSeenTime", "last_seen"}, func(i *Identity) any { return i.LastSeenTime }},
		{"email", nil, func(i *Identity) any { return i.Email }},
	},
	DefaultOrder: Order{Field: "name"},
	UID:          func(i *Identity) UID { return i.UID },
	Group:        parentOf(func(i *Identity) UID { return i.UID }),
	Stamp: func(i *Identity, uid UID, now Time) {
		i.UID, i.CreateTime, i.UpdateTime, i.LastSeenTime = uid, now, now, now
	},
	Check: func(i *Identity, changed func(string) bool, v *violations) {
		if changed("name") {
			v.name(i.Name, namePattern)
		}
		if changed("description") {
			v.line("description", i.Description)
		}
		if changed("company") {
			v.line("company", i.Company)
		}
		if changed("claimMatch") && i.ClaimMatch != nil {
			i.ClaimMatch.check(v)
		}
		if changed("staticKeys") && i.StaticKeys != nil {
			i.StaticKeys.check(v)
		}
		if i.ClaimMatch != nil && i.StaticKeys != nil {
			v.add("staticKeys", "cannot be given together with claimMatch")
		}
	},
}

// Identities are the operations on identities.
type Identities struct {
	resources[Identity, IdentityFilter]
}

// noTwin is for kinds without a unique key: no insert of theirs collides.
func noTwin[T, F any](*T) (f F) { return f }

// Create makes an identity below a group.
func (s Identities) Create(ctx context.Context, parent UID, in Input[Identity]) (*Identity, error) {
	made, err := s.accept(ctx, parent, in)
	if err != nil {
		return nil, s.refused(ctx, "created", parent, err)
	}
	return s.insert(ctx, parent, made, noTwin, func(tx Tx) error { return s.p.admitRule(ctx, tx, made.UID, made.ClaimMatch) })
}

// Update changes an identity. Who changes its rule decides who acts with what
// is bound to it, and so must hold all of that.
func (s Identities) Update(ctx context.Context, uid UID, in Input[Identity]) (*Identity, error) {
	return s.updateIf(ctx, uid, in, noTwin, func(tx Tx, change *change[Identity]) error {
		change.fields = change.row.oneRule(change.fields)
		if !change.writes("claimMatch") && !change.writes("staticKeys") {
			return nil
		}
		if err := s.holdsAllBound(ctx, tx, uid); err != nil {
			return err
		}
		return s.p.admitRule(ctx, tx, uid, change.row.ClaimMatch)
	})
}

// oneRule adds the rule that a change replaces by one of the other type.
func (i *Identity) oneRule(fields []string) []string {
	if i.StaticKeys != nil && !slices.Contains(fields, "claimMatch") {
		return append(fields, "claimMatch")
	}
	if i.ClaimMatch != nil && !slices.Contains(fields, "staticKeys") {
		return append(fields, "staticKeys")
	}
	return fields
}

func (s Identities) holdsAllBound(ctx context.Context, tx Tx, uid UID) error {
	actor, err := caller(ctx)
	if err != nil {
		return err
	}
	if err := tx.Lock(ctx, uid.Root()); err != nil {
		return err
	}
	if actor, err = actor.refreshed(ctx, tx); err != nil {
		return err
	}
	bound, err := tx.Grants(ctx, []UID{uid})
	if err != nil {
		return err
	}
	for _, g := range bound {
		if err := actor.dominates(setOf(g.Capabilities), g.Group); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes an identity that no role is bound to.
func (s Identities) Delete(ctx context.Context, uid UID) error {
	return s.removeIf(ctx, uid, func(tx Tx, _ UID) error { return tx.Lock(ctx, uid.Root()) }) // nobody binds it meanwhile
}

// Lookup finds the identity that tokens of exactly this issuer and subject
// act as; the oldest of several. Any valid token may ask.
func (s Identities) Lookup(ctx context.Context, issuer, subject string) (UID, error) {
	if _, err := caller(ctx); err != nil {
		return "", err
	}
	var v violations
	if issuer == "" {
		v.add("issuer", "is required")
	}
	v.filter("issuer", issuer)
	if subject == "" {
		v.add("subject", "is required")
	}
	v.filter("subject", subject)
	if err := v.err(); err != nil {
		return "", err
	}
	uid, err := s.p.store.LookupIdentity(ctx, issuer, subject)
	if err == nil && uid == "" {
		e := missing("Identity", "")
		e.Message = "Not found: no identity matches this issuer and subject"
		e.Resource.Name, e.Resource.Description = shown(subject), "no identity matches this issuer and subject"
		return "", e
	}
	return uid, err
}

// EffectiveCapabilities is what an identity holds on a UID, inherited grants
// included. The caller must be allowed to list bindings where the identity
// lives.
func (s Identities) EffectiveCapabilities(ctx context.Context, identity, on UID) ([]Capability, error) {
	if err := invalidUID("on", on); err != nil {
		return nil, err
	}
	if _, err := need(ctx, identity, CapIdentityList, CapRoleBindingsList); err != nil {
		return nil, err
	}
	grants, err := s.p.store.Grants(ctx, []UID{identity})
	if err != nil {
		return nil, err
	}
	held := Actor{grants: effective(grants)}
	return held.on(on).list(), nil
}

// Own lists the identities that the caller acts as; none of its capabilities
// is asked for that.
func (s Identities) Own(ctx context.Context) ([]*Identity, error) {
	actor, err := caller(ctx)
	if err != nil || len(actor.Identities) == 0 {
		return nil, err
	}
	return s.table(s.p.store).Get(ctx, Keys{uids: actor.Identities})
}
