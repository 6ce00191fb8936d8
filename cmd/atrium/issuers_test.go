package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"atrium/internal/auth"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// listIssuers returns the output of `atrium admin issuers list` without times.
func listIssuers(t *testing.T, url string) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(mustRun(t, url, "admin", "issuers", "list")), "\n")
	if got := strings.Fields(lines[0]); !slices.Equal(got, []string{"ORGANIZATION", "ISSUER", "PROOF", "VERIFIED"}) {
		t.Errorf("the first line has %q", got)
	}
	var listed []string
	for _, line := range lines[1:] {
		columns := strings.Fields(line)
		if shown := len(columns) == 4; shown == (columns[2] == "none") {
			t.Errorf("the line %q shows a time: %t", line, shown)
		}
		listed = append(listed, strings.Join(columns[:3], " "))
	}
	var reported []struct{ Organization, Issuer, Method, VerifyTime string }
	if err := json.Unmarshal([]byte(mustRun(t, url, "admin", "issuers", "list", "-o", "json")), &reported); err != nil || reported == nil || len(reported) != len(listed) {
		t.Errorf("as JSON: %+v (%v), want a list of %d", reported, err, len(listed))
	}
	for _, one := range reported {
		if line := one.Organization + " " + one.Issuer + " " + one.Method; !slices.Contains(listed, line) || (one.VerifyTime == "") != (one.Method == "none") {
			t.Errorf("as JSON: %+v, want one of %q", one, listed)
		}
	}
	slices.Sort(listed)
	return listed
}

func TestTheOperatorAllowsAndRevokesIssuers(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		acme := bootstrap(t, url)
		if listed := listIssuers(t, url); len(listed) > 0 {
			t.Errorf("at first there are %q", listed)
		}
		for _, issuer := range []string{"https://a.example.com", "https://b.example.com/*", "*"} {
			mustRun(t, url, "admin", "issuers", "allow", "--org", acme, "--issuer", issuer)
		}
		mustRun(t, url, "admin", "issuers", "allow", "--org", acme, "--issuer", "*") // The second call changes nothing.
		want := []string{acme + " * operator", acme + " https://a.example.com operator", acme + " https://b.example.com/* operator"}
		if listed := listIssuers(t, url); !slices.Equal(listed, want) {
			t.Errorf("allowed are %q, want %q", listed, want)
		}
		mustRun(t, url, "admin", "issuers", "revoke", "--org", acme, "--issuer", "https://b.example.com/*")
		if listed := listIssuers(t, url); !slices.Equal(listed, want[:2]) {
			t.Errorf("left are %q, want %q", listed, want[:2])
		}
		for command, want := range map[string]string{
			"admin issuers revoke --org " + acme + " --issuer https://b.example.com/*":                  "has no proof for this issuer",
			"admin issuers allow --org " + strings.Repeat("f", 40) + " --issuer https://a.example.com":  "does not exist",
			"admin issuers allow --org " + acme + "/00000000000000ff --issuer https://a.example.com":    "must be the UID of a root group",
			"admin issuers allow --org " + acme + " --issuer a.example.com":                             "must be an https URL",
			"admin issuers allow --org " + acme + " --issuer https://a.example.com/b/*":                 "https://host/* for the issuers of a host",
			"admin issuers revoke --org " + acme + " --issuer https://a.example.com/ --database-url x:": "database",
		} {
			if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, strings.Fields(command)...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", command, err, want)
			}
		}
	})
}

// A change by the operator takes effect with the next request to a running server.
func TestCallersOfAnIssuerAreAcceptedWhileTheOperatorAllowsIt(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev", "--no-webhooks")
		acme, owner := demoUID(t, server), strings.TrimSpace(mustRun(t, url, "token"))
		body := `{"name": "people", "defaultRole": "` + string(iam.ViewerRole) + `", "oidc": {"issuer": "` + auth.DevelopmentIssuer + `", "clientId": "atrium"}}`
		status, made := server.send(http.MethodPost, owner, "/iam/v2/identityProviders/"+acme, body)
		if status != http.StatusOK || !strings.Contains(made, `"issuerVerified":true`) {
			t.Fatalf("making a provider: status %d, want 200: %s, want it to contain %q", status, made, `"issuerVerified":true`)
		}
		if listed := listIssuers(t, url); !slices.Contains(listed, acme+" "+auth.DevelopmentIssuer+" operator") {
			t.Errorf("listed are %q", listed)
		}
		newcomer := strings.TrimSpace(mustRun(t, url, "token", "--subject", "newcomer"))
		enters := func(when string, want int) {
			t.Helper()
			if status, body := server.get(newcomer, "/iam/v2/groups"); status != want || (status == http.StatusOK) != strings.Contains(body, acme) {
				t.Errorf("%s: %d: %s, want %d", when, status, body, want)
			}
		}
		mustRun(t, url, "admin", "issuers", "revoke", "--org", acme, "--issuer", auth.DevelopmentIssuer)
		enters("before it is allowed", http.StatusForbidden)
		if listed := listIssuers(t, url); !slices.Contains(listed, acme+" "+auth.DevelopmentIssuer+" none") {
			t.Errorf("what waits is not among %q", listed)
		}
		mustRun(t, url, "admin", "issuers", "allow", "--org", acme, "--issuer", auth.DevelopmentIssuer)
		enters("while it is allowed", http.StatusOK)
		mustRun(t, url, "admin", "issuers", "revoke", "--org", acme, "--issuer", auth.DevelopmentIssuer)
		enters("once it is revoked", http.StatusForbidden)
		if err := server.end(); err != nil {
			t.Errorf("serve ended with %v", err)
		}
	})
}
