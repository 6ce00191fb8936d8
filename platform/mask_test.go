package platform

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// decodeInput decodes an update of a repo. It returns what the update would write.
func decodeInput(body string, mask ...string) (inventory.Repo, []string, core.Violations) {
	c, v := fieldmask.JSONInput[*inventory.Repo]([]byte(body), mask).DecodeUpdate(inventory.RepoKind.Fields)
	return *c.Row, c.Fields, core.Violations(v).SortByField(inventory.RepoKind.FieldNames())
}

// fieldsOf returns the fields of violations.
// aRoot is the UID of an organization.
const aRoot = core.UID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")

func fieldsOf(v core.Violations) string {
	names := make([]string, len(v))
	for i, x := range v {
		names[i] = x.Field
	}
	return strings.Join(names, " ")
}

func TestAMaskDecidesWhichFieldsChange(t *testing.T) {
	t.Parallel()
	const body = `{"name": "n", "description": "d", "bundles": ["b"]}`
	all := "name description catalogTier bundles aliases activeTags sync_config labels"
	for _, x := range []struct {
		body   string
		mask   []string
		change string // These fields are written.
		refuse string // These are the fields of the violations.
	}{
		{body, nil, "bundles description name", ""},
		{`{}`, nil, "", ""},
		{``, nil, "", ""},
		{`{"catalog_tier": "CATALOG_TIER_BASE", "activeTags": []}`, nil, "activeTags catalogTier", ""},
		{`{"uid": "x", "createTime": "2020-01-01T00:00:00Z", "name": "n"}`, nil, "name", ""}, // Output-only fields are compared with the stored values.
		{`{"uid": 5, "createTime": "never", "update_time": {}, "name": "n"}`, nil, "name", "uid createTime updateTime"},
		{body, []string{"description"}, "description", ""},
		{body, []string{"description", "description"}, "description", ""},
		{body, []string{"active_tags", "catalogTier"}, "activeTags catalogTier", ""},
		{body, []string{"catalogTier", "catalog_tier"}, "catalogTier", ""},
		{body, []string{"sync_config"}, "sync_config", ""},
		{body, []string{"syncConfig"}, "sync_config", ""},
		{body, []string{"*"}, all, ""},
		{`{}`, []string{"*"}, all, ""},
		{body, []string{"*", "name"}, "name", "updateMask"},
		{body, []string{"name", "*"}, "name", "updateMask"},
		{body, []string{"*", "*"}, "", "updateMask updateMask"},
		{body, []string{"nope"}, "", "updateMask"},
		{body, []string{""}, "", "updateMask"},
		{body, []string{" name", "\tdescription\n", " sync_config . source"}, "", "updateMask"},
		{body, []string{" name", "\tdescription\n", " sync_config.source "}, "name description sync_config", ""},
		{body, []string{" * "}, all, ""},
		{body, []string{" "}, "", "updateMask"},
		{body, []string{"Name"}, "", "updateMask"},
		{body, []string{"name.first"}, "", "updateMask"},
		{body, []string{"sync_config.source"}, "sync_config", ""},
		{body, []string{"syncConfig.source", "sync_config.source", "name"}, "name sync_config", ""},
		{body, []string{"sync_config.nope"}, "", "updateMask"},
		{body, []string{"sync_config."}, "", "updateMask"},
		{body, []string{"sync_config..source"}, "", "updateMask"},
		{body, []string{".sync_config"}, "", "updateMask"},
		{body, []string{"sync_config.source.x"}, "", "updateMask"},
		{body, []string{"sync_config.uniqueTags"}, "", ""}, // What is fixed is compared with the stored values.
		{body, []string{"sync_config.expiration_time", "sync_config.source"}, "sync_config", ""},
		{`{"sync_config": {"uniqueTagz": true}}`, []string{"sync_config.uniqueTags"}, "", "sync_config.uniqueTagz"},
		{body, []string{"bundles.0"}, "", "updateMask"},
		{body, []string{"sync_config.`source"}, "", "updateMask"},
		{`{"sync_config": 5}`, []string{"sync_config.source"}, "", "sync_config"},
		{`{"sync_config": {"source": 5, "google": 6}}`, []string{"sync_config.source"}, "", "sync_config.source"},
		{`{"sync_config": {"source": "a", "source": "b"}}`, []string{"sync_config.source"}, "", "sync_config.source"},
		{`{"sync_config": {"google": 1}}`, []string{"sync_config.source"}, "sync_config", ""}, // The mask does not list google.
		{`{"sync_config": {"sourze": "a"}}`, []string{"sync_config.source"}, "", "sync_config.sourze"},
		{`{"sync_config": {"sourze": "a"}}`, []string{"name", "syncConfig.source", "syncConfig.google"}, "", "sync_config.sourze"},
		{`{"sync_config": {"sourze": "a"}}`, []string{"name"}, "name", ""},
		{`{"sync_config": 5}`, []string{"sync_config.source", "sync_config.google"}, "", "sync_config"}, // The object is read once for both.
		{`{"sync_config": 5}`, []string{"sync_config.source", "nope"}, "", "updateMask"},                // The parts of a refused mask are not read.
		{body, []string{"uid", "create_time", "updateTime", "nope"}, "", "updateMask"},
		// A mask ignores all fields that it does not list; * lists all.
		{`{"name": 5, "nope": 1, "description": "d"}`, []string{"description"}, "description", ""},
		{`{"name": 5, "nope": 1, "description": "d"}`, []string{"name"}, "name", "name"},
		{`{"nope": 1, "name": "n"}`, []string{"*"}, all, "nope"},
		{`{"nope": 1, "name": "n"}`, nil, "name", "nope"},
	} {
		_, fields, v := decodeInput(x.body, x.mask...)
		if got := strings.Join(fields, " "); got != x.change && x.refuse == "" {
			t.Errorf("%s with mask %q writes %q, want %q", x.body, x.mask, got, x.change)
		}
		if got := fieldsOf(v); got != x.refuse {
			t.Errorf("%s with mask %q: %v, want violations of %q", x.body, x.mask, v, x.refuse)
		}
	}
}

