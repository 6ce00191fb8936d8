package platform_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// dayOf returns a time on a day in March 2026.
func dayOf(date int) core.Time {
	return core.At(time.Date(2026, 3, date, 22, 30, 0, 0, time.UTC))
}

func TestTheActivityOfAdvisoriesIsCountedDayByDayAndWeekByWeek(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		repo, err := w.p.Repos.Create(acme.owner, team, body[*inventory.Repo](`{"name": "openssl"}`))
		must(t, err)
		advisory := func(id, artifact string, opened, fixed core.Time) *inventory.Advisory {
			a := &inventory.Advisory{AdvisoryID: id, ArtifactName: artifact, CreateTime: opened}
			if !fixed.IsZero() {
				a.Events = []inventory.AdvisoryEvent{{CreateTime: opened, Detection: &inventory.Detection{Manual: &struct{}{}}}, {CreateTime: fixed, Fixed: &inventory.Fixed{FixedVersion: "2"}}}
			}
			return a
		}
		again := advisory("A-4", "zlib", dayOf(4), dayOf(5))
		again.Events = append(again.Events, inventory.AdvisoryEvent{CreateTime: dayOf(6), Detection: &inventory.Detection{Manual: &struct{}{}}}) // The advisory is detected again.
		gone := advisory("A-5", "zlib", dayOf(4), dayOf(5))
		gone.DeleteTime = dayOf(7)
		_, err = w.p.Feeds.ImportAdvisories(w.operator(), team, []*inventory.Advisory{
			advisory("A-1", "openssl", dayOf(2), dayOf(4)), advisory("A-2", "openssl", dayOf(2), core.Time{}), advisory("A-3", "zlib", dayOf(3), dayOf(9)), again, gone,
		})
		must(t, err)
		w.point(repo.UID, "latest", digest(1))
		w.settle()
		show := func(within core.UID, interval core.ActivityInterval, from, to core.Time) string {
			activity, err := w.p.Activities.ListAdvisoryActivity(acme.owner, core.ActivityRequest{Within: within, Interval: interval, From: from, To: to})
			must(t, err)
			var all []string
			for _, a := range activity {
				all = append(all, fmt.Sprintf("%s:%d/%d", a.Time.Format("02"), a.Opened, a.Fixed))
			}
			return strings.Join(all, " ")
		}
		for _, c := range []struct {
			within   core.UID
			interval core.ActivityInterval
			from, to int
			want     string
		}{
			{acme.uid, core.EachDay, 1, 9, "01:0/0 02:2/0 03:1/0 04:1/1 05:0/0 06:0/0 07:0/0 08:0/0 09:0/1"},
			{team, core.EachDay, 4, 4, "04:1/1"},
			{team, core.EachWeek, 1, 9, "23:0/0 02:4/1 09:0/1"}, // The second of March is a Monday.
			{repo.UID, core.EachDay, 2, 4, "02:2/0 03:0/0 04:0/1"},
			{w.group(acme.uid), core.EachDay, 2, 2, "02:0/0"},
		} {
			if got := show(c.within, c.interval, dayOf(c.from), dayOf(c.to)); got != c.want {
				t.Errorf("%s of %s from %d to %d: %s, want %s", c.interval, c.within, c.from, c.to, got, c.want)
			}
		}
		if n := len(strings.Fields(show(acme.uid, core.EachWeek, core.Time{}, core.Time{}))); n != 30 {
			t.Errorf("%d intervals where none are asked for, want 30", n)
		}
		if n := len(strings.Fields(show(acme.uid, core.EachDay, core.At(dayOf(9).AddDate(0, 0, -399)), dayOf(9)))); n != 400 {
			t.Errorf("%d intervals, want 400", n)
		}
		ask := func(req core.ActivityRequest) error {
			_, err := w.p.Activities.ListAdvisoryActivity(acme.owner, req)
			return err
		}
		for want, req := range map[string]core.ActivityRequest{
			"from": {Within: acme.uid, From: core.At(dayOf(9).AddDate(0, 0, -400)), To: dayOf(9)}, "to": {Within: acme.uid, From: dayOf(9), To: dayOf(8)}, "within": {Within: "x"},
		} {
			if got := violationFields(ask(req)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		if got := violationFields(ask(core.ActivityRequest{Within: acme.uid, To: core.At(time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC))})); got != "to" {
			t.Errorf("intervals before the year 1: %s, want to", got)
		}
		expectRefused(t, "what is not there", ask(core.ActivityRequest{Within: missingBelow(acme.uid)}), core.CodeNotFound)
		_, err = w.p.Activities.ListAdvisoryActivity(w.as("stranger"), core.ActivityRequest{Within: acme.uid})
		expectRefused(t, "a stranger", err, core.CodePermissionDenied)
		onlyAdvisories := w.memberWith(w.role(acme.uid, core.CapAdvisoriesList), acme.uid, acme.uid)
		_, err = w.p.Activities.ListAdvisoryActivity(onlyAdvisories, core.ActivityRequest{Within: repo.UID})
		expectRefused(t, "one who may not read repos", err, core.CodePermissionDenied)
	})
}

