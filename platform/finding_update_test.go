package platform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// triage decides about findings as a caller.
func (w *world) triage(ctx context.Context, u inventory.FindingUpdate, change string) []*inventory.Finding {
	w.Helper()
	u.Change = body[*inventory.Finding]("%s", change)
	updated, err := w.p.Findings.Update(ctx, u)
	must(w, err)
	return updated
}

// refuseTriage expects that a decision is refused because of fields.
func (w *world) refuseTriage(ctx context.Context, what string, u inventory.FindingUpdate, change, fields string) {
	w.Helper()
	u.Change = body[*inventory.Finding]("%s", change)
	_, err := w.p.Findings.Update(ctx, u)
	w.expect(what, violationFields(err), fields)
}

func vulnerabilities(ids ...string) *inventory.FindingFilter {
	return &inventory.FindingFilter{VulnerabilityIDs: ids}
}

// listFindings reads the findings within a scope.
func (w *world) listFindings(within core.UID) []*inventory.Finding {
	w.Helper()
	w.settle()
	page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: within}, OrderBy: "package"})
	must(w, err)
	return page.Items
}

const (
	accepted    = `{"state": "FINDING_STATE_ACCEPTED"}`
	notAffected = `{"state": "FINDING_STATE_NOT_AFFECTED", "justification": "vulnerable_code_not_present", "note": "removed"}`
	open        = `{"state": "FINDING_STATE_OPEN"}`
)

// Who asks what is to be fixed first does not want to see what has no date.
func TestFindingsWithoutADueTimeComeLast(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(w.group(acme.uid))
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0", "c@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"), fixedIn("CVE-3", "c", "2.0.0"))
		all := w.listFindings(acme.uid)
		for i, months := range map[int]int{1: 2, 2: 1} {
			w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{all[i].UID}}, fmt.Sprintf(`{"dueTime": %q}`, epoch.AddDate(0, months, 0).Format(time.RFC3339)))
		}
		for _, c := range []struct {
			order  string
			filter inventory.FindingFilter
			want   string
		}{
			{"due_time", inventory.FindingFilter{}, "CVE-3 CVE-2 CVE-1"}, {"due_time desc", inventory.FindingFilter{}, "CVE-1 CVE-2 CVE-3"},
			{"due_time", inventory.FindingFilter{DueBefore: core.At(epoch.AddDate(9, 0, 0))}, "CVE-3 CVE-2"},
		} {
			found, token := []string{}, ""
			for range 3 {
				page, err := w.p.Findings.List(acme.owner, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: acme.uid}, Filter: &c.filter, OrderBy: c.order, PageSize: 1, PageToken: token})
				must(w, err)
				for _, f := range page.Items {
					found = append(found, f.VulnerabilityID)
				}
				if token = page.NextPageToken(); token == "" {
					break
				}
			}
			w.expect(c.order, strings.Join(found, " "), c.want)
		}
		if f := w.listFindings(acme.uid)[0]; !f.DueTime.IsZero() {
			t.Errorf("a finding without a date is due at %s", f.DueTime)
		}
	})
}

func TestCallersDecideAboutFindings(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(w.group(acme.uid))
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"))
		all := w.listFindings(acme.uid)
		owner := acme.Identity.UID
		due := epoch.AddDate(0, 1, 0).Format(time.RFC3339)
		updated := w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{all[0].UID}},
			fmt.Sprintf(`{"state": "FINDING_STATE_NOT_AFFECTED", "justification": "vulnerable_code_not_present", "note": "removed", "assignee": %q, "dueTime": %q}`, owner, due))
		if len(updated) != 1 || updated[0].Assignee != owner || updated[0].Note != "removed" || updated[0].Decision != inventory.DecisionOfFinding {
			t.Errorf("the update has returned %+v", updated)
		}
		const decided = "CVE-1 a@1.0.0 NOT_AFFECTED fixed in 2.0.0; CVE-2 b@1.0.0 OPEN fixed in 2.0.0"
		w.expect("a decision", w.findings(acme.uid, nil), decided)
		w.expectCounters(acme.uid)
		last := w.events()[len(w.events())-1]
		if last.kind != "vulnerabilities.finding.changed" || last.actor.Subject != string(owner) || last.subject != repo || !strings.Contains(last.body, `"removed"`) {
			t.Errorf("the last event is %+v", last)
		}
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0", "c@1.0.0")
		w.expect("a decision after another SBOM", w.findings(acme.uid, nil), decided)
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{all[0].UID}}, open)
		w.expect("without the decision", w.findings(acme.uid, nil), "CVE-1 a@1.0.0 OPEN fixed in 2.0.0; CVE-2 b@1.0.0 OPEN fixed in 2.0.0")
		if f := w.listFindings(acme.uid)[0]; f.Decision != "" || f.Note != "" || f.Assignee != owner {
			t.Errorf("without the decision, the finding is %+v", f)
		}
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{all[1].UID}}, `{"note": "ask the team of shop"}`)
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0")
		if f := w.listFindings(acme.uid)[1]; f.Decision != "" || f.Note != "ask the team of shop" || f.State != inventory.FindingOpen {
			t.Errorf("a note alone decides something: %+v", f)
		}
		w.expectCounters(acme.uid)
	})
}

