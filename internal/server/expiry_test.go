package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// now reads the clock that decides when a binding expires.
func (w *replicas) now(t *testing.T) core.Time {
	t.Helper()
	return check(w.store.Now(t.Context()))(t)
}

// bindUntil binds alice's role until a time.
func (w *replicas) bindUntil(t *testing.T, end core.Time) core.UID {
	t.Helper()
	return check(w.p.RoleBindings.Create(w.operator, w.org, input[*iam.RoleBinding](`{"identityUid":%q,"roleUid":%q,"expireTime":%q}`, w.alice, w.role, end)))(t).UID
}

// expectUntil asks again and again until alice may no longer read the repo. No answer that
// begins at the end of the binding or later may show it, and none that ends before may hide it.
func (w *replicas) expectUntil(t *testing.T, what string, end core.Time, shows func() bool) {
	t.Helper()
	for {
		before := w.now(t)
		shown := shows()
		after := w.now(t)
		switch {
		case shown && !before.Before(end.Time):
			t.Errorf("%s shows the repo at %s, after the binding has expired at %s", what, before, end)
			return
		case !shown && after.Before(end.Time):
			t.Errorf("%s hides the repo at %s, before the binding expires at %s", what, after, end)
			return
		case !shown:
			return
		}
	}
}

// The attack is a caller whose binding has expired: no process has removed it, and nothing has
// changed in the database. The caller was seen by every replica in every protocol, so requests
// compare versions only, and has opened websockets before.
func TestABindingThatHasExpiredGivesNothing(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newReplicas(t, url, "acme", func(p *platform.Platform) auth.Directory { return p })
		hour := core.At(w.now(t).Add(time.Hour))
		binding := w.bindUntil(t, hour)
		query := fmt.Sprintf(`{ repos(within: %q, directOnly: true) { nodes { name } } }`, w.org)
		ways := map[string]func() bool{}
		for name, inMessage := range map[string]bool{"a websocket with its token in a message": true, "a websocket with its token in the request": false} {
			c := w.openWebsocket(t, inMessage)
			ways[name] = func() bool { return strings.Contains(c.ask(t, query), "secret-repo") }
		}
		for replica := range w.handlers {
			for i, r := range w.requests() {
				ways[fmt.Sprintf("replica %d, %s %s (%d)", replica, r.Method, r.URL.Path, i)] = func() bool { return w.ask(t, replica, w.requests()[i]) }
			}
		}
		setEnd := func(end core.Time) {
			check(w.p.RoleBindings.Update(w.operator, binding, input[*iam.RoleBinding](`{"expireTime":%q}`, end)))(t)
		}
		expect := func(when string, want bool) {
			for name, shows := range ways {
				for range 3 { // From the third request on, only versions are compared.
					if shows() != want {
						t.Errorf("%s, %s, shows the repo: %t, want %t", name, when, !want, want)
					}
				}
			}
		}
		expect("before the binding expires", true)

		// The processes know the end, so it has to come. Each way is asked before and after.
		end := core.At(w.now(t).Add(time.Second))
		setEnd(end)
		for range 3 {
			for _, shows := range ways {
				shows()
			}
		}
		for name, shows := range ways {
			w.expectUntil(t, name, end, shows)
		}
		if _, err := w.p.RoleBindings.Get(w.operator, binding); err != nil {
			t.Errorf("the binding is gone (%v): this test shows nothing of the statement", err)
		}

		setEnd(hour)
		expect("after the binding got another end", true)
	})
}
