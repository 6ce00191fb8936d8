package scalar

import (
	"atrium/platform/core"
	"atrium/platform/iam"
)

// AcceptGroupInvitePayload is the result of accepting an invite: the new role binding.
type AcceptGroupInvitePayload = Created[*iam.RoleBinding]

// Created is the result of a creation.
type Created[T any] struct {
	Node T
	Edge *Edge[T]
}

// Updated is the result of an update.
type Updated[T any] struct{ Node T }

// BatchDeleteExternalGroupRoleMappingsPayload is the result of deleting several mappings.
type BatchDeleteExternalGroupRoleMappingsPayload struct {
	ExternalGroupRoleMappings []*iam.ExternalGroupRoleMapping
	DeletedIDs                []string // the global ids
	DeletedUIDs               []core.UID
}

// Delete is the input of every deletion.
type Delete struct {
	UID          core.UID
	IfMatch      *string
	ValidateOnly *bool
}

// Deleted is the result of every deletion.
type Deleted struct {
	DeletedID  string // the global id
	DeletedUID core.UID
}
