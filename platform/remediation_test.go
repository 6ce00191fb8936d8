package platform_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// A calendar is a world whose days begin at midnight on a Monday.
type calendar struct {
	*world
	start time.Time
}

const oneDay = 24 * time.Hour

func newCalendar(w *world) *calendar {
	start := w.now().Truncate(7 * oneDay).Add(14 * oneDay) // The zero time is a Monday.
	return &calendar{w, start}
}

// goTo settles, and moves the clock to noon of a day, or some minutes later, so that whole days lie between.
func (c *calendar) goTo(day int) {
	c.settle()
	c.pass(c.start.Add(time.Duration(day)*(oneDay+time.Minute) + oneDay/2).Sub(c.now()))
}

// remediations describes each day with something that appeared or went: opened/fixed/resolved/removed, and the days to fix.
func (c *calendar) remediations(within core.UID, interval core.ActivityInterval, days int) string {
	c.Helper()
	c.settle()
	activity, err := c.p.Remediations.Activity(c.operator(), core.ActivityRequest{Within: within, Interval: interval, From: core.At(c.start), To: core.At(c.start.Add(time.Duration(days) * oneDay))})
	must(c, err)
	var all []string
	for _, a := range activity {
		if a.Opened.Total+a.Fixed.Total+a.Resolved.Total+a.Removed.Total == 0 {
			continue
		}
		text := fmt.Sprintf("%d:%d/%d/%d/%d", int(a.Time.Sub(c.start)/oneDay), a.Opened.Total, a.Fixed.Total, a.Resolved.Total, a.Removed.Total)
		if took := a.TimeToFix(); took != nil {
			text += fmt.Sprintf(" in %g (%g)", took.MeanDays, took.MedianDays)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestAVulnerabilityIsFixedWhenALaterImageIsWithoutIt(t *testing.T) {
	type act struct {
		day int
		do  func(c *calendar, repo core.UID)
	}
	hold := func(image int, packages ...string) func(*calendar, core.UID) {
		return func(c *calendar, repo core.UID) {
			c.sbom(repo, digest(image), packages...)
			c.point(repo, "latest", digest(image))
		}
	}
	also := func(name string, image int, packages ...string) func(*calendar, core.UID) {
		return func(c *calendar, repo core.UID) {
			c.sbom(repo, digest(image), packages...)
			c.point(repo, name, digest(image))
		}
	}
	drop := func(name string) func(*calendar, core.UID) {
		return func(c *calendar, repo core.UID) {
			tags, err := c.p.Tags.List(c.operator(), core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo}, Filter: &inventory.TagFilter{Name: name}})
			must(c, err)
			must(c, c.p.Tags.Delete(c.operator(), tags.Items[0].UID))
		}
	}
	for name, x := range map[string]struct {
		acts []act
		want string
	}{
		"the tag moves to an image with the fix":  {[]act{{0, hold(1, "ms@1.0.0")}, {6, hold(2, "ms@2.0.0")}}, "0:1/0/0/0, 6:0/1/0/0 in 6 (6)"},
		"a rebuild still has it":                  {[]act{{0, hold(1, "ms@1.0.0")}, {2, hold(2, "ms@1.0.0")}, {5, hold(3, "ms@1.0.1")}, {6, hold(4, "ms@2.0.0")}}, "0:1/0/0/0, 6:0/1/0/0 in 6 (6)"},
		"another tag still has it":                {[]act{{0, hold(1, "ms@1.0.0")}, {1, also("old", 2, "ms@1.0.0")}, {2, hold(3, "ms@2.0.0")}}, "0:1/0/0/0"},
		"the other tag follows":                   {[]act{{0, hold(1, "ms@1.0.0")}, {1, also("old", 2, "ms@1.0.0")}, {2, hold(3, "ms@2.0.0")}, {4, also("old", 3, "ms@2.0.0")}}, "0:1/0/0/0, 4:0/1/0/0 in 4 (4)"},
		"the tag is deleted":                      {[]act{{0, hold(1, "ms@1.0.0")}, {3, drop("latest")}}, "0:1/0/0/0, 3:0/0/0/1"},
		"only an earlier image is left":           {[]act{{0, also("old", 1, "ms@2.0.0")}, {1, hold(2, "ms@1.0.0")}, {3, drop("latest")}}, "1:1/0/0/0, 3:0/0/0/1"},
		"nobody knows what the later image holds": {[]act{{0, hold(1, "ms@1.0.0")}, {3, func(c *calendar, repo core.UID) { c.point(repo, "latest", digest(2)) }}}, "0:1/0/0/0, 3:0/0/0/1"},
		"the advisory is withdrawn": {[]act{{0, hold(1, "ms@1.0.0")}, {4, func(c *calendar, repo core.UID) {
			gone := fixedIn("CVE-1", "ms", "2.0.0")
			gone.UpdateTime, gone.DeleteTime = core.At(c.now()), core.At(c.now())
			c.advise(repo.Root(), gone)
		}}}, "0:1/0/0/0, 4:0/0/1/0"},
		"another SBOM of the same image":          {[]act{{0, hold(1, "ms@1.0.0")}, {4, hold(1, "ms@2.0.0")}}, "0:1/0/0/0, 4:0/0/1/0"},
		"it comes back":                           {[]act{{0, hold(1, "ms@1.0.0")}, {2, hold(2, "ms@2.0.0")}, {4, hold(3, "ms@1.0.0")}}, "0:1/0/0/0"},
		"it comes back and goes":                  {[]act{{0, hold(1, "ms@1.0.0")}, {2, hold(2, "ms@2.0.0")}, {4, hold(3, "ms@1.0.0")}, {6, hold(4, "ms@2.0.0")}}, "0:1/0/0/0, 6:0/1/0/0 in 6 (6)"},
		"an import passes through it":             {[]act{{0, hold(1, "ms@2.0.0")}, {1, hold(2, "ms@1.0.0")}, {1, hold(3, "ms@2.0.0")}}, ""},
		"the risk is accepted before it is fixed": {[]act{{0, hold(1, "ms@1.0.0")}, {1, decide(inventory.FindingAccepted)}, {3, hold(2, "ms@2.0.0")}}, "0:1/0/0/0, 3:0/1/0/0 in 3 (3)"},
		"it does not affect the image":            {[]act{{0, hold(1, "ms@1.0.0")}, {1, decide(inventory.FindingNotAffected)}, {3, hold(2, "ms@2.0.0")}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			onEachEngine(t, func(t *testing.T, w *world) {
				acme := w.found("acme")
				c := newCalendar(w)
				repo := w.repo(w.group(acme.uid))
				w.advise(acme.uid, fixedIn("CVE-1", "ms", "2.0.0"))
				for _, a := range x.acts {
					c.goTo(a.day)
					a.do(c, repo)
				}
				c.settle()
				c.pass(2 * time.Hour)
				for _, within := range []core.UID{repo, repo.Parent(), acme.uid} {
					w.expect("days of "+string(within), c.remediations(within, core.EachDay, 9), x.want)
				}
			})
		})
	}
}

// decide decides about all findings of a repo.
func decide(state inventory.FindingState) func(*calendar, core.UID) {
	return func(c *calendar, repo core.UID) {
		decision := body[*inventory.Finding](`{"state": %q}`, state)
		if state == inventory.FindingNotAffected {
			decision = body[*inventory.Finding](`{"state": %q, "justification": "component_not_present"}`, state)
		}
		c.settle()
		_, err := c.p.Findings.Update(c.operator(), inventory.FindingUpdate{Within: repo, Where: &inventory.FindingFilter{}, Change: decision})
		must(c, err)
	}
}

func TestTimeToFixIsOfEachRating(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		c := newCalendar(w)
		shop, lab := w.repo(w.group(acme.uid)), w.repo(w.group(acme.uid))
		low := fixedIn("CVE-4", "d", "2.0.0")
		low.Severities[0].Score = "2.0"
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"), fixedIn("CVE-3", "c", "2.0.0"), low)
		held := []string{"a@1.0.0", "b@1.0.0", "c@1.0.0", "d@1.0.0"}
		image := 0
		deploy := func(day int, repo core.UID) {
			c.goTo(day)
			image++
			w.sbom(repo, digest(image), held...)
			w.point(repo, "latest", digest(image))
		}
		deploy(0, shop)
		deploy(0, lab)
		held[0] = "a@2.0.0"
		deploy(1, shop)
		held[1] = "b@2.0.0"
		deploy(2, shop)
		held[2], held[3] = "c@2.0.0", "d@2.0.0"
		deploy(6, shop)
		w.expect("by day", c.remediations(acme.uid, core.EachDay, 6), "0:8/0/0/0, 1:0/1/0/0 in 1 (1), 2:0/1/0/0 in 2 (2), 6:0/2/0/0 in 6 (6)")
		w.expect("by week", c.remediations(acme.uid, core.EachWeek, 6), "0:8/4/0/0 in 3.75 (4)")
		w.expect("of the other repo", c.remediations(lab, core.EachWeek, 6), "0:4/0/0/0")
		weeks, err := w.p.Remediations.Activity(acme.owner, core.ActivityRequest{Within: shop, Interval: core.EachWeek, From: core.At(c.start), To: core.At(c.start)})
		must(t, err)
		var ratings []string
		for _, took := range weeks[0].TimesToFix() {
			ratings = append(ratings, fmt.Sprintf("%s %d in %g (%g)", strings.TrimPrefix(string(took.Rating), "SEVERITY_RATING_"), took.Count, took.MeanDays, took.MedianDays))
		}
		w.expect("by rating", strings.Join(ratings, ", "), "CRITICAL 3 in 3 (2), LOW 1 in 6 (6)")
		if got := weeks[0].Fixed; got.Critical != 3 || got.Low != 1 {
			t.Errorf("%+v are fixed, want 3 critical ones and a low one", got)
		}
		days, err := w.p.Remediations.Activity(acme.owner, core.ActivityRequest{Within: acme.uid, Interval: core.EachDay, From: core.At(c.start.Add(oneDay)), To: core.At(c.start.Add(2 * oneDay)), TimeZone: new("Asia/Tokyo")})
		must(t, err)
		if len(days) != 2 || days[0].Fixed.Total != 1 || days[1].Fixed.Total != 1 || days[0].Opened.Total != 0 {
			t.Errorf("two days in Tokyo are %+v, want a fix in each", days)
		}
		ofLab := w.memberWith(iam.ViewerRole, lab.Parent(), acme.uid)
		seen, err := w.p.Remediations.Activity(ofLab, core.ActivityRequest{Within: acme.uid, Interval: core.EachWeek, From: core.At(c.start), To: core.At(c.start)})
		must(t, err)
		if seen[0].Opened.Total != 4 || seen[0].Fixed.Total != 0 {
			t.Errorf("a member of one group sees %+v, want what its repo has", seen)
		}
		ask := func(within core.UID, req core.ActivityRequest) error {
			req.Within = within
			_, err := w.p.Remediations.Activity(ofLab, req)
			return err
		}
		expectRefused(t, "another group", ask(shop, core.ActivityRequest{}), core.CodePermissionDenied)
		expectRefused(t, "a group that is not there", ask(missingBelow(lab.Parent()), core.ActivityRequest{}), core.CodeNotFound)
		w.expect("nothing", violationFields(ask("", core.ActivityRequest{})), "within")
		w.expect("an unknown zone", violationFields(ask(lab, core.ActivityRequest{TimeZone: new("Nowhere")})), "timeZone")
		w.expect("too many days", violationFields(ask(lab, core.ActivityRequest{From: core.At(c.start.AddDate(-2, 0, 0))})), "from")
		tags, err := w.p.Tags.List(w.operator(), core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: shop}})
		must(t, err)
		must(t, w.p.Tags.Delete(w.operator(), tags.Items[0].UID))
		must(t, w.p.Repos.Delete(w.operator(), shop))
		w.expect("after a repo is deleted", c.remediations(acme.uid, core.EachWeek, 6), "0:4/0/0/0")
		var none []reports.Remediation
		if none, err = w.p.Remediations.Activity(acme.owner, core.ActivityRequest{Within: acme.uid, From: core.At(c.start.AddDate(-1, 0, 0)), To: core.At(c.start.AddDate(-1, 0, 0))}); err != nil || len(none) != 1 || none[0].Opened.Total != 0 {
			t.Errorf("a year ago: %+v, %v, want a day without any", none, err)
		}
	})
}
