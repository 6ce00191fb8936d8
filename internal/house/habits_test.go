package house

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// texts lists the extensions of files that people write.
var texts = []string{".go", ".sql", ".graphqls", ".proto", ".md", ".yml", ".yaml", ".css", ".html", ".js", ".mjs", ".sh", ".mod", ""}

func TestNoWorkIsMarkedForLater(t *testing.T) {
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

func TestNoPackageHasAnInitFunction(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		for _, d := range f.ast.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.Name == "init" && !f.isGenerated() {
				t.Errorf("%s has an init: what a program does must be seen in main", f.path)
			}
		}
	}
}

// The context carries the actor and the trace of a request, and values that the GraphQL
// adapter passes from its transport to its resolvers, such as loaders, because gqlgen offers
// no other way. Other values must be arguments.
func TestTheContextCarriesOnlyAllowedValues(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{
		// These are the caller, the cost, the memory of the response, the connections that the
		// request may use, whether it is background work, and under which conditions a change is made. Otherwise every layer between the start of a request and its
		// statements would have to pass them on.
		"platform/core": {"actorKey", "traceKey", "responseMemoryKey", "backgroundKey", "turnsKey", "conditionsKey"},
		// This says which calls read concurrently for one answer. It passes from the
		// engine of GraphQL to the store, through operations that do not use it.
		// The other says that a request changes nothing, with the position of the primary
		// that it has read. It passes from the adapters to the store, likewise. The third says which functions
		// of a transaction run together.
		"store/sqlstore/dbconn": {"levelKey", "readingKey", "togetherKey"},
		"internal/auth":         {"throttleKey"}, // It passes from the middleware to the verifier, through gRPC's interceptors.
		// This says why a subscription ends. Its resolver can only close a channel.
		"internal/graphql/execute": {"endingKey"},
	}
	for _, f := range sources(t) {
		if f.test || f.isGenerated() || f.folder == "resolvers" {
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

// A test passes on a machine that is busy. What must come is awaited for half a minute or longer, by
// an event or by a loop that sleeps after each try. What must not come is awaited until something
// else has come. What depends on time runs in a synctest bubble. A limit in milliseconds is one
// that must pass.
func TestTestsDoNotDependOnTheSpeedOfTheMachine(t *testing.T) {
	t.Parallel()
	exempt := []string{
		"cmd/atrium/proof_test.go", "cmd/atrium/memory_linux_test.go", // They run only by themselves.
		"internal/webhook/deliverer_test.go", "internal/webhook/clock_test.go", // They have sinks that take a while.
	}
	for _, f := range sources(t) {
		if !f.test || strings.HasSuffix(f.path, "bench_test.go") || slices.Contains(f.imports, "testing/synctest") || slices.Contains(exempt, f.path) {
			continue
		}
		polls := map[ast.Node]bool{}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ForStmt:
				if post, ok := n.Post.(*ast.ExprStmt); ok {
					polls[post.X] = true
				}
			case *ast.CallExpr:
				switch {
				case polls[n]:
				case isSelector(n.Fun, "time", "Sleep"):
					t.Errorf("%s sleeps: wait for an event, or sleep between the tries of a loop: for ...; time.Sleep(...)", f.path)
				case isWait(n.Fun) && slices.ContainsFunc(n.Args, isFewSeconds):
					t.Errorf("%s waits for less than 30 s, which a busy machine may take", f.path)
				}
			}
			return true
		})
	}
}

// isWait reports whether a function limits a wait.
func isWait(function ast.Expr) bool {
	s, ok := function.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	now, _ := s.X.(*ast.CallExpr)
	return isSelector(s, "time", "After") || isSelector(s, "time", "NewTimer") || isSelector(s, "context", "WithTimeout") ||
		s.Sel.Name == "Add" && now != nil && isSelector(now.Fun, "time", "Now")
}

// isFewSeconds reports whether an expression is a literal number of seconds below 30.
func isFewSeconds(e ast.Expr) bool {
	product, ok := e.(*ast.BinaryExpr)
	if !ok {
		return isSelector(e, "time", "Second")
	}
	number, ok := product.X.(*ast.BasicLit)
	if !ok || product.Op != token.MUL || !isSelector(product.Y, "time", "Second") {
		return false
	}
	seconds, err := strconv.Atoi(number.Value)
	return err == nil && seconds < 30
}

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// A package-level variable is set once and then only read, so that two platforms in one
// process share no state.
func TestNoPackageHasMutableState(t *testing.T) {
	t.Parallel()
	files := slices.DeleteFunc(sources(t), func(f sourceFile) bool { return f.test || f.isGenerated() })
	variables := map[string]map[string]bool{} // The keys are folders.
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

// rootOf returns the identifier x of an expression such as x.y[z].
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

// packageLevel reports whether a name refers to a declaration of its package, in another
// file or at the top level of this one.
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
	"of", "or", "only", "few", "some", "as", "but", "on", "at", "by", "to", "from", "within", "around", "beside", "between", "through", "until",
	"told", "known", "given", "found", "caught", "lost", "met", "got", "shown", "both", "each", "done", "made", "wrote", "whole", "raw", "plain",
	"fine", "full", "empty", "private", "always", "never", "again", "slowly", "asking", "passing", "failing", "refusing", "recovering",
}

// participle matches a past participle of one word, such as counted. It does not say
// what a function does, or what it returns.
var participle = regexp.MustCompile(`^[A-Za-z][a-z]*[^e]ed$`)

// The name of a function, in tests too, begins with a verb, or is a noun that says what
// the function returns.
func TestFunctionsHaveNamesThatSayWhatTheyDo(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if f.isGenerated() {
			continue
		}
		for _, d := range f.ast.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := function.Name.Name
			isVague := slices.Contains(vagueNames, name) && (!f.test || function.Recv == nil)
			if isVague || participle.MatchString(name) && !function.Name.IsExported() && name != "embed" {
				t.Errorf("%s: the name of the function %s does not say what it does; begin it with a verb, such as joinErrors instead of joined, or use a noun for its result, such as valueOrZero instead of or", f.path, name)
			}
		}
	}
}

// SQLite begins with either side of a JOIN. It has no index of a list of arguments, so that it would read the whole list for each
// row of the other side.
func TestListsOfArgumentsAreJoinedInOneOrder(t *testing.T) {
	t.Parallel()
	free := regexp.MustCompile(`\.Parents\(.*\n?.*"( (?:INNER )?JOIN [^"]*)"`)
	lists := 0
	for _, f := range sources(t) {
		if f.test || !strings.HasPrefix(f.folder, "store/") {
			continue
		}
		source := read(t, f.path)
		lists += strings.Count(source, ".Parents(")
		for _, m := range free.FindAllStringSubmatch(source, -1) {
			t.Errorf("%s: write CROSS JOIN in %q", f.path, m[1])
		}
	}
	if lists == 0 {
		t.Error("no statement has a list of arguments")
	}
}
