package core

import (
	"context"
	"strings"

	"atrium/platform/fieldmask"
)

// A Path identifies a group or a repo by the names of its organization, of all
// groups above it, and its own: acme/shop/checkout. Only this package can make one.
type Path struct{ names []string }

// maxPathNames limits the names of a path: the maximum depth of groups, and the
// parts of the longest name of a repo.
const maxPathNames = 160

// parsePath parses a path with a minimum number of names.
func parsePath(text string, least int) (Path, error) {
	names := strings.Split(text, "/")
	var v Violations
	v.CheckFilter("path", text)
	switch {
	case text == "" || len(names) < least || strings.HasPrefix(text, "/") || strings.HasSuffix(text, "/") || strings.Contains(text, "//"):
		v.Add("path", "must be the names of the organization, of all groups on the way and of the resource itself, separated by slashes")
	case len(names) > maxPathNames:
		v.Add("path", "must have at most %d names", maxPathNames)
	}
	return Path{names}, v.Err()
}

// Names lists the names of the path. The last ones can together be one name,
// because the name of a repo may contain slashes.
func (p Path) Names() []string { return p.names }

// Rest joins everything after the first n names into one name.
func (p Path) Rest(n int) string { return strings.Join(p.names[n:], "/") }

// GetByPath reads the deepest visible resource that a path can name. Grants hold for all
// that is below, so who may see the organization may see every group on the way.
func GetByPath[T any, F Filter](ctx context.Context, r *Collection[T, F], text string, least int, read func(context.Context, Conn, Path) ([]T, error)) (zero T, _ error) {
	actor, err := RequireCaller(ctx)
	if err != nil {
		return zero, err
	}
	path, err := parsePath(text, least)
	if err != nil {
		return zero, r.Kind.AddArea(err)
	}
	if actor.Operator == "" {
		if _, err := actor.ScopesWithAll(r.Kind.ReadCapabilities()...); err != nil {
			return zero, r.Kind.AddArea(err)
		}
	}
	rows, err := read(ctx, r.Core.Store, path)
	if err != nil {
		return zero, err
	}
	deepest, found := zero, false
	for _, row := range rows {
		uid := r.Kind.UID(row)
		if actor.Can(CapGroupsList, uid.Root()) && r.Kind.ReadableBy(actor, uid) && (!found || uid.Depth() > r.Kind.UID(deepest).Depth()) {
			deepest, found = row, true
		}
	}
	if !found {
		return zero, r.Kind.AddArea(NewNotFound(r.Kind.Ref(), fieldmask.TruncateForMessage(text)))
	}
	TraceOf(ctx).NoteResource(r.Kind.Name, r.Kind.UID(deepest))
	return deepest, nil
}
