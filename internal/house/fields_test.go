package house

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryKindDeclaresItsFacts checks that nothing is left out of the declaration of a
// kind.
func TestEveryKindDeclaresItsFacts(t *testing.T) {
	t.Parallel()
	wire := read(t, "internal/wiretest/wire.txt")
	mutations := readContracts(t, "schema/*.graphqls", graphqlBlock)["Mutation"]
	for _, d := range declarations(t) {
		expect := func(fact, example string) {
			if !d.facts[fact] {
				t.Errorf("%s: add to %s\n\t%s: %s,", d.place(), d.variable, fact, d.replace(example))
			}
		}
		for fact, example := range map[string]string{
			"Name": `"Widget"`, "Plural": `"widgets"`, "Area": `"registry"`, "Number": "18", "UID": "func(w *Widget) UID { return w.UID }",
			"Orders": "[]OrderField[*Widget]{...}", "DefaultOrder": `Order{Field: "name"}`,
		} {
			expect(fact, example)
		}
		if !outsideTree[d.Name] {
			expect("List", "CapWidgetList")
		}
		if !d.Shared && !outsideTree[d.Name] {
			expect("Group", "core.ParentOf(func(w *Widget) core.UID { return w.UID })")
			expect("Parent", `"Group"`)
		}
		if d.facts["Verbs"] {
			expect("Event", `"platform.registry.widget"`)
		}
		inReference := regexp.MustCompile(`(?m)^RPC (Get|List|Create)(` + d.Name + `|` + camelCase("_"+d.Plural) + `) `).MatchString(wire)
		switch {
		case inReference && d.Own:
			t.Errorf("%s: remove Own from %s: the reference has this kind", d.place(), d.variable)
		case !inReference && !d.GraphOnly:
			expect("Own", "true")
		}
		for fact, example := range map[string]string{"Create": "CapWidgetCreate", "Update": "CapWidgetUpdate", "Delete": "CapWidgetDelete"} {
			verb := strings.ToLower(fact)
			switch served := strings.Contains(mutations, "\n  "+verb+d.Name+"("); {
			case served:
				expect(fact, example)
			case d.facts[fact] && !d.GraphOnly && !imported[d.Name] && !otherChanges[d.Name+" "+verb+"d"]:
				t.Errorf("%s: %s has the capability to %s it: add the mutation, then `make generate`\n\t%[3]s%[2]s(", d.contract(), d.Name, verb)
			}
			if fact == "Create" && strings.Contains(mutations, "\n  create"+d.Name+"(") {
				expect("Fields", `[]fieldmask.Field{{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable}}`)
				expect("Stamp", "func(w *Widget, uid UID, now Time) { w.UID, w.CreateTime, w.UpdateTime = uid, now, now }")
				if !checkedElsewhere[d.Name] {
					expect("Check", "func(w *Widget, changed func(string) bool, v *core.Violations) { ... }")
				}
			}
		}
	}
}

// checkedElsewhere lists kinds whose operations check the fields, because the check needs
// settings of the platform.
var checkedElsewhere = map[string]bool{"Subscription": true}

// TestEveryFieldIsDeclared checks that the declaration of a kind has all fields of its type.
func TestEveryFieldIsDeclared(t *testing.T) {
	t.Parallel()
	for _, d := range declarations(t) {
		for i := range d.Row.NumField() {
			name, _, _ := strings.Cut(d.Row.Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" && d.facts["Fields"] && !slices.ContainsFunc(d.fields, func(f field) bool { return f.name == name }) {
				t.Errorf("%s: add to Fields of %s, as Updatable, AtCreation or OutputOnly\n\t{%q, Updatable},", d.place(), d.variable, name)
			}
		}
	}
}

// expectGraphQL checks that a block of the GraphQL contract of a kind has a field. The line
// is an example.
func (d *declaration) expectGraphQL(t *testing.T, blocks map[string]string, keyword, block, name, line string) {
	t.Helper()
	if fields := blocks[block]; fields != "" && !hasGraphQLField(fields, name) {
		t.Errorf("%s: add to %s %s, with a description, then `make generate`\n\t%s", d.contract(), keyword, block, line)
	}
}

