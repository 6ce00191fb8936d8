// Package sqlite is the embedded engine: one file, no server, no cgo.
// It must not know any kind: statements come from package sqlstore.
package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"atrium/platform/core"
	"atrium/store/dbfile"
	"atrium/store/sqlstore/dbconn"
)

var dialect = dbconn.Dialect{
	Placeholder: "?",
	Size:        "(SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())",
	InKeys:      spellIn,
	InValues:    spellIn,
	// This is one list of rows, because joining several lists would scan one list
	// for every row of another.
	Parents: func(arg func(any) string, columns ...dbconn.ParentColumn) string {
		rows, names := make(rows, columns[0].Len()), ""
		for i, c := range columns {
			value := fmt.Sprint("j.value ->> ", i)
			if c.Texts == nil {
				value = "unhex(" + value + ")"
			}
			names += ", " + value + " AS " + c.Name
			for n := range rows {
				if c.Texts == nil {
					rows[n] = append(rows[n], hex.EncodeToString(c.Bytes[n]))
				} else {
					rows[n] = append(rows[n], c.Texts[n])
				}
			}
		}
		return "(SELECT j.key + 1 AS i" + names + " FROM json_each(" + arg(rows) + ") j) p"
	},
	// There is no LATERAL; a correlated list of keys does the same.
	PerParent: func(parents, table, _, page string) string {
		return parents + " CROSS JOIN " + table + " t ON t.rowid IN (SELECT t.rowid FROM " + table + " t WHERE " + page + ")"
	},
	Trigrams: true,
	Now:      "CAST(ROUND(unixepoch('subsec') * 1000) AS INTEGER)",
	Elements: func(column string) string {
		return "json_each(CASE " + column + " WHEN '' THEN '[]' ELSE " + column + " END) e"
	},
	JoinBytes:        func(arg, column string) string { return "CAST(" + arg + " || " + column + " AS BLOB)" }, // || makes a text
	NoEarlierWriters: "1 = 1",                                                                                  // there is one writer
	BindTime:         func(t core.Time) any { return dbconn.StoredTime(t).UnixMilli() },
	Intervals: func(column, origin, seconds string) string {
		return "(" + column + " - " + origin + ") / (" + seconds + " * 1000)"
	},
	ReadTime:    func(millis string) string { return "CAST(" + millis + " AS INTEGER)" },
	Slots:       1,
	TableExists: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
	Migrations:  "sqlite",
}

// spellIn returns the condition that a value is in a list that is bound as JSON.
func spellIn(n string, ofBytes bool) string {
	value := "value"
	if ofBytes {
		value = "unhex(value)"
	}
	return "IN (SELECT " + value + " FROM json_each(" + n + "))"
}

// Engine is a SQLite file with one connection that writes and several that read.
type Engine struct {
	conn   // the connections that read
	reader *sql.DB
	writer *sql.DB
	turn   *fairLock // orders the writers, because database/sql would serve them in random order, and SQLite those of several processes
	path   string
}

var _ dbconn.Engine = (*Engine)(nil)

const maxReaders = 8

// Open opens or creates the file at path. Only its owner may read a new file. It fails, and changes nothing, if another program
// made the database, or if it may have another name. It waits for its turn, because the first connection of a process may change
// the mode of the log, or repair it.
func Open(ctx context.Context, path string) (*Engine, error) {
	turn, err := newFairLock(path)
	if err != nil {
		return nil, err
	}
	if err := turn.enter(ctx); err != nil {
		return nil, errors.Join(err, turn.close())
	}
	defer turn.leave()
	e, err := open(ctx, path)
	if err != nil {
		return nil, errors.Join(err, turn.close())
	}
	e.turn = turn
	return e, nil
}

