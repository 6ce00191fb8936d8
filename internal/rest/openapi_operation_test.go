package rest

import (
	"math"
	"net/http"
	"reflect"
	"regexp"

	"atrium/internal/export"
	"atrium/platform/core"

	"github.com/getkin/kin-openapi/openapi3"
)

var pathVariable = regexp.MustCompile(`\{([a-z_]+)(=\*\*?)?\}`)

// templateOf returns a pattern in the notation of OpenAPI, and its shape: the path without
// the names of its variables.
func templateOf(pattern string) (shape, path string) {
	return pathVariable.ReplaceAllString(pattern, "{}"), pathVariable.ReplaceAllString(pattern, "{$1}")
}

// variables returns the parameters in a path. Their texts are found by the name that the
// route uses, although the document may use the name of another route with the same path.
func (d *description) variables(path string, r *route) openapi3.Parameters {
	var parameters openapi3.Parameters
	names := pathVariable.FindAllStringSubmatch(path, -1)
	for i, own := range pathVariable.FindAllStringSubmatch(r.pattern, -1) {
		schema := newSchema("string", "")
		if own[2] == "=**" {
			schema = d.schemaOf(reflect.TypeFor[core.UID](), inAnswer)
		}
		parameters = append(parameters, &openapi3.ParameterRef{Value: &openapi3.Parameter{
			Name: names[i][1], In: "path", Required: true,
			Description: d.textFor(r.name, "{"+own[1]+"}"), Schema: schema,
		}})
	}
	return parameters
}

// conditions describes the headers of a request that are conditions.
func (d *description) conditions(r *route) (parameters openapi3.Parameters) {
	for _, condition := range []struct {
		name    string
		applies bool
	}{{"If-Match", comparesETag(r)}, {"Idempotency-Key", takesKey(r)}, {"If-None-Match", answersUnmodified(r)}} {
		if condition.applies {
			parameters = append(parameters, &openapi3.ParameterRef{Value: &openapi3.Parameter{
				Name: condition.name, In: "header", Description: d.text(condition.name), Schema: newSchema("string", ""),
			}})
		}
	}
	return parameters
}

// query describes the query parameters of a route.
func (d *description) query(r *route) openapi3.Parameters {
	parameters := make(openapi3.Parameters, len(r.query))
	for i, p := range r.query {
		described := &openapi3.Parameter{
			Name: p.name, In: "query", Required: p.required,
			Description: d.textFor(r.name, "?"+p.name), Schema: d.schemaOf(p.valueType, inAnswer),
		}
		if value := described.Schema.Value; value != nil {
			value.Pattern += p.pattern
			value.Default = p.fallback
			if p.valueType.Kind() == reflect.Int {
				value.Min, value.Max = openapi3.Ptr(0.0), openapi3.Ptr(float64(math.MaxInt32))
			}
		}
		if p.repeated {
			described.Schema = (&openapi3.Schema{Type: &openapi3.Types{"array"}, Items: described.Schema}).NewRef()
			described.Style, described.Explode = openapi3.SerializationForm, openapi3.Ptr(true)
		}
		if p.required {
			described.Example = parameterExamples[p.name]
		}
		parameters[i] = &openapi3.ParameterRef{Value: described}
	}
	return parameters
}

// body describes the body of a request.
func (d *description) body(r *route) *openapi3.RequestBodyRef {
	if r.accepts != nil {
		content := uploadContent(r.accepts)
		content["application/json"].Example = importExamples[r.name]
		return &openapi3.RequestBodyRef{Value: &openapi3.RequestBody{Required: true, Description: d.text(r.name + ".body"), Content: content}}
	}
	use := inInput
	switch {
	case r.method == http.MethodPatch:
		use = inUpdate
	case r.kind != nil:
		use = inCreate
	}
	bodyType := reflect.TypeOf(r.body)
	return &openapi3.RequestBodyRef{Value: &openapi3.RequestBody{
		Required: true, Content: d.content(d.schemaOf(bodyType, use), d.example(bodyType, use)),
	}}
}

// success describes the response of a successful request.
func (d *description) success(r *route) *openapi3.ResponseRef {
	if r.files != nil {
		return &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("The file.").WithContent(fileContent(r.files))}
	}
	if r.answer == nil {
		return &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("Done; the body is empty.")}
	}
	answerType := reflect.TypeOf(r.answer)
	schema, example := d.schemaOf(answerType, inAnswer), d.example(answerType, inAnswer)
	if r.plural != "" {
		schema = d.page(d.nameOf(answerType)+"List", r.plural, schema)
		if example != nil {
			example = map[string]any{r.plural: []any{example}, "totalCount": "1", "skipped": 0}
		}
	}
	response := openapi3.NewResponse().WithDescription("What was asked for.").WithContent(d.content(schema, example))
	if r.hasETag() {
		response.Headers = openapi3.Headers{"ETag": {Value: &openapi3.Header{Parameter: openapi3.Parameter{Description: d.text("ETag"), Schema: newSchema("string", "")}}}}
	}
	return &openapi3.ResponseRef{Value: response}
}

// fileContent describes a file by its formats.
func fileContent(formats []export.Format) openapi3.Content {
	content := openapi3.Content{}
	for _, format := range formats {
		schema := &openapi3.Schema{Type: &openapi3.Types{"object"}}
		switch format {
		case export.JSON:
			schema = &openapi3.Schema{Type: &openapi3.Types{"array"}, Items: schema.NewRef()}
		case export.NDJSON, export.CSV:
			schema.Type = &openapi3.Types{"string"}
		}
		content[format.MediaType()] = &openapi3.MediaType{Schema: schema.NewRef()}
	}
	return content
}

// uploadContent describes a body that is a file by its media types.
func uploadContent(types []string) openapi3.Content {
	content := openapi3.Content{}
	for _, one := range types {
		content[one] = &openapi3.MediaType{Schema: (&openapi3.Schema{}).NewRef()}
	}
	return content
}

func (d *description) content(schema *openapi3.SchemaRef, example any) openapi3.Content {
	return openapi3.Content{"application/json": {Schema: schema, Example: example}}
}

// page describes the envelope of a list.
func (d *description) page(name, plural string, item *openapi3.SchemaRef) *openapi3.SchemaRef {
	text := func(s *openapi3.Schema, field string) *openapi3.SchemaRef {
		s.Description = d.text("a list." + field)
		return s.NewRef()
	}
	d.found[name] = (&openapi3.Schema{
		Type: &openapi3.Types{"object"}, Description: d.text("a list"),
		Required: []string{plural, "totalCount", "skipped"},
		Properties: openapi3.Schemas{
			plural:          text(&openapi3.Schema{Type: &openapi3.Types{"array"}, Items: item}, "items"),
			"nextPageToken": text(&openapi3.Schema{Type: &openapi3.Types{"string"}}, "nextPageToken"),
			"totalCount":    text(longNumber(), "totalCount"),
			"skipped":       text(&openapi3.Schema{Type: &openapi3.Types{"integer"}, Format: "int32", Min: openapi3.Ptr(0.0)}, "skipped"),
		},
	}).NewRef()
	return componentRef(name)
}

func componentRef(name string) *openapi3.SchemaRef {
	return &openapi3.SchemaRef{Ref: "#/components/schemas/" + name}
}
