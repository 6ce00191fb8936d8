package storetest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

func TestALabelIsFoundWhileARowHasIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		repo := w.repo(ctx, org.Group.UID, "nginx")
		update := func(body string, mask ...string) {
			t.Helper()
			must[*inventory.Repo](t)(w.p.Repos.Update(ctx, repo, input[*inventory.Repo](body, mask...)))
		}
		expect := func(found string) {
			t.Helper()
			var got []string
			for _, condition := range []string{"env", "env=prod", "env=test", "team=red", "pci"} {
				page := must[core.Page[*inventory.Repo]](t)(w.p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{Filter: &inventory.RepoFilter{LabelFilter: core.LabelFilter{Labels: []core.LabelCondition{core.ParseLabelCondition(condition)}}}}))
				if len(page.Items) == 1 && page.TotalCount == 1 {
					got = append(got, condition)
				}
			}
			if strings.Join(got, " ") != found {
				t.Errorf("it is found by %q, want %q", got, found)
			}
		}
		expect("")
		update(`{"labels": {"env": "prod", "team": "red"}}`)
		expect("env env=prod team=red")
		update(`{"description": "d"}`)
		expect("env env=prod team=red")
		update(`{"labels": {"env": "test", "team": "blue"}}`, "labels.env")
		expect("env env=test team=red")
		update(`{"labels": {"pci": ""}}`)
		expect("pci")
		update(`{"labels": null}`)
		expect("")
		update(`{"labels": {"pci": ""}}`)
		if err := w.p.Repos.Delete(ctx, repo); err != nil {
			t.Fatal(err)
		}
		expect("")
	})
}

func TestMaskedUpdatesWriteNothingElse(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		repo := w.repo(ctx, org.Group.UID, "nginx")
		update := func(body string, mask ...string) *inventory.Repo {
			t.Helper()
			w.clockAhead.Add(1000)
			return must[*inventory.Repo](t)(w.p.Repos.Update(ctx, repo, input[*inventory.Repo](body, mask...)))
		}
		before := update(`{"description": "d", "bundles": ["a", "b"], "catalogTier": "CATALOG_TIER_BASE", "aliases": ["x"]}`)
		// The row changes without the store. An update that wrote back everything that it
		// had read would undo the change.
		w.exec(w.openDirect(), "UPDATE repo SET aliases = '[\"y\"]'")
		after := update(`{"description": "e", "name": "ignored"}`, "description")
		if after.Description != "e" || after.Name != "nginx" || !slices.Equal(after.Aliases, []string{"y"}) || !slices.Equal(after.Bundles, []string{"a", "b"}) {
			t.Errorf("got %+v, want Description 'e', Name 'nginx', Aliases %v and Bundles %v", after, []string{"y"}, []string{"a", "b"})
		}
		if after.CreateTime != before.CreateTime || !after.UpdateTime.After(before.UpdateTime.Time) {
			t.Errorf("times are %v and %v, want %v and something after %v", after.CreateTime, after.UpdateTime, before.CreateTime, before.UpdateTime)
		}
		if cleared := update(`{"bundles": null}`); cleared.Bundles != nil || cleared.Description != "e" {
			t.Errorf("null leaves %+v, want no Bundles and Description 'e'", cleared)
		}
		if read := must[*inventory.Repo](t)(w.p.Repos.Get(ctx, repo)); read.Description != "e" || read.CatalogTier != core.CatalogTierBase {
			t.Errorf("read back %+v, want Description 'e' and CatalogTier %v", read, core.CatalogTierBase)
		}
	})
}

func TestUniqueKeysNameTheResourceThatHasThem(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		root := org.Group.UID
		group := w.group(ctx, root, "a")
		repo := w.repo(ctx, group, "nginx")
		otherRepo := w.repo(ctx, group, "redis")
		role := must[*iam.Role](t)(w.p.Roles.Create(ctx, root, input[*iam.Role](`{"name": "r", "capabilities": ["repo.list"]}`))).UID
		sub := must[*webhooks.Subscription](t)(w.p.Subscriptions.Create(ctx, root, input[*webhooks.Subscription](`{"sink": "https://example.com/"}`))).UID
		binding := w.bind(ctx, group, org.Identity.UID, role)

		_, err := w.p.Groups.Create(ctx, root, input[*iam.Group](`{"name": "a"}`))
		expectError(t, err, core.CodeAlreadyExists, string(group))
		_, err = w.p.Repos.Create(ctx, group, input[*inventory.Repo](`{"name": "nginx"}`))
		expectError(t, err, core.CodeAlreadyExists, string(repo))
		_, err = w.p.Repos.Update(ctx, otherRepo, input[*inventory.Repo](`{"name": "nginx"}`))
		expectError(t, err, core.CodeAlreadyExists, string(repo))
		_, err = w.p.Roles.Create(ctx, root, input[*iam.Role](`{"name": "r"}`))
		expectError(t, err, core.CodeAlreadyExists, string(role))
		_, err = w.p.Subscriptions.Create(ctx, root, input[*webhooks.Subscription](`{"sink": "https://example.com/"}`))
		expectError(t, err, core.CodeAlreadyExists, string(sub))
		_, err = w.p.RoleBindings.Create(ctx, group, bindInput(org.Identity.UID, role))
		expectError(t, err, core.CodeAlreadyExists, string(binding))
		_, err = w.p.Groups.Bootstrap(w.operator(), "acme", issuer, "someone else")
		expectError(t, err, core.CodeAlreadyExists, string(root))

		w.repo(ctx, root, "nginx") // The same name is allowed in another parent.
		w.group(ctx, group, "a")
		w.identity(ctx, root, "twin")
		w.identity(ctx, root, "twin") // Identities have no unique key.
	})
}

func TestNeededRowsAreNotDeletedAndDeletedRowsCannotBeReferenced(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		root := org.Group.UID
		group, gone := w.group(ctx, root, "a"), w.group(ctx, root, "gone")
		repo, goneRepo := w.repo(ctx, group, "nginx"), w.repo(ctx, group, "gone")
		must[*inventory.Tag](t)(w.p.Tags.Create(ctx, repo, tagInput("latest", digests[0])))
		role := must[*iam.Role](t)(w.p.Roles.Create(ctx, root, input[*iam.Role](`{"name": "r"}`))).UID
		goneRole := must[*iam.Role](t)(w.p.Roles.Create(ctx, root, input[*iam.Role](`{"name": "gone"}`))).UID
		who, goneWho := w.identity(ctx, root, "who"), w.identity(ctx, root, "gone")
		w.bind(ctx, root, who, role)

		expectError(t, w.p.Groups.Delete(ctx, group), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
		expectError(t, w.p.Groups.Delete(ctx, root), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
		expectError(t, w.p.Repos.Delete(ctx, repo), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
		expectError(t, w.p.Roles.Delete(ctx, role), core.CodeFailedPrecondition, "RESOURCE_IN_USE")
		expectError(t, w.p.Identities.Delete(ctx, who), core.CodeFailedPrecondition, "RESOURCE_IN_USE")

		for _, err := range []error{w.p.Groups.Delete(ctx, gone), w.p.Repos.Delete(ctx, goneRepo), w.p.Roles.Delete(ctx, goneRole), w.p.Identities.Delete(ctx, goneWho)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		expectError(t, w.p.Groups.Delete(ctx, gone), core.CodeNotFound, string(gone))
		_, err := w.p.Repos.Create(ctx, gone, input[*inventory.Repo](`{"name": "r"}`))
		expectError(t, err, core.CodeNotFound, string(gone))
		_, err = w.p.Groups.Create(ctx, gone, input[*iam.Group](`{"name": "r"}`))
		expectError(t, err, core.CodeNotFound, string(gone))
		_, err = w.p.Tags.Create(ctx, goneRepo, tagInput("latest", digests[0]))
		expectError(t, err, core.CodeNotFound, string(goneRepo))
		_, err = w.p.RoleBindings.Create(ctx, root, bindInput(goneWho, role))
		expectError(t, err, core.CodeNotFound, string(goneWho))
		_, err = w.p.RoleBindings.Create(ctx, root, bindInput(who, goneRole))
		expectError(t, err, core.CodeNotFound, string(goneRole))
		_, err = w.p.RoleBindings.Create(ctx, gone, bindInput(who, role))
		expectError(t, err, core.CodeNotFound, string(gone))
		_, err = w.p.Groups.Update(ctx, gone, input[*iam.Group](`{"name": "r"}`))
		expectError(t, err, core.CodeNotFound, string(gone))
		_, err = w.p.Repos.UpdateReadme(ctx, goneRepo, input[*inventory.Readme](`{"content": "r"}`))
		expectError(t, err, core.CodeNotFound, string(goneRepo))
	})
}

func TestAnOrganizationIsDeletedWithItsLastOwner(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		if err := w.p.Groups.Delete(ctx, org.Group.UID); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"grp", "identity", "role_binding", "counter WHERE n <> 0 OR nc <> 0"} {
			if n := w.query(w.openDirect(), "SELECT COUNT(*) FROM "+table)[0][0]; n != "0" {
				t.Errorf("%s rows are left in %s", n, table)
			}
		}
	})
}

