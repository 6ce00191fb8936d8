package scalar

import "atrium/platform"

// A Connection shows a page of the core.
type Connection[T any] struct{ page platform.Page[T] }

// NewConnection shows page.
func NewConnection[T any](page platform.Page[T]) *Connection[T] { return &Connection[T]{page} }

// NewConnections shows pages, one by one.
func NewConnections[T any](pages []platform.Page[T]) []*Connection[T] {
	made, all := make([]Connection[T], len(pages)), make([]*Connection[T], len(pages))
	for i, page := range pages {
		made[i].page, all[i] = page, &made[i]
	}
	return all
}

// Page is what it shows.
func (c *Connection[T]) Page() platform.Page[T] { return c.page }

// Edges are the items of the page with their cursors.
func (c *Connection[T]) Edges() []Edge[T] {
	edges := make([]Edge[T], len(c.page.Items))
	for i, item := range c.page.Items {
		edges[i] = Edge[T]{Node: item, of: c, i: i}
	}
	return edges
}

// Nodes are the items of the page.
func (c *Connection[T]) Nodes() []*T { return c.page.Items }

// PageInfo tells where the page lies in its list.
func (c *Connection[T]) PageInfo() *PageInfo {
	info := &PageInfo{HasNextPage: c.page.HasNext, HasPreviousPage: c.page.HasPrevious}
	if n := len(c.page.Items); n > 0 {
		info.start = func() string { return c.page.Cursor(0) }
		info.end = func() string { return c.page.Cursor(n - 1) }
	}
	return info
}

// TotalCount is how many items the list has over all pages.
func (c *Connection[T]) TotalCount() int64 { return c.page.TotalCount }

// Skipped echoes how many rows were passed over.
func (c *Connection[T]) Skipped() int { return c.page.Skipped }

// An Edge is one item of a page.
type Edge[T any] struct {
	Node *T

	of     *Connection[T] // whose i-th item it is, or
	i      int
	cursor func() string // what gives its cursor
}

// NewEdge shows an item. cursor is called only when a client asks for it:
// sealing is the dearest part of an edge. nil: there is none.
func NewEdge[T any](node *T, cursor func() string) *Edge[T] {
	return &Edge[T]{Node: node, cursor: cursor}
}

// Cursor continues the list after the item.
func (e *Edge[T]) Cursor() string {
	if e.of != nil {
		return e.of.page.Cursor(e.i)
	}
	return called(e.cursor)
}

// PageInfo tells where a page lies in its list.
type PageInfo struct {
	HasNextPage, HasPreviousPage bool

	start, end func() string // nil on an empty page
}

// StartCursor is the cursor of the first item, "" where there is none.
func (p *PageInfo) StartCursor() string { return called(p.start) }

// EndCursor is the cursor of the last item, "" where there is none.
func (p *PageInfo) EndCursor() string { return called(p.end) }

// An AuditLogConnection shows a page of the audit log, whose cursors are the
// ids of its events.
type AuditLogConnection struct{ page platform.AuditPage }

// NewAuditLogConnection shows page.
func NewAuditLogConnection(page platform.AuditPage) *AuditLogConnection {
	return &AuditLogConnection{page}
}

// Edges are the entries of the page with their cursors.
func (c *AuditLogConnection) Edges() []*AuditLogEdge {
	edges := make([]*AuditLogEdge, len(c.page.Items))
	for i, e := range c.page.Items {
		edges[i] = &AuditLogEdge{Cursor: e.ID, Node: e}
	}
	return edges
}

// Nodes are the entries of the page.
func (c *AuditLogConnection) Nodes() []*platform.Event { return c.page.Items }

// PageInfo tells where the page lies in the log.
func (c *AuditLogConnection) PageInfo() *PageInfo {
	info := &PageInfo{HasNextPage: c.page.HasNext, HasPreviousPage: c.page.HasPrevious}
	if n := len(c.page.Items); n > 0 {
		info.start = func() string { return c.page.Items[0].ID }
		info.end = func() string { return c.page.Items[n-1].ID }
	}
	return info
}

// An AuditLogEdge is one entry of a page.
type AuditLogEdge struct {
	Cursor string
	Node   *platform.Event
}

func called(of func() string) string {
	if of == nil {
		return ""
	}
	return of()
}
