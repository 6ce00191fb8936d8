package platform

import (
	"context"
	"slices"
	"time"
)

// BeatInterval is how often a replica calls Beat. One that has not done so
// while another did missedBeats times is gone: it is noticed within 7.5
// seconds.
const BeatInterval = 1500 * time.Millisecond

const missedBeats = 4

// A Replica is a process that delivers, among others on the same database. It
// is not safe for concurrent use.
//
// Replicas compare no clocks, since those of two machines differ. Each counts
// its beats up in the database, and looks by its own beats whether the others
// still do. While the database is away nobody beats, so nobody is missed.
type Replica struct {
	p      *Platform
	id     string
	others map[string]sighting
}

// A sighting is what a replica knows of another.
type sighting struct {
	beats  int64 // as they were last read
	missed int   // how often they were read again and had not changed
}

// Replica takes the place of a process among those that deliver, under an id
// that no other has.
func (w Webhooks) Replica(id string) *Replica {
	return &Replica{w.p, id, map[string]sighting{}}
}

// Beat shows that this replica is there, and lists the others that are gone.
// It lists them until they are removed.
func (r *Replica) Beat(ctx context.Context) (gone []string, err error) {
	beats, err := r.p.store.Beat(ctx, r.id)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]sighting, len(beats))
	for id, n := range beats {
		now := sighting{beats: n}
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

// Leave tells the others that this replica holds nothing any more.
func (r *Replica) Leave(ctx context.Context) error { return r.Remove(ctx, r.id) }

// Remove forgets replicas, of which nobody holds anything any more.
func (r *Replica) Remove(ctx context.Context, ids ...string) error {
	return r.p.store.RemoveReplicas(ctx, ids)
}
