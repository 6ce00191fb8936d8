package house

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A rule says which folders of this module a folder may import, and why it may not import
// others.
type rule struct {
	may []string
	why string
}

const adapter = "an adapter decodes, calls one operation of the core and encodes; what it needs from another one, cmd passes in as a function, and the store would be a road around the rules"

const leaf = "the core stands on it; it knows no kind, no caller and no operation, so that it can be read and tested alone"

// The areas of the core, each after those that it may use, and why it may use no others.
const (
	alone = "the core stands alone: rules and permissions are the same for every protocol and engine"
	order = "an area uses those below it, and is understood without the others"
)

var areaFolders = []string{"platform/core", "platform/secrets", "platform/libraries", "platform/iam", "platform/inventory", "platform/feeds", "platform/registry", "platform/reports", "platform/events", "platform/webhooks", "platform/operations", "platform/intake"}

// maxPackageLines is the most lines of a package without its tests. A reader holds no more in mind.
const maxPackageLines = 8000

// rules has the rule of each folder. It also applies to folders below without their own
// rule.
var rules = map[string]rule{
	"platform":                   {append([]string{"platform/affected", "platform/ecosystem", "platform/fieldmask"}, areaFolders...), alone},
	"platform/core":              {[]string{"platform/fieldmask"}, "every area stands on it; " + alone},
	"platform/secrets":           {[]string{"platform/core"}, order},
	"platform/libraries":         {[]string{"platform/core", "platform/ecosystem", "platform/fieldmask"}, order},
	"platform/iam":               {[]string{"platform/core", "platform/secrets", "platform/fieldmask"}, order},
	"platform/inventory":         {[]string{"platform/core", "platform/iam", "platform/operations", "platform/affected", "platform/ecosystem", "platform/fieldmask"}, order},
	"platform/feeds":             {[]string{"platform/core", "platform/iam", "platform/inventory", "platform/ecosystem"}, order},
	"platform/registry":          {[]string{"platform/core", "platform/inventory", "platform/ecosystem"}, order},
	"platform/reports":           {[]string{"platform/core", "platform/iam", "platform/inventory", "platform/affected", "platform/ecosystem", "platform/fieldmask"}, order},
	"platform/events":            {[]string{"platform/core", "platform/iam", "platform/inventory", "platform/fieldmask"}, order},
	"platform/webhooks":          {[]string{"platform/core", "platform/secrets", "platform/iam", "platform/inventory", "platform/events", "platform/fieldmask"}, order},
	"platform/operations":        {[]string{"platform/core"}, order},
	"platform/intake":            {[]string{"platform/core", "platform/secrets", "platform/iam", "platform/webhooks", "platform/fieldmask"}, order},
	"platform/affected":          {nil, "whether a version is affected is a question of its ecosystem alone"},
	"platform/ecosystem":         {nil, leaf},
	"platform/fieldmask":         {nil, leaf},
	"graph":                      {[]string{"platform", "platform/affected", "platform/fieldmask", "graph/scalar", "internal/graphql/execute"}, "it is generated from the schema, over the core's types"},
	"graph/scalar":               {[]string{"platform", "platform/fieldmask", "internal/graphql/execute"}, "it is the leaf that the generated code stands on"},
	"internal/graphql":           {[]string{"internal/graphql/refusal", "internal/graphql/analysis", "internal/graphql/limit", "internal/graphql/execute", "internal/graphql/transport"}, "it only puts the parts of an endpoint together"},
	"internal/graphql/refusal":   {nil, "every part of the endpoint refuses with it"},
	"internal/graphql/analysis":  {nil, "limits find out what it holds, and resolvers read it; neither needs to know the other"},
	"internal/graphql/limit":     {[]string{"internal/graphql/refusal", "internal/graphql/analysis", "internal/lru"}, "a limit is about documents and the schema; a kind or a permission in it would be a rule of the product outside of the core"},
	"internal/graphql/execute":   {[]string{"internal/graphql/refusal", "internal/graphql/limit"}, "execution is the same for every schema"},
	"internal/graphql/transport": {[]string{"internal/graphql/refusal", "internal/graphql/limit", "internal/graphql/execute"}, "a transport is the same for every schema"},
	"internal/apierror":          {[]string{"platform", "platform/fieldmask"}, "what adapters share knows no protocol and no kind"},
	"resolvers":                  {[]string{"platform", "platform/fieldmask", "internal/apierror", "graph", "graph/scalar", "internal/graphql/execute", "internal/graphql/analysis", "internal/graphql/refusal", "internal/sbom"}, adapter + "; what may be asked is decided before a resolver runs (internal/graphql/limit)"},
	"internal/rest":              {[]string{"platform", "platform/fieldmask", "internal/apierror", "internal/export", "internal/ingest", "internal/wire"}, adapter + "; what is handed in is read by the code of the commands"},
	"internal/export":            {[]string{"platform", "internal/sbom", "internal/vex"}, adapter},
	"internal/rpc":               {[]string{"platform", "platform/fieldmask", "internal/apierror", "internal/wire", "gen"}, adapter},
	"internal/wire":              {[]string{"platform", "platform/fieldmask"}, adapter},
	"gen":                        {[]string{"gen"}, "it is generated from schema/proto alone"},
	"internal/auth":              {[]string{"platform", "platform/fieldmask", "internal/lru"}, adapter},
	"internal/lru":               {nil, "a cache knows nothing of what it holds"},
	"internal/webhook":           {[]string{"platform"}, adapter},
	"internal/source":            {[]string{"platform", "internal/ingest", "internal/webhook"}, adapter + "; why a host does not answer is the same for what is sent and for what is read"},
	"internal/ingest":            {[]string{"platform", "platform/affected", "platform/fieldmask", "platform/ecosystem", "internal/sbom", "internal/vex"}, adapter},
	"client":                     {[]string{"gen"}, "whoever uses the service must not have to take the service with it"},
	"internal/cvss":              {nil, "a formula knows nothing of what it is used for"},
	"internal/web":               {nil, "pages know no more of the service than its URLs"},
	"store": {[]string{"platform", "store/dbfile", "store/pgpool", "store/postgres", "store/sqlite", "store/sqlstore", "store/sqlstore/dbconn"},
		"it only picks the engine"},
	"store/postgres":             {[]string{"platform", "internal/lru", "store/pgpool", "store/postgres/standby", "store/sqlstore/dbconn"}, "an engine is its differences; another engine is none of them"},
	"store/postgres/standby":     {[]string{"store/pgpool", "store/sqlstore/dbconn"}, "which server answers is decided without knowing what is read"},
	"store/pgpool":               {nil, "a connection knows nothing of what is read through it"},
	"store/dbfile":               {nil, "files know nothing of what they hold"},
	"store/sqlite":               {[]string{"platform", "internal/lru", "store/dbfile", "store/sqlstore/dbconn"}, "an engine is its differences; another engine is none of them"},
	"store/sqlstore/dbconn":      {[]string{"platform"}, "the way to the database is the same for every table"},
	"store/sqlstore/table":       {[]string{"platform", "store/sqlstore/dbconn"}, "it reads and writes the rows of every kind, and knows none"},
	"store/sqlstore/partition":   {[]string{"platform", "store/sqlstore/dbconn", "store/sqlstore/table"}, "it makes and drops partitions, and knows nothing of what their rows are for"},
	"store/sqlstore/eventlog":    {[]string{"platform", "store/sqlstore/dbconn", "store/sqlstore/table"}, "it reads the log of events, and knows nothing of how they are recorded and relayed"},
	"store/sqlstore/secret":      {[]string{"platform", "store/sqlstore/dbconn", "store/sqlstore/table"}, "it stores keys and secrets, and knows nothing of how these are made and encrypted"},
	"store/sqlstore/operation":   {[]string{"platform", "store/sqlstore/dbconn", "store/sqlstore/table"}, "it stores operations, and knows nothing of what they do"},
	"store/sqlstore/sourcequeue": {[]string{"platform", "store/sqlstore/dbconn", "store/sqlstore/table"}, "it says who may read a source when, and nothing of what is read"},
	"store/sqlstore":             {[]string{"platform", "platform/affected", "platform/ecosystem", "internal/cvss", "store/sqlstore/dbconn", "store/sqlstore/eventlog", "store/sqlstore/operation", "store/sqlstore/secret", "store/sqlstore/partition", "store/sqlstore/sourcequeue", "store/sqlstore/table"}, "the SQL that engines share knows none of them; it scores vectors as it stores them"},
	"store/storetest":            {[]string{"platform", "store", "store/pgpool", "store/postgres", "store/sqlite", "store/sqlstore", "store/sqlstore/dbconn"}, "it checks what every engine must do"},
	"internal/demo": {[]string{"platform", "platform/affected", "platform/fieldmask", "internal/auth", "internal/web"},
		"it is data: it is written through the core's operations, for the development issuer and for the pages that show it"},
	"internal/bench": {[]string{"platform", "platform/fieldmask", "platform/affected", "internal/auth", "gen"},
		"it measures a server from outside, as clients do, with data that is written through the core's operations; package client would add 4 MB of stubs to the program"},
	"docs":                      {nil, "it is text"},
	"internal/telemetry":        {[]string{"internal/lru"}, "it counts what others name; a kind in it would be counted where nobody knows of it"},
	"internal/server/admission": {[]string{"platform", "internal/auth", "internal/lru"}, "who waits is decided before anything is known of the protocol"},
	"internal/server": {[]string{"docs", "internal/server/admission", "internal/telemetry", "internal/graphql/refusal", "platform", "platform/fieldmask", "internal/apierror", "internal/graphql", "internal/graphql/limit", "internal/graphql/transport", "resolvers", "internal/rest", "internal/rpc", "internal/auth", "internal/webhook", "internal/source", "internal/demo", "internal/web", "store", "store/dbfile"},
		"it puts the parts together, and reaches into none of them"},
	"internal/login":    {nil, "a client knows a server by what it says, and not by its code"},
	"internal/gate":     {nil, "a client knows a server by what it says, and not by its code"},
	"internal/resource": {nil, "it knows the resources by their description, and so every kind without being told of it"},
	"cmd": {[]string{"internal/telemetry", "internal/licenses", "internal/login", "internal/gate", "internal/resource", "platform", "internal/server", "internal/demo", "internal/ingest", "internal/export", "internal/bench", "store"},
		"a command reads its flags, makes one call and prints what came of it; what the call does is for the package called"},
	"internal/cases": {[]string{"platform", "platform/affected", "internal/auth", "internal/server", "resolvers"},
		"its tests ask the server that users run, through every protocol; it has no code of its own"},
	"internal/agreement": {[]string{"graph", "internal/graphql/analysis", "internal/graphql/execute", "internal/oracle"}, "it compares executors, whatever their resolvers are"},
	"internal/oracle":    {[]string{"platform", "platform/affected", "graph", "graph/scalar"}, "it is generated, to be compared with"},
	"internal/house":     {nil, "it looks at the house from outside"},
	"internal/wiretest":  {nil, "it reads facts of the reference, which know nothing of how they are met"},
	"internal/licenses":  {nil, "it is text"},
	"internal/sbom":      {nil, "a document knows nothing of the platform"},
	"internal/vex":       {[]string{"internal/sbom"}, "a document knows nothing of the platform; package URLs mean the same in all of them"},

	"tools/gqlgen":     {nil, "it generates from the schema alone, before the code that uses the result can be built"},
	"tools/goreleaser": {nil, "it reads the configuration of releases, which knows nothing of what is released"},
	"tools/grpc":       {[]string{"gen"}, "it is a client of its own, and shares nothing with the server but the contract"},
	"tools/guide":      {nil, "it renders text"},
	"tools/licenses":   {nil, "it reads files of modules and pages, which know nothing of it"},
	"tools/loadpeers":  {[]string{"platform", "internal/auth", "store"}, "it writes rows as the program does, and knows no table of it"},
	"tools/osvcompare": {[]string{"platform", "platform/affected", "internal/auth", "internal/ingest", "internal/sbom", "internal/server", "store"},
		"it imports and serves as the program does, and compares what the endpoint answers with what others find"},
	"tools/overload":            {nil, "it uses the program from outside, as clients do"},
	"tools/packages":            {nil, "it reads what is deployed, as those who deploy it do"},
	"tools/proto":               {nil, "it generates from the contract alone"},
	"tools/protoc-gen-services": {nil, "it generates from the contract alone"},
	"tools/replicas":            {nil, "it uses the program from outside, as clients and operators do"},
	"tools/restclient":          {nil, "it is a client of its own, and shares nothing with the server but the contract"},
	"tools/workloads":           {nil, "it has no code of its own"},
	"tools/schemadiff":          {nil, "it compares schema files of any commit, and the generated code knows those of one"},
}

