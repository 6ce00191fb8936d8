package execute

import (
	"context"
	"sync"
)

// An ending is why a subscription ends. Its resolver can only close a channel,
// which does not tell.
type ending struct {
	lock sync.Mutex
	err  error
}

type endingKey struct{}

func withEnding(ctx context.Context) (context.Context, *ending) {
	end := &ending{}
	return context.WithValue(ctx, endingKey{}, end), end
}

// EndWith makes err the last that the subscription of ctx tells its client. The
// resolver calls it before it closes its channel.
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
