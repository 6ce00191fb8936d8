package storetest_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // This is the driver for plain SQL.

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

const issuer = "https://issuer.example.com"

// A world is a platform on its own database.
type world struct {
	t          testing.TB
	url        string
	store      *sqlstore.Store
	p          *platform.Platform
	clockAhead atomic.Int64 // Its clock is ahead by this number of milliseconds.
	directDB   *sql.DB
}

// onEachEngine runs test on every engine. The world has only the built-in roles.
func onEachEngine(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) { test(t, newWorld(t, url)) })
}

func newWorld(t testing.TB, url string) *world {
	t.Helper()
	w := &world{t: t, url: url, store: storetest.Open(t, url)}
	w.p = w.replica(w.store)
	return w
}

// replica returns another platform on the same data.
func (w *world) replica(s platform.Store) *platform.Platform {
	w.t.Helper()
	p, err := platform.New(w.t.Context(), s, platform.Options{Clock: w.now, AllowSignup: true, AllowIssuers: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) now() time.Time {
	return time.Now().Add(time.Duration(w.clockAhead.Load()) * time.Millisecond)
}

// operator returns the context of a command of the operator.
func (w *world) operator() context.Context {
	return core.WithActor(w.t.Context(), core.NewOperator("test"))
}

// createOrganization creates an organization and returns the context of its owner.
func (w *world) createOrganization(name string) (context.Context, *iam.Organization) {
	w.t.Helper()
	org, err := w.p.Groups.Bootstrap(w.operator(), name, issuer, "owner of "+name)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.contextAs("owner of " + name), org
}

// contextAs returns the context of a request with the token of subject.
func (w *world) contextAs(subject string) context.Context {
	w.t.Helper()
	return w.contextOn(w.p, subject)
}

func (w *world) contextOn(p *platform.Platform, subject string) context.Context {
	w.t.Helper()
	actor, err := p.Authenticate(w.t.Context(), iam.Claims{Issuer: issuer, Subject: subject, ServiceAudience: true})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(actor.Identities) == 0 {
		w.t.Fatalf("no identity matches %q", subject)
	}
	return core.WithActor(w.t.Context(), actor)
}

// openDirect opens the database without the store, which does not notice these changes.
func (w *world) openDirect() *sql.DB {
	w.t.Helper()
	if w.directDB != nil {
		return w.directDB
	}
	driver, name := "pgx", storetest.Direct(w.url)
	if path, ok := strings.CutPrefix(w.url, "sqlite:"); ok {
		driver, name = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = db.Close() })
	w.directDB = db
	return db
}

func (w *world) onSQLite() bool { return strings.HasPrefix(w.url, "sqlite:") }

func (w *world) exec(db *sql.DB, statement string, args ...any) {
	w.t.Helper()
	if _, err := db.ExecContext(w.t.Context(), statement, args...); err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}

// query returns the rows of a query as texts.
func (w *world) query(db *sql.DB, statement string, args ...any) (found [][]string) {
	w.t.Helper()
	rows, err := db.QueryContext(w.t.Context(), statement, args...)
	if err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		w.t.Fatal(err)
	}
	for rows.Next() {
		row := make([]string, len(columns))
		to := make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			w.t.Fatal(err)
		}
		found = append(found, row)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return found
}

// pack returns a UID in the form of the tables.
func pack(u core.UID) []byte {
	b, _ := u.Packed()
	return b
}

// insert stores rows of any kind in one transaction.
func (w *world) insert(unit func(tx core.Tx) error) {
	w.t.Helper()
	if err := w.store.Write(w.t.Context(), unit); err != nil {
		w.t.Fatal(err)
	}
}

// A dice makes random values. The same seed makes the same values.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, seed))} }

func (d dice) hex(bytes int) string {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(d.IntN(256))
	}
	return hex.EncodeToString(b)
}

func (d dice) eventID() string {
	h := d.hex(16)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func (d dice) root() core.UID { return core.UID(d.hex(20)) }

func (d dice) below(parent core.UID) core.UID { return parent + "/" + core.UID(d.hex(8)) }

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }
