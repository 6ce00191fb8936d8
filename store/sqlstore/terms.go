package sqlstore

import (
	"context"

	"atrium/platform"
)

var terms = newTable(&table[*platform.TermsAcceptance, *platform.TermsFilter]{
	name:     "terms_acceptance",
	uid:      func(t *platform.TermsAcceptance) platform.UID { return t.UID },
	enclosed: parentUID,
	columns: []column[*platform.TermsAcceptance]{
		{"t.uid", "", func(t *platform.TermsAcceptance) any { return uidWithParent(&t.UID, &t.OrgUID) }},
		{"t.doc_id", "", func(t *platform.TermsAcceptance) any { return &t.DocID }},
		{"t.accepted_by", "", func(t *platform.TermsAcceptance) any { return &t.AcceptedBy }},
		{"t.create_time", "", func(t *platform.TermsAcceptance) any { return timeOf(&t.CreateTime) }},
	},
	where: func(f *platform.TermsFilter, s *statement) { addAnyOf(s, "doc_id", f.DocIDs) },
})

// TermsOf reads acceptances by group and document, with one index lookup each.
func (queries) TermsOf(ctx context.Context, on platform.Conn, keys platform.TermsKeys) ([]*platform.TermsAcceptance, error) {
	wanted := keys.Keys()
	groups, documents := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		groups[i], documents[i] = packUID(k.Group), k.DocID
	}
	return terms.ReadPairs(ctx, on, uidPairs(groups, documents), "t.parent = p.k AND t.doc_id = p.inside")
}
