package storetest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// A bigWorld has the contents of a large service: one organization with most of the rows,
// unevenly distributed, and many small ones.
type bigWorld struct {
	*world
	d    dice
	root core.UID
	deep []core.UID // These are the largest groups of each level, beginning with the root. Each is in the one before.

	groups     []core.UID // These are all groups of the organization.
	level2     []core.UID
	level3     []core.UID // These groups are in deep[1].
	identities []core.UID
	role       core.UID // Most bindings have this custom role.
	busyRepo   core.UID // This repo has the most tags.
	repos      []core.UID
	repoNames  []string
	digests    []core.ImageKey

	artifacts          []string // These are the artifacts of advisories.
	advisoryIDs        []string
	libraries          []core.UID // The first artifact has half of all versions.
	tagName, tagDigest string     // These belong to one tag of the busy repo.
	ownerBinding       core.UID
	eventIDs           []string
	otherOrg           core.UID   // This is one of the small organizations.
	subscriptions      []core.UID // The first subscription has most of the deliveries.
}

// sizes has the numbers of rows in a bigWorld.
type sizes struct{ repos, tags, identities, bindings, advisories, organizations, events, artifacts, deliveries, findings int }

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// randomTime returns one of many times.
func (b *bigWorld) randomTime() core.Time { return b.timeOf(b.d) }

func (*bigWorld) timeOf(d dice) core.Time {
	return core.At(epoch.Add(time.Duration(d.IntN(1e9)) * time.Millisecond))
}

func newBigWorld(w *world, n sizes) *bigWorld {
	b := &bigWorld{world: w, d: newDice(1)}
	b.withoutIndexes(func() {
		b.createGroups()
		b.createPeople(n)
		b.fill(n)
		b.createReports()
		b.createFindings(n.findings)
		b.createPackages(min(n.findings, 4000))
		b.createOrganizations(n.organizations)
		b.recordEvents(n.events)
		b.createCatalog(n.artifacts)
		b.createDeliveries(n.deliveries)
		b.createCallers()
	})
	b.analyze()
	return b
}

