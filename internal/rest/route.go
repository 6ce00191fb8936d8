package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"atrium/internal/apierror"
	"atrium/internal/export"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A route is one operation of the HTTP interface. Everything except call is data that
// describes its input and output.
type route struct {
	name         string // name of the operation in gRPC, such as ListRepos
	method       string
	pattern      string            // path in the notation of internal/wiretest/wire.txt
	capabilities []core.Capability // required capabilities; empty if the operation itself decides
	query        []parameter
	accepts      []string        // media types of a body that is a file
	body         any             // zero value of the type of the body; nil means no body
	answer       any             // zero value of the response, or of one item of a list; nil means an empty response, or a file
	files        []export.Format // formats of the file that is the response; nil means that it is none
	plural       string          // key of the items in the response of a list
	kind         *kindFacts      // kind of the resource; nil if the route is not about one kind
	doc          string          // description, if texts/ has none
	public       bool            // whether the route needs no token
	reportsQuery bool            // whether the operation reports the violations of the query, together with its own
	call         operation
}

// kindFacts holds facts of a kind without its type.
type kindFacts struct {
	name        string
	resource    reflect.Type
	fields      []fieldmask.Field
	required    []string // fields that are required for creation
	showsSecret bool     // whether only the answer to a creation has a secret
	global      bool     // whether some resources belong to no organization
}

func factsOf[T any](kind *core.Kind[T]) *kindFacts {
	return &kindFacts{kind.Name, reflect.TypeFor[T]().Elem(), kind.Fields, kind.Required, kind.ShowsSecret, kind.IsBuiltIn != nil}
}

// An operation returns a value to encode as JSON, or nil for an empty body.
type operation func(*request) (any, error)

// A request is an HTTP request with its parsed path and query.
type request struct {
	*http.Request
	writer    http.ResponseWriter
	variables []string              // variables of the path
	query     url.Values            // parameters by their documented names
	malformed []fieldmask.Violation // violations of the query
}

// run calls the operation.
func (r *route) run(w http.ResponseWriter, req *http.Request, variables []string) (any, error) {
	ctx, end := core.TraceOf(req.Context()).BeginOperation(req.Context(), r.name, r.pattern)
	defer end()
	if ctx != req.Context() {
		req = req.WithContext(ctx)
	}
	decoded := newRequest(w, req, r, variables)
	if len(decoded.malformed) > 0 && !r.reportsQuery {
		return nil, core.Invalid(decoded.malformed...)
	}
	return r.underConditions(decoded)
}

func newRequest(w http.ResponseWriter, r *http.Request, route *route, variables []string) *request {
	query, malformed := decodeQuery(r.URL.RawQuery, route.query)
	return &request{Request: r, writer: w, variables: variables, query: query, malformed: malformed}
}

// uid returns the first variable of the path, or "" if there is none.
func (r *request) uid() core.UID {
	if len(r.variables) == 0 {
		return ""
	}
	return core.UID(r.variables[0])
}

// The routes that most kinds have. Each constructor takes an interface with the one
// operation that it calls.
type (
	lister[T, F any] interface {
		Kind() *core.Kind[T]
		List(context.Context, core.ListRequest[F]) (core.Page[T], error)
	}
	getter[T any] interface {
		Kind() *core.Kind[T]
		Get(context.Context, core.UID) (T, error)
	}
	creator[T any] interface {
		Kind() *core.Kind[T]
		Create(context.Context, core.UID, fieldmask.Input[T]) (T, error)
	}
	updater[T any] interface {
		Kind() *core.Kind[T]
		Update(context.Context, core.UID, fieldmask.Input[T]) (T, error)
	}
	remover[T any] interface {
		Kind() *core.Kind[T]
		Delete(context.Context, core.UID) error
	}
)

// list returns the route that lists a kind in the tree. It has filters by scope.
func list[T, F any](pattern string, operations lister[T, F], filters ...filter[core.ListRequest[F]]) route {
	return listAll(pattern, operations, slices.Concat(scopeFilters[F](), filters)...)
}

