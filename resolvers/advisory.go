package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

func (q queries) Advisory(ctx context.Context, uid platform.UID) (*platform.Advisory, error) {
	return readsOf(ctx).advisories.one(ctx, uid)
}

func (q queries) Advisories(ctx context.Context, descendantsOf, childrenOf *platform.UID, where *scalar.AdvisoryFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.AdvisoryConnection, error) {
	f := or(where)
	return list(ctx, q.p.Advisories.List, within(descendantsOf, childrenOf, f.ByUID), f.AdvisoryFilter, window{orderBy, first, after, last, before, skip})
}

func (q queries) AdvisorySummary(ctx context.Context, within *platform.UID) (*platform.AdvisorySummary, error) {
	return q.p.Advisories.Summarize(ctx, or(within))
}

func (e entities) FindManyAdvisoryByUIDs(ctx context.Context, reps []*graph.AdvisoryByUIDsInput) ([]*platform.Advisory, error) {
	return represented(ctx, &readsOf(ctx).advisories, keysOf(reps, func(r *graph.AdvisoryByUIDsInput) platform.UID { return r.UID }))
}

func (advisories) Group(ctx context.Context, all []*platform.Advisory) ([]*platform.Group, error) {
	return follow(ctx, all, &readsOf(ctx).groups, func(a *platform.Advisory) platform.UID { return a.UID.Parent() })
}

// namesOf are the names under which a vulnerability may be known.
func namesOf(a *platform.Advisory) []string { return append([]string{a.AdvisoryID}, a.Aliases...) }

// Vulnerabilities are found under several names, each is there once.
func (advisories) Vulnerabilities(ctx context.Context, all []*platform.Advisory) ([][]*platform.Vulnerability, error) {
	found, err := followAll(ctx, all, &readsOf(ctx).vulnerabilities, namesOf, unlessMissing)
	for i := range found {
		found[i] = distinct(found[i], func(v *platform.Vulnerability) string { return v.ID })
	}
	return found, err
}

func distinct[T any](objects []*T, name func(*T) string) []*T {
	named := make(map[string]bool, len(objects))
	once := make([]*T, 0, len(objects))
	for _, object := range objects {
		if !named[name(object)] {
			once = append(once, object)
		}
		named[name(object)] = true
	}
	return once
}
