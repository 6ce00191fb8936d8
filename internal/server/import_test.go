package server

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"atrium/internal/apierror"
	"atrium/internal/auth"
	"atrium/internal/ingest"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/operations"
	"atrium/store/storetest"
)

// A door is a server into which callers import, with the groups acme/shop and acme/ops, each of which has a publisher.
type door struct {
	t             *testing.T
	p             *platform.Platform
	url           string
	org, shop     core.UID
	ops           core.UID
	owner, shopCI string // tokens
	viewer        string
	operator      func() *core.Actor
}

// maxTestUpload is the largest upload of these servers.
const maxTestUpload = 2 << 20

// openDoor starts a server on a database.
func openDoor(t *testing.T, databaseURL string) *door {
	t.Helper()
	p := check(platform.New(t.Context(), storetest.Open(t, databaseURL), platform.Options{}))(t)
	operator := core.WithActor(t.Context(), core.NewOperator("test"))
	org := check(p.Groups.Bootstrap(operator, "acme", auth.DevelopmentIssuer, "owner"))(t).Group.UID
	d := &door{t: t, p: p, org: org, operator: func() *core.Actor { return core.NewOperator("test") }}
	group := func(name string) core.UID {
		return check(p.Groups.Create(operator, org, fieldmask.TypedInput(&iam.Group{Name: name}, "name")))(t).UID
	}
	bind := func(subject string, on, role core.UID) {
		identity := check(p.Identities.Create(operator, on, fieldmask.TypedInput(&iam.Identity{
			Name: subject, ClaimMatch: &iam.ClaimMatch{Issuer: auth.DevelopmentIssuer, Subject: subject},
		}, "name", "claimMatch")))(t)
		check(p.RoleBindings.Create(operator, on, fieldmask.TypedInput(&iam.RoleBinding{IdentityUID: identity.UID, RoleUID: role}, "identityUid", "roleUid")))(t)
	}
	d.shop, d.ops = group("shop"), group("ops")
	bind("shop-ci", d.shop, iam.PublisherRole)
	bind("viewer", org, iam.ViewerRole)
	check(p.Feeds.ImportAdvisories(operator, org, []*inventory.Advisory{{AdvisoryID: "CVE-2026-1", ArtifactName: "left-pad", ArtifactType: "npm",
		Events: []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "1.3.1"}}}}}))(t)
	issuer := check(newDevelopmentIssuer())(t)
	c := Config{Audience: []string{"atrium"}, ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger(), MaxConcurrent: 4, RateLimit: 1000, RateBurst: 1000, MaxInFlight: 50, MaxUpload: maxTestUpload}
	s := httptest.NewUnstartedServer(Handler(p, c, issuer))
	s.Config = newServer(s.Config.Handler, nil, time.Minute, discardLogger())
	s.Start()
	t.Cleanup(s.Close)
	d.url = s.URL
	for subject, token := range map[string]*string{"owner": &d.owner, "shop-ci": &d.shopCI, "viewer": &d.viewer} {
		*token = check(issuer.Mint(subject, "atrium", time.Hour, nil))(t)
	}
	return d
}

// A reply is an answer to an upload.
type reply struct {
	status int
	raw    string
	ingest.Report
}

// post sends an upload. headers is a list of names, each followed by its value.
func (d *door) post(token, path, body string, headers ...string) reply {
	d.t.Helper()
	r := check(http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.url+path, strings.NewReader(body)))(d.t)
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer := check(http.DefaultClient.Do(r))(d.t)
	defer answer.Body.Close()
	raw := check(io.ReadAll(answer.Body))(d.t)
	if answer.Header.Get(apierror.FindingsPendingHeader) != "" {
		d.t.Errorf("the findings of an import are settled before its answer, which says that they are pending: %.2000s", raw)
	}
	got := reply{status: answer.StatusCode, raw: string(raw)}
	if answer.StatusCode == http.StatusOK {
		if err := json.Unmarshal(raw, &got.Report); err != nil {
			d.t.Fatalf("%s: %v", raw, err)
		}
	}
	return got
}

