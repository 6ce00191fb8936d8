package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph"
	"atrium/graphql/analysis"
	"atrium/platform"
)

// longFields maps scalar fields that can be long to their cost: about 1 for each
// 16 KiB.
var longFields = withCapabilities(map[string]int{
	"Repo.readme": 16, "VulnerabilityMetadata.details": 4, "AdvisoryEvent.findings": 4, "Event.body": 4,
	"EventChange.before": 1, "EventChange.after": 1, "Group.path": 1, "Repo.path": 1,
})

// withCapabilities adds the cost of viewerCapabilities, a list, for each type
// that has the field.
func withCapabilities(costs map[string]int) map[string]int {
	for name, object := range graph.Schema().Types {
		if object.Fields.ForName("viewerCapabilities") != nil {
			costs[name+".viewerCapabilities"] = 1
		}
	}
	return costs
}

// longTexts maps fields to the long texts that are read only when the operation
// selects the field. A field that is selected anywhere is read everywhere: aliases,
// siblings and loaders share rows, and a row that lacks the text would be answered
// as if the text were empty.
var longTexts = map[string]platform.LongTexts{
	"Advisory.events":               platform.AdvisoryEvents,
	"VulnerabilityMetadata.details": platform.VulnerabilityDetails,
	"Event.body":                    platform.EventBodies,
	"Event.changes":                 platform.EventChanges,
}

// unselectedTexts returns the long texts that the operation of ctx selects
// nowhere. It returns none when ctx has no operation.
func unselectedTexts(ctx context.Context) (texts platform.LongTexts) {
	if !graphql.HasOperationContext(ctx) {
		return 0
	}
	operation := graphql.GetOperationContext(ctx)
	for field, text := range longTexts {
		if !analysis.Selects(operation, field) {
			texts |= text
		}
	}
	return texts
}
