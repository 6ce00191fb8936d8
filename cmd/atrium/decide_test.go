package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestFindingsAreDecidedAbout(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev")
		env := map[string]string{"ATRIUM_URL": server.url, "ATRIUM_TOKEN": strings.TrimSpace(mustRun(t, url, "token"))}
		succeed := func(args ...string) string {
			t.Helper()
			out, said, err := atrium(t, env, args...)
			if err != nil {
				t.Fatalf("%q: %v\n%s", args, err, said)
			}
			return out
		}
		uids := strings.Fields(succeed("list", "findings", "-q", "--limit", "2"))
		if len(uids) != 2 {
			t.Fatalf("uids of findings: %q", uids)
		}
		expect := func(state, note string, ends bool) {
			t.Helper()
			for _, uid := range uids {
				var f struct {
					State, Note string
					ExpireTime  time.Time
				}
				err := json.Unmarshal([]byte(succeed("get", "finding", uid, "-o", "json")), &f)
				if err != nil || f.State != "FINDING_STATE_"+state || f.Note != note || f.ExpireTime.IsZero() == ends {
					t.Errorf("a finding: %v %+v, want %s, %q, and an end: %t", err, f, state, note, ends)
				}
			}
		}
		decide := func(args ...string) []string { return append(append([]string{"decide"}, uids...), args...) }
		if out := succeed(decide("--state", "accepted", "--note", "we upgrade next week", "--until", "7d")...); !strings.HasPrefix(out, "Updated findings: 2. They are now accepted, until 20") {
			t.Errorf("output: %s", out)
		}
		expect("ACCEPTED", "we upgrade next week", true)
		succeed(decide("--state", "not-affected", "--justification", "inline-mitigations-already-exist", "--until", "2999-01-01T00:00:00Z")...)
		expect("NOT_AFFECTED", "", true)
		succeed(decide("--state", "open")...)
		expect("OPEN", "", false)
		for args, want := range map[string]string{
			"--state odd": "--state: must be one of open, in-triage", "--state not-affected --justification odd": "--justification: must be one of component", "--state accepted --until soon": "--until: must be a time",
			"--state accepted --until 0d": "--until: must be a time", "--state accepted --until 2001-01-01T00:00:00Z": "future", "--state not-affected": "ustification",
		} {
			_, said, err := atrium(t, env, decide(strings.Fields(args)...)...)
			if err == nil || !strings.Contains(said+err.Error(), want) {
				t.Errorf("%s: %v %s, want %q", args, err, said, want)
			}
		}
		expect("OPEN", "", false)
	})
}

func TestAnEndIsATimeOrDays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{"": {}, "7d": now.AddDate(0, 0, 7), "2027-01-31T00:00:00+01:00": time.Date(2027, 1, 30, 23, 0, 0, 0, time.UTC)} {
		if got, err := parseEnd(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"d", "-1d", "1.5d", "7", "7h", "2027-01-31"} {
		if _, err := parseEnd(text, now); !errors.Is(err, errEnd) {
			t.Errorf("%q is taken for an end", text)
		}
	}
}
