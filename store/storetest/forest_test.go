package storetest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// A forest is two organizations with random resources of all kinds. Many have equal names
// and times. The rows are also kept here, and lists are compared with them.
type forest struct {
	*world
	d       dice
	root    core.UID // This is the first organization, which is deep and wide.
	other   core.UID // This is the second organization.
	callers []*caller
	builtIn []*iam.Role

	groups          []*iam.Group
	identities      []*iam.Identity
	roles           []*iam.Role
	bindings        []*iam.RoleBinding
	repos           []*inventory.Repo
	tags            []*inventory.Tag
	advisories      []*inventory.Advisory
	subscriptions   []*webhooks.Subscription
	vulnerabilities []*inventory.Vulnerability
	signIns
}

// A caller is an identity with a role in some groups.
type caller struct {
	subject string
	role    core.UID
	sees    []core.UID // The caller sees these groups with everything below them.
}

// There are few moments, so that many rows have the same one.
var moments = []time.Duration{0, time.Second, time.Second + time.Millisecond, time.Hour, 48 * time.Hour}

func (f *forest) randomTime() core.Time { return core.At(epoch.Add(pick(f.d, moments))) }

// The order of these names differs in bytes and in a dictionary.
var (
	tagNames  = []string{"A", "a", "B", "b", "_x", "Z", "z", "a.b", "a-b", "a_b", "aB", "Ab", "10", "9", "1.0", "1-0", "v1", "V1", "latest", "9-r1", "x-20260327"}
	repoNames = []string{"a", "a-b", "a.b", "a_b", "a/b", "a0", "b", "ab", "a/b/c", "z9"}
	words     = []string{"a", "a b", "a-b", "a.b", "a_b", "b", "0", "z"}
)

func newForest(w *world) *forest {
	f := &forest{world: w, d: newDice(7)}
	f.readBuiltInRoles()
	f.root, f.other = f.createOrganization("first", 100), f.createOrganization("second", 6)
	for _, g := range f.groups {
		f.furnish(g.UID)
		f.addSignIns(g.UID)
	}
	f.vulnerabilities = times(12, func(i int) *inventory.Vulnerability {
		return &inventory.Vulnerability{ID: fmt.Sprintf("GO-%d", f.d.IntN(1e6)), Aliases: []string{fmt.Sprintf("CVE-%d", i), "CVE-SHARED"}, UpdateTime: f.randomTime()}
	})
	f.addTexts()
	f.createCallers()
	f.insertAll()
	f.completeBindings()
	return f
}

func times[T any](n int, one func(i int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = one(i)
	}
	return all
}

// readBuiltInRoles finds the built-in roles of a platform.
func (f *forest) readBuiltInRoles() {
	f.replica(roleRecorder{f.store, &f.builtIn})
	for i, r := range f.builtIn {
		held := *r
		f.builtIn[i] = &held
	}
}

type roleRecorder struct {
	platform.Store
	roles *[]*iam.Role
}

func (s roleRecorder) SyncBuiltInRoles(ctx context.Context, roles []*iam.Role) error {
	*s.roles = roles
	return s.Store.SyncBuiltInRoles(ctx, roles)
}

// createOrganization creates an organization of n groups, with up to seven levels.
func (f *forest) createOrganization(name string, n int) core.UID {
	root := &iam.Group{UID: f.d.root(), Name: name, CreateTime: f.randomTime(), UpdateTime: f.randomTime()}
	all := []*iam.Group{root}
	taken := map[string]bool{}
	for len(all) < n {
		parent := pick(f.d, all).UID
		if f.d.IntN(3) == 0 {
			parent = all[len(all)-1].UID // The next group is deeper.
		}
		g := &iam.Group{UID: f.d.below(parent), Name: fmt.Sprintf("%s%d", pick(f.d, words), f.d.IntN(3)), CreateTime: f.randomTime(), UpdateTime: f.randomTime()}
		if key := string(parent) + g.Name; parent.Depth() < 7 && !taken[key] {
			taken[key] = true
			all = append(all, g)
		}
	}
	for i, g := range all {
		g.Labels = someLabels[i%len(someLabels)]
	}
	f.groups = append(f.groups, all...)
	return root.UID
}

// furnish adds resources of every kind to a group.
func (f *forest) furnish(group core.UID) {
	some := func(most int) int { return f.d.IntN(most + 1) }
	f.identities = append(f.identities, times(some(3), func(int) *iam.Identity {
		i := &iam.Identity{UID: f.d.below(group), Name: pick(f.d, words), CreateTime: f.randomTime(), UpdateTime: f.randomTime()}
		switch f.d.IntN(3) {
		case 0:
			i.ClaimMatch, i.LastSeenTime = &iam.ClaimMatch{Issuer: "https://elsewhere.example.com", Subject: f.d.hex(4)}, f.randomTime()
		case 1:
			i.StaticKeys = &iam.StaticKeys{Issuer: "https://static.example.com", Subject: "s", IssuerKeys: "{}"}
		}
		return i
	})...)
	for _, name := range f.distinct(words, some(2)) {
		f.roles = append(f.roles, &iam.Role{UID: f.d.below(group), Name: name, CreateTime: f.randomTime(), UpdateTime: f.randomTime(), Capabilities: pick(f.d, [][]core.Capability{{core.CapRepoList}, {core.CapRepoList, core.CapTagList}, nil})})
	}
	for _, name := range f.distinct(repoNames, some(4)) {
		r := &inventory.Repo{UID: f.d.below(group), Name: name, CreateTime: f.randomTime(), UpdateTime: f.randomTime(), Labels: someLabels[len(f.repos)%len(someLabels)]}
		f.repos = append(f.repos, r)
		for _, tag := range f.distinct(tagNames, some(5)) {
			f.tags = append(f.tags, f.tag(r.UID, tag))
		}
	}
	for i := range some(3) {
		f.advisories = append(f.advisories, f.advisory(group, i))
	}
	for i := range some(2) {
		f.subscriptions = append(f.subscriptions, &webhooks.Subscription{UID: f.d.below(group), Sink: fmt.Sprintf("https://sink.example.com/%d", i), EncryptedSecret: []byte("x"), CreateTime: f.randomTime(), UpdateTime: f.randomTime()})
	}
}

