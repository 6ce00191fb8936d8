package resolvers

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"

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

	groups                    loader[platform.UID, platform.Group]
	identities                loader[platform.UID, platform.Identity]
	roles                     loader[platform.UID, platform.Role]
	roleBindings              loader[platform.UID, platform.RoleBinding]
	repos                     loader[platform.UID, platform.Repo]
	tags                      loader[platform.UID, platform.Tag]
	advisories                loader[platform.UID, platform.Advisory]
	subscriptions             loader[platform.UID, platform.Subscription]
	deliveries                loader[platform.UID, platform.Delivery]
	vulnerabilities           loader[string, platform.Vulnerability]
	documents                 loader[string, platform.AdvisoryDocument]
	events                    loader[string, platform.Event]
	artifacts                 loader[platform.UID, platform.Artifact]
	artifactVersions          loader[platform.UID, platform.ArtifactVersion]
	identityProviders         loader[platform.UID, platform.IdentityProvider]
	accountAssociations       loader[platform.UID, platform.AccountAssociation]
	groupInvites              loader[platform.UID, platform.GroupInvite]
	externalGroupRoleMappings loader[platform.UID, platform.ExternalGroupRoleMapping]
	terms                     loader[platform.TermsKey, platform.TermsAcceptance]
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
	r := &reads{p: p, without: unselectedTexts(ctx)}
	r.groups.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.Group, []error) {
		return r.p.Groups.GetMany(ctx, keys)
	})
	r.identities.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.Identity, []error) {
		return r.p.Identities.GetMany(ctx, keys)
	})
	r.roles.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.Role, []error) {
		return r.p.Roles.GetMany(ctx, keys)
	})
	r.roleBindings.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.RoleBinding, []error) {
		return r.p.RoleBindings.GetMany(ctx, keys)
	})
	r.repos.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.Repo, []error) {
		return r.p.Repos.GetMany(ctx, keys)
	})
	r.tags.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.Tag, []error) {
		return r.p.Tags.GetMany(ctx, keys)
	})
	r.advisories.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.Advisory, []error) {
		return r.p.Advisories.GetManyWithout(ctx, keys, r.without)
	})
	r.subscriptions.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.Subscription, []error) {
		return r.p.Subscriptions.GetMany(ctx, keys)
	})
	r.deliveries.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.Delivery, []error) {
		return r.p.Deliveries.GetMany(ctx, keys)
	})
	r.vulnerabilities.init(r, func(ctx context.Context, r *reads, keys []string) ([]*platform.Vulnerability, []error) {
		return r.p.Vulnerabilities.GetManyWithout(ctx, keys, r.without)
	})
	r.documents.init(r, func(ctx context.Context, r *reads, keys []string) ([]*platform.AdvisoryDocument, []error) {
		return r.p.AdvisoryDocuments.GetMany(ctx, keys)
	})
	r.events.init(r, func(ctx context.Context, r *reads, keys []string) ([]*platform.Event, []error) {
		return r.p.AuditLog.GetManyWithout(ctx, keys, r.without)
	})
	r.artifacts.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.Artifact, []error) {
		return r.p.Artifacts.GetMany(ctx, keys)
	})
	r.artifactVersions.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.ArtifactVersion, []error) {
		return r.p.ArtifactVersions.GetMany(ctx, keys)
	})
	r.identityProviders.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.IdentityProvider, []error) {
		return r.p.IdentityProviders.GetMany(ctx, keys)
	})
	r.accountAssociations.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.AccountAssociation, []error) {
		return r.p.AccountAssociations.GetMany(ctx, keys)
	})
	r.groupInvites.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.GroupInvite, []error) {
		return r.p.GroupInvites.GetMany(ctx, keys)
	})
	r.externalGroupRoleMappings.init(r, func(ctx context.Context, r *reads, keys []platform.UID) ([]*platform.ExternalGroupRoleMapping, []error) {
		return r.p.ExternalGroupRoleMappings.GetMany(ctx, keys)
	})
	r.terms.init(r, func(ctx context.Context, r *reads, keys []platform.TermsKey) ([]*platform.TermsAcceptance, []error) {
		return r.p.Terms.GetMany(ctx, keys)
	})
	return r
}

func readsOf(ctx context.Context) *reads {
	r, _ := ctx.Value(readsKey{}).(*reads)
	return r
}

// A loader reads objects by key, and reads each key once. The operation it calls
// checks for each key whether the caller may read the object.
type loader[K comparable, V any] struct {
	reads   *reads
	getMany getMany[K, V]
	queue   sync.Mutex
	batch   *dataloader.Loader[K, *V] // nil until the first read
	asked   memo[K, *V]
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

// getMany reads objects by their keys. It is a function without captured
// variables, so that making a loader allocates nothing.
type getMany[K comparable, V any] func(context.Context, *reads, []K) ([]*V, []error)

func (l *loader[K, V]) init(r *reads, get getMany[K, V]) { l.reads, l.getMany = r, get }

func (l *loader[K, V]) read(ctx context.Context, keys []K) []*dataloader.Result[*V] {
	rows, errs := recoverPanics(func(ctx context.Context, keys []K) ([]*V, []error) { return l.getMany(ctx, l.reads, keys) })(ctx, keys)
	results := make([]*dataloader.Result[*V], len(keys))
	for i := range keys {
		results[i] = &dataloader.Result[*V]{Data: rows[i], Error: errs[i]}
	}
	return results
}

// noTimeout is the batching window of a loader. A batch is sent when all of its
// keys have been added, and no timeout may send it earlier.
const noTimeout = time.Hour

// loadMany returns the objects of keys in their order. It reads the keys that
// have not been requested yet in one read.
func (l *loader[K, V]) loadMany(ctx context.Context, keys []K) ([]*V, []error) {
	pending := make([]dataloader.Thunk[*V], len(keys))
	l.queue.Lock()
	if l.batch == nil {
		l.asked = memo[K, *V]{}
		l.batch = dataloader.NewBatchedLoader(l.read, dataloader.WithWait[K, *V](noTimeout), dataloader.WithCache[K, *V](l.asked))
	}
	known := len(l.asked)
	for i, key := range keys {
		pending[i] = l.batch.Load(ctx, key)
	}
	l.batch.Flush()
	reads := len(l.asked) > known
	l.queue.Unlock()
	rows, errs := make([]*V, len(keys)), make([]error, len(keys))
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
