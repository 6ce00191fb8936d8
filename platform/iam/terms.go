package iam

import (
	"context"
	"fmt"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A TermsAcceptance records that somebody accepted a terms document for a group.
// There is one for each group and document. Accepting again changes nothing.
type TermsAcceptance struct {
	DocID      string    `json:"docId"`
	AcceptedBy string    `json:"acceptedBy,omitempty"` // the UID of an identity
	OrgUID     core.UID  `json:"orgUid"`               // the group it was accepted for
	CreateTime core.Time `json:"createTime,omitzero"`

	UID core.UID `json:"-"` // used for paging; clients identify it by group and document
}

// A TermsKey identifies an acceptance.
type TermsKey struct {
	Group core.UID
	DocID string
}

// Key returns the key of the acceptance.
func (t *TermsAcceptance) Key() TermsKey { return TermsKey{t.OrgUID, t.DocID} }

// TermsKeys are acceptances that the caller may read.
type TermsKeys struct{ keys []TermsKey }

// Keys lists the keys.
func (k TermsKeys) Keys() []TermsKey { return k.keys }

// TermsFilter restricts a list of acceptances.
type TermsFilter struct {
	DocIDs []string `json:",omitempty"`
}

// Check adds the violations of the conditions.
func (f *TermsFilter) Check(v *core.Violations) { v.CheckFilter("doc_ids", f.DocIDs...) }

// TermsKind has the facts about terms.
var TermsKind = core.Kind[*TermsAcceptance]{
	Name: "TermsAcceptance", Plural: "termsAcceptances", Area: core.AreaIAM, Number: 14, Event: "iam.terms", Parent: core.GroupRef,
	Verbs: []string{"accepted"}, EventBody: "iam.AcceptedTerms", EventsOfParent: true, // one event for all documents; the body is the response
	List: core.CapTermsList, Create: core.CapTermsAccept,
	Orders: []core.OrderField[*TermsAcceptance]{
		{Name: "doc_id", Spellings: []string{"docId", "name"}, Value: func(t *TermsAcceptance) any { return t.DocID }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(t *TermsAcceptance) any { return t.CreateTime }},
		{Name: "uid", Value: func(t *TermsAcceptance) any { return string(t.UID) }},
	},
	DefaultOrder: core.Order{Field: "doc_id"},
	UID:          func(t *TermsAcceptance) core.UID { return t.UID },
	Group:        func(t *TermsAcceptance) core.UID { return t.OrgUID },
}

// TermsAcceptanceQueries read and write accepted terms in other ways than a Table does.
type TermsAcceptanceQueries interface {
	// TermsOf reads acceptances by group and document; missing ones are left
	// out.
	TermsOf(ctx context.Context, on core.Conn, keys TermsKeys) ([]*TermsAcceptance, error)
}

// Terms are the operations on terms.
type Terms struct {
	core.Resources[*TermsAcceptance, *TermsFilter]
	rows *core.Collection[*TermsAcceptance, *TermsFilter]
	area *Area
}

// maxDocuments limits the documents of one request.
const maxDocuments = 100

// An AcceptedTerms is the result of accepting terms.
type AcceptedTerms struct {
	Group       core.UID `json:"group"`
	DocumentIDs []string `json:"documentIds"`
}

// Accept records that the caller accepts documents for a group. Earlier
// acceptances stay as they are.
func (s Terms) Accept(ctx context.Context, group core.UID, documents []string) (*AcceptedTerms, error) {
	if err := s.acceptFor(ctx, group, documents); err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "accepted", group, err)
	}
	return &AcceptedTerms{group, documents}, nil
}

func (s Terms) acceptFor(ctx context.Context, group core.UID, documents []string) error {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return err
	}
	var v core.Violations
	if v.CheckUID("group", group); len(v) == 0 {
		if _, err := core.Require(ctx, group, s.rows.Kind.Create); err != nil {
			return err
		}
	}
	if len(documents) == 0 || len(documents) > maxDocuments {
		v.Add("documentIds", "must have 1 to %d items", maxDocuments)
	}
	for i, id := range documents {
		v.CheckRequiredLine(fmt.Sprintf("documentIds[%d]", i), id)
	}
	if err := v.Err(); err != nil {
		return err
	}
	by := actor.Subject
	if len(actor.Identities) > 0 {
		by = string(actor.IdentityOn(group))
	}
	return s.area.Store.Write(ctx, func(tx core.Tx) error { return s.saveAcceptances(ctx, tx, group, documents, by) })
}

