package resolvers

import (
	"context"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/internal/graphql/analysis"
	"atrium/internal/graphql/execute"
	"atrium/platform"
	"atrium/platform/core"
)

// Around is called for each field that reads, with the number of objects that have the field. It
// returns a function that is called at the end.
type Around = func(ctx context.Context, object, field string, objects int) (context.Context, func(error))

// NewEngine returns the engine that executes operations over p. Each response has
// loaders of its own, so that no caller sees objects that were read for another caller
// or before a change. around may be nil.
func NewEngine(p *platform.Platform, around Around) execute.Engine {
	resolvers, options := Connect(p)
	options.Around = around
	return execute.NewEngine(showSubgraph(newSchema(resolvers)), options)
}

// Connect returns the resolvers over p, and the options that an engine needs to call
// them.
func Connect(p *platform.Platform) (graph.ResolverRoot, execute.EngineOptions) {
	return root{p}, execute.EngineOptions{
		Start: func(ctx context.Context) context.Context {
			ctx = withReads(ctx, p)
			readsOf(ctx).readFeedPosition(ctx)
			return ctx
		},
		Settle: func(ctx context.Context) {
			const name = "findingsPending"
			if p.Findings.AwaitSettled(ctx) && graphql.GetExtension(ctx, name) == nil {
				graphql.RegisterExtension(ctx, name, true)
			}
		},
		IsHeld: isHeld, Gather: p.Gather, Count: countBytes,
		StartEvent: func(ctx context.Context, event any) context.Context { return withBurst(ctx, p, event) },
		Share:      shareEvent,
	}
}

// shareEvent returns an answer to an event, which may have been computed for another subscription with the key.
func shareEvent(event, key any, isForAll bool, answer func() (data []byte, isSharable bool)) []byte {
	if e, ok := event.(*core.Event); ok {
		return e.Share(key, isForAll, answer)
	}
	data, _ := answer()
	return data
}

// Limits returns the facts of the schema that the document limits need.
func Limits() analysis.Schema {
	return analysis.Schema{
		DefaultPage: core.DefaultPageSize, MaxPage: core.MaxPageSize,
		Parts:             []string{"SeverityCount", "FindingCount"},
		ListRows:          listRows,
		IndexedConditions: indexedConditions, CountedConditions: countedConditions, SummedConditions: summedConditions, ReadFacets: readFacets, RelatedConditions: relatedConditions, NestedConditions: nestedConditions, ComparedConditions: comparedConditions,
		SortedOrders: sortedOrders, WholeOrders: wholeOrders, CountedLists: countedLists, ScannedFields: scannedFields, EmptyInputs: []string{"LabelConditionInput"},
		NestedLists: nestedLists(), LongFields: withCapabilities(longFields), UniqueNames: uniqueNames, Watched: append(slices.Collect(maps.Keys(costlyFields)), feedPosition),
	}
}

// The lists below name fields, conditions and orders that cost more or less than others. facts_test.go names the others, so
// that whoever adds one decides it.

// listRows has the number of objects of lists without pages, of which few have more.
var listRows = map[string]int{
	"Group.ancestors": 10, "Finding.advisories": 4, "ImageComparison.added": 100, "ImageComparison.removed": 100, "ImageComparison.changed": 100,
	"ImageComparison.findingsGone": 100, "ImageComparison.findingsNew": 100, "ImageCheck.findings": 100, "ImageCheck.upgrades": 20, "TopVulnerabilities.nodes": 100, "TopPackages.nodes": 100, "Upgrades.nodes": 100, "Upgrade.steps": 5, "Query.acceptanceRules": 20, "FindingChange.findings": 20,
	"ImagePackage.introducedBy": 5, "Finding.introducedBy": 5, "Image.sboms": 2, "Source.runs": 30,
}

// uniqueNames names the lists in which a name identifies at most one object, each
// with the argument that limits the list to the children of one parent, or "" if none is
// needed.
var uniqueNames = map[string]string{
	"Query.groups": "directOnly", "Query.repos": "directOnly", "Query.tags": "directOnly",
	"Group.children": "", "Group.repos": "directOnly", "Repo.tags": "",
}

