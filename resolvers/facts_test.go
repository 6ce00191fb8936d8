package resolvers

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/graphql/analysis"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// The cost guard takes what no list names for the plain case: a condition that reads all rows, an order that has an index, a
// list that has a counter, a scalar that costs nothing. The lists of this file name the plain cases, so that nothing new is one
// unless somebody has decided it.
var (
	// They cost as much as reading all rows of the list.
	scannedConditions = strings.Fields(`
		aliases artifactArchitectures artifactTypes assigned assignedToMe assignee basis below bundles capabilities capability componentLocations componentNames
		componentTypes createdSince cudaVersion decidedBy deprecatedTags digests direct dueBefore ecosystems epssBelow event eventReviewStates eventTypes excludeClasses expireBefore expired expiring hasDueTime
		externalGroupId firstSeenBefore firstSeenSince group identity identityKinds identityLastSeenBefore identityProvider
		includeKnownExploited keyId labels lastSeenBefore latestEventType legacyAdvisoryIds licenses maxSeverity minEpss minScore neverSeen newInRepo notBelow
		openSeverities origin package packages packagesKnown query relationshipType remediated resolvedSince role scope scopes sink state tiers type unreviewedSince
		updatedBefore updatedSince versions withdrawn withoutBindings withoutFix`)
	indexedOrders = strings.Fields(`
		AccountAssociation.CREATE_TIME AccountAssociation.NAME AccountAssociation.UID AccountAssociation.UPDATE_TIME Advisory.ADVISORY_ID
		Advisory.ARTIFACT_NAME Advisory.CREATE_TIME Advisory.SEVERITY Advisory.UID Advisory.UPDATE_TIME AdvisoryDocument.DOCUMENT_ID
		Artifact.CREATE_TIME Artifact.NAME Artifact.UID Artifact.UPDATE_TIME ArtifactVersion.CREATE_TIME ArtifactVersion.NAME ArtifactVersion.UID
		ArtifactVersion.UPDATE_TIME ArtifactVersion.VERSION Delivery.CREATE_TIME EventSubscription.CREATE_TIME EventSubscription.UID
		ExternalGroupRoleMapping.CREATE_TIME ExternalGroupRoleMapping.EXTERNAL_GROUP_ID ExternalGroupRoleMapping.UID Finding.SEVERITY
		Group.CREATE_TIME Group.NAME Group.UID Group.UPDATE_TIME GroupInvite.CREATE_TIME GroupInvite.EXPIRATION_TIME GroupInvite.UID
		Identity.CREATE_TIME Identity.LAST_SEEN_TIME Identity.NAME Identity.UID Identity.UPDATE_TIME IdentityProvider.CREATE_TIME
		IdentityProvider.NAME IdentityProvider.UID Package.NAME Package.UID PackageVersion.UID PackageVersion.VERSION Repo.CREATE_TIME Repo.NAME
		Repo.OPEN_SEVERITY Repo.UID Repo.UPDATE_TIME Role.CREATE_TIME Role.NAME Role.UID RoleBinding.CREATE_TIME RoleBinding.UID
		Source.CREATE_TIME Source.NAME Source.UID Tag.CREATE_TIME
		Tag.NAME Tag.UID Tag.UPDATE_TIME TermsAcceptance.CREATE_TIME TermsAcceptance.DOC_ID VulnerabilityMetadata.VULNERABILITY_ID`)
	counterLists = strings.Fields(`
		Artifact.versions Finding.fixedIn Finding.tags Group.advisories Group.children Group.descendants Group.findings Group.identities
		Group.identityProviders Group.invites Group.repos Group.roleBindings Group.roles Group.subscriptions Group.tags Group.termsAcceptances
		IdentityProvider.mappings Image.findings Image.packages Image.tags PackageVersion.advisories Query.acceptanceRulePreview Query.accountAssociations Query.advisories
		Query.artifacts Query.externalGroupRoleMappings Query.findings Query.groupInvites Query.groups Query.identities Query.identityProviders
		Query.repos Query.roleBindings Query.roles Query.sources Query.subscriptions Query.tags Query.termsAcceptances Query.vulnerabilityMetadata Repo.advisories
		Repo.findings Repo.tags Tag.advisories Tag.findings VulnerabilityExposure.advisories VulnerabilityExposure.findings
		VulnerabilityExposure.repos VulnerabilityExposure.tags`)
	freeScalars = strings.Fields(`
		Image.size ImageSbom.cyclonedx ImageSbom.spdx PackageVersion.purl Query.ping Viewer.can Viewer.capabilities Viewer.id`)
	shortLists = strings.Fields(`
		Advisory.relatedVulnerabilities Advisory.vulnerabilities EventConditions.actorIdentities EventConditions.within FindingConditions.within FindingSummary.openByAge GitHubAccount.appInstallations Group.findingActivity Group.labels Group.resourceLimits PlatformServices.services Query.advisoryActivity Query.artifactCounts
		Query.eventActivity Query.findingActivity Query.nodes Query.remediationActivity Query.resolvedVulnerabilities Repo.labels Viewer.identities
		VulnerabilityMetadata.relatedVulnerabilities VulnerabilityMetadata.upstreamVulnerabilities`)
)

