package resolvers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/graph"
	"atrium/graph/scalar"
	endpoint "atrium/internal/graphql"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

const absent = "0123456789abcdef0123456789abcdef01234567"

// keys returns the key of an existing object of each GraphQL type of a furnished world.
func (w *world) keys(variables []any) map[string]string {
	w.t.Helper()
	keyOf := func(name string) string {
		i := slices.Index(variables, any(name))
		switch v := variables[i+1].(type) {
		case core.UID:
			return string(v)
		default:
			return v.(string)
		}
	}
	return map[string]string{
		"Group": keyOf("team"), "Identity": keyOf("ann"), "Role": string(iam.OwnerRole), "RoleBinding": keyOf("binding"), "Repo": keyOf("repo"),
		"Tag": keyOf("tag"), "Advisory": keyOf("advisory"), "EventSubscription": keyOf("sink"), "Delivery": keyOf("delivery"), "VulnerabilityMetadata": "GO-01",
		"VulnerabilityExposure": "CVE-01", "Image": keyOf("repo") + "@" + digest(1),
		"AdvisoryDocument": "r01", "Event": w.ask("{ auditLog(first: 1) { nodes { id } } }").text("auditLog.nodes.0.id"),
		"Artifact": keyOf("artifact"), "ArtifactVersion": keyOf("version"),
		"IdentityProvider": keyOf("provider"), "AccountAssociation": keyOf("team"), "GroupInvite": keyOf("invite"),
		"ExternalGroupRoleMapping": keyOf("mapping"), "TermsAcceptance": keyOf("org") + "#msa",
	}
}

// representation returns an entity as a gateway names it.
func representation(typeName, key string) map[string]any {
	switch typeName {
	case "VulnerabilityMetadata":
		return map[string]any{"__typename": typeName, "vulnerabilityId": key}
	case "AdvisoryDocument":
		return map[string]any{"__typename": typeName, "documentId": key}
	case "VulnerabilityExposure":
		return map[string]any{"__typename": typeName, "name": key}
	case "Image":
		repo, digest, _ := strings.Cut(key, "@")
		return map[string]any{"__typename": typeName, "repoUid": repo, "digest": digest}
	case "Event":
		return map[string]any{"__typename": typeName, "id": key}
	case "TermsAcceptance":
		group, document, _ := strings.Cut(key, "#")
		return map[string]any{"__typename": typeName, "orgUid": group, "docId": document}
	default:
		return map[string]any{"__typename": typeName, "uid": key}
	}
}

// isFeed reports whether every caller with an identity may ask for objects of a type.
func isFeed(typeName string) bool {
	return typeName == "VulnerabilityMetadata" || typeName == "AdvisoryDocument" || typeName == "VulnerabilityExposure"
}

func missingKey(typeName string) string {
	switch typeName {
	case "VulnerabilityMetadata", "AdvisoryDocument":
		return "GO-99"
	case "VulnerabilityExposure":
		return "" // any name is one
	case "Image":
		return absent + "/0123456789abcdef@" + digest(1)
	case "Event":
		return "01234567-89ab-7def-8123-456789abcdef"
	case "TermsAcceptance":
		return absent + "#msa"
	case "Source": // Those without a group are for everybody.
		return absent + "/0123456789abcdef"
	default:
		return absent
	}
}

