package resolvers

import (
	"context"
	"maps"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph"
	"atrium/internal/graphql/analysis"
	"atrium/platform"
)

// longFields maps scalar fields that can be long to their cost: about 1 for each
// 16 KiB. Those that are read for each object, or with a read of their own, cost at least 1.
var longFields = map[string]int{
	"Repo.readme": 16, "VulnerabilityMetadata.details": 4, "AdvisoryEvent.findings": 4, "Event.body": 4,
	"EventChange.before": 1, "EventChange.after": 1, "Group.path": 1, "Repo.path": 1,
	"Identity.effectiveCapabilities": 1, "AccessGrant.capabilities": 1, "AccessChange.addedCapabilities": 1, "AccessChange.removedCapabilities": 1, "Identity.can": 1, "Query.lookupIdentity": 1, "Query.feedPosition": 1,
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
var costlyFields = map[string]platform.CostlyFields{
	"Advisory.events":               platform.AdvisoryEvents,
	"DocumentAdvisory.events":       platform.AdvisoryEvents,
	"VulnerabilityMetadata.details": platform.VulnerabilityDetails,
	"Event.body":                    platform.EventBodies,
	"Event.changes":                 platform.EventChanges,
	"Repo.bundles":                  platform.RepoLists,
	"Repo.aliases":                  platform.RepoLists,
	"Repo.activeTags":               platform.RepoLists,
	"Repo.syncConfig":               platform.RepoLists,
	"Repo.labels":                   platform.RepoLists,
	"Identity.claimMatch":           platform.IdentityRules,
	"Identity.staticKeys":           platform.IdentityRules,
	"RoleBinding.identity":          platform.BindingObjects,
	"RoleBinding.group":             platform.BindingObjects,
	"RoleBinding.role":              platform.BindingObjects,
	"HolderConnection.nodes":        platform.BindingObjects,
	"HolderEdge.node":               platform.BindingObjects,
	"HolderEdge.role":               platform.BindingObjects,
	"Identity.description":          platform.BindingTexts,
	"Group.description":             platform.BindingTexts,
	"Role.description":              platform.BindingTexts,
	"Tag.bundles":                   platform.TagDetails,
	"ArtifactVersion.name":          platform.VersionArtifact,
	"ArtifactVersion.description":   platform.VersionArtifact,
}

// unselectedFields returns the costly fields that the operation of ctx selects
// nowhere. It returns none when ctx has no operation.
func unselectedFields(ctx context.Context) platform.CostlyFields {
	if !graphql.HasOperationContext(ctx) {
		return 0
	}
	operation := graphql.GetOperationContext(ctx)
	all, selected := platform.BindingRules, platform.CostlyFields(0) // the graph reads emails and rules from identities
	for field, costly := range costlyFields {
		if all |= costly; analysis.Selects(operation, field) {
			selected |= costly
		}
	}
	return all &^ selected
}
