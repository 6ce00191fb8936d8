package workloads

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver for the samples

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
)

// A sample is what the program has written for one request: a row and its event. The handlers that are written by hand
// insert copies with another UID and another text.
type sample struct {
	uid, text string
	rows      []sampleRow
}

type sampleRow struct {
	table   string
	columns []string
	values  []any
}

// copies returns statements that insert copies of each row: one for each UID, with the text at the same place.
func (s sample) copies(uids, texts []string) []floorStatement {
	all := make([]floorStatement, len(s.rows))
	for i, row := range s.rows {
		args := make([]any, 0, len(uids)*len(row.values))
		for n, uid := range uids {
			replacer := strings.NewReplacer(s.uid, uid, s.text, texts[n])
			was, is := packedEnd(s.uid), packedEnd(uid)
			for c, value := range row.values {
				switch value := value.(type) {
				case string:
					value = replacer.Replace(value)
					if row.columns[c] == "id" {
						value = fmt.Sprintf("%s%012x", value[:len(value)-12], rand.Uint64()>>16)
					}
					args = append(args, value)
				case []byte:
					args = append(args, bytes.Replace(value, was, is, 1))
				default:
					args = append(args, value)
				}
			}
		}
		all[i] = floorStatement{sql: row.insert(len(uids)), args: args}
	}
	return all
}

// inserts keeps the texts of insert, by table and number of rows.
var inserts sync.Map

// insert returns the SQL that inserts rows.
func (row sampleRow) insert(rows int) string {
	key := fmt.Sprint(row.table, rows)
	if sql, known := inserts.Load(key); known {
		return sql.(string)
	}
	var sql strings.Builder
	sql.WriteString("INSERT INTO " + row.table + " (" + strings.Join(row.columns, ", ") + ") VALUES ")
	for n := range rows * len(row.columns) {
		switch {
		case n == 0:
			sql.WriteString("(")
		case n%len(row.columns) == 0:
			sql.WriteString("), (")
		default:
			sql.WriteString(", ")
		}
		fmt.Fprintf(&sql, "$%d", n+1)
	}
	sql.WriteString(")")
	inserts.Store(key, sql.String())
	return sql.String()
}

// packedEnd returns the last segment of a UID as it is stored.
func packedEnd(uid string) []byte {
	packed, _ := core.UID(uid).Packed()
	return packed[len(packed)-8:]
}

// A floorInput is the part of a mutation that is read.
type floorInput struct {
	Variables struct {
		Input struct {
			UID, Parent, Name, Description string
			Requests                       []struct{ Parent, Name string }
		}
	}
}

