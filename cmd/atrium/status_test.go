package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store"
	"atrium/store/storetest"
)

// An operator who is called at night reads one page about all organizations.
func TestTheStatusShowsWhatAnOperatorLooksFor(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(map[bool]int{true: http.StatusInternalServerError, false: http.StatusNoContent}[r.URL.Path == "/hook"])
		}))
		defer sink.Close()
		server := start(t, url, "--dev", "--private-sink", sink.Listener.Addr().String())
		token := strings.TrimSpace(mustRun(t, url, "token"))
		acme := demoUID(t, server)
		if status, answer := server.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "`+sink.URL+`/hook"}`); status != http.StatusOK {
			t.Fatalf("status %d: %s", status, answer)
		}
		for i := range 12 { // More than the page lists, none of which fails.
			if status, answer := server.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, fmt.Sprintf(`{"sink": "%s/healthy/%d"}`, sink.URL, i)); status != http.StatusOK {
				t.Fatalf("status %d: %s", status, answer)
			}
		}
		server.send(http.MethodPost, token, "/iam/v2/groups/"+acme, `{"name": "noticed"}`)
		server.await(func() bool {
			return strings.Contains(server.stderr.String(), `"host":"`+strings.TrimPrefix(sink.URL, "http://")+`","error"`)
		})
		other := regexp.MustCompile("[0-9a-f]{40}").FindString(mustRun(t, url, "admin", "bootstrap", "--org", "tiny", "--issuer", "https://issuer.example", "--subject", "me"))
		out := mustRun(t, url, "admin", "status")
		for _, want := range []string{"schema      00001 schema, applied 20", " fail or are disabled\n", strings.TrimPrefix(sink.URL, "http://") + "  ", other + "  "} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if rows := strings.Count(out, strings.TrimPrefix(sink.URL, "http://")); rows != 1 || !regexp.MustCompile(`\nsinks +[12] fail[^~]* 127\.0\.0\.1:\d+ +20\d\d-`).MatchString(out) { // the demonstration has another
			t.Errorf("%d sinks are listed, want the one that fails, with the time since which it does:\n%s", rows, out)
		}
		if first := strings.Index(out, acme+"  "); first < 0 || first > strings.Index(out, other+"  ") {
			t.Errorf("the largest organization is not the first in\n%s", out)
		}
		if shown := strings.Contains(out, "\nPROGRAM "); shown == strings.HasPrefix(url, "sqlite:") {
			t.Errorf("the connected programs are shown: %t, in\n%s", shown, out)
		}
		if one := mustRun(t, url, "admin", "status", "--most", "1"); strings.Contains(one, other) {
			t.Errorf("with --most 1 there are two organizations:\n%s", one)
		}
		type failing struct{ UID, Host, FailingSince string }
		var report struct {
			Program, Time        string
			Schema               struct{ Name, AppliedTime string }
			DatabaseBytes        int64
			FailingSinks         int
			FailingSubscriptions []failing
			Organizations        []struct {
				UID, Name string
				Rows      int
			}
			Programs []struct{ Name string }
			Standbys []any
		}
		if err := json.Unmarshal([]byte(mustRun(t, url, "admin", "status", "-o", "json")), &report); err != nil {
			t.Fatal(err)
		}
		if report.Program != version || report.Schema.Name != "schema" || !strings.HasPrefix(report.Schema.AppliedTime, "20") || report.DatabaseBytes == 0 || report.FailingSinks == 0 || report.FailingSinks != len(report.FailingSubscriptions) || report.FailingSinks > 2 ||
			!slices.ContainsFunc(report.FailingSubscriptions, func(s failing) bool {
				return s.Host == strings.TrimPrefix(sink.URL, "http://") && strings.HasPrefix(s.FailingSince, "20")
			}) ||
			len(report.Organizations) < 2 || report.Organizations[0].UID != acme || report.Organizations[0].Rows == 0 || (len(report.Programs) > 0) == strings.HasPrefix(url, "sqlite:") || report.Standbys == nil {
			t.Errorf("as JSON: %+v", report)
		}
		t.Log(out)
	})
}

// A status of another version of the program must not change the roles that servers use.
func TestTheStatusWritesNothing(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		mustRun(t, url, "admin", "bootstrap", "--org", "tiny", "--issuer", "https://issuer.example", "--subject", "me")
		s, err := store.Open(t.Context(), url, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		p, err := platform.New(t.Context(), s, platform.Options{NoSecrets: true})
		if err != nil {
			t.Fatal(err)
		}
		roles := iam.BuiltInRoles()
		for _, role := range roles {
			role.Description = "as another version has it"
		}
		if err := s.SyncBuiltInRoles(t.Context(), roles); err != nil {
			t.Fatal(err)
		}
		if out := mustRun(t, url, "admin", "status"); !strings.Contains(out, "  tiny  ") {
			t.Errorf("no tiny in\n%s", out)
		}
		viewer, err := p.Roles.Get(core.WithActor(t.Context(), core.NewOperator("test")), iam.ViewerRole)
		if err != nil || viewer.Description != "as another version has it" {
			t.Errorf("the role is %+v (%v), want it as it was", viewer, err)
		}
	})
}

// Replicas of two versions run side by side during an upgrade, and an operator asks which are left.
func TestTheStatusShowsTheVersionsOfReplicas(t *testing.T) {
	t.Parallel()
	url := demonstration.Postgres(t)
	start(t, url, "--dev")
	if out, want := mustRun(t, url, "admin", "status"), "\natrium/"+version+"  "; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

func TestMigrationsTellHowFarTheyAre(t *testing.T) {
	t.Parallel()
	file := "sqlite:" + filepath.Join(t.TempDir(), "new.db")
	out := mustRun(t, file, "admin", "migrate", "up")
	if begins, applied := strings.Index(out, "00001 schema         begins; 1 pending\n"), strings.Index(out, "00001 schema         applied in "); begins < 0 || applied < begins {
		t.Errorf("it prints\n%s", out)
	}
	if again := mustRun(t, file, "admin", "migrate", "up"); strings.Contains(again, "00001") {
		t.Errorf("without a pending migration it prints\n%s", again)
	}
	if out := mustRun(t, file, "admin", "migrate", "status", "-o", "json"); !regexp.MustCompile(`^\[\n  \{\n    "version": 1,\n    "name": "schema",\n    "applied": true,\n    "appliedTime": "20`).MatchString(out) {
		t.Errorf("the status as JSON is\n%s", out)
	}
	server := start(t, "sqlite:"+filepath.Join(t.TempDir(), "new.db"), "--dev", "--log-format", "json")
	for _, want := range []string{`"msg":"a migration begins","version":1,"name":"schema","pending":1}`, `"msg":"a migration was applied","version":1,"name":"schema","ms":`} {
		if got := server.stderr.String(); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}
