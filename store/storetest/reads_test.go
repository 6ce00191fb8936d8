package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/platform"
	"atrium/store/sqlstore"
)

// The bars of the store's design, in buffers.
const (
	barPage   = 60    // 51 rows, and what leads to them
	barTotal  = 25    // a counter at any size
	barEach   = 1_000 // 50 parents with 10 rows each
	barTwenty = 300   // 20 branches: the keys of a page, then its rows
)

var errNothing = errors.New("found nothing")

// A reading collects hot reads.
type reading struct {
	b   *bigWorld
	p   *platform.Platform
	s   *sqlstore.Store
	all []hotRead
}

func (b *bigWorld) hotReads(p *platform.Platform, s *sqlstore.Store) []hotRead {
	r := &reading{b: b, p: p, s: s}
	r.pages()
	r.kinds()
	r.parts()
	r.readNested()
	r.bindings()
	r.filters()
	r.names()
	r.searches()
	r.matches()
	r.feeds()
	r.single()
	r.imports()
	r.catalogue()
	r.outbox()
	return r.all
}

func (r *reading) add(name string, bar int, run func(ctx context.Context) error) *hotRead {
	r.all = append(r.all, hotRead{name: name, as: "owner", bar: bar, total: barTotal, run: run})
	return &r.all[len(r.all)-1]
}

// askList adapts a list.
func askList[T, F any](list func(context.Context, platform.ListRequest[F]) (platform.Page[T], error), req platform.ListRequest[F]) func(context.Context) error {
	return func(ctx context.Context) error {
		page, err := list(ctx, req)
		if err == nil && len(page.Items) == 0 {
			err = errNothing
		}
		return err
	}
}

// askedEach adapts the children of many.
func askedEach[T, F any](list func(context.Context, platform.ListRequest[F], []platform.UIDFilter) ([]platform.Page[T], []error), order string, parents []platform.UID) func(context.Context) error {
	scopes := make([]platform.UIDFilter, len(parents))
	for i, p := range parents {
		scopes[i].ChildrenOf = p
	}
	return func(ctx context.Context) error {
		pages, errs := list(ctx, platform.ListRequest[F]{PageSize: 10, OrderBy: order}, scopes)
		return foundIn(pages, errs)
	}
}

func foundIn[T any](pages []platform.Page[T], errs []error) error {
	found := 0
	for _, page := range pages {
		found += len(page.Items)
	}
	if found == 0 {
		return errors.Join(append(errs, errNothing)...)
	}
	return errors.Join(errs...)
}

func below(uid platform.UID) platform.UIDFilter    { return platform.UIDFilter{DescendantsOf: uid} }
func childrenOf(u platform.UID) platform.UIDFilter { return platform.UIDFilter{ChildrenOf: u} }

// pages are the first ones and ones in the middle, of scopes on every level
// and in every order that has an index there.
func (r *reading) pages() {
	owner := r.b.on(r.p, "owner")
	for level, group := range r.b.deep {
		bar := barPage
		if level > 2 {
			bar = barPage * (level - 1) // what lies beside the scope is read too
		}
		for _, scope := range []platform.UIDFilter{below(group), childrenOf(group)} {
			in := fmt.Sprintf("repos below level %d", level)
			orders := []string{"name", "name desc", "create_time desc", "uid", "uid desc"}
			if scope.ChildrenOf != "" {
				in, bar = fmt.Sprintf("repos in level %d", level), barPage
			}
			if scope.ChildrenOf != "" || level == 0 {
				orders = append(orders, "update_time", "update_time desc")
			}
			for _, order := range orders {
				req := platform.ListRequest[*platform.RepoFilter]{UIDP: scope, OrderBy: order}
				r.add(in+" by "+order, bar, askList(r.p.Repos.List, req))
				page, err := r.p.Repos.List(owner, req)
				if err != nil || page.TotalCount < 200 {
					continue
				}
				middle := req
				middle.PageSize, middle.Skip = 1, int(page.TotalCount)/2
				if page, err = r.p.Repos.List(owner, middle); err == nil {
					req.PageToken = page.Cursor(0)
					r.add(in+" by "+order+", in the middle", bar, askList(r.p.Repos.List, req))
					req.Backward = true
					r.add(in+" by "+order+", in the middle, backward", bar, askList(r.p.Repos.List, req))
				}
			}
		}
	}
}

