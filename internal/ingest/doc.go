// Package ingest imports data from other systems. It reads their formats and
// passes the records in batches to the import operations of the core. It must not
// decide what a record may contain: the core checks every one.
//
//	osv.go       OSV records: from files, folders and archives
//	osvrecord.go the format of an OSV record; elements.go limits the lengths of its lists
//	archive.go   reads the documents of a folder, a tar or a zip, one at a time
//	yaml.go      converts a YAML document to JSON
//	sbom.go      SPDX and CycloneDX documents; image.go finds and makes their images
//	door.go      what callers hand in over the network; upload.go keeps it
//	exploitation.go  what is known to be exploited (KEV), and what is likely to be (EPSS)
//	registry.go  JSON lines of repos, tags and images
//	vex.go       statements of VEX documents
//	artifacts.go JSON lines of libraries with their versions
//	oci.go       OCI registries: imports repos, tags and images in order
//	ocirepos.go  decides which repos are read, and prunes those that vanished
//	ocimanifest.go   reads architectures and sizes from manifests
//	ocisbom.go   reads the SBOMs that a registry has about images
//	ociclient.go     the client of registries
//	ocitransport.go  retries requests and limits the size of answers
//	parallel.go  runs work for several items at the same time
//	lines.go     reads a file line by line
//	batch.go     collects the records of one transaction
//	ingest.go    options, progress and summary of an import
//
// Files are streamed: memory holds one document of at most MaxRecord bytes and the
// current batches, for input of any size. Of a registry, memory holds the names of
// all repos and the tags of a hundred. Importing the same input again changes
// nothing. A record that cannot be used is reported with its place, and the import
// continues. An error is returned only if the import cannot continue; what was
// imported before stays.
//
// The context must carry the actor core.NewOperator, or a caller with the capabilities of the
// import.
package ingest
