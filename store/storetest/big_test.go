package storetest_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"atrium/platform"
)

// A bigWorld holds what a large service holds: one organisation with most of
// it, very unevenly spread, and many small ones.
type bigWorld struct {
	*world
	d    dice
	root platform.UID
	deep []platform.UID // by level, from 0 for the root: the biggest group of that level, each in the one before

	groups     []platform.UID // all of the organisation
	level2     []platform.UID
	level3     []platform.UID // in deep[1]
	identities []platform.UID
	role       platform.UID // a custom one that most bindings are of
	busyRepo   platform.UID // with most tags
	repos      []platform.UID
	repoNames  []string
	digests    []platform.ImageKey
}

// The sizes of a bigWorld.
type sizes struct{ repos, tags, identities, bindings, advisories, organisations int }

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// when is one of many moments, in no order.
func (b *bigWorld) when() platform.Time {
	return platform.At(epoch.Add(time.Duration(b.d.IntN(1e9)) * time.Millisecond))
}

func newBigWorld(w *world, n sizes) *bigWorld {
	b := &bigWorld{world: w, d: newDice(1)}
	b.withoutIndexes(func() {
		b.plant()
		b.people(n)
		b.fill(n)
		b.others(n.organisations)
	})
	b.analyse()
	return b
}

func (b *bigWorld) group(parent platform.UID, name string) platform.UID {
	g := &platform.Group{UID: b.d.root(), Name: name, CreateTime: b.when(), UpdateTime: b.when()}
	if parent != "" {
		g.UID = b.d.below(parent)
	}
	b.groups = append(b.groups, g.UID)
	b.insert(func(tx platform.Tx) error { return tx.GroupRows().Insert(b.t.Context(), g) })
	return g.UID
}

// plant makes the groups: six levels, of which each has one that is big.
func (b *bigWorld) plant() {
	b.root = b.group("", "big")
	b.deep = []platform.UID{b.root}
	for level, width := range []int{40, 40, 20, 8, 3} {
		parent := b.deep[level]
		for i := range width {
			g := b.group(parent, fmt.Sprintf("group %d", i))
			switch {
			case i == 0:
				b.deep = append(b.deep, g)
			case level == 0:
				b.level2 = append(b.level2, g)
			case level == 1:
				b.level3 = append(b.level3, g)
			}
		}
	}
}

// chunks inserts n rows, many in one transaction.
func chunks[T any](b *bigWorld, n int, rows func(platform.Tx) platform.Rower[T], make func(i int) *T) {
	all := make2(n, make)
	for some := range slices.Chunk(all, 10_000) {
		b.insert(func(tx platform.Tx) error { return rows(tx).Insert(b.t.Context(), some...) })
	}
}

func make2[T any](n int, one func(i int) *T) []*T {
	all := make([]*T, n)
	for i := range all {
		all[i] = one(i)
	}
	return all
}

// somewhere is a group: half of the time the biggest of its level, so that
// each level's biggest holds much more than all others.
func (b *bigWorld) somewhere() platform.UID {
	if b.d.IntN(2) == 0 {
		return b.deep[b.d.IntN(len(b.deep))]
	}
	return pick(b.d, b.groups)
}

func (b *bigWorld) people(n sizes) {
	chunks(b, n.identities, platform.Tx.IdentityRows, func(i int) *platform.Identity {
		parent := b.somewhere()
		if i%2 == 0 {
			parent = b.root
		}
		identity := &platform.Identity{
			UID: b.d.below(parent), Name: fmt.Sprintf("person %d", b.d.IntN(1e6)), CreateTime: b.when(), UpdateTime: b.when(), LastSeenTime: b.when(),
			ClaimMatch: &platform.ClaimMatch{Issuer: issuer, Subject: fmt.Sprintf("person-%d", i)},
		}
		if i%100 == 0 {
			identity.ClaimMatch = &platform.ClaimMatch{Issuer: fmt.Sprintf("https://%d.example.com", i), SubjectPattern: "repo:.*"}
		}
		if parent == b.root {
			b.identities = append(b.identities, identity.UID)
		}
		return identity
	})
	var custom []platform.UID
	chunks(b, 2000, platform.Tx.RoleRows, func(i int) *platform.Role {
		r := &platform.Role{UID: b.d.below(pick(b.d, b.groups)), Name: fmt.Sprintf("role %d", i), Capabilities: []platform.Capability{platform.CapRepoList}, CreateTime: b.when(), UpdateTime: b.when()}
		if i == 0 {
			r.UID = b.d.below(b.root)
			b.role = r.UID
		}
		custom = append(custom, r.UID)
		return r
	})
	taken := map[string]bool{}
	chunks(b, n.bindings, platform.Tx.RoleBindingRows, func(i int) *platform.RoleBinding {
		for {
			group, identity, role := b.somewhere(), pick(b.d, b.identities), b.role
			if i%4 == 0 {
				role = platform.ViewerRole
			}
			if i%10 == 0 {
				identity = b.identities[0] // who is bound to much
				role = pick(b.d, custom)
			}
			if k := string(group + identity + role); !taken[k] {
				taken[k] = true
				return &platform.RoleBinding{UID: b.d.below(group), IdentityUID: identity, RoleUID: role, CreateTime: b.when()}
			}
		}
	})
}

