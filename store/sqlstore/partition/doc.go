// Package partition makes and drops the partitions of the tables of events and of deliveries.
//
// On PostgreSQL, these tables consist of partitions by time, so that retention drops whole
// partitions. Dropping a partition writes a few kilobytes of log and leaves nothing to vacuum,
// however many rows it has. The coming partitions are made ahead of time, by any process.
// SQLite has no partitions.
//
//	partition.go   Partitions, and how a table is locked while its partitions change
//	event.go       partitions by the ids of events, and which of them a feed must read
//	delivery.go    partitions by the times at which deliveries ended
//
// It must not know what events and deliveries are for: whether events may be dropped, its caller
// tells it.
package partition
