package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/inventory"
	"atrium/platform/reports"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// Documents are read from the advisories of a scope. They are found along an index that
// begins with the key of the scope and the name of the artifact.

// ListDocuments reads one page of documents, without their advisories, and the number of
// documents in the same round trip.
func (queries) ListDocuments(ctx context.Context, on core.Conn, q core.Query[*reports.DocumentFilter]) (core.Rows[*reports.AdvisoryDocument], error) {
	s := tablesOf(on)
	var found core.Rows[*reports.AdvisoryDocument]
	var names []string
	var run []*dbconn.Statement
	if q.Parts.Has(core.PartTotal) {
		run = append(run, s.countDocuments(q, &found.Total))
	}
	if q.Parts.Has(core.PartItems) {
		for branches := range slices.Chunk(q.Scope.Branches, table.MaxBranches) {
			run = append(run, s.documentPage(q, branches, &names))
		}
	}
	if err := s.Reads.Run(ctx, run...); err != nil {
		return found, err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if q.Order.Desc != q.Backward {
		slices.Reverse(names)
	}
	names, found.More = table.TrimPage(names[min(q.Skip, len(names)):], q.Limit, q.Backward)
	for _, name := range names {
		found.Items = append(found.Items, &reports.AdvisoryDocument{ID: name})
	}
	return found, nil
}

// documentPage selects, for each branch, the names of as many documents as the page can need.
func (s tables) documentPage(q core.Query[*reports.DocumentFilter], branches []core.Branch, into *[]string) *dbconn.Statement {
	f := table.NewStatement(s.Dialect)
	sign, order := ">", ""
	if q.Order.Desc != q.Backward {
		sign, order = "<", " DESC"
	}
	for i, b := range branches {
		if i > 0 {
			f.AddUnion()
		}
		name := addDocuments(f, q, func() {
			f.Add("advisory t WHERE ")
			advisories.AddMembers(f, b)
		})
		if q.From != nil {
			f.Add(" AND "+name+" "+sign+" ?", q.From.Value)
		}
		f.Add(" ORDER BY "+name+order+" LIMIT ?) d", int64(q.MaxRows()+q.Skip))
	}
	return f.Build(func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		*into = append(*into, name)
		return err
	})
}

// addDocuments begins a select of the names of documents with an advisory from where addFrom
// says. It returns the SQL of the name. Documents with given ids are looked up, with one index
// search each, because they can have many advisories.
func addDocuments(s *table.Statement, q core.Query[*reports.DocumentFilter], addFrom func()) (name string) {
	if ids := q.Filter.IDs(); ids != nil {
		s.Add("SELECT d.name FROM (SELECT p.k AS name FROM ").Add(s.Parents(dbconn.ParentColumn{Name: "k", Texts: ids}))
		s.Add(" WHERE EXISTS (SELECT 1 FROM ")
		addFrom()
		addDocumentFilter(s, q)
		s.Add(" AND t.artifact_name = p.k)")
		return "p.k"
	}
	s.Add("SELECT d.name FROM (SELECT DISTINCT t.artifact_name AS name FROM ")
	artifacts := q.Filter.Artifacts()
	if len(artifacts) > 0 {
		s.Add("(SELECT p.name, p.rule FROM ").Add(s.Parents(artifactColumns(artifacts)...)).Add(") a CROSS JOIN ")
	}
	addFrom()
	if len(artifacts) > 0 {
		s.Add(" AND t.normal_name = a.name AND (a.rule = '' OR t.name_rule = a.rule)")
	}
	addDocumentFilter(s, q)
	return "t.artifact_name"
}

func addDocumentFilter(s *table.Statement, q core.Query[*reports.DocumentFilter]) {
	s.Add(" AND t.count_class > 0")
	if names := q.Filter.CVEs; len(names) > 0 {
		addNamed(s, names)
		addLatest(s, q.Scope)
	}
}

// artifactColumns returns the columns of a table of keys of artifacts.
func artifactColumns(keys []ecosystem.NameKey) []dbconn.ParentColumn {
	names, rules := dbconn.ParentColumn{Name: "name"}, dbconn.ParentColumn{Name: "rule"}
	for _, k := range keys {
		names.Texts, rules.Texts = append(names.Texts, k.Name), append(rules.Texts, string(k.Rule))
	}
	return []dbconn.ParentColumn{names, rules}
}

// countDocuments counts the documents of a scope.
func (s tables) countDocuments(q core.Query[*reports.DocumentFilter], into *int64) *dbconn.Statement {
	f := table.NewStatement(s.Dialect)
	f.AddSlow("SELECT COUNT(*) FROM (")
	addDocuments(f, q, func() { addVisible(f, "t", q.Scope, len(q.Filter.CVEs) > 0) })
	f.Add(") d) n")
	return f.Build(func(scan func(...any) error) error { return scan(into) })
}

