package dbconn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// A tripLog notes the SQL of each round trip.
type tripLog []string

func (l *tripLog) RoundTrip(_ context.Context, statements []*Statement, _ time.Duration, _ error) {
	texts := make([]string, len(statements))
	for i, s := range statements {
		texts[i] = s.SQL
	}
	*l = append(*l, strings.Join(texts, "; "))
}

// A line of the log about a slow round trip without SQL says nothing.
func TestEveryRoundTripOfATransactionTellsItsSQL(t *testing.T) {
	t.Parallel()
	var seen tripLog
	tx, ctx := observedTx{&recordingTx{}, observers{&seen}}, t.Context()
	if err := errors.Join(tx.Run(ctx, &Statement{SQL: "a"}, &Statement{SQL: "b"}), tx.Copy(ctx, "t", nil, nil), tx.Commit(ctx, &Statement{SQL: "c"}), tx.Commit(ctx)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a; b", "COPY t", "c", "COMMIT"}; !slices.Equal(seen, want) {
		t.Errorf("the observer is told of %q, want %q", seen, want)
	}
}
