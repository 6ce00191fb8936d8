package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"atrium/platform"
	"atrium/platform/fieldmask"
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

func (w *world) group(ctx context.Context, parent platform.UID, name string) platform.UID {
	w.t.Helper()
	return must[*platform.Group](w.t)(w.p.Groups.Create(ctx, parent, input[*platform.Group](fmt.Sprintf(`{"name": %q}`, name)))).UID
}

func (w *world) repo(ctx context.Context, parent platform.UID, name string) platform.UID {
	w.t.Helper()
	return must[*platform.Repo](w.t)(w.p.Repos.Create(ctx, parent, input[*platform.Repo](fmt.Sprintf(`{"name": %q}`, name)))).UID
}

func tagInput(name, digest string) fieldmask.Input[*platform.Tag] {
	return input[*platform.Tag](fmt.Sprintf(`{"name": %q, "digest": %q}`, name, digest))
}

// identity creates an identity for the token of subject.
func (w *world) identity(ctx context.Context, parent platform.UID, subject string) platform.UID {
	w.t.Helper()
	body := fmt.Sprintf(`{"name": "someone", "claimMatch": {"issuer": %q, "subject": %q}}`, issuer, subject)
	return must[*platform.Identity](w.t)(w.p.Identities.Create(ctx, parent, input[*platform.Identity](body))).UID
}

func bindInput(identity, role platform.UID) fieldmask.Input[*platform.RoleBinding] {
	return input[*platform.RoleBinding](fmt.Sprintf(`{"identityUid": %q, "roleUid": %q}`, identity, role))
}

func (w *world) bind(ctx context.Context, group, identity, role platform.UID) platform.UID {
	w.t.Helper()
	return must[*platform.RoleBinding](w.t)(w.p.RoleBindings.Create(ctx, group, bindInput(identity, role))).UID
}

// expectError expects an error with a code that names a resource or a violation; about
// may be "".
func expectError(t testing.TB, err error, code platform.Code, about string) {
	t.Helper()
	var e *platform.Error
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