// The number of repos makes no difference to the number of round trips.
func TestDecisionsInManyReposTakeFewRoundTrips(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		group := w.group(acme.uid)
		for n := range 12 {
			repo := w.repo(group)
			w.sbom(repo, digest(1+n), "a@1.0.0")
			w.point(repo, "latest", digest(1+n))
		}
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"))
		all := w.listFindings(acme.uid)
		decide := func(what string, findings int, u inventory.FindingUpdate, change string, trips int64) {
			t.Helper()
			var cost core.Trace
			if updated := w.triage(core.WithTrace(acme.owner, &cost), u, change); len(updated) != findings {
				t.Errorf("%s has changed %d findings, want %d", what, len(updated), findings)
			}
			if n := cost.RoundTrips.Load(); n > trips {
				t.Errorf("%s takes %d round trips, want at most %d", what, n, trips)
			}
			w.expectCounters(acme.uid)
		}
		uids := make([]core.UID, len(all))
		for i, f := range all {
			uids[i] = f.UID
		}
		decide("a decision in one repo", 1, inventory.FindingUpdate{UIDs: uids[:1]}, notAffected, 5)
		decide("a decision in twelve repos", 12, inventory.FindingUpdate{UIDs: uids}, notAffected, 5)
		decide("a note in twelve repos", 12, inventory.FindingUpdate{UIDs: uids}, `{"note": "seen"}`, 4)
		decide("a rule", 12, inventory.FindingUpdate{Within: group, Where: vulnerabilities("CVE-1")}, accepted, 5)
		assign := fmt.Sprintf(`{"state": "FINDING_STATE_IN_TRIAGE", "assignee": %q}`, acme.Identity.UID)
		decide("a rule for an assignee", 12, inventory.FindingUpdate{Within: group, Where: vulnerabilities("CVE-1")}, assign, 6)
	})
}

// The last tag of a repo goes, and the repo right after it. What follows from the end of the tag is not committed yet when
// the repo is deleted.
func TestARepoIsDeletedWhileItsFindingsChange(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.isSQLite() {
			t.Skip("it has one writer at a time")
		}
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "a@1.0.0")
		tag := w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"))
		w.settle()
		must(t, w.p.Tags.Delete(acme.owner, tag))
		written, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 2)
		held := &heldStore{Store: w.store}
		slow := w.replica(held, platform.Options{})
		held.hold = func() { close(written); <-end }
		go func() { _, err := slow.Findings.Reconcile(w.operator()); ended <- err }()
		<-written
		go func() { ended <- w.p.Repos.Delete(acme.owner, repo) }()
		w.awaitLockWait()
		close(end)
		must(t, <-ended)
		must(t, <-ended)
		w.checkCounters()
	})
}

// How many findings were open in a group or a repo is stored as long as that exists.
func TestTheOpenFindingsOfAGroupEndWithIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		repo := w.repo(team)
		w.sbom(repo, digest(1), "a@1.0.0")
		tag := w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"))
		w.settle()
		expect := func(where string, want int) {
			t.Helper()
			if got := w.count("open_finding_change"); got != want {
				t.Errorf("%s, open findings of %d groups and repos are stored, want %d", where, got, want)
			}
		}
		expect("in the beginning", 3)
		must(t, w.p.Tags.Delete(acme.owner, tag))
		w.settle()
		must(t, w.p.Repos.Delete(acme.owner, repo))
		expect("without the repo", 2)
		must(t, w.p.Groups.Delete(acme.owner, team))
		expect("without its group", 1)
	})
}