// Without this limit, a mask of 10,000 paths would take the time of 10,000 * 10,000 comparisons.
func TestAMaskOfTooManyPathsIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	claims := func(n int) (mask []string) {
		for i := range n {
			mask = append(mask, fmt.Sprint("claimMatch.claims.", i))
		}
		return mask
	}
	for n, want := range map[int]string{fieldmask.MaxPaths: "", fieldmask.MaxPaths + 1: "updateMask", 100 * fieldmask.MaxPaths: "updateMask"} {
		c, v := fieldmask.JSONInput[*iam.Identity]([]byte(`{"claimMatch": {"claims": {"1": "one"}}}`), claims(n)).DecodeUpdate(iam.IdentityKind.Fields)
		if got := fieldsOf(v); got != want || (len(c.Parts) > 0) != (want == "") {
			t.Errorf("%d paths: violations of %q, want %q, and %d parts", n, got, want, len(c.Parts))
		}
	}
	if _, _, v := decodeInput(`{"name": "n"}`, slices.Repeat([]string{"nope"}, 100*fieldmask.MaxPaths)...); len(v) != 1 {
		t.Errorf("%d violations of a mask of unknown fields, want 1", len(v))
	}
}

func TestNullClearsAField(t *testing.T) {
	t.Parallel()
	row, fields, v := decodeInput(`{"description": null, "bundles": null, "sync_config": null, "catalogTier": null}`)
	if len(v) > 0 || strings.Join(fields, " ") != "bundles catalogTier description sync_config" {
		t.Errorf("writes %q, %v", fields, v)
	}
	if row.Description != "" || row.Bundles != nil || row.SyncConfig != nil || row.CatalogTier != "" {
		t.Errorf("got %+v, want Description \"\", no Bundles, no SyncConfig and CatalogTier \"\"", row)
	}
	if _, fields, v = decodeInput(`{}`, "description"); len(v) > 0 || !slices.Equal(fields, []string{"description"}) {
		t.Errorf("a listed field that the body lacks: writes %q, %v", fields, v)
	}
}

