package resolvers

import (
	"atrium/graph/scalar"
	"atrium/platform/core"
)

// The mutations Batch... make many changes at once. Each change is an input of the same
// form as that of the single mutation.

// decodeBatchRequests decodes each request of a batch input.
func decodeBatchRequests[T any](input map[string]any) []core.BatchRequest[T] {
	given, _ := input["requests"].([]map[string]any)
	requests := make([]core.BatchRequest[T], len(given))
	for i, request := range given {
		requests[i].UID, requests[i].Input = decodeInput[T](request)
		requests[i].Input = requests[i].Input.Malformed(refuseConditions(request)...)
	}
	return requests
}

func globalIDs(typeName string, uids []core.UID) []core.UID {
	ids := make([]core.UID, len(uids))
	for i, uid := range uids {
		ids[i] = core.UID(scalar.GlobalID(typeName, string(uid)))
	}
	return ids
}