// TestEveryFieldIsInEveryContract checks that the contracts have the fields of a kind.
func TestEveryFieldIsInEveryContract(t *testing.T) {
	t.Parallel()
	graphQL, proto := readContracts(t, "schema/*.graphqls", graphqlBlock), readContracts(t, "schema/proto/platform/*/v2/*.proto", protoBlock)
	for _, d := range declarations(t) {
		for _, f := range d.fields {
			name, line := camelCase(f.name), camelCase(f.name)+": String"
			if !hasGraphQLField(graphQL[d.object()], strings.TrimSuffix(name, "Uid")) && !inputOnly[d.Name+"."+name] {
				d.expectGraphQL(t, graphQL, "type", d.object(), name, line)
			}
			if f.isGiven() {
				d.expectGraphQL(t, graphQL, "input", "Create"+d.row+"Input", name, line)
			}
			if f.isUpdatable() {
				d.expectGraphQL(t, graphQL, "input", "Update"+d.row+"Input", name, line)
			}
			if message, served := proto[d.Name]; served && !regexp.MustCompile(`\n  [\w.<>, ]*\b`+snakeCase(f.name)+` = \d+`).MatchString(message) {
				t.Errorf("schema/proto/platform/%s/v2: add to message %s, with a comment, then `make generate`\n\tstring %s = %d;", d.Area, d.Name, snakeCase(f.name), nextFieldNumber(message))
			}
		}
		d.expectGraphQL(t, graphQL, "input", "Update"+d.row+"Input", "updateMask", "updateMask: [String!]")
	}
}

// TestEveryObjectHasTheFieldsOfAll checks the fields that the GraphQL types of all kinds
// must have.
func TestEveryObjectHasTheFieldsOfAll(t *testing.T) {
	t.Parallel()
	graphQL := readContracts(t, "schema/*.graphqls", graphqlBlock)
	for _, d := range declarations(t) {
		if graphQL[d.object()] == "" {
			continue // TestEveryKindIsEverywhere reports a missing contract.
		}
		if !strings.Contains(read(t, d.contract()), "type "+d.object()+" implements Node @key(fields: \"") {
			t.Errorf("%s: begin the type with this line, then `make generate`\n\ttype %s implements Node @key(fields: \"uid\") {", d.contract(), d.object())
		}
		d.expectGraphQL(t, graphQL, "type", d.object(), "id", "id: ID!")
		if d.Parent != "" && d.Parent != d.Name { // Group has the field parent.
			d.expectGraphQL(t, graphQL, "type", d.object(), lowerFirst(d.Parent), lowerFirst(d.Parent)+": "+d.Parent)
		}
		if hasGraphQLField(graphQL[d.object()], "uid") {
			d.expectGraphQL(t, graphQL, "type", d.object(), "viewerCan", "viewerCan(capabilities: [Capability!]!): Boolean!")
			d.expectGraphQL(t, graphQL, "type", d.object(), "viewerCapabilities", "viewerCapabilities: [Capability!]!")
		}
	}
}

// requiredInput matches the input fields that the GraphQL contract requires.
var requiredInput = regexp.MustCompile(`\n  (\w+): (?:\w+|\[.*\])!`)

// TestTheContractRequiresWhatTheKindRequires checks the required fields of creations.
func TestTheContractRequiresWhatTheKindRequires(t *testing.T) {
	t.Parallel()
	graphQL := readContracts(t, "schema/*.graphqls", graphqlBlock)
	for _, d := range declarations(t) {
		create := graphQL["Create"+d.row+"Input"]
		if create == "" {
			continue
		}
		var required []string
		for _, m := range requiredInput.FindAllStringSubmatch(create, -1) {
			if required = append(required, m[1]); m[1] != "parent" && !slices.Contains(d.Required, m[1]) {
				t.Errorf("%s: Create%sInput in %s requires %s: add to %s\n\tRequired: []string{%[4]q},", d.place(), d.row, d.contract(), m[1], d.variable)
			}
		}
		for _, name := range d.Required {
			if !slices.Contains(required, name) {
				t.Errorf("%s: %s requires %s: write in input Create%sInput, then `make generate`\n\t%[3]s: String!", d.contract(), d.variable, name, d.row)
			}
		}
	}
}

// TestEveryOrderAndConditionIsInTheContract checks what lists of GraphQL can be sorted and
// filtered by.
func TestEveryOrderAndConditionIsInTheContract(t *testing.T) {
	t.Parallel()
	graphQL := readContracts(t, "schema/*.graphqls", graphqlBlock)
	for _, d := range declarations(t) {
		for _, order := range d.Orders {
			if orders := graphQL[d.object()+"OrderField"]; orders != "" && !hiddenOrders[d.Name+"."+order] && !strings.Contains(orders, "\n  "+strings.ToUpper(order)+"\n") {
				t.Errorf("%s: add to enum %sOrderField, with a description, then `make generate`\n\t%s", d.contract(), d.object(), strings.ToUpper(order))
			}
		}
		for _, name := range d.filter {
			if filter := graphQL[d.object()+"Filter"]; filter != "" && !internalConditions[name] && !strings.Contains(strings.ToLower(filter), "\n  "+strings.ToLower(name)) {
				t.Errorf("%s: add to input %sFilter, with a description, then `make generate`\n\t%s: String", d.contract(), d.object(), lowerFirst(name))
			}
		}
	}
}

