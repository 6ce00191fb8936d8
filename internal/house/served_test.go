package house

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// TestEveryFieldIsServed checks that gRPC converts every field of a kind, and that lists
// of REST and gRPC take every condition of its filter.
func TestEveryFieldIsServed(t *testing.T) {
	t.Parallel()
	proto, rpc, converted := readContracts(t, "schema/proto/platform/*/v2/*.proto", protoBlock), readAll(t, "internal/rpc/*.go"), convertedFields(t)
	for _, d := range declarations(t) {
		rest := "internal/rest/" + d.Area + ".go"
		if d.GraphOnly || !exists(rest) {
			continue // TestEveryAreaHasItsRoutes reports a missing file.
		}
		for _, m := range regexp.MustCompile(`\n  \w[\w.<>, ]* (\w+) = \d+`).FindAllStringSubmatch(proto[d.Name], -1) {
			name := camelCase("_" + m[1])
			if fields := converted[d.Name]; len(fields) > 0 && !fields[name] && !requestOnly[d.Name+"."+name] {
				t.Errorf("internal/rpc/%s.go: add to the message %sv2.%s, which answers contain\n\t%s: %s.%[4]s,", d.Area, d.Area, d.Name, name, strings.ToLower(d.row[:1]))
			}
		}
		list := regexp.MustCompile(`(?s)\tlist\("/` + d.Area + `/v2/` + d.Plural + `",.*?\n\t\t\w+\("`).FindString(read(t, rest))
		for _, name := range d.filter {
			if internalConditions[name] || graphQLConditions[d.Name+"."+name] {
				continue
			}
			if list != "" && !strings.Contains(list, "f."+name) {
				t.Errorf("%s: add to the list of %s\n\ttextFilter(%q, func(f *%s.%s) *string { return &f.%s }),", rest, d.Name, snakeCase(name), d.area(), d.filterName(), name)
			}
			if !regexp.MustCompile(`(?s)\b` + d.filterName() + `\{[^}]*\b` + name + `:`).MatchString(rpc) {
				t.Errorf("internal/rpc/%s.go: add to the %s of its list\n\t%s: r.Get%[3]s(),", d.Area, d.filterName(), name)
			}
		}
	}
}

// requestOnly lists fields of messages that only requests contain.
var requestOnly = map[string]bool{"GroupInvite.Ttl": true}

// graphQLConditions lists conditions that the lists of REST and gRPC do not take.
var graphQLConditions = map[string]bool{
	"Advisory.Withdrawn": true, "Identity.LastSeenBefore": true, "Identity.NeverSeen": true, "Identity.WithoutBindings": true, "Role.Capabilities": true, "Repo.Tags": true, "Group.Repos": true,
	"ExternalGroupRoleMapping.CreatedSince": true, "GroupInvite.CreatedSince": true, "GroupInvite.Expired": true, "RoleBinding.CreatedSince": true, "RoleBinding.Expiring": true, "RoleBinding.IdentityKinds": true, "RoleBinding.IdentityLastSeenBefore": true, "RoleBinding.UnreviewedSince": true, "Subscription.Sink": true, "Tag.Deprecated": true, "TermsAcceptance.DocIDs": true,
	"ExternalGroupRoleMapping.ExternalGroupID": true, "ExternalGroupRoleMapping.Role": true, "ExternalGroupRoleMapping.Scope": true,
}

// convertedFields returns the fields that the functions of rpc set in each message.
func convertedFields(t *testing.T) map[string]map[string]bool {
	t.Helper()
	converted := map[string]map[string]bool{}
	for _, file := range sourcesIn(t, "internal/rpc") {
		for _, declared := range file.ast.Decls {
			var messages, fields []string
			ast.Inspect(declared, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if message, ok := n.Type.(*ast.SelectorExpr); ok {
						messages = append(messages, message.Sel.Name)
					}
				case *ast.KeyValueExpr:
					if name, ok := n.Key.(*ast.Ident); ok {
						fields = append(fields, name.Name)
					}
				case *ast.AssignStmt:
					for _, target := range n.Lhs {
						if target, ok := target.(*ast.SelectorExpr); ok {
							fields = append(fields, target.Sel.Name)
						}
					}
				}
				return true
			})
			for _, message := range messages {
				if converted[message] == nil {
					converted[message] = map[string]bool{}
				}
				for _, name := range fields {
					converted[message][name] = true
				}
			}
		}
	}
	return converted
}

