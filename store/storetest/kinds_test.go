package storetest_test

import (
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
		sign := 1
		for _, key := range order.Keys() {
			if sign = 1; key.Desc {
				sign = -1
			}
			if c := compareValues(k.orderValue(a, key.Field), k.orderValue(b, key.Field)); c != 0 {
				return sign * c
			}
		}
		return sign * strings.Compare(string(k.uid(a)), string(k.uid(b)))
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

// orders returns every order of the kind, in both directions, and some of several fields: each field before the next ones.
func (k *kind[T, F]) orders() []core.Order {
	var all []core.Order
	fields := k.ops.Kind().Orders
	for i, o := range fields {
		all = append(all, core.Order{Field: o.Name}, core.Order{Field: o.Name, Desc: true})
		if next, last := fields[(i+1)%len(fields)].Name, fields[(i+2)%len(fields)].Name; len(fields) > 2 && o.Name != "uid" {
			several := core.Order{Field: o.Name, Desc: i%2 == 0, Then: [2]core.OrderKey{{Field: next, Desc: i%3 == 0}, {Field: last, Desc: i%2 == 0}}}
			if next == "uid" {
				several.Then = [2]core.OrderKey{{Field: next, Desc: i%2 == 1}}
			}
			all = append(all, several)
		}
	}
	return all
}

func spell(o core.Order) string {
	var fields []string
	for _, key := range o.Keys() {
		if key.Desc {
			key.Field += " desc"
		}
		fields = append(fields, key.Field)
	}
	return strings.Join(fields, ", ")
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