// addWrites adds the handlers that write.
func (f *floor) addWrites(repos []core.UID) {
	f.handle("/import", func(r *http.Request) ([]byte, error) {
		number, _ := io.ReadAll(r.Body)
		names := importedNames(number)
		var run []floorStatement
		for _, repo := range repos {
			uids := make([]string, len(names))
			for i := range uids {
				uids[i] = newFloorUID(string(repo))
			}
			run = append(append(run, f.samples["W9"+string(repo)].copies(uids, names)...), f.counter(string(repo), "Tag", len(uids), len(uids)))
		}
		return nil, f.db.run(r.Context(), true, append(run, f.counter(string(repos[0].Root()), "Tag", len(repos)*len(names), 0))...)
	})
	write := func(path string, answer string, build func(floorInput) (made []string, run []floorStatement)) {
		f.handle(path, func(r *http.Request) ([]byte, error) {
			var in floorInput
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
				return nil, err
			}
			made, run := build(in)
			b := append([]byte(`{"data":`), answer...)
			for i, uid := range made {
				if i > 0 {
					b = append(b, ',')
				}
				b = append(append(append(b, `{"uid":"`...), uid...), `"}`...)
			}
			return append(b, "}}"...), f.db.run(r.Context(), true, run...)
		})
	}
	write("/W8", `{"createRepo":{"repo":`, func(in floorInput) ([]string, []floorStatement) {
		parent := in.Variables.Input.Parent
		made := []string{newFloorUID(parent)}
		return made, append(f.samples["W8"+parent].copies(made, []string{in.Variables.Input.Name}), f.counter(parent, "Repo", 1, 1))
	})
	write("/W9", `{"batchCreateTags":{"tags":[`, func(in floorInput) (made []string, run []floorStatement) {
		requests := in.Variables.Input.Requests
		names := make([]string, len(requests))
		for i, r := range requests {
			made, names[i] = append(made, newFloorUID(r.Parent)), r.Name
		}
		repo := requests[0].Parent
		run = f.samples["W9"+repo].copies(made, names)
		return made, append(run, f.counter(repo, "Tag", len(made), len(made)), f.counter(string(core.UID(repo).Root()), "Tag", len(made), 0))
	})
	write("/W10", `{"updateRepo":{"repo":`, func(in floorInput) ([]string, []floorStatement) {
		made, text := []string{in.Variables.Input.UID}, in.Variables.Input.Description
		packed, _ := core.UID(made[0]).Packed()
		run := []floorStatement{
			{f.db.lockRow("SELECT name, description FROM repo WHERE uid = $1"), []any{packed}, func(func(...any) error) error { return nil }},
			{sql: "UPDATE repo SET description = $2, search = $3, update_time = $4 WHERE uid = $1", args: []any{packed, text, strings.ToLower(text), f.db.bindTime(time.Now())}},
		}
		return made, append(run, f.samples["W10"+made[0]].copies(made, []string{text})...)
	})
}

// newFloorUID returns a new UID below a parent.
func newFloorUID(parent string) string { return fmt.Sprintf("%s/%016x", parent, rand.Uint64()) }

// counter returns the statement that adds to the counters of a kind in a scope: to that of all rows, and to that of its
// children.
func (f *floor) counter(scope, kind string, all, children int) floorStatement {
	number := 0
	for _, k := range platform.Kinds() {
		if k.Name == kind {
			number = int(k.Number)
		}
	}
	return floorStatement{
		sql: `INSERT INTO counter (scope, kind, slot, n, nc) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (scope, kind, slot) DO UPDATE SET n = counter.n + excluded.n, nc = counter.nc + excluded.nc`,
		args: []any{scope, number, f.db.slot(), all, children},
	}
}

func (floorPostgres) slot() int                 { return rand.IntN(16) }
func (floorPostgres) lockRow(sql string) string { return sql + " FOR UPDATE" }
func (floorPostgres) bindTime(t time.Time) any  { return t }
func (*floorSQLite) slot() int                  { return 0 }
func (*floorSQLite) lockRow(sql string) string  { return sql }
func (*floorSQLite) bindTime(t time.Time) any   { return t.UnixMilli() }

// A writingOrganization has repos that the workloads change, each for one connection.
type writingOrganization struct {
	uid, token string
	repos      []core.UID
}

// writers is the number of connections, and of organizations, of the workloads that write.
const writers = 16

// addOrganizations creates further organizations, so that there are as many as writers.
func (w *workbench) addOrganizations(tb testing.TB) (all []writingOrganization) {
	tb.Helper()
	operator := core.WithActor(tb.Context(), core.NewOperator("bench"))
	for i := range writers {
		o := writingOrganization{string(w.Organization), w.token, nil}
		if i > 0 {
			owner := fmt.Sprint("owner-", i)
			made := check(w.p.Groups.Bootstrap(operator, fmt.Sprint("acme-", i), auth.DevelopmentIssuer, owner))(tb).Group.UID
			o = writingOrganization{string(made), w.mint(tb, owner), nil}
			check(w.p.Repos.Create(operator, made, fieldmask.JSONInput[*inventory.Repo]([]byte(`{"name":"first"}`), nil)))(tb)
		}
		page := check(w.p.Repos.List(operator, core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{ChildrenOf: core.UID(o.uid)}, PageSize: writers}))(tb)
		for _, repo := range page.Items {
			o.repos = append(o.repos, repo.UID)
		}
		all = append(all, o)
	}
	return all
}

