package resource

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// readKinds returns the kinds of the OpenAPI document of this version.
func readKinds(t *testing.T) []*Kind {
	t.Helper()
	packed, err := os.Open("../rest/openapi.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	document, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := Read(document)
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

func kindOf(t *testing.T, name string) *Kind {
	t.Helper()
	kinds := readKinds(t)
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("there is no kind %s", name)
	}
	return kinds[i]
}

// A column whose field was renamed would be empty in every table.
func TestEveryColumnShowsAFieldOfItsKind(t *testing.T) {
	t.Parallel()
	kinds := readKinds(t)
	for _, kind := range kinds {
		if len(kind.selectColumns(false)) == 0 {
			t.Errorf("%s has no column; give it some in columns.go", kind.Name)
		}
		for _, column := range kind.Columns {
			field := kind.parts.find(kind.schema, column.Field)
			switch {
			case field == nil:
				t.Errorf("%s: the column %q shows %s, which is no field", kind.Name, column.Header, column.Field)
			case column.Form == Until && field.Format != "date-time":
				t.Errorf("%s: the column %q shows %s, which is no time", kind.Name, column.Header, column.Field)
			}
		}
	}
	for name := range chosen {
		if !slices.ContainsFunc(kinds, func(k *Kind) bool { return k.Name == name }) {
			t.Errorf("columns.go has columns of %s, which is no kind", name)
		}
	}
}

func TestFiltersAreFlags(t *testing.T) {
	t.Parallel()
	findings := kindOf(t, "findings")
	for _, want := range []string{"severity", "state", "fixable", "known-exploited", "min-epss", "vulnerability-id", "package", "basis", "uid", "label", "query"} {
		if !slices.ContainsFunc(findings.Filters, func(f Filter) bool { return f.Flag == want }) {
			t.Errorf("findings have no filter --%s", want)
		}
	}
	q := Query{Group: "g", OrderBy: "severity desc", Filters: map[string][]string{"severity": {"critical", "SEVERITY_RATING_HIGH"}, "fixable": {"true"}}}
	if faults := findings.Check(q); len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
	path, values := findings.ask(q)
	const want = "fixable=true&order_by=severity+desc&severities=SEVERITY_RATING_CRITICAL&severities=SEVERITY_RATING_HIGH&uidp.descendants_of=g"
	if path != "/vulnerabilities/v2/findings" || values.Encode() != want {
		t.Errorf("%s?%s, want %s", path, values.Encode(), want)
	}
	for _, c := range []struct {
		q     Query
		fault Fault
	}{
		{Query{Filters: map[string][]string{"severity": {"bad"}}}, Fault{"severity", "must be one of unknown, none, low, medium, high, critical"}},
		{Query{OrderBy: "color"}, Fault{"order-by", "must be fields, each with asc or desc after it if wanted, of " + strings.Join(findings.Orders, ", ")}},
	} {
		if got := findings.Check(c.q); !slices.Equal(got, []Fault{c.fault}) {
			t.Errorf("%+v: %v, want %v", c.q, got, c.fault)
		}
	}
	versions := kindOf(t, "package-versions")
	if path, _ := versions.ask(Query{Filters: map[string][]string{"package": {"a/b"}}}); path != "/registry/v2/packages/a%2Fb/versions" {
		t.Errorf("the path is %s", path)
	}
	if faults := versions.Check(Query{}); !slices.Equal(faults, []Fault{{"package", "is required"}}) {
		t.Errorf("without a package: %v", faults)
	}
	if path, _ := kindOf(t, "effective-role-bindings").ask(Query{Group: "g"}); path != "/iam/v2/effectiveRoleBindings/g" {
		t.Errorf("the path is %s", path)
	}
	if orders := kindOf(t, "repos").Orders; !slices.Equal(orders, []string{"name", "create_time", "update_time", "uid", "open_severity"}) {
		t.Errorf("the orders of repos are %v, want each once", orders)
	}
}

// fakeClient answers with pages of repos.
type fakeClient struct {
	asked []string
	pages map[string]string // by path and query
	found map[string]string // uids by path
}

var errUnknown = errors.New("nobody answers this")

func (c *fakeClient) Read(_ context.Context, path string, query url.Values) ([]byte, error) {
	asked := strings.TrimSuffix(path+"?"+query.Encode(), "?")
	c.asked = append(c.asked, asked)
	if page, ok := c.pages[asked]; ok {
		return []byte(page), nil
	}
	return nil, fmt.Errorf("%w: %s", errUnknown, asked)
}

func (c *fakeClient) Find(_ context.Context, path string) (string, error) { return c.found[path], nil }

func (c *fakeClient) Paths(_ context.Context, uids []string) (map[string]string, error) {
	paths := map[string]string{}
	for path, uid := range c.found {
		if slices.Contains(uids, uid) {
			paths[uid] = path
		}
	}
	return paths, nil
}

const acme, shop = "0000000000000000000000000000000000000001", acme + "/0000000000000002"

func TestAListIsReadPageByPage(t *testing.T) {
	t.Parallel()
	repos := kindOf(t, "repos")
	client := &fakeClient{pages: map[string]string{
		"/registry/v2/repos?page_size=3":                `{"repos":[{"uid":"a"},{"uid":"b"}],"nextPageToken":"t","totalCount":"9"}`,
		"/registry/v2/repos?page_size=1&page_token=t":   `{"repos":[{"uid":"c"}],"nextPageToken":"u","totalCount":"9"}`,
		"/registry/v2/repos?page_size=200":              `{"repos":[{"uid":"a"}],"nextPageToken":"t","totalCount":"2"}`,
		"/registry/v2/repos?page_size=200&page_token=t": `{"repos":[{"uid":"b"}],"totalCount":"2"}`,
	}}
	for _, c := range []struct {
		limit int
		want  string
		more  bool
	}{{3, "a b c", true}, {0, "a b", false}} {
		var got []string
		var last Page
		err := repos.List(t.Context(), client, Query{Limit: c.limit}, func(page Page) error {
			for last = page; len(page.Items) > 0; page.Items = page.Items[1:] {
				got = append(got, page.Items[0].UID())
			}
			return nil
		})
		if err != nil || strings.Join(got, " ") != c.want || last.More != c.more {
			t.Errorf("limit %d: %v %q, more %v", c.limit, err, got, last.More)
		}
	}
}

func TestAResourceIsFoundByUIDNameAndPath(t *testing.T) {
	t.Parallel()
	repos := kindOf(t, "repos")
	const checkout, other = shop + "/00000000000000aa", acme + "/00000000000000bb"
	page := func(uids ...string) string {
		var items []string
		for _, uid := range uids {
			items = append(items, `{"uid":"`+uid+`","name":"checkout"}`)
		}
		return `{"repos":[` + strings.Join(items, ",") + `]}`
	}
	client := &fakeClient{found: map[string]string{"acme": acme, "acme/shop": shop}, pages: map[string]string{
		"/registry/v2/repos/" + checkout:                                                                 `{"uid":"` + checkout + `"}`,
		"/registry/v2/repos?name=checkout&page_size=10":                                                  page(checkout, other),
		"/registry/v2/repos?name=acme%2Fshop%2Fcheckout&page_size=10":                                    page(),
		"/registry/v2/repos?name=checkout&page_size=10&uidp.children_of=" + url.QueryEscape(shop):        page(checkout),
		"/registry/v2/repos?name=checkout&page_size=10&uidp.descendants_of=" + url.QueryEscape(shop):     page(checkout),
		"/registry/v2/repos?name=acme%2Fteam%2Fcheckout&page_size=10":                                    page(),
		"/registry/v2/repos?name=team%2Fcheckout&page_size=10&uidp.children_of=" + url.QueryEscape(acme): page(other),
		"/registry/v2/repos?name=nothing&page_size=10":                                                   page(),
	}}
	for _, c := range []struct{ named, group, want, fails string }{
		{named: checkout, want: checkout},
		{named: "acme/shop/checkout", want: checkout},
		{named: "acme/team/checkout", want: other},
		{named: "checkout", group: shop, want: checkout},
		{named: "checkout", fails: "several repos have this name; name one by its path or its uid, or give --group:\n  " + checkout + " acme/shop\n  " + other + " acme"},
		{named: "nothing", fails: "nothing: there is no such repo that you may see"},
	} {
		item, err := repos.Get(t.Context(), client, c.named, c.group)
		switch {
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: %v, want %q", c.named, err, c.fails)
		case c.fails == "" && (err != nil || item.UID() != c.want):
			t.Errorf("%s: %v %v, want %s", c.named, err, item, c.want)
		}
	}
	if _, err := kindOf(t, "findings").Get(t.Context(), client, "CVE-2026-1", ""); err == nil || !strings.Contains(err.Error(), "can be read only by uid") {
		t.Errorf("a finding by its name: %v", err)
	}
}

const finding = `{"uid":"` + shop + `/00000000000000aa/00000000000000cc","repo":"` + shop + `","digest":"sha256:0123456789abcdef","vulnerabilityId":"=CVE\u001b[2J","package":"見本",` +
	`"severity":{"rating":"SEVERITY_RATING_CRITICAL","score":9.80},"fixedVersions":["1","2","3"],"knownExploited":true,"state":"FINDING_STATE_IN_TRIAGE","firstSeenTime":"2026-11-20T00:00:00.000Z","dueTime":"2026-12-03T00:00:00.000Z"}`

func TestAnItemIsWrittenInEveryFormat(t *testing.T) {
	t.Parallel()
	findings := kindOf(t, "findings")
	for format, want := range map[string]string{
		Table: "SEVERITY  VULNERABILITY  PACKAGE  VERSION  FIXED IN  STATE      REPO       AGE\n" +
			"critical  =CVE.[2J       見本              1, 2 +1   in_triage  acme/shop  10d\n",
		Wide: "SEVERITY  VULNERABILITY  PACKAGE  VERSION  FIXED IN  STATE      REPO       AGE  SCORE  EPSS  KNOWN EXPLOITED  ECOSYSTEM  DUE    IMAGE                    UID\n" +
			"critical  =CVE.[2J       見本              1, 2 +1   in_triage  acme/shop  10d  9.80         yes                         in 3d  sha256:0123456789abcdef  " + shop + "/00000000000000aa/00000000000000cc\n",
		CSV: "severity,vulnerability,package,version,fixed in,state,repo,firstSeenTime,score,epss,known exploited,ecosystem,due,image,uid\n" +
			"critical,'=CVE\x1b[2J,見本,,1 2 3,in_triage,acme/shop,2026-11-20T00:00:00.000Z,9.80,,true,,2026-12-03T00:00:00.000Z,sha256:0123456789abcdef," + shop + "/00000000000000aa/00000000000000cc\n",
		Names: "=CVE.[2J\n",
		UIDs:  shop + "/00000000000000aa/00000000000000cc\n",
	} {
		if got := write(t, findings, format, false, finding); got != want {
			t.Errorf("%s:\n%q, want\n%q", format, got, want)
		}
	}
	if got := write(t, findings, JSON, false, finding, `{"uid":"b"}`); !strings.HasPrefix(got, "[\n  {\n    \"uid\": \"") || !strings.HasSuffix(got, "  },\n  {\n    \"uid\": \"b\"\n  }\n]\n") || !strings.Contains(got, `"score": 9.80`) {
		t.Errorf("JSON: %s", got)
	}
	if got := write(t, findings, YAML, false, `{"uid":"b","package":"true","severity":{"score":9.8},"updateTime":"2026-12-01"}`); got != "- uid: b\n  package: \"true\"\n  severity:\n    score: 9.8\n  updateTime: \"2026-12-01\"\n" {
		t.Errorf("YAML: %s", got)
	}
	if got := write(t, findings, Table, true, finding); !strings.Contains(got, "\n\x1b[1;31mcritical\x1b[0m  =CVE.[2J") || strings.Count(got, "\x1b") != 18 {
		t.Errorf("with colors: %q", got)
	}
	for format, want := range map[string]string{Table: "", CSV: "severity,", JSON: "[]\n", YAML: "[]\n", UIDs: ""} {
		if got := write(t, findings, format, false); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("nothing as %s: %q, want %q", format, got, want)
		}
	}
}