// open opens the file at path in the turn of the process.
func open(ctx context.Context, path string) (*Engine, error) {
	if err := dbfile.Create(path); err != nil {
		return nil, err
	}
	if err := CheckOrigin(ctx, path); err != nil {
		return nil, err
	}
	writer, err := connectPreparing(path, "&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	if err := writer.PingContext(ctx); err != nil {
		return nil, errors.Join(explainError(path, err), writer.Close())
	}
	reader, err := connectPreparing(path, "&_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	reader.SetMaxOpenConns(maxReaders)
	reader.SetMaxIdleConns(maxReaders)
	return &Engine{conn: conn{reader}, reader: reader, writer: writer, path: path}, nil
}

// CheckOrigin fails if a file may have another name, or if it has tables, but not that of our migrations. Opening it for writing
// would change the mode of its log. What cannot be read is for the caller to explain.
func CheckOrigin(ctx context.Context, path string) error {
	if err := dbfile.CheckNames(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	isOurs := false
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(name = 'goose_db_version'), 1) FROM sqlite_master WHERE type = 'table'").Scan(&isOurs)
	if err == nil && !isOurs {
		return fmt.Errorf("%s is a SQLite database, but not one of Atrium; name another with --database-url", path)
	}
	return nil
}

// connect opens a pool of connections to a file, with the parameters in more.
func connect(path, more string) (*sql.DB, error) {
	return sql.Open("sqlite", dataSource(path, more))
}

// dataSource returns the name by which the driver opens a file, with the parameters in more.
func dataSource(path, more string) string {
	more += temporaryFiles(path)
	// LIKE must be case-sensitive, as on PostgreSQL.
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(8192)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)" +
		"&_pragma=foreign_keys(1)&_pragma=case_sensitive_like(1)&_pragma=cache_size(-65536)&_pragma=mmap_size(268435456)" + more
}

// temporaryFiles returns the parameter that puts temporary files beside a database if there is no other folder for them, or "".
func temporaryFiles(path string) string {
	folder := dbfile.TemporaryFolder(path)
	if folder == "" {
		return ""
	}
	return "&_pragma=" + url.QueryEscape("temp_store_directory('"+strings.ReplaceAll(folder, "'", "''")+"')")
}

// OpenCopy opens a file that nobody changes, to read it. It creates no other files and leaves
// the mode of the log as it is.
func OpenCopy(path string) (*Engine, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?immutable=1&_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	return &Engine{conn: conn{db}, reader: db, writer: db, path: path}, nil
}

// Dialect returns the SQL dialect of SQLite.
func (e *Engine) Dialect() *dbconn.Dialect { return &dialect }

// Connections returns how many reads can run at the same time, in addition to the
// writer.
func (e *Engine) Connections() int { return maxReaders }

// Standbys returns nil: an embedded database has none.
func (e *Engine) Standbys() dbconn.Standbys { return nil }

// Pool describes the use of the connections. Waits and Waited include the writers
// that wait for their turn.
func (e *Engine) Pool() dbconn.PoolState {
	reading, writing := e.reader.Stats(), e.turn.waits()
	return dbconn.PoolState{
		Used: reading.InUse + e.writer.Stats().InUse, Idle: reading.Idle + e.writer.Stats().Idle, Max: maxReaders + 1,
		Waits: reading.WaitCount + writing.count, Waited: reading.WaitDuration + writing.took,
	}
}

// Write runs unit in a transaction of the only writer. Writers are served in the
// order of arrival.
func (e *Engine) Write(ctx context.Context, unit func(dbconn.TxConn) error) (err error) {
	if err := e.turn.enter(ctx); err != nil {
		return err
	}
	defer e.turn.leave()
	tx, err := e.writer.BeginTx(ctx, nil)
	if err != nil {
		return translate(err)
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }() // also if unit panics
	if err := unit(transaction{conn{tx}}); err != nil {
		return err
	}
	return translate(tx.Commit())
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// Follow only waits until ctx ends, because one process serves a file.
func (e *Engine) Follow(ctx context.Context, _ <-chan struct{}, _ func(), _ func(error)) {
	<-ctx.Done()
}

// Ping fails if the file cannot be read.
func (e *Engine) Ping(ctx context.Context) error {
	if err := e.reader.PingContext(ctx); err != nil {
		return core.Unavailable("the database does not answer", err)
	}
	return nil
}

// closePatience limits how long Close waits for other processes. One that is stopped must not keep this one from ending.
const closePatience = 10 * time.Second

// Close ends every connection. It waits for its turn, because the last connection to a file locks it while it empties the log.
func (e *Engine) Close() error {
	if e.turn == nil { // a copy
		return e.reader.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if e.turn.enter(ctx) == nil {
		defer e.turn.leave()
	}
	return errors.Join(e.reader.Close(), e.writer.Close(), e.turn.close())
}

// Migrator returns a Migrator for the migrations in files, which the caller must close.
func (e *Engine) Migrator(files fs.FS) (*dbconn.Migrator, error) {
	db, err := connect(e.path, "&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return dbconn.NewMigrator(db, goose.DialectSQLite3, files, func(ctx context.Context) (func(), error) {
		if err := e.turn.enter(ctx); err != nil {
			return nil, err
		}
		return e.turn.leave, nil
	})
}
