package platform

import (
	"context"
	"strings"
)

// A Path names a group or a repo by names, those of its organisation and of all
// groups on the way to it, as in the address of a page: acme/shop/checkout. Only
// this package can make one.
type Path struct{ names []string }

// maxPathNames bounds a path: as many groups as there can be above each other,
// and the parts of the longest name of a repo.
const maxPathNames = 160

// parsePath reads a path of at least some names.
func parsePath(text string, least int) (Path, error) {
	names := strings.Split(text, "/")
	var v violations
	v.filter("path", text)
	switch {
	case text == "" || len(names) < least || strings.HasPrefix(text, "/") || strings.HasSuffix(text, "/") || strings.Contains(text, "//"):
		v.add("path", "must be the names of all groups on the way, the organisation's first, and then its own, with a slash between them")
	case len(names) > maxPathNames:
		v.add("path", "must be at most %d names", maxPathNames)
	}
	return Path{names}, v.err()
}

// Names lists the names of the path. Since the name of a repo may hold slashes,
// the last several of them can be one name.
func (p Path) Names() []string { return p.names }

// Rest is what follows the first n names, as one name.
func (p Path) Rest(n int) string { return strings.Join(p.names[n:], "/") }

// GetByPath reads the group of a path. What the caller may not see is not told
// from what is not there: both are NOT_FOUND. PERMISSION_DENIED for who may see
// no group at all.
func (s Groups) GetByPath(ctx context.Context, path string) (*Group, error) {
	return byPath(ctx, s.resources, path, 1, s.p.store.GroupsOfPath)
}

// GetByPath reads the repo of a path, in the same way. Where a path can be read
// in several ways, since names of repos may hold slashes, it leads to the repo
// in the deepest group of those that the caller may see.
func (s Repos) GetByPath(ctx context.Context, path string) (*Repo, error) {
	return byPath(ctx, s.resources, path, 2, s.p.store.ReposOfPath)
}

// byPath reads the deepest resource that a path of at least some names leads to.
func byPath[T any, F filter](ctx context.Context, r resources[T, F], text string, least int, read func(context.Context, Path) ([]*T, error)) (*T, error) {
	actor, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	path, err := parsePath(text, least)
	if err != nil {
		return nil, r.kind.in(err)
	}
	if actor.operator == "" && len(actor.scopes(r.kind.List)) == 0 {
		return nil, r.kind.in(actor.lacks(r.kind.List, ""))
	}
	rows, err := read(ctx, path)
	if err != nil {
		return nil, err
	}
	var deepest *T
	for _, row := range rows {
		uid := r.kind.UID(row)
		if r.kind.readableBy(actor, uid) && (deepest == nil || uid.Depth() > r.kind.UID(deepest).Depth()) {
			deepest = row
		}
	}
	if deepest == nil {
		return nil, r.kind.in(missing(r.kind.Name, UID(shown(text))))
	}
	TraceOf(ctx).NoteResource(r.kind.Name, r.kind.UID(deepest))
	return deepest, nil
}
