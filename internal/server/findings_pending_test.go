package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/internal/apierror"
	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// Here no background brings findings up to date, so those of a new tag are pending, and those of a new repo are not: there are none.
func TestEveryProtocolSaysThatFindingsArePending(t *testing.T) {
	t.Parallel()
	w := newReplicas(t, storetest.SQLite(t), "acme", func(p *platform.Platform) auth.Directory { return p })
	role := check(w.p.Roles.Create(w.operator, w.org, input[*iam.Role](`{"name":"writer","capabilities":["repo.list","repo.create","tag.list","tag.create"]}`)))(t).UID
	check(w.p.RoleBindings.Create(w.operator, w.org, input[*iam.RoleBinding](`{"identityUid":%q,"roleUid":%q}`, w.alice, role)))(t)
	connect := func(procedure, body string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/platform.registry.v2."+procedure, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	post := func(path, body string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	const digest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	for i, c := range []struct {
		r       *http.Request
		pending bool
		inBody  bool
	}{
		{post("/registry/v2/tags/"+string(w.repo), fmt.Sprintf(`{"name":"a","digest":%q}`, digest)), true, false},
		{post("/registry/v2/repos/"+string(w.org), `{"name":"a"}`), false, false},
		{connect("TagsService/CreateTag", fmt.Sprintf(`{"parent":%q,"tag":{"name":"b","digest":%q}}`, w.repo, digest)), true, false},
		{connect("ReposService/CreateRepo", fmt.Sprintf(`{"parent":%q,"repo":{"name":"b"}}`, w.org)), false, false},
		{graphqlRequest(fmt.Sprintf(`mutation { createTag(input: {parent: \"%s\", name: \"c\", digest: \"%s\"}) { tag { name } } }`, w.repo, digest)), true, true},
		{graphqlRequest(fmt.Sprintf(`mutation { createRepo(input: {parent: \"%s\", name: \"c\"}) { repo { name } } }`, w.org)), false, true},
	} {
		c.r.Header.Set("Authorization", "Bearer "+w.token)
		answer := httptest.NewRecorder()
		w.handlers[0].ServeHTTP(answer, c.r.WithContext(core.WithTrace(t.Context(), &core.Trace{})))
		body := answer.Body.String()
		pending := answer.Header().Get(apierror.FindingsPendingHeader) == "true"
		if c.inBody {
			pending = strings.Contains(body, `"findingsPending":true`)
		}
		if c.inBody && !strings.Contains(body, `"extensions":{"cost":{"limit":`) {
			t.Errorf("request %d says no cost: %s", i, body)
		}
		if answer.Code != http.StatusOK || strings.Contains(body, `"errors"`) || pending != c.pending {
			t.Errorf("request %d to %s: %d, pending: %t, want %t: %s %v", i, c.r.URL.Path, answer.Code, pending, c.pending, body, answer.Header())
		}
	}
}
