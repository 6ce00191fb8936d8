package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

// These mutations make many changes at once. Each change is an input of the same
// form as that of the single mutation.

func (m mutations) BatchCreateTags(ctx context.Context, input map[string]any) (*graph.BatchCreateTagsPayload, error) {
	made, err := m.p.Tags.CreateBatch(ctx, decodeBatchRequests[*platform.Tag](input))
	if err != nil {
		return nil, err
	}
	return &graph.BatchCreateTagsPayload{Tags: made}, nil
}

func (m mutations) BatchUpdateRepos(ctx context.Context, input map[string]any) (*graph.BatchUpdateReposPayload, error) {
	changed, err := m.p.Repos.UpdateBatch(ctx, decodeBatchRequests[*platform.Repo](input))
	if err != nil {
		return nil, err
	}
	return &graph.BatchUpdateReposPayload{Repos: changed}, nil
}

func (m mutations) BatchDeleteTags(ctx context.Context, input graph.BatchDeleteTagsInput) (*graph.BatchDeleteTagsPayload, error) {
	if err := m.p.Tags.DeleteBatch(ctx, input.Uids); err != nil {
		return nil, err
	}
	return &graph.BatchDeleteTagsPayload{DeletedIds: globalIDs("Tag", input.Uids), DeletedUids: input.Uids}, nil
}

func (m mutations) BatchDeleteRoleBindings(ctx context.Context, input graph.BatchDeleteRoleBindingsInput) (*graph.BatchDeleteRoleBindingsPayload, error) {
	if err := m.p.RoleBindings.DeleteBatch(ctx, input.Uids); err != nil {
		return nil, err
	}
	return &graph.BatchDeleteRoleBindingsPayload{DeletedIds: globalIDs("RoleBinding", input.Uids), DeletedUids: input.Uids}, nil
}

// decodeBatchRequests decodes each request of a batch input.
func decodeBatchRequests[T any](input map[string]any) []platform.BatchRequest[T] {
	given, _ := input["requests"].([]map[string]any)
	requests := make([]platform.BatchRequest[T], len(given))
	for i, request := range given {
		requests[i].UID, requests[i].Input = decodeInput[T](request)
	}
	return requests
}

func globalIDs(typeName string, uids []platform.UID) []platform.UID {
	ids := make([]platform.UID, len(uids))
	for i, uid := range uids {
		ids[i] = platform.UID(scalar.GlobalID(typeName, string(uid)))
	}
	return ids
}
