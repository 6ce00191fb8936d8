package cases

import (
	"encoding/json"
	"fmt"
	"strings"

	"atrium/platform/core"
)

// fields is a resource, or a part of one, with the names and values of REST.
type fields map[string]any

// A call is a call of an operation.
type call struct {
	rpc      string   // This is the name in the ledger, such as CreateRepo.
	target   string   // This is the UID, parent or repo that the call names.
	fields   fields   // These are the fields of the body.
	mask     []string // This is the mask of an update; nil means none.
	params   fields   // These are the parameters of a list or a read, by their names in the ledger.
	onParent bool     // The rights on the parent of the target count.

	ifMatch, key string // These are conditions of a change; "" means none.
	validateOnly bool
	readsETag    bool // The answer of a read needs to have the ETag only.
}

// A protocol makes calls. token is the token of the caller, or "" for none.
type protocol interface {
	name() string
	do(token string, c call) answer
}

// An answer is the result of a call.
type answer struct {
	resource fields   // Lists and deletions have no resource.
	items    []fields // A list has items, and they are not nil.
	next     string   // This is the token of the next page; "" means that there is none.
	cursors  []string // These are the tokens after each item, if the protocol has them.
	total    string   // This is the number of items on all pages.
	skipped  string

	etag       string   // This is the ETag of the resource.
	failure    *failure // If the call failed, this says how.
	raw        string   // This is the answer without the parts that differ in every answer.
	brokenRule string   // This says which rule of the protocol the answer breaks.
}

// A failure is an error. An expectation may omit what follows from its other fields; see
// complete.
type failure struct {
	code       core.Code
	reason     string // "" means the name of the code.
	violations string // These are the invalid fields, in order.
	blocked    string // These are the types of the preconditions that do not hold.
	resource   string // This is the type and name of the resource that is missing or in conflict.
	capability string // This capability is missing.
	scope      string // The capability is missing on this resource.
	area       string // The error names this area; "" means the area of the kind.
}

func invalid(violations string) failure {
	return failure{code: core.CodeInvalidArgument, violations: violations}
}

func notFound(kind, uid string) failure {
	return failure{code: core.CodeNotFound, resource: kind + " " + uid}
}

// notFoundBy expects NOT_FOUND for a resource that a parameter names.
func notFoundBy(parameter, kind, uid string) failure {
	return failure{code: core.CodeNotFound, resource: kind + " " + uid, violations: parameter}
}

// emptyInGraphQL is the answer of GraphQL to a list by what is not there.
var emptyInGraphQL = inGraphQL(expectedItems{}, "a list is the same at the root as below other objects, where it cannot fail for what is not there")

func alreadyExists(kind, uid, violations string) failure {
	return failure{code: core.CodeAlreadyExists, resource: kind + " " + uid, violations: violations}
}

func blockedFailure(because string) failure {
	return failure{code: core.CodeFailedPrecondition, blocked: because}
}

func deniedFailure(capability, scope string) failure {
	return failure{code: core.CodePermissionDenied, capability: capability, scope: scope}
}

// complete completes an expectation for a kind in an area.
func (f failure) complete(area string) failure {
	if f.reason == "" {
		f.reason = f.code.String()
	}
	if f.area == "" {
		f.area = area
	}
	return f
}

const serviceDomain = ".atrium.dev"

// parseStatus reads a google.rpc.Status in JSON. named converts the name of a field to its
// name in REST.
func parseStatus(code float64, details []map[string]any, named func(string) string) *failure {
	f := &failure{code: core.Code(code)}
	for _, d := range details {
		switch kind, _ := strings.CutPrefix(fmt.Sprint(d["@type"]), "type.googleapis.com/google.rpc."); kind {
		case "ErrorInfo":
			f.reason, _ = d["reason"].(string)
			domain, _ := d["domain"].(string)
			f.area = strings.TrimSuffix(domain, serviceDomain)
			metadata, _ := d["metadata"].(map[string]any)
			f.capability, _ = metadata["capability"].(string)
			f.scope, _ = metadata["resource"].(string)
		case "BadRequest":
			f.violations = joinMembers(d["fieldViolations"], "field", named)
		case "PreconditionFailure":
			f.blocked = joinMembers(d["violations"], "type", nil)
		case "ResourceInfo":
			kind, _ := d["resourceType"].(string)
			f.resource = strings.Replace(kind, serviceDomain, "", 1) + " " + fmt.Sprint(d["resourceName"])
		}
	}
	return f
}

// joinMembers returns one member of each object of a list, in one text.
func joinMembers(list any, member string, named func(string) string) string {
	objects, _ := list.([]any)
	values := make([]string, len(objects))
	for i, object := range objects {
		object, _ := object.(map[string]any)
		if values[i], _ = object[member].(string); named != nil {
			values[i] = named(values[i])
		}
	}
	return strings.Join(values, " ")
}

// asFields converts a JSON object, and all objects inside it, to fields.
func asFields(v any) fields {
	f, _ := normalize(v).(fields)
	return f
}

func normalize(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return normalize(fields(v))
	case fields:
		f := make(fields, len(v))
		for name, value := range v {
			f[name] = normalize(value)
		}
		return f
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = normalize(v[i])
		}
		return all
	case []string:
		all := make([]any, len(v))
		for i := range v {
			all[i] = v[i]
		}
		return all
	case []fields:
		all := make([]any, len(v))
		for i := range v {
			all[i] = normalize(v[i])
		}
		return all
	case int:
		return float64(v)
	default:
		return v
	}
}

// asJSON encodes a value for a request or for the message of a test.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// camelCase converts snake_case to camelCase.
func camelCase(s string) string {
	words := strings.Split(s, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
