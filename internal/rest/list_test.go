package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"atrium/internal/apierror"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

func TestThePageEqualsTheExampleOfTheSpecification(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 12 {
		w.create("/registry/v2/repos/"+w.org, fmt.Sprintf(`{"name":"repo-%02d"}`, i))
	}
	got := w.get("/registry/v2/repos" + query("uidp.descendants_of", w.org, "page_size", "5", "order_by", "name", "skip", "10"))
	if got.items("repos", "name") != "repo-10 repo-11" || got.json["skipped"] != 10.0 || got.json["totalCount"] != "12" {
		t.Errorf("got %s, want skipped 10.0 and totalCount '12'", got.raw)
	}
	if _, more := got.json["nextPageToken"]; more {
		t.Errorf("the last page has a token: %s", got.raw)
	}
	past := w.get("/registry/v2/repos?skip=100")
	if past.items("repos", "name") != "" || past.json["skipped"] != 100.0 || past.json["totalCount"] != "12" || !strings.Contains(past.raw, `"repos":[]`) {
		t.Errorf("a skip past the end: %s", past.raw)
	}
	empty := w.get("/registry/v2/tags")
	if !strings.Contains(empty.raw, `{"tags":[],"totalCount":"0","skipped":0}`) {
		t.Errorf("an empty list: %s, want it to contain %q", empty.raw, `{"tags":[],"totalCount":"0","skipped":0}`)
	}
	one := w.get("/registry/v2/repos?name=repo-03")
	if one.items("repos", "name") != "repo-03" || one.json["totalCount"] != "1" {
		t.Errorf("by name: %s, want totalCount '1'", one.raw)
	}
}

func TestPagesFollowTheirTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("repo-%d", 6-i))
		w.create("/registry/v2/repos/"+w.org, fmt.Sprintf(`{"name":"repo-%d"}`, i))
	}
	var names []string
	token := ""
	for _, version := range []string{"v2", "v2beta1", "v2", "v2beta1"} { // One token works in both versions.
		pairs := []string{"uidp.descendantsOf", w.org, "pageSize", "2", "pageToken", token}
		if token == "" {
			pairs = append(pairs, "order_by", "name desc") // The token contains the order.
		}
		got := w.get("/registry/" + version + "/repos" + query(pairs...))
		names = append(names, strings.Fields(got.items("repos", "name"))...)
		token = got.text("nextPageToken")
	}
	if fmt.Sprint(names) != fmt.Sprint(want) || token != "" {
		t.Errorf("walked %v then %q, want %v", names, token, want)
	}
}

func TestAPageTokenIsTheCursorOfTheCore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.create("/registry/v2/repos/"+w.org, `{"name":"`+name+`"}`)
	}
	actor, err := w.p.Authenticate(t.Context(), iam.Claims{Issuer: testIssuer, Subject: theOwner, ServiceAudience: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx := core.WithActor(t.Context(), actor)
	request := core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{DescendantsOf: core.UID(w.org)}}
	page, err := w.p.Repos.List(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	path := "/registry/v2/repos" + query("uidp.descendants_of", w.org, "page_size", "1")
	if got := w.get(path + "&page_token=" + page.Cursor(1)); got.items("repos", "name") != "c" {
		t.Errorf("after the cursor of b: %s", got.raw)
	}
	request.PageToken = w.get(path).text("nextPageToken")
	if page, err = w.p.Repos.List(ctx, request); err != nil || page.Items[0].Name != "b" {
		t.Errorf("after REST's token of a: %v", err)
	}
}

func TestAPageTokenOfAnotherListIsRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.create("/registry/v2/repos/"+w.org, `{"name":"`+name+`"}`)
	}
	token := w.get("/registry/v2/repos?page_size=1").text("nextPageToken")
	for _, path := range []string{
		"/registry/v2/repos?page_token=x",
		"/registry/v2/repos?page_token=" + token[1:],
		"/registry/v2/repos?page_token=" + token + token,
		"/registry/v2/repos?order_by=uid&page_token=" + token,
		"/registry/v2/repos?name=a&page_token=" + token,
		"/registry/v2/repos?uidp.descendants_of=" + w.org + "&page_token=" + token,
		"/iam/v2/groups?page_token=" + token,
		"/registry/v2/repos?page_token=eyJvZmZzZXQiOjV9", // This is a token of v1.
	} {
		if got := w.do(http.MethodGet, path, "").expectStatus(http.StatusBadRequest); got.violations() != "page_token" {
			t.Errorf("%s: %s, want violations of 'page_token'", path, got.raw)
		}
	}
	w.elapsed.Store(3*24*3600 + 3600)
	if got := w.get("/registry/v2/repos?page_size=1&page_token=" + token); got.items("repos", "name") != "a" {
		t.Errorf("an old token restarts: %s", got.raw)
	}
}

