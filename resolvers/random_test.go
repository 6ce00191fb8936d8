package resolvers

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/store/storetest"
)

// FuzzExecutorsAgree sends random documents to our executor and to the oracle: fields of
// all types, fragments, directives with variables, and arguments of which some are
// invalid. The callers may see everything, something or nothing, and resolvers fail and
// panic. Each document is sent on both engines. ATRIUM_DOCUMENTS is the number of documents
// (`make proof` sends 20,000).
func FuzzExecutorsAgree(f *testing.F) {
	needOracle(f)
	var worlds []*world
	urls := []string{storetest.SQLite(f)}
	if os.Getenv("ATRIUM_TEST_POSTGRES") != "" {
		urls = append(urls, storetest.Postgres(f))
	}
	var known [][]any
	for _, url := range urls {
		w := newWorldAt(f, url)
		worlds, known = append(worlds, w), append(known, w.furnish())
	}
	documents := uint64(400) // with fewer, none of them may have an error at each depth
	if given := os.Getenv("ATRIUM_DOCUMENTS"); given != "" {
		documents = must(strconv.ParseUint(given, 10, 64))(f)
	}
	for seed := range documents {
		f.Add(seed)
	}
	covered := features{}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for n := range worlds {
			w := *worlds[n]
			w.t = t
			d := newRandomDocument(seed, known[n])
			caller, text := []string{theOwner, theOwner, "ann", nobody}[d.rand.IntN(4)], d.text()
			if d.oneIn(2) {
				w.faults = seed + 1
			}
			covered.add(w.askAs(caller, text, d.variables...), d)
			w.askAs(caller, text, d.otherConditions()...) // With other variables, the same document selects something else.
		}
	})
	if covered["documents"] >= int(documents) { // A process that only mutates seeds covers less.
		covered.check(f)
	}
}

// features counts what the documents and their answers contain.
type features map[string]int

func (c features) add(a answer, d *randomDocument) {
	c["documents"]++
	if a.Data == nil {
		c["without data"]++
	}
	for feature := range d.features {
		c[feature]++
	}
	for _, failure := range a.Errors {
		depth := 0
		for _, step := range failure.Path {
			if _, isField := step.(string); isField {
				depth++
			}
		}
		c[fmt.Sprintf("error at depth %d", min(depth, 4))]++ // Deeper ones are rare.
		c[failure.Extensions.Code]++
		if isPropagated(a.Data, failure.Path) {
			c["null propagation"]++
		}
		if failure.Extensions.Code == "PERMISSION_DENIED" && !isNull(a.Data) {
			c["partial permission"]++
		}
	}
}

// isPropagated reports whether the data is null above the field that has failed.
func isPropagated(data any, path []any) bool {
	for _, step := range path {
		switch inner := data.(type) {
		case map[string]any:
			name, _ := step.(string)
			data = inner[name]
		case []any:
			index, _ := step.(float64)
			data = inner[int(index)]
		default:
			return true
		}
	}
	return false
}

