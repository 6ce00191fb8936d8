package platform_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

func TestEveryMutationRecordsOneEventOfItsTypeInTheLedger(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		viewer := w.memberWith(iam.ViewerRole, team, acme.uid)
		operations, rpcs := w.operations(team), wireRPCs(t)
		seen := map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(operations)) {
			o, rpc := operations[name], rpcs[name]
			uid := o.on()
			before := w.events()
			// A call that is rejected or fails records nothing.
			if rpc.event != "" {
				_, denied := o.call(viewer, uid)
				_, failed := o.call(acme.owner, missingBelow(uid))
				if denied == nil || failed == nil {
					t.Errorf("%s: %v, %v", name, denied, failed)
				}
			}
			made := since(w.events(), before, "identity.created", "roles.created") // These events are those of what the calls need.
			if len(made) > 0 {
				t.Errorf("%s: refused, it records %s", name, types(made))
			}
			before = w.events()
			if _, err := o.call(acme.owner, uid); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			made = since(w.events(), before)
			made = made[max(0, len(made)-1):] // The events before it are those of what the call needs.
			if rpc.event == "" {
				if len(made) > 0 {
					t.Errorf("%s: records %s", name, types(made))
				}
				continue
			}
			if len(made) != 1 || made[0].kind+".v1" != rpc.event {
				t.Errorf("%s: records %q, want %s", name, types(made), rpc.event)
				continue
			}
			e := made[0]
			if e.subject != uid && (e.subject.Parent() != uid || !strings.Contains(name, "Create") && !strings.HasPrefix(name, "Batch")) {
				t.Errorf("%s: is about %s, want %s or a new one below", name, e.subject, uid)
			}
			want := team
			if strings.HasSuffix(name, "Group") || strings.HasSuffix(name, "AccountAssociation") || name == "AcceptTerms" {
				want = e.subject
			}
			if e.group != want {
				t.Errorf("%s: lies in %s, want %s", name, e.group, want)
			}
			if act := e.actor.Act; e.actor.Subject != string(acme.Identity.UID) || act["iss"] != issuer || act["sub"] != "owner of acme" {
				t.Errorf("%s: by %+v, want Subject %v, iss %v and sub 'owner of acme'", name, e.actor, acme.Identity.UID, issuer)
			}
			about := "uid"
			if name == "AcceptTerms" {
				about = "group"
			}
			var shown map[string]any
			if err := json.Unmarshal([]byte(e.body), &shown); err != nil || shown[about] != string(e.subject) {
				t.Errorf("%s: its body is %s (%v)", name, e.body, err)
			}
			if seen[e.id] {
				t.Errorf("%s: event id %s is used twice", name, e.id)
			}
			seen[e.id] = true
		}
		if len(seen) < 20 {
			t.Errorf("only %d mutations", len(seen))
		}
	})
}

// since returns the later events, except those of the kinds in without.
func since(all, before []event, without ...string) []event {
	return slices.DeleteFunc(slices.Clone(all[len(before):]), func(e event) bool {
		return slices.Contains(without, strings.TrimPrefix(e.kind, "iam."))
	})
}

func TestEventsAreOrderedByTheirIDs(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for range 20 {
			w.pass(5e6)
			w.repo(acme.uid)
		}
		events := w.events()[3:]
		if !slices.IsSortedFunc(events, func(a, b event) int { return strings.Compare(a.id, b.id) }) {
			t.Error("they are not")
		}
		if who := events[0].actor; who.Subject != "test" || who.Act != nil {
			t.Errorf("the operator is recorded as %+v", who)
		}
	})
}

func TestABatchRecordsOneEventForEachBinding(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		var ins []fieldmask.Input[*iam.RoleBinding]
		for range iam.MaxBatchBindings {
			ins = append(ins, binding(w.member(acme.uid, w.name()), iam.ViewerRole))
		}
		before := w.events()
		made, err := w.p.RoleBindings.CreateBatch(acme.owner, newBatch(acme.uid, ins))
		must(t, err)
		events := since(w.events(), before)
		if len(made) != iam.MaxBatchBindings || len(events) != iam.MaxBatchBindings {
			t.Fatalf("%d bindings, want %d, %d events, want %d", len(made), iam.MaxBatchBindings, len(events), iam.MaxBatchBindings)
		}
		for i, e := range events {
			if e.kind != "iam.rolebindings.created.batch" || e.subject != made[i].UID || !strings.Contains(e.body, string(made[i].Identity.UID)) {
				t.Errorf("event %d is %+v, want kind 'iam.rolebindings.created.batch'", i, e)
			}
		}
	})
}

