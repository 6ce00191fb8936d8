package storetest_test

import (
	"testing"

	"atrium/platform"
	"atrium/store"
	"atrium/store/storetest"
)

// A database of schema 10 has advisories without severities. The upgrade must compute the
// same values as a write.
func TestTheSeveritiesOfAnOlderDatabaseAreComputed(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		f.insert(func(tx platform.Tx) error {
			return platform.RowsOf[*platform.Vulnerability](tx).Insert(t.Context(), &platform.Vulnerability{ID: "GHSA-9", Aliases: []string{"CVE-2"}, Severities: severities[2]})
		})
		want := f.query(f.openDirect(), "SELECT uid, severity, severity_vector, severity_version, severity_source, count_class FROM advisory ORDER BY uid")
		engine := "postgres"
		if f.onSQLite() {
			engine = "sqlite"
		}
		old := emptyVersion(t, emptyDatabases[engine](t), 10)
		f.copyTo(old, []string{"grp", "advisory", "advisory_alias", "vulnerability", "vulnerability_alias", "counter"}, rowAsIs)
		if err := store.Migrate(t.Context(), old.url); err != nil {
			t.Fatal(err)
		}
		after := newWorld(t, old.url)
		got := after.query(after.openDirect(), "SELECT uid, severity, severity_vector, severity_version, severity_source, count_class FROM advisory ORDER BY uid")
		inherited := 0
		for i := range want {
			if string(platform.SeverityOfVulnerability) == got[i][4] {
				inherited++ // The forest was written before the vulnerability existed.
				continue
			}
			for column := range want[i] {
				if got[i][column] != want[i][column] {
					t.Errorf("advisory %d: %v, want %v", i, got[i], want[i])
					break
				}
			}
		}
		if inherited == 0 || inherited == len(want) {
			t.Errorf("%d of %d advisories inherit", inherited, len(want))
		}
		counters := "SELECT scope, kind, n, nc FROM counter WHERE kind >= 127 ORDER BY scope, kind"
		migrated := after.query(after.openDirect(), counters)
		other := storetest.Open(t, old.url)
		if _, err := other.Recount(t.Context()); err != nil {
			t.Fatal(err)
		}
		recounted := after.query(after.openDirect(), counters)
		if len(migrated) == 0 || len(migrated) != len(recounted) {
			t.Fatalf("there are %d counters, and %d after a recount", len(migrated), len(recounted))
		}
		for i := range migrated {
			for column := range migrated[i] {
				if migrated[i][column] != recounted[i][column] {
					t.Errorf("a counter is %v, and %v after a recount", migrated[i], recounted[i])
				}
			}
		}
	})
}
