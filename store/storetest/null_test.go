package storetest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// nullColumns maps each column of the schema to the tables that have it, with whether it can be NULL there.
func (w *world) nullColumns() map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, line := range w.describeSchema() {
		name, isColumn := strings.CutPrefix(line, "column ")
		table, column, _ := strings.Cut(name, ".")
		if column, null := strings.CutSuffix(column, " NULL"); isColumn {
			if found[column] == nil {
				found[column] = map[string]bool{}
			}
			found[column][table] = null
		}
	}
	return found
}

// eachText calls use with the texts of each Go file in store/sqlstore, joined as they follow each other.
func eachText(t *testing.T, use func(file, texts string)) {
	t.Helper()
	files, err := filepath.Glob("../sqlstore/*.go")
	for _, below := range []string{"table", "partition"} {
		others, _ := filepath.Glob("../sqlstore/" + below + "/*.go")
		files = append(files, others...)
	}
	if err != nil || len(files) < 50 {
		t.Fatalf("store/sqlstore has %d files (%v)", len(files), err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, _ := strconv.Unquote(literal.Value)
				texts = append(texts, text)
			}
			return true
		})
		use(file, strings.Join(texts, "\n"))
	}
}

var (
	asksForNull = regexp.MustCompile(`(?i)(?:(\w+)\.)?(\w+)\s+IS\s+(?:NOT\s+)?NULL\b`)
	replaceNull = regexp.MustCompile(`(?i)\bCOALESCE\((\w+)\.(\w+_(?:time|since|until)),`)
	namesATable = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|UPDATE|INTO)\s+(\w+)(?:\s+(\w+))?`)
	isATime     = regexp.MustCompile(`_(time|since|until)$`)
)

// canBeNull reports whether a column can be NULL in one of the tables, or in any table if none of them has it.
func canBeNull(column map[string]bool, tables map[string]bool) bool {
	has, null, anywhere := false, false, len(column) == 0
	for table, canBe := range column {
		has, null, anywhere = has || tables[table], null || tables[table] && canBe, anywhere || canBe
	}
	return null || !has && anywhere
}

// A time that is not set is NULL in few columns, and the beginning of 1970 in the others. A statement that asks one of the others
// for NULL takes every row for one with a time.
func TestNoStatementAsksForNullWhereItCannotBe(t *testing.T) {
	t.Parallel()
	columns := newWorld(t, storetest.SQLite(t)).nullColumns()
	asked := 0
	eachText(t, func(file, texts string) {
		tables, aliases := map[string]bool{strings.TrimSuffix(filepath.Base(file), ".go"): true}, map[string]map[string]bool{}
		for _, found := range namesATable.FindAllStringSubmatch(texts, -1) {
			tables[found[1]] = true
			if aliases[found[2]] == nil {
				aliases[found[2]] = map[string]bool{}
			}
			aliases[found[2]][found[1]] = true
		}
		for _, found := range append(asksForNull.FindAllStringSubmatch(texts, -1), replaceNull.FindAllStringSubmatch(texts, -1)...) {
			in := tables
			if found[1] != "" && aliases[found[1]] != nil {
				in = aliases[found[1]]
			}
			if asked++; !canBeNull(columns[found[2]], in) {
				t.Errorf("%s: %q is asked of a column that is never NULL: compare it with the time or the text that means \"none\"", file, found[0])
			}
		}
	})
	if asked < 15 {
		t.Errorf("only %d statements ask for NULL: how are they written now?", asked)
	}
}

// A column that can be NULL, and is written as 1970 where there is no time, is read wrongly by whoever looks at the schema.
func TestTimesCanBeNullOnlyWhereTheyAreWrittenAsNull(t *testing.T) {
	null := map[string]bool{}
	declared := regexp.MustCompile(`\{SQL: "t\.(\w+)", .*TimeOrNullOf\(`)
	files, _ := filepath.Glob("../sqlstore/*.go")
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range declared.FindAllStringSubmatch(string(source), -1) {
			null[strings.TrimSuffix(filepath.Base(file), ".go")+"."+found[1]] = true
		}
	}
	if len(null) == 0 {
		t.Fatal("no column is written as NULL: how are they declared now?")
	}
	onEachEngine(t, func(t *testing.T, w *world) {
		for column, tables := range w.nullColumns() {
			for table, canBe := range tables {
				if isATime.MatchString(column) && canBe != null[table+"."+column] {
					t.Errorf("%s.%s: can be NULL in the schema: %t, is written as NULL: %t", table, column, canBe, null[table+"."+column])
				}
			}
		}
	})
}
