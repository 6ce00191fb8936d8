package sqlstore

import (
	"context"
	"slices"

	"atrium/platform"
)

// ListEach reads a page of each scope. Scopes that are found by the same column
// share one part of the statement. For each parent, the database reads at most one
// page, so the cost does not depend on the number of rows below a parent.
func (r *reader[T, F]) ListEach(ctx context.Context, q platform.Query[F], scopes []platform.Scope) ([]platform.Rows[T], error) {
	q = r.complete(q)
	found := make([]platform.Rows[T], len(scopes))
	if len(scopes) == 1 && r.looksFor(q.Filter) {
		q.Scope = scopes[0]
		one, err := r.List(ctx, q)
		return append(found[:0], one), err
	}
	parts, rest := r.parts(scopes, r.walksPrimaryKey(q))
	var run []*Statement
	if len(parts) > 0 && q.Parts.Has(platform.PartItems) {
		run = append(run, r.pages(q, parts, found))
	}
	if len(parts) > 0 && q.Parts.Has(platform.PartTotal) {
		run = append(run, r.totals(q, parts, found))
	}
	if len(run) > 0 {
		if err := r.conn.Run(ctx, run...); err != nil {
			return nil, err
		}
	}
	for i := range found {
		slices.SortFunc(found[i].Items, r.compare(q.Order, q.Backward))
		if len(scopes[i].Branches()) > 1 {
			found[i].Items = found[i].Items[min(q.Skip, len(found[i].Items)):]
		}
		found[i].Items, found[i].More = trimPage(found[i].Items, q.Limit, q.Backward)
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
	scopes []int          // indices in the list of scopes
	uids   []platform.UID // values that column is compared with
	names  []string       // values that column is compared with, if they are not UIDs
	within []string       // counter scopes of the rows
	around []platform.UID // UIDs that the parents of the rows must enclose
}

// columns returns the columns of the table of parents that the conditions of a
// part use.
func (p *part) columns() []ParentColumn {
	var columns []ParentColumn
	switch {
	case p.column == "":
	case p.named:
		columns = append(columns, ParentColumn{Name: "k", Texts: p.names})
	default:
		columns = append(columns, ParentColumn{Name: "k", Bytes: packAllUIDs(p.uids)})
	}
	if p.root || p.inside || p.but {
		insides, pasts := make([][]byte, len(p.within)), make([][]byte, len(p.within))
		for i, scope := range p.within {
			insides[i], pasts[i] = packUID(platform.UID(scope)), pastSubtree(platform.UID(scope))
		}
		if columns = append(columns, ParentColumn{Name: "inside", Bytes: insides}); p.inside {
			columns = append(columns, ParentColumn{Name: "past", Bytes: pasts})
		}
	}
	if p.isAround {
		columns = append(columns, ParentColumn{Name: "around", Bytes: packAllUIDs(p.around)})
	}
	return columns
}

// scopeColumns returns the columns by which counters are found.
func (p *part) scopeColumns() []ParentColumn {
	return []ParentColumn{{Name: "inside", Texts: p.within}}
}

// A partKey holds what the branches of a part have in common.
type partKey struct {
	column                   string
	named                    bool // whether column holds no UIDs
	root, inside, below, but bool // whether the reach has root, inside, strictlyBelow and exclude
	isAround                 bool // whether the reach has around
	single                   bool // whether each scope has no other branch
}

// parts groups the branches of scopes by the way they are found. rest lists the
// scopes that need separate statements.
func (r *reader[T, F]) parts(scopes []platform.Scope, walk bool) (parts []*part, rest []int) {
	byShape := map[partKey]*part{}
	for i, scope := range scopes {
		branches := scope.Branches()
		if slices.ContainsFunc(branches, func(b platform.Branch) bool { _, ok := r.reach(b, walk); return !ok }) {
			rest = append(rest, i)
			continue
		}
		for _, b := range branches {
			how, _ := r.reach(b, walk)
			k := partKey{how.column, how.uid == "", how.root != "", how.inside != "", how.strictlyBelow, how.exclude != "", how.around != "", len(branches) == 1}
			p := byShape[k]
			if p == nil {
				p = &part{partKey: k}
				byShape[k] = p
				parts = append(parts, p)
			}
			p.scopes = append(p.scopes, i)
			p.uids = append(p.uids, how.uid)
			p.names = append(p.names, how.name)
			p.within = append(p.within, how.scope(b))
			p.around = append(p.around, how.around)
		}
	}
	return parts, rest
}

// addPlace adds the place of a parent among the parents of all parts, counted from 1.
// before is the number of parents in earlier parts.
func (s *statement) addPlace(before int) {
	s.add("SELECT p.i")
	if before > 0 {
		s.add(" + ?", int64(before))
	}
	s.add(", ")
}

// addParentCondition adds the condition that t belongs to the parent p.
func (p *part) addParentCondition(s *statement) {
	and := ""
	if p.column != "" {
		s.add("t." + p.column + " = p.k")
		and = " AND "
	}
	if p.root {
		s.add(" AND t.root = substr(p.inside, 1, 20)")
	}
	if p.inside {
		from := ">="
		if p.below {
			from = ">"
		}
		s.add(and + "t.uid " + from + " p.inside AND t.uid < p.past")
	}
	if p.but {
		s.add(" AND t.uid <> p.inside")
	}
	// The UID of a row begins with that of its parent, so an index that contains the UID
	// suffices for this condition.
	if p.isAround {
		s.add(" AND substr(t.uid, 1, length(t.uid) - 8) = substr(p.around, 1, length(t.uid) - 8)")
	}
}

func (r *reader[T, F]) pages(q platform.Query[F], parts []*part, found []platform.Rows[T]) *Statement {
	s, shown := r.dialect.statement(), r.project(q.Without)
	o := r.orderingOf(q)
	var scopes []int // scopes of all parts
	for n, p := range parts {
		if n > 0 {
			s.add(" UNION ALL ")
		}
		limit, skip := int64(q.Limit+1), int64(q.Skip)
		if !p.single {
			limit, skip = limit+skip, 0 // the skip is counted when the branches are merged
		}
		page := r.dialect.statement()
		page.args = s.args
		parents := r.dialect.Parents(page.arg, p.columns()...)
		p.addParentCondition(page)
		r.where(q.Filter, page)
		o.addAfter(page, q.From)
		page.add(r.orderingAmong(p.column == "parent", o).orderBy()+" LIMIT ? OFFSET ?", limit, skip)
		s.args = page.args
		s.addPlace(len(scopes))
		s.add(shown.selected + " FROM ")
		s.sql.WriteString(r.dialect.PerParent(parents, r.name, shown.names, page.sql.String()))
		s.add(shown.joins)
		scopes = append(scopes, p.scopes...)
	}
	var place int64
	rows := shown.scanner(&place)
	return s.build(func(scan func(...any) error) error {
		row, err := rows.scan(scan)
		if err != nil {
			return err
		}
		at := scopes[place-1]
		if found[at].Items == nil {
			found[at].Items = make([]T, 0, min(q.Limit+1, maxRowsAtOnce))
		}
		found[at].Items = append(found[at].Items, row)
		return nil
	})
}

// totals counts the rows of every scope, with the counters if possible.
func (r *reader[T, F]) totals(q platform.Query[F], parts []*part, found []platform.Rows[T]) *Statement {
	s := r.dialect.statement()
	counters := r.counters(q.Filter)
	var scopes []int // scopes of all parts
	for n, p := range parts {
		columns := p.columns()
		if n > 0 {
			s.add(" UNION ALL ")
		}
		s.addPlace(len(scopes))
		if sum := counterColumn(p.column); sum != "" && len(counters) > 0 {
			columns = p.scopeColumns()
			s.add("COALESCE((SELECT CAST(SUM(c." + sum + ") AS BIGINT) FROM counter c WHERE " + counterCondition(counters) + " AND c.scope = p.inside), 0)")
			if r.selfEnclosed && sum == "n" && !p.but && !p.below {
				s.add(" + 1")
			}
		} else {
			s.add("(SELECT COUNT(*) FROM " + r.name + " t WHERE ")
			p.addParentCondition(s)
			r.where(q.Filter, s)
			s.add(")")
		}
		s.add(" FROM ")
		s.sql.WriteString(r.dialect.Parents(s.arg, columns...))
		scopes = append(scopes, p.scopes...)
	}
	return s.build(func(scan func(...any) error) error {
		var place, total int64
		if err := scan(&place, &total); err != nil {
			return err
		}
		found[scopes[place-1]].Total += total
		return nil
	})
}
