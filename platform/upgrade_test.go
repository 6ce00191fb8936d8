package platform_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// showUpgrade describes an upgrade without its versions and reasons.
func showUpgrade(u *reports.Upgrade) string {
	return fmt.Sprintf("%s %s %+v %s %s in %d/%d since %s until %s", u.Package, u.Ecosystem, u.Gone, u.Severity.SortKey(), inventory.EPSSKey(u.EPSS), u.Images, u.Repos, u.FirstSeenTime, u.DueTime)
}

// upgradeAll finds out which upgrades do away with listed findings, as a ranking does.
func upgradeAll(findings []*inventory.Finding) string {
	type counted struct {
		*reports.Upgrade
		images map[core.ImageKey]bool
		repos  map[core.UID]bool
	}
	all := map[reports.PackageName]*counted{}
	for _, f := range findings {
		if !f.IsFixable() {
			continue
		}
		of := reports.PackageName{Ecosystem: f.Ecosystem, Package: f.Package}
		c := all[of]
		if c == nil {
			c = &counted{&reports.Upgrade{PackageName: of, FirstSeenTime: f.FirstSeenTime}, map[core.ImageKey]bool{}, map[core.UID]bool{}}
			all[of] = c
		}
		if c.Gone.Add(f.Severity.Rating, 1); f.KnownExploited {
			c.Gone.KnownExploited++
		}
		if c.Gone.Fixable++; f.Severity.SortKey() > c.Severity.SortKey() {
			c.Severity = f.Severity
		}
		if inventory.EPSSKey(f.EPSS) > inventory.EPSSKey(c.EPSS) {
			c.EPSS = f.EPSS
		}
		if f.FirstSeenTime.Before(c.FirstSeenTime.Time) {
			c.FirstSeenTime = f.FirstSeenTime
		}
		if f.DueTime.OrNoDeadline().Before(c.DueTime.OrNoDeadline().Time) {
			c.DueTime = f.DueTime
		}
		c.images[f.Image()], c.repos[f.Repo] = true, true
		c.Images, c.Repos = int64(len(c.images)), int64(len(c.repos))
	}
	var sorted []*counted
	for _, c := range all {
		sorted = append(sorted, c)
	}
	isExploited := func(c *counted) int { return int(min(c.Gone.KnownExploited, 1)) }
	tenths := func(c *counted) int {
		if c.EPSS == nil {
			return 0
		}
		return int(*c.EPSS * 10)
	}
	slices.SortFunc(sorted, func(a, b *counted) int {
		return cmp.Or(isExploited(b)-isExploited(a), tenths(b)-tenths(a), b.Severity.Rating.Rank()-a.Severity.Rating.Rank(), cmp.Compare(b.Images, a.Images), cmp.Compare(b.Gone.Total, a.Gone.Total),
			a.FirstSeenTime.Compare(b.FirstSeenTime.Time), a.DueTime.OrNoDeadline().Compare(b.DueTime.OrNoDeadline().Time), cmp.Compare(a.Package, b.Package), cmp.Compare(a.Ecosystem, b.Ecosystem))
	})
	texts := []string{fmt.Sprint(len(sorted))}
	for _, c := range sorted {
		texts = append(texts, showUpgrade(c.Upgrade))
	}
	return strings.Join(texts, "; ")
}

func TestUpgradesDoAwayWithTheFindingsThatListsHave(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		shop, lab := w.group(acme.uid), w.group(acme.uid)
		deep := w.group(w.group(w.group(shop)))
		stockShelves(w, []core.UID{shop, lab, deep})
		stockShelves(w, []core.UID{other.uid})
		_, err := w.p.Feeds.ImportExploitations(w.operator(), feeds.EPSS, []*inventory.Exploitation{newLikely("CVE-0", 0.15), newLikely("CVE-1", 0.19), newLikely("CVE-3", 0.02), newLikely("CVE-5", 0.9)})
		must(t, err)
		w.setDue(acme.owner, shop, inventory.DueDays{Critical: new(7), High: new(30)})
		w.triage(acme.owner, inventory.FindingUpdate{Within: lab, Where: &inventory.FindingFilter{Packages: []string{"p1"}}}, accepted)
		subject := w.name()
		member := w.member(acme.uid, subject)
		w.bind(lab, member, iam.ViewerRole)
		w.bind(deep, member, iam.ViewerRole)
		repos, err := w.p.Repos.List(acme.owner, core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{ChildrenOf: shop}})
		must(t, err)
		compared := 0
		for who, ctx := range map[string]context.Context{"the owner": acme.owner, "a member of two groups": w.as(subject)} {
			for _, within := range []core.UID{"", acme.uid, shop, lab, deep, repos.Items[0].UID} {
				for _, given := range []*inventory.FindingFilter{nil, {Severities: []core.SeverityRating{core.SeverityCritical}}, {States: []inventory.FindingState{inventory.FindingAccepted}}, {Query: "p2"}, {Fixable: new(false)}, {Packages: []string{"p0", "p3"}}} {
					scope := core.UIDFilter{DescendantsOf: within}
					filter := core.EditFilter(given, func(f *inventory.FindingFilter) {
						if f.States == nil {
							f.States = inventory.OpenStates()
						}
					})
					got, err := w.p.FindingRankings.Upgrades(ctx, reports.RankingRequest{Within: scope, Filter: given, First: 100})
					page, refused := w.p.Findings.List(ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: scope, Filter: filter, PageSize: 200})
					if refused != nil {
						expectRefused(t, who, err, core.CodePermissionDenied)
						continue
					}
					must(t, err)
					if page.HasNext {
						t.Fatal("there are more findings than a page has")
					}
					texts := []string{fmt.Sprint(got.TotalCount)}
					for _, u := range got.Nodes {
						texts = append(texts, showUpgrade(u))
						findings := int64(0)
						for _, step := range u.Steps {
							findings += step.Findings
						}
						if u.To != "1.1.0" || findings != u.Gone.Total {
							t.Errorf("%s is upgraded to %s, with steps for %d of %d findings", u.Package, u.To, findings, u.Gone.Total)
						}
						compared++
					}
					w.expect(fmt.Sprintf("%s in %s of %+v", who, within, given), strings.Join(texts, "; "), upgradeAll(page.Items))
				}
			}
		}
		if compared < 50 {
			t.Errorf("%d upgrades were compared", compared)
		}
	})
}

