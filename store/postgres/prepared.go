package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"atrium/internal/lru"
	"atrium/platform/core"
	"atrium/store/pgpool"
	"atrium/store/sqlstore/dbconn"
)

// Reads run as prepared statements through the protocol that pgx is built on: their
// arguments have few types, and their rows are decoded from bytes anyway.

// A preparedConn holds the prepared statements of one connection, and buffers.
type preparedConn struct {
	statements *lru.Cache[string, *preparedStatement] // prepared statements by their SQL
	dropped    []string                               // names of statements that the server still has

	text    []byte
	values  [][]byte
	formats []int16
	running []*preparedStatement
	decoder decoder
}

// A preparedStatement is a statement that the server has prepared.
type preparedStatement struct {
	*pgconn.StatementDescription
	formats []int16 // formats of the columns
}

// maxPrepared is the number of statements that a connection keeps prepared.
const maxPrepared = 512

const preparedKey = "atrium.prepared"

// preparedOf returns the preparedConn that is stored in a connection.
func preparedOf(conn *pgconn.PgConn) *preparedConn {
	if p, ok := conn.CustomData()[preparedKey].(*preparedConn); ok {
		return p
	}
	// text is never nil, because an empty argument at its start would be nil, which is NULL.
	p := &preparedConn{text: make([]byte, 0, 512)}
	p.statements = lru.New(maxPrepared, func(_ string, s *preparedStatement) { p.dropped = append(p.dropped, s.Name) })
	conn.CustomData()[preparedKey] = p
	return p
}

// runOnce sends all statements at once and reads their results, outside of any
// transaction. It returns the number of rows. If the server has dropped or outgrown a
// prepared statement, it prepares the statements again and repeats those that are not
// done, unless rows are held: then the statements may run on another server.
func (c conn) runOnce(ctx context.Context, pool *pgpool.Pool, statements []*dbconn.Statement) (count int, err error) {
	core.TraceOf(ctx).NoteStatements(len(statements))
	pooled, err := pool.Acquire(ctx)
	if err != nil {
		return 0, translate(err)
	}
	defer pool.Release(pooled)
	conn := pooled.Conn()
	if !c.prepares {
		c.querier = conn
		return c.run(ctx, statements)
	}
	prepared := preparedOf(conn.PgConn())
	sent := c.pipeline(statements)
	prepared.decoder.held = c.held
	if count, err = prepared.run(ctx, conn, sent); err == nil {
		return count, nil
	}
	prepared.forget(sent)
	if c.held == nil && isOutgrown(err) && !conn.IsClosed() { // such a statement fails before its first row
		sent = c.pipeline(slices.DeleteFunc(slices.Clone(statements), func(s *dbconn.Statement) bool { return s.Done && s.Row != nil }))
		var more int
		if more, err = prepared.run(ctx, conn, sent); err != nil {
			prepared.forget(sent)
		}
		count += more
	}
	return count, translate(err)
}

// isOutgrown reports whether a statement must be prepared again: a migration has
// changed its tables, or a pooler has changed the server.
func isOutgrown(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && (said.Code == "0A000" || said.Code == "26000")
}

func (p *preparedConn) forget(statements []*dbconn.Statement) {
	for _, s := range statements {
		p.statements.Remove(s.SQL)
	}
}

