package platform_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// An age is that of the moment of the question: a finding is as old as a limit in the moment in which it reaches it.
func TestOpenFindingsAreCountedByAge(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const day = 24 * time.Hour
		acme := w.found("acme")
		team := w.group(acme.uid)
		shop, tools := w.repo(team), w.repo(acme.uid)
		begin := func(repo core.UID, name string) {
			w.sbom(repo, digest(1), "left-pad@1.0.0")
			w.point(repo, "latest", digest(1))
			w.advise(acme.uid, fixedIn(name, "left-pad", "2.0.0"))
			w.settle()
		}
		begin(shop, "CVE-1")
		w.pass(10 * day)
		begin(tools, "CVE-2") // and the shop has it too
		w.pass(2 * day)
		ages := func(days ...int) string {
			t.Helper()
			summaries, errs := w.p.Findings.SummarizeEach(acme.owner, []core.UID{acme.uid, shop, "", team})
			must(t, errors.Join(errs...))
			ofImage, errs := w.p.Findings.SummarizeImages(acme.owner, []core.ImageKey{{Repo: tools, Digest: digest(1)}})
			must(t, errors.Join(errs...))
			counted, err := w.p.Findings.CountAges(acme.owner, append(summaries, ofImage...), days)
			must(t, err)
			var all []string
			for _, ages := range counted {
				var each []string
				for _, a := range ages {
					to := ""
					if a.ToDays != nil {
						to = fmt.Sprint(*a.ToDays)
					}
					each = append(each, fmt.Sprintf("%d-%s %d/%d", a.FromDays, to, a.Open.Total, a.Open.Critical))
				}
				all = append(all, strings.Join(each, ", "))
			}
			return strings.Join(all, "; ")
		}
		// The shop has CVE-1 for twelve days, and CVE-2 for two. The tools have both for two.
		w.expect("three ages", ages(3, 12), "0-3 3/3, 3-12 0/0, 12- 1/1; 0-3 1/1, 3-12 0/0, 12- 1/1; 0-3 3/3, 3-12 0/0, 12- 1/1; 0-3 1/1, 3-12 0/0, 12- 1/1; 0-3 2/2, 3-12 0/0, 12- 0/0")
		w.expect("two ages", ages(13), "0-13 4/4, 13- 0/0; 0-13 2/2, 13- 0/0; 0-13 4/4, 13- 0/0; 0-13 2/2, 13- 0/0; 0-13 2/2, 13- 0/0")
		w.triage(acme.owner, inventory.FindingUpdate{Within: shop, Where: &inventory.FindingFilter{}}, `{"state": "FINDING_STATE_ACCEPTED"}`)
		w.expect("what is decided is not open", ages(3), "0-3 2/2, 3- 0/0; 0-3 0/0, 3- 0/0; 0-3 2/2, 3- 0/0; 0-3 0/0, 3- 0/0; 0-3 2/2, 3- 0/0")
		for _, wrong := range [][]int{nil, {0}, {3, 3}, {5, 4}, {4000}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}} {
			_, err := w.p.Findings.CountAges(acme.owner, []*inventory.FindingSummary{{}}, wrong)
			if got := violationFields(err); got != "days" {
				t.Errorf("%v: the error names %q", wrong, got)
			}
		}
	})
}

// "me" is whoever asks, also inside other filters, and in what is updated.
func TestFindingsAreFoundThatTheCallerLooksAfter(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "left-pad@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "left-pad", "2.0.0"), fixedIn("CVE-2", "left-pad", "2.0.0"), fixedIn("CVE-3", "left-pad", "2.0.0"))
		w.settle()
		ada := w.memberWith(iam.OwnerRole, acme.uid, acme.uid)
		for who, id := range map[context.Context]string{ada: "CVE-1", acme.owner: "CVE-2"} {
			w.triage(acme.owner, inventory.FindingUpdate{Within: repo, Where: &inventory.FindingFilter{Query: id}}, fmt.Sprintf(`{"assignee": %q}`, core.ActorOf(who).Identities[0]))
		}
		mine := inventory.FindingFilter{AssignedToMe: new(true)}
		others := inventory.FindingFilter{AssignedToMe: new(false)}
		byID := &inventory.FindingFilter{Query: "CVE-3"}
		for _, c := range []struct {
			as     context.Context
			filter inventory.FindingFilter
			want   string
		}{
			{ada, mine, "CVE-1"}, {acme.owner, mine, "CVE-2"}, {ada, others, "CVE-2 CVE-3"}, {acme.owner, others, "CVE-1 CVE-3"},
			{w.operator(), mine, ""}, {w.operator(), others, "CVE-1 CVE-2 CVE-3"},
			{ada, inventory.FindingFilter{Or: []*inventory.FindingFilter{&mine, byID}}, "CVE-1 CVE-3"},
			{ada, inventory.FindingFilter{Not: &mine}, "CVE-2 CVE-3"},
			{ada, inventory.FindingFilter{Or: []*inventory.FindingFilter{{Not: &inventory.FindingFilter{Not: &mine}}}}, "CVE-1"},
			{ada, inventory.FindingFilter{AssignedToMe: new(true), Assigned: new(false)}, ""},
		} {
			filter := c.filter
			page, err := w.p.Findings.List(c.as, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: acme.uid}, Filter: &filter, OrderBy: "uid"})
			must(t, err)
			pages, errs := w.p.Findings.ListOfImages(c.as, core.ListRequest[*inventory.FindingFilter]{Filter: &filter, OrderBy: "uid"}, []core.ImageKey{{Repo: repo, Digest: digest(1)}})
			must(t, errs[0])
			for what, items := range map[string][]*inventory.Finding{"findings": page.Items, "findings of an image": pages[0].Items} {
				found := map[string]bool{}
				for _, f := range items {
					found[f.VulnerabilityID] = true
				}
				var names []string
				for _, name := range []string{"CVE-1", "CVE-2", "CVE-3"} {
					if found[name] {
						names = append(names, name)
					}
				}
				w.expect(fmt.Sprintf("%s by %+v", what, c.filter), strings.Join(names, " "), c.want)
			}
			facets, err := w.p.Findings.Facets(c.as, []core.Page[*inventory.Finding]{page}, inventory.FindingFacetsSummed)
			must(t, err)
			counted := int64(0)
			for _, f := range facets[0].States {
				counted += f.Count
			}
			w.expect("facets", fmt.Sprint(counted), fmt.Sprint(len(strings.Fields(c.want))))
		}
		updated := w.triage(ada, inventory.FindingUpdate{Within: repo, Where: &mine}, `{"note": "mine"}`)
		if len(updated) != 1 || updated[0].VulnerabilityID != "CVE-1" {
			t.Errorf("%d findings are updated", len(updated))
		}
	})
}
