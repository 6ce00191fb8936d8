package execute

import (
	"context"
	"errors"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

// Errors belong to one response, and a client that leaves ends what is read for it.
func TestOnlyWholeDataIsSharedBetweenSubscriptions(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		err    error
		size   int
		shared bool
	}{
		{"whole", t.Context(), nil, 10, true},
		{"with an error", t.Context(), errors.New("mine"), 10, false},
		{"for a client that has left", gone, nil, 10, false},
		{"large", t.Context(), nil, maxSharedBytes + 1, false},
	} {
		respond := func(ctx context.Context) context.Context {
			return graphql.WithResponseContext(ctx, graphql.DefaultErrorPresenter, graphql.DefaultRecover)
		}
		var s sharedData
		ctx := respond(c.ctx)
		s.get(ctx, func() []byte {
			if c.err != nil {
				graphql.AddError(ctx, c.err)
			}
			return make([]byte, c.size)
		})
		computed := false
		s.get(respond(t.Context()), func() []byte { computed = true; return []byte("{}") })
		if computed == c.shared {
			t.Errorf("data %s is shared: %t, want %t", c.name, !computed, c.shared)
		}
	}
}
