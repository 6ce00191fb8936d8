// Package events has the operations on recorded events: live feeds, the audit log, and what follows from it.
// It imports core, iam, inventory and fieldmask. It knows the events of every kind from Types.
//
// Begin with Events.Open and Feed.Follow (feed.go), which deliver new events to a caller; with AuditLog.List
// (audit_log.go); and with Types (types.go), which has the types of all events.
//
//	area.go           Area, which has the operations, and what it needs of the database
//	types.go          the types of events, as the kinds describe them
//	feed.go           live feeds; broadcast.go reads events once for all of them, callers.go keeps the
//	                  grants of their callers, anchor.go notices a database that lacks the newest events
//	audit_log.go      recorded events and denials; activity.go counts them by day or week,
//	                  audit_summary.go by who caused them, audit_runs.go folds those that are alike,
//	                  access_record.go tells who had access in the past, and how that changed
//	retention.go      deletes old events and deliveries
package events
