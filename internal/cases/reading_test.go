package cases

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/platform/reports"
	"atrium/store/storetest"
)

// reading says which capabilities reading a resource of a kind needs, whatever the way to it.
var reading = map[string][]core.Capability{
	"Group": {core.CapGroupsList}, "Identity": {core.CapIdentityList}, "Role": {core.CapRolesList}, "RoleBinding": {core.CapRoleBindingsList},
	"IdentityProvider": {core.CapIdentityProvidersList}, "ExternalGroupRoleMapping": {core.CapIdentityProvidersList},
	"AccountAssociation": {core.CapAccountAssociationsList}, "GroupInvite": {core.CapGroupInvitesList}, "TermsAcceptance": {core.CapTermsList},
	"Repo": {core.CapRepoList}, "Tag": {core.CapTagList}, "Subscription": {core.CapSubscriptionsList}, "Delivery": {core.CapSubscriptionsList}, "Source": {core.CapSourcesList},
	"Advisory": {core.CapAdvisoriesList}, "VulnerabilityMetadata": nil, "Artifact": {core.CapLibrariesArtifactsList}, "ArtifactVersion": {core.CapLibrariesArtifactsList},
	"Finding": {core.CapFindingsList, core.CapTagList}, "Package": {core.CapManifestMetadataList, core.CapTagList}, "PackageVersion": {core.CapManifestMetadataList, core.CapTagList},
}

// An onlooker is a caller who tries to see resources.
type onlooker struct {
	name, token string
	ctx         context.Context
	events      map[string]bool // the types of events that the live feed has given, in short
	feed        string          // the bodies of these events
}

// A way leads to a resource. It returns what it shows, without errors.
type way struct {
	name    string
	show    func(*onlooker) string
	isMaybe bool // whether there need not be anything
}

// A target is a resource to which ways lead, with the GraphQL type and key.
type target struct {
	*kind
	graphType, keyField, key, name string
	representation                 fields
}

var errSeenAll = errors.New("all events were seen")

// Each way to a resource shows it to those who hold what reading it needs, and to nobody who lacks one of that.
func TestEveryWayToAResourceNeedsTheSame(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		e := w.newEnv(t)
		targets := e.targets()
		lobby := keyOf(e.make(kindOf("group"), "{org}", fields{"name": "lobby"})) // All readers see its groups, and so when the feed has given all.
		owner := &onlooker{name: "the owner", token: e.token, ctx: e.as("owner of " + fmt.Sprint(e.made["org"]["name"]))}
		readers := []*onlooker{owner}
		without, with := map[core.Capability]*onlooker{}, map[string]*onlooker{}
		for kind, needed := range reading {
			with[kind] = e.newOnlooker("who holds what "+kind+" needs", lobby, append([]core.Capability{core.CapGroupsList}, needed...)...)
			readers = append(readers, with[kind])
			for _, c := range needed {
				if without[c] == nil {
					others := slices.DeleteFunc(core.Capabilities(), func(other core.Capability) bool { return other == c })
					without[c] = e.newOnlooker("without "+string(c), lobby, others...)
					readers = append(readers, without[c])
				}
			}
		}
		last := keyOf(e.make(kindOf("group"), lobby, fields{"name": "last"}))
		for _, who := range readers {
			who.follow(e, lobby, last)
		}
		for _, to := range targets {
			found := 0
			for _, by := range e.ways(to) {
				if got := by.show(owner); !strings.Contains(got, to.key) {
					if !by.isMaybe {
						t.Errorf("%s by %s is not shown to its owner: %s", to.kind.name, by.name, got)
					}
					continue
				}
				found++
				if got := by.show(with[to.kind.name]); !strings.Contains(got, to.key) {
					t.Errorf("%s by %s is not shown to one who holds what it needs: %s", to.kind.name, by.name, got)
				}
				for _, c := range reading[to.kind.name] {
					if got := by.show(without[c]); strings.Contains(got, to.key) {
						t.Errorf("%s by %s is shown to one without %s: %s", to.kind.name, by.name, c, got)
					}
				}
			}
			if found < 3 {
				t.Errorf("only %d ways lead to %s", found, to.kind.name)
			}
		}
		for _, who := range readers {
			if knowsRepos := who == owner || who != without[core.CapRepoList] && strings.HasPrefix(who.name, "without"); strings.Contains(who.feed, `"repoName"`) && !knowsRepos {
				t.Errorf("one %s gets the name of a repo in an event: %s", who.name, who.feed)
			}
		}
		if !strings.Contains(owner.feed, `"repoName"`) {
			t.Errorf("the owner gets no name of a repo: %s", owner.feed)
		}
	})
}