// fieldsWith yields the fields of the schema that a function accepts, named as in Repo.readme.
func fieldsWith(accepts func(object *ast.Definition, field *ast.FieldDefinition) bool) map[string]*ast.FieldDefinition {
	found := map[string]*ast.FieldDefinition{}
	for _, object := range Schema().Types {
		for _, field := range object.Fields {
			if object.Kind == ast.Object && !strings.HasPrefix(object.Name, "__") && object.Name != "Entity" && !strings.HasPrefix(field.Name, "_") && accepts(object, field) {
				found[object.Name+"."+field.Name] = field
			}
		}
	}
	return found
}

// expectDecided checks that each name is in exactly one list, and that the lists have no other names.
func expectDecided(t *testing.T, what string, names []string, lists ...[]string) {
	t.Helper()
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		n := 0
		for _, list := range lists {
			if slices.Contains(list, name) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the %s %s is in %d lists of facts in engine.go, long.go and facts_test.go, want one", what, name, n)
		}
	}
	for _, name := range slices.Concat(lists...) {
		if !slices.Contains(names, name) {
			t.Errorf("%s is the name of no %s", name, what)
		}
	}
}

// kindOf returns the name of the type of the nodes of a list, or of what a field without nodes filters.
func kindOf(list *ast.FieldDefinition) string {
	kind, isConnection := strings.CutSuffix(list.Type.Name(), analysis.Connection)
	if where := list.Arguments.ForName("where"); where != nil && !isConnection {
		return strings.TrimSuffix(where.Type.Name(), "Filter")
	}
	return kind
}

func TestThePriceOfEveryConditionIsDecided(t *testing.T) {
	t.Parallel()
	lists := [][]string{indexedConditions, countedConditions, relatedConditions, nestedConditions, comparedConditions, scannedConditions}
	var names []string
	for _, list := range fieldsWith(func(_ *ast.Definition, field *ast.FieldDefinition) bool {
		return field.Arguments.ForName("where") != nil
	}) {
		for _, condition := range Schema().Types[list.Arguments.ForName("where").Type.Name()].Fields {
			name := kindOf(list) + "." + condition.Name
			if !slices.Contains(slices.Concat(lists...), name) { // It has the same price in all lists.
				name = condition.Name
			}
			names = append(names, name)
		}
	}
	expectDecided(t, "condition", names, lists...)
}

func TestThePriceOfEveryOrderIsDecided(t *testing.T) {
	t.Parallel()
	var names []string
	for _, list := range fieldsWith(func(_ *ast.Definition, field *ast.FieldDefinition) bool {
		return field.Arguments.ForName("orderBy") != nil
	}) {
		order := Schema().Types[list.Arguments.ForName("orderBy").Type.Name()]
		for _, value := range Schema().Types[order.Fields.ForName("field").Type.Name()].EnumValues {
			names = append(names, kindOf(list)+"."+value.Name)
		}
	}
	expectDecided(t, "order", names, sortedOrders, wholeOrders, indexedOrders)
}

