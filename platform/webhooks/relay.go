package webhooks

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"atrium/platform/core"
)

const (
	relayBatch = 500
	// maxRelayed is the number of deliveries, and of events in digests, after which a call of Relay leaves
	// the other events to the next call. The deliveries of one event are always made together.
	maxRelayed = 5000
	// relayLock serializes the relays of replicas.
	relayLock core.UID = "relay"
)

// Relay makes deliveries of the next recorded events, in the order of the feed,
// and returns the number of events. It may leave some to the next call, because an
// organization can have many subscriptions and a transaction must be short.
func (w Webhooks) Relay(ctx context.Context) (events int, err error) {
	var from, upTo core.EventPosition
	err = w.area.store.Write(ctx, func(tx core.Tx) error {
		tx.Lock(relayLock)
		var err error
		if from, err = w.area.tables.RelayPosition(ctx, tx); err != nil {
			return err
		}
		upTo = from
		recorded, err := w.area.tables.EventsToRelay(ctx, tx, from, relayBatch)
		if events = len(recorded); err != nil || events == 0 {
			return err
		}
		var deliveries []*Delivery
		if deliveries, events, err = w.newDeliveries(ctx, tx, recorded); err != nil {
			return err
		}
		if err := w.area.tables.Deliveries.Insert(ctx, tx, deliveries...); err != nil {
			return err
		}
		upTo = recorded[events-1].Position
		return w.area.tables.SetRelayPosition(ctx, tx, upTo)
	})
	if err == nil {
		w.area.relayed.advance(from, upTo, w.area.Logger)
	}
	return events, err
}

// A Backlog says how late the delivery of events is. A duration is 0 if nothing waits.
type Backlog struct {
	// Event is the age of the first recorded event that has not been relayed. It grows
	// while no process relays, and while a running transaction holds up the feed.
	Event time.Duration
	// Delivery is the time since the first delivery was due that has not been
	// attempted since.
	Delivery time.Duration
}

// Backlog reads the backlog of all processes.
func (w Webhooks) Backlog(ctx context.Context) (Backlog, error) {
	return ReadBacklog(ctx, w.area.store)
}

// ReadBacklog returns how late the delivery of the events in a store is.
func ReadBacklog(ctx context.Context, store Store) (Backlog, error) {
	event, delivery, err := store.OldestWaiting(ctx)
	if err != nil {
		return Backlog{}, err
	}
	now, err := store.Now(ctx)
	if err != nil {
		return Backlog{}, err
	}
	waited := func(since core.Time) time.Duration {
		if since.IsZero() {
			return 0
		}
		return max(now.Sub(since.Time), 0) // clocks differ, and a delivery may be due later
	}
	return Backlog{waited(event), waited(delivery)}, nil
}

// newDeliveries makes the deliveries of the first events, up to maxRelayed and those of one
// more event. It returns the number of these events.
func (w Webhooks) newDeliveries(ctx context.Context, tx core.Tx, events []*core.Event) (deliveries []*Delivery, done int, err error) {
	roots := make([]core.UID, len(events))
	for i, e := range events {
		roots[i] = e.Subject.Root()
	}
	slices.Sort(roots)
	subscriptions, err := w.area.tables.ActiveSubscriptions(ctx, tx, slices.Compact(roots))
	if err != nil || len(subscriptions) == 0 {
		return nil, len(events), err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, 0, err
	}
	collected, made := make([][]*core.Event, len(subscriptions)), 0
	for _, e := range events {
		if made >= maxRelayed {
			break
		}
		done++
		for i, s := range subscriptions {
			if !s.wants(e) {
				continue
			}
			if made++; s.isForPeople() && e.Type != testEventType {
				collected[i] = append(collected[i], e)
			} else {
				deliveries = append(deliveries, s.newDelivery(e, now, now))
			}
		}
	}
	for i, s := range subscriptions {
		begun, err := w.collect(ctx, tx, s, collected[i], now)
		if err != nil {
			return nil, 0, err
		}
		deliveries = append(deliveries, begun...)
	}
	return deliveries, done, nil
}

// newDelivery makes the delivery of an event to the subscription.
func (s *Subscription) newDelivery(e *core.Event, now, due core.Time) *Delivery {
	return &Delivery{
		UID: s.UID.NewChild(), EventID: e.ID, EventType: e.DeliveredType(), State: DeliveryPending, Stage: StageQueued,
		NextAttemptTime: due, CreateTime: now, UpdateTime: now,
	}
}

// collect adds events to the digest that a subscription collects, or begins one, which it returns. A process that has claimed
// a digest reads its events after that, so no event is added to it any more.
func (w Webhooks) collect(ctx context.Context, tx core.Tx, s *Subscription, events []*core.Event, now core.Time) (begun []*Delivery, err error) {
	if len(events) == 0 {
		return nil, nil
	}
	digest, err := w.area.tables.ExtendDigest(ctx, tx, s.UID, len(events), now)
	if err != nil {
		return nil, err
	}
	if digest == "" {
		d := s.newDelivery(events[0], now, s.digestEnd(now, &w.area.options))
		d.Events = int32(len(events)) //nolint:gosec // at most relayBatch
		digest, begun = d.UID, []*Delivery{d}
	}
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return begun, w.area.tables.AddToDigest(ctx, tx, digest, ids)
}

// A relayProgress is the position up to which this process knows that events were relayed.
// The position itself is in the database, and a promoted standby has the one that fits to
// its events. Therefore the relay skips nothing, and only logs what has happened.
type relayProgress struct {
	lock    sync.Mutex
	at      core.EventPosition
	isKnown bool // whether this process has relayed events
}

// advance notes that events were relayed. It logs a warning if the relay began at an earlier
// position than where it ended before.
func (r *relayProgress) advance(from, upTo core.EventPosition, logger *slog.Logger) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.isKnown && from.Before(r.at) {
		logger.Warn("the database was replaced by a copy that lacks the newest events; sinks may have received them, and deliveries continue with the events of the copy")
	}
	r.at, r.isKnown = upTo, true
}
