package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

func TestOnlyAddressesReceiveMail(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		p := w.replica(w.store, platform.Options{Mail: true})
		many := strings.Repeat("a@example.com,", 21)
		for sink, want := range map[string]string{
			"mailto:ada@example.com": "", "mailto:a.b+c@x-y.example.com,grace@example.com": "",
			"https://example.com": "sink", "mailto:": "sink", "mailto:ada": "sink", "mailto:ada@example.com,": "sink", "mailto:ada@localhost": "sink", "mailto:ada@127.0.0.1": "sink",
			"mailto:ada@example.com?bcc=eve@example.com": "sink", "mailto:ada@example.com%0d%0aBcc:eve@example.com": "sink", "mailto:ada@example.com\r\nBcc:eve@example.com": "sink",
			"mailto:Ada <ada@example.com>": "sink", "mailto:\"a b\"@example.com": "sink", "mailto:ada@example.com,ada@example.com": "sink", "mailto:" + many[:len(many)-1]: "sink",
			"mailto:" + strings.Repeat("a", 250) + "@example.com": "sink", "mailto:<ada@example.com>": "sink", "ada@example.com": "sink",
		} {
			_, err := p.Subscriptions.Create(acme.owner, acme.uid, fieldmask.TypedInput(&webhooks.Subscription{Sink: sink, Format: webhooks.FormatEmail}, "sink", "format"))
			if got := violationFields(err); (err == nil) != (want == "") || err != nil && got != want {
				t.Errorf("%.60q: violations of %q, want %q (%v)", sink, got, want, err)
			}
		}
	})
}

// newDigest subscribes a chat to all events of an organization.
func (w *world) newDigest(org core.UID, digest webhooks.Digest, types ...string) core.UID {
	w.Helper()
	s, err := w.p.Subscriptions.Create(w.operator(), org, fieldmask.TypedInput(&webhooks.Subscription{Sink: "https://chat.example.com/" + core.RandomHex(8), Types: types, Format: webhooks.FormatSlack, Digest: digest}, "sink", "types", "format", "digest"))
	must(w, err)
	return s.UID
}

// A digest is due at the end of its interval, and has what was recorded until then.
func TestADigestCollectsWhatHappensUntilItIsDue(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const made = "platform.registry.repo.created"
		hourly, daily, immediate := w.newDigest(acme.uid, webhooks.DigestHourly, made), w.newDigest(acme.uid, webhooks.DigestDaily, made), w.newDigest(acme.uid, webhooks.DigestImmediate, made)
		w.repo(acme.uid)
		w.relay()
		w.repo(acme.uid)
		w.repo(acme.uid)
		w.relay()
		now := w.now()
		for uid, want := range map[core.UID]time.Time{
			hourly: now.Truncate(time.Hour).Add(time.Hour), daily: now.Add(-6 * time.Hour).Truncate(core.Day).Add(core.Day + 6*time.Hour), immediate: now.Add(5 * time.Second),
		} {
			got := w.deliveries(uid)
			if len(got) != 1 || got[0].EventCount() != 3 || got[0].NextAttemptTime.Sub(want).Abs() > time.Second {
				t.Fatalf("got %+v, want one delivery of 3 events at about %s", got, want)
			}
		}
		if due := w.claimUIDs(); len(due) != 0 {
			t.Errorf("%v is due before its time", due)
		}
		w.pass(time.Hour)
		claimed := w.claimUIDs()
		if len(claimed) != 2 {
			t.Fatalf("%d deliveries are due after an hour, want those of the hour and of the moment", len(claimed))
		}
		w.repo(acme.uid)
		w.relay()
		for _, uid := range []core.UID{hourly, immediate} {
			counts := map[int32]int{}
			for _, d := range w.deliveries(uid) {
				counts[d.EventCount()]++
			}
			if counts[3] != 1 || counts[1] != 1 {
				t.Errorf("%v: deliveries by number of events, want that a claimed one collects no more", counts)
			}
		}
	})
}

