// Package dbconn is the way to the database: what an engine must do, and the wrappers between a
// store and its engine.
//
//	engine.go      Conn, which runs statements, and Engine, which the packages of PostgreSQL
//	               and SQLite implement; dialect.go has the SQL that differs between them
//	statement.go   a Statement, with what its builder knows of it and what came of it
//	migrator.go    applies the files of a schema
//	database.go    Database, which lists the wrappers; each can be left out
//	tx.go          Tx, a transaction, which sends locks and the proof with other statements;
//	               together.go lets functions that need no result of another one share round trips
//
// Each wrapper has one concern and a file of its own:
//
//	observe.go     reports each round trip
//	quick.go       gathers the reads by key of all requests; shared_trip.go is such a round trip
//	standby.go     lets read replicas of the database answer reads
//	prove.go       sends the proof of who the caller is with the first statements of a request
//	turn.go        lets the reads of a request, and work in the background, wait for connections
//	level.go       gathers the statements of one level of a response
//	measure.go     counts what a response reads
//
// It must know no table and no kind, and decide nothing from the text of a statement: whoever builds
// a statement says in its fields what a wrapper needs to know.
package dbconn
