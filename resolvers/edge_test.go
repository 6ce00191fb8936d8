package resolvers

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/graphql/analysis"
)

// identifiers are the scalars whose names, beside those of types, name an object of this service.
var identifiers = strings.Fields(`
	digest baseDigest vulnerabilityId advisoryId legacyAdvisoryId documentId eventId docId package purl aliases upstream related sources disputedBy names
	subject author reviewer creator assignee decidedBy acceptedBy actors author within target source activeTags tags value`)

// edgesBeside has the edges whose names are others than that of the scalar without its ending.
var edgesBeside = map[string]string{
	"Advisory.advisoryId": "vulnerability", "Advisory.legacyAdvisoryId": "vulnerability", "Advisory.aliases": "vulnerabilities", "Advisory.upstream": "vulnerabilities", "Advisory.related": "relatedVulnerabilities",
	"DocumentAdvisory.advisoryId": "vulnerability", "DocumentAdvisory.aliases": "vulnerability", "ResolvedVulnerability.advisoryId": "vulnerability", "ResolvedVulnerability.aliases": "vulnerability",
	"VulnerabilityMetadata.vulnerabilityId": "exposure", "VulnerabilityMetadata.upstream": "upstreamVulnerabilities", "VulnerabilityMetadata.related": "relatedVulnerabilities",
	"VulnerabilityExposure.names": "metadata", "TopPackage.package": "heldPackage", "Upgrade.package": "heldPackage", "Finding.package": "packageVersion", "Finding.sources": "advisories", "Finding.disputedBy": "advisories",
	"Finding.digest": "image", "Finding.decidedBy": "decider", "Tag.digest": "image", "ImagePackage.purl": "packageVersion", "IntroducingPackage.purl": "packageVersion", "PackageVersion.purl": "package",
	"Event.subject": "resource", "EventActor.subject": "identity", "EventConditions.actors": "actorIdentities", "Operation.creator": "creatorIdentity",
	"TermsAcceptance.acceptedBy": "acceptedByIdentity", "TermsAcceptance.orgUid": "group",
	"RepoFacet.value": "repo", "RoleFacet.value": "role", "GroupFacet.value": "group", "IdentityFacet.value": "identity", "VulnerabilityFacet.value": "vulnerability", "ActorFacet.value": "identity",
	"CheckedFinding.vulnerabilityId": "finding", "CheckedFinding.package": "finding", "CheckedFinding.sources": "finding",
	"ChangedFinding.vulnerabilityId": "finding", "ChangedFinding.package": "finding", "ChangedFinding.decidedBy": "finding",
}

// edgeless has the scalars without an edge, with the reason.
var edgeless = map[string]string{
	"AcceptTermsPayload.documentIds":        "documents of terms are not kept here",
	"TermsAcceptance.docId":                 "documents of terms are not kept here",
	"AdvisoryDocument.documentId":           "it is what the document itself is found by",
	"Advisory.author":                       "feeds name people of their own",
	"AdvisoryEvent.author":                  "feeds name people of their own",
	"AdvisoryEvent.reviewer":                "feeds name people of their own",
	"AdvisoryEvent.uid":                     "it is the object's own name, given by the feed",
	"ClaimMatch.subject":                    "it is the subject of a token",
	"StaticKeys.subject":                    "it is the subject of a token",
	"Image.digest":                          "it is what the image itself is found by",
	"ImageCheck.digest":                     "it is what was asked for; repo { tags } lead to the image",
	"PackageUpgrade.package":                "the findings that fail the image, and the heldPackage of an upgrade, lead to it",
	"Image.baseDigest":                      "base images lie in registries of others",
	"AcceptanceConditions.packages":         "they are names that findings are compared with",
	"AdvisoryScanDetection.artifactVersion": "scanners name what they like",
	"DocumentScan.artifactVersion":          "scanners name what they like",
	"Repo.aliases":                          "they are texts for searches",
	"Repo.activeTags":                       "they are names, some of tags that are not there yet; Repo.tag(name:) reads one",
	"ReportedImageRef.tags":                 "it is a name; repo { tag(name:) } reads the tag",
	"SyncConfig.source":                     "it is free text",
	"ValueFacet.value":                      "it is a text; topPackages leads to packages",
	"FindingChange.repoUid":                 "Event.resource is the repo",
	"FindingChange.digest":                  "the findings of the change lead to the image",
	"FindingRule.vulnerabilityId":           "it is a condition, which findings are compared with",
	"FindingRule.package":                   "it is a condition, which findings are compared with",
	"FindingRule.digest":                    "it is a condition, which findings are compared with",
	"FindingRule.image":                     "it is a condition, which findings are compared with",
	"FindingRule.author":                    "it is the actor of the event",
	"Label.value":                           "labels are texts",
	"LabelCondition.value":                  "labels are texts",
	"LabelFacet.value":                      "labels are texts",
}

// An id of an object that is gone leads nowhere.
var goneName = regexp.MustCompile(`^deletedU?[Ii]ds?$`)

// TestWhatNamesAnObjectLeadsToIt finds the next dead end: a text or uid in an answer that names an object, and no field beside it that leads
// to the object.
func TestWhatNamesAnObjectLeadsToIt(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, object := range Schema().Types {
		if slices.Contains(object.Interfaces, "Node") || object.Name == "Image" || object.Name == "VulnerabilityExposure" {
			name := strings.ToLower(object.Name[:1]) + object.Name[1:]
			kinds[name], kinds[name+"s"] = true, true
		}
	}
	used := map[string]bool{}
	for name, field := range fieldsWith(func(object *ast.Definition, field *ast.FieldDefinition) bool {
		leaf := Schema().Types[field.Type.Name()]
		text := leaf.Kind == ast.Scalar && slices.Contains([]string{"ID", "UID", "String", "StringMap"}, leaf.Name)
		_, isUID := cutUID(field.Name)
		return text && len(field.Arguments) == 0 && !goneName.MatchString(field.Name) && !strings.HasSuffix(object.Name, analysis.Connection) &&
			(isUID || kinds[field.Name] || slices.Contains(identifiers, field.Name) || edgeless[object.Name+"."+field.Name] != "" || edgesBeside[object.Name+"."+field.Name] != "")
	}) {
		kind, _, _ := strings.Cut(name, ".")
		if edgeless[name] != "" {
			used[name] = true
			continue
		}
		edge, _ := cutUID(field.Name)
		if other, named := edgesBeside[name]; named {
			edge, used[name] = other, true
		}
		edge = strings.TrimSuffix(edge, "Id")
		to := Schema().Types[kind].Fields.ForName(edge)
		if to == nil || Schema().Types[to.Type.Name()].IsLeafType() {
			t.Errorf("%s names an object, and no field %s beside it leads there: add it, or name it in edgesBeside, or say in edgeless why there is none", name, edge)
		}
	}
	for _, names := range []map[string]string{edgesBeside, edgeless} {
		for name := range names {
			if !used[name] {
				t.Errorf("%s is the name of no field", name)
			}
		}
	}
}

// cutUID returns the name of what a field has the uid of.
func cutUID(name string) (of string, isUID bool) {
	for _, ending := range []string{"Uids", "Uid"} {
		if of, isUID = strings.CutSuffix(name, ending); isUID {
			return of, true
		}
	}
	return name, false
}
