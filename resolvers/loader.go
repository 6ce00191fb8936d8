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

// reads is what a response has read so far. It lives no longer than the
// response, so that nobody is shown what was read for someone else or before
// a change.
type reads struct {
	without  platform.LongTexts // what the operation does not select
	reported sync.Map           // messages of hidden errors

	groups          *loader[platform.UID, platform.Group]
	identities      *loader[platform.UID, platform.Identity]
	roles           *loader[platform.UID, platform.Role]
	roleBindings    *loader[platform.UID, platform.RoleBinding]
	repos           *loader[platform.UID, platform.Repo]
	tags            *loader[platform.UID, platform.Tag]
	advisories      *loader[platform.UID, platform.Advisory]
	subscriptions   *loader[platform.UID, platform.Subscription]
	deliveries      *loader[platform.UID, platform.Delivery]
	vulnerabilities *loader[string, platform.Vulnerability]
	documents       *loader[string, platform.AdvisoryDocument]
	events          *loader[string, platform.Event]

	artifacts                 *loader[platform.UID, platform.Artifact]
	artifactVersions          *loader[platform.UID, platform.ArtifactVersion]
	identityProviders         *loader[platform.UID, platform.IdentityProvider]
	accountAssociations       *loader[platform.UID, platform.AccountAssociation]
	groupInvites              *loader[platform.UID, platform.GroupInvite]
	externalGroupRoleMappings *loader[platform.UID, platform.ExternalGroupRoleMapping]
	terms                     *loader[platform.TermsKey, platform.TermsAcceptance]
}

type readsKey struct{}

// withReads starts with nothing read.
func withReads(ctx context.Context, p *platform.Platform) context.Context {
	without := unselectedTexts(ctx)
	return context.WithValue(ctx, readsKey{}, &reads{
		without:         without,
		groups:          newLoader(p.Groups.GetMany),
		identities:      newLoader(p.Identities.GetMany),
		roles:           newLoader(p.Roles.GetMany),
		roleBindings:    newLoader(p.RoleBindings.GetMany),
		repos:           newLoader(p.Repos.GetMany),
		tags:            newLoader(p.Tags.GetMany),
		advisories:      newLoader(leaving(without, p.Advisories.GetManyWithout)),
		subscriptions:   newLoader(p.Subscriptions.GetMany),
		deliveries:      newLoader(p.Deliveries.GetMany),
		vulnerabilities: newLoader(leaving(without, p.Vulnerabilities.GetManyWithout)),
		documents:       newLoader(p.AdvisoryDocuments.GetMany),
		events:          newLoader(leaving(without, p.AuditLog.GetManyWithout)),

		artifacts:                 newLoader(p.Artifacts.GetMany),
		artifactVersions:          newLoader(p.ArtifactVersions.GetMany),
		identityProviders:         newLoader(p.IdentityProviders.GetMany),
		accountAssociations:       newLoader(p.AccountAssociations.GetMany),
		groupInvites:              newLoader(p.GroupInvites.GetMany),
		externalGroupRoleMappings: newLoader(p.ExternalGroupRoleMappings.GetMany),
		terms:                     newLoader(p.Terms.GetMany),
	})
}

func readsOf(ctx context.Context) *reads {
	r, _ := ctx.Value(readsKey{}).(*reads)
	return r
}

// A loader reads objects by key, each key once. The operation it calls
// decides, for each key, whether the caller may read it.
type loader[K comparable, V any] struct {
	getMany func(context.Context, []K) ([]*V, []error)
	queue   sync.Mutex
	batch   *dataloader.Loader[K, *V] // nil until the first read
}

func newLoader[K comparable, V any](getMany func(context.Context, []K) ([]*V, []error)) *loader[K, V] {
	return &loader[K, V]{getMany: getMany}
}

func (l *loader[K, V]) read(ctx context.Context, keys []K) []*dataloader.Result[*V] {
	rows, errs := safely(l.getMany)(ctx, keys)
	results := make([]*dataloader.Result[*V], len(keys))
	for i := range keys {
		results[i] = &dataloader.Result[*V]{Data: rows[i], Error: errs[i]}
	}
	return results
}

// leaving makes a read of objects leave out long texts.
func leaving[K, V any](texts platform.LongTexts, getMany func(context.Context, []K, platform.LongTexts) ([]*V, []error)) func(context.Context, []K) ([]*V, []error) {
	return func(ctx context.Context, keys []K) ([]*V, []error) { return getMany(ctx, keys, texts) }
}

// never is when the window of a loader ends: a batch is sent off when all of
// its keys are in it, and must not be cut short by a slow moment before.
const never = time.Hour

// many reads, in the order of keys and with one read, those that have not been
// asked for yet.
func (l *loader[K, V]) many(ctx context.Context, keys []K) ([]*V, []error) {
	pending := make([]dataloader.Thunk[*V], len(keys))
	l.queue.Lock()
	if l.batch == nil {
		l.batch = dataloader.NewBatchedLoader(l.read, dataloader.WithWait[K, *V](never))
	}
	for i, key := range keys {
		pending[i] = l.batch.Load(ctx, key)
	}
	l.batch.Flush()
	l.queue.Unlock()
	rows, errs := make([]*V, len(keys)), make([]error, len(keys))
	for i, answer := range pending {
		rows[i], errs[i] = answer()
	}
	return rows, errs
}

// one reads a single object.
func (l *loader[K, V]) one(ctx context.Context, key K) (*V, error) {
	rows, errs := l.many(ctx, []K{key})
	return rows[0], errs[0]
}

// follow reads what key of each object names. The zero key names nothing.
func follow[T any, K comparable, V any](ctx context.Context, objects []*T, l *loader[K, V], key func(*T) K) ([]*V, error) {
	var nothing K
	keys, places := make([]K, 0, len(objects)), make([]int, 0, len(objects))
	for i, object := range objects {
		if k := key(object); k != nothing {
			keys, places = append(keys, k), append(places, i)
		}
	}
	named, missing := l.many(ctx, keys)
	rows, errs := make([]*V, len(objects)), make([]error, len(objects))
	for n, i := range places {
		rows[i], errs[i] = named[n], missing[n]
	}
	return rows, joined(errs)
}

// followAll reads what several keys of each object name. What ignoring makes nil
// of an error is left out.
func followAll[T any, K comparable, V any](ctx context.Context, objects []*T, l *loader[K, V], keys func(*T) []K, ignoring func(error) error) ([][]*V, error) {
	l.many(ctx, slices.Concat(keysOf(objects, keys)...))
	return forEach(objects, func(object *T) ([]*V, error) {
		found, errs := l.many(ctx, keys(object)) // read above
		for _, err := range errs {
			if ignoring(err) != nil {
				return nil, err
			}
		}
		return slices.DeleteFunc(found, func(row *V) bool { return row == nil }), nil
	})
}

// ignoring leaves errors out of what was read for many.
func ignoring(err error, ignore func(error) error) error {
	var each graphql.BatchErrors
	if !errors.As(err, &each) {
		return err
	}
	kept := slices.Clone(each.Errors())
	for i := range kept {
		kept[i] = ignore(kept[i])
	}
	return joined(kept)
}
