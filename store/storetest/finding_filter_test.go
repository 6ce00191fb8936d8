package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// findingsOf stores findings of all states in repos of all depths, live and not live ones.
func (w *world) findingsOf(d dice, repos []core.UID) (all []*inventory.Finding) {
	w.t.Helper()
	ratings := core.SeverityRatings()
	for i := range 300 {
		repo, chance := pick(d, repos), d.Float64()
		f := &inventory.Finding{
			UID: d.below(repo), Repo: repo, Digest: "sha256:" + d.hex(32), Advisory: d.below(repo.Root()), VulnerabilityID: fmt.Sprintf("CVE-2026-%d", i%7), Package: fmt.Sprintf("package-%d", i%5),
			Ecosystem: pick(d, []string{"npm", "Debian:11", "Debian:12", ""}), Basis: inventory.BasisVersion, Severity: inventory.AdvisorySeverity{Rating: pick(d, ratings)}, EPSS: &chance, KnownExploited: d.IntN(5) == 0,
			State: pick(d, inventory.FindingStates()), IsLive: d.IntN(4) > 0, FirstSeenTime: core.At(epoch.Add(moments[i%len(moments)])), UpdateTime: core.At(epoch),
		}
		f.Representative = f.Advisory
		if d.IntN(2) == 0 {
			f.FixedVersions = []string{"2"}
		}
		if f.State == inventory.FindingResolved {
			f.ResolvedTime = core.At(epoch.Add(moments[i%len(moments)]))
		}
		all = append(all, f)
	}
	w.insert(func(tx core.Tx) error {
		return storetest.Tables.Inventory.ReplaceFindings(w.t.Context(), tx, nil, all)
	})
	return all
}

// findingFilters returns a random filter, some with filters inside, and what it means.
func findingFilters(d dice) (*inventory.FindingFilter, func(*inventory.Finding) bool) {
	f, means := plainFindingFilter(d)
	var either []func(*inventory.Finding) bool
	not, looksAtStates := func(*inventory.Finding) bool { return false }, false
	if d.IntN(3) == 0 {
		for range 1 + d.IntN(3) {
			part, finds := findingPart(d, 2)
			f.Or, either = append(f.Or, part), append(either, finds)
			looksAtStates = looksAtStates || hasStates(part)
		}
	}
	if d.IntN(3) == 0 {
		f.Not, not = findingPart(d, 2)
		looksAtStates = looksAtStates || hasStates(f.Not)
	}
	if looksAtStates && f.States == nil && f.ResolvedSince.IsZero() { // The filters inside say which states are meant.
		all := *f
		all.States = inventory.FindingStates()
		means = meaningOf(&all)
	}
	return f, func(x *inventory.Finding) bool {
		return means(x) && !not(x) && (either == nil || slices.ContainsFunc(either, func(finds func(*inventory.Finding) bool) bool { return finds(x) }))
	}
}

func hasStates(f *inventory.FindingFilter) bool {
	return f != nil && (f.States != nil || hasStates(f.Not))
}

