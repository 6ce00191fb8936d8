package rest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// tagFilters returns parameters of every type.
func tagFilters() []filter[tagRequest] {
	filters := append(scopeFilters[*inventory.TagFilter](),
		textFilter("name", func(f *inventory.TagFilter) *string { return &f.Name }),
		timeFilter("updated_since", func(f *inventory.TagFilter) *core.Time { return &f.UpdatedSince }),
		classFilter("include_dates", inventory.TagClassDate),
		textsFilter("names", func(f *inventory.TagFilter) *[]string { return &f.Names }))
	return append(filters, pagingFilters[*inventory.TagFilter](&core.Kind[*inventory.Tag]{})...)
}

func decodeTags(query string) core.ListRequest[*inventory.TagFilter] {
	filters := tagFilters()
	r := &http.Request{URL: &url.URL{RawQuery: query}}
	return listRequest(newRequest(httptest.NewRecorder(), r, &route{query: parametersOf(filters)}, nil), filters)
}

func TestAQueryBecomesAListRequest(t *testing.T) {
	t.Parallel()
	type request = core.ListRequest[*inventory.TagFilter]
	since := core.At(time.Date(2026, 3, 27, 13, 55, 0, 785e6, time.UTC))
	for query, want := range map[string]request{
		"":                                             {},
		"page_size=5":                                  {PageSize: 5},
		"pageSize=5":                                   {PageSize: 5},
		"page_size=0":                                  {},
		"page_size=-1":                                 {PageSize: -1},
		"skip=10&orderBy=name%20desc":                  {Skip: 10, OrderBy: "name desc"},
		"order_by=name+desc":                           {OrderBy: "name desc"},
		"page_token=&order_by=":                        {},
		"pageToken=abc":                                {PageToken: "abc"},
		"uidp.descendants_of=" + root:                  {UIDP: core.UIDFilter{DescendantsOf: root}},
		"uidp.descendantsOf=" + root:                   {UIDP: core.UIDFilter{DescendantsOf: root}},
		"uidp.children_of=" + child:                    {UIDP: core.UIDFilter{ChildrenOf: child}},
		"uidp.childrenOf=" + root:                      {UIDP: core.UIDFilter{ChildrenOf: root}},
		"uidp.ancestors_of=" + child:                   {UIDP: core.UIDFilter{AncestorsOf: child}},
		"uidp.ancestorsOf=" + child:                    {UIDP: core.UIDFilter{AncestorsOf: child}},
		"uidp.in_root=true":                            {UIDP: core.UIDFilter{InRoot: true}},
		"uidp.inRoot=false":                            {},
		"uidp.ids=a&uidp.ids=b":                        {UIDP: core.UIDFilter{IDs: []core.UID{"a", "b"}}},
		"name=a%2Cb":                                   {Filter: &inventory.TagFilter{Name: "a,b"}},
		"names=a,b&names=c":                            {Filter: &inventory.TagFilter{Names: []string{"a,b", "c"}}},
		"include_dates=true":                           {},
		"include_dates=false":                          {Filter: &inventory.TagFilter{Without: []inventory.TagClass{inventory.TagClassDate}}},
		"includeDates=false":                           {Filter: &inventory.TagFilter{Without: []inventory.TagClass{inventory.TagClassDate}}},
		"updated_since=" + since.String():              {Filter: &inventory.TagFilter{UpdatedSince: since}},
		"updatedSince=2026-03-27T14:55:00.785%2B01:00": {Filter: &inventory.TagFilter{UpdatedSince: since}},
	} {
		if want.Filter == nil {
			want.Filter = &inventory.TagFilter{}
		}
		want.NamedMustExist = true
		if got := decodeTags(query); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", query, got, want)
		}
	}
}

func TestAllViolationsOfAQueryAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"page_size=abc":                  "page_size",
		"page_size=":                     "page_size",
		"page_size=1.5":                  "page_size",
		"page_size=2147483648":           "page_size",
		"page_size=99999999999999999999": "page_size",
		"skip=x":                         "skip",
		"page_size=1&page_size=2":        "page_size",
		"page_size=1&pageSize=1":         "page_size",
		"pagesize=1":                     "pagesize",
		"page_Size=1":                    "page_Size",
		"PageSize=1":                     "PageSize",
		"limit=1&cursor=2":               "cursor limit",
		"uidp=x":                         "uidp",
		"descendants_of=x":               "descendants_of",
		"uidp.descendants_of=":           "uidp.descendants_of",
		"uidp.ids=":                      "uidp.ids",
		"uidp.in_root=x":                 "uidp.in_root",
		"uidp.in_root=":                  "uidp.in_root",
		"uidp.in_root=1":                 "uidp.in_root",
		"name=":                          "name",
		"names=a&names=":                 "names",
		"include_dates=maybe":            "include_dates",
		"updated_since=yesterday":        "updated_since",
		"updated_since=2026-03-27":       "updated_since",
		"a=1;b=2":                        "query",
		"name=%zz":                       "query",
		"page_size=a&skip=b&nope=1&uidp.in_root=c&name=d&name=e": "name nope uidp.in_root page_size skip",
	} {
		var fields []string
		for _, v := range decodeTags(query).Malformed {
			fields = append(fields, v.Field)
			if v.Description == "" {
				t.Errorf("%s: %s without a description", query, v.Field)
			}
		}
		if got := strings.Join(fields, " "); got != want {
			t.Errorf("%s: violations of %q, want %q", query, got, want)
		}
	}
}

func TestTextOfAClientIsShortenedInErrors(t *testing.T) {
	t.Parallel()
	malformed := decodeTags(strings.Repeat("%C3%A9", 1000) + "=1").Malformed
	if len(malformed) != 1 || len(malformed[0].Field) > 110 || strings.ContainsRune(malformed[0].Field, '\uFFFD') {
		t.Errorf("got %q, want 1 of them", malformed)
	}
}

func TestAMaskIsCommaSeparated(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"":                              nil,
		"updateMask=":                   nil,
		"updateMask=name":               {"name"},
		"update_mask=name":              {"name"},
		"updateMask=name,description":   {"name", "description"},
		"updateMask=name%2Cdescription": {"name", "description"},
		"updateMask=*":                  {"*"},
		"updateMask=name,":              {"name", ""},
	} {
		values, malformed := decodeQuery(query, []parameter{updateMask})
		if got := maskOf(values); !reflect.DeepEqual(got, want) || malformed != nil {
			t.Errorf("%s: got %q %v, want %q", query, got, malformed, want)
		}
	}
	if _, malformed := decodeQuery("updateMask=a&updateMask=b", []parameter{updateMask}); len(malformed) != 1 {
		t.Errorf("a mask given twice: %v, want 1 of them", malformed)
	}
}

func FuzzQueries(f *testing.F) {
	f.Add("page_size=1&uidp.ids=a&uidp.ids=b")
	f.Add("a=1;b=2&%zz&=&&name=%ff")
	f.Fuzz(func(t *testing.T, query string) {
		for _, v := range decodeTags(query).Malformed {
			if v.Description == "" || len(v.Field) > 110 {
				t.Errorf("%q: %+v", query, v)
			}
		}
	})
}

// Clients of protocol buffers send enums by their numbers, which internal/rpc compares with the
// contract.
func TestAnEnumMayBeANumber(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	w.create("/registry/v2/repos/"+w.org, `{"name":"fips","catalogTier":3}`)
	tried := 0
	for _, r := range routes(w.p) {
		for _, p := range r.query {
			enum, ok := reflect.Zero(p.valueType).Interface().(interface{ Values() []string })
			if !ok || strings.Contains(r.pattern, "{") || r.name == "CheckImage" { // The image of its example does not exist.
				continue
			}
			path := r.pattern + "?"
			for _, other := range r.query {
				if other.required && other.name != p.name {
					path += fmt.Sprintf("%s=%s&", other.name, parameterExamples[other.name])
				}
			}
			for i, name := range enum.Values() {
				byName := w.get(path + p.name + "=" + name)
				byNumber := w.get(fmt.Sprintf("%s%s=%d", path, p.name, i+1))
				if byName.raw != byNumber.raw {
					t.Errorf("%s: %s answers %s, and %d %s", r.pattern, name, byName.raw, i+1, byNumber.raw)
				}
				tried++
			}
			for _, wrong := range []string{"0", "-1", "99", "1.0", "01x"} {
				if got := w.do(http.MethodGet, path+p.name+"="+wrong, "").expectStatus(http.StatusBadRequest); got.violations() != p.name {
					t.Errorf("%s: %s=%s: %s", r.pattern, p.name, wrong, got.raw)
				}
			}
		}
	}
	if tried < 40 {
		t.Errorf("%d values were tried, want those of all enums", tried)
	}
	if got := w.get("/registry/v2/repos?tiers=3"); got.text("totalCount") != "1" {
		t.Errorf("tiers=3 lists %s, want the repo fips", got.raw)
	}
}
