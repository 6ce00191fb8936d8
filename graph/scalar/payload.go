package scalar

import "atrium/platform"

// CreateGroupPayload and its like are the payloads of mutations. The generated
// code finds them by name.
type (
	CreateGroupPayload       = Created[platform.Group]
	CreateIdentityPayload    = Created[platform.Identity]
	CreateRolePayload        = Created[platform.Role]
	CreateRoleBindingPayload = Created[platform.RoleBinding]
	CreateRepoPayload        = Created[platform.Repo]
	CreateTagPayload         = Created[platform.Tag]

	UpdateGroupPayload       = Updated[platform.Group]
	UpdateIdentityPayload    = Updated[platform.Identity]
	UpdateRolePayload        = Updated[platform.Role]
	UpdateRoleBindingPayload = Updated[platform.RoleBinding]
	UpdateRepoPayload        = Updated[platform.Repo]
)

// Created answers a creation.
type Created[T any] struct {
	Node *T
	Edge *Edge[T]
}

// Updated answers a change.
type Updated[T any] struct{ Node *T }

// Delete is the input of every deletion.
type Delete struct{ UID platform.UID }

// Deleted answers every deletion.
type Deleted struct {
	DeletedID  string // the global id
	DeletedUID platform.UID
}
