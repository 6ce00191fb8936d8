package rest

import (
	"net/http"
	"reflect"

	"atrium/internal/apierror"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// validateOnly is the parameter of changes that are only checked.
var validateOnly = parameter{name: "validateOnly", valueType: reflect.TypeFor[bool](), fallback: false}

// notModified is the answer to a GET whose client has the resource as it is.
type notModified struct{}

// underConditions calls the operation under the conditions of the request, and sets the ETag of the resource.
func (r *route) underConditions(decoded *request) (any, error) {
	conditions, err := apierror.ReadConditions(decoded.Header, decoded.Method != http.MethodGet && decoded.Method != http.MethodHead)
	if err != nil {
		return nil, err
	}
	if given := decoded.query.Get(validateOnly.name); given != "" && r.takes(validateOnly) {
		if conditions.ValidateOnly, err = parseBool(given); err != nil {
			return nil, core.Invalid(fieldmask.Violation{Field: validateOnly.name, Description: err.Error()})
		}
	}
	decoded.Request = decoded.WithContext(core.WithConditions(decoded.Context(), conditions))
	answer, err := r.call(decoded)
	if err != nil || !r.hasETag() {
		return answer, err
	}
	etag := conditions.ETag()
	if etag == "" {
		return answer, nil
	}
	decoded.writer.Header().Set(apierror.ETagHeader, etag)
	if r.method == http.MethodGet && core.MatchesAny(decoded.Header.Get("If-None-Match"), etag) {
		return notModified{}, nil
	}
	return answer, nil
}

// hasETag reports whether the route answers with one resource of a kind.
func (r *route) hasETag() bool {
	return r.kind != nil && r.plural == "" && reflect.TypeOf(r.answer) == r.kind.resource
}

// takes reports whether a route has a parameter.
func (r *route) takes(p parameter) bool {
	for _, known := range r.query {
		if known.name == p.name {
			return true
		}
	}
	return false
}
