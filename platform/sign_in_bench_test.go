//go:build unix

package platform_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// BenchmarkAuthenticateBesideHostileIdentities measures what finding out who a
// token is costs beside the identities of other organizations, each of which has
// 20: its time, and the processor time of this process (on SQLite that is all,
// on PostgreSQL the server's comes on top). The kinds of hostile identities are
//
//	patterns: for the same issuer, the same host and every host, whose
//	expressions repeat in repetitions; their organizations have proven issuers
//	of their own
//	same: the same issuer and subject exactly, which need no proof, beyond what
//	one token reads
func BenchmarkAuthenticateBesideHostileIdentities(b *testing.B) {
	for engine, open := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		for kind, rule := range map[string]func(int) *iam.ClaimMatch{"patterns": hostilePattern, "same": sameRule} {
			for _, n := range []int{0, 1_000, 100_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", engine, kind, n), func(b *testing.B) {
					url := open(b)
					w := &world{TB: b, url: url, store: storetest.Open(b, url)}
					w.p = w.replica(w.store, platform.Options{})
					w.found("acme")
					w.hostile(n, rule)
					authenticates(b, w)
				})
			}
		}
	}
}

// hostilePattern returns a rule that would match tokens of the test's issuer if it
// counted.
// counted.
func hostilePattern(i int) *iam.ClaimMatch {
	repeated := fmt.Sprintf("((o|w|.){1,30}){1,%d}", 1+i%9)
	return []*iam.ClaimMatch{
		{Issuer: issuer, SubjectPattern: repeated},
		{Issuer: issuer, SubjectPattern: "owne" + repeated},
		{IssuerPattern: `https://issuer\.example\.com(/.*)?`, SubjectPattern: repeated},
		{IssuerPattern: `https://issuer\.example\.com(/.*)?`, Subject: "owner of acme"},
		{IssuerPattern: repeated, SubjectPattern: repeated},
	}[i%5]
}

func sameRule(int) *iam.ClaimMatch {
	return &iam.ClaimMatch{Issuer: issuer, Subject: "owner of acme"}
}

// hostile creates n identities directly in the store, like rules from before there were
// proofs.
func (w *world) hostile(n int, rule func(i int) *iam.ClaimMatch) {
	w.Helper()
	const each = 20
	at := core.At(epoch.Add(time.Hour))
	organizations := make([]int, n/each)
	for o := range organizations {
		organizations[o] = o
	}
	for some := range slices.Chunk(organizations, 500) {
		must(w, w.store.Write(w.Context(), func(tx core.Tx) error {
			for _, o := range some {
				root := core.UID(fmt.Sprintf("%040x", 1+o))
				if err := storetest.Tables.IAM.Groups.Insert(w.Context(), tx, &iam.Group{UID: root, Name: fmt.Sprintf("hostile %d", o), CreateTime: at, UpdateTime: at}); err != nil {
					return err
				}
				err := storetest.Tables.IAM.PutIssuerProof(w.Context(), tx, &iam.IssuerProof{Organization: root, Issuer: fmt.Sprintf("https://issuer.example.com/%d", o), Method: iam.ProofFile, VerifyTime: at, CheckTime: at})
				if err != nil {
					return err
				}
				identities := make([]*iam.Identity, each)
				for i := range identities {
					identities[i] = &iam.Identity{UID: root + core.UID(fmt.Sprintf("/%016x", i)), Name: "hostile", ClaimMatch: rule(o*each + i), CreateTime: at, UpdateTime: at}
				}
				if err := storetest.Tables.IAM.Identities.Insert(w.Context(), tx, identities...); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if driver := w.raw(); n > 0 {
		_, err := driver.ExecContext(w.Context(), "ANALYZE")
		must(w, err)
	}
}

func authenticates(b *testing.B, w *world) {
	b.Helper()
	claims := iam.Claims{Issuer: issuer, Subject: "owner of acme", ServiceAudience: true}
	before := processorTime()
	for b.Loop() {
		actor, err := w.p.Authenticate(b.Context(), claims)
		if err != nil || len(actor.Identities) == 0 {
			b.Fatal(actor, err)
		}
	}
	b.ReportMetric(float64((processorTime()-before).Microseconds())/float64(b.N), "cpu-us/op")
}
