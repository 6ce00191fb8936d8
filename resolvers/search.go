package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform"
)

func (q queries) Search(ctx context.Context, window scalar.Window, query string, kinds []platform.SearchKind, within *platform.UID) (*scalar.SearchConnection, error) {
	page, err := q.p.Search.List(ctx, platform.SearchRequest{Query: query, Kinds: kinds, Within: valueOrZero(within), PageSize: valueOrZero(window.First), Empty: window.IsEmpty(), PageToken: valueOrZero(window.After)})
	if err != nil {
		return nil, err
	}
	return scalar.NewSearchConnection(page), nil
}