func TestAllThatIsWrongWithABodyIsReportedAtOnceInFieldOrder(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ body, fields, first string }{
		{`{"zebra": 1, "bundles": "b", "apple": 2, "name": 5, "description": ["x"], "sync_config": [], "aliases": [1]}`,
			"name description bundles aliases sync_config apple zebra", "must be a string"},
		{`{"name": {}}`, "name", "must be a string"},
		{`{"bundles": [true]}`, "bundles", "must be a string"},
		{`{"bundles": {}}`, "bundles", "must be a list"},
		{`{"sync_config": "x"}`, "sync_config", "must be an object"},
		{`{"sync_config": {"source": 1, "google": true, "nope": 1, "amazon": "a", "uniqueTags": 7}}`, "sync_config.google sync_config.nope sync_config.source sync_config.uniqueTags", "must be a string"},
		{`{"name": "a", "name": "b"}`, "name", "is given twice"},
		{`{"catalogTier": "x", "catalog_tier": "y"}`, "catalogTier", "is given twice"},
		{`{"nope": 1, "nope": 2}`, "nope nope", "is not a field of this resource"},
		{`{"name_": "a"}`, "name_", "is not a field of this resource"},
		{`{"sync_config": {"source_": "a"}}`, "sync_config.source_", "is not a field of this object"},
		{`{"NAME": "a"}`, "NAME", "is not a field of this resource"},
		{`{"": 1}`, "", "is not a field of this resource"},
		{`[]`, "body", "must be a JSON object"},
		{`"name"`, "body", "must be a JSON object"},
		{`null`, "body", "must be a JSON object"},
		{`5`, "body", "must be a JSON object"},
		{`{"name": "a"`, "body", "must be JSON"},
		{`{"name": }`, "body", "must be JSON"},
		{`{"name": "a"} {"name": "b"}`, "body", "must be JSON"},
		{`{"name": "a"}]`, "body", "must be JSON"},
		{`{name: "a"}`, "body", "must be JSON"},
		{"{\"name\": \"\xff\"}", "body", "must be UTF-8"},
		{"\ufeff{}", "body", "must be JSON"},
		{`{"name": "a\ud800"}`, "body", `must not contain half of a surrogate pair: \ud800 at line 1, column 12`},
		{"{\n\"name\": \"\\ud83d\\ude00\\\\ud800\\udc00\"}", "body", `must not contain half of a surrogate pair: \udc00 at line 2, column 29`},
		{`{"name": "\ud800\ud800"}`, "body", "must not contain half"},
		{`{"\udfff": 1}`, "body", "must not contain half"},
		{`{"catalogTier": 7}`, "catalogTier", "7 is not the number of one of CATALOG_TIER_APPLICATION, "},
		{`{"catalogTier": 1.5}`, "catalogTier", "1.5 is not the number of one of "},
		{`{"catalogTier": true}`, "catalogTier", "must be a string"},
	} {
		_, _, v := decodeInput(x.body)
		if got := fieldsOf(v); got != x.fields {
			t.Errorf("%s: violations of %q, want %q: %v", x.body, got, x.fields, v)
		} else if !strings.HasPrefix(v[0].Description, x.first) {
			t.Errorf("%s: %q, want %q", x.body, v[0].Description, x.first)
		}
	}
}

