package platform_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/intake"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// sampleFile has a body of each type of event, which docs/event-types.md shows.
const sampleFile = "testdata/events.json"

// The guide shows what receivers get: a body of each type, from a change that made it, with the same uids and times in each run.
// ATRIUM_WRITE_REFERENCE=1 go test ./platform -run EveryTypeOfEvent writes the file.
func TestEveryTypeOfEventHasASample(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.makeEveryEvent(acme)
		newest := map[string]event{}
		for _, e := range w.events() {
			if old, found := newest[e.kind]; !found || old.actor.Subject != string(acme.Identity.UID) || e.actor.Subject == old.actor.Subject {
				newest[e.kind] = e
			}
		}
		samples := map[string]json.RawMessage{}
		for _, full := range platform.AllEventTypes().All() {
			kind := strings.TrimSuffix(strings.TrimPrefix(full, core.EventPrefix), core.EventVersion)
			if e, made := newest[kind]; made {
				samples[kind] = json.RawMessage(steadyText(e.body))
			} else {
				t.Errorf("no change makes an event %s: add one to makeEveryEvent", kind)
			}
		}
		got, err := json.MarshalIndent(samples, "", "  ")
		must(t, err)
		if got = append(got, '\n'); os.Getenv("ATRIUM_WRITE_REFERENCE") != "" && w.isSQLite() {
			must(t, os.WriteFile(sampleFile, got, 0o600))
		}
		if want, err := os.ReadFile(sampleFile); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what changes record (%v): write it with ATRIUM_WRITE_REFERENCE=1, then the pages of the reference:\n%s", sampleFile, err, got)
		}
	})
}

// makeEveryEvent makes an event of each type.
func (w *world) makeEveryEvent(acme org) {
	w.Helper()
	p, team := w.p, w.group(acme.uid)

	failing := w.subscribe(team, core.EventPrefix+"platform.registry.repo.created"+core.EventVersion).UID
	for range 2 {
		w.repo(team)
		w.relay()
		w.end(w.claimUIDs()[0], webhooks.Attempt{Status: 500})
		w.pass(5 * 24 * time.Hour)
	}
	_, err := p.Subscriptions.Enable(acme.owner, failing)
	must(w, err)
	_, err = p.Subscriptions.Test(acme.owner, failing)
	must(w, err)
	w.relay()
	sent := w.claimUIDs()[0]
	w.end(sent, webhooks.Attempt{Status: 200})
	_, err = p.Deliveries.Redeliver(acme.owner, []core.UID{sent})
	must(w, err)

	source, err := p.Sources.Create(acme.owner, team, body[*intake.Source](`{"name": "advisories", "type": "SOURCE_TYPE_OSV", "url": "https://feeds.example.com/all.zip"}`))
	must(w, err)
	for _, run := range []intake.SourceRun{{State: intake.Failed, Error: "feeds.example.com answers 503"}, {State: intake.Succeeded}} {
		_, err = p.Sources.Run(acme.owner, source.UID)
		must(w, err)
		queue := p.Sources.Queue(time.Minute)
		claimed, _, err := queue.Claim(w.Context(), intake.Share{})
		must(w, err)
		must(w, queue.End(w.Context(), claimed.Ticket, run, nil))
	}
	must(w, p.Sources.Delete(acme.owner, source.UID))

	repo := w.repo(team)
	w.setDue(acme.owner, team, inventory.DueDays{KnownExploited: new(3), Critical: new(7)})
	w.sbom(repo, digest(1), "left-pad@1.0.0")
	tag := w.point(repo, "latest", digest(1))
	w.advise(acme.uid, fixedIn("CVE-2026-12345", "left-pad", "1.4.2"))
	w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{w.listFindings(team)[0].UID}}, accepted)
	w.triage(acme.owner, inventory.FindingUpdate{Within: team, Where: vulnerabilities("CVE-2026-12345")}, notAffected)
	must(w, p.Tags.Delete(acme.owner, tag))
	w.settle()

	_, err = p.RoleBindings.Confirm(acme.owner, unseen(w.bind(team, w.member(acme.uid, w.name()), iam.ViewerRole)), "still on call")
	must(w, err)
	operations, rpcs := w.operations(team), wireRPCs(w)
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		if o := operations[name]; rpcs[name].event != "" {
			_, err := o.call(acme.owner, o.on())
			must(w, err)
		}
	}
	w.strict() // Only a server that needs proofs has allowances.
	must(w, w.p.Issuers.Allow(w.operator(), acme.uid, workplace))
	must(w, w.p.Issuers.Revoke(w.operator(), acme.uid, workplace))

	w.inRealTime()
	w.bindUntil(team, w.member(acme.uid, w.name()), iam.ViewerRole, w.endIn(time.Hour))
	w.endBindings()
	must(w, w.p.RoleBindings.DeleteExpired(w.Context()))
}

var (
	uidPart   = regexp.MustCompile(`\b(?:[0-9a-f]{40}|[0-9a-f]{16})\b`)
	aTime     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)
	eventID   = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	givenName = regexp.MustCompile(`\bn\d+\b`) // by world.name
)

// steadyText returns a body with uids, times and names that are the same in each run.
func steadyText(body string) string {
	parts := map[string]string{}
	body = uidPart.ReplaceAllStringFunc(body, func(part string) string {
		if parts[part] == "" {
			parts[part] = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(len(parts))}))[:len(part)]
		}
		return parts[part]
	})
	body = aTime.ReplaceAllLiteralString(body, "2026-11-30T11:40:27.305Z")
	body = eventID.ReplaceAllLiteralString(body, "01a22c41-9d29-7d03-8b1a-5bfc4d81977d")
	return givenName.ReplaceAllLiteralString(body, "shop")
}
