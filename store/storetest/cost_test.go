package storetest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/internal/apierror"
	"atrium/internal/graphql"
	"atrium/internal/graphql/transport"
	"atrium/platform"
	"atrium/platform/fieldmask"
	"atrium/resolvers"
)

// pricedReads has, for each field that reads something from the database, queries with the
// arguments that cost the database most. A root field of one object by its uid needs no worse
// arguments than that.
var pricedReads = map[string][]string{
	"Query.finding":                    {`finding(uid: $absent) { uid }`},
	"Query.findings":                   {`findings(first: 0) { facets { vulnerabilities { value } labels { value } } }`, pageOf("findings", "", "uid package"), readFiltered("findings", `query: "no such text"`), readFiltered("findings", `packages: ["none"]`), readFiltered("findings", `labels: [{key: "none", value: "such"}]`), readFiltered("findings", `firstSeenBefore: "2000-01-01T00:00:00Z"`), readFiltered("findings", `vulnerabilityIds: ["none"]`), `findings(first: 1) { facets { severities { value } } }`},
	"Query.findingSummary":             {`findingSummary { open { total } }`, `findingSummary { overdue }`, `groups(first: 50) { nodes { findingSummary { overdue } } }`, `findingSummary { openByAge { open { total } } }`, `groups(first: 10) { nodes { findingSummary { openByAge { open { total } } } } }`},
	"Query.auditLogSummary":            {`auditLogSummary(within: $root, since: "2026-01-01T00:00:00Z") { made actors { value } }`, `auditLogSummary(within: $root, since: "2026-01-01T00:00:00Z", kinds: [IAM_ROLE_DELETED]) { made }`, `auditLogSummary(within: $deep, since: "2026-01-01T00:00:00Z", denied: true) { refused }`},
	"Query.auditLogRuns":               {`auditLogRuns(within: $root, first: 200) { nodes { newest { kind changes { field } } count } }`, `auditLogRuns(within: $root, first: 1, actor: $actor) { nodes { count } }`, `auditLogRuns(within: $root, first: 1, actor: $actor, kinds: [REGISTRY_TAG_CREATED, IAM_ROLE_DELETED]) { nodes { count } }`, `auditLogRuns(within: $root, first: 1, subject: $busy) { nodes { count } }`},
	"Query.packages":                   {pageOf("packages", "", "uid name"), readFiltered("packages", `query: "no such text"`)},
	"Query.package":                    {`package(uid: $absent) { uid }`},
	"Query.packageVersion":             {`packageVersion(uid: $absent) { uid }`},
	"Query.vulnerability":              {`vulnerability(id: "none") { name }`},
	"Query.compareImages":              {`compareImages(from: {repo: $repo, digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}, to: {repo: $repo, digest: "sha256:0000000000000000000000000000000000000000000000000000000000000001"}) { addedCount findingsNewCount }`},
	"Query.checkImage":                 {`checkImage(image: "acme/none:1") { verdict }`},
	"Repo.findings":                    {`repos(first: 50) { nodes { findings(first: 4) { totalCount nodes { uid } } } }`},
	"Tag.findings":                     {`tags(first: 50) { nodes { findings(first: 4) { totalCount nodes { uid } } } }`},
	"Advisory.findings":                {`advisories(first: 50) { nodes { findings(first: 4) { totalCount nodes { uid } } } }`},
	"Group.findings":                   {`group(uid: $root) { findings(first: 200) { totalCount nodes { uid } } }`},
	"Finding.tags":                     {`findings(first: 50) { nodes { tags(first: 4) { totalCount nodes { uid } } } }`},
	"Finding.fixedIn":                  {`findings(first: 50) { nodes { fixedIn(first: 4) { totalCount nodes { uid } } } }`},
	"Image.tags":                       {`tags(first: 50) { nodes { image { tags(first: 4) { totalCount nodes { uid } } } } }`},
	"Image.findings":                   {`tags(first: 50) { nodes { image { findings(first: 4) { totalCount nodes { uid } } } } }`},
	"Image.packages":                   {`tags(first: 50) { nodes { image { packages(first: 4) { totalCount nodes { name } } } } }`},
	"Package.versions":                 {`packages(first: 50) { nodes { versions(first: 4) { totalCount nodes { uid } } } }`},
	"PackageVersion.images":            {`packages(first: 10) { nodes { versions(first: 4) { nodes { images(first: 4) { totalCount nodes { digest } } } } } }`},
	"PackageVersion.tags":              {`packages(first: 10) { nodes { versions(first: 4) { nodes { tags(first: 4) { totalCount nodes { uid } } } } } }`},
	"PackageVersion.repos":             {`packages(first: 10) { nodes { versions(first: 4) { nodes { repos(first: 4) { totalCount nodes { uid } } } } } }`},
	"PackageVersion.advisories":        {`packages(first: 10) { nodes { versions(first: 4) { nodes { advisories(first: 4) { totalCount nodes { uid } } } } } }`},
	"VulnerabilityExposure.findings":   {`vulnerability(id: "none") { findings(first: 200) { totalCount nodes { uid } } }`},
	"VulnerabilityExposure.images":     {`vulnerability(id: "none") { images(first: 200) { totalCount nodes { digest } } }`},
	"VulnerabilityExposure.tags":       {`vulnerability(id: "none") { tags(first: 200) { totalCount nodes { uid } } }`},
	"VulnerabilityExposure.repos":      {`vulnerability(id: "none") { repos(first: 200) { totalCount nodes { uid } } }`},
	"VulnerabilityExposure.advisories": {`vulnerability(id: "none") { advisories(first: 200) { totalCount nodes { uid } } }`},
	"Query.accountAssociation":         {`accountAssociation(uid: $root) { uid }`},
	"Query.duePolicy":                  {`duePolicy(within: $root) { withinUid criticalDays }`},
	"Query.acceptanceRules":            {`acceptanceRules(within: $root) { uid note acceptedCount }`},
	"Query.acceptanceRulePreview":      {`acceptanceRulePreview(within: $root, where: {maxSeverity: CRITICAL}, first: 200) { totalCount nodes { uid } facets { severities { count } } }`, `acceptanceRulePreview(within: $root, where: {labels: [{key: "none", value: "such"}]}, first: 200) { totalCount nodes { uid } }`},
	"Query.accountAssociations":        {`accountAssociations(first: 200) { totalCount nodes { uid name } }`},
	"Query.advisoryActivity":           {`advisoryActivity(within: $root, from: "2026-01-01T00:00:00Z", to: "2026-03-31T00:00:00Z") { time fixed }`},
	"Query.findingActivity":            {`findingActivity(within: $root, interval: DAY) { time open { total critical } }`, `groups(first: 50) { nodes { findingActivity(interval: WEEK) { time open { total } } } }`},
	"Query.remediationActivity":        {`remediationActivity(within: $root, interval: DAY) { time opened { total } timeToFix { medianDays } }`},
	"Query.topVulnerabilities":         {`topVulnerabilities(first: 100) { totalCount nodes { vulnerabilityId images } }`, `topVulnerabilities(where: {states: [OPEN, RESOLVED], query: "no such text"}) { totalCount }`},
	"Query.topPackages":                {`topPackages(first: 100) { totalCount nodes { package images } }`, `topPackages(where: {labels: [{key: "none", value: "such"}]}) { totalCount }`},
	"Query.upgrades":                   {`upgrades(first: 100) { totalCount nodes { package to steps { to } } }`, `upgrades(within: $deep, first: 100) { nodes { package to steps { to } } }`, `upgrades(where: {labels: [{key: "none", value: "such"}]}) { totalCount }`},
	"Query.eventActivity":              {`eventActivity(within: $root, from: "2026-01-01T00:00:00Z", to: "2026-03-31T00:00:00Z") { time made refused }`, `eventActivity(within: $root, from: "2026-01-01T00:00:00Z", to: "2026-03-31T00:00:00Z", kinds: [IAM_ROLE_DELETED]) { time made }`},
	"Query.advisory":                   {`advisory(uid: $absent) { uid }`},
	"Query.advisories":                 {pageOf("advisories", "", "uid advisoryId events { type }"), readFiltered("advisories", `query: "no such text"`), readFiltered("advisories", `query: "g"`), readFiltered("advisories", `eventAuthors: ["nobody"]`), readFiltered("advisories", `artifactTypes: ["none"]`), readFiltered("advisories", `excludeEventAuthors: ["someone"]`), readSkipping("advisories")},
	"Query.advisorySummary":            {`advisorySummary { open { total high } }`},
	"Query.advisoryDocuments":          {pageOf("advisoryDocuments", "", "documentId"), `advisoryDocuments(first: 1) { totalCount }`, `advisoryDocuments(first: 1, skip: 90000) { nodes { documentId } }`, `advisoryDocuments(first: 50) { nodes { documentId advisories(first: 4) { nodes { advisoryId events { type } } } } }`},
	"AdvisoryDocument.advisories":      {`advisoryDocuments(first: 20) { nodes { advisories(first: 200) { totalCount nodes { advisoryId } } } }`},
	"Query.artifact":                   {`artifact(uid: $library) { uid latestVersion }`},
	"Query.artifacts":                  {pageOf("artifacts", `where: {ecosystems: [JAVA, PYTHON]}, `, "uid name"), `artifacts(where: {ecosystems: [JAVA, PYTHON], query: "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"}, first: 1) { totalCount nodes { uid } }`, `artifacts(where: {ecosystems: [JAVA, PYTHON], query: "what it holds"}, first: 1) { totalCount nodes { uid } }`, `artifacts(where: {ecosystems: [JAVA, PYTHON], query: "no such text"}, first: 1) { nodes { uid } }`, `artifacts(where: {ecosystems: [JAVA]}, first: 1, skip: 30000) { nodes { uid } }`},
	"Query.artifactCounts":             {`artifactCounts(ecosystems: [JAVA, PYTHON]) { totalCount }`},
	"Artifact.versions":                {`artifact(uid: $library) { versions(first: 200) { totalCount nodes { uid name } } }`, `artifact(uid: $library) { versions(first: 1, skip: 50000) { nodes { uid } } }`},
	"Query.accessAt":                   {`accessAt(within: $deep, time: "2026-01-01T00:00:00Z", first: 200) { complete nodes { bindingUid capabilities } }`},
	"Query.accessChanges":              {`accessChanges(within: $root, from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z", first: 200) { complete nodes { kind roleName } }`},
	"Query.auditLog":                   {`auditLog(first: 200) { nodes { id kind } }`, `auditLog(first: 1, actor: "nobody") { nodes { id } }`, `auditLog(first: 1, kinds: [IAM_ROLE_DELETED]) { nodes { id } }`, `auditLog(first: 1, denied: true) { nodes { id } }`, `auditLog(first: 1, within: $deep, denied: true) { nodes { id } }`},
	"Query.externalGroupRoleMapping":   {`externalGroupRoleMapping(uid: $absent) { uid }`},
	"Query.externalGroupRoleMappings":  {`externalGroupRoleMappings(first: 200) { totalCount nodes { uid } }`},
	"Query.group":                      {`group(uid: $root) { name }`, `group(path: "big/group 0/group 0/group 0") { name }`},
	"Query.groups":                     {pageOf("groups", "", "uid name"), readFiltered("groups", `repos: {name: "none"}`), readFiltered("groups", `labels: [{key: "none"}]`), readFiltered("groups", `query: "group"`), readSkipping("groups")},
	"Group.children":                   {`group(uid: $root) { children(first: 200) { totalCount nodes { uid } } }`},
	"Group.descendants":                {`group(uid: $root) { descendants(first: 200, where: {query: "group"}) { totalCount nodes { uid } } }`},
	"Group.identities":                 {`group(uid: $root) { identities(first: 200) { totalCount nodes { uid name } } }`, `group(uid: $root) { identities(first: 1, where: {query: "person"}) { totalCount nodes { uid } } }`},
	"Group.roles":                      {`group(uid: $root) { roles(first: 200) { totalCount nodes { uid } } }`},
	"Group.roleBindings":               {`group(uid: $root) { roleBindings(first: 200) { totalCount nodes { uid } } }`},
	"Group.effectiveBindings":          {`group(uid: $deep) { effectiveBindings(first: 200, capability: REPO_LIST) { totalCount nodes { uid } } }`},
	"Group.repos":                      {`group(uid: $root) { repos(first: 200) { totalCount nodes { uid } } }`, `group(uid: $root) { repos(first: 1) { facets { tiers { count } } } }`},
	"Group.tags":                       {`group(uid: $root) { tags(first: 200) { totalCount nodes { uid } } }`, `group(uid: $root) { tags(first: 1, where: {query: "r"}) { totalCount nodes { uid } } }`},
	"Group.advisories":                 {`group(uid: $root) { advisories(first: 200) { totalCount nodes { uid } } }`, `group(uid: $root) { advisories(first: 1, where: {query: "no such text"}) { totalCount nodes { uid } } }`},
	"Group.identityProviders":          {`group(uid: $root) { identityProviders(first: 200) { totalCount nodes { uid } } }`},
	"Group.invites":                    {`group(uid: $root) { invites(first: 200) { totalCount nodes { uid } } }`},
	"Group.termsAcceptances":           {`group(uid: $root) { termsAcceptances(first: 200) { totalCount nodes { docId } } }`},
	"Group.subscriptions":              {`group(uid: $root) { subscriptions(first: 200) { totalCount nodes { uid } } }`},
	"Group.whoCan":                     {`group(uid: $deep) { whoCan(capability: REPO_LIST, first: 200) { totalCount nodes { uid } } }`},
	"Query.groupInvite":                {`groupInvite(uid: $absent) { uid }`},
	"Query.groupInvites":               {`groupInvites(first: 200) { totalCount nodes { uid } }`, readFiltered("groupInvites", `expired: true`)},
	"Query.identity":                   {`identity(uid: $person) { name }`},
	"Query.identities":                 {pageOf("identities", "", "uid name"), readFiltered("identities", `query: "person"`), readFiltered("identities", `query: "no such text"`), readSkipping("identities"), `identities(first: 1) { facets { kinds { value } groups { value } } }`},
	"Query.feedPosition":               {`feedPosition`},
	"Query.lookupIdentity":             {`lookupIdentity(issuer: "https://issuer.example.com", subject: "owner")`},
	"Identity.roleBindings":            {`identity(uid: $person) { roleBindings(first: 200) { totalCount nodes { uid } } }`},
	"Query.identityProvider":           {`identityProvider(uid: $absent) { uid }`},
	"Query.identityProviders":          {`identityProviders(first: 200) { totalCount nodes { uid } }`},
	"IdentityProvider.mappings":        {`identityProviders(first: 200) { nodes { mappings(first: 1) { totalCount } } }`},
	"Query.repo":                       {`repo(uid: $repo) { name }`, `repo(path: "big/group 0/none") { name }`},
	"Query.repos":                      {pageOf("repos", "", "uid name"), readFiltered("repos", `tags: {name: "none"}`), readFiltered("repos", `tags: {updatedSince: "2099-01-01T00:00:00Z"}`), readFiltered("repos", `tags: {digest: "sha256:00000000000000000000000000000000000000000000000000000000000000ff"}`), readFiltered("repos", `labels: [{key: "none", value: "such"}]`), readFiltered("repos", `query: "what it holds"`), readFiltered("repos", `query: "no such text"`), readFiltered("repos", `bundles: ["none"]`), readFiltered("repos", `tiers: [BASE]`), readSkipping("repos"), `repos(first: 1) { facets { tiers { value } bundles { value } labels { value } groups { value } } }`},
	"Repo.tags":                        {`repo(uid: $repo) { tags(first: 200) { totalCount nodes { uid } } }`, `repo(uid: $repo) { tags(first: 1, where: {query: "no such text"}) { totalCount nodes { uid } } }`, `repo(uid: $repo) { tags(first: 1, skip: 25000) { nodes { uid } } }`},
	"Repo.advisories":                  {`repos(first: 50) { nodes { advisories(first: 4) { totalCount nodes { uid } } } }`},
	"Query.resolvedVulnerabilities":    {`resolvedVulnerabilities(images: $images, startTime: "2025-06-01T00:00:00Z", endTime: "2026-03-01T00:00:00Z") { date resolvedVulns { advisoryId } }`},
	"Query.operation":                  {`operation(uid: $absent) { uid }`},
	"Query.role":                       {`role(uid: $role) { name }`},
	"Query.roles":                      {pageOf("roles", "", "uid name"), readFiltered("roles", `query: "role"`)},
	"Role.roleBindings":                {`role(uid: $role) { roleBindings(first: 200) { totalCount nodes { uid } } }`},
	"Query.roleBinding":                {`roleBinding(uid: $absent) { uid }`},
	"Query.roleBindings":               {pageOf("roleBindings", "", "uid identity { name } role { name } group { name }"), readSkipping("roleBindings"), `roleBindings(first: 1) { facets { roles { value } groups { value } } }`},
	"Query.node":                       {`node(id: $node) { id }`},
	"Query.nodes":                      {`nodes(ids: [$node]) { id }`},
	"Query.viewer":                     {`viewer { identities { uid } }`},
	"Viewer.roleBindings":              {`viewer { roleBindings(first: 200) { totalCount nodes { uid } } }`},
	"Query.search":                     {`search(query: "repo", first: 50) { edges { node { __typename } } }`, `search(query: "what holds it", first: 1) { edges { node { __typename } } }`, `search(query: "no such text", first: 50) { edges { node { __typename } } }`},
	"Query.source":                     {`source(uid: $absent) { name runs { number } }`},
	"Query.sources":                    {pageOf("sources", "", "uid name"), readFiltered("sources", `type: OSV`), readFiltered("sources", `state: FAILED`)},
	"Query.subscription":               {`subscription(uid: $sink) { sink }`},
	"Query.subscriptions":              {pageOf("subscriptions", "", "uid sink")},
	"EventSubscription.deliveries":     {`subscription(uid: $sink) { deliveries(first: 200) { totalCount nodes { uid } } }`, `subscription(uid: $sink) { deliveries(first: 1, where: {state: FAILED}) { totalCount nodes { uid } } }`},
	"Query.tag":                        {`tag(uid: $absent) { name }`},
	"Query.tags":                       {`tags(first: 0) { facets { baseImages { value } } }`, pageOf("tags", "", "uid name digest"), readFiltered("tags", `query: "r"`), readFiltered("tags", `query: "no such text"`), readFiltered("tags", `deprecated: true`), readSkipping("tags")},
	"Tag.advisories":                   {`tags(first: 50) { nodes { advisories(first: 4) { totalCount nodes { uid } } } }`},
	"Query.termsAcceptances":           {`termsAcceptances(within: $root, first: 200) { totalCount nodes { docId } }`},
	"Query.vulnerabilityMetadata":      {pageOf("vulnerabilityMetadata", "", "vulnerabilityId details"), `vulnerabilityMetadata(first: 1, skip: 50000) { totalCount nodes { vulnerabilityId } }`},
}