// A heldStore calls hold before it commits its first transaction.
type heldStore struct {
	platform.Store
	hold func()
}

func (s *heldStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	return s.Store.Write(ctx, func(tx core.Tx) error {
		err := unit(tx)
		if hold := s.hold; hold != nil && err == nil {
			s.hold = nil
			_, err = tx.Exists(ctx, inventory.FeedGroup) // sends what is queued
			hold()
		}
		return err
	})
}

// awaitLockWait waits until a connection waits for a lock of another one.
func (w *world) awaitLockWait() {
	w.Helper()
	for waits := 0; waits == 0; {
		must(w, w.raw().QueryRowContext(w.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waits))
	}
}

// A decision about the vulnerabilities of a group holds for findings that appear later.
func TestDecisionsOfGroupsHoldForLaterFindings(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop := w.group(acme.uid)
		repo := w.repo(shop)
		other := w.repo(acme.uid)
		w.advise(acme.uid, func() *inventory.Advisory {
			a := fixedIn("GHSA-1", "a", "2.0.0")
			a.Aliases = []string{"CVE-1"}
			return a
		}())
		decide := func(within core.UID, where *inventory.FindingFilter, change string) {
			t.Helper()
			w.triage(acme.owner, inventory.FindingUpdate{Within: within, Where: where}, change)
		}
		decide(shop, vulnerabilities("CVE-1"), notAffected)
		if e := w.events()[len(w.events())-1]; e.kind != "vulnerabilities.finding.triaged" || e.subject != shop || e.actor.Subject != string(acme.Identity.UID) {
			t.Errorf("the last event is %+v", e)
		}
		for i, in := range []core.UID{repo, other} {
			w.sbom(in, digest(1+i), "a@1.0.0")
			w.point(in, "latest", digest(1+i))
		}
		state := func(what string, in core.UID, want string) {
			t.Helper()
			w.expect(what, w.findings(in, nil), "CVE-1 a@1.0.0 "+want+" fixed in 2.0.0")
			w.expectCounters(acme.uid)
		}
		state("a later finding of the group", repo, "NOT_AFFECTED")
		state("a later finding elsewhere", other, "OPEN")
		decide(acme.uid, &inventory.FindingFilter{VulnerabilityIDs: []string{"GHSA-1"}, Packages: []string{"a"}}, accepted)
		state("a finding of a group that the closer one decides otherwise", repo, "ACCEPTED")
		state("a finding of the group further up", other, "ACCEPTED")
		decide(shop, vulnerabilities("CVE-1"), open)
		state("the group is open, in spite of the one further up", repo, "OPEN")
		w.sbom(repo, digest(3), "a@1.1.0")
		w.point(repo, "latest", digest(3))
		w.expect("a later finding of the group that is open", w.findings(repo, nil), "CVE-1 a@1.1.0 OPEN fixed in 2.0.0")
		decide(acme.uid, &inventory.FindingFilter{VulnerabilityIDs: []string{"GHSA-1"}, Packages: []string{"a"}}, open)
		state("without any rule", other, "OPEN")
		decide(acme.uid, &inventory.FindingFilter{Packages: []string{"a"}}, accepted)
		w.sbom(other, digest(2), "a@1.0.1")
		w.expect("a later finding after a decision without a vulnerability", w.findings(other, nil), "CVE-1 a@1.0.1 OPEN fixed in 2.0.0")
	})
}