// nestedLists returns the lists of a group that have what is in the groups below too, unless an argument excludes it.
func nestedLists() map[string]string {
	const without = "directOnly"
	lists := map[string]string{}
	for _, field := range Schema().Types["Group"].Fields {
		if field.Arguments.ForName(without) != nil {
			lists["Group."+field.Name] = without
		}
	}
	return lists
}

// indexedConditions names the conditions of lists that an index serves, or a counter.
var indexedConditions = []string{
	"uids", "name", "names", "Artifact.ecosystems", "deprecated", "digest",
	"advisoryIds", "artifactNames", "Finding.severities", "Finding.states", "vulnerabilityIds", "documentId", "cves", "advisories",
}

// countedConditions names the conditions whose rows counters count, but no index finds.
var countedConditions = []string{"fixable", "knownExploited", "Advisory.severities", "Advisory.states"}

// summedConditions names the conditions of findings with which their facets are sums.
var summedConditions = []string{"Finding.fixable", "Finding.knownExploited", "Finding.ecosystems", "Finding.labels"}

// readFacets names the facets that need a read of their own, which no counters replace.
var readFacets = []string{
	"FindingFacets.vulnerabilities", "FindingFacets.packages", "FindingFacets.assignees", "FindingFacets.labels", "TagFacets.baseImages", "TagFacets.architectures",
}

// relatedConditions names the conditions on other rows.
var relatedConditions = []string{"tags", "repos"}

// nestedConditions names the conditions that have filters inside.
var nestedConditions = []string{"or", "not"}

// comparedConditions names the conditions with values that each row is compared with.
var comparedConditions = []string{"eventAuthors", "excludeEventAuthors", "eventReviewers", "Finding.ecosystems", "Package.ecosystems", "tagNames"}

// sortedOrders names the orders that no index has.
var sortedOrders = []string{
	"Advisory.DELETE_TIME", "Delivery.UID", "EventSubscription.UPDATE_TIME", "Identity.EMAIL", "Role.UPDATE_TIME",
	"RoleBinding.GROUP_NAME", "RoleBinding.IDENTITY_NAME", "RoleBinding.ROLE_NAME", "Tag.DIGEST", "Tag.OPEN_SEVERITY",
	"Finding.EPSS", "Finding.PACKAGE", "Finding.DUE", "Finding.UPDATE_TIME", "Finding.UID",
	"Delivery.EVENT_TYPE", "Delivery.LAST_ATTEMPT_TIME", "Delivery.NEXT_ATTEMPT_TIME", "Delivery.UPDATE_TIME",
	"GroupInvite.EMAIL", "GroupInvite.ROLE_NAME", "IdentityProvider.UPDATE_TIME", "Source.UPDATE_TIME",
}

// wholeOrders names the orders that an index has for a whole organization, and not for the groups and repos in it.
var wholeOrders = []string{"Finding.FIRST_SEEN"}

// countedLists names the lists whose rows have no counter.
var countedLists = map[string]bool{
	"Query.advisoryDocuments": true, "AdvisoryDocument.advisories": true, "EventSubscription.deliveries": true,
	"Role.roleBindings": true, "Identity.roleBindings": true, "Viewer.roleBindings": true, "Group.effectiveBindings": true, "Group.whoCan": true,
	"Query.packages": true, "Package.versions": true, "PackageVersion.images": true, "PackageVersion.tags": true, "PackageVersion.repos": true,
	"VulnerabilityExposure.images": true, "Advisory.findings": true,
}

// scannedFields has the costs of fields that read more than they show.
var scannedFields = map[string]int{"Group.effectiveBindings": 200, "Group.whoCan": 200, "Query.search": 400, "Query.resolvedVulnerabilities": 200, "Query.advisoryActivity": 800, "Query.eventActivity": 800, "Query.auditLogSummary": 800, "Query.auditLogRuns": 600, "Query.findingActivity": 100, "Group.findingActivity": 400, "FindingSummary.openByAge": 800, "Query.accessAt": 800, "Query.accessChanges": 200,
	"VulnerabilityExposure.images": 400, "Query.compareImages": 200, "Query.checkImage": 200, "Query.topVulnerabilities": 800, "Query.topPackages": 800, "Query.upgrades": 800, "Query.remediationActivity": 800,
}

// Schema returns the schema that documents are validated against.
func Schema() *ast.Schema { return graph.Schema() }
