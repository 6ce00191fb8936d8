package table

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// Searches use a trigram index of the search text of rows (core.SearchText, folded). On
// PostgreSQL it is an index on the organization and the text. On SQLite it is a
// separate table, which triggers update. Without the index of PostgreSQL, the same
// statements read all rows of the table.

// AddWords adds the condition that a text contains all words of a query.
func (s *Statement) AddWords(text, query string) { s.addTexts(text, SearchWords(query)) }

// SearchWords returns the texts that the search texts of the rows which a query finds contain.
func SearchWords(query string) []string { return core.SearchWords(Fold(query)) }

func (s *Statement) addTexts(text string, words []string) {
	for _, word := range words {
		s.AddSlow(" AND "+text+` LIKE ? ESCAPE '\'`, LikePattern(word))
	}
}

// looksFor reports whether a filter searches for words.
func (t *Definition[T, F]) looksFor(f F) bool { return t.SearchQuery != nil && t.SearchQuery(f) != "" }

// addRows adds the table t with the rows that a filter finds by words, or with all
// rows.
func (r *Reader[T, F]) addRows(s *Statement, f F, b core.Branch, how accessPath) {
	if how.isFound {
		r.Finder.AddRows(s, b.UID)
		return
	}
	if r.looksFor(f) {
		texts := SearchWords(r.SearchQuery(f))
		if r.SearchesPhrase {
			texts = []string{r.SearchQuery(f)}
		}
		r.addTrigramMatches(s, texts...)
		return
	}
	s.Add(r.Name + " t")
}

// addTrigramMatches adds the table t with the rows that a trigram index finds by
// texts. They include all rows that contain the texts.
func (t *Definition[T, F]) addTrigramMatches(s *Statement, texts ...string) {
	if s.Dialect.Trigrams {
		// CROSS JOIN makes SQLite start with the index.
		s.Add("(SELECT e.uid FROM search_index x CROSS JOIN search_entry e ON e.id = x.rowid WHERE x.search_index MATCH ?) f CROSS JOIN ", t.Name+" : ("+trigrams(texts)+")")
		s.Add(t.Name + " t ON t.uid = f.uid")
		return
	}
	s.Add(t.Name + " t")
}

// TrigramLength is the number of letters that the index finds.
const TrigramLength = 3

// trigrams returns the index query for rows that contain all trigrams of texts.
func trigrams(texts []string) string {
	var all []string
	for _, text := range texts {
		letters := []rune(text)
		for i := range len(letters) - TrigramLength + 1 {
			all = append(all, `"`+strings.ReplaceAll(string(letters[i:i+TrigramLength]), `"`, `""`)+`"`)
		}
	}
	return strings.Join(all, " AND ")
}

// orderingOf returns the order of the rows of a page. If a filter searches for
// words, or finds few rows by another index, no index must match that order: for a
// rare word, the planner would read such an index to the end of the organization.
func (r *Reader[T, F]) orderingOf(q core.Query[F]) ordering {
	o := r.ordering(q.Order, q.Backward)
	o.unindexed = o.unindexed || q.Order.Field == r.SortedBy || r.looksFor(q.Filter) || r.Finder != nil && r.Finder.IsSorted || r.FindsFewRows != nil && r.FindsFewRows(q.Filter)
	return o
}

// Search finds rows of several kinds, with one statement.
func Search(ctx context.Context, s Source, kinds []Kind, q core.SearchQuery) ([]core.SearchPlace, error) {
	scopes := map[byte]core.Scope{}
	for _, scope := range q.Scopes() {
		scopes[scope.Kind] = scope.Scope
	}
	found := NewStatement(s.Dialect)
	found.Add("SELECT h.kind, h.stage, h.name, h.uid FROM (")
	for _, t := range kinds {
		t.addHits(found, q, scopes)
	}
	found.Add(") h ORDER BY h.stage, h.name, h.kind, h.uid LIMIT ?", int64(q.Limit()))
	var places []core.SearchPlace
	err := s.Reads.Run(ctx, found.Build(func(scan func(...any) error) error {
		var kind, stage int64
		var p core.SearchPlace
		err := scan(&kind, &stage, &p.Name, UIDOf(&p.UID))
		p.Kind, p.Stage = byte(kind), core.SearchStage(stage)
		places = append(places, p)
		return err
	}))
	return places, err
}

