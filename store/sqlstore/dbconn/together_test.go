package dbconn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// A togetherTx records round trips, which end at a statement that fails.
type togetherTx struct {
	TxConn
	trips []string
}

var errTogether = errors.New("the statement fails")

func (tx *togetherTx) Run(_ context.Context, statements ...*Statement) error {
	var texts []string
	for _, s := range statements {
		texts = append(texts, s.SQL)
	}
	tx.trips = append(tx.trips, strings.Join(texts, " "))
	for _, s := range statements {
		if s.SQL == "fail" {
			return errTogether
		}
		s.Done = true
	}
	return nil
}

func TestFunctionsOfATransactionShareRoundTrips(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		reads [][]string // the statements of each function, or an error
		want  []string
		err   error
	}{
		"nothing":                       {nil, nil, nil},
		"one read":                      {[][]string{{"a1", "a2"}}, []string{"lock a1", "a2"}, nil},
		"reads of one trip":             {[][]string{{"a"}, {"b"}, {"c"}}, []string{"lock a b c"}, nil},
		"reads of two trips":            {[][]string{{"a1", "a2"}, {}, {"c"}, {"d1", "d2"}}, []string{"lock a1 c d1", "a2 d2"}, nil},
		"an error without the database": {[][]string{{"a"}, {"refuse"}}, []string{"lock a"}, refused},
		"the first error":               {[][]string{{"a", "refuse"}, {"fail"}}, []string{"lock a fail"}, refused},
		"a statement that fails":        {[][]string{{"a1", "a2"}, {"fail", "b"}, {"c1", "c2"}}, []string{"lock a1 fail c1", "a2"}, errTogether},
		"reads within a read":           {[][]string{{"a1", "a2"}, {"within b1 b2", "b3"}}, []string{"lock a1 b1 b2", "a2 b3"}, nil},
	} {
		sent := &togetherTx{}
		tx := &Tx{TxConn: sent, dialect: &Dialect{Lock: "lock"}}
		if len(c.reads) > 0 {
			tx.Lock("l")
		}
		var reads []func(context.Context) error
		var perform func(ctx context.Context, sql string) error
		perform = func(ctx context.Context, sql string) error {
			if sql == "refuse" {
				return refused
			}
			within := strings.Fields(sql)
			if within[0] != "within" {
				return tx.Run(ctx, &Statement{SQL: sql})
			}
			var inner []func(context.Context) error
			for _, sql := range within[1:] {
				inner = append(inner, func(ctx context.Context) error { return perform(ctx, sql) })
			}
			return tx.RunTogether(ctx, inner...)
		}
		for _, statements := range c.reads {
			reads = append(reads, func(ctx context.Context) error {
				for _, sql := range statements {
					if err := perform(ctx, sql); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := tx.RunTogether(t.Context(), reads...); !errors.Is(err, c.err) {
			t.Errorf("%s: the error is %v, want %v", name, err, c.err)
		}
		if !slices.Equal(sent.trips, c.want) {
			t.Errorf("%s: the round trips are %q, want %q", name, sent.trips, c.want)
		}
	}
}

// What a function returns may read later, with the context of the function.
func TestWhatAFunctionReturnsRunsAlone(t *testing.T) {
	t.Parallel()
	sent := &togetherTx{}
	tx := &Tx{TxConn: sent}
	var later func() error
	err := tx.RunTogether(t.Context(), func(ctx context.Context) error {
		later = func() error { return tx.Run(ctx, &Statement{SQL: "later"}) }
		return tx.Run(ctx, &Statement{SQL: "now"})
	})
	if err := errors.Join(err, later()); err != nil || !slices.Equal(sent.trips, []string{"now", "later"}) {
		t.Errorf("the round trips are %q (%v), want 'now' and 'later'", sent.trips, err)
	}
}

// A panic of one function must reach the caller, and leave no other one waiting.
func TestAPanicEndsAllFunctionsOfATransaction(t *testing.T) {
	t.Parallel()
	tx := &Tx{TxConn: &togetherTx{}}
	var ended error
	defer func() {
		if cause := recover(); cause != "cause" {
			t.Errorf("the panic is %v, want that of the function", cause)
		}
		if !errors.Is(ended, errStopped) {
			t.Errorf("the other function has ended with %v, want %v", ended, errStopped)
		}
	}()
	_ = tx.RunTogether(t.Context(),
		func(ctx context.Context) error { ended = tx.Run(ctx, &Statement{SQL: "a"}); return ended },
		func(context.Context) error { panic("cause") },
	)
}
