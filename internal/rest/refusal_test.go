package rest

import (
	"net/http"
	"strings"
	"testing"

	"atrium/platform/iam"
)

func TestEveryErrorHasItsDetails(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	missing := w.org + "/ffffffffffffffff"
	otherOrg := strings.Repeat("f", 40)
	for _, c := range []struct {
		name, subject, method, path, body string
		status, code                      int
		reason                            string
		kind, member, value               string // These are a member of the detail besides ErrorInfo, and its value.
	}{
		{"no token", nobody, "GET", "/registry/v2/repos", "", 401, 16, "UNAUTHENTICATED", "", "", ""},
		{"no token, one resource", nobody, "GET", "/registry/v2/repos/" + w.repo, "", 401, 16, "UNAUTHENTICATED", "", "", ""},
		{"no token, creation", nobody, "POST", "/registry/v2/repos/" + w.org, `{"name":"x"}`, 401, 16, "UNAUTHENTICATED", "", "", ""},
		{"no token, update", nobody, "PATCH", "/registry/v2/repos/" + w.repo, `{}`, 401, 16, "UNAUTHENTICATED", "", "", ""},
		{"no token, delete", nobody, "DELETE", "/registry/v2/repos/" + w.repo, "", 401, 16, "UNAUTHENTICATED", "", "", ""},
		{"no identity", "a stranger", "GET", "/registry/v2/repos", "", 403, 7, "IDENTITY_NOT_FOUND", "", "", ""},
		{"no capability", "robot", "DELETE", "/registry/v2/repos/" + w.repo, "", 403, 7, "PERMISSION_DENIED", "ErrorInfo", "reason", "PERMISSION_DENIED"},
		{"no capability, nothing there", "robot", "DELETE", "/registry/v2/repos/" + missing, "", 403, 7, "PERMISSION_DENIED", "", "", ""},
		{"another organization", theOwner, "GET", "/registry/v2/repos/" + otherOrg, "", 403, 7, "PERMISSION_DENIED", "", "", ""},
		{"nothing there", theOwner, "GET", "/registry/v2/repos/" + missing, "", 404, 5, "NOT_FOUND", "ResourceInfo", "resourceType", "registry.atrium.dev/Repo"},
		{"nothing to update", theOwner, "PATCH", "/iam/v2/groups/" + missing, `{"name":"x"}`, 404, 5, "NOT_FOUND", "ResourceInfo", "resourceType", "iam.atrium.dev/Group"},
		{"nothing to delete", theOwner, "DELETE", "/events/v2/subscriptions/" + missing, "", 404, 5, "NOT_FOUND", "ResourceInfo", "resourceName", missing},
		{"no parent", theOwner, "POST", "/registry/v2/repos/" + missing, `{"name":"x"}`, 404, 5, "NOT_FOUND", "ResourceInfo", "resourceType", "iam.atrium.dev/Group"},
		{"no scope", theOwner, "GET", "/registry/v2/repos?uidp.descendants_of=" + missing, "", 404, 5, "NOT_FOUND", "ResourceInfo", "resourceName", missing},
		{"no image", theOwner, "GET", "/registry/v2/repos/" + w.repo + "/digests/" + sha + "/size", "", 404, 5, "NOT_FOUND", "ResourceInfo", "resourceType", "registry.atrium.dev/Image"},
		{"no size", theOwner, "GET", "/registry/v2/repos/" + w.repo + "/digests/" + imageDigest + "/size?architecture=vax", "", 404, 5, "NOT_FOUND", "ResourceInfo", "resourceType", "registry.atrium.dev/Size"},
		{"no readme", theOwner, "GET", "/registry/v2/repos/" + missing + "/readme", "", 404, 5, "NOT_FOUND", "ResourceInfo", "resourceType", "registry.atrium.dev/Repo"},
		{"no such caller", theOwner, "GET", "/iam/v2/identities:lookupIdentity?issuer=x&subject=y", "", 404, 5, "NOT_FOUND", "ResourceInfo", "resourceType", "iam.atrium.dev/Identity"},
		{"taken name", theOwner, "POST", "/registry/v2/repos/" + w.org, `{"name":"base"}`, 409, 6, "ALREADY_EXISTS", "ResourceInfo", "resourceName", w.repo},
		{"not empty", theOwner, "DELETE", "/registry/v2/repos/" + w.repo, "", 400, 9, "FAILED_PRECONDITION", "PreconditionFailure", "", "RESOURCE_NOT_EMPTY"},
		{"in use", theOwner, "DELETE", "/iam/v2/identities/" + w.identity, "", 400, 9, "FAILED_PRECONDITION", "PreconditionFailure", "", "RESOURCE_IN_USE"},
		{"role in use", theOwner, "DELETE", "/iam/v2/roles/" + w.role, "", 400, 9, "FAILED_PRECONDITION", "PreconditionFailure", "", "RESOURCE_IN_USE"},
		{"built-in", theOwner, "PATCH", "/iam/v2/roles/" + string(iam.ViewerRole), `{"name":"x"}`, 400, 9, "FAILED_PRECONDITION", "PreconditionFailure", "", "BUILT_IN_ROLE"},
		{"built-in, delete", theOwner, "DELETE", "/iam/v2/roles/" + string(iam.ViewerRole), "", 400, 9, "FAILED_PRECONDITION", "PreconditionFailure", "", "BUILT_IN_ROLE"},
		{"empty identity", theOwner, "POST", "/iam/v2/identities/" + w.org, `{}`, 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "name"},
		{"no UID", theOwner, "GET", "/iam/v2/groups/nonsense", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "uid"},
		{"an empty UID", theOwner, "GET", "/iam/v2/groups/", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "uid"},
		{"a UID with a slash too many", theOwner, "GET", "/registry/v2/repos/" + w.org + "//" + w.repo[41:], "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "uid"},
		{"a UID with a slash at its end", theOwner, "DELETE", "/registry/v2/repos/" + w.repo + "/", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "uid"},
		{"a UID in capitals", theOwner, "GET", "/registry/v2/repos/" + strings.ToUpper(w.repo), "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "uid"},
		{"no parent's UID", theOwner, "POST", "/registry/v2/repos/", `{"name":"x"}`, 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "parent"},
		{"no digest", theOwner, "GET", "/registry/v2/repos/x/digests/y/architectures", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "repoUid digest"},
		{"no issuer", theOwner, "GET", "/iam/v2/identities:lookupIdentity", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "issuer subject"},
		{"a query to a get", theOwner, "GET", "/registry/v2/repos/" + w.repo + "?page_size=1", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "page_size"},
		{"a query to a creation", theOwner, "POST", "/registry/v2/repos/" + w.org + "?updateMask=name", `{"name":"x"}`, 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "updateMask"},
		{"a query to a delete", theOwner, "DELETE", "/registry/v2/tags/" + w.tag + "?force=true", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "force"},
		{"a query to ping", theOwner, "GET", "/ping/v2/ping?x", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "x"},
		{"no artifact", theOwner, "GET", "/libraries/v2/artifacts/" + otherOrg + "/versions", "", 404, 5, "NOT_FOUND", "ResourceInfo", "resourceType", "libraries.atrium.dev/Artifact"},
		{"no artifact's UID", theOwner, "GET", "/libraries/v2/artifacts/guava/versions", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "artifact_id"},
		{"no ecosystem", theOwner, "GET", "/libraries/v2/artifacts", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "ecosystems"},
		{"no ecosystem to count", theOwner, "GET", "/libraries/v2/artifacts/count", "", 400, 3, "INVALID_ARGUMENT", "BadRequest", "", "ecosystems"},
		{"a single artifact", theOwner, "GET", "/libraries/v2/artifacts/" + otherOrg, "", 404, 5, "NOT_FOUND", "", "", ""},
		{"artifacts without the capability", "robot", "GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA", "", 403, 7, "PERMISSION_DENIED", "", "", ""},
		{"v1", theOwner, "GET", "/registry/v1/repos", "", 501, 12, "UNIMPLEMENTED", "", "", ""},
		{"nothing at this path", theOwner, "GET", "/registry/v2/nothing", "", 404, 5, "NOT_FOUND", "", "", ""},
		{"nothing in this version", theOwner, "GET", "/registry/v3/repos", "", 404, 5, "NOT_FOUND", "", "", ""},
		{"an escaped fixed part", theOwner, "GET", "/registry%2Fv2/repos", "", 404, 5, "NOT_FOUND", "", "", ""},
		{"slashes in front", theOwner, "GET", "//registry/v2/repos", "", 404, 5, "NOT_FOUND", "", "", ""},
		{"nothing at all", theOwner, "GET", "/", "", 404, 5, "NOT_FOUND", "", "", ""},
	} {
		got := w.sendAs(c.subject, c.method, c.path, c.body)
		info := got.detail("ErrorInfo")
		if got.status != c.status || got.json["code"] != float64(c.code) || info["reason"] != c.reason {
			t.Errorf("%s: status %d, want %d: %s", c.name, got.status, c.status, got.raw)
			continue
		}
		if c.path[1:] != "" && c.path[1] != '/' && info["domain"] != strings.Split(strings.ReplaceAll(c.path[1:], "%2F", "/"), "/")[0]+".atrium.dev" {
			t.Errorf("%s: %s", c.name, got.raw)
		}
		if got.header.Get("Content-Type") != "application/json" || (got.status == 401) != (got.header.Get("WWW-Authenticate") == "Bearer") {
			t.Errorf("%s: %v, want Content-Type 'application/json'", c.name, got.header)
		}
		switch found := got.detail(c.kind); {
		case c.kind == "":
		case c.kind == "BadRequest":
			if got.violations() != c.value {
				t.Errorf("%s: violations of %q, want %q: %s", c.name, got.violations(), c.value, got.raw)
			}
		case c.kind == "PreconditionFailure":
			list, _ := found["violations"].([]any)
			if len(list) != 1 || list[0].(map[string]any)["type"] != c.value {
				t.Errorf("%s: %s, want 1 items", c.name, got.raw)
			}
		case found[c.member] != c.value:
			t.Errorf("%s: %s, want %s %s", c.name, got.raw, c.member, c.value)
		}
	}
}

func TestACreationReportsEveryViolationAtOnce(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	for _, c := range []struct{ path, body, want string }{
		{"/iam/v2/identities/" + w.org, `{"name":"UP","description":"a\nb","claimMatch":{"subject":""},"color":1}`,
			"name description claimMatch.issuer claimMatch.subject color"},
		{"/iam/v2/groups/x", `{"name":5,"description":6}`, "parent name description"},
		{"/registry/v2/repos/" + w.org, `{"name":"//","catalogTier":"X","sync_config":{"source":""},"bundles":[""]}`, "name catalogTier bundles sync_config.source"},
		{"/registry/v2/tags/" + w.repo, `{"name":"-","digest":"md5:1"}`, "name digest"},
		{"/iam/v2/roles/" + w.org, `{"capabilities":["CAP_NONE"]}`, "name capabilities"},
		{"/iam/v2/roleBindings/" + w.org, `{"identityUid":"x"}`, "identityUid roleUid"},
		{"/events/v2/subscriptions/" + w.org, `{"sink":"http://127.0.0.1","types":[""]}`, "sink types[0]"},
		{"/iam/v2/roleBindings:batchCreate", `{"parent":"` + w.org + `","requests":[{"roleBinding":{"identityUid":"x"}},{"roleBinding":{"y":1}}]}`,
			"requests[0].roleBinding.identityUid requests[0].roleBinding.roleUid requests[1].roleBinding.identityUid requests[1].roleBinding.roleUid requests[1].roleBinding.y"},
		{"/iam/v2/roleBindings:batchCreate", `{"x":1,"parent":"` + w.org + `","requests":[{"parent":"y"}]}`, "x requests[0].parent"},
		{"/iam/v2/roleBindings:batchCreate", ``, "requests"},
		{"/iam/v2/roleBindings:batchCreate", `{"parent":"` + w.org + `","requests":[` + strings.Repeat("{},", 25) + `{}]}`, "requests"},
	} {
		got := w.do(http.MethodPost, c.path, c.body).expectStatus(http.StatusBadRequest)
		if got.violations() != c.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.path, c.body, got.violations(), c.want)
		}
	}
}

func TestABatchIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	before := w.get("/iam/v2/roleBindings").json["totalCount"]
	body := `{"parent":"` + w.org + `","roleUid":"` + string(iam.ViewerRole) + `","requests":[{"roleBinding":{"identityUid":"` + w.identity + `"}},` +
		`{"roleBinding":{"identityUid":"` + w.org + `/ffffffffffffffff"}}]}`
	w.do(http.MethodPost, "/iam/v2/roleBindings:batchCreate", body).expectStatus(http.StatusNotFound)
	if after := w.get("/iam/v2/roleBindings").json["totalCount"]; after != before {
		t.Errorf("%v bindings, then %v, want %v", before, after, before)
	}
}

func TestBodiesOfAnotherTypeAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/registry/v2/repos/" + w.org
	for _, c := range []struct {
		header, value string
		status        int
	}{
		{"Content-Encoding", "gzip", 415},
		{"Content-Type", "application/json", 413},
	} {
		body := `{"name":"x"}`
		if c.status == 413 {
			body += strings.Repeat(" ", MaxBody)
		}
		got := w.do(http.MethodPost, path, body, c.header, c.value).expectStatus(c.status)
		if got.json["code"] != 3.0 || got.detail("BadRequest") == nil {
			t.Errorf("%s %s: %s, want code 3.0", c.header, c.value, got.raw)
		}
	}
	if got := w.get("/registry/v2/repos"); got.json["totalCount"] != "0" {
		t.Errorf("something was made: %s, want totalCount '0'", got.raw)
	}
	w.do(http.MethodGet, "/registry/v2/repos", "not looked at", "Content-Type", "text/plain").expectStatus(http.StatusOK)
}