// newBranchedAdvisory returns an advisory about versions from 1.0.0 and from 2.0.0 that have fixes of their own.
func newBranchedAdvisory(id, name, first, second string) *inventory.Advisory {
	a := rateAdvisory(mildVector, fixedIn(id, name, first))
	a.Affected.Ranges[0].Events = append(a.Affected.Ranges[0].Events, affected.Event{Introduced: "2.0.0"}, affected.Event{Fixed: second})
	return a
}

func TestAnUpgradeSaysWhyItIsFirst(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo, beside := w.repo(acme.uid), w.repo(acme.uid)
		rank := func(first int) (text []string) {
			w.Helper()
			w.settle()
			got, err := w.p.FindingRankings.Upgrades(acme.owner, reports.RankingRequest{First: first})
			must(t, err)
			text = append(text, fmt.Sprint(got.TotalCount))
			for _, u := range got.Nodes {
				one := u.Package + " to " + u.To
				for _, step := range u.Steps {
					one += fmt.Sprintf(", %s to %s for %d", step.From, step.To, step.Findings)
				}
				for _, reason := range u.Reasons {
					one += " " + strings.TrimPrefix(string(reason), "UPGRADE_REASON_")
				}
				text = append(text, one)
			}
			return text
		}
		w.expect("upgrades of nothing", strings.Join(rank(10), "; "), "0")
		w.setDue(acme.owner, acme.uid, inventory.DueDays{Critical: new(7)})
		w.advise(acme.uid, rateAdvisory(mildVector, fixedIn("CVE-1", "old", "1.1.0")))
		w.sbom(repo, digest(1), "old@1.0.0", "bad@1.0.0", "branched@1.0.0", "known@1.0.0", "likely@1.0.0")
		w.point(repo, "a", digest(1))
		w.settle()
		w.pass(85 * oneDay)
		w.advise(acme.uid,
			fixedIn("CVE-2", "bad", "1.1.0"), newBranchedAdvisory("CVE-3", "branched", "1.9.5", "2.5.0"), newBranchedAdvisory("CVE-4", "branched", "1.9.9", "2.5.1"),
			rateAdvisory(mildVector, fixedIn("CVE-5", "known", "1.1.0")), rateAdvisory(mildVector, fixedIn("CVE-6", "likely", "1.1.0")))
		w.sbom(beside, digest(2), "branched@1.2.0", "branched@2.0.0")
		w.point(beside, "b", digest(2))
		w.importExploitations(feeds.KnownExploited, "1 0 0 0", newKnown("CVE-5", 0))
		w.importExploitations(feeds.EPSS, "2 0 0 0", newLikely("CVE-6", 0.1), newLikely("CVE-2", 0.09))
		w.expect("the order", strings.Join(rank(10), "; "), strings.Join([]string{
			"5", "known to 1.1.0, 1.0.0 to 1.1.0 for 1 KNOWN_EXPLOITED", "likely to 1.1.0, 1.0.0 to 1.1.0 for 1 LIKELY_EXPLOITED", "bad to 1.1.0, 1.0.0 to 1.1.0 for 1 SEVERE",
			"branched to 2.5.1, 1.0.0 to 1.9.9 for 2, 1.2.0 to 1.9.9 for 2, 2.0.0 to 2.5.1 for 2 SEVERAL_IMAGES", "old to 1.1.0, 1.0.0 to 1.1.0 for 1",
		}, "; "))
		w.pass(10 * oneDay)
		w.expect("what waited", strings.Join(rank(10)[3:], "; "), "bad to 1.1.0, 1.0.0 to 1.1.0 for 1 SEVERE OVERDUE; branched to 2.5.1, 1.0.0 to 1.9.9 for 2, 1.2.0 to 1.9.9 for 2, 2.0.0 to 2.5.1 for 2 SEVERAL_IMAGES; old to 1.1.0, 1.0.0 to 1.1.0 for 1 LONG_OPEN")
		for first, want := range map[int]string{0: "5", 1: "5; known to 1.1.0, 1.0.0 to 1.1.0 for 1 KNOWN_EXPLOITED"} {
			w.expect(fmt.Sprint("the first ", first), strings.Join(rank(first), "; "), want)
		}
		_, err := w.p.FindingRankings.Upgrades(acme.owner, reports.RankingRequest{First: 101})
		w.expect("too many", violationFields(err), "first")
		_, err = w.p.FindingRankings.Upgrades(acme.owner, reports.RankingRequest{Within: core.UIDFilter{DescendantsOf: missingBelow(acme.uid)}})
		expectRefused(t, "a group that is not there", err, core.CodeNotFound)
		_, err = w.p.FindingRankings.Upgrades(w.as("stranger"), reports.RankingRequest{})
		expectRefused(t, "a stranger", err, core.CodePermissionDenied)
	})
}