func TestEveryKindIsANodeAndAnEntity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keys := w.keys(w.furnish())
	schema := graph.Schema()
	for _, possible := range schema.PossibleTypes["Node"] {
		if possible.Directives.ForName("key") == nil {
			t.Errorf("%s is a node, but no entity", possible.Name)
		}
		if possible.Name == "Viewer" {
			continue // TestOnlyTheCallerIsAViewer
		}
		if keys[possible.Name] == "" { // The kind is our own. A missing object of it is read, too.
			w.askAs(theOwner, `query($id: ID!) { node(id: $id) { id } }`, "id", scalar.GlobalID(possible.Name, missingKey(possible.Name))).expectErrors("PERMISSION_DENIED node")
		}
	}
	for typeName, key := range keys {
		id := scalar.GlobalID(typeName, key)
		if typeName == "Event" {
			id = key
		}
		w.ask(`query($id: ID!) { node(id: $id) { id __typename } }`, "id", id).expect("node.id", id).expect("node.__typename", typeName).expectStatements(1)

		there, gone := representation(typeName, key), representation(typeName, missingKey(typeName))
		query := `query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on ` + typeName + ` { id } } }`
		// The access to a missing object is checked first: an owner of acme sees nothing
		// in other organizations.
		got := w.askAs(theOwner, query, "r", []any{there, gone, there})
		got.expect("_entities.0.id", id).expect("_entities.1", nil).expect("_entities.2.id", id).expectStatements(1)
		if typeName == "VulnerabilityExposure" {
			got.expectErrors("INVALID_ARGUMENT _entities.1")
		} else if typeName == "Artifact" || typeName == "ArtifactVersion" || typeName == "Event" || typeName == "Role" || isFeed(typeName) { // These belong to no organization, as built-in roles do.
			got.expectSuccess()
		} else {
			got.expectErrors("PERMISSION_DENIED _entities.1")
		}
		refused := w.askAs("ann", query, "r", []any{there, there})
		switch {
		case typeName == "AdvisoryDocument": // ann may not see the advisories of acme
			refused.expectSuccess().expect("_entities.1", nil)
		case typeName == "Repo", isFeed(typeName):
			refused.expectSuccess().expect("_entities.1.id", id)
		default:
			refused.expectErrors("PERMISSION_DENIED _entities.0", "PERMISSION_DENIED _entities.1").expect("_entities.0", nil).expectStatements(0)
		}
		w.askAs(nobody, query, "r", []any{there}).expectErrors("UNAUTHENTICATED _entities.0").expectStatements(0)
	}
}

func TestOnlyTheCallerIsAViewer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const query = `query($id: ID!, $r: [_Any!]!) { node(id: $id) { id ... on Viewer { identities { name } } } _entities(representations: $r) { ... on Viewer { id } } }`
	ids := map[string]bool{}
	for _, caller := range []string{theOwner, "ann"} {
		own := w.askAs(caller, `{ viewer { id } }`).text("viewer.id")
		ids[own] = true
		r := []any{map[string]any{"__typename": "Viewer", "id": own}}
		w.askAs(caller, query, "id", own, "r", r).expectSuccess().expect("node.id", own).expect("_entities.0.id", own)
		w.askAs("bob", query, "id", own, "r", r).expectErrors("NOT_FOUND node").expect("_entities.0", nil)
		w.askAs(nobody, query, "id", own, "r", r).expectErrors("UNAUTHENTICATED _entities.0", "UNAUTHENTICATED node")
	}
	if len(ids) != 2 {
		t.Errorf("two callers have the ids %v", ids)
	}
}

// What a client's cache holds under an id is the same wherever it was read.
func TestObjectsHaveOneIDOnEveryWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	got := w.ask(`query($tag: UID!, $repo: UID!, $digest: String!) { tag(uid: $tag) { image { id repoUid digest } } compareImages(from: {tag: $tag}, to: {repo: $repo, digest: $digest}) { from { id } to { id } }
		vulnerability(id: "CVE-01") { id name images(first: 1) { nodes { id } } } }`, append(variables, "digest", digest(1))...).expectSuccess()
	id := got.text("tag.image.id")
	if want := scalar.GlobalID("Image", got.text("tag.image.repoUid")+"@"+got.text("tag.image.digest")); id != want {
		t.Errorf("the id is %s, want %s", id, want)
	}
	got.expect("compareImages.from.id", id).expect("vulnerability.id", scalar.GlobalID("VulnerabilityExposure", "CVE-01"))
	w.ask(`query($ids: [ID!]!) { nodes(ids: $ids) { ... on Image { digest tags { nodes { name } } } ... on VulnerabilityExposure { name findings(first: 1) { totalCount } } } }`,
		"ids", []string{id, got.text("vulnerability.id")}).expectSuccess().expect("nodes.0.digest", got.text("tag.image.digest")).expect("nodes.1.name", "CVE-01")
}

func TestMissingEntitiesAreNullWithoutAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, typeName := range []string{
		"Group", "Identity", "Role", "RoleBinding", "Repo", "Tag", "Advisory", "EventSubscription", "Delivery",
		"IdentityProvider", "AccountAssociation", "GroupInvite", "ExternalGroupRoleMapping", "TermsAcceptance",
	} {
		key := string(w.org) + "/0123456789abcdef"
		if typeName == "TermsAcceptance" {
			key = string(w.org) + "#none"
		}
		gone := representation(typeName, key)
		w.ask(`query($r: [_Any!]!) { _entities(representations: $r) { __typename } }`, "r", []any{gone}).expect("_entities.0", nil)
		w.askAs(theOwner, `query($id: ID!) { node(id: $id) { id } }`, "id", scalar.GlobalID(typeName, key)).expectErrors("NOT_FOUND node")
	}
}

func TestNodesAndEntitiesTakeOneStatementForEachKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addRegistry(w.org, 10, 3)
	found := w.ask(`{ repos { nodes { id uid } } tags { nodes { id uid } } groups { nodes { id uid } } }`)
	var ids []string
	var representations []any
	for i := range 10 {
		for kind, typeName := range map[string]string{"repos": "Repo", "tags": "Tag", "groups": "Group"} {
			if kind != "groups" || i == 0 {
				at := kind + ".nodes." + string(rune('0'+i))
				ids = append(ids, found.text(at+".id"))
				representations = append(representations, map[string]any{"__typename": typeName, "uid": found.text(at + ".uid")})
			}
		}
	}
	nodes := w.ask(`query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, "ids", ids).expectStatements(3)
	if nodes.text("nodes.*.id") != strings.Join(ids, " ") {
		t.Error("nodes are not in the order of their ids")
	}
	entities := w.ask(`query($r: [_Any!]!) { _entities(representations: $r) { ... on Node { id } } }`, "r", representations).expectStatements(3)
	if entities.text("_entities.*.id") != strings.Join(ids, " ") {
		t.Error("entities are not in the order of their representations")
	}
	// Fields that are read together must stay together.
	w.ask(`query($r: [_Any!]!) { _entities(representations: $r) { ... on Repo { tags(first: 1) { nodes { image { digest } } } } } }`, "r", representations).expectStatements(5)
	w.ask(`query($ids: [ID!]!) { nodes(ids: $ids) { ... on Repo { tags(first: 1) { nodes { name } } } ... on Tag { repo { name } } } }`, "ids", ids).expectStatements(4)
}

func TestInvalidIDsAreReportedByPosition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := scalar.GlobalID("Group", string(w.org))
	ids := []string{"", "x", own, "Z3Jhdml0eQ", scalar.GlobalID("Planet", "x"), scalar.GlobalID("Group", "NULL"), scalar.GlobalID("Group", ""), string(w.org), scalar.GlobalID("TermsAcceptance", "msa")}
	got := w.askAs(theOwner, `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, "ids", ids)
	got.expectErrors("INVALID_ARGUMENT nodes.0", "INVALID_ARGUMENT nodes.1", "INVALID_ARGUMENT nodes.3", "INVALID_ARGUMENT nodes.4",
		"INVALID_ARGUMENT nodes.5", "INVALID_ARGUMENT nodes.6", "INVALID_ARGUMENT nodes.7", "INVALID_ARGUMENT nodes.8").expect("nodes.2.id", own)
	w.askAs(theOwner, `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, "ids", slices.Repeat([]string{own}, 201)).expectErrors("INVALID_ARGUMENT nodes")
	w.ask(`query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, "ids", slices.Repeat([]string{own}, 200)).expectStatements(1)
	w.ask(`{ nodes(ids: []) { id } }`).expect("nodes", []any{})
	w.askAs(theOwner, `{ node(id: 12) { id } }`).expectErrors("INVALID_ARGUMENT node")
}

func TestInvalidRepresentationsAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const query = `query($r: [_Any!]!) { _entities(representations: $r) { __typename } }`
	group := func(uid any) any { return map[string]any{"__typename": "Group", "uid": uid} }
	for name, c := range map[string]struct {
		representations []any
		want            []string
	}{
		"an empty key":             {[]any{group(""), group(w.org)}, []string{"INVALID_ARGUMENT _entities.0"}},
		"the text null":            {[]any{group(w.org), group("null")}, []string{"INVALID_ARGUMENT _entities.1"}},
		"null beside a good one":   {[]any{group(w.org), group(nil)}, []string{"INVALID_ARGUMENT _entities.1"}},
		"null alone":               {[]any{group(nil)}, []string{"INVALID_ARGUMENT _entities.0"}},
		"a number":                 {[]any{group(12)}, []string{"INVALID_ARGUMENT _entities.0"}},
		"an object":                {[]any{group(map[string]any{})}, []string{"INVALID_ARGUMENT _entities.0"}},
		"no key":                   {[]any{map[string]any{"__typename": "Group"}}, []string{"INVALID_ARGUMENT _entities.0"}},
		"no type":                  {[]any{map[string]any{"uid": w.org}}, []string{"INVALID_ARGUMENT _entities.0"}},
		"an unknown type":          {[]any{map[string]any{"__typename": "Planet", "uid": w.org}}, []string{"INVALID_ARGUMENT _entities.0"}},
		"a type that is none":      {[]any{map[string]any{"__typename": "Severity", "uid": w.org}}, []string{"INVALID_ARGUMENT _entities.0"}},
		"no key before a good one": {[]any{map[string]any{"__typename": "Group"}, group(w.org)}, []string{"INVALID_ARGUMENT _entities.0"}},
		"half a key":               {[]any{map[string]any{"__typename": "TermsAcceptance", "orgUid": w.org}}, []string{"INVALID_ARGUMENT _entities.0"}},
		"too many":                 {slices.Repeat([]any{group(w.org)}, 201), []string{"INVALID_ARGUMENT _entities"}},
		"none":                     {[]any{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.askAs(theOwner, query, "r", c.representations)
			got.t = t
			got.expectErrors(c.want...)
			for i, r := range c.representations { // What is well-formed is read.
				if members := r.(map[string]any); members["uid"] == w.org && members["__typename"] == "Group" && len(c.representations) < 200 {
					got.expect(fmt.Sprintf("_entities.%d.__typename", i), "Group")
				}
			}
		})
	}
}

// The error names the value, and no type of Go.
func TestARepresentationIsAnObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const query = `query($r: [_Any!]!) { _entities(representations: $r) { __typename } }`
	for _, c := range []struct {
		query           string
		representations any
		variable, want  string
	}{
		{query, []any{5}, `Variable "$r[0]": `, "5"},
		{query, []any{map[string]any{"__typename": "Group", "uid": w.org}, "x"}, `Variable "$r[1]": `, `"x"`},
		{query, true, `Variable "$r": `, "true"},
		{query, []any{[]any{}}, `Variable "$r[0]": `, "[]"},
		{`{ _entities(representations: [5]) { __typename } }`, nil, "", "5"},
		{`{ _entities(representations: [RED, {__typename: "Group", uid: 5}]) { __typename } }`, nil, "", "RED"},
		{`{ _entities(representations: "x") { __typename } }`, nil, "", `"x"`},
	} {
		got := w.askAs(theOwner, c.query, "r", c.representations).expectErrors("GRAPHQL_VALIDATION_FAILED")
		if want := c.variable + "_Any cannot represent a value that is not an object: " + c.want; len(got.Errors) == 1 && got.Errors[0].Message != want {
			t.Errorf("%s %v: %q, want %q", c.query, c.representations, got.Errors[0].Message, want)
		}
	}
	w.askAs(theOwner, `{ _entities(representations: {__typename: "Group", uid: "`+string(w.org)+`", more: [5]}) { __typename } }`).
		expectErrors().expect("_entities.0.__typename", "Group")
}

func TestGatewaysCanReadTheSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sdl := w.ask(`{ _service { sdl } }`).text("_service.sdl")
	for _, want := range []string{"federation/v2.9", `type Repo implements Node @key(fields: "uid")`, "type PageInfo @shareable"} {
		if !strings.Contains(sdl, want) {
			t.Errorf("no %q in the service's SDL", want)
		}
	}
	for _, unwanted := range []string{"@goField", "@goModel", "@entityResolver", "_entities", "@oneOf"} {
		if strings.Contains(sdl, unwanted) {
			t.Errorf("%s is in the service's SDL", unwanted)
		}
	}
	public := SDL()
	if !strings.Contains(public, "type Repo implements Node {") || strings.Contains(public, "@key") || strings.Contains(public, "@link") || strings.Contains(public, "_Any") {
		t.Error("the public SDL shows what only gateways need")
	}
}

func TestEachAliasOfNodesHasItsErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.askAs(theOwner, `{ a: nodes(ids: ["bad"]) { id } b: nodes(ids: ["bad"]) { id } }`)
	var paths []string
	for _, err := range got.Errors {
		paths = append(paths, fmt.Sprint(err.Path))
	}
	slices.Sort(paths) // both lists are read at the same time
	if !slices.Equal(paths, []string{"[a 0]", "[b 0]"}) {
		t.Errorf("the errors are at %q, want one for each alias", paths)
	}
}

func TestAnEventIsVisibleWithTheRightToReadItsAuditLog(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		one, two := w.group(w.org, "one"), w.group(w.org, "two")
		w.member(one, "bob", iam.OwnerRole)
		events := w.ask(`query($one: UID!, $two: UID!) { one: auditLog(within: $one) { edges { node { ... on Node { id } } } } two: auditLog(within: $two) { nodes { id type } } }`, "one", one, "two", two)
		own, other := events.text("one.edges.0.node.id"), events.text("two.nodes.0.id")
		const query = `query($id: ID!) { node(id: $id) { id ... on Event { type subject } } }`
		w.askAs("bob", query, "id", own).expectSuccess().expect("node.id", own)
		w.askAs("bob", query, "id", other).expectErrors("NOT_FOUND node").expect("node", nil)
		w.ask(query, "id", other).expect("node.type", events.value("two.nodes.0.type")).expect("node.subject", string(two))
		w.askAs(theOwner, query, "id", missingKey("Event")).expectErrors("NOT_FOUND node")
	})
}

func TestTheServiceIsShownToGatewaysWithAToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, hide := range []bool{true, false} {
		settings := endpoint.DefaultSettings()
		settings.HideSchema = hide
		w.handler = serve(w.p, nil, settings)
		w.ask("{_service{sdl}}")
		if r := w.askAs(nobody, "{_service{sdl}}"); len(r.Errors) != 1 || r.Errors[0].Extensions.Code != "UNAUTHENTICATED" {
			t.Errorf("anonymous: %v, want 1 of them", r.Errors)
		}
	}
	// The function rejects every caller, even an owner.
	refuse := func(context.Context) error {
		return &core.Error{Code: core.CodePermissionDenied, Reason: "INTROSPECTION_OFF"}
	}
	w.handler = newPair(w.p, nil, endpoint.DefaultSettings(), refuse)
	for _, query := range []string{"{_service{sdl}}", "{a: _service{b: sdl}}", "{...F} fragment F on Query {_service{sdl}}", "{ping _service{__typename}}"} {
		if r := w.askAs(theOwner, query); r.expectErrors("PERMISSION_DENIED").Data != nil {
			t.Errorf("%s shows %v, want no Data", query, r.Data)
		}
	}
}
