package table

import (
	"context"
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// CountBy returns the statement that counts the rows of scopes by the values of columns, or none if the scopes are
// empty. It passes over the rows once: what differs between them is grouped, and the function add adds it up. When
// add is called, the destinations hold the values of a group of the i-th scope, which has n rows. joined is SQL that
// joins t with the table of the columns, if a row can have several values, or the same one several times.
func (r *Reader[T, F]) CountBy(filter F, scopes []core.Scope, joined string, columns []string, destinations []any, add func(i int, n int64)) []*dbconn.Statement {
	return r.CountIn(NewStatement(r.Dialect), filter, scopes, joined, columns, destinations, add)
}

// CountIn is CountBy with columns that contain placeholders of arguments of q.
func (r *Reader[T, F]) CountIn(q *Statement, filter F, scopes []core.Scope, joined string, columns []string, destinations []any, add func(i int, n int64)) []*dbconn.Statement {
	how, grouped := r.accessPath("", filter), strings.Join(columns, ", ")
	parts, rest := r.parts(scopes, how)
	counted, counter := 0, "COUNT(*)"
	if joined != "" {
		counter = "COUNT(DISTINCT t.uid)"
	}
	count := func(place, parents string, addCondition func(), group string) {
		if counted++; counted > 1 {
			q.AddUnion()
		}
		q.AddSlow("SELECT " + place + ", " + counter + ", " + grouped + " FROM " + parents + r.Name + " t" + joined + " WHERE ")
		addCondition()
		r.Where(filter, q)
		q.Add(" GROUP BY " + group + grouped)
	}
	for n, p := range parts {
		// CROSS JOIN makes SQLite begin with the parents.
		count(strconv.Itoa(n)+", p.i", q.Parents(p.columns()...)+" CROSS JOIN ", func() { p.addParentCondition(q) }, "p.i, ")
	}
	for _, i := range rest {
		for _, b := range scopes[i].Branches {
			count("-1, "+strconv.Itoa(i), "", func() { r.addBranch(q, b, how, ordering{}, nil) }, "")
		}
	}
	if counted == 0 {
		return nil
	}
	return []*dbconn.Statement{q.Build(func(scan func(...any) error) error {
		var part, i, n int64
		err := scan(append([]any{&part, &i, &n}, destinations...)...)
		switch {
		case err != nil:
		case part >= 0:
			parts[part].visit(int(i-1), func(scope int) { add(scope, n) })
		default:
			add(int(i), n)
		}
		return err
	})}
}

// AddMembers adds the table t with the conditions that a row is in a branch, and that the filter finds it.
func (r *Reader[T, F]) AddMembers(s *Statement, filter F, b core.Branch) {
	s.Add(r.Name + " t WHERE ")
	r.addBranch(s, b, r.accessPath("", filter), ordering{}, nil)
	r.Where(filter, s)
}

// A Counting adds up how often the values of facets occur. It has the place of each value in its list.
type Counting[V comparable] map[facetValue[V]]int

type facetValue[V comparable] struct {
	of    *[]core.Facet[V]
	value V
}

// Add adds a count to that of a value.
func (c Counting[V]) Add(of *[]core.Facet[V], value V, count int64) {
	at, known := c[facetValue[V]{of, value}]
	if !known {
		at = len(*of)
		c[facetValue[V]{of, value}] = at
		*of = append(*of, core.Facet[V]{Value: value})
	}
	(*of)[at].Count += count
}

// EmptyEach returns n values to count in.
func EmptyEach[C any](n int) []*C {
	all := make([]*C, n)
	for i := range all {
		all[i] = new(C)
	}
	return all
}

// RunAll runs statements, of which there may be none.
func (s Source) RunAll(ctx context.Context, run []*dbconn.Statement) error {
	if len(run) == 0 {
		return nil
	}
	return s.Reads.Run(ctx, run...)
}
