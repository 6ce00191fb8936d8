package sqlstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// Searches use a trigram index of the search text of rows (platform.SearchText, folded). On
// PostgreSQL it is an index on the organisation and the text. On SQLite it is a
// separate table, which triggers update. Without the index of PostgreSQL, the same
// statements read all rows of the table.

// addWords adds the condition that a text contains all words of a query.
func (s *statement) addWords(text, query string) { s.addTexts(text, searchWords(query)) }

// searchWords returns the texts that the search texts of the rows which a query finds contain.
func searchWords(query string) []string { return platform.SearchWords(foldText(query)) }

func (s *statement) addTexts(text string, words []string) {
	for _, word := range words {
		s.addSlow(" AND "+text+` LIKE ? ESCAPE '\'`, likePattern(word))
	}
}

// looksFor reports whether a filter searches for words.
func (t *table[T, F]) looksFor(f F) bool { return t.searchFor != nil && t.searchFor(f) != "" }

// addRows adds the table t with the rows that a filter finds by words, or with all
// rows.
func (r *reader[T, F]) addRows(s *statement, f F, b platform.Branch, how accessPath) {
	if how.isFound {
		r.finder.addRows(s, b.UID)
		return
	}
	if r.looksFor(f) {
		texts := searchWords(r.searchFor(f))
		if r.searchPhrase {
			texts = []string{r.searchFor(f)}
		}
		r.addTrigramMatches(s, texts...)
		return
	}
	s.add(r.name + " t")
}

// addTrigramMatches adds the table t with the rows that a trigram index finds by
// texts. They include all rows that contain the texts.
func (t *table[T, F]) addTrigramMatches(s *statement, texts ...string) {
	if s.dialect.Trigrams {
		// CROSS JOIN makes SQLite start with the index.
		s.add("(SELECT e.uid FROM search_index x CROSS JOIN search_entry e ON e.id = x.rowid WHERE x.search_index MATCH ?) f CROSS JOIN ", t.name+" : ("+trigrams(texts)+")")
		s.add(t.name + " t ON t.uid = f.uid")
		return
	}
	s.add(t.name + " t")
}

// trigramLength is the number of letters that the index finds.
const trigramLength = 3

// trigrams returns the index query for rows that contain all trigrams of texts.
func trigrams(texts []string) string {
	var all []string
	for _, text := range texts {
		letters := []rune(text)
		for i := range len(letters) - trigramLength + 1 {
			all = append(all, `"`+strings.ReplaceAll(string(letters[i:i+trigramLength]), `"`, `""`)+`"`)
		}
	}
	return strings.Join(all, " AND ")
}

// orderingOf returns the order of the rows of a page. If a filter searches for
// words, or finds few rows by another index, no index must match that order: for a
// rare word, the planner would read such an index to the end of the organisation.
func (r *reader[T, F]) orderingOf(q platform.Query[F]) ordering {
	o := r.ordering(q.Order, q.Backward)
	o.unindexed = q.Order.Field == r.sortedBy || r.looksFor(q.Filter) || r.finder != nil && r.finder.isSorted || r.findsFew != nil && r.findsFew(q.Filter)
	return o
}

// search finds rows of several kinds, with one statement.
func search(ctx context.Context, s source, kinds []kindTable, q platform.SearchQuery) ([]platform.SearchPlace, error) {
	scopes := map[byte]platform.Scope{}
	for _, scope := range q.Scopes() {
		scopes[scope.Kind] = scope.Scope
	}
	found := newStatement(s.dialect)
	found.add("SELECT h.kind, h.stage, h.name, h.uid FROM (")
	for _, t := range kinds {
		t.addHits(found, q, scopes)
	}
	found.add(") h ORDER BY h.stage, h.name, h.kind, h.uid LIMIT ?", int64(q.Limit()))
	var places []platform.SearchPlace
	err := s.reads.Run(ctx, found.build(func(scan func(...any) error) error {
		var kind, stage int64
		var p platform.SearchPlace
		err := scan(&kind, &stage, &p.Name, keyOf(&p.UID))
		p.Kind, p.Stage = byte(kind), platform.SearchStage(stage)
		places = append(places, p)
		return err
	}))
	return places, err
}

// addHits adds a select of the hits of a kind to those of other kinds, if the kind
// is in scopes.
func (t storedKind[T, F]) addHits(found *statement, q platform.SearchQuery, scopes map[byte]platform.Scope) {
	scope, asked := scopes[t.number]
	if !asked || t.searchText == "" {
		return
	}
	if len(found.args) > 0 {
		found.addUnion()
	}
	start := likeEscapes.Replace(q.Start())
	exact, prefix := start+"\n%", start+"%"
	stage := fmt.Sprintf(`CASE WHEN %[1]s LIKE ? ESCAPE '\' THEN %[2]d WHEN %[1]s LIKE ? ESCAPE '\' THEN %[3]d ELSE %[4]d END`,
		t.searchText, platform.SearchExact, platform.SearchPrefix, platform.SearchPart)
	found.addSlow(fmt.Sprintf("SELECT * FROM (SELECT %d AS kind, %s AS stage, t.name AS name, t.uid AS uid FROM ", t.number, stage), exact, prefix)
	t.addTrigramMatches(found, q.Words()...)
	found.add(" WHERE ")
	t.addScope(found, scope)
	found.addTexts(t.searchText, q.Words())
	if after := q.After(); after != nil {
		found.add(fmt.Sprintf(" AND (%s, t.name, %d, t.uid) > (?, ?, ?, ?)", stage, t.number), exact, prefix, int64(after.Stage), after.Name, int64(after.Kind), after.UID)
	}
	found.add(" ORDER BY stage, "+withoutIndex("t.name")+", t.uid LIMIT ?) u", int64(q.Limit()))
}

// addScope adds the condition that a row is in one of the branches of a scope. It is
// one condition for any number of branches, with the organisation in addition if
// there is one.
func (t *table[T, F]) addScope(q *statement, scope platform.Scope) {
	var lows, pasts [][]byte
	var roots []platform.UID
	isBuiltIn := false
	for _, b := range scope.Branches() {
		if b.Relation == platform.BuiltIn {
			isBuiltIn = true
			continue
		}
		low := packUID(b.UID)
		if b.Relation == platform.Below && t.selfEnclosed {
			low = append(low, 0) // sorts after the UID itself and before everything below it
		}
		lows, pasts = append(lows, low), append(pasts, pastSubtree(b.UID))
		if root := b.UID.Root(); len(roots) == 0 || roots[len(roots)-1] != root {
			roots = append(roots, root)
		}
	}
	if len(roots) == 1 && !isBuiltIn {
		q.add("t.root = ? AND ", roots[0])
	}
	switch {
	case len(lows) == 0:
		q.add("t.root = ?", platform.UID(""))
	case len(lows) == 1 && !isBuiltIn && bytes.Equal(lows[0], packUID(roots[0])):
		q.add("1 = 1")
	case len(lows) == 1 && !isBuiltIn:
		q.add("t.uid >= ? AND t.uid < ?", lows[0], pasts[0])
	default:
		q.add("(EXISTS (SELECT 1 FROM ")
		q.add(q.parents(dbconn.ParentColumn{Name: "inside", Bytes: lows}, dbconn.ParentColumn{Name: "past", Bytes: pasts}))
		q.add(" WHERE t.uid >= p.inside AND t.uid < p.past)")
		if isBuiltIn {
			q.add(" OR t.root = ?", platform.UID(""))
		}
		q.add(")")
	}
}
