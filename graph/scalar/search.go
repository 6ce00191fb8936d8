package scalar

import (
	"atrium/platform/core"
)

// A Node is an object of a kind: a pointer to a type of package platform.
type Node any

// A SearchConnection represents a page of search results.
type SearchConnection struct{ page core.SearchPage }

// NewSearchConnection returns the connection of a page.
func NewSearchConnection(page core.SearchPage) *SearchConnection { return &SearchConnection{page} }

// Edges returns the results of the page with their cursors.
func (c *SearchConnection) Edges() []SearchEdge {
	edges := make([]SearchEdge, len(c.page.Hits))
	for i, hit := range c.page.Hits {
		edges[i] = SearchEdge{Node: hit.Object, MatchedField: hit.Field, connection: c, i: i}
	}
	return edges
}

// Nodes returns the results of the page.
func (c *SearchConnection) Nodes() []Node {
	nodes := make([]Node, len(c.page.Hits))
	for i, hit := range c.page.Hits {
		nodes[i] = hit.Object
	}
	return nodes
}

// PageInfo returns the position of the page in the results.
func (c *SearchConnection) PageInfo() *PageInfo {
	info := &PageInfo{HasNextPage: c.page.HasNext, HasPreviousPage: c.page.HasPrevious}
	if n := len(c.page.Hits); n > 0 {
		info.start = func() string { return c.page.Cursor(0) }
		info.end = func() string { return c.page.Cursor(n - 1) }
	}
	return info
}

// A SearchEdge is one result of a page.
type SearchEdge struct {
	Node         Node
	MatchedField core.SearchField

	connection *SearchConnection // contains the result
	i          int
}

// Cursor returns the cursor, after which the next page begins.
func (e *SearchEdge) Cursor() string { return e.connection.page.Cursor(e.i) }
