package core

import "context"

// A Collection reads and writes the resources of a kind for the operations of its area. The types of rows and filters
// are pointers (T is *Repo), because Go compiles a generic function once for all
// pointer types, but again for each struct type. (A constraint that includes
// comparable would undo that.)
type Collection[T any, F Filter] struct {
	Core *Core
	Kind *Kind[T]
	// keyFilter returns the filter that finds the row in a group with the unique key of a
	// row. It is nil for a kind without a unique key.
	keyFilter func(row T) F
	Table     Table[T, F]
	// CheckNames returns NOT_FOUND with the field by which a filter names what is not there. The caller may list rows
	// within the UIDs listed. It is nil for a kind whose filter names nothing.
	CheckNames func(ctx context.Context, filter F, listed []UID) error
}

// NewCollection returns the collection of a kind.
func NewCollection[T any, F Filter](core *Core, kind *Kind[T], keyFilter func(T) F, table Table[T, F]) *Collection[T, F] {
	return &Collection[T, F]{Core: core, Kind: kind, keyFilter: keyFilter, Table: table}
}

// Resources returns what the collection offers to callers.
func (r *Collection[T, F]) Resources() Resources[T, F] { return Resources[T, F]{r} }

// Also returns the collection for callers who hold further capabilities where they read.
func (r *Collection[T, F]) Also(capabilities ...Capability) *Collection[T, F] {
	narrowed := *r
	narrowed.Kind = r.Kind.also(capabilities)
	return &narrowed
}

// Resources are the operations on a kind that all areas offer to their callers. The caller is that of the context, and
// what the caller may not see is not there.
type Resources[T any, F Filter] struct{ rows *Collection[T, F] }

// Kind returns the facts about the kind.
func (r Resources[T, F]) Kind() *Kind[T] { return r.rows.Kind }

// Get reads a resource.
func (r Resources[T, F]) Get(ctx context.Context, uid UID) (T, error) { return r.rows.Get(ctx, uid) }

// GetMany reads resources with one read, in the order of uids.
func (r Resources[T, F]) GetMany(ctx context.Context, uids []UID) ([]T, []error) {
	return r.rows.GetMany(ctx, uids)
}

// GetManyWithout is GetMany without fields that are costly to read.
func (r Resources[T, F]) GetManyWithout(ctx context.Context, uids []UID, fields CostlyFields) ([]T, []error) {
	return r.rows.GetManyWithout(ctx, uids, fields)
}

// List reads a page.
func (r Resources[T, F]) List(ctx context.Context, req ListRequest[F]) (Page[T], error) {
	return r.rows.List(ctx, req)
}

// ListEach reads the same page of many scopes, with one read.
func (r Resources[T, F]) ListEach(ctx context.Context, req ListRequest[F], scopes []UIDFilter) ([]Page[T], []error) {
	return r.rows.ListEach(ctx, req, scopes)
}

// CheckReadable fails unless the caller may read a resource, whether or not it exists.
func (r Resources[T, F]) CheckReadable(ctx context.Context, uid UID) error {
	return r.rows.CheckReadable(ctx, uid)
}

// CallerCan reports whether the caller holds all of the capabilities on a resource.
func (r Resources[T, F]) CallerCan(ctx context.Context, row T, capabilities []Capability) bool {
	return r.rows.CallerCan(ctx, row, capabilities)
}

// CallerCapabilities lists what the caller holds on a resource.
func (r Resources[T, F]) CallerCapabilities(ctx context.Context, row T) []Capability {
	return r.rows.CallerCapabilities(ctx, row)
}
