package platform_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // This is the driver for plain SQL.

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

const issuer = "https://issuer.example.com"

// epoch is the time at the beginning of each test.
var epoch = time.Date(2026, 3, 27, 13, 55, 0, 785e6, time.UTC)

// A world is a platform on its own database. Its clock advances by a millisecond with
// each reading.
type world struct {
	testing.TB
	url   string
	store *sqlstore.Store
	p     *platform.Platform
	clock atomic.Int64 // The clock is this number of milliseconds after epoch.
	named atomic.Int64

	opening sync.Once
	beside  *sql.DB
}

// onEachEngine runs test on every engine with an empty world.
func onEachEngine(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := &world{TB: t, url: url, store: storetest.Open(t, url)}
		w.p = w.replica(w.store, platform.Options{AllowIssuers: true})
		test(t, w)
	})
}

// replica returns another platform on the same data.
func (w *world) replica(s platform.Store, o platform.Options) *platform.Platform {
	w.Helper()
	if o.Clock == nil {
		o.Clock = w.now
	}
	if o.TestPatience == 0 {
		o.TestPatience = time.Nanosecond // nobody delivers
	}
	p, err := platform.New(w.Context(), sharedClock{s, w.now}, o)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// now reads the clock.
func (w *world) now() time.Time {
	return epoch.Add(time.Duration(w.clock.Add(1)) * time.Millisecond)
}

// A sharedClock is a store whose clock is that of a world, on every engine.
type sharedClock struct {
	platform.Store
	now func() time.Time
}

func (s sharedClock) Now(context.Context) (core.Time, error) { return core.At(s.now()), nil }

func (s sharedClock) Write(ctx context.Context, unit func(core.Tx) error) error {
	return s.Store.Write(ctx, func(tx core.Tx) error { return unit(sharedClockTx{tx, s}) })
}

type sharedClockTx struct {
	core.Tx
	clock sharedClock
}

func (tx sharedClockTx) Now(ctx context.Context) (core.Time, error) { return tx.clock.Now(ctx) }

// pass advances the clock.
func (w *world) pass(d time.Duration) { w.clock.Add(d.Milliseconds()) }

// name returns a unique name.
func (w *world) name() string { return fmt.Sprintf("n%d", w.named.Add(1)) }

// operator returns the context of a command of the operator.
func (w *world) operator() context.Context {
	return core.WithActor(w.Context(), core.NewOperator("test"))
}

// An org is an organization with the context of its owner.
type org struct {
	iam.Organization
	uid   core.UID
	owner context.Context
}

// found creates an organization.
func (w *world) found(name string) org {
	w.Helper()
	made, err := w.p.Groups.Bootstrap(w.operator(), name, issuer, "owner of "+name)
	must(w, err)
	return org{*made, made.Group.UID, w.as("owner of " + name)}
}

// as returns the context of a request with a token of subject.
func (w *world) as(subject string) context.Context {
	w.Helper()
	actor, err := w.p.Authenticate(w.Context(), iam.Claims{Issuer: issuer, Subject: subject, ServiceAudience: true})
	must(w, err)
	return core.WithActor(w.Context(), actor)
}

// member creates an identity for tokens whose subject is also its name.
func (w *world) member(group core.UID, subject string) core.UID {
	w.Helper()
	made, err := w.p.Identities.Create(w.operator(), group, fieldmask.TypedInput(&iam.Identity{
		Name: w.name(), ClaimMatch: &iam.ClaimMatch{Issuer: issuer, Subject: subject},
	}, "name", "claimMatch"))
	must(w, err)
	return made.UID
}

// bind creates a role binding.
func (w *world) bind(group, identity, role core.UID) core.UID {
	w.Helper()
	made, err := w.p.RoleBindings.Create(w.operator(), group, binding(identity, role))
	must(w, err)
	return made.UID
}

func binding(identity, role core.UID) fieldmask.Input[*iam.RoleBinding] {
	return fieldmask.TypedInput(&iam.RoleBinding{IdentityUID: identity, RoleUID: role}, "identityUid", "roleUid")
}

// memberWith creates an identity in home that has a role on group. It returns the context of
// its requests.
func (w *world) memberWith(role, group, home core.UID) context.Context {
	w.Helper()
	subject := w.name()
	w.bind(group, w.member(home, subject), role)
	return w.as(subject)
}

func (w *world) group(parent core.UID) core.UID {
	w.Helper()
	made, err := w.p.Groups.Create(w.operator(), parent, body[*iam.Group](`{"name": %q}`, w.name()))
	must(w, err)
	return made.UID
}

func (w *world) repo(group core.UID) core.UID {
	w.Helper()
	made, err := w.p.Repos.Create(w.operator(), group, body[*inventory.Repo](`{"name": %q}`, w.name()))
	must(w, err)
	return made.UID
}

func (w *world) role(group core.UID, capabilities ...core.Capability) core.UID {
	w.Helper()
	if capabilities == nil {
		capabilities = []core.Capability{}
	}
	list, _ := json.Marshal(capabilities)
	made, err := w.p.Roles.Create(w.operator(), group, body[*iam.Role](`{"name": %q, "capabilities": %s}`, w.name(), list))
	must(w, err)
	return made.UID
}

func (w *world) tag(repo core.UID) core.UID {
	w.Helper()
	made, err := w.p.Tags.Create(w.operator(), repo, body[*inventory.Tag](`{"name": %q, "digest": %q}`, w.name(), digest(1)))
	must(w, err)
	return made.UID
}

func (w *world) subscription(group core.UID) core.UID {
	w.Helper()
	made, err := w.p.Subscriptions.Create(w.operator(), group, body[*webhooks.Subscription](`{"sink": "https://%s.example.com/"}`, w.name()))
	must(w, err)
	return made.UID
}

// body returns an input in JSON.
func body[T any](format string, args ...any) fieldmask.Input[T] {
	return fieldmask.JSONInput[T](fmt.Appendf(nil, format, args...), nil)
}

// inputWithMask returns an input in JSON with a mask.
func inputWithMask[T any](body string, mask ...string) fieldmask.Input[T] {
	return fieldmask.JSONInput[T]([]byte(body), mask)
}

func digest(n int) string { return fmt.Sprintf("sha256:%064x", n) }

// missingBelow returns a UID that no resource has.
func missingBelow(parent core.UID) core.UID { return parent + "/00000000000000ff" }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expectRefused expects an error with a code. An optional reason narrows a
// PERMISSION_DENIED; an optional type narrows a FAILED_PRECONDITION.
func expectRefused(t testing.TB, what string, err error, code core.Code, narrower ...string) {
	t.Helper()
	_ = refusal(t, what, err, code, narrower...)
}

// refusal is like expectRefused, and returns the error.
func refusal(t testing.TB, what string, err error, code core.Code, narrower ...string) *core.Error {
	t.Helper()
	var e *core.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%s: got %v, want %s", what, err, code)
		return &core.Error{Resource: &core.ResourceInfo{}}
	}
	found := e.Reason
	if len(e.Preconditions) > 0 {
		found = e.Preconditions[0].Type
	}
	if len(narrower) > 0 && found != narrower[0] {
		t.Errorf("%s: %s because of %s, want %s: %v", what, code, found, narrower[0], err)
	}
	return e
}

