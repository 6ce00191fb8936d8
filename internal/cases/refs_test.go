package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/internal/auth"
	"atrium/platform/core"
)

// Rows name resources in braces. A resource is created when it is named for the first
// time:
//
//	{org}         the organization; {owner} and {owner binding} came with it
//	{group}       a resource of the kind whose ref is group, with the required
//	              fields only; likewise {repo}, {role} ...
//	{other repo}  another one; {full repo} has all fields of a repo
//	{org role}    one in the group that the first word names
//	{repo.name}   a member of it, from the answer to its creation
//	{n}           a unique number
//
// An env has the resources of the names in one case.
type env struct {
	*testing.T
	w     *world
	token string            // This is the token of the owner of the organization.
	made  map[string]fields // These are the answers to the creations, by name.
	twin  *env              // This is another organization, where the oracle runs the rows of mutations.
}

// newEnv creates an organization.
func (w *world) newEnv(t *testing.T) *env {
	t.Helper()
	name := fmt.Sprintf("org-%d", w.names.Add(1))
	organization, err := w.p.Groups.Bootstrap(t.Context(), name, auth.DevelopmentIssuer, "owner of "+name)
	if err != nil {
		t.Fatal(err)
	}
	e := &env{T: t, w: w, token: w.token(t, "owner of "+name), made: map[string]fields{}}
	for ref, c := range map[string]call{
		"org":           {rpc: "GetGroup", target: string(organization.Group.UID)},
		"owner":         {rpc: "GetIdentity", target: string(organization.Identity.UID)},
		"owner binding": {rpc: "GetRoleBinding", target: string(organization.Binding.UID)},
	} {
		e.made[ref] = e.mustCall(c).resource
	}
	return e
}

// forTest returns an env of the same organization for another case.
func (e *env) forTest(t *testing.T) *env {
	made := map[string]fields{}
	for _, ref := range []string{"org", "owner", "owner binding"} {
		made[ref] = e.made[ref]
	}
	return &env{T: t, w: e.w, token: e.token, made: made}
}

// mustCall makes a call that must succeed.
func (e *env) mustCall(c call) answer {
	e.Helper()
	got := e.w.setup.do(e.token, c)
	if got.failure != nil || got.brokenRule != "" {
		e.Fatalf("%s on %q with %s: %s %s, want no failure and brokenRule \"\"", c.rpc, c.target, asJSON(c.fields), got.raw, got.brokenRule)
	}
	return got
}

// fillCall replaces the names in a call.
func (e *env) fillCall(c call) call {
	e.Helper()
	c.target = e.text(c.target)
	c.fields, c.params = e.fill(normalize(c.fields)).(fields), e.fill(normalize(c.params)).(fields)
	return c
}

var reference = regexp.MustCompile(`\{([a-zA-Z0-9 ]+)((?:\.[a-zA-Z]+)*)\}`)

// fill returns v with all names in braces replaced.
func (e *env) fill(v any) any {
	e.Helper()
	switch v := v.(type) {
	case string:
		if m := reference.FindStringSubmatch(v); m != nil && m[0] == v && m[2] != "" {
			return e.member(m[1], m[2])
		}
		return e.text(v)
	case fields:
		f := make(fields, len(v))
		for name, value := range v {
			if f[name] = e.fill(value); f[name] == nil && value != nil {
				delete(f, name) // the other resource does not have this member
			}
		}
		return f
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = e.fill(v[i])
		}
		return all
	default:
		return v
	}
}

func (e *env) text(s string) string {
	e.Helper()
	return reference.ReplaceAllStringFunc(s, func(named string) string {
		m := reference.FindStringSubmatch(named)
		if m[1] == "n" {
			return fmt.Sprint(e.w.names.Add(1))
		}
		if m[2] == "" {
			return keyOf(e.resource(m[1]))
		}
		return fmt.Sprint(e.member(m[1], m[2]))
	})
}

// keyOf returns the key of a resource.
func keyOf(resource fields) string {
	if uid, ok := resource["uid"].(string); ok {
		return uid
	}
	if id, ok := resource["id"].(string); ok {
		return id
	}
	document, _ := resource["docId"].(string)
	return document
}

func (e *env) member(ref, path string) any {
	e.Helper()
	var value any = e.resource(ref)
	for _, name := range strings.Split(path[1:], ".") {
		object, _ := value.(fields)
		value = object[name]
	}
	return value
}

// resource returns the resource that ref names.
func (e *env) resource(ref string) fields {
	e.Helper()
	if made, ok := e.made[ref]; ok {
		return made
	}
	words := strings.Fields(ref)
	k := kindOf(words[len(words)-1])
	if k == nil {
		e.Fatalf("nothing is called {%s}", ref)
	}
	in, given := k.in, k.minimal
	if _, known := e.made[words[0]]; known {
		in = "{" + words[0] + "}"
	}
	if slices.Contains(words, "full") {
		given = k.full
	}
	e.made[ref] = e.make(k, in, given)
	return e.made[ref]
}

// make creates a resource of a kind.
func (e *env) make(k *kind, in string, given fields) fields {
	e.Helper()
	c := e.fillCall(call{rpc: "Create" + k.name, target: in, fields: given})
	if k.put != nil {
		return k.put(e, c.target, c.fields)
	}
	return e.mustCall(c).resource
}

// decodeFields converts fields to a resource of the core.
func decodeFields[T any](e *env, given fields) *T {
	e.Helper()
	var resource T
	if err := json.Unmarshal([]byte(asJSON(given)), &resource); err != nil {
		e.Fatal(err)
	}
	return &resource
}

// operator returns the context of commands of the operator, such as imports.
func (e *env) operator() context.Context {
	return core.WithActor(e.Context(), core.NewOperator("import"))
}