// listAll returns the route that lists a kind outside the tree.
func listAll[T, F any](pattern string, operations lister[T, F], filters ...filter[core.ListRequest[F]]) route {
	kind := operations.Kind()
	filters = slices.Concat(filters, pagingFilters[F](kind))
	return route{
		name: "List" + upperFirst(kind.Plural), method: http.MethodGet, pattern: pattern, capabilities: capabilityList(kind.ReadCapabilities()...),
		query: parametersOf(filters), answer: zeroOf[T](), plural: kind.Plural,
		kind: factsOf(kind), doc: "Lists " + words(kind.Plural) + ", a page at a time.", reportsQuery: true,
		call: func(r *request) (any, error) {
			page, err := operations.List(r.Context(), listRequest(r, filters))
			return newEnvelope(kind.Plural, page), err
		},
	}
}

func get[T any](pattern string, operations getter[T]) route {
	kind := operations.Kind()
	return route{
		name: "Get" + kind.Name, method: http.MethodGet, pattern: pattern, capabilities: capabilityList(kind.ReadCapabilities()...),
		answer: zeroOf[T](), kind: factsOf(kind), doc: "Reads one " + words(kind.Name) + ".",
		call: func(r *request) (any, error) { return operations.Get(r.Context(), r.uid()) },
	}
}

func create[T any](pattern string, operations creator[T]) route {
	kind := operations.Kind()
	return route{
		name: "Create" + kind.Name, method: http.MethodPost, pattern: pattern, capabilities: kind.CreateCapabilities(),
		query: []parameter{validateOnly}, body: zeroOf[T](), answer: zeroOf[T](), kind: factsOf(kind),
		doc: fmt.Sprintf("Creates one %s in the %s that the path names.", words(kind.Name), words(kind.Parent.Name)), reportsQuery: true,
		call: func(r *request) (any, error) {
			body, err := r.readBody()
			if err != nil {
				return nil, err
			}
			return operations.Create(r.Context(), r.uid(), fieldmask.JSONInput[T](body, nil).Malformed(r.malformed...))
		},
	}
}

func update[T any](pattern string, operations updater[T]) route {
	kind := operations.Kind()
	route := patch("Update"+kind.Name, pattern, operations.Update, kind.UpdateCapabilities()...)
	route.kind = factsOf(kind)
	route.doc = fmt.Sprintf("Updates one %s: the fields in the body, or those of them that updateMask lists.", words(kind.Name))
	return route
}

// patch returns the route of a partial update.
func patch[T any](name, pattern string, update func(context.Context, core.UID, fieldmask.Input[T]) (T, error), needed ...core.Capability) route {
	return route{
		name: name, method: http.MethodPatch, pattern: pattern, capabilities: needed,
		query: []parameter{updateMask, validateOnly}, body: zeroOf[T](), answer: zeroOf[T](), reportsQuery: true,
		call: func(r *request) (any, error) {
			body, err := r.readBody()
			if err != nil {
				return nil, err
			}
			return update(r.Context(), r.uid(), fieldmask.JSONInput[T](body, maskOf(r.query)).Malformed(r.malformed...))
		},
	}
}

func remove[T any](pattern string, operations remover[T]) route {
	kind := operations.Kind()
	doc := "Deletes one " + words(kind.Name) + "."
	if kind.Blocked != "" {
		doc += " Fails with FAILED_PRECONDITION and the violation " + kind.Blocked + " while other resources need it."
	}
	return route{
		name: "Delete" + kind.Name, method: http.MethodDelete, pattern: pattern, capabilities: capabilityList(kind.Delete),
		query: []parameter{validateOnly}, kind: factsOf(kind), doc: doc,
		call: func(r *request) (any, error) { return nil, operations.Delete(r.Context(), r.uid()) },
	}
}

// zeroOf returns the zero value of what the pointer type T points to.
func zeroOf[T any]() any { return reflect.Zero(reflect.TypeFor[T]().Elem()).Interface() }

// capabilityList returns the capabilities that are not "".
func capabilityList(capabilities ...core.Capability) []core.Capability {
	return slices.DeleteFunc(capabilities, func(c core.Capability) bool { return c == "" })
}

// words splits a name into words: "role binding" for RoleBinding and roleBinding.
func words(name string) string {
	return strings.ReplaceAll(apierror.SnakeCase(name), "_", " ")
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
