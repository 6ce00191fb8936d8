package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
)

func TestAPatchChangesWhatItNamesAndNothingElse(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		made, err := w.p.Repos.Create(acme.owner, acme.uid, body[platform.Repo](
			`{"name": "golang", "description": "d", "catalogTier": "CATALOG_TIER_BASE", "bundles": ["b"], "aliases": ["a"], "active_tags": ["t"], "sync_config": {"source": "s", "unique_tags": true}}`))
		must(t, err)
		if made.SyncConfig == nil || made.SyncConfig.Source != "s" || made.SyncConfig.UniqueTags || made.CatalogTier != platform.CatalogTierBase || !slices.Equal(made.ActiveTags, []string{"t"}) {
			t.Errorf("%+v", made)
		}
		patch := func(body string, mask ...string) *platform.Repo {
			t.Helper()
			w.pass(time.Minute)
			changed, err := w.p.Repos.Update(acme.owner, made.UID, masked[platform.Repo](body, mask...))
			must(t, err)
			read, err := w.p.Repos.Get(acme.owner, made.UID)
			must(t, err)
			if changed.Description != read.Description || changed.Name != read.Name || changed.UpdateTime != read.UpdateTime || !read.CreateTime.Equal(made.CreateTime.Time) {
				t.Errorf("%s answers %+v, stored is %+v", body, changed, read)
			}
			return read
		}
		if got := patch(`{"description": "e"}`); got.Description != "e" || got.CatalogTier != platform.CatalogTierBase || got.SyncConfig == nil {
			t.Errorf("%+v", got)
		}
		if got := patch(`{"description": "f", "name": "other", "uid": "x", "nope": 1}`, "description"); got.Description != "f" || got.Name != "golang" {
			t.Errorf("%+v", got)
		}
		if got := patch(`{"bundles": null, "catalog_tier": "CATALOG_TIER_UNSPECIFIED", "aliases": []}`); got.Bundles != nil || got.CatalogTier != "" || got.Aliases != nil || got.Description != "f" {
			t.Errorf("%+v", got)
		}
		if got := patch(`{"name": "go"}`, "*"); got.Name != "go" || got.Description != "" || got.SyncConfig != nil || got.ActiveTags != nil {
			t.Errorf("%+v", got)
		}
		before, err := w.p.Repos.Get(acme.owner, made.UID)
		must(t, err)
		for _, x := range []struct {
			body, mask, want string
		}{
			{`{"description": "x"}`, "*", "name"},
			{`{"name": null}`, "", "name"},
			{`{}`, "name", "name"},
			{`{"name": "B", "description": "a\nb", "sync_config": {}, "catalogTier": "BASE", "zebra": 1}`, "", "name description catalogTier sync_config.source zebra"},
			{`{"description": "x"}`, "uid,nope", "updateMask updateMask"},
			{`{"description": 5}`, "description,nope", "description updateMask"},
		} {
			var mask []string
			if x.mask != "" {
				mask = strings.Split(x.mask, ",")
			}
			_, err := w.p.Repos.Update(acme.owner, made.UID, masked[platform.Repo](x.body, mask...))
			if got := violated(err); got != x.want {
				t.Errorf("%s with mask %s: %s, want %s", x.body, x.mask, got, x.want)
			}
		}
		after, err := w.p.Repos.Get(acme.owner, made.UID)
		must(t, err)
		if after.UpdateTime != before.UpdateTime || after.Name != before.Name {
			t.Errorf("refused changes made %+v of %+v", after, before)
		}
	})
}

func TestWhatOnlyTheServiceSetsStaysAsItIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		changed, err := w.p.Groups.Update(acme.owner, acme.uid, body[platform.Group](`{"description": "d", "verified": true, "kind": "ORG_KIND_INFRA", "status": "x", "resourceLimits": {"a": 1}, "createTime": "2020-01-01T00:00:00Z", "uid": "x"}`))
		must(t, err)
		if changed.Verified || changed.Kind != "" || changed.Status != platform.OrgStatusReady || changed.ResourceLimits != nil || changed.UID != acme.uid || changed.Description != "d" || changed.Name != "acme" {
			t.Errorf("%+v", changed)
		}
		for _, path := range []string{"verified", "kind", "status", "resource_limits", "create_time", "uid"} {
			_, err := w.p.Groups.Update(acme.owner, acme.uid, masked[platform.Group](`{}`, path))
			if got := violated(err); got != "updateMask" {
				t.Errorf("%s: %s", path, got)
			}
		}
		identity, err := w.p.Identities.Create(acme.owner, acme.uid, body[platform.Identity](`{"name": "i", "email": "a@example.com", "emailUnverified": "b", "lastSeenTime": "2020-01-01T00:00:00Z"}`))
		must(t, err)
		if identity.Email != "" || identity.EmailUnverified != "" || identity.LastSeenTime != identity.CreateTime {
			t.Errorf("%+v", identity)
		}
	})
}

