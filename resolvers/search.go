package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform/core"
)

func (q queries) Search(ctx context.Context, window scalar.Window, query string, kinds []core.SearchKind, within *core.UID) (*scalar.SearchConnection, error) {
	page, err := q.p.Search.List(ctx, core.SearchRequest{Query: query, Kinds: kinds, Within: valueOrZero(within), PageSize: valueOrZero(window.First), Empty: window.IsEmpty(), PageToken: valueOrZero(window.After)})
	if err != nil {
		return nil, err
	}
	return scalar.NewSearchConnection(page), nil
}
