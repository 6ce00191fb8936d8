package graphql

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atrium/internal/graphql/limit"
)

func hashRequest(hash, query string) string {
	member := ""
	if query != "" {
		member = fmt.Sprintf(`"query": %q, `, query)
	}
	return fmt.Sprintf(`{%s"extensions": {"persistedQuery": {"version": 1, "sha256Hash": %q}}}`, member, hash)
}

func hashOf(document string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(document))) }

func TestADocumentSentOnceWithItsHashIsFoundByItsHash(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	query := "{ping}"
	hash := hashOf(query)

	r := send(t, h, "POST", "/", hashRequest(hash, ""))
	if len(r.Errors) != 1 || r.Errors[0]["message"] != "PersistedQueryNotFound" || r.Errors[0]["extensions"].(map[string]any)["status"] != 5.0 || r.status != http.StatusOK {
		t.Errorf("unknown: got status %d, want 200: %s", r.status, r.body)
	}
	for _, body := range []string{hashRequest(hash, query), hashRequest(hash, ""), fmt.Sprintf(`{"documentId": "sha256:%s"}`, hash)} {
		if r := send(t, h, "POST", "/", body).expectSuccess(); r.Data["ping"] != "pong" {
			t.Errorf("%s gives %s, want ping 'pong'", body, r.body)
		}
	}
	extensions := url.QueryEscape(fmt.Sprintf(`{"persistedQuery": {"version": 1, "sha256Hash": %q}}`, hash))
	if r := send(t, h, "GET", "/?extensions="+extensions, "").expectSuccess(); r.Data["ping"] != "pong" {
		t.Errorf("by GET: got %s, want ping 'pong'", r.body)
	}
}

func TestAHashOfAnotherDocumentIsRejected(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for _, body := range []string{
		hashRequest(hashOf("{item{id}}"), "{ping}"),
		hashRequest(strings.ToUpper(hashOf("{ping}")), "{ping}"),
		`{"query": "{ping}", "extensions": {"persistedQuery": {"version": 2, "sha256Hash": "x"}}}`,
		`{"query": "{ping}", "extensions": {"persistedQuery": {"version": 1, "sha256Hash": 5}}}`,
		`{"query": "{ping}", "extensions": {"persistedQuery": []}}`,
		`{"extensions": {"persistedQuery": {"version": 1}}}`,
		`{"query": "{ping}", "documentId": "x"}`,
	} {
		r := send(t, h, "POST", "/", body)
		if len(r.Errors) != 1 || r.Errors[0]["extensions"].(map[string]any)["code"] != "INVALID_ARGUMENT" {
			t.Errorf("%s gives %s, want 1 errors and code 'INVALID_ARGUMENT'", body, r.body)
		}
	}
}

func TestARejectedDocumentIsNotCached(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for _, query := range []string{
		"{nothing}", "{", "{" + strings.Repeat("ping ", 500) + "}", "{items(first: 200){nodes{items(first: 200){nodes{id}}}}}",
		`{ping item(id: "` + strings.Repeat("x", 16<<10) + `"){id}}`,
	} {
		send(t, h, "POST", "/", hashRequest(hashOf(query), query))
		r := send(t, h, "POST", "/", hashRequest(hashOf(query), ""))
		kept := len(r.Errors) != 1 || r.Errors[0]["message"] != "PersistedQueryNotFound"
		if expensive := strings.HasPrefix(query, "{items"); kept && !expensive { // The document is valid with other variables.
			t.Errorf("%.60s gives %.200s", query, r.body)
		}
	}
}

func TestCachedDocumentsAreLimited(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	query := func(i int) string { return fmt.Sprintf("{a%d: ping}", i) }
	for i := range 256 + 1 {
		send(t, h, "POST", "/", hashRequest(hashOf(query(i)), query(i))).expectSuccess()
	}
	if r := send(t, h, "POST", "/", hashRequest(hashOf(query(0)), "")); len(r.Errors) != 1 {
		t.Errorf("the oldest is still known: %s", r.body)
	}
	send(t, h, "POST", "/", hashRequest(hashOf(query(1)), "")).expectSuccess()
}

func TestAMutationIsNotExecutedByGetEvenByItsHash(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	query := "mutation{touch{id}}"
	send(t, h, "POST", "/", hashRequest(hashOf(query), query)).expectSuccess()
	r := send(t, h, "GET", "/?documentId="+hashOf(query), "")
	if r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "POST" {
		t.Errorf("got status %d, want 405: %s", r.status, r.body)
	}
}

func TestOnlyTrustedDocumentsAreExecutedIfThereAreAny(t *testing.T) {
	t.Parallel()
	query := "{ping}"
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(manifest, fmt.Appendf(nil, `{"ping": %q, %q: %q}`, query, hashOf(query), query), 0o600); err != nil {
		t.Fatal(err)
	}
	trusted, err := limit.ReadTrustedDocuments(manifest, newStageEngine().Schema())
	if err != nil {
		t.Fatal(err)
	}
	h := stageHandler(stageOptions{Trusted: trusted})
	for _, body := range []string{
		`{"documentId": "ping"}`, hashRequest(hashOf(query), ""), hashRequest("ping", ""), hashRequest(hashOf(query), query), `{"query": "{ping}"}`,
		fmt.Sprintf(`{"documentId": "sha256:%s"}`, hashOf(query)),
	} {
		if r := send(t, h, "POST", "/", body).expectSuccess(); r.Data["ping"] != "pong" {
			t.Errorf("%s gives %s, want ping 'pong'", body, r.body)
		}
	}
	other := "{a: ping}"
	for _, body := range []string{`{"query": "{a: ping}"}`, `{"documentId": "other"}`, hashRequest(hashOf(other), other), hashRequest(hashOf(other), ""), hashRequest("ping", other)} {
		r := send(t, h, "POST", "/", body)
		if len(r.Errors) != 1 || r.Errors[0]["extensions"].(map[string]any)["code"] != "PERMISSION_DENIED" {
			t.Errorf("%s gives %s, want 1 errors and code 'PERMISSION_DENIED'", body, r.body)
		}
	}
}

