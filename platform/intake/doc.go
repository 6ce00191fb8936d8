// Package intake has the places that the server reads by itself, at intervals: feeds of advisories, catalogs, registries and
// documents. It imports core, secrets, iam, webhooks and fieldmask.
//
// Begin with Sources.Create (source.go), and with Queue.End (queue.go), which decides what follows a run. Package internal/source
// reads.
//
//	area.go         Area, which has the operations, and what it needs of the database
//	source.go       what is read, how often, and for whom
//	source_type.go  the types of sources, and what each of them can be told
//	run.go          the reports of runs, and requests to run and to cancel
//	feed.go         the operator's sources, which are for all organizations, and how old they are
//	queue.go        gives sources that are due to processes, with leases
//	outcome.go      decides when a source is read again
package intake
