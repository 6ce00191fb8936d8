package platform

import (
	"context"
	"slices"
	"time"
)

// BeatInterval is the interval at which a replica calls Heartbeat. A replica counts as
// gone if it has missed missedBeats heartbeats of another replica. This takes at most 7.5
// seconds.
const BeatInterval = 1500 * time.Millisecond

const missedBeats = 4

// A Replica is one of the processes that deliver events from the same database. It
// is not safe for concurrent use.
//
// Replicas do not compare clocks, because clocks of machines differ. Each replica
// counts its heartbeats in the database. At each heartbeat it checks whether the
// counts of the others have changed. While the database is unavailable no replica
// has heartbeats, so none is considered gone.
type Replica struct {
	p      *Platform
	id     string
	others map[string]observation
}

// An observation is what a replica knows about another replica.
type observation struct {
	beats  int64 // heartbeats when they were last read
	missed int   // number of reads since then without a change
}

// Replica returns the replica of this process. The id must be unique.
func (w Webhooks) Replica(id string) *Replica {
	return &Replica{w.p, id, map[string]observation{}}
}

// Heartbeat records that this replica is alive, and lists the replicas that are
// gone. It lists them until they are removed.
func (r *Replica) Heartbeat(ctx context.Context) (gone []string, err error) {
	beats, err := r.p.store.Heartbeat(ctx, r.id)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]observation, len(beats))
	for id, n := range beats {
		now := observation{beats: n}
		if before, known := r.others[id]; known && before.beats == n {
			now.missed = before.missed + 1
		}
		if now.missed >= missedBeats {
			gone = append(gone, id)
		}
		seen[id] = now
	}
	r.others = seen
	slices.Sort(gone)
	return gone, nil
}

// Leave removes this replica, which must hold no tickets any more.
func (r *Replica) Leave(ctx context.Context) error { return r.Remove(ctx, r.id) }

// Remove removes replicas whose tickets have been requeued.
func (r *Replica) Remove(ctx context.Context, ids ...string) error {
	return r.p.store.RemoveReplicas(ctx, ids)
}
