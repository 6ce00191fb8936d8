package sqlstore

import (
	"bytes"
	"context"
	"strings"

	"atrium/platform"
)

// A measured connection counts what it reads for the answer of its context,
// and stops reading where that is more than the answer may hold.
type measured struct{ Conn }

// Run runs statements.
func (m measured) Run(ctx context.Context, statements ...*Statement) error {
	if answer := platform.AnswerOf(ctx); answer != nil {
		for _, s := range statements {
			if row := s.Row; row != nil {
				s.Row = func(scan func(...any) error) error {
					return row(func(to ...any) error { return measure(ctx, answer, scan, to) })
				}
			}
		}
	}
	return m.Conn.Run(ctx, statements...)
}

// rowBytes is about what a row takes beside its texts.
const rowBytes = 512

// measure scans one row and counts it.
func measure(ctx context.Context, answer *platform.Answer, scan func(...any) error, to []any) error {
	n := rowBytes
	counting := make([]any, len(to))
	for i, column := range to {
		if of, ok := column.(jsonColumn); ok {
			column = measuredJSON{of, &n}
		}
		counting[i] = column
	}
	if err := scan(counting...); err != nil {
		return err
	}
	for _, column := range to {
		switch column := column.(type) {
		case *string:
			n += len(*column)
		case *[]byte:
			n += len(*column)
		}
	}
	return answer.Read(ctx, n)
}

// measuredJSON counts what a column of JSON becomes: a list of short texts
// takes far more than its JSON.
type measuredJSON struct {
	jsonColumn
	n *int
}

const textHeaderBytes = 24

// Scan reads the column.
func (c measuredJSON) Scan(src any) error {
	switch src := src.(type) {
	case string:
		*c.n += len(src) + textHeaderBytes*strings.Count(src, `","`)
	case []byte:
		*c.n += len(src) + textHeaderBytes*bytes.Count(src, []byte(`","`))
	}
	return c.jsonColumn.Scan(src)
}