// want fails unless the answer has the status, and contains the texts.
func (r reply) want(t *testing.T, status int, texts ...string) reply {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.raw, text) {
			t.Errorf("%d %.2000s does not contain %s", r.status, r.raw, text)
		}
	}
	if r.status != status {
		t.Fatalf("status %d, want %d: %.2000s", r.status, status, r.raw)
	}
	return r
}

// digestOf returns the digest of an image with a number.
func digestOf(n int) string { return fmt.Sprintf("sha256:%064x", n) }

// bomOf returns a document of CycloneDX about an image, with packages of npm such as left-pad@1.3.0.
func bomOf(image string, digest int, packages ...string) string {
	components := make([]string, len(packages))
	for i, p := range packages {
		name, version, _ := strings.Cut(p, "@")
		components[i] = fmt.Sprintf(`{"type": "library", "name": %q, "version": %q, "purl": "pkg:npm/%s"}`, name, version, p)
	}
	return fmt.Sprintf(`{"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": {"component": {"type": "container", "name": %q, "version": %q}}, "components": [%s]}`,
		image, digestOf(digest), strings.Join(components, ", "))
}

func imageQuery(image string, more ...string) string {
	q := url.Values{"image": {image}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return "/import/sbom?" + q.Encode()
}

// A pipeline hands in the SBOM of an image that nobody knows yet, and learns what that means.
func TestAPipelineHandsInAnSBOM(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, databaseURL string) {
		d := openDoor(t, databaseURL)
		bom := bomOf("checkout", 1, "left-pad@1.3.0", "other@2.0.0")
		at := imageQuery("checkout:1.4@"+digestOf(1), "group", string(d.shop), "create", "true")
		first := d.post(d.shopCI, at, bom).want(t, 200)
		if len(first.Kinds) != 3 || first.Kinds[0].Added != 1 || first.Kinds[1].Added != 1 || first.Kinds[2].Added != 1 || len(first.Images) != 1 ||
			first.Images[0].Packages != 2 || first.Images[0].Findings == nil || first.Images[0].Findings.Opened != 1 || first.Images[0].Findings.Open.Total != 1 {
			t.Fatalf("the first upload: %s", first.raw)
		}
		again := d.post(d.shopCI, at, bom).want(t, 200)
		if again.Kinds[0].Unchanged != 1 || again.Images[0].Findings.Opened != 0 || again.Images[0].Findings.Open.Total != 1 {
			t.Errorf("the same upload again: %s", again.raw)
		}
		// The next build has the fix, is named by its path, and the tag moves.
		fixed := d.post(d.owner, imageQuery("acme/shop/checkout:1.4", "create", "true"), bomOf("checkout", 2, "left-pad@1.3.1")).want(t, 200)
		if fixed.Images[0].Digest != digestOf(2) || fixed.Images[0].Findings.Open.Total != 0 || fixed.Kinds[1].Name != "tags" || fixed.Kinds[1].Updated != 1 {
			t.Errorf("the next build: %s", fixed.raw)
		}
		// A document about an image that is there replaces the last one.
		mended := d.post(d.owner, imageQuery("acme/shop/checkout:1.4"), bomOf("", 9, "left-pad@1.3.0")).want(t, 200)
		if mended.Kinds[0].Updated != 1 || mended.Images[0].Digest != digestOf(2) || mended.Images[0].Findings.Opened != 1 {
			t.Errorf("another document: %s", mended.raw)
		}
		last := d.post(d.owner, imageQuery("acme/shop/checkout:1.4"), bomOf("", 9, "left-pad@1.3.1")).want(t, 200)
		if last.Images[0].Findings.Resolved != 1 || last.Images[0].Findings.Open.Total != 0 {
			t.Errorf("without the package: %s", last.raw)
		}
	})
}

