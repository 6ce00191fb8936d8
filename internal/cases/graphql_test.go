package cases

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/wiretest"
)

// graphQL makes calls with documents that it derives from the schema: GetRepo is the query
// repo, ListRepos the query repos, and CreateRepo the mutation createRepo. It selects every
// field that is not a link to another kind.
type graphQL struct {
	handler http.Handler
	oracle  http.Handler // This one has gqlgen's executor.
	schema  *ast.Schema
}

func (graphQL) name() string { return "graphql" }

// A document is a query or mutation, with a function that reads its answer.
type document struct {
	operation, field string // This is query or mutation, and its root field.
	arguments        fields // These are the arguments of the root field.
	selection        string
	read             func(g graphQL, value any, c call) answer
}

func (p graphQL) do(token string, c call) answer {
	d := p.document(c)
	definition := p.schema.Query.Fields.ForName(d.field)
	if d.operation == "mutation" {
		definition = p.schema.Mutation.Fields.ForName(d.field)
	}
	if definition == nil {
		return answer{brokenRule: "the schema has no " + d.operation + " " + d.field}
	}
	var declared, passed []string
	for _, name := range slices.Sorted(maps.Keys(d.arguments)) {
		argumentType := "String" // The schema does not have the argument.
		if a := definition.Arguments.ForName(name); a != nil {
			argumentType = a.Type.String()
		}
		declared, passed = append(declared, "$"+name+": "+argumentType), append(passed, name+": $"+name)
	}
	query := d.operation + parenthesise(declared) + " { it: " + d.field + parenthesise(passed) + " " + d.selection + " }"
	body := asJSON(fields{"query": query, "variables": d.arguments})
	w := send(p.handler, token, body)
	if err := wiretest.CheckErrors(p.schema, query, w.Body.Bytes()); err != nil && w.Code != http.StatusUnauthorized {
		return answer{brokenRule: err.Error()}
	}
	if d.operation == "query" {
		if difference := p.disagreement(token, body, w); difference != "" {
			return answer{brokenRule: difference}
		}
	}
	return p.answer(d, c, query, w)
}

func (p graphQL) answer(d document, c call, query string, w *httptest.ResponseRecorder) answer {
	var sent struct {
		Data   map[string]any
		Errors []struct {
			Extensions struct {
				Status  float64
				Details []map[string]any
			}
		}
		Code    float64 // This is the code of an answer to an unauthenticated caller, as in REST.
		Details []map[string]any
	}
	raw := w.Body.String()
	if err := json.Unmarshal(w.Body.Bytes(), &sent); err != nil {
		return answer{brokenRule: fmt.Sprintf("%s is no answer: %v", raw, err)}
	}
	switch {
	case len(sent.Errors) > 0 && (isNull(sent.Data["it"]) || !strings.HasPrefix(c.rpc, "List")): // A list does not fail because of one hidden field.
		first := sent.Errors[0].Extensions
		return answer{raw: raw, failure: parseStatus(first.Status, first.Details, restNames(c))}
	case sent.Code != 0:
		return answer{raw: raw, failure: parseStatus(sent.Code, sent.Details, nil)}
	case sent.Data == nil:
		return answer{brokenRule: query + " is answered with " + raw}
	}
	got := d.read(p, sent.Data["it"], c)
	got.raw = raw
	return got
}

// isNull reports whether an answer, or its only field, is null.
func isNull(value any) bool {
	members, _ := value.(map[string]any)
	return value == nil || len(members) == 1 && slices.Contains(slices.Collect(maps.Values(members)), nil)
}

// document returns the document of a call.
func (p graphQL) document(c call) document {
	write := graphQL.plainDocument
	for _, special := range []map[string]func(graphQL, call) document{documents, wireDocuments} {
		if special[c.rpc] != nil {
			write = special[c.rpc]
		}
	}
	d := write(p, c)
	if c.readsETag {
		d.selection = "{ etag }"
		d.read = func(_ graphQL, value any, _ call) answer {
			return answer{etag: fmt.Sprint(value.(map[string]any)["etag"])}
		}
	}
	if input, ok := d.arguments["input"].(fields); ok {
		if c.ifMatch != "" {
			input["ifMatch"] = c.ifMatch
		}
		if c.key != "" {
			input["idempotencyKey"] = c.key
		}
		if c.validateOnly {
			input["validateOnly"] = true
		}
	}
	return d
}

