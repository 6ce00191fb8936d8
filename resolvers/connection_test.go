package resolvers

import (
	"context"
	"errors"
	"testing"
)

func TestNothingIsReadAfterTheRequestHasEnded(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	reads := 0
	values, err := forEach(ctx, make([]int, 5), func(int) (int, error) {
		if reads++; reads == 2 {
			end()
		}
		return reads, nil
	})
	if reads != 2 || len(values) != 5 || values[1] != 2 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v and %v after %d reads, want two values and the end of the request", values, err, reads)
	}
}
