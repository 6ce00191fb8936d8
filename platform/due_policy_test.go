package platform_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/inventory"
)

// setDue sets the policy of a group or a repo.
func (w *world) setDue(ctx context.Context, within core.UID, days inventory.DueDays) *inventory.DuePolicy {
	w.Helper()
	p, err := w.p.Findings.SetDuePolicy(ctx, inventory.DuePolicy{Scope: within, DueDays: days})
	must(w, err)
	w.settle()
	return p
}

// dueDays lists the findings with the days from when they were first seen until they are due.
func (w *world) dueDays(within core.UID) string {
	w.Helper()
	var all []string
	for _, f := range w.listFindings(within) {
		days := "never"
		if !f.DueTime.IsZero() {
			days = fmt.Sprint(int(f.DueTime.Sub(f.FirstSeenTime.Time).Round(time.Hour).Hours() / 24))
		}
		all = append(all, f.VulnerabilityID+" "+days)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// rate returns an advisory with a CVSS score.
func rate(id, name, score string) *inventory.Advisory {
	a := fixedIn(id, name, "2.0.0")
	a.Severities = lastingFrom("", "", score).Severities
	return a
}

func TestFindingsAreDueByThePolicyOfTheClosestGroup(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop, beside := w.group(acme.uid), w.group(acme.uid)
		repo := w.repo(shop)
		later := func(a *inventory.Advisory) *inventory.Advisory {
			a.UpdateTime = core.At(epoch.AddDate(1, 0, 0))
			return a
		}
		w.advise(acme.uid, rate("CVE-1", "a", "9.8"), rate("CVE-2", "b", "8.0"), rate("CVE-3", "c", "2.0"), lastingFrom("CVE-4", "d", ""))
		w.setDue(acme.owner, acme.uid, inventory.DueDays{KnownExploited: new(3), Critical: new(7), High: new(30)})
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0", "c@1.0.0", "d@1.0.0")
		w.point(repo, "latest", digest(1))
		w.settle()
		w.expect("the policy of the organization", w.dueDays(repo), "CVE-1 7, CVE-2 30, CVE-3 never, CVE-4 never")
		w.importExploitations(feeds.KnownExploited, "1 0 0 0", newKnown("CVE-3", 1))
		w.settle()
		w.expect("known exploitation comes first", w.dueDays(repo), "CVE-1 7, CVE-2 30, CVE-3 3, CVE-4 never")
		w.pass(48 * time.Hour)
		w.advise(acme.uid, later(rate("CVE-2", "b", "9.8")))
		w.settle()
		w.expect("a rating that rises counts from when it was first seen", w.dueDays(repo), "CVE-1 7, CVE-2 7, CVE-3 3, CVE-4 never")

		w.setDue(acme.owner, beside, inventory.DueDays{Critical: new(1)})
		w.expect("the policy of a group beside", w.dueDays(repo), "CVE-1 7, CVE-2 7, CVE-3 3, CVE-4 never")
		changed := func() (n int) {
			for _, e := range w.events() {
				if e.kind == "vulnerabilities.finding.changed" {
					n++
				}
			}
			return n
		}
		before := changed()
		if p := w.setDue(acme.owner, shop, inventory.DueDays{Critical: new(14)}); p.Scope != shop || *p.Critical != 14 || p.High != nil || p.Author == "" {
			t.Errorf("the policy is %+v", p)
		}
		w.expect("that of the closest group counts as a whole", w.dueDays(repo), "CVE-1 14, CVE-2 14, CVE-3 never, CVE-4 never")
		if n := changed() - before; n != 0 {
			t.Errorf("a policy tells of %d images", n)
		}
		logged := w.events()[len(w.events())-1]
		w.expect("the audit log", logged.kind+" "+string(logged.subject), "vulnerabilities.finding.due_policy_set "+string(shop))

		due := w.now().AddDate(0, 0, 90)
		all := w.listFindings(repo)
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{all[0].UID}}, fmt.Sprintf(`{"dueTime": %q}`, due.Format(time.RFC3339Nano)))
		w.expect("a date that somebody has set", w.dueDays(repo), "CVE-1 92, CVE-2 14, CVE-3 never, CVE-4 never")
		w.setDue(acme.owner, shop, inventory.DueDays{Critical: new(5)})
		w.expect("stays", w.dueDays(repo), "CVE-1 92, CVE-2 5, CVE-3 never, CVE-4 never")
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{all[0].UID}}, `{"dueTime": null}`)
		w.expect("until it is taken back", w.dueDays(repo), "CVE-1 5, CVE-2 5, CVE-3 never, CVE-4 never")

		overdue := func(what string, want ...int64) {
			t.Helper()
			summaries, errs := w.p.Findings.SummarizeEach(acme.owner, []core.UID{acme.uid, shop, beside, repo, ""})
			must(t, errors.Join(errs...))
			ofImage, errs := w.p.Findings.SummarizeImages(acme.owner, []core.ImageKey{{Repo: repo, Digest: digest(1)}})
			must(t, errors.Join(errs...))
			counts, err := w.p.Findings.CountOverdue(acme.owner, append(summaries, ofImage...))
			must(t, err)
			w.expect(what, fmt.Sprint(counts), fmt.Sprint(want))
		}
		overdue("nothing is overdue", 0, 0, 0, 0, 0, 0)
		w.pass(4 * 24 * time.Hour)
		overdue("two are overdue", 2, 2, 0, 2, 2, 2)
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{all[0].UID}}, notAffected)
		overdue("what is decided is not", 1, 1, 0, 1, 1, 1)

		if p := w.setDue(acme.owner, shop, inventory.DueDays{}); p == nil || p.Scope != acme.uid {
			t.Errorf("without a policy of its own, %+v counts", p)
		}
		w.expect("that of the organization again", w.dueDays(repo), "CVE-1 7, CVE-2 7, CVE-3 3, CVE-4 never")
		w.expectCounters(acme.uid)
		wrong, err := w.p.Findings.Review(w.operator())
		if err != nil || wrong != 0 {
			t.Errorf("%d findings are not as they must be: %v", wrong, err)
		}
		gone := w.repo(acme.uid)
		w.setDue(acme.owner, gone, inventory.DueDays{Low: new(1)})
		must(t, w.p.Repos.Delete(acme.owner, gone))
		must(t, w.p.Groups.Delete(acme.owner, beside))
		if n := w.count("due_policy"); n != 1 {
			t.Errorf("%d policies are left, want 1", n)
		}
	})
}

