package rest

import (
	"encoding/json"
	"fmt"

	"atrium/platform"
	"atrium/platform/fieldmask"
)

// A batch is the body of batchCreate, and a batchAnswer is its response.
type (
	batch struct {
		Parent   platform.UID   `json:"parent"`
		Requests []batchRequest `json:"requests"`
		RoleUID  platform.UID   `json:"roleUid,omitempty"` // role of the requests that name none
	}
	batchRequest struct {
		Parent      platform.UID         `json:"parent,omitempty"` // must equal the parent of the batch
		RoleBinding platform.RoleBinding `json:"roleBinding"`
	}
	batchAnswer struct {
		RoleBindings []*platform.RoleBinding `json:"roleBindings"`
	}
)

// batchCreate returns the operation that creates the role bindings of a batch.
func batchCreate(operations platform.RoleBindings) operation {
	return func(r *request) (any, error) {
		body, err := r.readBody()
		if err != nil {
			return nil, err
		}
		made, err := operations.CreateBatch(r.Context(), decodeBatch(body))
		return batchAnswer{made}, err
	}
}

// decodeBatch decodes a batch.
func decodeBatch(body []byte) platform.BindingBatch {
	var d decoding
	if !d.isJSON(body) {
		return platform.BindingBatch{Malformed: d.malformed}
	}
	top := d.object("", body, "parent", "requests", "roleUid")
	made := platform.BindingBatch{Parent: d.uid("parent", top["parent"]), RoleUID: d.uid("roleUid", top["roleUid"])}
	var requests []json.RawMessage
	if raw := top["requests"]; raw != nil && json.Unmarshal(raw, &requests) != nil {
		d.add("requests", "must be a list")
	}
	made.Requests = make([]platform.BatchRequest[*platform.RoleBinding], len(requests))
	if len(requests) <= platform.MaxBatchBindings { // the operation rejects more without reading them
		for i, raw := range requests {
			made.Requests[i] = d.decodeRequest(fmt.Sprintf("requests[%d].", i), raw)
		}
	}
	made.Malformed = d.malformed
	return made
}

// decodeRequest decodes a request of a batch. prefix begins the names of its fields in violations.
func (d *decoding) decodeRequest(prefix string, raw json.RawMessage) platform.BatchRequest[*platform.RoleBinding] {
	members := d.object(prefix, raw, "parent", "roleBinding")
	binding := members["roleBinding"]
	if fields, _ := d.allMembers(prefix+"roleBinding.", binding); len(fields) == 0 {
		binding = []byte("{}") // for null and a binding that is absent
	}
	return platform.BatchRequest[*platform.RoleBinding]{UID: d.uid(prefix+"parent", members["parent"]), Input: fieldmask.JSONInput[*platform.RoleBinding](binding, nil)}
}
