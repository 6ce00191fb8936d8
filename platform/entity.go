package platform

// An Entity is a resource with a key that other systems can store and use to read
// it again.
type Entity interface{ IsEntity() }

// IsEntity marks an entity.
func (*Group) IsEntity() {}

// IsEntity marks an entity.
func (*Identity) IsEntity() {}

// IsEntity marks an entity.
func (*Role) IsEntity() {}

// IsEntity marks an entity.
func (*RoleBinding) IsEntity() {}

// IsEntity marks an entity.
func (*Event) IsEntity() {}

// IsEntity marks an entity.
func (*Repo) IsEntity() {}

// IsEntity marks an entity.
func (*Tag) IsEntity() {}

// IsEntity marks an entity.
func (*Advisory) IsEntity() {}

// IsEntity marks an entity.
func (*Vulnerability) IsEntity() {}

// IsEntity marks an entity.
func (*AdvisoryDocument) IsEntity() {}

// IsEntity marks an entity.
func (*Subscription) IsEntity() {}

// IsEntity marks an entity.
func (*Delivery) IsEntity() {}

// IsEntity marks an entity.
func (*Artifact) IsEntity() {}

// IsEntity marks an entity.
func (*ArtifactVersion) IsEntity() {}

// IsEntity marks an entity.
func (*IdentityProvider) IsEntity() {}

// IsEntity marks an entity.
func (*AccountAssociation) IsEntity() {}

// IsEntity marks an entity.
func (*GroupInvite) IsEntity() {}

// IsEntity marks an entity.
func (*ExternalGroupRoleMapping) IsEntity() {}

// IsEntity marks an entity.
func (*TermsAcceptance) IsEntity() {}