// A list that shows times can be asked what is new and what has changed.
func TestEveryListWithTimesIsFilteredByThem(t *testing.T) {
	t.Parallel()
	types := readContracts(t, "schema/*.graphqls", graphqlBlock)
	asked := 0
	for name, filter := range types {
		object, isFilter := strings.CutSuffix(name, "Filter")
		for shown, condition := range map[string]string{"createTime": "createdSince", "updateTime": "updatedSince"} {
			if isFilter && hasGraphQLField(types[object], shown) {
				if asked++; !hasGraphQLField(filter, condition) {
					t.Errorf("schema: add to input %s, with a description, then `make generate`\n\t%s: DateTime", name, condition)
				}
			}
		}
	}
	if asked < 20 {
		t.Errorf("only %d times were found: this test shows nothing", asked)
	}
}

// hiddenOrders lists orders that GraphQL does not offer, or offers by a shorter name.
var hiddenOrders = map[string]bool{"TermsAcceptance.uid": true, "Finding.first_seen_time": true, "Finding.due_time": true}

// nextFieldNumber returns the first number above those of the fields of a message.
func nextFieldNumber(message string) int {
	next := 1
	for _, m := range regexp.MustCompile(` = (\d+)`).FindAllStringSubmatch(message, -1) {
		number, _ := strconv.Atoi(m[1]) // The pattern allows only digits.
		next = max(next, number+1)
	}
	return next
}

// internalConditions lists the fields of filters that only other operations use, or that
// contracts offer in another form.
var internalConditions = map[string]bool{"Affecting": true, "Among": true, "Capability": true, "CreatedBefore": true, "Decided": true, "EPSSBelow": true, "Feed": true, "Held": true, "Holds": true, "Lacks": true, "LacksFix": true, "Lasting": true, "Me": true, "Names": true, "Representatives": true, "Undecided": true, "Without": true, "WithoutLiveTags": true}

// inputOnly lists fields that the object does not show: only a request or a payload has
// them.
var inputOnly = map[string]bool{"GroupInvite.ttl": true, "Subscription.secret": true}

func hasGraphQLField(block, name string) bool {
	return regexp.MustCompile(`\n  ` + name + `[:(]`).MatchString(block)
}

// TestEveryFieldIsStored checks the columns of the fields that clients set.
func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	folder := migrationFolders[0] // A test of the store compares the engines.
	tables, migrations := readContracts(t, folder+"*.sql", tableBlock), readAll(t, folder+"*.sql")
	for _, d := range declarations(t) {
		if !exists(d.storeFile()) {
			continue // TestEveryKindIsEverywhere reports it.
		}
		text := read(t, d.storeFile())
		for _, f := range d.fields {
			if name := d.goName(f.name); f.isGiven() && !inputOnly[d.Name+"."+f.name] && !regexp.MustCompile(`&?\w+\.`+name+`\b`).MatchString(text) {
				t.Errorf("%s: add to the columns\n\t{SQL: \"t.%s\", Field: %q, To: func(%s *%[7]s.%[5]s) any { return &%[4]s.%[6]s }},", d.storeFile(), snakeCase(f.name), f.name, strings.ToLower(d.row[:1]), d.row, name, d.area())
			}
		}
		for _, name := range d.filter {
			if !d.Shared && !strings.Contains(text, "f."+name) { // The scope of a shared kind contains its conditions.
				t.Errorf("%s: add to where\n\tif f.%s != \"\" {\n\t\ts.Add(\" AND t.%s = ?\", f.%[2]s)\n\t}", d.storeFile(), name, snakeCase(name))
			}
		}
		table := regexp.MustCompile(`table\.New\([^{]*\{\s*Name: +"(\w+)"`).FindStringSubmatch(text)
		if table == nil {
			continue
		}
		for _, column := range regexp.MustCompile(`\{SQL: "t\.(\w+)", `).FindAllStringSubmatch(text, -1) {
			created := regexp.MustCompile(`[\n,]\s*` + column[1] + ` `).MatchString(tables[table[1]])
			if !created && !regexp.MustCompile(`ALTER TABLE `+table[1]+` (ADD (COLUMN )?(IF NOT EXISTS )?|RENAME COLUMN \w+ TO )`+column[1]+`\b`).MatchString(migrations) {
				t.Errorf("%s: the table %s needs a column, which %s reads\n\t%s text COLLATE \"C\" NOT NULL,", folder, table[1], d.storeFile(), column[1])
			}
		}
		for _, scope := range []string{"root", "parent", "g2", "g3"} {
			if d.Parent != "Group" || len(d.fields) == 0 || d.facts["SharesUID"] || d.defaultOrder == "uid" || regexp.MustCompile("ON "+table[1]+` \(`+scope+"(_key)?, "+d.defaultOrder).MatchString(migrations) {
				continue
			}
			t.Errorf("%s: lists of %s are sorted by %s: add an index for each of root, parent, g2 and g3\n\tCREATE INDEX %[4]s_%[5]s_%[3]s ON %[4]s (%[5]s, %[3]s, uid);", folder, d.Name, d.defaultOrder, table[1], scope)
		}
	}
}