// Tests may also import the real engines and the core. Otherwise the rule of their folder
// applies to them too.
var testsMay = map[string][]string{
	"":                   {"platform", "platform/ecosystem", "platform/fieldmask", "store", "store/sqlstore", "store/storetest", "internal/wiretest"},
	"resolvers":          {"graph", "internal/agreement", "internal/graphql", "internal/graphql/limit", "internal/graphql/transport"}, // Tests send requests to the endpoint.
	"internal/graphql":   {"resolvers", "internal/apierror"},                                                                          // Tests check the errors of the endpoint.
	"platform/libraries": {"platform/affected"},                                                                                       // The tests compare its orders of versions with those that affect.
	"internal/rest":      {"gen", "internal/resource"},                                                                                // The tests compare the routes with the contract, and with what the command line finds.
	"internal/source":    {"internal/auth"},                                                                                           // The tests read sources through the guard.
	"client":             {"internal/rpc"},                                                                                            // The tests serve what the client calls.
	"internal/server":    {"internal/ingest"},                                                                                         // The tests read the reports of imports.
	"internal/bench":     {"internal/server"},                                                                                         // The tests measure a real server.
	"cmd":                {"internal/auth", "internal/webhook", "client", "gen"},                                                      // Tests call the program with them, and serve what it calls.
	"internal/house":     {"graph", "internal/apierror", "internal/rest", "platform", "store/storetest"},
	"internal/cases":     {"internal/ingest", "internal/rest", "internal/apierror", "internal/graphql", "internal/graphql/transport", "internal/agreement"}, // Tests compare the endpoint with one that has the other executor.
	"store/storetest":    {"internal/apierror", "internal/graphql", "internal/graphql/transport", "resolvers"},                                              // Tests compare the cost of queries with the work of the database.
	"tools/workloads":    {"internal/auth", "internal/bench", "internal/server"},                                                                            // Tests measure what requests cost.
	"internal/web":       {"docs"},                                                                                                                          // The tests read the pages that it shows.
}

