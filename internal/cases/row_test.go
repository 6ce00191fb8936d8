package cases

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
)

// A row is one case: a call, and the answer of every protocol.
type row struct {
	name  string
	setup []call // These calls are made before.
	do    call
	want  any // This is a failure, an expected resource or a list; nil means an empty answer.

	// instead has the answers of protocols that cannot express the case.
	instead map[string]otherAnswer
}

// An otherAnswer is the answer of a protocol to a case that it cannot express.
type otherAnswer struct {
	because string
	want    any
}

// inGraphQL returns a different answer for GraphQL.
func inGraphQL(want any, because string) map[string]otherAnswer {
	return map[string]otherAnswer{"graphql": {because, want}}
}

// typedAnswer is the answer of GraphQL to a value that its types do not allow.
var typedAnswer = inGraphQL(rejectedInput{}, "the types of the schema refuse it before an operation is asked")

// typedAnswerIf returns typedAnswer if is is true.
func typedAnswerIf(is bool) map[string]otherAnswer {
	if is {
		return typedAnswer
	}
	return nil
}

// A rejectedInput expects INVALID_ARGUMENT before an operation is called. The violations
// depend on the protocol.
type rejectedInput struct{}

// An anySuccess expects that a call succeeds, with any answer.
type anySuccess struct{}

// A having expects that an answer, or an item of a list, has at least these fields. A list has at least what is listed, and nothing if
// nothing is.
type having fields

// An expectedResource is a complete resource. Texts such as <uid> and <time> stand for
// any value of that form.
type expectedResource struct {
	like    string // The resource equals the one that this name refers to,
	with    fields // except for these fields.
	without []string
}

// An expectedItems has the items of a list without pages, or with a single page.
type expectedItems []fields

// resource expects these fields and no others.
func resource(f fields) expectedResource { return expectedResource{with: f} }

var forms = map[string]*regexp.Regexp{
	"<uid>":    regexp.MustCompile(`^[0-9a-f]{40}(/[0-9a-f]{16})*$`),
	"<time>":   regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`),
	"<number>": regexp.MustCompile(`^\d+$`),
	"<key>":    regexp.MustCompile(`^[0-9a-f]{16}$`),
	"<code>":   regexp.MustCompile(`^[0-9a-f]{16}\.[0-9a-f]{48}$`),
	"<secret>": regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`),
}

// matches reports whether an answer is the expected one.
func matches(got, want any) bool {
	switch want := want.(type) {
	case string:
		s, isText := got.(string)
		if form, ok := forms[want]; ok {
			return isText && form.MatchString(s)
		}
		return isText && s == want
	case fields:
		object, ok := got.(fields)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(object)), slices.Sorted(maps.Keys(want))) {
			return false
		}
		for name := range want {
			if !matches(object[name], want[name]) {
				return false
			}
		}
		return true
	case []any:
		list, ok := got.([]any)
		return ok && slices.EqualFunc(list, want, matches)
	default:
		return reflect.DeepEqual(got, want)
	}
}

// has reports whether an answer has at least what is expected.
func has(got, want any) bool {
	switch want := want.(type) {
	case fields:
		object, ok := got.(fields)
		for name := range want {
			ok = ok && has(object[name], want[name])
		}
		return ok
	case []any:
		list, _ := got.([]any) // nil is an empty list
		isMissing := func(one any) bool {
			return !slices.ContainsFunc(list, func(other any) bool { return has(other, one) })
		}
		return !slices.ContainsFunc(want, isMissing) && (len(want) > 0 || len(list) == 0)
	default:
		return matches(got, want)
	}
}

// run runs a row of kind k in every protocol, with separate resources for each.
func (r row) run(t *testing.T, k *kind, in *env) {
	for _, p := range in.w.protocols {
		t.Run(p.name(), func(t *testing.T) {
			e := in.forTest(t)
			for _, c := range r.setup {
				e.mustCall(e.fillCall(c))
			}
			c := e.fillCall(r.do)
			want := e.expectation(p, c, r.want, r.instead)
			got := p.do(e.token, c)
			e.check(k, c, got, want)
			e.readBack(k, p, c, got)
			if g, ok := p.(graphQL); ok && g.oracle != nil && in.twin != nil && g.document(c).operation == "mutation" {
				r.runByOracle(t, k, in.twin, g, got)
			}
		})
	}
}

// expectation returns the answer that a protocol must give to a call: want, unless the
// protocol has another answer.
func (e *env) expectation(p protocol, c call, want any, others map[string]otherAnswer) any {
	if other, ok := others[p.name()]; ok {
		return other.want
	}
	if g, ok := p.(grpc); ok {
		if other, differs := g.instead(e.token, c); differs {
			return other.want
		}
	}
	return want
}

