package storetest_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/store/postgres"
	"atrium/store/sqlite"
	"atrium/store/sqlstore"
	"atrium/store/sqlstore/dbconn"
)

// A spy is an engine that records the statements of operations.
type spy struct{ dbconn.Engine }

type statementLogKey struct{}

// A statementLog has the statements that were sent under one context.
type statementLog struct {
	mu         sync.Mutex
	statements []dbconn.Statement
}

func (s spy) Run(ctx context.Context, statements ...*dbconn.Statement) error {
	recordReads(ctx, statements)
	return s.Engine.Run(ctx, statements...)
}

func (s spy) Write(ctx context.Context, unit func(dbconn.TxConn) error) error {
	return s.Engine.Write(ctx, func(tx dbconn.TxConn) error { return unit(spyTx{tx}) })
}

// A spyTx records the statements of a transaction.
type spyTx struct{ dbconn.TxConn }

func (s spyTx) Run(ctx context.Context, statements ...*dbconn.Statement) error {
	recordReads(ctx, statements)
	return s.TxConn.Run(ctx, statements...)
}

func (s spyTx) Commit(ctx context.Context, statements ...*dbconn.Statement) error {
	recordReads(ctx, statements)
	return s.TxConn.Commit(ctx, statements...)
}

type changesKey struct{}

// recordChanges makes recordStatements keep changes too. To explain one means to make it.
func recordChanges(ctx context.Context) context.Context {
	return context.WithValue(ctx, changesKey{}, true)
}

// recordReads keeps the reads, because only reads can be explained without an effect.
func recordReads(ctx context.Context, statements []*dbconn.Statement) {
	h, _ := ctx.Value(statementLogKey{}).(*statementLog)
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range statements {
		if strings.HasPrefix(one.SQL, "SELECT") || strings.HasPrefix(one.SQL, "WITH") || ctx.Value(changesKey{}) != nil {
			h.statements = append(h.statements, dbconn.Statement{SQL: one.SQL, Args: slices.Clone(one.Args)})
		}
	}
}

// newSpy returns a store on the same data that records its statements.
func (w *world) newSpy() *sqlstore.Store {
	w.t.Helper()
	return sqlstore.New(spy{openEngine(w.t, w.url)})
}

// openEngine opens the engine of a database until the test ends.
func openEngine(t testing.TB, url string) dbconn.Engine {
	t.Helper()
	var engine dbconn.Engine
	var err error
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		engine, err = sqlite.Open(t.Context(), path)
	} else {
		engine, err = postgres.Open(t.Context(), url, postgres.Options{MaxConnections: 4})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return engine
}

// recordStatements runs an operation and returns the statements that it sent.
func recordStatements(ctx context.Context, operation func(ctx context.Context) error) ([]dbconn.Statement, error) {
	h := &statementLog{}
	err := operation(context.WithValue(ctx, statementLogKey{}, h))
	return h.statements, err
}

// A planNode is a node of EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON).
type planNode struct {
	Type     string     `json:"Node Type"`
	Relation string     `json:"Relation Name"`
	Index    string     `json:"Index Name"`
	Rows     float64    `json:"Actual Rows"`
	Loops    float64    `json:"Actual Loops"`
	Removed  float64    `json:"Rows Removed by Filter"`
	Fetches  float64    `json:"Heap Fetches"`
	Hit      int        `json:"Shared Hit Blocks"`
	Read     int        `json:"Shared Read Blocks"`
	Plans    []planNode `json:"Plans"`
}

func (n planNode) buffers() int { return n.Hit + n.Read }

func (n planNode) visitAll(visit func(planNode)) {
	visit(n)
	for _, p := range n.Plans {
		p.visitAll(visit)
	}
}

// String returns the plan as an indented text.
func (n planNode) String() string {
	var b strings.Builder
	n.draw(&b, "  ")
	return b.String()
}

func (n planNode) draw(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%s %s %s rows=%g loops=%g removed=%g fetches=%g buffers=%d\n", indent, n.Type, n.Relation, n.Index, n.Rows, n.Loops, n.Removed, n.Fetches, n.buffers())
	for _, p := range n.Plans {
		p.draw(b, indent+"  ")
	}
}

// An explainer reads plans of PostgreSQL, with the settings of the store's connections.
type explainer struct{ engine dbconn.Engine }

func (w *world) explainer() explainer {
	w.t.Helper()
	engine, err := postgres.Open(w.t.Context(), w.url, postgres.Options{MaxConnections: 1, QueryMode: "exec"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = engine.Close() })
	return explainer{engine}
}

// explain runs a statement as a prepared one, as the store does, with this
// plan_cache_mode.
func (e explainer) explain(ctx context.Context, s dbconn.Statement, mode string) (planNode, error) {
	execute := executeHeard(s)
	var text string
	read := func(scan func(...any) error) error { return scan(&text) }
	for _, one := range []dbconn.Statement{
		{SQL: "DEALLOCATE ALL"}, {SQL: "SET plan_cache_mode = " + mode},
		{SQL: "PREPARE heard AS " + s.SQL},
		{SQL: execute}, // The first run loads into memory what later runs read.
		{SQL: "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + execute, Row: read},
	} {
		if err := e.engine.Run(ctx, &one); err != nil {
			return planNode{}, fmt.Errorf("%s: %w", one.SQL, err)
		}
	}
	var plans []struct{ Plan planNode }
	err := json.Unmarshal([]byte(text), &plans)
	return plans[0].Plan, err
}

// executeHeard returns the statement that executes the prepared one.
func executeHeard(s dbconn.Statement) string {
	if len(s.Args) == 0 {
		return "EXECUTE heard"
	}
	literals := make([]string, len(s.Args))
	for i, arg := range s.Args {
		literals[i] = literal(arg)
	}
	return "EXECUTE heard(" + strings.Join(literals, ", ") + ")"
}

// literal returns an argument in the syntax of SQL.
func literal(arg any) string {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	switch arg := arg.(type) {
	case string:
		return quoted(arg)
	case []string:
		texts := make([]string, len(arg))
		for i, s := range arg {
			texts[i] = quoted(s)
		}
		return "ARRAY[" + strings.Join(texts, ", ") + "]::text[]"
	case []byte:
		return quoted(`\x`+hex.EncodeToString(arg)) + "::bytea"
	case [][]byte:
		keys := make([]string, len(arg))
		for i, key := range arg {
			keys[i] = literal(key)
		}
		return "ARRAY[" + strings.Join(keys, ", ") + "]::bytea[]"
	case core.Time:
		return quoted(dbconn.StoredTime(arg).Format(time.RFC3339Nano)) // The store sends this value.
	case int64:
		return strconv.FormatInt(arg, 10)
	case bool:
		return strconv.FormatBool(arg)
	default:
		panic(fmt.Sprintf("no literal of %T", arg))
	}
}

// explainQueryPlan returns SQLite's plan, one line for each step.
func (w *world) explainQueryPlan(t *testing.T, s dbconn.Statement) []string {
	t.Helper()
	args := make([]any, len(s.Args))
	for i, arg := range s.Args {
		switch arg := arg.(type) {
		case core.Time:
			args[i] = dbconn.StoredTime(arg).UnixMilli()
		case string, int64, bool, []byte:
			args[i] = arg
		default: // The argument is a list.
			text, err := json.Marshal(arg)
			if err != nil {
				t.Fatal(err)
			}
			args[i] = string(text)
		}
	}
	var steps []string
	for _, row := range w.query(w.openDirect(), "EXPLAIN QUERY PLAN "+s.SQL, args...) {
		steps = append(steps, row[3])
	}
	return steps
}
