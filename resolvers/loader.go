package resolvers

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"atrium/platform"
)

// reads holds the loaders of one response, with the objects read so far. It lives
// no longer than the response, so that no caller sees objects that were read for
// another caller or before a change. The events that a live feed delivers
// together share one.
type reads struct {
	p        *platform.Platform
	without  platform.LongTexts // the long texts that the operation does not select
	reported sync.Map           // the messages of hidden errors that have been logged

	lock    sync.Mutex
	loaders []any // each a *loader, made when it is first asked for
}

type readsKey struct{}

// withReads returns a context with new loaders, which have read nothing.
func withReads(ctx context.Context, p *platform.Platform) context.Context {
	return context.WithValue(ctx, readsKey{}, newReads(ctx, p))
}

// withBurst returns a context with the loaders of the burst that an event belongs
// to, and with the actor and the grants that the burst was delivered for.
func withBurst(ctx context.Context, p *platform.Platform, event any) context.Context {
	e, ok := event.(*platform.Event)
	if !ok || e.Burst == nil {
		return ctx
	}
	ctx = platform.WithActor(ctx, e.Burst.Actor)
	return context.WithValue(ctx, readsKey{}, e.Burst.Memoize(func() any { return newReads(ctx, p) }))
}

func newReads(ctx context.Context, p *platform.Platform) *reads {
	return &reads{p: p, without: unselectedTexts(ctx)}
}

func readsOf(ctx context.Context) *reads {
	r, _ := ctx.Value(readsKey{}).(*reads)
	return r
}

// loaderOf returns the loader of a response that reads objects of type V, by
// getMany.
func loaderOf[K comparable, V any](r *reads, getMany func(context.Context, []K) ([]*V, []error)) *loader[K, V] {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, l := range r.loaders {
		if l, ok := l.(*loader[K, V]); ok {
			return l
		}
	}
	l := &loader[K, V]{reads: r, getMany: getMany}
	r.loaders = append(r.loaders, l)
	return l
}

// A loader reads objects by key, and reads each key once. The operation it calls
// checks for each key whether the caller may read the object.
type loader[K comparable, V any] struct {
	reads   *reads
	getMany func(context.Context, []K) ([]*V, []error)
	lock    sync.Mutex
	asked   map[K]*loaded[V]
}

// loaded is the object of one key, or its error, once it has been read.
type loaded[V any] struct {
	row  *V
	err  error
	read chan struct{} // closed then; keys that are read together share it
}

func (a *loaded[V]) isRead() bool {
	select {
	case <-a.read:
		return true
	default:
		return false
	}
}

// loadMany returns the objects of keys in their order. It reads the keys that
// have not been requested yet in one read.
func (l *loader[K, V]) loadMany(ctx context.Context, keys []K) ([]*V, []error) {
	answers := l.ask(ctx, keys)
	if slices.ContainsFunc(answers, func(a *loaded[V]) bool { return !a.isRead() }) { // another call reads them
		l.reads.p.AwaitOther(ctx, func() {
			for _, a := range answers {
				<-a.read
			}
		})
	}
	rows, errs := make([]*V, len(keys)), make([]error, len(keys))
	for i, a := range answers {
		rows[i], errs[i] = a.row, a.err
	}
	return rows, errs
}

// ask returns the answers of keys, and reads those that nobody has asked for.
func (l *loader[K, V]) ask(ctx context.Context, keys []K) []*loaded[V] {
	answers := make([]*loaded[V], len(keys))
	read := make(chan struct{})
	var missing []K
	var made []loaded[V]
	l.lock.Lock()
	if l.asked == nil {
		l.asked = make(map[K]*loaded[V], len(keys))
	}
	for i, key := range keys {
		known := l.asked[key]
		if known == nil {
			if made == nil {
				missing, made = make([]K, 0, len(keys)-i), make([]loaded[V], len(keys)-i)
			}
			known = &made[len(missing)]
			known.read = read
			missing, l.asked[key] = append(missing, key), known
		}
		answers[i] = known
	}
	l.lock.Unlock()
	if len(missing) > 0 {
		rows, errs := recoverPanics(l.getMany)(ctx, missing)
		for i := range missing {
			made[i].row, made[i].err = rows[i], errs[i]
		}
		close(read)
	}
	return answers
}

// load reads a single object.
func (l *loader[K, V]) load(ctx context.Context, key K) (*V, error) {
	rows, errs := l.loadMany(ctx, []K{key})
	return rows[0], errs[0]
}

// follow reads the object that key of each object names. The zero key names no
// object.
func follow[T any, K comparable, V any](ctx context.Context, objects []*T, l *loader[K, V], key func(*T) K) ([]*V, error) {
	var zero K
	keys, indices := make([]K, 0, len(objects)), make([]int, 0, len(objects))
	for i, object := range objects {
		if k := key(object); k != zero {
			keys, indices = append(keys, k), append(indices, i)
		}
	}
	loaded, failed := l.loadMany(ctx, keys)
	rows, errs := make([]*V, len(objects)), make([]error, len(objects))
	for n, i := range indices {
		rows[i], errs[i] = loaded[n], failed[n]
	}
	return rows, joinErrors(errs)
}

// followAll reads the objects that several keys of each object name. It leaves
// out objects whose error the function ignore turns into nil.
func followAll[T any, K comparable, V any](ctx context.Context, objects []*T, l *loader[K, V], keys func(*T) []K, ignore func(error) error) ([][]*V, error) {
	l.loadMany(ctx, slices.Concat(mapEach(objects, keys)...))
	return forEach(objects, func(object *T) ([]*V, error) {
		found, errs := l.loadMany(ctx, keys(object)) // read above
		for _, err := range errs {
			if ignore(err) != nil {
				return nil, err
			}
		}
		return slices.DeleteFunc(found, func(row *V) bool { return row == nil }), nil
	})
}

// filterErrors applies ignore to each error of a batch.
func filterErrors(err error, ignore func(error) error) error {
	var each graphql.BatchErrors
	if !errors.As(err, &each) {
		return err
	}
	kept := slices.Clone(each.Errors())
	for i := range kept {
		kept[i] = ignore(kept[i])
	}
	return joinErrors(kept)
}
