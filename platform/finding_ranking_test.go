package platform_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// rankAll counts what listed findings are of, as a ranking does.
func rankAll(findings []*inventory.Finding, ofPackages bool, by reports.RankingOrder) string {
	type counted struct {
		name              string
		severity          string
		exploited         bool
		findings, fixable int
		images            map[core.ImageKey]bool
		repos             map[core.UID]bool
	}
	all := map[string]*counted{}
	for _, f := range findings {
		name := f.VulnerabilityID
		if ofPackages {
			name = f.Package + " " + f.Ecosystem
		}
		c := all[name]
		if c == nil {
			c = &counted{name: name, images: map[core.ImageKey]bool{}, repos: map[core.UID]bool{}}
			all[name] = c
		}
		c.findings++
		if f.IsFixable() {
			c.fixable++
		}
		c.severity, c.exploited = max(c.severity, f.Severity.SortKey()), c.exploited || f.KnownExploited
		c.images[f.Image()], c.repos[f.Repo] = true, true
	}
	var sorted []*counted
	for _, c := range all {
		sorted = append(sorted, c)
	}
	slices.SortFunc(sorted, func(a, b *counted) int {
		first := 0
		switch by {
		case reports.ByImages:
			first = len(b.images) - len(a.images)
		case reports.ByRepos:
			first = len(b.repos) - len(a.repos)
		case reports.BySeverity:
			first = cmp.Compare(b.severity, a.severity)
		}
		return cmp.Or(first, b.findings-a.findings, cmp.Compare(b.severity, a.severity), cmp.Compare(a.name, b.name))
	})
	texts := []string{fmt.Sprint(len(sorted))}
	for _, c := range sorted {
		texts = append(texts, fmt.Sprintf("%s %s %v %d %d %d %d", c.name, c.severity, c.exploited, c.findings, c.fixable, len(c.images), len(c.repos)))
	}
	return strings.Join(texts, "; ")
}

func showRanking(r *reports.FindingRanking) string {
	texts := []string{fmt.Sprint(r.TotalCount)}
	for _, n := range r.Nodes {
		name := n.VulnerabilityID
		if name == "" {
			name = n.Package + " " + n.Ecosystem
		}
		texts = append(texts, fmt.Sprintf("%s %s %v %d %d %d %d", name, n.Severity.SortKey(), n.KnownExploited, n.Findings, n.Fixable, n.Images, n.Repos))
	}
	return strings.Join(texts, "; ")
}

// stockShelves makes repos in groups with random packages, and advisories about them.
func stockShelves(w *world, groups []core.UID) {
	w.Helper()
	random := rand.New(rand.NewPCG(14, 52))
	image := 0
	for _, group := range groups {
		for range 2 {
			repo := w.repo(group)
			for n := range 3 {
				var held []string
				for p := range 6 {
					if random.IntN(2) == 0 {
						held = append(held, fmt.Sprintf("p%d@1.%d.0", p, random.IntN(2)))
					}
				}
				image++
				w.sbom(repo, digest(image), append(held, "base@1.0.0")...)
				w.point(repo, fmt.Sprint("t", n), digest(image))
			}
		}
	}
	var all []*inventory.Advisory
	for i, score := range []string{"9.8", "9.8", "7.1", "5.0", "2.0", "9.1"} {
		a := fixedIn(fmt.Sprint("CVE-", i), fmt.Sprint("p", i), "1.1.0")
		a.Severities[0].Score = score
		all = append(all, a)
		if i%2 == 0 { // Another vulnerability of the package, which nothing fixes.
			b := fixedIn(fmt.Sprint("CVE-9", i), fmt.Sprint("p", i), "2.0.0")
			b.Affected.Ranges[0].Events = b.Affected.Ranges[0].Events[:1]
			b.Severities[0].Score = "4.0"
			all = append(all, b)
		}
	}
	w.advise(groups[0].Root(), all...)
	_, err := w.p.Feeds.ImportExploitations(w.operator(), feeds.KnownExploited, []*inventory.Exploitation{{ID: "CVE-2", KnownDate: core.At(epoch)}})
	must(w, err)
	w.settle()
}

