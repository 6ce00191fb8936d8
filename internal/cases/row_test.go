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

// A row is one case: what is asked, and what every protocol answers.
type row struct {
	name  string
	given []call // what is done before
	do    call
	want  any // a failure, the expected resource, or what is listed; nil: an empty answer

	// instead holds protocols that cannot express the case.
	instead map[string]instead
}

// An instead is what a protocol answers to a case that it cannot express.
type instead struct {
	because string
	want    any
}

// inGraphQL is what GraphQL answers instead.
func inGraphQL(want any, because string) map[string]instead {
	return map[string]instead{"graphql": {because, want}}
}

// typed is the answer to what the types of GraphQL leave no room for.
var typed = inGraphQL(refused{}, "the types of the schema refuse it before an operation is asked")

// typedIf is typed for rows of which only some are.
func typedIf(is bool) map[string]instead {
	if is {
		return typed
	}
	return nil
}

// refused expects INVALID_ARGUMENT before an operation is asked: which
// violations there are follows from the protocol.
type refused struct{}

// done expects that a call is carried out, whatever it answers.
type done struct{}

// An expected is a resource that a row expects, whole. In it texts such as
// <uid> and <time> stand for any of their form.
type expected struct {
	like    string // the name of a resource that was made: as that one is
	with    fields // but for these
	without []string
}

// A listed is what a row expects of a list without pages, or of the one page
// of a list.
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

// matches compares an answer with what is expected of it.
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

// run runs a row of kind k through every protocol, each on resources of its
// own.
func (r row) run(t *testing.T, k *kind, in *env) {
	for _, p := range in.w.protocols {
		t.Run(p.name(), func(t *testing.T) {
			e := in.of(t)
			for _, c := range r.given {
				e.must(e.call(c))
			}
			c := e.call(r.do)
			want := e.wanted(p, c, r.want, r.instead)
			got := p.do(e.token, c)
			e.check(k, c, got, want)
			e.readBack(k, p, c, got)
		})
	}
}

// wanted is what a protocol must answer to a call: want, or what it answers
// instead.
func (e *env) wanted(p protocol, c call, want any, others map[string]instead) any {
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

// check demands an answer.
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
		if f = f.expected(k.area); got.failed == nil || *got.failed != f {
			e.Errorf("%s on %s with %s %s %s:\ngot  %+v\nwant %+v\n%s", c.rpc, c.on, asJSON(c.fields), c.mask, asJSON(c.params), got.failed, f, got.raw)
		}
		return
	}
	if got.failed != nil {
		e.Errorf("%s on %s with %s %s %s: %s", c.rpc, c.on, asJSON(c.fields), c.mask, asJSON(c.params), got.raw)
		return
	}
	if items, ok := want.(listed); ok {
		if want := e.fill(normal([]fields(items))); !matches(normal(got.items), want) {
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
	resource, _ = e.fill(normal(resource.with(x.with).without(x.without...))).(fields)
	if was := e.made[strings.Trim(x.like, "{}")]; !matches(got.resource, resource) || x.with["updateTime"] != nil && !changedSince(got.resource, was) {
		e.Errorf("%s on %s with %s %s:\ngot  %s\nwant %s", c.rpc, c.on, asJSON(c.fields), c.mask, asJSON(got.resource), asJSON(resource))
	}
}

func (k *kind) names(f fields) []string { return slices.Collect(maps.Keys(f)) }

// changedSince reports whether a resource tells of a change since it was was.
func changedSince(now, was fields) bool {
	changed, _ := now["updateTime"].(string)
	before, _ := was["updateTime"].(string)
	return changed > before
}

// readBack reads what a call made or changed, or left as it was.
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
