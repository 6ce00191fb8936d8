package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph"
	"atrium/graphql/limit"
	"atrium/platform"
)

// longFields are scalars that can be so long that they cost something, about
// 1 for each 16 KiB.
var longFields = withCapabilities(map[string]int{
	"Repo.readme": 16, "VulnerabilityMetadata.details": 4, "AdvisoryEvent.findings": 4, "Event.body": 4,
	"EventChange.before": 1, "EventChange.after": 1,
})

// withCapabilities adds what the caller may do on objects: a list each.
func withCapabilities(prices map[string]int) map[string]int {
	for name, object := range graph.Schema().Types {
		if object.Fields.ForName("viewerCapabilities") != nil {
			prices[name+".viewerCapabilities"] = 1
		}
	}
	return prices
}

// longTexts are the fields that are read only where an operation selects them
// somewhere. What is selected somewhere is read everywhere: rows are shared by
// aliases, siblings and loaders, and none of them must show what was left out.
var longTexts = map[string]platform.LongTexts{
	"Advisory.events":               platform.AdvisoryEvents,
	"VulnerabilityMetadata.details": platform.VulnerabilityDetails,
	"Event.body":                    platform.EventBodies,
	"Event.changes":                 platform.EventChanges,
}

// unselectedTexts are the long texts that the operation of ctx selects nowhere;
// none where that is not known.
func unselectedTexts(ctx context.Context) (texts platform.LongTexts) {
	if !graphql.HasOperationContext(ctx) {
		return 0
	}
	operation := graphql.GetOperationContext(ctx)
	for field, text := range longTexts {
		if !limit.Selects(operation, field) {
			texts |= text
		}
	}
	return texts
}
