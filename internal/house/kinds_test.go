package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/internal/apierror"
	"atrium/platform"
	"atrium/platform/core"
)

// kindFiles lists the files of platform that contain a kind, without their extension: those
// that declare a Kind, and image.go, whose kind is part of a repo and has no UIDs.
func kindFiles(t *testing.T) []string {
	t.Helper()
	files := []string{"image"}
	for name := range kindAreas(t) {
		files = append(files, name)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	if len(files) < 10 {
		t.Fatalf("platform has the kinds %v only: how are they declared now?", files)
	}
	return files
}

// kindAreas returns the area of each file that declares a kind, such as iam for group.
func kindAreas(t *testing.T) map[string]string {
	t.Helper()
	areas := map[string]string{}
	for _, folder := range areaFolders {
		for _, f := range sourcesIn(t, folder) {
			if declaresKind(f.ast) {
				areas[strings.TrimSuffix(path.Base(f.path), ".go")] = path.Base(folder)
			}
		}
	}
	return areas
}

// declaresKind reports whether a file contains `var XKind = core.Kind[*X]{`.
func declaresKind(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		found = found || ok && rowOfKind(literal) != ""
		return !found
	})
	return found
}

// floors lists the folders in which each kind has its own file, with the first lines of
// such a file for a kind Widget.
var floors = []struct {
	folder, ending, holds, line string
}{
	{"platform/*", ".go", "its type, rules and operations", "var WidgetKind = core.Kind[*Widget]{"},
	{"schema", ".graphqls", "its GraphQL contract", "type Widget implements Node @key(fields: \"uid\") {"},
	{"resolvers", ".go", "its resolvers", "func (q queries) Widget(ctx context.Context, uid core.UID) (*inventory.Widget, error) {"},
	{"store/sqlstore", ".go", "its table and filters", "var widgets = table.New(&table.Definition[*inventory.Widget, *inventory.WidgetFilter]{"},
	{"internal/cases", "_test.go", "the cases of every protocol", "var _ = newKind(kind{"},
}

// computed is a list with a Kind whose rows are made of those of other kinds, without a statement of its own.
const computed = "resolved_vulnerability"

func TestEveryKindIsEverywhere(t *testing.T) {
	t.Parallel()
	for _, kind := range kindFiles(t) {
		for _, floor := range floors {
			if file := path.Join(floor.folder, kind+floor.ending); !existsSome(file) && (floor.folder != "store/sqlstore" || kind != computed) {
				t.Errorf("write %s: the kind %s has %s there. Copy %s, which has a line like\n\t%s",
					file, kind, floor.holds, path.Join(floor.folder, "repo"+floor.ending), replaceWidget(floor.line, kind))
			}
		}
	}
}

