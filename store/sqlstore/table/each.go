package table

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// ListEach reads a page of each scope. Scopes that are found by the same column
// share one part of the statement. For each parent, the database reads at most one
// page, so the cost does not depend on the number of rows below a parent.
func (r *Reader[T, F]) ListEach(ctx context.Context, q core.Query[F], scopes []core.Scope) ([]core.Rows[T], error) {
	q = r.complete(q)
	found := make([]core.Rows[T], len(scopes))
	filters := r.filters(q.Filter)
	whole := q
	q.Filter = filters[0] // All of them have the same access path.
	how := r.pathOf(q)
	q = whole
	// One scope is read as a list. For a range of UIDs that it does not know, PostgreSQL would
	// expect few rows, and sort all.
	if len(scopes) == 1 && (how.byWords || how.walk) {
		q.Scope = scopes[0]
		one, err := r.List(ctx, q)
		return append(found[:0], one), err
	}
	parts, rest := r.parts(scopes, how)
	var run []*dbconn.Statement
	if len(parts) > 0 && q.Parts.Has(core.PartItems) {
		run = append(run, r.pages(q, parts, found))
	}
	if len(parts) > 0 && q.Parts.Has(core.PartTotal) {
		run = append(run, r.totals(q, parts, found))
	}
	if len(run) > 0 {
		if err := r.Conn.Run(ctx, run...); err != nil {
			return nil, err
		}
	}
	for i := range found {
		slices.SortFunc(found[i].Items, r.compare(q.Order, q.Backward))
		if len(scopes[i].Branches) > 1 || len(filters) > 1 {
			found[i].Items = found[i].Items[min(q.Skip, len(found[i].Items)):]
		}
		found[i].Items, found[i].More = TrimPage(found[i].Items, q.Limit, q.Backward)
	}
	// A scope of single rows shares no column with others. It occurs only for
	// callers who may see only parts of a parent.
	for _, i := range rest {
		q.Scope = scopes[i]
		one, err := r.List(ctx, q)
		if err != nil {
			return nil, err
		}
		found[i] = one
	}
	return found, nil
}

// A part holds the parents whose rows are found by the same conditions.
type part struct {
	partKey
	places             // the scopes of the parents
	uids   []core.UID  // values that column is compared with
	names  []string    // values that column is compared with, if they are not UIDs
	within []core.UID  // counter scopes of the rows
	bases  []core.UID  // bases of the tiebreakers
	narrow []Narrowing // conditions of one form; empty if there is none
}

// places has the scope of each parent, as its index in the list of scopes, and the further scopes of those that several have.
type places struct {
	scopes []int
	also   map[int][]int
}

// add adds the places of other parents.
func (l *places) add(more places) {
	for place, scopes := range more.also {
		l.share(len(l.scopes)+place, scopes...)
	}
	l.scopes = append(l.scopes, more.scopes...)
}

// share gives the parent at a place further scopes.
func (l *places) share(place int, scopes ...int) {
	if l.also == nil {
		l.also = map[int][]int{}
	}
	l.also[place] = append(l.also[place], scopes...)
}

// visit calls with for each scope of the parent at a place.
func (l *places) visit(place int, with func(scope int)) {
	with(l.scopes[place])
	for _, scope := range l.also[place] {
		with(scope)
	}
}

// A sharedBranch identifies a branch of a part that several scopes have, such as the bindings of a group that apply to all
// groups below. It is read once.
type sharedBranch struct {
	part        *part
	uid, within core.UID
	name, x     string
}

// columns returns the columns of the table of parents that the conditions of a
// part use.
func (p *part) columns() []dbconn.ParentColumn {
	var columns []dbconn.ParentColumn
	switch {
	case p.column == "":
	case p.named:
		columns = append(columns, dbconn.ParentColumn{Name: "k", Texts: p.names})
	case p.column == "parent_key":
		columns = append(columns, dbconn.ParentColumn{Name: "k", Bytes: mapAll(p.uids, ParentKey)})
	case p.hasKey:
		columns = append(columns, dbconn.ParentColumn{Name: "k", Bytes: mapAll(p.uids, ScopeKey)})
	default:
		columns = append(columns, dbconn.ParentColumn{Name: "k", Bytes: packAllUIDs(p.uids)})
	}
	if p.prefix != "" {
		columns = append(columns, dbconn.ParentColumn{Name: "rest", Bytes: mapAll(p.uids, RestOf)})
	}
	if p.root && p.tied {
		columns = append(columns, dbconn.ParentColumn{Name: "root", Bytes: mapAll(p.bases, ScopeKey)})
	}
	low, past := PackUID, PastSubtree
	if p.tied {
		low, past = RestOf, PastRest
	}
	if p.root && !p.tied || p.inside || p.exclude {
		columns = append(columns, dbconn.ParentColumn{Name: "inside", Bytes: mapAll(p.within, low)})
	}
	if p.inside {
		columns = append(columns, dbconn.ParentColumn{Name: "past", Bytes: mapAll(p.within, past)})
	}
	return append(columns, p.narrowColumns()...)
}