// addHits adds a select of the hits of a kind to those of other kinds, if the kind
// is in scopes.
func (t Table[T, F]) addHits(found *Statement, q core.SearchQuery, scopes map[byte]core.Scope) {
	scope, asked := scopes[t.Number]
	if !asked || t.SearchText == "" {
		return
	}
	if len(found.Args) > 0 {
		found.AddUnion()
	}
	start := likeEscapes.Replace(q.Start())
	exact, prefix := start+"\n%", start+"%"
	stage := fmt.Sprintf(`CASE WHEN %[1]s LIKE ? ESCAPE '\' THEN %[2]d WHEN %[1]s LIKE ? ESCAPE '\' THEN %[3]d ELSE %[4]d END`,
		t.SearchText, core.SearchExact, core.SearchPrefix, core.SearchPart)
	found.AddSlow(fmt.Sprintf("SELECT * FROM (SELECT %d AS kind, %s AS stage, t.name AS name, t.uid AS uid FROM ", t.Number, stage), exact, prefix)
	t.addTrigramMatches(found, q.Words()...)
	found.Add(" WHERE ")
	t.addScope(found, scope)
	found.addTexts(t.SearchText, q.Words())
	if after := q.After(); after != nil {
		found.Add(fmt.Sprintf(" AND (%s, t.name, %d, t.uid) > (?, ?, ?, ?)", stage, t.Number), exact, prefix, int64(after.Stage), after.Name, int64(after.Kind), after.UID)
	}
	found.Add(" ORDER BY stage, "+WithoutIndex("t.name")+", t.uid LIMIT ?) u", int64(q.Limit()))
}

// addScope adds the condition that a row is in one of the branches of a scope. It is
// one condition for any number of branches, with the organization in addition if
// there is one.
func (t *Definition[T, F]) addScope(q *Statement, scope core.Scope) {
	var lows, pasts [][]byte
	var roots []core.UID
	isBuiltIn := false
	for _, b := range scope.Branches {
		if b.Relation == core.BuiltIn {
			isBuiltIn = true
			continue
		}
		low := PackUID(b.UID)
		if b.Relation == core.Below && t.LiesInItself {
			low = append(low, 0) // sorts after the UID itself and before everything below it
		}
		lows, pasts = append(lows, low), append(pasts, PastSubtree(b.UID))
		if root := b.UID.Root(); len(roots) == 0 || roots[len(roots)-1] != root {
			roots = append(roots, root)
		}
	}
	if len(roots) == 1 && !isBuiltIn {
		q.Add("t.root = ? AND ", roots[0])
	}
	switch {
	case len(lows) == 0:
		q.Add("t.root = ?", core.UID(""))
	case len(lows) == 1 && !isBuiltIn && bytes.Equal(lows[0], PackUID(roots[0])):
		q.Add("1 = 1")
	case len(lows) == 1 && !isBuiltIn:
		q.Add("t.uid >= ? AND t.uid < ?", lows[0], pasts[0])
	default:
		q.Add("(EXISTS (SELECT 1 FROM ")
		q.Add(q.Parents(dbconn.ParentColumn{Name: "inside", Bytes: lows}, dbconn.ParentColumn{Name: "past", Bytes: pasts}))
		q.Add(" WHERE t.uid >= p.inside AND t.uid < p.past)")
		if isBuiltIn {
			q.Add(" OR t.root = ?", core.UID(""))
		}
		q.Add(")")
	}
}
