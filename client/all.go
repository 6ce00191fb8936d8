package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// All lists page after page and gives every item, as far as the loop asks for
// them. It takes a method that lists, its request, and what finds the items in
// an answer:
//
//	for repo, err := range client.All(ctx, c.Repos.ListRepos, &registryv2.ListReposRequest{}, (*registryv2.ListReposResponse).GetRepos) {
//
// The request is left as it is: its filters and its page_size hold for every
// page, its page_token and skip for the first one. An error is the last thing
// that is given, with no item.
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
			continueAfter(next.ProtoReflect(), page.GetNextPageToken())
		}
	}
}

// continueAfter makes a request ask for the page after another.
func continueAfter(request protoreflect.Message, token string) {
	fields := request.Descriptor().Fields()
	request.Set(fields.ByName("page_token"), protoreflect.ValueOfString(token))
	request.Clear(fields.ByName("skip"))
}
