// Package source reads sources: it fetches what they have, and imports it as the commands of the same names do (internal/ingest).
//
//	reader.go   Reader, which claims sources that are due, and runs them
//	run.go      one run of a source, and its report
//	fetch.go    fetches a document or an archive into a file, unless it is as it was
//	index.go    reads lists of records, of which only the changed ones are fetched
//	documents.go VEX and SBOM documents, alone and by an index
//	registry.go what a registry has
//	osv.go      OSV records: archives of ecosystems, and single records
//	failure.go  says why a source could not be read
//
// A source is hostile until it has shown that it is not: its addresses are checked as those of webhooks are, also after redirects;
// the bytes and the times of each answer, of what it unpacks to, and of a run are limited. What was fetched is imported only when it is
// complete.
package source
