package storetest_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
)

// lists is what the operations on every kind have in common.
type lists[T, F any] interface {
	List(context.Context, platform.ListRequest[F]) (platform.Page[T], error)
	ListEach(context.Context, platform.ListRequest[F], []platform.UIDFilter) ([]platform.Page[T], []error)
	GetMany(context.Context, []platform.UID) ([]T, []error)
	Kind() *platform.Kind[T]
}

// A kind is one of the forest's, with its rows and the filters to try.
type kind[T, F any] struct {
	f       *forest
	ops     lists[T, F]
	rows    []T
	filters []sieve[T, F]
}

// A sieve is a filter and its meaning.
type sieve[T, F any] struct {
	filter F
	keeps  func(T) bool
}

// parent is where a row lies, which may have the UID of its parent.
func (k *kind[T, F]) parent(uid platform.UID) platform.UID {
	if k.ops.Kind().SharesUID {
		return uid
	}
	return uid.Parent()
}

func (k *kind[T, F]) uid(row T) platform.UID { return k.ops.Kind().UID(row) }

// truth is what a caller sees of a scope through a sieve, in an order.
func (k *kind[T, F]) truth(c *caller, scope platform.UIDFilter, s sieve[T, F], order platform.Order) []T {
	var seen []T
	for _, row := range k.rows {
		uid := k.uid(row)
		if k.f.maySee(c, k.ops.Kind().List, uid) && liesWithin(scope, uid, k.parent(uid)) && (s.keeps == nil || s.keeps(row)) && !isLeftOut(row, s.filter) {
			seen = append(seen, row)
		}
	}
	k.sort(seen, order)
	return seen
}

// isLeftOut reports whether a row is an advisory that was withdrawn, and a filter
// does not ask for those.
func isLeftOut(row, filter any) bool {
	a, isAdvisory := row.(*platform.Advisory)
	f, _ := filter.(*platform.AdvisoryFilter)
	return isAdvisory && !a.DeleteTime.IsZero() && (f == nil || !f.Withdrawn)
}

func (k *kind[T, F]) sort(rows []T, order platform.Order) {
	value := func(row T) any {
		for _, o := range k.ops.Kind().Orders {
			if o.Name == order.Field {
				return o.Value(row)
			}
		}
		return nil
	}
	slices.SortFunc(rows, func(a, b T) int {
		c := cmp.Or(compareValues(value(a), value(b)), strings.Compare(string(k.uid(a)), string(k.uid(b))))
		if order.Desc {
			return -c
		}
		return c
	})
}

// compareValues orders texts by bytes, and no time at all before every time.
func compareValues(a, b any) int {
	if a, ok := a.(platform.Time); ok {
		return a.Compare(b.(platform.Time).Time)
	}
	return strings.Compare(a.(string), b.(string))
}

func (k *kind[T, F]) uids(rows []T) []platform.UID {
	uids := make([]platform.UID, len(rows))
	for i, row := range rows {
		uids[i] = k.uid(row)
	}
	return uids
}

// orders lists every order of the kind, both ways.
func (k *kind[T, F]) orders() []platform.Order {
	var all []platform.Order
	for _, o := range k.ops.Kind().Orders {
		all = append(all, platform.Order{Field: o.Name}, platform.Order{Field: o.Name, Desc: true})
	}
	return all
}

func spell(o platform.Order) string {
	if o.Desc {
		return o.Field + " desc"
	}
	return o.Field
}

// A listing is a kind whatever its types are.
type listing interface {
	name() string
	walk(t *testing.T)
	ask(t *testing.T, d dice)
	askEach(t *testing.T, d dice)
	get(t *testing.T)
}

func (k *kind[T, F]) name() string { return k.ops.Kind().Plural }

// listings gives every kind of the tree.
func (f *forest) listings() []listing {
	p := f.p
	return append([]listing{
		&kind[*platform.Group, *platform.GroupFilter]{f, p.Groups, f.groups, f.groupSieves()},
		&kind[*platform.Identity, *platform.IdentityFilter]{f, p.Identities, f.identities, f.identitySieves()},
		&kind[*platform.Role, *platform.RoleFilter]{f, p.Roles, slices.Concat(f.roles, f.builtIn), f.roleSieves()},
		&kind[*platform.RoleBinding, *platform.RoleBindingFilter]{f, p.RoleBindings, f.bindings, f.bindingSieves()},
		&kind[*platform.Repo, *platform.RepoFilter]{f, p.Repos, f.repos, f.repoSieves()},
		&kind[*platform.Tag, *platform.TagFilter]{f, p.Tags, f.tags, f.tagSieves()},
		&kind[*platform.Advisory, *platform.AdvisoryFilter]{f, p.Advisories, f.advisories, f.advisorySieves()},
		&kind[*platform.Subscription, *platform.SubscriptionFilter]{f, p.Subscriptions, f.subscriptions, f.subscriptionSieves()},
	}, f.comersListings()...)
}
