package platform

// An Entity is a resource with a key of its own, which other systems can hold
// and come back with.
type Entity interface{ IsEntity() }

// IsEntity marks the kinds that have one.
func (*Group) IsEntity()         {}
func (*Identity) IsEntity()      {} //nolint:revive // one comment says it for all
func (*Role) IsEntity()          {} //nolint:revive // as above
func (*RoleBinding) IsEntity()   {} //nolint:revive // as above
func (*Repo) IsEntity()          {} //nolint:revive // as above
func (*Tag) IsEntity()           {} //nolint:revive // as above
func (*Advisory) IsEntity()      {} //nolint:revive // as above
func (*Vulnerability) IsEntity() {} //nolint:revive // as above
func (*Subscription) IsEntity()  {} //nolint:revive // as above
