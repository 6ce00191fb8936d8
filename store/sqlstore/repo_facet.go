package sqlstore

import (
	"context"
	"strconv"

	"atrium/platform"
)

// FacetRepos counts repos by their parts of the catalogue and their bundles.
func (s tables) FacetRepos(ctx context.Context, filter *platform.RepoFilter, scopes []platform.Scope) ([]*platform.RepoFacets, error) {
	facets := make([]*platform.RepoFacets, len(scopes))
	for i := range facets {
		facets[i] = &platform.RepoFacets{}
	}
	r := newReader(repos, s)
	how := r.accessPath("", filter)
	parts, rest := r.parts(scopes, how)
	q := newStatement(s.dialect)
	counted := 0
	count := func(place string, from func(), group string) {
		for _, of := range []struct{ facet, value, elements string }{{"0", "t.catalog_tier", ""}, {"1", "e.value", " CROSS JOIN " + s.dialect.Elements("t.bundles")}} {
			if counted++; counted > 1 {
				q.addUnion()
			}
			q.addSlow("SELECT " + place + ", " + of.facet + ", " + of.value + ", COUNT(DISTINCT t.uid) FROM ")
			from()
			q.add(of.elements + " WHERE 1 = 1")
			r.where(filter, q)
			q.add(" GROUP BY " + group + of.value)
		}
	}
	for n, p := range parts {
		count(strconv.Itoa(n)+", p.i", func() {
			q.add(q.parents(p.columns()...))
			q.add(" JOIN repo t ON ")
			p.addParentCondition(q)
		}, "p.i, ")
	}
	for _, i := range rest {
		for _, b := range scopes[i].Branches() {
			count("-1, "+strconv.Itoa(i), func() {
				q.add("repo t JOIN (SELECT 1 AS one) o ON ")
				r.addBranch(q, b, how, ordering{}, nil)
			}, "")
		}
	}
	err := s.reads.Run(ctx, q.build(func(scan func(...any) error) error {
		var n, i, facet, count int64
		var value string
		if err := scan(&n, &i, &facet, &value, &count); err != nil {
			return err
		}
		if n >= 0 {
			i = int64(parts[n].scopes[i-1])
		}
		addFacet(facets[i], facet == 1, value, count)
		return nil
	}))
	return facets, err
}

// addFacet adds the count of one branch to those of the other branches.
func addFacet(to *platform.RepoFacets, isBundle bool, value string, count int64) {
	if isBundle {
		to.Bundle = addCount(to.Bundle, value, count)
	} else {
		to.Tier = addCount(to.Tier, platform.CatalogTier(value), count)
	}
}

func addCount[V comparable](to []platform.Facet[V], value V, count int64) []platform.Facet[V] {
	for i := range to {
		if to[i].Value == value {
			to[i].Count += count
			return to
		}
	}
	return append(to, platform.Facet[V]{Value: value, Count: count})
}