// An upload may be one document, several, or an archive, each in three codings.
func TestUploadsAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	d := openDoor(t, storetest.SQLite(t))
	one, two := bomOf("one", 1, "a@1"), bomOf("two", 2, "a@1", "b@2")
	var tarred, squeezed, zipped bytes.Buffer
	archive := tar.NewWriter(&tarred)
	members := zip.NewWriter(&zipped)
	for name, text := range map[string]string{"one.json": one, "folder/two.json": two, "README": "no document"} {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		check(archive.Write([]byte(text)))(t)
		check(check(members.Create(name))(t).Write([]byte(text)))(t)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := members.Close(); err != nil {
		t.Fatal(err)
	}
	gzipped := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		check(w.Write([]byte(text)))(t)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	squeezed.WriteString(gzipped(tarred.String()))
	zstded := func(text string) string { return string(check(zstd.NewWriter(nil))(t).EncodeAll([]byte(text), nil)) }
	at := "/import/sbom?create=true&group=" + string(d.org)
	for name, c := range map[string]struct {
		body      string
		documents int
		headers   []string
	}{
		"JSON":             {one, 1, []string{"Content-Type", "application/json"}},
		"a vendor's JSON":  {one, 1, []string{"Content-Type", "application/vnd.cyclonedx+json; version=1.5"}},
		"curl's default":   {one, 1, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		"lines":            {one + "\n" + two, 2, []string{"Content-Type", "application/x-ndjson"}},
		"tar":              {tarred.String(), 2, []string{"Content-Type", "application/x-tar"}},
		"tar.gz":           {squeezed.String(), 2, []string{"Content-Type", "application/gzip"}},
		"zip":              {zipped.String(), 2, []string{"Content-Type", "application/zip"}},
		"gzip of JSON":     {gzipped(one), 1, []string{"Content-Encoding", "gzip", "Content-Type", "application/json"}},
		"zstd of lines":    {zstded(one + "\n" + two), 2, []string{"Content-Encoding", "zstd"}},
		"gzip of zip":      {gzipped(zipped.String()), 2, []string{"Content-Encoding", "gzip"}},
		"a gzip file":      {gzipped(two), 1, nil},
		"more than memory": {one + strings.Repeat(" ", maxTestUpload-len(one)), 1, nil},
	} {
		got := d.post(d.owner, at, c.body, c.headers...).want(t, 200)
		if stored := got.Kinds[0].Added + got.Kinds[0].Unchanged; stored != c.documents || got.Failed() != 0 || len(got.Images) != c.documents {
			t.Errorf("%s: %s", name, got.raw)
		}
	}
}

// What cannot be used is named with its place, and the rest is imported. If nothing can be used, the request fails.
func TestProblemsOfUploadsAreNamed(t *testing.T) {
	t.Parallel()
	d := openDoor(t, storetest.SQLite(t))
	at := "/import/sbom?create=true&group=" + string(d.org)
	some := d.post(d.owner, at, bomOf("one", 1, "a@1")+"\n{\"bomFormat\": \n").want(t, 200)
	if len(some.Refused) != 1 || some.Refused[0].Place != ":2" || some.Failed() != 1 || some.Kinds[0].Added != 1 {
		t.Errorf("half of it: %s", some.raw)
	}
	larger := d.post(d.owner, at, bomOf("one", 1, "a@1")+"\n"+bomOf("one", 1, "a@1", "b@2")).want(t, 200)
	if len(larger.Ignored) != 1 || !strings.Contains(larger.Ignored[0].Reason, "is left out: it has 1 packages") || larger.Failed() != 0 {
		t.Errorf("two about one image: %s", larger.raw)
	}
	for body, want := range map[string]string{
		"":                        "body",
		"{":                       "not a JSON object",
		"%PDF-1.7 no document":    "JSON",
		`{"a": 1}`:                "neither bomFormat",
		bomOf("", 1, "a@1"):       "does not name its image",
		bomOf("BAD^", 1, "a@1"):   "make repo",
		bomOf("one", 1, "a@\x00"): "",
	} {
		d.post(d.owner, at, body).want(t, 400, "fieldViolations", want)
	}
	for query, field := range map[string]string{
		"":        "group",
		"group=x": "group",
		"group=" + string(d.org) + "&create=maybe": "create",
		"image=acme/shop/checkout":                 "image",
		"image=acme/shop/checkout@sha256:12":       "image",
		"groups=" + string(d.org):                  "groups",
	} {
		d.post(d.owner, "/import/sbom?"+query, "{}").want(t, 400, `"field":"`+field+`"`)
	}
	for headers, status := range map[string]int{"Content-Type: multipart/form-data; boundary=x": 415, "Content-Encoding: br": 415, "Content-Encoding: gzip, gzip": 415, "Content-Encoding: gzip": 400, "Content-Encoding: zstd": 400, "Content-Type: application/zip": 400} {
		name, value, _ := strings.Cut(headers, ": ")
		d.post(d.owner, at, bomOf("one", 1, "a@1"), name, value).want(t, status, "fieldViolations")
	}
}

// Whoever may not import is refused before anything of the body is read, and the refusal is in the audit log.
func TestUploadsAreRefusedBeforeTheirBody(t *testing.T) {
	t.Parallel()
	d := openDoor(t, storetest.SQLite(t))
	ctx := core.WithActor(t.Context(), d.operator())
	secret := check(d.p.Repos.Create(ctx, d.ops, fieldmask.TypedInput(&inventory.Repo{Name: "secret"}, "name")))(t)
	for name, c := range map[string]struct {
		token, path string
		status      string
		text        string
	}{
		"nobody":                        {"", imageQuery(string(secret.UID) + "@" + digestOf(1)), "401", "UNAUTHENTICATED"},
		"a viewer":                      {d.viewer, imageQuery(string(secret.UID) + "@" + digestOf(1)), "403", "sboms.import"},
		"a viewer by path":              {d.viewer, imageQuery("acme/ops/secret@" + digestOf(1)), "403", "sboms.import"},
		"a pipeline, a sibling's repo":  {d.shopCI, imageQuery(string(secret.UID) + "@" + digestOf(1)), "403", "sboms.import"},
		"a pipeline, a sibling by path": {d.shopCI, imageQuery("acme/ops/secret@" + digestOf(1)), "404", "NOT_FOUND"},
		"a pipeline, a sibling group":   {d.shopCI, "/import/sbom?group=" + string(d.ops), "403", "sboms.import"},
		"a pipeline, a new repo there":  {d.shopCI, imageQuery("new:1@"+digestOf(1), "group", string(d.ops), "create", "true"), "403", "sboms.import"},
		"another organization":          {d.shopCI, "/import/sbom?group=" + strings.Repeat("a", 40), "403", "sboms.import"},
		"a missing repo":                {d.owner, imageQuery("acme/shop/nothing@" + digestOf(1)), "404", "NOT_FOUND"},
		"a missing tag":                 {d.owner, imageQuery(string(secret.UID) + ":1"), "404", "NOT_FOUND"},
		"more than fits":                {d.owner, imageQuery(string(secret.UID) + "@" + digestOf(1)), "413", "at most 2 MiB"},
	} {
		conn := check(net.Dial("tcp", strings.TrimPrefix(d.url, "http://")))(t)
		authorization := ""
		if c.token != "" {
			authorization = "Authorization: Bearer " + c.token + "\r\n"
		}
		_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", c.path, authorization, maxTestUpload+1)
		if err != nil {
			t.Fatal(err)
		}
		answer := check(http.ReadResponse(bufio.NewReader(conn), nil))(t) // no body was sent, and none was asked for
		text := check(io.ReadAll(answer.Body))(t)
		if !strings.HasPrefix(answer.Status, c.status) || !strings.Contains(string(text), c.text) {
			t.Errorf("%s: %s %s, want %s and %s", name, answer.Status, text, c.status, c.text)
		}
		_ = answer.Body.Close()
		_ = conn.Close()
	}
	isDenied := true
	denied := check(d.p.AuditLog.List(ctx, events.AuditRequest{DescendantsOf: d.org, Denied: &isDenied, PageSize: 100}))(t)
	if len(denied.Items) < 3 || !strings.Contains(denied.Items[0].Denied, "sboms.import") {
		t.Errorf("%d refusals are in the audit log, want those of the viewer and the pipeline", len(denied.Items))
	}
}

// A body that ends too early or does not end stores nothing.
func TestBrokenUploadsStoreNothing(t *testing.T) {
	t.Parallel()
	d := openDoor(t, storetest.SQLite(t))
	bom := bomOf("one", 1, "a@1")
	at := "/import/sbom?create=true&group=" + string(d.org)
	send := func(head, body string) string {
		conn := check(net.Dial("tcp", strings.TrimPrefix(d.url, "http://")))(t)
		defer conn.Close()
		check(fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n%s\r\n\r\n%s", at, d.owner, head, body))(t)
		tcp, _ := conn.(*net.TCPConn)
		_ = tcp.CloseWrite()
		text, _ := io.ReadAll(conn)
		return string(text)
	}
	for name, text := range map[string]string{
		"half of the length":  send(fmt.Sprintf("Content-Length: %d", len(bom)), bom[:len(bom)/2]),
		"a lie, too long":     send(fmt.Sprintf("Content-Length: %d", len(bom)+100), bom),
		"half of a chunk":     send("Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s", len(bom), bom[:len(bom)/2])),
		"no last chunk":       send("Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n", len(bom), bom)),
		"half of a gzip body": send("Content-Encoding: gzip\r\nContent-Length: 10", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00"),
	} {
		if strings.HasPrefix(text, "HTTP/1.1 2") {
			t.Errorf("%s: %s", name, text)
		}
	}
	page := check(d.p.Repos.List(core.WithActor(t.Context(), d.operator()), core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{DescendantsOf: d.org}, PageSize: 10}))(t)
	if page.TotalCount != 0 {
		t.Errorf("%d repos were made", page.TotalCount)
	}
}

