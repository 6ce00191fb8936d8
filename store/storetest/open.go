// Package storetest tests the behavior of stores on every engine.
// It is for tests only and must not be linked into the program.
package storetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"atrium/store"
	"atrium/store/sqlstore"
)

// postgresURL is the environment variable with the server on which tests may create
// databases; scripts/with-postgres sets it.
const postgresURL = "ATRIUM_TEST_POSTGRES"

// Tables are the tables of every store.
var Tables = sqlstore.Tables()

// Each runs test on every engine, in parallel, each time with an empty
// database of its own.
func Each(t *testing.T, test func(t *testing.T, s *sqlstore.Store)) {
	t.Helper()
	EachURL(t, func(t *testing.T, url string) { test(t, Open(t, url)) })
}

// EachURL is Each for tests that open the database themselves, or more than
// once.
func EachURL(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	empty.EachURL(t, test)
}

// A Template makes databases that are copies of one. That one is made once per engine and test binary.
type Template struct {
	file     func() ([]byte, error)
	database func() (name string, err error)
}

// empty makes databases with a schema and without rows.
var empty = NewTemplate(func(context.Context, string) error { return nil })

// NewTemplate returns a template of what fill writes into a database with a schema.
func NewTemplate(fill func(ctx context.Context, url string) error) *Template {
	return &Template{
		sync.OnceValues(func() ([]byte, error) { return fillFile(fill) }),
		sync.OnceValues(func() (string, error) { return fillDatabase(os.Getenv(postgresURL), fill) }),
	}
}

// EachURL runs test on every engine, in parallel, each time with a copy of its own.
func (template *Template) EachURL(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, engine := range []struct {
		name string
		url  func(testing.TB) string
	}{{"sqlite", template.SQLite}, {"postgres", template.PostgresOrPooled}} {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			test(t, engine.url(t))
		})
	}
}