func TestEachChangeIsRecordedWithItsEventAndNothingElseIs(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		root := org.Group.UID
		group := w.group(ctx, root, "a")
		repo := w.repo(ctx, group, "nginx")
		tag := must[*inventory.Tag](t)(w.p.Tags.Create(ctx, repo, tagInput("latest", digests[0]))).UID
		must[*inventory.Tag](t)(w.p.Tags.Create(ctx, repo, tagInput("latest", digests[1])))
		must[*inventory.Readme](t)(w.p.Repos.UpdateReadme(ctx, repo, input[*inventory.Readme](`{"content": "# nginx"}`)))
		must[*iam.Group](t)(w.p.Groups.Update(ctx, group, input[*iam.Group](`{"description": "d"}`)))

		// None of these calls changes anything.
		_, err := w.p.Repos.Create(ctx, group, input[*inventory.Repo](`{"name": "nginx"}`))
		expectError(t, err, core.CodeAlreadyExists, string(repo))
		expectError(t, w.p.Groups.Delete(ctx, group), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
		expectError(t, w.p.RoleBindings.Delete(ctx, org.Binding.UID), core.CodeFailedPrecondition, "LAST_OWNER")
		missing := newDice(1).below(root)
		expectError(t, w.p.Repos.Delete(ctx, missing), core.CodeNotFound, string(missing))
		undone := errors.New("undone")
		if err := w.store.Write(ctx, func(tx core.Tx) error {
			tx.Record(&core.Event{ID: "never", Body: []byte("{}")})
			return errors.Join(storetest.Tables.Inventory.SetReadme(ctx, tx, repo, "never"), undone)
		}); !errors.Is(err, undone) {
			t.Fatalf("got %v, want the unit's own error", err)
		}

		if err := w.p.Tags.Delete(ctx, tag); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"iam.group.created " + string(root), "iam.identity.created " + string(org.Identity.UID), "iam.rolebindings.created " + string(org.Binding.UID),
			"iam.group.created " + string(group), "platform.registry.repo.created " + string(repo),
			"platform.registry.tag.created " + string(tag), "platform.registry.tag.created " + string(tag),
			"platform.registry.repo.updated " + string(repo), "iam.group.updated " + string(group), "platform.registry.tag.deleted " + string(tag),
		}
		var got []string
		for _, e := range w.recordedTypes() {
			got = append(got, strings.NewReplacer("dev.atrium.api.", "", ".v1", "").Replace(e))
		}
		if !slices.Equal(got, want) {
			t.Errorf("recorded\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if readme := must[*inventory.Readme](t)(w.p.Repos.Readme(ctx, repo)); readme.Content != "# nginx" {
			t.Errorf("the readme is %q, want # nginx", readme.Content)
		}
	})
}

// The second run of an import stores the same as the first: the sources of the tags, which pruning
// needs, and with NamesOnly the deprecations of known tags only.
func TestAnImportThatIsRepeatedStoresTheSame(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		owner, org := w.createOrganization("acme")
		repo := w.repo(owner, org.Group.UID, "app")
		p := w.replica(storetest.RepeatingStore{Store: w.store})
		const source = "hub.example.com/team/app"
		importTag := func(digest string, deprecated bool, o core.ImportOptions) {
			t.Helper()
			tag := &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: "v1", Digest: digest, Deprecated: deprecated, Source: source}}
			must[core.Imported](t)(p.Registry.ImportTags(w.operator(), []*registry.ImportedTag{tag}, o))
		}
		importTag(digests[0], true, core.ImportOptions{})
		importTag(digests[1], false, core.ImportOptions{NamesOnly: true})
		tags := must[[]*inventory.Tag](t)(storetest.Tables.Registry.TagsOfSource(t.Context(), w.store, registry.RepoSource{Repo: repo, Source: source}))
		if len(tags) != 1 || tags[0].Digest != digests[1] || !tags[0].Deprecated {
			t.Errorf("the tags of the source are %+v", tags)
		}
		w.checkCounters(t, 0)
	})
}

