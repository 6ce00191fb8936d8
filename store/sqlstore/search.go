package sqlstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"atrium/platform"
)

// Words are looked for in the search text of a row (platform.SearchText), by an
// index of its trigrams: on PostgreSQL one on the text, behind the organisation,
// and on SQLite a table of its own, which triggers keep. Without the index of
// PostgreSQL the same statements read the rows of the organisation.

// lookFor adds the condition that a text holds all words of a query.
func (s *statement) lookFor(text, query string) { s.holds(text, platform.SearchWords(query)) }

func (s *statement) holds(text string, words []string) {
	for _, word := range words {
		s.add(" AND "+text+` LIKE ? ESCAPE '\'`, containing(word))
	}
}

// looksFor reports whether a filter looks for words.
func (t *table[T, F]) looksFor(f F) bool { return t.searchFor != nil && t.searchFor(f) != "" }

// addRows adds the rows that a filter finds by their words, or all of them, as t.
func (r reader[T, F]) addRows(s *statement, f F) {
	if r.looksFor(f) {
		r.holding(s, platform.SearchWords(r.searchFor(f))...)
		return
	}
	s.add(r.name + " t")
}

// holding adds the rows, as t, that an index of trigrams finds by texts. Those
// that hold them are among them.
func (t *table[T, F]) holding(s *statement, texts ...string) {
	if s.dialect.Trigrams {
		// CROSS JOIN has SQLite begin with the index.
		s.add("(SELECT e.uid FROM search_index x CROSS JOIN search_entry e ON e.id = x.rowid WHERE x.search_index MATCH ?) f CROSS JOIN ", t.name+" : ("+trigrams(texts)+")")
		s.add(t.name + " t ON t.uid = f.uid")
		return
	}
	s.add(t.name + " t")
}

// trigrams asks an index for what holds every three letters of texts.
func trigrams(texts []string) string {
	var all []string
	for _, text := range texts {
		letters := []rune(text)
		for i := range len(letters) - 2 {
			all = append(all, `"`+strings.ReplaceAll(string(letters[i:i+3]), `"`, `""`)+`"`)
		}
	}
	return strings.Join(all, " AND ")
}

// inRoot adds the organisation to a branch that a filter looks for words in: the
// index of these begins with it.
func (t *table[T, F]) inRoot(s *statement, f F, b platform.Branch) {
	if b.UID != "" && t.looksFor(f) {
		s.add(" AND t.root = ?", b.UID.Root())
	}
}

// orderingOf is what the rows of a page are sorted by. Where a filter looks for
// words, no index may give that order: a planner would walk it to the end of the
// organisation for a word that is rare.
func (r reader[T, F]) orderingOf(q platform.Query[F]) ordering {
	o := r.ordering(q.Order, q.Backward)
	o.alone = r.looksFor(q.Filter)
	return o
}

// Search finds rows of several kinds, with one statement.
func (s tables) Search(ctx context.Context, q platform.SearchQuery) ([]platform.SearchPlace, error) {
	scopes := map[byte]platform.Scope{}
	for _, scope := range q.Scopes() {
		scopes[scope.Kind] = scope.Scope
	}
	found := s.dialect.statement()
	found.add("SELECT h.kind, h.stage, h.name, h.uid FROM (")
	for _, t := range kinds {
		t.searching(found, q, scopes)
	}
	found.add(") h ORDER BY h.stage, h.name, h.kind, h.uid LIMIT ?", int64(q.Limit()))
	var places []platform.SearchPlace
	err := s.conn.Run(ctx, found.done(func(scan func(...any) error) error {
		var kind, stage int64
		var p platform.SearchPlace
		err := scan(&kind, &stage, &p.Name, keyOf(&p.UID))
		p.Kind, p.Stage = byte(kind), platform.SearchStage(stage)
		places = append(places, p)
		return err
	}))
	return places, err
}

// searching adds a select of what a search finds of a kind, behind those of
// other kinds, where it is among scopes.
func (t *table[T, F]) searching(found *statement, q platform.SearchQuery, scopes map[byte]platform.Scope) {
	scope, asked := scopes[t.number]
	if !asked || t.searchText == "" {
		return
	}
	if len(found.args) > 0 {
		found.add(" UNION ALL ")
	}
	start := likeEscapes.Replace(q.Start())
	exact, prefix := start+"\n%", start+"%"
	stage := fmt.Sprintf(`CASE WHEN %[1]s LIKE ? ESCAPE '\' THEN %[2]d WHEN %[1]s LIKE ? ESCAPE '\' THEN %[3]d ELSE %[4]d END`,
		t.searchText, platform.SearchExact, platform.SearchPrefix, platform.SearchPart)
	found.add(fmt.Sprintf("SELECT * FROM (SELECT %d AS kind, %s AS stage, t.name AS name, t.uid AS uid FROM ", t.number, stage), exact, prefix)
	t.holding(found, q.Words()...)
	found.add(" WHERE ")
	t.inScope(found, scope)
	found.holds(t.searchText, q.Words())
	if after := q.After(); after != nil {
		found.add(fmt.Sprintf(" AND (%s, t.name, %d, t.uid) > (?, ?, ?, ?)", stage, t.number), exact, prefix, int64(after.Stage), after.Name, int64(after.Kind), after.UID)
	}
	found.add(" ORDER BY stage, "+alone("t.name")+", t.uid LIMIT ?) u", int64(q.Limit()))
}

// inScope adds the condition that a row lies in one of the branches of a scope:
// one condition for all of them, however many there are, beside the organisation
// where there is one.
func (t *table[T, F]) inScope(q *statement, scope platform.Scope) {
	var lows, pasts [][]byte
	var roots []platform.UID
	isBuiltIn := false
	for _, b := range scope.Branches() {
		if b.Relation == platform.BuiltIn {
			isBuiltIn = true
			continue
		}
		low := packed(b.UID)
		if b.Relation == platform.Below && t.selfEnclosed {
			low = append(low, 0) // which is behind the UID itself, and before all below it
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
	case len(lows) == 1 && !isBuiltIn && bytes.Equal(lows[0], packed(roots[0])):
		q.add("1 = 1")
	case len(lows) == 1 && !isBuiltIn:
		q.add("t.uid >= ? AND t.uid < ?", lows[0], pasts[0])
	default:
		q.add("(EXISTS (SELECT 1 FROM ")
		q.sql.WriteString(q.dialect.Parents(q.arg, ParentColumn{Name: "inside", Bytes: lows}, ParentColumn{Name: "past", Bytes: pasts}))
		q.add(" WHERE t.uid >= p.inside AND t.uid < p.past)")
		if isBuiltIn {
			q.add(" OR t.root = ?", platform.UID(""))
		}
		q.add(")")
	}
}
