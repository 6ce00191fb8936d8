package platform

import (
	"context"
	"strings"

	"atrium/platform/fieldmask"
)

// A Path identifies a group or a repo by the names of its organisation, of all
// groups above it, and its own: acme/shop/checkout. Only this package can make one.
type Path struct{ names []string }

// maxPathNames limits the names of a path: the maximum depth of groups, and the
// parts of the longest name of a repo.
const maxPathNames = 160

// parsePath parses a path with a minimum number of names.
func parsePath(text string, least int) (Path, error) {
	names := strings.Split(text, "/")
	var v violations
	v.checkFilter("path", text)
	switch {
	case text == "" || len(names) < least || strings.HasPrefix(text, "/") || strings.HasSuffix(text, "/") || strings.Contains(text, "//"):
		v.add("path", "must be the names of the organisation, of all groups on the way and of the resource itself, separated by slashes")
	case len(names) > maxPathNames:
		v.add("path", "must be at most %d names", maxPathNames)
	}
	return Path{names}, v.err()
}

// Names lists the names of the path. The last ones can together be one name,
// because the name of a repo may contain slashes.
func (p Path) Names() []string { return p.names }

// Rest joins everything after the first n names into one name.
func (p Path) Rest(n int) string { return strings.Join(p.names[n:], "/") }

// GetByPath reads the group of a path. It returns NOT_FOUND if the group does not
// exist, or the caller may not see it or a group above it: an answer would confirm the
// names of groups that are hidden from the caller. It returns PERMISSION_DENIED if the
// caller may see no group at all.
func (s Groups) GetByPath(ctx context.Context, path string) (*Group, error) {
	return getByPath(ctx, s.rows, path, 1, s.area.tables.GroupsOfPath)
}

// GetByPath reads the repo of a path, with the same errors. A path can be
// ambiguous, because names of repos may contain slashes. Then it names the repo in
// the deepest group that the caller may see.
func (s Repos) GetByPath(ctx context.Context, path string) (*Repo, error) {
	return getByPath(ctx, s.rows, path, 2, s.area.tables.ReposOfPath)
}

// getByPath reads the deepest visible resource that a path can name. Grants hold for all
// that is below, so who may see the organisation may see every group on the way.
func getByPath[T any, F filter](ctx context.Context, r *Collection[T, F], text string, least int, read func(context.Context, Conn, Path) ([]T, error)) (zero T, _ error) {
	actor, err := requireCaller(ctx)
	if err != nil {
		return zero, err
	}
	path, err := parsePath(text, least)
	if err != nil {
		return zero, r.kind.addArea(err)
	}
	if actor.operator == "" {
		if _, err := actor.scopesWithAll(r.kind.ReadCapabilities()...); err != nil {
			return zero, r.kind.addArea(err)
		}
	}
	rows, err := read(ctx, r.core.store, path)
	if err != nil {
		return zero, err
	}
	deepest, found := zero, false
	for _, row := range rows {
		uid := r.kind.UID(row)
		if actor.Can(CapGroupsList, uid.Root()) && r.kind.readableBy(actor, uid) && (!found || uid.Depth() > r.kind.UID(deepest).Depth()) {
			deepest, found = row, true
		}
	}
	if !found {
		return zero, r.kind.addArea(newNotFound(r.kind.ref(), fieldmask.TruncateForMessage(text)))
	}
	TraceOf(ctx).NoteResource(r.kind.Name, r.kind.UID(deepest))
	return deepest, nil
}
