package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
	"atrium/store/sqlstore"
)

// The design of the store sets these limits, in buffers.
const (
	pageBuffers   = 60    // A page has 51 rows, which also need inner pages of the index.
	totalBuffers  = 25    // A counter costs the same at any size.
	eachBuffers   = 1_000 // There are 50 parents with 10 rows each.
	twentyBuffers = 300   // There are 20 branches: the keys of a page are read first, then its rows.
	typeBuffers   = 20    // The log looks up each type in each partition of the test.
)

var errNothing = errors.New("found nothing")

// A readList collects hot reads.
type readList struct {
	b   *bigWorld
	p   *platform.Platform
	s   *sqlstore.Store
	all []*hotRead
}

func (b *bigWorld) hotReads(p *platform.Platform, s *sqlstore.Store) []*hotRead {
	r := &readList{b: b, p: p, s: s}
	r.addPages()
	r.addKinds()
	r.addParts()
	r.addNested()
	r.addProjections()
	r.addBindings()
	r.addFilters()
	r.addNames()
	r.addSearches()
	r.addFeeds()
	r.addSingleReads()
	r.addImports()
	r.addCatalog()
	r.addDeliveries()
	r.addFindings()
	return r.all
}

// readsCounters says why totals grow: their counters, in 16 parts each, lie on more pages.
const readsCounters = "It reads counters that lie on more pages."

// countsRows says why a list of some rows grows: there is no counter for its filter.
const countsRows = "It counts the rows of the filter."

func (r *readList) add(name string, bar int, run func(ctx context.Context) error) *hotRead {
	read := &hotRead{name: name, subject: "owner", maxBuffers: bar, maxTotalBuffers: totalBuffers, run: run}
	r.all = append(r.all, read)
	return read
}

// askList returns a function that calls a list.
func askList[T, F any](list func(context.Context, core.ListRequest[F]) (core.Page[T], error), req core.ListRequest[F]) func(context.Context) error {
	return func(ctx context.Context) error {
		page, err := list(ctx, req)
		if err == nil && len(page.Items) == 0 {
			err = errNothing
		}
		return err
	}
}

// askEach returns a function that reads the children of many parents.
func askEach[T, F any](list func(context.Context, core.ListRequest[F], []core.UIDFilter) ([]core.Page[T], []error), order string, parents []core.UID) func(context.Context) error {
	scopes := make([]core.UIDFilter, len(parents))
	for i, p := range parents {
		scopes[i].ChildrenOf = p
	}
	return func(ctx context.Context) error {
		pages, errs := list(ctx, core.ListRequest[F]{PageSize: 10, OrderBy: order}, scopes)
		return checkNotEmpty(pages, errs)
	}
}

func checkNotEmpty[T any](pages []core.Page[T], errs []error) error {
	found := 0
	for _, page := range pages {
		found += len(page.Items)
	}
	if found == 0 {
		return errors.Join(append(errs, errNothing)...)
	}
	return errors.Join(errs...)
}

func descendantsOf(uid core.UID) core.UIDFilter {
	return core.UIDFilter{DescendantsOf: uid}
}

func childrenOf(uid core.UID) core.UIDFilter { return core.UIDFilter{ChildrenOf: uid} }

