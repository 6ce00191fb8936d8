package platform_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

func TestAPatchChangesOnlyTheFieldsThatItNames(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		made, err := w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](
			`{"name": "golang", "description": "d", "catalogTier": "CATALOG_TIER_BASE", "bundles": ["b"], "aliases": ["a"], "active_tags": ["t"], "sync_config": {"source": "s", "unique_tags": false}}`))
		must(t, err)
		if made.SyncConfig == nil || made.SyncConfig.Source != "s" || made.SyncConfig.UniqueTags || made.CatalogTier != core.CatalogTierBase || !slices.Equal(made.ActiveTags, []string{"t"}) {
			t.Errorf("got %+v, want Source 's', CatalogTier %v and ActiveTags %v", made, core.CatalogTierBase, []string{"t"})
		}
		patch := func(body string, mask ...string) *inventory.Repo {
			t.Helper()
			w.pass(time.Minute)
			changed, err := w.p.Repos.Update(acme.owner, made.UID, inputWithMask[*inventory.Repo](body, mask...))
			must(t, err)
			read, err := w.p.Repos.Get(acme.owner, made.UID)
			must(t, err)
			if changed.Description != read.Description || changed.Name != read.Name || changed.UpdateTime != read.UpdateTime || !read.CreateTime.Equal(made.CreateTime.Time) {
				t.Errorf("%s answers %+v, stored is %+v, want Description %v, Name %v and UpdateTime %v", body, changed, read, read.Description, read.Name, read.UpdateTime)
			}
			return read
		}
		if got := patch(`{"description": "e"}`); got.Description != "e" || got.CatalogTier != core.CatalogTierBase || got.SyncConfig == nil {
			t.Errorf("got %+v, want Description 'e' and CatalogTier %v", got, core.CatalogTierBase)
		}
		if got := patch(`{"description": "f", "name": "other", "uid": "x", "nope": 1}`, "description"); got.Description != "f" || got.Name != "golang" {
			t.Errorf("got %+v, want Description 'f' and Name 'golang'", got)
		}
		if got := patch(`{"bundles": null, "catalog_tier": "CATALOG_TIER_UNSPECIFIED", "aliases": []}`); got.Bundles != nil || got.CatalogTier != "" || got.Aliases != nil || got.Description != "f" {
			t.Errorf("got %+v, want no Bundles, CatalogTier \"\", no Aliases and Description 'f'", got)
		}
		if got := patch(`{"name": "go"}`, "*"); got.Name != "go" || got.Description != "" || got.SyncConfig != nil || got.ActiveTags != nil {
			t.Errorf("got %+v, want Name 'go', Description \"\", no SyncConfig and no ActiveTags", got)
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
			_, err := w.p.Repos.Update(acme.owner, made.UID, inputWithMask[*inventory.Repo](x.body, mask...))
			if got := violationFields(err); got != x.want {
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

// A field that a caller sends is either applied or rejected, and an unchanged value can
// be sent back.
func TestOutputOnlyFieldsAreRejectedUnlessUnchanged(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for sent, want := range map[string]string{
			`"verified": true, "kind": "ORG_KIND_INFRA"`:          "verified kind",
			`"kind": 4, "status": "ORG_STATUS_SUSPENDED"`:         "kind status",
			`"kind": 9, "resourceLimits": {"a": 1}`:               "resourceLimits kind",
			`"uid": "x", "createTime": "2020-01-01T00:00:00Z"`:    "uid createTime",
			`"uid": "` + string(acme.uid) + `", "verified": true`: "verified",
			`"updateTime": "2020-01-01T00:00:00Z"`:                "updateTime",
			`"createTime": "x", "description": 5`:                 "description createTime",
		} {
			in := `{"name": "acme", ` + sent + `}`
			for _, mask := range [][]string{nil, {"*"}} {
				_, err := w.p.Groups.Update(acme.owner, acme.uid, inputWithMask[*iam.Group](in, mask...))
				if got := violationFields(err); got != want {
					t.Errorf("%s with mask %v: %s, want %s", in, mask, got, want)
				}
			}
			_, err := w.p.Groups.Update(acme.owner, acme.uid, inputWithMask[*iam.Group](in, "name"))
			must(t, err)
		}
	})
}

