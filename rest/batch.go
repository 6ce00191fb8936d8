package rest

import (
	"encoding/json"
	"fmt"

	"atrium/platform"
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
		parent, inputs, malformed := decodeBatch(body)
		if len(malformed) > 0 {
			return nil, platform.Invalid(malformed...)
		}
		made, err := operations.CreateBatch(r.Context(), parent, inputs)
		return batchAnswer{made}, err
	}
}

// decodeBatch decodes a batch and reports all violations of its form. The operation
// checks the role bindings themselves.
func decodeBatch(body []byte) (platform.UID, []platform.Input[*platform.RoleBinding], []platform.Violation) {
	var d decoding
	if !d.isJSON(body) {
		return "", nil, d.malformed
	}
	top := d.object("", body, "parent", "requests", "roleUid")
	parent, role := d.uid("parent", top["parent"]), d.uid("roleUid", top["roleUid"])
	var requests []json.RawMessage
	if raw := top["requests"]; raw != nil && json.Unmarshal(raw, &requests) != nil {
		d.add("requests", "must be a list")
	}
	inputs := make([]platform.Input[*platform.RoleBinding], len(requests))
	if len(requests) > platform.MaxBatchBindings {
		return parent, inputs, d.malformed // the operation rejects so many without reading them
	}
	for i, raw := range requests {
		at := fmt.Sprintf("requests[%d].", i)
		one := d.object(at, raw, "parent", "roleBinding")
		if own := d.uid(at+"parent", one["parent"]); own != "" && own != parent {
			d.add(at+"parent", "must be the parent of the batch")
		}
		binding := d.withRole(at+"roleBinding", one["roleBinding"], role)
		inputs[i] = platform.JSONInput[*platform.RoleBinding](binding, nil)
	}
	return parent, inputs, d.malformed
}

// withRole sets the role of the batch in a role binding without a role.
func (d *decoding) withRole(field string, raw json.RawMessage, role platform.UID) []byte {
	binding, ok := d.allMembers(field+".", raw)
	if !ok {
		return nil
	}
	if binding == nil { // null
		binding = map[string]json.RawMessage{}
	}
	if binding["roleUid"] == nil && binding["role_uid"] == nil && role != "" {
		binding["roleUid"], _ = json.Marshal(role)
	}
	merged, _ := json.Marshal(binding) // valid JSON cannot fail
	return merged
}
