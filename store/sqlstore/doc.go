// Package sqlstore stores the state of the platform in a SQL database, with the same
// tables and the same SQL for every engine. What differs between engines is in dbconn.Dialect and
// dbconn.Engine.
//
// It must not decide who may read or change a row. It gets scopes and keys, which
// only the core makes (internal/house holds that).
//
// Most kinds have a file of their own with their table and their special reads, such as
// repo.go. What all kinds share is in package table, which lists and changes their rows. The other
// files hold:
//
//	store.go       Store and its transactions; tables.go has all tables
//	path.go        reads by names
//	search_index.go makes the index of search texts on PostgreSQL
//	event.go       records what changed
//	sign_in.go     who a caller is; authority.go caches it, presumption.go proves it in the
//	               round trip of the first statements
//
// The way to the database is package dbconn. The tables of events and of deliveries grow with
// time: package partition makes and drops their partitions. Package eventlog reads the audit log.
//
// Changes of the schema, and repairs:
//
//	repair.go      repairs the order of events after a restore
//	migration.go   applies the files of migrations/postgres and migrations/sqlite, of which
//	               the first is the schema of release 0.1.0
//	schema.go      compares the schema of a database with that of this program
package sqlstore
