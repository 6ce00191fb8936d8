package platform_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/operations"
)

// A partStore calls functions around the transactions of decisions in the background, and tells when an operation has ended.
type partStore struct {
	platform.Store
	before, after func(part int) error
	ended         chan core.UID

	mu    sync.Mutex
	parts int
	last  []core.UID // the operations whose end is being stored
}

func (s *partStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	if !core.IsBackground(ctx) || core.ActorOf(ctx) == nil {
		err := s.Store.Write(ctx, unit)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, uid := range s.last {
			s.ended <- uid
		}
		s.last = nil
		return err
	}
	s.mu.Lock()
	s.parts++
	part := s.parts
	s.mu.Unlock()
	if err := s.before(part); err != nil {
		return err
	}
	if err := s.Store.Write(ctx, unit); err != nil {
		return err
	}
	return s.after(part)
}

func (s *partStore) Tables() platform.Tables {
	all := s.Store.Tables()
	all.Operations = endQueries{all.Operations, s}
	return all
}

type endQueries struct {
	operations.Queries
	store *partStore
}

func (q endQueries) UpdateOperation(ctx context.Context, tx core.Tx, o *operations.Operation) (isCancelled, isRunning bool, err error) {
	if o.Done {
		q.store.mu.Lock()
		q.store.last = append(q.store.last, o.UID)
		q.store.mu.Unlock()
	}
	return q.Queries.UpdateOperation(ctx, tx, o)
}

// deciding is an organization with seven open findings of a vulnerability in a repo, and a platform that decides about three at once.
type deciding struct {
	*world
	*partStore
	org
	p    *platform.Platform
	repo core.UID
}

func (w *world) deciding() *deciding {
	w.Helper()
	nothing := func(int) error { return nil }
	d := &deciding{world: w, partStore: &partStore{Store: w.store, before: nothing, after: nothing, ended: make(chan core.UID, 100)}, org: w.found("acme")}
	d.p = w.replica(d.partStore, platform.Options{AllowIssuers: true, DecidedAtOnce: 3})
	d.repo = w.repo(d.uid)
	d.hold(7)
	w.point(d.repo, "latest", digest(1))
	w.advise(d.uid, fixedIn("CVE-1", "a", "2.0.0"))
	w.settle()
	return d
}

// hold lets the image hold so many affected versions.
func (d *deciding) hold(n int) {
	held := make([]string, n)
	for i := range held {
		held[i] = fmt.Sprintf("a@1.0.%d", i)
	}
	d.sbom(d.repo, digest(1), held...)
}

var stillOpen = inventory.FindingFilter{States: []inventory.FindingState{inventory.FindingOpen}}

func (d *deciding) begin(ctx context.Context, where inventory.FindingFilter) (*operations.Operation, error) {
	return d.p.Findings.UpdateInBackground(ctx, inventory.FindingUpdate{Within: d.uid, Where: &where, Change: body[*inventory.Finding](accepted)})
}

// decide accepts what a filter matches, and returns the operation when it has ended.
func (d *deciding) decide(ctx context.Context, where inventory.FindingFilter) *operations.Operation {
	d.Helper()
	begun, err := d.begin(ctx, where)
	must(d, err)
	if begun.Done || begun.Kind != "update/findings" || begun.UID.Parent() != d.uid || begun.Creator != string(core.ActorOf(ctx).Identities[0]) {
		d.Errorf("the operation began as %+v", begun)
	}
	<-d.ended
	o, err := d.p.LongRunning.Get(ctx, begun.UID)
	must(d, err)
	return o
}

// expectDecided expects how an operation has ended, and that as many findings are accepted as it says.
func (d *deciding) expectDecided(o *operations.Operation, state operations.OperationState, n int) {
	d.Helper()
	if !o.Done || o.State != state || string(o.Response) != fmt.Sprintf(`{"updatedCount":%d}`, n) || o.Records != n || (o.Error == nil) != (state == operations.Succeeded) {
		d.Errorf("the operation is %+v with %s and %+v, want %s and %d findings", o, o.Response, o.Error, state, n)
	}
	if got := strings.Count(d.findings(d.uid, nil), "ACCEPTED"); got != n {
		d.Errorf("%d findings are accepted, want %d", got, n)
	}
	d.expectCounters(d.uid)
}