// targets creates a resource of each kind.
func (e *env) targets() (all []target) {
	e.Helper()
	e.made["finding"] = createFinding(e, e.text("{repo}"))
	e.made["delivery"] = createDelivery(e, e.text("{subscription}"))
	done, err := e.w.p.Registry.ImportSBOMs(e.operator(), []*registry.ImportedSBOM{{
		Repo: core.UID(e.text("{repo}")), Digest: digest(1), Format: "CycloneDX 1.5",
		Packages: []inventory.InstalledPackage{{Name: "left-pad", Version: "1.2.0", Ecosystem: "npm", PURL: "pkg:npm/left-pad@1.2.0"}},
	}})
	if err != nil || len(done.Rejected) > 0 {
		e.Fatalf("%v %v", err, done.Rejected)
	}
	for ref, typeName := range map[string]string{"package": "packages", "heldversion": "packages { nodes { versions"} {
		var found struct{ UID string }
		data := e.query(e.token, "{ "+typeName+" { nodes { uid } } "+strings.Repeat("} } ", strings.Count(typeName, "{")/2)+"}")
		if _, after, ok := strings.Cut(data, `"uid":`); ok {
			_ = json.NewDecoder(strings.NewReader(after)).Decode(&found.UID)
		}
		e.made[ref] = fields{"uid": found.UID}
	}
	for _, info := range platform.Kinds() {
		name := info.Name
		if name == "Vulnerability" {
			name = "VulnerabilityMetadata"
		}
		k := findKind(name)
		if _, known := reading[name]; k == nil || !known {
			e.Fatalf("reading says nothing about %s", name)
		}
		made := e.resource(k.ref)
		to := target{kind: k, graphType: name, keyField: "uid", key: keyOf(made), name: fmt.Sprint(made["name"])}
		switch name {
		case "Subscription":
			to.graphType = "EventSubscription"
		case "VulnerabilityMetadata":
			to.keyField = "vulnerabilityId"
		case "TermsAcceptance":
			to.keyField = "docId"
			to.representation = fields{"orgUid": e.text("{group}"), "docId": to.key}
		}
		if to.representation == nil {
			to.representation = fields{to.keyField: to.key}
		}
		to.representation["__typename"] = to.graphType
		all = append(all, to)
	}
	return all
}

// as returns the context of a caller in the core.
func (e *env) as(subject string) context.Context {
	e.Helper()
	actor, err := e.w.p.Authenticate(e.Context(), iam.Claims{Issuer: auth.DevelopmentIssuer, Subject: subject, ServiceAudience: true})
	if err != nil {
		e.Fatal(err)
	}
	return core.WithActor(e.Context(), actor)
}

// newOnlooker creates a caller with capabilities on the organization, who also sees the groups in the lobby.
func (e *env) newOnlooker(name, lobby string, capabilities ...core.Capability) *onlooker {
	e.Helper()
	subject := fmt.Sprintf("reader %d", e.w.names.Add(1))
	identity := keyOf(e.make(kindOf("identity"), "{org}", fields{"name": subject, "claimMatch": fields{"issuer": auth.DevelopmentIssuer, "subject": subject}}))
	bind := func(group string, capabilities ...core.Capability) {
		names := make([]any, len(capabilities))
		for i, c := range capabilities {
			names[i] = c.WireName()
		}
		role := keyOf(e.make(kindOf("role"), "{org}", fields{"name": fmt.Sprintf("of reader %d", e.w.names.Add(1)), "capabilities": names}))
		e.mustCall(call{rpc: "CreateRoleBinding", target: group, fields: fields{"identityUid": identity, "roleUid": role}})
	}
	bind(e.text("{org}"), capabilities...)
	bind(lobby, core.CapGroupsList)
	return &onlooker{name: name, token: e.w.token(e.T, subject), ctx: e.as(subject)}
}

// follow reads all events that the reader may see.
func (r *onlooker) follow(e *env, lobby, last string) {
	e.Helper()
	r.events = map[string]bool{}
	feed, err := e.w.p.Events.Open(r.ctx, events.EventRequest{DescendantsOf: core.UID(e.text("{org}")), After: new(string)})
	if err == nil {
		err = feed.Follow(r.ctx, func(event *core.Event) error {
			short := events.ShortEventType(event.Type)
			if !liesWithin(string(event.Subject), lobby) {
				r.events[short] = true
				r.feed += string(event.Body)
			}
			if string(event.Subject) == last {
				return errSeenAll
			}
			return nil
		})
	}
	if !errors.Is(err, errSeenAll) {
		e.Fatalf("one %s: %v", r.name, err)
	}
}

// query returns the data of the answer to a document.
func (e *env) query(token, document string) string {
	e.Helper()
	var sent struct{ Data json.RawMessage }
	w := send(e.w.graphQL().(graphQL).handler, token, asJSON(fields{"query": document}))
	if err := json.Unmarshal(w.Body.Bytes(), &sent); err != nil {
		e.Fatalf("%s: %v: %s", document, err, w.Body)
	}
	return string(sent.Data)
}

