package execute

import (
	"context"
	"sync"
)

// An ending holds the reason for the end of a subscription. The resolver can only
// close a channel, which has no error.
type ending struct {
	lock sync.Mutex
	err  error
}

type endingKey struct{}

func withEnding(ctx context.Context) (context.Context, *ending) {
	end := &ending{}
	return context.WithValue(ctx, endingKey{}, end), end
}

// EndWith sets the error that the subscription of ctx sends to its client at the
// end. The resolver must call it before it closes its channel.
func EndWith(ctx context.Context, err error) {
	if end, ok := ctx.Value(endingKey{}).(*ending); ok {
		end.lock.Lock()
		defer end.lock.Unlock()
		end.err = err
	}
}

func (e *ending) reason() error {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.err
}
