package storetest_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// lists has the operations that all kinds share.
type lists[T, F any] interface {
	List(context.Context, core.ListRequest[F]) (core.Page[T], error)
	ListEach(context.Context, core.ListRequest[F], []core.UIDFilter) ([]core.Page[T], []error)
	GetMany(context.Context, []core.UID) ([]T, []error)
	Kind() *core.Kind[T]
}

// A kind is a kind of the forest, with its rows and the filters to test.
type kind[T, F any] struct {
	f       *forest
	ops     lists[T, F]
	rows    []T
	filters []filterCase[T, F]
}

// A filterCase is a filter, and a function that says which rows match it.
type filterCase[T, F any] struct {
	filter  F
	matches func(T) bool
}

// parent returns the parent of a row. A row may have the UID of its parent.
func (k *kind[T, F]) parent(uid core.UID) core.UID {
	if k.ops.Kind().SharesUID {
		return uid
	}
	return uid.Parent()
}

func (k *kind[T, F]) uid(row T) core.UID { return k.ops.Kind().UID(row) }

// expectedRows returns what a caller sees of a scope with a filter, in an order.
func (k *kind[T, F]) expectedRows(c *caller, scope core.UIDFilter, s filterCase[T, F], order core.Order) []T {
	var seen []T
	for _, row := range k.rows {
		uid := k.uid(row)
		if k.f.maySee(c, k.ops.Kind().List, uid) && liesWithin(scope, uid, k.parent(uid)) && (s.matches == nil || s.matches(row)) && !isLeftOut(row, s.filter) {
			seen = append(seen, row)
		}
	}
	k.sort(seen, order)
	return seen
}

// isLeftOut reports whether a row is a withdrawn advisory that the filter does not ask
// for.
func isLeftOut(row, filter any) bool {
	a, isAdvisory := row.(*inventory.Advisory)
	f, _ := filter.(*inventory.AdvisoryFilter)
	return isAdvisory && !a.DeleteTime.IsZero() && (f == nil || !f.Withdrawn)
}

func (k *kind[T, F]) sort(rows []T, order core.Order) {
	slices.SortFunc(rows, func(a, b T) int {
		c := cmp.Or(compareValues(k.orderValue(a, order.Field), k.orderValue(b, order.Field)), strings.Compare(string(k.uid(a)), string(k.uid(b))))
		if order.Desc {
			return -c
		}
		return c
	})
}

// orderValue returns the value that a row is sorted by.
func (k *kind[T, F]) orderValue(row T, field string) any {
	for _, o := range k.ops.Kind().Orders {
		if o.Name == field {
			return o.Value(row)
		}
	}
	return nil
}

// compareValues compares texts by bytes. A missing time is before all others.
func compareValues(a, b any) int {
	if a, ok := a.(core.Time); ok {
		return a.Compare(b.(core.Time).Time)
	}
	return strings.Compare(a.(string), b.(string))
}

func (k *kind[T, F]) uids(rows []T) []core.UID {
	uids := make([]core.UID, len(rows))
	for i, row := range rows {
		uids[i] = k.uid(row)
	}
	return uids
}

// orders returns every order of the kind, in both directions.
func (k *kind[T, F]) orders() []core.Order {
	var all []core.Order
	for _, o := range k.ops.Kind().Orders {
		all = append(all, core.Order{Field: o.Name}, core.Order{Field: o.Name, Desc: true})
	}
	return all
}

func spell(o core.Order) string {
	if o.Desc {
		return o.Field + " desc"
	}
	return o.Field
}

// A listing is a kind without its type parameters.
type listing interface {
	name() string
	checkOrders(t *testing.T)
	checkRandomPage(t *testing.T, d dice)
	checkEach(t *testing.T, d dice)
	checkGet(t *testing.T)
}

func (k *kind[T, F]) name() string { return k.ops.Kind().Plural }

// listings returns every kind in the tree of groups.
func (f *forest) listings() []listing {
	p := f.p
	return append([]listing{
		&kind[*iam.Group, *iam.GroupFilter]{f, p.Groups, f.groups, f.groupFilters()},
		&kind[*iam.Identity, *iam.IdentityFilter]{f, p.Identities, f.identities, f.identityFilters()},
		&kind[*iam.Role, *iam.RoleFilter]{f, p.Roles, slices.Concat(f.roles, f.builtIn), f.roleFilters()},
		&kind[*iam.RoleBinding, *iam.RoleBindingFilter]{f, p.RoleBindings, f.bindings, f.bindingFilters()},
		&kind[*inventory.Repo, *inventory.RepoFilter]{f, p.Repos, f.repos, f.repoFilters()},
		&kind[*inventory.Tag, *inventory.TagFilter]{f, p.Tags, f.tags, f.tagFilters()},
		&kind[*inventory.Advisory, *inventory.AdvisoryFilter]{f, p.Advisories, f.advisories, f.advisoryFilters()},
		&kind[*webhooks.Subscription, *webhooks.SubscriptionFilter]{f, p.Subscriptions, f.subscriptions, f.subscriptionFilters()},
	}, f.signInListings()...)
}