func TestHEADAndOPTIONSAreAnswered(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	for path, allow := range map[string]string{
		"/iam/v2/groups":                           "GET, HEAD, OPTIONS, POST",
		"/iam/v2/groups/" + w.org:                  "DELETE, GET, HEAD, OPTIONS, PATCH, POST",
		"/registry/v2/repos":                       "GET, HEAD, OPTIONS",
		"/registry/v2/tags/" + w.tag:               "DELETE, GET, HEAD, OPTIONS, POST",
		"/registry/v2/repos/" + w.repo + "/readme": "GET, HEAD, OPTIONS, PATCH",
		"/iam/v2/roleBindings:batchCreate":         "OPTIONS, POST",
		"/iam/v2/identities:lookupIdentity":        "GET, HEAD, OPTIONS",
		"/vulnerabilities/v2beta1/advisories":      "GET, HEAD, OPTIONS",
		"/ping/v2/ping":                            "GET, HEAD, OPTIONS",
	} {
		options := w.sendAs(nobody, http.MethodOptions, path, "").expectStatus(http.StatusNoContent)
		if options.header.Get("Allow") != allow || options.raw != "" {
			t.Errorf("OPTIONS %s: %q, want %q", path, options.header.Get("Allow"), allow)
		}
		for _, method := range []string{http.MethodPut, http.MethodTrace, "PURGE"} {
			got := w.do(method, path, "").expectStatus(http.StatusMethodNotAllowed)
			if got.header.Get("Allow") != allow || got.json["code"] != 12.0 {
				t.Errorf("%s %s: %q, want %q: %s", method, path, got.header.Get("Allow"), allow, got.raw)
			}
		}
	}
	w.do(http.MethodHead, "/iam/v2/roleBindings:batchCreate", "").expectStatus(http.StatusMethodNotAllowed)
	for _, path := range []string{"/registry/v2/repos", "/registry/v2/repos/" + w.repo, "/ping/v2/ping"} {
		// Go's client requests gzip by itself only for a GET.
		get := w.do(http.MethodGet, path, "", "Accept-Encoding", "identity").expectStatus(http.StatusOK)
		head := w.do(http.MethodHead, path, "").expectStatus(http.StatusOK)
		if head.raw != "" || head.header.Get("Content-Type") != "application/json" || head.header.Get("Content-Length") != get.header.Get("Content-Length") {
			t.Errorf("HEAD %s: %q, want none: %v, GET %v", path, head.raw, head.header, get.header)
		}
	}
	w.do(http.MethodHead, "/registry/v2/repos/x", "").expectStatus(http.StatusBadRequest)
	w.do(http.MethodHead, "/nothing", "").expectStatus(http.StatusNotFound)
}
