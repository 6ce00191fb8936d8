package pgpool

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Sleep waits for a time, and returns false if ctx ended before.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// CloseConn closes a connection, even if ctx has ended.
func CloseConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}