// An upload that unpacks to much more than it is is refused, in every form, and takes no memory for it.
func TestUploadsThatUnpackToTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	d := openDoor(t, storetest.SQLite(t))
	at := "/import/sbom?create=true&group=" + string(d.org)
	zeros := bytes.Repeat([]byte(" "), 1<<20)
	var coded, tarred, zipped bytes.Buffer
	w := gzip.NewWriter(&coded)
	for range maxTestUpload>>20 + 1 {
		check(w.Write(zeros))(t)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const megabytes = 100
	inner := gzip.NewWriter(&tarred)
	archive := tar.NewWriter(inner)
	if err := archive.WriteHeader(&tar.Header{Name: "hole", Mode: 0o600, Size: megabytes << 20}); err != nil {
		t.Fatal(err)
	}
	members := zip.NewWriter(&zipped)
	check(check(members.Create("first.json"))(t).Write([]byte(bomOf("one", 1, "a@1"))))(t)
	for i := range megabytes {
		check(archive.Write(zeros))(t)
		check(check(members.Create(fmt.Sprintf("%d.json", i)))(t).Write(zeros))(t)
	}
	for _, end := range []func() error{archive.Close, inner.Close, members.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	d.post(d.owner, at, coded.String(), "Content-Encoding", "gzip").want(t, 413, "at most 2 MiB")
	d.post(d.owner, at, string(check(zstd.NewWriter(nil))(t).EncodeAll(bytes.Repeat(zeros, 3), nil)), "Content-Encoding", "zstd").want(t, 413, "at most 2 MiB")
	d.post(d.owner, at, coded.String()).want(t, 413, "at most 2 MiB") // a gzip document
	d.post(d.owner, at, tarred.String()).want(t, 400, "unpacks to more than 60 MiB")
	many := d.post(d.owner, at, zipped.String()).want(t, 200, "unpacks to more than 60 MiB")
	if n := many.Failed(); n > 70 {
		t.Errorf("%d documents of a bomb were read, want 60", n)
	}
}

// Twenty pipelines hand in at once, into one repo that nobody has made and into several.
func TestManyPipelinesHandInAtOnce(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, databaseURL string) {
		d := openDoor(t, databaseURL)
		var all sync.WaitGroup
		got := make([]reply, 20)
		for i := range got {
			all.Go(func() {
				image := fmt.Sprintf("repo-%d:%d@%s", i%4, i, digestOf(i+1))
				got[i] = d.post(d.shopCI, imageQuery(image, "group", string(d.shop), "create", "true"), bomOf("", 0, "left-pad@1.3.0", fmt.Sprintf("p%d@1", i)))
			})
		}
		all.Wait()
		for i, r := range got {
			r.want(t, 200)
			if len(r.Images) != 1 || r.Images[0].Findings == nil || r.Images[0].Findings.Open.Total != 1 {
				t.Errorf("upload %d: %s", i, r.raw)
			}
		}
		page := check(d.p.Repos.List(core.WithActor(t.Context(), d.operator()), core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{DescendantsOf: d.shop}, PageSize: 10}))(t)
		if page.TotalCount != 4 {
			t.Errorf("%d repos, want 4", page.TotalCount)
		}
	})
}