// isNull reports whether data contains only nulls.
func isNull(data any) bool {
	switch data := data.(type) {
	case nil:
		return true
	case map[string]any:
		for _, value := range data {
			if !isNull(value) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// check expects that the documents contained everything that executors can do differently.
func (c features) check(t testing.TB) {
	t.Helper()
	for _, wanted := range []string{
		"fragment", "inline fragment", "alias", "directive with a variable", "interface", "nested list",
		"error at depth 1", "error at depth 2", "error at depth 3", "error at depth 4",
		"null propagation", "partial permission", "INVALID_ARGUMENT", "NOT_FOUND", "UNAVAILABLE", "INTERNAL",
	} {
		if c[wanted] == 0 {
			t.Errorf("no document has this: %s", wanted)
		}
	}
	t.Log(c)
}

// A randomDocument is a query that the schema allows.
type randomDocument struct {
	rand   *rand.Rand
	schema *ast.Schema
	values []string          // These are uids and other texts with a meaning.
	named  map[string]string // These are the uids by what they name.

	isCareless bool // Most arguments of this document are invalid.
	isMutation bool // This document selects no lists, because their order differs between databases.

	fields    int // This number of fields may still be selected.
	names     int // This is the number of names given so far.
	lists     int // This is the number of lists around the current field.
	declared  []string
	variables []any
	fragments []string
	features  map[string]bool // This document contains these.
}

func newRandomDocument(seed uint64, known []any) *randomDocument {
	d := &randomDocument{rand: rand.New(rand.NewPCG(seed, seed)), schema: graph.Schema(), named: map[string]string{}, features: map[string]bool{}} //nolint:gosec // The same seed makes the same document.
	d.fields, d.isCareless = 5+d.rand.IntN(60), d.oneIn(3)
	for i := 0; i < len(known); i += 2 {
		d.values = append(d.values, fmt.Sprint(known[i+1]))
		d.named[fmt.Sprint(known[i])] = fmt.Sprint(known[i+1])
	}
	d.values = append(d.values, "GO-01", "CVE-01", "r01", "t00", "acme", "team", "nothing", "2026-03-27T13:55:00.785Z", "60s")
	return d
}

func (d *randomDocument) text() string {
	root, head := d.schema.Query, "query"
	if d.isMutation {
		root, head = d.schema.Mutation, "mutation"
	}
	selected := d.selection(root, 0)
	if len(d.declared) > 0 {
		head += "(" + strings.Join(d.declared, ", ") + ")"
	}
	return head + " " + selected + "\n" + strings.Join(d.fragments, "\n")
}

func (d *randomDocument) name(prefix string) string {
	d.names++
	return fmt.Sprintf("%s%d", prefix, d.names)
}

// oneIn returns true once in n times.
func (d *randomDocument) oneIn(n int) bool { return d.rand.IntN(n) == 0 }

// selection returns a selection of fields of a type, some of them in fragments.
func (d *randomDocument) selection(definition *ast.Definition, depth int) string {
	var b strings.Builder
	b.WriteString("{")
	for range 1 + d.rand.IntN(5) {
		selected := d.field(definition, depth)
		switch d.rand.IntN(12) {
		case 0:
			d.features["inline fragment"] = true
			selected = "..." + d.directive() + " { " + selected + " }"
		case 1:
			selected = "... on " + definition.Name + d.directive() + " { " + selected + " }"
		case 2:
			d.features["fragment"] = true
			name := d.name("F")
			d.fragments = append(d.fragments, "fragment "+name+" on "+definition.Name+" { "+selected+" }")
			selected = "..." + name + d.directive()
		}
		b.WriteString(" " + selected)
	}
	b.WriteString(" }")
	return b.String()
}

// field returns a field. For an interface or a union, it is a field of one of the
// possible types.
func (d *randomDocument) field(definition *ast.Definition, depth int) string {
	if definition.IsAbstractType() && !d.oneIn(4) {
		d.features["interface"] = true
		possible := d.schema.GetPossibleTypes(definition)
		object := possible[d.rand.IntN(len(possible))]
		return "... on " + object.Name + " { " + d.field(object, depth) + " }"
	}
	d.fields--
	if d.oneIn(10) || len(definition.Fields) == 0 {
		return "__typename"
	}
	f := definition.Fields[d.rand.IntN(len(definition.Fields))]
	result := d.schema.Types[f.Type.Name()]
	if f.Name == "_service" || d.isMutation && strings.HasSuffix(result.Name, "Connection") || result.IsCompositeType() && (depth > 6 || d.fields < 0) {
		return "__typename"
	}
	arguments := d.arguments(f)
	text := f.Name + arguments + d.directive()
	if arguments != "" || d.oneIn(8) {
		d.features["alias"] = true
		text = d.name("a") + "_" + f.Name + ": " + text // so that agreement knows the field
	}
	if result.IsCompositeType() {
		if f.Type.Elem != nil {
			d.features["nested list"] = d.features["nested list"] || d.lists > 0
			d.lists++
		}
		text += " " + d.selection(result, depth+1)
		if f.Type.Elem != nil {
			d.lists--
		}
	}
	return text
}

func (d *randomDocument) directive() string {
	if !d.oneIn(10) {
		return ""
	}
	condition := fmt.Sprint(d.oneIn(2))
	if d.oneIn(2) {
		d.features["directive with a variable"] = true
		condition = d.variable("Boolean!", d.oneIn(2))
	}
	return " @" + []string{"include", "skip"}[d.rand.IntN(2)] + "(if: " + condition + ")"
}

func (d *randomDocument) variable(typeName string, value any) string {
	name := d.name("v")
	d.declared = append(d.declared, "$"+name+": "+typeName)
	d.variables = append(d.variables, name, value)
	return "$" + name
}

// otherConditions returns the variables with every Boolean inverted.
func (d *randomDocument) otherConditions() []any {
	others := slices.Clone(d.variables)
	for i, v := range others {
		if isTrue, ok := v.(bool); ok {
			others[i] = !isTrue
		}
	}
	return others
}

func (d *randomDocument) arguments(f *ast.FieldDefinition) string {
	var given []string
	for _, a := range f.Arguments {
		if !a.Type.NonNull && (!d.isCareless && !d.oneIn(20) || !d.oneIn(5)) {
			continue
		}
		value := d.value(a.Type, 0)
		if uid, ok := d.named[f.Name]; ok && a.Name == "uid" && !d.isCareless {
			value = uid
		}
		text := literal(value)
		if d.oneIn(3) {
			text = d.variable(a.Type.String(), plainValue(value))
		}
		given = append(given, a.Name+": "+text)
	}
	if len(given) == 0 {
		return ""
	}
	return "(" + strings.Join(given, ", ") + ")"
}

// An enumValue is written without quotes in a document.
type enumValue string

// value returns a value of a type, usually a meaningful one.
func (d *randomDocument) value(typ *ast.Type, depth int) any {
	if typ.Elem != nil {
		list := make([]any, d.rand.IntN(4))
		for i := range list {
			list[i] = d.value(typ.Elem, depth)
		}
		return list
	}
	if !typ.NonNull && d.oneIn(8) {
		return nil
	}
	definition := d.schema.Types[typ.NamedType]
	switch {
	case definition.Kind == ast.Enum:
		return enumValue(definition.EnumValues[d.rand.IntN(len(definition.EnumValues))].Name)
	case definition.Kind == ast.InputObject:
		object := map[string]any{}
		for _, f := range definition.Fields {
			if f.Type.NonNull || d.oneIn(3) && depth < 2 {
				object[f.Name] = d.value(f.Type, depth+1)
			}
			if valid := d.validValues(definition.Name, f.Name); len(valid) > 0 && !d.isCareless {
				object[f.Name] = valid[d.rand.IntN(len(valid))]
			}
			// Of several resources that are refused, the first in the order of UIDs is named, which are random.
			if list, _ := object[f.Name].([]any); f.Name == "uids" && len(list) > 1 {
				object[f.Name] = list[:1]
			}
		}
		return object
	case typ.NamedType == "Int":
		return d.rand.IntN(8) - 1
	case typ.NamedType == "Float":
		return float64(d.rand.IntN(11))
	case typ.NamedType == "Boolean":
		return d.oneIn(2)
	case typ.NamedType == "_Any":
		return map[string]any{"__typename": []string{"Group", "Repo", "Tag", "Nothing"}[d.rand.IntN(4)], "uid": d.values[d.rand.IntN(len(d.values))]}
	default:
		return d.values[d.rand.IntN(len(d.values))]
	}
}

// validValues returns values that a field of an input can have: a new name, a part of a label, or
// uids of what exists.
func (d *randomDocument) validValues(input, field string) []string {
	if input == "LabelInput" {
		return []string{"team", "env", "x"}
	}
	switch field {
	case "name":
		return []string{d.name("name-")}
	case "parent", "group":
		return []string{d.named["org"], d.named["team"], d.named["repo"], d.named["provider"]}
	case "uid":
		name := strings.TrimSuffix(input[strings.IndexFunc(input[1:], unicode.IsUpper)+1:], "Input")
		if uid, ok := d.named[strings.ToLower(name[:1])+name[1:]]; ok {
			return []string{uid}
		}
	}
	return nil
}

// literal returns a value in the syntax of documents.
func literal(value any) string {
	switch value := value.(type) {
	case enumValue:
		return string(value)
	case []any:
		texts := make([]string, len(value))
		for i, v := range value {
			texts[i] = literal(v)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case map[string]any:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(value)) { // Both executors get the same text.
			members = append(members, name+": "+literal(value[name]))
		}
		return "{" + strings.Join(members, ", ") + "}"
	default:
		text, _ := json.Marshal(value) // Such a value can always be encoded.
		return string(text)
	}
}

// plainValue returns a value as a variable contains it.
func plainValue(value any) any {
	var plain any
	text, _ := json.Marshal(value)
	_ = json.Unmarshal(text, &plain)
	return plain
}