// plainDocument returns the document of a call whose names follow from its operation.
func (p graphQL) plainDocument(c call) document {
	verb := c.rpc[:strings.IndexFunc(c.rpc[1:], func(r rune) bool { return 'A' <= r && r <= 'Z' })+1]
	name := lowerFirst(c.rpc)
	switch verb {
	case "Get":
		field := lowerFirst(c.rpc[len(verb):])
		return document{"query", field, fields{"uid": c.target}, p.selection(p.typeOf(p.schema.Query, field)), readNode}
	case "List":
		return p.list(c)
	case "Delete":
		return document{"mutation", name, fields{"input": fields{"uid": c.target}}, "{ deletedUid }", readDeleted}
	}
	place := "uid"
	if verb == "Create" {
		place = "parent"
	}
	input := p.input(p.inputType(name), c.fields)
	if c.target != "" {
		input[place] = c.target
	}
	if c.mask != nil {
		input["updateMask"] = c.mask
	}
	return document{"mutation", name, fields{"input": input}, p.payload(name), readPayload}
}

func (p graphQL) list(c call) document {
	field := lowerFirst(strings.TrimPrefix(c.rpc, "List"))
	node := p.typeOf(p.schema.Types[p.typeOf(p.schema.Query, field)], "nodes")
	return document{"query", field, p.listArguments(c.rpc, p.schema.Query.Fields.ForName(field), c.params), p.connection(node), readConnection(node)}
}

// connection selects a page of a type.
func (p graphQL) connection(node string) string { return connectionOf(p.selection(node)) }

// connectionOf selects a page of objects, of which it selects what selection says.
func connectionOf(selection string) string {
	return "{ edges { cursor node " + selection + " } nodes { __typename } pageInfo { hasNextPage endCursor } totalCount skipped }"
}

func readNode(p graphQL, value any, c call) answer {
	field := p.schema.Query.Fields.ForName(lowerFirst(strings.TrimPrefix(c.rpc, "Get")))
	return answer{resource: asFields(p.toREST(field.Type.Name(), value))}
}

// readPayload reads the created or changed resource: the first field of the payload, and
// other fields that are neither an edge nor an object.
func readPayload(p graphQL, value any, c call) answer {
	payload := p.schema.Types[p.typeOf(p.schema.Mutation, lowerFirst(c.rpc))]
	members, _ := value.(map[string]any)
	node := payload.Fields[0]
	resource := asFields(p.toREST(node.Type.Name(), members[node.Name]))
	for _, field := range payload.Fields[1:] {
		if shown, ok := members[field.Name]; ok && resource != nil {
			resource[field.Name] = shown
		}
	}
	return answer{resource: resource}
}

func readDeleted(_ graphQL, value any, c call) answer {
	members, _ := value.(map[string]any)
	if uid := members["deletedUid"]; uid != c.target {
		return answer{brokenRule: fmt.Sprintf("deleted %s and says %v", c.target, uid)}
	}
	return answer{}
}

func readConnection(node string) func(graphQL, any, call) answer {
	return func(p graphQL, value any, _ call) answer { return p.readPage(node, value) }
}

func (p graphQL) readPage(node string, value any) answer {
	var page struct {
		Edges []struct {
			Cursor string
			Node   map[string]any
		}
		Nodes    []any
		PageInfo struct {
			HasNextPage bool
			EndCursor   string
		}
		TotalCount, Skipped json.Number
	}
	if err := json.Unmarshal([]byte(asJSON(value)), &page); err != nil {
		return answer{brokenRule: err.Error()}
	}
	got := answer{items: []fields{}, total: page.TotalCount.String(), skipped: page.Skipped.String()}
	for _, edge := range page.Edges {
		got.items = append(got.items, asFields(p.toREST(node, edge.Node)))
		got.cursors = append(got.cursors, edge.Cursor)
	}
	if n := len(page.Edges); len(page.Nodes) != n || n > 0 && page.Edges[n-1].Cursor != page.PageInfo.EndCursor {
		got.brokenRule = fmt.Sprintf("%d edges, %d nodes, endCursor %s", n, len(page.Nodes), page.PageInfo.EndCursor)
	}
	if page.PageInfo.HasNextPage {
		got.next = page.PageInfo.EndCursor
	}
	return got
}

func parenthesise(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}