// ruleOf finds the rule of a folder.
func ruleOf(folder string) (name string, found bool) {
	for name = folder; name != "."; name = parent(name) {
		if _, found = rules[name]; found {
			return name, true
		}
	}
	return folder, false
}

func parent(folder string) string {
	if i := strings.LastIndexByte(folder, '/'); i > 0 {
		return folder[:i]
	}
	return "."
}

func TestEveryFolderImportsOnlyWhatItsRuleAllows(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		name, found := ruleOf(f.folder)
		if !found {
			t.Errorf("%s: the house has no rule for this folder; say in imports_test.go what it may import, and why", f.path)
			continue
		}
		may := append([]string{name}, rules[name].may...)
		if f.test {
			may = slices.Concat(may, testsMay[""], testsMay[name])
		}
		if !isCore(name) && slices.Contains(may, "platform") {
			may = append(may, areaFolders...)
		}
		for _, imported := range f.imports {
			folder, isOwn := strings.CutPrefix(imported, "atrium/")
			importedRule, _ := ruleOf(folder)
			if isOwn && folder != f.folder && !slices.Contains(may, importedRule) {
				t.Errorf("%s imports %s: %s may import %s, since %s", f.path, imported, name, listOrNothing(may[1:]), rules[name].why)
			}
		}
	}
}

