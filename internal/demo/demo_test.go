package demo

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

// Every chart, list and review that looks back has something to show as soon as the demonstration is there.
func TestTheDemonstrationHasAPast(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *sqlstore.Store) {
		options := platform.Options{AllowIssuers: true, AuditRetention: Retention}
		p, err := platform.New(t.Context(), s, options)
		check(t, err)
		check(t, Seed(t.Context(), p, s, options, ""))
		check(t, p.Maintain(core.WithActor(t.Context(), core.NewOperator("test"))))
		actor, err := p.Authenticate(t.Context(), developer("owner"))
		check(t, err)
		ctx, acme := core.WithActor(t.Context(), actor), actor.Identities[0].Root()
		now := time.Now()
		weeks := core.ActivityRequest{Within: acme, Interval: core.EachWeek, From: core.At(now.AddDate(0, 0, -25*7))}

		findings, err := p.Activities.ListFindingActivity(ctx, weeks)
		check(t, err)
		levels := map[int64]bool{}
		for _, week := range findings {
			levels[week.Open.Total] = true
			if week.Open.Total == 0 {
				t.Errorf("nothing was open in the week of %v", week.Time)
			}
		}
		if len(findings) != 26 || len(levels) < 8 {
			t.Errorf("the open findings of %d weeks have %d numbers, want 26 with at least 8", len(findings), len(levels))
		}
		advisories, err := p.Activities.ListAdvisoryActivity(ctx, weeks)
		check(t, err)
		var opened, fixed int64
		for _, week := range advisories {
			opened, fixed = opened+week.Opened, fixed+week.Fixed
		}
		if opened < 10 || fixed < 3 {
			t.Errorf("%d advisories were opened and %d fixed, want at least 10 and 3", opened, fixed)
		}
		activity, err := p.AuditLog.Activity(ctx, weeks, nil)
		check(t, err)
		var denials int64
		for _, week := range activity[:25] {
			denials += week.Denials
			if week.Changes == 0 {
				t.Errorf("nothing was changed in the week of %v", week.Time)
			}
		}
		if denials != 4 {
			t.Errorf("%d changes were denied, want 4", denials)
		}
		summary, err := p.Findings.Summarize(ctx, acme)
		check(t, err)
		ages, err := p.Findings.CountAges(ctx, []*inventory.FindingSummary{summary}, []int{7, 30, 90})
		check(t, err)
		for _, age := range ages[0] {
			if age.Open.Total == 0 {
				t.Errorf("no open finding is from %d days old", age.FromDays)
			}
		}
		if summary.Accepted.Total == 0 {
			t.Error("no risk is accepted")
		}

		repos, err := p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{Filter: &inventory.RepoFilter{Name: "checkout"}})
		check(t, err)
		if len(repos.Items) != 1 || !slices.Equal(repos.Items[0].ActiveTags, []string{"5.0.2", "latest"}) {
			t.Errorf("the active tags of checkout are not those of today: %v", repos.Items)
		}

		had := func(days int) (names []string) {
			page, err := p.AuditLog.AccessAt(ctx, events.AccessRequest{Group: acme, From: core.At(now.AddDate(0, 0, -days)), PageSize: 100})
			check(t, err)
			if !page.Complete {
				t.Errorf("the audit log does not tell all of who had access %d days ago", days)
			}
			for _, one := range page.Items {
				names = append(names, one.IdentityName)
			}
			return names
		}
		if then, today := had(100), had(0); !slices.Contains(then, "maria") || slices.Contains(today, "maria") || slices.Contains(then, "lee") || !slices.Contains(today, "lee") {
			t.Errorf("access 100 days ago: %v, and today: %v", then, today)
		}
		unreviewed, err := p.RoleBindings.List(ctx, core.ListRequest[*iam.RoleBindingFilter]{UIDP: core.UIDFilter{DescendantsOf: acme}, Filter: &iam.RoleBindingFilter{UnreviewedSince: core.At(now.AddDate(0, 0, -90))}})
		check(t, err)
		if len(unreviewed.Items) == 0 {
			t.Error("no role is left to review")
		}
		deliveries, err := p.Deliveries.List(ctx, core.ListRequest[*webhooks.DeliveryFilter]{UIDP: core.UIDFilter{DescendantsOf: acme}})
		check(t, err)
		retried := 0
		for _, d := range deliveries.Items {
			if d.State != webhooks.DeliveryDelivered {
				t.Errorf("a delivery is %s", d.State)
			}
			if d.Attempts > 1 {
				retried++
			}
		}
		if len(deliveries.Items) < 20 || retried == 0 {
			t.Errorf("%d events were delivered, %d of them not at once", len(deliveries.Items), retried)
		}
		if n, err := p.Webhooks.Relay(context.WithoutCancel(ctx)); n != 0 || err != nil {
			t.Errorf("%d events are left to deliver: %v", n, err)
		}
		if wrong, err := s.Recount(t.Context()); wrong != 0 || err != nil {
			t.Errorf("%d counters are wrong: %v", wrong, err)
		}
		if wrong, err := p.Findings.Review(core.WithActor(t.Context(), core.NewOperator("test"))); wrong != 0 || err != nil {
			t.Errorf("%d findings are wrong: %v", wrong, err)
		}
	})
}

