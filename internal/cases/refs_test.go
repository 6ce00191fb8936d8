package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/auth"
	"atrium/platform"
)

// Rows name what they need in braces, and it is made when it is first named:
//
//	{org}         the organisation; {owner} and {owner binding} came with it
//	{group}       one of the kind whose ref is group, made of what the kind
//	              needs at least; {repo}, {role} ... likewise
//	{other repo}  another one; {full repo} one with all that a repo can have
//	{org role}    one in the group that the first word names
//	{repo.name}   a member of it, as it was answered when it was made
//	{n}           a number that nothing else has
//
// An env is what the names of one case mean.
type env struct {
	*testing.T
	w     *world
	token string            // of the organisation's owner
	made  map[string]fields // by name, as they were answered
}

// newEnv makes an organisation.
func (w *world) newEnv(t *testing.T) *env {
	t.Helper()
	name := fmt.Sprintf("org-%d", w.names.Add(1))
	organisation, err := w.p.Groups.Bootstrap(t.Context(), name, auth.DevelopmentIssuer, "owner of "+name)
	if err != nil {
		t.Fatal(err)
	}
	e := &env{T: t, w: w, token: w.token(t, "owner of "+name), made: map[string]fields{}}
	for ref, c := range map[string]call{
		"org":           {rpc: "GetGroup", on: string(organisation.Group.UID)},
		"owner":         {rpc: "GetIdentity", on: string(organisation.Identity.UID)},
		"owner binding": {rpc: "GetRoleBinding", on: string(organisation.Binding.UID)},
	} {
		e.made[ref] = e.must(c).resource
	}
	return e
}

// of is an env of the same organisation for another case.
func (e *env) of(t *testing.T) *env {
	made := map[string]fields{}
	for _, ref := range []string{"org", "owner", "owner binding"} {
		made[ref] = e.made[ref]
	}
	return &env{T: t, w: e.w, token: e.token, made: made}
}

// must makes a call that has to succeed.
func (e *env) must(c call) answer {
	e.Helper()
	got := e.w.setup.do(e.token, c)
	if got.failed != nil || got.broken != "" {
		e.Fatalf("%s on %q with %s: %s %s", c.rpc, c.on, asJSON(c.fields), got.raw, got.broken)
	}
	return got
}

// call fills in what a call names.
func (e *env) call(c call) call {
	e.Helper()
	c.on = e.text(c.on)
	c.fields, c.params = e.fill(normal(c.fields)).(fields), e.fill(normal(c.params)).(fields)
	return c
}

var reference = regexp.MustCompile(`\{([a-zA-Z0-9 ]+)((?:\.[a-zA-Z]+)*)\}`)

// fill is v with everything in it that is named in braces.
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
				delete(f, name) // a member that the other resource does not have
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

// keyOf is what a resource is found by.
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

// resource is what ref names.
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

// make makes one of a kind.
func (e *env) make(k *kind, in string, given fields) fields {
	e.Helper()
	c := e.call(call{rpc: "Create" + k.name, on: in, fields: given})
	if k.put != nil {
		return k.put(e, c.on, c.fields)
	}
	return e.must(c).resource
}

// decoded is a resource as the core has it.
func decoded[T any](e *env, given fields) *T {
	e.Helper()
	var resource T
	if err := json.Unmarshal([]byte(asJSON(given)), &resource); err != nil {
		e.Fatal(err)
	}
	return &resource
}

// operator is the context of the operator's commands, which imports are.
func (e *env) operator() context.Context {
	return platform.WithActor(e.Context(), platform.NewOperator("import"))
}
