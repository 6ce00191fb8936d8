package cases

import (
	"encoding/json"
	"fmt"
	"strings"

	"atrium/platform"
)

// fields is a resource, or a part of one, with the names and values of REST.
type fields map[string]any

// A call is a call of an operation.
type call struct {
	rpc    string   // as the ledger names it: CreateRepo
	on     string   // the uid, parent or repo that the call is about
	fields fields   // of the body
	mask   []string // of an update; nil: none
	params fields   // of a list or a read: the names of the ledger
}

// A protocol makes calls. token is the token of the caller, or "" for none.
type protocol interface {
	name() string
	do(token string, c call) answer
}

// An answer is the result of a call.
type answer struct {
	resource fields   // of all but lists and deletions
	items    []fields // of a list; not nil
	next     string   // the token of the page that follows, "" where none does
	cursors  []string // of each item, the token that follows it, where the protocol gives it
	total    string   // how many there are over all pages
	skipped  string

	failed *failure // what was answered instead
	raw    string   // as it was sent, but for what no two answers have alike
	broken string   // how the answer breaks its protocol's own rules
}

// A failure is an error. An expectation omits what follows from the other fields: see
// expected.
type failure struct {
	code       platform.Code
	reason     string // "": the name of the code
	violations string // the fields that are wrong, in order
	blocked    string // the types of the preconditions that do not hold
	resource   string // the type and name of what is missing or in the way
	capability string // that is missing
	on         string // where it is missing
	area       string // that the error comes from, "": the kind's
}

func invalid(violations string) failure {
	return failure{code: platform.CodeInvalidArgument, violations: violations}
}

func notFound(kind, uid string) failure {
	return failure{code: platform.CodeNotFound, resource: kind + " " + uid}
}

func alreadyExists(kind, uid string) failure {
	return failure{code: platform.CodeAlreadyExists, resource: kind + " " + uid}
}

func blockedFailure(because string) failure {
	return failure{code: platform.CodeFailedPrecondition, blocked: because}
}

func deniedFailure(capability, on string) failure {
	return failure{code: platform.CodePermissionDenied, capability: capability, on: on}
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
	f := &failure{code: platform.Code(code)}
	for _, d := range details {
		switch kind, _ := strings.CutPrefix(fmt.Sprint(d["@type"]), "type.googleapis.com/google.rpc."); kind {
		case "ErrorInfo":
			f.reason, _ = d["reason"].(string)
			domain, _ := d["domain"].(string)
			f.area = strings.TrimSuffix(domain, serviceDomain)
			metadata, _ := d["metadata"].(map[string]any)
			f.capability, _ = metadata["capability"].(string)
			f.on, _ = metadata["resource"].(string)
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

// joinMembers lists a member of each object of a list.
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
	f, _ := normalise(v).(fields)
	return f
}

func normalise(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return normalise(fields(v))
	case fields:
		f := make(fields, len(v))
		for name, value := range v {
			f[name] = normalise(value)
		}
		return f
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = normalise(v[i])
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
			all[i] = normalise(v[i])
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