func newTestOutput(out io.Writer, format string, colors bool) *Output {
	return &Output{
		Out: out, Format: format, Colors: colors, Escape: func(s string) string { return strings.ReplaceAll(s, "\x1b", ".") },
		Defuse: func(s string) string { return strings.Replace(s, "=", "'=", 1) },
		Now:    time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Client: &fakeClient{found: map[string]string{"acme/shop": shop}},
	}
}

func write(t *testing.T, k *Kind, format string, colors bool, raw ...string) string {
	t.Helper()
	var out strings.Builder
	o := newTestOutput(&out, format, colors)
	for _, text := range raw {
		item, err := newItem([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Write(t.Context(), k, []*Item{item}); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(k); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestOneItemIsShownWithAllItsFields(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	item, err := newItem([]byte(`{"uid":"a","events":[{"id":"1"},{"id":"2"}],"severity":{"rating":"SEVERITY_RATING_LOW","score":1e1},"aliases":["x","y"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := newTestOutput(&out, Table, false).Show(t.Context(), kindOf(t, "advisories"), item); err != nil {
		t.Fatal(err)
	}
	const want = "uid              a\nevents[0].id     1\nevents[1].id     2\nseverity.rating  low\nseverity.score   10\naliases          x, y\n"
	if out.String() != want {
		t.Errorf("%s, want\n%s", &out, want)
	}
}

func TestAgesAreShort(t *testing.T) {
	t.Parallel()
	o := newTestOutput(io.Discard, Table, false)
	for ago, want := range map[time.Duration]string{
		5 * time.Second: "5s", 61 * time.Minute: "1h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 800 * 24 * time.Hour: "2y", -90 * time.Second: "in 1m",
	} {
		if got := o.age(o.Now.Add(-ago).Format(time.RFC3339), Plain); got != want {
			t.Errorf("%v: %s, want %s", ago, got, want)
		}
	}
	if got := o.age(o.Now.Add(-time.Hour).Format(time.RFC3339), Until); got != "1h ago" {
		t.Errorf("a time that has passed: %s", got)
	}
}

func TestWidthsAreThoseOfTerminals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"abc": 3, "日本": 4, "e\u0301": 1, "🙂": 2, "": 0, "ｱ": 1, "Ａ": 2} {
		if got := Width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

// sharedFlags are those that every list has, whatever its kind.
var sharedFlags = []string{"url", "context", "token", "audience", "config", "database-url", "database-password-command", "database-direct-url", "help", "version", "output", "quiet", "group", "direct-only", "order-by", "limit", "watch", "interval"}

// The parser of flags refuses two of one name, and with them every command of the program.
func TestEveryFlagOfAListIsThereOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range readKinds(t) {
		seen := map[string]string{}
		for _, name := range sharedFlags {
			seen[name] = "a flag of all lists"
		}
		for _, f := range kind.Filters {
			if other, isTaken := seen[f.Flag]; isTaken {
				t.Errorf("%s: --%s is %s, and %q too", kind.Name, f.Flag, other, f.Parameter)
			}
			seen[f.Flag] = f.Parameter
		}
	}
}