// Decisions, advisories and registries are handed in as SBOMs are, and change nothing that other organizations share.
func TestOtherKindsAreHandedIn(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, databaseURL string) {
		d := openDoor(t, databaseURL)
		registry := `{"kind": "tag", "repo": "shop/api", "name": "1", "digest": "` + digestOf(1) + `"}
{"kind": "repo", "name": "shop/api"}
{"kind": "image", "repo": "shop/api", "digest": "` + digestOf(1) + `", "packages": ["pkg:npm/left-pad@1.3.0", "pkg:npm/parser@1.0.0"]}`
		got := d.post(d.owner, "/import/registry?group="+string(d.shop), registry).want(t, 200)
		if got.Failed() != 0 || len(got.Kinds) != 4 || got.Kinds[0].Added+got.Kinds[1].Added+got.Kinds[2].Added+got.Kinds[3].Added != 4 {
			t.Errorf("a registry: %s", got.raw)
		}
		record := `{"id": "ACME-1", "modified": "2026-03-27T13:55:00Z", "aliases": ["CVE-2026-2"], "summary": "Of acme only", "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],
 "affected": [{"package": {"ecosystem": "npm", "name": "parser"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "2.0.0"}]}]}]}`
		if got := d.post(d.owner, "/import/osv?group="+string(d.shop), record).want(t, 200, "all organizations share"); len(got.Kinds) != 1 || got.Kinds[0].Added != 1 {
			t.Errorf("advisories: %s", got.raw)
		}
		ctx := core.WithActor(t.Context(), d.operator())
		if shared := check(d.p.Vulnerabilities.List(ctx, core.ListRequest[*inventory.VulnerabilityFilter]{}))(t); shared.TotalCount != 0 {
			t.Errorf("%d texts of vulnerabilities were stored for everybody", shared.TotalCount)
		}
		found := check(d.p.Findings.List(ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: d.org}, Filter: &inventory.FindingFilter{}}))(t)
		if found.TotalCount != 2 {
			t.Fatalf("%d findings, want 2", found.TotalCount)
		}
		vex := `{"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://example.com/vex/1", "author": "acme", "timestamp": "2026-03-27T13:55:00Z", "version": 1, "statements": [
 {"vulnerability": {"name": "CVE-2026-1"}, "products": [{"@id": "pkg:npm/left-pad@1.3.0"}], "status": "not_affected", "justification": "vulnerable_code_not_in_execute_path"},
 {"vulnerability": {"name": "CVE-2026-9"}, "status": "not_affected", "justification": "component_not_present"}]}`
		for i, token := range []string{d.shopCI, d.owner} {
			got := d.post(token, "/import/vex?group="+string(d.shop), vex).want(t, 200)
			if got.Waiting != 1 || got.Kinds[0].Added != 2*(1-i) || got.Kinds[0].Unchanged != 2*i {
				t.Errorf("decisions: %s", got.raw)
			}
		}
		for path, capability := range map[string]string{"osv": "advisories.import", "registry": "registry.import"} {
			d.post(d.shopCI, "/import/"+path+"?group="+string(d.shop), "{}").want(t, 403, capability)
		}
		for _, path := range []string{"vex", "osv", "registry"} {
			d.post(d.viewer, "/import/"+path+"?group="+string(d.shop), "{}").want(t, 403, ".import")
			d.post(d.owner, "/import/"+path, "{}").want(t, 400, `"field":"group"`)
			d.post(d.owner, "/import/"+path+"?group="+strings.Repeat("0", 40), "{}").want(t, 403, ".import") // the group of feeds
			d.post(d.owner, "/import/"+path+"?group="+string(d.org.NewChild()), "{}").want(t, 404)
		}
	})
}