func TestWhoMaySetWhenFindingsAreDue(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		shop := w.group(acme.uid)
		reader := w.memberWith(w.role(acme.uid, core.CapFindingsList, core.CapTagList), shop, acme.uid)
		w.setDue(acme.owner, acme.uid, inventory.DueDays{Critical: new(7)})
		for _, c := range []struct {
			what string
			ctx  context.Context
			p    inventory.DuePolicy
			want string
		}{
			{"a reader", reader, inventory.DuePolicy{Scope: shop, DueDays: inventory.DueDays{High: new(1)}}, "PERMISSION_DENIED"},
			{"another organization", other.owner, inventory.DuePolicy{Scope: shop}, "PERMISSION_DENIED"},
			{"no such group", acme.owner, inventory.DuePolicy{Scope: acme.uid.NewChild(), DueDays: inventory.DueDays{High: new(1)}}, "NOT_FOUND"},
			{"no group", acme.owner, inventory.DuePolicy{Scope: "x"}, "within"},
			{"no days", acme.owner, inventory.DuePolicy{Scope: shop, DueDays: inventory.DueDays{High: new(0)}}, "highDays"},
			{"too many", acme.owner, inventory.DuePolicy{Scope: shop, DueDays: inventory.DueDays{KnownExploited: new(3651)}}, "knownExploitedDays"},
		} {
			if _, err := w.p.Findings.SetDuePolicy(c.ctx, c.p); err == nil || !strings.Contains(fmt.Sprintf("%s %v", core.AsError(err).Code, core.AsError(err).Violations), c.want) && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.what, err, c.want)
			}
		}
		p, err := w.p.Findings.DuePolicy(reader, shop)
		if err != nil || p == nil || *p.Critical != 7 {
			t.Errorf("a reader sees %+v: %v", p, err)
		}
		if p, err := w.p.Findings.DuePolicy(other.owner, shop); err == nil {
			t.Errorf("another organization sees %+v", p)
		}
		if p, err := w.p.Findings.DuePolicy(other.owner, other.uid); err != nil || p != nil {
			t.Errorf("an organization without one has %+v: %v", p, err)
		}
	})
}
