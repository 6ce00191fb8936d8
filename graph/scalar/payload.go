package scalar

import "atrium/platform"

// AcceptGroupInvitePayload answers that a role was bound to the invited.
type AcceptGroupInvitePayload = Created[platform.RoleBinding]

// Created answers a creation.
type Created[T any] struct {
	Node *T
	Edge *Edge[T]
}

// Updated answers a change.
type Updated[T any] struct{ Node *T }

// BatchDeleteExternalGroupRoleMappingsPayload answers that mappings were
// deleted.
type BatchDeleteExternalGroupRoleMappingsPayload struct {
	ExternalGroupRoleMappings []*platform.ExternalGroupRoleMapping
	DeletedIDs                []string // the global ids
	DeletedUIDs               []platform.UID
}

// Delete is the input of every deletion.
type Delete struct{ UID platform.UID }

// Deleted answers every deletion.
type Deleted struct {
	DeletedID  string // the global id
	DeletedUID platform.UID
}

// TestSubscriptionPayload answers that a test event is under way.
type TestSubscriptionPayload struct{ EventID string }