func TestTheTimeOfADecisionIsOver(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0", "c@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"), fixedIn("CVE-3", "c", "2.0.0"))
		until := func(hours int) string {
			return fmt.Sprintf(`{"state": "FINDING_STATE_ACCEPTED", "expireTime": %q}`, epoch.Add(time.Duration(hours)*time.Hour).Format(time.RFC3339))
		}
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{w.listFindings(acme.uid)[0].UID}}, until(1))
		w.triage(acme.owner, inventory.FindingUpdate{Within: acme.uid, Where: vulnerabilities("CVE-2")}, until(2))
		w.triage(acme.owner, inventory.FindingUpdate{Within: acme.uid, Where: vulnerabilities("CVE-3")}, until(3))
		after := func(passed time.Duration, want string, hours int) {
			t.Helper()
			w.pass(passed)
			next, err := w.p.Findings.EndExpired(w.operator())
			must(t, err)
			if end := epoch.Add(time.Duration(hours) * time.Hour).Truncate(time.Second); hours == 0 && !next.IsZero() || hours > 0 && !next.Equal(end) {
				t.Errorf("after %s the next decision ends at %s, want %s", passed, next, end)
			}
			w.settle()
			var states []string
			for _, f := range w.listFindings(acme.uid) {
				states = append(states, strings.TrimPrefix(string(f.State), "FINDING_STATE_"))
			}
			w.expect("after "+passed.String(), strings.Join(states, " "), want)
			w.expectCounters(acme.uid)
		}
		after(30*time.Minute, "ACCEPTED ACCEPTED ACCEPTED", 1)
		after(time.Hour, "OPEN ACCEPTED ACCEPTED", 2)
		after(time.Hour, "OPEN OPEN ACCEPTED", 3)
		must(t, w.p.Tags.Delete(w.operator(), w.point(repo, "latest", digest(1))))
		after(time.Hour, "", 0)
		if root, err := storetest.Tables.Inventory.NextFindingRoot(w.Context(), w.store, ""); err != nil || root != "" {
			t.Errorf("findings of images without tags are looked at again and again: %s %v", root, err)
		}
	})
}

func TestDecisionsThatAreRefused(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		shop := w.group(acme.uid)
		repo := w.repo(shop)
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"))
		all := w.listFindings(acme.uid)
		one := inventory.FindingUpdate{UIDs: []core.UID{all[0].UID}}
		past := epoch.AddDate(-1, 0, 0).Format(time.RFC3339)
		for _, c := range []struct {
			what, change, fields string
			update               inventory.FindingUpdate
		}{
			{"nothing chosen", accepted, "uids", inventory.FindingUpdate{}},
			{"both", accepted, "uids", inventory.FindingUpdate{UIDs: one.UIDs, Within: shop, Where: vulnerabilities("CVE-1")}},
			{"no filter", accepted, "where", inventory.FindingUpdate{Within: shop}},
			{"a bad uid", accepted, "uids[0]", inventory.FindingUpdate{UIDs: []core.UID{"x"}}},
			{"a bad group", accepted, "within", inventory.FindingUpdate{Within: "x", Where: vulnerabilities("CVE-1")}},
			{"resolved ones", accepted, "where.states", inventory.FindingUpdate{Within: shop, Where: &inventory.FindingFilter{States: []inventory.FindingState{inventory.FindingResolved}}}},
			{"a bad filter", accepted, "where.minScore", inventory.FindingUpdate{Within: shop, Where: &inventory.FindingFilter{MinScore: new(float64(11))}}},
			{"no field", `{}`, "state", one},
			{"resolved", `{"state": "FINDING_STATE_RESOLVED"}`, "state", one},
			{"no state", `{"state": null}`, "state", one},
			{"no reason", `{"state": "FINDING_STATE_NOT_AFFECTED"}`, "justification", one},
			{"a reason that VEX does not have", `{"state": "FINDING_STATE_NOT_AFFECTED", "justification": "because"}`, "justification", one},
			{"a reason for an exception", `{"state": "FINDING_STATE_ACCEPTED", "justification": "vulnerable_code_not_present"}`, "justification", one},
			{"a reason alone", `{"justification": "vulnerable_code_not_present"}`, "justification", one},
			{"an end alone", `{"expireTime": "2030-01-01T00:00:00Z"}`, "expireTime", one},
			{"an end in the past", `{"state": "FINDING_STATE_ACCEPTED", "expireTime": "` + past + `"}`, "expireTime", one},
			{"an end of open", `{"state": "FINDING_STATE_OPEN", "expireTime": "2030-01-01T00:00:00Z"}`, "expireTime", one},
			{"a note that is too long", `{"note": "` + strings.Repeat("x", 9000) + `"}`, "note", one},
			{"an assignee of another organization", fmt.Sprintf(`{"assignee": %q}`, other.Identity.UID), "assignee", one},
			{"an assignee that does not exist", fmt.Sprintf(`{"assignee": %q}`, missingBelow(acme.uid)), "assignee", one},
			{"a field that is not there", `{"severity": "HIGH"}`, "severity", one},
		} {
			w.refuseTriage(acme.owner, c.what, c.update, c.change, c.fields)
		}
		refuse := func(what string, ctx context.Context, u inventory.FindingUpdate, code core.Code) {
			t.Helper()
			u.Change = body[*inventory.Finding](accepted)
			_, err := w.p.Findings.Update(ctx, u)
			expectRefused(t, what, err, code)
		}
		within := inventory.FindingUpdate{Within: shop, Where: vulnerabilities("CVE-1")}
		refuse("another organization", other.owner, one, core.CodePermissionDenied)
		reader := w.memberWith(w.role(acme.uid, core.CapFindingsList, core.CapTagList), acme.uid, acme.uid)
		refuse("a reader", reader, one, core.CodePermissionDenied)
		refuse("a reader of the group", reader, within, core.CodePermissionDenied)
		blind := w.memberWith(w.role(acme.uid, core.CapFindingsUpdate), acme.uid, acme.uid)
		refuse("who sees nothing", blind, within, core.CodePermissionDenied)
		below := w.memberWith(w.role(acme.uid, core.CapFindingsUpdate, core.CapFindingsList, core.CapTagList), shop, acme.uid)
		refuse("who may decide only below", below, inventory.FindingUpdate{Within: acme.uid, Where: vulnerabilities("CVE-1")}, core.CodePermissionDenied)
		refuse("a finding that is not there", acme.owner, inventory.FindingUpdate{UIDs: []core.UID{missingBelow(repo)}}, core.CodeNotFound)
		_, err := w.p.Findings.Update(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{missingBelow(repo), repo + "/00000000000000fe"}, Change: body[*inventory.Finding](`{"state": "FINDING_STATE_OPEN"}`)})
		if got := violationFields(err); got != "uids[0] uids[1]" {
			t.Errorf("two findings that are not there: %s, want uids[0] uids[1]", got)
		}
		refuse("a group that is not there", acme.owner, inventory.FindingUpdate{Within: missingBelow(acme.uid), Where: vulnerabilities("CVE-1")}, core.CodeNotFound)
		denied := w.denials()
		if types(denied) != strings.TrimSpace(strings.Repeat("vulnerabilities.finding.changed ", 5)) || denied[1].subject != repo || denied[2].subject != shop {
			t.Errorf("the denials are %+v", denied)
		}
		w.expect("nothing has changed", w.findings(acme.uid, nil), "CVE-1 a@1.0.0 OPEN fixed in 2.0.0; CVE-2 b@1.0.0 OPEN fixed in 2.0.0")
		if updated := w.triage(below, one, accepted); len(updated) != 1 || updated[0].State != inventory.FindingAccepted {
			t.Errorf("who may decide below gets %+v", updated)
		}
	})
}

