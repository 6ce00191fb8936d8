package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// A stackContext records the deepest stack that has asked for one of its values.
type stackContext struct {
	context.Context //nolint:containedctx // It is that of the request.

	lock    sync.Mutex
	deepest []string // the functions, the outermost first
}

func (c *stackContext) Value(key any) any {
	var names []string
	callers := make([]uintptr, 200)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		names = append(names, frame.Function)
	}
	slices.Reverse(names)
	c.lock.Lock()
	defer c.lock.Unlock()
	if len(names) > len(c.deepest) {
		c.deepest = names
	}
	return c.Context.Value(key)
}

// readLife returns the layers that the documentation names, in its order, as patterns of functions.
func readLife(t *testing.T) (layers []*regexp.Regexp) {
	t.Helper()
	text := string(check(os.ReadFile("doc.go"))(t))
	_, text, _ = strings.Cut(text, "// The life of a request")
	text, _, _ = strings.Cut(text, "// On the way back")
	for _, found := range regexp.MustCompile(`(?m)^//\t(?:(\w+)\.)?(\w+)  `).FindAllStringSubmatch(text, -1) {
		layers = append(layers, regexp.MustCompile(regexp.QuoteMeta(found[1])+`\b.*\b`+found[2]+`\b`))
	}
	return layers
}

func TestTheLifeOfARequest(t *testing.T) {
	t.Parallel()
	p := check(platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{}))(t)
	check(p.Groups.Bootstrap(core.WithActor(t.Context(), core.NewOperator("test")), "acme", auth.DevelopmentIssuer, "owner"))(t)
	issuer := check(newDevelopmentIssuer())(t)
	handler := Handler(p, Config{
		Audience: []string{"atrium"}, ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger(), MaxConcurrent: 4, RateLimit: 1000, RateBurst: 1000, MaxInFlight: 10,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Origins: []string{"https://app.example.com"},
	}, issuer)
	token := check(issuer.Mint("owner", "atrium", time.Hour, nil))(t)
	var spy *stackContext
	for range 2 { // The first request finds out who has the token; the second presumes it.
		spy = &stackContext{Context: t.Context()}
		r := httptest.NewRequestWithContext(spy, http.MethodGet, "/registry/v2/repos", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		answer := httptest.NewRecorder()
		if handler.ServeHTTP(answer, r); answer.Code != http.StatusOK {
			t.Fatalf("the list answers %d: %s", answer.Code, answer.Body)
		}
	}
	stack := strings.Join(spy.deepest, "\n")
	layers := readLife(t)
	if len(layers) < 10 {
		t.Fatalf("the documentation names %d layers: how does it name them now?", len(layers))
	}
	at := 0
	for _, layer := range layers {
		next := slices.IndexFunc(spy.deepest[at:], layer.MatchString)
		if next < 0 {
			t.Fatalf("%s does not follow the layers that doc.go names before it; the stack is\n%s", layer, stack)
		}
		at += next
	}
	if !strings.Contains(stack, "servePresumed") {
		t.Errorf("the caller of the second request is not presumed; the stack is\n%s", stack)
	}
	for _, function := range spy.deepest {
		isLayer := regexp.MustCompile(`^atrium/internal/(server|auth)\b`).MatchString(function) && !strings.Contains(function, "Test") && !strings.Contains(function, "servePresumed")
		if isLayer && !slices.ContainsFunc(layers, func(layer *regexp.Regexp) bool { return layer.MatchString(function) }) {
			t.Errorf("a request passes %s, which doc.go does not name", function)
		}
	}
}

func TestAHandlerOfAPresumedCallerMayRunTwice(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := check(platform.New(t.Context(), storetest.Open(t, url), platform.Options{}))(t)
		operator := core.WithActor(t.Context(), core.NewOperator("test"))
		org := check(p.Groups.Bootstrap(operator, "acme", auth.DevelopmentIssuer, "owner"))(t).Group.UID
		issuer := check(newDevelopmentIssuer())(t)
		verifier := auth.New(auth.Options{Directory: p, Audience: []string{"atrium"}, Development: issuer, Guard: auth.NewGuard(nil), Logger: discardLogger()})
		token := check(issuer.Mint("owner", "atrium", time.Hour, nil))(t)
		runs := 0
		handler := auth.Middleware(verifier, func(_ http.ResponseWriter, _ *http.Request, err error) { t.Error(err) })(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			runs++
			page, err := p.Groups.List(r.Context(), core.ListRequest[*iam.GroupFilter]{})
			if err == nil {
				_, _ = w.Write([]byte(page.Items[0].Name))
			}
		}))
		send := func(wanted int, why string) {
			t.Helper()
			runs = 0
			r, answer := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), httptest.NewRecorder()
			r.Header.Set("Authorization", "Bearer "+token)
			handler.ServeHTTP(answer, r)
			if runs != wanted || answer.Body.String() != "acme" {
				t.Errorf("%s: the handler runs %d times, want %d, and %q is sent", why, runs, wanted, answer.Body)
			}
		}
		send(1, "a new token")
		send(1, "nothing has changed")
		owner := check(verifier.Authorize(t.Context(), []string{"Bearer " + token}))(t)
		identity := check(p.Identities.List(owner, core.ListRequest[*iam.IdentityFilter]{UIDP: core.UIDFilter{DescendantsOf: org}}))(t).Items[0]
		role := check(p.Roles.List(owner, core.ListRequest[*iam.RoleFilter]{Filter: &iam.RoleFilter{Name: "viewer"}}))(t).Items[0]
		_ = check(p.RoleBindings.Create(owner, org, input[*iam.RoleBinding](`{"identityUid":%q,"roleUid":%q}`, identity.UID, role.UID)))(t)
		send(2, "the caller has got a role")
		send(1, "nothing has changed since")
	})
}