func TestARankingCountsWhatListsOfFindingsHave(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		shop, lab := w.group(acme.uid), w.group(acme.uid)
		deep := w.group(w.group(w.group(shop)))
		stockShelves(w, []core.UID{shop, lab, deep})
		stockShelves(w, []core.UID{other.uid})
		w.triage(acme.owner, inventory.FindingUpdate{Within: lab, Where: &inventory.FindingFilter{Packages: []string{"p1"}}}, accepted)
		subject := w.name()
		member := w.member(acme.uid, subject)
		w.bind(lab, member, iam.ViewerRole)
		w.bind(deep, member, iam.ViewerRole)
		open := []inventory.FindingState{inventory.FindingOpen, inventory.FindingInTriage}
		repos, err := w.p.Repos.List(acme.owner, core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{ChildrenOf: shop}})
		must(t, err)
		for who, ctx := range map[string]context.Context{"the owner": acme.owner, "a member of two groups": w.as(subject)} {
			for _, within := range []core.UID{"", acme.uid, shop, lab, deep, repos.Items[0].UID} {
				for _, given := range []*inventory.FindingFilter{
					nil, {Severities: []core.SeverityRating{core.SeverityCritical}}, {States: []inventory.FindingState{inventory.FindingAccepted}}, {Query: "p2"},
					{States: inventory.FindingStates()}, {WithoutLiveTags: true, Fixable: new(true)}, {Packages: []string{}},
				} {
					filter := core.EditFilter(given, func(f *inventory.FindingFilter) {
						if f.States == nil {
							f.States = open
						}
					})
					page, err := w.p.Findings.List(ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: within}, Filter: filter, PageSize: 200})
					if err != nil { // A member of other groups may not list here, and so may not rank.
						_, err = w.p.FindingRankings.Packages(ctx, reports.RankingRequest{Within: core.UIDFilter{DescendantsOf: within}, First: 1})
						expectRefused(t, who, err, core.CodePermissionDenied)
						continue
					}
					if page.HasNext {
						t.Fatal("there are more findings than a page has")
					}
					for _, by := range []reports.RankingOrder{reports.ByFindings, reports.ByImages, reports.ByRepos, reports.BySeverity} {
						req := reports.RankingRequest{Within: core.UIDFilter{DescendantsOf: within}, Filter: given, By: by, First: 100}
						vulnerabilities, err := w.p.FindingRankings.Vulnerabilities(ctx, req)
						must(t, err)
						packages, err := w.p.FindingRankings.Packages(ctx, req)
						must(t, err)
						what := fmt.Sprintf("%s by %s in %s of %+v", who, by, within, given)
						w.expect("vulnerabilities: "+what, showRanking(vulnerabilities), rankAll(page.Items, false, by))
						w.expect("packages: "+what, showRanking(packages), rankAll(page.Items, true, by))
					}
				}
			}
		}
	})
}

func TestARankingShowsTheFirst(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "left-pad@1.0.0", "ms@1.0.0")
		w.sbom(repo, digest(2), "ms@1.0.0")
		w.point(repo, "a", digest(1))
		w.point(repo, "b", digest(2))
		w.advise(acme.uid, fixedIn("CVE-1", "left-pad", "2.0.0"), fixedIn("CVE-2", "ms", "2.0.0"))
		_, err := w.p.Feeds.ImportExploitations(w.operator(), feeds.EPSS, []*inventory.Exploitation{{ID: "CVE-2", EPSS: new(0.5)}})
		must(t, err)
		w.settle()
		rank := func(req reports.RankingRequest) (*reports.FindingRanking, error) {
			return w.p.FindingRankings.Vulnerabilities(acme.owner, req)
		}
		for first, want := range map[int]string{0: "2", 1: "2; CVE-2 5098 false 2 2 2 1", 2: "2; CVE-2 5098 false 2 2 2 1; CVE-1 5098 false 1 1 1 1"} {
			got, err := rank(reports.RankingRequest{First: first})
			must(t, err)
			w.expect(fmt.Sprint("the first ", first), showRanking(got), want)
			if first == 1 && (got.Nodes[0].EPSS == nil || *got.Nodes[0].EPSS != 0.5) {
				t.Errorf("the probability is %v, want 0.5", got.Nodes[0].EPSS)
			}
		}
		for want, req := range map[string]reports.RankingRequest{"first": {First: -1}, "by": {By: "NAME"}, "minScore": {Filter: &inventory.FindingFilter{MinScore: new(11.0)}}} {
			_, err := rank(req)
			w.expect("a request with a wrong "+want, violationFields(err), want)
		}
		_, err = rank(reports.RankingRequest{Within: core.UIDFilter{DescendantsOf: missingBelow(acme.uid)}})
		expectRefused(t, "a group that is not there", err, core.CodeNotFound)
		_, err = w.p.FindingRankings.Packages(w.as("stranger"), reports.RankingRequest{})
		expectRefused(t, "a stranger", err, core.CodePermissionDenied)
		onlyFindings := w.memberWith(w.role(acme.uid, core.CapFindingsList), acme.uid, acme.uid)
		_, err = w.p.FindingRankings.Packages(onlyFindings, reports.RankingRequest{Within: core.UIDFilter{DescendantsOf: repo}})
		expectRefused(t, "one who may not list tags", err, core.CodePermissionDenied)
	})
}