func TestOneUpdateHasALimit(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		held := make([]string, inventory.MaxUpdatedFindings+1)
		for i := range held {
			held[i] = fmt.Sprintf("a@1.0.%d", i)
		}
		w.sbom(repo, digest(1), held...)
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"))
		w.settle()
		everything := inventory.FindingUpdate{Within: acme.uid, Where: &inventory.FindingFilter{}}
		w.refuseTriage(acme.owner, "too many", everything, accepted, "where")
		everything.Change = body[*inventory.Finding](accepted)
		if _, err := w.p.Findings.Update(acme.owner, everything); !strings.Contains(core.AsError(err).Violations[0].Description, "set background") {
			t.Errorf("too many: %v, want what to do", err)
		}
		w.sbom(repo, digest(1), held[1:]...)
		w.settle()
		before := len(w.events())
		if updated := w.triage(acme.owner, everything, accepted); len(updated) != inventory.MaxUpdatedFindings {
			t.Errorf("%d findings were updated", len(updated))
		}
		if events := w.events()[before:]; len(events) != 1 {
			t.Errorf("%d events tell of one image", len(events))
		} else {
			var change inventory.FindingChange
			must(t, json.Unmarshal([]byte(events[0].body), &change))
			if change.Count != inventory.MaxUpdatedFindings || len(change.Findings) > 100 {
				t.Errorf("the event has %d of %d findings", len(change.Findings), change.Count)
			}
		}
		if wrong, err := w.store.Recount(w.Context()); err != nil || wrong != 0 {
			t.Errorf("%d counters are wrong: %v", wrong, err)
		}
	})
}
