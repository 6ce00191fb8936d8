package platform

import "context"

type backgroundKey struct{}

// InBackground marks ctx as background work, which no request waits for, such as
// webhooks and live feeds. The store gives background work only a part of its
// connections, so that some are always free for requests.
func InBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground reports whether InBackground has marked ctx.
func IsBackground(ctx context.Context) bool {
	marked, _ := ctx.Value(backgroundKey{}).(bool)
	return marked
}