func TestASubscriptionsSecretIsShownOnceAndKeptHidden(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		made, err := w.p.Subscriptions.Create(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://example.com/hook", "types": ["dev.atrium.api.iam.group.created.v1", "dev.atrium.api.events.subscription.test.v1"]}`))
		must(t, err)
		_, err = w.p.Subscriptions.Create(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://example.com/mine", "secret": "mine"}`))
		if got := violationFields(err); got != "secret" {
			t.Errorf("a secret of the caller's own: %s, want secret", got)
		}
		if !strings.HasPrefix(made.Secret, "whsec_") || len(made.Secret) < 6+32 || made.Sink != "https://example.com/hook" || len(made.Types) != 2 {
			t.Errorf("got %+v, want Sink 'https://example.com/hook' and 2 types", made)
		}
		other, err := w.p.Subscriptions.Create(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://example.com/other"}`))
		must(t, err)
		if other.Secret == made.Secret {
			t.Error("two have the same secret")
		}
		read, err := w.p.Subscriptions.Get(acme.owner, made.UID)
		must(t, err)
		page, err := w.p.Subscriptions.List(acme.owner, core.ListRequest[*webhooks.SubscriptionFilter]{})
		must(t, err)
		for _, s := range append(page.Items, read) {
			if s.Secret != "" {
				t.Errorf("a later read shows %q, want Secret \"\"", s.Secret)
			}
		}
		must(t, w.p.Subscriptions.Delete(acme.owner, other.UID))
		var hidden []byte
		must(t, w.raw().QueryRowContext(t.Context(), "SELECT secret FROM subscription").Scan(&hidden))
		plain := strings.TrimPrefix(made.Secret, "whsec_")
		if len(hidden) < 40 || bytes.Contains(hidden, []byte(plain)) || bytes.Contains(hidden, []byte("whsec_")) {
			t.Errorf("stored as %q", hidden)
		}
		for _, e := range w.events() {
			if strings.Contains(strings.ToLower(e.body), "secret") || strings.Contains(e.body, plain) {
				t.Errorf("%s: %s, want it without %q", e.kind, e.body, plain)
			}
		}
	})
}

func TestARetriedTransactionRecordsTheSameEvents(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.p = w.replica(storetest.RepeatingStore{Store: w.store}, platform.Options{AllowSignup: true})
		acme := w.found("acme")
		team := w.group(acme.uid)
		operations, rpcs := w.operations(team), wireRPCs(t)
		for name, o := range operations {
			uid := o.on()
			before := w.events()
			if _, err := o.call(acme.owner, uid); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			made := since(w.events(), before, "identity.created", "roles.created")
			if want := rpcs[name].event; name != "CreateIdentity" && name != "CreateRole" && want != "" && types(made)+".v1" != want {
				t.Errorf("%s: %q, want %s", name, types(made), want)
			}
		}
		bound := w.bind(team, w.member(acme.uid, "x"), iam.EditorRole)
		changed, err := w.p.RoleBindings.Update(acme.owner, bound, body[*iam.RoleBinding](`{"roleUid": %q, "identityUid": %q}`, iam.ViewerRole, w.member(acme.uid, "y")))
		must(t, err)
		if changed.Role.Name != "viewer" || changed.Group.UID != team {
			t.Errorf("got %+v, want Name 'viewer' and UID %v", changed, team)
		}
		repo := w.repo(team)
		tag, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": "t", "digest": %q}`, digest(1)))
		must(t, err)
		moved, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": "t", "digest": %q, "deprecated": true}`, digest(2)))
		must(t, err)
		if moved.UID != tag.UID || moved.Digest != digest(2) || !moved.Deprecated {
			t.Errorf("got %+v, want UID %v and Digest %v", moved, tag.UID, digest(2))
		}
		_, err = w.p.Groups.Create(acme.owner, "", body[*iam.Group](`{"name": "mine"}`))
		must(t, err)
		for round, want := range []string{mustSucceed(1, 0, 0, 0), mustSucceed(0, 0, 1, 0), mustSucceed(0, 1, 0, 0)} {
			text := fmt.Sprint(round / 2)
			repos, err := w.p.Registry.ImportRepos(w.operator(), team, []*registry.ImportedRepo{{Repo: inventory.Repo{Name: "imported"}, Readme: text}}, core.ImportOptions{})
			expectImported(t, "repo", repos, err, want)
			tags, err := w.p.Registry.ImportTags(w.operator(), []*registry.ImportedTag{{Repo: repo, Tag: inventory.Tag{Name: "i", Digest: digest(round / 2)}}}, core.ImportOptions{})
			expectImported(t, "tag", tags, err, want)
			advisories, err := w.p.Feeds.ImportAdvisories(w.operator(), team, []*inventory.Advisory{{AdvisoryID: "A", ArtifactName: "a", Author: text}})
			expectImported(t, "advisory", advisories, err, want)
			vulnerabilities, err := w.p.Feeds.ImportVulnerabilities(w.operator(), []*inventory.Vulnerability{{ID: "A", Summary: text, Aliases: []string{"B"}}})
			expectImported(t, "vulnerability", vulnerabilities, err, want)
		}
		w.checkCounters()
	})
}

