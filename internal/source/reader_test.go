package source_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/internal/auth"
	"atrium/internal/source"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/intake"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// A world has a platform, and a web server with what is read.
type world struct {
	t       *testing.T
	url     string // of the database
	p       *platform.Platform
	web     *web
	options source.Options
	org     core.UID
}

// onEachEngine runs a test with a new world on each engine.
func onEachEngine(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := &world{t: t, url: url, web: newWeb(t)}
		w.p = w.open()
		w.options = source.Options{Client: auth.NewGuard([]string{w.web.host()}).FetchClient(), Logger: slog.New(slog.DiscardHandler), Folder: t.TempDir()}
		org, err := w.p.Groups.Bootstrap(t.Context(), "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		w.org = org.Group.UID
		test(t, w)
	})
}

// open opens the platform of one more server.
func (w *world) open() *platform.Platform {
	w.t.Helper()
	p, err := platform.New(w.t.Context(), storetest.Open(w.t, w.url), platform.Options{PrivateSources: []string{w.web.host()}})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// operator returns the context of an operator.
func (w *world) operator() context.Context {
	return core.WithActor(w.t.Context(), core.NewOperator("test"))
}

// feed makes a source of the operator the only one.
func (w *world) feed(f intake.Feed) *intake.Source {
	w.t.Helper()
	if err := w.p.Sources.SetFeeds(w.operator(), []intake.Feed{f}); err != nil {
		w.t.Fatal(err)
	}
	all, err := w.p.Sources.Feeds(w.operator())
	if err != nil || len(all) != 1 {
		w.t.Fatalf("there are %d feeds (%v), want 1", len(all), err)
	}
	return all[0]
}

// create makes a source of a group. more has further fields of the input.
func (w *world) create(group core.UID, name string, of intake.SourceType, url, more string) *intake.Source {
	w.t.Helper()
	s, err := w.p.Sources.Create(w.operator(), group, fieldmask.JSONInput[*intake.Source](fmt.Appendf(nil, `{"name": %q, "type": %q, "url": %q%s}`, name, of, url, more), nil))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// read reads the source that is due, and returns it then, and the paths that were asked for.
func (w *world) read(s *intake.Source) (*intake.Source, []string) {
	w.t.Helper()
	w.web.forget()
	found, err := source.NewReader(w.p, w.options).ReadNext(w.t.Context())
	if err != nil || !found {
		w.t.Fatalf("reading the next source: %t, %v", found, err)
	}
	return w.get(s), w.web.listAsked()
}

// again reads a source once more.
func (w *world) again(s *intake.Source) (*intake.Source, []string) {
	w.t.Helper()
	if _, err := w.p.Sources.Run(w.operator(), s.UID); err != nil {
		w.t.Fatal(err)
	}
	return w.read(s)
}

func (w *world) get(s *intake.Source) *intake.Source {
	w.t.Helper()
	found, err := w.p.Sources.Get(w.operator(), s.UID)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// vulnerabilities returns those of some that are stored, with their titles.
func (w *world) vulnerabilities(ids ...string) map[string]string {
	w.t.Helper()
	stored := map[string]string{}
	for _, id := range ids {
		v, err := w.p.Vulnerabilities.Get(w.operator(), id)
		if err == nil {
			stored[id] = v.Summary
		}
	}
	return stored
}

// A web serves files, with ETags.
type web struct {
	*httptest.Server

	lock     sync.Mutex
	files    map[string][]byte
	handlers map[string]http.HandlerFunc
	registry http.Handler // of paths below /v2/
	paths    []string
}

func newWeb(t *testing.T) *web {
	t.Helper()
	w := &web{files: map[string][]byte{}, handlers: map[string]http.HandlerFunc{}}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

func (w *web) host() string { return strings.TrimPrefix(w.URL, "http://") }

func (w *web) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	w.lock.Lock()
	content, found, own := w.files[r.URL.Path], w.files[r.URL.Path] != nil, w.handlers[r.URL.Path]
	if w.registry != nil && strings.HasPrefix(r.URL.Path, "/v2/") {
		own = w.registry.ServeHTTP
	}
	w.paths = append(w.paths, r.URL.Path)
	w.lock.Unlock()
	if own != nil {
		own(to, r)
		return
	}
	if !found {
		http.NotFound(to, r)
		return
	}
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(content))
	to.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		to.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = to.Write(content)
}

func (w *web) put(path string, content []byte) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.files[path] = content
	delete(w.handlers, path)
}

func (w *web) handle(path string, handler http.HandlerFunc) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.handlers[path] = handler
}