func listOrNothing(folders []string) string {
	if len(folders) == 0 {
		return "nothing of this module"
	}
	return strings.Join(folders, ", ")
}

// thirdParty reports whether a package is outside the standard library: the first part of
// its path contains a dot.
func thirdParty(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}

// isCore reports whether a folder is the core or one of its leaves.
func isCore(folder string) bool {
	return folder == "platform" || strings.HasPrefix(folder, "platform/")
}

func TestTheCoreUsesOnlyTheStandardLibrary(t *testing.T) {
	t.Parallel()
	drivers := []string{"github.com/jackc/pgx/v5/stdlib"}     // Tests use it to look at stored rows.
	const versions = "github.com/google/osv-scalibr/semantic" // It has the orders of versions of all ecosystems.
	for _, f := range sources(t) {
		for _, imported := range f.imports {
			allowed := f.test && slices.Contains(drivers, imported) || f.folder == "platform/affected" && imported == versions
			if isCore(f.folder) && thirdParty(imported) && !allowed {
				t.Errorf("%s imports %s: the core must build, and be understood, with nothing but Go", f.path, imported)
			}
			if isCore(f.folder) && !f.test && (imported == "net/http" || strings.HasPrefix(imported, "database/")) {
				t.Errorf("%s imports %s: the core knows neither a protocol nor an engine", f.path, imported)
			}
		}
	}
}

