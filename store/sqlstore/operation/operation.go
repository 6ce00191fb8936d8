// Package operation stores operations: work that goes on after its request was answered.
package operation

import (
	"context"
	"encoding/json"

	"atrium/platform/core"
	"atrium/platform/operations"
	"atrium/store/sqlstore/table"
)

// Queries implements operations.Queries.
type Queries struct{}

// PutOperation stores a new operation, and forgets those whose time is over.
func (Queries) PutOperation(ctx context.Context, in core.Tx, o *operations.Operation) error {
	tx := table.SourceOf(in)
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return tx.Conn.Run(ctx,
		table.NewStatement(tx.Dialect).Add("DELETE FROM operation WHERE expire_time < ?", o.CreateTime).Build(nil),
		table.NewStatement(tx.Dialect).Add("INSERT INTO operation (uid, is_done, is_cancelled, expire_time, body) VALUES (?, ?, ?, ?, ?)",
			o.UID, o.Done, false, o.ExpireTime, string(body)).Build(nil))
}

// Operation reads an operation, or nil if there is none.
func (Queries) Operation(ctx context.Context, on core.Conn, uid core.UID) (o *operations.Operation, err error) {
	s := table.SourceOf(on)
	q := table.NewStatement(s.Dialect).Add("SELECT body FROM operation WHERE uid = ?", uid)
	err = s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var body string
		if err := scan(&body); err != nil {
			return err
		}
		o = &operations.Operation{}
		return json.Unmarshal([]byte(body), o)
	}))
	return o, err
}

// UpdateOperation writes an operation that has not ended, and returns whether it was asked to stop.
func (Queries) UpdateOperation(ctx context.Context, in core.Tx, o *operations.Operation) (isCancelled, isRunning bool, err error) {
	tx := table.SourceOf(in)
	body, err := json.Marshal(o)
	if err != nil {
		return false, false, err
	}
	q := table.NewStatement(tx.Dialect).Add("UPDATE operation SET body = ?, is_done = ? WHERE uid = ? AND NOT is_done RETURNING is_cancelled", string(body), o.Done, o.UID)
	err = tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		isRunning = true
		return scan(&isCancelled)
	}))
	return isCancelled, isRunning, err
}

// CancelOperation asks an operation to stop.
func (Queries) CancelOperation(ctx context.Context, in core.Tx, uid core.UID) error {
	tx := table.SourceOf(in)
	return tx.Conn.Run(ctx, table.NewStatement(tx.Dialect).Add("UPDATE operation SET is_cancelled = ? WHERE uid = ?", true, uid).Build(nil))
}
