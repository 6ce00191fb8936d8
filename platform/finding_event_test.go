package platform_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// However many advisories change an image, its findings have one event.
func TestEventsOfFindingsAreThoseOfImages(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repos := []core.UID{w.repo(acme.uid), w.repo(acme.uid)}
		var all []*inventory.Advisory
		var held []string
		for i := range 30 {
			name := fmt.Sprintf("p%d", i)
			held = append(held, name+"@1.0.0")
			all = append(all, fixedIn(fmt.Sprintf("CVE-%d", i), name, "2.0.0"))
		}
		for i, repo := range repos {
			w.sbom(repo, digest(i), held...)
			w.point(repo, "latest", digest(i))
		}
		w.settle()
		before := len(w.events())
		w.advise(acme.uid, all...)
		w.settle()
		events := w.events()[before:]
		w.expect("the events of 60 findings", types(events), "vulnerabilities.finding.opened vulnerabilities.finding.opened")
		var change inventory.FindingChange
		must(t, json.Unmarshal([]byte(events[0].body), &change))
		if change.Count != 30 || len(change.Findings) != 30 || len(change.Counts) != 1 || change.Counts[0].Count != 30 || change.Counts[0].Rating != core.SeverityCritical {
			t.Errorf("the body is %s", events[0].body)
		}
		before += len(events)
		w.advise(acme.uid, fixedIn("CVE-100", "p0", "2.0.0"))
		withdrawn := fixedIn("CVE-100", "p0", "2.0.0")
		withdrawn.DeleteTime, withdrawn.UpdateTime = core.At(epoch), core.At(epoch.AddDate(1, 0, 0))
		w.advise(acme.uid, withdrawn)
		w.settle()
		w.expect("the events of what came and went unseen", types(w.events()[before:]), "")
		w.expectCounters(acme.uid)
	})
}

func TestEventsOfFindingsReachFeedsLogsAndSinks(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop := w.group(acme.uid)
		repo, other := w.repo(shop), w.repo(acme.uid)
		conditional := func(group core.UID, c inventory.FindingConditions) core.UID {
			t.Helper()
			made, err := w.p.Subscriptions.CreateConditional(acme.owner, group, body[*webhooks.Subscription](`{"sink": "https://%s.example.com/"}`, w.name()), nil, &c)
			must(t, err)
			if found := w.subscriptionAgain(made.UID).Findings; found == nil && (c.MinSeverity != "" || c.KnownExploited || c.Within != nil) {
				t.Errorf("the conditions %+v were not stored", c)
			}
			return made.UID
		}
		everything := w.subscribe(acme.uid, "vulnerabilities.finding.opened").UID
		low := conditional(acme.uid, inventory.FindingConditions{MinSeverity: core.SeverityLow})
		critical := conditional(acme.uid, inventory.FindingConditions{MinSeverity: core.SeverityCritical})
		exploited := conditional(acme.uid, inventory.FindingConditions{KnownExploited: true})
		ofShop := conditional(acme.uid, inventory.FindingConditions{Within: []core.UID{shop}})
		for i, in := range []core.UID{repo, other} {
			w.sbom(in, digest(i), "a@1.0.0")
			w.point(in, "latest", digest(i))
		}
		mild := fixedIn("CVE-1", "a", "2.0.0")
		mild.Severities[0].Score = "3.0"
		w.advise(acme.uid, mild)
		w.settle()
		worse := fixedIn("CVE-2", "a", "2.0.0")
		w.advise(shop, worse)
		w.settle()
		w.relay()
		opened := func(subscription core.UID) (n int) {
			for _, d := range w.deliveries(subscription) {
				if strings.HasSuffix(d.EventType, "finding.opened.v1") {
					n++
				}
			}
			return n
		}
		for _, c := range []struct {
			what         string
			subscription core.UID
			want         int
		}{{"all", everything, 3}, {"low and worse", low, 3}, {"critical", critical, 1}, {"known exploited", exploited, 0}, {"of the shop", ofShop, 2}} {
			if got := opened(c.subscription); got != c.want {
				t.Errorf("%s: %d deliveries, want %d", c.what, got, c.want)
			}
		}
		if n := len(w.deliveries(critical)); n < 5 {
			t.Errorf("conditions about findings leave only %d deliveries of all events", n)
		}
		page, err := w.p.AuditLog.List(acme.owner, events.AuditRequest{Types: []string{"vulnerabilities.finding.opened"}})
		must(t, err)
		if len(page.Items) != 3 {
			t.Errorf("the audit log has %d events", len(page.Items))
		}
		start, seen, enough := "", 0, errors.New("enough")
		err = follow(acme.owner, w.p, events.EventRequest{After: &start, Types: []string{"vulnerabilities.finding.opened"}}, func(*core.Event) error {
			if seen++; seen == 3 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Errorf("the feed has %d events: %v", seen, err)
		}
		for fields, c := range map[string]inventory.FindingConditions{
			"findings.minSeverity": {MinSeverity: "x"}, "findings.within[0]": {Within: []core.UID{"x"}}, "findings.within[1]": {Within: []core.UID{shop, acme.uid}},
		} {
			_, err := w.p.Subscriptions.CreateConditional(acme.owner, shop, body[*webhooks.Subscription](`{"sink": "https://%s.example.com/"}`, w.name()), nil, &c)
			w.expect("bad conditions", violationFields(err), fields)
		}
	})
}
