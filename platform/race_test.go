package platform_test

import (
	"errors"
	"sync"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// runBoth runs two operations concurrently.
func runBoth(a, b func() error) (errA, errB error) {
	var running sync.WaitGroup
	running.Go(func() { errA = a() })
	running.Go(func() { errB = b() })
	running.Wait()
	return errA, errB
}

func isCode(err error, code core.Code) bool { return errors.Is(err, &core.Error{Code: code}) }

func TestABindingAndTheDeletionOfItsTargetNeverBothSucceed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		for range 25 {
			identity, role := w.member(acme.uid, w.name()), w.role(team)
			bind := func() error {
				_, err := w.p.RoleBindings.Create(acme.owner, team, binding(identity, role))
				return err
			}
			remove := func() error { return w.p.Identities.Delete(acme.owner, identity) }
			gone := "Identity"
			if w.named.Add(1)%2 == 0 {
				remove, gone = func() error { return w.p.Roles.Delete(acme.owner, role) }, "Role"
			}
			bound, removed := runBoth(bind, remove)
			var e *core.Error
			switch {
			case bound == nil && isCode(removed, core.CodeFailedPrecondition):
			case removed == nil && errors.As(bound, &e) && e.Code == core.CodeNotFound && e.Resource.Kind == gone:
			default:
				t.Errorf("binding: %v, deleting what it binds: %v", bound, removed)
			}
		}
	})
}

func TestOneOfTwoOwnersWhoLeaveConcurrentlyStays(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		first, second := acme.Binding.UID, core.UID("")
		for range 15 {
			second = w.bind(acme.uid, w.member(acme.uid, w.name()), iam.OwnerRole)
			a, b := runBoth(func() error { return w.p.RoleBindings.Delete(w.operator(), first) }, func() error { return w.p.RoleBindings.Delete(w.operator(), second) })
			switch {
			case a == nil && isCode(b, core.CodeFailedPrecondition):
				first = second
			case b == nil && isCode(a, core.CodeFailedPrecondition):
			default:
				t.Fatalf("%v and %v", a, b)
			}
		}
	})
}

func TestAConcurrentRevocationLimitsAGrant(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for range 15 {
			subject := w.name()
			held := w.bind(acme.uid, w.member(acme.uid, subject), iam.OwnerRole)
			friend := w.member(acme.uid, w.name())
			ctx := w.as(subject)
			handed, revoked := runBoth(func() error {
				_, err := w.p.RoleBindings.Create(ctx, acme.uid, binding(friend, iam.ViewerRole))
				return err
			}, func() error { return w.p.RoleBindings.Delete(acme.owner, held) })
			if revoked != nil || handed != nil && !isCode(handed, core.CodePermissionDenied) {
				t.Errorf("%v and %v", handed, revoked)
			}
		}
	})
}

// A tag that is created during its deletion may exist afterwards or not, but its creation
// must return a tag.
func TestATagThatIsDeletedConcurrentlyIsCreatedAgain(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		put := func() error {
			_, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": "t", "digest": %q}`, digest(int(w.named.Add(1)))))
			return err
		}
		for range 25 {
			must(t, put())
			page, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo}})
			must(t, err)
			made, removed := runBoth(put, func() error { return w.p.Tags.Delete(acme.owner, page.Items[0].UID) })
			if made != nil || removed != nil {
				t.Errorf("made: %v, removed: %v", made, removed)
			}
		}
		w.checkCounters()
	})
}
