package platform_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

func requests[T any](uid core.UID, bodies ...string) []core.BatchRequest[T] {
	var all []core.BatchRequest[T]
	for _, b := range bodies {
		all = append(all, core.BatchRequest[T]{UID: uid, Input: fieldmask.JSONInput[T]([]byte(b), nil)})
	}
	return all
}

func tagBody(name string, n int) string {
	return `{"name": "` + name + `", "digest": "` + digest(n) + `"}`
}

func TestABatchOfTagsIsAllOrNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		repo, other := w.repo(acme.uid), w.repo(team)
		first, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`%s`, tagBody("one", 1)))
		must(t, err)
		before := len(w.events())
		for what, c := range map[string]struct {
			requests []core.BatchRequest[*inventory.Tag]
			want     string
		}{
			"none":                 {nil, "requests"},
			"too many":             {make([]core.BatchRequest[*inventory.Tag], 101), "requests"},
			"several wrong":        {append(requests[*inventory.Tag](repo, tagBody("a", 1), `{"name": ".b", "digest": "x"}`), requests[*inventory.Tag]("x", tagBody("c", 1))...), "requests[1].name requests[1].digest requests[2].parent"},
			"the same name twice":  {requests[*inventory.Tag](repo, tagBody("a", 1), tagBody("a", 2)), "requests[1].name"},
			"what is not a field":  {requests[*inventory.Tag](repo, tagBody("a", 1), `{"name": "b", "digest": "`+digest(1)+`", "nope": 1}`), "requests[1].nope"},
			"what the service set": {requests[*inventory.Tag](repo, `{"name": "b", "digest": "`+digest(1)+`", "updateTime": "2026-01-01T00:00:00Z"}`), "requests[0].updateTime"},
		} {
			if _, err := w.p.Tags.CreateBatch(acme.owner, c.requests); violationFields(err) != c.want {
				t.Errorf("%s: %s, want %s", what, violationFields(err), c.want)
			}
		}
		_, err = w.p.Tags.CreateBatch(acme.owner, append(requests[*inventory.Tag](repo, tagBody("a", 1)), requests[*inventory.Tag](missingBelow(acme.uid), tagBody("b", 1))...))
		if e := refusal(t, "a missing repo", err, core.CodeNotFound); !strings.Contains(e.Message, "requests[1]") || e.Metadata["request"] != "requests[1]" {
			t.Errorf("a missing repo is refused as %s, %v", e.Message, e.Metadata)
		}
		if n := len(w.events()) - before; n != 0 {
			t.Errorf("refused batches left %d events", n)
		}
		lister := w.memberWith(w.role(acme.uid, core.CapTagCreate), team, acme.uid)
		_, err = w.p.Tags.CreateBatch(lister, append(requests[*inventory.Tag](other, tagBody("a", 1)), requests[*inventory.Tag](repo, tagBody("b", 1))...))
		if e := refusal(t, "one without the right", err, core.CodePermissionDenied); e.Metadata["request"] != "requests[1]" || e.Metadata["capability"] != "tag.create" {
			t.Errorf("it is refused with %v", e.Metadata)
		}
		if denials := w.denials(); len(denials) == 0 || denials[len(denials)-1].subject != repo {
			t.Error("the refusal is not in the log")
		}
		_, err = w.p.Tags.CreateBatch(t.Context(), nil)
		expectRefused(t, "nobody", err, core.CodeUnauthenticated)
		before = len(w.events())

		bodies := []string{tagBody("zero", 7), tagBody("one", 8)}
		for i := range 20 { // This number is inserted with COPY.
			bodies = append(bodies, tagBody("more-"+string(rune('a'+i)), i))
		}
		made, err := w.p.Tags.CreateBatch(acme.owner, append(requests[*inventory.Tag](repo, bodies...), requests[*inventory.Tag](other, tagBody("one", 9))...))
		must(t, err)
		if len(made) != 23 || made[0].Name != "zero" || made[1].UID != first.UID || made[1].Digest != digest(8) || made[22].UID.Parent() != other {
			t.Errorf("it made %d tags, want 23, the second %+v", len(made), made[1])
		}
		if got := types(w.events()[before:]); got != strings.TrimSpace(strings.Repeat("platform.registry.tag.created ", 23)) {
			t.Errorf("it recorded %s", got)
		}
		page, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo}})
		must(t, err)
		if page.TotalCount != 22 {
			t.Errorf("the repo has %d tags, want 22", page.TotalCount)
		}
		w.checkCounters()
	})
}