// What a mask lists is applied, or it is what the resource has, or it is refused.
func TestAMaskMayListWhatDoesNotChange(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		group, err := w.p.Groups.Get(acme.owner, acme.uid)
		must(t, err)
		created, err := group.CreateTime.MarshalJSON()
		must(t, err)
		for _, x := range []struct{ body, mask, want string }{
			{`{"name": "acme", "description": "d"}`, "name,description,verified", ""}, // as the Terraform provider sends it
			{`{"verified": false}`, "verified", ""},
			{`{"verified": true}`, "verified", "updateMask"},
			{`{"verified": "no"}`, "verified", "verified"},
			{`{"verified": true, "description": "d"}`, "description", ""},
			{`{}`, "kind,resource_limits", ""},
			{`{"kind": "ORG_KIND_INFRA"}`, "kind", "updateMask"},
			{`{}`, "status", "updateMask"},
			{`{"status": "ORG_STATUS_READY"}`, "status", ""},
			{`{"status": 2}`, "status", ""},
			{`{}`, "create_time,uid", "updateMask updateMask"},
			{`{"uid": "` + string(acme.uid) + `", "createTime": ` + string(created) + `}`, "createTime,uid", ""},
			{`{"uid": "` + string(acme.uid) + `", "updateTime": "2020-01-01T00:00:00Z"}`, "updateTime", "updateMask"},
			{`{"verified": true, "description": 5}`, "verified,description,nope", "description updateMask updateMask"},
		} {
			_, err := w.p.Groups.Update(acme.owner, acme.uid, inputWithMask[*iam.Group](x.body, strings.Split(x.mask, ",")...))
			if (err == nil) != (x.want == "") || err != nil && violationFields(err) != x.want {
				t.Errorf("%s with mask %s: %v, want %q", x.body, x.mask, err, x.want)
			}
		}
		synced, err := w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": "r", "sync_config": {"source": "s"}}`))
		must(t, err)
		plain, err := w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": "p"}`))
		must(t, err)
		for _, x := range []struct{ body, mask, want string }{
			{`{"sync_config": {"source": "new", "uniqueTags": false}}`, "sync_config.source,sync_config.uniqueTags", ""},
			{`{"sync_config": {"source": "new", "uniqueTags": true}}`, "sync_config.source,sync_config.uniqueTags", "updateMask"},
			{`{"sync_config": {"uniqueTags": true}}`, "sync_config.uniqueTags", "updateMask"},
			{`{}`, "sync_config.unique_tags,sync_config.gracePeriod", ""},
		} {
			for _, repo := range []*inventory.Repo{synced, plain} {
				_, err := w.p.Repos.Update(acme.owner, repo.UID, inputWithMask[*inventory.Repo](x.body, strings.Split(x.mask, ",")...))
				if (err == nil) != (x.want == "") || err != nil && violationFields(err) != x.want {
					t.Errorf("%s with mask %s of %s: %v, want %q", x.body, x.mask, repo.Name, err, x.want)
				}
			}
		}
		after, err := w.p.Groups.Get(acme.owner, acme.uid)
		must(t, err)
		if after.Verified || after.Kind != "" || after.Description != "d" || !after.CreateTime.Equal(group.CreateTime.Time) {
			t.Errorf("the group became %+v, want only the description to have changed", after)
		}
		_, err = w.p.Groups.Update(acme.owner, missingBelow(acme.uid), inputWithMask[*iam.Group](`{}`, "verified"))
		expectRefused(t, "a missing group", err, core.CodeNotFound)
	})
}

func TestAResourceThatWasReadCanBeSentBack(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		who := w.member(acme.uid, "who")
		group, err := w.p.Groups.Get(acme.owner, acme.uid)
		sentBack(t, w, acme, w.p.Groups.Update, group.UID, group, err)
		identity, err := w.p.Identities.Get(acme.owner, who)
		w.as("who") // This changes the time when the identity was seen, after the resource was read.
		sentBack(t, w, acme, w.p.Identities.Update, who, identity, err)
		binding, err := w.p.RoleBindings.Get(acme.owner, w.bind(acme.uid, who, iam.ViewerRole))
		must(t, err)
		_, err = w.p.Identities.Update(acme.owner, who, body[*iam.Identity](`{"name": "renamed"}`)) // The binding shows this name.
		sentBack(t, w, acme, w.p.RoleBindings.Update, binding.UID, binding, err)
		repo, err := w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": "r", "sync_config": {"source": "s"}}`))
		sentBack(t, w, acme, w.p.Repos.Update, repo.UID, repo, err)
	})
}