func TestEveryOrderSaysItsNaturalDirection(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, k := range platform.Kinds() {
		for _, name := range []string{k.Name, "Event" + k.Name, "VulnerabilityMetadata"} {
			enum := Schema().Types[name+"OrderField"]
			if enum == nil || name == "VulnerabilityMetadata" && k.Name != "Vulnerability" {
				continue
			}
			for _, value := range enum.EnumValues {
				field := strings.ToLower(value.Name)
				descends := slices.Contains(k.Descending, field) || slices.Contains(k.Descending, field+"_time")
				if checked++; descends != strings.Contains(strings.ReplaceAll(value.Description, "\n", " "), "Descends by default.") {
					t.Errorf("%s.%s: descends by default: %v; the description says %q", enum.Name, value.Name, descends, value.Description)
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d orders were checked", checked)
	}
}

func TestThePriceOfEveryFieldIsDecided(t *testing.T) {
	t.Parallel()
	schema := newSchema(root{})
	isRead := func(object *ast.Definition, field *ast.FieldDefinition) bool {
		return schema.Objects[object.Name].Fields[field.Name].Resolve != nil && object != Schema().Mutation
	}
	isLeaf := func(field *ast.FieldDefinition) bool { return Schema().Types[field.Type.Name()].IsLeafType() }
	connections := fieldsWith(func(object *ast.Definition, field *ast.FieldDefinition) bool {
		kind := Schema().Types[field.Type.Name()]
		return isRead(object, field) && strings.HasSuffix(kind.Name, analysis.Connection) && kind.Fields.ForName("totalCount") != nil
	})
	expectDecided(t, "list", slices.Collect(maps.Keys(connections)), slices.Collect(maps.Keys(countedLists)), counterLists)
	// What the caller may do on an object is known without a read.
	scalars := fieldsWith(func(object *ast.Definition, field *ast.FieldDefinition) bool {
		return isRead(object, field) && isLeaf(field) && field.Name != "viewerCan" && field.Name != "etag"
	})
	long := withCapabilities(longFields)
	for name := range long { // Long texts that an object holds are no reads.
		kind, field, _ := strings.Cut(name, ".")
		if definition := Schema().Types[kind].Fields.ForName(field); definition != nil && isLeaf(definition) {
			scalars[name] = definition
		}
	}
	expectDecided(t, "scalar", slices.Collect(maps.Keys(scalars)), slices.Collect(maps.Keys(long)), freeScalars)
	lists := fieldsWith(func(object *ast.Definition, field *ast.FieldDefinition) bool {
		return isRead(object, field) && field.Type.Elem != nil && !isLeaf(field) && !strings.HasSuffix(object.Name, analysis.Connection)
	})
	for name := range listRows {
		if kind, field, _ := strings.Cut(name, "."); Schema().Types[kind].Fields.ForName(field) != nil {
			lists[name] = Schema().Types[kind].Fields.ForName(field)
		}
	}
	expectDecided(t, "list without pages", slices.Collect(maps.Keys(lists)), slices.Collect(maps.Keys(listRows)), shortLists)
	for _, name := range slices.Concat(slices.Collect(maps.Keys(scannedFields)), slices.Collect(maps.Keys(costlyFields)), slices.Collect(maps.Keys(uniqueNames))) {
		if kind, field, _ := strings.Cut(name, "."); Schema().Types[kind] == nil || Schema().Types[kind].Fields.ForName(field) == nil {
			t.Errorf("%s is the name of no field", name)
		}
	}
}

// A row that is read without a column of a field would show the field as empty, so costlyFields must have each field that
// shows such a column. Here each is asked for alone, and beside all others. A column that only one field shows can still be
// forgotten, because the document with all fields would not read it either.
func TestEveryFieldShowsAloneWhatItShowsBesideOthers(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		keys := w.keys(w.furnish())
		w.ask(`mutation($uid: UID!) { updateRepo(input: {uid: $uid, description: "d", aliases: ["also"], bundles: ["b"], activeTags: ["a"], syncConfig: {source: "`+string(w.org)+`"}, labels: [{key: "k", value: "v"}]}) { repo { uid } } }`, "uid", keys["Repo"])
		w.ask(`mutation($uid: UID!) { updateIdentity(input: {uid: $uid, description: "d"}) { identity { uid } } }`, "uid", keys["Identity"])
		w.ask(`mutation($uid: UID!) { updateGroup(input: {uid: $uid, description: "d", labels: [{key: "k", value: "v"}]}) { group { uid } } }`, "uid", keys["Group"])
		operator := core.WithActor(t.Context(), core.NewOperator("test"))
		must(w.p.Feeds.ImportAdvisories(operator, w.org, []*inventory.Advisory{{AdvisoryID: "GO-77", ArtifactName: "r77", Events: []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "1"}}}}}))(t)
		keys["Advisory"] = w.ask(`{ advisories(where: {advisoryIds: ["GO-77"]}) { nodes { uid } } }`).text("advisories.nodes.0.uid")
		for _, name := range slices.Sorted(maps.Keys(keys)) {
			id := keys[name]
			if name != "Event" {
				id = string(globalIDs(name, []core.UID{core.UID(keys[name])})[0])
			}
			ask := func(fields ...string) map[string]any {
				got, _ := w.ask("query($id: ID!) { node(id: $id) { ... on "+name+" { "+strings.Join(fields, " ")+" } } }", "id", id).value("node").(map[string]any)
				return got
			}
			selections := map[string]string{}
			for _, field := range Schema().Types[name].Fields {
				if selection := selectionOf(field, 2); selection != "" {
					selections[field.Name] = selection
				}
			}
			all := ask(slices.Sorted(maps.Values(selections))...)
			for field, selection := range selections {
				expect := func(what string, alone, beside any) {
					if !reflect.DeepEqual(alone, beside) {
						t.Errorf("%s.%s is %v alone, and %v beside all other fields", name, what, alone, beside)
					}
				}
				expect(field, ask(selection)[field], all[field])
				inside, isObject := all[field].(map[string]any)
				if !isObject || selection == field {
					continue
				}
				for _, member := range slices.Sorted(maps.Keys(inside)) {
					if text, isText := inside[member].(string); isText && text != "" {
						alone, _ := ask(field + " { " + member + " }")[field].(map[string]any)
						expect(field+"."+member, alone[member], inside[member])
					}
				}
			}
		}
	})
}

// selectionOf selects a field, and what is in it to a depth; "" if it needs arguments.
func selectionOf(field *ast.FieldDefinition, depth int) string {
	if slices.ContainsFunc(field.Arguments, func(a *ast.ArgumentDefinition) bool { return a.Type.NonNull && a.DefaultValue == nil }) {
		return ""
	}
	kind := Schema().Types[field.Type.Name()]
	if kind.IsLeafType() {
		return field.Name
	}
	inside := []string{"__typename"}
	for _, member := range kind.Fields {
		if depth > 0 && !strings.HasSuffix(kind.Name, analysis.Connection) && !strings.HasPrefix(member.Name, "__") {
			inside = append(inside, selectionOf(member, depth-1))
		}
	}
	return field.Name + " { " + strings.Join(inside, " ") + " }"
}