func TestManyFindingsAreDecidedInTheBackground(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d := w.deciding()
		d.after = func(part int) error {
			if part == 1 {
				d.hold(9) // findings appear, before and after what was decided
				d.settle()
			}
			return nil
		}
		before := len(w.events())
		o := d.decide(d.owner, stillOpen)
		if o.State != operations.Succeeded || o.Progress != 100 || o.Error != nil || d.parts != 3 && d.parts != 4 {
			t.Errorf("the operation is %+v after %d transactions", o, d.parts)
		}
		if n := strings.Count(w.findings(d.uid, nil), "ACCEPTED"); n < 7 || n > 9 || fmt.Sprintf(`{"updatedCount":%d}`, n) != string(o.Response) || o.Records != n {
			t.Errorf("%d findings are accepted, and the operation says %s", n, o.Response)
		}
		for _, f := range w.listFindings(d.uid) {
			if f.State == inventory.FindingAccepted && (f.DecidedBy != string(d.Identity.UID) || f.Decision != inventory.DecisionOfFinding) {
				t.Errorf("a finding was decided by %s as %s", f.DecidedBy, f.Decision)
			}
		}
		var ours int
		for _, e := range w.events()[before:] {
			if e.kind == "vulnerabilities.finding.changed" && e.actor.Subject == string(d.Identity.UID) && e.subject == d.repo {
				ours++
			}
		}
		if ours != d.parts {
			t.Errorf("%d events of %d transactions", ours, d.parts)
		}
		w.expectCounters(d.uid)
	})
}

// The first transaction stores the rule, as that of a decision in the foreground does.
func TestADecisionInTheBackgroundHoldsForLaterFindings(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d := w.deciding()
		d.expectDecided(d.decide(d.owner, *vulnerabilities("CVE-1")), operations.Succeeded, 7)
		if n := strings.Count(types(w.events()), "vulnerabilities.finding.triaged"); n != 1 || d.parts != 3 {
			t.Errorf("%d rules were recorded in %d transactions, want 1 in 3", n, d.parts)
		}
		d.hold(8)
		if all := w.findings(d.uid, nil); strings.Count(all, "ACCEPTED") != 8 {
			t.Errorf("a later finding is not accepted: %s", all)
		}
	})
}

// What ends a decision leaves what it has decided, and says how much that is.
func TestADecisionInTheBackgroundIsCancelledBetweenTransactions(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d, begun := w.deciding(), make(chan core.UID, 1)
		d.after = func(int) error {
			_, err := d.p.LongRunning.Cancel(d.owner, <-begun)
			return err
		}
		o, err := d.begin(d.owner, stillOpen)
		must(t, err)
		begun <- o.UID
		<-d.ended
		o, err = d.p.LongRunning.Get(d.owner, o.UID)
		must(t, err)
		d.expectDecided(o, operations.Cancelled, 3)
	})
}

func TestADecisionInTheBackgroundEndsWithTheRightToDecide(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d := w.deciding()
		subject := w.name()
		bound := w.bind(d.uid, w.member(d.uid, subject), w.role(d.uid, core.CapFindingsUpdate, core.CapFindingsList, core.CapTagList))
		d.after = func(part int) error {
			if part == 2 {
				return w.p.RoleBindings.Delete(d.owner, bound)
			}
			return nil
		}
		begun, err := d.begin(w.as(subject), stillOpen)
		must(t, err)
		<-d.ended
		o, err := d.p.LongRunning.Get(d.owner, begun.UID)
		must(t, err)
		d.expectDecided(o, operations.Failed, 6)
		if o.Error.Code != core.CodePermissionDenied || types(w.denials()) != "vulnerabilities.finding.changed" {
			t.Errorf("it failed with %+v, and the denials are %q", o.Error, types(w.denials()))
		}
	})
}