// FindAdvisories finds the advisories of documents, sorted by artifact and advisory id. It
// needs an index search for each artifact and each branch of the scope.
func (queries) FindAdvisories(ctx context.Context, on core.Conn, q inventory.FeedQuery) ([]inventory.FeedPlace, error) {
	s := tablesOf(on)
	f := table.NewStatement(s.Dialect)
	f.Add("SELECT t.artifact_name, t.uid FROM ")
	page := f.Follow()
	parents := page.Parents(parentsOf(q)...)
	if q.Documents != nil {
		page.Add("t.artifact_name = p.name")
	} else {
		page.Add("t.normal_name = p.name AND (p.rule = '' OR t.name_rule = p.rule)")
	}
	page.Add(" AND t.count_class > 0")
	if !isEverything(q.Scope) {
		page.Add(" AND t.root_key = p.k AND t.rest >= p.inside AND t.rest < p.past")
	}
	addNamed(page, q.Names)
	addLatest(page, q.Scope)
	if q.Fixed {
		addHasWord(page, "event_types", []inventory.EventType{inventory.EventTypeFixed})
	}
	page.Add(" ORDER BY t.advisory_id LIMIT ?", int64(q.Limit+1))
	f.AddPerParent(parents, "advisory", "t.artifact_name, t.advisory_id, t.uid", page)
	direction := ""
	if q.Desc {
		direction = " DESC"
	}
	f.Add(" ORDER BY t.artifact_name"+direction+", t.advisory_id LIMIT ?", int64(q.Limit+1))
	var found []inventory.FeedPlace
	err := s.Reads.Run(ctx, f.Build(func(scan func(...any) error) error {
		var p inventory.FeedPlace
		err := scan(&p.Artifact, table.UIDOf(&p.UID))
		found = append(found, p)
		return err
	}))
	if err == nil && len(found) > q.Limit {
		err = core.ErrTooMany
	}
	return found, err
}

// parentsOf returns the columns of a table of each document or artifact in each branch.
func parentsOf(q inventory.FeedQuery) []dbconn.ParentColumn {
	of := artifactColumns(q.Artifacts)
	if q.Documents != nil {
		of = []dbconn.ParentColumn{{Name: "name", Texts: q.Documents}}
	}
	columns := make([]dbconn.ParentColumn, len(of))
	keys, lows, pasts := dbconn.ParentColumn{Name: "k"}, dbconn.ParentColumn{Name: "inside"}, dbconn.ParentColumn{Name: "past"}
	for _, b := range q.Scope.Branches {
		for i, c := range of {
			columns[i].Name, columns[i].Texts = c.Name, append(columns[i].Texts, c.Texts...)
		}
		for range of[0].Len() {
			keys.Bytes, lows.Bytes, pasts.Bytes = append(keys.Bytes, table.ScopeKey(b.UID.Root())), append(lows.Bytes, table.RestOf(b.UID)), append(pasts.Bytes, table.PastRest(b.UID))
		}
	}
	return append(columns, keys, lows, pasts)
}

func isEverything(scope core.Scope) bool {
	return slices.ContainsFunc(scope.Branches, func(b core.Branch) bool { return b.Relation == core.Everything })
}

// addNamed adds the condition that an advisory has one of names as its id, an alias or an
// upstream id.
func addNamed(s *table.Statement, names []string) {
	if len(names) > 0 {
		s.Add(" AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias ?", table.Values(names))
		s.Add(" UNION SELECT n.uid FROM advisory n WHERE n.advisory_id ?)", table.Values(names))
	}
}

// addLatest adds the condition that no other advisory of the scope with the same id and
// artifact has changed later.
func addLatest(s *table.Statement, scope core.Scope) {
	s.Add(" AND NOT EXISTS (SELECT 1 FROM ")
	addVisible(s, "o", scope, false)
	s.Add(" AND o.artifact_name = t.artifact_name AND o.advisory_id = t.advisory_id AND o.artifact_type = t.artifact_type" +
		" AND o.count_class > 0 AND (o.update_time, o.uid) > (t.update_time, t.uid))")
}

// addVisible adds the advisories of a scope of subtrees, and a condition. The name of the
// table is row. They are found by the keys of the organizations, which begin an index, unless
// they are found by their names: then COALESCE keeps PostgreSQL from reading all advisories of
// an organization to find a few names among them.
func addVisible(s *table.Statement, row string, scope core.Scope, byNames bool) {
	if isEverything(scope) {
		s.Add("advisory " + row + " WHERE 1 = 1")
		return
	}
	var keys, lows, pasts [][]byte
	for _, b := range scope.Branches {
		keys, lows, pasts = append(keys, table.ScopeKey(b.UID.Root())), append(lows, table.RestOf(b.UID)), append(pasts, table.PastRest(b.UID))
	}
	s.Add("(SELECT p.k, p.inside, p.past FROM ")
	s.Add(s.Parents(dbconn.ParentColumn{Name: "k", Bytes: keys}, dbconn.ParentColumn{Name: "inside", Bytes: lows}, dbconn.ParentColumn{Name: "past", Bytes: pasts}))
	key := row + ".root_key"
	if byNames {
		key = fmt.Sprintf("COALESCE(%s, %[1]s)", key)
	}
	s.Add(fmt.Sprintf(") v CROSS JOIN advisory %[1]s WHERE %[2]s = v.k AND %[1]s.rest >= v.inside AND %[1]s.rest < v.past", row, key))
}