// distinct returns n different names.
func (f *forest) distinct(names []string, n int) []string {
	shuffled := slices.Clone(names)
	f.d.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return shuffled[:n]
}

var digests = []string{"sha256:" + zeros, "sha256:" + zeros[1:] + "1", "sha256:" + zeros[1:] + "f"}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

func (f *forest) tag(repo core.UID, name string) *inventory.Tag {
	class := map[string]inventory.TagClass{"9-r1": inventory.TagClassEpoch, "x-20260327": inventory.TagClassDate}[name]
	return &inventory.Tag{UID: f.d.below(repo), Name: name, Digest: pick(f.d, digests), Deprecated: f.d.IntN(3) == 0, Class: class, CreateTime: f.randomTime(), UpdateTime: f.randomTime()}
}

func (f *forest) advisory(group core.UID, i int) *inventory.Advisory {
	events := [][]inventory.AdvisoryEvent{
		nil,
		{{Fixed: &inventory.Fixed{FixedVersion: "1"}, Author: "ann"}},
		{{Detection: &inventory.Detection{}, Author: "bob", Reviewer: "100%"}, {Fixed: &inventory.Fixed{}, Author: "a_n", ReviewState: inventory.ReviewStateApproved}},
		{{Fixed: &inventory.Fixed{}, Author: "ann"}, {Patched: &inventory.Patched{}, Author: "ann", ReviewState: inventory.ReviewStatePending}},
		{{FalsePositiveDetermination: &inventory.FalsePositiveDetermination{}, Author: "ann"}},
	}
	return standAlone(&inventory.Advisory{
		UID: f.d.below(group), AdvisoryID: fmt.Sprintf("GO-%d", i), ArtifactName: pick(f.d, repoNames), ComponentName: pick(f.d, []string{"", "Lib_1", "lib%1"}),
		ArtifactType: pick(f.d, []string{"", "go"}), Aliases: []string{fmt.Sprintf("CVE-%d", f.d.IntN(5))}, Origin: pick(f.d, []string{"osv", "other"}),
		Events: pick(f.d, events), CreateTime: f.randomTime(), UpdateTime: f.randomTime(), Severities: pick(f.d, severities), DeleteTime: pick(f.d, []core.Time{{}, {}, {}, f.randomTime()}),
	})
}

// severities has severities of each rating.
var severities = [][]inventory.Severity{
	nil,
	{{Type: "TYPE_CVSS_V3", Score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}},
	{{Type: "TYPE_CVSS_V3", Score: "CVSS:3.0/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H"}, {Type: "TYPE_CVSS_V2", Score: "AV:N/AC:L/Au:N/C:C/I:C/A:C"}},
	{{Type: "TYPE_CVSS_V2", Score: "AV:N/AC:L/Au:N/C:C/I:C/A:C"}},
	{{Type: "TYPE_CVSS_V4", Score: "6.5"}},
	{{Type: "TYPE_CVSS_V3", Score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N"}},
	{{Type: "TYPE_UNSPECIFIED", Score: "Low"}},
	{{Type: "TYPE_UNSPECIFIED", Score: "High"}},
}

// insertAll stores all rows.
func (f *forest) insertAll() {
	ctx := f.t.Context()
	f.insert(func(tx core.Tx) error {
		for _, insert := range []func() error{
			func() error { return storetest.Tables.IAM.Groups.Insert(ctx, tx, f.groups...) },
			func() error { return storetest.Tables.IAM.Identities.Insert(ctx, tx, f.identities...) },
			func() error { return storetest.Tables.IAM.Roles.Insert(ctx, tx, f.roles...) },
			func() error { return storetest.Tables.IAM.RoleBindings.Insert(ctx, tx, f.bindings...) },
			func() error { return storetest.Tables.Inventory.Repos.Insert(ctx, tx, f.repos...) },
			func() error { return storetest.Tables.Inventory.Tags.Insert(ctx, tx, f.tags...) },
			func() error { return storetest.Tables.Inventory.Advisories.Insert(ctx, tx, f.advisories...) },
			func() error { return storetest.Tables.Webhooks.Subscriptions.Insert(ctx, tx, f.subscriptions...) },
			func() error { return storetest.Tables.Inventory.Vulnerabilities.Insert(ctx, tx, f.vulnerabilities...) },
			func() error { return f.insertSignIns(tx) },
		} {
			if err := insert(); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachForest runs test on every engine with a forest.
func eachForest(t *testing.T, test func(t *testing.T, f *forest)) {
	t.Helper()
	onEachEngine(t, func(t *testing.T, w *world) { test(t, newForest(w)) })
}
