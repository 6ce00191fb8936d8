package platform

import (
	"context"

	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/webhooks"
)

// Store is the database of the platform. Two engines implement it; store/storetest
// tests both.
type Store interface {
	iam.Store
	events.Store
	webhooks.Store

	// Gather announces that n concurrent calls will read for one response. Each
	// call uses a context from join, and calls end when it has finished. The store
	// may combine the statements of these calls.
	Gather(n int) (join func(context.Context) context.Context, end func())

	// AwaitOther calls wait while one of these calls waits for the read of another.
	AwaitOther(ctx context.Context, wait func())

	// AllowStandby marks ctx as that of a request that changes nothing. The store may
	// read from a copy of the database that has everything which was acknowledged before
	// the request. It always finds out from the database itself who the caller is.
	AllowStandby(ctx context.Context) context.Context

	// Recount corrects the counters and returns how many were wrong.
	Recount(ctx context.Context) (wrong int64, err error)

	// Tables returns the tables of the database.
	Tables() Tables

	// CheckSchema fails if the store does not respond or does not have the schema
	// of this program.
	CheckSchema(ctx context.Context) error
	Close() error
}