// replaceWidget replaces the name Widget in a line by the name of a kind.
func replaceWidget(line, kind string) string {
	upper := ""
	for word := range strings.SplitSeq(kind, "_") {
		upper += strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.NewReplacer("Widget", upper, "widget", strings.ToLower(upper[:1])+upper[1:]).Replace(line)
}

// TestEveryKindIsInTheListOfKinds finds kinds that are missing in the list of kinds, from
// which everything else is derived.
func TestEveryKindIsInTheListOfKinds(t *testing.T) {
	t.Parallel()
	_, list, found := strings.Cut(read(t, "platform/kinds.go"), "\nfunc kinds() ")
	list, _, _ = strings.Cut(list, "\n}\n")
	if !found {
		t.Fatal("platform/kinds.go has no function kinds: where are they listed now?")
	}
	notStored := []string{"image", "advisory_document", computed} // parts of repos, and views of advisories
	areas := kindAreas(t)
	for _, kind := range kindFiles(t) {
		if entry := replaceWidget("&"+areas[kind]+".WidgetKind", kind); !slices.Contains(notStored, kind) && !strings.Contains(list, entry) {
			t.Errorf("platform/kinds.go: add to kinds()\n\t\t%s,", entry)
		}
	}
}

// TestEveryKindIsListedEverywhere checks the lists that must contain each kind.
func TestEveryKindIsListedEverywhere(t *testing.T) {
	t.Parallel()
	p, _ := newPlatform(t)
	fields := operationsOf(p)
	_, tables, _ := strings.Cut(read(t, "store/sqlstore/tables.go"), "\nvar kinds = ")
	tables, _, _ = strings.Cut(tables, "\n}\n")
	nodes := read(t, "resolvers/node.go")
	places := map[string]*declaration{}
	for _, d := range declarations(t) {
		places[d.Name] = d
	}
	for _, k := range platform.Kinds() {
		field := fields[k.Row]
		if field == "" {
			t.Errorf("platform/platform.go: add to Operations, and set in New\n\t%[1]ss %[2]s.%[1]ss", k.Row.Name(), path.Base(k.Row.PkgPath()))
			continue
		}
		if !regexp.MustCompile(`\b` + lowerFirst(field) + `\b`).MatchString(tables) {
			t.Errorf("store/sqlstore/tables.go: add the table of %s to kinds\n\t%s,", k.Row.Name(), lowerFirst(field))
		}
		if !strings.Contains(nodes, "(*reads)."+lowerFirst(field)+")") && !strings.Contains(nodes, "(*reads)."+lowerFirst(field)+",") {
			t.Errorf("resolvers/node.go: add to nodeReaders\n\t%q: readNodes((*reads).%s),\nand to the file of the kind in resolvers\n\tfunc (r *reads) %[2]s() *loader[core.UID, *%[5]s.%[3]s] { return loaderOf(r, r.p.%[4]s.GetMany) }", k.Name, lowerFirst(field), k.Row.Name(), field, path.Base(k.Row.PkgPath()))
		}
		checkRoutes(t, k, field)
		for _, change := range []struct {
			verb  string
			needs core.Capability
		}{{"created", k.Create}, {"updated", k.Update}, {"deleted", k.Delete}} {
			if change.needs != "" && k.Event != "" && len(k.Verbs) > 0 && !slices.Contains(k.Verbs, change.verb) && !otherChanges[k.Name+" "+change.verb] {
				t.Errorf("%s: %s has the capability %s: add %q to Verbs of %s", places[k.Name].place(), k.Row.Name(), change.needs, change.verb, places[k.Name].variable)
			}
		}
		if k.Create != "" && k.Event != "" && len(k.Verbs) == 0 && !imported[k.Name] {
			t.Errorf("%s: %s has an event %s and no verbs: add to %s\n\tVerbs: []string{\"created\", \"updated\", \"deleted\"},", places[k.Name].place(), k.Row.Name(), k.Event, places[k.Name].variable)
		}
	}
}

// TestEveryTableIsCreated checks that the migrations of both engines create the table of each kind.
func TestEveryTableIsCreated(t *testing.T) {
	t.Parallel()
	found := 0
	for _, kind := range kindFiles(t) {
		file := "store/sqlstore/" + kind + ".go"
		if !exists(file) {
			continue // TestEveryKindIsEverywhere reports it.
		}
		table := regexp.MustCompile(`table\.New\([^{]*\{\s*Name: +"(\w+)"`).FindStringSubmatch(read(t, file))
		if table == nil {
			continue
		}
		found++
		for _, folder := range migrationFolders {
			if !strings.Contains(readAll(t, folder+"*.sql"), "CREATE TABLE "+table[1]+" (") {
				t.Errorf("%s: write the next migration, which makes the table of %s, its columns and its indexes\n\tCREATE TABLE %s (", folder, kind, table[1])
			}
		}
	}
	if found < 10 {
		t.Fatalf("%d kinds have tables: how are they declared now?", found)
	}
}

// migrationFolders are the folders of the migrations of each engine.
var migrationFolders = []string{"store/sqlstore/migrations/postgres/", "store/sqlstore/migrations/sqlite/"}

// routesOfVerbs has the constructor and the path of the route that records an event with
// each verb.
var routesOfVerbs = map[string][2]string{
	"created": {"create", "/{parent=**}"}, "updated": {"update", "/{uid=**}"}, "deleted": {"remove", "/{uid=**}"},
}

// ownRoutes lists kinds that REST does not list or get as it does others.
var ownRoutes = map[string]bool{"TermsAcceptance": true, "VulnerabilityMetadata": true, "Artifact": true, "ArtifactVersion": true}

// graphQLOnlyChange is the change that only GraphQL has.
const graphQLOnlyChange = "Subscription updated"

// checkRoutes checks that REST serves a kind, whose operations are in a field of the
// platform, with a route for each change.
func checkRoutes(t *testing.T, k core.KindInfo, field string) {
	t.Helper()
	if k.GraphOnly || !exists("internal/rest/"+k.Area+".go") {
		return // TestEveryAreaHasItsRoutes reports a missing file.
	}
	routes := read(t, "internal/rest/"+k.Area+".go")
	for _, route := range [][2]string{{"list", ""}, {"get", "/{uid=**}"}} {
		own := regexp.MustCompile(`\b` + route[0] + `\("[^"]*", (\w+\{)?p\.` + field + `\b`).MatchString(routes)
		if !own && (!ownRoutes[k.Name] || !strings.Contains(routes, "p."+field)) {
			t.Errorf("internal/rest/%s.go: add a route of %s\n\t\t%s(\"/%[1]s/v2/%[4]s%[5]s\", p.%[6]s),", k.Area, k.Row.Name(), route[0], k.Plural, route[1], field)
		}
	}
	for _, verb := range k.Verbs {
		if route, known := routesOfVerbs[verb]; known && k.Name+" "+verb != graphQLOnlyChange && !regexp.MustCompile(route[0]+`\("[^"]*", p\.`+field+`\b`).MatchString(routes) {
			t.Errorf("internal/rest/%s.go: add the route of %s that records %q\n\t\t%s(\"/%[1]s/v2/%[5]s%[6]s\", p.%[7]s),", k.Area, k.Row.Name(), verb, route[0], k.Plural, route[1], field)
		}
	}
}

// otherChanges lists changes that a capability allows and that record another event:
// creating a tag can move it, terms are accepted, and findings are decided about.
var otherChanges = map[string]bool{"Finding updated": true, "Tag updated": true, "TermsAcceptance created": true}

// imported lists kinds that come from feeds. Changes of them record no events.
var imported = map[string]bool{"Advisory": true}

// operationsOf maps each kind to the field of the platform with its operations. It skips
// fields that newOperations leaves empty.
func operationsOf(p *platform.Platform) map[reflect.Type]string {
	fields := map[reflect.Type]string{}
	value := reflect.ValueOf(p.Operations)
	for i := range value.NumField() {
		field := value.Type().Field(i)
		if kind := value.Field(i).MethodByName("Kind"); kind.IsValid() && !value.Field(i).IsZero() {
			if described, ok := kind.Call(nil)[0].Interface().(interface{ Info() core.KindInfo }); ok {
				fields[described.Info().Row] = field.Name
			}
		}
	}
	return fields
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// TestEveryServiceIsServed checks that each service of the contract has a handler.
func TestEveryServiceIsServed(t *testing.T) {
	t.Parallel()
	stubs := regexp.MustCompile(`(?m)^\t\w+ +(\w+)v2connect\.(\w+)ServiceClient$`).FindAllStringSubmatch(read(t, "gen/services/services.go"), -1)
	if len(stubs) < 10 {
		t.Fatalf("gen/services has %d stubs: how are they generated now?", len(stubs))
	}
	for _, s := range stubs {
		area, service := s[1], s[2]
		if !strings.Contains(read(t, "internal/rpc/"+area+".go"), service+"ServiceHandler(") {
			t.Errorf("internal/rpc/%s.go: write the procedures of %sService, and add to %[1]sServices\n\tnewService(%[1]sv2connect.New%[2]sServiceHandler(%[3]s{p.%[2]s}, o)),", area, service, lowerFirst(service))
		}
	}
}

// TestEveryKindHasAMessage checks that the contract of its area has a message for each
// kind.
func TestEveryKindHasAMessage(t *testing.T) {
	t.Parallel()
	for _, k := range platform.Kinds() {
		if k.GraphOnly {
			continue
		}
		if !strings.Contains(readAll(t, "schema/proto/platform/"+k.Area+"/v2/*.proto"), "\nmessage "+k.Name+" {") {
			t.Errorf("schema/proto/platform/%s/v2: write the messages and the service of %s, then `make generate`\n\tmessage %[2]s {", k.Area, k.Name)
		}
	}
}

// TestTheContractsNameEveryCapabilityAndEvent checks the enum values that the declaration
// of a kind requires.
func TestTheContractsNameEveryCapabilityAndEvent(t *testing.T) {
	t.Parallel()
	const inGraphQL, inProto = "schema/capability.graphqls", "schema/proto/platform/iam/v2/capability.proto"
	values, numbers := enumValues(t, inGraphQL, "Capability"), read(t, inProto)
	for _, c := range core.Capabilities() {
		if name := enumName(string(c)); !slices.Contains(values, name) {
			t.Errorf("%s: add to the enum Capability, then `make generate`\n\t%s", inGraphQL, name)
		}
		if line := fmt.Sprintf("%s = %d;", c.WireName(), c.Number()); !strings.Contains(numbers, line) {
			t.Errorf("%s: add to the enum Capability, then `make generate`\n\t%s", inProto, line)
		}
	}
	const inEvents = "schema/event.graphqls"
	values = enumValues(t, inEvents, "EventKind")
	named := []string{"IAM_TERMS_"} // what is accepted of a TermsAcceptance
	for _, k := range platform.Kinds() {
		named = append(named, strings.ToUpper(k.Area+"_"+apierror.SnakeCase(k.Name))+"_")
	}
	for _, full := range platform.AllEventTypes().All() {
		name, _ := platform.AllEventTypes().KindName(full)
		if !slices.Contains(values, name) {
			t.Errorf("%s: add to the enum EventKind, then `make generate`\n\t%s", inEvents, name)
		}
		if !slices.ContainsFunc(named, func(kind string) bool { return strings.HasPrefix(name, kind) }) {
			t.Errorf("platform/events/types.go: kindsOfGraph must make area and kind of %s: the name begins with none", name)
		}
	}
}

// TestEveryFilterHasUIDs checks the field that the filters of all kinds in the tree must have.
func TestEveryFilterHasUIDs(t *testing.T) {
	t.Parallel()
	contract, found := readAll(t, "schema/*.graphqls"), 0
	for _, k := range platform.Kinds() {
		filter := regexp.MustCompile(`(?s)\ninput (?:Event)?` + k.Name + `Filter \{\n(.*?)\n\}`).FindStringSubmatch(contract)
		if k.Shared || k.GraphOnly || outsideTree[k.Name] || filter == nil {
			continue
		}
		found++
		const field = "uids: [UID!]"
		if !strings.Contains(filter[1]+"\n", "\n  "+field+"\n") {
			t.Errorf("schema: add to the filter of %s, then `make generate`\n\t%s", k.Name, field)
		}
	}
	if found < 10 {
		t.Fatalf("the contract has filters of %d kinds: how are they declared now?", found)
	}
}

// outsideTree lists kinds that are not in the tree of groups and not shared.
var outsideTree = map[string]bool{"VulnerabilityMetadata": true}

// enumName converts a dotted name to a value of a GraphQL enum.
func enumName(dotted string) string { return strings.ToUpper(strings.ReplaceAll(dotted, ".", "_")) }

// enumValues lists the values of an enum in a file of the GraphQL contract.
func enumValues(t *testing.T, file, enum string) []string {
	t.Helper()
	body := regexp.MustCompile(`(?s)\nenum ` + enum + ` \{\n(.*?)\n\}`).FindStringSubmatch(read(t, file))
	if body == nil {
		t.Fatalf("%s has no enum %s", file, enum)
	}
	var values []string
	for _, value := range regexp.MustCompile(`(?m)^  ([A-Z_0-9]+)$`).FindAllStringSubmatch(body[1], -1) {
		values = append(values, value[1])
	}
	return values
}

// REST and gRPC have a file for each area, not for each kind.
func TestEveryAreaHasItsRoutes(t *testing.T) {
	t.Parallel()
	for area, kinds := range areas(t) {
		for _, adapter := range []string{"internal/rest", "internal/rpc"} {
			if file := adapter + "/" + area + ".go"; !exists(file) {
				t.Errorf("write %s, or change the Area in the declaration: %s has the area %q", file, strings.Join(kinds, ", "), area)
			}
		}
	}
}

// TestTheStoreIsStatedByItsKinds bounds the methods in the files store.go of the core. What one kind needs
// of the store stands beside its operations.
func TestTheStoreIsStatedByItsKinds(t *testing.T) {
	t.Parallel()
	const most = 35
	own := 0
	for _, declared := range append(parseSource(t, "platform/core/store.go").ast.Decls, parseSource(t, "platform/store.go").ast.Decls...) {
		general, ok := declared.(*ast.GenDecl)
		if !ok || general.Tok != token.TYPE {
			continue
		}
		stated, ok := general.Specs[0].(*ast.TypeSpec).Type.(*ast.InterfaceType)
		if name := general.Specs[0].(*ast.TypeSpec).Name.Name; !ok || name == "Table" || name == "RowWriter" {
			continue
		}
		for _, method := range stated.Methods.List {
			own += len(method.Names) // An embedded interface has no name.
		}
	}
	if own == 0 || own > most {
		t.Errorf("the files store.go of platform and platform/core state %d methods, want at most %d: state what a kind needs beside its operations, as RepoReads in repo.go", own, most)
	}
}

// TestTheEngineOfTablesKnowsNoKind checks that what holds for one kind is in its file of sqlstore, and not in package table.
func TestTheEngineOfTablesKnowsNoKind(t *testing.T) {
	t.Parallel()
	text := readAll(t, "store/sqlstore/table/*.go")
	if !strings.Contains(text, "type Definition[") {
		t.Fatal("store/sqlstore/table has no Definition: where is the engine of tables now?")
	}
	for _, k := range platform.Kinds() {
		if found := regexp.MustCompile(`platform\.` + k.Row.Name() + `\w*`).FindString(text); found != "" {
			t.Errorf("store/sqlstore/table names %s: make it a field of Definition, and set it in the file of %s", found, k.Row.Name())
		}
	}
}
