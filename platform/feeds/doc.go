// Package feeds imports what feeds say of vulnerabilities: advisories, metadata, and catalogs of exploitation. Only operators import.
// It imports core, iam, inventory and ecosystem.
//
// Begin with ImportRecords (advisory.go), which imports all that a feed says about a vulnerability:
//
//	feeds.go             Feeds, which has the operations, and what it needs of the database
//	advisory.go          imports advisories, and withdraws what records no longer name
//	representative.go    finds out which advisories are of the same vulnerability
//	vulnerability.go     imports metadata of vulnerabilities
//	exploitation.go      imports the catalog of known exploited vulnerabilities (KEV) and the probabilities of EPSS
package feeds
