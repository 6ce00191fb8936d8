package rest

import (
	"encoding/json"
	"fmt"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
)

// A batch is the body of batchCreate, and a batchAnswer is its response.
type (
	batch struct {
		Parent   core.UID       `json:"parent"`
		Requests []batchRequest `json:"requests"`
		RoleUID  core.UID       `json:"roleUid,omitempty"` // role of the requests that name none
	}
	batchRequest struct {
		Parent      core.UID        `json:"parent,omitempty"` // must equal the parent of the batch
		RoleBinding iam.RoleBinding `json:"roleBinding"`
	}
	batchAnswer struct {
		RoleBindings []*iam.RoleBinding `json:"roleBindings"`
	}
)

// batchCreate returns the operation that creates the role bindings of a batch.
func batchCreate(operations iam.RoleBindings) operation {
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
func decodeBatch(body []byte) iam.BindingBatch {
	var d decoding
	if !d.isJSON(body) {
		return iam.BindingBatch{Malformed: d.malformed}
	}
	top := d.object("", body, "parent", "requests", "roleUid")
	made := iam.BindingBatch{Parent: d.uid("parent", top["parent"]), RoleUID: d.uid("roleUid", top["roleUid"])}
	var requests []json.RawMessage
	if raw := top["requests"]; raw != nil && json.Unmarshal(raw, &requests) != nil {
		d.add("requests", "must be a list")
	}
	made.Requests = make([]core.BatchRequest[*iam.RoleBinding], len(requests))
	if len(requests) <= iam.MaxBatchBindings { // the operation rejects more without reading them
		for i, raw := range requests {
			made.Requests[i] = d.decodeRequest(fmt.Sprintf("requests[%d].", i), raw)
		}
	}
	made.Malformed = d.malformed
	return made
}

// decodeRequest decodes a request of a batch. prefix begins the names of its fields in violations.
func (d *decoding) decodeRequest(prefix string, raw json.RawMessage) core.BatchRequest[*iam.RoleBinding] {
	members := d.object(prefix, raw, "parent", "roleBinding")
	binding := members["roleBinding"]
	if fields, _ := d.allMembers(prefix+"roleBinding.", binding); len(fields) == 0 {
		binding = []byte("{}") // for null and a binding that is absent
	}
	return core.BatchRequest[*iam.RoleBinding]{UID: d.uid(prefix+"parent", members["parent"]), Input: fieldmask.JSONInput[*iam.RoleBinding](binding, nil)}
}