// parameterValue returns a value for a parameter of a list. With it, the list is not empty
// if the parameter can match something that newPopulated creates.
func (w *populated) parameterValue(path, name string) string {
	switch name {
	case "page_size", "skip":
		return "1"
	case "page_token":
		return ""
	case "order_by":
		if strings.HasSuffix(path, "/resolvedVulns") {
			return "date desc"
		}
		return "uid desc"
	case "ecosystems":
		return "ECOSYSTEM_JAVA"
	case "remediated", "uidp.in_root", "include_referrers", "include_dates", "include_epochs", "withdrawn":
		return "true"
	case "uidp.ancestors_of", "uidp.children_of", "uidp.descendants_of", "group":
		return w.org
	case "uidp.ids", "identity":
		return w.identity
	case "role":
		return w.role
	case "identity_provider_uid":
		return w.provider
	case "updated_since":
		return "2020-01-01T00:00:00Z"
	case "digest":
		return imageDigest
	case "relationship_type":
		return "RELATIONSHIP_TYPE_CLAIM_MATCH"
	case "eventReviewStates":
		return "REVIEW_STATE_APPROVED"
	case "eventTypes", "latestEventType":
		return "EVENT_TYPE_FILTER_FIXED"
	case "tiers":
		return "CATALOG_TIER_BASE"
	case "severities":
		return "SEVERITY_RATING_HIGH"
	case "states":
		return "ADVISORY_STATE_OPEN"
	case "minScore":
		return "7.5"
	default:
		return "something"
	}
}

func TestEveryListAcceptsItsParametersInBothSpellings(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	requests := w.requests()
	for _, r := range routes(w.p) {
		if r.plural == "" || requests[r.name] == nil && isOwn(t, r.name) {
			continue
		}
		prefix, _, _ := strings.Cut(r.pattern, "{")
		uid, suffix, _ := requests[r.name](0)
		list := prefix + uid + suffix + "?"
		if strings.Contains(suffix, "?") { // This list has required parameters.
			list = prefix + uid + suffix + "&"
		}
		isAccepted := func(got reply) bool { // what a parameter names need not be there
			return got.status == http.StatusOK || got.status == http.StatusNotFound
		}
		for _, p := range r.query {
			if strings.Contains(suffix, strings.ReplaceAll(p.name, "_t", "T")+"=") {
				continue // required, so every request has it
			}
			value := url.QueryEscape(w.parameterValue(r.pattern, p.name))
			for _, name := range p.spellings() {
				got := w.do(http.MethodGet, list+name+"="+value, "")
				if !isAccepted(got) {
					t.Errorf("%s: status %d, want 200: %s", got.asked, got.status, got.raw)
				}
			}
			twice := w.do(http.MethodGet, list+p.name+"="+value+"&"+apierror.SnakeCase(p.name)+"="+value, "")
			if p.repeated != isAccepted(twice) || !p.repeated && twice.violations() != p.name {
				t.Errorf("%s: %d %s", twice.asked, twice.status, twice.raw)
			}
		}
		for _, order := range []string{"name", "name desc", "created_at desc"} { // the forms that the specification shows for every list
			if got := w.do(http.MethodGet, list+query("order_by", order)[1:], ""); slices.ContainsFunc(r.query, func(p parameter) bool { return p.name == "order_by" || p.name == "orderBy" }) && !isAccepted(got) {
				t.Errorf("%s: status %d, want 200: %s", got.asked, got.status, got.raw)
			}
		}
		unknown := w.do(http.MethodGet, list+query("page_sise", "5")[1:], "").expectStatus(http.StatusBadRequest)
		if unknown.violations() != "page_sise" {
			t.Errorf("%s: %s, want violations of 'page_sise'", unknown.asked, unknown.raw)
		}
	}
}