// readsNothing lists the root fields without a read.
var readsNothing = []string{"Query.ping"}

func pageOf(list, arguments, selected string) string {
	return list + "(" + arguments + "first: 200) { totalCount nodes { " + selected + " } }"
}

func readFiltered(list, condition string) string {
	return list + "(where: {" + condition + "}, first: 1) { totalCount nodes { uid } }"
}

func readSkipping(list string) string { return list + "(first: 1, skip: 10000) { nodes { uid } }" }

// sortedReads returns a query for each order of each list among the root fields.
func sortedReads() map[string][]string {
	schema, reads := resolvers.Schema(), map[string][]string{}
	for _, list := range schema.Query.Fields {
		by := list.Arguments.ForName("orderBy")
		if by == nil {
			continue
		}
		given := ""
		if list.Name == "artifacts" {
			given = "where: {ecosystems: [JAVA, PYTHON]}, "
		}
		if list.Name == "termsAcceptances" {
			given = "within: $root, "
		}
		for _, field := range schema.Types[schema.Types[by.Type.Name()].Fields.ForName("field").Type.Name()].EnumValues {
			reads["Query."+list.Name] = append(reads["Query."+list.Name], list.Name+"("+given+"orderBy: {field: "+field.Name+", direction: DESC}, first: 1) { nodes { __typename } }")
		}
	}
	return reads
}

