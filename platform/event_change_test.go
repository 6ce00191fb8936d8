package platform_test

import (
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// changesOf returns the changes of the newest event, as "field: before -> after".
func (w *world) changesOf(o org) string {
	w.Helper()
	page, err := w.p.AuditLog.List(o.owner, events.AuditRequest{PageSize: 1})
	must(w, err)
	var all []string
	for _, c := range page.Items[0].Changes {
		all = append(all, c.Field+": "+string(c.Before)+" -> "+string(c.After))
	}
	return strings.Join(all, "; ")
}

func TestAnUpdateRecordsEachFieldThatItNamed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		made, err := w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": "go", "description": "one", "bundles": ["b"], "sync_config": {"source": "docker.io/go"}}`))
		must(t, err)
		if got := w.changesOf(acme); got != "" {
			t.Errorf("a creation has the changes %s", got)
		}
		long := `"` + strings.Repeat("x", 400) + `"`
		for _, c := range []struct {
			body, mask, want string
		}{
			{`{"description": "two"}`, "", `description: "one" -> "two"`},
			{`{"description": null, "aliases": ["golang"]}`, "", `description: "two" -> ; aliases:  -> ["golang"]`},
			{`{"name": "go"}`, "", `name: "go" -> "go"`},
			{`{"name": "golang", "description": "left out"}`, "name", `name: "go" -> "golang"`},
			{`{"sync_config": {"google": "g"}}`, "sync_config.google", `sync_config.google:  -> "g"`},
			{`{"bundles": [` + long + strings.Repeat(", "+long, 50) + `]}`, "bundles", `bundles: ["b"] -> `}, // This value is too long to be kept.
		} {
			var mask []string
			if c.mask != "" {
				mask = []string{c.mask}
			}
			_, err := w.p.Repos.Update(acme.owner, made.UID, fieldmask.JSONInput[*inventory.Repo]([]byte(c.body), mask))
			must(t, err)
			if got := w.changesOf(acme); got != c.want {
				t.Errorf("%s: %s, want %s", c.body, got, c.want)
			}
		}
		_, err = w.p.Repos.UpdateReadme(acme.owner, made.UID, body[*inventory.Readme](`{"content": "# Go"}`))
		must(t, err)
		if got := w.changesOf(acme); got != `readme: "" -> "# Go"` {
			t.Errorf("a readme: %s, want %q", got, `readme: "" -> "# Go"`)
		}
	})
}

func TestChangesShowBoundResourcesAndHideSecrets(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		ann := w.member(acme.uid, "ann")
		bound := w.bind(acme.uid, ann, iam.ViewerRole)
		_, err := w.p.RoleBindings.Update(acme.owner, bound, body[*iam.RoleBinding](`{"roleUid": %q}`, iam.EditorRole))
		must(t, err)
		// The names stand there too, because roles and identities can be gone when somebody reads the event.
		if got, want := w.changesOf(acme), `roleUid: "`+string(iam.ViewerRole)+`" -> "`+string(iam.EditorRole)+`"; role: {"uid":"`+string(iam.ViewerRole)+`","name":"viewer",`; !strings.HasPrefix(got, want) || strings.Contains(got, "identity") {
			t.Errorf("%s, want it to begin with %s", got, want)
		}
		sink := w.subscription(acme.uid)
		_, err = w.p.Subscriptions.RotateSecret(acme.owner, sink)
		must(t, err)
		if got := w.changesOf(acme); got != "secret:  -> " {
			t.Errorf("a rotation: %s, want %q", got, "secret:  -> ")
		}
		provider, err := w.p.IdentityProviders.Create(acme.owner, acme.uid, body[*iam.IdentityProvider](
			`{"name": "okta", "defaultRole": %q, "oidc": {"issuer": "https://okta.example.com", "clientId": "c", "clientSecret": "hush"}}`, iam.ViewerRole))
		must(t, err)
		_, err = w.p.IdentityProviders.Update(acme.owner, provider.UID, inputWithMask[*iam.IdentityProvider](`{"oidc": {"clientSecret": "whisper", "clientId": "d"}}`, "oidc.clientSecret", "oidc.clientId"))
		must(t, err)
		if got := w.changesOf(acme); got != `oidc.clientSecret:  -> ; oidc.clientId: "c" -> "d"` {
			t.Errorf("a client secret: %s, want %q", got, `oidc.clientSecret:  -> ; oidc.clientId: "c" -> "d"`)
		}
		_, err = w.p.IdentityProviders.Update(acme.owner, provider.UID, inputWithMask[*iam.IdentityProvider](`{"oidc": {"issuer": "https://okta.example.com", "clientId": "e", "clientSecret": "shout"}}`, "oidc"))
		must(t, err)
		if got := w.changesOf(acme); strings.Contains(got, "shout") || !strings.Contains(got, `"clientId":"e"`) {
			t.Errorf("a configuration: %s, want it without 'shout'", got)
		}
	})
}

