// Written by generate.mjs. Do not edit.

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** How access changed. */
export type AccessChangeKind =
  /** A role binding was created. */
  | 'GIVEN'
  /** A role binding got another identity, role or expiry. */
  | 'CHANGED'
  /** A role binding was deleted. */
  | 'TAKEN'
  /** A role binding expired. */
  | 'EXPIRED'
  /** A custom role got other capabilities, for everyone who has it. */
  | 'ROLE_CHANGED';

/** How the versions of a range are ordered. */
export type AffectedRangeType =
  /** By semantic versioning. */
  | 'SEMVER'
  /** By the order of the artifact's ecosystem. */
  | 'ECOSYSTEM'
  /** By the order of the commits of a Git repository. */
  | 'GIT';

/** What an advisory event is. */
export type AdvisoryEventType =
  /** The vulnerability was found in the artifact. */
  | 'DETECTION'
  /** An analysis confirmed that the artifact is affected. */
  | 'TRUE_POSITIVE_DETERMINATION'
  /** A fixed version exists. */
  | 'FIXED'
  /** An analysis found that the artifact is not affected. */
  | 'FALSE_POSITIVE_DETERMINATION'
  /** No examination is planned. */
  | 'ANALYSIS_NOT_PLANNED'
  /** No fix is planned. */
  | 'FIX_NOT_PLANNED'
  /** The fix must come from the project the artifact is made from. */
  | 'PENDING_UPSTREAM_FIX'
  /** Existing versions carry a patch. */
  | 'PATCHED';

/** The result of a review. */
export type ReviewState =
  /** Not reviewed yet. */
  | 'PENDING'
  /** The event is correct. */
  | 'APPROVED'
  /** The event must be changed. */
  | 'REQUEST_CHANGES'
  /** The event is wrong. */
  | 'REJECTED';

/** Reasons why a vulnerability does not affect an artifact. */
export type FalsePositiveType =
  /** The vulnerability record itself is contested. */
  | 'VULNERABILITY_RECORD_ANALYSIS_CONTESTED'
  /** The record is about another component. */
  | 'COMPONENT_VULNERABILITY_MISMATCH'
  /** The artifact has a version of the code that is not vulnerable. */
  | 'VULNERABLE_CODE_VERSION_NOT_USED'
  /** The vulnerable code is not in the package. */
  | 'VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE'
  /** The vulnerable code never runs. */
  | 'VULNERABLE_CODE_NOT_IN_EXECUTION_PATH'
  /** An attacker cannot reach the vulnerable code. */
  | 'VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY'
  /** Protection in the artifact keeps it from being exploited. */
  | 'INLINE_MITIGATIONS_EXIST';

/** The state of an advisory. It follows from the event that became known last; of several at once, from the last one in the list. */
export type AdvisoryState =
  /** Neither fixed nor found to be a false positive. */
  | 'OPEN'
  /** Fixed. */
  | 'FIXED'
  /** Found to be a false positive. */
  | 'NOT_AFFECTED';

/** The severity of a vulnerability. */
export type SeverityRating =
  /** 9.0 to 10.0 by CVSS 3 or 4. */
  | 'CRITICAL'
  /** 7.0 to 8.9; by CVSS 2, to 10.0. */
  | 'HIGH'
  /** 4.0 to 6.9. */
  | 'MEDIUM'
  /** 0.1 to 3.9; by CVSS 2, from 0. */
  | 'LOW'
  /** 0 by CVSS 3 or 4. */
  | 'NONE'
  /** No source has a severity. */
  | 'UNKNOWN';

/** Which advisories to list; all given fields must match. */
export type AdvisoryFilter = {
  /** Only with one of these names at the source. */
  advisoryIds?: Array<string> | null | undefined;
  /** Only with one of these earlier names. */
  legacyAdvisoryIds?: Array<string> | null | undefined;
  /**
   * Only about one of these artifacts. Names are compared as the ecosystem of the artifact compares them: PyPI treats Zope_Interface as
   * zope.interface, NuGet and npm ignore case, and Maven and Go compare exactly.
   */
  artifactNames?: Array<string> | null | undefined;
  /** Only about artifacts of exactly one of these types. Debian:11 and Debian:12 are different types. */
  artifactTypes?: Array<string> | null | undefined;
  /** Only about artifacts of one of these architectures, in any usual spelling: x86_64 is amd64. */
  artifactArchitectures?: Array<string> | null | undefined;
  /** Only about one of these components. */
  componentNames?: Array<string> | null | undefined;
  /** Only about components of one of these types. */
  componentTypes?: Array<string> | null | undefined;
  /** Only about components in one of these places. */
  componentLocations?: Array<string> | null | undefined;
  /** Only with one of these among its aliases or its upstream ids. */
  aliases?: Array<string> | null | undefined;
  /** Only from this feed. */
  origin?: string | null | undefined;
  /** Only with an event in one of these states of review. */
  eventReviewStates?: Array<ReviewState> | null | undefined;
  /** Only with an event by one of these authors. */
  eventAuthors?: Array<string> | null | undefined;
  /** Only without any event by one of these authors. */
  excludeEventAuthors?: Array<string> | null | undefined;
  /** Only with an event reviewed by one of these. */
  eventReviewers?: Array<string> | null | undefined;
  /** Only with an event of one of these types. Different events may meet different conditions. */
  eventTypes?: Array<AdvisoryEventType> | null | undefined;
  /** Only if the event that became known last has this type; of several at once, the last one in the list counts. */
  latestEventType?: AdvisoryEventType | null | undefined;
  /** Only with this text in its id, in an id of another vulnerability that it names, or in the name of its artifact or component, ignoring case. */
  query?: string | null | undefined;
  /** Only with one of these ratings. */
  severities?: Array<SeverityRating> | null | undefined;
  /** Only in one of these states. */
  states?: Array<AdvisoryState> | null | undefined;
  /** Only with at least this score, from 0 to 10. Advisories without a score are left out. */
  minScore?: number | null | undefined;
  /** true: includes withdrawn advisories; default: false. */
  withdrawn?: boolean | null | undefined;
  /** Only these, at most 1000. Unknown ones are ignored. */
  uids?: Array<string> | null | undefined;
  /** Only those created at this time or later. */
  createdSince?: string | null | undefined;
  /** Only those last changed at this time or later. */
  updatedSince?: string | null | undefined;
  /** Only those last changed before this time. */
  updatedBefore?: string | null | undefined;
};

/** How to sort advisories: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type AdvisoryOrder = {
  /** Field to sort by. */
  field: AdvisoryOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What advisories can be sorted by. */
export type AdvisoryOrderField =
  /** By advisoryId, in byte order. */
  | 'ADVISORY_ID'
  /** By artifactName, in byte order. */
  | 'ARTIFACT_NAME'
  /** By the time of publication. Descends by default. */
  | 'CREATE_TIME'
  /** By the time of the last change. Descends by default. */
  | 'UPDATE_TIME'
  /** By uid: depth first along the tree of groups. */
  | 'UID'
  /** By the time of withdrawal; advisories that are not withdrawn come first. Reads and sorts all of the list: filter long ones first. Descends by default. */
  | 'DELETE_TIME'
  /** By rating, then by score; the worst is the largest. Descends by default. */
  | 'SEVERITY';

/**
 * The right to one kind of operation. A role holds capabilities; bound to an identity on a group it grants them on that
 * group and everything below it. The dotted names of other interfaces (`repo.list`) are written in upper snake case.
 */
export type Capability =
  /** Create groups. */
  | 'GROUPS_CREATE'
  /** Change groups. */
  | 'GROUPS_UPDATE'
  /** Read and list groups. */
  | 'GROUPS_LIST'
  /** Delete groups. */
  | 'GROUPS_DELETE'
  /** Create invites to groups. */
  | 'GROUP_INVITES_CREATE'
  /** Read and list invites to groups. */
  | 'GROUP_INVITES_LIST'
  /** Delete invites to groups. */
  | 'GROUP_INVITES_DELETE'
  /** Create roles. */
  | 'ROLES_CREATE'
  /** Change roles. */
  | 'ROLES_UPDATE'
  /** Read and list roles. */
  | 'ROLES_LIST'
  /** Delete roles. */
  | 'ROLES_DELETE'
  /** Create role bindings, for roles whose every capability you hold yourself. */
  | 'ROLE_BINDINGS_CREATE'
  /** Change role bindings. */
  | 'ROLE_BINDINGS_UPDATE'
  /** Read and list role bindings. */
  | 'ROLE_BINDINGS_LIST'
  /** Delete role bindings. */
  | 'ROLE_BINDINGS_DELETE'
  /** Create a group's associations with cloud accounts. */
  | 'ACCOUNT_ASSOCIATIONS_CREATE'
  /** Change a group's associations with cloud accounts. */
  | 'ACCOUNT_ASSOCIATIONS_UPDATE'
  /** Read and list a group's associations with cloud accounts. */
  | 'ACCOUNT_ASSOCIATIONS_LIST'
  /** Delete a group's associations with cloud accounts. */
  | 'ACCOUNT_ASSOCIATIONS_DELETE'
  /** Create identities. */
  | 'IDENTITY_CREATE'
  /** Change identities. */
  | 'IDENTITY_UPDATE'
  /** Read and list identities. */
  | 'IDENTITY_LIST'
  /** Delete identities. */
  | 'IDENTITY_DELETE'
  /** Create identity providers and their group mappings. */
  | 'IDENTITY_PROVIDERS_CREATE'
  /** Change identity providers. */
  | 'IDENTITY_PROVIDERS_UPDATE'
  /** Read and list identity providers and their group mappings. */
  | 'IDENTITY_PROVIDERS_LIST'
  /** Delete identity providers and their group mappings. */
  | 'IDENTITY_PROVIDERS_DELETE'
  /** Create event subscriptions. */
  | 'SUBSCRIPTIONS_CREATE'
  /** Read and list event subscriptions. */
  | 'SUBSCRIPTIONS_LIST'
  /** Delete event subscriptions. */
  | 'SUBSCRIPTIONS_DELETE'
  /** Create repos. */
  | 'REPO_CREATE'
  /** Change repos and their readmes. */
  | 'REPO_UPDATE'
  /** Read and list repos and their readmes. */
  | 'REPO_LIST'
  /** Delete repos. */
  | 'REPO_DELETE'
  /** Create tags, and move existing ones to another digest. */
  | 'TAG_CREATE'
  /** Change tags. */
  | 'TAG_UPDATE'
  /** Read and list tags. */
  | 'TAG_LIST'
  /** Delete tags. */
  | 'TAG_DELETE'
  /** Read architectures and sizes of images. */
  | 'MANIFEST_METADATA_LIST'
  /** Read library artifacts and their versions. */
  | 'LIBRARIES_ARTIFACTS_LIST'
  /** Read and list advisories. */
  | 'ADVISORIES_LIST'
  /** Accept terms for a group. */
  | 'TERMS_ACCEPT'
  /** List which terms a group has accepted. */
  | 'TERMS_LIST'
  /** Read and list findings: vulnerabilities of images. */
  | 'FINDINGS_LIST'
  /** Decide about findings. */
  | 'FINDINGS_UPDATE'
  /** Import SBOMs: what images hold. */
  | 'SBOMS_IMPORT'
  /** Import VEX: decisions of a group about findings. */
  | 'VEX_IMPORT'
  /** Import advisories of a group. */
  | 'ADVISORIES_IMPORT'
  /** Import repos, tags and images. */
  | 'REGISTRY_IMPORT'
  /** Create sources: places that the server reads by itself, and imports into a group. */
  | 'SOURCES_CREATE'
  /** Change sources, have them read now, and end their runs. */
  | 'SOURCES_UPDATE'
  /** Read and list sources and their runs. */
  | 'SOURCES_LIST'
  /** Delete sources. */
  | 'SOURCES_DELETE';

/** The state of a delivery. */
export type DeliveryState =
  /** No attempt was made yet. */
  | 'PENDING'
  /** The last attempt failed; there will be another one. */
  | 'RETRYING'
  /** The sink has accepted it. */
  | 'DELIVERED'
  /** It has failed. There are no further attempts, unless `redeliver` asks for them. */
  | 'FAILED';

/** Which deliveries to list; all given fields must match. */
export type DeliveryFilter = {
  /** Only those in this state. */
  state?: DeliveryState | null | undefined;
  /** Only deliveries of this event, by its id. */
  event?: string | number | null | undefined;
  /** Only those created at this time or later. */
  createdSince?: string | null | undefined;
  /** Only those last changed at this time or later. */
  updatedSince?: string | null | undefined;
  /** Only those last changed before this time. */
  updatedBefore?: string | null | undefined;
};

/** How to sort deliveries: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type DeliveryOrder = {
  /** Field to sort by. */
  field: DeliveryOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What deliveries can be sorted by. */
export type DeliveryOrderField =
  /** By the time of creation. Descends by default. */
  | 'CREATE_TIME'
  /** By uid. */
  | 'UID'
  /** By the time of the last change. Reads and sorts all of the list: filter long ones first. Descends by default. */
  | 'UPDATE_TIME'
  /** By the time of the last attempt, those without one first. Reads and sorts all of the list: filter long ones first. Descends by default. */
  | 'LAST_ATTEMPT_TIME'
  /** By the time of the next attempt, those without one first. Reads and sorts all of the list: filter long ones first. */
  | 'NEXT_ATTEMPT_TIME'
  /** By eventType, in byte order. Reads and sorts all of the list: filter long ones first. */
  | 'EVENT_TYPE';

/** The deliveries to send again. */
export type RedeliverInput = {
  /** Their uids, 1 to 200. */
  uids: Array<string>;
};

/**
 * The kind of an event: area, kind and what happened, such as IAM_ROLE_BINDING_CREATED for the type `iam.rolebindings.created`. In a filter,
 * the kind of a single change also selects changes that were made together with others.
 */
export type EventKind =
  /** A group was created. */
  | 'IAM_GROUP_CREATED'
  /** A group was changed. */
  | 'IAM_GROUP_UPDATED'
  /** A group was deleted. */
  | 'IAM_GROUP_DELETED'
  /** An identity was created. */
  | 'IAM_IDENTITY_CREATED'
  /** An identity was changed. */
  | 'IAM_IDENTITY_UPDATED'
  /** An identity was deleted. */
  | 'IAM_IDENTITY_DELETED'
  /** A role was created. */
  | 'IAM_ROLE_CREATED'
  /** A role was changed. */
  | 'IAM_ROLE_UPDATED'
  /** A role was deleted. */
  | 'IAM_ROLE_DELETED'
  /** A role binding was created. */
  | 'IAM_ROLE_BINDING_CREATED'
  /** A role binding was created together with others. */
  | 'IAM_ROLE_BINDING_CREATED_BATCH'
  /** A role binding was changed. */
  | 'IAM_ROLE_BINDING_UPDATED'
  /** A role binding was deleted. */
  | 'IAM_ROLE_BINDING_DELETED'
  /** A role binding expired, and was deleted. The event has no actor. */
  | 'IAM_ROLE_BINDING_EXPIRED'
  /** Somebody reviewed a role binding and confirmed it. */
  | 'IAM_ROLE_BINDING_CONFIRMED'
  /** An identity provider was created. */
  | 'IAM_IDENTITY_PROVIDER_CREATED'
  /** An identity provider was changed. */
  | 'IAM_IDENTITY_PROVIDER_UPDATED'
  /** An identity provider was deleted. */
  | 'IAM_IDENTITY_PROVIDER_DELETED'
  /** An account association was created. */
  | 'IAM_ACCOUNT_ASSOCIATION_CREATED'
  /** An account association was changed. */
  | 'IAM_ACCOUNT_ASSOCIATION_UPDATED'
  /** An account association was deleted. */
  | 'IAM_ACCOUNT_ASSOCIATION_DELETED'
  /** An invite was created. */
  | 'IAM_GROUP_INVITE_CREATED'
  /** An invite was deleted. */
  | 'IAM_GROUP_INVITE_DELETED'
  /** A mapping of an external group was created. */
  | 'IAM_EXTERNAL_GROUP_ROLE_MAPPING_CREATED'
  /** A mapping of an external group was deleted. */
  | 'IAM_EXTERNAL_GROUP_ROLE_MAPPING_DELETED'
  /** A mapping of an external group was deleted together with others. */
  | 'IAM_EXTERNAL_GROUP_ROLE_MAPPING_DELETED_BATCH'
  /** Terms were accepted for a group. */
  | 'IAM_TERMS_ACCEPTED'
  /** A repo was created. */
  | 'REGISTRY_REPO_CREATED'
  /** A repo was changed. */
  | 'REGISTRY_REPO_UPDATED'
  /** A repo was deleted. */
  | 'REGISTRY_REPO_DELETED'
  /** A tag was created, or moved to another image. */
  | 'REGISTRY_TAG_CREATED'
  /** A tag was deleted. */
  | 'REGISTRY_TAG_DELETED'
  /** An event subscription was created. */
  | 'EVENTS_SUBSCRIPTION_CREATED'
  /** An event subscription was changed. */
  | 'EVENTS_SUBSCRIPTION_UPDATED'
  /** An event subscription was deleted. */
  | 'EVENTS_SUBSCRIPTION_DELETED'
  /** A test event of a subscription. */
  | 'EVENTS_SUBSCRIPTION_TEST'
  /** A subscription was disabled, because its sink kept failing. */
  | 'EVENTS_SUBSCRIPTION_DISABLED'
  /** An operator allowed an organization to decide about the callers of an issuer. */
  | 'IAM_GROUP_ISSUER_ALLOWED'
  /** An operator took that permission back. */
  | 'IAM_GROUP_ISSUER_REVOKED'
  /** A delivery was queued again. */
  | 'EVENTS_SUBSCRIPTION_REDELIVERED'
  /** A source was created. */
  | 'SOURCES_SOURCE_CREATED'
  /** A source was changed, or somebody asked to start or to end a run. */
  | 'SOURCES_SOURCE_UPDATED'
  /** A source was deleted. */
  | 'SOURCES_SOURCE_DELETED'
  /** A source could not be read, for the first time since its last success. */
  | 'SOURCES_SOURCE_FAILED'
  /** A source could be read again. */
  | 'SOURCES_SOURCE_RECOVERED'
  /** Findings of an image appeared. */
  | 'VULNERABILITIES_FINDING_OPENED'
  /** Findings of an image ended. */
  | 'VULNERABILITIES_FINDING_RESOLVED'
  /** Findings of an image changed, or somebody decided about them. */
  | 'VULNERABILITIES_FINDING_CHANGED'
  /** Somebody, or a VEX document, decided about the findings of vulnerabilities in a group, including findings that appear later. */
  | 'VULNERABILITIES_FINDING_TRIAGED'
  /** Somebody set within how many days the findings of a group or repo must be fixed. */
  | 'VULNERABILITIES_FINDING_DUE_POLICY_SET';

