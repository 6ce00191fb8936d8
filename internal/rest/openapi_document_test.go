package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"atrium/platform"
	"atrium/platform/core"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v4"
)

// forms is a document in its two forms.
type forms struct{ json, yaml []byte }

// render encodes a document. Members are sorted, so equal documents have equal bytes.
func render(d *description) forms {
	asJSON, err := json.Marshal(d.T)
	var document any
	err = errors.Join(err, yaml.Unmarshal(asJSON, &document)) // JSON is also YAML
	asYAML, fault := yaml.Marshal(document)
	if err := errors.Join(err, fault); err != nil {
		panic(err) // Plain data can always be encoded.
	}
	return forms{asJSON, bytes.ReplaceAll(asYAML, []byte("'"+versionMark+"'"), []byte(`"`+versionMark+`"`))}
}

// A description is an OpenAPI document that is being built.
type description struct {
	*openapi3.T
	schemas
	domain string // The examples of errors use this domain.
}

// listRoutes returns the table of all routes that the document has.
func listRoutes(p *platform.Platform) []route {
	return slices.Concat(routes(p), exportRoutes(p, Options{}), importRoutes(p, Options{}), operationRoutes(p))
}

// describe builds the document of a table. It records a missing text or a type that it
// cannot describe as a fault. A test expects that there are no faults.
func describe(table []route) *description {
	d := &description{domain: domainMark}
	d.schemas = schemas{prose: readTexts(), kinds: kindsOf(table), found: openapi3.Schemas{}}
	d.T = &openapi3.T{
		OpenAPI: "3.1.0",
		Info: &openapi3.Info{
			Title: "Atrium", Version: versionMark, Description: d.text("the API"),
			Contact: &openapi3.Contact{Name: "Atrium", URL: "https://github.com/atrium/atrium"},
			License: &openapi3.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers:  openapi3.Servers{{URL: "/", Description: d.text("the server")}},
		Security: openapi3.SecurityRequirements{{bearer: {}}},
		Components: &openapi3.Components{
			Schemas:   d.found,
			Responses: d.refusals(),
			SecuritySchemes: openapi3.SecuritySchemes{bearer: {Value: &openapi3.SecurityScheme{
				Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: d.text("the token"),
			}}},
		},
		Paths: openapi3.NewPaths(),
	}
	// A path may occur only with one name of its variable, although the variable can be
	// a resource or the parent of new resources.
	named := map[string]string{}
	for _, r := range table {
		shape, path := templateOf(r.pattern)
		if was := named[shape]; was == "" || strings.HasSuffix(was, "{parent}") {
			named[shape] = path
		}
	}
	for i := range table {
		if r := &table[i]; !strings.Contains(r.pattern, "/v2beta1/") {
			shape, _ := templateOf(r.pattern)
			d.add(named[shape], r)
		}
	}
	slices.SortFunc(d.Tags, func(a, b *openapi3.Tag) int { return strings.Compare(a.Name, b.Name) })
	return d
}

// bearer is the name of the security scheme in the document.
const bearer = "bearer"

func kindsOf(table []route) map[reflect.Type]*kindFacts {
	kinds := map[reflect.Type]*kindFacts{}
	for _, r := range table {
		if r.kind != nil {
			kinds[r.kind.resource] = r.kind
		}
	}
	return kinds
}

// add describes one operation.
func (d *description) add(path string, r *route) {
	item := d.Paths.Value(path)
	if item == nil {
		item = &openapi3.PathItem{}
		d.Paths.Set(path, item)
	}
	doc := d.textOr(r.name, r.doc)
	summary, _, _ := strings.Cut(doc, ". ")
	o := &openapi3.Operation{
		OperationID: r.name, Tags: []string{d.tag(r.pattern)},
		Summary: strings.TrimSuffix(summary, "."), Description: doc + " " + neededText(r),
		Parameters: slices.Concat(d.variables(path, r), d.query(r), d.conditions(r)),
		Responses:  openapi3.NewResponses(openapi3.WithStatus(http.StatusOK, d.success(r))),
		Extensions: map[string]any{},
	}
	if r.body != nil || r.accepts != nil {
		o.RequestBody = d.body(r)
	}
	if answersUnmodified(r) {
		o.Responses.Set("304", &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription(d.text("NotModified"))})
	}
	for _, refused := range refusalsOf(r) {
		o.Responses.Set(refused.key(), &openapi3.ResponseRef{Ref: "#/components/responses/" + refused.name})
	}
	if len(r.capabilities) > 0 {
		o.Extensions["x-required-capability"] = wireNames(r.capabilities)
		o.Extensions["x-required-capability-unscoped"] = r.isUnscoped()
	}
	if r.public {
		o.Security = openapi3.NewSecurityRequirements() // The document requires a token by default; this operation needs none.
	}
	item.SetOperation(r.method, o)
}

// tag returns the area and kind of an operation, such as iam/groups, or export.
func (d *description) tag(pattern string) string {
	words := strings.FieldsFunc(pattern, func(c rune) bool { return c == '/' || c == ':' })
	name := words[0]
	if len(words) > 2 && !strings.HasPrefix(words[2], "{") {
		name += "/" + words[2]
	}
	if !slices.ContainsFunc(d.Tags, func(t *openapi3.Tag) bool { return t.Name == name }) {
		d.Tags = append(d.Tags, &openapi3.Tag{Name: name, Description: d.text(name)})
	}
	return name
}

// isUnscoped reports whether an operation returns whatever the caller may see, instead of
// rejecting callers who lack the capability on one scope.
func (r *route) isUnscoped() bool {
	return r.method == http.MethodGet && (!strings.Contains(r.pattern, "=**}") || r.kind != nil && r.kind.global)
}

func wireNames(capabilities []core.Capability) []string {
	names := make([]string, len(capabilities))
	for i, c := range capabilities {
		names[i] = c.WireName()
	}
	return names
}

// neededText returns a sentence about the capabilities that a caller needs.
func neededText(r *route) string {
	needed := "`" + strings.Join(wireNames(r.capabilities), "` and `") + "`"
	switch {
	case r.public:
		return "Anyone may ask; no token is needed."
	case len(r.capabilities) == 0:
		return "No capability is needed, but a token is."
	case r.isUnscoped():
		return "Needs " + needed + " anywhere, and shows only what lies where it is held."
	default:
		return "Needs " + needed + " there, or on a group above."
	}
}
