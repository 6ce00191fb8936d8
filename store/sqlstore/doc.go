// Package sqlstore stores the state of the platform in a SQL database, with the same
// tables and the same SQL for every engine. What differs between engines is in dbconn.Dialect and
// dbconn.Engine.
//
// It must not decide who may read or change a row. It gets scopes and keys, which
// only package platform can make.
//
// Most kinds have a file of their own with their table and their special reads, such as
// repo.go. The other files hold what kinds share:
//
//	store.go       Store and its transactions; tables.go has all tables, operations.go what is done with
//	               them, source.go the connections that they get; table.go says how a
//	               kind is stored, statement.go builds statements, condition.go adds the conditions of filters,
//	               time_column.go reads times
//	list.go        get and list; each.go lists for many parents with one statement,
//	               projection.go selects columns, path.go reads by names
//	search.go      search texts; search_index.go makes their index on PostgreSQL
//	write.go       insert, update and delete; event.go records what changed, counter.go
//	               keeps the totals of lists
//	scope.go       finds the rows of a scope; uid.go stores UIDs as bytes, scope_key.go
//	               the keys by which rows of large kinds are found
//	sign_in.go     who a caller is; authority.go caches it, presumption.go proves it in the
//	               round trip of the first statements
//
// The way to the database is package dbconn.
//
// Tables that grow with time, and changes of the schema:
//
//	partition.go   partitions by time: event_partition.go, delivery_partition.go
//	repair.go      repairs the order of events after a restore
//	migration.go   applies the files of migrations/postgres and migrations/sqlite, of which
//	               the first is the schema of release 0.1.0
//	schema.go      compares the schema of a database with that of this program
package sqlstore
