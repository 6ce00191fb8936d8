package storetest_test

import (
	"context"
	"errors"
	"strings"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// path returns the path of a group, or of a repo in it.
func (b *bigWorld) path(group core.UID, name ...string) string {
	groups, errs := b.p.Groups.GetMany(b.operator(), append(group.Ancestors(), group))
	if err := errors.Join(errs...); err != nil {
		b.t.Fatal(err)
	}
	names := times(len(groups), func(i int) *string { return &groups[i].Name })
	return strings.Join(append(values(names), name...), "/")
}

// addNames adds reads by names.
func (r *readList) addNames() {
	p, deepest := r.p, r.b.deep[len(r.b.deep)-1]
	group, repo := r.b.path(deepest), r.b.path(r.b.repos[7].Parent(), r.b.repoNames[7])
	r.add("a group by its path", pageBuffers, func(ctx context.Context) error {
		_, err := p.Groups.GetByPath(ctx, group)
		return err
	})
	r.add("a repo by its path", pageBuffers, func(ctx context.Context) error {
		_, err := p.Repos.GetByPath(ctx, repo)
		return err
	})
	r.add("children of 50 groups by name", eachBuffers, func(ctx context.Context) error {
		scopes := values(times(50, func(i int) *core.UIDFilter { return &core.UIDFilter{ChildrenOf: r.b.groups[i]} }))
		return checkNotEmpty(p.Groups.ListEach(ctx, core.ListRequest[*iam.GroupFilter]{Filter: &iam.GroupFilter{Name: "group 1"}, PageSize: 1, Parts: core.PartItems}, scopes))
	})
}
