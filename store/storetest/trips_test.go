package storetest_test

import (
	"context"
	"fmt"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
	"atrium/store"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

// In a cloud the database is a millisecond away, so the round trips of a request are most of its
// time. These are those that pass the network: a transaction begins with its first statements,
// which also prove the caller, and ends with its last ones. The last round counts. After a
// change of rights, the next request reads those of its caller anew, with one trip more.
func TestChangesTakeFewRoundTrips(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	_, org := w.createOrganization("acme")
	relay := storetest.NewRelay(t, w.url)
	s := must[*sqlstore.Store](t)(store.Open(t.Context(), relay.URL, store.Options{MaxConnections: 1}))
	t.Cleanup(func() { _ = s.Close() })
	far := w.replica(s)
	claims := iam.Claims{Issuer: issuer, Subject: "owner of acme", ServiceAudience: true}
	last := must[*core.Actor](t)(far.Authenticate(t.Context(), claims))
	root := org.Group.UID
	var group, repo, tag, identity, binding core.UID
	var tags, identities []core.UID
	repos := w.repos(root, 100)
	people := must[[]*iam.Identity](t)(far.Identities.CreateBatch(far.Presume(t.Context(), claims, last), times(75, func(i int) core.BatchRequest[*iam.Identity] {
		return core.BatchRequest[*iam.Identity]{UID: root, Input: input[*iam.Identity](fmt.Sprintf(`{"name": "p%d", "claimMatch": {"issuer": %q, "subject": "p%d"}}`, i, issuer, i))}
	})))
	changes := []struct {
		name  string
		trips int
		act   func(ctx context.Context, n int) error
	}{
		{"a new group", 3, func(ctx context.Context, n int) error {
			made, err := far.Groups.Create(ctx, root, inputOfName[*iam.Group](n))
			if err == nil {
				group = made.UID
			}
			return err
		}},
		{"a new repo", 2, func(ctx context.Context, n int) error {
			made, err := far.Repos.Create(ctx, group, inputOfName[*inventory.Repo](n))
			if err == nil {
				repo = made.UID
			}
			return err
		}},
		{"a change of a repo", 2, func(ctx context.Context, n int) error {
			_, err := far.Repos.Update(ctx, repo, input[*inventory.Repo](fmt.Sprintf(`{"description": "d%d"}`, n)))
			return err
		}},
		{"a read", 1, func(ctx context.Context, _ int) error {
			_, err := far.Groups.Get(ctx, root)
			return err
		}},
		{"a new tag", 3, func(ctx context.Context, n int) error {
			made, err := far.Tags.Create(ctx, repo, inputOfTag(n))
			if err == nil {
				tag = made.UID
			}
			return err
		}},
		{"the end of a tag", 2, func(ctx context.Context, _ int) error { return far.Tags.Delete(ctx, tag) }},
		{"100 new tags", 5, func(ctx context.Context, n int) error {
			made, err := far.Tags.CreateBatch(ctx, times(100, func(i int) core.BatchRequest[*inventory.Tag] {
				return core.BatchRequest[*inventory.Tag]{UID: repo, Input: inputOfTag(1000*(n+1) + i)}
			}))
			tags = uidsOf(made, func(t *inventory.Tag) core.UID { return t.UID })
			return err
		}},
		{"100 moved tags", 5, func(ctx context.Context, n int) error {
			_, err := far.Tags.CreateBatch(ctx, times(100, func(i int) core.BatchRequest[*inventory.Tag] {
				return core.BatchRequest[*inventory.Tag]{UID: repo, Input: tagInput(fmt.Sprint("t", 1000*(n+1)+i), fmt.Sprintf("sha256:%064x", i))}
			}))
			return err
		}},
		{"the end of 100 tags", 4, func(ctx context.Context, _ int) error { return far.Tags.DeleteBatch(ctx, tags) }},
		{"a new identity", 3, func(ctx context.Context, n int) error {
			made, err := far.Identities.Create(ctx, root, input[*iam.Identity](fmt.Sprintf(`{"name": "i%d", "claimMatch": {"issuer": %q, "subject": "i%d"}}`, n, issuer, n)))
			if err == nil {
				identity = made.UID
			}
			return err
		}},
		{"a new binding", 4, func(ctx context.Context, _ int) error {
			made, err := far.RoleBindings.Create(ctx, group, bindInput(identity, iam.ViewerRole))
			if err == nil {
				binding = made.UID
			}
			return err
		}},
		{"25 new bindings", 7, func(ctx context.Context, n int) error {
			_, err := far.RoleBindings.CreateBatch(ctx, iam.BindingBatch{Parent: group, RoleUID: iam.ViewerRole, Requests: times(25, func(i int) core.BatchRequest[*iam.RoleBinding] {
				return core.BatchRequest[*iam.RoleBinding]{Input: bindInput(people[25*n+i].UID, iam.ViewerRole)}
			})})
			return err
		}},
		{"100 new identities", 5, func(ctx context.Context, n int) error {
			made, err := far.Identities.CreateBatch(ctx, times(100, func(i int) core.BatchRequest[*iam.Identity] {
				return core.BatchRequest[*iam.Identity]{UID: group, Input: input[*iam.Identity](fmt.Sprintf(`{"name": "p%d", "claimMatch": {"issuer": %q, "subject": "q%d.%d"}}`, i, issuer, n, i))}
			}))
			identities = uidsOf(made, func(i *iam.Identity) core.UID { return i.UID })
			return err
		}},
		{"the end of 100 identities", 4, func(ctx context.Context, _ int) error { return far.Identities.DeleteBatch(ctx, identities) }},
		{"100 new invites", 5, func(ctx context.Context, _ int) error {
			_, err := far.GroupInvites.CreateBatch(ctx, times(100, func(int) core.BatchRequest[*iam.GroupInvite] {
				return core.BatchRequest[*iam.GroupInvite]{UID: group, Input: input[*iam.GroupInvite](fmt.Sprintf(`{"roleUid": %q, "ttl": "3600s"}`, iam.ViewerRole))}
			}))
			return err
		}},
		{"100 new subscriptions", 4, func(ctx context.Context, n int) error {
			_, err := far.Subscriptions.CreateBatch(ctx, times(100, func(i int) webhooks.SubscriptionRequest {
				return webhooks.SubscriptionRequest{BatchRequest: core.BatchRequest[*webhooks.Subscription]{UID: group, Input: input[*webhooks.Subscription](fmt.Sprintf(`{"sink": "https://s%d-%d.example.com/"}`, n, i))}}
			}))
			return err
		}},
		{"100 changes of repos", 4, func(ctx context.Context, n int) error {
			_, err := far.Repos.UpdateBatch(ctx, times(100, func(i int) core.BatchRequest[*inventory.Repo] {
				return core.BatchRequest[*inventory.Repo]{UID: repos[i].UID, Input: input[*inventory.Repo](fmt.Sprintf(`{"description": "d%d"}`, n))}
			}))
			return err
		}},
		{"the end of a binding", 3, func(ctx context.Context, _ int) error { return far.RoleBindings.Delete(ctx, binding) }},
	}
	const rounds = 3 // in the first two, the connection prepares statements
	for n := range rounds {
		for _, c := range changes {
			before := relay.Trips()
			ctx := far.Presume(t.Context(), claims, last)
			if err := c.act(ctx, n); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if err := core.Prove(ctx); err != nil {
				t.Fatalf("the caller of %s: %v", c.name, err)
			}
			if took := relay.Trips() - before; n == rounds-1 && took > c.trips {
				t.Errorf("%s takes %d round trips, want at most %d", c.name, took, c.trips)
			} else if n == rounds-1 {
				t.Logf("%s: %d", c.name, took)
			}
		}
	}
}

// uidsOf returns the UIDs of rows.
func uidsOf[T any](rows []T, uid func(T) core.UID) []core.UID {
	uids := make([]core.UID, len(rows))
	for i, row := range rows {
		uids[i] = uid(row)
	}
	return uids
}

// inputOfName returns the input of a resource whose name contains a number.
func inputOfName[T any](n int) fieldmask.Input[T] { return input[T](fmt.Sprintf(`{"name": "n%d"}`, n)) }

func inputOfTag(n int) fieldmask.Input[*inventory.Tag] {
	return tagInput(fmt.Sprint("t", n), fmt.Sprintf("sha256:%064x", n))
}
