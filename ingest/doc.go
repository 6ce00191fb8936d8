// Package ingest brings data of other systems in: it reads their formats and
// hands records to the import operations of the core, in batches.
// It must not decide what a record may hold: the core checks every one.
//
//	osv.go       OSV records: from files, folders and archives
//	archive.go   what is in a folder, a tar or a zip, one document at a time
//	yaml.go      a document of YAML as JSON
//	registry.go  JSON lines of repos, tags and images
//	oci.go       OCI registries: what is read, in which order
//	ocirepos.go  which repos are read, and what became of those that were
//	ocimanifest.go   what a manifest says of architectures and sizes
//	ociclient.go     calls of a registry
//	ocitransport.go  their requests: again after a failure, answers bounded
//	together.go  several things at once
//	lines.go     one line at a time
//	batch.go     how many records go into one transaction
//	ingest.go    what the caller says and is told
//
// Files are streamed: memory holds one document of at most MaxRecord bytes and
// the batches under way, whatever the size of the input. Of registries it holds
// the names of all repos, and the tags of a hundred. Importing
// the same input again changes nothing. A record that cannot be used is
// reported with its place, and the import goes on; an error is returned only
// where it cannot go on, and what was imported until then stays.
//
// The context carries the actor: platform.Operator, since imports are an
// operator's commands.
package ingest