// saveAcceptances stores the acceptances that do not exist yet.
func (s Terms) saveAcceptances(ctx context.Context, tx core.Tx, group core.UID, documents []string, by string) error {
	tx.Lock(group.Root()) // equal concurrent requests must not collide
	if _, err := s.area.Groups.rows.GetRow(ctx, tx, group); err != nil {
		return err
	}
	keys := make([]TermsKey, len(documents))
	for i, id := range documents {
		keys[i] = TermsKey{group, id}
	}
	stored, err := s.area.Tables.TermsOf(ctx, tx, TermsKeys{keys})
	if err != nil {
		return err
	}
	accepted := make([]string, len(stored))
	for i, t := range stored {
		accepted[i] = t.DocID
	}
	var added []*TermsAcceptance
	for _, id := range documents {
		if !slices.Contains(accepted, id) {
			accepted = append(accepted, id)
			added = append(added, &TermsAcceptance{UID: group.NewChild(), DocID: id, AcceptedBy: by, OrgUID: group, CreateTime: s.area.Now()})
		}
	}
	if len(added) == 0 {
		return nil
	}
	tx.Record(s.area.Event(ctx, s.rows.Kind.Event, "accepted", group, group, &AcceptedTerms{group, documents}))
	return s.rows.Table.Insert(ctx, tx, added...)
}

// ListOf reads a page of the acceptances for a group and for the groups above it.
// It needs the capability on the group only.
func (s Terms) ListOf(ctx context.Context, group core.UID, req core.ListRequest[*TermsFilter]) (core.Page[*TermsAcceptance], error) {
	page, err := s.listOf(ctx, group, req)
	return page, s.rows.Kind.AddArea(err)
}

func (s Terms) listOf(ctx context.Context, group core.UID, req core.ListRequest[*TermsFilter]) (core.Page[*TermsAcceptance], error) {
	scope, err := s.acceptanceScope(ctx, group)
	if err != nil {
		return core.Page[*TermsAcceptance]{}, err
	}
	// Acceptances of groups above would hide that the group does not exist.
	if _, err := s.area.Groups.rows.GetCurrent(ctx, group); err != nil {
		return core.Page[*TermsAcceptance]{}, err
	}
	return s.rows.ListInScope(ctx, scope, tokenRequest(group, req))
}

// tokenRequest sets the UID filter that page tokens of a group's list are bound
// to. It is not the scope of the read.
func tokenRequest(group core.UID, req core.ListRequest[*TermsFilter]) core.ListRequest[*TermsFilter] {
	req.UIDP = core.UIDFilter{AncestorsOf: group}
	return req
}

// ListOfEach reads the same page for many existing groups with one read. The
// results are in the order of groups and are those of ListOf.
func (s Terms) ListOfEach(ctx context.Context, req core.ListRequest[*TermsFilter], groups []core.UID) ([]core.Page[*TermsAcceptance], []error) {
	return s.rows.ReadEach(ctx, len(groups), func(i int) (core.ListRequest[*TermsFilter], core.Query[*TermsFilter], error) {
		req := tokenRequest(groups[i], req)
		scope, err := s.acceptanceScope(ctx, groups[i])
		if err != nil {
			return req, core.Query[*TermsFilter]{}, err
		}
		q, err := s.rows.BuildQuery(ctx, req)
		q.Scope = scope
		return req, q, err
	})
}

// acceptanceScope authorizes a read and returns the scope of the acceptances that
// apply to a group.
func (s Terms) acceptanceScope(ctx context.Context, group core.UID) (core.Scope, error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return core.Scope{}, err
	}
	if err := core.InvalidUID("group", group); err != nil {
		return core.Scope{}, err
	}
	if _, err := core.Require(ctx, group, s.rows.Kind.ReadCapabilities()...); err != nil {
		return core.Scope{}, err
	}
	var scope core.Scope
	for _, g := range append(group.Ancestors(), group) {
		scope.Branches = append(scope.Branches, core.Branch{Relation: core.Children, UID: g})
	}
	return scope, nil
}

// GetMany reads acceptances with one read. The results are in the order of keys;
// each has an acceptance or an error.
func (s Terms) GetMany(ctx context.Context, keys []TermsKey) ([]*TermsAcceptance, []error) {
	rows, errs := make([]*TermsAcceptance, len(keys)), make([]error, len(keys))
	var readable TermsKeys
	for i, key := range keys {
		if _, err := s.acceptanceScope(ctx, key.Group); err != nil {
			errs[i] = s.rows.Kind.AddArea(err)
			continue
		}
		if !core.IsUnstorable(key.DocID) { // an id that cannot be stored has no row
			readable.keys = append(readable.keys, key)
		}
	}
	var found []*TermsAcceptance
	var err error
	if len(readable.keys) > 0 {
		found, err = s.area.Tables.TermsOf(ctx, s.area.Store, readable)
	}
	byKey := make(map[TermsKey]*TermsAcceptance, len(found))
	for _, t := range found {
		byKey[t.Key()] = t
	}
	for i, key := range keys {
		if errs[i] != nil {
			continue
		}
		if rows[i], errs[i] = byKey[key], err; err == nil && rows[i] == nil {
			errs[i] = s.rows.Kind.AddArea(core.NewNotFound(s.rows.Kind.Ref(), string(key.Group)+"#"+fieldmask.TruncateForMessage(key.DocID)))
		}
	}
	return rows, errs
}
