package resolvers

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/internal/agreement"
	"atrium/store/storetest"
)

// A document is a valid document with one operation.
type document struct {
	file      string
	text      string
	operation *ast.OperationDefinition
}

// suites are the folders with documents: the suites, the guide, the console, the pages
// and the examples.
var suites = []string{"../e2e", "../docs", "../internal/web/console/generated", "../internal/web/graphiql", "../internal/demo/examples", "../internal/server", "../cmd/atrium"}

// quoted matches the texts of scripts, JSON and Go, and unescapes nothing.
var quoted = regexp.MustCompile("(?s)`[^`]*`|'(?:[^'\\\\\n]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\"")

// documentsIn returns all documents in the files of a folder that are valid by
// themselves.
func documentsIn(t testing.TB, folder string) (found []document) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "bin"): // They were downloaded.
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		content, err := os.ReadFile(path) //nolint:gosec // It is a file of this repository.
		if err != nil {
			return err
		}
		texts := []string{string(content)}
		if filepath.Ext(path) == ".md" {
			texts = codeBlocks(string(content))
		}
		for _, whole := range texts {
			for _, text := range quoted.FindAllString(whole, -1) {
				texts = append(texts, unquote(text))
			}
		}
		for _, text := range texts {
			if !strings.Contains(text, "{") {
				continue
			}
			if parsed, invalid := gqlparser.LoadQueryWithRules(graph.Schema(), text, nil); invalid == nil && len(parsed.Operations) == 1 {
				found = append(found, document{path, text, parsed.Operations[0]})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// codeBlocks returns the blocks of code in a Markdown text.
func codeBlocks(markdown string) (blocks []string) {
	for _, block := range codeBlock.FindAllStringSubmatch(markdown, -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

var codeBlock = regexp.MustCompile("(?ms)^```\\w[^\n]*\n(.*?)^```$")

// unquote removes the quotes of a text and its escapes.
func unquote(text string) string {
	inner := text[1 : len(text)-1]
	var plain string
	if text[0] == '"' && json.Unmarshal([]byte(text), &plain) == nil {
		return plain
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}

// variables returns random values for the variables of the document. A variable that names
// an object usually names one that exists.
func (d document) variables(seed uint64, known []any) []any {
	random := newRandomDocument(seed, known)
	random.isCareless = seed%4 == 3
	uids := map[string]string{}
	random.findUIDs(d.operation.SelectionSet, uids)
	var values []any
	for _, v := range d.operation.VariableDefinitions {
		value := plainValue(random.value(v.Type, 0))
		if uid, ok := uids[v.Variable]; ok && !random.isCareless {
			value = uid
		}
		values = append(values, v.Variable, value)
	}
	return values
}

// findUIDs finds the variables that are the uid of a root field.
func (d *randomDocument) findUIDs(selections ast.SelectionSet, uids map[string]string) {
	for _, selection := range selections {
		field, ok := selection.(*ast.Field)
		if !ok {
			continue
		}
		for _, a := range field.Arguments {
			if uid, known := d.named[field.Name]; known && a.Name == "uid" && a.Value.Kind == ast.Variable {
				uids[a.Value.Raw] = uid
			}
		}
	}
}

// Every document of the suites gets the same answer from both executors. Those that change
// something are sent to a database of each executor.
func TestExecutorsAgreeOnTheDocumentsOfTheSuites(t *testing.T) {
	needOracle(t)
	t.Parallel()
	var documents []document
	seen := map[string]bool{}
	for _, folder := range suites {
		found := documentsIn(t, folder)
		if len(found) == 0 {
			t.Errorf("no document found in %s, want at least one", folder)
		}
		for _, d := range found {
			if words := strings.Join(strings.Fields(d.text), " "); !seen[words] {
				seen[words] = true
				documents = append(documents, d)
			}
		}
	}
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		known := w.furnish()
		twins := newTwins(t, url)
		counts := map[ast.Operation]int{}
		for i, d := range documents {
			counts[d.operation.Operation]++
			for round := range uint64(4) {
				seed := uint64(i)*4 + round
				switch d.operation.Operation {
				case ast.Query:
					caller := []string{theOwner, theOwner, "ann", theOwner}[round]
					w.askAs(caller, d.text, d.variables(seed, known)...)
				case ast.Mutation:
					if round < 2 {
						twins.expectAgreement(theOwner, d.text, d.variables(seed, twins.known[0]), d.variables(seed, twins.known[1]))
					}
				case ast.Subscription: // The tests of feeds send these.
				}
			}
		}
		t.Log(counts)
		if counts[ast.Query] < 100 || counts[ast.Mutation] < 20 {
			t.Errorf("%v documents found, want at least 100 queries and 20 mutations", counts)
		}
	})
}

// Random mutations get the same answers from both executors. Many of them are invalid, and
// how many depends on the schema, so the test sends more until enough have succeeded.
func TestExecutorsAgreeOnRandomMutations(t *testing.T) {
	needOracle(t)
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		twins := newTwins(t, url)
		for seed := uint64(0); seed < 150 || twins.succeeded < 20 && seed < 1500; seed++ {
			var texts [2]string
			var variables [2][]any
			for i, known := range twins.known {
				d := newRandomDocument(seed, known)
				d.isMutation, d.fields = true, 3+d.rand.IntN(20)
				texts[i], variables[i] = d.text(), d.variables
			}
			twins.expectAgreementOn([]string{theOwner, theOwner, theOwner, "ann"}[seed%4], texts, variables)
		}
		if twins.succeeded < 20 {
			t.Errorf("%d mutations succeeded, want at least 20: the others change nothing", twins.succeeded)
		}
	})
}

// Random subscriptions get the same responses from both executors, event by event.
func TestExecutorsAgreeOnRandomSubscriptions(t *testing.T) {
	needOracle(t)
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		known := w.furnish()
		events := 0
		for seed := range uint64(60) {
			d := newRandomDocument(seed, known)
			selected := d.selection(d.schema.Types["Event"], 1)
			declared := ""
			if len(d.declared) > 0 {
				declared = "(" + strings.Join(d.declared, ", ") + ")"
			}
			text := "subscription" + declared + ` { events(after: "", first: 8) ` + selected + " }\n" + strings.Join(d.fragments, "\n")
			caller := []string{theOwner, theOwner, "ann"}[seed%3]
			if caller == "ann" {
				text = strings.Replace(text, "first: 8", "first: 3", 1) // She may see the events of three repos.
			}
			w.faults = seed % 2 * (seed + 1)
			ours, oracles := w.eventsFor(w.handler.tested, caller, text, d.variables), w.eventsFor(w.handler.oracle, caller, text, d.variables)
			if len(ours) != len(oracles) {
				t.Errorf("the executors do not agree on %s\nours: %s\noracle: %s", text, ours, oracles)
				continue
			}
			for i := range ours {
				if difference := agreement.Difference([]byte(ours[i]), agreement.WithRoot([]byte(oracles[i]), "events")); difference != "" {
					t.Errorf("the executors do not agree on event %d of %s\n%s", i, text, difference)
				}
			}
			events += len(ours)
		}
		if events < 300 {
			t.Errorf("%d responses compared, want at least 300", events)
		}
	})
}

