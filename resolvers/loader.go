package resolvers

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"

	"atrium/platform"
	"atrium/platform/core"
)

// reads holds the loaders of one response, with the objects read so far. It lives
// no longer than the response, so that no caller sees objects that were read for
// another caller or before a change. The events that a live feed delivers
// together share one.
type reads struct {
	p        *platform.Platform
	without  core.CostlyFields // the costly fields that the operation does not select
	burst    *core.Burst       // the events that a live feed delivers together; nil outside of live feeds
	reported sync.Map          // the messages of hidden errors that have been logged

	feedPosition func() (string, error) // what was read at the start of a query that selects it

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
	e, ok := event.(*core.Event)
	if !ok || e.Burst == nil {
		return ctx
	}
	ctx = core.WithActor(ctx, e.Burst.Actor)
	return context.WithValue(ctx, readsKey{}, e.Burst.Memoize(func() any {
		r := newReads(ctx, p)
		r.burst = e.Burst
		return r
	}))
}

func newReads(ctx context.Context, p *platform.Platform) *reads {
	return &reads{p: p, without: unselectedFields(ctx)}
}

func readsOf(ctx context.Context) *reads {
	r, _ := ctx.Value(readsKey{}).(*reads)
	return r
}

// loaderOf returns the loader of a response that reads objects of type V, by
// getMany.
func loaderOf[K comparable, V any](r *reads, getMany func(context.Context, []K) ([]V, []error)) *loader[K, V] {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, l := range r.loaders {
		if l, ok := l.(*loader[K, V]); ok {
			return l
		}
	}
	l := &loader[K, V]{reads: r, getMany: getMany, asked: memo[K, V]{}}
	r.loaders = append(r.loaders, l)
	return l
}

// A loader reads objects by key, and reads each key once. V is a pointer type, because
// Go compiles a generic function once for all pointer types. The operation it calls
// checks for each key whether the caller may read the object.
type loader[K comparable, V any] struct {
	reads   *reads
	getMany func(context.Context, []K) ([]V, []error)
	queue   sync.Mutex
	batch   *dataloader.Loader[K, V] // nil until several keys are read
	asked   memo[K, V]
}

// A memo holds the pending and finished reads of a loader by key. It implements
// the cache of dataloader. The queue of the loader guards it.
type memo[K comparable, V any] map[K]dataloader.Thunk[V]

// Get returns the read of a key, and whether there is one.
func (m memo[K, V]) Get(_ context.Context, key K) (dataloader.Thunk[V], bool) {
	asked, found := m[key]
	return asked, found
}

// Set stores the read of a key.
func (m memo[K, V]) Set(_ context.Context, key K, asked dataloader.Thunk[V]) { m[key] = asked }

// Delete removes a key.
func (m memo[K, V]) Delete(_ context.Context, key K) bool { delete(m, key); return true }

// Clear removes all keys.
func (m memo[K, V]) Clear() { clear(m) }

// get reads keys.
func (l *loader[K, V]) get(ctx context.Context, keys []K) (rows []V, errs []error) {
	if l.reads.burst == nil {
		return recoverPanics(l.getMany)(ctx, keys)
	}
	l.reads.burst.Record(ctx, len(keys), func(ctx context.Context) { rows, errs = recoverPanics(l.getMany)(ctx, keys) })
	return rows, errs
}

func (l *loader[K, V]) read(ctx context.Context, keys []K) []*dataloader.Result[V] {
	rows, errs := l.get(ctx, keys)
	results := make([]*dataloader.Result[V], len(keys))
	for i := range keys {
		results[i] = &dataloader.Result[V]{Data: rows[i], Error: errs[i]}
	}
	return results
}

// noTimeout is the batching window of a loader. A batch is sent when all of its
// keys have been added, and no timeout may send it earlier.
const noTimeout = time.Hour

// inputCapacity is the number of keys that a batch buffers before its goroutine takes
// them. The default, 1000, allocates 8 KB for each batch.
const inputCapacity = 16

// loadMany returns the objects of keys in their order. It reads the keys that
// have not been requested yet in one read.
func (l *loader[K, V]) loadMany(ctx context.Context, keys []K) ([]V, []error) {
	pending := make([]dataloader.Thunk[V], len(keys))
	l.queue.Lock()
	if l.batch == nil {
		l.batch = dataloader.NewBatchedLoader(l.read, dataloader.WithWait[K, V](noTimeout), dataloader.WithInputCapacity[K, V](inputCapacity), dataloader.WithCache[K, V](l.asked))
	}
	known := len(l.asked)
	for i, key := range keys {
		pending[i] = l.batch.Load(ctx, key)
	}
	l.batch.Flush()
	reads := len(l.asked) > known
	l.queue.Unlock()
	rows, errs := make([]V, len(keys)), make([]error, len(keys))
	wait := func() {
		for i, answer := range pending {
			rows[i], errs[i] = answer()
		}
	}
	if reads {
		wait()
	} else {
		l.reads.p.AwaitOther(ctx, wait) // another call does the read, if it is not done already
	}
	return rows, errs
}

// A keyRead is the read of one key, which needs no batch.
type keyRead[V any] struct {
	done sync.WaitGroup
	row  V
	err  error
}

func (r *keyRead[V]) wait() (V, error) {
	r.done.Wait()
	return r.row, r.err
}

// load returns the object of one key.
func (l *loader[K, V]) load(ctx context.Context, key K) (row V, err error) {
	l.queue.Lock()
	asked, isKnown := l.asked[key]
	if isKnown {
		l.queue.Unlock()
		l.reads.p.AwaitOther(ctx, func() { row, err = asked() })
		return row, err
	}
	read := &keyRead[V]{}
	read.done.Add(1)
	defer read.done.Done()
	l.asked[key] = read.wait
	l.queue.Unlock()
	rows, errs := l.get(ctx, []K{key})
	read.row, read.err = rows[0], errs[0]
	return read.row, read.err
}

// follow reads the object that key of each object names. The zero key names no
// object.
func follow[T any, K comparable, V any](ctx context.Context, objects []T, l *loader[K, V], key func(T) K) ([]V, error) {
	var zero K
	keys, indices := make([]K, 0, len(objects)), make([]int, 0, len(objects))
	for i, object := range objects {
		if k := key(object); k != zero {
			keys, indices = append(keys, k), append(indices, i)
		}
	}
	loaded, failed := l.loadMany(ctx, keys)
	rows, errs := make([]V, len(objects)), make([]error, len(objects))
	for n, i := range indices {
		rows[i], errs[i] = loaded[n], failed[n]
	}
	return rows, joinErrors(errs)
}

// followAll reads the objects that several keys of each object name. It leaves
// out objects whose error the function ignore turns into nil.
func followAll[T any, K comparable, V any](ctx context.Context, objects []T, l *loader[K, V], keys func(T) []K, ignore func(error) error) ([][]V, error) {
	l.loadMany(ctx, slices.Concat(mapEach(objects, keys)...))
	return forEach(ctx, objects, func(object T) ([]V, error) {
		found, errs := l.loadMany(ctx, keys(object)) // read above
		for _, err := range errs {
			if ignore(err) != nil {
				return nil, err
			}
		}
		return slices.DeleteFunc(found, isNil), nil
	})
}

// isNil reports whether a pointer is nil.
func isNil[V any](pointer V) bool { return reflect.ValueOf(pointer).IsNil() }

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
