package platform

// Tables are the tables of the database by area, and the queries beside them. They have no state: each call names the
// store or the transaction that it goes through. The store makes them.
type Tables struct {
	IAMTables
	InventoryTables
	LibraryTables
	EventQueries
	SubscriptionTables
	KeyQueries
	SearchQueries
}

// IAMTables has who may do what.
type IAMTables struct {
	Groups                    Table[*Group, *GroupFilter]
	Identities                Table[*Identity, *IdentityFilter]
	Roles                     Table[*Role, *RoleFilter]
	RoleBindings              Table[*RoleBinding, *RoleBindingFilter]
	IdentityProviders         Table[*IdentityProvider, *IdentityProviderFilter]
	AccountAssociations       Table[*AccountAssociation, *AccountAssociationFilter]
	GroupInvites              Table[*GroupInvite, *GroupInviteFilter]
	ExternalGroupRoleMappings Table[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]
	TermsAcceptances          Table[*TermsAcceptance, *TermsFilter]

	GroupQueries
	IdentityQueries
	RoleBindingQueries
	IdentityProviderQueries
	IssuerQueries
	SignInQueries
	TermsAcceptanceQueries
}

// InventoryTables has what is in registries, and what is known to be vulnerable.
type InventoryTables struct {
	Repos           Table[*Repo, *RepoFilter]
	Tags            Table[*Tag, *TagFilter]
	ImageLists      Table[*Image, *ImageFilter] // read only
	Packages        Table[*Package, *PackageFilter]
	PackageVersions Table[*PackageVersion, *PackageVersionFilter]
	Advisories      Table[*Advisory, *AdvisoryFilter]
	Vulnerabilities Table[*Vulnerability, *VulnerabilityFilter]
	Findings        Table[*Finding, *FindingFilter]

	RepoQueries
	TagQueries
	ImageQueries
	SBOMQueries
	PackageQueries
	PackageVersionQueries
	AdvisoryQueries
	ExploitationQueries
	FindingQueries
	TriageRuleQueries
}

// LibraryTables has the artifacts of libraries.
type LibraryTables struct {
	Artifacts        Table[*Artifact, *ArtifactFilter]
	ArtifactVersions Table[*ArtifactVersion, *ArtifactVersionFilter]
}

// SubscriptionTables has who wants which events, and what was sent.
type SubscriptionTables struct {
	Subscriptions Table[*Subscription, *SubscriptionFilter]
	Deliveries    Table[*Delivery, *DeliveryFilter]

	SubscriptionQueries
	WebhookQueries
}