func (w *web) setRegistry(registry http.Handler) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.registry = registry
}

func (w *web) forget() { w.lock.Lock(); w.paths = nil; w.lock.Unlock() }

func (w *web) listAsked() []string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return slices.Sorted(slices.Values(w.paths))
}

// record returns an OSV record.
func record(id, summary, modified string) []byte {
	text, _ := json.Marshal(map[string]any{
		"id": id, "summary": summary, "modified": modified,
		"affected": []any{map[string]any{"package": map[string]any{"ecosystem": "Go", "name": "example.com/" + strings.ToLower(id)}, "ranges": []any{
			map[string]any{"type": "SEMVER", "events": []any{map[string]any{"introduced": "0"}, map[string]any{"fixed": "1.4.2"}}},
		}}},
	})
	return text
}

// zipOf returns an archive of files.
func zipOf(files map[string][]byte) []byte {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		member, _ := archive.Create(name)
		_, _ = member.Write(files[name])
	}
	_ = archive.Close()
	return b.Bytes()
}

// putEcosystem puts records as osv.dev has them.
func (w *web) putEcosystem(name string, records map[string][]byte) {
	var index strings.Builder
	for _, file := range slices.Sorted(maps.Keys(records)) {
		var r struct{ ID, Modified string }
		_ = json.Unmarshal(records[file], &r)
		fmt.Fprintf(&index, "%s,%s\n", r.Modified, r.ID)
		w.put("/"+name+"/"+file, records[file])
	}
	w.put("/"+name+"/modified_id.csv", []byte(index.String()))
	w.put("/"+name+"/all.zip", zipOf(records))
}

func TestAFeedReadsOnlyWhatHasChanged(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		records := map[string][]byte{
			"GO-1.json": record("GO-1", "one", "2026-03-01T10:00:00.123456Z"), "GO-2.json": record("GO-2", "two", "2026-03-01T10:20:00Z"), "GO-3.json": record("GO-3", "three", "2026-02-01T10:00:00Z"),
		}
		w.web.putEcosystem("Go", records)
		s := w.feed(intake.Feed{Type: intake.OSV, Ecosystems: []string{"Go"}, URL: w.web.URL + "/"})
		s, asked := w.read(s)
		if s.State != intake.Succeeded || !slices.Equal(asked, []string{"/Go/all.zip", "/Go/modified_id.csv"}) || s.LastRun.Records[0].Added != 3 || s.LastRun.IsUnchanged || s.LastSuccessTime.IsZero() {
			t.Fatalf("the first run is %s with %+v and asked for %v", s.State, s.LastRun, asked)
		}
		s, asked = w.again(s)
		if s.State != intake.Succeeded || !slices.Equal(asked, []string{"/Go/modified_id.csv"}) || !s.LastRun.IsUnchanged {
			t.Fatalf("with nothing new, the run is %s with %+v and asked for %v", s.State, s.LastRun, asked)
		}
		records["GO-2.json"] = record("GO-2", "two, changed", "2026-03-02T09:00:00Z")
		w.web.putEcosystem("Go", records)
		s, asked = w.again(s)
		if s.State != intake.Succeeded || !slices.Equal(asked, []string{"/Go/GO-2.json", "/Go/modified_id.csv"}) {
			t.Fatalf("with one changed record, the run is %s with %+v and asked for %v", s.State, s.LastRun, asked)
		}
		if got := w.vulnerabilities("GO-1", "GO-2", "GO-3"); got["GO-2"] != "two, changed" || len(got) != 3 {
			t.Errorf("stored is %v", got)
		}
		runs, err := w.p.Sources.RunsOf(w.operator(), s.UID)
		if err != nil || len(runs) != 3 || runs[0].Number != 3 || runs[0].State != intake.Succeeded {
			t.Errorf("the history has %d runs (%v)", len(runs), err)
		}
	})
}

