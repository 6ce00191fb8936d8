package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// All returns an iterator over all items of a list. It reads one page after the
// other, while the loop continues. list is a method that lists, and items returns
// the items of its response:
//
//	for repo, err := range client.All(ctx, c.Repos.ListRepos, &registryv2.ListReposRequest{}, (*registryv2.ListReposResponse).GetRepos) {
//
// All does not change the request. Its filters and page_size apply to every page,
// its page_token and skip to the first page. The iteration ends after an error,
// which comes with a zero item.
func All[R proto.Message, A interface{ GetNextPageToken() string }, T any](
	ctx context.Context, list func(context.Context, R) (A, error), request R, items func(A) []T,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		next := proto.CloneOf(request)
		for {
			page, err := list(ctx, next)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range items(page) {
				if !yield(item, nil) {
					return
				}
			}
			if page.GetNextPageToken() == "" {
				return
			}
			setPageToken(next.ProtoReflect(), page.GetNextPageToken())
		}
	}
}

// setPageToken makes the request ask for the page that token names.
func setPageToken(request protoreflect.Message, token string) {
	fields := request.Descriptor().Fields()
	request.Set(fields.ByName("page_token"), protoreflect.ValueOfString(token))
	request.Clear(fields.ByName("skip"))
}