// writeBodies returns the bodies of the requests that write to a repo, or to an organization, by their workloads. In each, %n
// stands for a number.
func (o writingOrganization) writeBodies(repo core.UID) map[string]string {
	body := func(kind, answer, input string) string {
		name := strings.ToLower(kind[:1]) + kind[1:]
		return fmt.Sprintf(`{"query":"mutation($input: %sInput!) { %s(input: $input) { %s { uid } } }","variables":{"input":%s}}`, kind, name, answer, input)
	}
	tags := make([]string, 100)
	for i := range tags {
		tags[i] = fmt.Sprintf(`{"parent":%q,"name":"%%n-%02d","digest":"sha256:%064x"}`, repo, i, i)
	}
	return map[string]string{
		"W8":  body("CreateRepo", "repo", fmt.Sprintf(`{"parent":%q,"name":"made-%%n"}`, o.uid)),
		"W9":  body("BatchCreateTags", "tags", `{"requests":[`+strings.Join(tags, ",")+`]}`),
		"W10": body("UpdateRepo", "repo", fmt.Sprintf(`{"uid":%q,"description":"changed for the time %%n"}`, repo)),
	}
}

// takeSamples lets the program write once what the floor copies.
func (f *floor) takeSamples(tb testing.TB, w *workbench, url string, all []writingOrganization) {
	tb.Helper()
	driver := "pgx"
	if path, isSQLite := strings.CutPrefix(url, "sqlite:"); isSQLite {
		driver, url = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	}
	db := check(sql.Open(driver, url))(tb)
	defer func() { _ = db.Close() }()
	f.samples = map[string]sample{}
	for _, o := range all {
		for _, repo := range o.repos {
			for name, body := range o.writeBodies(repo) {
				to := &sink{header: http.Header{}}
				body = strings.ReplaceAll(body, "%n", "first")
				r := httptest.NewRequest(http.MethodPost, "/graphql", nil)
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer "+o.token)
				key := map[string]string{"W8": o.uid, "W9": string(repo), "W10": string(repo)}[name]
				if _, known := f.samples[name+key]; known {
					continue
				}
				(&preparedRequest{*r, body}).send(tb, w.handler, to)
				_, rest, _ := strings.Cut(to.body.String(), `"uid":"`)
				uid, _, _ := strings.Cut(rest, `"`)
				s := sample{uid: uid, text: map[string]string{"W8": "made-first", "W9": "first-00", "W10": "changed for the time first"}[name]}
				packed, _ := core.UID(uid).Packed()
				if table := map[string]string{"W8": "repo", "W9": "tag"}[name]; table != "" {
					s.rows = append(s.rows, readSample(tb, db, table, "uid = $1", packed))
				}
				s.rows = append(s.rows, readSample(tb, db, "event", "subject = $1 ORDER BY seq DESC LIMIT 1", uid))
				f.samples[name+key] = s
			}
		}
	}
	f.addWrites(all[0].repos)
}

// readSample reads a row of a table, without the columns that the database fills.
func readSample(tb testing.TB, db *sql.DB, table, condition string, arg any) sampleRow {
	tb.Helper()
	rows := check(db.QueryContext(context.Background(), "SELECT * FROM "+table+" WHERE "+condition, arg))(tb) //nolint:rowserrcheck // it is below
	defer func() { _ = rows.Close() }()
	names := check(rows.Columns())(tb)
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	if !rows.Next() {
		tb.Fatalf("no row of %s has %s with %v: %v", table, condition, arg, rows.Err())
	}
	check(0, errors.Join(rows.Scan(into...), rows.Err()))(tb)
	row := sampleRow{table: table}
	for i, name := range names {
		if name != "seq" && name != "xact" {
			row.columns, row.values = append(row.columns, name), append(row.values, values[i])
		}
	}
	return row
}
