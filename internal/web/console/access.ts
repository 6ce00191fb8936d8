// This file explains how the server decides access: a binding gives a role on its group and on everything below, but never outside
// the group that contains the identity. The console always asks the server whether somebody may do something; the functions here
// only explain the answer.

import type { Capability, GivenRoleFragment } from './generated/graphql';

/** Returns the uid of the group that contains a resource. */
export const homeOf = (uid: string): string => uid.slice(0, Math.max(uid.lastIndexOf('/'), 0));
export const rootOf = (uid: string): string => uid.split('/')[0];
export const isWithin = (uid: string, group: string): boolean => uid === group || uid.startsWith(group + '/');

/**
 * Returns the highest group on which a binding counts: it counts there and on everything below. If it counts nowhere, the result
 * is undefined. An identity that the reader may not see is assumed to be in reach.
 */
export function reachOf(binding: { uid: string; identity?: { uid: string } | null }): string | undefined {
  const group = homeOf(binding.uid), home = binding.identity ? homeOf(binding.identity.uid) : group;
  if (isWithin(group, home)) return group;
  return isWithin(home, group) ? home : undefined;
}

/** Reports whether a binding counts on a group. */
export function countsOn(binding: { uid: string; identity?: { uid: string } | null }, group: string): boolean {
  const reach = reachOf(binding);
  return reach !== undefined && isWithin(group, reach);
}

type Verb = 'read' | 'create' | 'change' | 'delete' | 'accept';

// These words say what each capability allows: the verb, and the kind.
const parts: Record<Capability, readonly [Verb, string]> = {
  GROUPS_LIST: ['read', 'groups'], GROUPS_CREATE: ['create', 'groups'], GROUPS_UPDATE: ['change', 'groups'], GROUPS_DELETE: ['delete', 'groups'],
  REPO_LIST: ['read', 'repos'], REPO_CREATE: ['create', 'repos'], REPO_UPDATE: ['change', 'repos'], REPO_DELETE: ['delete', 'repos'],
  TAG_LIST: ['read', 'tags'], TAG_CREATE: ['create', 'tags'], TAG_UPDATE: ['change', 'tags'], TAG_DELETE: ['delete', 'tags'],
  MANIFEST_METADATA_LIST: ['read', 'image sizes'], LIBRARIES_ARTIFACTS_LIST: ['read', 'library artifacts'], ADVISORIES_LIST: ['read', 'advisories'], FINDINGS_LIST: ['read', 'findings'], FINDINGS_UPDATE: ['change', 'findings'],
  SUBSCRIPTIONS_LIST: ['read', 'webhooks'], SUBSCRIPTIONS_CREATE: ['create', 'webhooks'], SUBSCRIPTIONS_DELETE: ['delete', 'webhooks'],
  SBOMS_IMPORT: ['create', 'SBOMs'], VEX_IMPORT: ['create', 'VEX decisions'], ADVISORIES_IMPORT: ['create', 'advisories'], REGISTRY_IMPORT: ['create', 'images'],
  SOURCES_LIST: ['read', 'sources'], SOURCES_CREATE: ['create', 'sources'], SOURCES_UPDATE: ['change', 'sources'], SOURCES_DELETE: ['delete', 'sources'],
  IDENTITY_LIST: ['read', 'identities'], IDENTITY_CREATE: ['create', 'identities'], IDENTITY_UPDATE: ['change', 'identities'], IDENTITY_DELETE: ['delete', 'identities'],
  ROLE_BINDINGS_LIST: ['read', 'bindings'], ROLE_BINDINGS_CREATE: ['create', 'bindings'], ROLE_BINDINGS_UPDATE: ['change', 'bindings'], ROLE_BINDINGS_DELETE: ['delete', 'bindings'],
  ROLES_LIST: ['read', 'roles'], ROLES_CREATE: ['create', 'roles'], ROLES_UPDATE: ['change', 'roles'], ROLES_DELETE: ['delete', 'roles'],
  GROUP_INVITES_LIST: ['read', 'invites'], GROUP_INVITES_CREATE: ['create', 'invites'], GROUP_INVITES_DELETE: ['delete', 'invites'],
  IDENTITY_PROVIDERS_LIST: ['read', 'identity providers'], IDENTITY_PROVIDERS_CREATE: ['create', 'identity providers'], IDENTITY_PROVIDERS_UPDATE: ['change', 'identity providers'], IDENTITY_PROVIDERS_DELETE: ['delete', 'identity providers'],
  ACCOUNT_ASSOCIATIONS_LIST: ['read', 'cloud accounts'], ACCOUNT_ASSOCIATIONS_CREATE: ['create', 'cloud accounts'], ACCOUNT_ASSOCIATIONS_UPDATE: ['change', 'cloud accounts'], ACCOUNT_ASSOCIATIONS_DELETE: ['delete', 'cloud accounts'],
  TERMS_LIST: ['read', 'terms'], TERMS_ACCEPT: ['accept', 'terms'],
};

