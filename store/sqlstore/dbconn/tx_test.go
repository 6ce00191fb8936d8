package dbconn

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// A recordingTx records the round trips of a transaction.
type recordingTx struct {
	TxConn
	trips []string
}

func (tx *recordingTx) Run(_ context.Context, statements ...*Statement) error {
	var texts []string
	for _, s := range statements {
		texts = append(texts, s.SQL)
	}
	tx.trips = append(tx.trips, strings.Join(texts, " "))
	return nil
}

func (tx *recordingTx) Copy(_ context.Context, table string, _ []string, _ [][]any) error {
	tx.trips = append(tx.trips, "copy "+table)
	return nil
}

func (tx *recordingTx) Commit(ctx context.Context, statements ...*Statement) error {
	return tx.Run(ctx, append(statements, &Statement{SQL: "commit"})...)
}

func TestQueuedStatementsAreSentBeforeTheNextOnes(t *testing.T) {
	t.Parallel()
	statement := func(sql string) *Statement { return &Statement{SQL: sql} }
	many := make([]*Statement, queuedWithCommit+1)
	for i := range many {
		many[i] = statement("q")
	}
	for name, c := range map[string]struct {
		act  func(ctx context.Context, tx *Tx) error
		want []string
	}{
		"in their order, with the next statement": {func(ctx context.Context, tx *Tx) error {
			tx.Queue(statement("a"))
			tx.Lock("l")
			tx.Queue(statement("b"))
			return tx.Run(ctx, statement("c"))
		}, []string{"a lock b c", "commit"}},
		"before many rows": {func(ctx context.Context, tx *Tx) error {
			tx.Queue(statement("a"))
			return tx.Copy(ctx, "t", nil, nil)
		}, []string{"a", "copy t", "commit"}},
		"with the commit": {func(_ context.Context, tx *Tx) error {
			tx.Queue(statement("a"))
			return nil
		}, []string{"a commit"}},
		"before the commit, because they are many": {func(_ context.Context, tx *Tx) error {
			tx.Queue(many...)
			return nil
		}, []string{strings.TrimSuffix(strings.Repeat("q ", len(many)), " "), "commit"}},
	} {
		sent := &recordingTx{}
		tx := &Tx{TxConn: sent, dialect: &Dialect{Lock: "lock"}}
		if err := c.act(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sent.trips, c.want) {
			t.Errorf("%s: the round trips are %q, want %q", name, sent.trips, c.want)
		}
	}
}
