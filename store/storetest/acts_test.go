package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// These functions are short forms of common steps.

func input[T any](body string, mask ...string) fieldmask.Input[T] {
	return fieldmask.JSONInput[T]([]byte(body), mask)
}

// must returns a function that expects success and returns the result.
func must[T any](t testing.TB) func(T, error) T {
	return func(result T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
}

func (w *world) group(ctx context.Context, parent core.UID, name string) core.UID {
	w.t.Helper()
	return must[*iam.Group](w.t)(w.p.Groups.Create(ctx, parent, input[*iam.Group](fmt.Sprintf(`{"name": %q}`, name)))).UID
}

func (w *world) repo(ctx context.Context, parent core.UID, name string) core.UID {
	w.t.Helper()
	return must[*inventory.Repo](w.t)(w.p.Repos.Create(ctx, parent, input[*inventory.Repo](fmt.Sprintf(`{"name": %q}`, name)))).UID
}

func tagInput(name, digest string) fieldmask.Input[*inventory.Tag] {
	return input[*inventory.Tag](fmt.Sprintf(`{"name": %q, "digest": %q}`, name, digest))
}

// identity creates an identity for the token of subject.
func (w *world) identity(ctx context.Context, parent core.UID, subject string) core.UID {
	w.t.Helper()
	body := fmt.Sprintf(`{"name": "someone", "claimMatch": {"issuer": %q, "subject": %q}}`, issuer, subject)
	return must[*iam.Identity](w.t)(w.p.Identities.Create(ctx, parent, input[*iam.Identity](body))).UID
}

func bindInput(identity, role core.UID) fieldmask.Input[*iam.RoleBinding] {
	return input[*iam.RoleBinding](fmt.Sprintf(`{"identityUid": %q, "roleUid": %q}`, identity, role))
}

func (w *world) bind(ctx context.Context, group, identity, role core.UID) core.UID {
	w.t.Helper()
	return must[*iam.RoleBinding](w.t)(w.p.RoleBindings.Create(ctx, group, bindInput(identity, role))).UID
}

// expectError expects an error with a code that names a resource or a violation; about
// may be "".
func expectError(t testing.TB, err error, code core.Code, about string) {
	t.Helper()
	var e *core.Error
	switch {
	case !errors.As(err, &e) || e.Code != code:
		t.Errorf("got %v, want %v", err, code)
	case e.Resource != nil && e.Resource.Name != about:
		t.Errorf("got %v about %q, want it about %q", code, e.Resource.Name, about)
	case len(e.Preconditions) > 0 && e.Preconditions[0].Type != about:
		t.Errorf("got %v because of %s, want %s", code, e.Preconditions[0].Type, about)
	}
}

// recordedTypes lists the stored events, as type and subject.
func (w *world) recordedTypes() []string {
	w.t.Helper()
	var events []string
	for _, row := range w.query(w.openDirect(), "SELECT type, subject FROM event ORDER BY xact, seq") {
		events = append(events, row[0]+" "+row[1])
	}
	return events
}
