package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestAnUpdateChangesTheFieldsOfItsMask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const before = `"description":"old","catalogTier":"CATALOG_TIER_BASE","aliases":["x"]`
	for i, c := range []struct {
		mask, body string
		want       string // This is description|tier|aliases.
	}{
		// Without a mask, the fields of the body change.
		{"", `{"description":"new"}`, "new|CATALOG_TIER_BASE|[x]"},
		{"?updateMask=", `{"description":"new"}`, "new|CATALOG_TIER_BASE|[x]"},
		{"", `{"description":null,"catalog_tier":"CATALOG_TIER_AI"}`, "|CATALOG_TIER_AI|[x]"},
		{"", `{}`, "old|CATALOG_TIER_BASE|[x]"},
		{"", ``, "old|CATALOG_TIER_BASE|[x]"},
		{"", `{"uid":"@","updateTime":"2020-01-01T00:00:00Z","description":"new"}`, "new|CATALOG_TIER_BASE|[x]"},
		// With a mask, the fields that it lists change. Both spellings work.
		{"?updateMask=description", `{"description":"new","catalogTier":"CATALOG_TIER_AI","aliases":null}`, "new|CATALOG_TIER_BASE|[x]"},
		{"?update_mask=catalog_tier", `{"catalogTier":"CATALOG_TIER_AI","unknown":1,"description":5}`, "old|CATALOG_TIER_AI|[x]"},
		{"?updateMask=catalogTier,aliases", `{"aliases":["y","z"]}`, "old||[y z]"},
		{"?updateMask=catalogTier%2Cdescription", `{"catalog_tier":"CATALOG_TIER_AI"}`, "|CATALOG_TIER_AI|[x]"},
		{"?updateMask=%20catalogTier,%20aliases%20", `{"aliases":["y","z"]}`, "old||[y z]"},
		{"?updateMask=sync_config.source", `{"syncConfig":{"source":"s","google":"ignored"}}`, "old|CATALOG_TIER_BASE|[x]"},
		{"", `{"catalogTier":4}`, "old|CATALOG_TIER_AI|[x]"},
		// With *, all fields change.
		{"?updateMask=*", `{"name":"#","aliases":["q"]}`, "||[q]"},
		{"?updateMask=%2A", `{"name":"#","description":"new"}`, "new||[]"},
	} {
		name := fmt.Sprintf("repo-%d", i)
		uid := w.create("/registry/v2/repos/"+w.org, `{"name":"`+name+`",`+before+`}`)
		got := w.do(http.MethodPatch, "/registry/v2/repos/"+uid+c.mask, strings.NewReplacer("#", name, "@", uid).Replace(c.body)).expectStatus(http.StatusOK)
		aliases, _ := got.json["aliases"].([]any)
		shown := fmt.Sprintf("%s|%s|%v", got.text("description"), got.text("catalogTier"), aliases)
		if shown != c.want || got.text("name") != name || got.text("uid") != uid {
			t.Errorf("%s %s: %s, want %s", c.mask, c.body, got.raw, c.want)
		}
		if again := w.get("/registry/v2/repos/" + uid); again.raw != got.raw {
			t.Errorf("%s %s: read back %s, answered %s, want raw %v", c.mask, c.body, again.raw, got.raw, got.raw)
		}
	}
}

func TestEveryUpdateAcceptsEveryFormOfMask(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	for _, c := range []struct{ path, field, full string }{
		{"/iam/v2/groups/" + w.group, "description", `{"name":"team","description":"#"}`},
		{"/iam/v2/identities/" + w.identity, "description", `{"name":"robot","description":"#"}`},
		{"/iam/v2/roles/" + w.role, "description", `{"name":"lister","description":"#"}`},
		{"/registry/v2/repos/" + w.repo, "description", `{"name":"base","description":"#"}`},
		{"/registry/v2/repos/" + w.repo + "/readme", "content", `{"content":"#"}`},
	} {
		for i, mask := range []string{"", "?updateMask=" + c.field, "?update_mask=" + c.field, "?updateMask=*"} {
			value := fmt.Sprintf("text %d", i)
			got := w.do(http.MethodPatch, c.path+mask, strings.ReplaceAll(c.full, "#", value)).expectStatus(http.StatusOK)
			if got.text(c.field) != value || w.get(c.path).text(c.field) != value {
				t.Errorf("%s: %s", got.asked, got.raw)
			}
		}
	}
	got := w.do(http.MethodPatch, "/iam/v2/roleBindings/"+w.binding+"?updateMask=role_uid", `{"identityUid":"ignored","roleUid":"`+w.role+`"}`).expectStatus(http.StatusOK)
	if got.text("role", "uid") != w.role || got.text("identity", "uid") != w.identity {
		t.Errorf("got %s", got.raw)
	}
}

func TestAnInvalidMaskIsReportedWithAllOtherViolations(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	repo := "/registry/v2/repos/" + w.repo
	for _, c := range []struct{ path, body, want string }{
		{repo + "?updateMask=nope", `{}`, "updateMask"},
		{repo + "?updateMask=uid", `{}`, "updateMask"},
		{repo + "?updateMask=createTime", `{}`, "updateMask"},
		{repo + "?updateMask=*,name", `{"name":"base"}`, "updateMask"},
		{repo + "?updateMask=description,", `{}`, "updateMask"},
		{repo + "?updateMask=" + strings.Repeat("description,", 100) + "description", `{}`, "updateMask"},
		{repo + "?updateMask=*", `{}`, "name"},
		{repo + "?updateMask=name", `{}`, "name"},
		{repo + "?updateMask=name&update_mask=description", `{}`, "updateMask"},
		{repo + "?mask=name", `{}`, "mask"},
		{repo, `{"name":"UPPER","description":5,"nope":1}`, "name description nope"},
		{repo, `{"name":""}`, "name"},
		{repo, `[]`, "body"},
		{repo, `{"name":`, "body"},
		{repo + "/readme?updateMask=uid", `{}`, "updateMask"},
		{repo + "/readme", `{"content":7,"x":1}`, "content x"},
		{"/iam/v2/groups/" + w.group, `{"verified":true,"name":"A","parent":"x"}`, "parent name verified"},
		{repo, `{"uid":"other","createTime":"never","description":"new"}`, "uid createTime"},
	} {
		before := w.get(repo).raw
		got := w.do(http.MethodPatch, c.path, c.body).expectStatus(http.StatusBadRequest)
		if got.violations() != c.want {
			t.Errorf("%s %s: violations of %q, want %q: %s", c.path, c.body, got.violations(), c.want, got.raw)
		}
		if after := w.get(repo).raw; after != before {
			t.Errorf("%s %s changed it to %s, want %s", c.path, c.body, after, before)
		}
	}
}
