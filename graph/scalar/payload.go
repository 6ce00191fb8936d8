package scalar

import "atrium/platform"

// Payloads of mutations. The generated code finds them by name.
type (
	// CreateGroupPayload answers that a group was made.
	CreateGroupPayload = Created[platform.Group]
	// CreateIdentityPayload answers that an identity was made.
	CreateIdentityPayload = Created[platform.Identity]
	// CreateRolePayload answers that a role was made.
	CreateRolePayload = Created[platform.Role]
	// CreateRoleBindingPayload answers that a role binding was made.
	CreateRoleBindingPayload = Created[platform.RoleBinding]
	// CreateRepoPayload answers that a repo was made.
	CreateRepoPayload = Created[platform.Repo]
	// CreateTagPayload answers that a tag was made.
	CreateTagPayload = Created[platform.Tag]
	// CreateIdentityProviderPayload answers that an identity provider was made.
	CreateIdentityProviderPayload = Created[platform.IdentityProvider]
	// CreateAccountAssociationPayload answers that an account association was made.
	CreateAccountAssociationPayload = Created[platform.AccountAssociation]
	// CreateGroupInvitePayload answers that an invite was made.
	CreateGroupInvitePayload = Created[platform.GroupInvite]
	// CreateExternalGroupRoleMappingPayload answers that a mapping was made.
	CreateExternalGroupRoleMappingPayload = Created[platform.ExternalGroupRoleMapping]
	// AcceptGroupInvitePayload answers that a role was bound to the invited.
	AcceptGroupInvitePayload = Created[platform.RoleBinding]

	// UpdateGroupPayload answers that a group was changed.
	UpdateGroupPayload = Updated[platform.Group]
	// UpdateIdentityPayload answers that an identity was changed.
	UpdateIdentityPayload = Updated[platform.Identity]
	// UpdateRolePayload answers that a role was changed.
	UpdateRolePayload = Updated[platform.Role]
	// UpdateRoleBindingPayload answers that a role binding was changed.
	UpdateRoleBindingPayload = Updated[platform.RoleBinding]
	// UpdateRepoPayload answers that a repo was changed.
	UpdateRepoPayload = Updated[platform.Repo]
	// UpdateIdentityProviderPayload answers that an identity provider was changed.
	UpdateIdentityProviderPayload = Updated[platform.IdentityProvider]
	// UpdateAccountAssociationPayload answers that an account association was changed.
	UpdateAccountAssociationPayload = Updated[platform.AccountAssociation]
)

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