// findingPart returns a filter that can be inside another one, and has others inside down to a depth.
func findingPart(d dice, depth int) (*inventory.FindingFilter, func(*inventory.Finding) bool) {
	switch d.IntN(7 + min(depth, 1)) {
	case 0:
		return &inventory.FindingFilter{Packages: []string{"package-1", "package-2"}, KnownExploited: new(false)}, func(x *inventory.Finding) bool {
			return (x.Package == "package-1" || x.Package == "package-2") && !x.KnownExploited
		}
	case 1:
		return &inventory.FindingFilter{States: []inventory.FindingState{inventory.FindingResolved, inventory.FindingAccepted}}, func(x *inventory.Finding) bool {
			return x.State == inventory.FindingResolved || x.State == inventory.FindingAccepted
		}
	case 2:
		return &inventory.FindingFilter{Severities: []core.SeverityRating{core.SeverityCritical, core.SeverityLow}, Query: "package-3"}, func(x *inventory.Finding) bool {
			return (x.Severity.Rating == core.SeverityCritical || x.Severity.Rating == core.SeverityLow) && x.Package == "package-3"
		}
	case 3:
		nobody := core.UID(strings.Repeat("ab", 20) + "/00000000000000ab")
		return &inventory.FindingFilter{Assignee: nobody}, func(*inventory.Finding) bool { return false }
	case 4:
		return &inventory.FindingFilter{Severities: []core.SeverityRating{}}, func(*inventory.Finding) bool { return false }
	case 5:
		return &inventory.FindingFilter{Assigned: new(false), Fixable: new(true)}, func(x *inventory.Finding) bool { return x.Assignee == "" && x.IsFixable() }
	case 6:
		return &inventory.FindingFilter{HasDueTime: new(true)}, func(x *inventory.Finding) bool { return !x.DueTime.IsZero() }
	default:
		inside, finds := findingPart(d, depth-1)
		return &inventory.FindingFilter{Not: inside, Fixable: new(true)}, func(x *inventory.Finding) bool { return x.IsFixable() && !finds(x) }
	}
}

// plainFindingFilter returns a random filter without others inside, and what it means.
func plainFindingFilter(d dice) (*inventory.FindingFilter, func(*inventory.Finding) bool) {
	states := slices.DeleteFunc(inventory.FindingStates(), func(inventory.FindingState) bool { return d.IntN(2) == 0 })
	if len(states) == 0 {
		states = nil
	}
	f := &inventory.FindingFilter{States: states, WithoutLiveTags: d.IntN(4) == 0}
	yes, since := d.IntN(2) == 0, core.At(epoch.Add(moments[2]))
	switch d.IntN(7) {
	case 0:
		f.Fixable = &yes
	case 1:
		f.KnownExploited = &yes
	case 2:
		f.Severities = []core.SeverityRating{core.SeverityHigh, core.SeverityLow}
	case 3:
		f.ResolvedSince = since
	case 4:
		f.Query = "package-1"
	case 5:
		f.Ecosystems = []string{"Debian"}
	}
	return f, meaningOf(f)
}

// meaningOf says what a filter without others inside means.
func meaningOf(f *inventory.FindingFilter) func(x *inventory.Finding) bool {
	states, since := f.States, f.ResolvedSince
	return func(x *inventory.Finding) bool {
		isOfState := slices.Contains(states, x.State)
		if states == nil {
			isOfState = (x.State == inventory.FindingResolved) == !f.ResolvedSince.IsZero()
		}
		return isOfState && (x.IsLive || f.WithoutLiveTags) && (f.Fixable == nil || x.IsFixable() == *f.Fixable) && (f.KnownExploited == nil || x.KnownExploited == *f.KnownExploited) &&
			(f.Severities == nil || slices.Contains(f.Severities, x.Severity.Rating)) && (f.ResolvedSince.IsZero() || !x.ResolvedTime.Before(since.Time)) &&
			(f.Query == "" || x.Package == f.Query) && (f.Ecosystems == nil || strings.HasPrefix(x.Ecosystem, "Debian:"))
	}
}

