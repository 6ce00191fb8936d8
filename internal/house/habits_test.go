package house

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// texts are the endings of files that people write.
var texts = []string{".go", ".sql", ".graphqls", ".proto", ".md", ".yml", ".yaml", ".css", ".html", ".js", ".mjs", ".sh", ".mod", ""}

func TestNothingIsLeftToBeDoneLater(t *testing.T) {
	t.Parallel()
	later := regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "HA" + "CK", "XX" + "X"}, "|") + `)\b`)
	walk(t, func(path string) {
		if !slices.Contains(texts, filepath.Ext(path)) || strings.HasSuffix(path, "package-lock.json") {
			return
		}
		for n, line := range strings.Split(read(t, path), "\n") {
			if m := later.FindString(line); m != "" {
				t.Errorf("%s:%d says %s: do it, or write it down as an issue", path, n+1, m)
			}
		}
	})
}

func TestNothingRegistersItself(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		for _, d := range f.ast.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.Name == "init" && !f.generated() {
				t.Errorf("%s has an init: what a program does must be seen in main", f.path)
			}
		}
	}
}

// The context carries the actor and the trace of a request, and what the
// GraphQL adapter hands from its transport to its resolvers, such as loaders:
// gqlgen leaves it no other way. Whoever needs more takes it as an argument.
func TestTheContextCarriesNothingMore(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{
		// Who asks, what it costs, how much the answer may hold, and whether it
		// is work that requests go before: facts of a request that every layer
		// between its start and its statements would have to pass on.
		"platform": {"actorKey", "traceKey", "answerKey", "backgroundKey"},
		// Which calls read beside each other for one answer: from the executor to
		// the connection, through operations that are no concern of it.
		"store/sqlstore": {"levelKey"},
		"auth":           {"gateKey"}, // from the middleware to the verifier, through gRPC's interceptors
		// What gqlgen leaves no other way for: why a subscription ends, told by
		// its resolver.
		"graphql/execute": {"endingKey"},
	}
	for _, f := range sources(t) {
		if f.test || f.generated() || f.folder == "resolvers" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isSelector(call.Fun, "context", "WithValue") || len(call.Args) != 3 {
				return true
			}
			key := "?"
			if literal, ok := call.Args[1].(*ast.CompositeLit); ok {
				if name, ok := literal.Type.(*ast.Ident); ok {
					key = name.Name
				}
			}
			if !slices.Contains(allowed[f.folder], key) {
				t.Errorf("%s puts %s into the context: it may carry the actor, the loaders and the trace", f.path, key)
			}
			return true
		})
	}
}

func isSelector(e ast.Expr, of, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == of
}

// A package-level variable is made once and then only read: two platforms in
// one process share nothing.
func TestNoPackageHasStateOfItsOwn(t *testing.T) {
	t.Parallel()
	files := slices.DeleteFunc(sources(t), func(f sourceFile) bool { return f.test || f.generated() })
	variables := map[string]map[string]bool{} // by folder
	for _, f := range files {
		for _, d := range f.ast.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				v := spec.(*ast.ValueSpec)
				if s, ok := v.Type.(*ast.SelectorExpr); ok && (isSelector(s, "sync", s.Sel.Name) || isSelector(s, "atomic", s.Sel.Name)) {
					t.Errorf("%s: %s is shared by the whole process", f.path, v.Names[0].Name)
				}
				for _, name := range v.Names {
					if variables[f.folder] == nil {
						variables[f.folder] = map[string]bool{}
					}
					variables[f.folder][name.Name] = true
				}
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			var changed []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					changed = n.Lhs
				}
			case *ast.IncDecStmt:
				changed = []ast.Expr{n.X}
			}
			for _, e := range changed {
				if name, ok := rootOf(e); ok && name.Name != "_" && variables[f.folder][name.Name] && packageLevel(f.ast, name) {
					t.Errorf("%s changes %s, a variable of its package", f.path, name.Name)
				}
			}
			return true
		})
	}
}

// rootOf is x of x.y[z].
func rootOf(e ast.Expr) (*ast.Ident, bool) {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x, true
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil, false
		}
	}
}

// packageLevel reports whether a name stands for what its package declares: in
// another file, or at the top of this one.
func packageLevel(file *ast.File, name *ast.Ident) bool {
	if name.Obj == nil {
		return true
	}
	for _, d := range file.Decls {
		if vars, ok := d.(*ast.GenDecl); ok && slices.ContainsFunc(vars.Specs, func(s ast.Spec) bool { return name.Obj.Decl == s }) {
			return true
		}
	}
	return false
}

// vagueNames are prepositions, conjunctions and bare adjectives. As the name of a
// function, none of them tells what the function does.
var vagueNames = []string{
	"of", "or", "only", "few", "some", "as", "but", "on", "at", "by", "to", "from", "with", "within", "joined", "named", "shown", "placed",
	"told", "listed", "known", "given", "found", "spelled", "renamed", "caught", "marked", "refused", "lost", "both", "each", "needed",
	"checked", "decoded", "distinct", "done", "made",
}

// The name of a function begins with a verb, or is a noun that says what the
// function returns.
func TestFunctionsHaveNamesThatSayWhatTheyDo(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if f.test || f.generated() {
			continue
		}
		for _, d := range f.ast.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && slices.Contains(vagueNames, function.Name.Name) {
				t.Errorf("%s: the name of the function %s does not say what it does; begin it with a verb, such as joinErrors instead of joined, or use a noun for its result, such as valueOrZero instead of or", f.path, function.Name.Name)
			}
		}
	}
}