func TestADecisionInTheBackgroundKeepsWhatItDecidedBeforeAFailure(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d := w.deciding()
		d.before = func(part int) error {
			if part == 2 {
				return errors.New("the disk is full")
			}
			return nil
		}
		o := d.decide(d.owner, stillOpen)
		d.expectDecided(o, operations.Failed, 3)
		if o.Error.Code != core.CodeInternal || strings.Contains(o.Error.Message, "disk") {
			t.Errorf("it failed with %+v", o.Error)
		}
		d.before = func(int) error { return nil }
		if o := d.decide(d.owner, stillOpen); string(o.Response) != `{"updatedCount":4}` {
			t.Errorf("the same request has done %s of the rest", o.Response)
		}
	})
}

// Each operation has a goroutine, and what it was asked.
func TestAnOrganizationHasFewDecisionsInTheBackground(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d := w.deciding()
		other, goOn := w.found("other"), make(chan struct{})
		d.before = func(int) error { <-goOn; return nil }
		for range 10 {
			_, err := d.begin(d.owner, stillOpen)
			must(t, err)
		}
		_, err := d.begin(d.owner, stillOpen)
		expectRefused(t, "one more", err, core.CodeResourceExhausted)
		_, err = d.p.Findings.UpdateInBackground(other.owner, inventory.FindingUpdate{Within: other.uid, Where: &stillOpen, Change: body[*inventory.Finding](accepted)})
		must(t, err)
		close(goOn)
		for range 11 {
			<-d.ended
		}
		w.expect("all of them", fmt.Sprint(strings.Count(w.findings(d.uid, nil), "ACCEPTED")), "7")
	})
}

func TestDecisionsInTheBackgroundAreCheckedBeforeTheyBegin(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d := w.deciding()
		stranger := w.found("other").owner
		for name, c := range map[string]struct {
			update inventory.FindingUpdate
			fields string
		}{
			"UIDs":      {inventory.FindingUpdate{UIDs: []core.UID{w.listFindings(d.uid)[0].UID}}, "background"},
			"nothing":   {inventory.FindingUpdate{}, "background"},
			"no filter": {inventory.FindingUpdate{Within: d.uid}, "where"},
		} {
			c.update.Change = body[*inventory.Finding](accepted)
			_, err := d.p.Findings.UpdateInBackground(d.owner, c.update)
			w.expect(name, violationFields(err), c.fields)
		}
		refuse := func(what string, ctx context.Context, within core.UID, code core.Code) {
			t.Helper()
			_, err := d.p.Findings.UpdateInBackground(ctx, inventory.FindingUpdate{Within: within, Where: &stillOpen, Change: body[*inventory.Finding](accepted)})
			expectRefused(t, what, err, code)
		}
		refuse("a stranger", stranger, d.uid, core.CodePermissionDenied)
		refuse("nobody", t.Context(), d.uid, core.CodeUnauthenticated)
		refuse("a group that is not there", d.owner, missingBelow(d.uid), core.CodeNotFound)
		if o, err := d.begin(core.WithConditions(d.owner, &core.Conditions{ValidateOnly: true}), stillOpen); o != nil || err != nil {
			t.Errorf("a check begins %+v, %v", o, err)
		}
		w.expect("nothing is decided", fmt.Sprint(strings.Count(w.findings(d.uid, nil), "ACCEPTED")), "0")
	})
}

// Whoever may do what an operation does may see and cancel it.
func TestOperationsNeedWhatTheyDo(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		kinds := map[string]core.Capability{"update/findings": core.CapFindingsUpdate, "import/sbom": core.CapSBOMsImport}
		for kind, needed := range kinds {
			o, err := w.p.LongRunning.Begin(acme.owner, kind, acme.uid)
			must(t, err)
			for other, held := range kinds {
				member := w.memberWith(w.role(acme.uid, held), acme.uid, acme.uid)
				_, read := w.p.LongRunning.Get(member, o.UID)
				_, cancelled := w.p.LongRunning.Cancel(member, o.UID)
				if held == needed {
					must(t, errors.Join(read, cancelled))
					continue
				}
				expectRefused(t, kind+" by who may "+other, read, core.CodePermissionDenied)
				expectRefused(t, kind+" by who may "+other, cancelled, core.CodePermissionDenied)
			}
		}
	})
}