/** A new mapping. */
export type CreateExternalGroupRoleMappingInput = {
  /** Uid of the identity provider. */
  parent: string;
  /** The group as the provider's tokens name it, at most 255 bytes. */
  externalGroupId: string;
  /** Uid of the role: a built-in role, or a role of the scope or of a group above it. */
  roleUid: string;
  /** Uid of the group on which the role applies: the provider's group (the default) or a group below it. */
  scope?: string | null | undefined;
  /** An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer. */
  idempotencyKey?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which mapping to delete. */
export type DeleteExternalGroupRoleMappingInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Why there is a finding. */
export type FindingBasis =
  /** The installed version is affected. */
  | 'VERSION'
  /** The name matches, and versions are not known. Import SBOMs for exact findings. */
  | 'NAME';

/** What is known and decided about a finding. */
export type FindingState =
  /** Somebody must look after it. */
  | 'OPEN'
  /** Somebody looks into it. It counts as open. */
  | 'IN_TRIAGE'
  /** The risk is accepted. */
  | 'ACCEPTED'
  /** The image is not affected after all. */
  | 'NOT_AFFECTED'
  /** It has ended: the advisory or the packages of the image have changed. */
  | 'RESOLVED';

/** Why a finding does not affect its image: a reason of VEX, which somebody has given, or a reason of an advisory. */
export type FindingJustification =
  /** VEX: the image does not have the vulnerable component. */
  | 'COMPONENT_NOT_PRESENT'
  /** VEX: the image has the component without the vulnerable code. */
  | 'VULNERABLE_CODE_NOT_PRESENT'
  /** VEX: the vulnerable code never runs. */
  | 'VULNERABLE_CODE_NOT_IN_EXECUTE_PATH'
  /** VEX and advisories: an attacker cannot reach the vulnerable code. */
  | 'VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY'
  /** VEX: protection in the image keeps it from being exploited. */
  | 'INLINE_MITIGATIONS_ALREADY_EXIST'
  /** Advisory: the vulnerability record itself is contested. */
  | 'VULNERABILITY_RECORD_ANALYSIS_CONTESTED'
  /** Advisory: the record is about another component. */
  | 'COMPONENT_VULNERABILITY_MISMATCH'
  /** Advisory: the artifact has a version of the code that is not vulnerable. */
  | 'VULNERABLE_CODE_VERSION_NOT_USED'
  /** Advisory: the vulnerable code is not in the package. */
  | 'VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE'
  /** Advisory: the vulnerable code never runs. */
  | 'VULNERABLE_CODE_NOT_IN_EXECUTION_PATH'
  /** Advisory: protection in the artifact keeps it from being exploited. */
  | 'INLINE_MITIGATIONS_EXIST';

/** Which findings to list; all given fields must match. A list of values has at most 1000. */
export type FindingFilter = {
  /** Only with one of these ratings. */
  severities?: Array<SeverityRating> | null | undefined;
  /** Only with at least this score, from 0 to 10. Findings without a score are left out. */
  minScore?: number | null | undefined;
  /** Only in one of these states. Without it, all but RESOLVED. */
  states?: Array<FindingState> | null | undefined;
  /** Only with one of these bases. */
  basis?: Array<FindingBasis> | null | undefined;
  /** Only those with, or without, a version that fixes them. */
  fixable?: boolean | null | undefined;
  /** Only those that the KEV catalog lists, or does not list. */
  knownExploited?: boolean | null | undefined;
  /** Only with at least this EPSS score, from 0 to 1. Findings without a known score are left out. */
  minEpss?: number | null | undefined;
  /** Only of vulnerabilities with one of these as the id, alias or upstream id of an advisory. */
  vulnerabilityIds?: Array<string> | null | undefined;
  /** Only of packages with exactly one of these names, as the image spells them. */
  packages?: Array<string> | null | undefined;
  /** Only of one of these ecosystems; one without a release, such as Debian, includes all of its releases. */
  ecosystems?: Array<string> | null | undefined;
  /** Only of packages that the image needs for one of these. Where it is not known, the finding is left out. */
  scopes?: Array<PackageScope> | null | undefined;
  /** Only of packages on which the project in the image depends itself, or does not. Where it is not known, the finding is left out. */
  direct?: boolean | null | undefined;
  /** Only those that their images brought into the repos, or did not. With `firstSeenSince`, these are what the pushes since then brought. */
  newInRepo?: boolean | null | undefined;
  /** Only those whose vulnerabilityId, sources and package contain all of these words, at most 16, in any order and ignoring case. */
  query?: string | null | undefined;
  /** Only those that this identity looks after, by its uid. */
  assignee?: string | null | undefined;
  /** Only those that somebody looks after; false: that nobody does. */
  assigned?: boolean | null | undefined;
  /** Only those that the caller looks after; false: that the caller does not. */
  assignedToMe?: boolean | null | undefined;
  /** Only those that have a `dueTime`; false: that have none. */
  hasDueTime?: boolean | null | undefined;
  /** Only those first seen at this time or later. */
  firstSeenSince?: string | null | undefined;
  /** Only those first seen before this time. */
  firstSeenBefore?: string | null | undefined;
  /** Only those that ended at this time or later. Without `states`, only RESOLVED findings. */
  resolvedSince?: string | null | undefined;
  /** Only those that changed at this time or later. */
  updatedSince?: string | null | undefined;
  /** Only those that are due before this time. */
  dueBefore?: string | null | undefined;
  /** Only those whose decision ends before this time. Without `states`, only IN_TRIAGE, ACCEPTED and NOT_AFFECTED findings. */
  expireBefore?: string | null | undefined;
  /** Only those that this actor decided about: the uid of an identity, or the name of an operator's command. */
  decidedBy?: string | null | undefined;
  /** Only of images that have a tag with one of these names, deprecated or not. */
  tagNames?: Array<string> | null | undefined;
  /** true: also findings of images without a tag, or with deprecated tags only, which do not count. Default: false. */
  deprecatedTags?: boolean | null | undefined;
  /** Only of images with one of these digests. */
  digests?: Array<string> | null | undefined;
  /** Only of the vulnerabilities and packages of these advisories, by their uids. */
  advisories?: Array<string> | null | undefined;
  /** Only in repos with all of these labels, at most 16. Needs repo.list. */
  labels?: Array<LabelConditionInput> | null | undefined;
  /** Only these. Unknown ones are ignored. */
  uids?: Array<string> | null | undefined;
  /**
   * Only those that one of these filters finds, in addition to all other conditions. Inside `or` and `not`, no state is left out. If the
   * outermost filter has no `states`, and one inside has `states` or `resolvedSince`, findings of all states are listed. Filters can be
   * nested three deep, at most 20 in all; `deprecatedTags` can be given only in the outermost one. Reads all of the list.
   */
  or?: Array<FindingFilter> | null | undefined;
  /** Only those that this filter does not find, with the limits of `or`. Reads all of the list. */
  not?: FindingFilter | null | undefined;
};

/** How to sort findings: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type FindingOrder = {
  /** Field to sort by. */
  field: FindingOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What findings can be sorted by. */
export type FindingOrderField =
  /** By rating, then by score; the worst is the largest. Descends by default. */
  | 'SEVERITY'
  /** By the time when they were first seen. Descends by default. */
  | 'FIRST_SEEN'
  /** By the EPSS score; findings without one are the smallest. Reads and sorts all of the list, unless that is a whole organization: filter long ones first. Descends by default. */
  | 'EPSS'
  /** By the name of the package, in byte order. Reads and sorts all of the list, unless that is a whole organization: filter long ones first. */
  | 'PACKAGE'
  /** By the time when they are due; those without one come last. Reads and sorts all of the list, unless that is a whole organization: filter long ones first. */
  | 'DUE'
  /** By the time of the last change. Reads and sorts all of the list: filter long ones first. Descends by default. */
  | 'UPDATE_TIME'
  /** By uid: depth first along the tree of groups. Reads and sorts all of the list: filter long ones first. */
  | 'UID';

/** Why an upgrade is urgent. */
export type UpgradeReason =
  /** The KEV catalog lists the vulnerability of a finding. */
  | 'KNOWN_EXPLOITED'
  /** The vulnerability of a finding has an EPSS score of 0.1 or more. */
  | 'LIKELY_EXPLOITED'
  /** A finding is rated CRITICAL or HIGH. */
  | 'SEVERE'
  /** More than one image has such a finding. */
  | 'SEVERAL_IMAGES'
  /** A finding was first seen 90 days ago or earlier. */
  | 'LONG_OPEN'
  /** A finding should have been fixed by now. */
  | 'OVERDUE';

/** Which findings to decide about, and how. Give `uids`, or `within` and `where`. */
export type UpdateFindingsInput = {
  /** Uids of findings, at most 10,000. One that is RESOLVED is an error. */
  uids?: Array<string> | null | undefined;
  /** Uid of a group or repo. */
  within?: string | null | undefined;
  /** Which findings there; `{}` has all. Needed with `within`. RESOLVED ones cannot be asked for. */
  where?: FindingFilter | null | undefined;
  /** true: decide in an operation, which goes on after the answer, about any number of findings. Only together with `within` and `where`. */
  background?: boolean | null | undefined;
  /**
   * The decision as a whole: without `justification`, `note` or `expireTime` beside it, these are cleared. OPEN takes a decision back,
   * including a decision about later findings. NOT_AFFECTED needs a `justification`.
   */
  state?: FindingDecision | null | undefined;
  /** Why it is NOT_AFFECTED, as VEX has it. Only together with that state. */
  justification?: VexJustification | null | undefined;
  /** A note, at most 8192 bytes. Without `state`, it changes nothing else; null clears it. */
  note?: string | null | undefined;
  /** Uid of an identity of the organization, which the caller may see, to look after the findings; null: nobody. It is not part of the decision. */
  assignee?: string | null | undefined;
  /** The time by which the findings must be fixed; null: no time. It is not part of the decision. */
  dueTime?: string | null | undefined;
  /** When the decision ends, and the findings are open again; in the future. Only together with IN_TRIAGE, ACCEPTED or NOT_AFFECTED. */
  expireTime?: string | null | undefined;
  /**
   * Names of the fields to change. Without it, the fields that are given are changed; null clears one. `*` replaces all.
   * INVALID_ARGUMENT for a name that is no updatable field.
   */
  updateMask?: Array<string> | null | undefined;
};

/** The states of findings that somebody can decide on. */
export type FindingDecision =
  /** Somebody must look after it. It takes a decision back. */
  | 'OPEN'
  /** Somebody looks into it. It counts as open. */
  | 'IN_TRIAGE'
  /** The risk is accepted. */
  | 'ACCEPTED'
  /** The image is not affected after all. */
  | 'NOT_AFFECTED';

/** Why an image is not affected, as VEX has it. */
export type VexJustification =
  /** The image does not have the vulnerable component. */
  | 'COMPONENT_NOT_PRESENT'
  /** The image has the component without the vulnerable code. */
  | 'VULNERABLE_CODE_NOT_PRESENT'
  /** The vulnerable code never runs. */
  | 'VULNERABLE_CODE_NOT_IN_EXECUTE_PATH'
  /** An attacker cannot reach the vulnerable code. */
  | 'VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY'
  /** Protection in the image keeps it from being exploited. */
  | 'INLINE_MITIGATIONS_ALREADY_EXIST';

/** How far an organization is set up. */
export type OrgStatus =
  /** Being set up. */
  | 'INITIALIZING'
  /** In use. */
  | 'READY'
  /** Suspended by the operator. */
  | 'SUSPENDED';

/** A new group. */
export type CreateGroupInput = {
  /** Uid of the group to create it in. Without it, a root group is created, which works only if the service allows sign-up. The caller becomes its owner. */
  parent?: string | null | undefined;
  /** 1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the parent. */
  name: string;
  /** One line of at most 512 characters. */
  description?: string | null | undefined;
  /** Labels for grouping: at most 64, each key once. */
  labels?: Array<LabelInput> | null | undefined;
  /** An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer. */
  idempotencyKey?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Changes to a group. */
export type UpdateGroupInput = {
  /** Its uid. */
  uid: string;
  /** New name; cannot be cleared. */
  name?: string | null | undefined;
  /** New description. */
  description?: string | null | undefined;
  /** All labels from now on. With `updateMask: ["labels.team"]`, only the label `team` changes; it is removed if you do not give it. */
  labels?: Array<LabelInput> | null | undefined;
  /**
   * Field mask: only the listed fields change, and one that is listed but not given is cleared. `*` alone replaces every updatable field.
   * Without a mask the given fields change: omitted ones stay, null clears. INVALID_ARGUMENT for the name of a field that you cannot update.
   */
  updateMask?: Array<string> | null | undefined;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which group to delete. */
export type DeleteGroupInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** How to sort invites: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type GroupInviteOrder = {
  /** Field to sort by. */
  field: GroupInviteOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What invites can be sorted by. */
export type GroupInviteOrderField =
  /** By uid: depth first along the tree of groups. */
  | 'UID'
  /** By the time of creation. Descends by default. */
  | 'CREATE_TIME'
  /** By the time of expiry. */
  | 'EXPIRATION_TIME'
  /** By email, in byte order, those without one first. Reads and sorts all of the list: filter long ones first. */
  | 'EMAIL'
  /** By the name of the role, in byte order. Reads and sorts all of the list: filter long ones first. */
  | 'ROLE_NAME';

/** A new invite. */
export type CreateGroupInviteInput = {
  /** Uid of the group to invite to. */
  parent: string;
  /** Uid of the role to offer: a built-in role, or a role of that group or of a group above it. */
  roleUid: string;
  /** Email address of the only person who can accept; default: anyone with the code. */
  email?: string | null | undefined;
  /** How long it can be accepted: 1 second to 365 days. */
  ttl: string;
  /** Whether it is deleted once it is accepted. */
  singleUse?: boolean | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which invite to delete. */
export type DeleteGroupInviteInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** The code that the caller received. */
export type AcceptGroupInviteInput = {
  /** The code of the invite. */
  code: string;
};

/** How an identity makes requests. It can be of several kinds. */
export type IdentityKind =
  /** By a user of an identity provider. */
  | 'USER'
  /** By a token with claims that match, as `claimMatch` says. */
  | 'CLAIM_MATCH'
  /** By a token that is signed with keys of the identity, as `staticKeys` says. */
  | 'STATIC_KEYS'
  /** Not at all. */
  | 'NOBODY';

/** The type of rule by which tokens act as an identity. */
export type RelationshipType =
  /** By the claims of a token of a known issuer. */
  | 'CLAIM_MATCH'
  /** By keys stored with the identity. */
  | 'STATIC';

/** Which identities to list; all given fields must match. */
export type IdentityFilter = {
  /** Exactly this name. */
  name?: string | null | undefined;
  /** Only those with this kind of rule. */
  relationshipType?: RelationshipType | null | undefined;
  /** Only those without a request since this time, including those never seen. */
  lastSeenBefore?: string | null | undefined;
  /** True: only those that have made no request; false: only the others. */
  neverSeen?: boolean | null | undefined;
  /** True: only those without role bindings, not counting expired ones; false: only the others. Roles from external groups are not bindings. Needs role_bindings.list. */
  withoutBindings?: boolean | null | undefined;
  /**
   * Only those whose names, descriptions and email addresses contain all of these words, at most 16, in any order and ignoring case. A word
   * of three letters or more matches anywhere, and a shorter one only at the start of a word. `totalCount` stays exact.
   */
  query?: string | null | undefined;
  /** Only these, at most 1000. Unknown ones are ignored. */
  uids?: Array<string> | null | undefined;
  /** Only those created at this time or later. */
  createdSince?: string | null | undefined;
  /** Only those last changed at this time or later. */
  updatedSince?: string | null | undefined;
  /** Only those last changed before this time. */
  updatedBefore?: string | null | undefined;
};

/** How to sort identities: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type IdentityOrder = {
  /** Field to sort by. */
  field: IdentityOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What identities can be sorted by. */
export type IdentityOrderField =
  /** By name, in byte order. */
  | 'NAME'
  /** By the time of creation. Descends by default. */
  | 'CREATE_TIME'
  /** By the time of the last change. Descends by default. */
  | 'UPDATE_TIME'
  /** By uid: depth first along the tree of groups. */
  | 'UID'
  /** By the time of the last request; identities without one are the earliest. Descends by default. */
  | 'LAST_SEEN_TIME'
  /** By email, in byte order, those without one first. Reads and sorts all of the list: filter long ones first. */
  | 'EMAIL';

/** A new identity. */
export type CreateIdentityInput = {
  /** Uid of the group to create it in. */
  parent: string;
  /** 1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`. */
  name: string;
  /** One line of at most 512 characters. */
  description?: string | null | undefined;
  /** One line of at most 512 characters. */
  company?: string | null | undefined;
  /** The claims that make a token act as it. Without this and `staticKeys`, no token does. */
  claimMatch?: ClaimMatchInput | null | undefined;
  /** Keys of its tokens. An error together with `claimMatch`. */
  staticKeys?: StaticKeysInput | null | undefined;
  /** An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer. */
  idempotencyKey?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/**
 * What the claims of a token must be. Give exactly one rule for the issuer and one for the subject, and at most one for the audience.
 * Patterns are RE2, at most 512 bytes and 1000 instructions when they are compiled, and match the whole value. Names and values of claims
 * have at most 1,024 bytes each, 16 KiB in total with the patterns, and no control characters. FAILED_PRECONDITION: ISSUER_NOT_VERIFIED if a
 * pattern may not be used for the issuer yet, TOO_MANY_RULES if the organization has 20 identities for the same issuer and subject, or the
 * same start of a subject pattern.
 */
export type ClaimMatchInput = {
  /** `iss` must be exactly this https URL. */
  issuer?: string | null | undefined;
  /** `iss` must match. */
  issuerPattern?: string | null | undefined;
  /** `sub` must be exactly this. */
  subject?: string | null | undefined;
  /** `sub` must match. */
  subjectPattern?: string | null | undefined;
  /** `aud` must contain exactly this. Without a rule, `aud` must contain this service. */
  audience?: string | null | undefined;
  /** `aud` must contain a value that matches. */
  audiencePattern?: string | null | undefined;
  /** Further claims and the exact values they must have, or one element if they are lists; at most 20 together with `claimPatterns`. */
  claims?: Record<string, string> | null | undefined;
  /** Further claims and the patterns they must match, or one element if they are lists. */
  claimPatterns?: Record<string, string> | null | undefined;
};

/** Keys of an issuer that cannot be reached. FAILED_PRECONDITION TOO_MANY_RULES if the organization has 20 identities for the same issuer and subject. */
export type StaticKeysInput = {
  /** `iss` of the tokens, an https URL. */
  issuer: string;
  /** `sub` of the tokens. */
  subject: string;
  /** JSON Web Key Set as text, at least one key, at most 16 KiB. */
  issuerKeys: string;
  /** When the keys expire. */
  expirationTime?: string | null | undefined;
  /** The allowed audiences of tokens, at most 20; if empty, tokens must be issued for this service. */
  audiences?: Array<string> | null | undefined;
};

/** Changes to an identity. */
export type UpdateIdentityInput = {
  /** Its uid. */
  uid: string;
  /** New name; cannot be cleared. */
  name?: string | null | undefined;
  /** New description. */
  description?: string | null | undefined;
  /** New company. */
  company?: string | null | undefined;
  /** New rule; replaces the whole old one. */
  claimMatch?: ClaimMatchInput | null | undefined;
  /** New keys; they replace all old ones. An error together with `claimMatch`. */
  staticKeys?: StaticKeysInput | null | undefined;
  /**
   * Field mask: only the listed fields change, and one that is listed but not given is cleared. `*` alone replaces every updatable field.
   * Without a mask the given fields change: omitted ones stay, null clears. INVALID_ARGUMENT for the name of a field that you cannot update.
   */
  updateMask?: Array<string> | null | undefined;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which identity to delete. */
export type DeleteIdentityInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** The claim that identifies a user of an identity provider. */
export type CorrelationRule =
  /** `sub`. */
  | 'SUB_EQUALS_EXTERNAL_ID'
  /** `oid`, which Microsoft Entra gives a person in every application. */
  | 'OID_EQUALS_EXTERNAL_ID';

/** A new identity provider. */
export type CreateIdentityProviderInput = {
  /** Uid of the group that users sign in to. */
  parent: string;
  /** 1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the group. */
  name: string;
  /** One line of at most 512 characters. */
  description?: string | null | undefined;
  /** Uid of the role that new users get: a built-in role, or a role of that group or of a group above it. */
  defaultRole: string;
  /** The tokens that it accepts; default: none. */
  oidc?: OidcInput | null | undefined;
  /** An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer. */
  idempotencyKey?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** The tokens that an identity provider accepts. */
export type OidcInput = {
  /** `iss` of the tokens, an https URL. */
  issuer: string;
  /** The client at the provider. */
  clientId: string;
  /**
   * The client's secret, stored encrypted. No response shows it, and Atrium does not use it, because it checks tokens by the keys of the
   * issuer. In an update, an absent secret stays as it is and null removes it.
   */
  clientSecret?: string | null | undefined;
  /** Scopes that clients request from the provider, in addition to the usual ones; at most 20. Atrium keeps them for clients; it starts no sign-ins itself. */
  additionalScopes?: Array<string> | null | undefined;
  /** The claim that lists the external groups of a user; without it, mappings have no effect. */
  groupsClaim?: string | null | undefined;
  /** The claim that identifies a user; default: SUB_EQUALS_EXTERNAL_ID. It cannot be changed later. */
  correlationRule?: CorrelationRule | null | undefined;
  /** Whether clients use PKCE to sign in. Atrium keeps it for clients; the console always uses PKCE. */
  pkceEnabled?: boolean | null | undefined;
};

/** Changes to an identity provider. */
export type UpdateIdentityProviderInput = {
  /** Its uid. */
  uid: string;
  /** New name; cannot be cleared. */
  name?: string | null | undefined;
  /** New description. */
  description?: string | null | undefined;
  /** Uid of the new default role; cannot be cleared. */
  defaultRole?: string | null | undefined;
  /** New configuration; replaces the whole old one, except for an absent client secret. */
  oidc?: OidcInput | null | undefined;
  /**
   * Field mask: only the listed fields change, and one that is listed but not given is cleared. `*` alone replaces every updatable field.
   * Without a mask the given fields change: omitted ones stay, null clears. INVALID_ARGUMENT for the name of a field that you cannot update.
   */
  updateMask?: Array<string> | null | undefined;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which identity provider to verify. */
export type VerifyIdentityProviderInput = {
  /** Its uid. */
  uid: string;
};

/** Which identity provider to delete. */
export type DeleteIdentityProviderInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** What an image needs a package for. */
export type PackageScope =
  /** A program does not run without it. */
  | 'REQUIRED'
  /** A program can run without it. */
  | 'OPTIONAL'
  /** It is there to build or to test, like packages that CycloneDX excludes, and development dependencies of npm. */
  | 'DEVELOPMENT';

/** Which packages of an image to list; all given fields must match. A list of values has at most 1000. */
export type ImagePackageFilter = {
  /** Only with one of these names, as the ecosystem of the package compares them: PyPI treats Zope_Interface as zope.interface. */
  names?: Array<string> | null | undefined;
  /** Only of one of these ecosystems; one without a release, such as Debian, includes all of its releases. */
  ecosystems?: Array<string> | null | undefined;
  /**
   * Only those whose names contain all of these words, at most 16, in any order and ignoring case. A word of three letters or more matches
   * anywhere, and a shorter one only at the start of a word.
   */
  query?: string | null | undefined;
  /**
   * Only with one of these licenses, ignoring case. Each one is an SPDX id, which also finds expressions with it such as `MIT OR
   * Apache-2.0`, or a license as the SBOM spells it. `NONE` finds packages for which the SBOM has no license. At most 100.
   */
  licenses?: Array<string> | null | undefined;
  /** Only direct dependencies, or only others. Both leave out packages for which this is not known. */
  direct?: boolean | null | undefined;
  /** Only with one of these scopes. Packages without a known scope are left out. */
  scopes?: Array<PackageScope> | null | undefined;
};

/** The state of an operation. */
export type OperationState =
  /** It is at work. */
  | 'RUNNING'
  /** It has ended well; some records may have been refused. */
  | 'SUCCEEDED'
  /** It could not go on. */
  | 'FAILED'
  /** Somebody has stopped it. */
  | 'CANCELLED';

/** Which operation to stop. */
export type CancelOperationInput = {
  /** Its uid. */
  uid: string;
};

/** Which packages to list; all given fields must match. A list of values has at most 1000. */
export type PackageFilter = {
  /** Only with one of these names, as the ecosystem of the package compares them: PyPI treats Zope_Interface as zope.interface. */
  names?: Array<string> | null | undefined;
  /** Only of one of these ecosystems; one without a release, such as Debian, includes all of its releases. */
  ecosystems?: Array<string> | null | undefined;
  /**
   * Only those whose names contain all of these words, at most 16, in any order and ignoring case. A word of three letters or more matches
   * anywhere, and a shorter one only at the start of a word.
   */
  query?: string | null | undefined;
  /**
   * Only with a version that an image in the scope holds under one of these licenses, ignoring case. Each one is an SPDX id, which also
   * finds expressions with it such as `MIT OR Apache-2.0`, or a license as SBOMs spell it. `NONE` finds packages for which an SBOM has no
   * license. At most 100.
   */
  licenses?: Array<string> | null | undefined;
};

/** How to sort packages: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type PackageOrder = {
  /** Field to sort by. */
  field: PackageOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What packages can be sorted by. */
export type PackageOrderField =
  /** By name, in byte order. */
  | 'NAME'
  /** By uid: a stable order without a meaning. */
  | 'UID';

/** A part of the catalog. */
export type CatalogTier =
  /** Applications. */
  | 'APPLICATION'
  /** Base images. */
  | 'BASE'
  /** Images with FIPS-validated cryptography. */
  | 'FIPS'
  /** Images for machine learning. */
  | 'AI'
  /** Tools for developers. */
  | 'DEVTOOLS'
  /** Images under a commercial agreement. */
  | 'COMMERCIAL';

/** Which repos to list; all given fields must match. */
export type RepoFilter = {
  /** Exactly this name. */
  name?: string | null | undefined;
  /**
   * Only those whose names, descriptions and aliases contain all of these words, at most 16, in any order and ignoring case. A word of three
   * letters or more matches anywhere, and a shorter one only at the start of a word. `totalCount` stays exact.
   */
  query?: string | null | undefined;
  /** Only repos in one of these parts of the catalog. */
  tiers?: Array<CatalogTier> | null | undefined;
  /** Only those that are part of one of these bundles, at most 1000 of at most 512 characters each. */
  bundles?: Array<string> | null | undefined;
  /** Only repos with one of these other names, at most 1000 of at most 512 characters each. Case matters. */
  aliases?: Array<string> | null | undefined;
  /** Only repos that have an image with a tag that is not deprecated, and with an open finding of one of these ratings. Needs findings.list and tag.list. */
  openSeverities?: Array<SeverityRating> | null | undefined;
  /**
   * Only repos that have an image with a tag that is not deprecated, and with an open finding of an advisory with one of these as id, alias
   * or upstream id, at most 1000. Needs findings.list and tag.list.
   */
  vulnerabilityIds?: Array<string> | null | undefined;
  /** Only repos that have an image with a tag that is not deprecated, and with this package. Needs manifest.metadata.list and tag.list. */
  package?: PackageCondition | null | undefined;
  /**
   * true: only repos that have an image with a tag that is not deprecated, and with an SBOM that lists its packages. false: only repos that
   * have such an image without an SBOM, so that its packages are not known. Needs manifest.metadata.list and tag.list.
   */
  packagesKnown?: boolean | null | undefined;
  /** Only those with a tag that meets all of this. Needs tag.list. */
  tags?: TagCondition | null | undefined;
  /** Only those with all of these labels, at most 16. */
  labels?: Array<LabelConditionInput> | null | undefined;
  /** Only these, at most 1000. Unknown ones are ignored. */
  uids?: Array<string> | null | undefined;
  /** Only those created at this time or later. */
  createdSince?: string | null | undefined;
  /** Only those last changed at this time or later. */
  updatedSince?: string | null | undefined;
  /** Only those last changed before this time. */
  updatedBefore?: string | null | undefined;
};

/** A tag that a repo has; all given fields must match. Without any, every tag matches. */
export type TagCondition = {
  /** Exactly this name. */
  name?: string | null | undefined;
  /** The tag points to the image with this digest. */
  digest?: string | null | undefined;
  /** Whether the tag is deprecated. */
  deprecated?: boolean | null | undefined;
  /** The last update of the tag is at this time or later. */
  updatedSince?: string | null | undefined;
};

/** How to sort repos: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type RepoOrder = {
  /** Field to sort by. */
  field: RepoOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What repos can be sorted by. */
export type RepoOrderField =
  /** By name, in byte order. */
  | 'NAME'
  /** By the time of creation. Descends by default. */
  | 'CREATE_TIME'
  /** By the time of the last change. Descends by default. */
  | 'UPDATE_TIME'
  /** By uid: depth first along the tree of groups. */
  | 'UID'
  /**
   * By the number of critical open findings, then of high ones, and so on; the worst is the largest. Repos are left out if the caller lacks
   * findings.list or tag.list. Descends by default.
   */
  | 'OPEN_SEVERITY';

/** A package that an image holds, at some of its versions; all given fields must match. */
export type PackageCondition = {
  /** Its name, as its ecosystem compares names. */
  name: string;
  /** Its ecosystem as OSV names it; one without a release, such as Debian, includes all of its releases. Any where absent. */
  ecosystem?: string | null | undefined;
  /** Exactly this version. */
  version?: string | null | undefined;
  /**
   * A version before this one, in the order of the ecosystem. Versions that the ecosystem cannot read do not match; INVALID_ARGUMENT if no
   * ecosystem with such a package can read this one.
   */
  versionBelow?: string | null | undefined;
  /** This version, or a later one. */
  versionNotBelow?: string | null | undefined;
};

/** A new repo. Each list of texts has at most 64 KiB in total. */
export type CreateRepoInput = {
  /** Uid of the group to create it in. */
  parent: string;
  /** OCI repository name of at most 255 characters, unique in the group. */
  name: string;
  /** One line of at most 512 characters. */
  description?: string | null | undefined;
  /** The part of the catalog it belongs to. */
  catalogTier?: CatalogTier | null | undefined;
  /** Bundles it is part of, at most 1000 of at most 512 characters each. */
  bundles?: Array<string> | null | undefined;
  /** Other names that searches find, at most 1000 of at most 512 characters each. */
  aliases?: Array<string> | null | undefined;
  /** Tags that are kept up to date, at most 1000 of at most 512 characters each. */
  activeTags?: Array<string> | null | undefined;
  /** The source to copy from. */
  syncConfig?: SyncConfigInput | null | undefined;
  /** Labels for grouping: at most 64, each key once. */
  labels?: Array<LabelInput> | null | undefined;
  /** An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer. */
  idempotencyKey?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** The source of a copied repo. */
export type SyncConfigInput = {
  /** The source to copy from. */
  source: string;
  /** Setting for Google Cloud, kept as it was given. */
  google?: string | null | undefined;
  /** Setting for Amazon, kept as it was given. */
  amazon?: string | null | undefined;
  /** Setting for Azure, kept as it was given. */
  azure?: string | null | undefined;
};

/** Changes to a repo. */
export type UpdateRepoInput = {
  /** Its uid. */
  uid: string;
  /** New name; cannot be cleared. */
  name?: string | null | undefined;
  /** New description. */
  description?: string | null | undefined;
  /** New part of the catalog. */
  catalogTier?: CatalogTier | null | undefined;
  /** All bundles it is part of from now on. */
  bundles?: Array<string> | null | undefined;
  /** All other names from now on. */
  aliases?: Array<string> | null | undefined;
  /** All tags kept up to date from now on. */
  activeTags?: Array<string> | null | undefined;
  /** New source; replaces the whole old one. */
  syncConfig?: SyncConfigInput | null | undefined;
  /** All labels from now on. With `updateMask: ["labels.team"]`, only the label `team` changes; it is removed if you do not give it. */
  labels?: Array<LabelInput> | null | undefined;
  /**
   * Field mask: only the listed fields change, and one that is listed but not given is cleared. `*` alone replaces every updatable field.
   * Without a mask the given fields change: omitted ones stay, null clears. INVALID_ARGUMENT for the name of a field that you cannot update.
   */
  updateMask?: Array<string> | null | undefined;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which repo to delete. */
export type DeleteRepoInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** The new readme of a repo. */
export type UpdateRepoReadmeInput = {
  /** Uid of the repo. */
  uid: string;
  /** Markdown, at most 256 KiB. Null removes the readme; if you leave it out, the readme stays. */
  content?: string | null | undefined;
  /** Field mask: `content` or `*`. */
  updateMask?: Array<string> | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** A new role. */
export type CreateRoleInput = {
  /** Uid of the group to create it in. */
  parent: string;
  /** 1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the group. */
  name: string;
  /** One line of at most 512 characters. */
  description?: string | null | undefined;
  /** What it allows. */
  capabilities?: Array<Capability> | null | undefined;
  /** An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer. */
  idempotencyKey?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Changes to a role. */
export type UpdateRoleInput = {
  /** Its uid. */
  uid: string;
  /** New name; cannot be cleared. */
  name?: string | null | undefined;
  /** New description. */
  description?: string | null | undefined;
  /** All that it allows from now on. */
  capabilities?: Array<Capability> | null | undefined;
  /**
   * Field mask: only the listed fields change, and one that is listed but not given is cleared. `*` alone replaces every updatable field.
   * Without a mask the given fields change: omitted ones stay, null clears. INVALID_ARGUMENT for the name of a field that you cannot update.
   */
  updateMask?: Array<string> | null | undefined;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which role to delete. */
export type DeleteRoleInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which role bindings to list; all given fields must match. */
export type RoleBindingFilter = {
  /** Only bindings of this identity, by its uid. */
  identity?: string | null | undefined;
  /** Only bindings on exactly this group, by its uid. */
  group?: string | null | undefined;
  /** Only bindings of this role, by its uid. */
  role?: string | null | undefined;
  /** Only bindings whose role holds this capability, without expired ones. Needs nothing beyond the list: if you may list role bindings, you may ask what they grant. */
  capability?: Capability | null | undefined;
  /** Only bindings of identities of at least one of these kinds. Needs identity.list: bindings of other identities are left out. */
  identityKinds?: Array<IdentityKind> | null | undefined;
  /** Only bindings that will expire. */
  expiring?: RoleBindingExpiry | null | undefined;
  /** Only those created at this time or later. */
  createdSince?: string | null | undefined;
  /** Only bindings of identities without a request since this time, including identities that never made one. Needs identity.list: bindings of other identities are left out. */
  identityLastSeenBefore?: string | null | undefined;
  /** Only bindings that were created before this time and that nobody has confirmed since: what is left of an access review that began then. */
  unreviewedSince?: string | null | undefined;
  /** Only these, at most 1000. Unknown ones are ignored. */
  uids?: Array<string> | null | undefined;
};

/** Which role bindings that will expire to list. Bindings that have already expired are left out. */
export type RoleBindingExpiry = {
  /** Only those that expire before this time; null for any time. */
  before?: string | null | undefined;
};

/** How to sort role bindings: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type RoleBindingOrder = {
  /** Field to sort by. */
  field: RoleBindingOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What role bindings can be sorted by. */
export type RoleBindingOrderField =
  /** By the time of creation. Descends by default. */
  | 'CREATE_TIME'
  /** By uid: depth first along the tree of groups. */
  | 'UID'
  /** By the name of the identity, in byte order. Reads and sorts all of the list: filter long ones first. */
  | 'IDENTITY_NAME'
  /** By the name of the group, in byte order. Reads and sorts all of the list: filter long ones first. */
  | 'GROUP_NAME'
  /** By the name of the role, in byte order. Reads and sorts all of the list: filter long ones first. */
  | 'ROLE_NAME';

/** A new role binding. */
export type CreateRoleBindingInput = {
  /** Uid of the group on which it applies. */
  parent: string;
  /** Uid of the identity that gets the role; it must be in that group or above it. */
  identityUid: string;
  /** Uid of the role: a built-in role, or a role of that group or of a group above it. */
  roleUid: string;
  /** When the binding expires, in the future; from then on it grants nothing. Default: never. */
  expireTime?: string | null | undefined;
  /** An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer. */
  idempotencyKey?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Changes to a role binding. */
export type UpdateRoleBindingInput = {
  /** Its uid. */
  uid: string;
  /** Uid of the new identity; cannot be cleared. */
  identityUid?: string | null | undefined;
  /** Uid of the new role; cannot be cleared. */
  roleUid?: string | null | undefined;
  /** When the binding expires, in the future; from then on it grants nothing. Null: never. */
  expireTime?: string | null | undefined;
  /**
   * Field mask: only the listed fields change, and one that is listed but not given is cleared. `*` alone replaces every updatable field.
   * Without a mask the given fields change: omitted ones stay, null clears. INVALID_ARGUMENT for the name of a field that you cannot update.
   */
  updateMask?: Array<string> | null | undefined;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which role binding to delete. */
export type DeleteRoleBindingInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which role bindings to delete. */
export type BatchDeleteRoleBindingsInput = {
  /** Their uids, 1 to 100, each once. */
  uids: Array<string>;
  /** Why, at most 8192 bytes. The events then have it as `reviewNote`, and the caller as `reviewer`. Without a note they have no review, not even an earlier one. */
  note?: string | null | undefined;
};

/** Which role bindings to confirm. */
export type ConfirmRoleBindingsInput = {
  /** The role bindings as they were seen, 1 to 100, each once. */
  requests: Array<ConfirmRoleBindingsRequest>;
  /** Why, at most 8192 bytes. */
  note?: string | null | undefined;
};

/** A role binding as the reviewer saw it. What you give must still be so; what you leave out is not compared. */
export type ConfirmRoleBindingsRequest = {
  /** Its uid. */
  uid: string;
  /** Uid of the identity that has the role. */
  identityUid?: string | null | undefined;
  /** Uid of the role. */
  roleUid?: string | null | undefined;
  /** When it expires; null: never. */
  expireTime?: string | null | undefined;
};

/** The direction of a sort order. Where none is given, the worst and the newest come first, as each field says; names, uids and times to come ascend. */
export type OrderDirection =
  /** Smallest, earliest first. */
  | 'ASC'
  /** Largest, latest first. */
  | 'DESC';

/** One label of a group or a repo. */
export type LabelInput = {
  /** Its key: 1 to 63 letters, digits, `.`, `_` and `-` that begin and end with a letter or a digit, after an optional domain and slash. */
  key: string;
  /** Its value: empty, or at most 63 letters, digits, `.`, `_` and `-` that begin and end with a letter or a digit. */
  value: string;
};

/** A condition about a label. */
export type LabelConditionInput = {
  /** Its key. */
  key: string;
  /** Its value; null or left out: any. */
  value?: string | null | undefined;
};

/** A kind that a search looks at. */
export type SearchKind =
  /** Groups, by name and description. */
  | 'GROUP'
  /** Identities, by name, description and email address. */
  | 'IDENTITY'
  /** Roles, including built-in ones, by name and description. */
  | 'ROLE'
  /** Repos, by name, description and aliases. */
  | 'REPO'
  /** Tags, by name. */
  | 'TAG';

/** A field that a search looks at. */
export type SearchField =
  /** The name. */
  | 'NAME'
  /** The description. */
  | 'DESCRIPTION'
  /** One of the other names of a repo. */
  | 'ALIASES'
  /** An email address of an identity. */
  | 'EMAIL';

/** What a source provides. */
export type SourceType =
  /** Records of vulnerabilities in the form of OSV. */
  | 'OSV'
  /** The KEV catalog (known exploited vulnerabilities). Only the operator can have it read. */
  | 'KEV'
  /** The EPSS scores (Exploit Prediction Scoring System). Only the operator can have them read. */
  | 'EPSS'
  /** Repos, tags, images and SBOMs of a registry. */
  | 'OCI'
  /** VEX documents: OpenVEX, CycloneDX and CSAF. */
  | 'VEX'
  /** SBOM documents: SPDX and CycloneDX. */
  | 'SBOM';

/** What the source of a group can provide. */
export type GroupSourceType =
  /** Records of vulnerabilities in the form of OSV. */
  | 'OSV'
  /** Repos, tags, images and SBOMs of a registry. */
  | 'OCI'
  /** VEX documents: OpenVEX, CycloneDX and CSAF. */
  | 'VEX'
  /** SBOM documents: SPDX and CycloneDX. */
  | 'SBOM';

/** How a run is going, or how it ended. */
export type SourceState =
  /** There was no run yet. */
  | 'WAITING'
  /** A server reads it now. */
  | 'RUNNING'
  /** It was read. Some records may have been refused: the report says which. */
  | 'SUCCEEDED'
  /** It could not be read, or nothing in it could be used. */
  | 'FAILED'
  /** Somebody ended it. */
  | 'CANCELLED';

/** A new source. */
export type CreateSourceInput = {
  /** Uid of the group that the records are imported into. */
  parent: string;
  /** 1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the group. */
  name: string;
  /** What it provides. */
  type: GroupSourceType;
  /**
   * https URL of a public host: of an archive, a document or an index. For OSV with ecosystems, it is the URL of a folder with the layout of
   * osv.dev, which is the default; for OCI, the URL of a registry, or of one of its repos.
   */
  url?: string | null | undefined;
  /** Ecosystems of OSV records, such as Go or npm, at most 50; default: all that the url has. */
  ecosystems?: Array<string> | null | undefined;
  /** Patterns of the repos of a registry, in which `*` stands for any text without a slash, at most 100; all repos where absent. */
  patterns?: Array<string> | null | undefined;
  /** Whether to remove tags that the registry no longer has. */
  prune?: boolean | null | undefined;
  /** Time between two runs, 60 seconds to 30 days; default: an hour, or six hours for VEX. */
  interval?: string | null | undefined;
  /** The credentials for requests; default: none. */
  credentials?: SourceCredentialsInput | null | undefined;
  /** Whether it is read only when somebody asks for it. */
  paused?: boolean | null | undefined;
  /** An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer. */
  idempotencyKey?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** The credentials for requests to a source. */
export type SourceCredentialsInput = {
  /** The user name; without it, the password is sent as a bearer token. */
  username?: string | null | undefined;
  /** The password or token, stored encrypted; no response shows it. In an update, an absent one stays as it is and null removes it. */
  password?: string | null | undefined;
};

/** Changes to a source. */
export type UpdateSourceInput = {
  /** Its uid. */
  uid: string;
  /** New name; cannot be cleared. */
  name?: string | null | undefined;
  /** New URL. */
  url?: string | null | undefined;
  /** New ecosystems. */
  ecosystems?: Array<string> | null | undefined;
  /** New patterns. */
  patterns?: Array<string> | null | undefined;
  /** Whether to remove tags that the registry no longer has. */
  prune?: boolean | null | undefined;
  /** New time between two runs; the default if cleared. */
  interval?: string | null | undefined;
  /** New credentials; they replace all of the old ones, except for an absent password. */
  credentials?: SourceCredentialsInput | null | undefined;
  /** Whether it is read only when somebody asks for it. */
  paused?: boolean | null | undefined;
  /**
   * Field mask: only the listed fields change, and one that is listed but not given is cleared. `*` alone replaces every updatable field.
   * Without a mask the given fields change: omitted ones stay, null clears. INVALID_ARGUMENT for the name of a field that you cannot update.
   */
  updateMask?: Array<string> | null | undefined;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** Which source to read. */
export type RunSourceInput = {
  /** Its uid. */
  uid: string;
};

/** The source whose run to end. */
export type CancelSourceInput = {
  /** The uid of the source. */
  uid: string;
};

/** Which source to delete. */
export type DeleteSourceInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** How to sort subscriptions: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type EventSubscriptionOrder = {
  /** Field to sort by. */
  field: EventSubscriptionOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What subscriptions can be sorted by. */
export type EventSubscriptionOrderField =
  /** By the time of creation. Descends by default. */
  | 'CREATE_TIME'
  /** By the time of the last change. Descends by default. */
  | 'UPDATE_TIME'
  /** By uid: depth first along the tree of groups. */
  | 'UID';

/** A new event subscription. */
export type CreateSubscriptionInput = {
  /** Uid of the group whose events to send, with everything below it. */
  parent: string;
  /** https URL of a public host, at most 2048 bytes, or where the format is EMAIL `mailto:` with up to twenty addresses: `mailto:security@example.com,ops@example.com`. Unique in the group. */
  sink: string;
  /** How events are written; CLOUDEVENTS where absent. */
  format?: SubscriptionFormat | null | undefined;
  /** How long events are collected for a message; default: IMMEDIATE, the only value for CLOUDEVENTS. */
  digest?: SubscriptionDigest | null | undefined;
  /**
   * Types of the events to send, such as dev.atrium.api.iam.group.created.v1, iam.group.created or IAM_GROUP_CREATED, at most 100; default:
   * all. The error for an unknown type lists all types in its metadata.
   */
  types?: Array<string> | null | undefined;
  /** Which events of these types to send; default: all changes. */
  conditions?: EventConditionsInput | null | undefined;
  /** Which events about findings to send; default: all of these types. */
  findings?: FindingConditionsInput | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** How events are written for a sink. A message for people covers several events: which images, the worst findings, fixes, and where to see more. */
export type SubscriptionFormat =
  /** For programs: each event on its own, as a CloudEvent. */
  | 'CLOUDEVENTS'
  /** A message for an incoming webhook of Slack, Mattermost or Rocket.Chat. */
  | 'SLACK'
  /** An adaptive card for a workflow or an incoming webhook of Microsoft Teams. */
  | 'TEAMS'
  /** A mail. The operator of the service must have named a mail server. */
  | 'EMAIL';

/** How long events are collected for a message. */
export type SubscriptionDigest =
  /** At once: what happens within five seconds is one message; for mail, within the time that the operator has set. */
  | 'IMMEDIATE'
  /** A message at each full hour in which something happened. */
  | 'HOURLY'
  /** A message each day at 06:00 UTC, if something happened. */
  | 'DAILY';

/** Which events to send; all given conditions must be met. */
export type EventConditionsInput = {
  /** Uids of groups, repos and other resources in the group of the subscription, at most 100. Everything below them counts too. */
  within?: Array<string> | null | undefined;
  /** Who made the changes: uids of identities, or names of an operator's commands, at most 100. */
  actors?: Array<string> | null | undefined;
  /**
   * true: denied changes are sent too, equal ones within a minute only once. Their type ends in `.denied.v1`, and their data has the reason
   * as `denied`. Needs groups.update on the group, like the audit log.
   */
  includeDenied?: boolean | null | undefined;
};

/** Which events about findings to send; all given conditions must be met. */
export type FindingConditionsInput = {
  /** The rating must be at least this one, of UNKNOWN, NONE, LOW, MEDIUM, HIGH and CRITICAL. */
  minSeverity?: SeverityRating | null | undefined;
  /** true: the KEV catalog must list it. */
  knownExploited?: boolean | null | undefined;
  /** Uids of groups and repos, at most 100, in the group of the subscription, or in the scope that `within` of a feed names. */
  within?: Array<string> | null | undefined;
};

/** Which subscription to delete. */
export type DeleteSubscriptionInput = {
  /** Its uid. */
  uid: string;
  /** An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since. */
  ifMatch?: string | null | undefined;
  /** Whether to only check the request: you get the same answer, and nothing is stored. */
  validateOnly?: boolean | null | undefined;
};

/** The subscription whose secret is replaced. */
export type RotateSubscriptionSecretInput = {
  /** Uid of the subscription. */
  uid: string;
};

/** Which subscription to test. */
export type TestSubscriptionInput = {
  /** Its uid. */
  uid: string;
};

/** Which subscription to enable. */
export type EnableSubscriptionInput = {
  /** Its uid. */
  uid: string;
};

/** A class of tags that tools make, which their names show. */
export type TagClass =
  /** A tag that refers to an image, such as its signature: `sha256-<hex>`, and the same with .sig, .att or .sbom. */
  | 'REFERRER'
  /** A tag that ends in a date: `latest-20260327`. */
  | 'DATE'
  /** A tag that ends in a package epoch: `1.2.3-r4`. */
  | 'EPOCH';

/** Which tags to list; all given fields must match. */
export type TagFilter = {
  /** Exactly this name. */
  name?: string | null | undefined;
  /** Only those made or moved at this time or later. */
  updatedSince?: string | null | undefined;
  /** Only tags with exactly this digest. */
  digest?: string | null | undefined;
  /** Only those that have, or have not, reached their end of life. */
  deprecated?: boolean | null | undefined;
  /** Only tags of none of these classes. */
  excludeClasses?: Array<TagClass> | null | undefined;
  /**
   * Only those whose names contain all of these words, at most 16, in any order and ignoring case. A word of three letters or more matches
   * anywhere, and a shorter one only at the start of a word. `totalCount` stays exact.
   */
  query?: string | null | undefined;
  /** Only those whose image has an open finding of one of these ratings. Needs findings.list and tag.list. */
  openSeverities?: Array<SeverityRating> | null | undefined;
  /** Only those whose image has an open finding of an advisory with one of these as id, alias or upstream id, at most 1000. Needs findings.list and tag.list. */
  vulnerabilityIds?: Array<string> | null | undefined;
  /** Only those whose image holds this package. Needs manifest.metadata.list and tag.list. */
  package?: PackageCondition | null | undefined;
  /**
   * true: only tags whose image has packages that an SBOM lists. false: only tags whose image has none, so that its packages are not known.
   * Needs manifest.metadata.list and tag.list.
   */
  packagesKnown?: boolean | null | undefined;
  /** Only these, at most 1000. Unknown ones are ignored. */
  uids?: Array<string> | null | undefined;
};

/** How to sort tags: by at most 3 fields. Each one sorts the rows that are equal by the fields before it. More than one field reads and sorts the whole list. */
export type TagOrder = {
  /** Field to sort by. */
  field: TagOrderField;
  /** Sort direction; the last one also applies to the uid tie-break. By default, the field's own direction. */
  direction?: OrderDirection | null | undefined;
};

/** What tags can be sorted by. */
export type TagOrderField =
  /** By name, in byte order. */
  | 'NAME'
  /** By the time of creation, which a tag does not show. Descends by default. */
  | 'CREATE_TIME'
  /** By the time it was made or last moved. Descends by default. */
  | 'UPDATE_TIME'
  /** By uid: depth first along the tree of groups. */
  | 'UID'
  /** By digest. Reads and sorts all of the list: filter long ones first. */
  | 'DIGEST'
  /**
   * By the number of critical open findings of its image, then of high ones, and so on; the worst is the largest. Tags are left out if the
   * caller lacks findings.list. Reads and sorts all of the list, unless `where` has `openSeverities`. Descends by default.
   */
  | 'OPEN_SEVERITY';

/** Which tags to delete. */
export type BatchDeleteTagsInput = {
  /** Their uids, 1 to 100, each once. */
  uids: Array<string>;
};

/** What a link leads to. */
export type ReferenceType =
  /** An advisory. */
  | 'ADVISORY'
  /** An article. */
  | 'ARTICLE'
  /** A way to detect the vulnerability. */
  | 'DETECTION'
  /** A discussion. */
  | 'DISCUSSION'
  /** A report to the maintainers. */
  | 'REPORT'
  /** The change that fixed it. */
  | 'FIX'
  /** The change that brought it in. */
  | 'INTRODUCED'
  /** The home of the package. */
  | 'PACKAGE'
  /** Evidence, such as a demonstration. */
  | 'EVIDENCE'
  /** Any other page. */
  | 'WEB';

export type AccessQueryVariables = Exact<{
  uid: string;
  root: string;
  capability?: Capability | null | undefined;
  orderBy?: Array<RoleBindingOrder> | RoleBindingOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type AccessQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, name: string, viewerCapabilities?: Array<Capability>, mayBind: boolean, roles?: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> }> } | null, ancestors?: Array<{ __typename: 'Group', uid: string, name: string, roles: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> }> } | null }> | null, effectiveBindings: { __typename: 'RoleBindingConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'RoleBinding', uid: string, createTime: string, expireTime: string | null, mayChange: boolean, mayRevoke: boolean, identity: { __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null } | null, role: { __typename: 'Role', uid: string, name: string } | null }> } | null } | null, roles?: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> }> } | null, viewer?: { __typename: 'Viewer', seesAll: boolean, seesExternal: boolean, identities: Array<{ __typename: 'Identity', uid: string, name: string }> } | null, externalGroupRoleMappings?: { __typename: 'ExternalGroupRoleMappingConnection', pageInfo: { __typename: 'PageInfo', hasNextPage: boolean }, nodes: Array<{ __typename: 'ExternalGroupRoleMapping', uid: string, externalGroupId: string, scopeUid: string, identityProvider: { __typename: 'IdentityProvider', name: string } | null, role: { __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> } | null }> } | null };

export type ReachQueryVariables = Exact<{
  identity: string;
  on: string;
  root: string;
  after?: string | null | undefined;
}>;


export type ReachQuery = { __typename: 'Query', identity: { __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null, createTime: string, lastSeenTime: string | null, held: Array<Capability> | null, claimMatch: { __typename: 'ClaimMatch', issuer: string | null, issuerPattern: string | null, subject: string | null, subjectPattern: string | null } | null, staticKeys: { __typename: 'StaticKeys', issuer: string, subject: string } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, roleBindings: { __typename: 'RoleBindingConnection', totalCount: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'RoleBinding', uid: string, createTime: string, expireTime: string | null, mayChange: boolean, mayRevoke: boolean, role: { __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null, repos: { __typename: 'RepoConnection', totalCount: number } | null } | null, identity: { __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null } | null }> } | null } | null, viewer: { __typename: 'Viewer', seesAll: boolean, identities: Array<{ __typename: 'Identity', uid: string }> } | null };

export type RolesForQueryVariables = Exact<{
  uid: string;
}>;


export type RolesForQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, roles: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> }> } | null, ancestors: Array<{ __typename: 'Group', uid: string, roles: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> }> } | null }> | null } | null, roles: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> }> } | null };

export type CanQueryVariables = Exact<{
  identity: string;
  me: boolean;
  capability: Capability;
  on: string;
}>;


export type CanQuery = { __typename: 'Query', identity?: { __typename: 'Identity', uid: string, name: string, can: boolean | null, roleBindings: { __typename: 'RoleBindingConnection', nodes: Array<{ __typename: 'RoleBinding', uid: string, identity: { __typename: 'Identity', uid: string, name: string } | null, role: { __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null } | null, viewer?: { __typename: 'Viewer', can: boolean, identities: Array<{ __typename: 'Identity', uid: string, name: string }>, roleBindings: { __typename: 'RoleBindingConnection', nodes: Array<{ __typename: 'RoleBinding', uid: string, identity: { __typename: 'Identity', uid: string, name: string } | null, role: { __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null } | null };

export type BindableQueryVariables = Exact<{
  uid: string;
  where?: IdentityFilter | null | undefined;
}>;


export type BindableQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, name: string, identities: { __typename: 'IdentityConnection', totalCount: number, nodes: Array<{ __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null }> } | null, ancestors: Array<{ __typename: 'Group', uid: string, name: string, identities: { __typename: 'IdentityConnection', totalCount: number, nodes: Array<{ __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null }> } | null }> | null } | null };

export type ImpactQueryVariables = Exact<{
  identity: string;
  on: string;
}>;


export type ImpactQuery = { __typename: 'Query', identity: { __typename: 'Identity', uid: string, name: string, held: Array<Capability> | null, roleBindings: { __typename: 'RoleBindingConnection', pageInfo: { __typename: 'PageInfo', hasNextPage: boolean }, nodes: Array<{ __typename: 'RoleBinding', uid: string, identity: { __typename: 'Identity', uid: string, name: string } | null, role: { __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null } | null, group: { __typename: 'Group', uid: string, name: string, descendants: { __typename: 'GroupConnection', totalCount: number } | null, repos: { __typename: 'RepoConnection', totalCount: number } | null } | null, viewer: { __typename: 'Viewer', identities: Array<{ __typename: 'Identity', uid: string }> } | null };

export type HoldsQueryVariables = Exact<{
  on: string;
}>;


export type HoldsQuery = { __typename: 'Query', viewer: { __typename: 'Viewer', capabilities: Array<Capability> } | null };

export type BindMutationVariables = Exact<{
  input: CreateRoleBindingInput;
}>;


export type BindMutation = { __typename: 'Mutation', createRoleBinding: { __typename: 'CreateRoleBindingPayload', roleBinding: { __typename: 'RoleBinding', uid: string } } | null };

export type RebindMutationVariables = Exact<{
  input: UpdateRoleBindingInput;
}>;


export type RebindMutation = { __typename: 'Mutation', updateRoleBinding: { __typename: 'UpdateRoleBindingPayload', roleBinding: { __typename: 'RoleBinding', uid: string } } | null };

export type UnbindMutationVariables = Exact<{
  input: DeleteRoleBindingInput;
}>;


export type UnbindMutation = { __typename: 'Mutation', deleteRoleBinding: { __typename: 'DeleteRoleBindingPayload', deletedUid: string } | null };

export type GivenRoleFragment = { __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> };

export type BoundFragment = { __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null };

export type ReviewsQueryVariables = Exact<{
  uid: string;
  where?: RoleBindingFilter | null | undefined;
  since: string;
  orderBy?: Array<RoleBindingOrder> | RoleBindingOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type ReviewsQuery = { __typename: 'Query', group?: { __typename: 'Group', uid: string, name: string } | null, viewer?: { __typename: 'Viewer', identities: Array<{ __typename: 'Identity', uid: string }> } | null, left?: { __typename: 'RoleBindingConnection', totalCount: number } | null, all?: { __typename: 'RoleBindingConnection', totalCount: number } | null, roleBindings: { __typename: 'RoleBindingConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'RoleBinding', uid: string, createTime: string, expireTime: string | null, reviewTime: string | null, reviewNote: string | null, mayRevoke: boolean, reviewer: { __typename: 'Identity', uid: string, name: string } | null, identity: { __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null, lastSeenTime: string | null } | null, role: { __typename: 'Role', uid: string, name: string, description: string | null } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null };

export type ConfirmMutationVariables = Exact<{
  input: ConfirmRoleBindingsInput;
}>;


export type ConfirmMutation = { __typename: 'Mutation', confirmRoleBindings: { __typename: 'ConfirmRoleBindingsPayload', roleBindings: Array<{ __typename: 'RoleBinding', uid: string, reviewTime: string | null, reviewNote: string | null }> } | null };

export type UnbindAllMutationVariables = Exact<{
  input: BatchDeleteRoleBindingsInput;
}>;


export type UnbindAllMutation = { __typename: 'Mutation', batchDeleteRoleBindings: { __typename: 'BatchDeleteRoleBindingsPayload', deletedUids: Array<string> } | null };

export type HistoryQueryVariables = Exact<{
  uid: string;
  from: string;
  to: string;
  identity?: string | null | undefined;
  actor?: string | null | undefined;
  first: number;
  after?: string | null | undefined;
}>;


export type HistoryQuery = { __typename: 'Query', accessChanges: { __typename: 'AccessChangeConnection', complete: boolean, recordedSince: string | null, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'AccessChange', kind: AccessChangeKind, roleUid: string, roleName: string, addedCapabilities: Array<Capability>, removedCapabilities: Array<Capability>, event: { __typename: 'Event', id: string, time: string, subject: string, body: unknown, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }, role: { __typename: 'Role', uid: string } | null, before: { __typename: 'AccessGrant', bindingUid: string, groupUid: string, groupName: string, identityUid: string, identityName: string, roleUid: string, roleName: string, expireTime: string | null, identity: { __typename: 'Identity', uid: string, email: string | null } | null } | null, after: { __typename: 'AccessGrant', bindingUid: string, groupUid: string, groupName: string, identityUid: string, identityName: string, roleUid: string, roleName: string, expireTime: string | null, identity: { __typename: 'Identity', uid: string, email: string | null } | null } | null }> } | null };

export type AccessOnQueryVariables = Exact<{
  uid: string;
  time: string;
  first: number;
  after?: string | null | undefined;
}>;


export type AccessOnQuery = { __typename: 'Query', accessAt: { __typename: 'AccessGrantConnection', complete: boolean, recordedSince: string | null, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'AccessGrant', createTime: string, capabilities: Array<Capability> | null, bindingUid: string, groupUid: string, groupName: string, identityUid: string, identityName: string, roleUid: string, roleName: string, expireTime: string | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, identity: { __typename: 'Identity', uid: string, email: string | null } | null }> } | null };

export type PeopleQueryVariables = Exact<{
  root: string;
  where?: IdentityFilter | null | undefined;
}>;


export type PeopleQuery = { __typename: 'Query', identities: { __typename: 'IdentityConnection', totalCount: number, nodes: Array<{ __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null };

export type ChangedFragment = { __typename: 'AccessChange', kind: AccessChangeKind, roleUid: string, roleName: string, addedCapabilities: Array<Capability>, removedCapabilities: Array<Capability>, event: { __typename: 'Event', id: string, time: string, subject: string, body: unknown, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }, role: { __typename: 'Role', uid: string } | null, before: { __typename: 'AccessGrant', bindingUid: string, groupUid: string, groupName: string, identityUid: string, identityName: string, roleUid: string, roleName: string, expireTime: string | null, identity: { __typename: 'Identity', uid: string, email: string | null } | null } | null, after: { __typename: 'AccessGrant', bindingUid: string, groupUid: string, groupName: string, identityUid: string, identityName: string, roleUid: string, roleName: string, expireTime: string | null, identity: { __typename: 'Identity', uid: string, email: string | null } | null } | null };

export type PastGrantFragment = { __typename: 'AccessGrant', bindingUid: string, groupUid: string, groupName: string, identityUid: string, identityName: string, roleUid: string, roleName: string, expireTime: string | null, identity: { __typename: 'Identity', uid: string, email: string | null } | null };

export type ReviewedFragment = { __typename: 'RoleBinding', uid: string, createTime: string, expireTime: string | null, reviewTime: string | null, reviewNote: string | null, mayRevoke: boolean, reviewer: { __typename: 'Identity', uid: string, name: string } | null, identity: { __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null, lastSeenTime: string | null } | null, role: { __typename: 'Role', uid: string, name: string, description: string | null } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null };

export type GrantFragment = { __typename: 'RoleBinding', uid: string, createTime: string, expireTime: string | null, mayChange: boolean, mayRevoke: boolean, identity: { __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null } | null, role: { __typename: 'Role', uid: string, name: string } | null };

export type GrantedFragment = { __typename: 'RoleBinding', uid: string, identity: { __typename: 'Identity', uid: string, name: string } | null, role: { __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null };

export type RolesQueryVariables = Exact<{
  uid: string;
}>;


export type RolesQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, name: string, viewerCapabilities: Array<Capability>, roles: { __typename: 'RoleConnection', totalCount: number, nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability>, updateTime: string | null, viewerCapabilities: Array<Capability> }> } | null, ancestors: Array<{ __typename: 'Group', uid: string, name: string, roles: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability>, updateTime: string | null, viewerCapabilities: Array<Capability> }> } | null }> | null } | null, roles: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability>, updateTime: string | null, viewerCapabilities: Array<Capability> }> } | null, roleBindings: { __typename: 'RoleBindingConnection', facets: { __typename: 'RoleBindingFacets', roles: Array<{ __typename: 'RoleFacet', value: string | null, count: number }> } | null } | null };

export type RoleHoldersQueryVariables = Exact<{
  uid: string;
}>;


export type RoleHoldersQuery = { __typename: 'Query', role: { __typename: 'Role', uid: string, roleBindings: { __typename: 'RoleBindingConnection', totalCount: number, nodes: Array<{ __typename: 'RoleBinding', uid: string, identity: { __typename: 'Identity', uid: string, name: string, email: string | null } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null } | null };

export type CreateRoleMutationVariables = Exact<{
  input: CreateRoleInput;
}>;


export type CreateRoleMutation = { __typename: 'Mutation', createRole: { __typename: 'CreateRolePayload', role: { __typename: 'Role', uid: string, name: string } } | null };

export type UpdateRoleMutationVariables = Exact<{
  input: UpdateRoleInput;
}>;


export type UpdateRoleMutation = { __typename: 'Mutation', updateRole: { __typename: 'UpdateRolePayload', role: { __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability> } } | null };

export type DeleteRoleMutationVariables = Exact<{
  input: DeleteRoleInput;
}>;


export type DeleteRoleMutation = { __typename: 'Mutation', deleteRole: { __typename: 'DeleteRolePayload', deletedUid: string } | null };

export type ListedRoleFragment = { __typename: 'Role', uid: string, name: string, description: string | null, capabilities: Array<Capability>, updateTime: string | null, viewerCapabilities: Array<Capability> };

export type AuditQueryVariables = Exact<{
  uid: string;
  kinds?: Array<EventKind> | EventKind | null | undefined;
  actor?: string | null | undefined;
  subject?: string | null | undefined;
  denied?: boolean | null | undefined;
  since?: string | null | undefined;
  until?: string | null | undefined;
  first: number;
  after?: string | null | undefined;
}>;


export type AuditQuery = { __typename: 'Query', auditLogRuns: { __typename: 'AuditLogRunConnection', pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'AuditLogRun', oldestTime: string, count: number, newest: { __typename: 'Event', id: string, type: string, kind: EventKind | null, time: string, subject: string, denied: string | null, count: number, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, resource:
          | { __typename: 'AccountAssociation' }
          | { __typename: 'Advisory' }
          | { __typename: 'AdvisoryDocument' }
          | { __typename: 'Artifact' }
          | { __typename: 'ArtifactVersion' }
          | { __typename: 'Delivery' }
          | { __typename: 'Event' }
          | { __typename: 'ExternalGroupRoleMapping' }
          | { __typename: 'Finding' }
          | { __typename: 'Group', name: string }
          | { __typename: 'GroupInvite', email: string | null, keyId: string }
          | { __typename: 'Identity', name: string }
          | { __typename: 'IdentityProvider', name: string }
          | { __typename: 'Image' }
          | { __typename: 'Package' }
          | { __typename: 'PackageVersion' }
          | { __typename: 'Repo', name: string }
          | { __typename: 'Role', name: string }
          | { __typename: 'RoleBinding', identity: { __typename: 'Identity', name: string } | null, role: { __typename: 'Role', name: string } | null }
          | { __typename: 'Source' }
          | { __typename: 'EventSubscription', sink: string }
          | { __typename: 'Tag', name: string, repo: { __typename: 'Repo', name: string } | null }
          | { __typename: 'TermsAcceptance' }
          | { __typename: 'Viewer' }
          | { __typename: 'VulnerabilityMetadata' }
          | { __typename: 'VulnerabilityExposure' }
         | null, changes: Array<{ __typename: 'EventChange', field: string, before: unknown, after: unknown }> | null } }> } | null };

export type AuditDaysQueryVariables = Exact<{
  uid: string;
  kinds?: Array<EventKind> | EventKind | null | undefined;
  from: string;
}>;


export type AuditDaysQuery = { __typename: 'Query', eventActivity: Array<{ __typename: 'EventActivity', time: string, made: number, refused: number }> | null };

export type RunFragment = { __typename: 'AuditLogRun', oldestTime: string, count: number, newest: { __typename: 'Event', id: string, type: string, kind: EventKind | null, time: string, subject: string, denied: string | null, count: number, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, resource:
      | { __typename: 'AccountAssociation' }
      | { __typename: 'Advisory' }
      | { __typename: 'AdvisoryDocument' }
      | { __typename: 'Artifact' }
      | { __typename: 'ArtifactVersion' }
      | { __typename: 'Delivery' }
      | { __typename: 'Event' }
      | { __typename: 'ExternalGroupRoleMapping' }
      | { __typename: 'Finding' }
      | { __typename: 'Group', name: string }
      | { __typename: 'GroupInvite', email: string | null, keyId: string }
      | { __typename: 'Identity', name: string }
      | { __typename: 'IdentityProvider', name: string }
      | { __typename: 'Image' }
      | { __typename: 'Package' }
      | { __typename: 'PackageVersion' }
      | { __typename: 'Repo', name: string }
      | { __typename: 'Role', name: string }
      | { __typename: 'RoleBinding', identity: { __typename: 'Identity', name: string } | null, role: { __typename: 'Role', name: string } | null }
      | { __typename: 'Source' }
      | { __typename: 'EventSubscription', sink: string }
      | { __typename: 'Tag', name: string, repo: { __typename: 'Repo', name: string } | null }
      | { __typename: 'TermsAcceptance' }
      | { __typename: 'Viewer' }
      | { __typename: 'VulnerabilityMetadata' }
      | { __typename: 'VulnerabilityExposure' }
     | null, changes: Array<{ __typename: 'EventChange', field: string, before: unknown, after: unknown }> | null } };

export type AuditEventsQueryVariables = Exact<{
  uid: string;
  kinds?: Array<EventKind> | EventKind | null | undefined;
  actor?: string | null | undefined;
  subject?: string | null | undefined;
  denied?: boolean | null | undefined;
  since?: string | null | undefined;
  until?: string | null | undefined;
  first: number;
  after?: string | null | undefined;
}>;


export type AuditEventsQuery = { __typename: 'Query', auditLog: { __typename: 'AuditLogConnection', pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Event', id: string, type: string, kind: EventKind | null, time: string, subject: string, denied: string | null, count: number, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, resource:
        | { __typename: 'AccountAssociation' }
        | { __typename: 'Advisory' }
        | { __typename: 'AdvisoryDocument' }
        | { __typename: 'Artifact' }
        | { __typename: 'ArtifactVersion' }
        | { __typename: 'Delivery' }
        | { __typename: 'Event' }
        | { __typename: 'ExternalGroupRoleMapping' }
        | { __typename: 'Finding' }
        | { __typename: 'Group', name: string }
        | { __typename: 'GroupInvite', email: string | null, keyId: string }
        | { __typename: 'Identity', name: string }
        | { __typename: 'IdentityProvider', name: string }
        | { __typename: 'Image' }
        | { __typename: 'Package' }
        | { __typename: 'PackageVersion' }
        | { __typename: 'Repo', name: string }
        | { __typename: 'Role', name: string }
        | { __typename: 'RoleBinding', identity: { __typename: 'Identity', name: string } | null, role: { __typename: 'Role', name: string } | null }
        | { __typename: 'Source' }
        | { __typename: 'EventSubscription', sink: string }
        | { __typename: 'Tag', name: string, repo: { __typename: 'Repo', name: string } | null }
        | { __typename: 'TermsAcceptance' }
        | { __typename: 'Viewer' }
        | { __typename: 'VulnerabilityMetadata' }
        | { __typename: 'VulnerabilityExposure' }
       | null, changes: Array<{ __typename: 'EventChange', field: string, before: unknown, after: unknown }> | null }> } | null };

export type LatestQueryVariables = Exact<{
  uid: string;
  kinds?: Array<EventKind> | EventKind | null | undefined;
}>;


export type LatestQuery = { __typename: 'Query', auditLog: { __typename: 'AuditLogConnection', nodes: Array<{ __typename: 'Event', id: string, type: string, kind: EventKind | null, time: string, subject: string, denied: string | null, count: number, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, resource:
        | { __typename: 'AccountAssociation' }
        | { __typename: 'Advisory' }
        | { __typename: 'AdvisoryDocument' }
        | { __typename: 'Artifact' }
        | { __typename: 'ArtifactVersion' }
        | { __typename: 'Delivery' }
        | { __typename: 'Event' }
        | { __typename: 'ExternalGroupRoleMapping' }
        | { __typename: 'Finding' }
        | { __typename: 'Group', name: string }
        | { __typename: 'GroupInvite', email: string | null, keyId: string }
        | { __typename: 'Identity', name: string }
        | { __typename: 'IdentityProvider', name: string }
        | { __typename: 'Image' }
        | { __typename: 'Package' }
        | { __typename: 'PackageVersion' }
        | { __typename: 'Repo', name: string }
        | { __typename: 'Role', name: string }
        | { __typename: 'RoleBinding', identity: { __typename: 'Identity', name: string } | null, role: { __typename: 'Role', name: string } | null }
        | { __typename: 'Source' }
        | { __typename: 'EventSubscription', sink: string }
        | { __typename: 'Tag', name: string, repo: { __typename: 'Repo', name: string } | null }
        | { __typename: 'TermsAcceptance' }
        | { __typename: 'Viewer' }
        | { __typename: 'VulnerabilityMetadata' }
        | { __typename: 'VulnerabilityExposure' }
       | null, changes: Array<{ __typename: 'EventChange', field: string, before: unknown, after: unknown }> | null }> } | null };

export type BodiesQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type BodiesQuery = { __typename: 'Query', nodes: Array<
    | { __typename: 'AccountAssociation' }
    | { __typename: 'Advisory' }
    | { __typename: 'AdvisoryDocument' }
    | { __typename: 'Artifact' }
    | { __typename: 'ArtifactVersion' }
    | { __typename: 'Delivery' }
    | { __typename: 'Event', id: string, body: unknown }
    | { __typename: 'ExternalGroupRoleMapping' }
    | { __typename: 'Finding' }
    | { __typename: 'Group' }
    | { __typename: 'GroupInvite' }
    | { __typename: 'Identity' }
    | { __typename: 'IdentityProvider' }
    | { __typename: 'Image' }
    | { __typename: 'Package' }
    | { __typename: 'PackageVersion' }
    | { __typename: 'Repo' }
    | { __typename: 'Role' }
    | { __typename: 'RoleBinding' }
    | { __typename: 'Source' }
    | { __typename: 'EventSubscription' }
    | { __typename: 'Tag' }
    | { __typename: 'TermsAcceptance' }
    | { __typename: 'Viewer' }
    | { __typename: 'VulnerabilityMetadata' }
    | { __typename: 'VulnerabilityExposure' }
   | null> };

export type AdvisoriesQueryVariables = Exact<{
  uid: string;
  where?: AdvisoryFilter | null | undefined;
  orderBy?: Array<AdvisoryOrder> | AdvisoryOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type AdvisoriesQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, advisorySummary?: { __typename: 'AdvisorySummary', open: { __typename: 'SeverityCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number }, fixed: { __typename: 'SeverityCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number }, notAffected: { __typename: 'SeverityCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number } } | null, findingSummary?: { __typename: 'FindingSummary', open: { __typename: 'FindingCount', total: number } } | null, advisories: { __typename: 'AdvisoryConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Advisory', uid: string, advisoryId: string, aliases: Array<string>, artifactName: string, componentName: string | null, createTime: string, deleteTime: string | null, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null }, vulnerabilities: Array<{ __typename: 'VulnerabilityMetadata', vulnerabilityId: string, summary: string | null }> | null, findings: { __typename: 'FindingConnection', totalCount: number } | null, events: Array<{ __typename: 'AdvisoryEvent', type: AdvisoryEventType, createTime: string | null, author: string | null, detail:
            | { __typename: 'AdvisoryDetection', nvdapi: { __typename: 'AdvisoryNVDDetection', cpeFound: string | null } | null, scanv1: { __typename: 'AdvisoryScanDetection', scanner: string | null, component: string | null, componentVersion: string | null } | null }
            | { __typename: 'AdvisoryTruePositive', note: string | null }
            | { __typename: 'AdvisoryFix', fixedVersion: string | null, note: string | null }
            | { __typename: 'AdvisoryFalsePositive', note: string | null, reason: FalsePositiveType | null }
            | { __typename: 'AdvisoryAnalysisNotPlanned', note: string | null }
            | { __typename: 'AdvisoryFixNotPlanned', note: string | null }
            | { __typename: 'AdvisoryPendingUpstreamFix', note: string | null }
            | { __typename: 'AdvisoryPatch', patchedVersions: Array<string>, note: string | null }
           }> }> } | null } | null };

export type FeedCountsFragment = { __typename: 'SeverityCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number };

export type VulnerabilityQueryVariables = Exact<{
  id: string;
  uid: string;
  history: boolean;
}>;


export type VulnerabilityQuery = { __typename: 'Query', vulnerability: { __typename: 'VulnerabilityExposure', name: string, names: Array<string>, exploitation: { __typename: 'Exploitation', knownExploited: boolean, knownExploitedTime: string | null, epss: number | null } | null, metadata: { __typename: 'VulnerabilityMetadata', vulnerabilityId: string, summary: string | null, details: string | null, upstream: Array<string>, related: Array<string>, references: Array<{ __typename: 'Reference', type: ReferenceType | null, url: string | null }> } | null, advisories: { __typename: 'AdvisoryConnection', totalCount: number, nodes: Array<{ __typename: 'Advisory', uid: string, advisoryId: string, artifactName: string, artifactType: string | null, componentName: string | null, createTime: string, updateTime: string, deleteTime: string | null, author: string | null, upstream: Array<string>, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null, vector: string | null, version: string | null }, affected: { __typename: 'AffectedVersions', versions: Array<string>, ranges: Array<{ __typename: 'AffectedRange', type: AffectedRangeType, events: Array<{ __typename: 'AffectedEvent', introduced: string | null, fixed: string | null, lastAffected: string | null, limit: string | null }> }> } | null, events: Array<{ __typename: 'AdvisoryEvent', type: AdvisoryEventType, createTime: string | null, author: string | null, detail:
            | { __typename: 'AdvisoryDetection', nvdapi: { __typename: 'AdvisoryNVDDetection', cpeFound: string | null } | null, scanv1: { __typename: 'AdvisoryScanDetection', scanner: string | null, component: string | null, componentVersion: string | null } | null }
            | { __typename: 'AdvisoryTruePositive', note: string | null }
            | { __typename: 'AdvisoryFix', fixedVersion: string | null, note: string | null }
            | { __typename: 'AdvisoryFalsePositive', note: string | null, reason: FalsePositiveType | null }
            | { __typename: 'AdvisoryAnalysisNotPlanned', note: string | null }
            | { __typename: 'AdvisoryFixNotPlanned', note: string | null }
            | { __typename: 'AdvisoryPendingUpstreamFix', note: string | null }
            | { __typename: 'AdvisoryPatch', patchedVersions: Array<string>, note: string | null }
           }> }> } | null } | null, group: { __typename: 'Group', uid: string, viewerCapabilities: Array<Capability> } | null, findings: { __typename: 'FindingConnection', totalCount: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean }, nodes: Array<{ __typename: 'Finding', uid: string, package: string, ecosystem: string | null, digest: string, installedVersion: string | null, fixedVersions: Array<string>, state: FindingState, justification: FindingJustification | null, note: string | null, firstSeenTime: string, repo: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null, tags: { __typename: 'TagConnection', totalCount: number, nodes: Array<{ __typename: 'Tag', uid: string, name: string }> } | null, fixedIn: { __typename: 'TagConnection', nodes: Array<{ __typename: 'Tag', uid: string, name: string }> } | null }> } | null, open: { __typename: 'TopVulnerabilities', nodes: Array<{ __typename: 'TopVulnerability', findings: number, fixable: number, images: number, repos: number }> } | null, above: { __typename: 'FindingConnection', nodes: Array<{ __typename: 'Finding', uid: string, advisories: Array<{ __typename: 'Advisory', uid: string, advisoryId: string, artifactName: string, artifactType: string | null, componentName: string | null, createTime: string, updateTime: string, deleteTime: string | null, author: string | null, upstream: Array<string>, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null, vector: string | null, version: string | null }, affected: { __typename: 'AffectedVersions', versions: Array<string>, ranges: Array<{ __typename: 'AffectedRange', type: AffectedRangeType, events: Array<{ __typename: 'AffectedEvent', introduced: string | null, fixed: string | null, lastAffected: string | null, limit: string | null }> }> } | null, events: Array<{ __typename: 'AdvisoryEvent', type: AdvisoryEventType, createTime: string | null, author: string | null, detail:
            | { __typename: 'AdvisoryDetection', nvdapi: { __typename: 'AdvisoryNVDDetection', cpeFound: string | null } | null, scanv1: { __typename: 'AdvisoryScanDetection', scanner: string | null, component: string | null, componentVersion: string | null } | null }
            | { __typename: 'AdvisoryTruePositive', note: string | null }
            | { __typename: 'AdvisoryFix', fixedVersion: string | null, note: string | null }
            | { __typename: 'AdvisoryFalsePositive', note: string | null, reason: FalsePositiveType | null }
            | { __typename: 'AdvisoryAnalysisNotPlanned', note: string | null }
            | { __typename: 'AdvisoryFixNotPlanned', note: string | null }
            | { __typename: 'AdvisoryPendingUpstreamFix', note: string | null }
            | { __typename: 'AdvisoryPatch', patchedVersions: Array<string>, note: string | null }
           }> }> | null }> } | null, auditLog?: { __typename: 'AuditLogConnection', nodes: Array<{ __typename: 'Event', id: string, time: string, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, detail:
        | { __typename: 'FindingChange', repoName: string | null, findings: Array<{ __typename: 'ChangedFinding', vulnerabilityId: string, state: FindingState, note: string | null }> }
        | { __typename: 'FindingTriage', rules: Array<{ __typename: 'FindingRule', vulnerabilityId: string | null, state: FindingState, note: string | null }> }
        | { __typename: 'DuePolicy' }
       | null }> } | null };

export type AdvisoryStoryFragment = { __typename: 'Advisory', uid: string, advisoryId: string, artifactName: string, artifactType: string | null, componentName: string | null, createTime: string, updateTime: string, deleteTime: string | null, author: string | null, upstream: Array<string>, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null, vector: string | null, version: string | null }, affected: { __typename: 'AffectedVersions', versions: Array<string>, ranges: Array<{ __typename: 'AffectedRange', type: AffectedRangeType, events: Array<{ __typename: 'AffectedEvent', introduced: string | null, fixed: string | null, lastAffected: string | null, limit: string | null }> }> } | null, events: Array<{ __typename: 'AdvisoryEvent', type: AdvisoryEventType, createTime: string | null, author: string | null, detail:
      | { __typename: 'AdvisoryDetection', nvdapi: { __typename: 'AdvisoryNVDDetection', cpeFound: string | null } | null, scanv1: { __typename: 'AdvisoryScanDetection', scanner: string | null, component: string | null, componentVersion: string | null } | null }
      | { __typename: 'AdvisoryTruePositive', note: string | null }
      | { __typename: 'AdvisoryFix', fixedVersion: string | null, note: string | null }
      | { __typename: 'AdvisoryFalsePositive', note: string | null, reason: FalsePositiveType | null }
      | { __typename: 'AdvisoryAnalysisNotPlanned', note: string | null }
      | { __typename: 'AdvisoryFixNotPlanned', note: string | null }
      | { __typename: 'AdvisoryPendingUpstreamFix', note: string | null }
      | { __typename: 'AdvisoryPatch', patchedVersions: Array<string>, note: string | null }
     }> };

export type AdvisoryHappeningFragment = { __typename: 'AdvisoryEvent', type: AdvisoryEventType, createTime: string | null, author: string | null, detail:
    | { __typename: 'AdvisoryDetection', nvdapi: { __typename: 'AdvisoryNVDDetection', cpeFound: string | null } | null, scanv1: { __typename: 'AdvisoryScanDetection', scanner: string | null, component: string | null, componentVersion: string | null } | null }
    | { __typename: 'AdvisoryTruePositive', note: string | null }
    | { __typename: 'AdvisoryFix', fixedVersion: string | null, note: string | null }
    | { __typename: 'AdvisoryFalsePositive', note: string | null, reason: FalsePositiveType | null }
    | { __typename: 'AdvisoryAnalysisNotPlanned', note: string | null }
    | { __typename: 'AdvisoryFixNotPlanned', note: string | null }
    | { __typename: 'AdvisoryPendingUpstreamFix', note: string | null }
    | { __typename: 'AdvisoryPatch', patchedVersions: Array<string>, note: string | null }
   };

export type CreateGroupMutationVariables = Exact<{
  input: CreateGroupInput;
}>;


export type CreateGroupMutation = { __typename: 'Mutation', createGroup: { __typename: 'CreateGroupPayload', group: { __typename: 'Group', uid: string, name: string } } | null };

export type UpdateGroupMutationVariables = Exact<{
  input: UpdateGroupInput;
}>;


export type UpdateGroupMutation = { __typename: 'Mutation', updateGroup: { __typename: 'UpdateGroupPayload', group: { __typename: 'Group', uid: string, name: string, description: string | null, updateTime: string } } | null };

export type DeleteGroupMutationVariables = Exact<{
  input: DeleteGroupInput;
}>;


export type DeleteGroupMutation = { __typename: 'Mutation', deleteGroup: { __typename: 'DeleteGroupPayload', deletedUid: string } | null };

export type CreateRepoMutationVariables = Exact<{
  input: CreateRepoInput;
}>;


export type CreateRepoMutation = { __typename: 'Mutation', createRepo: { __typename: 'CreateRepoPayload', repo: { __typename: 'Repo', uid: string, name: string } } | null };

export type UpdateRepoMutationVariables = Exact<{
  input: UpdateRepoInput;
}>;


export type UpdateRepoMutation = { __typename: 'Mutation', updateRepo: { __typename: 'UpdateRepoPayload', repo: { __typename: 'Repo', uid: string, name: string, description: string | null, catalogTier: CatalogTier | null, bundles: Array<string>, aliases: Array<string>, activeTags: Array<string>, updateTime: string, syncConfig: { __typename: 'SyncConfig', source: string, google: string | null, amazon: string | null, azure: string | null } | null } } | null };

export type DeleteRepoMutationVariables = Exact<{
  input: DeleteRepoInput;
}>;


export type DeleteRepoMutation = { __typename: 'Mutation', deleteRepo: { __typename: 'DeleteRepoPayload', deletedUid: string } | null };

export type UpdateRepoReadmeMutationVariables = Exact<{
  input: UpdateRepoReadmeInput;
}>;


export type UpdateRepoReadmeMutation = { __typename: 'Mutation', updateRepoReadme: { __typename: 'UpdateRepoReadmePayload', repo: { __typename: 'Repo', uid: string, readme: string | null, updateTime: string } | null } | null };

export type CreateSubscriptionMutationVariables = Exact<{
  input: CreateSubscriptionInput;
}>;


export type CreateSubscriptionMutation = { __typename: 'Mutation', createSubscription: { __typename: 'CreateSubscriptionPayload', secret: string, subscription: { __typename: 'EventSubscription', uid: string, sink: string, format: SubscriptionFormat } } | null };

export type DeleteSubscriptionMutationVariables = Exact<{
  input: DeleteSubscriptionInput;
}>;


export type DeleteSubscriptionMutation = { __typename: 'Mutation', deleteSubscription: { __typename: 'DeleteSubscriptionPayload', deletedUid: string } | null };

export type RotateSubscriptionSecretMutationVariables = Exact<{
  input: RotateSubscriptionSecretInput;
}>;


export type RotateSubscriptionSecretMutation = { __typename: 'Mutation', rotateSubscriptionSecret: { __typename: 'RotateSubscriptionSecretPayload', secret: string, subscription: { __typename: 'EventSubscription', uid: string, updateTime: string } } | null };

export type TestSubscriptionMutationVariables = Exact<{
  input: TestSubscriptionInput;
}>;


export type TestSubscriptionMutation = { __typename: 'Mutation', testSubscription: { __typename: 'TestSubscriptionPayload', eventId: string } | null };

export type EnableSubscriptionMutationVariables = Exact<{
  input: EnableSubscriptionInput;
}>;


export type EnableSubscriptionMutation = { __typename: 'Mutation', enableSubscription: { __typename: 'EnableSubscriptionPayload', subscription: { __typename: 'EventSubscription', uid: string, failingSince: string | null, disableTime: string | null, disableReason: string | null } } | null };

export type RedeliverMutationVariables = Exact<{
  input: RedeliverInput;
}>;


export type RedeliverMutation = { __typename: 'Mutation', redeliver: { __typename: 'RedeliverPayload', deliveries: Array<{ __typename: 'Delivery', uid: string, state: DeliveryState, attempts: number, nextAttemptTime: string | null }> } | null };

export type CreateIdentityMutationVariables = Exact<{
  input: CreateIdentityInput;
}>;


export type CreateIdentityMutation = { __typename: 'Mutation', createIdentity: { __typename: 'CreateIdentityPayload', identity: { __typename: 'Identity', uid: string, name: string } } | null };

export type UpdateIdentityMutationVariables = Exact<{
  input: UpdateIdentityInput;
}>;


export type UpdateIdentityMutation = { __typename: 'Mutation', updateIdentity: { __typename: 'UpdateIdentityPayload', identity: { __typename: 'Identity', uid: string, name: string, updateTime: string } } | null };

export type DeleteIdentityMutationVariables = Exact<{
  input: DeleteIdentityInput;
}>;


export type DeleteIdentityMutation = { __typename: 'Mutation', deleteIdentity: { __typename: 'DeleteIdentityPayload', deletedUid: string } | null };

export type CreateGroupInviteMutationVariables = Exact<{
  input: CreateGroupInviteInput;
}>;


export type CreateGroupInviteMutation = { __typename: 'Mutation', createGroupInvite: { __typename: 'CreateGroupInvitePayload', groupInvite: { __typename: 'GroupInvite', uid: string, code: string | null, email: string | null, expirationTime: string } } | null };

export type DeleteGroupInviteMutationVariables = Exact<{
  input: DeleteGroupInviteInput;
}>;


export type DeleteGroupInviteMutation = { __typename: 'Mutation', deleteGroupInvite: { __typename: 'DeleteGroupInvitePayload', deletedUid: string } | null };

export type AcceptGroupInviteMutationVariables = Exact<{
  input: AcceptGroupInviteInput;
}>;


export type AcceptGroupInviteMutation = { __typename: 'Mutation', acceptGroupInvite: { __typename: 'AcceptGroupInvitePayload', roleBinding: { __typename: 'RoleBinding', uid: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } } | null };

export type FindingsQueryVariables = Exact<{
  uid: string;
  where?: FindingFilter | null | undefined;
  orderBy?: Array<FindingOrder> | FindingOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type FindingsQuery = { __typename: 'Query', findings: { __typename: 'FindingConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Finding', uid: string, vulnerabilityId: string, sources: Array<string>, disputedBy: Array<string>, package: string, ecosystem: string | null, installedVersion: string | null, fixedVersions: Array<string>, fixable: boolean, knownExploited: boolean, epss: number | null, basis: FindingBasis, state: FindingState, justification: FindingJustification | null, note: string | null, dueTime: string | null, expireTime: string | null, firstSeenTime: string, digest: string, decidedBy: string | null, viewerCapabilities: Array<Capability>, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null }, advisory: { __typename: 'Advisory', uid: string, aliases: Array<string>, vulnerabilities: Array<{ __typename: 'VulnerabilityMetadata', summary: string | null }> | null } | null, repo: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null, tags: { __typename: 'TagConnection', totalCount: number, nodes: Array<{ __typename: 'Tag', uid: string, name: string }> } | null, assignee: { __typename: 'Identity', uid: string, name: string } | null, decider: { __typename: 'Identity', uid: string, name: string } | null }> } | null, findingSummary?: { __typename: 'FindingSummary', affectedRepos: number, affectedImages: number, images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, accepted: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, notAffected: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null };

export type FixedInQueryVariables = Exact<{
  uid: string;
}>;


export type FixedInQuery = { __typename: 'Query', finding: { __typename: 'Finding', uid: string, fixedIn: { __typename: 'TagConnection', nodes: Array<{ __typename: 'Tag', uid: string, name: string }> } | null } | null };

export type UpdateFindingsMutationVariables = Exact<{
  input: UpdateFindingsInput;
}>;


export type UpdateFindingsMutation = { __typename: 'Mutation', updateFindings: { __typename: 'UpdateFindingsPayload', updatedCount: number, findings: Array<{ __typename: 'Finding', uid: string, state: FindingState }>, operation: { __typename: 'Operation', uid: string } | null } | null };

export type DecisionProgressQueryVariables = Exact<{
  uid: string;
}>;


export type DecisionProgressQuery = { __typename: 'Query', operation: { __typename: 'Operation', uid: string, done: boolean, state: OperationState, records: number, progressPercent: number, error: { __typename: 'OperationError', message: string } | null } | null };

export type StopDecisionMutationVariables = Exact<{
  input: CancelOperationInput;
}>;


export type StopDecisionMutation = { __typename: 'Mutation', cancelOperation: { __typename: 'CancelOperationPayload', operation: { __typename: 'Operation', uid: string } } | null };

export type FindingRowFragment = { __typename: 'Finding', uid: string, vulnerabilityId: string, sources: Array<string>, disputedBy: Array<string>, package: string, ecosystem: string | null, installedVersion: string | null, fixedVersions: Array<string>, fixable: boolean, knownExploited: boolean, epss: number | null, basis: FindingBasis, state: FindingState, justification: FindingJustification | null, note: string | null, dueTime: string | null, expireTime: string | null, firstSeenTime: string, digest: string, decidedBy: string | null, viewerCapabilities: Array<Capability>, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null }, advisory: { __typename: 'Advisory', uid: string, aliases: Array<string>, vulnerabilities: Array<{ __typename: 'VulnerabilityMetadata', summary: string | null }> | null } | null, repo: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null, tags: { __typename: 'TagConnection', totalCount: number, nodes: Array<{ __typename: 'Tag', uid: string, name: string }> } | null, assignee: { __typename: 'Identity', uid: string, name: string } | null, decider: { __typename: 'Identity', uid: string, name: string } | null };

export type StandingFragment = { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } };

export type FindingNumbersFragment = { __typename: 'FindingSummary', affectedRepos: number, affectedImages: number, images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, accepted: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, notAffected: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } };

export type FindingRightsQueryVariables = Exact<{
  uid: string;
}>;


export type FindingRightsQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, viewerCapabilities: Array<Capability> } | null };

export type MeQueryVariables = Exact<{ [key: string]: never; }>;


export type MeQuery = { __typename: 'Query', viewer: { __typename: 'Viewer', identities: Array<{ __typename: 'Identity', uid: string, name: string }> } | null };

export type FindingGroupsQueryVariables = Exact<{
  uid: string;
  where?: FindingFilter | null | undefined;
  advisories: boolean;
  packages: boolean;
  repos: boolean;
  groups: boolean;
}>;


export type FindingGroupsQuery = { __typename: 'Query', findings: { __typename: 'FindingConnection', totalCount: number, facets?: { __typename: 'FindingFacets', repos: Array<{ __typename: 'RepoFacet', value: string | null, count: number, repo: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null }> } | null } | null, findingSummary: { __typename: 'FindingSummary', affectedRepos: number, affectedImages: number, images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, accepted: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, notAffected: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null, topVulnerabilities?: { __typename: 'TopVulnerabilities', totalCount: number, nodes: Array<{ __typename: 'TopVulnerability', vulnerabilityId: string, knownExploited: boolean, findings: number, fixable: number, images: number, repos: number, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null }, vulnerability: { __typename: 'VulnerabilityExposure', name: string, metadata: { __typename: 'VulnerabilityMetadata', summary: string | null } | null } | null }> } | null, topPackages?: { __typename: 'TopPackages', totalCount: number, nodes: Array<{ __typename: 'TopPackage', package: string, ecosystem: string | null, knownExploited: boolean, findings: number, fixable: number, images: number, repos: number, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null } }> } | null, group?: { __typename: 'Group', uid: string, children: { __typename: 'GroupConnection', totalCount: number, nodes: Array<{ __typename: 'Group', uid: string, name: string, findings: { __typename: 'FindingConnection', totalCount: number } | null }> } | null } | null };

export type IdentitiesQueryVariables = Exact<{
  uid: string;
  where?: IdentityFilter | null | undefined;
  orderBy?: Array<IdentityOrder> | IdentityOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type IdentitiesQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, viewerCapabilities?: Array<Capability>, identities: { __typename: 'IdentityConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null, emailUnverified: string | null, lastSeenTime: string | null, createTime: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, roleBindings: { __typename: 'RoleBindingConnection', totalCount: number } | null }> } | null } | null };

export type IdentityQueryVariables = Exact<{
  uid: string;
}>;


export type IdentityQuery = { __typename: 'Query', identity: { __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null, emailUnverified: string | null, company: string | null, lastSeenTime: string | null, createTime: string, updateTime: string, viewerCapabilities: Array<Capability>, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, claimMatch: { __typename: 'ClaimMatch', issuer: string | null, issuerPattern: string | null, subject: string | null, subjectPattern: string | null, audience: string | null, audiencePattern: string | null, claims: Record<string, string> | null, claimPatterns: Record<string, string> | null } | null, staticKeys: { __typename: 'StaticKeys', issuer: string, subject: string, issuerKeys: string, expirationTime: string | null, audiences: Array<string> } | null, roleBindings: { __typename: 'RoleBindingConnection', totalCount: number, nodes: Array<{ __typename: 'RoleBinding', uid: string, role: { __typename: 'Role', uid: string, name: string } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null } | null };

export type InvitesQueryVariables = Exact<{
  uid: string;
  orderBy?: Array<GroupInviteOrder> | GroupInviteOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type InvitesQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, viewerCapabilities?: Array<Capability>, roles?: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null }> } | null, ancestors?: Array<{ __typename: 'Group', uid: string, name: string, roles: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null }> } | null }> | null, invites: { __typename: 'GroupInviteConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'GroupInvite', uid: string, email: string | null, expirationTime: string, singleUse: boolean, keyId: string, createTime: string, mayDelete: boolean, role: { __typename: 'Role', uid: string, name: string } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null } | null, roles?: { __typename: 'RoleConnection', nodes: Array<{ __typename: 'Role', uid: string, name: string, description: string | null }> } | null };

export type ProvidersQueryVariables = Exact<{
  uid: string;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type ProvidersQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, viewerCapabilities?: Array<Capability> } | null, identityProviders: { __typename: 'IdentityProviderConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'IdentityProvider', uid: string, name: string, description: string | null, defaultRoleUid: string, issuerVerified: boolean, issuerVerifyTime: string | null, createTime: string, viewerCapabilities: Array<Capability>, oidc: { __typename: 'OIDC', issuer: string, clientId: string, additionalScopes: Array<string>, groupsClaim: string | null, correlationRule: CorrelationRule | null, pkceEnabled: boolean } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, defaultRole: { __typename: 'Role', uid: string, name: string } | null, mappings: { __typename: 'ExternalGroupRoleMappingConnection', totalCount: number, nodes: Array<{ __typename: 'ExternalGroupRoleMapping', uid: string, externalGroupId: string, scopeUid: string, scope: { __typename: 'Group', uid: string, name: string } | null, role: { __typename: 'Role', uid: string, name: string } | null }> } | null }> } | null };

export type ScopesQueryVariables = Exact<{
  uid: string;
}>;


export type ScopesQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, name: string, descendants: { __typename: 'GroupConnection', nodes: Array<{ __typename: 'Group', uid: string, name: string }> } | null } | null };

export type ListedProviderFragment = { __typename: 'IdentityProvider', uid: string, name: string, description: string | null, defaultRoleUid: string, issuerVerified: boolean, issuerVerifyTime: string | null, createTime: string, viewerCapabilities: Array<Capability>, oidc: { __typename: 'OIDC', issuer: string, clientId: string, additionalScopes: Array<string>, groupsClaim: string | null, correlationRule: CorrelationRule | null, pkceEnabled: boolean } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, defaultRole: { __typename: 'Role', uid: string, name: string } | null, mappings: { __typename: 'ExternalGroupRoleMappingConnection', totalCount: number, nodes: Array<{ __typename: 'ExternalGroupRoleMapping', uid: string, externalGroupId: string, scopeUid: string, scope: { __typename: 'Group', uid: string, name: string } | null, role: { __typename: 'Role', uid: string, name: string } | null }> } | null };

export type CreateIdentityProviderMutationVariables = Exact<{
  input: CreateIdentityProviderInput;
}>;


export type CreateIdentityProviderMutation = { __typename: 'Mutation', createIdentityProvider: { __typename: 'CreateIdentityProviderPayload', identityProvider: { __typename: 'IdentityProvider', uid: string } } | null };

export type UpdateIdentityProviderMutationVariables = Exact<{
  input: UpdateIdentityProviderInput;
}>;


export type UpdateIdentityProviderMutation = { __typename: 'Mutation', updateIdentityProvider: { __typename: 'UpdateIdentityProviderPayload', identityProvider: { __typename: 'IdentityProvider', uid: string } } | null };

export type DeleteIdentityProviderMutationVariables = Exact<{
  input: DeleteIdentityProviderInput;
}>;


export type DeleteIdentityProviderMutation = { __typename: 'Mutation', deleteIdentityProvider: { __typename: 'DeleteIdentityProviderPayload', deletedUid: string } | null };

export type CreateExternalGroupRoleMappingMutationVariables = Exact<{
  input: CreateExternalGroupRoleMappingInput;
}>;


export type CreateExternalGroupRoleMappingMutation = { __typename: 'Mutation', createExternalGroupRoleMapping: { __typename: 'CreateExternalGroupRoleMappingPayload', externalGroupRoleMapping: { __typename: 'ExternalGroupRoleMapping', uid: string } } | null };

export type DeleteExternalGroupRoleMappingMutationVariables = Exact<{
  input: DeleteExternalGroupRoleMappingInput;
}>;


export type DeleteExternalGroupRoleMappingMutation = { __typename: 'Mutation', deleteExternalGroupRoleMapping: { __typename: 'DeleteExternalGroupRoleMappingPayload', deletedUid: string } | null };

export type VerifyIdentityProviderMutationVariables = Exact<{
  input: VerifyIdentityProviderInput;
}>;


export type VerifyIdentityProviderMutation = { __typename: 'Mutation', verifyIdentityProvider: { __typename: 'VerifyIdentityProviderPayload', identityProvider: { __typename: 'IdentityProvider', uid: string, issuerVerified: boolean, issuerVerifyTime: string | null } } | null };

export type ImageQueryVariables = Exact<{
  uid: string;
  digest: string;
  referrer: string;
}>;


export type ImageQuery = { __typename: 'Query', repo: { __typename: 'Repo', uid: string, name: string, activeTags: Array<string>, viewerCapabilities: Array<Capability>, tags: { __typename: 'TagConnection', totalCount: number, nodes: Array<{ __typename: 'Tag', uid: string, name: string, deprecated: boolean, updateTime: string }> } | null, found: { __typename: 'TagConnection', nodes: Array<{ __typename: 'Tag', uid: string, image: { __typename: 'Image', id: string, architectures: Array<string>, baseName: string | null, baseDigest: string | null, sizes: Array<{ __typename: 'ImageSize', architecture: string, size: number | null }>, sboms: Array<{ __typename: 'ImageSbom', architecture: string | null, format: string, createTime: string, cyclonedx: string, spdx: string }> | null, findingSummary: { __typename: 'FindingSummary', affectedRepos: number, affectedImages: number, images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, accepted: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, notAffected: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null, packages: { __typename: 'ImagePackageConnection', totalCount: number } | null } | null }> } | null, newest: { __typename: 'TagConnection', nodes: Array<{ __typename: 'Tag', uid: string, name: string, digest: string, updateTime: string, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null }> } | null, referrers: { __typename: 'TagConnection', nodes: Array<{ __typename: 'Tag', uid: string, name: string, updateTime: string }> } | null } | null };

export type ImagePackagesQueryVariables = Exact<{
  uid: string;
  digest: string;
  where?: ImagePackageFilter | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type ImagePackagesQuery = { __typename: 'Query', repo: { __typename: 'Repo', uid: string, tags: { __typename: 'TagConnection', nodes: Array<{ __typename: 'Tag', uid: string, image: { __typename: 'Image', id: string, packages: { __typename: 'ImagePackageConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'ImagePackage', name: string, version: string | null, ecosystem: string | null, purl: string | null, licenses: Array<string>, architectures: Array<string>, scope: PackageScope | null, direct: boolean | null, introducedBy: Array<{ __typename: 'IntroducingPackage', name: string, version: string | null }> | null }> } | null } | null }> } | null } | null };

export type ImagePackageRowFragment = { __typename: 'ImagePackage', name: string, version: string | null, ecosystem: string | null, purl: string | null, licenses: Array<string>, architectures: Array<string>, scope: PackageScope | null, direct: boolean | null, introducedBy: Array<{ __typename: 'IntroducingPackage', name: string, version: string | null }> | null };

export type OverTimeQueryVariables = Exact<{
  uid: string;
  from: string;
}>;


export type OverTimeQuery = { __typename: 'Query', findingActivity: Array<{ __typename: 'FindingActivity', time: string, open: { __typename: 'SeverityCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number } }> | null, remediationActivity: Array<{ __typename: 'RemediationActivity', time: string, opened: { __typename: 'SeverityCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number }, fixed: { __typename: 'SeverityCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number }, timesToFix: Array<{ __typename: 'TimeToFix', rating: SeverityRating | null, count: number, meanDays: number }> }> | null, findingSummary: { __typename: 'FindingSummary', overdue: number } | null, dated: { __typename: 'FindingConnection', totalCount: number } | null };

export type RatedFragment = { __typename: 'SeverityCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number };

export type OverviewQueryVariables = Exact<{
  uid: string;
  from: string;
  soon: string;
}>;


export type OverviewQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, name: string, description: string | null, verified: boolean, status: OrgStatus | null, createTime: string, viewerCapabilities: Array<Capability>, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null, descendants: { __typename: 'GroupConnection', totalCount: number } | null, repos: { __typename: 'RepoConnection', totalCount: number } | null, tags: { __typename: 'TagConnection', totalCount: number } | null, identities: { __typename: 'IdentityConnection', totalCount: number } | null, roleBindings: { __typename: 'RoleBindingConnection', totalCount: number } | null, findingSummary: { __typename: 'FindingSummary', affectedRepos: number, affectedImages: number, images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, accepted: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, notAffected: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null, advisorySummary: { __typename: 'AdvisorySummary', open: { __typename: 'SeverityCount', total: number } } | null, children: { __typename: 'GroupConnection', totalCount: number, nodes: Array<{ __typename: 'Group', uid: string, name: string, description: string | null, repos: { __typename: 'RepoConnection', totalCount: number } | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null }> } | null, deprecated: { __typename: 'TagConnection', totalCount: number, nodes: Array<{ __typename: 'Tag', uid: string, name: string, repo: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null }> } | null, unseen: { __typename: 'IdentityConnection', nodes: Array<{ __typename: 'Identity', uid: string, name: string, lastSeenTime: string | null, createTime: string }> } | null, subscriptions: { __typename: 'EventSubscriptionConnection', totalCount: number, nodes: Array<{ __typename: 'EventSubscription', uid: string, sink: string, failingSince: string | null, disableTime: string | null, disableReason: string | null }> } | null, ending: { __typename: 'RoleBindingConnection', totalCount: number, nodes: Array<{ __typename: 'RoleBinding', uid: string, expireTime: string | null, identity: { __typename: 'Identity', uid: string, name: string } | null, role: { __typename: 'Role', uid: string, name: string } | null, group: { __typename: 'Group', uid: string, name: string } | null }> } | null, invites: { __typename: 'GroupInviteConnection', totalCount: number, nodes: Array<{ __typename: 'GroupInvite', uid: string, email: string | null, expirationTime: string, role: { __typename: 'Role', name: string } | null, group: { __typename: 'Group', name: string } | null }> } | null } | null, findingActivity: Array<{ __typename: 'FindingActivity', time: string, open: { __typename: 'SeverityCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number } }> | null, auditLog: { __typename: 'AuditLogConnection', nodes: Array<{ __typename: 'Event', id: string, type: string, kind: EventKind | null, time: string, subject: string, denied: string | null, count: number, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, resource:
        | { __typename: 'AccountAssociation' }
        | { __typename: 'Advisory' }
        | { __typename: 'AdvisoryDocument' }
        | { __typename: 'Artifact' }
        | { __typename: 'ArtifactVersion' }
        | { __typename: 'Delivery' }
        | { __typename: 'Event' }
        | { __typename: 'ExternalGroupRoleMapping' }
        | { __typename: 'Finding' }
        | { __typename: 'Group', name: string }
        | { __typename: 'GroupInvite', email: string | null, keyId: string }
        | { __typename: 'Identity', name: string }
        | { __typename: 'IdentityProvider', name: string }
        | { __typename: 'Image' }
        | { __typename: 'Package' }
        | { __typename: 'PackageVersion' }
        | { __typename: 'Repo', name: string }
        | { __typename: 'Role', name: string }
        | { __typename: 'RoleBinding', identity: { __typename: 'Identity', name: string } | null, role: { __typename: 'Role', name: string } | null }
        | { __typename: 'Source' }
        | { __typename: 'EventSubscription', sink: string }
        | { __typename: 'Tag', name: string, repo: { __typename: 'Repo', name: string } | null }
        | { __typename: 'TermsAcceptance' }
        | { __typename: 'Viewer' }
        | { __typename: 'VulnerabilityMetadata' }
        | { __typename: 'VulnerabilityExposure' }
       | null, changes: Array<{ __typename: 'EventChange', field: string, before: unknown, after: unknown }> | null }> } | null };

export type NewestQueryVariables = Exact<{
  uid: string;
  since: string;
}>;


export type NewestQuery = { __typename: 'Query', findings: { __typename: 'FindingConnection', pageInfo: { __typename: 'PageInfo', hasNextPage: boolean }, nodes: Array<{ __typename: 'Finding', uid: string, vulnerabilityId: string, package: string, digest: string, knownExploited: boolean, fixable: boolean, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null }, repo: { __typename: 'Repo', uid: string, name: string } | null }> } | null };

export type DoFirstQueryVariables = Exact<{
  uid: string;
  first: number;
}>;


export type DoFirstQuery = { __typename: 'Query', upgrades: { __typename: 'Upgrades', totalCount: number, nodes: Array<{ __typename: 'Upgrade', package: string, ecosystem: string | null, to: string, epss: number | null, images: number, repos: number, firstSeenTime: string, reasons: Array<UpgradeReason>, gone: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, knownExploited: number }, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null } }> } | null };

export type LiveSubscriptionVariables = Exact<{
  uid: string;
  kinds?: Array<EventKind> | EventKind | null | undefined;
  after?: string | null | undefined;
}>;


export type LiveSubscription = { __typename: 'Subscription', events: { __typename: 'Event', id: string, type: string, kind: EventKind | null, time: string, subject: string, denied: string | null, count: number, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, resource:
      | { __typename: 'AccountAssociation' }
      | { __typename: 'Advisory' }
      | { __typename: 'AdvisoryDocument' }
      | { __typename: 'Artifact' }
      | { __typename: 'ArtifactVersion' }
      | { __typename: 'Delivery' }
      | { __typename: 'Event' }
      | { __typename: 'ExternalGroupRoleMapping' }
      | { __typename: 'Finding' }
      | { __typename: 'Group', name: string }
      | { __typename: 'GroupInvite', email: string | null, keyId: string }
      | { __typename: 'Identity', name: string }
      | { __typename: 'IdentityProvider', name: string }
      | { __typename: 'Image' }
      | { __typename: 'Package' }
      | { __typename: 'PackageVersion' }
      | { __typename: 'Repo', name: string }
      | { __typename: 'Role', name: string }
      | { __typename: 'RoleBinding', identity: { __typename: 'Identity', name: string } | null, role: { __typename: 'Role', name: string } | null }
      | { __typename: 'Source' }
      | { __typename: 'EventSubscription', sink: string }
      | { __typename: 'Tag', name: string, repo: { __typename: 'Repo', name: string } | null }
      | { __typename: 'TermsAcceptance' }
      | { __typename: 'Viewer' }
      | { __typename: 'VulnerabilityMetadata' }
      | { __typename: 'VulnerabilityExposure' }
     | null, changes: Array<{ __typename: 'EventChange', field: string, before: unknown, after: unknown }> | null } };

export type HappeningFragment = { __typename: 'Event', id: string, type: string, kind: EventKind | null, time: string, subject: string, denied: string | null, count: number, actor: { __typename: 'EventActor', subject: string, act: Record<string, string> | null, identity: { __typename: 'Identity', uid: string, name: string } | null }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, resource:
    | { __typename: 'AccountAssociation' }
    | { __typename: 'Advisory' }
    | { __typename: 'AdvisoryDocument' }
    | { __typename: 'Artifact' }
    | { __typename: 'ArtifactVersion' }
    | { __typename: 'Delivery' }
    | { __typename: 'Event' }
    | { __typename: 'ExternalGroupRoleMapping' }
    | { __typename: 'Finding' }
    | { __typename: 'Group', name: string }
    | { __typename: 'GroupInvite', email: string | null, keyId: string }
    | { __typename: 'Identity', name: string }
    | { __typename: 'IdentityProvider', name: string }
    | { __typename: 'Image' }
    | { __typename: 'Package' }
    | { __typename: 'PackageVersion' }
    | { __typename: 'Repo', name: string }
    | { __typename: 'Role', name: string }
    | { __typename: 'RoleBinding', identity: { __typename: 'Identity', name: string } | null, role: { __typename: 'Role', name: string } | null }
    | { __typename: 'Source' }
    | { __typename: 'EventSubscription', sink: string }
    | { __typename: 'Tag', name: string, repo: { __typename: 'Repo', name: string } | null }
    | { __typename: 'TermsAcceptance' }
    | { __typename: 'Viewer' }
    | { __typename: 'VulnerabilityMetadata' }
    | { __typename: 'VulnerabilityExposure' }
   | null, changes: Array<{ __typename: 'EventChange', field: string, before: unknown, after: unknown }> | null };

export type PackagesQueryVariables = Exact<{
  uid: string;
  where?: PackageFilter | null | undefined;
  orderBy?: Array<PackageOrder> | PackageOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type PackagesQuery = { __typename: 'Query', packages: { __typename: 'PackageConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Package', uid: string, name: string, ecosystem: string | null, versions: { __typename: 'PackageVersionConnection', totalCount: number, nodes: Array<{ __typename: 'PackageVersion', uid: string, version: string | null, advisories: { __typename: 'AdvisoryConnection', totalCount: number } | null }> } | null }> } | null };

export type PackageQueryVariables = Exact<{
  uid: string;
  names: Array<string> | string;
  ecosystems?: Array<string> | string | null | undefined;
}>;


export type PackageQuery = { __typename: 'Query', packages: { __typename: 'PackageConnection', nodes: Array<{ __typename: 'Package', uid: string, name: string, ecosystem: string | null, versions: { __typename: 'PackageVersionConnection', totalCount: number, nodes: Array<{ __typename: 'PackageVersion', uid: string, version: string | null, purl: string | null, licenses: Array<string>, advisories: { __typename: 'AdvisoryConnection', totalCount: number, nodes: Array<{ __typename: 'Advisory', uid: string, advisoryId: string, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null } }> } | null, repos: { __typename: 'RepoConnection', totalCount: number, nodes: Array<{ __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null, tags: { __typename: 'TagConnection', totalCount: number } | null }> } | null }> } | null, findings: { __typename: 'FindingConnection', totalCount: number } | null };

export type TagsWithQueryVariables = Exact<{
  uid: string;
  where: TagFilter;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type TagsWithQuery = { __typename: 'Query', tags: { __typename: 'TagConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Tag', uid: string, name: string, digest: string, updateTime: string, repo: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null }> } | null };

export type RepoQueryVariables = Exact<{
  uid: string;
  from: string;
  to: string;
  comparing: boolean;
}>;


export type RepoQuery = { __typename: 'Query', repo: { __typename: 'Repo', uid: string, name: string, description: string | null, catalogTier: CatalogTier | null, bundles: Array<string>, aliases: Array<string>, activeTags: Array<string>, createTime: string, updateTime: string, viewerCapabilities: Array<Capability>, syncConfig: { __typename: 'SyncConfig', source: string, google: string | null, amazon: string | null, azure: string | null, expirationTime: string | null } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, findingSummary: { __typename: 'FindingSummary', affectedRepos: number, affectedImages: number, images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, accepted: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number }, notAffected: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null, everyTag: { __typename: 'TagConnection', totalCount: number } | null, latest: { __typename: 'Tag', uid: string, name: string } | null, newest: { __typename: 'TagConnection', nodes: Array<{ __typename: 'Tag', uid: string, name: string }> } | null, from?: { __typename: 'Tag', uid: string, name: string, digest: string } | null, to?: { __typename: 'Tag', uid: string, name: string, digest: string } | null } | null };

export type RepoTagsQueryVariables = Exact<{
  uid: string;
  tags?: TagFilter | null | undefined;
  orderBy?: Array<TagOrder> | TagOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type RepoTagsQuery = { __typename: 'Query', repo: { __typename: 'Repo', uid: string, tags: { __typename: 'TagConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Tag', uid: string, name: string, digest: string, deprecated: boolean, updateTime: string, image: { __typename: 'Image', architectures: Array<string>, sizes: Array<{ __typename: 'ImageSize', architecture: string, size: number | null }>, sboms: Array<{ __typename: 'ImageSbom', architecture: string | null, cyclonedx: string, spdx: string }> | null } | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null }> } | null } | null };

export type ReadmeQueryVariables = Exact<{
  uid: string;
}>;


export type ReadmeQuery = { __typename: 'Query', repo: { __typename: 'Repo', uid: string, name: string, readme: string | null, viewerCapabilities: Array<Capability> } | null };

export type CompareImagesQueryVariables = Exact<{
  from: string;
  to: string;
}>;


export type CompareImagesQuery = { __typename: 'Query', compareImages: { __typename: 'ImageComparison', findingsGoneCount: number, findingsNewCount: number, addedCount: number, removedCount: number, changedCount: number, findingsGone: Array<{ __typename: 'Finding', uid: string, vulnerabilityId: string, package: string, digest: string, installedVersion: string | null, fixedVersions: Array<string>, state: FindingState, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null } }>, findingsNew: Array<{ __typename: 'Finding', uid: string, vulnerabilityId: string, package: string, digest: string, installedVersion: string | null, fixedVersions: Array<string>, state: FindingState, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null } }>, added: Array<{ __typename: 'ImagePackage', name: string, version: string | null, ecosystem: string | null }>, removed: Array<{ __typename: 'ImagePackage', name: string, version: string | null, ecosystem: string | null }>, changed: Array<{ __typename: 'ImagePackageChange', name: string, ecosystem: string | null, from: Array<string>, to: Array<string> }> } | null };

export type BatchDeleteTagsMutationVariables = Exact<{
  input: BatchDeleteTagsInput;
}>;


export type BatchDeleteTagsMutation = { __typename: 'Mutation', batchDeleteTags: { __typename: 'BatchDeleteTagsPayload', deletedUids: Array<string> } | null };

export type ComparedFindingFragment = { __typename: 'Finding', uid: string, vulnerabilityId: string, package: string, digest: string, installedVersion: string | null, fixedVersions: Array<string>, state: FindingState, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null } };

export type TagRowFragment = { __typename: 'Tag', uid: string, name: string, digest: string, deprecated: boolean, updateTime: string, image: { __typename: 'Image', architectures: Array<string>, sizes: Array<{ __typename: 'ImageSize', architecture: string, size: number | null }>, sboms: Array<{ __typename: 'ImageSbom', architecture: string | null, cyclonedx: string, spdx: string }> | null } | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null };

export type ReposQueryVariables = Exact<{
  uid: string;
  where?: RepoFilter | null | undefined;
  orderBy?: Array<RepoOrder> | RepoOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type ReposQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, viewerCapabilities?: Array<Capability>, repos: { __typename: 'RepoConnection', totalCount?: number, facets?: { __typename: 'RepoFacets', tiers: Array<{ __typename: 'ValueFacet', value: string | null, count: number }>, bundles: Array<{ __typename: 'ValueFacet', value: string | null, count: number }> } | null, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Repo', uid: string, name: string, description: string | null, catalogTier: CatalogTier | null, bundles: Array<string>, createTime: string, updateTime: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, tags: { __typename: 'TagConnection', totalCount: number } | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null }> } | null } | null };

export type AdvisoryRowFragment = { __typename: 'Advisory', uid: string, advisoryId: string, aliases: Array<string>, artifactName: string, componentName: string | null, createTime: string, deleteTime: string | null, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating, score: number | null }, vulnerabilities: Array<{ __typename: 'VulnerabilityMetadata', vulnerabilityId: string, summary: string | null }> | null, findings: { __typename: 'FindingConnection', totalCount: number } | null, events: Array<{ __typename: 'AdvisoryEvent', type: AdvisoryEventType, createTime: string | null, author: string | null, detail:
      | { __typename: 'AdvisoryDetection', nvdapi: { __typename: 'AdvisoryNVDDetection', cpeFound: string | null } | null, scanv1: { __typename: 'AdvisoryScanDetection', scanner: string | null, component: string | null, componentVersion: string | null } | null }
      | { __typename: 'AdvisoryTruePositive', note: string | null }
      | { __typename: 'AdvisoryFix', fixedVersion: string | null, note: string | null }
      | { __typename: 'AdvisoryFalsePositive', note: string | null, reason: FalsePositiveType | null }
      | { __typename: 'AdvisoryAnalysisNotPlanned', note: string | null }
      | { __typename: 'AdvisoryFixNotPlanned', note: string | null }
      | { __typename: 'AdvisoryPendingUpstreamFix', note: string | null }
      | { __typename: 'AdvisoryPatch', patchedVersions: Array<string>, note: string | null }
     }> };

export type ShellQueryVariables = Exact<{
  after?: string | null | undefined;
  org: string;
  inOrg: boolean;
  path: string;
  below: boolean;
}>;


export type ShellQuery = { __typename: 'Query', viewer: { __typename: 'Viewer', identities: Array<{ __typename: 'Identity', uid: string, name: string, email: string | null }> } | null, groups: { __typename: 'GroupConnection', nodes: Array<{ __typename: 'Group', uid: string, name: string, description: string | null }> } | null, feeds: { __typename: 'SourceConnection', nodes: Array<{ __typename: 'Source', uid: string, name: string, lastSuccessTime: string | null, failingSince: string | null }> } | null, org?: { __typename: 'Group', uid: string, name: string, children: { __typename: 'GroupConnection', pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Group', uid: string, name: string, children: { __typename: 'GroupConnection', totalCount: number } | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null }> } | null } | null, group?: { __typename: 'Group', uid: string, name: string } | null, repo?: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null };

export type PlaceQueryVariables = Exact<{
  path: string;
  below: boolean;
}>;


export type PlaceQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, name: string } | null, repo?: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null };

export type BranchQueryVariables = Exact<{
  uid: string;
  after?: string | null | undefined;
}>;


export type BranchQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, children: { __typename: 'GroupConnection', pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Group', uid: string, name: string, children: { __typename: 'GroupConnection', totalCount: number } | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null }> } | null } | null };

export type BranchesFragment = { __typename: 'Group', children: { __typename: 'GroupConnection', pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Group', uid: string, name: string, children: { __typename: 'GroupConnection', totalCount: number } | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null }> } | null };

export type StartQueryVariables = Exact<{ [key: string]: never; }>;


export type StartQuery = { __typename: 'Query', viewer: { __typename: 'Viewer', identities: Array<{ __typename: 'Identity', uid: string, name: string, email: string | null }>, roleBindings: { __typename: 'RoleBindingConnection', nodes: Array<{ __typename: 'RoleBinding', uid: string, expireTime: string | null, role: { __typename: 'Role', name: string, capabilities: Array<Capability> } | null, group: { __typename: 'Group', uid: string, name: string, description: string | null, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null, repos: { __typename: 'RepoConnection', totalCount: number } | null } | null }> } | null } | null };

export type SearchQueryVariables = Exact<{
  query: string;
  within?: string | null | undefined;
  kinds?: Array<SearchKind> | SearchKind | null | undefined;
}>;


export type SearchQuery = { __typename: 'Query', findings: { __typename: 'FindingConnection', nodes: Array<{ __typename: 'Finding', uid: string, vulnerabilityId: string, package: string, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating }, repo: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null }> } | null, packages: { __typename: 'PackageConnection', nodes: Array<{ __typename: 'Package', uid: string, name: string, ecosystem: string | null, group: { __typename: 'Group', uid: string, name: string } | null }> } | null, advisories: { __typename: 'AdvisoryConnection', nodes: Array<{ __typename: 'Advisory', uid: string, advisoryId: string, artifactName: string, artifactType: string | null, severity: { __typename: 'AdvisorySeverity', rating: SeverityRating }, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null, search: { __typename: 'SearchConnection', edges: Array<{ __typename: 'SearchEdge', matchedField: SearchField, node:
        | { __typename: 'Group', uid: string, name: string, description: string | null, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null }
        | { __typename: 'Identity', uid: string, name: string, description: string | null, email: string | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }
        | { __typename: 'Role', uid: string, name: string, description: string | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }
        | { __typename: 'Repo', uid: string, name: string, description: string | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null }
        | { __typename: 'Tag', uid: string, name: string, deprecated: boolean, findingSummary: { __typename: 'FindingSummary', images: number, knownImages: number, open: { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number } } | null, repo: { __typename: 'Repo', uid: string, name: string, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null }
       }> } | null };

export type CountsFragment = { __typename: 'FindingCount', total: number, critical: number, high: number, medium: number, low: number, none: number, unknown: number, fixable: number, knownExploited: number };

export type SourcesQueryVariables = Exact<{
  uid: string;
}>;


export type SourcesQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, viewerCapabilities: Array<Capability> } | null, sources: { __typename: 'SourceConnection', totalCount: number, nodes: Array<{ __typename: 'Source', viewerCapabilities: Array<Capability>, uid: string, name: string, type: SourceType, url: string, ecosystems: Array<string>, patterns: Array<string>, prune: boolean, interval: string, paused: boolean, state: SourceState, nextRunTime: string | null, lastRunTime: string | null, lastSuccessTime: string | null, failingSince: string | null, createTime: string, credentials: { __typename: 'SourceCredentials', username: string | null } | null, lastRun: { __typename: 'SourceRun', number: number, error: string | null, isUnchanged: boolean, problemCount: number, records: Array<{ __typename: 'SourceRunRecords', kind: string, added: number, updated: number, unchanged: number, failed: number, removed: number }> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null, feeds: { __typename: 'SourceConnection', nodes: Array<{ __typename: 'Source', uid: string, name: string, type: SourceType, url: string, ecosystems: Array<string>, patterns: Array<string>, prune: boolean, interval: string, paused: boolean, state: SourceState, nextRunTime: string | null, lastRunTime: string | null, lastSuccessTime: string | null, failingSince: string | null, createTime: string, credentials: { __typename: 'SourceCredentials', username: string | null } | null, lastRun: { __typename: 'SourceRun', number: number, error: string | null, isUnchanged: boolean, problemCount: number, records: Array<{ __typename: 'SourceRunRecords', kind: string, added: number, updated: number, unchanged: number, failed: number, removed: number }> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null };

export type SourceRunsQueryVariables = Exact<{
  uid: string;
}>;


export type SourceRunsQuery = { __typename: 'Query', source: { __typename: 'Source', uid: string, runs: Array<{ __typename: 'SourceRun', number: number, state: SourceState, startTime: string, endTime: string | null, error: string | null, isUnchanged: boolean, problems: Array<string>, problemCount: number, records: Array<{ __typename: 'SourceRunRecords', kind: string, added: number, updated: number, unchanged: number, failed: number, removed: number }> }> } | null };

export type ReadSourceFragment = { __typename: 'Source', uid: string, name: string, type: SourceType, url: string, ecosystems: Array<string>, patterns: Array<string>, prune: boolean, interval: string, paused: boolean, state: SourceState, nextRunTime: string | null, lastRunTime: string | null, lastSuccessTime: string | null, failingSince: string | null, createTime: string, credentials: { __typename: 'SourceCredentials', username: string | null } | null, lastRun: { __typename: 'SourceRun', number: number, error: string | null, isUnchanged: boolean, problemCount: number, records: Array<{ __typename: 'SourceRunRecords', kind: string, added: number, updated: number, unchanged: number, failed: number, removed: number }> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null };

export type CreateSourceMutationVariables = Exact<{
  input: CreateSourceInput;
}>;


export type CreateSourceMutation = { __typename: 'Mutation', createSource: { __typename: 'CreateSourcePayload', source: { __typename: 'Source', uid: string, name: string, type: SourceType, url: string, ecosystems: Array<string>, patterns: Array<string>, prune: boolean, interval: string, paused: boolean, state: SourceState, nextRunTime: string | null, lastRunTime: string | null, lastSuccessTime: string | null, failingSince: string | null, createTime: string, credentials: { __typename: 'SourceCredentials', username: string | null } | null, lastRun: { __typename: 'SourceRun', number: number, error: string | null, isUnchanged: boolean, problemCount: number, records: Array<{ __typename: 'SourceRunRecords', kind: string, added: number, updated: number, unchanged: number, failed: number, removed: number }> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } } | null };

export type UpdateSourceMutationVariables = Exact<{
  input: UpdateSourceInput;
}>;


export type UpdateSourceMutation = { __typename: 'Mutation', updateSource: { __typename: 'UpdateSourcePayload', source: { __typename: 'Source', uid: string, name: string, type: SourceType, url: string, ecosystems: Array<string>, patterns: Array<string>, prune: boolean, interval: string, paused: boolean, state: SourceState, nextRunTime: string | null, lastRunTime: string | null, lastSuccessTime: string | null, failingSince: string | null, createTime: string, credentials: { __typename: 'SourceCredentials', username: string | null } | null, lastRun: { __typename: 'SourceRun', number: number, error: string | null, isUnchanged: boolean, problemCount: number, records: Array<{ __typename: 'SourceRunRecords', kind: string, added: number, updated: number, unchanged: number, failed: number, removed: number }> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } } | null };

export type RunSourceMutationVariables = Exact<{
  input: RunSourceInput;
}>;


export type RunSourceMutation = { __typename: 'Mutation', runSource: { __typename: 'RunSourcePayload', source: { __typename: 'Source', uid: string, name: string, type: SourceType, url: string, ecosystems: Array<string>, patterns: Array<string>, prune: boolean, interval: string, paused: boolean, state: SourceState, nextRunTime: string | null, lastRunTime: string | null, lastSuccessTime: string | null, failingSince: string | null, createTime: string, credentials: { __typename: 'SourceCredentials', username: string | null } | null, lastRun: { __typename: 'SourceRun', number: number, error: string | null, isUnchanged: boolean, problemCount: number, records: Array<{ __typename: 'SourceRunRecords', kind: string, added: number, updated: number, unchanged: number, failed: number, removed: number }> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } } | null };

export type CancelSourceMutationVariables = Exact<{
  input: CancelSourceInput;
}>;


export type CancelSourceMutation = { __typename: 'Mutation', cancelSource: { __typename: 'CancelSourcePayload', source: { __typename: 'Source', uid: string, name: string, type: SourceType, url: string, ecosystems: Array<string>, patterns: Array<string>, prune: boolean, interval: string, paused: boolean, state: SourceState, nextRunTime: string | null, lastRunTime: string | null, lastSuccessTime: string | null, failingSince: string | null, createTime: string, credentials: { __typename: 'SourceCredentials', username: string | null } | null, lastRun: { __typename: 'SourceRun', number: number, error: string | null, isUnchanged: boolean, problemCount: number, records: Array<{ __typename: 'SourceRunRecords', kind: string, added: number, updated: number, unchanged: number, failed: number, removed: number }> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } } | null };

export type DeleteSourceMutationVariables = Exact<{
  input: DeleteSourceInput;
}>;


export type DeleteSourceMutation = { __typename: 'Mutation', deleteSource: { __typename: 'DeleteSourcePayload', deletedId: string, deletedUid: string } | null };

export type WebhooksQueryVariables = Exact<{
  uid: string;
  orderBy?: Array<EventSubscriptionOrder> | EventSubscriptionOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type WebhooksQuery = { __typename: 'Query', group: { __typename: 'Group', uid: string, viewerCapabilities?: Array<Capability>, subscriptions: { __typename: 'EventSubscriptionConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'EventSubscription', uid: string, sink: string, format: SubscriptionFormat, digest: SubscriptionDigest, types: Array<string>, createTime: string, updateTime: string, failingSince: string | null, disableTime: string | null, disableReason: string | null, latest: { __typename: 'DeliveryConnection', nodes: Array<{ __typename: 'Delivery', uid: string, state: DeliveryState, lastStatus: number | null, createTime: string }> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null }> } | null } | null };

export type WebhookQueryVariables = Exact<{
  uid: string;
  where?: DeliveryFilter | null | undefined;
  orderBy?: Array<DeliveryOrder> | DeliveryOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  start: boolean;
}>;


export type WebhookQuery = { __typename: 'Query', subscription: { __typename: 'EventSubscription', viewerCapabilities?: Array<Capability>, uid: string, sink: string, format: SubscriptionFormat, digest: SubscriptionDigest, types: Array<string>, createTime: string, updateTime: string, failingSince: string | null, disableTime: string | null, disableReason: string | null, failed?: { __typename: 'DeliveryConnection', totalCount: number } | null, deliveries: { __typename: 'DeliveryConnection', totalCount?: number, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ __typename: 'Delivery', uid: string, eventId: string, eventType: string, events: number, state: DeliveryState, attempts: number, lastStatus: number | null, lastError: string | null, lastAnswer: string | null, lastAttemptTime: string | null, nextAttemptTime: string | null, createTime: string }> } | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null } | null };

export type HookFragment = { __typename: 'EventSubscription', uid: string, sink: string, format: SubscriptionFormat, digest: SubscriptionDigest, types: Array<string>, createTime: string, updateTime: string, failingSince: string | null, disableTime: string | null, disableReason: string | null, group: { __typename: 'Group', uid: string, name: string, ancestors: Array<{ __typename: 'Group', uid: string, name: string }> | null } | null };

/** The text of a document, which knows the types of its answer and of its variables. */
export type TypedDocument<Data, Variables> = string & { __apiType?: (variables: Variables) => Data };

export const AcceptGroupInvite = "mutation AcceptGroupInvite($input: AcceptGroupInviteInput!) {\n  acceptGroupInvite(input: $input) {\n    roleBinding {\n      uid\n      group {\n        uid\n        name\n        ancestors {\n          uid\n          name\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<AcceptGroupInviteMutation, AcceptGroupInviteMutationVariables>;
export const Access = "query Access($uid: UID!, $root: UID!, $capability: Capability, $orderBy: [RoleBindingOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  group(uid: $uid) {\n    uid\n    name\n    mayBind: viewerCan(capabilities: [ROLE_BINDINGS_CREATE])\n    viewerCapabilities @include(if: $start)\n    roles(directOnly: true, first: 100) @include(if: $start) {\n      nodes {\n        ...GivenRole\n        __typename\n      }\n      __typename\n    }\n    ancestors @include(if: $start) {\n      uid\n      name\n      roles(directOnly: true, first: 50) {\n        nodes {\n          ...GivenRole\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    effectiveBindings(\n      capability: $capability\n      orderBy: $orderBy\n      first: $first\n      after: $after\n    ) {\n      totalCount @include(if: $start)\n      pageInfo {\n        hasNextPage\n        endCursor\n        __typename\n      }\n      nodes {\n        ...Grant\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  roles(directOnly: true, first: 50) @include(if: $start) {\n    nodes {\n      ...GivenRole\n      __typename\n    }\n    __typename\n  }\n  viewer @include(if: $start) {\n    identities {\n      uid\n      name\n      __typename\n    }\n    seesAll: can(capability: ROLE_BINDINGS_LIST, within: $root)\n    seesExternal: can(capability: IDENTITY_PROVIDERS_LIST, within: $root)\n    __typename\n  }\n  externalGroupRoleMappings(within: $root, first: 100) @include(if: $start) {\n    pageInfo {\n      hasNextPage\n      __typename\n    }\n    nodes {\n      uid\n      externalGroupId\n      scopeUid\n      identityProvider {\n        name\n        __typename\n      }\n      role {\n        ...GivenRole\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Bound on Identity {\n  uid\n  name\n  description\n  email\n  __typename\n}\nfragment GivenRole on Role {\n  uid\n  name\n  description\n  capabilities\n  __typename\n}\nfragment Grant on RoleBinding {\n  uid\n  createTime\n  expireTime\n  mayChange: viewerCan(capabilities: [ROLE_BINDINGS_UPDATE])\n  mayRevoke: viewerCan(capabilities: [ROLE_BINDINGS_DELETE])\n  identity {\n    ...Bound\n    __typename\n  }\n  role {\n    uid\n    name\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<AccessQuery, AccessQueryVariables>;
export const AccessOn = "query AccessOn($uid: UID!, $time: DateTime!, $first: Int!, $after: String) {\n  accessAt(within: $uid, time: $time, first: $first, after: $after) {\n    complete\n    recordedSince\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      ...PastGrant\n      createTime\n      capabilities\n      group {\n        uid\n        name\n        ancestors {\n          uid\n          name\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment PastGrant on AccessGrant {\n  bindingUid\n  groupUid\n  groupName\n  identityUid\n  identityName\n  roleUid\n  roleName\n  expireTime\n  identity {\n    uid\n    email\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<AccessOnQuery, AccessOnQueryVariables>;
export const Advisories = "query Advisories($uid: UID!, $where: AdvisoryFilter, $orderBy: [AdvisoryOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  group(uid: $uid) {\n    uid\n    advisorySummary @include(if: $start) {\n      open {\n        ...FeedCounts\n        __typename\n      }\n      fixed {\n        ...FeedCounts\n        __typename\n      }\n      notAffected {\n        ...FeedCounts\n        __typename\n      }\n      __typename\n    }\n    findingSummary @include(if: $start) {\n      open {\n        total\n        __typename\n      }\n      __typename\n    }\n    advisories(where: $where, orderBy: $orderBy, first: $first, after: $after) {\n      totalCount @include(if: $start)\n      pageInfo {\n        hasNextPage\n        endCursor\n        __typename\n      }\n      nodes {\n        ...AdvisoryRow\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment AdvisoryHappening on AdvisoryEvent {\n  type\n  createTime\n  author\n  detail {\n    ... on AdvisoryDetection {\n      nvdapi {\n        cpeFound\n        __typename\n      }\n      scanv1 {\n        scanner\n        component\n        componentVersion\n        __typename\n      }\n      __typename\n    }\n    ... on AdvisoryFix {\n      fixedVersion\n      note\n      __typename\n    }\n    ... on AdvisoryFalsePositive {\n      reason: type\n      note\n      __typename\n    }\n    ... on AdvisoryPatch {\n      patchedVersions\n      note\n      __typename\n    }\n    ... on AdvisoryTruePositive {\n      note\n      __typename\n    }\n    ... on AdvisoryAnalysisNotPlanned {\n      note\n      __typename\n    }\n    ... on AdvisoryFixNotPlanned {\n      note\n      __typename\n    }\n    ... on AdvisoryPendingUpstreamFix {\n      note\n      __typename\n    }\n    __typename\n  }\n  __typename\n}\nfragment AdvisoryRow on Advisory {\n  uid\n  advisoryId\n  aliases\n  artifactName\n  componentName\n  createTime\n  deleteTime\n  severity {\n    rating\n    score\n    __typename\n  }\n  vulnerabilities {\n    vulnerabilityId\n    summary\n    __typename\n  }\n  findings(first: 0, where: {states: [OPEN, IN_TRIAGE]}) {\n    totalCount\n    __typename\n  }\n  events {\n    ...AdvisoryHappening\n    __typename\n  }\n  __typename\n}\nfragment FeedCounts on SeverityCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  __typename\n}" as unknown as TypedDocument<AdvisoriesQuery, AdvisoriesQueryVariables>;
export const Audit = "query Audit($uid: UID!, $kinds: [EventKind!], $actor: String, $subject: UID, $denied: Boolean, $since: DateTime, $until: DateTime, $first: Int!, $after: String) {\n  auditLogRuns(\n    within: $uid\n    kinds: $kinds\n    actor: $actor\n    subject: $subject\n    denied: $denied\n    since: $since\n    until: $until\n    first: $first\n    after: $after\n  ) {\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      ...Run\n      __typename\n    }\n    __typename\n  }\n}\nfragment Happening on Event {\n  id\n  type\n  kind\n  time\n  subject\n  denied\n  count\n  actor {\n    subject\n    act\n    identity {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  resource {\n    ... on Group {\n      name\n      __typename\n    }\n    ... on Repo {\n      name\n      __typename\n    }\n    ... on Tag {\n      name\n      repo {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on Identity {\n      name\n      __typename\n    }\n    ... on Role {\n      name\n      __typename\n    }\n    ... on RoleBinding {\n      identity {\n        name\n        __typename\n      }\n      role {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on EventSubscription {\n      sink\n      __typename\n    }\n    ... on GroupInvite {\n      email\n      keyId\n      __typename\n    }\n    ... on IdentityProvider {\n      name\n      __typename\n    }\n    __typename\n  }\n  changes {\n    field\n    before\n    after\n    __typename\n  }\n  __typename\n}\nfragment Run on AuditLogRun {\n  oldestTime\n  count\n  newest {\n    ...Happening\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<AuditQuery, AuditQueryVariables>;
export const AuditDays = "query AuditDays($uid: UID!, $kinds: [EventKind!], $from: DateTime!) {\n  eventActivity(within: $uid, from: $from, kinds: $kinds) {\n    time\n    made\n    refused\n    __typename\n  }\n}" as unknown as TypedDocument<AuditDaysQuery, AuditDaysQueryVariables>;
export const AuditEvents = "query AuditEvents($uid: UID!, $kinds: [EventKind!], $actor: String, $subject: UID, $denied: Boolean, $since: DateTime, $until: DateTime, $first: Int!, $after: String) {\n  auditLog(\n    within: $uid\n    kinds: $kinds\n    actor: $actor\n    subject: $subject\n    denied: $denied\n    since: $since\n    until: $until\n    first: $first\n    after: $after\n  ) {\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      ...Happening\n      __typename\n    }\n    __typename\n  }\n}\nfragment Happening on Event {\n  id\n  type\n  kind\n  time\n  subject\n  denied\n  count\n  actor {\n    subject\n    act\n    identity {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  resource {\n    ... on Group {\n      name\n      __typename\n    }\n    ... on Repo {\n      name\n      __typename\n    }\n    ... on Tag {\n      name\n      repo {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on Identity {\n      name\n      __typename\n    }\n    ... on Role {\n      name\n      __typename\n    }\n    ... on RoleBinding {\n      identity {\n        name\n        __typename\n      }\n      role {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on EventSubscription {\n      sink\n      __typename\n    }\n    ... on GroupInvite {\n      email\n      keyId\n      __typename\n    }\n    ... on IdentityProvider {\n      name\n      __typename\n    }\n    __typename\n  }\n  changes {\n    field\n    before\n    after\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<AuditEventsQuery, AuditEventsQueryVariables>;
export const BatchDeleteTags = "mutation BatchDeleteTags($input: BatchDeleteTagsInput!) {\n  batchDeleteTags(input: $input) {\n    deletedUids\n    __typename\n  }\n}" as unknown as TypedDocument<BatchDeleteTagsMutation, BatchDeleteTagsMutationVariables>;
export const Bind = "mutation Bind($input: CreateRoleBindingInput!) {\n  createRoleBinding(input: $input) {\n    roleBinding {\n      uid\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<BindMutation, BindMutationVariables>;
export const Bindable = "query Bindable($uid: UID!, $where: IdentityFilter) {\n  group(uid: $uid) {\n    uid\n    name\n    identities(directOnly: true, where: $where, first: 20) {\n      totalCount\n      nodes {\n        ...Bound\n        __typename\n      }\n      __typename\n    }\n    ancestors {\n      uid\n      name\n      identities(directOnly: true, where: $where, first: 20) {\n        totalCount\n        nodes {\n          ...Bound\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Bound on Identity {\n  uid\n  name\n  description\n  email\n  __typename\n}" as unknown as TypedDocument<BindableQuery, BindableQueryVariables>;
export const Bodies = "query Bodies($ids: [ID!]!) {\n  nodes(ids: $ids) {\n    ... on Event {\n      id\n      body\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<BodiesQuery, BodiesQueryVariables>;
export const Branch = "query Branch($uid: UID!, $after: String) {\n  group(uid: $uid) {\n    uid\n    ...Branches\n    __typename\n  }\n}\nfragment Branches on Group {\n  children(first: 100, after: $after) {\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      uid\n      name\n      children(first: 1) {\n        totalCount\n        __typename\n      }\n      findingSummary {\n        ...Standing\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  __typename\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment Standing on FindingSummary {\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<BranchQuery, BranchQueryVariables>;
export const Can = "query Can($identity: UID!, $me: Boolean!, $capability: Capability!, $on: UID!) {\n  identity(uid: $identity) @skip(if: $me) {\n    uid\n    name\n    can(capability: $capability, within: $on)\n    roleBindings(first: 200) {\n      nodes {\n        ...Granted\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  viewer @include(if: $me) {\n    can(capability: $capability, within: $on)\n    identities {\n      uid\n      name\n      __typename\n    }\n    roleBindings(first: 200) {\n      nodes {\n        ...Granted\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment GivenRole on Role {\n  uid\n  name\n  description\n  capabilities\n  __typename\n}\nfragment Granted on RoleBinding {\n  uid\n  identity {\n    uid\n    name\n    __typename\n  }\n  role {\n    ...GivenRole\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<CanQuery, CanQueryVariables>;
export const CancelSource = "mutation CancelSource($input: CancelSourceInput!) {\n  cancelSource(input: $input) {\n    source {\n      ...ReadSource\n      __typename\n    }\n    __typename\n  }\n}\nfragment ReadSource on Source {\n  uid\n  name\n  type\n  url\n  ecosystems\n  patterns\n  prune\n  interval\n  credentials {\n    username\n    __typename\n  }\n  paused\n  state\n  nextRunTime\n  lastRunTime\n  lastSuccessTime\n  failingSince\n  createTime\n  lastRun {\n    number\n    error\n    isUnchanged\n    records {\n      kind\n      added\n      updated\n      unchanged\n      failed\n      removed\n      __typename\n    }\n    problemCount\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<CancelSourceMutation, CancelSourceMutationVariables>;
export const CompareImages = "query CompareImages($from: UID!, $to: UID!) {\n  compareImages(from: {tag: $from}, to: {tag: $to}) {\n    findingsGoneCount\n    findingsNewCount\n    addedCount\n    removedCount\n    changedCount\n    findingsGone {\n      ...ComparedFinding\n      __typename\n    }\n    findingsNew {\n      ...ComparedFinding\n      __typename\n    }\n    added {\n      name\n      version\n      ecosystem\n      __typename\n    }\n    removed {\n      name\n      version\n      ecosystem\n      __typename\n    }\n    changed {\n      name\n      ecosystem\n      from\n      to\n      __typename\n    }\n    __typename\n  }\n}\nfragment ComparedFinding on Finding {\n  uid\n  vulnerabilityId\n  package\n  digest\n  installedVersion\n  fixedVersions\n  state\n  severity {\n    rating\n    score\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<CompareImagesQuery, CompareImagesQueryVariables>;
export const Confirm = "mutation Confirm($input: ConfirmRoleBindingsInput!) {\n  confirmRoleBindings(input: $input) {\n    roleBindings {\n      uid\n      reviewTime\n      reviewNote\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<ConfirmMutation, ConfirmMutationVariables>;
export const CreateExternalGroupRoleMapping = "mutation CreateExternalGroupRoleMapping($input: CreateExternalGroupRoleMappingInput!) {\n  createExternalGroupRoleMapping(input: $input) {\n    externalGroupRoleMapping {\n      uid\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<CreateExternalGroupRoleMappingMutation, CreateExternalGroupRoleMappingMutationVariables>;
export const CreateGroup = "mutation CreateGroup($input: CreateGroupInput!) {\n  createGroup(input: $input) {\n    group {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<CreateGroupMutation, CreateGroupMutationVariables>;
export const CreateGroupInvite = "mutation CreateGroupInvite($input: CreateGroupInviteInput!) {\n  createGroupInvite(input: $input) {\n    groupInvite {\n      uid\n      code\n      email\n      expirationTime\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<CreateGroupInviteMutation, CreateGroupInviteMutationVariables>;
export const CreateIdentity = "mutation CreateIdentity($input: CreateIdentityInput!) {\n  createIdentity(input: $input) {\n    identity {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<CreateIdentityMutation, CreateIdentityMutationVariables>;
export const CreateIdentityProvider = "mutation CreateIdentityProvider($input: CreateIdentityProviderInput!) {\n  createIdentityProvider(input: $input) {\n    identityProvider {\n      uid\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<CreateIdentityProviderMutation, CreateIdentityProviderMutationVariables>;
export const CreateRepo = "mutation CreateRepo($input: CreateRepoInput!) {\n  createRepo(input: $input) {\n    repo {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<CreateRepoMutation, CreateRepoMutationVariables>;
export const CreateRole = "mutation CreateRole($input: CreateRoleInput!) {\n  createRole(input: $input) {\n    role {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<CreateRoleMutation, CreateRoleMutationVariables>;
export const CreateSource = "mutation CreateSource($input: CreateSourceInput!) {\n  createSource(input: $input) {\n    source {\n      ...ReadSource\n      __typename\n    }\n    __typename\n  }\n}\nfragment ReadSource on Source {\n  uid\n  name\n  type\n  url\n  ecosystems\n  patterns\n  prune\n  interval\n  credentials {\n    username\n    __typename\n  }\n  paused\n  state\n  nextRunTime\n  lastRunTime\n  lastSuccessTime\n  failingSince\n  createTime\n  lastRun {\n    number\n    error\n    isUnchanged\n    records {\n      kind\n      added\n      updated\n      unchanged\n      failed\n      removed\n      __typename\n    }\n    problemCount\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<CreateSourceMutation, CreateSourceMutationVariables>;
export const CreateSubscription = "mutation CreateSubscription($input: CreateSubscriptionInput!) {\n  createSubscription(input: $input) {\n    secret\n    subscription {\n      uid\n      sink\n      format\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<CreateSubscriptionMutation, CreateSubscriptionMutationVariables>;
export const DecisionProgress = "query DecisionProgress($uid: UID!) {\n  operation(uid: $uid) {\n    uid\n    done\n    state\n    records\n    progressPercent\n    error {\n      message\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<DecisionProgressQuery, DecisionProgressQueryVariables>;
export const DeleteExternalGroupRoleMapping = "mutation DeleteExternalGroupRoleMapping($input: DeleteExternalGroupRoleMappingInput!) {\n  deleteExternalGroupRoleMapping(input: $input) {\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<DeleteExternalGroupRoleMappingMutation, DeleteExternalGroupRoleMappingMutationVariables>;
export const DeleteGroup = "mutation DeleteGroup($input: DeleteGroupInput!) {\n  deleteGroup(input: $input) {\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<DeleteGroupMutation, DeleteGroupMutationVariables>;
export const DeleteGroupInvite = "mutation DeleteGroupInvite($input: DeleteGroupInviteInput!) {\n  deleteGroupInvite(input: $input) {\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<DeleteGroupInviteMutation, DeleteGroupInviteMutationVariables>;
export const DeleteIdentity = "mutation DeleteIdentity($input: DeleteIdentityInput!) {\n  deleteIdentity(input: $input) {\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<DeleteIdentityMutation, DeleteIdentityMutationVariables>;
export const DeleteIdentityProvider = "mutation DeleteIdentityProvider($input: DeleteIdentityProviderInput!) {\n  deleteIdentityProvider(input: $input) {\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<DeleteIdentityProviderMutation, DeleteIdentityProviderMutationVariables>;
export const DeleteRepo = "mutation DeleteRepo($input: DeleteRepoInput!) {\n  deleteRepo(input: $input) {\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<DeleteRepoMutation, DeleteRepoMutationVariables>;
export const DeleteRole = "mutation DeleteRole($input: DeleteRoleInput!) {\n  deleteRole(input: $input) {\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<DeleteRoleMutation, DeleteRoleMutationVariables>;
export const DeleteSource = "mutation DeleteSource($input: DeleteSourceInput!) {\n  deleteSource(input: $input) {\n    deletedId\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<DeleteSourceMutation, DeleteSourceMutationVariables>;
export const DeleteSubscription = "mutation DeleteSubscription($input: DeleteSubscriptionInput!) {\n  deleteSubscription(input: $input) {\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<DeleteSubscriptionMutation, DeleteSubscriptionMutationVariables>;
export const DoFirst = "query DoFirst($uid: UID!, $first: Int!) {\n  upgrades(within: $uid, first: $first) {\n    totalCount\n    nodes {\n      package\n      ecosystem\n      to\n      gone {\n        total\n        critical\n        high\n        medium\n        low\n        none\n        unknown\n        knownExploited\n        __typename\n      }\n      severity {\n        rating\n        score\n        __typename\n      }\n      epss\n      images\n      repos\n      firstSeenTime\n      reasons\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<DoFirstQuery, DoFirstQueryVariables>;
export const EnableSubscription = "mutation EnableSubscription($input: EnableSubscriptionInput!) {\n  enableSubscription(input: $input) {\n    subscription {\n      uid\n      failingSince\n      disableTime\n      disableReason\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<EnableSubscriptionMutation, EnableSubscriptionMutationVariables>;
export const FindingGroups = "query FindingGroups($uid: UID!, $where: FindingFilter, $advisories: Boolean!, $packages: Boolean!, $repos: Boolean!, $groups: Boolean!) {\n  findings(within: $uid, where: $where, first: 0) {\n    totalCount\n    facets @include(if: $repos) {\n      repos {\n        value\n        count\n        repo {\n          uid\n          name\n          group {\n            uid\n            name\n            ancestors {\n              uid\n              name\n              __typename\n            }\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  findingSummary(within: $uid) {\n    ...FindingNumbers\n    __typename\n  }\n  topVulnerabilities(within: $uid, where: $where, by: SEVERITY, first: 100) @include(if: $advisories) {\n    totalCount\n    nodes {\n      vulnerabilityId\n      knownExploited\n      findings\n      fixable\n      images\n      repos\n      severity {\n        rating\n        score\n        __typename\n      }\n      vulnerability {\n        name\n        metadata {\n          summary\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  topPackages(within: $uid, where: $where, by: SEVERITY, first: 100) @include(if: $packages) {\n    totalCount\n    nodes {\n      package\n      ecosystem\n      knownExploited\n      findings\n      fixable\n      images\n      repos\n      severity {\n        rating\n        score\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  group(uid: $uid) @include(if: $groups) {\n    uid\n    children(first: 100) {\n      totalCount\n      nodes {\n        uid\n        name\n        findings(where: $where, first: 0) {\n          totalCount\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment FindingNumbers on FindingSummary {\n  affectedRepos\n  affectedImages\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  accepted {\n    ...Counts\n    __typename\n  }\n  notAffected {\n    ...Counts\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<FindingGroupsQuery, FindingGroupsQueryVariables>;
export const FindingRights = "query FindingRights($uid: UID!) {\n  group(uid: $uid) {\n    uid\n    viewerCapabilities\n    __typename\n  }\n}" as unknown as TypedDocument<FindingRightsQuery, FindingRightsQueryVariables>;
export const Findings = "query Findings($uid: UID!, $where: FindingFilter, $orderBy: [FindingOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  findings(\n    within: $uid\n    where: $where\n    orderBy: $orderBy\n    first: $first\n    after: $after\n  ) {\n    totalCount @include(if: $start)\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      ...FindingRow\n      __typename\n    }\n    __typename\n  }\n  findingSummary(within: $uid) @include(if: $start) {\n    ...FindingNumbers\n    __typename\n  }\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment FindingNumbers on FindingSummary {\n  affectedRepos\n  affectedImages\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  accepted {\n    ...Counts\n    __typename\n  }\n  notAffected {\n    ...Counts\n    __typename\n  }\n  __typename\n}\nfragment FindingRow on Finding {\n  uid\n  vulnerabilityId\n  sources\n  disputedBy\n  package\n  ecosystem\n  installedVersion\n  fixedVersions\n  fixable\n  knownExploited\n  epss\n  basis\n  state\n  justification\n  note\n  dueTime\n  expireTime\n  firstSeenTime\n  digest\n  severity {\n    rating\n    score\n    __typename\n  }\n  advisory {\n    uid\n    aliases\n    vulnerabilities {\n      summary\n      __typename\n    }\n    __typename\n  }\n  repo {\n    uid\n    name\n    group {\n      uid\n      name\n      ancestors {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  tags(first: 3) {\n    totalCount\n    nodes {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  assignee {\n    uid\n    name\n    __typename\n  }\n  decidedBy\n  decider {\n    uid\n    name\n    __typename\n  }\n  viewerCapabilities\n  __typename\n}" as unknown as TypedDocument<FindingsQuery, FindingsQueryVariables>;
export const FixedIn = "query FixedIn($uid: UID!) {\n  finding(uid: $uid) {\n    uid\n    fixedIn(first: 3) {\n      nodes {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<FixedInQuery, FixedInQueryVariables>;
export const History = "query History($uid: UID!, $from: DateTime!, $to: DateTime!, $identity: UID, $actor: String, $first: Int!, $after: String) {\n  accessChanges(\n    within: $uid\n    from: $from\n    to: $to\n    identity: $identity\n    actor: $actor\n    first: $first\n    after: $after\n  ) {\n    complete\n    recordedSince\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      ...Changed\n      __typename\n    }\n    __typename\n  }\n}\nfragment Changed on AccessChange {\n  kind\n  roleUid\n  roleName\n  addedCapabilities\n  removedCapabilities\n  event {\n    id\n    time\n    subject\n    body\n    actor {\n      subject\n      act\n      identity {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    group {\n      uid\n      name\n      ancestors {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  role {\n    uid\n    __typename\n  }\n  before {\n    ...PastGrant\n    __typename\n  }\n  after {\n    ...PastGrant\n    __typename\n  }\n  __typename\n}\nfragment PastGrant on AccessGrant {\n  bindingUid\n  groupUid\n  groupName\n  identityUid\n  identityName\n  roleUid\n  roleName\n  expireTime\n  identity {\n    uid\n    email\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<HistoryQuery, HistoryQueryVariables>;
export const Holds = "query Holds($on: UID!) {\n  viewer {\n    capabilities(within: $on)\n    __typename\n  }\n}" as unknown as TypedDocument<HoldsQuery, HoldsQueryVariables>;
export const Identities = "query Identities($uid: UID!, $where: IdentityFilter, $orderBy: [IdentityOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  group(uid: $uid) {\n    uid\n    viewerCapabilities @include(if: $start)\n    identities(first: $first, where: $where, orderBy: $orderBy, after: $after) {\n      totalCount @include(if: $start)\n      pageInfo {\n        hasNextPage\n        endCursor\n        __typename\n      }\n      nodes {\n        uid\n        name\n        description\n        email\n        emailUnverified\n        lastSeenTime\n        createTime\n        group {\n          uid\n          name\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          __typename\n        }\n        roleBindings(first: 1) {\n          totalCount\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<IdentitiesQuery, IdentitiesQueryVariables>;
export const Identity = "query Identity($uid: UID!) {\n  identity(uid: $uid) {\n    uid\n    name\n    description\n    email\n    emailUnverified\n    company\n    lastSeenTime\n    createTime\n    updateTime\n    group {\n      uid\n      name\n      ancestors {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    claimMatch {\n      issuer\n      issuerPattern\n      subject\n      subjectPattern\n      audience\n      audiencePattern\n      claims\n      claimPatterns\n      __typename\n    }\n    staticKeys {\n      issuer\n      subject\n      issuerKeys\n      expirationTime\n      audiences\n      __typename\n    }\n    viewerCapabilities\n    roleBindings(first: 20) {\n      totalCount\n      nodes {\n        uid\n        role {\n          uid\n          name\n          __typename\n        }\n        group {\n          uid\n          name\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<IdentityQuery, IdentityQueryVariables>;
export const Image = "query Image($uid: UID!, $digest: String!, $referrer: String!) {\n  repo(uid: $uid) {\n    uid\n    name\n    activeTags\n    viewerCapabilities\n    tags(first: 50, where: {digest: $digest}, orderBy: {field: UPDATE_TIME}) {\n      totalCount\n      nodes {\n        uid\n        name\n        deprecated\n        updateTime\n        __typename\n      }\n      __typename\n    }\n    found: tags(first: 1, where: {digest: $digest}) {\n      nodes {\n        uid\n        image {\n          id\n          architectures\n          baseName\n          baseDigest\n          sizes {\n            architecture\n            size\n            __typename\n          }\n          sboms {\n            architecture\n            format\n            createTime\n            cyclonedx\n            spdx\n            __typename\n          }\n          findingSummary {\n            ...FindingNumbers\n            __typename\n          }\n          packages(first: 0) {\n            totalCount\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    newest: tags(\n      first: 1\n      where: {excludeClasses: [REFERRER, DATE], deprecated: false}\n      orderBy: {field: UPDATE_TIME}\n    ) {\n      nodes {\n        uid\n        name\n        digest\n        updateTime\n        findingSummary {\n          ...Standing\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    referrers: tags(first: 20, where: {query: $referrer}) {\n      nodes {\n        uid\n        name\n        updateTime\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment FindingNumbers on FindingSummary {\n  affectedRepos\n  affectedImages\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  accepted {\n    ...Counts\n    __typename\n  }\n  notAffected {\n    ...Counts\n    __typename\n  }\n  __typename\n}\nfragment Standing on FindingSummary {\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<ImageQuery, ImageQueryVariables>;
export const ImagePackages = "query ImagePackages($uid: UID!, $digest: String!, $where: ImagePackageFilter, $first: Int!, $after: String, $start: Boolean!) {\n  repo(uid: $uid) {\n    uid\n    tags(first: 1, where: {digest: $digest}) {\n      nodes {\n        uid\n        image {\n          id\n          packages(where: $where, first: $first, after: $after) {\n            totalCount @include(if: $start)\n            pageInfo {\n              hasNextPage\n              endCursor\n              __typename\n            }\n            nodes {\n              ...ImagePackageRow\n              __typename\n            }\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment ImagePackageRow on ImagePackage {\n  name\n  version\n  ecosystem\n  purl\n  licenses\n  architectures\n  scope\n  direct\n  introducedBy {\n    name\n    version\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<ImagePackagesQuery, ImagePackagesQueryVariables>;
export const Impact = "query Impact($identity: UID!, $on: UID!) {\n  identity(uid: $identity) {\n    uid\n    name\n    held: effectiveCapabilities(within: $on)\n    roleBindings(first: 200) {\n      pageInfo {\n        hasNextPage\n        __typename\n      }\n      nodes {\n        ...Granted\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  group(uid: $on) {\n    uid\n    name\n    descendants(first: 1) {\n      totalCount\n      __typename\n    }\n    repos(first: 1) {\n      totalCount\n      __typename\n    }\n    __typename\n  }\n  viewer {\n    identities {\n      uid\n      __typename\n    }\n    __typename\n  }\n}\nfragment GivenRole on Role {\n  uid\n  name\n  description\n  capabilities\n  __typename\n}\nfragment Granted on RoleBinding {\n  uid\n  identity {\n    uid\n    name\n    __typename\n  }\n  role {\n    ...GivenRole\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<ImpactQuery, ImpactQueryVariables>;
export const Invites = "query Invites($uid: UID!, $orderBy: [GroupInviteOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  group(uid: $uid) {\n    uid\n    viewerCapabilities @include(if: $start)\n    roles(directOnly: true, first: 100) @include(if: $start) {\n      nodes {\n        uid\n        name\n        description\n        __typename\n      }\n      __typename\n    }\n    ancestors @include(if: $start) {\n      uid\n      name\n      roles(directOnly: true, first: 50) {\n        nodes {\n          uid\n          name\n          description\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    invites(first: $first, after: $after, orderBy: $orderBy) {\n      totalCount @include(if: $start)\n      pageInfo {\n        hasNextPage\n        endCursor\n        __typename\n      }\n      nodes {\n        uid\n        email\n        expirationTime\n        singleUse\n        keyId\n        createTime\n        role {\n          uid\n          name\n          __typename\n        }\n        group {\n          uid\n          name\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          __typename\n        }\n        mayDelete: viewerCan(capabilities: [GROUP_INVITES_DELETE])\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  roles(directOnly: true, first: 50) @include(if: $start) {\n    nodes {\n      uid\n      name\n      description\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<InvitesQuery, InvitesQueryVariables>;
export const Latest = "query Latest($uid: UID!, $kinds: [EventKind!]) {\n  auditLog(within: $uid, kinds: $kinds, denied: false, first: 30) {\n    nodes {\n      ...Happening\n      __typename\n    }\n    __typename\n  }\n}\nfragment Happening on Event {\n  id\n  type\n  kind\n  time\n  subject\n  denied\n  count\n  actor {\n    subject\n    act\n    identity {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  resource {\n    ... on Group {\n      name\n      __typename\n    }\n    ... on Repo {\n      name\n      __typename\n    }\n    ... on Tag {\n      name\n      repo {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on Identity {\n      name\n      __typename\n    }\n    ... on Role {\n      name\n      __typename\n    }\n    ... on RoleBinding {\n      identity {\n        name\n        __typename\n      }\n      role {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on EventSubscription {\n      sink\n      __typename\n    }\n    ... on GroupInvite {\n      email\n      keyId\n      __typename\n    }\n    ... on IdentityProvider {\n      name\n      __typename\n    }\n    __typename\n  }\n  changes {\n    field\n    before\n    after\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<LatestQuery, LatestQueryVariables>;
export const Live = "subscription Live($uid: UID!, $kinds: [EventKind!], $after: String) {\n  events(within: $uid, kinds: $kinds, after: $after) {\n    ...Happening\n    __typename\n  }\n}\nfragment Happening on Event {\n  id\n  type\n  kind\n  time\n  subject\n  denied\n  count\n  actor {\n    subject\n    act\n    identity {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  resource {\n    ... on Group {\n      name\n      __typename\n    }\n    ... on Repo {\n      name\n      __typename\n    }\n    ... on Tag {\n      name\n      repo {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on Identity {\n      name\n      __typename\n    }\n    ... on Role {\n      name\n      __typename\n    }\n    ... on RoleBinding {\n      identity {\n        name\n        __typename\n      }\n      role {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on EventSubscription {\n      sink\n      __typename\n    }\n    ... on GroupInvite {\n      email\n      keyId\n      __typename\n    }\n    ... on IdentityProvider {\n      name\n      __typename\n    }\n    __typename\n  }\n  changes {\n    field\n    before\n    after\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<LiveSubscription, LiveSubscriptionVariables>;
export const Me = "query Me {\n  viewer {\n    identities {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<MeQuery, MeQueryVariables>;
export const Newest = "query Newest($uid: UID!, $since: DateTime!) {\n  findings(\n    within: $uid\n    where: {states: [OPEN, IN_TRIAGE], firstSeenSince: $since}\n    orderBy: {field: FIRST_SEEN, direction: DESC}\n    first: 30\n  ) {\n    pageInfo {\n      hasNextPage\n      __typename\n    }\n    nodes {\n      uid\n      vulnerabilityId\n      package\n      digest\n      severity {\n        rating\n        score\n        __typename\n      }\n      knownExploited\n      fixable\n      repo {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<NewestQuery, NewestQueryVariables>;
export const OverTime = "query OverTime($uid: UID!, $from: DateTime!) {\n  findingActivity(within: $uid, interval: WEEK, from: $from) {\n    time\n    open {\n      ...Rated\n      __typename\n    }\n    __typename\n  }\n  remediationActivity(within: $uid, interval: WEEK, from: $from) {\n    time\n    opened {\n      ...Rated\n      __typename\n    }\n    fixed {\n      ...Rated\n      __typename\n    }\n    timesToFix {\n      rating\n      count\n      meanDays\n      __typename\n    }\n    __typename\n  }\n  findingSummary(within: $uid) {\n    overdue\n    __typename\n  }\n  dated: findings(\n    within: $uid\n    where: {states: [OPEN, IN_TRIAGE], hasDueTime: true}\n    first: 0\n  ) {\n    totalCount\n    __typename\n  }\n}\nfragment Rated on SeverityCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  __typename\n}" as unknown as TypedDocument<OverTimeQuery, OverTimeQueryVariables>;
export const Overview = "query Overview($uid: UID!, $from: DateTime!, $soon: DateTime!) {\n  group(uid: $uid) {\n    uid\n    name\n    description\n    verified\n    status\n    createTime\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    viewerCapabilities\n    descendants(first: 1) {\n      totalCount\n      __typename\n    }\n    repos(first: 1) {\n      totalCount\n      __typename\n    }\n    tags(first: 1) {\n      totalCount\n      __typename\n    }\n    identities(first: 1) {\n      totalCount\n      __typename\n    }\n    roleBindings(first: 1) {\n      totalCount\n      __typename\n    }\n    findingSummary {\n      ...FindingNumbers\n      __typename\n    }\n    advisorySummary {\n      open {\n        total\n        __typename\n      }\n      __typename\n    }\n    children(first: 20) {\n      totalCount\n      nodes {\n        uid\n        name\n        description\n        repos(first: 1) {\n          totalCount\n          __typename\n        }\n        findingSummary {\n          ...Standing\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    deprecated: tags(\n      first: 3\n      where: {deprecated: true}\n      orderBy: {field: UPDATE_TIME, direction: DESC}\n    ) {\n      totalCount\n      nodes {\n        uid\n        name\n        repo {\n          uid\n          name\n          group {\n            uid\n            name\n            ancestors {\n              uid\n              name\n              __typename\n            }\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    unseen: identities(first: 20, orderBy: {field: LAST_SEEN_TIME, direction: ASC}) {\n      nodes {\n        uid\n        name\n        lastSeenTime\n        createTime\n        __typename\n      }\n      __typename\n    }\n    subscriptions(first: 20) {\n      totalCount\n      nodes {\n        uid\n        sink\n        failingSince\n        disableTime\n        disableReason\n        __typename\n      }\n      __typename\n    }\n    ending: roleBindings(first: 3, where: {expiring: {before: $soon}}) {\n      totalCount\n      nodes {\n        uid\n        expireTime\n        identity {\n          uid\n          name\n          __typename\n        }\n        role {\n          uid\n          name\n          __typename\n        }\n        group {\n          uid\n          name\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    invites(first: 20, orderBy: {field: EXPIRATION_TIME}) {\n      totalCount\n      nodes {\n        uid\n        email\n        expirationTime\n        role {\n          name\n          __typename\n        }\n        group {\n          name\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  findingActivity(within: $uid, interval: WEEK, from: $from) {\n    time\n    open {\n      total\n      critical\n      high\n      medium\n      low\n      none\n      unknown\n      __typename\n    }\n    __typename\n  }\n  auditLog(within: $uid, first: 15, denied: false) {\n    nodes {\n      ...Happening\n      __typename\n    }\n    __typename\n  }\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment FindingNumbers on FindingSummary {\n  affectedRepos\n  affectedImages\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  accepted {\n    ...Counts\n    __typename\n  }\n  notAffected {\n    ...Counts\n    __typename\n  }\n  __typename\n}\nfragment Happening on Event {\n  id\n  type\n  kind\n  time\n  subject\n  denied\n  count\n  actor {\n    subject\n    act\n    identity {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  resource {\n    ... on Group {\n      name\n      __typename\n    }\n    ... on Repo {\n      name\n      __typename\n    }\n    ... on Tag {\n      name\n      repo {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on Identity {\n      name\n      __typename\n    }\n    ... on Role {\n      name\n      __typename\n    }\n    ... on RoleBinding {\n      identity {\n        name\n        __typename\n      }\n      role {\n        name\n        __typename\n      }\n      __typename\n    }\n    ... on EventSubscription {\n      sink\n      __typename\n    }\n    ... on GroupInvite {\n      email\n      keyId\n      __typename\n    }\n    ... on IdentityProvider {\n      name\n      __typename\n    }\n    __typename\n  }\n  changes {\n    field\n    before\n    after\n    __typename\n  }\n  __typename\n}\nfragment Standing on FindingSummary {\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<OverviewQuery, OverviewQueryVariables>;
export const Package = "query Package($uid: UID!, $names: [String!]!, $ecosystems: [String!]) {\n  packages(\n    within: $uid\n    where: {names: $names, ecosystems: $ecosystems}\n    first: 3\n  ) {\n    nodes {\n      uid\n      name\n      ecosystem\n      versions(first: 20, orderBy: {field: VERSION, direction: DESC}) {\n        totalCount\n        nodes {\n          uid\n          version\n          purl\n          licenses\n          advisories(first: 3) {\n            totalCount\n            nodes {\n              uid\n              advisoryId\n              severity {\n                rating\n                score\n                __typename\n              }\n              __typename\n            }\n            __typename\n          }\n          repos(first: 2) {\n            totalCount\n            nodes {\n              uid\n              name\n              group {\n                uid\n                name\n                ancestors {\n                  uid\n                  name\n                  __typename\n                }\n                __typename\n              }\n              __typename\n            }\n            __typename\n          }\n          tags(first: 0) {\n            totalCount\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  findings(\n    within: $uid\n    where: {packages: $names, states: [OPEN, IN_TRIAGE]}\n    first: 0\n  ) {\n    totalCount\n    __typename\n  }\n}" as unknown as TypedDocument<PackageQuery, PackageQueryVariables>;
export const Packages = "query Packages($uid: UID!, $where: PackageFilter, $orderBy: [PackageOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  packages(\n    within: $uid\n    where: $where\n    orderBy: $orderBy\n    first: $first\n    after: $after\n  ) {\n    totalCount @include(if: $start)\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      uid\n      name\n      ecosystem\n      versions(first: 3, orderBy: {field: VERSION, direction: DESC}) {\n        totalCount\n        nodes {\n          uid\n          version\n          advisories(first: 0) {\n            totalCount\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<PackagesQuery, PackagesQueryVariables>;
export const People = "query People($root: UID!, $where: IdentityFilter) {\n  identities(within: $root, where: $where, first: 20) {\n    totalCount\n    nodes {\n      ...Bound\n      group {\n        uid\n        name\n        ancestors {\n          uid\n          name\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Bound on Identity {\n  uid\n  name\n  description\n  email\n  __typename\n}" as unknown as TypedDocument<PeopleQuery, PeopleQueryVariables>;
export const Place = "query Place($path: String!, $below: Boolean!) {\n  group(path: $path) {\n    uid\n    name\n    __typename\n  }\n  repo(path: $path) @include(if: $below) {\n    uid\n    name\n    group {\n      uid\n      name\n      ancestors {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<PlaceQuery, PlaceQueryVariables>;
export const Providers = "query Providers($uid: UID!, $first: Int!, $after: String, $start: Boolean!) {\n  group(uid: $uid) {\n    uid\n    viewerCapabilities @include(if: $start)\n    __typename\n  }\n  identityProviders(within: $uid, first: $first, after: $after) {\n    totalCount @include(if: $start)\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      ...ListedProvider\n      __typename\n    }\n    __typename\n  }\n}\nfragment ListedProvider on IdentityProvider {\n  uid\n  name\n  description\n  defaultRoleUid\n  issuerVerified\n  issuerVerifyTime\n  createTime\n  viewerCapabilities\n  oidc {\n    issuer\n    clientId\n    additionalScopes\n    groupsClaim\n    correlationRule\n    pkceEnabled\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  defaultRole {\n    uid\n    name\n    __typename\n  }\n  mappings(first: 20) {\n    totalCount\n    nodes {\n      uid\n      externalGroupId\n      scopeUid\n      scope {\n        uid\n        name\n        __typename\n      }\n      role {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<ProvidersQuery, ProvidersQueryVariables>;
export const Reach = "query Reach($identity: UID!, $on: UID!, $root: UID!, $after: String) {\n  identity(uid: $identity) {\n    uid\n    name\n    description\n    email\n    createTime\n    lastSeenTime\n    claimMatch {\n      issuer\n      issuerPattern\n      subject\n      subjectPattern\n      __typename\n    }\n    staticKeys {\n      issuer\n      subject\n      __typename\n    }\n    group {\n      uid\n      name\n      ancestors {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    held: effectiveCapabilities(within: $on)\n    roleBindings(first: 100, after: $after, orderBy: {field: UID}) {\n      totalCount\n      pageInfo {\n        hasNextPage\n        endCursor\n        __typename\n      }\n      nodes {\n        ...Grant\n        role {\n          ...GivenRole\n          __typename\n        }\n        group {\n          uid\n          name\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          repos(first: 1) {\n            totalCount\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  viewer {\n    identities {\n      uid\n      __typename\n    }\n    seesAll: can(capability: ROLE_BINDINGS_LIST, within: $root)\n    __typename\n  }\n}\nfragment Bound on Identity {\n  uid\n  name\n  description\n  email\n  __typename\n}\nfragment GivenRole on Role {\n  uid\n  name\n  description\n  capabilities\n  __typename\n}\nfragment Grant on RoleBinding {\n  uid\n  createTime\n  expireTime\n  mayChange: viewerCan(capabilities: [ROLE_BINDINGS_UPDATE])\n  mayRevoke: viewerCan(capabilities: [ROLE_BINDINGS_DELETE])\n  identity {\n    ...Bound\n    __typename\n  }\n  role {\n    uid\n    name\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<ReachQuery, ReachQueryVariables>;
export const Readme = "query Readme($uid: UID!) {\n  repo(uid: $uid) {\n    uid\n    name\n    readme\n    viewerCapabilities\n    __typename\n  }\n}" as unknown as TypedDocument<ReadmeQuery, ReadmeQueryVariables>;
export const Rebind = "mutation Rebind($input: UpdateRoleBindingInput!) {\n  updateRoleBinding(input: $input) {\n    roleBinding {\n      uid\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<RebindMutation, RebindMutationVariables>;
export const Redeliver = "mutation Redeliver($input: RedeliverInput!) {\n  redeliver(input: $input) {\n    deliveries {\n      uid\n      state\n      attempts\n      nextAttemptTime\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<RedeliverMutation, RedeliverMutationVariables>;
export const Repo = "query Repo($uid: UID!, $from: String!, $to: String!, $comparing: Boolean!) {\n  repo(uid: $uid) {\n    uid\n    name\n    description\n    catalogTier\n    bundles\n    aliases\n    activeTags\n    createTime\n    updateTime\n    syncConfig {\n      source\n      google\n      amazon\n      azure\n      expirationTime\n      __typename\n    }\n    group {\n      uid\n      name\n      ancestors {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    viewerCapabilities\n    findingSummary {\n      ...FindingNumbers\n      __typename\n    }\n    everyTag: tags(first: 0) {\n      totalCount\n      __typename\n    }\n    latest: tag(name: \n\"latest\") {\n      uid\n      name\n      __typename\n    }\n    newest: tags(\n      first: 1\n      where: {excludeClasses: [REFERRER, DATE], deprecated: false}\n      orderBy: {field: UPDATE_TIME, direction: DESC}\n    ) {\n      nodes {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    from: tag(name: $from) @include(if: $comparing) {\n      uid\n      name\n      digest\n      __typename\n    }\n    to: tag(name: $to) @include(if: $comparing) {\n      uid\n      name\n      digest\n      __typename\n    }\n    __typename\n  }\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment FindingNumbers on FindingSummary {\n  affectedRepos\n  affectedImages\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  accepted {\n    ...Counts\n    __typename\n  }\n  notAffected {\n    ...Counts\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<RepoQuery, RepoQueryVariables>;
export const RepoTags = "query RepoTags($uid: UID!, $tags: TagFilter, $orderBy: [TagOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  repo(uid: $uid) {\n    uid\n    tags(first: $first, after: $after, where: $tags, orderBy: $orderBy) {\n      totalCount @include(if: $start)\n      pageInfo {\n        hasNextPage\n        endCursor\n        __typename\n      }\n      nodes {\n        ...TagRow\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment Standing on FindingSummary {\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  __typename\n}\nfragment TagRow on Tag {\n  uid\n  name\n  digest\n  deprecated\n  updateTime\n  image {\n    architectures\n    sizes {\n      architecture\n      size\n      __typename\n    }\n    sboms {\n      architecture\n      cyclonedx\n      spdx\n      __typename\n    }\n    __typename\n  }\n  findingSummary {\n    ...Standing\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<RepoTagsQuery, RepoTagsQueryVariables>;
export const Repos = "query Repos($uid: UID!, $where: RepoFilter, $orderBy: [RepoOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  group(uid: $uid) {\n    uid\n    viewerCapabilities @include(if: $start)\n    repos(where: $where, orderBy: $orderBy, first: $first, after: $after) {\n      totalCount @include(if: $start)\n      facets @include(if: $start) {\n        tiers {\n          value\n          count\n          __typename\n        }\n        bundles {\n          value\n          count\n          __typename\n        }\n        __typename\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n        __typename\n      }\n      nodes {\n        uid\n        name\n        description\n        catalogTier\n        bundles\n        createTime\n        updateTime\n        group {\n          uid\n          name\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          __typename\n        }\n        tags(first: 1) {\n          totalCount\n          __typename\n        }\n        findingSummary {\n          ...Standing\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment Standing on FindingSummary {\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<ReposQuery, ReposQueryVariables>;
export const Reviews = "query Reviews($uid: UID!, $where: RoleBindingFilter, $since: DateTime!, $orderBy: [RoleBindingOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  group(uid: $uid) @include(if: $start) {\n    uid\n    name\n    __typename\n  }\n  viewer @include(if: $start) {\n    identities {\n      uid\n      __typename\n    }\n    __typename\n  }\n  left: roleBindings(within: $uid, where: {unreviewedSince: $since}, first: 0) @include(if: $start) {\n    totalCount\n    __typename\n  }\n  all: roleBindings(within: $uid, first: 0) @include(if: $start) {\n    totalCount\n    __typename\n  }\n  roleBindings(\n    within: $uid\n    where: $where\n    orderBy: $orderBy\n    first: $first\n    after: $after\n  ) {\n    totalCount @include(if: $start)\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      ...Reviewed\n      __typename\n    }\n    __typename\n  }\n}\nfragment Reviewed on RoleBinding {\n  uid\n  createTime\n  expireTime\n  reviewTime\n  reviewNote\n  mayRevoke: viewerCan(capabilities: [ROLE_BINDINGS_DELETE])\n  reviewer {\n    uid\n    name\n    __typename\n  }\n  identity {\n    uid\n    name\n    description\n    email\n    lastSeenTime\n    __typename\n  }\n  role {\n    uid\n    name\n    description\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<ReviewsQuery, ReviewsQueryVariables>;
export const RoleHolders = "query RoleHolders($uid: UID!) {\n  role(uid: $uid) {\n    uid\n    roleBindings(first: 20) {\n      totalCount\n      nodes {\n        uid\n        identity {\n          uid\n          name\n          email\n          __typename\n        }\n        group {\n          uid\n          name\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<RoleHoldersQuery, RoleHoldersQueryVariables>;
export const Roles = "query Roles($uid: UID!) {\n  group(uid: $uid) {\n    uid\n    name\n    viewerCapabilities\n    roles(directOnly: true, first: 100) {\n      totalCount\n      nodes {\n        ...ListedRole\n        __typename\n      }\n      __typename\n    }\n    ancestors {\n      uid\n      name\n      roles(directOnly: true, first: 50) {\n        nodes {\n          ...ListedRole\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  roles(directOnly: true, first: 50) {\n    nodes {\n      ...ListedRole\n      __typename\n    }\n    __typename\n  }\n  roleBindings(first: 0) {\n    facets {\n      roles {\n        value\n        count\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment ListedRole on Role {\n  uid\n  name\n  description\n  capabilities\n  updateTime\n  viewerCapabilities\n  __typename\n}" as unknown as TypedDocument<RolesQuery, RolesQueryVariables>;
export const RolesFor = "query RolesFor($uid: UID!) {\n  group(uid: $uid) {\n    uid\n    roles(directOnly: true, first: 100) {\n      nodes {\n        ...GivenRole\n        __typename\n      }\n      __typename\n    }\n    ancestors {\n      uid\n      roles(directOnly: true, first: 50) {\n        nodes {\n          ...GivenRole\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  roles(directOnly: true, first: 50) {\n    nodes {\n      ...GivenRole\n      __typename\n    }\n    __typename\n  }\n}\nfragment GivenRole on Role {\n  uid\n  name\n  description\n  capabilities\n  __typename\n}" as unknown as TypedDocument<RolesForQuery, RolesForQueryVariables>;
export const RotateSubscriptionSecret = "mutation RotateSubscriptionSecret($input: RotateSubscriptionSecretInput!) {\n  rotateSubscriptionSecret(input: $input) {\n    secret\n    subscription {\n      uid\n      updateTime\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<RotateSubscriptionSecretMutation, RotateSubscriptionSecretMutationVariables>;
export const RunSource = "mutation RunSource($input: RunSourceInput!) {\n  runSource(input: $input) {\n    source {\n      ...ReadSource\n      __typename\n    }\n    __typename\n  }\n}\nfragment ReadSource on Source {\n  uid\n  name\n  type\n  url\n  ecosystems\n  patterns\n  prune\n  interval\n  credentials {\n    username\n    __typename\n  }\n  paused\n  state\n  nextRunTime\n  lastRunTime\n  lastSuccessTime\n  failingSince\n  createTime\n  lastRun {\n    number\n    error\n    isUnchanged\n    records {\n      kind\n      added\n      updated\n      unchanged\n      failed\n      removed\n      __typename\n    }\n    problemCount\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<RunSourceMutation, RunSourceMutationVariables>;
export const Scopes = "query Scopes($uid: UID!) {\n  group(uid: $uid) {\n    uid\n    name\n    descendants(first: 200) {\n      nodes {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<ScopesQuery, ScopesQueryVariables>;
export const Search = "query Search($query: String!, $within: UID, $kinds: [SearchKind!]) {\n  findings(\n    within: $within\n    where: {query: $query, states: [OPEN, IN_TRIAGE]}\n    first: 20\n  ) {\n    nodes {\n      uid\n      vulnerabilityId\n      package\n      severity {\n        rating\n        __typename\n      }\n      repo {\n        uid\n        name\n        group {\n          uid\n          name\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  packages(within: $within, where: {query: $query}, first: 5) {\n    nodes {\n      uid\n      name\n      ecosystem\n      group {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  advisories(within: $within, where: {query: $query}, first: 8) {\n    nodes {\n      uid\n      advisoryId\n      artifactName\n      artifactType\n      severity {\n        rating\n        __typename\n      }\n      group {\n        uid\n        name\n        ancestors {\n          uid\n          name\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  search(query: $query, within: $within, kinds: $kinds, first: 20) {\n    edges {\n      matchedField\n      node {\n        ... on Group {\n          uid\n          name\n          description\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          findingSummary {\n            ...Standing\n            __typename\n          }\n          __typename\n        }\n        ... on Repo {\n          uid\n          name\n          description\n          group {\n            uid\n            name\n            ancestors {\n              uid\n              name\n              __typename\n            }\n            __typename\n          }\n          findingSummary {\n            ...Standing\n            __typename\n          }\n          __typename\n        }\n        ... on Tag {\n          uid\n          name\n          deprecated\n          findingSummary {\n            ...Standing\n            __typename\n          }\n          repo {\n            uid\n            name\n            group {\n              uid\n              name\n              ancestors {\n                uid\n                name\n                __typename\n              }\n              __typename\n            }\n            __typename\n          }\n          __typename\n        }\n        ... on Identity {\n          uid\n          name\n          description\n          email\n          group {\n            uid\n            name\n            ancestors {\n              uid\n              name\n              __typename\n            }\n            __typename\n          }\n          __typename\n        }\n        ... on Role {\n          uid\n          name\n          description\n          group {\n            uid\n            name\n            ancestors {\n              uid\n              name\n              __typename\n            }\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment Standing on FindingSummary {\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<SearchQuery, SearchQueryVariables>;
export const Shell = "query Shell($after: String, $org: String!, $inOrg: Boolean!, $path: String!, $below: Boolean!) {\n  viewer {\n    identities {\n      uid\n      name\n      email\n      __typename\n    }\n    __typename\n  }\n  groups(directOnly: true, first: 50) {\n    nodes {\n      uid\n      name\n      description\n      __typename\n    }\n    __typename\n  }\n  feeds: sources(directOnly: true, first: 20) {\n    nodes {\n      uid\n      name\n      lastSuccessTime\n      failingSince\n      __typename\n    }\n    __typename\n  }\n  org: group(path: $org) @include(if: $inOrg) {\n    uid\n    name\n    ...Branches\n    __typename\n  }\n  group(path: $path) @include(if: $below) {\n    uid\n    name\n    __typename\n  }\n  repo(path: $path) @include(if: $below) {\n    uid\n    name\n    group {\n      uid\n      name\n      ancestors {\n        uid\n        name\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Branches on Group {\n  children(first: 100, after: $after) {\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      uid\n      name\n      children(first: 1) {\n        totalCount\n        __typename\n      }\n      findingSummary {\n        ...Standing\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  __typename\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment Standing on FindingSummary {\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<ShellQuery, ShellQueryVariables>;
export const SourceRuns = "query SourceRuns($uid: UID!) {\n  source(uid: $uid) {\n    uid\n    runs {\n      number\n      state\n      startTime\n      endTime\n      error\n      isUnchanged\n      records {\n        kind\n        added\n        updated\n        unchanged\n        failed\n        removed\n        __typename\n      }\n      problems\n      problemCount\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<SourceRunsQuery, SourceRunsQueryVariables>;
export const Sources = "query Sources($uid: UID!) {\n  group(uid: $uid) {\n    uid\n    viewerCapabilities\n    __typename\n  }\n  sources(within: $uid, first: 200) {\n    totalCount\n    nodes {\n      ...ReadSource\n      viewerCapabilities\n      __typename\n    }\n    __typename\n  }\n  feeds: sources(directOnly: true, first: 50) {\n    nodes {\n      ...ReadSource\n      __typename\n    }\n    __typename\n  }\n}\nfragment ReadSource on Source {\n  uid\n  name\n  type\n  url\n  ecosystems\n  patterns\n  prune\n  interval\n  credentials {\n    username\n    __typename\n  }\n  paused\n  state\n  nextRunTime\n  lastRunTime\n  lastSuccessTime\n  failingSince\n  createTime\n  lastRun {\n    number\n    error\n    isUnchanged\n    records {\n      kind\n      added\n      updated\n      unchanged\n      failed\n      removed\n      __typename\n    }\n    problemCount\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<SourcesQuery, SourcesQueryVariables>;
export const Start = "query Start {\n  viewer {\n    identities {\n      uid\n      name\n      email\n      __typename\n    }\n    roleBindings(first: 50) {\n      nodes {\n        uid\n        expireTime\n        role {\n          name\n          capabilities\n          __typename\n        }\n        group {\n          uid\n          name\n          description\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          findingSummary {\n            ...Standing\n            __typename\n          }\n          repos(first: 1) {\n            totalCount\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Counts on FindingCount {\n  total\n  critical\n  high\n  medium\n  low\n  none\n  unknown\n  fixable\n  knownExploited\n  __typename\n}\nfragment Standing on FindingSummary {\n  images\n  knownImages\n  open {\n    ...Counts\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<StartQuery, StartQueryVariables>;
export const StopDecision = "mutation StopDecision($input: CancelOperationInput!) {\n  cancelOperation(input: $input) {\n    operation {\n      uid\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<StopDecisionMutation, StopDecisionMutationVariables>;
export const TagsWith = "query TagsWith($uid: UID!, $where: TagFilter!, $first: Int!, $after: String, $start: Boolean!) {\n  tags(\n    within: $uid\n    where: $where\n    orderBy: {field: NAME}\n    first: $first\n    after: $after\n  ) {\n    totalCount @include(if: $start)\n    pageInfo {\n      hasNextPage\n      endCursor\n      __typename\n    }\n    nodes {\n      uid\n      name\n      digest\n      updateTime\n      repo {\n        uid\n        name\n        group {\n          uid\n          name\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<TagsWithQuery, TagsWithQueryVariables>;
export const TestSubscription = "mutation TestSubscription($input: TestSubscriptionInput!) {\n  testSubscription(input: $input) {\n    eventId\n    __typename\n  }\n}" as unknown as TypedDocument<TestSubscriptionMutation, TestSubscriptionMutationVariables>;
export const Unbind = "mutation Unbind($input: DeleteRoleBindingInput!) {\n  deleteRoleBinding(input: $input) {\n    deletedUid\n    __typename\n  }\n}" as unknown as TypedDocument<UnbindMutation, UnbindMutationVariables>;
export const UnbindAll = "mutation UnbindAll($input: BatchDeleteRoleBindingsInput!) {\n  batchDeleteRoleBindings(input: $input) {\n    deletedUids\n    __typename\n  }\n}" as unknown as TypedDocument<UnbindAllMutation, UnbindAllMutationVariables>;
export const UpdateFindings = "mutation UpdateFindings($input: UpdateFindingsInput!) {\n  updateFindings(input: $input) {\n    updatedCount\n    findings {\n      uid\n      state\n      __typename\n    }\n    operation {\n      uid\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<UpdateFindingsMutation, UpdateFindingsMutationVariables>;
export const UpdateGroup = "mutation UpdateGroup($input: UpdateGroupInput!) {\n  updateGroup(input: $input) {\n    group {\n      uid\n      name\n      description\n      updateTime\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<UpdateGroupMutation, UpdateGroupMutationVariables>;
export const UpdateIdentity = "mutation UpdateIdentity($input: UpdateIdentityInput!) {\n  updateIdentity(input: $input) {\n    identity {\n      uid\n      name\n      updateTime\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<UpdateIdentityMutation, UpdateIdentityMutationVariables>;
export const UpdateIdentityProvider = "mutation UpdateIdentityProvider($input: UpdateIdentityProviderInput!) {\n  updateIdentityProvider(input: $input) {\n    identityProvider {\n      uid\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<UpdateIdentityProviderMutation, UpdateIdentityProviderMutationVariables>;
export const UpdateRepo = "mutation UpdateRepo($input: UpdateRepoInput!) {\n  updateRepo(input: $input) {\n    repo {\n      uid\n      name\n      description\n      catalogTier\n      bundles\n      aliases\n      activeTags\n      updateTime\n      syncConfig {\n        source\n        google\n        amazon\n        azure\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<UpdateRepoMutation, UpdateRepoMutationVariables>;
export const UpdateRepoReadme = "mutation UpdateRepoReadme($input: UpdateRepoReadmeInput!) {\n  updateRepoReadme(input: $input) {\n    repo {\n      uid\n      readme\n      updateTime\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<UpdateRepoReadmeMutation, UpdateRepoReadmeMutationVariables>;
export const UpdateRole = "mutation UpdateRole($input: UpdateRoleInput!) {\n  updateRole(input: $input) {\n    role {\n      uid\n      name\n      description\n      capabilities\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<UpdateRoleMutation, UpdateRoleMutationVariables>;
export const UpdateSource = "mutation UpdateSource($input: UpdateSourceInput!) {\n  updateSource(input: $input) {\n    source {\n      ...ReadSource\n      __typename\n    }\n    __typename\n  }\n}\nfragment ReadSource on Source {\n  uid\n  name\n  type\n  url\n  ecosystems\n  patterns\n  prune\n  interval\n  credentials {\n    username\n    __typename\n  }\n  paused\n  state\n  nextRunTime\n  lastRunTime\n  lastSuccessTime\n  failingSince\n  createTime\n  lastRun {\n    number\n    error\n    isUnchanged\n    records {\n      kind\n      added\n      updated\n      unchanged\n      failed\n      removed\n      __typename\n    }\n    problemCount\n    __typename\n  }\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<UpdateSourceMutation, UpdateSourceMutationVariables>;
export const VerifyIdentityProvider = "mutation VerifyIdentityProvider($input: VerifyIdentityProviderInput!) {\n  verifyIdentityProvider(input: $input) {\n    identityProvider {\n      uid\n      issuerVerified\n      issuerVerifyTime\n      __typename\n    }\n    __typename\n  }\n}" as unknown as TypedDocument<VerifyIdentityProviderMutation, VerifyIdentityProviderMutationVariables>;
export const Vulnerability = "query Vulnerability($id: String!, $uid: UID!, $history: Boolean!) {\n  vulnerability(id: $id) {\n    name\n    names\n    exploitation {\n      knownExploited\n      knownExploitedTime\n      epss\n      __typename\n    }\n    metadata {\n      vulnerabilityId\n      summary\n      details\n      references {\n        type\n        url\n        __typename\n      }\n      upstream\n      related\n      __typename\n    }\n    advisories(first: 20) {\n      totalCount\n      nodes {\n        ...AdvisoryStory\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  group(uid: $uid) {\n    uid\n    viewerCapabilities\n    __typename\n  }\n  findings(within: $uid, where: {vulnerabilityIds: [$id]}, first: 50) {\n    totalCount\n    pageInfo {\n      hasNextPage\n      __typename\n    }\n    nodes {\n      uid\n      package\n      ecosystem\n      digest\n      installedVersion\n      fixedVersions\n      state\n      justification\n      note\n      firstSeenTime\n      repo {\n        uid\n        name\n        group {\n          uid\n          name\n          ancestors {\n            uid\n            name\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      tags(first: 3) {\n        totalCount\n        nodes {\n          uid\n          name\n          __typename\n        }\n        __typename\n      }\n      fixedIn(first: 4) {\n        nodes {\n          uid\n          name\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  open: topVulnerabilities(\n    within: $uid\n    where: {vulnerabilityIds: [$id]}\n    first: 1\n  ) {\n    nodes {\n      findings\n      fixable\n      images\n      repos\n      __typename\n    }\n    __typename\n  }\n  above: findings(within: $uid, where: {vulnerabilityIds: [$id]}, first: 3) {\n    nodes {\n      uid\n      advisories {\n        ...AdvisoryStory\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n  auditLog(\n    within: $uid\n    kinds: [VULNERABILITIES_FINDING_CHANGED, VULNERABILITIES_FINDING_TRIAGED]\n    denied: false\n    first: 100\n  ) @include(if: $history) {\n    nodes {\n      id\n      time\n      actor {\n        subject\n        act\n        identity {\n          uid\n          name\n          __typename\n        }\n        __typename\n      }\n      detail {\n        ... on FindingChange {\n          repoName\n          findings {\n            vulnerabilityId\n            state\n            note\n            __typename\n          }\n          __typename\n        }\n        ... on FindingTriage {\n          rules {\n            vulnerabilityId\n            state\n            note\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment AdvisoryHappening on AdvisoryEvent {\n  type\n  createTime\n  author\n  detail {\n    ... on AdvisoryDetection {\n      nvdapi {\n        cpeFound\n        __typename\n      }\n      scanv1 {\n        scanner\n        component\n        componentVersion\n        __typename\n      }\n      __typename\n    }\n    ... on AdvisoryFix {\n      fixedVersion\n      note\n      __typename\n    }\n    ... on AdvisoryFalsePositive {\n      reason: type\n      note\n      __typename\n    }\n    ... on AdvisoryPatch {\n      patchedVersions\n      note\n      __typename\n    }\n    ... on AdvisoryTruePositive {\n      note\n      __typename\n    }\n    ... on AdvisoryAnalysisNotPlanned {\n      note\n      __typename\n    }\n    ... on AdvisoryFixNotPlanned {\n      note\n      __typename\n    }\n    ... on AdvisoryPendingUpstreamFix {\n      note\n      __typename\n    }\n    __typename\n  }\n  __typename\n}\nfragment AdvisoryStory on Advisory {\n  uid\n  advisoryId\n  artifactName\n  artifactType\n  componentName\n  createTime\n  updateTime\n  deleteTime\n  author\n  upstream\n  severity {\n    rating\n    score\n    vector\n    version\n    __typename\n  }\n  affected {\n    ranges {\n      type\n      events {\n        introduced\n        fixed\n        lastAffected\n        limit\n        __typename\n      }\n      __typename\n    }\n    versions\n    __typename\n  }\n  events {\n    ...AdvisoryHappening\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<VulnerabilityQuery, VulnerabilityQueryVariables>;
export const Webhook = "query Webhook($uid: UID!, $where: DeliveryFilter, $orderBy: [DeliveryOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  subscription(uid: $uid) {\n    ...Hook\n    viewerCapabilities @include(if: $start)\n    failed: deliveries(first: 1, where: {state: FAILED}) @include(if: $start) {\n      totalCount\n      __typename\n    }\n    deliveries(first: $first, where: $where, orderBy: $orderBy, after: $after) {\n      totalCount @include(if: $start)\n      pageInfo {\n        hasNextPage\n        endCursor\n        __typename\n      }\n      nodes {\n        uid\n        eventId\n        eventType\n        events\n        state\n        attempts\n        lastStatus\n        lastError\n        lastAnswer\n        lastAttemptTime\n        nextAttemptTime\n        createTime\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Hook on EventSubscription {\n  uid\n  sink\n  format\n  digest\n  types\n  createTime\n  updateTime\n  failingSince\n  disableTime\n  disableReason\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<WebhookQuery, WebhookQueryVariables>;
export const Webhooks = "query Webhooks($uid: UID!, $orderBy: [EventSubscriptionOrder!], $first: Int!, $after: String, $start: Boolean!) {\n  group(uid: $uid) {\n    uid\n    viewerCapabilities @include(if: $start)\n    subscriptions(first: $first, after: $after, orderBy: $orderBy) {\n      totalCount @include(if: $start)\n      pageInfo {\n        hasNextPage\n        endCursor\n        __typename\n      }\n      nodes {\n        ...Hook\n        latest: deliveries(first: 1) {\n          nodes {\n            uid\n            state\n            lastStatus\n            createTime\n            __typename\n          }\n          __typename\n        }\n        __typename\n      }\n      __typename\n    }\n    __typename\n  }\n}\nfragment Hook on EventSubscription {\n  uid\n  sink\n  format\n  digest\n  types\n  createTime\n  updateTime\n  failingSince\n  disableTime\n  disableReason\n  group {\n    uid\n    name\n    ancestors {\n      uid\n      name\n      __typename\n    }\n    __typename\n  }\n  __typename\n}" as unknown as TypedDocument<WebhooksQuery, WebhooksQueryVariables>;
