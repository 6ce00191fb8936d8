package house

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
)

// A declaration is the declaration of a kind in platform, as it is written there.
type declaration struct {
	core.KindInfo
	name                string // the name of its files, such as widget
	row, variable, file string // such as Widget, WidgetKind, platform/inventory/widget.go
	line                int
	facts               map[string]bool // the keys of the literal
	fields              []field         // without parts of fields
	filter              []string        // the fields of its filter
	defaultOrder        string
}

// A field is a field of a kind.
type field struct{ name, mutability string }

func (f field) isUpdatable() bool { return f.mutability == "Updatable" }

// isGiven reports whether a creation can set the field.
func (f field) isGiven() bool { return f.isUpdatable() || f.mutability == "AtCreation" }

// place names the line where the declaration begins.
func (d *declaration) place() string { return fmt.Sprintf("%s:%d", d.file, d.line) }

// area is the package that has the kind, such as inventory.
func (d *declaration) area() string { return path.Base(path.Dir(d.file)) }

// contract names the file with the GraphQL contract of the kind.
func (d *declaration) contract() string { return "schema/" + d.name + ".graphqls" }

// object is the name of the GraphQL type.
func (d *declaration) object() string {
	if d.row == "Subscription" { // GraphQL reserves this name.
		return "EventSubscription"
	}
	return d.row
}

// filterName is the name of the type of its filter.
func (d *declaration) filterName() string { return strings.TrimSuffix(d.row, "Acceptance") + "Filter" }

// replace replaces the name Widget in an example by the name of the kind.
func (d *declaration) replace(example string) string { return replaceWidget(example, d.name) }

// declarations reads the declarations of all kinds.
func declarations(t *testing.T) []*declaration {
	t.Helper()
	infos := map[string]core.KindInfo{}
	for _, k := range platform.Kinds() {
		infos[k.Row.Name()] = k
	}
	var all []*declaration
	areas := kindAreas(t)
	for _, name := range kindFiles(t) {
		d := readDeclaration(t, cmp.Or(areas[name], "inventory"), name)
		if info, listed := infos[d.row]; listed { // TestEveryKindIsInTheListOfKinds reports the others.
			d.KindInfo = info
			all = append(all, d)
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d kinds are declared: how are they declared now?", len(all))
	}
	return all
}

func readDeclaration(t *testing.T, area, name string) *declaration {
	t.Helper()
	d := &declaration{name: name, file: "platform/" + area + "/" + name + ".go", facts: map[string]bool{}}
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, filepath.Join(root, d.file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	structs := map[string]*ast.StructType{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch spec := n.(type) {
		case *ast.TypeSpec:
			structs[spec.Name.Name], _ = spec.Type.(*ast.StructType)
		case *ast.ValueSpec:
			for i, value := range spec.Values {
				if literal, ok := value.(*ast.CompositeLit); ok && rowOfKind(literal) != "" {
					d.row, d.variable, d.line = rowOfKind(literal), spec.Names[i].Name, positions.Position(literal.Pos()).Line
					d.readFacts(literal)
				}
			}
		}
		return true
	})
	if filter := structs[d.filterName()]; filter != nil {
		for _, f := range filter.Fields.List {
			for _, name := range f.Names {
				d.filter = append(d.filter, name.Name)
			}
		}
	}
	return d
}

// rowOfKind returns Widget for a literal of the type Kind[*Widget], and "" for others.
func rowOfKind(literal *ast.CompositeLit) string {
	generic, ok := literal.Type.(*ast.IndexExpr)
	if !ok {
		return ""
	}
	row, ok := generic.Index.(*ast.StarExpr)
	if !ok || !isSelector(generic.X, "core", "Kind") {
		return ""
	}
	return row.X.(*ast.Ident).Name
}

func (d *declaration) readFacts(literal *ast.CompositeLit) {
	for _, element := range literal.Elts {
		pair := element.(*ast.KeyValueExpr)
		fact := pair.Key.(*ast.Ident).Name
		d.facts[fact] = true
		value, ok := pair.Value.(*ast.CompositeLit)
		switch {
		case ok && fact == "DefaultOrder":
			d.defaultOrder, _ = strconv.Unquote(value.Elts[0].(*ast.KeyValueExpr).Value.(*ast.BasicLit).Value)
			continue
		case !ok || fact != "Fields":
			continue
		}
		for _, element := range value.Elts {
			values := element.(*ast.CompositeLit).Elts
			name, _ := strconv.Unquote(values[0].(*ast.KeyValueExpr).Value.(*ast.BasicLit).Value) // The compiler has checked it.
			if !strings.Contains(name, ".") {
				d.fields = append(d.fields, field{name, values[1].(*ast.KeyValueExpr).Value.(*ast.SelectorExpr).Sel.Name})
			}
		}
	}
}

// readContracts returns the blocks of a kind of file: the fields of a type by its name.
func readContracts(t *testing.T, pattern string, block *regexp.Regexp) map[string]string {
	t.Helper()
	blocks := map[string]string{}
	for _, found := range block.FindAllStringSubmatch(readAll(t, pattern), -1) {
		blocks[found[1]] += "\n" + found[2] + "\n"
	}
	return blocks
}

// These match the blocks of GraphQL, of protocol buffers and of SQL.
var (
	graphqlBlock = regexp.MustCompile(`(?ms)^(?:extend type|type|input|enum) (\w+)[^\n]*\{\n(.*?)\n\}`)
	protoBlock   = regexp.MustCompile(`(?ms)^(?:message|service) (\w+) \{\n(.*?)\n\}`)
	tableBlock   = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \(\n(.*?)\n\)`)
)

// camelCase converts sync_config to syncConfig, and snakeCase syncConfig to sync_config.
func camelCase(name string) string {
	return regexp.MustCompile(`_([a-z])`).ReplaceAllStringFunc(name, func(s string) string { return strings.ToUpper(s[1:]) })
}

func snakeCase(name string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z0-9])([A-Z])`).ReplaceAllString(name, "${1}_$2"))
}

// goName returns the name of the Go field with a JSON name.
func (d *declaration) goName(name string) string {
	for i := range d.Row.NumField() {
		if tag, _, _ := strings.Cut(d.Row.Field(i).Tag.Get("json"), ","); tag == name {
			return d.Row.Field(i).Name
		}
	}
	return ""
}

// storeFile names the file with the table of the kind.
func (d *declaration) storeFile() string { return path.Join("store/sqlstore", d.name+".go") }
