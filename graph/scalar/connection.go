package scalar

import (
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/inventory"
)

// A Connection represents a page of the core in GraphQL.
type Connection[T any] struct{ page core.Page[T] }

// NewConnection returns the connection of a page.
func NewConnection[T any](page core.Page[T]) *Connection[T] { return &Connection[T]{page} }

// NewConnections returns the connections of pages, in their order.
func NewConnections[T any](pages []core.Page[T]) []*Connection[T] {
	made, all := make([]Connection[T], len(pages)), make([]*Connection[T], len(pages))
	for i, page := range pages {
		made[i].page, all[i] = page, &made[i]
	}
	return all
}

// Page returns the page.
func (c *Connection[T]) Page() core.Page[T] { return c.page }

// Edges returns the items of the page with their cursors.
func (c *Connection[T]) Edges() []Edge[T] {
	edges := make([]Edge[T], len(c.page.Items))
	for i, item := range c.page.Items {
		edges[i] = Edge[T]{Node: item, connection: c, i: i}
	}
	return edges
}

// Nodes returns the items of the page.
func (c *Connection[T]) Nodes() []T { return c.page.Items }

// PageInfo returns the position of the page in its list.
func (c *Connection[T]) PageInfo() *PageInfo {
	info := &PageInfo{HasNextPage: c.page.HasNext, HasPreviousPage: c.page.HasPrevious}
	if n := len(c.page.Items); n > 0 {
		info.start = func() string { return c.page.Cursor(0) }
		info.end = func() string { return c.page.Cursor(n - 1) }
	}
	return info
}

// TotalCount returns the number of items on all pages.
func (c *Connection[T]) TotalCount() int64 { return c.page.TotalCount }

// Skipped returns the number of skipped items, as requested.
func (c *Connection[T]) Skipped() int { return c.page.Skipped }

// An Edge is one item of a page.
type Edge[T any] struct {
	Node T

	connection *Connection[T] // the page that contains the item
	i          int
	cursor     func() string // returns the cursor, if there is no page
}

// NewEdge returns the edge of an item. cursor is called only if the client selects the
// cursor, because sealing it is expensive. If it is nil, the edge has no cursor.
func NewEdge[T any](node T, cursor func() string) *Edge[T] {
	return &Edge[T]{Node: node, cursor: cursor}
}

// Cursor returns the cursor, after which the next page begins.
func (e *Edge[T]) Cursor() string {
	if e.connection != nil {
		return e.connection.page.Cursor(e.i)
	}
	return call(e.cursor)
}

// PageInfo is the position of a page in its list.
type PageInfo struct {
	HasNextPage, HasPreviousPage bool

	start, end func() string // return the cursors; both are nil on an empty page
}

// StartCursor returns the cursor of the first item, or "" on an empty page.
func (p *PageInfo) StartCursor() string { return call(p.start) }

// EndCursor returns the cursor of the last item, or "" on an empty page.
func (p *PageInfo) EndCursor() string { return call(p.end) }

// A RecordConnection represents a page of what is read from the audit log.
type RecordConnection[T interface{ Cursor() string }] struct{ page events.RecordPage[T] }

// NewRecordConnection returns the connection of a page.
func NewRecordConnection[T interface{ Cursor() string }](page events.RecordPage[T]) *RecordConnection[T] {
	return &RecordConnection[T]{page}
}

// Edges returns the items of the page with their cursors.
func (c *RecordConnection[T]) Edges() []*RecordEdge[T] {
	edges := make([]*RecordEdge[T], len(c.page.Items))
	for i, item := range c.page.Items {
		edges[i] = &RecordEdge[T]{Cursor: item.Cursor(), Node: item}
	}
	return edges
}

// Nodes returns the items of the page.
func (c *RecordConnection[T]) Nodes() []T { return c.page.Items }

// PageInfo returns the position of the page in the list.
func (c *RecordConnection[T]) PageInfo() *PageInfo {
	info := &PageInfo{HasNextPage: c.page.HasNext, HasPreviousPage: c.page.HasPrevious}
	if n := len(c.page.Items); n > 0 {
		info.start, info.end = c.page.Items[0].Cursor, c.page.Items[n-1].Cursor
	}
	return info
}

// A RecordEdge is one item of a page.
type RecordEdge[T any] struct {
	Cursor string
	Node   T
}

// An AccessConnection represents a page of what the audit log tells of access, with the time from which it is complete.
type AccessConnection[T interface{ Cursor() string }] struct {
	RecordConnection[T]
	RecordedSince core.Time
	Complete      bool
}

// NewAccessConnection returns the connection of a page.
func NewAccessConnection[T interface{ Cursor() string }](page events.AccessPage[T]) *AccessConnection[T] {
	return &AccessConnection[T]{RecordConnection[T]{page.RecordPage}, page.RecordedSince, page.Complete}
}

// Connections and edges of what is read from the audit log.
type (
	// AuditLogConnection is a page.
	AuditLogConnection = RecordConnection[*core.Event]
	// AuditLogEdge is an event of a page.
	AuditLogEdge = RecordEdge[*core.Event]
	// AuditLogRunConnection is a page.
	AuditLogRunConnection = RecordConnection[*events.AuditLogRun]
	// AuditLogRunEdge is a run of a page.
	AuditLogRunEdge = RecordEdge[*events.AuditLogRun]
	// AccessGrantConnection is a page.
	AccessGrantConnection = AccessConnection[*events.AccessGrant]
	// AccessGrantEdge is a grant of a page.
	AccessGrantEdge = RecordEdge[*events.AccessGrant]
	// AccessChangeConnection is a page.
	AccessChangeConnection = AccessConnection[*events.AccessChange]
	// AccessChangeEdge is a change of a page.
	AccessChangeEdge = RecordEdge[*events.AccessChange]
)

// call returns the result of f, or "" if f is nil.
func call(f func() string) string {
	if f == nil {
		return ""
	}
	return f()
}

// Connections and edges of what has no global ids.
type (
	// ImagePackageConnection is a page.
	ImagePackageConnection = Connection[*inventory.ImagePackage]
	// ImagePackageEdge is a package of a page.
	ImagePackageEdge = Edge[*inventory.ImagePackage]
)