func TestTheCatalogsAreReadForEverybody(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		w.web.put("/kev.json", []byte(`{"catalogVersion": "1", "vulnerabilities": [{"cveID": "CVE-2021-44228", "dateAdded": "2021-12-10"}]}`))
		w.web.put("/epss.csv", []byte("#model_version:v1\ncve,epss,percentile\nCVE-2021-44228,0.94,0.99\n"))
		if asOf, err := w.p.Sources.FeedsAsOf(w.operator()); err != nil || !asOf.IsZero() {
			t.Errorf("without feeds, they are as of %s (%v)", asOf, err)
		}
		if err := w.p.Sources.SetFeeds(w.operator(), []intake.Feed{{Type: intake.KEV, URL: w.web.URL + "/kev.json"}, {Type: intake.EPSS, URL: w.web.URL + "/epss.csv"}}); err != nil {
			t.Fatal(err)
		}
		reader := source.NewReader(w.p, w.options)
		for i := range 2 {
			if asOf, err := w.p.Sources.FeedsAsOf(w.operator()); err != nil || !asOf.IsZero() {
				t.Errorf("with %d of 2 feeds read, they are as of %s (%v)", i, asOf, err)
			}
			if found, err := reader.ReadNext(t.Context()); err != nil || !found {
				t.Fatal(found, err)
			}
		}
		if asOf, err := w.p.Sources.FeedsAsOf(w.operator()); err != nil || asOf.IsZero() {
			t.Errorf("the feeds are as of %s (%v)", asOf, err)
		}
		known, err := w.p.Vulnerabilities.Exploitations(w.operator(), []*inventory.Vulnerability{{ID: "CVE-2021-44228"}})
		if err != nil || !known[0].IsKnown() || known[0].EPSS == nil {
			t.Errorf("known is %+v (%v)", known, err)
		}
		if found, err := reader.ReadNext(t.Context()); err != nil || found {
			t.Errorf("a feed is due again at once (%v)", err)
		}
	})
}

// A source that does not do what it should leaves a clear state and nothing stored, and is read as soon as it does.
func TestAHostileSourceLeavesAClearStateAndNothingElse(t *testing.T) {
	t.Parallel()
	good := zipOf(map[string][]byte{"GO-1.json": record("GO-1", "one", "2026-03-01T10:00:00Z")})
	inside := newWeb(t)
	inside.put("/all.zip", good)
	encrypted := httptest.NewTLSServer(inside)
	t.Cleanup(encrypted.Close)
	hang := func(r *http.Request) { <-r.Context().Done() }
	const silent = "received nothing for"
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"is missing":    {http.NotFound, "404"},
		"has a page":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Sign in</html>") }, "none of the source's records can be used"},
		"never answers": {func(_ http.ResponseWriter, r *http.Request) { hang(r) }, silent},
		"stops half way": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(good[:20])
			_ = http.NewResponseController(w).Flush()
			hang(r)
		}, silent},
		"has fewer bytes": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			_, _ = w.Write(good)
		}, "it announced 1000000 bytes, and the connection ended after"},
		"has more bytes than it says": {func(w http.ResponseWriter, _ *http.Request) {
			conn, buffered, _ := http.NewResponseController(w).Hijack()
			_, _ = fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n%s", good)
			_ = buffered.Flush()
			_ = conn.Close()
		}, "zip archive"},
		"is too large": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 3<<20)) }, "more than 2 MiB"},
		"says that it is too large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "999999999999")
			w.WriteHeader(http.StatusOK)
		}, "more than 2 MiB"},
		"is a bomb": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(zipOf(map[string][]byte{"GO-1.json": make([]byte, 20<<20)}))
		}, "unpacks to more than"},
		"redirects inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inside.URL+"/all.zip", http.StatusFound)
		}, "the URL must be https"},
		"redirects inside with TLS": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, encrypted.URL+"/all.zip", http.StatusFound)
		}, "the host has a private address"},
		"redirects for ever": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/all.zip", http.StatusFound) }, "it has too many redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachEngine(t, func(t *testing.T, w *world) {
				w.options.MostBytes, w.options.MostUnpacked = 2<<20, 1<<20
				if c.want == silent {
					w.options.IdleTimeout = 50 * time.Millisecond
				}
				w.web.handle("/all.zip", c.handler)
				s, _ := w.read(w.feed(intake.Feed{Type: intake.OSV, URL: w.web.URL + "/all.zip"}))
				if s.State != intake.Failed || !strings.Contains(s.LastRun.Error, c.want) || s.FailingSince.IsZero() || s.Failures != 1 || !s.LastSuccessTime.IsZero() || s.NextRunTime.IsZero() {
					t.Errorf("the source is %s with %+v, want the error %q", s.State, s.LastRun, c.want)
				}
				if stored := w.vulnerabilities("GO-1"); len(stored) > 0 {
					t.Errorf("stored is %v", stored)
				}
				w.options.IdleTimeout = time.Minute
				w.web.put("/all.zip", good)
				if s, _ = w.again(s); s.State != intake.Succeeded || !s.FailingSince.IsZero() || s.Failures != 0 || len(w.vulnerabilities("GO-1")) != 1 {
					t.Errorf("then the source is %s with %+v", s.State, s.LastRun)
				}
			})
		})
	}
}

