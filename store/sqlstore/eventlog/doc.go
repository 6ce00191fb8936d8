// Package eventlog reads the log of events: the audit log, and what it says of access in the past.
//
//	row.go         how a row becomes an event
//	audit_log.go   pages of the audit log; each way in which a resource can occur in an event has its own index
//	access.go      changes of role bindings and of roles
//
// It must not know how events are recorded or relayed: package sqlstore does that.
package eventlog