// TestEveryOperationHasAProcedure checks that the gRPC contract has a procedure for each
// operation of a kind.
func TestEveryOperationHasAProcedure(t *testing.T) {
	t.Parallel()
	contract, mutations := readAll(t, "schema/proto/platform/*/v2/*.proto"), readContracts(t, "schema/*.graphqls", graphqlBlock)["Mutation"]
	for _, d := range declarations(t) {
		if d.GraphOnly || ownRoutes[d.Name] {
			continue
		}
		plural := camelCase("_" + d.Plural)
		procedures := []string{
			"Get" + d.Name + "(Get" + d.Name + "Request) returns (" + d.Name + ")",
			"List" + plural + "(List" + plural + "Request) returns (List" + plural + "Response)",
		}
		for verb, answer := range map[string]string{"Create": d.Name, "Update": d.Name, "Delete": "google.protobuf.Empty"} {
			name := verb + d.Name
			if strings.Contains(mutations, "\n  "+lowerFirst(name)+"(") && d.Name+" "+strings.ToLower(verb)+"d" != graphQLOnlyChange {
				procedures = append(procedures, name+"("+name+"Request) returns ("+answer+")")
			}
		}
		for _, procedure := range procedures {
			if !strings.Contains(contract, "\n  rpc "+procedure) {
				t.Errorf("schema/proto/platform/%s/v2: add to the service of %s, with its messages, then `make generate`\n\trpc %s;", d.Area, d.Name, procedure)
			}
		}
	}
}

// TestEveryFieldHasCases checks that the cases of a kind name each of its fields and
// orders. Otherwise no protocol is tested with them.
func TestEveryFieldHasCases(t *testing.T) {
	t.Parallel()
	mutations := readContracts(t, "schema/*.graphqls", graphqlBlock)["Mutation"]
	for _, d := range declarations(t) {
		file := "internal/cases/" + d.name + "_test.go"
		if !exists(file) || len(d.fields) == 0 || d.GraphOnly {
			continue // TestEveryKindIsEverywhere reports a missing file.
		}
		cases, isUpdated := read(t, file), strings.Contains(mutations, "\n  update"+d.Name+"(")
		expect := func(part, pattern, line string) {
			if !regexp.MustCompile(pattern).MatchString(cases) && !otherCases[d.Name+" "+part] {
				t.Errorf("%s: add to %s, with values that the kind accepts\n\t%s", file, part, line)
			}
		}
		for _, f := range d.fields {
			if f.isGiven() {
				expect("full", `"`+f.name+`": `, `"`+f.name+`": "..."`)
			}
			if f.isUpdatable() && isUpdated && f.name != "staticKeys" { // Its rows change claimMatch and staticKeys together.
				expect("changes", `field: "`+f.name+`"`, `{field: "`+f.name+`", to: "..."},`)
			}
		}
		for _, order := range d.Orders {
			expect("orders of library", `\{"`+order+`", "`, `{"`+order+`", "`+camelCase(order)+`"},`)
		}
		for _, part := range []string{"minimal", "full", "requiredFields", "shown", "badInputs", "manyErrors", "misplaced", "library", "items", "orders", "byDefault", "filters"} {
			expect(part, `\b`+part+`: `, part+": ...,")
		}
		if isUpdated {
			expect("readOnlyField", `readOnlyField: `, `readOnlyField: "createTime",`)
		}
		if regexp.MustCompile(`KeyFilter\(\w* ?\*`+d.row+`\)`).MatchString(read(t, d.file)) && !d.facts["SharesUID"] {
			expect("twin", `\btwin: `, `twin: fields{"name": "{`+d.name+`.name}"},`)
		}
	}
}

// otherCases lists parts that the cases of a kind do not need: its lists have no condition.
var otherCases = map[string]bool{"Subscription filters": true}

// TestEveryTextOfRESTNamesTheRightsThatTheGraphNames checks that the text of a field of REST names each capability
// without which the graph does not show the field.
func TestEveryTextOfRESTNamesTheRightsThatTheGraphNames(t *testing.T) {
	t.Parallel()
	types := readContracts(t, "schema/*.graphqls", graphqlBlock)
	capability, checked := regexp.MustCompile(`Needs ([a-z_]+\.[a-z]+)`), 0
	for _, line := range regexp.MustCompile(`(?m)^(\w+)\.(\w+): (.*)$`).FindAllStringSubmatch(readAll(t, "internal/rest/texts/*.txt"), -1) {
		described := regexp.MustCompile(`\n  "(.*)"\n  ` + line[2] + `[(:]`).FindStringSubmatch(types[line[1]])
		if strings.Contains(types[line[1]], "\n  "+line[2]+"Uid: ") { // what REST has is the uid, which needs nothing
			continue
		}
		if described == nil {
			continue
		}
		checked++
		for _, needed := range capability.FindAllStringSubmatch(described[1], -1) {
			if !strings.Contains(line[3], needed[1]) {
				t.Errorf("internal/rest/texts: say that %s.%s needs %s, as schema/ does", line[1], line[2], needed[1])
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d texts were compared, want at least 50", checked)
	}
}
