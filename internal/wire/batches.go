package wire

import (
	"context"
	"encoding/json"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// The requests of batches: each has the parts of the operation on one resource, and the whole body of that in a field. All of a batch
// is done or nothing.
type (
	// BatchUpdateReposRequest changes repos.
	BatchUpdateReposRequest struct {
		Requests []RepoChange `json:"requests"`
	}
	// A RepoChange changes the repo that has the uid of the body.
	RepoChange struct {
		Repo       json.RawMessage `json:"repo"`
		UpdateMask string          `json:"updateMask,omitempty"`
	}
	// BatchUpdateReposResponse has the changed repos.
	BatchUpdateReposResponse struct {
		Repos []*inventory.Repo `json:"repos"`
	}
	// BatchCreateTagsRequest makes tags.
	BatchCreateTagsRequest struct {
		Requests []NewTag `json:"requests"`
	}
	// A NewTag is a tag to make in a repo.
	NewTag struct {
		Parent core.UID        `json:"parent"`
		Tag    json.RawMessage `json:"tag"`
	}
	// BatchCreateTagsResponse has the tags.
	BatchCreateTagsResponse struct {
		Tags []*inventory.Tag `json:"tags"`
	}
	// BatchCreateIdentitiesRequest makes identities.
	BatchCreateIdentitiesRequest struct {
		Requests []NewIdentity `json:"requests"`
	}
	// A NewIdentity is an identity to make in a group.
	NewIdentity struct {
		Parent   core.UID        `json:"parent"`
		Identity json.RawMessage `json:"identity"`
	}
	// BatchCreateIdentitiesResponse has the identities.
	BatchCreateIdentitiesResponse struct {
		Identities []*iam.Identity `json:"identities"`
	}
	// BatchCreateGroupInvitesRequest makes invites.
	BatchCreateGroupInvitesRequest struct {
		Requests []NewGroupInvite `json:"requests"`
	}
	// A NewGroupInvite is an invite to make for a group.
	NewGroupInvite struct {
		Parent      core.UID        `json:"parent"`
		GroupInvite json.RawMessage `json:"groupInvite"`
	}
	// BatchCreateGroupInvitesResponse has the invites, with their codes.
	BatchCreateGroupInvitesResponse struct {
		GroupInvites []*iam.GroupInvite `json:"groupInvites"`
	}
	// BatchCreateSubscriptionsRequest makes subscriptions.
	BatchCreateSubscriptionsRequest struct {
		Requests []NewSubscription `json:"requests"`
	}
	// A NewSubscription is a subscription to make in a group.
	NewSubscription struct {
		Parent       core.UID        `json:"parent"`
		Subscription json.RawMessage `json:"subscription"`

		Conditions *webhooks.EventConditions    `json:"conditions,omitempty"`
		Findings   *inventory.FindingConditions `json:"findings,omitempty"`
	}
	// BatchCreateSubscriptionsResponse has the subscriptions, with their secrets.
	BatchCreateSubscriptionsResponse struct {
		Subscriptions []*webhooks.Subscription `json:"subscriptions"`
	}
)

// newResources returns the requests of a batch of creations.
func newResources[N, T any](all []N, of func(N) (core.UID, json.RawMessage)) []core.BatchRequest[T] {
	requests := make([]core.BatchRequest[T], len(all))
	for i, one := range all {
		parent, body := of(one)
		requests[i] = core.BatchRequest[T]{UID: parent, Input: fieldmask.JSONInput[T](objectOf(body), nil)}
	}
	return requests
}

// objectOf returns the body of a resource, which is empty if it is left out.
func objectOf(body json.RawMessage) []byte {
	if fieldmask.IsNull(body) {
		return []byte("{}")
	}
	return body
}

// BatchUpdateRepos changes repos.
func (o Operations) BatchUpdateRepos(ctx context.Context, in *BatchUpdateReposRequest) (*BatchUpdateReposResponse, error) {
	requests := make([]core.BatchRequest[*inventory.Repo], len(in.Requests))
	for i, r := range in.Requests {
		var named struct {
			UID core.UID `json:"uid"`
		}
		_ = json.Unmarshal(objectOf(r.Repo), &named) // the operation refuses a uid that is none
		requests[i] = core.BatchRequest[*inventory.Repo]{UID: named.UID, Input: fieldmask.JSONInput[*inventory.Repo](objectOf(r.Repo), fieldmask.SplitMask(r.UpdateMask))}
	}
	changed, err := o.p.Repos.UpdateBatch(ctx, requests)
	return &BatchUpdateReposResponse{changed}, err
}

// BatchCreateTags makes tags, or moves those that there are.
func (o Operations) BatchCreateTags(ctx context.Context, in *BatchCreateTagsRequest) (*BatchCreateTagsResponse, error) {
	made, err := o.p.Tags.CreateBatch(ctx, newResources[NewTag, *inventory.Tag](in.Requests, func(n NewTag) (core.UID, json.RawMessage) { return n.Parent, n.Tag }))
	return &BatchCreateTagsResponse{made}, err
}

// BatchCreateIdentities makes identities.
func (o Operations) BatchCreateIdentities(ctx context.Context, in *BatchCreateIdentitiesRequest) (*BatchCreateIdentitiesResponse, error) {
	made, err := o.p.Identities.CreateBatch(ctx, newResources[NewIdentity, *iam.Identity](in.Requests, func(n NewIdentity) (core.UID, json.RawMessage) { return n.Parent, n.Identity }))
	return &BatchCreateIdentitiesResponse{made}, err
}

// BatchCreateGroupInvites makes invites.
func (o Operations) BatchCreateGroupInvites(ctx context.Context, in *BatchCreateGroupInvitesRequest) (*BatchCreateGroupInvitesResponse, error) {
	made, err := o.p.GroupInvites.CreateBatch(ctx, newResources[NewGroupInvite, *iam.GroupInvite](in.Requests, func(n NewGroupInvite) (core.UID, json.RawMessage) { return n.Parent, n.GroupInvite }))
	return &BatchCreateGroupInvitesResponse{made}, err
}

// BatchCreateSubscriptions makes subscriptions.
func (o Operations) BatchCreateSubscriptions(ctx context.Context, in *BatchCreateSubscriptionsRequest) (*BatchCreateSubscriptionsResponse, error) {
	requests := make([]webhooks.SubscriptionRequest, len(in.Requests))
	for i, n := range in.Requests {
		requests[i].Conditions, requests[i].Findings = n.Conditions, n.Findings
		requests[i].BatchRequest = core.BatchRequest[*webhooks.Subscription]{UID: n.Parent, Input: fieldmask.JSONInput[*webhooks.Subscription](objectOf(n.Subscription), nil)}
	}
	made, err := o.p.Subscriptions.CreateBatch(ctx, requests)
	return &BatchCreateSubscriptionsResponse{made}, err
}

// BatchDeleteTags deletes tags.
func (o Operations) BatchDeleteTags(ctx context.Context, in *UIDs) (*UIDs, error) {
	return in, o.p.Tags.DeleteBatch(ctx, in.UIDs)
}

// BatchDeleteIdentities deletes identities.
func (o Operations) BatchDeleteIdentities(ctx context.Context, in *UIDs) (*UIDs, error) {
	return in, o.p.Identities.DeleteBatch(ctx, in.UIDs)
}

// BatchDeleteGroupInvites deletes invites.
func (o Operations) BatchDeleteGroupInvites(ctx context.Context, in *UIDs) (*UIDs, error) {
	return in, o.p.GroupInvites.DeleteBatch(ctx, in.UIDs)
}

// BatchDeleteSubscriptions deletes subscriptions.
func (o Operations) BatchDeleteSubscriptions(ctx context.Context, in *UIDs) (*UIDs, error) {
	return in, o.p.Subscriptions.DeleteBatch(ctx, in.UIDs)
}