func TestEveryReadHasAPrice(t *testing.T) {
	t.Parallel()
	schema := resolvers.Schema()
	read := map[string]bool{}
	for _, object := range schema.Types {
		for _, field := range object.Fields {
			name := object.Name + "." + field.Name
			isList := strings.HasSuffix(field.Type.Name(), "Connection") && !strings.HasSuffix(object.Name, "Payload")
			if (object == schema.Query || isList) && !strings.HasPrefix(field.Name, "_") && !slices.Contains(readsNothing, name) {
				read[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		if len(pricedReads[name]) == 0 {
			t.Errorf("add to pricedReads the worst queries of %s", name)
		}
	}
	for name := range pricedReads {
		if !read[name] {
			t.Errorf("pricedReads has %s, which is no field that reads", name)
		}
	}
}

// freeOfCost is the cost of a query that is refused.
const freeOfCost = 1

// A pricedQuery is a query with its price and its work.
type pricedQuery struct {
	field, text string
	cost        int
	rows        float64 // rows that the database read
	buffers     float64 // pages that it read them from
	cpu         time.Duration
}

// askPriced sends a query to the endpoint, with the limits of every server.
func (b *bigWorld) askPriced(ctx context.Context, t *testing.T, endpoint http.Handler, q *pricedQuery) {
	t.Helper()
	images := times(50, func(i int) map[string]any {
		return map[string]any{"repo": string(b.repos[i]), "tags": []string{"reported"}}
	})
	given := map[string]any{"root": b.root, "deep": b.deep[3], "repo": b.busyRepo, "person": b.identities[0], "role": b.role, "library": b.libraries[0], "sink": b.subscriptions[0], "absent": b.root + "/00000000000000ff", "busy": b.busyActor(), "actor": b.busyActor(), "node": base64.RawURLEncoding.EncodeToString([]byte("Repo:" + b.busyRepo)), "event": b.eventIDs[0]}
	var declared []string
	variables := map[string]any{}
	for name, value := range given {
		if strings.Contains(q.text, "$"+name) {
			scalar := ": UID!"
			switch name {
			case "node", "event": // an opaque id
				scalar = ": ID!"
			case "actor": // which need not be an identity
				scalar = ": String!"
			}
			declared, variables[name] = append(declared, "$"+name+scalar), value
		}
	}
	if strings.Contains(q.text, "$images") {
		declared, variables["images"] = append(declared, "$images: [ImageRef!]!"), images
	}
	if strings.Contains(q.text, "$many") {
		declared, variables["many"] = append(declared, "$many: [String!]"), times(manyValues, func(i int) string { return fmt.Sprintf("none-%d", i) })
	}
	text := "{ " + q.text + " }"
	if len(declared) > 0 {
		text = "query(" + strings.Join(declared, ", ") + ") " + text
	}
	body, err := json.Marshal(map[string]any{"query": text, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	endpoint.ServeHTTP(w, r)
	var answer struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
		Extensions struct{ Cost struct{ Requested int } }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s: %v", q.text, err)
	}
	for _, e := range answer.Errors {
		switch {
		case e.Extensions.Code == "NOT_FOUND", strings.Contains(e.Message, "does not apply"), strings.HasSuffix(e.Message, "more errors are not shown."): // There is nothing to read.
		case strings.Contains(q.text, "$many") && e.Extensions.Code == "INVALID_ARGUMENT": // Nothing is read for so many values.
			q.cost = freeOfCost
			return
		default:
			t.Errorf("%s: %s", q.text, e.Message)
			return
		}
	}
	if q.cost = answer.Extensions.Cost.Requested; q.cost == 0 {
		t.Errorf("%s has no price: %s", q.text, w.Body)
	}
}

// newEndpoint returns the GraphQL endpoint of p.
func newEndpoint(p *platform.Platform) http.Handler {
	presenter := &resolvers.Presenter{Errors: apierror.Errors{ServiceDomain: "example.org", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}, RequestID: func(context.Context) string { return "" }}
	return graphql.New(resolvers.NewEngine(p, nil), graphql.Options{
		Settings: graphql.DefaultSettings(), Schema: resolvers.Limits(), Budget: resolvers.Budget{}, Present: presenter.Present,
		ReadSDL: func(context.Context) error { return nil }, CheckJSON: fieldmask.CheckJSON,
		Identify: func(context.Context) transport.Caller { return transport.Caller{Key: "owner"} },
	})
}

// requestCost is what every request costs beside its query: its token and its document are
// checked. Limits of requests for each caller count it.
const requestCost = 5

// allReads returns the queries of pricedReads, with all orders of the lists of Query.
func allReads() map[string][]string {
	all, orders := map[string][]string{}, sortedReads()
	for field, texts := range pricedReads {
		all[field] = slices.Concat(texts, orders[field])
	}
	return all
}

// priceReads sends queries. The function measure adds the work.
func (b *bigWorld) priceReads(t *testing.T, reads map[string][]string, measure func(q *pricedQuery, run func(ctx context.Context) error)) []pricedQuery {
	t.Helper()
	p := b.replica(b.newSpy())
	endpoint, caller := newEndpoint(p), b.contextOn(p, "owner")
	var all []pricedQuery
	for _, field := range slices.Sorted(maps.Keys(reads)) {
		for _, text := range reads[field] {
			q := pricedQuery{field: field, text: text}
			measure(&q, func(ctx context.Context) error {
				log, _ := ctx.Value(statementLogKey{}).(*statementLog)
				b.askPriced(context.WithValue(caller, statementLogKey{}, log), t, endpoint, &q)
				return nil
			})
			all = append(all, q)
		}
	}
	return all
}

// workPerCost is what the database may do for each unit of cost: the rows that it may read, and the pages that it may read
// them from.
type workPerCost struct{ rows, buffers float64 }

// maxWorkOfCost is the work at 100,000 rows. To read a row and to pass over it takes a hundredth of the time of answering
// it, for which some pages are read.
var maxWorkOfCost = workPerCost{rows: 800, buffers: 800}

// checkPrices checks that no query makes the database do much more than it costs.
func (b *bigWorld) checkPrices(t *testing.T, reads map[string][]string, most workPerCost) {
	t.Helper()
	e := b.explainer()
	all := b.priceReads(t, reads, func(q *pricedQuery, run func(ctx context.Context) error) {
		statements, err := recordStatements(t.Context(), run)
		if err != nil {
			t.Error(err)
		}
		for _, s := range statements {
			plan, err := e.explain(t.Context(), s, "auto")
			if err != nil {
				t.Errorf("%s: %v", q.text, err)
			}
			q.buffers += float64(plan.buffers())
			plan.visitAll(func(n planNode) {
				if strings.Contains(n.Type, "Scan") {
					q.rows += (n.Rows + n.Removed) * n.Loops
				}
			})
		}
	})
	work := func(q pricedQuery) float64 {
		return max(q.rows/most.rows, q.buffers/most.buffers) / float64(q.cost+requestCost)
	}
	slices.SortFunc(all, func(x, y pricedQuery) int { return cmp.Compare(work(y), work(x)) })
	for i, q := range all {
		if i < 200 || work(q) > 1 {
			t.Logf("%5.2f of what it may do, %7.0f rows, %7.0f pages, cost %5d: %s", work(q), q.rows, q.buffers, q.cost, q.text)
		}
		if work(q) > 1 {
			t.Errorf("%s: %.0f rows are read from %.0f pages at a cost of %d, want at most %.0f rows and %.0f pages of a unit", q.text, q.rows, q.buffers, q.cost, most.rows, most.buffers)
		}
	}
}