func TestASourceWithABadCertificateFails(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		encrypted := httptest.NewTLSServer(w.web)
		t.Cleanup(encrypted.Close)
		w.options.Client = auth.NewGuard([]string{strings.TrimPrefix(encrypted.URL, "https://")}).FetchClient()
		s, _ := w.read(w.feed(intake.Feed{Type: intake.OSV, URL: encrypted.URL + "/all.zip"}))
		if want := "the certificate is not signed by a known authority"; s.State != intake.Failed || !strings.Contains(s.LastRun.Error, want) {
			t.Errorf("the source is %s with %+v, want the error %q", s.State, s.LastRun, want)
		}
	})
}

func TestTwoServersReadASourceOnce(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		asked, goOn := make(chan struct{}), make(chan struct{})
		w.web.handle("/kev.json", func(to http.ResponseWriter, _ *http.Request) {
			close(asked)
			<-goOn
			_, _ = io.WriteString(to, `{"vulnerabilities": [{"cveID": "CVE-2021-44228", "dateAdded": "2021-12-10"}]}`)
		})
		s := w.feed(intake.Feed{Type: intake.KEV, URL: w.web.URL + "/kev.json"})
		var first sync.WaitGroup
		first.Go(func() {
			if found, err := source.NewReader(w.p, w.options).ReadNext(t.Context()); err != nil || !found {
				t.Error(found, err)
			}
		})
		<-asked
		if found, err := source.NewReader(w.open(), w.options).ReadNext(t.Context()); err != nil || found {
			t.Errorf("a second server reads the source too (%v)", err)
		}
		if s = w.get(s); s.State != intake.Running {
			t.Errorf("the source is %s", s.State)
		}
		close(goOn)
		first.Wait()
		if s = w.get(s); s.State != intake.Succeeded || s.LastRun.Number != 1 {
			t.Errorf("the source is %s with %+v", s.State, s.LastRun)
		}
	})
}

func TestASourceOfAServerThatWasKilledIsTakenOver(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		w.web.put("/kev.json", []byte(`{"vulnerabilities": [{"cveID": "CVE-2021-44228", "dateAdded": "2021-12-10"}]}`))
		s := w.feed(intake.Feed{Type: intake.KEV, URL: w.web.URL + "/kev.json"})
		killed := w.open().Sources.Queue(time.Nanosecond) // its lease ends at once
		claim, _, err := killed.Claim(t.Context(), intake.Share{OfOperator: true})
		if err != nil || claim == nil {
			t.Fatal(claim, err)
		}
		s, _ = w.read(s)
		if s.State != intake.Succeeded || s.LastRun.Number != 2 {
			t.Errorf("the source is %s with %+v", s.State, s.LastRun)
		}
		// What the first says afterwards does not count.
		if err := killed.End(t.Context(), claim.Ticket, intake.SourceRun{State: intake.Failed, Error: "late"}, nil); err != nil {
			t.Error(err)
		}
		if valid, err := killed.Renew(t.Context(), []intake.Ticket{claim.Ticket}); err != nil || len(valid) > 0 {
			t.Errorf("the lease of the first is renewed: %v (%v)", valid, err)
		}
		runs, err := w.p.Sources.RunsOf(w.operator(), s.UID)
		if err != nil || len(runs) != 2 || runs[0].State != intake.Succeeded || runs[1].State != intake.Failed || !strings.Contains(runs[1].Error, "has stopped") {
			t.Errorf("the history is %+v (%v)", runs, err)
		}
	})
}

