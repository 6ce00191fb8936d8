package storetest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// A model is the expected state of an organization after the operations that were run,
// computed in the simplest way.
type model struct {
	*world
	d    dice
	ctx  context.Context
	root core.UID

	groups map[core.UID]string // The keys are uids, and the values are names.
	repos  map[core.UID]string
	tags   map[core.UID][2]string // The values are name and digest.
	people map[core.UID]string
	bound  map[core.UID][2]core.UID // The values are identity and role.
}

func TestRandomOperationsAgreeWithTheModel(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		for seed := range uint64(5) {
			w.checkModel(t, seed)
		}
	})
}

func (w *world) checkModel(t *testing.T, seed uint64) {
	ctx, org := w.createOrganization(fmt.Sprint("acme ", seed))
	m := &model{
		world: w, d: newDice(seed), ctx: ctx, root: org.Group.UID,
		groups: map[core.UID]string{org.Group.UID: org.Group.Name}, repos: map[core.UID]string{}, tags: map[core.UID][2]string{},
		people: map[core.UID]string{org.Identity.UID: "owner"}, bound: map[core.UID][2]core.UID{org.Binding.UID: {org.Identity.UID, iam.OwnerRole}},
	}
	acts := []func() string{m.makeGroup, m.makeGroup, m.makeRepo, m.makeRepo, m.makeTag, m.makeTag, m.makeTag, m.makePerson, m.makeBinding, m.makeBinding, m.rename, m.rename, m.deleteRandom, m.deleteRandom}
	var done []string
	for n := range 250 {
		done = append(done, pick(m.d, acts)())
		if n%15 == 14 || t.Failed() {
			m.compare(t)
		}
		if t.Failed() {
			t.Fatalf("seed %d, after %q", seed, done)
		}
	}
	w.checkCounters(t, 0)
}

// random returns a key of a map. Equal dice return the same key.
func random[V any](d dice, from map[core.UID]V) core.UID {
	if len(from) == 0 {
		return d.root()
	}
	return pick(d, sortedUIDs(from))
}

