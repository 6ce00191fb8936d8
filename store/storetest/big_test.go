package storetest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
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

	artifacts          []string // of advisories
	advisoryIDs        []string
	libraries          []platform.UID // the first one has half of all versions
	tagName, tagDigest string         // of some tag of the busy repo
	ownerBinding       platform.UID
	eventIDs           []string
	small              platform.UID   // some other organisation
	subscriptions      []platform.UID // the first one has most deliveries
}

// The sizes of a bigWorld.
type sizes struct{ repos, tags, identities, bindings, advisories, organisations, events, artifacts, deliveries int }

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
		b.report()
		b.others(n.organisations)
		b.record(n.events)
		b.catalogue(n.artifacts)
		b.deliver(n.deliveries)
		b.employ()
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
	b.insert(func(tx platform.Tx) error { return platform.RowsOf[*platform.Group](tx).Insert(b.t.Context(), g) })
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
func chunks[T any](b *bigWorld, n int, rows func(platform.Tx) platform.RowWriter[T], one func(i int) T) {
	all := times(n, one)
	for some := range slices.Chunk(all, 10_000) {
		b.insert(func(tx platform.Tx) error { return rows(tx).Insert(b.t.Context(), some...) })
	}
}

// somewhere is a group: half of the time the biggest of its level, so that
// each level's biggest holds much more than all others.
func (b *bigWorld) somewhere() platform.UID {
	if b.d.IntN(2) == 0 {
		return b.deep[b.d.IntN(len(b.deep))]
	}
	return pick(b.d, b.groups)
}

// record stores events, of which most are of the big organisation.
func (b *bigWorld) record(n int) {
	const perTransaction = 200
	for range n / perTransaction {
		b.insert(func(tx platform.Tx) error {
			tx.Record(times(perTransaction, func(i int) *platform.Event {
				root := b.root
				if i%4 == 0 {
					root = b.d.root()
				}
				e := &platform.Event{ID: b.d.eventID(), Type: "t", Subject: b.d.below(root), Group: root, Body: []byte("{}"), Time: b.when()}
				b.eventIDs = append(b.eventIDs, e.ID)
				return e
			})...)
			return nil
		})
	}
}

// employ makes callers who see all of the organisation, or parts of it.
func (b *bigWorld) employ() {
	b.ownerBinding = b.bind("owner", platform.OwnerRole, b.root)[0].UID
	b.bind("twenty", platform.ViewerRole, append(slices.Clone(b.level2[:10]), b.level3[:10]...)...)
	b.bind("many", platform.ViewerRole, append(append([]platform.UID{b.deep[3]}, b.level2...), b.level3...)...)
	b.bind("deep", platform.ViewerRole, b.deep[3])
}

func (b *bigWorld) bind(subject string, role platform.UID, groups ...platform.UID) []*platform.RoleBinding {
	i := &platform.Identity{UID: b.d.below(b.root), Name: subject, ClaimMatch: &platform.ClaimMatch{Issuer: issuer, Subject: subject}, CreateTime: b.when()}
	bindings := times(len(groups), func(n int) *platform.RoleBinding {
		return &platform.RoleBinding{UID: b.d.below(groups[n]), IdentityUID: i.UID, RoleUID: role, CreateTime: b.when()}
	})
	b.insert(func(tx platform.Tx) error {
		return errors.Join(platform.RowsOf[*platform.Identity](tx).Insert(b.t.Context(), i), platform.RowsOf[*platform.RoleBinding](tx).Insert(b.t.Context(), bindings...))
	})
	return bindings
}

// in is the same for a part of the test.
func (b *bigWorld) in(t *testing.T) *bigWorld {
	part := *b
	part.world = &world{t: t, url: b.url, store: b.store, p: b.p}
	return &part
}

// withoutIndexes makes the indexes after load has filled the tables, which
// takes a fraction of the time.
func (b *bigWorld) withoutIndexes(load func()) {
	list := "SELECT c.relname, pg_get_indexdef(c.oid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid" +
		" WHERE c.relnamespace = 'public'::regnamespace AND NOT i.indisunique ORDER BY c.oid"
	if b.onSQLite() {
		list = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT LIKE '%UNIQUE%' ORDER BY rowid"
	}
	db := b.raw()
	indexes := b.query(db, list)
	for _, index := range indexes {
		b.exec(db, "DROP INDEX "+index[0])
	}
	load()
	for _, index := range indexes {
		b.exec(db, index[1])
	}
}

// analyse does what the database's own upkeep does in time.
func (b *bigWorld) analyse() {
	if !b.onSQLite() { // which has no statistics: its plans follow from the schema alone
		b.exec(b.raw(), "VACUUM ANALYZE")
	}
}