// eventsFor returns the responses of a subscription that ends by itself.
func (w *world) eventsFor(handler http.Handler, caller, text string, variables []any) (events []string) {
	w.t.Helper()
	for _, line := range strings.Split(string(w.answerTo(handler, caller, text, variables, "Accept", "text/event-stream")), "\n") {
		if data, found := strings.CutPrefix(line, "data: "); found && strings.Contains(data, "{") {
			events = append(events, data)
		}
	}
	return events
}

// A twins is two databases with the same contents: one for each executor.
type twins struct {
	t         testing.TB
	worlds    [2]*world
	handlers  [2]http.Handler
	known     [2][]any
	succeeded int
}

func newTwins(t testing.TB, url string) *twins {
	t.Helper()
	pair := &twins{t: t}
	create := storetest.Postgres
	if strings.HasPrefix(url, "sqlite:") {
		create = storetest.SQLite
	}
	for i := range pair.worlds {
		w := newWorldAt(t, create(t))
		pair.worlds[i], pair.known[i] = w, w.furnish()
		pair.handlers[i] = []http.Handler{w.handler.tested, w.handler.oracle}[i]
	}
	return pair
}

func (p *twins) expectAgreement(caller, text string, ours, oracles []any) {
	p.t.Helper()
	p.expectAgreementOn(caller, [2]string{text, text}, [2][]any{ours, oracles})
}

func (p *twins) expectAgreementOn(caller string, texts [2]string, variables [2][]any) {
	p.t.Helper()
	var answers [2][]byte
	for i, w := range p.worlds {
		answers[i] = agreement.Mask(w.answerTo(p.handlers[i], caller, texts[i], variables[i]))
	}
	if difference := agreement.Difference(answers[0], answers[1]); difference != "" {
		p.t.Errorf("the executors do not agree on %s %v\n%s", texts[0], variables[0], difference)
	}
	if !bytes.Contains(answers[0], []byte(`"errors"`)) {
		p.succeeded++
	}
}

// answerTo returns the answer of a handler to a request with these headers.
func (w *world) answerTo(handler http.Handler, caller, text string, variables []any, headers ...string) []byte {
	w.t.Helper()
	given := map[string]any{}
	for i := 0; i < len(variables); i += 2 {
		given[variables[i].(string)] = variables[i+1]
	}
	r := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(must(json.Marshal(map[string]any{"query": text, "variables": given}))(w.t)))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	ctx := w.actor(caller)
	if w.faults > 0 {
		ctx = withFaults(ctx, w.faults)
	}
	rw := httptest.NewRecorder()
	rw.Header().Set("X-Request-Id", "req-1")
	handler.ServeHTTP(rw, r.WithContext(ctx))
	return rw.Body.Bytes()
}