// The last statement of a batch is about none of its resources in particular, so its error names none.
func TestABatchWhoseLastStatementFailsDeletesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		repo := w.repo(ctx, org.Group.UID, "nginx")
		var tags []core.UID
		for n := range 2 {
			tags = append(tags, must[*inventory.Tag](t)(w.p.Tags.Create(ctx, repo, inputOfTag(n))).UID)
		}
		db := w.openDirect()
		w.exec(db, "INSERT INTO counter (scope, kind, slot, n, nc) VALUES ('"+string(tags[1])+"', 99, 0, 0, 0)")
		trigger, drop := "CREATE TRIGGER prevent BEFORE DELETE ON counter BEGIN SELECT RAISE(ABORT, 'prevented'); END", "DROP TRIGGER prevent"
		if !w.onSQLite() {
			w.exec(db, "CREATE FUNCTION prevent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'prevented'; END $$")
			trigger, drop = "CREATE TRIGGER prevent BEFORE DELETE ON counter FOR EACH ROW EXECUTE FUNCTION prevent()", "DROP TRIGGER prevent ON counter"
		}
		w.exec(db, trigger)
		before := len(w.recordedTypes())
		err := w.p.Tags.DeleteBatch(ctx, tags)
		if e := core.AsError(err); e.Code != core.CodeInternal || strings.Contains(e.Message, "uids[") {
			t.Errorf("the batch ends with %v, want INTERNAL without the index of a tag", err)
		}
		list := core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo}, Parts: core.PartTotal}
		if page := must[core.Page[*inventory.Tag]](t)(w.p.Tags.List(ctx, list)); page.TotalCount != 2 || len(w.recordedTypes()) != before {
			t.Errorf("%d tags are left, with %d new events, want 2 and none", page.TotalCount, len(w.recordedTypes())-before)
		}
		w.exec(db, drop)
		if err := w.p.Tags.DeleteBatch(ctx, tags); err != nil {
			t.Errorf("without the fault, the batch ends with %v", err)
		}
		w.checkCounters(t, 0)
	})
}

// Nothing is wrong with any request of a batch if the server has no room when it commits.
func TestAnErrorOfTheCommitNamesNoRequest(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.onSQLite() {
			t.Skip("it has no triggers that run at the end")
		}
		ctx, org := w.createOrganization("acme")
		var requests []core.BatchRequest[*inventory.Repo]
		for _, repo := range w.repos(org.Group.UID, 2) {
			requests = append(requests, core.BatchRequest[*inventory.Repo]{UID: repo.UID, Input: input[*inventory.Repo](`{"description": "d"}`)})
		}
		db := w.openDirect()
		w.exec(db, "CREATE FUNCTION be_late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION SQLSTATE '53100'; END $$")
		w.exec(db, "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION be_late()")
		_, err := w.p.Repos.UpdateBatch(ctx, requests)
		if e := core.AsError(err); e.Code != core.CodeUnavailable || strings.Contains(e.Message, "requests[") || e.Metadata["request"] != "" {
			t.Errorf("the batch ends with %v and %v, want UNAVAILABLE without a request", err, e.Metadata)
		}
	})
}

func TestAnUpdateChangesWhatSearchesFind(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		repo := must[*inventory.Repo](t)(w.p.Repos.Create(ctx, org.Group.UID, input[*inventory.Repo](`{"name": "nginx", "description": "first", "aliases": ["web"]}`))).UID
		for _, change := range []struct{ body, found, gone string }{
			{`{"description": "second Place"}`, "nginx place web", "first"},
			{`{"aliases": ["proxy", "balancer"]}`, "nginx second proxy balancer", "web"},
			{`{"name": "caddy", "catalogTier": "CATALOG_TIER_AI"}`, "caddy second proxy", "nginx"},
			{`{"catalogTier": "CATALOG_TIER_BASE"}`, "caddy second balancer", "web"},
		} {
			must[*inventory.Repo](t)(w.p.Repos.Update(ctx, repo, input[*inventory.Repo](change.body)))
			for query, want := range map[string]int{change.found: 1, change.gone: 0} {
				page := must[core.Page[*inventory.Repo]](t)(w.p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{ChildrenOf: org.Group.UID}, Filter: &inventory.RepoFilter{Query: query}}))
				if len(page.Items) != want {
					t.Errorf("after %s, %q finds %d repos, want %d", change.body, query, len(page.Items), want)
				}
			}
		}
	})
}