// narrowColumns returns the columns with which the condition of a part compares.
func (p *part) narrowColumns() []dbconn.ParentColumn {
	if p.narrowed == "" {
		return nil
	}
	values, roots := dbconn.ParentColumn{Name: "x"}, dbconn.ParentColumn{Name: "xroot"}
	for _, n := range p.narrow {
		if n.Bytes == nil {
			values.Texts = append(values.Texts, n.Text)
		} else {
			values.Bytes = append(values.Bytes, n.Bytes)
		}
		if n.Root != nil {
			roots.Bytes = append(roots.Bytes, n.Root)
		}
	}
	if roots.Bytes == nil {
		return []dbconn.ParentColumn{values}
	}
	return []dbconn.ParentColumn{values, roots}
}

// scopeColumns returns the columns by which counters are found.
func (p *part) scopeColumns() []dbconn.ParentColumn {
	scopes := make([]string, len(p.within))
	for i, scope := range p.within {
		scopes[i] = string(scope)
	}
	return []dbconn.ParentColumn{{Name: "inside", Texts: scopes}}
}

// mapAll returns the result of convert for each UID.
func mapAll(uids []core.UID, convert func(core.UID) []byte) [][]byte {
	all := make([][]byte, len(uids))
	for i, u := range uids {
		all[i] = convert(u)
	}
	return all
}

// A partKey holds what the branches of a part have in common.
type partKey struct {
	column                       string
	named                        bool // whether column holds names, not UIDs
	root, inside, below, exclude bool // whether the branchKey has root, inside, strictlyBelow and exclude
	single                       bool // whether each scope has no other branch
	isRare                       bool // whether column finds few rows

	hasKey    bool // whether column holds keys of scopes
	tied      bool // whether the tiebreaker has a base
	tieColumn string
	prefix    string // SQL of what confirms a scope, as in the branchKey
	narrowed  string // SQL of the narrowing of the branchKey
}

// partKey returns the key of the part for scopes that are found like this one.
func (r branchKey) partKey() partKey {
	return partKey{
		column: r.column, named: r.uid == "",
		isRare: r.isRare,
		root:   r.root != "", inside: r.inside != "", below: r.strictlyBelow, exclude: r.exclude != "",
		hasKey: r.hasKey, tied: r.tie.base != "", tieColumn: r.tie.column,
		prefix: r.prefix(), narrowed: r.narrowing.SQL,
	}
}

// parts groups the branches of scopes by the way they are found. rest lists the
// scopes that need separate statements.
func (r *Reader[T, F]) parts(scopes []core.Scope, by accessPath) (parts []*part, rest []int) {
	byShape, read := map[partKey]*part{}, map[sharedBranch]int{}
	last := &part{}
	for i, scope := range scopes {
		branches := scope.Branches
		if slices.ContainsFunc(branches, func(b core.Branch) bool { _, ok := r.branchKey(b, by); return !ok }) {
			rest = append(rest, i)
			continue
		}
		for _, b := range branches {
			how, _ := r.branchKey(b, by)
			if how.isElsewhere() {
				continue
			}
			k := how.partKey()
			k.single = len(branches) == 1
			p := last // mostly all scopes have one shape
			if len(parts) == 0 || p.partKey != k {
				p = byShape[k]
			}
			if p == nil {
				p = &part{partKey: k}
				byShape[k] = p
				parts = append(parts, p)
			}
			last = p
			if !k.single {
				shared := sharedBranch{p, how.uid, core.UID(how.scope(b)), how.name, string(how.narrowing.Root) + how.narrowing.Text + string(how.narrowing.Bytes)}
				if place, again := read[shared]; again {
					p.share(place, i)
					continue
				}
				read[shared] = len(p.scopes)
			}
			p.scopes = append(p.scopes, i)
			p.uids = append(p.uids, how.uid)
			p.names = append(p.names, how.name)
			p.within = append(p.within, core.UID(how.scope(b)))
			p.bases = append(p.bases, how.tie.base)
			p.narrow = append(p.narrow, how.narrowing)
		}
	}
	return parts, rest
}

// organization returns the organization of all scopes of a part, or "" if they are of several, or of none.
func (p *part) organization() core.UID {
	root := p.within[0].Root()
	if p.named || slices.ContainsFunc(p.within, func(u core.UID) bool { return u.Root() != root }) {
		return ""
	}
	return root
}

// tie returns the tiebreaker. Its base is that of the first scope.
func (p *part) tie() tiebreaker { return tiebreaker{p.tieColumn, p.bases[0]} }

// addAfter adds the condition that rows come after a position, whose end of a UID differs
// between scopes.
func (p *part) addAfter(s *Statement, o ordering, after *core.Position) {
	if after == nil || !p.tied {
		o.addAfter(s, after)
		return
	}
	switch sign := operatorAfter(o.desc); {
	case o.byUID():
		s.Add(" AND " + p.tieColumn + " " + sign + " p.after")
	case len(o.then) > 0 || o.tieDesc != o.desc:
		o.addAfterKeys(s, after, p.tieColumn, "p.after")
	default:
		s.Add(" AND ("+o.value+", "+p.tieColumn+") "+sign+" (?, p.after)", after.Value)
	}
}

