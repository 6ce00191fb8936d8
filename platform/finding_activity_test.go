package platform_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// The past is what summaries said then, also of images to which no tag points any more; of the repos that still exist.
func TestTheActivityOfFindingsIsWhatWasOpenThen(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const day = 24 * time.Hour
		acme := w.found("acme")
		team := w.group(acme.uid)
		shop, tools, deleted := w.repo(team), w.repo(acme.uid), w.repo(team)
		start := w.now().Truncate(7 * day).Add(7 * day) // a Monday
		said := map[core.UID][]string{}
		describe := func(c inventory.SeverityCount) string { return fmt.Sprintf("%d/%d", c.Total, c.Critical) }
		endDay := func() {
			w.settle()
			for _, within := range []core.UID{acme.uid, team, shop} {
				summary, err := w.p.Findings.Summarize(w.operator(), within)
				must(t, err)
				said[within] = append(said[within], describe(summary.Open.SeverityCount))
			}
			w.pass(day)
		}
		w.pass(start.Sub(w.now()))
		w.sbom(shop, digest(1), "left-pad@1.0.0", "ms@1.0.0")
		w.sbom(shop, digest(2), "left-pad@2.0.0")
		w.sbom(tools, digest(1), "left-pad@1.0.0")
		w.advise(acme.uid, fixedIn("CVE-1", "left-pad", "2.0.0"))
		endDay() // no tag, no finding
		w.point(shop, "latest", digest(1))
		w.point(tools, "latest", digest(1))
		endDay()
		w.advise("", &inventory.Advisory{AdvisoryID: "CVE-2", ArtifactType: "npm", ArtifactName: "ms"})
		gone := w.point(deleted, "latest", digest(3))
		w.advise(acme.uid, &inventory.Advisory{AdvisoryID: "CVE-3", ArtifactName: digest(3)})
		w.settle()
		must(t, w.p.Tags.Delete(w.operator(), gone))
		must(t, w.p.Repos.Delete(w.operator(), deleted))
		endDay()
		_, err := w.p.Findings.Update(w.operator(), inventory.FindingUpdate{Within: tools, Where: &inventory.FindingFilter{}, Change: body[*inventory.Finding](`{"state": "FINDING_STATE_ACCEPTED"}`)})
		must(t, err)
		endDay()
		w.point(shop, "latest", digest(2))
		endDay()
		show := func(ctx context.Context, req core.ActivityRequest) string {
			activity, err := w.p.Activities.ListFindingActivity(ctx, req)
			must(t, err)
			var all []string
			for _, a := range activity {
				all = append(all, describe(a.Open))
			}
			return strings.Join(all, " ")
		}
		from, to := core.At(start), core.At(start.Add(4*day))
		for within, days := range said {
			req := core.ActivityRequest{Within: within, Interval: core.EachDay, From: from, To: to}
			w.expect("the days of "+string(within), show(acme.owner, req), strings.Join(days, " "))
			req.From, req.To = core.At(start.Add(-day)), core.At(start.Add(2*day))
			w.expect("earlier days of "+string(within), show(acme.owner, req), "0/0 "+strings.Join(days[:3], " "))
			req.Interval, req.To = core.EachWeek, core.At(start.Add(8*day))
			w.expect("the weeks of "+string(within), show(acme.owner, req), strings.Join([]string{"0/0", days[4], days[4]}, " "))
		}
		groups := []core.UID{team, acme.uid}
		each, errs := w.p.Activities.ListFindingActivityOf(acme.owner, core.ActivityRequest{Interval: core.EachDay, From: from, To: to}, groups)
		for i, group := range groups {
			must(t, errs[i])
			for day, a := range each[i] {
				w.expect("a day of a group among others", describe(a.Open), said[group][day])
			}
		}
		// What changed on a day in UTC, at its beginning, changed in the evening before in New York, and on the same day in Kathmandu.
		for zone, want := range map[string]string{"America/New_York": said[acme.uid][1] + " " + said[acme.uid][2], "Asia/Kathmandu": said[acme.uid][0] + " " + said[acme.uid][1]} {
			w.expect("days in "+zone, show(acme.owner, core.ActivityRequest{Within: acme.uid, Interval: core.EachDay, From: core.At(start.Add(day / 2)), To: core.At(start.Add(day + day/2)), TimeZone: &zone}), want)
		}
		if got := said[acme.uid]; fmt.Sprint(got) != "[0/0 2/2 3/2 2/1 0/0]" {
			t.Errorf("the summaries said %v", got)
		}
		ofTeam := w.memberWith(iam.ViewerRole, team, acme.uid)
		req := core.ActivityRequest{Within: acme.uid, Interval: core.EachDay, From: from, To: to}
		w.expect("the days of a team's viewer", show(ofTeam, req), strings.Join(said[team], " "))
		req.Within = tools
		_, err = w.p.Activities.ListFindingActivity(ofTeam, req)
		expectRefused(t, "the activity of another group", err, core.CodePermissionDenied)
		_, errs = w.p.Activities.ListFindingActivityOf(ofTeam, req, []core.UID{team, w.group(acme.uid)})
		must(t, errs[0])
		expectRefused(t, "that of another group among some", errs[1], core.CodePermissionDenied)
		req.Within = ""
		_, err = w.p.Activities.ListFindingActivity(acme.owner, req)
		expectRefused(t, "an activity of nothing", err, core.CodeInvalidArgument)
	})
}