func (b *bigWorld) fill(n sizes) {
	chunks(b, n.repos, platform.Tx.RepoRows, func(i int) *platform.Repo {
		r := &platform.Repo{
			UID: b.d.below(b.somewhere()), Name: fmt.Sprintf("%x/repo-%d", b.d.IntN(1<<16), i), Description: strings.Repeat("what it holds ", 1+b.d.IntN(8)),
			CreateTime: b.when(), UpdateTime: b.when(),
		}
		b.repos, b.repoNames = append(b.repos, r.UID), append(b.repoNames, r.Name)
		return r
	})
	b.busyRepo = b.repos[0]
	chunks(b, n.tags, platform.Tx.TagRows, func(i int) *platform.Tag {
		repo := b.busyRepo
		if i%2 == 0 {
			repo = b.repos[b.d.IntN(len(b.repos)/10)]
		}
		return &platform.Tag{
			UID: b.d.below(repo), Name: fmt.Sprintf("%d.%d-r%d", b.d.IntN(100), b.d.IntN(100), i), Digest: "sha256:" + b.d.hex(32),
			CreateTime: b.when(), UpdateTime: b.when(),
		}
	})
	b.insert(func(tx platform.Tx) error {
		images := make2(2000, func(i int) *platform.Image {
			k := platform.ImageKey{Repo: b.repos[i], Digest: "sha256:" + b.d.hex(32)}
			b.digests = append(b.digests, k)
			return &platform.Image{Repo: k.Repo, Digest: k.Digest, Architectures: []platform.Architecture{{Name: "amd64", Size: 1}}}
		})
		return tx.PutImages(b.t.Context(), images)
	})
	chunks(b, n.advisories, platform.Tx.AdvisoryRows, func(i int) *platform.Advisory {
		id := fmt.Sprintf("GO-%d-%d", 2000+b.d.IntN(25), i)
		return &platform.Advisory{
			UID: b.d.below(b.somewhere()), AdvisoryID: id, ArtifactName: b.repoNames[b.d.IntN(len(b.repoNames)/20)], Aliases: []string{"CVE-" + id}, Origin: "osv",
			Events: []platform.AdvisoryEvent{{Fixed: &platform.Fixed{FixedVersion: "1.2.3"}, Author: "someone"}}, CreateTime: b.when(), UpdateTime: b.when(),
		}
	})
	chunks(b, n.advisories, platform.Tx.VulnerabilityRows, func(i int) *platform.Vulnerability {
		id := fmt.Sprintf("GO-%d", i)
		return &platform.Vulnerability{ID: id, Aliases: []string{"CVE-" + id}, Details: strings.Repeat("details ", 30), UpdateTime: b.when()}
	})
	chunks(b, 1000, platform.Tx.SubscriptionRows, func(i int) *platform.Subscription {
		return &platform.Subscription{UID: b.d.below(pick(b.d, b.groups)), Sink: fmt.Sprintf("https://sink.example.com/%d", i), HiddenSecret: []byte("x"), CreateTime: b.when(), UpdateTime: b.when()}
	})
}

// others makes small organisations of one owner, one repo and one advisory.
func (b *bigWorld) others(n int) {
	roots := make2(n, func(i int) *platform.Group {
		return &platform.Group{UID: b.d.root(), Name: fmt.Sprintf("small %d", i), CreateTime: b.when(), UpdateTime: b.when()}
	})
	owners := make2(n, func(i int) *platform.Identity {
		return &platform.Identity{
			UID: b.d.below(roots[i].UID), Name: "owner", CreateTime: b.when(), UpdateTime: b.when(),
			ClaimMatch: &platform.ClaimMatch{Issuer: issuer, Subject: fmt.Sprintf("owner-%d", i)},
		}
	})
	bindings := make2(n, func(i int) *platform.RoleBinding {
		return &platform.RoleBinding{UID: b.d.below(roots[i].UID), IdentityUID: owners[i].UID, RoleUID: platform.OwnerRole, CreateTime: b.when()}
	})
	repos := make2(n, func(i int) *platform.Repo {
		return &platform.Repo{UID: b.d.below(roots[i].UID), Name: b.repoNames[0], CreateTime: b.when(), UpdateTime: b.when()}
	})
	advisories := make2(n, func(i int) *platform.Advisory {
		return &platform.Advisory{UID: b.d.below(roots[i].UID), AdvisoryID: "GO-1", ArtifactName: b.repoNames[0], CreateTime: b.when(), UpdateTime: b.when()}
	})
	ctx := b.t.Context()
	b.insert(func(tx platform.Tx) error {
		for _, insert := range []func() error{
			func() error { return tx.GroupRows().Insert(ctx, roots...) },
			func() error { return tx.IdentityRows().Insert(ctx, owners...) },
			func() error { return tx.RoleBindingRows().Insert(ctx, bindings...) },
			func() error { return tx.RepoRows().Insert(ctx, repos...) },
			func() error { return tx.AdvisoryRows().Insert(ctx, advisories...) },
		} {
			if err := insert(); err != nil {
				return err
			}
		}
		return nil
	})
}

// withoutIndexes makes the indexes after load has filled the tables, which
// takes a fraction of the time.
func (b *bigWorld) withoutIndexes(load func()) {
	list := "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND indexdef NOT LIKE '%UNIQUE%'"
	if b.onSQLite() {
		list = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT LIKE '%UNIQUE%'"
	}
	db := b.raw()
	definitions := map[string]string{}
	for _, row := range b.query(db, list) {
		definitions[row[0]] = row[1]
	}
	for name := range definitions {
		b.exec(db, "DROP INDEX "+name)
	}
	load()
	for _, definition := range definitions {
		b.exec(db, definition)
	}
}

// analyse does what the database's own upkeep does in time.
func (b *bigWorld) analyse() {
	if !b.onSQLite() { // which has no statistics: its plans follow from the schema alone
		b.exec(b.raw(), "VACUUM ANALYZE")
	}
}
