// Written by generate.mjs. Do not edit.

/** What a field of an input takes, as the schema describes it. */
export interface Rule {
  type: 'text' | 'choice' | 'list' | 'yes' | 'duration' | 'time' | 'pairs';
  required?: boolean; about: string; pattern?: string; words?: string; values?: Record<string, string>;
  least?: number; most?: number; mostBytes?: number; leastItems?: number; mostItems?: number; leastSeconds?: number; mostSeconds?: number;
}
/** What a change needs, and what its input takes. */
export interface Change { needs: string[]; fields: Record<string, Rule> }

export const changes: Record<string, Change> = {
 "AcceptGroupInvite": {
  "needs": [],
  "fields": {
   "code": {
    "type": "text",
    "required": true,
    "about": "The code of the invite."
   }
  }
 },
 "BatchDeleteTags": {
  "needs": [
   "tag.delete"
  ],
  "fields": {
   "uids": {
    "type": "list",
    "required": true,
    "about": "Their uids, 1 to 100, each once.",
    "leastItems": 1,
    "mostItems": 100
   }
  }
 },
 "Bind": {
  "needs": [
   "role_bindings.create"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "required": true,
    "about": "Uid of the group on which it applies."
   },
   "identityUid": {
    "type": "text",
    "required": true,
    "about": "Uid of the identity that gets the role; it must be in that group or above it."
   },
   "roleUid": {
    "type": "text",
    "required": true,
    "about": "Uid of the role: a built-in role, or a role of that group or of a group above it."
   },
   "expireTime": {
    "type": "time",
    "about": "When the binding expires, in the future; from then on it grants nothing. Default: never."
   },
   "idempotencyKey": {
    "type": "text",
    "about": "An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer.",
    "mostBytes": 255
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "CancelSource": {
  "needs": [],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "The uid of the source."
   }
  }
 },
 "Confirm": {
  "needs": [],
  "fields": {
   "note": {
    "type": "text",
    "about": "Why, at most 8192 bytes.",
    "mostBytes": 8192
   }
  }
 },
 "CreateExternalGroupRoleMapping": {
  "needs": [
   "identity_providers.create",
   "role_bindings.create"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "required": true,
    "about": "Uid of the identity provider."
   },
   "externalGroupId": {
    "type": "text",
    "required": true,
    "about": "The group as the provider's tokens name it, at most 255 bytes.",
    "mostBytes": 255
   },
   "roleUid": {
    "type": "text",
    "required": true,
    "about": "Uid of the role: a built-in role, or a role of the scope or of a group above it."
   },
   "scope": {
    "type": "text",
    "about": "Uid of the group on which the role applies: the provider's group (the default) or a group below it."
   },
   "idempotencyKey": {
    "type": "text",
    "about": "An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer.",
    "mostBytes": 255
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "CreateGroup": {
  "needs": [
   "groups.create"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "about": "Uid of the group to create it in. Without it, a root group is created, which works only if the service allows sign-up. The caller becomes its owner."
   },
   "name": {
    "type": "text",
    "required": true,
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the parent.",
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "idempotencyKey": {
    "type": "text",
    "about": "An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer.",
    "mostBytes": 255
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "CreateGroupInvite": {
  "needs": [
   "group_invites.create",
   "role_bindings.create"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "required": true,
    "about": "Uid of the group to invite to."
   },
   "roleUid": {
    "type": "text",
    "required": true,
    "about": "Uid of the role to offer: a built-in role, or a role of that group or of a group above it."
   },
   "email": {
    "type": "text",
    "about": "Email address of the only person who can accept; default: anyone with the code."
   },
   "ttl": {
    "type": "duration",
    "required": true,
    "about": "How long it can be accepted: 1 second to 365 days.",
    "leastSeconds": 1,
    "mostSeconds": 31536000
   },
   "singleUse": {
    "type": "yes",
    "about": "Whether it is deleted once it is accepted."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "CreateIdentity": {
  "needs": [
   "identity.create"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "required": true,
    "about": "Uid of the group to create it in."
   },
   "name": {
    "type": "text",
    "required": true,
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`.",
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "company": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "claimMatch.issuer": {
    "type": "text",
    "about": "`iss` must be exactly this https URL."
   },
   "claimMatch.issuerPattern": {
    "type": "text",
    "about": "`iss` must match."
   },
   "claimMatch.subject": {
    "type": "text",
    "about": "`sub` must be exactly this."
   },
   "claimMatch.subjectPattern": {
    "type": "text",
    "about": "`sub` must match."
   },
   "claimMatch.audience": {
    "type": "text",
    "about": "`aud` must contain exactly this. Without a rule, `aud` must contain this service."
   },
   "claimMatch.audiencePattern": {
    "type": "text",
    "about": "`aud` must contain a value that matches."
   },
   "claimMatch.claims": {
    "type": "pairs",
    "about": "Further claims and the exact values they must have, or one element if they are lists; at most 20 together with `claimPatterns`.",
    "mostItems": 20
   },
   "claimMatch.claimPatterns": {
    "type": "pairs",
    "about": "Further claims and the patterns they must match, or one element if they are lists."
   },
   "staticKeys.issuer": {
    "type": "text",
    "required": true,
    "about": "`iss` of the tokens, an https URL."
   },
   "staticKeys.subject": {
    "type": "text",
    "required": true,
    "about": "`sub` of the tokens."
   },
   "staticKeys.issuerKeys": {
    "type": "text",
    "required": true,
    "about": "JSON Web Key Set as text, at least one key, at most 16 KiB.",
    "mostBytes": 16384
   },
   "staticKeys.expirationTime": {
    "type": "time",
    "about": "When the keys expire."
   },
   "staticKeys.audiences": {
    "type": "list",
    "about": "The allowed audiences of tokens, at most 20; if empty, tokens must be issued for this service.",
    "mostItems": 20
   },
   "idempotencyKey": {
    "type": "text",
    "about": "An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer.",
    "mostBytes": 255
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "CreateIdentityProvider": {
  "needs": [
   "identity_providers.create",
   "role_bindings.create"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "required": true,
    "about": "Uid of the group that users sign in to."
   },
   "name": {
    "type": "text",
    "required": true,
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the group.",
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "defaultRole": {
    "type": "text",
    "required": true,
    "about": "Uid of the role that new users get: a built-in role, or a role of that group or of a group above it."
   },
   "oidc.issuer": {
    "type": "text",
    "required": true,
    "about": "`iss` of the tokens, an https URL."
   },
   "oidc.clientId": {
    "type": "text",
    "required": true,
    "about": "The client at the provider."
   },
   "oidc.clientSecret": {
    "type": "text",
    "about": "The client's secret, stored encrypted. No response shows it, and Atrium does not use it, because it checks tokens by the keys of the\nissuer. In an update, an absent secret stays as it is and null removes it."
   },
   "oidc.additionalScopes": {
    "type": "list",
    "about": "Scopes that clients request from the provider, in addition to the usual ones; at most 20. Atrium keeps them for clients; it starts no sign-ins itself.",
    "mostItems": 20
   },
   "oidc.groupsClaim": {
    "type": "text",
    "about": "The claim that lists the external groups of a user; without it, mappings have no effect."
   },
   "oidc.correlationRule": {
    "type": "choice",
    "about": "The claim that identifies a user; default: SUB_EQUALS_EXTERNAL_ID. It cannot be changed later.",
    "values": {
     "SUB_EQUALS_EXTERNAL_ID": "`sub`.",
     "OID_EQUALS_EXTERNAL_ID": "`oid`, which Microsoft Entra gives a person in every application."
    }
   },
   "oidc.pkceEnabled": {
    "type": "yes",
    "about": "Whether clients use PKCE to sign in. Atrium keeps it for clients; the console always uses PKCE."
   },
   "idempotencyKey": {
    "type": "text",
    "about": "An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer.",
    "mostBytes": 255
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "CreateRepo": {
  "needs": [
   "repo.create"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "required": true,
    "about": "Uid of the group to create it in."
   },
   "name": {
    "type": "text",
    "required": true,
    "about": "OCI repository name of at most 255 characters, unique in the group.",
    "pattern": "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*)*",
    "words": "lower-case letters and digits, with dots, hyphens and underscores between them, and slashes between parts",
    "most": 255
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "catalogTier": {
    "type": "choice",
    "about": "The part of the catalog it belongs to.",
    "values": {
     "APPLICATION": "Applications.",
     "BASE": "Base images.",
     "FIPS": "Images with FIPS-validated cryptography.",
     "AI": "Images for machine learning.",
     "DEVTOOLS": "Tools for developers.",
     "COMMERCIAL": "Images under a commercial agreement."
    }
   },
   "bundles": {
    "type": "list",
    "about": "Bundles it is part of, at most 1000 of at most 512 characters each.",
    "mostItems": 1000,
    "most": 512
   },
   "aliases": {
    "type": "list",
    "about": "Other names that searches find, at most 1000 of at most 512 characters each.",
    "mostItems": 1000,
    "most": 512
   },
   "activeTags": {
    "type": "list",
    "about": "Tags that are kept up to date, at most 1000 of at most 512 characters each.",
    "mostItems": 1000,
    "most": 512
   },
   "syncConfig.source": {
    "type": "text",
    "required": true,
    "about": "The source to copy from."
   },
   "syncConfig.google": {
    "type": "text",
    "about": "Setting for Google Cloud, kept as it was given."
   },
   "syncConfig.amazon": {
    "type": "text",
    "about": "Setting for Amazon, kept as it was given."
   },
   "syncConfig.azure": {
    "type": "text",
    "about": "Setting for Azure, kept as it was given."
   },
   "idempotencyKey": {
    "type": "text",
    "about": "An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer.",
    "mostBytes": 255
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "CreateRole": {
  "needs": [
   "roles.create"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "required": true,
    "about": "Uid of the group to create it in."
   },
   "name": {
    "type": "text",
    "required": true,
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the group.",
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "capabilities": {
    "type": "list",
    "about": "What it allows.",
    "values": {
     "GROUPS_CREATE": "Create groups.",
     "GROUPS_UPDATE": "Change groups.",
     "GROUPS_LIST": "Read and list groups.",
     "GROUPS_DELETE": "Delete groups.",
     "GROUP_INVITES_CREATE": "Create invites to groups.",
     "GROUP_INVITES_LIST": "Read and list invites to groups.",
     "GROUP_INVITES_DELETE": "Delete invites to groups.",
     "ROLES_CREATE": "Create roles.",
     "ROLES_UPDATE": "Change roles.",
     "ROLES_LIST": "Read and list roles.",
     "ROLES_DELETE": "Delete roles.",
     "ROLE_BINDINGS_CREATE": "Create role bindings, for roles whose every capability you hold yourself.",
     "ROLE_BINDINGS_UPDATE": "Change role bindings.",
     "ROLE_BINDINGS_LIST": "Read and list role bindings.",
     "ROLE_BINDINGS_DELETE": "Delete role bindings.",
     "ACCOUNT_ASSOCIATIONS_CREATE": "Create a group's associations with cloud accounts.",
     "ACCOUNT_ASSOCIATIONS_UPDATE": "Change a group's associations with cloud accounts.",
     "ACCOUNT_ASSOCIATIONS_LIST": "Read and list a group's associations with cloud accounts.",
     "ACCOUNT_ASSOCIATIONS_DELETE": "Delete a group's associations with cloud accounts.",
     "IDENTITY_CREATE": "Create identities.",
     "IDENTITY_UPDATE": "Change identities.",
     "IDENTITY_LIST": "Read and list identities.",
     "IDENTITY_DELETE": "Delete identities.",
     "IDENTITY_PROVIDERS_CREATE": "Create identity providers and their group mappings.",
     "IDENTITY_PROVIDERS_UPDATE": "Change identity providers.",
     "IDENTITY_PROVIDERS_LIST": "Read and list identity providers and their group mappings.",
     "IDENTITY_PROVIDERS_DELETE": "Delete identity providers and their group mappings.",
     "SUBSCRIPTIONS_CREATE": "Create event subscriptions.",
     "SUBSCRIPTIONS_LIST": "Read and list event subscriptions.",
     "SUBSCRIPTIONS_DELETE": "Delete event subscriptions.",
     "REPO_CREATE": "Create repos.",
     "REPO_UPDATE": "Change repos and their readmes.",
     "REPO_LIST": "Read and list repos and their readmes.",
     "REPO_DELETE": "Delete repos.",
     "TAG_CREATE": "Create tags, and move existing ones to another digest.",
     "TAG_UPDATE": "Change tags.",
     "TAG_LIST": "Read and list tags.",
     "TAG_DELETE": "Delete tags.",
     "MANIFEST_METADATA_LIST": "Read architectures and sizes of images.",
     "LIBRARIES_ARTIFACTS_LIST": "Read library artifacts and their versions.",
     "ADVISORIES_LIST": "Read and list advisories.",
     "TERMS_ACCEPT": "Accept terms for a group.",
     "TERMS_LIST": "List which terms a group has accepted.",
     "FINDINGS_LIST": "Read and list findings: vulnerabilities of images.",
     "FINDINGS_UPDATE": "Decide about findings.",
     "SBOMS_IMPORT": "Import SBOMs: what images hold.",
     "VEX_IMPORT": "Import VEX: decisions of a group about findings.",
     "ADVISORIES_IMPORT": "Import advisories of a group.",
     "REGISTRY_IMPORT": "Import repos, tags and images.",
     "SOURCES_CREATE": "Create sources: places that the server reads by itself, and imports into a group.",
     "SOURCES_UPDATE": "Change sources, have them read now, and end their runs.",
     "SOURCES_LIST": "Read and list sources and their runs.",
     "SOURCES_DELETE": "Delete sources."
    }
   },
   "idempotencyKey": {
    "type": "text",
    "about": "An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer.",
    "mostBytes": 255
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "CreateSource": {
  "needs": [
   "sources.create",
   "advisories.import",
   "vex.import",
   "sboms.import",
   "registry.import"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "required": true,
    "about": "Uid of the group that the records are imported into."
   },
   "name": {
    "type": "text",
    "required": true,
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the group.",
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "type": {
    "type": "choice",
    "required": true,
    "about": "What it provides.",
    "values": {
     "OSV": "Records of vulnerabilities in the form of OSV.",
     "OCI": "Repos, tags, images and SBOMs of a registry.",
     "VEX": "VEX documents: OpenVEX, CycloneDX and CSAF.",
     "SBOM": "SBOM documents: SPDX and CycloneDX."
    }
   },
   "url": {
    "type": "text",
    "about": "https URL of a public host: of an archive, a document or an index. For OSV with ecosystems, it is the URL of a folder with the layout of\nosv.dev, which is the default; for OCI, the URL of a registry, or of one of its repos."
   },
   "ecosystems": {
    "type": "list",
    "about": "Ecosystems of OSV records, such as Go or npm, at most 50; default: all that the url has.",
    "mostItems": 50
   },
   "patterns": {
    "type": "list",
    "about": "Patterns of the repos of a registry, in which `*` stands for any text without a slash, at most 100; all repos where absent.",
    "mostItems": 100
   },
   "prune": {
    "type": "yes",
    "about": "Whether to remove tags that the registry no longer has."
   },
   "interval": {
    "type": "duration",
    "about": "Time between two runs, 60 seconds to 30 days; default: an hour, or six hours for VEX.",
    "leastSeconds": 60,
    "mostSeconds": 2592000
   },
   "credentials.username": {
    "type": "text",
    "about": "The user name; without it, the password is sent as a bearer token."
   },
   "credentials.password": {
    "type": "text",
    "about": "The password or token, stored encrypted; no response shows it. In an update, an absent one stays as it is and null removes it."
   },
   "paused": {
    "type": "yes",
    "about": "Whether it is read only when somebody asks for it."
   },
   "idempotencyKey": {
    "type": "text",
    "about": "An idempotency key of your choice, such as a UUID, at most 255 bytes. For a day, a request with the same key creates nothing and gets the same answer.",
    "mostBytes": 255
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "CreateSubscription": {
  "needs": [
   "subscriptions.create"
  ],
  "fields": {
   "parent": {
    "type": "text",
    "required": true,
    "about": "Uid of the group whose events to send, with everything below it."
   },
   "sink": {
    "type": "text",
    "required": true,
    "about": "https URL of a public host, at most 2048 bytes, or where the format is EMAIL `mailto:` with up to twenty addresses: `mailto:security@example.com,ops@example.com`. Unique in the group.",
    "mostBytes": 2048
   },
   "format": {
    "type": "choice",
    "about": "How events are written; CLOUDEVENTS where absent.",
    "values": {
     "CLOUDEVENTS": "For programs: each event on its own, as a CloudEvent.",
     "SLACK": "A message for an incoming webhook of Slack, Mattermost or Rocket.Chat.",
     "TEAMS": "An adaptive card for a workflow or an incoming webhook of Microsoft Teams.",
     "EMAIL": "A mail. The operator of the service must have named a mail server."
    }
   },
   "digest": {
    "type": "choice",
    "about": "How long events are collected for a message; default: IMMEDIATE, the only value for CLOUDEVENTS.",
    "values": {
     "IMMEDIATE": "At once: what happens within five seconds is one message; for mail, within the time that the operator has set.",
     "HOURLY": "A message at each full hour in which something happened.",
     "DAILY": "A message each day at 06:00 UTC, if something happened."
    }
   },
   "types": {
    "type": "list",
    "about": "Types of the events to send, such as dev.atrium.api.iam.group.created.v1, iam.group.created or IAM_GROUP_CREATED, at most 100; default:\nall. The error for an unknown type lists all types in its metadata.",
    "mostItems": 100
   },
   "conditions.within": {
    "type": "list",
    "about": "Uids of groups, repos and other resources in the group of the subscription, at most 100. Everything below them counts too.",
    "mostItems": 100
   },
   "conditions.actors": {
    "type": "list",
    "about": "Who made the changes: uids of identities, or names of an operator's commands, at most 100.",
    "mostItems": 100
   },
   "conditions.includeDenied": {
    "type": "yes",
    "about": "true: denied changes are sent too, equal ones within a minute only once. Their type ends in `.denied.v1`, and their data has the reason\nas `denied`. Needs groups.update on the group, like the audit log."
   },
   "findings.minSeverity": {
    "type": "choice",
    "about": "The rating must be at least this one, of UNKNOWN, NONE, LOW, MEDIUM, HIGH and CRITICAL.",
    "values": {
     "CRITICAL": "9.0 to 10.0 by CVSS 3 or 4.",
     "HIGH": "7.0 to 8.9; by CVSS 2, to 10.0.",
     "MEDIUM": "4.0 to 6.9.",
     "LOW": "0.1 to 3.9; by CVSS 2, from 0.",
     "NONE": "0 by CVSS 3 or 4.",
     "UNKNOWN": "No source has a severity."
    }
   },
   "findings.knownExploited": {
    "type": "yes",
    "about": "true: the KEV catalog must list it."
   },
   "findings.within": {
    "type": "list",
    "about": "Uids of groups and repos, at most 100, in the group of the subscription, or in the scope that `within` of a feed names.",
    "mostItems": 100
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "DeleteExternalGroupRoleMapping": {
  "needs": [
   "identity_providers.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "DeleteGroup": {
  "needs": [
   "groups.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "DeleteGroupInvite": {
  "needs": [
   "group_invites.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "DeleteIdentity": {
  "needs": [
   "identity.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "DeleteIdentityProvider": {
  "needs": [
   "identity_providers.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "DeleteRepo": {
  "needs": [
   "repo.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "DeleteRole": {
  "needs": [
   "roles.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "DeleteSource": {
  "needs": [
   "sources.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "DeleteSubscription": {
  "needs": [
   "subscriptions.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "EnableSubscription": {
  "needs": [
   "subscriptions.create"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   }
  }
 },
 "Rebind": {
  "needs": [
   "role_bindings.update"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "identityUid": {
    "type": "text",
    "about": "Uid of the identity that gets the role; it must be in that group or above it.",
    "required": true
   },
   "roleUid": {
    "type": "text",
    "about": "Uid of the role: a built-in role, or a role of that group or of a group above it.",
    "required": true
   },
   "expireTime": {
    "type": "time",
    "about": "When the binding expires, in the future; from then on it grants nothing. Default: never."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "Redeliver": {
  "needs": [
   "subscriptions.create"
  ],
  "fields": {
   "uids": {
    "type": "list",
    "required": true,
    "about": "Their uids, 1 to 200.",
    "leastItems": 1,
    "mostItems": 200
   }
  }
 },
 "RotateSubscriptionSecret": {
  "needs": [
   "subscriptions.create"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Uid of the subscription."
   }
  }
 },
 "RunSource": {
  "needs": [
   "sources.update"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   }
  }
 },
 "StopDecision": {
  "needs": [],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   }
  }
 },
 "TestSubscription": {
  "needs": [
   "subscriptions.create"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   }
  }
 },
 "Unbind": {
  "needs": [
   "role_bindings.delete"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "UnbindAll": {
  "needs": [
   "role_bindings.delete"
  ],
  "fields": {
   "uids": {
    "type": "list",
    "required": true,
    "about": "Their uids, 1 to 100, each once.",
    "leastItems": 1,
    "mostItems": 100
   },
   "note": {
    "type": "text",
    "about": "Why, at most 8192 bytes. The events then have it as `reviewNote`, and the caller as `reviewer`. Without a note they have no review, not even an earlier one.",
    "mostBytes": 8192
   }
  }
 },
 "UpdateFindings": {
  "needs": [
   "findings.update",
   "findings.list",
   "tag.list"
  ],
  "fields": {
   "uids": {
    "type": "list",
    "about": "Uids of findings, at most 10,000. One that is RESOLVED is an error.",
    "mostItems": 10000
   },
   "within": {
    "type": "text",
    "about": "Uid of a group or repo."
   },
   "background": {
    "type": "yes",
    "about": "true: decide in an operation, which goes on after the answer, about any number of findings. Only together with `within` and `where`."
   },
   "state": {
    "type": "choice",
    "about": "The decision as a whole: without `justification`, `note` or `expireTime` beside it, these are cleared. OPEN takes a decision back,\nincluding a decision about later findings. NOT_AFFECTED needs a `justification`.",
    "values": {
     "OPEN": "Somebody must look after it. It takes a decision back.",
     "IN_TRIAGE": "Somebody looks into it. It counts as open.",
     "ACCEPTED": "The risk is accepted.",
     "NOT_AFFECTED": "The image is not affected after all."
    }
   },
   "justification": {
    "type": "choice",
    "about": "Why it is NOT_AFFECTED, as VEX has it. Only together with that state.",
    "values": {
     "COMPONENT_NOT_PRESENT": "The image does not have the vulnerable component.",
     "VULNERABLE_CODE_NOT_PRESENT": "The image has the component without the vulnerable code.",
     "VULNERABLE_CODE_NOT_IN_EXECUTE_PATH": "The vulnerable code never runs.",
     "VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY": "An attacker cannot reach the vulnerable code.",
     "INLINE_MITIGATIONS_ALREADY_EXIST": "Protection in the image keeps it from being exploited."
    }
   },
   "note": {
    "type": "text",
    "about": "A note, at most 8192 bytes. Without `state`, it changes nothing else; null clears it.",
    "mostBytes": 8192
   },
   "assignee": {
    "type": "text",
    "about": "Uid of an identity of the organization, which the caller may see, to look after the findings; null: nobody. It is not part of the decision."
   },
   "dueTime": {
    "type": "time",
    "about": "The time by which the findings must be fixed; null: no time. It is not part of the decision."
   },
   "expireTime": {
    "type": "time",
    "about": "When the decision ends, and the findings are open again; in the future. Only together with IN_TRIAGE, ACCEPTED or NOT_AFFECTED."
   }
  }
 },
 "UpdateGroup": {
  "needs": [
   "groups.update"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "name": {
    "type": "text",
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the parent.",
    "required": true,
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "UpdateIdentity": {
  "needs": [
   "identity.update"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "name": {
    "type": "text",
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`.",
    "required": true,
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "company": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "claimMatch.issuer": {
    "type": "text",
    "about": "`iss` must be exactly this https URL."
   },
   "claimMatch.issuerPattern": {
    "type": "text",
    "about": "`iss` must match."
   },
   "claimMatch.subject": {
    "type": "text",
    "about": "`sub` must be exactly this."
   },
   "claimMatch.subjectPattern": {
    "type": "text",
    "about": "`sub` must match."
   },
   "claimMatch.audience": {
    "type": "text",
    "about": "`aud` must contain exactly this. Without a rule, `aud` must contain this service."
   },
   "claimMatch.audiencePattern": {
    "type": "text",
    "about": "`aud` must contain a value that matches."
   },
   "claimMatch.claims": {
    "type": "pairs",
    "mostItems": 20,
    "about": "Further claims and the exact values they must have, or one element if they are lists; at most 20 together with `claimPatterns`."
   },
   "claimMatch.claimPatterns": {
    "type": "pairs",
    "about": "Further claims and the patterns they must match, or one element if they are lists."
   },
   "staticKeys.issuer": {
    "type": "text",
    "required": true,
    "about": "`iss` of the tokens, an https URL."
   },
   "staticKeys.subject": {
    "type": "text",
    "required": true,
    "about": "`sub` of the tokens."
   },
   "staticKeys.issuerKeys": {
    "type": "text",
    "required": true,
    "mostBytes": 16384,
    "about": "JSON Web Key Set as text, at least one key, at most 16 KiB."
   },
   "staticKeys.expirationTime": {
    "type": "time",
    "about": "When the keys expire."
   },
   "staticKeys.audiences": {
    "type": "list",
    "mostItems": 20,
    "about": "The allowed audiences of tokens, at most 20; if empty, tokens must be issued for this service."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "UpdateIdentityProvider": {
  "needs": [
   "identity_providers.update",
   "role_bindings.create"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "name": {
    "type": "text",
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the group.",
    "required": true,
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "defaultRole": {
    "type": "text",
    "about": "Uid of the role that new users get: a built-in role, or a role of that group or of a group above it.",
    "required": true
   },
   "oidc.issuer": {
    "type": "text",
    "required": true,
    "about": "`iss` of the tokens, an https URL."
   },
   "oidc.clientId": {
    "type": "text",
    "required": true,
    "about": "The client at the provider."
   },
   "oidc.clientSecret": {
    "type": "text",
    "about": "The client's secret, stored encrypted. No response shows it, and Atrium does not use it, because it checks tokens by the keys of the\nissuer. In an update, an absent secret stays as it is and null removes it."
   },
   "oidc.additionalScopes": {
    "type": "list",
    "mostItems": 20,
    "about": "Scopes that clients request from the provider, in addition to the usual ones; at most 20. Atrium keeps them for clients; it starts no sign-ins itself."
   },
   "oidc.groupsClaim": {
    "type": "text",
    "about": "The claim that lists the external groups of a user; without it, mappings have no effect."
   },
   "oidc.correlationRule": {
    "type": "choice",
    "values": {
     "SUB_EQUALS_EXTERNAL_ID": "`sub`.",
     "OID_EQUALS_EXTERNAL_ID": "`oid`, which Microsoft Entra gives a person in every application."
    },
    "about": "The claim that identifies a user; default: SUB_EQUALS_EXTERNAL_ID. It cannot be changed later."
   },
   "oidc.pkceEnabled": {
    "type": "yes",
    "about": "Whether clients use PKCE to sign in. Atrium keeps it for clients; the console always uses PKCE."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "UpdateRepo": {
  "needs": [
   "repo.update"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "name": {
    "type": "text",
    "about": "OCI repository name of at most 255 characters, unique in the group.",
    "required": true,
    "pattern": "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*)*",
    "words": "lower-case letters and digits, with dots, hyphens and underscores between them, and slashes between parts",
    "most": 255
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "catalogTier": {
    "type": "choice",
    "values": {
     "APPLICATION": "Applications.",
     "BASE": "Base images.",
     "FIPS": "Images with FIPS-validated cryptography.",
     "AI": "Images for machine learning.",
     "DEVTOOLS": "Tools for developers.",
     "COMMERCIAL": "Images under a commercial agreement."
    },
    "about": "The part of the catalog it belongs to."
   },
   "bundles": {
    "type": "list",
    "about": "Bundles it is part of, at most 1000 of at most 512 characters each.",
    "mostItems": 1000,
    "most": 512
   },
   "aliases": {
    "type": "list",
    "about": "Other names that searches find, at most 1000 of at most 512 characters each.",
    "mostItems": 1000,
    "most": 512
   },
   "activeTags": {
    "type": "list",
    "about": "Tags that are kept up to date, at most 1000 of at most 512 characters each.",
    "mostItems": 1000,
    "most": 512
   },
   "syncConfig.source": {
    "type": "text",
    "required": true,
    "about": "The source to copy from."
   },
   "syncConfig.google": {
    "type": "text",
    "about": "Setting for Google Cloud, kept as it was given."
   },
   "syncConfig.amazon": {
    "type": "text",
    "about": "Setting for Amazon, kept as it was given."
   },
   "syncConfig.azure": {
    "type": "text",
    "about": "Setting for Azure, kept as it was given."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "UpdateRepoReadme": {
  "needs": [
   "repo.update"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Uid of the repo."
   },
   "content": {
    "type": "text",
    "about": "Markdown, at most 256 KiB. Null removes the readme; if you leave it out, the readme stays.",
    "mostBytes": 262144
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "UpdateRole": {
  "needs": [
   "roles.update"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "name": {
    "type": "text",
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the group.",
    "required": true,
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "description": {
    "type": "text",
    "about": "",
    "most": 512
   },
   "capabilities": {
    "type": "list",
    "values": {
     "GROUPS_CREATE": "Create groups.",
     "GROUPS_UPDATE": "Change groups.",
     "GROUPS_LIST": "Read and list groups.",
     "GROUPS_DELETE": "Delete groups.",
     "GROUP_INVITES_CREATE": "Create invites to groups.",
     "GROUP_INVITES_LIST": "Read and list invites to groups.",
     "GROUP_INVITES_DELETE": "Delete invites to groups.",
     "ROLES_CREATE": "Create roles.",
     "ROLES_UPDATE": "Change roles.",
     "ROLES_LIST": "Read and list roles.",
     "ROLES_DELETE": "Delete roles.",
     "ROLE_BINDINGS_CREATE": "Create role bindings, for roles whose every capability you hold yourself.",
     "ROLE_BINDINGS_UPDATE": "Change role bindings.",
     "ROLE_BINDINGS_LIST": "Read and list role bindings.",
     "ROLE_BINDINGS_DELETE": "Delete role bindings.",
     "ACCOUNT_ASSOCIATIONS_CREATE": "Create a group's associations with cloud accounts.",
     "ACCOUNT_ASSOCIATIONS_UPDATE": "Change a group's associations with cloud accounts.",
     "ACCOUNT_ASSOCIATIONS_LIST": "Read and list a group's associations with cloud accounts.",
     "ACCOUNT_ASSOCIATIONS_DELETE": "Delete a group's associations with cloud accounts.",
     "IDENTITY_CREATE": "Create identities.",
     "IDENTITY_UPDATE": "Change identities.",
     "IDENTITY_LIST": "Read and list identities.",
     "IDENTITY_DELETE": "Delete identities.",
     "IDENTITY_PROVIDERS_CREATE": "Create identity providers and their group mappings.",
     "IDENTITY_PROVIDERS_UPDATE": "Change identity providers.",
     "IDENTITY_PROVIDERS_LIST": "Read and list identity providers and their group mappings.",
     "IDENTITY_PROVIDERS_DELETE": "Delete identity providers and their group mappings.",
     "SUBSCRIPTIONS_CREATE": "Create event subscriptions.",
     "SUBSCRIPTIONS_LIST": "Read and list event subscriptions.",
     "SUBSCRIPTIONS_DELETE": "Delete event subscriptions.",
     "REPO_CREATE": "Create repos.",
     "REPO_UPDATE": "Change repos and their readmes.",
     "REPO_LIST": "Read and list repos and their readmes.",
     "REPO_DELETE": "Delete repos.",
     "TAG_CREATE": "Create tags, and move existing ones to another digest.",
     "TAG_UPDATE": "Change tags.",
     "TAG_LIST": "Read and list tags.",
     "TAG_DELETE": "Delete tags.",
     "MANIFEST_METADATA_LIST": "Read architectures and sizes of images.",
     "LIBRARIES_ARTIFACTS_LIST": "Read library artifacts and their versions.",
     "ADVISORIES_LIST": "Read and list advisories.",
     "TERMS_ACCEPT": "Accept terms for a group.",
     "TERMS_LIST": "List which terms a group has accepted.",
     "FINDINGS_LIST": "Read and list findings: vulnerabilities of images.",
     "FINDINGS_UPDATE": "Decide about findings.",
     "SBOMS_IMPORT": "Import SBOMs: what images hold.",
     "VEX_IMPORT": "Import VEX: decisions of a group about findings.",
     "ADVISORIES_IMPORT": "Import advisories of a group.",
     "REGISTRY_IMPORT": "Import repos, tags and images.",
     "SOURCES_CREATE": "Create sources: places that the server reads by itself, and imports into a group.",
     "SOURCES_UPDATE": "Change sources, have them read now, and end their runs.",
     "SOURCES_LIST": "Read and list sources and their runs.",
     "SOURCES_DELETE": "Delete sources."
    },
    "about": "What it allows."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "UpdateSource": {
  "needs": [
   "sources.update"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   },
   "name": {
    "type": "text",
    "about": "1 to 512 of lower-case letters, digits, space, `.`, `_` and `-`; unique in the group.",
    "required": true,
    "least": 1,
    "most": 512,
    "pattern": "[a-z0-9 ._\\-]*",
    "words": "lower-case letters, digits, space, ., _ and -"
   },
   "url": {
    "type": "text",
    "about": "https URL of a public host: of an archive, a document or an index. For OSV with ecosystems, it is the URL of a folder with the layout of\nosv.dev, which is the default; for OCI, the URL of a registry, or of one of its repos."
   },
   "ecosystems": {
    "type": "list",
    "about": "Ecosystems of OSV records, such as Go or npm, at most 50; default: all that the url has.",
    "mostItems": 50
   },
   "patterns": {
    "type": "list",
    "about": "Patterns of the repos of a registry, in which `*` stands for any text without a slash, at most 100; all repos where absent.",
    "mostItems": 100
   },
   "prune": {
    "type": "yes",
    "about": "Whether to remove tags that the registry no longer has."
   },
   "interval": {
    "type": "duration",
    "about": "Time between two runs, 60 seconds to 30 days; default: an hour, or six hours for VEX.",
    "leastSeconds": 60,
    "mostSeconds": 2592000
   },
   "credentials.username": {
    "type": "text",
    "about": "The user name; without it, the password is sent as a bearer token."
   },
   "credentials.password": {
    "type": "text",
    "about": "The password or token, stored encrypted; no response shows it. In an update, an absent one stays as it is and null removes it."
   },
   "paused": {
    "type": "yes",
    "about": "Whether it is read only when somebody asks for it."
   },
   "ifMatch": {
    "type": "text",
    "about": "An `etag` that you have read. The request fails with ETAG_MISMATCH if a caller has changed the resource since."
   },
   "validateOnly": {
    "type": "yes",
    "about": "Whether to only check the request: you get the same answer, and nothing is stored."
   }
  }
 },
 "VerifyIdentityProvider": {
  "needs": [
   "identity_providers.update",
   "role_bindings.create"
  ],
  "fields": {
   "uid": {
    "type": "text",
    "required": true,
    "about": "Its uid."
   }
  }
 }
};