func TestARunCanBeCancelled(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		asked, released := make(chan struct{}), make(chan struct{})
		t.Cleanup(func() { close(released) })
		w.web.handle("/kev.json", func(http.ResponseWriter, *http.Request) { close(asked); <-released })
		s := w.feed(intake.Feed{Type: intake.KEV, URL: w.web.URL + "/kev.json"})
		w.options.Lease = time.Second
		var reading sync.WaitGroup
		reading.Go(func() { _, _ = source.NewReader(w.p, w.options).ReadNext(t.Context()) })
		<-asked
		if _, err := w.p.Sources.Cancel(w.operator(), s.UID); err != nil {
			t.Error(err)
		}
		reading.Wait()
		if s = w.get(s); s.State != intake.Cancelled || s.Failures != 0 {
			t.Errorf("the source is %s with %+v", s.State, s.LastRun)
		}
	})
}

func TestCredentialsAreSentToNoOtherHost(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		other := newWeb(t)
		var lock sync.Mutex
		seen := map[string]string{}
		note := func(r *http.Request) { lock.Lock(); seen[r.Host] = r.Header.Get("Authorization"); lock.Unlock() }
		other.handle("/all.zip", func(to http.ResponseWriter, r *http.Request) {
			note(r)
			_, _ = to.Write(zipOf(map[string][]byte{"GO-1.json": record("GO-1", "one", "2026-03-01T10:00:00Z")}))
		})
		// The same machine under another name is another host.
		elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
		w.web.handle("/all.zip", func(to http.ResponseWriter, r *http.Request) {
			note(r)
			http.Redirect(to, r, elsewhere+"/all.zip", http.StatusFound)
		})
		w.options.Client = auth.NewGuard([]string{w.web.host(), strings.TrimPrefix(elsewhere, "http://")}).FetchClient()
		s := w.create(w.org, "mirror", intake.OSV, w.web.URL+"/all.zip", `, "credentials": {"username": "reader", "password": "hush"}`)
		if s, _ = w.read(s); s.State != intake.Succeeded {
			t.Errorf("the source is %s with %+v", s.State, s.LastRun)
		}
		if seen[w.web.host()] != "Basic cmVhZGVyOmh1c2g=" || seen[strings.TrimPrefix(elsewhere, "http://")] != "" {
			t.Errorf("the hosts got %v", seen)
		}
		page, err := w.p.Advisories.List(w.operator(), core.ListRequest[*inventory.AdvisoryFilter]{UIDP: core.UIDFilter{ChildrenOf: w.org}})
		if err != nil || len(page.Items) != 1 {
			t.Errorf("the group has %d advisories (%v)", len(page.Items), err)
		}
	})
}

// Organizations choose how slow their sources are: one that sends a byte now and then can be read for hours.
func TestSlowSourcesOfOrganizationsDoNotHoldUpFeeds(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, w *world) {
		asked := make(chan string, 3)
		note := func(to http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(to, "{")
			_ = http.NewResponseController(to).Flush()
			asked <- r.URL.Path
			<-r.Context().Done()
		}
		for _, name := range []string{"one", "two"} {
			w.web.handle("/"+name, note)
			org, err := w.p.Groups.Bootstrap(t.Context(), name, "https://issuer.example.com", name)
			if err != nil {
				t.Fatal(err)
			}
			w.create(org.Group.UID, name, intake.VEX, w.web.URL+"/"+name, "")
		}
		w.options.IdleTimeout, w.options.PollInterval = time.Hour, time.Millisecond
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		var reading sync.WaitGroup
		defer reading.Wait()
		defer end()
		reading.Go(func() { source.NewReader(w.p, w.options).Run(ctx) })
		wait := func() string {
			select {
			case path := <-asked:
				return path
			case <-ctx.Done():
				return "nothing"
			}
		}
		if got := []string{wait(), wait()}; !slices.Equal(slices.Sorted(slices.Values(got)), []string{"/one", "/two"}) {
			t.Fatalf("first are read %v", got)
		}
		w.web.handle("/kev.json", note)
		w.feed(intake.Feed{Type: intake.KEV, URL: w.web.URL + "/kev.json"})
		if got := wait(); got != "/kev.json" {
			t.Errorf("beside slow sources of two organizations %s is read, want the feed", got)
		}
	})
}
