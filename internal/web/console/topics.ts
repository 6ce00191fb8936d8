// This file has the types of events by topic, without prefix and version, as the API accepts them. A type stands for what was done to
// many at once too, so it has none that ends in .batch.

import type { EventKind } from './generated/graphql';

export interface Topic { value: string; name: string; types: string[]; isPart?: boolean /* Its types belong to another topic, too. */ }

const verbs = (kind: string, ...all: string[]) => all.map((verb) => `${kind}.${verb}`);

export const topics: Topic[] = [
  { value: 'groups', name: 'Groups', types: verbs('iam.group', 'created', 'updated', 'deleted') },
  {
    value: 'people', name: 'Identities', types: [
      ...verbs('iam.identity', 'created', 'updated', 'deleted'), ...verbs('iam.group_invite', 'created', 'deleted'), ...verbs('iam.identity_providers', 'created', 'updated', 'deleted'),
      ...verbs('iam.external_group_role_mappings', 'created', 'deleted'), ...verbs('iam.group', 'issuer_allowed', 'issuer_revoked'),
    ],
  },
  { value: 'access', name: 'Access', types: [...verbs('iam.roles', 'created', 'updated', 'deleted'), ...verbs('iam.rolebindings', 'created', 'updated', 'deleted', 'expired', 'confirmed')] },
  { value: 'reviews', name: 'Access reviews', types: verbs('iam.rolebindings', 'confirmed', 'deleted'), isPart: true },
  { value: 'repos', name: 'Repos', types: verbs('platform.registry.repo', 'created', 'updated', 'deleted') },
  { value: 'tags', name: 'Tags', types: verbs('platform.registry.tag', 'created', 'deleted') },
  { value: 'findings', name: 'Findings', types: verbs('vulnerabilities.finding', 'opened', 'resolved', 'changed', 'triaged', 'due_policy_set') },
  { value: 'webhooks', name: 'Webhooks', types: verbs('events.subscription', 'created', 'updated', 'deleted', 'test', 'disabled', 'redelivered') },
  { value: 'sources', name: 'Sources', types: verbs('sources.source', 'created', 'updated', 'deleted', 'failed', 'recovered') },
  { value: 'accounts', name: 'Accounts and terms', types: [...verbs('iam.account_associations', 'created', 'updated', 'deleted'), ...verbs('iam.terms', 'accepted')] },
];

/** Returns the name that a type has as a value of the enum of kinds, by which events are filtered: there, kinds are in the singular. */
export const kindOf = (type: string) =>
  type.replace(/^platform\./, '').replace('rolebindings', 'role_bindings').replace(/^iam\.(?!terms)(\w+)s\./, 'iam.$1.').toUpperCase().replaceAll('.', '_') as EventKind;

const kinds: Record<string, string> = {
  group_invite: 'Invite', identity_providers: 'Identity provider', external_group_role_mappings: 'External group', roles: 'Role', rolebindings: 'Binding', account_associations: 'Account', subscription: 'Webhook',
};

/** Removes the prefix and the version from a type, if it has them. */
export const shortType = (type: string) => type.replace(/^.*?\.api\./, '').replace(/\.v\d+$/, '');

/** Returns a type in words, such as "Repo created". */
export function typeName(type: string): string {
  const parts = shortType(type).split('.'), at = parts.findIndex((part) => /^(created|updated|deleted|test|disabled|redelivered|accepted|opened|resolved|changed|triaged|due_policy_set|confirmed|expired|failed|recovered|issuer_\w+)$/.test(part));
  if (at < 1) return type;
  const kind = parts[at - 1], name = kinds[kind] ?? kind.charAt(0).toUpperCase() + kind.slice(1);
  return [name, ...parts.slice(at)].join(' ').replace('created batch', 'created in a batch').replace('deleted batch', 'deleted in a batch').replace(' test', ' tested').replaceAll('_', ' ');
}
