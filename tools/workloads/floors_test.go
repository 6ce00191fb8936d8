package workloads

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"atrium/internal/bench"
	"atrium/platform/core"
)

// A floor answers the workloads as handlers that are written by hand would: without GraphQL, for any caller, with
// the fewest statements, and with JSON that is appended. What this program costs is compared with it. floor_writes_test.go
// has the handlers that write.
type floor struct {
	*http.ServeMux
	db              floorDB
	verified        sync.Map          // packed UIDs of identities, by the hashes of their tokens
	org, repo, from []byte            // packed UIDs; from is the repo before W3
	samples         map[string]sample // by the workload, and the parent of new rows
}

// A floorStatement is a statement with what reads its rows, if it returns any.
type floorStatement struct {
	sql  string
	args []any
	row  func(scan func(...any) error) error
}

// A floorDB runs statements: in one round trip if there are any, and in one transaction if they write.
type floorDB interface {
	run(ctx context.Context, writes bool, statements ...floorStatement) error
	newTime() any // a pointer to what a time is scanned into
	bindTime(at time.Time) any
	lockRow(sql string) string
	slot() int // of a counter
}

type floorPostgres struct{ *pgxpool.Pool }

func (p floorPostgres) run(ctx context.Context, _ bool, statements ...floorStatement) error {
	var batch pgx.Batch // it is one transaction
	for _, s := range statements {
		queued := batch.Queue(s.sql, s.args...)
		if s.row != nil {
			queued.Query(func(rows pgx.Rows) error { return readFloorRows(rows, s) })
		}
	}
	if first := statements[0]; len(statements) == 1 && first.row != nil {
		rows, err := p.Query(ctx, first.sql, first.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return readFloorRows(rows, first)
	}
	return p.SendBatch(ctx, &batch).Close()
}

func (floorPostgres) newTime() any { return new(time.Time) }

type floorSQLite struct {
	reader, writer preparingConn
	writing        sync.Mutex // held by the one transaction that writes
}

// A preparingConn keeps statements prepared, by their SQL.
type preparingConn struct {
	prepare    func(ctx context.Context, sql string) (*sql.Stmt, error)
	statements sync.Map
}

func (f *floorSQLite) run(ctx context.Context, writes bool, statements ...floorStatement) (err error) {
	conn := &f.reader
	if writes {
		f.writing.Lock()
		defer f.writing.Unlock()
		conn = &f.writer
		statements = slices.Concat([]floorStatement{{sql: "BEGIN IMMEDIATE"}}, statements, []floorStatement{{sql: "COMMIT"}})
	}
	for _, s := range statements {
		if err := conn.run(ctx, s); err != nil {
			return err // a benchmark ends with it
		}
	}
	return nil
}

func (c *preparingConn) run(ctx context.Context, s floorStatement) error {
	found, isPrepared := c.statements.Load(s.sql)
	if !isPrepared {
		statement, err := c.prepare(ctx, s.sql)
		if err != nil {
			return err
		}
		found, _ = c.statements.LoadOrStore(s.sql, statement)
	}
	if s.row == nil {
		_, err := found.(*sql.Stmt).ExecContext(ctx, s.args...)
		return err
	}
	rows, err := found.(*sql.Stmt).QueryContext(ctx, s.args...) //nolint:rowserrcheck // readFloorRows does
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	return readFloorRows(rows, s)
}

func (*floorSQLite) newTime() any { return new(int64) } // milliseconds

// readFloorRows reads all rows of a statement.
func readFloorRows(rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
}, s floorStatement,
) error {
	for rows.Next() {
		if err := s.row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A shownList is the JSON of the rows of a list.
type shownList struct {
	json  []byte
	rows  int
	total int64
}

// A shownColumn is how a column is written: what stands before it, and its type.
type shownColumn struct {
	before string
	kind   byte
}

// The types of columns.
const (
	isText = iota
	isJSON
	isUID
	isBool
	isTime
)

var repoColumns = []shownColumn{{`{"node":{"uid":`, isUID}, {`,"name":`, isText}, {`,"description":`, isText}, {`,"createTime":`, isTime}, {`,"updateTime":`, isTime}}

// list returns a statement of which the first rows are appended to a list. Its last column is the total, if it counts.
func (f *floor) list(into *shownList, counts bool, columns []shownColumn, end, sql string, args ...any) floorStatement {
	cells := make([]any, len(columns), len(columns)+1)
	for i, c := range columns {
		switch c.kind {
		case isUID:
			cells[i] = new([]byte)
		case isBool:
			cells[i] = new(bool)
		case isTime:
			cells[i] = f.db.newTime()
		default:
			cells[i] = new(string)
		}
	}
	if counts {
		cells = append(cells, &into.total)
	}
	return floorStatement{sql, args, func(scan func(...any) error) error {
		if into.rows++; into.rows > floorPage {
			return nil
		}
		if err := scan(cells...); err != nil {
			return err
		}
		if into.rows > 1 {
			into.json = append(into.json, ',')
		}
		for i, c := range columns {
			into.json = appendCell(append(into.json, c.before...), c.kind, cells[i])
		}
		into.json = append(into.json, end...)
		return nil
	}}
}

const floorPage = 50

func appendCell(b []byte, kind byte, cell any) []byte {
	switch cell := cell.(type) {
	case *[]byte:
		b, _ = core.AppendUID(append(b, '"'), *cell)
		return append(b, '"')
	case *bool:
		return strconv.AppendBool(b, *cell)
	case *time.Time:
		return cell.UTC().AppendFormat(b, floorTime)
	case *int64:
		return time.UnixMilli(*cell).UTC().AppendFormat(b, floorTime)
	case *string:
		if kind == isJSON {
			return append(b, *cell...)
		}
		return appendText(b, *cell)
	}
	return b
}

const floorTime = `"2006-01-02T15:04:05.000Z07:00"`

func appendText(b []byte, s string) []byte {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		quoted, _ := json.Marshal(s)
		return append(b, quoted...)
	}
	return append(append(append(b, '"'), s...), '"')
}

// newFloor returns the floor of the database of a workbench.
func newFloor(tb testing.TB, w *workbench, url string) *floor {
	tb.Helper()
	f := &floor{ServeMux: http.NewServeMux()}
	f.org, _ = w.Organization.Packed()
	f.repo, _ = w.Repo.Packed()
	if path, isSQLite := strings.CutPrefix(url, "sqlite:"); isSQLite {
		const settings = "?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(8192)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_pragma=cache_size(-65536)&_pragma=mmap_size(268435456)"
		db := check(sql.Open("sqlite", "file:"+path+settings))(tb)
		tb.Cleanup(func() { _ = db.Close() })
		writer := check(db.Conn(tb.Context()))(tb)
		tb.Cleanup(func() { _ = writer.Close() })
		db.SetMaxIdleConns(floorReaders)
		db.SetMaxOpenConns(floorReaders)
		f.db = &floorSQLite{reader: preparingConn{prepare: db.PrepareContext}, writer: preparingConn{prepare: writer.PrepareContext}}
	} else {
		config := check(pgxpool.ParseConfig(url))(tb)
		config.MaxConns = 16
		pool := check(pgxpool.NewWithConfig(tb.Context(), config))(tb)
		tb.Cleanup(pool.Close)
		f.db = floorPostgres{pool}
	}
	identity := new([]byte)
	must := func(err error) { check(0, err)(tb) }
	must(f.db.run(tb.Context(), false, floorStatement{"SELECT identity FROM role_binding WHERE parent = $1 ORDER BY create_time, uid LIMIT 1", []any{f.org}, func(scan func(...any) error) error { return scan(identity) }}))
	f.verified.Store(sha256.Sum256([]byte("Bearer "+w.token)), *identity)
	var name string
	must(f.db.run(tb.Context(), false, floorStatement{"SELECT name, uid FROM repo WHERE parent = $1 ORDER BY name, uid LIMIT 1 OFFSET $2", []any{f.org, w.Repos / 2}, func(scan func(...any) error) error { return scan(&name, &f.from) }}))
	f.addReads(name)
	return f
}

// floorReaders is one more than the connections of the program that read.
const floorReaders = 9

// handle adds a handler that answers with what reads returns.
func (f *floor) handle(path string, answer func(r *http.Request) ([]byte, error)) {
	f.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		body, err := answer(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
}

const (
	floorRepo   = "SELECT name, description, create_time FROM repo WHERE uid = $1"
	floorRepos  = "SELECT uid, name, description, create_time, update_time"
	floorCount  = ", (SELECT count(*) FROM repo WHERE parent = $1)"
	floorGrants = "SELECT b.parent, r.capabilities FROM role_binding b JOIN role r ON r.uid = b.role WHERE b.identity = $1"
	floorTags   = `SELECT r.uid, r.name, t.name, t.digest, t.deprecated, t.update_time FROM (SELECT uid, name FROM repo WHERE parent = $1 ORDER BY name, uid LIMIT 20) r `
	floorAccess = `SELECT b.uid, b.create_time, i.name, g.name, r.name FROM (SELECT * FROM role_binding WHERE parent = $1 ORDER BY uid LIMIT 50) b
		JOIN identity i ON i.uid = b.identity JOIN grp g ON g.uid = b.parent JOIN role r ON r.uid = b.role ORDER BY b.uid`
)

// addReads adds the handlers that only read. W3 begins after the repo of a name.
func (f *floor) addReads(name string) {
	one := func(l *shownList) floorStatement {
		return f.list(l, false, []shownColumn{{`{"data":{"repo":{"name":`, isText}, {`,"description":`, isText}, {`,"createTime":`, isTime}}, "}}}", floorRepo, f.repo)
	}
	f.handle("/W1", func(r *http.Request) ([]byte, error) {
		var l shownList
		err := f.db.run(r.Context(), false, one(&l))
		return l.json, err
	})
	f.handle("/W1-checked", func(r *http.Request) ([]byte, error) {
		var l shownList
		allowed := false
		grants, err := f.grants(r, &allowed)
		if err != nil {
			return nil, err
		}
		if err := f.db.run(r.Context(), false, grants, one(&l)); err != nil || !allowed {
			return nil, errors.Join(errors.New("no grant"), err)
		}
		return l.json, nil
	})
	page := func(r *http.Request) ([]byte, error) {
		var l shownList
		err := f.db.run(r.Context(), false, f.list(&l, true, repoColumns, "}}", floorRepos+floorCount+" FROM repo WHERE parent = $1 ORDER BY name, uid LIMIT 51", f.org))
		return fmt.Appendf(l.begin("repos"), `],"pageInfo":{"hasNextPage":%t},"totalCount":%d}}}`, l.rows > floorPage, l.total), err
	}
	f.handle("/W2", page)
	f.handle("/W7", page)
	f.handle("/W3", func(r *http.Request) ([]byte, error) {
		var l shownList
		err := f.db.run(r.Context(), false, f.list(&l, false, repoColumns, "}}", floorRepos+" FROM repo WHERE parent = $1 AND (name, uid) > ($2, $3) ORDER BY name, uid LIMIT 51", f.org, name, f.from))
		return fmt.Appendf(l.begin("repos"), `],"pageInfo":{"hasNextPage":%t}}}}`, l.rows > floorPage), err
	})
	f.handle("/W4", f.answerNested)
	f.handle("/W5", func(r *http.Request) ([]byte, error) {
		var l shownList
		columns := []shownColumn{{`{"node":{"uid":`, isUID}, {`,"createTime":`, isTime}, {`,"identity":{"name":`, isText}, {`},"group":{"name":`, isText}, {`},"role":{"name":`, isText}}
		err := f.db.run(r.Context(), false, f.list(&l, false, columns, "}}}", floorAccess, f.org))
		return append(l.begin("roleBindings"), "]}}}"...), err
	})
	f.handle("/W6", f.answerFive)
}

// begin returns the beginning of an answer with a list.
func (l *shownList) begin(field string) []byte {
	b := make([]byte, 0, len(l.json)+100)
	return append(append(append(append(b, `{"data":{"`...), field...), `":{"edges":[`...), l.json...)
}

// grants returns the statement that reads what the caller may do, whose token was verified before. It sets allowed if
// the caller may read the repo.
func (f *floor) grants(r *http.Request, allowed *bool) (floorStatement, error) {
	identity, verified := f.verified.Load(sha256.Sum256([]byte(r.Header.Get("Authorization"))))
	if !verified {
		return floorStatement{}, errors.New("the token was not verified")
	}
	var group []byte
	var capabilities string
	return floorStatement{floorGrants, []any{identity}, func(scan func(...any) error) error {
		err := scan(&group, &capabilities)
		*allowed = *allowed || bytes.HasPrefix(f.repo, group) && strings.Contains(capabilities, `"`+core.CapRepoList.WireName()+`"`)
		return err
	}}, nil
}

// answerNested answers W4.
func (f *floor) answerNested(r *http.Request) ([]byte, error) {
	join := "CROSS JOIN LATERAL (SELECT name, digest, deprecated, update_time FROM tag WHERE parent = r.uid ORDER BY name, uid LIMIT 10) t"
	if _, isSQLite := f.db.(*floorSQLite); isSQLite {
		join = "CROSS JOIN tag t ON t.rowid IN (SELECT rowid FROM tag WHERE parent = r.uid ORDER BY name, uid LIMIT 10)"
	}
	b := make([]byte, 0, 48_000)
	var last, uid []byte
	var repo, tag, digest string
	var deprecated bool
	at := f.db.newTime()
	err := f.db.run(r.Context(), false, floorStatement{floorTags + join + " ORDER BY r.name, r.uid, t.name", []any{f.org}, func(scan func(...any) error) error {
		err := scan(&uid, &repo, &tag, &digest, &deprecated, at)
		switch {
		case len(last) == 0:
			b = append(b, `{"data":{"repos":{"edges":[`...)
		case !bytes.Equal(uid, last):
			b = append(b, `]}}},`...)
		default:
			b = append(b, ',')
		}
		if !bytes.Equal(uid, last) {
			last = append(last[:0], uid...)
			b = appendCell(append(b, `{"node":{"uid":`...), isUID, &uid)
			b = append(appendText(append(b, `,"name":`...), repo), `,"tags":{"edges":[`...)
		}
		b = appendText(append(b, `{"node":{"name":`...), tag)
		b = appendText(append(b, `,"digest":`...), digest)
		b = strconv.AppendBool(append(b, `,"deprecated":`...), deprecated)
		b = append(appendCell(append(b, `,"updateTime":`...), isTime, at), "}}"...)
		return err
	}})
	return append(b, `]}}}]}}}`...), err
}

// answerFive answers W6.
func (f *floor) answerFive(r *http.Request) ([]byte, error) {
	fields := []string{"groups", "identities", "roleBindings", "repos", "advisories"}
	var lists [5]shownList
	uid, updated := shownColumn{`{"node":{"uid":`, isUID}, shownColumn{`,"updateTime":`, isTime}
	name := shownColumn{`,"name":`, isText}
	page := func(i int, table, condition, order, selected string, columns ...shownColumn) floorStatement {
		from := " FROM " + table + " WHERE " + condition
		return f.list(&lists[i], true, columns, "}}", "SELECT "+selected+", (SELECT count(*)"+from+")"+from+" ORDER BY "+order+" LIMIT 10", f.org)
	}
	err := f.db.run(r.Context(), false,
		page(0, "grp", "parent = $1", "name, uid", "uid, name", uid, name),
		page(1, "identity", "parent = $1", "name, uid", "uid, name, claim_match", uid, name, shownColumn{`,"claimMatch":`, isJSON}),
		page(2, "role_binding", "parent = $1", "uid", "uid, create_time", uid, shownColumn{`,"createTime":`, isTime}),
		page(3, "repo", "parent = $1", "name, uid", "uid, name, update_time", uid, name, updated),
		page(4, "advisory", "root = $1 AND artifact_name = 'repo-1'", "advisory_id, uid", "uid, advisory_id, update_time", uid, shownColumn{`,"advisoryId":`, isText}, updated),
	)
	b := append(make([]byte, 0, 12_000), `{"data":{`...)
	for i, l := range lists {
		b = append(strconv.AppendQuote(b, fields[i]), `:{"edges":[`...)
		b = strconv.AppendInt(append(append(b, l.json...), `],"totalCount":`...), l.total, 10)
		b = append(b, "},"...)
	}
	return append(b[:len(b)-1], "}}"...), err
}

// TestFloorsAnswerTheSame keeps the comparison fair: what is written by hand answers as much as the program.
func TestFloorsAnswerTheSame(t *testing.T) {
	t.Parallel()
	small := bench.Sizes{Repos: 150, Tags: 11, People: 12} // with a page after every first one but that of bindings
	for engine, url := range workloadEngines(t) {
		w := fillWorkbench(t, url, small, slog.New(slog.DiscardHandler))
		answers := map[string]any{}
		for _, load := range append(w.workloads(), w.floors(t, url)...) {
			to := &sink{header: http.Header{}}
			load.request.send(t, load.handler, to)
			if strings.HasPrefix(load.name, "W7") || load.name == "bare" {
				continue // REST and gRPC answer in another form
			}
			var answer struct{ Data any }
			if err := json.Unmarshal(cursorInAnswer.ReplaceAll(to.body.Bytes(), nil), &answer); err != nil {
				t.Fatalf("%s on %s: %v in %s", load.name, engine, err, to.body.String())
			}
			answers[load.name] = answer.Data
		}
		answers["W1-checked"], answers["W7"] = answers["W1"], answers["W2"]
		for _, load := range w.floors(t, url) {
			name := strings.TrimPrefix(load.name, "floor-")
			if got, want := answers[load.name], answers[name]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s on %s by hand answers\n%.2000v\n, want\n%.2000v", name, engine, got, want)
			}
		}
	}
}

var cursorInAnswer = regexp.MustCompile(`,"endCursor":"[^"]*"`)