// sentBack updates a resource twice with the fields of one read.
func sentBack[T any](t *testing.T, w *world, o org, update func(context.Context, core.UID, fieldmask.Input[T]) (T, error), uid core.UID, read T, err error) {
	t.Helper()
	must(t, err)
	whole, err := json.Marshal(read)
	must(t, err)
	for _, mask := range [][]string{nil, {"*"}} {
		if w.pass(time.Minute); mask != nil && strings.Contains(string(whole), "identityUid") {
			continue
		}
		if _, err := update(o.owner, uid, fieldmask.JSONInput[T](whole, mask)); err != nil && !strings.Contains(err.Error(), "Uid: is required") {
			t.Errorf("%s with mask %v: %v", whole, mask, err)
		}
	}
}

// AIP-161 says that a mask can name parts of objects. The rest must not change.
func TestAMaskNamesPartsOfObjects(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		who := w.member(acme.uid, "who")
		identity := func(in string, mask ...string) (*iam.ClaimMatch, string) {
			t.Helper()
			changed, err := w.p.Identities.Update(acme.owner, who, inputWithMask[*iam.Identity](in, mask...))
			if err != nil {
				return nil, violationFields(err)
			}
			read, err := w.p.Identities.Get(acme.owner, who)
			must(t, err)
			if !reflect.DeepEqual(read.ClaimMatch, changed.ClaimMatch) {
				t.Errorf("%s answers %+v, stored is %+v", in, changed.ClaimMatch, read.ClaimMatch)
			}
			return read.ClaimMatch, ""
		}
		for _, x := range []struct {
			body, mask string
			want       *iam.ClaimMatch
			refuse     string
		}{
			{`{"claimMatch": {"subject": "other", "issuer": "https://ignored.example.com"}, "name": 5}`, "claimMatch.subject",
				&iam.ClaimMatch{Issuer: issuer, Subject: "other"}, ""},
			{`{"claim_match": {"claims": {"a.b": "1", "c": "2"}}}`, "claim_match.claims",
				&iam.ClaimMatch{Issuer: issuer, Subject: "other", Claims: map[string]string{"a.b": "1", "c": "2"}}, ""},
			{`{"claimMatch": {"claims": {"a.b": "3"}}}`, "claimMatch.claims.`a.b`,claimMatch.claims.c",
				&iam.ClaimMatch{Issuer: issuer, Subject: "other", Claims: map[string]string{"a.b": "3"}}, ""},
			{`{"claimMatch": {"subjectPattern": "o.*"}}`, "claimMatch.subject,claimMatch.subjectPattern",
				&iam.ClaimMatch{Issuer: issuer, SubjectPattern: "o.*", Claims: map[string]string{"a.b": "3"}}, ""},
			{`{"claimMatch": {"subject": "x"}}`, "claimMatch.subject", nil, "claimMatch.subject"}, // The rule also has a pattern.
			{`{}`, "claimMatch.subjectPattern", nil, "claimMatch.subject"},
			{`{"staticKeys": {"subject": "x"}}`, "staticKeys.subject", nil, "staticKeys.issuer staticKeys.issuerKeys"},
			{`{"claimMatch": {"subject": 5}}`, "claimMatch.subject", nil, "claimMatch.subject"},
			{`{}`, "staticKeys.subject", &iam.ClaimMatch{Issuer: issuer, SubjectPattern: "o.*", Claims: map[string]string{"a.b": "3"}}, ""}, // there is none
		} {
			got, refused := identity(x.body, strings.Split(x.mask, ",")...)
			if refused != x.refuse || x.want != nil && !reflect.DeepEqual(got, x.want) {
				t.Errorf("%s with mask %s: %+v %s, want %+v %s", x.body, x.mask, got, refused, x.want, x.refuse)
			}
		}
	})
}

