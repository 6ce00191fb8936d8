package platform

import (
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/feeds"
	"atrium/platform/iam"
	"atrium/platform/intake"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/operations"
	"atrium/platform/registry"
	"atrium/platform/reports"
	"atrium/platform/secrets"
	"atrium/platform/webhooks"
)

// Tables are the tables of the database by area, and the queries beside them. They have no state: each call names the
// store or the transaction that it goes through. The store makes them.
type Tables struct {
	IAM       iam.Tables
	Inventory inventory.Tables
	Libraries libraries.Tables
	Feeds     feeds.Tables
	Registry  registry.Tables
	Reports   reports.Tables
	Events    events.Queries
	Webhooks  webhooks.Tables
	Sources   intake.Tables
	Secrets   secrets.Queries
	Search    core.SearchQueries

	Operations  operations.Queries
	Idempotency core.IdempotencyQueries
}