func TestABatchOfDeletionsTakesAllOrNone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		one, two := w.tag(repo), w.tag(repo)
		before := len(w.events())
		if got := violationFields(w.p.Tags.DeleteBatch(acme.owner, nil)); got != "uids" {
			t.Errorf("none: %s, want uids", got)
		}
		if got := violationFields(w.p.Tags.DeleteBatch(acme.owner, []core.UID{one, "x", one, two, "y"})); got != "uids[1] uids[2] uids[4]" {
			t.Errorf("wrong ones: %s, want uids[1] uids[2] uids[4]", got)
		}
		err := w.p.Tags.DeleteBatch(acme.owner, []core.UID{two, missingBelow(repo), one, repo + "/00000000000000fe"})
		if e := refusal(t, "a missing one", err, core.CodeNotFound); !strings.Contains(e.Message, "uids[1]") && !strings.Contains(e.Message, "uids[3]") {
			t.Errorf("a missing one is refused as %s", e.Message)
		}
		if got := violationFields(err); got != "uids[1] uids[3]" {
			t.Errorf("the missing ones are %s, want uids[1] uids[3]", got)
		}
		if n := len(w.events()) - before; n != 0 {
			t.Errorf("refused batches left %d events", n)
		}
		must(t, w.p.Tags.DeleteBatch(acme.owner, []core.UID{two, one}))
		if got := types(w.events()[before:]); got != "platform.registry.tag.deleted platform.registry.tag.deleted" {
			t.Errorf("it recorded %s, want platform.registry.tag.deleted platform.registry.tag.deleted", got)
		}
		w.checkCounters()
	})
}

func TestABatchOfBindingsNeverTakesTheLastOwner(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		second := w.bind(acme.uid, w.member(acme.uid, "ann"), iam.OwnerRole)
		third := w.bind(acme.uid, w.member(acme.uid, "bob"), iam.ViewerRole)
		expectRefused(t, "every owner", w.p.RoleBindings.DeleteBatch(acme.owner, []core.UID{third, second, acme.Binding.UID}, ""), core.CodeFailedPrecondition, "LAST_OWNER")
		must(t, w.p.RoleBindings.DeleteBatch(acme.owner, []core.UID{third, second}, ""))
		page, err := w.p.RoleBindings.List(acme.owner, core.ListRequest[*iam.RoleBindingFilter]{})
		must(t, err)
		if page.TotalCount != 1 {
			t.Errorf("%d bindings are left, want 1", page.TotalCount)
		}
	})
}

func TestABatchOfUpdatesChangesAllOrNone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		one, two, three := w.repo(acme.uid), w.repo(acme.uid), w.repo(acme.uid)
		before := len(w.events())
		batch := func(all ...core.BatchRequest[*inventory.Repo]) ([]*inventory.Repo, error) {
			return w.p.Repos.UpdateBatch(acme.owner, all)
		}
		request := func(uid core.UID, body string) core.BatchRequest[*inventory.Repo] {
			return requests[*inventory.Repo](uid, body)[0]
		}
		_, err := batch(request(one, `{"name": "A B"}`), request("x", `{}`), request(one, `{"description": "d"}`), request(two, `{"catalogTier": "none", "uid": "y"}`))
		if got := violationFields(err); got != "requests[0].name requests[1].uid requests[2].uid requests[3].uid requests[3].catalogTier" && got != "requests[0].name requests[1].uid requests[2].uid requests[3].catalogTier requests[3].uid" {
			t.Errorf("wrong ones: %s", got)
		}
		_, err = batch(request(one, `{"description": "d"}`), request(missingBelow(acme.uid), `{"description": "d"}`), request(acme.uid+"/00000000000000fe", `{}`))
		if e := refusal(t, "a missing one", err, core.CodeNotFound); !strings.Contains(e.Message, "requests[") {
			t.Errorf("a missing one is refused as %s", e.Message)
		}
		if got := violationFields(err); got != "requests[1].uid requests[2].uid" {
			t.Errorf("the missing ones are %s, want requests[1].uid requests[2].uid", got)
		}
		_, err = batch(request(one, `{"description": "d"}`), request(two, `{"name": "taken"}`), request(three, `{"name": "taken"}`))
		if e := refusal(t, "a name twice", err, core.CodeAlreadyExists); !strings.Contains(e.Message, "requests[") {
			t.Errorf("a name twice is refused as %s", e.Message)
		}
		if n := len(w.events()) - before; n != 0 {
			t.Errorf("refused batches left %d events", n)
		}
		rows, err := batch(request(three, `{"description": "3"}`), request(one, `{"description": "1"}`), request(two, `{}`))
		must(t, err)
		if len(rows) != 3 || rows[0].UID != three || rows[0].Description != "3" || rows[1].Description != "1" || rows[2].UID != two {
			t.Errorf("it answers %+v, want 3 of them", rows)
		}
		if got := types(w.events()[before:]); got != "platform.registry.repo.updated platform.registry.repo.updated" {
			t.Errorf("it recorded %s, want 'platform.registry.repo.updated platform.registry.repo.updated'", got)
		}
	})
}

func TestABatchOfIdentitiesIsAllOrNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team, before := w.group(acme.uid), len(w.events())
		rule := func(name, subject string) string {
			return `{"name": "` + name + `", "claimMatch": {"issuer": "` + issuer + `", "subject": "` + subject + `"}}`
		}
		batch := func(all ...core.BatchRequest[*iam.Identity]) ([]*iam.Identity, error) {
			return w.p.Identities.CreateBatch(acme.owner, all)
		}
		_, err := batch(append(requests[*iam.Identity](team, `{"name": "A"}`, rule("ok", "x")), requests[*iam.Identity]("x", `{"name": "B", "claimMatch": {"issuer": "i"}}`)...)...)
		if got := violationFields(err); got != "requests[0].name requests[2].parent requests[2].name requests[2].claimMatch.issuer requests[2].claimMatch.subject" {
			t.Errorf("wrong ones: %s, %v", got, err)
		}
		_, err = batch(append(requests[*iam.Identity](team, rule("ok", "x")), requests[*iam.Identity](missingBelow(acme.uid), `{"name": "lost"}`)...)...)
		if e := refusal(t, "a missing group", err, core.CodeNotFound); e.Metadata["request"] != "requests[1]" {
			t.Errorf("a missing group is refused with %v", e.Metadata)
		}
		var equal []string
		for i := range 21 {
			equal = append(equal, rule(fmt.Sprint("equal", i), "z"))
		}
		_, err = batch(requests[*iam.Identity](team, equal...)...)
		if e := refusal(t, "equal rules", err, core.CodeFailedPrecondition); !strings.Contains(e.Message, "may have 20 identities") || e.Metadata["request"] != "requests[20]" {
			t.Errorf("equal rules are refused with %q, %v", e.Message, e.Metadata)
		}
		if n := len(w.events()) - before; n != 0 {
			t.Errorf("refused batches left %d events", n)
		}
		made, err := batch(append(requests[*iam.Identity](team, rule("one", "x"), rule("two", "y")), requests[*iam.Identity](acme.uid, `{"name": "three"}`)...)...)
		must(t, err)
		if len(made) != 3 || made[1].Name != "two" || made[1].UID.Parent() != team || made[2].UID.Parent() != acme.uid {
			t.Errorf("it made %+v", made)
		}
		w.bind(team, made[0].UID, iam.ViewerRole)
		err = w.p.Identities.DeleteBatch(acme.owner, []core.UID{made[1].UID, made[0].UID})
		if e := refusal(t, "one that is bound", err, core.CodeFailedPrecondition); e.Metadata["request"] != "uids[1]" {
			t.Errorf("one that is bound is refused with %v", e.Metadata)
		}
		must(t, w.p.Identities.DeleteBatch(acme.owner, []core.UID{made[2].UID, made[1].UID}))
		if got := types(w.events()[before:]); got != "iam.identity.created iam.identity.created iam.identity.created iam.rolebindings.created iam.identity.deleted iam.identity.deleted" {
			t.Errorf("it recorded %s", got)
		}
		w.checkCounters()
	})
}

