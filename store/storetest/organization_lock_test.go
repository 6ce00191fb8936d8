package storetest_test

import (
	"context"
	"fmt"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// A change of one organization is stopped after its last statement and before its commit, so that it has every lock it
// ever takes. Meanwhile every change of another organization must succeed. SQLite has one writer, so this is about PostgreSQL.
func TestChangesOfOneOrganizationWaitForNoneOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.PostgresOrPooled(t)) // What is held waits longer than a program would.
	one, other := w.newTenant("acme"), w.newTenant("globex")
	db := w.openDirect()
	w.exec(db, `CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$`)
	w.exec(db, fmt.Sprintf(`CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.root = '%s') EXECUTE FUNCTION hold()`, one.root))
	holder, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hold := func(statement string) {
		t.Helper()
		if _, err := holder.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, held := range tenantChanges {
		hold("SELECT pg_advisory_lock(4711)")
		ended := make(chan error, 1)
		go func() { ended <- held.act(w, one) }()
		for waiting := "0"; waiting == "0"; {
			select {
			case err := <-ended:
				t.Fatalf("%s has not been held: %v", held.name, err)
			default:
				waiting = w.query(db, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted")[0][0]
			}
		}
		for _, c := range tenantChanges {
			if err := c.act(w, other); err != nil {
				t.Errorf("%s during %s of another organization: %v", c.name, held.name, err)
			}
		}
		hold("SELECT pg_advisory_unlock(4711)")
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", held.name, err)
		}
	}
}

// A tenant is an organization with what tenantChanges change.
type tenant struct {
	ctx        context.Context
	root, repo core.UID
	who        core.UID
	made       int
}

func (w *world) newTenant(name string) *tenant {
	w.t.Helper()
	ctx, org := w.createOrganization(name)
	return &tenant{ctx: ctx, root: org.Group.UID, repo: w.repo(ctx, org.Group.UID, "first"), who: w.identity(ctx, org.Group.UID, "who")}
}

// name returns a new name.
func (o *tenant) name() string {
	o.made++
	return fmt.Sprint("n", o.made)
}

var tenantChanges = []struct {
	name string
	act  func(w *world, o *tenant) error
}{
	{"a new repo", func(w *world, o *tenant) error {
		_, err := w.p.Repos.Create(o.ctx, o.root, input[*inventory.Repo](fmt.Sprintf(`{"name": %q}`, o.name())))
		return err
	}},
	{"a change of a repo", func(w *world, o *tenant) error {
		_, err := w.p.Repos.Update(o.ctx, o.repo, input[*inventory.Repo](fmt.Sprintf(`{"description": %q}`, o.name())))
		return err
	}},
	{"100 new tags and their end", func(w *world, o *tenant) error {
		made, err := w.p.Tags.CreateBatch(o.ctx, times(100, func(i int) core.BatchRequest[*inventory.Tag] {
			return core.BatchRequest[*inventory.Tag]{UID: o.repo, Input: tagInput(o.name(), digests[0])}
		}))
		if err != nil {
			return err
		}
		return w.p.Tags.DeleteBatch(o.ctx, times(len(made), func(i int) core.UID { return made[i].UID }))
	}},
	{"a new group and its end", func(w *world, o *tenant) error {
		made, err := w.p.Groups.Create(o.ctx, o.root, input[*iam.Group](fmt.Sprintf(`{"name": %q}`, o.name())))
		if err != nil {
			return err
		}
		return w.p.Groups.Delete(o.ctx, made.UID)
	}},
	{"a new binding and its end", func(w *world, o *tenant) error {
		made, err := w.p.RoleBindings.Create(o.ctx, o.root, bindInput(o.who, iam.ViewerRole))
		if err != nil {
			return err
		}
		return w.p.RoleBindings.Delete(o.ctx, made.UID)
	}},
	{"an import of tags", func(w *world, o *tenant) error {
		_, err := w.p.Registry.ImportTags(w.operator(), []*registry.ImportedTag{{Repo: o.repo, Tag: inventory.Tag{Name: o.name(), Digest: digests[0]}}}, core.ImportOptions{})
		return err
	}},
}
