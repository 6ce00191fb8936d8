package platform

import "context"

type backgroundKey struct{}

// InBackground marks work that no request waits for, such as the delivery of
// webhooks and the reading of live feeds. The store gives such work a part of
// its connections only, so that requests always find one.
func InBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground reports whether InBackground has marked ctx.
func IsBackground(ctx context.Context) bool {
	marked, _ := ctx.Value(backgroundKey{}).(bool)
	return marked
}