func TestTheActivityCountsChangesAndDenials(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team, other := w.group(acme.uid), w.group(acme.uid)
		viewer := w.memberWith(iam.ViewerRole, acme.uid, acme.uid)
		w.repo(team)
		for range 3 {
			_, err := w.p.Repos.Create(viewer, team, body[*inventory.Repo](`{"name": "no"}`))
			expectRefused(t, "a viewer", err, core.CodePermissionDenied)
		}
		w.pass(48 * time.Hour)
		w.repo(team)
		w.repo(team)
		w.repo(other)
		show := func(types ...string) string {
			activity, err := w.p.AuditLog.Activity(acme.owner, core.ActivityRequest{Within: team, From: core.At(epoch), To: core.At(epoch.Add(72 * time.Hour))}, types)
			must(t, err)
			var all []string
			for _, a := range activity {
				all = append(all, fmt.Sprintf("%s:%d/%d", a.Time.Format("02"), a.Changes, a.Denials))
			}
			return strings.Join(all, " ")
		}
		if got := show(); got != "27:2/3 28:0/0 29:2/0 30:0/0" {
			t.Errorf("all: %s, want 27:2/3 28:0/0 29:2/0 30:0/0", got)
		}
		if got := show("platform.registry.repo.created"); got != "27:1/3 28:0/0 29:2/0 30:0/0" {
			t.Errorf("repos: %s, want 27:1/3 28:0/0 29:2/0 30:0/0", got)
		}
		if got := show([]string{}...); got != "" {
			t.Errorf("of no types: %s, want \"\"", got)
		}
		_, err := w.p.AuditLog.Activity(acme.owner, core.ActivityRequest{Within: team}, []string{"none"})
		if got := violationFields(err); got != "kinds[0]" {
			t.Errorf("a kind: %s, want kinds[0]", got)
		}
		_, err = w.p.AuditLog.Activity(viewer, core.ActivityRequest{Within: team}, nil)
		expectRefused(t, "a viewer", err, core.CodePermissionDenied)
	})
}

// Days are those of the zone that is asked for, also where clocks are changed at midnight or skip a day.
func TestDaysAreCutInATimeZone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for _, date := range []int{27, 28, 29, 30} { // 22:30 in UTC. Clocks in Berlin are set forward on the 29th.
			_, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{{AdvisoryID: fmt.Sprint("A-", date), ArtifactName: "zlib", CreateTime: dayOf(date)}})
			must(t, err)
		}
		show := func(req core.ActivityRequest) string {
			req.Within = acme.uid
			activity, err := w.p.Activities.ListAdvisoryActivity(acme.owner, req)
			must(t, err)
			var all []string
			for _, a := range activity {
				all = append(all, fmt.Sprintf("%s:%d", a.Time.Format("02T15:04"), a.Opened))
			}
			return strings.Join(all, " ")
		}
		on := func(year int, month time.Month, date int) core.Time {
			return core.At(time.Date(year, month, date, 12, 0, 0, 0, time.UTC))
		}
		for _, c := range []struct {
			zone     string
			interval core.ActivityInterval
			from, to core.Time
			want     string
		}{
			{"UTC", core.EachDay, dayOf(27), dayOf(30), "27T00:00:1 28T00:00:1 29T00:00:1 30T00:00:1"},
			{"Europe/Berlin", core.EachDay, dayOf(27), dayOf(30), "26T23:00:1 27T23:00:1 28T23:00:0 29T22:00:1 30T22:00:1"},
			{"Europe/Berlin", core.EachWeek, dayOf(27), dayOf(30), "22T23:00:2 29T22:00:2"},
			{"Asia/Kathmandu", core.EachDay, dayOf(28), dayOf(28), "28T18:15:1"},
			{"America/New_York", core.EachDay, dayOf(28), dayOf(28), "28T04:00:1"},
			{"America/Sao_Paulo", core.EachDay, on(2018, 11, 3), on(2018, 11, 5), "03T03:00:0 04T03:00:0 05T02:00:0"}, // The 4th begins at one o'clock.
			{"America/Havana", core.EachDay, on(2025, 11, 1), on(2025, 11, 3), "01T04:00:0 02T04:00:0 03T05:00:0"},    // The 2nd has two midnights.
			{"Pacific/Apia", core.EachDay, on(2011, 12, 29), on(2011, 12, 31), "29T10:00:0 30T10:00:0 31T10:00:0"},    // There is no 30th.
			{"Pacific/Apia", core.EachWeek, on(2011, 12, 25), on(2012, 1, 3), "19T10:00:0 26T10:00:0 01T10:00:0"},     // One week has six days.
			{"Pacific/Kwajalein", core.EachDay, on(1993, 8, 20), on(1993, 8, 22), "20T12:00:0 21T12:00:0 22T12:00:0"}, // There is no 21st.
		} {
			if got := show(core.ActivityRequest{Interval: c.interval, From: c.from, To: c.to, TimeZone: &c.zone}); got != c.want {
				t.Errorf("%s by %s: %s, want %s", c.zone, c.interval, got, c.want)
			}
		}
		events, err := w.p.AuditLog.Activity(acme.owner, core.ActivityRequest{Within: acme.uid, From: dayOf(26), To: dayOf(28), TimeZone: new("Europe/Berlin")}, nil)
		must(t, err)
		if len(events) != 3 || events[1].Time.Format("02T15:04") != "26T23:00" || events[1].Changes == 0 || events[0].Changes != 0 {
			t.Errorf("events by days in Berlin: %+v, want those of the 27th", events)
		}
		for _, zone := range []string{"", "Local", "Europe/Nowhere", "../../etc/passwd", "CEST+1", strings.Repeat("a", 70)} {
			req := core.ActivityRequest{Within: acme.uid, TimeZone: &zone}
			_, ofAdvisories := w.p.Activities.ListAdvisoryActivity(acme.owner, req)
			_, ofEvents := w.p.AuditLog.Activity(acme.owner, req, nil)
			_, ofFindings := w.p.Activities.ListFindingActivity(acme.owner, req)
			for _, err := range []error{ofAdvisories, ofEvents, ofFindings} {
				if got := violationFields(err); got != "timeZone" {
					t.Errorf("%s: %s, want timeZone", zone, got)
				}
			}
		}
	})
}
