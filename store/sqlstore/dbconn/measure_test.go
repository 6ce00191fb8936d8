package dbconn

import (
	"context"
	"testing"

	"atrium/platform/core"
)

// A rowsEngine answers every statement with the same rows.
type rowsEngine struct {
	Engine
	rows int
}

func (e rowsEngine) Connections() int { return 1 }

func (e rowsEngine) Dialect() *Dialect { return &Dialect{} }

func (e rowsEngine) Standbys() Standbys { return nil }

func (e rowsEngine) Run(_ context.Context, statements ...*Statement) error {
	scan := func(to ...any) error {
		for _, column := range to {
			switch column := column.(type) {
			case *string:
				*column = "a text"
			case interface{ Scan(any) error }:
				if err := column.Scan(""); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, s := range statements {
		for range e.rows {
			if err := s.Row(scan); err != nil {
				return err
			}
		}
	}
	return nil
}

// jsonTexts decodes nothing.
type jsonTexts struct{ to *[]string }

func (jsonTexts) HoldsJSON()             {}
func (jsonTexts) Scan(any) error         { return nil }
func (jsonTexts) ScanBytes([]byte) error { return nil }

// readPage reads a page of 200 rows into the same variables, so that only the meter
// allocates.
func readPage(ctx context.Context, conn Conn) error {
	name, aliases := "", []string(nil)
	to := []any{&name, jsonTexts{&aliases}, &name}
	return conn.Run(ctx, &Statement{Row: func(scan func(...any) error) error { return scan(to...) }})
}

func countingContext(t testing.TB) context.Context {
	ctx, end := core.NewMemoryPool(core.MemoryLimits{PerResponse: 1 << 40}, nil).Open(t.Context())
	t.Cleanup(end)
	return ctx
}

func TestMeasuringAllocatesIndependentlyOfRows(t *testing.T) {
	allocations := func(rows int) float64 {
		ctx := countingContext(t)
		return testing.AllocsPerRun(10, func() {
			if err := readPage(ctx, New(rowsEngine{rows: rows}, nil, nil, "")); err != nil {
				t.Error(err)
			}
		})
	}
	if one, many := allocations(1), allocations(200); many > one {
		t.Errorf("a row is measured with %v allocations, 200 with %v", one, many)
	}
}

// BenchmarkMeasure measures what the meter adds to a page of 200 rows.
func BenchmarkMeasure(b *testing.B) {
	for name, conn := range map[string]Conn{"plain": rowsEngine{rows: 200}, "measured": New(rowsEngine{rows: 200}, nil, nil, "")} {
		b.Run(name, func(b *testing.B) {
			ctx := countingContext(b)
			b.ReportAllocs()
			for b.Loop() {
				if err := readPage(ctx, conn); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