// The prefix of a hash may be in the manifest, in the request, in both or in neither.
func TestATrustedDocumentIsFoundWithAndWithoutThePrefixOfItsHash(t *testing.T) {
	t.Parallel()
	query := "{ping}"
	for _, id := range []string{hashOf(query), "sha256:" + hashOf(query)} {
		manifest := filepath.Join(t.TempDir(), "manifest.json")
		if err := os.WriteFile(manifest, fmt.Appendf(nil, `{%q: %q}`, id, query), 0o600); err != nil {
			t.Fatal(err)
		}
		trusted, err := limit.ReadTrustedDocuments(manifest, newStageEngine().Schema())
		if err != nil {
			t.Fatal(err)
		}
		h := stageHandler(stageOptions{Trusted: trusted.With(map[string]string{"other": "{a: ping}"})})
		for _, body := range []string{
			fmt.Sprintf(`{"documentId": %q}`, hashOf(query)), fmt.Sprintf(`{"documentId": "sha256:%s"}`, hashOf(query)),
			hashRequest(hashOf(query), ""), hashRequest("sha256:"+hashOf(query), ""),
		} {
			if r := send(t, h, "POST", "/", body).expectSuccess(); r.Data["ping"] != "pong" {
				t.Errorf("%s with the id %s gives %s, want ping 'pong'", body, id, r.body)
			}
		}
	}
}

func TestAManifestIsReadAndChecked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "manifest.json")
	for manifest, want := range map[string]string{
		`{"a": "{ping}"}`: "",
		`{}`:              "",
		`["{ping}"]`:      "must be a JSON object",
		`{"a": "{ping}", "b": "{nothing}", "c": "{"}`: `document "b": input:1:2: Cannot query field "nothing" on type "Query".`,
	} {
		if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := limit.ReadTrustedDocuments(path, newStageEngine().Schema())
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s gives %v, want %s", manifest, err, want)
		}
	}
	if _, err := limit.ReadTrustedDocuments(path+"x", newStageEngine().Schema()); err == nil {
		t.Error("a manifest that is missing is no error")
	}
}

func TestCallersWithATokenCanReadTheSchema(t *testing.T) {
	t.Parallel()
	open, hidden := stageHandler(stageOptions{}), stageHandler(stageOptions{HideSchema: true})
	anonymous := func(h http.Handler, query string) reply {
		return send(t, h, "POST", "/", fmt.Sprintf(`{"query": %q}`, query))
	}
	for _, query := range []string{
		`{__schema{types{name}}}`, `{__type(name: "Item"){name}}`, `{ping ...F} fragment F on Query {... on Query {a: __type(name: "Item"){name}}}`,
	} {
		post(t, open, query).expectSuccess()
		for r, code := range map[*reply]string{
			new(anonymous(open, query)):   "UNAUTHENTICATED",
			new(post(t, hidden, query)):   "PERMISSION_DENIED",
			new(anonymous(hidden, query)): "PERMISSION_DENIED",
		} {
			if len(r.Errors) != 1 || r.Errors[0]["extensions"].(map[string]any)["code"] != code || r.Data != nil {
				t.Errorf("%s gives %s, want %s", query, r.body, code)
			}
		}
	}
	anonymous(open, "{__typename}").expectSuccess()
	anonymous(hidden, "{__typename}").expectSuccess()
}

func TestAHiddenSchemaIsNotSuggested(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"{pin}", "{item}", "{item{nam}}", "{item(i: 1){id}}", "{items(where: {nam: 1}){totalCount}}", "{node(id: 1){... on Itm{id}}}", "{ping{id}}",
	} {
		if r := post(t, stageHandler(stageOptions{HideSchema: true}), query); len(r.Errors) == 0 || strings.Contains(r.body, "Did you mean") {
			t.Errorf("%s gives %s, want it without 'Did you mean'", query, r.body)
		}
	}
	for _, variables := range []string{`{"where": {"nam": "x"}}`, `{"where": {"color": "red"}}`} {
		r := send(t, stageHandler(stageOptions{HideSchema: true}), "POST", "/", `{"query": "query($where: ItemFilter){items(where: $where){totalCount}}", "variables": `+variables+`}`)
		if len(r.Errors) == 0 || strings.Contains(r.body, "Did you mean") {
			t.Errorf("%s gives %s, want it without 'Did you mean'", variables, r.body)
		}
	}
	if r := post(t, stageHandler(stageOptions{}), "{pin}"); !strings.Contains(r.body, "Did you mean") {
		t.Errorf("without hiding: %s, want it to contain 'Did you mean'", r.body)
	}
}