// ways lists the ways to a resource.
func (e *env) ways(to target) (all []way) {
	e.Helper()
	add := func(name string, show func(*onlooker) string) { all = append(all, way{name: name, show: show}) }
	document := func(name, text string) {
		add(name, func(r *onlooker) string { return e.query(r.token, text) })
	}
	for _, p := range e.w.protocols {
		for _, c := range to.operations(e.w) {
			if c.rpc == "Get"+to.kind.name && p.name() != "graphql" || c.rpc == "List"+to.plural {
				filled := e.fillCall(c)
				add(c.rpc+" through "+p.name(), func(r *onlooker) string {
					got := p.do(r.token, filled)
					return asJSON(got.resource) + asJSON(got.items)
				})
			}
		}
	}
	object := "{ __typename ... on " + to.graphType + " { " + to.keyField + " } }"
	document("node", fmt.Sprintf("{ node(id: %q) %s }", e.globalID(to), object))
	document("nodes", fmt.Sprintf("{ nodes(ids: [%q]) %s }", e.globalID(to), object))
	add("_entities", func(r *onlooker) string {
		var sent struct{ Data json.RawMessage }
		w := send(e.w.graphQL().(graphQL).handler, r.token, asJSON(fields{
			"query": "query($r: [_Any!]!) { _entities(representations: $r) " + object + " }", "variables": fields{"r": []any{to.representation}},
		}))
		_ = json.Unmarshal(w.Body.Bytes(), &sent)
		return string(sent.Data)
	})
	schema := e.w.graphQL().(graphQL).schema
	for _, field := range schema.Query.Fields {
		if field.Type.Name() == to.graphType && field.Arguments.ForName("uid") != nil {
			document("Query."+field.Name, fmt.Sprintf("{ %s(uid: %q) { %s } }", field.Name, to.key, to.keyField))
		}
	}
	for _, from := range []struct{ field, graphType, uid string }{
		{"", "Query", ""}, {"group", "Group", "{org}"}, {"group", "Group", "{group}"}, {"repo", "Repo", "{repo}"}, {"subscription", "EventSubscription", "{subscription}"},
		{"identityProvider", "IdentityProvider", "{provider}"}, {"artifact", "Artifact", "{full artifact}"}, {"tag", "Tag", "{tag}"},
	} {
		for _, field := range schema.Types[from.graphType].Fields {
			if field.Type.Name() != to.graphType+"Connection" || slices.ContainsFunc(field.Arguments, isRequired) {
				continue
			}
			list := fmt.Sprintf("{ %s(first: 100) { nodes { %s } } }", field.Name, to.keyField)
			if from.field != "" {
				if needed := reading[from.graphType]; from.graphType != "Group" && !slices.Equal(needed, reading[to.kind.name]) {
					continue // what the parent needs beside is not what this test is about
				}
				list = fmt.Sprintf("{ %s(uid: %q) %s }", from.field, e.text(from.uid), list)
			}
			document(from.graphType+"."+field.Name+" of "+from.uid, list)
			all[len(all)-1].isMaybe = true
		}
	}
	if kinds := schema.Types["SearchKind"].EnumValues; kinds.ForName(strings.ToUpper(to.kind.name)) != nil {
		document("search", fmt.Sprintf("{ search(query: %q, kinds: [%s], first: 100) { nodes %s } }", to.name, strings.ToUpper(to.kind.name), object))
	}
	for _, info := range platform.Kinds() {
		for _, verb := range info.Verbs {
			if info.Name == to.kind.name {
				add("the event "+verb, func(r *onlooker) string {
					if r.events[info.Event+"."+verb] {
						return to.key
					}
					return ""
				})
				all[len(all)-1].isMaybe = true
			}
		}
	}
	switch to.kind.name {
	case "Finding":
		add("an export", func(r *onlooker) (shown string) {
			_ = e.w.p.Exports.ReadFindings(r.ctx, reports.ExportRequest[*inventory.FindingFilter]{}, func(page []*reports.ExportedFinding) error {
				shown += asJSON(page)
				return nil
			})
			return shown
		})
		for _, field := range []string{"findingSummary { affectedRepos }", "findings(first: 0) { facets { states { count } } }"} {
			add(field, func(r *onlooker) string {
				for _, text := range []string{"{ " + field + " }", fmt.Sprintf("{ group(uid: %q) { %s } }", e.text("{org}"), field)} {
					if data := e.query(r.token, text); strings.Contains(data, `:1`) {
						return to.key
					}
				}
				return ""
			})
		}
	case "PackageVersion":
		add("an export", func(r *onlooker) (shown string) {
			_ = e.w.p.Exports.ReadPackages(r.ctx, reports.ExportRequest[*inventory.PackageFilter]{}, func(page []*reports.ExportedVersion) error {
				shown += asJSON(page)
				return nil
			})
			return shown
		})
	}
	return all
}

func isRequired(a *ast.ArgumentDefinition) bool { return a.Type.NonNull && a.DefaultValue == nil }

// globalID returns the global id of a resource.
func (e *env) globalID(to target) string {
	key := to.key
	if to.kind.name == "TermsAcceptance" {
		key = e.text("{group}") + "#" + to.key
	}
	return base64.RawURLEncoding.EncodeToString([]byte(to.graphType + ":" + key))
}