func TestEachKeyOfAMapIsGivenOnceInOneSpellingWithAValue(t *testing.T) {
	t.Parallel()
	identity := func(body string, mask ...string) core.Violations {
		_, v := fieldmask.JSONInput[*iam.Identity]([]byte(body), mask).DecodeUpdate(iam.IdentityKind.Fields)
		return v
	}
	repo := func(body string, mask ...string) core.Violations {
		_, v := fieldmask.JSONInput[*inventory.Repo]([]byte(body), mask).DecodeUpdate(inventory.RepoKind.Fields)
		return v
	}
	association := func(body string, mask ...string) core.Violations {
		_, v := fieldmask.JSONInput[*iam.AccountAssociation]([]byte(body), mask).DecodeUpdate(iam.AccountAssociationKind.Fields)
		return v
	}
	for _, x := range []struct {
		decode     func(string, ...string) core.Violations
		body, mask string
		want       string
	}{
		{identity, `{"claimMatch": {"claims": {"a": "1", "b": "2", "a": "2"}}}`, "", "claimMatch.claims.a is given twice"},
		{identity, `{"claimMatch": {"claims": {"a": "1", "\u0061": "1"}}}`, "*", "claimMatch.claims.a is given twice"},
		{identity, `{"claimMatch": {"claims": {"a": "1", "a": "2"}}}`, "claimMatch", "claimMatch.claims.a is given twice"},
		{identity, `{"claimMatch": {"claims": {"a": "1", "a": "2"}}}`, "claimMatch.claims", "claimMatch.claims.a is given twice"},
		{identity, `{"claimMatch": {"claims": {"a": "1", "a": "2"}}}`, "claimMatch.claims.a", "claimMatch.claims.a is given twice"},
		{identity, `{"claimMatch": {"claimPatterns": {"a": "1", "a": "2"}}}`, "", "claimMatch.claimPatterns.a is given twice"},
		{identity, `{"claimMatch": {"claims": {"a": "1", "A": "2", "+5": "3", "05": "4"}, "claimPatterns": null}}`, "", ""},
		{identity, `{"claimMatch": {"claims": ["a"]}}`, "", "claimMatch.claims must be an object"},
		{association, `{"azure": {"clientIds": {"x": "1", "x": "1"}}}`, "", "azure.clientIds.x is given twice"},
		{association, `{"platform": {"serviceBindings": {"x": "1", "x": "1"}}}`, "", "platform.serviceBindings.x is given twice"},
		{association, `{"github": {"appInstallations": {"5": {}, "5": {}}}}`, "", "github.appInstallations.5 is given twice"},
		{association, `{"github": {"appInstallations": {"+5": {}, "5": {}}}}`, "", `github.appInstallations has the key "+5", which must be a whole number of 64 bits without leading zeros or plus`},
		{association, `{"github": {"appInstallations": {"05": {}}}}`, "", `github.appInstallations has the key "05", which must be a whole number of 64 bits without leading zeros or plus`},
		{association, `{"github": {"appInstallations": {"x": {}}}}`, "", `github.appInstallations has the key "x", which must be a whole number of 64 bits without leading zeros or plus`},
		{association, `{"github": {"appInstallations": {"5": {}, "-5": {}, "0": {}}}}`, "", ""},
		{association, `{"github": {"appInstallations": {"5": {}}}}`, "github.appInstallations.5", ""},
		{association, `{"github": {"appInstallations": {"+5": {}}}}`, "github.appInstallations.5", "github.appInstallations.+5 is not a field of this object"},
		{association, `{"github": {"appInstallations": {"5": {}}}}`, "github.appInstallations.6", ""},
		{identity, `{"claimMatch": {"claims": {"b": 5}}}`, "claimMatch.claims.a", ""},
		{association, `{"github": {"appInstallations": {"05": {}}}}`, "github.appInstallations.05", `updateMask "github.appInstallations.05" is not a field`},
		{association, `{"github": {"appInstallations": {"5": {}}}}`, "github.appInstallations.+5", `updateMask "github.appInstallations.+5" is not a field`},
		{identity, `{"claimMatch": {"claims": {"a": null}}}`, "", "claimMatch.claims.a must not be null"},
		{identity, `{"claimMatch": {"claims": {"a": null}}}`, "claimMatch.claims", "claimMatch.claims.a must not be null"},
		{identity, `{"claimMatch": {"claims": {"a": null}}}`, "claimMatch.claims.a", ""},
		{association, `{"github": {"appInstallations": {"5": null}}}`, "", "github.appInstallations.5 must not be null"},
		{repo, `{"labels": {"team": null}}`, "", "labels.team must not be null"},
		{repo, `{"labels": {"team": null}}`, "labels", "labels.team must not be null"},
		{repo, `{"labels": {"team": null}}`, "labels.team", ""},
		{repo, `{"labels": {"team": "a", "team": "b"}}`, "", "labels.team is given twice"},
		{repo, `{"labels": null}`, "", ""},
		{association, `{}`, "github.appInstallations.x", `updateMask "github.appInstallations.x" is not a field`},
	} {
		var got string
		for _, v := range x.decode(x.body, fieldmask.SplitMask(x.mask)...) {
			got += v.Field + " " + v.Description
		}
		if got != x.want {
			t.Errorf("%s with mask %q: %q, want %q", x.body, x.mask, got, x.want)
		}
	}
}

func TestALongTextOfAClientIsShortenedInErrors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1000)
	_, _, v := decodeInput(fmt.Sprintf(`{%q: 1}`, long), long)
	_, _, w := decodeInput(fmt.Sprintf(`{%q: 1}`, long))
	for _, x := range append(v, w...) {
		if len(x.Field)+len(x.Description) > 200 {
			t.Errorf("%d bytes of field and %d of description", len(x.Field), len(x.Description))
		}
	}
	if len(v) != 1 || len(w) != 1 {
		t.Errorf("%v, want 1 of them: %v, want 1 of them", v, w)
	}
}

func TestDeeplyNestedBodiesAreRejected(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	if _, _, v := decodeInput(`{"sync_config": ` + deep + `}`); len(v) != 1 {
		t.Errorf("%d violations, want 1", len(v))
	}
}