func TestEveryEventNamesTheTypeOfItsBody(t *testing.T) {
	t.Parallel()
	const group = core.UID("0123456789abcdef0123456789abcdef01234567")
	bodies := map[string]bool{}
	for _, rpc := range wireRPCs(t) {
		if rpc.event == "" {
			continue
		}
		e := core.Event{Type: "dev.atrium.api." + rpc.event, Subject: group + "/0000000000000001"}
		if platform.AllEventTypes().BodyOf(&e) == "" {
			t.Errorf("%s is of no kind", e.Type)
		}
		bodies[platform.AllEventTypes().BodyOf(&e)] = true
		want := core.UID("")
		if platform.AllEventTypes().BodyOf(&e) == "iam.ExternalGroupRoleMapping" {
			want = group
		}
		if got := platform.AllEventTypes().IdentityProviderOf(&e); got != want {
			t.Errorf("%s: the provider is %q, want %q", e.Type, got, want)
		}
	}
	// Twelve kinds have events, and each has its own body.
	if !bodies["iam.Group"] || !bodies["registry.Tag"] || !bodies["iam.AcceptedTerms"] || len(bodies) != 12 {
		t.Errorf("the bodies are %v, want 12 items", slices.Sorted(maps.Keys(bodies)))
	}
	if e := (&core.Event{Type: "dev.atrium.api.iam.groupies.created.v1"}); platform.AllEventTypes().BodyOf(e) != "" {
		t.Errorf("an unknown kind's body is %s", platform.AllEventTypes().BodyOf(e))
	}
}

// The index of the resources that events mention must not slow down writes: those that mention
// none write nothing to it, and a batch that does takes one statement more in the same round trip.
func TestTheIndexOfMentionsTakesNoRoundTrip(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		var bindings []fieldmask.Input[*iam.RoleBinding]
		for range iam.MaxBatchBindings {
			bindings = append(bindings, binding(w.member(acme.uid, w.name()), iam.ViewerRole))
		}
		var tags []core.BatchRequest[*inventory.Tag]
		for i := range 100 {
			tags = append(tags, requests[*inventory.Tag](repo, tagBody(fmt.Sprint("t", i), 1))...)
		}
		for name, c := range map[string]struct {
			write    func(ctx context.Context) error
			mentions int
			trips    int64 // as many as without the index
		}{
			"a repo": {func(ctx context.Context) error {
				_, err := w.p.Repos.Create(ctx, acme.uid, body[*inventory.Repo](`{"name": "one"}`))
				return err
			}, 0, 2},
			"100 tags": {func(ctx context.Context) error { _, err := w.p.Tags.CreateBatch(ctx, tags); return err }, 0, 4},
			"25 bindings": {func(ctx context.Context) error {
				_, err := w.p.RoleBindings.CreateBatch(ctx, newBatch(acme.uid, bindings))
				return err
			}, 3 * iam.MaxBatchBindings, 6}, // the identity, the role and the group of each
		} {
			before := w.count("event_mention")
			var cost core.Trace
			must(t, c.write(core.WithTrace(acme.owner, &cost)))
			if n := w.count("event_mention") - before; n != c.mentions {
				t.Errorf("%s: %d mentions, want %d", name, n, c.mentions)
			}
			if n := cost.RoundTrips.Load(); n != c.trips {
				t.Errorf("%s: %d round trips, want %d", name, n, c.trips)
			}
		}
	})
}

// count counts the rows of a table.
func (w *world) count(table string) (n int) {
	w.Helper()
	must(w, w.raw().QueryRowContext(w.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}
