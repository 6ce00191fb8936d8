// Package reports has answers that are made of several kinds for one request, and that nothing stores. It imports core, iam,
// inventory, affected, ecosystem and fieldmask.
//
// Begin with AdvisoryDocuments (advisory_document.go), which combines the advisories about one artifact, with
// ResolvedVulnerabilities (resolved_vulnerability.go), which tells what was fixed in images on which day, with
// ImageComparisons (image_comparison.go), which tells what differs between two images, with ImageChecks (image_check.go, image_check_find.go), which
// decides whether an image may be released, with SBOMs (image_sbom.go), which reads the SBOM of
// an image, with Exports (export.go), which
// reads whole lists for files, with PackageOrigins (package_origin.go), which tells where the packages of findings come from,
// with FindingRankings (finding_ranking.go, upgrade.go), which tells what findings are of most and what to upgrade first, with Activities (activity.go), which tell how
// many findings and advisories there were by interval, and with Remediations (remediation.go), which tells what was fixed and how
// long it took. area.go has Area, which has the operations.
package reports