func TestFiltersOfFindingsMeanTheSameInEveryScope(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d := newDice(5)
		ctx, org := w.createOrganization("acme")
		groups := []core.UID{org.Group.UID}
		repos := []core.UID{w.repo(ctx, groups[0], "r")}
		for i := range 6 {
			g := w.group(ctx, groups[i-i%2], fmt.Sprintf("g%d", i))
			groups, repos = append(groups, g), append(repos, w.repo(ctx, g, "r"))
		}
		all := w.findingsOf(d, repos)
		w.checkCounters(t, 0)
		scopes := []core.UIDFilter{}
		for _, g := range groups {
			scopes = append(scopes, descendantsOf(g))
		}
		for _, r := range repos {
			scopes = append(scopes, childrenOf(r))
		}
		for range 150 {
			filter, means := findingFilters(d)
			req := core.ListRequest[*inventory.FindingFilter]{
				Filter: filter, OrderBy: pick(d, []string{"", "severity", "first_seen_time desc", "first_seen_time", "package", "uid"}), PageSize: 1 + d.IntN(40), Skip: d.IntN(2) * d.IntN(6), Backward: d.IntN(3) == 0,
				Parts: core.PartItems | core.PartMore | core.PartTotal,
			}
			pages, errs := w.p.Findings.ListEach(ctx, req, scopes)
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for i, scope := range scopes {
				asked := fmt.Sprintf("%+v %+v in %+v", req, *filter, scope)
				var want []string
				for _, x := range all {
					if means(x) && (scope.ChildrenOf == x.Repo || scope.DescendantsOf != "" && x.UID.Within(scope.DescendantsOf)) {
						want = append(want, string(x.UID))
					}
				}
				one := req
				one.UIDP = scope
				seen, first := w.walkFindings(t, ctx, one)
				slices.Sort(want)
				if first.TotalCount != int64(len(want)) || req.Skip == 0 && !req.Backward && !slices.Equal(seen, want) {
					t.Fatalf("%s: %d of %d findings, want %d", asked, len(seen), first.TotalCount, len(want))
				}
				if pages[i].TotalCount != first.TotalCount || findingUIDs(pages[i].Items) != findingUIDs(first.Items) || pages[i].HasNext != first.HasNext {
					t.Fatalf("%s: read with other scopes, there are %d of %d, want %d of %d as in the list", asked, len(pages[i].Items), pages[i].TotalCount, len(first.Items), first.TotalCount)
				}
			}
		}
	})
}

// walkFindings returns the UIDs on all pages of a list that is read forward, sorted, and the first page.
func (w *world) walkFindings(t *testing.T, ctx context.Context, req core.ListRequest[*inventory.FindingFilter]) (seen []string, first core.Page[*inventory.Finding]) {
	t.Helper()
	for n := 0; ; n++ {
		page, err := w.p.Findings.List(ctx, req)
		if err != nil {
			t.Fatalf("%+v: %v", req, err)
		}
		if n == 0 {
			first = page
		}
		for _, f := range page.Items {
			seen = append(seen, string(f.UID))
		}
		token := page.NextPageToken()
		if token == "" || req.Backward {
			break
		}
		req.PageToken, req.Skip = token, 0
	}
	slices.Sort(seen)
	return seen, first
}

func findingUIDs(all []*inventory.Finding) string {
	var uids []string
	for _, f := range all {
		uids = append(uids, string(f.UID))
	}
	return strings.Join(uids, " ")
}

// The findings of a vulnerability are fewer than those of the images of all tags. Here each tag would look for its own.
func TestTheTagsOfAVulnerabilityAreFoundByItsFindings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.SQLite(t))
	ctx, _ := w.createOrganization("acme")
	p, looked := w.replica(w.newSpy()), 0
	statements, err := recordStatements(ctx, func(ctx context.Context) error {
		filter := &inventory.TagFilter{ImageConditions: inventory.ImageConditions{VulnerabilityIDs: []string{"CVE-1"}}}
		_, err := p.Tags.List(ctx, core.ListRequest[*inventory.TagFilter]{Filter: filter, Parts: core.PartItems | core.PartTotal})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if !strings.Contains(s.SQL, "FROM finding") {
			continue
		}
		looked++
		steps := strings.Join(w.explainQueryPlan(t, s), "\n  ")
		if strings.Contains(steps, "CORRELATED") || !strings.Contains(steps, "SEARCH f USING INDEX finding_representative (representative=?") {
			t.Errorf("each tag looks for findings:\n%s\n  %s", s.SQL, steps)
		}
	}
	if looked == 0 {
		t.Error("no statement looks for findings")
	}
}
