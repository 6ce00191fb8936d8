package storetest_test

import (
	"context"
	"fmt"
	"testing"

	"atrium/platform"
)

// A hotRead is an operation whose statements must be cheap at any size.
type hotRead struct {
	name string
	bar  int // of buffers, all statements together
	as   string
	run  func(ctx context.Context) error
}

// asked adapts a list to a hotRead.
func asked[T, F any](list func(context.Context, platform.ListRequest[F]) (platform.Page[T], error), req platform.ListRequest[F]) func(context.Context) error {
	return func(ctx context.Context) error {
		page, err := list(ctx, req)
		if err == nil && len(page.Items) == 0 && page.TotalCount == 0 {
			err = fmt.Errorf("found nothing")
		}
		return err
	}
}

// askedEach adapts a nested list.
func askedEach[T, F any](list func(context.Context, platform.ListRequest[F], []platform.UIDFilter) ([]platform.Page[T], []error), req platform.ListRequest[F], parents []platform.UID) func(context.Context) error {
	scopes := make([]platform.UIDFilter, len(parents))
	for i, p := range parents {
		scopes[i].ChildrenOf = p
	}
	return func(ctx context.Context) error {
		pages, errs := list(ctx, req, scopes)
		found := 0
		for i := range pages {
			if errs[i] != nil {
				return errs[i]
			}
			found += len(pages[i].Items)
		}
		if found == 0 {
			return fmt.Errorf("found nothing")
		}
		return nil
	}
}

// token is the page token after the item at place i of a list.
func tokenAt[T, F any](t *testing.T, ctx context.Context, list func(context.Context, platform.ListRequest[F]) (platform.Page[T], error), req platform.ListRequest[F], i int) string {
	t.Helper()
	req.Skip, req.PageSize = i, 1
	page, err := list(ctx, req)
	if err != nil || len(page.Items) == 0 {
		t.Fatal(err, "no such page")
	}
	return page.Cursor(0)
}
