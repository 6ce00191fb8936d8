package storetest_test

import (
	"fmt"
	"strconv"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
)

func TestOneOfTwoOwnersWhoRemoveEachOtherStays(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		for i := range 15 {
			name := fmt.Sprint("acme ", i)
			ctx, org := w.createOrganization(name)
			root := org.Group.UID
			second := w.bind(ctx, root, w.identity(ctx, root, "second of "+name), iam.OwnerRole)
			other := w.contextAs("second of " + name)
			errs := runAtOnce(2, func(n int) error {
				who, victim := ctx, second
				if n == 1 {
					who, victim = other, org.Binding.UID
				}
				if i%2 == 0 {
					return replicas[n].RoleBindings.Delete(who, victim)
				}
				_, err := replicas[n].RoleBindings.Update(who, victim, input[*iam.RoleBinding](fmt.Sprintf(`{"roleUid": %q}`, iam.ViewerRole)))
				return err
			})
			if errs[0] == nil && errs[1] == nil {
				t.Error("both removed each other")
			}
			for _, err := range errs {
				if err == nil {
					continue
				}
				// The second caller is no longer an owner, or is the last one.
				if code := core.AsError(err).Code; code != core.CodePermissionDenied {
					expectError(t, err, core.CodeFailedPrecondition, "LAST_OWNER")
				}
			}
			owners := w.query(w.openDirect(), "SELECT COUNT(*) FROM role_binding WHERE parent = $1 AND role = $2", pack(root), pack(iam.OwnerRole))[0][0]
			if owners != "1" {
				t.Errorf("%s owners are left, want 1 (%v)", owners, errs)
			}
		}
	})
}

// A caller who loses a role must not grant anything afterwards, even if both happen
// almost at the same time.
func TestGrantedCapabilitiesAreHeldWhenTheTransactionCommits(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		ctx, org := w.createOrganization("acme")
		root := org.Group.UID
		both := 0
		for i := range 25 {
			subject := fmt.Sprint("deputy ", i)
			held := w.bind(ctx, root, w.identity(ctx, root, subject), iam.OwnerRole)
			friend := w.identity(ctx, root, "friend of "+subject)
			role := must[*iam.Role](t)(w.p.Roles.Create(ctx, root, input[*iam.Role](fmt.Sprintf(`{"name": "r%d"}`, i)))).UID
			deputy := w.contextAs(subject)
			var given core.UID
			errs := runAtOnce(3, func(n int) (err error) {
				switch p := replicas[n%2]; n {
				case 0:
					err = p.RoleBindings.Delete(ctx, held)
				case 1:
					var b *iam.RoleBinding
					if b, err = p.RoleBindings.Create(deputy, root, bindInput(friend, iam.OwnerRole)); err == nil {
						given = b.UID
					}
				default:
					_, err = p.Roles.Update(deputy, role, input[*iam.Role](`{"capabilities": ["groups.delete"]}`))
				}
				return err
			})
			if errs[0] != nil {
				t.Fatal(errs[0])
			}
			for n, handed := range map[int]core.UID{1: given, 2: role} {
				if errs[n] != nil {
					expectError(t, errs[n], core.CodePermissionDenied, "")
					continue
				}
				both++
				if w.sequence(handed, "created", "updated") > w.sequence(held, "deleted") {
					t.Errorf("round %d: %s was handed out after %s was taken away", i, handed, held)
				}
			}
		}
		t.Logf("%d of 50 were handed out first", both)
	})
}

// sequence returns the position of the last event of one of the verbs about a subject.
// Transactions that lock the same root record one after the other.
func (w *world) sequence(subject core.UID, verbs ...string) (last int) {
	w.t.Helper()
	for _, verb := range verbs {
		for _, row := range w.query(w.openDirect(), "SELECT seq FROM event WHERE subject = '"+string(subject)+"' AND type LIKE '%."+verb+".%'") {
			last = max(last, must[int](w.t)(strconv.Atoi(row[0])))
		}
	}
	return last
}