func TestFiltersSelectTheMatchingItems(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	digest := "sha256:2222222222222222222222222222222222222222222222222222222222222222"
	for _, name := range []string{"1.2-r3", "bookworm-20260327", "sha256-" + imageDigest[7:] + ".sig"} {
		w.create("/registry/v2/tags/"+w.repo, `{"name":"`+name+`","digest":"`+digest+`"}`)
	}
	sub := w.create("/registry/v2/repos/"+w.group, `{"name":"in-team"}`)
	for _, c := range []struct{ path, plural, member, want string }{
		{"/registry/v2/tags?include_referrers=false&includeDates=false&include_epochs=false", "tags", "name", "latest"},
		{"/registry/v2/tags?include_referrers=false&include_epochs=true", "tags", "name", "1.2-r3 bookworm-20260327 latest"},
		{"/registry/v2/tags?includeEpochs=false&include_referrers=false", "tags", "name", "bookworm-20260327 latest"},
		{"/registry/v2/tags?name=latest", "tags", "name", "latest"},
		{"/registry/v2/tags?digest=" + imageDigest, "tags", "name", "latest"},
		{"/registry/v2/tags?updated_since=2100-01-01T00:00:00Z", "tags", "name", ""},
		{"/registry/v2/tags?uidp.children_of=" + w.repo + "&name=latest", "tags", "name", "latest"},
		{"/registry/v2/repos?uidp.children_of=" + w.org, "repos", "name", "base"},
		{"/registry/v2/repos?uidp.descendants_of=" + w.org, "repos", "name", "base in-team"},
		{"/registry/v2/repos?uidp.ids=" + sub + "&uidp.ids=" + w.repo, "repos", "name", "base in-team"},
		{"/iam/v2/groups?uidp.ancestors_of=" + sub, "groups", "name", "acme team"},
		{"/iam/v2/groups?uidp.in_root=true", "groups", "name", "acme"},
		{"/iam/v2/identities?relationship_type=RELATIONSHIP_TYPE_STATIC", "identities", "name", ""},
		{"/iam/v2/identities?relationshipType=RELATIONSHIP_TYPE_CLAIM_MATCH", "identities", "name", "owner robot"},
		{"/iam/v2/roles?name=owner", "roles", "name", "owner"},
		{"/iam/v2/roles?uidp.children_of=" + w.org, "roles", "name", "lister"},
		{"/iam/v2/roleBindings?identity=" + w.identity, "roleBindings", "uid", w.binding},
		{"/iam/v2/roleBindings?role=" + w.role + "&group=" + w.org, "roleBindings", "uid", w.binding},
		{"/iam/v2/roleBindings?group=" + w.group, "roleBindings", "uid", ""},
		{"/vulnerabilities/v2/advisories?artifactNames=stdlib&artifact_names=other", "advisories", "advisoryId", "GO-2024-0001"},
		{"/vulnerabilities/v2/advisories?artifactNames=stdlib,net", "advisories", "advisoryId", ""},
		{"/vulnerabilities/v2/advisories?artifactNames=stdlib&artifactNames=net&order_by=advisory_id", "advisories", "advisoryId", "GO-2024-0001 GO-2024-0002"},
		{"/vulnerabilities/v2/advisories?advisory_ids=GO-2024-0002", "advisories", "advisoryId", "GO-2024-0002"},
		{"/vulnerabilities/v2/advisories?aliases=CVE-2024-1", "advisories", "advisoryId", "GO-2024-0001"},
		{"/vulnerabilities/v2/advisories?artifactTypes=go", "advisories", "advisoryId", "GO-2024-0002"},
		{"/vulnerabilities/v2/advisories?eventTypes=EVENT_TYPE_FILTER_FIXED", "advisories", "advisoryId", "GO-2024-0001"},
		{"/vulnerabilities/v2/advisories?latest_event_type=EVENT_TYPE_FILTER_PATCHED", "advisories", "advisoryId", ""},
		{"/vulnerabilities/v2/advisories?event_authors=osv", "advisories", "advisoryId", "GO-2024-0001"},
		{"/vulnerabilities/v2/advisories?excludeEventAuthors=osv", "advisories", "advisoryId", "GO-2024-0002"},
		{"/vulnerabilities/v2/advisories?origin=osv", "advisories", "advisoryId", "GO-2024-0001"},
		{"/vulnerabilities/v2/advisories?query=STD", "advisories", "advisoryId", "GO-2024-0001"},
		{"/advisory/v2/metadata?id=CVE-2024-1", "vulnerabilityMetadata", "id", "GO-2024-0001"},
		{"/advisory/v2/metadata?ids=GO-2024-0003&ids=GO-2024-0002", "vulnerabilityMetadata", "id", "GO-2024-0002 GO-2024-0003"},
		{"/advisory/v2/metadata?page_size=1&skip=1", "vulnerabilityMetadata", "id", "GO-2024-0002"},
		{"/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON", "artifacts", "name", "com.google.guava:guava numpy"},
		{"/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON", "artifacts", "name", "numpy"},
		{"/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&query=COLL", "artifacts", "name", "com.google.guava:guava"},
		{"/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON&remediated=true", "artifacts", "latestVersion", "33.4.8-jre"},
		{"/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&cuda_version=12.1", "artifacts", "name", "numpy"},
		{"/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&cudaVersion=12", "artifacts", "name", ""},
		{"/libraries/v2/artifacts/" + w.artifact + "/versions", "artifactVersions", "version", "33.4.8-jre 33.4.8-android 9.0"},
		{"/libraries/v2/artifacts/" + w.artifact + "/versions?order_by=version&page_size=1", "artifactVersions", "sizeBytes", "1099511627776"},
		{"/events/v2/subscriptions", "subscriptions", "sink", "https://sink.example.com/a"},
	} {
		if got := w.get(c.path); got.items(c.plural, c.member) != c.want {
			t.Errorf("%s: %q, want %q", c.path, got.items(c.plural, c.member), c.want)
		}
	}
}

func TestAListReportsEveryViolationAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.do(http.MethodGet, "/registry/v2/tags?nope=1&uidp.in_root=x&updated_since=y&digest=z&uidp.children_of=u&page_size=-1&skip=1.5&order_by=size&page_token=t&name=a&name=b", "").
		expectStatus(http.StatusBadRequest)
	if want := "name nope uidp.in_root updated_since skip uidp.children_of digest page_size order_by page_token"; got.violations() != want {
		t.Errorf("got  %s\nwant %s", got.violations(), want)
	}
	if got.detail("ErrorInfo")["domain"] != "registry.atrium.dev" || !strings.HasPrefix(got.text("message"), "Invalid argument: name: ") {
		t.Errorf("got %s, want domain 'registry.atrium.dev'", got.raw)
	}
	advisories := w.do(http.MethodGet, "/vulnerabilities/v2/advisories?eventTypes=x&latestEventType=y&eventReviewStates=z", "").expectStatus(http.StatusBadRequest)
	if advisories.violations() != "eventReviewStates eventTypes latestEventType" {
		t.Errorf("got %s, want violations of 'eventReviewStates eventTypes latestEventType'", advisories.raw)
	}
}