// Two updates run concurrently. The recorded change of one must begin where the other
// ended.
func TestChangesOfConcurrentUpdatesAreAChain(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		done := make(chan error)
		const writers, writes = 4, 5
		for range writers {
			go func() {
				for range writes {
					if _, err := w.p.Repos.Update(acme.owner, repo, body[*inventory.Repo](`{"description": %q}`, w.name())); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range writers {
			must(t, <-done)
		}
		before, after := map[string]int{}, map[string]int{}
		for _, e := range w.mustReadLog(acme.owner, events.AuditRequest{Types: []string{"platform.registry.repo.updated"}}) {
			before[string(e.Changes[0].Before)]++
			after[string(e.Changes[0].After)]++
		}
		if len(after) != writers*writes || len(before) != writers*writes {
			t.Fatalf("%d values before and %d after, want %d of each", len(before), len(after), writers*writes)
		}
		ends := 0
		for value := range after {
			if before[value] == 0 {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("%d values were never replaced, want the last one", ends)
		}
	})
}

func TestShortEventTypesAreAcceptedAndUnknownOnesRejected(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.repo(acme.uid)
		for _, spelled := range []string{"iam.group.created", "iam.group.created.v1", "dev.atrium.api.iam.group.created", "dev.atrium.api.iam.group.created.v1"} {
			page, err := w.p.AuditLog.List(acme.owner, events.AuditRequest{Types: []string{spelled}})
			must(t, err)
			if len(page.Items) != 1 || page.Items[0].Type != "dev.atrium.api.iam.group.created.v1" {
				t.Errorf("%s finds %d events, want 1", spelled, len(page.Items))
			}
			from := ""
			feed, err := w.p.Events.Open(acme.owner, events.EventRequest{Types: []string{spelled}, After: &from, First: 1})
			must(t, err)
			must(t, feed.Follow(acme.owner, func(e *core.Event) error {
				if e.Type != "dev.atrium.api.iam.group.created.v1" {
					t.Errorf("%s is given %s, want dev.atrium.api.iam.group.created.v1", spelled, e.Type)
				}
				return nil
			}))
			exported := 0
			must(t, w.p.AuditLog.Export(w.operator(), events.AuditRequest{Types: []string{spelled}}, func(*core.Event) error { exported++; return nil }))
			if exported != 1 {
				t.Errorf("%s exports %d events, want 1", spelled, exported)
			}
			sub, err := w.p.Subscriptions.Create(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://%s.example.com/", "types": [%q]}`, w.name(), spelled))
			must(t, err)
			if sub.Types[0] != "dev.atrium.api.iam.group.created.v1" {
				t.Errorf("%s is kept as %s, want dev.atrium.api.iam.group.created.v1", spelled, sub.Types[0])
			}
		}
		wrong := []string{"iam.group.created", "iam.groups.created"}
		_, err := w.p.AuditLog.List(acme.owner, events.AuditRequest{Types: wrong})
		if got := violationFields(err); got != "kinds[1]" {
			t.Errorf("the log: %s, want kinds[1]", got)
		}
		_, err = w.p.Events.Open(acme.owner, events.EventRequest{Types: wrong})
		if got := violationFields(err); got != "kinds[1]" {
			t.Errorf("the feed: %s, want kinds[1]", got)
		}
		if got := violationFields(w.p.AuditLog.Export(w.operator(), events.AuditRequest{Types: wrong}, nil)); got != "kinds[1]" {
			t.Errorf("the export: %s, want kinds[1]", got)
		}
	})
}

func TestAnEventNamesItsResource(t *testing.T) {
	t.Parallel()
	group := core.UID(strings.Repeat("a", 40))
	for _, c := range []struct{ kind, denied, want string }{
		{"platform.registry.repo.updated", "", "Repo"},
		{"platform.registry.repo.created", "no", "Group"},
		{"platform.registry.tag.created", "no", "Repo"},
		{"iam.rolebindings.created.batch", "", "RoleBinding"},
		{"iam.rolebindings.created.batch", "no", "Group"},
		{"iam.external_group_role_mappings.deleted.batch", "no", "IdentityProvider"},
		{"iam.terms.accepted", "", "Group"},
		{"iam.group.issuer_allowed", "", "Group"},
		{"events.subscription.redelivered", "", "Delivery"},
		{"nothing.of.ours", "", ""},
	} {
		e := core.Event{Type: "dev.atrium.api." + c.kind + ".v1", Subject: group, Denied: c.denied}
		if kind, uid := platform.AllEventTypes().ResourceOf(&e); kind != c.want || uid != group {
			t.Errorf("%s (denied: %q) tells of the %s %s, want %s", c.kind, c.denied, kind, uid, c.want)
		}
	}
}
