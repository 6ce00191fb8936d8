package wire

import (
	"context"
	"fmt"
	"slices"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// EffectiveBindings lists the role bindings that count on a group, inherited ones among them. With a capability, it lists who can.
type EffectiveBindings struct{ iam.RoleBindings }

// ListOn reads a page of the bindings that count on a group.
func (s EffectiveBindings) ListOn(ctx context.Context, group core.UID, req core.ListRequest[*iam.RoleBindingFilter]) (core.Page[*iam.RoleBinding], error) {
	pages, errs := s.ListEffective(ctx, []core.UID{group}, "", req)
	return pages[0], errs[0]
}

type (
	// A GetEffectiveCapabilitiesRequest asks what an identity, or the caller, may do on a resource.
	GetEffectiveCapabilitiesRequest struct {
		Within   core.UID `json:"within"`
		Identity core.UID `json:"identity,omitempty"` // "" means the caller
	}
	// GetEffectiveCapabilitiesResponse has what one may do.
	GetEffectiveCapabilitiesResponse struct {
		Capabilities []core.Capability `json:"capabilities"`
	}
)

// GetEffectiveCapabilities lists what an identity, or the caller, may do on a resource, there or by what is above it.
func (o Operations) GetEffectiveCapabilities(ctx context.Context, in *GetEffectiveCapabilitiesRequest) (*GetEffectiveCapabilitiesResponse, error) {
	if in.Identity == "" {
		actor, err := core.RequireCaller(ctx)
		if err != nil {
			return nil, err
		}
		held, err := actor.CapabilitiesOn(in.Within)
		return &GetEffectiveCapabilitiesResponse{held}, err
	}
	if err := iam.CheckOn(in.Within); err != nil {
		return nil, err
	}
	if err := core.InvalidUID("identity", in.Identity); err != nil {
		return nil, err
	}
	granted, errs := o.p.Identities.EffectiveGrants(ctx, []core.UID{in.Identity})
	return &GetEffectiveCapabilitiesResponse{granted[0].CapabilitiesOn(in.Within)}, errs[0]
}

type (
	// A GetAccessAtRequest asks who had access to a group at a time.
	GetAccessAtRequest struct {
		Within    core.UID  `json:"within"`
		Time      core.Time `json:"time"`
		PageSize  int       `json:"pageSize,omitempty"`
		PageToken string    `json:"pageToken,omitempty"`
	}
	// GetAccessAtResponse is a page of what identities had.
	GetAccessAtResponse struct {
		Grants        []*events.AccessGrant `json:"grants"`
		NextPageToken string                `json:"nextPageToken,omitempty"`
		RecordedSince core.Time             `json:"recordedSince,omitzero"`
		Complete      bool                  `json:"complete"`
	}
	// A GetAccessChangesRequest asks how access to a group and what is below it changed.
	GetAccessChangesRequest struct {
		Within    core.UID  `json:"within"`
		From      core.Time `json:"from"`
		To        core.Time `json:"to"`
		Identity  core.UID  `json:"identity,omitempty"`
		Actor     string    `json:"actor,omitempty"`
		PageSize  int       `json:"pageSize,omitempty"`
		PageToken string    `json:"pageToken,omitempty"`
	}
	// GetAccessChangesResponse is a page of changes, the newest first.
	GetAccessChangesResponse struct {
		Changes       []*AccessChange `json:"changes"`
		NextPageToken string          `json:"nextPageToken,omitempty"`
		RecordedSince core.Time       `json:"recordedSince,omitzero"`
		Complete      bool            `json:"complete"`
	}
	// An AccessChange is one change of who may do what.
	AccessChange struct {
		Kind                events.AccessChangeKind `json:"kind"`
		EventID             string                  `json:"eventId"`
		Time                core.Time               `json:"time"`
		Actor               string                  `json:"actor"`
		Before              *events.AccessGrant     `json:"before,omitempty"`
		After               *events.AccessGrant     `json:"after,omitempty"`
		RoleUID             core.UID                `json:"roleUid"`
		RoleName            string                  `json:"roleName,omitempty"`
		AddedCapabilities   []core.Capability       `json:"addedCapabilities,omitempty"`
		RemovedCapabilities []core.Capability       `json:"removedCapabilities,omitempty"`
	}
)

// GetAccessAt lists the role bindings that counted on a group at a time.
func (o Operations) GetAccessAt(ctx context.Context, in *GetAccessAtRequest) (*GetAccessAtResponse, error) {
	page, err := o.p.AuditLog.AccessAt(ctx, events.AccessRequest{Group: in.Within, From: in.Time, PageSize: in.PageSize, After: in.PageToken})
	if err != nil {
		return nil, err
	}
	return &GetAccessAtResponse{listOrEmpty(page.Items), nextToken(page), page.RecordedSince, page.Complete}, nil
}

// GetAccessChanges lists what changed who has access.
func (o Operations) GetAccessChanges(ctx context.Context, in *GetAccessChangesRequest) (*GetAccessChangesResponse, error) {
	page, err := o.p.AuditLog.AccessChanges(ctx, events.AccessRequest{
		Group: in.Within, From: in.From, To: in.To, Identity: in.Identity, Actor: in.Actor, PageSize: in.PageSize, After: in.PageToken,
	})
	if err != nil {
		return nil, err
	}
	changes := make([]*AccessChange, len(page.Items))
	for i, c := range page.Items {
		changes[i] = &AccessChange{c.Kind, c.Event.ID, c.Event.Time, c.Event.Actor.Subject, c.Before, c.After, c.RoleUID, c.RoleName, c.AddedCapabilities, c.RemovedCapabilities}
	}
	return &GetAccessChangesResponse{changes, nextToken(page), page.RecordedSince, page.Complete}, nil
}

// listOrEmpty returns a list that is [] in JSON, and not null, if it is nil.
func listOrEmpty[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// nextToken returns the token of the page after one of the log, or "" if that is the last.
func nextToken[T interface{ Cursor() string }](page events.AccessPage[T]) string {
	if !page.HasNext {
		return ""
	}
	return page.Items[len(page.Items)-1].Cursor()
}

type (
	// A ConfirmRoleBindingsRequest confirms role bindings in a review of access.
	ConfirmRoleBindingsRequest struct {
		RoleBindings []ConfirmedBinding `json:"roleBindings"`
		Note         string             `json:"note,omitempty"`
	}
	// A ConfirmedBinding is a binding as the reviewer has seen it. What is empty is not compared.
	ConfirmedBinding struct {
		UID         core.UID  `json:"uid"`
		IdentityUID core.UID  `json:"identityUid,omitempty"`
		RoleUID     core.UID  `json:"roleUid,omitempty"`
		ExpireTime  core.Time `json:"expireTime,omitzero"`

		// NeverExpires compares that the binding never expires, which no time says.
		NeverExpires bool `json:"neverExpires,omitempty"`
	}
	// ConfirmRoleBindingsResponse has the bindings that were confirmed.
	ConfirmRoleBindingsResponse struct {
		RoleBindings []*iam.RoleBinding `json:"roleBindings"`
	}
	// A BatchDeleteRoleBindingsRequest deletes role bindings: all or none.
	BatchDeleteRoleBindingsRequest struct {
		UIDs []core.UID `json:"uids"`
		Note string     `json:"note,omitempty"`
	}
	// UIDs name resources, such as those that are deleted.
	UIDs struct {
		UIDs []core.UID `json:"uids"`
	}
)

// ConfirmRoleBindings notes that the caller has reviewed role bindings, and that they stay.
func (o Operations) ConfirmRoleBindings(ctx context.Context, in *ConfirmRoleBindingsRequest) (*ConfirmRoleBindingsResponse, error) {
	var v core.Violations
	seen := make([]core.BatchRequest[*iam.RoleBinding], len(in.RoleBindings))
	for i, b := range in.RoleBindings {
		fields := []string{}
		if b.NeverExpires && !b.ExpireTime.IsZero() {
			v.Add(fmt.Sprintf("requests[%d].neverExpires", i), "cannot be combined with expireTime")
		}
		for _, given := range []struct {
			name    string
			isGiven bool
		}{{"identityUid", b.IdentityUID != ""}, {"roleUid", b.RoleUID != ""}, {"expireTime", b.NeverExpires || !b.ExpireTime.IsZero()}} {
			if given.isGiven {
				fields = append(fields, given.name)
			}
		}
		seen[i] = core.BatchRequest[*iam.RoleBinding]{UID: b.UID, Input: fieldmask.TypedInput(&iam.RoleBinding{IdentityUID: b.IdentityUID, RoleUID: b.RoleUID, ExpireTime: b.ExpireTime}, fields...)}
	}
	if err := v.Err(); err != nil {
		return nil, core.InArea(core.AreaIAM, err)
	}
	confirmed, err := o.p.RoleBindings.Confirm(ctx, seen, in.Note)
	return &ConfirmRoleBindingsResponse{confirmed}, err
}

// BatchDeleteRoleBindings deletes role bindings, with a note of the review.
func (o Operations) BatchDeleteRoleBindings(ctx context.Context, in *BatchDeleteRoleBindingsRequest) (*UIDs, error) {
	return &UIDs{in.UIDs}, o.p.RoleBindings.DeleteBatch(ctx, in.UIDs, in.Note)
}

type (
	// A SearchRequest asks for resources by words.
	SearchRequest struct {
		Query     string            `json:"query"`
		Kinds     []core.SearchKind `json:"kinds,omitempty"`
		Within    core.UID          `json:"within,omitempty"`
		PageSize  int               `json:"pageSize,omitempty"`
		PageToken string            `json:"pageToken,omitempty"`
	}
	// SearchResponse is a page of what was found, the best first.
	SearchResponse struct {
		Hits          []SearchHit `json:"hits"`
		NextPageToken string      `json:"nextPageToken,omitempty"`
	}
	// A SearchHit is a resource that was found.
	SearchHit struct {
		Kind         core.SearchKind `json:"kind"`
		UID          core.UID        `json:"uid"`
		Name         string          `json:"name"`
		MatchedField string          `json:"matchedField"`
	}
)

// Search finds groups, identities, roles, repos and tags by words.
func (o Operations) Search(ctx context.Context, in *SearchRequest) (*SearchResponse, error) {
	page, err := o.p.Search.List(ctx, core.SearchRequest{Query: in.Query, Kinds: slices.Clone(in.Kinds), Within: in.Within, PageSize: in.PageSize, PageToken: in.PageToken})
	if err != nil {
		return nil, err
	}
	answer := &SearchResponse{Hits: make([]SearchHit, len(page.Hits))}
	for i, hit := range page.Hits {
		found := SearchHit{MatchedField: string(hit.Field)}
		switch o := hit.Object.(type) {
		case *iam.Group:
			found.Kind, found.UID, found.Name = core.SearchGroups, o.UID, o.Name
		case *iam.Identity:
			found.Kind, found.UID, found.Name = core.SearchIdentities, o.UID, o.Name
		case *iam.Role:
			found.Kind, found.UID, found.Name = core.SearchRoles, o.UID, o.Name
		case *inventory.Repo:
			found.Kind, found.UID, found.Name = core.SearchRepos, o.UID, o.Name
		case *inventory.Tag:
			found.Kind, found.UID, found.Name = core.SearchTags, o.UID, o.Name
		}
		answer.Hits[i] = found
	}
	if page.HasNext {
		answer.NextPageToken = page.Cursor(len(page.Hits) - 1)
	}
	return answer, nil
}
