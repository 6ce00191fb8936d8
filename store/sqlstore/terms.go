package sqlstore

import (
	"context"

	"atrium/platform"
)

var terms = newTable(table[platform.TermsAcceptance, platform.TermsFilter]{
	name:     "terms_acceptance",
	uid:      func(t *platform.TermsAcceptance) platform.UID { return t.UID },
	enclosed: parent,
	columns: []column[platform.TermsAcceptance]{
		{"t.uid", "", func(t *platform.TermsAcceptance) any { return uidColumn{&t.UID, &t.OrgUID} }},
		{"t.doc_id", "", func(t *platform.TermsAcceptance) any { return &t.DocID }},
		{"t.accepted_by", "", func(t *platform.TermsAcceptance) any { return &t.AcceptedBy }},
		{"t.create_time", "", func(t *platform.TermsAcceptance) any { return timeColumn{&t.CreateTime} }},
	},
	where: func(f platform.TermsFilter, s *statement) { anyOf(s, "doc_id", f.DocIDs) },
})

// TermsOf reads acceptances by group and document, each by one look into the
// index.
func (s tables) TermsOf(ctx context.Context, keys platform.TermsKeys) ([]*platform.TermsAcceptance, error) {
	wanted := keys.Keys()
	groups, documents := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		groups[i], documents[i] = packed(k.Group), k.DocID
	}
	return pairs(ctx, s, terms, underUIDs(groups, documents), "t.parent = p.k AND t.doc_id = p.inside")
}