func (b *bigWorld) group(parent core.UID, name string) core.UID {
	g := &iam.Group{UID: b.d.root(), Name: name, CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	if parent != "" {
		g.UID = b.d.below(parent)
	}
	b.groups = append(b.groups, g.UID)
	b.insert(func(tx core.Tx) error { return storetest.Tables.IAM.Groups.Insert(b.t.Context(), tx, g) })
	return g.UID
}

// createGroups creates six levels of groups. Each level has one large group.
func (b *bigWorld) createGroups() {
	b.root = b.group("", "big")
	b.deep = []core.UID{b.root}
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

// chunks inserts n rows, many in each transaction.
func chunks[T any](b *bigWorld, n int, rows core.RowWriter[T], one func(i int) T) {
	const perTransaction = 10_000
	for first := 0; first < n; first += perTransaction {
		some := times(min(perTransaction, n-first), func(i int) T { return one(first + i) })
		b.insert(func(tx core.Tx) error { return rows.Insert(b.t.Context(), tx, some...) })
	}
}

// randomGroup returns the largest group of a level in half of all cases, so that it has
// much more than the others.
func (b *bigWorld) randomGroup() core.UID {
	if b.d.IntN(2) == 0 {
		return b.deep[b.d.IntN(len(b.deep))]
	}
	return pick(b.d, b.groups)
}

// These are the types of the events. Almost all are of the frequent one.
const (
	frequentEvent = "dev.atrium.api.platform.registry.tag.created.v1"
	rareEvent     = "dev.atrium.api.iam.roles.deleted.v1"
)

// busyActor causes a third of all events, and rareActor those of the rare type, which name
// rareTarget. Every tenth event names the viewer role.
func (b *bigWorld) busyActor() core.UID  { return b.root + "/00000000000000aa" }
func (b *bigWorld) rareActor() core.UID  { return b.root + "/00000000000000ab" }
func (b *bigWorld) rareTarget() core.UID { return b.root + "/00000000000000ac" }

// recordEvents stores events of three months, in partitions of a week if the engine has
// any. Most of them belong to the large organization. It has 50 of a rare type.
func (b *bigWorld) recordEvents(n int) {
	const perTransaction, months = 200, 90 * 24 * time.Hour
	recorded := 0
	b.partitionEvents(epoch, epoch.Add(months), 7*24*time.Hour)
	for range n / perTransaction {
		b.insert(func(tx core.Tx) error {
			tx.Record(times(perTransaction, func(i int) *core.Event {
				root := b.root
				if i%4 == 0 {
					root = b.d.root()
				}
				at := core.At(epoch.Add(months / time.Duration(n) * time.Duration(recorded)))
				e := &core.Event{ID: core.FirstEventID(at)[:14] + b.d.eventID()[14:], Type: frequentEvent, Subject: b.d.below(root), Group: root, Body: []byte("{}"), Time: at}
				switch {
				case recorded%(n/50) == 1:
					e.Type, e.Actor.Subject, e.Body = rareEvent, string(b.rareActor()), []byte(`{"identity": {"uid": "`+b.rareTarget()+`"}}`)
				case recorded%3 == 0:
					e.Actor.Subject = string(b.busyActor())
				}
				if recorded%10 == 0 {
					e.Body = []byte(`{"role": {"uid": "` + iam.ViewerRole + `"}}`)
				}
				recorded++
				if len(b.eventIDs) < ordinarySizes.events {
					b.eventIDs = append(b.eventIDs, e.ID)
				}
				return e
			})...)
			return nil
		})
	}
	b.partitionEvents(epoch, epoch.Add(months), 7*24*time.Hour) // seals those that have ended
}

// createCallers creates callers who see all of the organization, or parts of it.
func (b *bigWorld) createCallers() {
	b.ownerBinding = b.bind("owner", iam.OwnerRole, b.root)[0].UID
	b.bind("twenty", iam.ViewerRole, append(slices.Clone(b.level2[:10]), b.level3[:10]...)...)
	b.bind("many", iam.ViewerRole, append(append([]core.UID{b.deep[3]}, b.level2...), b.level3...)...)
	b.bind("deep", iam.ViewerRole, b.deep[3])
}

func (b *bigWorld) bind(subject string, role core.UID, groups ...core.UID) []*iam.RoleBinding {
	i := &iam.Identity{UID: b.d.below(b.root), Name: subject, ClaimMatch: &iam.ClaimMatch{Issuer: issuer, Subject: subject}, CreateTime: b.randomTime()}
	bindings := times(len(groups), func(n int) *iam.RoleBinding {
		return &iam.RoleBinding{UID: b.d.below(groups[n]), IdentityUID: i.UID, RoleUID: role, CreateTime: b.randomTime()}
	})
	b.insert(func(tx core.Tx) error {
		return errors.Join(storetest.Tables.IAM.Identities.Insert(b.t.Context(), tx, i), storetest.Tables.IAM.RoleBindings.Insert(b.t.Context(), tx, bindings...))
	})
	return bindings
}

// forTest returns the same world for a subtest.
func (b *bigWorld) forTest(t *testing.T) *bigWorld {
	part := *b
	part.world = &world{t: t, url: b.url, store: b.store, p: b.p}
	return &part
}

// withoutIndexes creates the indexes after load has filled the tables, which is much
// faster.
func (b *bigWorld) withoutIndexes(load func()) {
	list := "SELECT c.relname, pg_get_indexdef(c.oid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid" +
		" WHERE c.relnamespace = 'public'::regnamespace AND NOT i.indisunique AND NOT c.relispartition ORDER BY c.oid"
	if b.onSQLite() {
		list = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT LIKE '%UNIQUE%' ORDER BY rowid"
	}
	db := b.openDirect()
	indexes := b.query(db, list)
	if b.onSQLite() { // An index that is dropped takes its statistics with it.
		b.exec(db, "CREATE TABLE kept AS SELECT * FROM sqlite_stat1")
	}
	for _, index := range indexes {
		b.exec(db, "DROP INDEX "+index[0])
	}
	load()
	for _, index := range indexes {
		b.exec(db, strings.Replace(index[1], " ON ONLY ", " ON ", 1)) // an index of a partitioned table has one in each partition
	}
	if b.onSQLite() {
		b.exec(db, "DELETE FROM sqlite_stat1")
		b.exec(db, "INSERT INTO sqlite_stat1 SELECT * FROM kept")
		b.exec(db, "DROP TABLE kept")
	}
}

// analyze updates the statistics, as PostgreSQL does by itself after a while.
func (b *bigWorld) analyze() {
	if !b.onSQLite() { // SQLite has the statistics of its schema.
		b.exec(b.openDirect(), "VACUUM ANALYZE")
	}
}
