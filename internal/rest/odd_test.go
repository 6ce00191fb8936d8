package rest

import (
	"net/http"
	"strings"
	"testing"
)

func TestInvalidBodiesAreExplained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deep := func(open, end string, n int) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	for body, want := range map[string]string{
		``:                         "name",
		`{}`:                       "name",
		`null`:                     "body",
		`"x"`:                      "body",
		`5`:                        "body",
		`[]`:                       "body",
		`[{"name":"x"}]`:           "body",
		`{"name":"x"`:              "body",
		`{"name":"x"}{}`:           "body",
		`{"name":"x"} trailing`:    "body",
		`{"name":'x'}`:             "body",
		`{name:"x"}`:               "body",
		`{"name":"x",}`:            "body",
		"\ufeff" + `{"name":"x"}`:  "body",
		"{\"name\":\"\xff\"}":      "body",
		"{\"name\":\"a\nb\"}":      "body",
		"{\"\xff\":1}":             "body",
		`name=x`:                   "body",
		deep("[", "]", 100_000):    "body",
		deep(`{"a":`, "}", 50_000): "body",
		`{"name":"x","unknown":` + deep("[", "]", 100_000) + `}`:                        "body",
		`{"name":"x","unknown":` + deep("[", "]", 1000) + `}`:                           "unknown",
		`{"name":"x","name":"x"}`:                                                       "name",
		`{"name":"x","catalogTier":"CATALOG_TIER_AI","catalog_tier":"CATALOG_TIER_AI"}`: "catalogTier",
		`{"name":"x","syncConfig":{"source":"a","source":"a"}}`:                         "sync_config.source",
		`{"name":null}`:                       "name",
		`{"name":5}`:                          "name",
		`{"name":1e999}`:                      "name",
		`{"name":"\ud800"}`:                   "body",
		`{"name":"x\u0000"}`:                  "name",
		`{"Name":"x"}`:                        "name Name",
		`{"name":"x","description":"\u202e"}`: "",
	} {
		got := w.do(http.MethodPost, "/registry/v2/repos/"+w.org, body)
		if want == "" {
			got.expectStatus(http.StatusOK)
			continue
		}
		got.expectStatus(http.StatusBadRequest)
		if got.violations() != want || !strings.HasPrefix(got.text("message"), "Invalid argument: "+strings.Fields(want)[0]+": ") {
			t.Errorf("%.80s: violations of %q, want %q: %.300s", body, got.violations(), want, got.raw)
		}
	}
	if got := w.get("/registry/v2/repos"); got.json["totalCount"] != "1" {
		t.Errorf("something was made: %s, want totalCount '1'", got.raw)
	}
}

func TestInvalidBodiesChangeNothing(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	for _, body := range []string{`null`, `[]`, `{"description":"x"`, `{"description":"x","description":"y"}`, "{\"description\":\"\xff\"}", `{"description":"x"}{}`} {
		for _, mask := range []string{"", "?updateMask=description", "?updateMask=*"} {
			got := w.do(http.MethodPatch, "/registry/v2/repos/"+w.repo+mask, body).expectStatus(http.StatusBadRequest)
			if v := got.violations(); v != "body" && !strings.HasSuffix(v, "description") {
				t.Errorf("%s %s: %s", mask, body, got.raw)
			}
		}
	}
	if got := w.get("/registry/v2/repos/" + w.repo); got.text("description") != "" {
		t.Errorf("changed: %s, want description \"\"", got.raw)
	}
}

func TestPageSizesAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 205 {
		w.create("/registry/v2/repos/"+w.org, `{"name":"r`+string(rune('a'+i/26))+string(rune('a'+i%26))+`"}`)
	}
	for query, want := range map[string]int{"": 50, "?page_size=0": 50, "?page_size=1": 1, "?pageSize=200": 200, "?page_size=201": 200, "?page_size=2147483647": 200, "?skip=200": 5, "?skip=205": 0, "?skip=2147483647": 0} {
		got := w.get("/registry/v2/repos" + query)
		items, _ := got.json["repos"].([]any)
		if len(items) != want || got.json["totalCount"] != "205" {
			t.Errorf("%s: %d items of %v, want %d", query, len(items), got.json["totalCount"], want)
		}
		if _, more := got.json["nextPageToken"]; more != (want == 50 || want == 1 || want == 200) {
			t.Errorf("%s: a next page %v", query, more)
		}
	}
	for _, query := range []string{"?page_size=-1", "?page_size=x", "?page_size=1e1", "?page_size=", "?page_size=99999999999", "?page_size=%205"} {
		if got := w.do(http.MethodGet, "/registry/v2/repos"+query, "").expectStatus(http.StatusBadRequest); got.violations() != "page_size" {
			t.Errorf("%s: %s, want violations of 'page_size'", query, got.raw)
		}
	}
}