func TestOnlyTheStoreContainsSQL(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		// The first program pauses the replay of standbys, the second reads a database of others; they are not parts of Atrium.
		isOther := f.folder == "tools/replicas" || f.folder == "tools/loadpeers"
		if f.test || strings.HasPrefix(f.folder, "store") || isOther {
			continue
		}
		for _, imported := range f.imports {
			for _, sql := range []string{"database/sql", "github.com/jackc/pgx", "modernc.org/sqlite", "github.com/pressly/goose"} {
				if strings.HasPrefix(imported, sql) {
					t.Errorf("%s imports %s: SQL outside of the store would be a road around the core's permissions", f.path, imported)
				}
			}
		}
	}
}

func TestTestingCodeIsUsedOnlyInTests(t *testing.T) {
	t.Parallel()
	helpers := []string{"store/storetest", "internal/wiretest"}
	for _, f := range sources(t) {
		for _, imported := range f.imports {
			isTesting := imported == "testing" || strings.HasPrefix(imported, "testing/") && imported != "testing/fstest" || slices.Contains(helpers, strings.TrimPrefix(imported, "atrium/"))
			if !f.test && !slices.Contains(helpers, f.folder) && isTesting {
				t.Errorf("%s imports %s: it would be built into the program", f.path, imported)
			}
		}
	}
}

func TestEveryRuleNamesAnExistingFolder(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		if !exists(name) {
			t.Errorf("%s has a rule and is not there", name)
		}
		for _, other := range rules[name].may {
			if _, ok := rules[other]; !ok {
				t.Errorf("%s may import %s, which has no rule", name, other)
			}
		}
		if rules[name].why == "" {
			t.Errorf("%s has a rule without a reason", name)
		}
	}
}

func TestNoPackageIsTooLarge(t *testing.T) {
	t.Parallel()
	lines := map[string]int{}
	for _, f := range sources(t) {
		if !f.test && !f.isGenerated() {
			lines[f.folder] += strings.Count(read(t, f.path), "\n")
		}
	}
	for folder, n := range lines {
		if n > maxPackageLines {
			t.Errorf("%s has %d lines, want at most %d", folder, n, maxPackageLines)
		}
	}
}

// Access is decided before the store is called, because whoever makes a scope or keys says what a caller may read. Go
// cannot hold that only the areas make them, so this test does.
func TestOnlyTheCoreDecidesAccess(t *testing.T) {
	t.Parallel()
	forbidden := []string{"Scope", "Keys", "Branch", "NewScope", "SubtreeScope", "NarrowScope", "Collection", "NewCollection", "HeldGrant", "CapabilitySetOf"}
	for _, f := range sources(t) {
		if f.test || isCore(f.folder) || strings.HasPrefix(f.folder, "store") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok && slices.ContainsFunc(forbidden, func(name string) bool { return isSelector(selector, "core", name) }) {
				t.Errorf("%s uses core.%s: what a caller may read is decided by the areas of platform", f.path, selector.Sel.Name)
			}
			return true
		})
	}
}
