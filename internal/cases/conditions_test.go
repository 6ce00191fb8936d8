package cases

import (
	"testing"

	"atrium/platform/core"
	"atrium/store/storetest"
)

// Conditions of changes hold for every kind, in every protocol and on both engines.
func TestEveryKindHeedsConditionsInEveryProtocol(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		tried := 0
		for _, k := range kinds {
			if !k.has(w, "Create") || !k.has(w, "Delete") || !k.has(w, "Get") {
				continue
			}
			tried++
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				in := w.newEnv(t)
				for _, p := range w.protocols {
					t.Run(p.name(), func(t *testing.T) {
						e := in.forTest(t)
						e.checkCreation(k, p)
						e.checkChanges(k, p)
					})
				}
			})
		}
		if tried < 11 {
			t.Errorf("%d kinds were tried: this test shows nothing", tried)
		}
	})
}

// isSecret reports whether only the answer to a creation has a secret.
func (k *kind) isSecret() bool { return k.name == "GroupInvite" || k.name == "Subscription" }

// checkCreation checks validateOnly and keys of a creation.
func (e *env) checkCreation(k *kind, p protocol) {
	e.Helper()
	create := e.fillCall(call{rpc: "Create" + k.name, target: k.in, fields: k.minimal})
	checked := create
	checked.validateOnly = true
	got := p.do(e.token, checked)
	if hasNoPart := p.name() == "graphql" && got.failure != nil && got.failure.code == core.CodeNotFound; got.failure != nil && !hasNoPart { // what is not stored has no readme
		e.Fatalf("%s: %s", checked.rpc, got.raw)
	}
	if read := p.do(e.token, call{rpc: "Get" + k.name, target: keyOf(got.resource)}); got.resource != nil && !k.sharesUID && (read.failure == nil || read.failure.code != core.CodeNotFound) {
		e.Errorf("a creation that was only checked is stored: %s", read.raw)
	}
	keyed := create
	keyed.key = e.text("key {n}")
	if k.isSecret() {
		if refused := p.do(e.token, keyed); refused.failure == nil || refused.failure.code != core.CodeInvalidArgument {
			e.Errorf("a key keeps a secret: %s", refused.raw)
		}
		return
	}
	made, again := e.succeed(p, keyed), e.succeed(p, keyed)
	if !matches(again.resource, made.resource) {
		e.Errorf("the repetition of a creation answers %s, want %s", asJSON(again.resource), asJSON(made.resource))
	}
	other := e.fillCall(call{rpc: keyed.rpc, target: keyed.target, fields: k.full, key: keyed.key})
	if reused := p.do(e.token, other); reused.failure == nil || reused.failure.reason != core.ReasonIdempotencyKeyReused {
		e.Errorf("another creation with the same key: %s", reused.raw)
	}
	e.succeed(p, call{rpc: "Delete" + k.name, target: keyOf(made.resource)})
}

// checkChanges checks If-Match and validateOnly of updates and deletions.
func (e *env) checkChanges(k *kind, p protocol) {
	e.Helper()
	uid := e.text("{full " + k.ref + "}")
	read := func() string {
		e.Helper()
		got := e.succeed(p, call{rpc: "Get" + k.name, target: uid, readsETag: true})
		if len(got.etag) < 10 {
			e.Errorf("the ETag is %q", got.etag)
		}
		return got.etag
	}
	refused := func(c call) {
		e.Helper()
		if got := p.do(e.token, c); got.failure == nil || got.failure.reason != core.ReasonETagMismatch || got.failure.code != core.CodeAborted || got.failure.scope != uid {
			e.Errorf("%s after a change: %s", c.rpc, got.raw)
		}
	}
	first := read()
	if k.has(e.w, "Update") {
		update := e.fillCall(call{rpc: "Update" + k.name, target: uid, fields: fields{k.changes[0].field: k.changes[0].to}})
		checked := update
		checked.validateOnly = true
		e.succeed(p, checked)
		if now := read(); now != first {
			e.Errorf("an update that was only checked has changed the ETag %s to %s", first, now)
		}
		update.ifMatch = first
		if got := e.succeed(p, update); p.name() != "graphql" && got.etag != read() {
			e.Errorf("the update answers the ETag %s, and a read %s", got.etag, read())
		}
		refused(update)
		refused(call{rpc: "Delete" + k.name, target: uid, ifMatch: first})
	}
	refused(call{rpc: "Delete" + k.name, target: uid, ifMatch: `"other"`})
	e.succeed(p, call{rpc: "Delete" + k.name, target: uid, ifMatch: read(), validateOnly: true})
	e.succeed(p, call{rpc: "Delete" + k.name, target: uid, ifMatch: read()})
}

// succeed makes a call that must succeed, by a protocol.
func (e *env) succeed(p protocol, c call) answer {
	e.Helper()
	got := p.do(e.token, c)
	if got.failure != nil || got.brokenRule != "" {
		e.Fatalf("%s of %s: %s %s", c.rpc, c.target, got.raw, got.brokenRule)
	}
	return got
}