// Open opens a database for the time of a test.
func Open(t testing.TB, url string) *sqlstore.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{MaxConnections: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// SQLite creates an empty database and returns its URL.
func SQLite(t testing.TB) string {
	t.Helper()
	return empty.SQLite(t)
}

// SQLite creates a copy and returns its URL.
func (template *Template) SQLite(t testing.TB) string {
	t.Helper()
	content, err := template.file()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "atrium.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

// fillFile makes a SQLite database and returns its content.
func fillFile(fill func(context.Context, string) error) ([]byte, error) {
	folder, err := os.MkdirTemp("", "atrium-template")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "atrium.db")
	if err := store.Migrate(context.Background(), "sqlite:"+path, nil); err != nil {
		return nil, err
	}
	if err := fill(context.Background(), "sqlite:"+path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return nil, errors.New(path + "-wal is left, so a copy of the file alone would lack what is in there")
	}
	return os.ReadFile(path)
}

// Postgres creates an empty database and returns its URL.
func Postgres(t testing.TB) string {
	t.Helper()
	return empty.Postgres(t)
}

// Postgres creates a copy and returns its URL.
func (template *Template) Postgres(t testing.TB) string {
	t.Helper()
	server(t) // It ends a test that has none.
	from, err := template.database()
	if err != nil {
		t.Fatal(err)
	}
	// Copying the files takes PostgreSQL a quarter of the time of writing each page to the log.
	return create(t, "TEMPLATE "+from+" STRATEGY file_copy")
}

// poolerAddress is the environment variable with the address of a pooler before that
// server; scripts/with-pgbouncer sets it. Tests for every engine then use PostgreSQL
// through the pooler.
const poolerAddress = "ATRIUM_TEST_POOLER"

// PostgresOrPooled creates an empty PostgreSQL database and returns its URL, which leads
// through the pooler if there is one.
func PostgresOrPooled(t testing.TB) string {
	t.Helper()
	return empty.PostgresOrPooled(t)
}

// PostgresOrPooled creates a copy and returns its URL, which leads through the pooler if
// there is one.
func (template *Template) PostgresOrPooled(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(template.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	if pooler := os.Getenv(poolerAddress); pooler != "" {
		u.Host = pooler
		return u.String()
	}
	return addPatience(u)
}

// addPatience returns a URL with long limits. On a machine that stands still for some seconds,
// the limits of the program would fail requests that are correct.
func addPatience(u *url.URL) string {
	q := u.Query()
	q.Set("connect_timeout", "60")
	q.Set("statement_timeout", "60s")
	q.Set("lock_timeout", "60s")
	u.RawQuery = q.Encode()
	return u.String()
}

// Pooled creates an empty PostgreSQL database and returns its URL through the pooler.
// Without a pooler the test is skipped.
func Pooled(t testing.TB) string {
	t.Helper()
	if os.Getenv(poolerAddress) == "" {
		t.Skip("there is no pooler: run the tests as `scripts/with-postgres scripts/with-pgbouncer go test ./...`")
	}
	return PostgresOrPooled(t)
}

// Direct returns the URL of a database that leads past the pooler.
func Direct(databaseURL string) string {
	u, err := url.Parse(databaseURL)
	direct, failed := url.Parse(os.Getenv(postgresURL))
	if err != nil || failed != nil || u.Host != os.Getenv(poolerAddress) {
		return databaseURL
	}
	u.Host = direct.Host
	return u.String()
}

// standbyURLs is the environment variable with the URLs of streaming standbys of that
// server; scripts/with-standby sets it.
const standbyURLs = "ATRIUM_TEST_STANDBYS"

// Standbys returns the URLs of a PostgreSQL database on the streaming standbys. Without
// standbys the test is skipped.
func Standbys(t testing.TB, databaseURL string) (urls []string) {
	t.Helper()
	standbys := strings.Fields(os.Getenv(standbyURLs))
	if len(standbys) == 0 {
		t.Skip("there are no standbys: run the test as `scripts/with-standby --read 2 go test ./store/storetest -run Standby`")
	}
	own, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	for _, standby := range standbys {
		u := *own
		there, err := url.Parse(standby)
		if err != nil {
			t.Fatal(err)
		}
		u.Host = there.Host
		urls = append(urls, u.String())
	}
	return urls
}

// EmptyPostgres creates a database without a schema and returns its URL.
func EmptyPostgres(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(create(t, productionLocale))
	if err != nil {
		t.Fatal(err)
	}
	return addPatience(u)
}

// productionLocale uses the linguistic sort order of production servers. Thus tests
// fail if a column that must sort by bytes does not say so.
const productionLocale = "TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'und'"

// server returns the URL of the server on which tests may create databases.
func server(t testing.TB) string {
	t.Helper()
	url := os.Getenv(postgresURL)
	if url == "" {
		t.Fatalf("There is no PostgreSQL to test on: run the tests as `scripts/with-postgres go test ./...`, which starts one for them, "+
			"or set %s to the superuser URL of a server.", postgresURL)
	}
	return url
}

// create creates a database for the time of a test and returns its URL.
func create(t testing.TB, like string) string {
	t.Helper()
	server, name := server(t), "test_"+randomName()
	if err := execOnServer(server, "CREATE DATABASE "+name+" "+like); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execOnServer(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return databaseURL(server, name)
}

// fillDatabase makes a database on a server, of which others are copies, and returns its name.
func fillDatabase(server string, fill func(context.Context, string) error) (string, error) {
	name := "template_" + randomName()
	url := databaseURL(server, name)
	if err := execOnServer(server, "CREATE DATABASE "+name+" "+productionLocale); err != nil {
		return "", err
	}
	// Tools that copy databases publish all tables. PostgreSQL then refuses to change rows of a table without a key.
	if err := execOnServer(url, "CREATE PUBLICATION every_table FOR ALL TABLES"); err != nil {
		return "", err
	}
	if err := store.Migrate(context.Background(), url, nil); err != nil {
		return "", err
	}
	return name, fill(context.Background(), url)
}

func execOnServer(server, sql string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

func databaseURL(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Path = "/" + name
	return u.String()
}

func randomName() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