// addPages adds first pages and pages in the middle, of scopes on every level and in
// every order that has an index there.
func (r *readList) addPages() {
	owner := r.b.contextOn(r.p, "owner")
	for level, group := range r.b.deep {
		bar := pageBuffers
		if level > 2 {
			bar = pageBuffers * (level - 1) // Rows beside the scope are read too.
		}
		for _, scope := range []core.UIDFilter{descendantsOf(group), childrenOf(group)} {
			in := fmt.Sprintf("repos below level %d", level)
			orders := []string{"name", "name desc", "create_time desc", "uid", "uid desc"}
			if scope.ChildrenOf != "" {
				in, bar = fmt.Sprintf("repos in level %d", level), pageBuffers
			}
			if scope.ChildrenOf != "" || level == 0 {
				orders = append(orders, "update_time", "update_time desc")
			}
			for _, order := range orders {
				req := core.ListRequest[*inventory.RepoFilter]{UIDP: scope, OrderBy: order}
				r.add(in+" by "+order, bar, askList(r.p.Repos.List, req)).inOrder = scope.ChildrenOf != ""
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

// addKinds adds the default order of every kind, and special reads of some kinds.
func (r *readList) addKinds() {
	p, all, busy := r.p, descendantsOf(r.b.root), r.b.busyRepo
	r.add("groups", pageBuffers, askList(p.Groups.List, core.ListRequest[*iam.GroupFilter]{UIDP: all}))
	r.add("groups in the root", pageBuffers, askList(p.Groups.List, core.ListRequest[*iam.GroupFilter]{UIDP: childrenOf(r.b.root)}))
	r.add("identities", pageBuffers, askList(p.Identities.List, core.ListRequest[*iam.IdentityFilter]{UIDP: all}))
	r.add("identities by last_seen_time", pageBuffers, askList(p.Identities.List, core.ListRequest[*iam.IdentityFilter]{UIDP: all, OrderBy: "last_seen_time desc"}))
	r.add("identities in the root by uid", pageBuffers, askList(p.Identities.List, core.ListRequest[*iam.IdentityFilter]{UIDP: childrenOf(r.b.root), OrderBy: "uid"}))
	r.add("roles", pageBuffers, askList(p.Roles.List, core.ListRequest[*iam.RoleFilter]{UIDP: all}))
	r.add("roles with built-in ones", twentyBuffers, askList(p.Roles.List, core.ListRequest[*iam.RoleFilter]{})).sorts = true
	r.add("advisories", pageBuffers, askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: all}))
	r.add("advisories in the root", pageBuffers, askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: childrenOf(r.b.root)}))
	critical := &inventory.AdvisoryFilter{Severities: []core.SeverityRating{core.SeverityCritical, core.SeverityHigh}}
	r.add("advisories, the worst first", pageBuffers, askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: all, OrderBy: "severity desc"}))
	bad := r.add("bad advisories, the worst first", pageBuffers, askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: all, OrderBy: "severity desc", Filter: critical}))
	bad.maxTotalBuffers, bad.grows = 2*totalBuffers, readsCounters
	open := &inventory.AdvisoryFilter{States: []inventory.AdvisoryState{inventory.AdvisoryOpen}}
	r.add("open advisories, the worst first", pageBuffers, askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: all, OrderBy: "severity desc", Filter: open})).maxTotalBuffers = 6 * totalBuffers
	openAndBad := &inventory.AdvisoryFilter{States: open.States, Severities: critical.Severities}
	r.add("open bad advisories, the worst first", pageBuffers, askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: all, OrderBy: "severity desc", Filter: openAndBad})).maxTotalBuffers = 2 * totalBuffers
	ofArtifact := &inventory.AdvisoryFilter{ArtifactNames: r.b.artifacts[:1]}
	r.add("advisories of an artifact by advisory_id", pageBuffers, askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: all, OrderBy: "advisory_id", Filter: ofArtifact})).inOrder = true
	r.add("advisories by advisory_id", pageBuffers, askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: all, OrderBy: "advisory_id desc"}))
	r.add("vulnerabilities", pageBuffers, askList(p.Vulnerabilities.List, core.ListRequest[*inventory.VulnerabilityFilter]{}))
	r.add("subscriptions", pageBuffers, askList(p.Subscriptions.List, core.ListRequest[*webhooks.SubscriptionFilter]{UIDP: all}))
	yes, no := true, false
	deprecated, others := &inventory.TagFilter{Deprecated: &yes}, &inventory.TagFilter{Deprecated: &no}
	r.add("deprecated tags, the latest first", pageBuffers, askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: all, OrderBy: "update_time desc", Filter: deprecated}))
	r.add("deprecated tags of the busy repo", pageBuffers, askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(busy), OrderBy: "update_time desc", Filter: deprecated}))
	r.add("tags that are not deprecated, the latest first", pageBuffers, askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: all, OrderBy: "update_time desc", Filter: others})).maxTotalBuffers = 2 * totalBuffers
	r.add("tags of the busy repo that are not deprecated", pageBuffers, askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(busy), OrderBy: "update_time desc", Filter: others}))
	for _, order := range []string{"name", "create_time desc", "update_time desc", "uid"} {
		r.add("tags of the busy repo by "+order, pageBuffers, askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(busy), OrderBy: order}))
		r.add("tags below the root by "+order, pageBuffers, askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: all, OrderBy: order}))
		if order != "update_time desc" {
			r.add("tags below the busy repo by "+order, pageBuffers, askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: descendantsOf(busy), OrderBy: order}))
		}
	}
}

