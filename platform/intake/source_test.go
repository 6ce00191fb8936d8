package intake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/intake"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

func onEachEngine(t *testing.T, test func(t *testing.T, p *platform.Platform, operator context.Context, org core.UID)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, s *sqlstore.Store) {
		p, err := platform.New(t.Context(), s, platform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		org, err := p.Groups.Bootstrap(t.Context(), "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		test(t, p, core.WithActor(t.Context(), core.NewOperator("test")), org.Group.UID)
	})
}

// Whoever may change a source must not be able to send its password elsewhere.
func TestAPasswordStaysWithItsHost(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *platform.Platform, ctx context.Context, org core.UID) {
		s, err := p.Sources.Create(ctx, org, fieldmask.JSONInput[*intake.Source]([]byte(`{"name": "a", "type": "SOURCE_TYPE_VEX", "url": "https://a.example.com/x.json", "credentials": {"username": "u", "password": "hush"}}`), nil))
		if err != nil {
			t.Fatal(err)
		}
		if s.Credentials.Password.Text != "" || len(s.EncryptedPassword) == 0 || bytes.Contains(s.EncryptedPassword, []byte("hush")) {
			t.Errorf("the source shows or stores its password: %+v", s)
		}
		update := func(body string) (*intake.Source, error) {
			return p.Sources.Update(ctx, s.UID, fieldmask.JSONInput[*intake.Source]([]byte(body), nil))
		}
		claim := func() string {
			if _, err := p.Sources.Run(ctx, s.UID); err != nil {
				t.Fatal(err)
			}
			claimed, _, err := p.Sources.Queue(1).Claim(ctx, intake.Share{})
			if err != nil || claimed == nil {
				t.Fatal(claimed, err)
			}
			return claimed.Password
		}
		var refused *core.Error
		if _, err := update(`{"url": "https://b.example.com/x.json"}`); !errors.As(err, &refused) || len(refused.Violations) != 1 || refused.Violations[0].Field != "credentials" {
			t.Errorf("another host gets the password: %v", err)
		}
		if _, err := update(`{"url": "https://b.example.com/x.json", "credentials": {"username": "u"}}`); !errors.As(err, &refused) {
			t.Errorf("another host gets the password: %v", err)
		}
		if _, err := update(`{"url": "https://a.example.com/y.json", "credentials": {"username": "other"}}`); err != nil {
			t.Error(err)
		}
		if got := claim(); got != "hush" {
			t.Errorf("at the same host the password is %q", got)
		}
		if _, err := update(`{"url": "https://b.example.com/x.json", "credentials": {"username": "u", "password": "new"}}`); err != nil {
			t.Error(err)
		}
		if got := claim(); got != "new" {
			t.Errorf("the new password is %q", got)
		}
		if _, err := update(`{"url": "https://c.example.com/x.json", "credentials": null}`); err != nil {
			t.Error(err)
		}
		if got := claim(); got != "" {
			t.Errorf("a password that was removed is %q", got)
		}
	})
}

func TestFeedsAreThoseOfTheServerThatStartedLast(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *platform.Platform, ctx context.Context, _ core.UID) {
		list := func() map[string]core.UID {
			all, _, err := p.Sources.All(ctx, 10)
			if err != nil {
				t.Fatal(err)
			}
			named := map[string]core.UID{}
			for _, s := range all {
				named[s.Name] = s.UID
			}
			return named
		}
		set := func(all ...intake.Feed) map[string]core.UID {
			if err := p.Sources.SetFeeds(ctx, all); err != nil {
				t.Fatal(err)
			}
			return list()
		}
		osv, kev := intake.Feed{Type: intake.OSV, Ecosystems: []string{"npm", "Go"}}, intake.Feed{Type: intake.KEV}
		first := set(osv, kev)
		if len(first) != 2 || first["osv"] == "" || first["kev"] == "" {
			t.Fatalf("the feeds are %v", first)
		}
		if again := set(kev, intake.Feed{Type: intake.OSV, Ecosystems: []string{"Go", "npm"}}); again["osv"] != first["osv"] || again["kev"] != first["kev"] {
			t.Errorf("the same feeds are others: %v, then %v", first, again)
		}
		if changed := set(intake.Feed{Type: intake.OSV, Ecosystems: []string{"Go"}}, intake.Feed{Type: intake.OSV, URL: "https://mirror.example.com/all.zip"}); len(changed) != 2 || changed["osv"] == "" || changed["osv 2"] == "" {
			t.Errorf("the changed feeds are %v", changed)
		}
		if none := set(); len(none) != 0 {
			t.Errorf("without feeds there are %v", none)
		}
		// They are no business of organizations, which see them all the same.
		if err := p.Sources.SetFeeds(t.Context(), nil); err == nil {
			t.Error("anybody can set feeds")
		}
	})
}

func TestFeedsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		feed intake.Feed
		good bool
	}{
		{intake.Feed{Type: intake.OSV, Ecosystems: []string{"Go", "Debian:12"}}, true},
		{intake.Feed{Type: intake.OSV}, true},
		{intake.Feed{Type: intake.OSV, URL: "https://mirror.example.com/all.zip"}, true},
		{intake.Feed{Type: intake.OSV, URL: "https://mirror.example.com/all.zip", Ecosystems: []string{"Go"}}, false},
		{intake.Feed{Type: intake.OSV, Ecosystems: []string{""}}, false},
		{intake.Feed{Type: intake.KEV}, true},
		{intake.Feed{Type: intake.KEV, URL: "http://127.0.0.1:9/kev.json"}, false},
		{intake.Feed{Type: intake.VEX, URL: "https://mirror.example.com/vex.json"}, false},
	} {
		if fault := intake.CheckFeed(c.feed, nil); (fault == "") != c.good {
			t.Errorf("%+v: %q", c.feed, fault)
		}
	}
	if fault := intake.CheckFeed(intake.Feed{Type: intake.KEV, URL: "http://127.0.0.1:9/kev.json"}, []string{"127.0.0.1:9"}); fault != "" {
		t.Error(fault)
	}
}

// A source is an import that goes on, so whoever makes or changes one must be allowed to import the same.
func TestASourceNeedsWhatItsImportNeeds(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *platform.Platform, operator context.Context, org core.UID) {
		as := func(name string, held ...core.Capability) context.Context {
			wire := make([]string, len(held))
			for i, c := range held {
				wire[i] = c.WireName()
			}
			role, err := p.Roles.Create(operator, org, input[*iam.Role](map[string]any{"name": name, "capabilities": wire}))
			if err != nil {
				t.Fatal(err)
			}
			identity, err := p.Identities.Create(operator, org, input[*iam.Identity](map[string]any{"name": name, "claimMatch": map[string]any{"issuer": "https://issuer.example.com", "subject": name}}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.RoleBindings.Create(operator, org, input[*iam.RoleBinding](map[string]any{"identityUid": identity.UID, "roleUid": role.UID})); err != nil {
				t.Fatal(err)
			}
			actor, err := p.Authenticate(t.Context(), iam.Claims{Issuer: "https://issuer.example.com", Subject: name, ServiceAudience: true})
			if err != nil {
				t.Fatal(err)
			}
			return core.WithActor(t.Context(), actor)
		}
		sources := []core.Capability{core.CapSourcesCreate, core.CapSourcesUpdate, core.CapSourcesList}
		without, withVEX := as("without", sources...), as("with vex", append(sources, core.CapVEXImport)...)
		for _, c := range []struct {
			of, missing string
			ctx         context.Context
		}{
			{"OSV", "advisories.import", without}, {"VEX", "vex.import", without}, {"SBOM", "sboms.import", withVEX}, {"OCI", "registry.import", withVEX}, {"VEX", "", withVEX},
		} {
			fields := map[string]any{"name": "of " + strings.ToLower(c.of), "type": "SOURCE_TYPE_" + c.of, "url": "https://example.com/all.zip"}
			made, err := p.Sources.Create(c.ctx, org, input[*intake.Source](fields))
			var denied *core.Error
			switch {
			case c.missing == "" && err == nil:
				if _, err := p.Sources.Update(without, made.UID, input[*intake.Source](map[string]any{"url": "https://example.com/other.zip"})); !errors.As(err, &denied) || denied.Code != core.CodePermissionDenied {
					t.Errorf("one without vex.import changes what is read: %v", err)
				}
			case c.missing == "" || !errors.As(err, &denied) || denied.Code != core.CodePermissionDenied || !strings.Contains(denied.Message, c.missing):
				t.Errorf("a source of %s: %v, want one that misses %q", c.of, err, c.missing)
			}
		}
	})
}

// input returns an input with fields.
func input[T any](fields map[string]any) fieldmask.Input[T] {
	text, _ := json.Marshal(fields)
	return fieldmask.JSONInput[T](text, nil)
}

// An organization with many sources that are due does not hide those of others from a process that is busy with it.
func TestManySourcesOfOneOrganizationHideNoOther(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *platform.Platform, ctx context.Context, org core.UID) {
		other, err := p.Groups.Bootstrap(ctx, "other", "https://issuer.example.com", "other")
		if err != nil {
			t.Fatal(err)
		}
		create := func(group core.UID, name string) *intake.Source {
			s, err := p.Sources.Create(ctx, group, fieldmask.JSONInput[*intake.Source](fmt.Appendf(nil, `{"name": %q, "type": "SOURCE_TYPE_VEX", "url": "https://a.example.com/x.json"}`, name), nil))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		for i := range 101 {
			create(org, fmt.Sprint("many ", i))
		}
		last, queue := create(other.Group.UID, "last"), p.Sources.Queue(time.Minute)
		for _, c := range []struct {
			of   intake.Share
			want core.UID // the organization; "" means none
		}{{intake.Share{}, org}, {intake.Share{OfOperator: true}, ""}, {intake.Share{Busy: []core.UID{org}}, last.UID.Root()}, {intake.Share{Busy: []core.UID{org}}, ""}} {
			claim, _, err := queue.Claim(ctx, c.of)
			var got core.UID
			if claim != nil {
				got = claim.Source.UID.Root()
			}
			if err != nil || got != c.want {
				t.Errorf("of the share %+v a source of %q is claimed (%v), want one of %q", c.of, got, err, c.want)
			}
		}
	})
}
