package resolvers

import (
	"context"

	"atrium/graphql/execute"
	"atrium/platform"
)

// Events hands on the live feed. A reader that is slower than the feed holds it
// up; the transport decides for how long.
func (f feeds) Events(ctx context.Context, descendantsOf *platform.UID, types []string, after *string, first *int) (<-chan *platform.Event, error) {
	req := platform.EventRequest{DescendantsOf: or(descendantsOf), Types: types, After: after, First: or(first)}
	feed, err := f.p.Events.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	events := make(chan *platform.Event)
	go func() {
		defer close(events)
		err := feed.Follow(ctx, func(e *platform.Event) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil && ctx.Err() == nil {
			execute.EndWith(ctx, err) // the reader can go on after the last event that it got
		}
	}()
	return events, nil
}