// Those whom the provider of deploy/demo signs in have their roles, and others at it have none. Its files name the same people and addresses.
func TestVisitorsOfTheDemonstrationAreLetIn(t *testing.T) {
	t.Parallel()
	const issuer, nothing = "http://127.0.0.1:5556/dex", "false false false"
	s, options := storetest.Open(t, storetest.SQLite(t)), platform.Options{AllowIssuers: true}
	p, err := platform.New(t.Context(), s, options)
	check(t, err)
	check(t, Seed(t.Context(), p, s, options, issuer))
	may := func(email string, isVerified bool) string {
		actor, err := p.Authenticate(t.Context(), iam.Claims{
			Issuer: issuer, Subject: "CgNhZGESBWxvY2Fs", Audience: []string{"atrium"}, ServiceAudience: true, Values: map[string]any{"email": email, "email_verified": isVerified},
		})
		check(t, err)
		acme, err := Organization(t.Context(), p)
		check(t, err)
		return fmt.Sprint(actor.Can(core.CapRepoList, acme), actor.Can(core.CapRepoUpdate, acme), actor.Can(core.CapRoleBindingsCreate, acme))
	}
	provider := read(t, "dex.yaml")
	for name, role := range visitors {
		email := name + "@example.com"
		want := map[core.UID]string{iam.OwnerRole: "true true true", iam.EditorRole: "true true false", iam.ViewerRole: "true false false"}[role]
		if got := may(email, true); got != want {
			t.Errorf("%s may list, change and give roles: %s, want %s", name, got, want)
		}
		if got := may(email, false); got != nothing {
			t.Errorf("%s may do something without a verified address: %s", name, got)
		}
		if !strings.Contains(provider, "email: "+email+" #") {
			t.Errorf("deploy/demo/dex.yaml does not sign %s in", email)
		}
	}
	if got := may("eve@example.com", true); got != nothing {
		t.Errorf("a stranger may do something: %s", got)
	}
	if n := strings.Count(provider, "email: "); n != len(visitors) {
		t.Errorf("deploy/demo/dex.yaml signs in %d people, want %d", n, len(visitors))
	}
	compose := read(t, "compose.yaml")
	redirect := "http://127.0.0.1:8080/console/~signed-in/" + strings.TrimPrefix(issuer, "http://")
	for text, lines := range map[string][]string{
		provider: {"issuer: " + issuer + "\n", "id: atrium\n", "- " + redirect + "\n", "[http://127.0.0.1:8080]"},
		compose:  {"ATRIUM_CONSOLE_ISSUER: " + issuer + "\n", "ATRIUM_CONSOLE_CLIENT_ID: atrium\n", "ATRIUM_AUDIENCE: atrium\n", "ATRIUM_PRIVATE_ISSUER: 127.0.0.1:5556\n", "ATRIUM_PUBLIC_URL: http://127.0.0.1:8080\n"},
	} {
		for _, line := range lines {
			if !strings.Contains(text, line) {
				t.Errorf("deploy/demo has no %q", line)
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/demo/" + name)
	check(t, err)
	return string(text)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheDemonstrationDiffersFromRealData(t *testing.T) {
	t.Parallel()
	for _, s := range services {
		if s.name < "b" {
			t.Errorf("%s comes before the official images", s.name)
		}
	}
	found, vulnerabilities := newAdvisories(newClock(nil))
	for i, a := range found {
		hasName := func(s service) bool { return s.name == a.ArtifactName }
		isOfRepo := a.ArtifactType == "oci" // The others are about packages.
		if isOfRepo != slices.ContainsFunc(services, hasName) || vulnerabilities[i].ID != a.AdvisoryID || !strings.HasPrefix(a.AdvisoryID, "ACME-") {
			t.Errorf("%s is of no repo, without metadata, or has the name of a real one", a.AdvisoryID)
		}
	}
	var official []string
	content, err := os.Open("../../../shared/data/registry.jsonl.gz")
	if err != nil {
		t.Skipf("the real data is not beside this clone, in ../shared/data: %v", err)
	}
	defer content.Close()
	plain, err := gzip.NewReader(content)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`"kind": "repo", "name": "([^"]+)"`).FindAllStringSubmatch(string(lines), -1) {
		official = append(official, name[1])
	}
	for _, s := range services {
		if len(official) != 144 || slices.Contains(official, s.name) {
			t.Errorf("%s is an official image, of %d, want 144", s.name, len(official))
		}
	}
}
