package resolvers

import (
	"context"
	"errors"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// readReferred reads the object that a root field names by its uid or by its path.
func readReferred[V any](ctx context.Context, l *loader[core.UID, V], get func(context.Context, string) (V, error), uid *core.UID, path *string) (none V, _ error) {
	switch {
	case uid != nil && path != nil:
		return none, core.Invalid(fieldmask.Violation{Field: "path", Description: "cannot be given together with uid"})
	case uid != nil && !uid.Valid():
		_, err := l.load(ctx, *uid)
		return none, mentionPath(err)
	case uid != nil:
		return l.load(ctx, *uid)
	case path != nil:
		return get(ctx, *path)
	default:
		return none, core.Invalid(fieldmask.Violation{Field: "uid", Description: "is required, or path"})
	}
}

// mentionPath adds to the violations of an error about a uid that a path names the object too.
func mentionPath(err error) error {
	var e *core.Error
	if !errors.As(err, &e) || len(e.Violations) == 0 {
		return err
	}
	violations := slices.Clone(e.Violations)
	for i := range violations {
		violations[i].Description += "; or give its path"
	}
	return withViolations(violations, e)
}

// readByName reads, for each scope, the one object that matches a filter by name. An
// object is nil if there is none.
func readByName[T, F any](ctx context.Context, read listEach[T, F], scopes []core.UIDFilter, filter F) ([]T, error) {
	pages, errs := read(ctx, core.ListRequest[F]{Filter: filter, PageSize: 1, Parts: core.PartItems}, scopes)
	found := make([]T, len(scopes))
	for i, page := range pages {
		if len(page.Items) > 0 {
			found[i] = page.Items[0]
		}
	}
	return found, joinErrors(errs)
}
