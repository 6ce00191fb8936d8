package sqlstore

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/table"
)

var terms = table.New(&table.Definition[*iam.TermsAcceptance, *iam.TermsFilter]{
	Name:   "terms_acceptance",
	UID:    func(t *iam.TermsAcceptance) core.UID { return t.UID },
	LiesIn: parentUID,
	Columns: []table.Column[*iam.TermsAcceptance]{
		{SQL: "t.uid", To: func(t *iam.TermsAcceptance) any { return table.UIDWithParent(&t.UID, &t.OrgUID) }},
		{SQL: "t.doc_id", To: func(t *iam.TermsAcceptance) any { return &t.DocID }},
		{SQL: "t.accepted_by", To: func(t *iam.TermsAcceptance) any { return &t.AcceptedBy }},
		{SQL: "t.create_time", To: func(t *iam.TermsAcceptance) any { return table.TimeOf(&t.CreateTime) }},
	},
	Where: func(f *iam.TermsFilter, s *table.Statement) { table.AddAnyOf(s, "doc_id", f.DocIDs) },
})

// TermsOf reads acceptances by group and document, with one index lookup each.
func (queries) TermsOf(ctx context.Context, on core.Conn, keys iam.TermsKeys) ([]*iam.TermsAcceptance, error) {
	wanted := keys.Keys()
	groups, documents := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		groups[i], documents[i] = table.PackUID(k.Group), k.DocID
	}
	return terms.ReadPairs(ctx, on, table.UIDPairs(groups, documents), 1, "t.parent = p.k AND t.doc_id = p.inside")
}