func TestAnOrderIsOfFieldsAndDirections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"b", "c", "a"} {
		w.elapsed.Add(1)
		w.create("/registry/v2/repos/"+w.org, `{"name":"`+name+`"}`)
	}
	for order, want := range map[string]string{
		"": "a b c", "name": "a b c", "name%20asc": "a b c", "name%20desc": "c b a", "name+desc": "c b a",
		"created_at%20desc": "a c b", "create_time": "b c a", "createTime%20desc": "a c b", "created_at%20desc,name": "a c b", "updated_at": "b c a",
	} {
		if got := w.get("/registry/v2/repos?order_by=" + order); got.items("repos", "name") != want {
			t.Errorf("%s: %s, want %s", order, got.items("repos", "name"), want)
		}
	}
	for _, order := range []string{"name%20DESC", "name,,uid", "name%20desc%20uid", "nope", "-name", "desc", "name%2Bdesc", strings.Repeat("a", 5000)} {
		got := w.do(http.MethodGet, "/registry/v2/repos?order_by="+order, "").expectStatus(http.StatusBadRequest)
		if got.violations() != "order_by" || !strings.Contains(got.raw, "must be one of name") || len(got.raw) > 1000 {
			t.Errorf("%s: %s, want it to contain 'must be one of name'", order, got.raw)
		}
	}
}

func TestInvalidURLsAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, want := range map[string]string{
		"?name=%ff": "name", "?name=%00": "name", "?page_token=%ff": "page_token", "?uidp.children_of=%00": "uidp.children_of",
		"?uidp[children_of]=x": "uidp[children_of]", "?uidp.ids=a,b": "uidp.ids", "?uidp.in_root=TRUE": "uidp.in_root",
		"?page_token=" + strings.Repeat("a", 30_000): "page_token", "?" + strings.Repeat("a", 30_000): strings.Repeat("a", 100) + "...",
		"/%00": "uid", "/%ff": "uid", "/%2e%2e": "uid", "/" + strings.Repeat("a", 30_000): "uid", "/": "uid", "//": "uid",
	} {
		got := w.do(http.MethodGet, "/registry/v2/repos"+path, "").expectStatus(http.StatusBadRequest)
		if got.violations() != want || len(got.raw) > 1000 {
			t.Errorf("%.60s: violations of %.200q, want %.200q: %.300s", path, got.violations(), want, got.raw)
		}
	}
	for _, path := range []string{"/registry/v2", "/registry/v2/", "/registry/v2/Repos", "/registry/v2beta2/repos", "/registry/v2/./repos", "/registry/v2/x/../repos", "/ping/v2/ping/", "/registry/v2/repos;x=1", "/REGISTRY/v2/repos"} {
		got := w.do(http.MethodGet, path, "").expectStatus(http.StatusNotFound)
		if got.json["code"] != 5.0 || got.detail("ErrorInfo")["reason"] != "NOT_FOUND" {
			t.Errorf("%s: %s, want code 5.0 and reason 'NOT_FOUND'", path, got.raw)
		}
	}
}

func TestADeletionHasAnEmptyResponse(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	for _, headers := range [][]string{nil, {"Accept-Encoding", "gzip"}, {"Content-Type", "text/plain"}, {"Content-Encoding", "gzip"}} {
		uid := w.create("/registry/v2/repos/"+w.org, `{"name":"gone"}`)
		got := w.do(http.MethodDelete, "/registry/v2/repos/"+uid, "", headers...).expectStatus(http.StatusOK)
		if got.raw != "" || got.header.Get("Content-Length") != "0" || got.header.Get("Content-Type") != "" || got.header.Get("Content-Encoding") != "" {
			t.Errorf("%v: %q, want none: %v", headers, got.raw, got.header)
		}
	}
}