func sortedUIDs[V any](rows map[core.UID]V) []core.UID {
	uids := make([]core.UID, 0, len(rows))
	for uid := range rows {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	return uids
}

// hasName reports whether a sibling has the name.
func hasName(rows map[core.UID]string, parent core.UID, name string) bool {
	for uid, n := range rows {
		if uid.Parent() == parent && n == name {
			return true
		}
	}
	return false
}

// expect compares the result of an operation with the expected code.
func (m *model) expect(what string, err error, code core.Code) string {
	m.t.Helper()
	if code == 0 && err != nil || code != 0 && (err == nil || core.AsError(err).Code != code) {
		m.t.Errorf("%s: got %v, want %v", what, err, code)
	}
	return what
}

func (m *model) makeGroup() string {
	parent, name := random(m.d, m.groups), pick(m.d, words)
	if parent.Depth() > 6 {
		parent = m.root
	}
	made, err := m.p.Groups.Create(m.ctx, parent, input[*iam.Group](fmt.Sprintf(`{"name": %q}`, name)))
	if hasName(m.groups, parent, name) {
		return m.expect("group again", err, core.CodeAlreadyExists)
	}
	if err == nil {
		m.groups[made.UID] = name
	}
	return m.expect("group "+name, err, 0)
}

func (m *model) makeRepo() string {
	parent, name := random(m.d, m.groups), pick(m.d, repoNames)
	made, err := m.p.Repos.Create(m.ctx, parent, input[*inventory.Repo](fmt.Sprintf(`{"name": %q}`, name)))
	if hasName(m.repos, parent, name) {
		return m.expect("repo again", err, core.CodeAlreadyExists)
	}
	if err == nil {
		m.repos[made.UID] = name
	}
	return m.expect("repo "+name, err, 0)
}

func (m *model) makeTag() string {
	if len(m.repos) == 0 {
		return "no repo for a tag"
	}
	repo, name, digest := random(m.d, m.repos), pick(m.d, tagNames), pick(m.d, digests)
	made, err := m.p.Tags.Create(m.ctx, repo, tagInput(name, digest))
	if err == nil {
		for uid, tag := range m.tags {
			if uid.Parent() == repo && tag[0] == name && uid != made.UID {
				m.t.Errorf("tag %s was not moved but made anew", name)
			}
		}
		m.tags[made.UID] = [2]string{name, digest}
	}
	return m.expect("tag "+name, err, 0)
}

func (m *model) makePerson() string {
	uid := m.identity(m.ctx, random(m.d, m.groups), m.d.hex(4))
	m.people[uid] = "someone"
	return "identity"
}

func (m *model) makeBinding() string {
	group, person, role := random(m.d, m.groups), random(m.d, m.people), pick(m.d, []core.UID{iam.ViewerRole, iam.EditorRole})
	made, err := m.p.RoleBindings.Create(m.ctx, group, bindInput(person, role))
	if !group.Within(person.Parent()) {
		return m.expect("binding outside", err, core.CodeInvalidArgument)
	}
	for uid, b := range m.bound {
		if uid.Parent() == group && b == [2]core.UID{person, role} {
			return m.expect("binding again", err, core.CodeAlreadyExists)
		}
	}
	if err == nil {
		m.bound[made.UID] = [2]core.UID{person, role}
	}
	return m.expect("binding", err, 0)
}

func (m *model) rename() string {
	if uid := random(m.d, m.groups); m.d.IntN(2) == 0 && uid != m.root {
		name := pick(m.d, words)
		_, err := m.p.Groups.Update(m.ctx, uid, input[*iam.Group](fmt.Sprintf(`{"name": %q}`, name)))
		return m.expectRename(m.groups, uid, name, err)
	}
	uid, name := random(m.d, m.repos), pick(m.d, repoNames)
	if m.repos[uid] == "" {
		return "no repo to rename"
	}
	_, err := m.p.Repos.Update(m.ctx, uid, input[*inventory.Repo](fmt.Sprintf(`{"name": %q}`, name), "name"))
	return m.expectRename(m.repos, uid, name, err)
}

func (m *model) expectRename(rows map[core.UID]string, uid core.UID, name string, err error) string {
	if rows[uid] != name && hasName(rows, uid.Parent(), name) {
		return m.expect("rename to another's "+name, err, core.CodeAlreadyExists)
	}
	rows[uid] = name
	return m.expect("rename to "+name, err, 0)
}

// deleteRandom deletes something, which others may need.
func (m *model) deleteRandom() string {
	switch m.d.IntN(4) {
	case 0:
		uid := random(m.d, m.groups)
		if uid == m.root {
			return "not the root"
		}
		return expectDeletion(m, m.groups, uid, m.p.Groups.Delete(m.ctx, uid), m.hasChildren(uid))
	case 1:
		uid := random(m.d, m.repos)
		if uid.IsRoot() {
			return "no repo"
		}
		return expectDeletion(m, m.repos, uid, m.p.Repos.Delete(m.ctx, uid), m.hasChildren(uid))
	case 2:
		uid := random(m.d, m.tags)
		if uid.IsRoot() {
			return "no tag"
		}
		return expectDeletion(m, m.tags, uid, m.p.Tags.Delete(m.ctx, uid), false)
	default:
		uid := random(m.d, m.people)
		needed := false
		for _, b := range m.bound {
			needed = needed || b[0] == uid
		}
		return expectDeletion(m, m.people, uid, m.p.Identities.Delete(m.ctx, uid), needed)
	}
}

func expectDeletion[V any](m *model, rows map[core.UID]V, uid core.UID, err error, needed bool) string {
	if needed {
		return m.expect("drop what is needed", err, core.CodeFailedPrecondition)
	}
	delete(rows, uid)
	return m.expect("drop "+string(uid), err, 0)
}

// hasChildren reports whether anything is in uid.
func (m *model) hasChildren(uid core.UID) bool {
	for _, child := range slices.Concat(sortedUIDs(m.groups), sortedUIDs(m.repos), sortedUIDs(m.tags), sortedUIDs(m.people), sortedUIDs(m.bound)) {
		if child.Parent() == uid {
			return true
		}
	}
	return false
}

// compare checks every kind, in the organization and below a random group.
func (m *model) compare(t *testing.T) {
	t.Helper()
	for _, scope := range []core.UID{m.root, random(m.d, m.groups)} {
		expectList(t, m, scope, m.p.Groups.List, m.groups, func(g *iam.Group) (core.UID, string) { return g.UID, g.Name })
		expectList(t, m, scope, m.p.Repos.List, m.repos, func(r *inventory.Repo) (core.UID, string) { return r.UID, r.Name })
		expectList(t, m, scope, m.p.Tags.List, m.tags, func(g *inventory.Tag) (core.UID, [2]string) { return g.UID, [2]string{g.Name, g.Digest} })
		expectList(t, m, scope, m.p.Identities.List, m.people, func(i *iam.Identity) (core.UID, string) { return i.UID, i.Name })
		expectList(t, m, scope, m.p.RoleBindings.List, m.bound, func(b *iam.RoleBinding) (core.UID, [2]core.UID) {
			return b.UID, [2]core.UID{b.Identity.UID, b.Role.UID}
		})
	}
}

func expectList[T, F any, V comparable](t *testing.T, m *model, scope core.UID, list func(context.Context, core.ListRequest[F]) (core.Page[T], error), want map[core.UID]V, keyOf func(T) (core.UID, V)) {
	t.Helper()
	left := map[core.UID]V{}
	for uid, v := range want {
		if uid.Below(scope) {
			left[uid] = v
		}
	}
	total := int64(len(left))
	for req := (core.ListRequest[F]{UIDP: core.UIDFilter{DescendantsOf: scope}, PageSize: 7}); ; {
		page, err := list(m.ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Items {
			uid, got := keyOf(row)
			if v, there := left[uid]; !there || v != got {
				t.Errorf("below %s is %v with %v, want %v (%v)", scope, uid, got, v, there)
			}
			delete(left, uid)
		}
		if page.TotalCount != total {
			t.Errorf("the total below %s is %d, want %d", scope, page.TotalCount, total)
		}
		if req.PageToken = page.NextPageToken(); req.PageToken == "" {
			break
		}
	}
	if len(left) > 0 {
		t.Errorf("below %s are missing %v", scope, left)
	}
}
