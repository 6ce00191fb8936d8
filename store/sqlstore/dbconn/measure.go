package dbconn

import (
	"bytes"
	"context"
	"database/sql"
	"strings"

	"atrium/platform/core"
)

// measured runs statements of a response, whose rows it measures.
type measured struct{ next Conn }

func newMeasured(_ *Database, next Conn) Conn { return &measured{next} }

// Run runs statements.
func (m *measured) Run(ctx context.Context, statements ...*Statement) error {
	answer := measureRows(ctx, statements)
	if err := m.next.Run(ctx, statements...); err != nil {
		return err
	}
	return answer.Read(ctx, 0)
}

// measureRows makes statements count the bytes that they read for the response of ctx.
// They stop reading when the response exceeds its limit.
//
// Quick statements, which read little, only note the bytes: the requests that share their
// round trip must not wait for the memory of this one. When they have run, the caller
// calls Read on the response, which waits and fails in their place.
func measureRows(ctx context.Context, statements []*Statement) *core.ResponseMemory {
	answer := core.ResponseMemoryOf(ctx)
	if answer == nil {
		return nil
	}
	for _, s := range statements {
		if s.Row != nil {
			s.Row = (&meter{ctx: ctx, answer: answer, quick: s.Quick, row: s.Row}).measure
		}
	}
	return answer
}

// These are the destinations of a scan whose memory is counted beside texts and bytes.
type (
	// A JSONColumn decodes JSON. HoldsJSON tells it from other scanners of bytes.
	JSONColumn interface {
		sql.Scanner
		BytesScanner
		HoldsJSON()
	}
	// A TextColumn holds a text, and says how long it is.
	TextColumn interface{ Len() int }
)

// rowBytes estimates the memory of a row without its texts.
const rowBytes = 512

// A meter counts the bytes of the rows of one statement. It allocates its buffers
// for the first row and reuses them.
type meter struct {
	ctx    context.Context //nolint:containedctx // the context of the one statement whose rows the meter counts
	answer *core.ResponseMemory
	quick  bool // whether the statement is quick
	row    func(scan func(...any) error) error

	scan     func(...any) error
	counting []any          // destinations of a scan, with columns of JSON in wrappers
	wrappers []measuredJSON // wrappers of the columns of JSON
	json     int            // number of wrappers used for the current row
	measured func(...any) error
}

// measure reads one row and counts its bytes.
func (m *meter) measure(scan func(...any) error) error {
	if m.measured == nil {
		m.measured = m.scanAndCount
	}
	m.scan = scan
	return m.row(m.measured)
}

// scanAndCount scans a row and adds its bytes to those of the response.
func (m *meter) scanAndCount(to ...any) error {
	if len(m.counting) != len(to) {
		m.counting, m.wrappers = make([]any, len(to)), nil
	}
	m.json = 0
	for i, column := range to {
		if json, ok := column.(JSONColumn); ok {
			if m.wrappers == nil {
				m.wrappers = make([]measuredJSON, len(to))
			}
			m.wrappers[i] = measuredJSON{json, &m.json}
			column = &m.wrappers[i]
		}
		m.counting[i] = column
	}
	if err := m.scan(m.counting...); err != nil {
		return err
	}
	n := rowBytes + m.json
	for _, column := range to {
		switch column := column.(type) {
		case *string:
			n += len(*column)
		case TextColumn:
			n += column.Len()
		case *[]byte:
			n += len(*column)
		}
	}
	if m.quick {
		m.answer.Note(n)
		return nil
	}
	return m.answer.Read(m.ctx, n)
}

// measuredJSON counts the memory of a decoded JSON column: a list of short texts
// takes much more than its JSON.
type measuredJSON struct {
	JSONColumn
	n *int
}

const textHeaderBytes = 24

// Scan reads the column.
func (c *measuredJSON) Scan(src any) error {
	switch src := src.(type) {
	case string:
		*c.n += len(src) + textHeaderBytes*strings.Count(src, `","`)
	case []byte:
		return c.ScanBytes(src)
	}
	return c.JSONColumn.Scan(src)
}

// ScanBytes reads JSON text.
func (c *measuredJSON) ScanBytes(src []byte) error {
	*c.n += len(src) + textHeaderBytes*bytes.Count(src, []byte(`","`))
	return c.JSONColumn.ScanBytes(src)
}
