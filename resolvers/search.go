package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform/core"
)

func (q queries) Search(ctx context.Context, window scalar.Window, query string, kinds []core.SearchKind, within *core.UID) (*scalar.SearchConnection, error) {
	req := core.SearchRequest{Query: query, Kinds: kinds, Within: valueOrZero(within), Empty: window.IsEmpty()}
	req.PageSize, req.PageToken, _, req.Malformed = window.Page()
	page, err := q.p.Search.List(ctx, req)
	if err != nil {
		return nil, err
	}
	return scalar.NewSearchConnection(page), nil
}
