package resolvers

import (
	"context"
	"maps"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph"
	"atrium/internal/graphql/analysis"
	"atrium/platform/core"
)

// longFields maps scalar fields that can be long to their cost: about 1 for each
// 16 KiB. Those that are read for each object, or with a read of their own, cost at least 1.
var longFields = map[string]int{
	"Repo.readme": 16, "VulnerabilityMetadata.details": 4, "AdvisoryEvent.raw": 4, "Event.body": 4,
	"EventChange.before": 1, "PackageVersion.licenses": 4, "EventChange.after": 1, "Group.path": 1, "Repo.path": 1,
	"Identity.effectiveCapabilities": 1, "AccessGrant.capabilities": 1, "AccessChange.addedCapabilities": 1, "AccessChange.removedCapabilities": 1, "Identity.can": 1, "Query.lookupIdentity": 1, "Query.feedPosition": 1,
	"AcceptanceRule.acceptedCount": 20, "FindingSummary.overdue": 20, "FindingSummary.feedsAsOf": 4, "ImageCheck.feedsAsOf": 4,
}

// withCapabilities returns costs with that of viewerCapabilities, a list, for each type
// that has the field.
func withCapabilities(costs map[string]int) map[string]int {
	costs = maps.Clone(costs)
	for name, object := range graph.Schema().Types {
		if object.Fields.ForName("viewerCapabilities") != nil {
			costs[name+".viewerCapabilities"] = 1
		}
	}
	return costs
}

// costlyFields maps fields to what is read only when the operation selects one of them.
// A field that is selected anywhere is read everywhere: aliases, siblings and loaders
// share rows, and a row that lacks the field would be answered as if it were empty.
var costlyFields = map[string]core.CostlyFields{
	"Advisory.events":               core.AdvisoryEvents,
	"DocumentAdvisory.events":       core.AdvisoryEvents,
	"VulnerabilityMetadata.details": core.VulnerabilityDetails,
	"Event.body":                    core.EventBodies,
	"Event.detail":                  core.EventBodies,
	"Event.changes":                 core.EventChanges,
	"Repo.bundles":                  core.RepoLists,
	"Repo.aliases":                  core.RepoLists,
	"Repo.activeTags":               core.RepoLists,
	"Repo.syncConfig":               core.RepoLists,
	"Repo.labels":                   core.RepoLists,
	"Identity.claimMatch":           core.IdentityRules,
	"Identity.staticKeys":           core.IdentityRules,
	"RoleBinding.identity":          core.BindingObjects,
	"RoleBinding.group":             core.BindingObjects,
	"RoleBinding.role":              core.BindingObjects,
	"HolderConnection.nodes":        core.BindingObjects,
	"HolderEdge.node":               core.BindingObjects,
	"HolderEdge.role":               core.BindingObjects,
	"Identity.description":          core.BindingTexts,
	"Group.description":             core.BindingTexts,
	"Role.description":              core.BindingTexts,
	"Tag.bundles":                   core.TagDetails,
	"Repo.etag":                     core.RepoLists,
	"Identity.etag":                 core.IdentityRules,
	"RoleBinding.etag":              core.BindingObjects | core.BindingTexts | core.BindingRules,
	"Tag.etag":                      core.TagDetails,
	"ArtifactVersion.name":          core.VersionArtifact,
	"ArtifactVersion.description":   core.VersionArtifact,
}

// unselectedFields returns the costly fields that the operation of ctx selects
// nowhere. It returns none when ctx has no operation.
func unselectedFields(ctx context.Context) core.CostlyFields {
	if !graphql.HasOperationContext(ctx) {
		return 0
	}
	operation := graphql.GetOperationContext(ctx)
	all, selected := core.BindingRules, core.CostlyFields(0) // the graph reads emails and rules from identities
	for field, costly := range costlyFields {
		if all |= costly; analysis.Selects(operation, field) {
			selected |= costly
		}
	}
	return all &^ selected
}
