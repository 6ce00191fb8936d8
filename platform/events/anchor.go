package events

import (
	"context"
	"sync"
	"time"

	"atrium/platform/core"
)

// An eventAnchor remembers the newest event that this process has read. A standby that
// is promoted may lack the newest events of the former primary, and it assigns lower
// positions to later events. A reader that continues after the position of an event that
// is no longer stored would skip those. Therefore readers check the anchor after each
// read, before they use what they have read.
type eventAnchor struct {
	store     Store
	tables    Queries
	retention time.Duration
	clock     func() time.Time

	lock   sync.Mutex
	newest *core.Event // nil means unknown
}

// note remembers an event that was read, if it is the newest.
func (a *eventAnchor) note(e *core.Event) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.newest == nil || a.newest.Position.Before(e.Position) {
		a.newest = e
	}
}

// noteAt reads the event at a position, and remembers it instead of an earlier one.
func (a *eventAnchor) noteAt(ctx context.Context, at core.EventPosition) error {
	a.forget()
	found, err := a.tables.EventsUpTo(ctx, a.store, nil, core.EventPosition{Transaction: at.Transaction, Number: at.Number - 1}, at, 1)
	if err == nil && len(found) == 1 {
		a.note(found[0])
	}
	return err
}

func (a *eventAnchor) forget() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.newest = nil
}

// errEventsLost is the error of a feed that may have delivered events which are lost.
var errEventsLost = core.InArea(core.AreaEvents, core.Unavailable("the database was replaced by a copy that lacks the newest events, which this feed may have delivered; continue after the last event that is still stored", nil))

// holds reports whether the newest event is still stored where it was.
func (a *eventAnchor) holds(ctx context.Context) (bool, error) {
	a.lock.Lock()
	newest := a.newest
	a.lock.Unlock()
	if newest == nil {
		return true, nil
	}
	at, found, err := a.store.EventPosition(ctx, newest.ID)
	if err != nil || found && at == newest.Position {
		return true, err
	}
	if a.clock().Sub(newest.Time.Time) > a.retention {
		a.forget() // it was deleted because of its age
		return true, nil
	}
	return false, nil
}