// addFindings adds the orders of the findings of an organization that have an index, and searches.
func (r *readList) addFindings() {
	type request = core.ListRequest[*inventory.FindingFilter]
	all := descendantsOf(r.b.root)
	for _, order := range []string{"severity desc", "first_seen_time desc", "epss desc", "due_time", "package"} {
		r.add("findings by "+order, pageBuffers, askList(r.p.Findings.List, request{UIDP: all, OrderBy: order})).maxTotalBuffers = 4 * totalBuffers // There is a counter for each class of four states, in a page of its own at worst.
	}
	named := &inventory.FindingFilter{VulnerabilityIDs: []string{"none"}}
	r.add("findings of a vulnerability that nothing has", pageBuffers, func(ctx context.Context) error {
		_, err := r.p.Findings.List(ctx, request{UIDP: all, Filter: named})
		return err
	}).sorts = true
	ofRepo := r.add("packages of a repo", 4*pageBuffers, func(ctx context.Context) error {
		page, err := r.p.Packages.ListHeld(ctx, r.b.busyRepo, core.ListRequest[*inventory.PackageFilter]{})
		if err == nil && len(page.Items) == 0 {
			err = errNothing
		}
		return err
	})
	ofRepo.maxTotalBuffers, ofRepo.sorts = 8*totalBuffers, true
	some, err := r.p.Findings.List(core.WithActor(r.b.t.Context(), core.NewOperator("test")), request{UIDP: all, PageSize: 50})
	if err != nil || len(some.Items) == 0 {
		r.b.t.Fatal(err, errNothing)
	}
	r.add("advisories of 50 findings", eachBuffers, func(ctx context.Context) error {
		_, err := r.p.Findings.ListAdvisories(ctx, some.Items)
		return err
	}).sorts = true
	for _, word := range []string{"rare", "cve"} {
		found := r.add("findings with the word "+word, eachBuffers, askList(r.p.Findings.List, request{UIDP: all, Filter: &inventory.FindingFilter{Query: word}}))
		found.maxTotalBuffers, found.sorts, found.grows = 8*eachBuffers, true, "It reads the pairs of a vulnerability and a package in an index, and counts what fits."
	}
}

// addParts adds lists of callers who see parts of the organization, and pages after a
// skip.
func (r *readList) addParts() {
	type request = core.ListRequest[*inventory.RepoFilter]
	for _, order := range []string{"name", "create_time desc", "uid"} {
		twenty := r.add("repos in twenty scopes by "+order, twentyBuffers, askList(r.p.Repos.List, request{OrderBy: order}))
		twenty.subject, twenty.maxTotalBuffers, twenty.sorts = "twenty", 20*totalBuffers, true
		many := r.add("repos in 79 scopes by "+order, 4*twentyBuffers, askList(r.p.Repos.List, request{OrderBy: order}))
		many.subject, many.maxTotalBuffers, many.sorts = "many", 79*totalBuffers, true
		r.add("repos in a deep scope by "+order, 2*pageBuffers, askList(r.p.Repos.List, request{OrderBy: order})).subject = "deep"
	}
	n := len(r.b.repos)
	for _, skip := range []int{900, n / 20, n / 2, n - n/20} {
		skipped := r.add(fmt.Sprintf("repos behind a skip of %d", skip), 4*pageBuffers+n/80, askList(r.p.Repos.List, request{UIDP: descendantsOf(r.b.root), Skip: skip}))
		skipped.sorts, skipped.grows = true, "It passes the skipped rows."
	}
	r.add("an empty page far past the end", 0, func(ctx context.Context) error {
		_, err := r.p.Repos.List(ctx, request{UIDP: descendantsOf(r.b.root), Skip: 1 << 30})
		return err
	})
}

// addNested adds pages of many parents at once, large and small.
func (r *readList) addNested() {
	p, groups, repos := r.p, r.b.groups[:50], append(slices.Clone(r.b.repos[1:50]), r.b.busyRepo)
	for _, order := range []string{"name", "create_time desc", "update_time", "uid"} {
		for _, n := range []*hotRead{
			r.add("repos of 50 groups by "+order, eachBuffers, askEach(p.Repos.ListEach, order, groups)),
			r.add("tags of 50 repos by "+order, eachBuffers, askEach(p.Tags.ListEach, order, repos)),
			r.add("groups of 50 groups by "+order, eachBuffers, askEach(p.Groups.ListEach, order, groups)),
			r.add("identities of 50 groups by "+order, eachBuffers, askEach(p.Identities.ListEach, order, groups)),
		} {
			n.maxTotalBuffers, n.inOrder = 50*totalBuffers, order == "name"
		}
	}
}