func TestACreationIgnoresOutputOnlyFieldsOfAReadResourceAndRejectsOthers(t *testing.T) {
	t.Parallel()
	wasRead := func(claimed *iam.Group) bool { return claimed.UID.Valid() }
	in := fieldmask.JSONInput[*iam.Group]([]byte(`{"name": "acme", "uid": "`+string(aRoot)+`", "verified": true, "kind": "ORG_KIND_INFRA", "resourceLimits": {"a": 1}, "status": 2, "createTime": "2020-01-01T00:00:00Z"}`), nil)
	got, v := in.DecodeCreate(iam.GroupKind.Fields, wasRead)
	if len(v) > 0 || got.Name != "acme" || got.UID != "" || got.Verified || got.Kind != "" || got.ResourceLimits != nil || got.Status != "" {
		t.Errorf("%+v %v", got, v)
	}
	typed := fieldmask.TypedInput(&iam.Group{UID: aRoot, Name: "acme", Description: "not named", Verified: true, Kind: iam.OrgKindInfra}, "name", "verified", "kind")
	got, v = typed.DecodeCreate(iam.GroupKind.Fields, wasRead)
	if fieldsOf(v) != "verified kind" || got.Name != "acme" || got.Description != "" || got.UID != "" || got.Verified || got.Kind != "" {
		t.Errorf("typed: %+v %v", got, v)
	}
}

func TestATypedInputChangesTheFieldsItNames(t *testing.T) {
	t.Parallel()
	c, v := fieldmask.TypedInput(&inventory.Repo{Name: "n", Description: "d", SyncConfig: &inventory.SyncConfig{Source: "s"}}, "description", "uid", "sync_config", "name").DecodeUpdate(inventory.RepoKind.Fields)
	row, fields := *c.Row, c.Fields
	slices.Sort(fields)
	if len(v) > 0 || strings.Join(fields, " ") != "description name sync_config" || row.Description != "d" || row.Name != "n" || row.SyncConfig.Source != "s" {
		t.Errorf("got %+v %q %v, want Description 'd', Name 'n' and Source 's'", row, fields, v)
	}
}

func TestBothSpellingsOfAFieldNameIt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"name": "name", "catalog_tier": "catalogTier", "catalogTier": "catalogTier", "sync_config": "sync_config", "syncConfig": "sync_config",
		"createTime": "createTime", "create_time": "createTime", "catalog__tier": "",
		"CatalogTier": "", "catalog-tier": "", "catalog_Tier": "catalogTier", "": "", "_": "", "_name": "", "name_": "", "name__": "", "catalog_tier_": "", "sync__config": "",
	} {
		got := ""
		if f := fieldmask.FindField(inventory.RepoKind.Fields, name); f != nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func FuzzInput(f *testing.F) {
	f.Add([]byte(`{"name": "golang", "sync_config": {"source": "x"}}`), "")
	f.Add([]byte(`{"name": null, "bundles": [1, "a"], "nope": {}}`), "name,active_tags")
	f.Add([]byte(`{"description": "d"}`), "*")
	f.Add([]byte(`{"description": "d", "description": 5}`), "*,name")
	f.Add([]byte(`[`), "uid")
	f.Fuzz(func(t *testing.T, body []byte, mask string) {
		var paths []string
		if mask != "" {
			paths = strings.Split(mask, ",")
		}
		row, fields, v := decodeInput(string(body), paths...)
		for _, name := range fields {
			if f := fieldmask.FindField(inventory.RepoKind.Fields, name); f == nil || f.Mode != fieldmask.Updatable {
				t.Fatalf("%s with mask %q writes %q, want Mode %v", body, mask, name, fieldmask.Updatable)
			}
		}
		if sorted := slices.Clone(fields); len(slices.Compact(slices.Sorted(slices.Values(sorted)))) != len(fields) {
			t.Fatalf("%s with mask %q writes %q", body, mask, fields)
		}
		if len(v) > 0 {
			if core.Invalid(v...).Violations[0] != v[0] {
				t.Fatal("the message does not name the first violation")
			}
			return
		}
		if row.UID != "" || !row.CreateTime.IsZero() || !row.UpdateTime.IsZero() {
			t.Fatalf("%s sets what only the service sets: %+v", body, row)
		}
		// A decoded value that is encoded must decode to the same value.
		again, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		same, _, v := decodeInput(string(again))
		if len(v) > 0 || !core.EqualJSON(same, row) {
			t.Fatalf("%s decodes to %+v, that to %+v (%v)", body, row, same, v)
		}
	})
}