func TestTwoPartsOfAnObjectChangedAtOnceBothSurvive(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo, err := w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": "r", "sync_config": {"source": "s"}}`))
		must(t, err)
		var all sync.WaitGroup
		for _, cloud := range []string{"google", "amazon", "azure"} {
			all.Go(func() {
				_, err := w.p.Repos.Update(acme.owner, repo.UID, inputWithMask[*inventory.Repo](`{"sync_config": {"`+cloud+`": "x"}}`, "sync_config."+cloud))
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		got, err := w.p.Repos.Get(acme.owner, repo.UID)
		must(t, err)
		if want := (inventory.SyncConfig{Source: "s", Google: "x", Amazon: "x", Azure: "x"}); *got.SyncConfig != want {
			t.Errorf("%+v", got.SyncConfig)
		}
	})
}

// The specification says about errors: creating an identity with an empty body, or with a
// name that does not match the pattern.
func TestAnIdentityIsCheckedAsAWhole(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for in, want := range map[string]string{
			`{}`: "name", ``: "name", `{"name": ""}`: "name", `{"name": "Upper"}`: "name", `{"name": "` + strings.Repeat("a", 513) + `"}`: "name",
			`{"name": "A", "description": "a\nb", "company": "\t", "claimMatch": {}, "staticKeys": {}}`:            "name description company claimMatch.issuer claimMatch.subject staticKeys.issuer staticKeys.subject staticKeys.issuerKeys staticKeys",
			`{"name": "a", "staticKeys": {"issuer": "https://i.example.com", "subject": "s", "issuerKeys": "{}"}}`: "staticKeys.issuerKeys",
			`{"name": "a", "claimMatch": {"issuer": "x"}}`:                                                         "claimMatch.issuer claimMatch.subject",
		} {
			_, err := w.p.Identities.Create(acme.owner, acme.uid, body[*iam.Identity]("%s", in))
			if got := violationFields(err); got != want {
				t.Errorf("%.60s: %s, want %s", in, got, want)
			}
		}
		_, err := w.p.Identities.Create(acme.owner, acme.uid, body[*iam.Identity](`{}`))
		e := core.AsError(err)
		if e.Message != `Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"` || e.Reason != "INVALID_ARGUMENT" || e.Area != "iam" {
			t.Errorf("got %+v, want Message %q, Reason 'INVALID_ARGUMENT' and Area 'iam'", e, `Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"`)
		}
		_, err = w.p.Identities.Create(acme.owner, "nonsense", body[*iam.Identity](`{}`))
		if got := violationFields(err); got != "parent name" {
			t.Errorf("got %v, want 'parent name'", got)
		}
		_, err = w.p.Identities.Update(acme.owner, "nonsense", body[*iam.Identity](`{"name": "A", "nope": 1}`))
		if got := violationFields(err); got != "uid name nope" {
			t.Errorf("got %v, want 'uid name nope'", got)
		}
	})
}

// An identity has one rule. A rule of the other type replaces it.
func TestAnIdentityHasOneRule(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const keys = `{"staticKeys": {"issuer": "https://issuer.example.com", "subject": "s", "issuerKeys": "{\"keys\": [{}]}"}}`
		who := w.member(acme.uid, "who")
		byKeys, err := w.p.Identities.Update(acme.owner, who, body[*iam.Identity](keys))
		must(t, err)
		if byKeys.StaticKeys == nil || byKeys.ClaimMatch != nil {
			t.Errorf("got %+v, want no ClaimMatch", byKeys)
		}
		if actor := core.ActorOf(w.as("who")); len(actor.Identities) != 0 {
			t.Error("the replaced rule still matches")
		}
		byClaims, err := w.p.Identities.Update(acme.owner, who, inputWithMask[*iam.Identity](`{"claimMatch": {"issuer": "https://issuer.example.com", "subject": "who"}}`, "claim_match"))
		must(t, err)
		if byClaims.StaticKeys != nil || byClaims.ClaimMatch == nil {
			t.Errorf("got %+v, want no StaticKeys", byClaims)
		}
		none, err := w.p.Identities.Update(acme.owner, who, body[*iam.Identity](`{"claimMatch": null, "staticKeys": null}`))
		must(t, err)
		if none.StaticKeys != nil || none.ClaimMatch != nil {
			t.Errorf("got %+v, want no StaticKeys and no ClaimMatch", none)
		}
		kept, err := w.p.Identities.Update(acme.owner, w.member(acme.uid, "kept"), body[*iam.Identity](`{"staticKeys": null}`))
		must(t, err)
		if kept.ClaimMatch == nil {
			t.Error("clearing a rule it lacks took the other one")
		}
	})
}