// What opens and is resolved within a digest is counted, and not told of as open.
func TestAMessageTellsOfImagesAndTheirWorstFindings(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop := w.group(acme.uid)
		repo := w.imageWith(shop, "a", "b")
		w.settle()
		w.newDigest(shop, webhooks.DigestHourly, "vulnerabilities.finding.opened", "vulnerabilities.finding.resolved", "iam.rolebindings.created")
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"))
		w.settle()
		w.sbom(repo, digest(1), "a@1.0.0", "b@2.0.0")
		w.settle()
		w.memberWith(iam.ViewerRole, shop, shop)
		w.relay()
		w.pass(time.Hour)
		claimed := w.claim()
		if len(claimed) != 1 {
			t.Fatalf("%v are due, want one message", claimed)
		}
		begun := w.begin(claimed[0])
		m := begun.Message
		if m == nil || m.Events != 3 || len(m.Images) != 1 || len(m.Changes) != 1 || begun.Format != webhooks.FormatSlack || len(begun.Secrets) != 0 {
			t.Fatalf("got %+v of %+v, want a message of three events, without secrets", m, begun)
		}
		image := m.Images[0]
		named, err := w.p.Groups.Get(w.operator(), shop)
		must(t, err)
		path := []string{"acme", named.Name}
		if image.Key != (core.ImageKey{Repo: repo, Digest: digest(1)}) || image.Opened != 2 || image.Resolved != 1 || !slices.Equal(image.GroupNames, path) || image.RepoName == "" || !slices.Equal(image.Tags, []string{"latest"}) {
			t.Errorf("the image is %+v, want its path, tags and counts", image)
		}
		if len(image.Worst) != 1 || image.Worst[0].VulnerabilityID != "CVE-1" || image.Worst[0].InstalledVersion != "1.0.0" || !slices.Equal(image.Worst[0].FixedVersions, []string{"2.0.0"}) {
			t.Errorf("the worst findings are %+v, want the one that is still open, with its fix", image.Worst)
		}
		if change := m.Changes[0]; change.Kind != "RoleBinding" || change.Verb != "created" || !slices.Equal(change.GroupNames, path) || change.Actor != "test" {
			t.Errorf("the change is %+v, want the role binding, its group and who made it", change)
		}
		page, err := w.p.Tags.List(w.operator(), core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo}})
		must(t, err)
		must(t, w.p.Tags.Delete(w.operator(), page.Items[0].UID))
		must(t, w.p.Repos.Delete(w.operator(), repo))
		if again := w.begin(claimed[0]); again == nil || len(again.Message.Images) != 1 || again.Message.Images[0].RepoName == "" {
			t.Errorf("after the deletion of the repo the message is %+v, want it with the name that the event has", again)
		}
	})
}

// A digest is sent again as a whole, and fails if its events are gone.
func TestADigestIsRedelivered(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		uid := w.newDigest(acme.uid, webhooks.DigestDaily, "platform.registry.repo.created")
		w.repo(acme.uid)
		w.repo(acme.uid)
		w.relay()
		w.pass(2 * core.Day)
		for range 2 {
			ticket := w.claim()[0]
			if begun := w.begin(ticket); begun == nil || begun.Message.Events != 2 {
				t.Fatalf("got %+v, want a message of two events", begun)
			}
			w.end(ticket.Delivery, webhooks.Attempt{Status: 200})
			again, err := w.p.Deliveries.Redeliver(w.operator(), []core.UID{ticket.Delivery})
			must(t, err)
			if again[0].EventCount() != 2 {
				t.Errorf("%d events are redelivered, want 2", again[0].EventCount())
			}
		}
		must(t, w.p.Subscriptions.Delete(w.operator(), uid))
		var left int
		must(t, w.raw().QueryRowContext(w.Context(), "SELECT count(*) FROM digest_event").Scan(&left))
		if left != 0 {
			t.Errorf("%d events of digests are left of a deleted subscription", left)
		}
	})
}