// run prepares the statements that need it, sends all at once and reads their results.
func (p *preparedConn) run(ctx context.Context, conn *pgx.Conn, statements []*dbconn.Statement) (count int, err error) {
	if err := p.prepare(ctx, conn.PgConn(), statements); err != nil {
		return 0, err
	}
	var batch pgconn.Batch
	p.text = p.text[:0]
	for i, s := range statements {
		if err := p.bind(s, p.running[i]); err != nil {
			s.Failed = true
			return 0, err
		}
		batch.ExecStatement(p.running[i].StatementDescription, p.values, p.formats, p.running[i].formats)
	}
	results := conn.PgConn().ExecBatch(ctx, &batch)
	decoder := &p.decoder
	decoder.types = conn.TypeMap()
	for i, s := range statements {
		s.Failed = true // until it has ended, also if the caller panics on a row
		if !results.NextResult() {
			break
		}
		decoder.fields, decoder.formats = p.running[i].Fields, p.running[i].formats
		if err = readPrepared(results.ResultReader(), decoder, s, &count); err != nil {
			break
		}
		s.Failed = false
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	return count, err
}

// readPrepared passes on the rows of a statement, and adds their number to count.
func readPrepared(results *pgconn.ResultReader, d *decoder, s *dbconn.Statement, count *int) error {
	for results.NextRow() {
		if s.Row == nil {
			continue
		}
		*count++
		d.raw = results.Values()
		if err := d.pass(s.Row); err != nil {
			return err
		}
	}
	tag, err := results.Close()
	err = d.end(s.Row, err)
	s.Affected, s.Done = tag.RowsAffected(), err == nil
	return err
}

// prepare prepares, in one round trip, the statements that the connection does not
// know, and drops those that it knows no longer.
func (p *preparedConn) prepare(ctx context.Context, conn *pgconn.PgConn, statements []*dbconn.Statement) error {
	p.running = p.running[:0]
	missing := 0
	for _, s := range statements {
		known, isKnown := p.statements.Get(s.SQL)
		if !isKnown {
			missing++
		}
		p.running = append(p.running, known)
	}
	if missing == 0 {
		return nil
	}
	pipeline := conn.StartPipeline(ctx)
	limitsWait := statements[0].Place == dbconn.LimitsWait
	if limitsWait {
		pipeline.SendQueryParams(statements[0].SQL, nil, nil, nil, nil)
	}
	for _, name := range p.dropped {
		pipeline.SendDeallocate(name)
	}
	dropped := len(p.dropped)
	for i, s := range statements {
		if p.running[i] == nil && !isAmong(statements[:i], s.SQL) {
			pipeline.SendPrepare(preparedName(s.SQL), s.SQL, nil)
		}
	}
	if err := pipeline.Sync(); err != nil {
		return errors.Join(err, pipeline.Close())
	}
	if limitsWait {
		results, err := pipeline.GetResults()
		if limit, ok := results.(*pgconn.ResultReader); ok {
			_, err = limit.Close()
		}
		if err != nil {
			return errors.Join(err, pipeline.Close())
		}
	}
	for range dropped {
		if _, err := pipeline.GetResults(); err != nil {
			return errors.Join(err, pipeline.Close())
		}
	}
	p.dropped = p.dropped[dropped:]
	for i, s := range statements {
		if p.running[i] == nil && isAmong(statements[:i], s.SQL) {
			p.running[i], _ = p.statements.Get(s.SQL)
		}
		if p.running[i] != nil {
			continue
		}
		results, err := pipeline.GetResults()
		if err != nil {
			s.Failed = true
			return errors.Join(err, pipeline.Close())
		}
		description, ok := results.(*pgconn.StatementDescription)
		if !ok {
			return errors.Join(errUnprepared, pipeline.Close())
		}
		description.Name, description.SQL = preparedName(s.SQL), s.SQL
		p.running[i] = &preparedStatement{description, columnFormats(description.Fields)}
		p.statements.Add(s.SQL, p.running[i])
	}
	return pipeline.Close()
}

var errUnprepared = errors.New("the server did not describe a prepared statement")

func isAmong(statements []*dbconn.Statement, sql string) bool {
	return slices.ContainsFunc(statements, func(s *dbconn.Statement) bool { return s.SQL == sql })
}

// preparedName names a statement by its SQL. Behind a pooler that does not know of
// prepared statements, no other statement can be found under the name.
func preparedName(sql string) string {
	digest := sha256.Sum256([]byte(sql))
	return "atrium_" + hex.EncodeToString(digest[:24])
}

// columnFormats asks for the types that a decoder knows in binary.
func columnFormats(fields []pgconn.FieldDescription) []int16 {
	formats := make([]int16, len(fields))
	for i, f := range fields {
		switch f.DataTypeOID {
		case pgtype.ByteaOID, pgtype.BoolOID, pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.TimestamptzOID:
			formats[i] = pgtype.BinaryFormatCode
		}
	}
	return formats
}

// bind encodes the arguments of a statement.
func (p *preparedConn) bind(s *dbconn.Statement, to *preparedStatement) error {
	p.values, p.formats = p.values[:0], p.formats[:0]
	if len(s.Args) != len(to.ParamOIDs) {
		return errArguments
	}
	for i, arg := range s.Args {
		start := len(p.text)
		format, err := p.encode(arg, to.ParamOIDs[i])
		if err != nil {
			return err
		}
		value := p.text[start:len(p.text):len(p.text)]
		if arg == nil {
			value = nil
		}
		p.values, p.formats = append(p.values, value), append(p.formats, format)
	}
	return nil
}

var errArguments = errors.New("a statement has more or fewer arguments than placeholders")

// encode appends an argument, and returns its format. Texts are sent as they are,
// whatever the type of the argument.
func (p *preparedConn) encode(arg any, oid uint32) (format int16, err error) {
	switch arg := arg.(type) {
	case nil:
	case string:
		p.text = append(p.text, arg...)
	case bool:
		p.text = strconv.AppendBool(p.text, arg)
	case int64:
		p.text = strconv.AppendInt(p.text, arg, 10)
	case []byte:
		p.text = append(p.text, arg...)
		return pgtype.BinaryFormatCode, nil
	case core.Time:
		p.text = dbconn.StoredTime(arg).UTC().AppendFormat(p.text, time.RFC3339Nano)
	case []string:
		p.text = appendArray(p.text, pgtype.TextOID, len(arg))
		for _, text := range arg {
			p.text = append(appendSize(p.text, len(text)), text...)
		}
		return pgtype.BinaryFormatCode, nil
	case [][]byte:
		p.text = appendArray(p.text, pgtype.ByteaOID, len(arg))
		for _, b := range arg {
			p.text = append(appendSize(p.text, len(b)), b...)
		}
		return pgtype.BinaryFormatCode, nil
	default:
		return 0, fmt.Errorf("an argument for a placeholder of type %d is a %T", oid, arg)
	}
	return pgtype.TextFormatCode, nil
}

// appendArray begins an array of n elements that are not null.
func appendArray(b []byte, element uint32, n int) []byte {
	if n == 0 {
		b = appendSize(b, 0) // dimensions
		return binary.BigEndian.AppendUint32(appendSize(b, 0), element)
	}
	b = binary.BigEndian.AppendUint32(appendSize(appendSize(b, 1), 0), element)
	return appendSize(appendSize(b, n), 1) // its length, and the index of its first element
}

func appendSize(b []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(n)) //nolint:gosec // a message has at most 1 GB
}
