package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform"
)

func (q queries) Search(ctx context.Context, query string, kinds []platform.SearchKind, within *platform.UID, first *int, after *string) (*scalar.SearchConnection, error) {
	page, err := q.p.Search.List(ctx, platform.SearchRequest{Query: query, Kinds: kinds, Within: valueOrZero(within), PageSize: valueOrZero(first), Empty: window{first: first}.isEmpty(), PageToken: valueOrZero(after)})
	if err != nil {
		return nil, err
	}
	return scalar.NewSearchConnection(page), nil
}
