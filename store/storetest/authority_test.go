package storetest_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
)

// ownerRequests returns a function that lists the repos of an organization as its owner,
// each time in a request that presumes what the first one found.
func (w *world) ownerRequests(org string) func() error {
	w.t.Helper()
	request := askAsOwner(w.t, w.p, org)
	return func() error { return request(w.t.Context()) }
}

func askAsOwner(t testing.TB, p *platform.Platform, org string) func(context.Context) error {
	t.Helper()
	claims := iam.Claims{Issuer: issuer, Subject: "owner of " + org, ServiceAudience: true}
	last := must[*core.Actor](t)(p.Authenticate(t.Context(), claims))
	return func(ctx context.Context) error {
		_, err := p.Repos.List(p.Presume(ctx, claims, last), core.ListRequest[*inventory.RepoFilter]{})
		return err
	}
}

// An older program beside this one, or an operator, changes rights without the code of
// this program. Only the triggers notice that.
func TestAChangeBehindTheStoreCountsFromTheNextRequest(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		for _, hasTrigger := range []bool{true, false} {
			name := fmt.Sprint("acme-", hasTrigger)
			_, org := w.createOrganization(name)
			request := w.ownerRequests(name)
			for range 3 { // From the third request on, only versions are compared.
				if err := request(); err != nil {
					t.Fatal(err)
				}
			}
			if !hasTrigger {
				on := " ON role_binding"
				if w.onSQLite() {
					on = ""
				}
				w.exec(w.openDirect(), "DROP TRIGGER role_binding_authority_delete"+on)
			}
			placeholder := "$1"
			if w.onSQLite() {
				placeholder = "?"
			}
			key, _ := org.Binding.UID.Packed()
			w.exec(w.openDirect(), "DELETE FROM role_binding WHERE uid = "+placeholder, key)
			if err := request(); (err != nil) != hasTrigger {
				t.Errorf("a request after the revocation ends with %v; the trigger exists: %t", err, hasTrigger)
			}
		}
	})
}

// versions returns the version of each scope.
func (w *world) versions() map[string]string {
	w.t.Helper()
	versions := map[string]string{}
	for _, row := range w.query(w.openDirect(), "SELECT scope, version FROM authority") {
		versions[row[0]] = row[1]
	}
	return versions
}

func TestOnlyChangesOfRightsChangeVersions(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, acme := w.createOrganization("acme")
		_, other := w.createOrganization("other")
		repo := w.repos(acme.Group.UID, 1)[0].UID
		scopeOf := func(uid core.UID) string { return "root:" + string(uid.Root()) }
		for _, c := range []struct {
			name    string
			change  func() error
			changes []string
		}{
			{"a repo", func() error {
				_, err := w.p.Repos.Update(ctx, repo, fieldmask.JSONInput[*inventory.Repo]([]byte(`{"description":"x"}`), nil))
				return err
			}, nil},
			{"a group", func() error {
				_, err := w.p.Groups.Create(ctx, acme.Group.UID, fieldmask.JSONInput[*iam.Group]([]byte(`{"name":"team"}`), nil))
				return err
			}, nil},
			{"the description of an identity", func() error {
				_, err := w.p.Identities.Update(ctx, acme.Identity.UID, fieldmask.JSONInput[*iam.Identity]([]byte(`{"description":"x"}`), nil))
				return err
			}, nil},
			{"when an identity was seen", func() error {
				return w.store.MarkSeen(ctx, []core.UID{acme.Identity.UID}, core.At(w.now()))
			}, nil},
			{"a role", func() error {
				_, err := w.p.Roles.Create(ctx, acme.Group.UID, fieldmask.JSONInput[*iam.Role]([]byte(`{"name":"reader","capabilities":["repo.list"]}`), nil))
				return err
			}, []string{scopeOf(acme.Group.UID)}},
			{"an identity", func() error {
				_, err := w.p.Identities.Create(ctx, acme.Group.UID, fieldmask.JSONInput[*iam.Identity](fmt.Appendf(nil, `{"name":"ann","claimMatch":{"issuer":%q,"subject":"ann"}}`, issuer), nil))
				return err
			}, []string{scopeOf(acme.Group.UID), "issuer:" + issuer}},
			{"a binding", func() error {
				_, err := w.p.RoleBindings.Create(ctx, acme.Group.UID, fieldmask.JSONInput[*iam.RoleBinding](fmt.Appendf(nil, `{"identityUid":%q,"roleUid":%q}`, acme.Identity.UID, iam.ViewerRole), nil))
				return err
			}, []string{scopeOf(acme.Group.UID)}},
		} {
			before := w.versions()
			if err := c.change(); err != nil {
				t.Fatal(c.name, err)
			}
			after := w.versions()
			for _, scope := range c.changes {
				if before[scope] == after[scope] {
					t.Errorf("%s: the version of %q is the same", c.name, scope)
				}
				delete(before, scope)
				delete(after, scope)
			}
			if !maps.Equal(before, after) {
				t.Errorf("%s: other versions are %v, want %v", c.name, after, before)
			}
		}
		if w.versions()[scopeOf(other.Group.UID)] == "" {
			t.Error("the other organization has no version")
		}
	})
}

// Every request compares versions, so it must not read those of all organizations. For a
// comparison with =, PostgreSQL would do so in a table of a few pages.
func TestVersionsAreFoundByTheIndex(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		w.createOrganization("acme")
		db := w.openDirect()
		db.SetMaxOpenConns(1) // settings and prepared statements belong to a connection
		w.exec(db, "INSERT INTO authority (scope, version) SELECT 'root:' || md5(i::text) || '00000000', md5(i::text) FROM generate_series(1, 200) i")
		w.exec(db, "ANALYZE authority")
		request := askAsOwner(t, w.replica(w.newSpy()), "acme")
		var compared string
		for range 3 { // From the third request on, only versions are compared.
			for _, s := range must[[]dbconn.Statement](t)(recordStatements(t.Context(), request)) {
				if strings.HasPrefix(s.SQL, "SELECT COALESCE((SELECT a.version FROM authority") {
					compared = s.SQL
				}
			}
		}
		w.exec(db, "SET plan_cache_mode = force_generic_plan")
		w.exec(db, "PREPARE compared AS "+compared)
		var plan strings.Builder
		for _, row := range w.query(db, "EXPLAIN EXECUTE compared("+strings.Repeat("'root:', ", strings.Count(compared, "$")-1)+"'root:')") {
			plan.WriteString(row[0] + "\n")
		}
		if text := plan.String(); strings.Contains(text, "Seq Scan") || !strings.Contains(text, "Index Scan using authority_pkey") {
			t.Errorf("the versions are read by this plan:\n%s", text)
		}
	})
}
