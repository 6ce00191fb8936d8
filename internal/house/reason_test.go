package house

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql/errcode"

	"atrium/graph"
	"atrium/internal/wiretest"
	"atrium/platform/core"
)

// Clients switch on the reasons of errors, and generate their types from the schema. So the schema and the guide have every
// reason that the code can give.
func TestEveryReasonOfErrorsIsInTheSchema(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join(root, "docs/errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	given, codes := reasonsInCode(t), map[string]bool{}
	for code := core.Code(0); code < 32; code++ {
		if name := code.String(); name != "" {
			given[name], codes[name] = "the codes", true
		}
	}
	for _, name := range []string{errcode.ParseFailed, errcode.ValidationFailed} {
		given[name] = "gqlgen"
	}
	if len(given) < 30 {
		t.Errorf("only %d reasons are found in the code: %v", len(given), given)
	}
	var listed []string
	for _, v := range graph.Schema().Types["ErrorReason"].EnumValues {
		if listed = append(listed, v.Name); given[v.Name] == "" {
			t.Errorf("nothing gives the reason %s", v.Name)
		}
	}
	if !slices.IsSorted(listed) {
		t.Error("the reasons are not in the order of their names")
	}
	for reason, place := range given {
		if !slices.Contains(listed, reason) {
			t.Errorf("%s gives the reason %s, which ErrorReason in schema/error.graphqls does not have", place, reason)
		}
		if !codes[reason] && !strings.Contains(string(guide), "\n| `"+reason+"` |") {
			t.Errorf("docs/errors.md does not tell what to do about %s", reason)
		}
	}
	for name := range codes {
		if graph.Schema().Types["ErrorCode"].EnumValues.ForName(name) == nil {
			t.Errorf("ErrorCode does not have %s", name)
		}
	}
}

func TestEveryMutationListsItsReasons(t *testing.T) {
	t.Parallel()
	for _, m := range graph.Schema().Mutation.Fields {
		if !strings.HasPrefix(m.Name, "__") && wiretest.ReasonsOf(graph.Schema(), m) == nil {
			t.Errorf("the description of %s does not end with the reasons of its errors, such as: Reasons: NOT_FOUND.", m.Name)
		}
	}
}

var isReason = regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)

// reasonsInCode returns every reason that is written in the code, with a file that has it: the field Reason of an error,
// the first argument of FailedPrecondition, and Blocked of a kind.
func reasonsInCode(t *testing.T) map[string]string {
	t.Helper()
	reasons := map[string]string{}
	for _, f := range sources(t) {
		if f.test || f.isGenerated() || strings.HasPrefix(f.path, "tools/") {
			continue
		}
		add := func(value ast.Expr) {
			if text, known := textOf(t, f, value); known && isReason.MatchString(text) {
				reasons[text] = f.path
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, isName := n.Key.(*ast.Ident); isName && (key.Name == "Reason" || key.Name == "Blocked") {
					add(n.Value)
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if selected, isField := to.(*ast.SelectorExpr); isField && selected.Sel.Name == "Reason" && i < len(n.Rhs) {
						add(n.Rhs[i])
					}
				}
			case *ast.CallExpr:
				if name := calledName(n); name == "FailedPrecondition" && len(n.Args) > 0 && f.path != "platform/secrets/encryption.go" { // its error has a reason of its own
					add(n.Args[0])
				}
			}
			return true
		})
	}
	return reasons
}

func calledName(call *ast.CallExpr) string {
	switch called := call.Fun.(type) {
	case *ast.Ident:
		return called.Name
	case *ast.SelectorExpr:
		return called.Sel.Name
	}
	return ""
}

// textOf returns the text of a literal, or of a constant of the same package. A value that is made elsewhere is not known: what
// it is made of is found there.
func textOf(t *testing.T, f sourceFile, value ast.Expr) (string, bool) {
	t.Helper()
	switch value := value.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(value.Value)
		return text, err == nil
	case *ast.Ident:
		for _, other := range sourcesIn(t, f.folder) {
			for _, d := range other.ast.Decls {
				if text, found := constantIn(d, value.Name); found {
					return text, true
				}
			}
		}
		var local string
		ast.Inspect(f.ast, func(n ast.Node) bool { // a constant of a function
			if d, isDeclaration := n.(*ast.DeclStmt); isDeclaration {
				if text, found := constantIn(d.Decl, value.Name); found {
					local = text
				}
			}
			return true
		})
		return local, local != ""
	}
	return "", false
}

// constantIn returns the text of a constant that a declaration has.
func constantIn(d ast.Decl, name string) (string, bool) {
	declared, isGeneral := d.(*ast.GenDecl)
	if !isGeneral || declared.Tok != token.CONST {
		return "", false
	}
	for _, spec := range declared.Specs {
		values, _ := spec.(*ast.ValueSpec)
		for i, n := range values.Names {
			if n.Name == name && i < len(values.Values) {
				if literal, isLiteral := values.Values[i].(*ast.BasicLit); isLiteral {
					text, err := strconv.Unquote(literal.Value)
					return text, err == nil
				}
			}
		}
	}
	return "", false
}