export const everything = Object.keys(parts) as Capability[];
export const isCapability = (name: string | null): name is Capability => name !== null && name in parts;
export const verbs: Verb[] = ['read', 'create', 'change', 'delete'];

/** These are all kinds with their capabilities by verb, in the order in which the console shows them. */
export const kinds: { kind: string; by: Partial<Record<Verb, Capability>> }[] = [];
for (const capability of everything) {
  const [verb, kind] = parts[capability], row = kinds.find((one) => one.kind === kind);
  // Somebody who accepts terms creates an acceptance.
  if (row) row.by[verb === 'accept' ? 'create' : verb] = capability; else kinds.push({ kind, by: { [verb]: capability } });
}

/** Returns a capability in words, such as "create repos". */
export const tell = (capability: Capability): string => parts[capability].join(' ');

/** Says in a few words what a role allows. */
export function summarize(capabilities: readonly Capability[] | undefined): string {
  if (!capabilities) return 'capabilities not shown';
  if (capabilities.length === 0) return 'allows nothing';
  if (capabilities.length === everything.length) return 'allows everything';
  const written = [...new Set(capabilities.filter((one) => parts[one][0] !== 'read').map((one) => parts[one][1]))];
  if (written.length > 0) return 'writes ' + enumerate(written, 3);
  const all = capabilities.length === kinds.filter(({ by }) => by.read).length;
  return all ? 'reads everything' : 'reads ' + enumerate(capabilities.map((one) => parts[one][1]), 3);
}

/** Joins names with commas. If there are too many names, it says how many more there are. */
export function enumerate(names: readonly string[], most: number): string {
  if (names.length <= most + 1) return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names.join('');
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}

/** This type has the parts of a binding that decide its effect. */
export interface BindingEffect { uid: string; identity?: { uid: string } | null; role: GivenRoleFragment | null; group: { uid: string; name: string; ancestors: { name: string }[] | null } | null }

export interface Outcome {
  on: string; // The binding counts on this group and on everything below.
  now: Set<Capability>; next: Set<Capability>;
  gained: Capability[]; lost: Capability[];
  kept: { binding: BindingEffect; capabilities: Capability[] }[]; // Other bindings keep these capabilities of the old role.
  below: { binding: BindingEffect; capabilities: Capability[] }[]; // Other bindings keep these lost capabilities further down.
  unseen: Capability[]; // Bindings that the reader may not see give these capabilities.
}

/**
 * Computes what an identity gains and loses if a binding is created, changed or revoked. `held` has the capabilities that the
 * identity holds there now, as the server says. `bindings` has those of its bindings that the reader may see.
 */
export function foresee(on: string, held: readonly Capability[] | null, bindings: readonly BindingEffect[], before: { uid: string; capabilities: readonly Capability[] } | undefined, after: readonly Capability[]): Outcome {
  const others = bindings.filter((one) => one.uid !== before?.uid), here = others.filter((one) => countsOn(one, on));
  const byOthers = new Set(here.flatMap((one) => one.role?.capabilities ?? []));
  const old = before?.capabilities ?? [];
  const now = new Set(held ?? [...byOthers, ...old]);
  const unseen = [...now].filter((one) => !byOthers.has(one) && !old.includes(one));
  const next = new Set([...byOthers, ...unseen, ...after]);
  const lost = [...now].filter((one) => !next.has(one)), gone = old.filter((one) => !after.includes(one));
  const overlap = (binding: BindingEffect, wanted: readonly Capability[]) => ({ binding, capabilities: (binding.role?.capabilities ?? []).filter((one) => wanted.includes(one)) });
  return {
    on, now, next, lost, unseen,
    gained: [...next].filter((one) => !now.has(one)),
    kept: here.map((one) => overlap(one, gone)).filter(({ capabilities }) => capabilities.length > 0),
    below: others.filter((one) => { const reach = reachOf(one); return reach !== undefined && reach !== on && isWithin(reach, on); }).map((one) => overlap(one, lost)).filter(({ capabilities }) => capabilities.length > 0),
  };
}