func TestABatchOfInvitesTellsAllThatIsWrongAndItsCodesOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team, foreign := w.group(acme.uid), w.role(other.uid)
		offer := func(role core.UID) string { return `{"roleUid": "` + string(role) + `", "ttl": "60s"}` }
		batch := func(ctx context.Context, bodies ...string) ([]*iam.GroupInvite, error) {
			return w.p.GroupInvites.CreateBatch(ctx, requests[*iam.GroupInvite](team, bodies...))
		}
		// What only the transaction finds out is told of all requests too.
		_, err := batch(acme.owner, offer(foreign), offer(iam.ViewerRole), offer(foreign))
		if got := violationFields(err); got != "requests[0].roleUid requests[2].roleUid" {
			t.Errorf("roles of another organization: %s, %v", got, err)
		}
		inviter := w.memberWith(w.role(acme.uid, core.CapGroupInvitesCreate, core.CapRoleBindingsCreate), team, acme.uid)
		_, err = batch(inviter, offer(iam.ViewerRole))
		expectRefused(t, "more than the caller holds", err, core.CodePermissionDenied)
		made, err := batch(acme.owner, offer(iam.ViewerRole), offer(iam.EditorRole))
		must(t, err)
		if len(made) != 2 || made[0].Code == "" || made[0].Code == made[1].Code || made[1].Role.Name != "editor" {
			t.Errorf("it made %+v", made)
		}
		if read, err := w.p.GroupInvites.Get(acme.owner, made[0].UID); err != nil || read.Code != "" {
			t.Errorf("the code can be read: %+v, %v", read, err)
		}
		for _, e := range w.events() {
			if strings.Contains(e.body, made[0].Code) {
				t.Error("the event shows the code")
			}
		}
		_, err = w.p.GroupInvites.Accept(w.as("somebody"), made[1].Code)
		must(t, err)
		must(t, w.p.GroupInvites.DeleteBatch(acme.owner, []core.UID{made[0].UID, made[1].UID}))
		w.checkCounters()
	})
}

func TestABatchOfSubscriptionsIsAllOrNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		to := func(sink string, findings *inventory.FindingConditions) webhooks.SubscriptionRequest {
			return webhooks.SubscriptionRequest{BatchRequest: requests[*webhooks.Subscription](acme.uid, `{"sink": "`+sink+`"}`)[0], Findings: findings}
		}
		batch := func(all ...webhooks.SubscriptionRequest) ([]*webhooks.Subscription, error) {
			return w.p.Subscriptions.CreateBatch(acme.owner, all)
		}
		_, err := batch(to("x", nil), to("https://one.example.com", &inventory.FindingConditions{Within: []core.UID{"y"}}))
		if got := violationFields(err); got != "requests[0].sink requests[1].findings.within[0]" {
			t.Errorf("wrong ones: %s, %v", got, err)
		}
		_, err = batch(to("https://one.example.com", nil), to("https://one.example.com", nil))
		if e := refusal(t, "a sink twice", err, core.CodeAlreadyExists); violationFields(e) != "requests[1].sink" {
			t.Errorf("a sink twice: %s, %v", violationFields(e), e.Metadata)
		}
		made, err := batch(to("https://one.example.com", nil), to("https://two.example.com", &inventory.FindingConditions{KnownExploited: true}))
		must(t, err)
		if len(made) != 2 || made[0].Secret == "" || made[0].Secret == made[1].Secret || made[1].Findings == nil {
			t.Errorf("it made %+v", made)
		}
		_, err = batch(to("https://three.example.com", nil), to("https://one.example.com", nil))
		if e := refusal(t, "a stored sink", err, core.CodeAlreadyExists); violationFields(e) != "requests[1].sink" || e.Resource.Name != string(made[0].UID) {
			t.Errorf("a stored sink: %s, %v", violationFields(e), e.Resource)
		}
		if read, err := w.p.Subscriptions.Get(acme.owner, made[0].UID); err != nil || read.Secret != "" {
			t.Errorf("the secret can be read: %+v, %v", read, err)
		}
		must(t, w.p.Subscriptions.DeleteBatch(acme.owner, []core.UID{made[0].UID, made[1].UID}))
		w.checkCounters()
	})
}