// addPlace adds the place of a parent among the parents of all parts, counted from 1.
// before is the number of parents in earlier parts.
func (s *Statement) addPlace(before int) {
	s.Add("SELECT p.i")
	if before > 0 {
		s.Add(" + ?", int64(before))
	}
	s.Add(", ")
}

// addParentCondition adds the condition that t belongs to the parent p.
func (p *part) addParentCondition(s *Statement) {
	and := ""
	if p.column != "" {
		s.Add("t." + p.column + " = p.k")
		and = " AND "
	}
	switch {
	case p.root && p.tied:
		s.Add(" AND t.root_key = p.root")
	case p.root:
		s.Add(" AND t.root = substr(p.inside, 1, 20)")
	}
	if p.prefix != "" {
		s.Add(" AND " + Confirm(p.prefix+" = p.rest"))
	}
	if p.inside {
		from := ">="
		if p.below {
			from = ">"
		}
		s.Add(and + hideRange(p.isRare, p.tie().sql()+" "+from+" p.inside AND "+p.tie().sql()+" < p.past"))
	}
	if p.exclude {
		s.Add(" AND t.uid <> p.inside")
	}
	s.Add(s.withElements(p.narrowed))
}

// pages builds a statement that reads the rows of a page for every scope.
func (r *Reader[T, F]) pages(q core.Query[F], parts []*part, found []core.Rows[T]) *dbconn.Statement {
	s, shown := NewStatement(r.Dialect), r.project(q.Without)
	o := r.orderingOf(q)
	var all places
	filters := r.filters(q.Filter)
	for _, p := range parts {
		for _, filter := range filters {
			if len(all.scopes) > 0 {
				s.AddUnion()
			}
			limit, skip := int64(q.MaxRows()), int64(q.Skip)
			if !p.single || len(filters) > 1 {
				limit, skip = limit+skip, 0 // the skip is counted when the branches are merged
			}
			s.addPlace(len(all.scopes))
			s.Add(shown.Selected + " FROM ")
			page := s.Follow()
			page.Organization, page.IsOfMany = p.organization(), true
			columns := p.columns()
			if q.From != nil && p.tied {
				columns = append(columns, dbconn.ParentColumn{Name: "after", Bytes: mapAll(p.bases, func(base core.UID) []byte { return tiebreaker{base: base}.position(q.From.UID) })})
			}
			parents := page.Parents(columns...)
			p.addParentCondition(page)
			r.Where(filter, page)
			o := o.withTie(p.tie())
			o.unindexed = o.unindexed || p.isRare
			p.addAfter(page, o, q.From)
			page.Add(r.orderingAmong(p.column == "parent", o).orderBy()+" LIMIT ? OFFSET ?", limit, skip)
			s.AddPerParent(parents, r.Name, shown.Names, page)
			s.Add(shown.Joins)
			all.add(p.places)
		}
	}
	var place int64
	rows := shown.scanner(&place)
	return s.Build(func(scan func(...any) error) error {
		row, err := rows.scan(scan)
		if err != nil {
			return err
		}
		all.visit(int(place-1), func(at int) {
			if found[at].Items == nil {
				found[at].Items = make([]T, 0, min(q.MaxRows(), maxRowsAtOnce))
			}
			found[at].Items = append(found[at].Items, row)
		})
		return nil
	})
}

// totals builds a statement that counts the rows of every scope, with the counters if
// possible.
func (r *Reader[T, F]) totals(q core.Query[F], parts []*part, found []core.Rows[T]) *dbconn.Statement {
	s := NewStatement(r.Dialect)
	counters := r.counters(q.Filter)
	var all places
	for _, p := range parts {
		sum := r.counterColumn(p.column)
		isCounted := sum != "" && !counters.isEmpty() && p.narrowed == ""
		filters := r.filters(q.Filter)
		if isCounted {
			filters = filters[:1] // The counters are those of the whole filter.
		}
		for _, filter := range filters {
			columns := p.columns()
			if len(all.scopes) > 0 {
				s.AddUnion()
			}
			s.addPlace(len(all.scopes))
			if isCounted {
				columns = p.scopeColumns()
				s.Add(counters.sql(sum, "c.scope = p.inside"))
				if r.LiesInItself && sum == "n" && !p.exclude && !p.below {
					s.Add(" + 1")
				}
			} else {
				s.AddSlow("(SELECT COUNT(*) FROM " + r.Name + " t WHERE ")
				p.addParentCondition(s)
				s.Organization, s.IsOfMany = p.organization(), true
				r.Where(filter, s)
				s.Add(")")
			}
			s.Add(" FROM ").Add(s.Parents(columns...))
			all.add(p.places)
		}
	}
	return s.Build(func(scan func(...any) error) error {
		var place, total int64
		if err := scan(&place, &total); err != nil {
			return err
		}
		all.visit(int(place-1), func(at int) { found[at].Total += total })
		return nil
	})
}
