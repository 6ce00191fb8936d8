package scalar

import (
	"github.com/99designs/gqlgen/plugin/federation/fedruntime"

	"atrium/platform"
)

// A SearchConnection shows a page of what a search found.
type SearchConnection struct{ page platform.SearchPage }

// NewSearchConnection shows page.
func NewSearchConnection(page platform.SearchPage) *SearchConnection { return &SearchConnection{page} }

// Edges are the finds of the page with their cursors.
func (c *SearchConnection) Edges() []SearchEdge {
	edges := make([]SearchEdge, len(c.page.Hits))
	for i, hit := range c.page.Hits {
		edges[i] = SearchEdge{Node: node(hit), MatchedField: hit.Field, of: c, i: i}
	}
	return edges
}

// Nodes are the finds of the page.
func (c *SearchConnection) Nodes() []fedruntime.Entity {
	nodes := make([]fedruntime.Entity, len(c.page.Hits))
	for i, hit := range c.page.Hits {
		nodes[i] = node(hit)
	}
	return nodes
}

// node is a find as the object that it is.
func node(hit platform.SearchHit) fedruntime.Entity {
	entity, _ := hit.Object.(fedruntime.Entity) // as all kinds are that are searched
	return entity
}

// PageInfo tells where the page lies in all that is found.
func (c *SearchConnection) PageInfo() *PageInfo {
	info := &PageInfo{HasNextPage: c.page.HasNext, HasPreviousPage: c.page.HasPrevious}
	if n := len(c.page.Hits); n > 0 {
		info.start = func() string { return c.page.Cursor(0) }
		info.end = func() string { return c.page.Cursor(n - 1) }
	}
	return info
}

// A SearchEdge is one find of a page.
type SearchEdge struct {
	Node         fedruntime.Entity
	MatchedField platform.SearchField

	of *SearchConnection // whose i-th find it is
	i  int
}

// Cursor continues the search after the find.
func (e *SearchEdge) Cursor() string { return e.of.page.Cursor(e.i) }