// Specification, Error cases: creating an identity with an empty body, or with
// a name that does not match the pattern.
func TestAnIdentityIsCheckedAsAWhole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for in, want := range map[string]string{
			`{}`: "name", ``: "name", `{"name": ""}`: "name", `{"name": "Upper"}`: "name", `{"name": "` + strings.Repeat("a", 256) + `"}`: "name",
			`{"name": "A", "description": "a\nb", "company": "\t", "claimMatch": {}, "staticKeys": {}}`:            "name description company claimMatch.issuer claimMatch.subject staticKeys.issuer staticKeys.subject staticKeys.issuerKeys staticKeys",
			`{"name": "a", "staticKeys": {"issuer": "https://i.example.com", "subject": "s", "issuerKeys": "{}"}}`: "staticKeys.issuerKeys",
			`{"name": "a", "claimMatch": {"issuer": "x"}}`:                                                         "claimMatch.issuer claimMatch.subject",
		} {
			_, err := w.p.Identities.Create(acme.owner, acme.uid, body[platform.Identity]("%s", in))
			if got := violated(err); got != want {
				t.Errorf("%.60s: %s, want %s", in, got, want)
			}
		}
		_, err := w.p.Identities.Create(acme.owner, acme.uid, body[platform.Identity](`{}`))
		e := platform.AsError(err)
		if e.Message != `Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"` || e.Reason != "INVALID_ARGUMENT" || e.Area != "iam" {
			t.Errorf("%+v", e)
		}
		_, err = w.p.Identities.Create(acme.owner, "nonsense", body[platform.Identity](`{}`))
		if got := violated(err); got != "parent name" {
			t.Error(got)
		}
		_, err = w.p.Identities.Update(acme.owner, "nonsense", body[platform.Identity](`{"name": "A", "nope": 1}`))
		if got := violated(err); got != "uid name nope" {
			t.Error(got)
		}
	})
}

// An identity has one rule: giving one of the other type replaces it.
func TestAnIdentityHasOneRule(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const keys = `{"staticKeys": {"issuer": "https://issuer.example.com", "subject": "s", "issuerKeys": "{\"keys\": [{}]}"}}`
		who := w.member(acme.uid, "who")
		byKeys, err := w.p.Identities.Update(acme.owner, who, body[platform.Identity](keys))
		must(t, err)
		if byKeys.StaticKeys == nil || byKeys.ClaimMatch != nil {
			t.Errorf("%+v", byKeys)
		}
		if actor := platform.ActorOf(w.as("who")); len(actor.Identities) != 0 {
			t.Error("the replaced rule still matches")
		}
		byClaims, err := w.p.Identities.Update(acme.owner, who, masked[platform.Identity](`{"claimMatch": {"issuer": "https://issuer.example.com", "subject": "who"}}`, "claim_match"))
		must(t, err)
		if byClaims.StaticKeys != nil || byClaims.ClaimMatch == nil {
			t.Errorf("%+v", byClaims)
		}
		none, err := w.p.Identities.Update(acme.owner, who, body[platform.Identity](`{"claimMatch": null, "staticKeys": null}`))
		must(t, err)
		if none.StaticKeys != nil || none.ClaimMatch != nil {
			t.Errorf("%+v", none)
		}
		kept, err := w.p.Identities.Update(acme.owner, w.member(acme.uid, "kept"), body[platform.Identity](`{"staticKeys": null}`))
		must(t, err)
		if kept.ClaimMatch == nil {
			t.Error("clearing a rule it lacks took the other one")
		}
	})
}