// check expects an answer.
func (e *env) check(k *kind, c call, got answer, want any) {
	e.Helper()
	if got.brokenRule != "" {
		e.Fatalf("%s: %s, want brokenRule \"\"", asJSON(c.fields), got.brokenRule)
	}
	if _, ok := want.(rejectedInput); ok {
		if got.failure == nil || got.failure.code != core.CodeInvalidArgument {
			e.Errorf("%s with %s %s is not refused: %s", c.rpc, asJSON(c.fields), asJSON(c.params), got.raw)
		}
		return
	}
	if f, ok := want.(failure); ok {
		f.resource, f.scope = e.text(f.resource), e.text(f.scope)
		if f = f.complete(k.area); got.failure == nil || *got.failure != f {
			e.Errorf("%s on %s with %s %s %s:\ngot  %+v\nwant %+v\n%s", c.rpc, c.target, asJSON(c.fields), c.mask, asJSON(c.params), got.failure, f, got.raw)
		}
		return
	}
	if got.failure != nil {
		e.Errorf("%s on %s with %s %s %s: %s, want no failure", c.rpc, c.target, asJSON(c.fields), c.mask, asJSON(c.params), got.raw)
		return
	}
	if items, ok := want.(expectedItems); ok {
		if want := e.fill(normalize([]fields(items))); !matches(normalize(got.items), want) {
			e.Errorf("%s on %s with %s:\ngot  %s\nwant %s", c.rpc, c.target, asJSON(c.params), asJSON(got.items), asJSON(want))
		}
		return
	}
	if _, ok := want.(anySuccess); ok {
		return
	}
	if part, ok := want.(having); ok {
		want := e.fill(normalize(fields(part)))
		if !slices.ContainsFunc(append(got.items, got.resource), func(one fields) bool { return has(normalize(one), want) }) {
			e.Errorf("%s on %s with %s %s:\ngot  %s\nwant at least %s", c.rpc, c.target, asJSON(c.fields), asJSON(c.params), got.raw, asJSON(want))
		}
		return
	}
	if want == nil {
		if got.resource != nil {
			e.Errorf("%s on %s: got %s, want nothing", c.rpc, c.target, asJSON(got.resource))
		}
		return
	}
	x := want.(expectedResource)
	resource := fields{}
	if x.like != "" {
		resource = e.resource(strings.Trim(x.like, "{}")).without(k.names(k.shownOnce)...)
	}
	resource, _ = e.fill(normalize(resource.with(x.with).without(x.without...))).(fields)
	if was := e.made[strings.Trim(x.like, "{}")]; !matches(got.resource, resource) || x.with["updateTime"] != nil && !isChangedSince(got.resource, was) {
		e.Errorf("%s on %s with %s %s:\ngot  %s\nwant %s", c.rpc, c.target, asJSON(c.fields), c.mask, asJSON(got.resource), asJSON(resource))
	}
}

func (k *kind) names(f fields) []string { return slices.Collect(maps.Keys(f)) }

// isChangedSince reports whether a resource shows a change since its earlier state.
func isChangedSince(now, was fields) bool {
	changed, _ := now["updateTime"].(string)
	before, _ := was["updateTime"].(string)
	return changed > before
}

// readBack reads the resource after a call that created, changed or kept it.
func (e *env) readBack(k *kind, p protocol, c call, got answer) {
	e.Helper()
	read := func(uid string, want any) {
		e.Helper()
		after := call{rpc: "Get" + k.name, target: uid}
		now := p.do(e.token, after)
		after.rpc += " after " + c.rpc
		e.check(k, after, now, want)
	}
	asReadBack := func(f fields) expectedResource { return resource(f.without(k.names(k.shownOnce)...)) }
	switch {
	case got.brokenRule != "" || got.failure != nil && got.failure.code == core.CodeNotFound:
	case c.rpc == "Create"+k.name && got.failure == nil:
		read(keyOf(got.resource), asReadBack(got.resource))
	case c.rpc == "Update"+k.name && got.failure == nil:
		read(c.target, asReadBack(got.resource))
	case c.rpc == "Delete"+k.name && got.failure == nil:
		read(c.target, notFound(k.resource(), c.target))
	case c.rpc == "Update"+k.name || c.rpc == "Delete"+k.name:
		for ref, made := range e.made {
			if keyOf(made) == c.target && (!k.sharesUID || strings.HasSuffix(ref, k.ref)) {
				read(c.target, asReadBack(made))
			}
		}
	}
}
