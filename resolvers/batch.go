package resolvers

import (
	"atrium/graph/scalar"
	"atrium/platform"
)

// The mutations Batch... make many changes at once. Each change is an input of the same
// form as that of the single mutation.

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
