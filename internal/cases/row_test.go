package cases

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
)

// A row is one case: a call, and the answer of every protocol.
type row struct {
	name  string
	given []call // what is done before
	do    call
	want  any // a failure, the expected resource, or what is listed; nil: an empty answer

	// instead has the answers of protocols that cannot express the case.
	instead map[string]instead
}

// An instead is the answer of a protocol to a case that it cannot express.
type instead struct {
	because string
	want    any
}

// inGraphQL returns another answer for GraphQL.
func inGraphQL(want any, because string) map[string]instead {
	return map[string]instead{"graphql": {because, want}}
}

// typedAnswer returns the answer of GraphQL to a value that its types rule out.
var typedAnswer = inGraphQL(refused{}, "the types of the schema refuse it before an operation is asked")

// typedAnswerIf is typedAnswer if is is true.
func typedAnswerIf(is bool) map[string]instead {
	if is {
		return typedAnswer
	}
	return nil
}

// A refused expects INVALID_ARGUMENT before an operation is called. The violations depend
// on the protocol.
type refused struct{}

// A done expects that a call succeeds, with any answer.
type done struct{}

// An expected is a complete resource that a row expects. Texts such as <uid> and <time>
// stand for any value of that form.
type expected struct {
	like    string // the name of a resource that was made: as that one is
	with    fields // but for these
	without []string
}

// A listed has the items that a row expects in a list without pages, or with a single page.
type listed []fields

// resource expects these fields and no others.
func resource(f fields) expected { return expected{with: f} }

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

// run runs a row of kind k in every protocol, with separate resources for each.
func (r row) run(t *testing.T, k *kind, in *env) {
	for _, p := range in.w.protocols {
		t.Run(p.name(), func(t *testing.T) {
			e := in.of(t)
			for _, c := range r.given {
				e.must(e.call(c))
			}
			c := e.call(r.do)
			want := e.expectation(p, c, r.want, r.instead)
			got := p.do(e.token, c)
			e.check(k, c, got, want)
			e.readBack(k, p, c, got)
		})
	}
}

// expectation returns the answer that a protocol must give to a call: want, or its other
// answer.
func (e *env) expectation(p protocol, c call, want any, others map[string]instead) any {
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
	if got.broken != "" {
		e.Fatalf("%s: %s", asJSON(c.fields), got.broken)
	}
	if _, ok := want.(refused); ok {
		if got.failed == nil || got.failed.code != platform.CodeInvalidArgument {
			e.Errorf("%s with %s %s is not refused: %s", c.rpc, asJSON(c.fields), asJSON(c.params), got.raw)
		}
		return
	}
	if f, ok := want.(failure); ok {
		f.resource, f.on = e.text(f.resource), e.text(f.on)
		if f = f.complete(k.area); got.failed == nil || *got.failed != f {
			e.Errorf("%s on %s with %s %s %s:\ngot  %+v\nwant %+v\n%s", c.rpc, c.on, asJSON(c.fields), c.mask, asJSON(c.params), got.failed, f, got.raw)
		}
		return
	}
	if got.failed != nil {
		e.Errorf("%s on %s with %s %s %s: %s", c.rpc, c.on, asJSON(c.fields), c.mask, asJSON(c.params), got.raw)
		return
	}
	if items, ok := want.(listed); ok {
		if want := e.fill(normalise([]fields(items))); !matches(normalise(got.items), want) {
			e.Errorf("%s on %s with %s:\ngot  %s\nwant %s", c.rpc, c.on, asJSON(c.params), asJSON(got.items), asJSON(want))
		}
		return
	}
	if _, ok := want.(done); ok {
		return
	}
	if want == nil {
		if got.resource != nil {
			e.Errorf("%s on %s: got %s, want nothing", c.rpc, c.on, asJSON(got.resource))
		}
		return
	}
	x := want.(expected)
	resource := fields{}
	if x.like != "" {
		resource = e.resource(strings.Trim(x.like, "{}")).without(k.names(k.once)...)
	}
	resource, _ = e.fill(normalise(resource.with(x.with).without(x.without...))).(fields)
	if was := e.made[strings.Trim(x.like, "{}")]; !matches(got.resource, resource) || x.with["updateTime"] != nil && !isChangedSince(got.resource, was) {
		e.Errorf("%s on %s with %s %s:\ngot  %s\nwant %s", c.rpc, c.on, asJSON(c.fields), c.mask, asJSON(got.resource), asJSON(resource))
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
		after := call{rpc: "Get" + k.name, on: uid}
		now := p.do(e.token, after)
		after.rpc += " after " + c.rpc
		e.check(k, after, now, want)
	}
	as := func(f fields) expected { return resource(f.without(k.names(k.once)...)) }
	switch {
	case got.broken != "" || got.failed != nil && got.failed.code == platform.CodeNotFound:
	case c.rpc == "Create"+k.name && got.failed == nil:
		read(keyOf(got.resource), as(got.resource))
	case c.rpc == "Update"+k.name && got.failed == nil:
		read(c.on, as(got.resource))
	case c.rpc == "Delete"+k.name && got.failed == nil:
		read(c.on, notFound(k.resource(), c.on))
	case c.rpc == "Update"+k.name || c.rpc == "Delete"+k.name:
		for ref, made := range e.made {
			if keyOf(made) == c.on && (!k.sharesUID || strings.HasSuffix(ref, k.ref)) {
				read(c.on, as(made))
			}
		}
	}
}