// An upload whose caller does not want to wait is answered with an operation, which tells the report later.
func TestAnUploadBecomesAnOperation(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, databaseURL string) {
		d := openDoor(t, databaseURL)
		at := imageQuery("checkout:1.4@"+digestOf(1), "group", string(d.shop), "create", "true")
		started := d.post(d.shopCI, at, bomOf("", 0, "left-pad@1.3.0"), "Prefer", "wait=5, respond-async; x=y").want(t, 202, `"kind":"import/sbom"`)
		var o operations.Operation
		read := func(token, method, path string) (status int) {
			r := check(http.NewRequestWithContext(t.Context(), method, d.url+path, http.NoBody))(t)
			r.Header.Set("Authorization", "Bearer "+token)
			answer := check(http.DefaultClient.Do(r))(t)
			defer answer.Body.Close()
			if err := json.NewDecoder(answer.Body).Decode(&o); err != nil && answer.StatusCode == http.StatusOK {
				t.Fatal(err)
			}
			return answer.StatusCode
		}
		if err := json.Unmarshal([]byte(started.raw), &o); err != nil {
			t.Fatal(err)
		}
		path := "/operations/v2/" + string(o.UID)
		for !o.Done {
			if status := read(d.shopCI, http.MethodGet, path); status != http.StatusOK {
				t.Fatalf("status %d", status)
			}
		}
		var report ingest.Report
		if err := json.Unmarshal(o.Response, &report); err != nil || o.State != operations.Succeeded || report.Kinds[0].Added != 1 || report.Images[0].Findings.Opened != 1 {
			t.Errorf("%+v %s %v", o, o.Response, err)
		}
		if status := read(d.shopCI, http.MethodPost, path+"/cancel"); status != http.StatusOK || o.State != operations.Succeeded {
			t.Errorf("cancelling what has ended: %d %+v", status, o)
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			cancel := map[string]string{http.MethodPost: "/cancel"}[method]
			if status := read(d.viewer, method, path+cancel); status != http.StatusForbidden {
				t.Errorf("%s of a viewer: %d, want 403", method, status)
			}
			if status := read(d.shopCI, method, "/operations/v2/"+string(d.ops.NewChild())+cancel); status != http.StatusForbidden {
				t.Errorf("%s of a sibling's operation: %d, want 403", method, status)
			}
			if status := read(d.owner, method, "/operations/v2/"+string(d.ops.NewChild())+cancel); status != http.StatusNotFound {
				t.Errorf("%s of what is not there: %d, want 404", method, status)
			}
		}
	})
}
