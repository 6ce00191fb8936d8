package storetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/store"
)

const (
	workplace = "https://login.example.com"
	github    = "https://token.actions.githubusercontent.com"

	upgradedRoot = platform.UID("1111111111111111111111111111111111111111")
)

// A version5 is a database of schema 5, before issuers could be proven.
type version5 struct {
	*world
	rows int
}

func newVersion5(t *testing.T, url string) *version5 {
	t.Helper()
	m, err := openEngine(t, url).Migrator(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	if err := m.UpTo(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	return &version5{world: &world{t: t, url: url}}
}

// row adds a row of values and times. The times are a second after those of the previous
// row.
func (v *version5) row(table, columns, times string, values ...any) {
	v.t.Helper()
	v.rows++
	marks := make([]string, len(values))
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	moments := strings.Repeat(", "+v.lastTime(), len(strings.Split(times, ", ")))
	v.exec(v.openDirect(), "INSERT INTO "+table+" ("+columns+", "+times+") VALUES ("+strings.Join(marks, ", ")+moments+")", values...)
}

// identity adds an identity with a rule and the key that the rule had at that time.
func (v *version5) identity(claimMatch, key string) platform.UID {
	v.t.Helper()
	uid := upgradedRoot + platform.UID(fmt.Sprintf("/%016x", v.rows))
	v.row("identity", "uid, root, parent, name, description, email, email_unverified, company, claim_match, static_keys, match_rule", "last_seen_time, create_time, update_time",
		string(uid), string(upgradedRoot), string(upgradedRoot), "i", "", "", "", "", claimMatch, "", key)
	return uid
}

// fill adds what organisations had: a provider, a person who signed in through it, and
// rules.
func (v *version5) fill() (alice platform.UID) {
	v.t.Helper()
	root := string(upgradedRoot)
	v.row("grp", "uid, root, name, description, resource_limits, kind, status, verified", "create_time, update_time", root, root, "acme", "", "", "", "", false)
	v.row("role", "uid, root, name, description, capabilities", "create_time, update_time", string(platform.ViewerRole), "", "viewer", "", "[]")
	provider := root + "/00000000000000aa"
	v.row("identity_provider", "uid, root, parent, name, description, default_role, oidc, issuer, client_secret", "create_time, update_time",
		provider, root, root, "people", "", string(platform.ViewerRole), fmt.Sprintf(`{"issuer": %q, "clientId": "client"}`, workplace), workplace, []byte{})
	alice = v.identity("", "")
	v.exec(v.openDirect(), "UPDATE identity SET provider = $1, external_id = $2 WHERE uid = $3", provider, workplace+"\x02alice", string(alice))
	for range 22 {
		v.identity(fmt.Sprintf(`{"issuer": %q, "subject": "ada"}`, workplace), workplace+"\x02ada")
	}
	for range 22 {
		v.identity(fmt.Sprintf(`{"issuer": %q, "subjectPattern": "repo:acme/.*"}`, github), github+"\x02\x01")
	}
	v.identity(fmt.Sprintf(`{"issuer": %q, "subjectPattern": "robot-.*"}`, workplace), workplace+"\x02\x01")
	v.identity(`{"issuer": "https://other.example.com", "subjectPattern": ".*"}`, "https://other.example.com\x02\x01")
	v.identity(`{"issuerPattern": "https://hosts\\.example\\.com/.*", "subject": "bob"}`, "\x01\x02bob")
	v.identity(`{"issuerPattern": ".*", "subjectPattern": ".*"}`, "\x01\x02\x01")
	return alice
}

// lastTime returns the time of the last row.
func (v *version5) lastTime() string {
	if v.onSQLite() {
		return fmt.Sprint((1_700_000_000 + v.rows) * 1000)
	}
	return fmt.Sprintf("to_timestamp(%d)", 1_700_000_000+v.rows)
}

func TestRulesAndProvidersFromBeforeThereWereProofs(t *testing.T) {
	t.Parallel()
	for engine, empty := range emptyDatabases {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			url := empty(t)
			alice := newVersion5(t, url).fill()
			if err := store.Migrate(t.Context(), url); err != nil {
				t.Fatal(err)
			}
			newWorld(t, url).checkUpgraded(t, alice)
		})
	}
}

func (w *world) checkUpgraded(t *testing.T, alice platform.UID) {
	t.Helper()
	bearers := map[string]platform.Claims{
		"alice":         {Issuer: workplace, Subject: "alice"},
		"a newcomer":    {Issuer: workplace, Subject: "bob"},
		"a robot":       {Issuer: workplace, Subject: "robot-1"},
		"ada":           {Issuer: workplace, Subject: "ada"},
		"a pipeline":    {Issuer: github, Subject: "repo:acme/api:ref:refs/heads/main"},
		"another's":     {Issuer: github, Subject: "repo:other/api:ref:refs/heads/main"},
		"other":         {Issuer: "https://other.example.com", Subject: "anybody"},
		"bob of a host": {Issuer: "https://hosts.example.com/x", Subject: "bob"},
		"anybody":       {Issuer: "https://anywhere.example.com", Subject: "anybody"},
	}
	acting := func(when string, want map[string]int) {
		t.Helper()
		for who, c := range bearers {
			c.ServiceAudience = true
			actor, err := w.p.Authenticate(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(actor.Identities); n != want[who] || who == "alice" && !slices.Contains(actor.Identities, alice) {
				t.Errorf("%s, %s acts as %d identities, want %d: %v", when, who, n, want[who], actor.Identities)
			}
		}
	}
	acting("after the migration", map[string]int{"alice": 1, "ada": 20, "a pipeline": 20})

	w.expectIssuers(t, "https://hosts.example.com/* , https://other.example.com , * , "+github+" , "+workplace+" upgrade")
	provider, err := w.p.IdentityProviders.Get(w.operator(), upgradedRoot+"/00000000000000aa")
	if err != nil || provider.IssuerVerified {
		t.Errorf("the provider: %+v, %v", provider, err)
	}
	for _, issuer := range []string{workplace, "https://other.example.com", "https://hosts.example.com/*"} {
		if err := w.p.Issuers.Allow(w.operator(), upgradedRoot, issuer); err != nil {
			t.Fatal(err)
		}
	}
	acting("once the operator allowed three", map[string]int{"alice": 1, "a newcomer": 1, "a robot": 2, "ada": 21, "a pipeline": 20, "other": 1, "bob of a host": 1})
	if err := w.p.Issuers.Allow(w.operator(), upgradedRoot, "*"); err != nil {
		t.Fatal(err)
	}
	acting("once the operator allowed all", map[string]int{"alice": 2, "a newcomer": 2, "a robot": 3, "ada": 22, "a pipeline": 21, "another's": 1, "other": 2, "bob of a host": 2, "anybody": 1})
}

// expectIssuers expects the list of issuers with their methods, as the operator sees it.
func (w *world) expectIssuers(t *testing.T, want string) {
	t.Helper()
	proofs, err := w.p.Issuers.List(w.operator())
	if err != nil {
		t.Fatal(err)
	}
	listed := make([]string, len(proofs))
	for i, p := range proofs {
		listed[i] = p.Issuer + " " + string(p.Method)
	}
	wanted := strings.Split(want, ", ")
	slices.Sort(listed)
	slices.Sort(wanted)
	if !slices.Equal(listed, wanted) {
		t.Errorf("the operator sees %q, want %q", listed, wanted)
	}
}
