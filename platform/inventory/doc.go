// Package inventory has what is in registries, and what is known to be vulnerable in it. These are one area,
// because repos, tags and images show their findings, and findings follow from what images hold. It imports
// core, iam and the leaves.
//
// Begin with Tag (tag.go), which is one kind from its type to its operations; with Area.PutComponents
// (component.go), by which packages come in; and with Findings.Settle (finding_task.go), from which findings follow.
//
// Registries:
//
//	repo.go, tag.go, image.go          the registry; tag_batch.go creates many tags,
//	               repo_facet.go counts repos by what they have in common, and
//	               image_condition.go has conditions on what images hold
//	package.go, package_version.go     what images hold; component.go has what documents say
//	               of them, and placement.go of where they come from; package_put.go stores and
//	               ranks versions, and image_package.go lists what one image holds
//
// Vulnerabilities:
//
//	advisory.go, vulnerability.go      what feeds say, which package feeds imports and advisory_check.go
//	               checks; severity.go rates them, advisory_match.go matches advisories with repos and tags,
//	               advisory_group.go says which of them findings follow from,
//	               advisory_summary.go counts advisories;
//	               document_event.go is how documents of reports show their events
//	finding.go     which advisories affect which images: finding_filter.go checks filters inside
//	               of filters, finding_task.go has what to look at again, finding_expiry.go ends exceptions,
//	               finding_reconcile.go writes what follows from tags, packages and
//	               advisories, finding_image.go has what is known of an image,
//	               finding_match.go compares versions, finding_change.go notes what
//	               changes, for the events of finding_event.go; finding_update.go, finding_decision.go and
//	               finding_rule.go are what callers decide, finding_pattern.go accepts by
//	               conditions, finding_predict.go has what findings an image would have,
//	               finding_age.go counts open ones by age, due_policy.go sets due dates, finding_triage.go says which decision
//	               counts; finding_summary.go counts, exploitation.go has what catalogs say
//
// What they share:
//
//	area.go        Area, which has the operations, and what it needs of the database
//	facet.go       counts the rows of lists by values; path.go finds repos by names, and
//	               search_text.go has the texts that searches look at
package inventory