// kinds are the default orders of every kind, and what is special to some.
func (r *reading) kinds() {
	p, all, busy := r.p, below(r.b.root), r.b.busyRepo
	r.add("groups", barPage, askList(p.Groups.List, platform.ListRequest[*platform.GroupFilter]{UIDP: all}))
	r.add("groups in the root", barPage, askList(p.Groups.List, platform.ListRequest[*platform.GroupFilter]{UIDP: childrenOf(r.b.root)}))
	r.add("identities", barPage, askList(p.Identities.List, platform.ListRequest[*platform.IdentityFilter]{UIDP: all}))
	r.add("identities by last_seen_time", barPage, askList(p.Identities.List, platform.ListRequest[*platform.IdentityFilter]{UIDP: all, OrderBy: "last_seen_time desc"}))
	r.add("identities in the root by uid", barPage, askList(p.Identities.List, platform.ListRequest[*platform.IdentityFilter]{UIDP: childrenOf(r.b.root), OrderBy: "uid"}))
	r.add("roles", barPage, askList(p.Roles.List, platform.ListRequest[*platform.RoleFilter]{UIDP: all}))
	r.add("roles with built-in ones", barTwenty, askList(p.Roles.List, platform.ListRequest[*platform.RoleFilter]{})).sorts = true
	r.add("advisories", barPage, askList(p.Advisories.List, platform.ListRequest[*platform.AdvisoryFilter]{UIDP: all}))
	r.add("advisories in the root", barPage, askList(p.Advisories.List, platform.ListRequest[*platform.AdvisoryFilter]{UIDP: childrenOf(r.b.root)}))
	critical := &platform.AdvisoryFilter{Severities: []platform.SeverityRating{platform.SeverityCritical, platform.SeverityHigh}}
	r.add("advisories, the worst first", barPage, askList(p.Advisories.List, platform.ListRequest[*platform.AdvisoryFilter]{UIDP: all, OrderBy: "severity desc"}))
	r.add("bad advisories, the worst first", barPage, askList(p.Advisories.List, platform.ListRequest[*platform.AdvisoryFilter]{UIDP: all, OrderBy: "severity desc", Filter: critical})).total = 2 * barTotal
	open := &platform.AdvisoryFilter{States: []platform.AdvisoryState{platform.AdvisoryOpen}}
	r.add("open advisories, the worst first", barPage, askList(p.Advisories.List, platform.ListRequest[*platform.AdvisoryFilter]{UIDP: all, OrderBy: "severity desc", Filter: open})).total = 6 * barTotal
	openAndBad := &platform.AdvisoryFilter{States: open.States, Severities: critical.Severities}
	r.add("open bad advisories, the worst first", barPage, askList(p.Advisories.List, platform.ListRequest[*platform.AdvisoryFilter]{UIDP: all, OrderBy: "severity desc", Filter: openAndBad})).total = 2 * barTotal
	r.add("advisories by advisory_id", barPage, askList(p.Advisories.List, platform.ListRequest[*platform.AdvisoryFilter]{UIDP: all, OrderBy: "advisory_id desc"}))
	r.add("vulnerabilities", barPage, askList(p.Vulnerabilities.List, platform.ListRequest[*platform.VulnerabilityFilter]{}))
	r.add("subscriptions", barPage, askList(p.Subscriptions.List, platform.ListRequest[*platform.SubscriptionFilter]{UIDP: all}))
	for _, order := range []string{"name", "create_time desc", "update_time desc", "uid"} {
		r.add("tags of the busy repo by "+order, barPage, askList(p.Tags.List, platform.ListRequest[*platform.TagFilter]{UIDP: childrenOf(busy), OrderBy: order}))
		r.add("tags below the root by "+order, barPage, askList(p.Tags.List, platform.ListRequest[*platform.TagFilter]{UIDP: all, OrderBy: order}))
		if order != "update_time desc" {
			r.add("tags below the busy repo by "+order, barPage, askList(p.Tags.List, platform.ListRequest[*platform.TagFilter]{UIDP: below(busy), OrderBy: order}))
		}
	}
}

// parts are the lists of callers who see parts of the organisation, and pages
// behind a skip.
func (r *reading) parts() {
	type request = platform.ListRequest[*platform.RepoFilter]
	for _, order := range []string{"name", "create_time desc", "uid"} {
		twenty := r.add("repos in twenty scopes by "+order, barTwenty, askList(r.p.Repos.List, request{OrderBy: order}))
		twenty.as, twenty.total, twenty.sorts = "twenty", 20*barTotal, true
		many := r.add("repos in 79 scopes by "+order, 4*barTwenty, askList(r.p.Repos.List, request{OrderBy: order}))
		many.as, many.total, many.sorts = "many", 79*barTotal, true
		r.add("repos in a deep scope by "+order, 2*barPage, askList(r.p.Repos.List, request{OrderBy: order})).as = "deep"
	}
	n := len(r.b.repos)
	for _, skip := range []int{900, n / 20, n / 2, n - n/20} {
		r.add(fmt.Sprintf("repos behind a skip of %d", skip), 4*barPage+n/80, askList(r.p.Repos.List, request{UIDP: below(r.b.root), Skip: skip})).sorts = true
	}
	r.add("an empty page far past the end", 0, func(ctx context.Context) error {
		_, err := r.p.Repos.List(ctx, request{UIDP: below(r.b.root), Skip: 1 << 30})
		return err
	})
}

// readNested are pages of many parents at once, big and small.
func (r *reading) readNested() {
	p, groups, repos := r.p, r.b.groups[:50], append(slices.Clone(r.b.repos[1:50]), r.b.busyRepo)
	for _, order := range []string{"name", "create_time desc", "update_time", "uid"} {
		for _, n := range []*hotRead{
			r.add("repos of 50 groups by "+order, barEach, askedEach(p.Repos.ListEach, order, groups)),
			r.add("tags of 50 repos by "+order, barEach, askedEach(p.Tags.ListEach, order, repos)),
			r.add("groups of 50 groups by "+order, barEach, askedEach(p.Groups.ListEach, order, groups)),
			r.add("identities of 50 groups by "+order, barEach, askedEach(p.Identities.ListEach, order, groups)),
		} {
			n.total = 50 * barTotal
		}
	}
}
