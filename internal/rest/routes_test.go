package rest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
)

// A populated is a world with one resource of each kind that clients can only read, and a
// repo for them.
type populated struct {
	*world
	group, identity, role, binding, repo, tag, subscription, advisory string
	artifact                                                          string
	provider, mapping, invite, code                                   string
}

const imageDigest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"

func newPopulated(t *testing.T) *populated {
	w := &populated{world: newWorld(t)}
	w.group = w.create("/iam/v2/groups/"+w.org, `{"name":"team","description":"a team"}`)
	w.identity = w.create("/iam/v2/identities/"+w.org, `{"name":"robot","claimMatch":{"issuer":"`+testIssuer+`","subject":"robot"}}`)
	w.role = w.create("/iam/v2/roles/"+w.org, `{"name":"lister","capabilities":["CAP_REPO_LIST","groups.list"]}`)
	w.binding = w.create("/iam/v2/roleBindings/"+w.org, `{"identityUid":"`+w.identity+`","roleUid":"`+w.role+`"}`)
	w.repo = w.create("/registry/v2/repos/"+w.org, `{"name":"base"}`)
	w.tag = w.create("/registry/v2/tags/"+w.repo, `{"name":"latest","digest":"`+imageDigest+`"}`)
	w.subscription = w.create("/events/v2/subscriptions/"+w.org, `{"sink":"https://sink.example.com/a"}`)
	w.provider = w.create("/iam/v2/identityProviders/"+w.org, `{"name":"login","defaultRole":"`+w.role+`","oidc":{"issuer":"https://login.example.com","clientId":"c","clientSecret":"hidden"}}`)
	w.mapping = w.create("/iam/v2/externalGroupRoleMappings/"+w.provider, `{"externalGroupId":"admins","roleUid":"`+w.role+`"}`)
	w.create("/iam/v2/accountAssociations/"+w.org, `{"name":"accounts","google":{"projectId":"p","projectNumber":"1"}}`)
	invite := w.do(http.MethodPost, "/iam/v2/groupInvites/"+w.org, `{"roleUid":"`+w.role+`","ttl":"3600s"}`).expectStatus(http.StatusOK)
	w.invite, w.code = invite.text("uid"), invite.text("code")
	w.do(http.MethodPost, "/iam/v2/terms/"+w.org, `{"document_ids":["privacy"]}`).expectStatus(http.StatusOK)
	ctx := core.WithActor(t.Context(), core.NewOperator("import"))
	advisory := &inventory.Advisory{AdvisoryID: "GO-2024-0001", ArtifactName: "stdlib", Author: "osv", Aliases: []string{"CVE-2024-1"}, Origin: "osv",
		Events: []inventory.AdvisoryEvent{{Author: "osv", Fixed: &inventory.Fixed{FixedVersion: "1.2.3"}}}}
	other := &inventory.Advisory{AdvisoryID: "GO-2024-0002", ArtifactName: "net", ArtifactType: "go"}
	if _, err := w.p.Feeds.ImportAdvisories(ctx, core.UID(w.org), []*inventory.Advisory{advisory, other}); err != nil {
		t.Fatal(err)
	}
	w.advisory = string(advisory.UID)
	if _, err := w.p.Feeds.ImportVulnerabilities(ctx, []*inventory.Vulnerability{
		{ID: "GO-2024-0001", Summary: "bad", Aliases: []string{"CVE-2024-1"}}, {ID: "GO-2024-0002"}, {ID: "GO-2024-0003"},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.p.Registry.ImportImages(ctx, []*inventory.Image{{Repo: core.UID(w.repo), Digest: imageDigest, Architectures: []inventory.Architecture{
		{Name: "arm64", Size: 7}, {Name: "amd64", Size: 1 << 40},
	}}}); err != nil {
		t.Fatal(err)
	}
	guava := &libraries.ImportedArtifact{
		Artifact: libraries.Artifact{Ecosystem: libraries.EcosystemJava, Name: "com.google.guava:guava", Description: "Collections", Remediated: true},
		Versions: []*libraries.ArtifactVersion{{Version: "9.0", SizeBytes: 1 << 40}, {Version: "33.4.8-jre"}, {Version: "33.4.8-android"}},
	}
	numpy := &libraries.ImportedArtifact{Artifact: libraries.Artifact{Ecosystem: libraries.EcosystemPython, Name: "numpy", CudaVersion: "12.1"}}
	if _, _, err := w.p.Artifacts.Import(ctx, []*libraries.ImportedArtifact{guava, numpy}); err != nil {
		t.Fatal(err)
	}
	w.artifact = string(guava.UID)
	return w
}

// requests returns a valid request for each operation by name. n distinguishes the
// requests of one operation.
func (w *populated) requests() map[string]func(n int) (uid, suffix, body string) {
	repeat := func(uid, suffix, body string) func(int) (string, string, string) {
		return func(n int) (string, string, string) { return uid, suffix, strings.ReplaceAll(body, "#", fmt.Sprint(n)) }
	}
	collection := repeat("", "", "")
	fresh := func(path, body string) func(int) (string, string, string) {
		return func(n int) (string, string, string) {
			return w.create(path, strings.ReplaceAll(body, "#", fmt.Sprint(n))), "", ""
		}
	}
	robot := func(n int) string {
		return w.create("/iam/v2/identities/"+w.org, fmt.Sprintf(`{"name":"fresh %d"}`, n))
	}
	binding := func(n int) string { return `{"identityUid":"` + robot(n) + `","roleUid":"` + w.role + `"}` }
	sub := func(n int) string {
		return w.create("/iam/v2/groups/"+w.org, fmt.Sprintf(`{"name":"associated %d"}`, n))
	}
	mapping := func(n int) string {
		return w.create("/iam/v2/externalGroupRoleMappings/"+w.provider, fmt.Sprintf(`{"externalGroupId":"gone %d","roleUid":%q}`, n, w.role))
	}
	image := "/digests/" + imageDigest
	return map[string]func(int) (string, string, string){
		"ListGroups":  collection,
		"GetGroup":    repeat(w.group, "", ""),
		"CreateGroup": repeat(w.group, "", `{"name":"g #"}`),
		"UpdateGroup": repeat(w.group, "", `{"description":"d #"}`),
		"DeleteGroup": fresh("/iam/v2/groups/"+w.org, `{"name":"gone #"}`),

		"ListIdentities": collection,
		"GetIdentity":    repeat(w.identity, "", ""),
		"CreateIdentity": repeat(w.group, "", `{"name":"i #"}`),
		"UpdateIdentity": repeat(w.identity, "", `{"company":"c #"}`),
		"DeleteIdentity": fresh("/iam/v2/identities/"+w.org, `{"name":"gone #"}`),
		"LookupIdentity": repeat("", "?subject=robot&issuer="+testIssuer, ""),

		"ListRoles":  collection,
		"GetRole":    repeat(w.role, "", ""),
		"CreateRole": repeat(w.group, "", `{"name":"r #","capabilities":["CAP_TAG_LIST"]}`),
		"UpdateRole": repeat(w.role, "", `{"description":"d #"}`),
		"DeleteRole": fresh("/iam/v2/roles/"+w.org, `{"name":"gone #"}`),

		"ListRoleBindings":  collection,
		"GetRoleBinding":    repeat(w.binding, "", ""),
		"CreateRoleBinding": func(n int) (string, string, string) { return w.org, "", binding(n) },
		"UpdateRoleBinding": repeat(w.binding, "", `{"roleUid":"`+string(iam.ViewerRole)+`"}`),
		"DeleteRoleBinding": func(n int) (string, string, string) {
			return w.create("/iam/v2/roleBindings/"+w.org, binding(n)), "", ""
		},
		"BatchCreateRoleBindings": func(n int) (string, string, string) {
			return "", "", fmt.Sprintf(`{"parent":%q,"roleUid":%q,"requests":[{"roleBinding":{"identityUid":%q}},{"parent":%q,"role_binding":{"identity_uid":%q,"role_uid":%q}}]}`,
				w.org, w.role, robot(n), w.org, w.identity, w.create("/iam/v2/roles/"+w.org, fmt.Sprintf(`{"name":"for batch %d"}`, n)))
		},

		"ListIdentityProviders":  collection,
		"GetIdentityProvider":    repeat(w.provider, "", ""),
		"CreateIdentityProvider": repeat(w.group, "", `{"name":"p #","defaultRole":"`+w.role+`","oidc":{"issuer":"https://p#.example.com","clientId":"c","clientSecret":"s"}}`),
		"UpdateIdentityProvider": repeat(w.provider, "", `{"description":"d #"}`),
		"DeleteIdentityProvider": fresh("/iam/v2/identityProviders/"+w.org, `{"name":"gone #","defaultRole":"`+w.role+`"}`),

		"ListExternalGroupRoleMappings":  collection,
		"GetExternalGroupRoleMapping":    repeat(w.mapping, "", ""),
		"CreateExternalGroupRoleMapping": repeat(w.provider, "", `{"externalGroupId":"g #","roleUid":"`+w.role+`"}`),
		"DeleteExternalGroupRoleMapping": func(n int) (string, string, string) { return mapping(n), "", "" },
		"BatchDeleteExternalGroupRoleMappings": func(n int) (string, string, string) {
			return "", "", fmt.Sprintf(`{"parent":%q,"names":[%q]}`, w.provider, mapping(n))
		},

		"TestSubscription": repeat("", "", `{"uid":"`+w.subscription+`"}`),

		"VerifyIdentityProvider": func(n int) (string, string, string) {
			uid := w.create("/iam/v2/identityProviders/"+w.org, fmt.Sprintf(`{"name":"verified %d","defaultRole":%q,"oidc":{"issuer":"https://v.example.com","clientId":"c"}}`, n, w.role))
			return "", "", fmt.Sprintf(`{"uid":%q}`, uid)
		},

		"ListGroupInvites":  collection,
		"GetGroupInvite":    repeat(w.invite, "", ""),
		"CreateGroupInvite": repeat(w.group, "", `{"roleUid":"`+w.role+`","ttl":"3600s"}`),
		"DeleteGroupInvite": fresh("/iam/v2/groupInvites/"+w.org, `{"roleUid":"`+w.role+`","ttl":"60s"}`),
		"AcceptGroupInvite": repeat("", "", `{"code":"`+w.code+`"}`),

		"ListAccountAssociations":  collection,
		"GetAccountAssociation":    repeat(w.org, "", ""),
		"CreateAccountAssociation": func(n int) (string, string, string) { return sub(n), "", `{"name":"accounts"}` },
		"UpdateAccountAssociation": repeat(w.org, "", `{"amazon":{"account":"#"}}`),
		"DeleteAccountAssociation": func(n int) (string, string, string) {
			return w.create("/iam/v2/accountAssociations/"+sub(n), `{"name":"accounts"}`), "", ""
		},

		"AcceptTerms":          repeat(w.group, "", `{"documentIds":["d #"]}`),
		"ListTermsAcceptances": repeat(w.group, "", ""),

		"ListRepos":        collection,
		"GetRepo":          repeat(w.repo, "", ""),
		"CreateRepo":       repeat(w.group, "", `{"name":"r#"}`),
		"UpdateRepo":       repeat(w.repo, "", `{"description":"d #"}`),
		"DeleteRepo":       fresh("/registry/v2/repos/"+w.org, `{"name":"gone#"}`),
		"GetRepoReadme":    repeat(w.repo, "/readme", ""),
		"UpdateRepoReadme": repeat(w.repo, "/readme", `{"content":"# #"}`),

		"ListTags":  collection,
		"GetTag":    repeat(w.tag, "", ""),
		"CreateTag": repeat(w.repo, "", `{"name":"v#","digest":"`+imageDigest+`"}`),
		"DeleteTag": fresh("/registry/v2/tags/"+w.repo, `{"name":"gone#","digest":"`+imageDigest+`"}`),

		"GetArchitectures": repeat(w.repo, image+"/architectures", ""),
		"GetSize":          repeat(w.repo, image+"/size?architecture=arm64", ""),

		"ListAdvisories":            collection,
		"GetAdvisory":               repeat(w.advisory, "", ""),
		"ListVulnerabilityMetadata": collection,
		"ListDocuments":             repeat("", "?cves=CVE-2024-1", ""),
		"ListResolvedVulnsReports":  repeat("", "?imageRefs=base:latest&startTime=2024-01-01T00:00:00Z&endTime=2024-02-01T00:00:00Z", ""),

		"ListSubscriptions":  collection,
		"GetSubscription":    repeat(w.subscription, "", ""),
		"CreateSubscription": repeat(w.group, "", `{"sink":"https://sink.example.com/#"}`),
		"DeleteSubscription": fresh("/events/v2/subscriptions/"+w.org, `{"sink":"https://gone.example.com/#"}`),

		"ListArtifacts":        repeat("", "?ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON", ""),
		"ListArtifactVersions": repeat(w.artifact, "/versions", ""),
		"GetArtifactCount":     repeat("", "?ecosystems=ECOSYSTEM_JAVA", ""),

		"Ping": repeat("", "", ""),
	}
}

func TestEveryRouteAnswersUnderEverySpellingOfItsPath(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	requests := w.requests()
	spellings := map[string]func(string) string{
		"plain":   func(uid string) string { return uid },
		"escaped": func(uid string) string { return strings.ReplaceAll(uid, "/", "%2F") },
		"lower":   func(uid string) string { return strings.ReplaceAll(uid, "/", "%2f") },
	}
	n := 0
	for _, r := range routes(w.p) {
		if r.name == "CreateRootGroup" {
			continue // This operation creates organizations and is tested below.
		}
		request := requests[r.name]
		if request == nil {
			if !isOwn(t, r.name) {
				t.Errorf("%s is not tested here", r.name)
			}
			continue
		}
		for name, spelled := range spellings {
			n++
			uid, suffix, body := request(n)
			prefix, _, open := strings.Cut(r.pattern, "{")
			if !open && name != "plain" {
				continue
			}
			got := w.do(r.method, prefix+spelled(uid)+suffix, body)
			if got.status != http.StatusOK {
				t.Errorf("%s %s: status %d, want 200: %s", r.name, got.asked, got.status, got.raw)
			}
			if r.method == http.MethodDelete && (got.raw != "" || got.header.Get("Content-Length") != "0" || got.header.Get("Content-Type") != "") {
				t.Errorf("%s: %q %v", got.asked, got.raw, got.header)
			}
			if r.method != http.MethodDelete && got.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v", got.asked, got.header)
			}
			if got.header.Get("Cache-Control") != "no-store" || got.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v, want Cache-Control 'no-store' and X-Content-Type-Options 'nosniff'", got.asked, got.header)
			}
			if r.plural != "" && (got.json[r.plural] == nil || got.json["totalCount"] == nil || got.json["skipped"] != 0.0) {
				t.Errorf("%s: %s", got.asked, got.raw)
			}
		}
	}
	if got := w.get("/registry/v2/repos/" + w.org + "%2F" + strings.TrimPrefix(w.repo, w.org+"/")); got.text("uid") != w.repo {
		t.Errorf("mixed spellings: %s, want uid %v", got.raw, w.repo)
	}
}

func TestARootGroupIsCreatedWithoutAParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, path := range []string{"/iam/v2/groups", "/iam/v2/groups/", "/iam/v2beta1/groups", "/iam/v2beta1/groups/"} {
		got := w.do(http.MethodPost, path, fmt.Sprintf(`{"name":"root %d"}`, i)).expectStatus(http.StatusOK)
		if uid := got.text("uid"); len(uid) != 40 {
			t.Errorf("%s: %s, want 40 items", path, got.raw)
		}
	}
}

// timestamp is the form of all times in responses.
var timestamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

// members returns the sorted names of the members of a response.
func members(object map[string]any) string {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestResponsesHaveTheFieldsOfTheReference(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	for path, want := range map[string]string{
		"/iam/v2/groups/" + w.group:                                                   "createTime description name status uid updateTime verified",
		"/iam/v2/identities/" + w.identity:                                            "claimMatch createTime name uid updateTime",
		"/iam/v2/roles/" + w.role:                                                     "capabilities createTime name uid updateTime",
		"/iam/v2/roles/" + string(iam.ViewerRole):                                     "description name uid",
		"/iam/v2/roleBindings/" + w.binding:                                           "createTime group identity role uid",
		"/registry/v2/repos/" + w.repo:                                                "createTime name uid updateTime",
		"/registry/v2/repos/" + w.repo + "/readme":                                    "uid",
		"/registry/v2/tags/" + w.tag:                                                  "deprecated digest name uid updateTime",
		"/registry/v2/repos/" + w.repo + "/digests/" + imageDigest + "/size":          "architecture size",
		"/registry/v2/repos/" + w.repo + "/digests/" + imageDigest + "/architectures": "architectures",
		"/vulnerabilities/v2/advisories/" + w.advisory:                                "advisoryId aliases artifactName author createTime events severity uid updateTime",
		"/events/v2/subscriptions/" + w.subscription:                                  "createTime sink uid updateTime",
		"/iam/v2/identities:lookupIdentity?subject=robot&issuer=" + testIssuer:        "uid",
		"/libraries/v2/artifacts/count?ecosystems=ECOSYSTEM_JAVA":                     "counts",
		"/iam/v2/identityProviders/" + w.provider:                                     "createTime defaultRole issuerVerified issuerVerifyTime name oidc uid updateTime",
		"/iam/v2/externalGroupRoleMappings/" + w.mapping:                              "createTime externalGroupId identityProviderUid roleUid scope uid",
		"/iam/v2/groupInvites/" + w.invite:                                            "createTime expirationTime keyId role roleUid singleUse uid",
		"/iam/v2/accountAssociations/" + w.org:                                        "createTime google name uid updateTime",
		"/ping/v2/ping":                                                               "response",
	} {
		got := w.get(path)
		if members(got.json) != want {
			t.Errorf("%s: %s, want %s", path, members(got.json), want)
		}
		for _, name := range []string{"createTime", "updateTime"} {
			if s := got.text(name); s != "" && !timestamp.MatchString(s) {
				t.Errorf("%s: %s %q", path, name, s)
			}
		}
	}
}

func TestResponsesContainTheirValues(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	binding := w.get("/iam/v2/roleBindings/" + w.binding)
	for _, c := range []struct{ got, want string }{
		{binding.text("identity", "uid"), w.identity},
		{binding.text("identity", "subject"), "robot"},
		{binding.text("identity", "issuer"), testIssuer},
		{binding.text("group", "name"), "acme"},
		{binding.text("role", "name"), "lister"},
		{w.get("/registry/v2/repos/" + w.repo + "/digests/" + imageDigest + "/size").raw, `{"size":"1099511627776","architecture":"amd64"}` + "\n"},
		{w.get("/registry/v2/repos/" + w.repo + "/digests/" + imageDigest + "/size?architecture=arm64").raw, `{"size":"7","architecture":"arm64"}` + "\n"},
		{w.get("/registry/v2/repos/" + w.repo + "/digests/" + imageDigest + "/architectures").raw, `{"architectures":["arm64","amd64"]}` + "\n"},
		{w.get("/iam/v2/identities:lookupIdentity?subject=robot&issuer=" + testIssuer).text("uid"), w.identity},
		{w.get("/libraries/v2/artifacts/count?ecosystems=ECOSYSTEM_PYTHON&ecosystems=ECOSYSTEM_JAVA").raw,
			`{"counts":[{"ecosystem":"ECOSYSTEM_JAVA","totalCount":"1"},{"ecosystem":"ECOSYSTEM_PYTHON","totalCount":"1"}]}` + "\n"},
		{w.sendAs(nobody, http.MethodGet, "/ping/v2/ping", "").expectStatus(200).raw, `{"response":"pong"}` + "\n"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	versions := w.get("/libraries/v2/artifacts/" + w.artifact + "/versions?order_by=version").json["artifactVersions"].([]any)
	if got := members(versions[0].(map[string]any)); got != "createTime description name sizeBytes uid updateTime version" {
		t.Errorf("a version has %s, want createTime description name sizeBytes uid updateTime version", got)
	}
	artifacts := w.get("/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA").json["artifacts"].([]any)
	if got := members(artifacts[0].(map[string]any)); got != "createTime description ecosystem latestVersion name uid updateTime versionCount" || artifacts[0].(map[string]any)["versionCount"] != 3.0 {
		t.Errorf("an artifact is %v, want 'createTime description ecosystem latestVersion name uid updateTime versionCount' and versionCount 3.0", artifacts[0])
	}
	made := w.do(http.MethodPost, "/events/v2/subscriptions/"+w.group, `{"sink":"https://sink.example.com"}`).expectStatus(200)
	if !strings.HasPrefix(made.text("secret"), "whsec_") {
		t.Errorf("the secret is not shown when it is made: %s", made.raw)
	}
	batch := w.do(http.MethodPost, "/iam/v2/roleBindings:batchCreate",
		`{"parent":"`+w.group+`","roleUid":"`+w.role+`","requests":[{"roleBinding":{"identityUid":"`+w.identity+`"}}]}`).expectStatus(200)
	if list, _ := batch.json["roleBindings"].([]any); len(list) != 1 || members(list[0].(map[string]any)) != "createTime group identity role uid" {
		t.Errorf("batchCreate: %s, want 1 items", batch.raw)
	}
	if got := w.get("/iam/v2/roles?name=viewer").raw; strings.Contains(got, "capabilities") {
		t.Errorf("a built-in role in a list: %s", got)
	}
}
