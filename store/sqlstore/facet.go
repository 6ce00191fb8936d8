package sqlstore

import (
	"context"
	"strconv"
	"strings"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// countBy returns the statement that counts the rows of scopes by the values of columns, or none if the scopes are
// empty. It passes over the rows once: what differs between them is grouped, and the function add adds it up. When
// add is called, the destinations hold the values of a group of the i-th scope, which has n rows. joined is SQL that
// joins t with the table of the columns, if a row can have several values, or the same one several times.
func (r *reader[T, F]) countBy(filter F, scopes []platform.Scope, joined string, columns []string, destinations []any, add func(i int, n int64)) []*dbconn.Statement {
	how, grouped := r.accessPath("", filter), strings.Join(columns, ", ")
	parts, rest := r.parts(scopes, how)
	q, counted, counter := newStatement(r.dialect), 0, "COUNT(*)"
	if joined != "" {
		counter = "COUNT(DISTINCT t.uid)"
	}
	count := func(place, parents string, addCondition func(), group string) {
		if counted++; counted > 1 {
			q.addUnion()
		}
		q.addSlow("SELECT " + place + ", " + counter + ", " + grouped + " FROM " + parents + r.name + " t" + joined + " WHERE ")
		addCondition()
		r.where(filter, q)
		q.add(" GROUP BY " + group + grouped)
	}
	for n, p := range parts {
		// CROSS JOIN makes SQLite begin with the parents.
		count(strconv.Itoa(n)+", p.i", q.parents(p.columns()...)+" CROSS JOIN ", func() { p.addParentCondition(q) }, "p.i, ")
	}
	for _, i := range rest {
		for _, b := range scopes[i].Branches() {
			count("-1, "+strconv.Itoa(i), "", func() { r.addBranch(q, b, how, ordering{}, nil) }, "")
		}
	}
	if counted == 0 {
		return nil
	}
	return []*dbconn.Statement{q.build(func(scan func(...any) error) error {
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

// A counting adds up how often the values of facets occur. It has the place of each value in its list.
type counting[V comparable] map[facetValue[V]]int

type facetValue[V comparable] struct {
	of    *[]platform.Facet[V]
	value V
}

// add adds a count to that of a value.
func (c counting[V]) add(of *[]platform.Facet[V], value V, count int64) {
	at, known := c[facetValue[V]{of, value}]
	if !known {
		at = len(*of)
		c[facetValue[V]{of, value}] = at
		*of = append(*of, platform.Facet[V]{Value: value})
	}
	(*of)[at].Count += count
}

// emptyEach returns n values to count in.
func emptyEach[C any](n int) []*C {
	all := make([]*C, n)
	for i := range all {
		all[i] = new(C)
	}
	return all
}

// FacetRoleBindings counts role bindings by role and group.
func (queries) FacetRoleBindings(ctx context.Context, on platform.Conn, filter *platform.RoleBindingFilter, scopes []platform.Scope) ([]*platform.RoleBindingFacets, error) {
	s := tablesOf(on)
	facets := emptyEach[platform.RoleBindingFacets](len(scopes))
	uids := counting[platform.UID]{}
	var role, group platform.UID
	run := roleBindings.reader(s).countBy(filter, scopes, "", []string{"t.role", "t.parent"}, []any{keyOf(&role), keyOf(&group)}, func(i int, n int64) {
		uids.add(&facets[i].Role, role, n)
		uids.add(&facets[i].Group, group, n)
	})
	return facets, s.runAll(ctx, run)
}

// kindOfIdentity is SQL of the kind of an identity t.
var kindOfIdentity = func() string {
	sql := "CASE"
	for _, kind := range []platform.IdentityKind{platform.IdentityKindUser, platform.IdentityKindClaimMatch, platform.IdentityKindStaticKeys} {
		sql += " WHEN " + strings.ReplaceAll(kindConditions[kind], "h.", "t.") + " THEN '" + string(kind) + "'"
	}
	return sql + " ELSE '" + string(platform.IdentityKindNobody) + "' END"
}()

// FacetIdentities counts identities by kind and group.
func (queries) FacetIdentities(ctx context.Context, on platform.Conn, filter *platform.IdentityFilter, scopes []platform.Scope) ([]*platform.IdentityFacets, error) {
	s := tablesOf(on)
	facets := emptyEach[platform.IdentityFacets](len(scopes))
	kinds, groups := counting[platform.IdentityKind]{}, counting[platform.UID]{}
	var kind string
	var group platform.UID
	run := identities.reader(s).countBy(filter, scopes, "", []string{kindOfIdentity, "t.parent"}, []any{&kind, keyOf(&group)}, func(i int, n int64) {
		kinds.add(&facets[i].Kind, platform.IdentityKind(kind), n)
		groups.add(&facets[i].Group, group, n)
	})
	return facets, s.runAll(ctx, run)
}

// FacetTags counts tags by repo, end of life, class and bundle.
func (queries) FacetTags(ctx context.Context, on platform.Conn, filter *platform.TagFilter, scopes []platform.Scope) ([]*platform.TagFacets, error) {
	s := tablesOf(on)
	facets := emptyEach[platform.TagFacets](len(scopes))
	r := tags.reader(s)
	repos, ends, classes, bundles := counting[platform.UID]{}, counting[bool]{}, counting[platform.TagClass]{}, counting[string]{}
	var repo platform.UID
	var deprecated bool
	var class, bundle string
	run := r.countBy(filter, scopes, "", []string{"t.parent", "t.deprecated", "t.class"}, []any{keyOf(&repo), &deprecated, &class}, func(i int, n int64) {
		repos.add(&facets[i].Repo, repo, n)
		ends.add(&facets[i].Deprecated, deprecated, n)
		classes.add(&facets[i].Class, platform.TagClass(class), n)
	})
	run = append(run, r.countBy(filter, scopes, " CROSS JOIN "+s.dialect.Elements("t.bundles"), []string{"e.value"}, []any{&bundle}, func(i int, n int64) {
		bundles.add(&facets[i].Bundle, bundle, n)
	})...)
	return facets, s.runAll(ctx, run)
}

// runAll runs statements, of which there may be none.
func (s tables) runAll(ctx context.Context, run []*dbconn.Statement) error {
	if len(run) == 0 {
		return nil
	}
	return s.reads.Run(ctx, run...)
}