// violationFields returns the fields that an error names as invalid.
func violationFields(err error) string {
	var e *core.Error
	if !errors.As(err, &e) || len(e.Violations) == 0 {
		return fmt.Sprintf("no violation but %v", err)
	}
	fields := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		fields[i] = v.Field
	}
	return strings.Join(fields, " ")
}

// raw opens the database without the store, with few connections.
func (w *world) raw() *sql.DB {
	w.Helper()
	w.opening.Do(func() {
		driver, name := "pgx", storetest.Direct(w.url)
		if path, ok := strings.CutPrefix(w.url, "sqlite:"); ok {
			driver, name = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
		}
		db, err := sql.Open(driver, name)
		must(w, err)
		db.SetMaxOpenConns(4)
		w.Cleanup(func() { _ = db.Close() })
		w.beside = db
	})
	return w.beside
}

// An event is a row of the event table.
type event struct {
	id, kind       string // kind is the type of the event without prefix and version.
	subject, group core.UID
	actor          core.EventActor
	body           string
	denied         string
	count          int // This counts equal denials.
}

// events reads the changes in the event table without the store, beginning with the
// oldest.
func (w *world) events() []event { w.Helper(); return w.readEvents("denied = ''") }

// denials reads the denials.
func (w *world) denials() []event { w.Helper(); return w.readEvents("denied <> ''") }

func (w *world) readEvents(where string) []event {
	w.Helper()
	rows, err := w.raw().QueryContext(w.Context(), "SELECT id, type, root, subject, grp, actor, body, denied, times FROM event WHERE "+where+" ORDER BY seq")
	must(w, err)
	defer rows.Close()
	var all []event
	for rows.Next() {
		var e event
		var kind, root, actor string
		must(w, rows.Scan(&e.id, &kind, &root, &e.subject, &e.group, &actor, &e.body, &e.denied, &e.count))
		must(w, json.Unmarshal([]byte(actor), &e.actor))
		e.kind = strings.TrimSuffix(strings.TrimPrefix(kind, "dev.atrium.api."), ".v1")
		if kind != "dev.atrium.api."+e.kind+".v1" || string(e.subject.Root()) != root {
			w.Errorf("event %s has type %s, root %s and subject %s", e.id, kind, root, e.subject)
		}
		all = append(all, e)
	}
	must(w, rows.Err())
	return all
}

// types lists the types of events.
func types(events []event) string {
	kinds := make([]string, len(events))
	for i, e := range events {
		kinds[i] = e.kind
	}
	return strings.Join(kinds, " ")
}

// checkCounters expects that every counter is correct.
func (w *world) checkCounters() {
	w.Helper()
	if wrong, err := w.store.Recount(w.Context()); err != nil || wrong != 0 {
		w.Errorf("%d counters are wrong (%v), want 0", wrong, err)
	}
}

// deleteOnlyBinding deletes the binding of a group that has one.
func deleteOnlyBinding(ctx context.Context, w *world, group core.UID) error {
	w.Helper()
	page, err := w.p.RoleBindings.List(ctx, core.ListRequest[*iam.RoleBindingFilter]{UIDP: core.UIDFilter{ChildrenOf: group}})
	must(w, err)
	if len(page.Items) != 1 {
		w.Fatalf("%d bindings, want 1 items", len(page.Items))
	}
	return w.p.RoleBindings.Delete(ctx, page.Items[0].UID)
}
