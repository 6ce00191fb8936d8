// This file formats numbers, times and names for people.

import type { HappeningFragment, SeverityRating } from './generated/graphql';

const number = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const utcDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const longDay = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
export const longDayOf = (time: string) => longDay.format(new Date(time));
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' });

export const count = (n: number) => number.format(n);
export const compact = (n: number) => (n < 10_000 ? number.format(n) : short.format(n));
export const plural = (n: number, one: string, many = one + 's') => `${number.format(n)} ${n === 1 ? one : many}`;
export const dayOf = (time: string) => day.format(new Date(time));
/** Formats the day of an interval that the server counted: its days begin at midnight UTC. */
export const utcDayOf = (time: string) => `${utcDay.format(new Date(time))} UTC`;
export const formatTime = (time: string) => exact.format(new Date(time));

const units = [['minute', 60], ['hour', 3600], ['day', 86_400]] as const;

/** Says how long ago a time was, or how soon it will be. A time more than 30 days away is shown as a date. */
export function formatRelativeTime(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000, distance = Math.abs(seconds);
  if (distance < 45) return 'a moment ago';
  if (distance > 30 * 86_400) return dayOf(time);
  const [unit, length] = units.findLast(([, length]) => distance >= length * 0.75) ?? units[0];
  return relative.format(Math.round(seconds / length), unit);
}

/** Returns a text in the form in which searches compare texts: without differences in case and in how characters are encoded. */
export const fold = (text: string) => text.normalize('NFD').toLowerCase().toUpperCase().replaceAll('I\u0307', 'I').normalize('NFC');

/** Formats a number of bytes in the units that registries show. */
export function bytes(n: number): string {
  const names = ['B', 'KB', 'MB', 'GB', 'TB'];
  let i = 0;
  while (n >= 1000 && i < names.length - 1) { n /= 1000; i++; }
  return `${n >= 100 || i === 0 ? Math.round(n) : n.toFixed(1)} ${names[i]}`;
}

/** Returns the name of a constant as text: FIX_NOT_PLANNED becomes "Fix not planned". */
export const sentence = (name: string) => name.charAt(0) + name.slice(1).toLowerCase().replaceAll('_', ' ');

const acronyms: Record<string, string> = { AI: 'AI', FIPS: 'FIPS', DEVTOOLS: 'Developer tools' };
export const tierName = (tier: string | null) => (tier === null ? 'No tier' : acronyms[tier] ?? sentence(tier));

export const ratings: SeverityRating[] = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'NONE', 'UNKNOWN'];

const kinds: [RegExp, string][] = [
  [/^IAM_GROUP_INVITE/, 'invite'], [/^IAM_GROUP_ISSUER/, 'issuer of'], [/^IAM_GROUP/, 'group'], [/^IAM_IDENTITY_PROVIDERS/, 'identity provider'], [/^IAM_IDENTITY/, 'identity'],
  [/^IAM_ROLEBINDINGS/, 'role binding'], [/^IAM_ROLES/, 'role'], [/^IAM_ACCOUNT/, 'account association'], [/^IAM_EXTERNAL/, 'mapping of an external group'], [/^IAM_TERMS/, 'terms of'],
  [/^PLATFORM_REGISTRY_REPO/, 'repo'], [/^PLATFORM_REGISTRY_TAG/, 'tag'], [/^EVENTS_SUBSCRIPTION/, 'webhook'], [/^VULNERABILITIES_FINDING/, 'findings'],
];

/** Returns what happened as the parts of a sentence: somebody "created" "the repo" "checkout". A body has the name of what is gone. */
export function tellEvent(event: HappeningFragment, body?: unknown): { verb: string; kind: string; name: string } {
  const known = event.kind ?? '', findings = known.startsWith('VULNERABILITIES_FINDING');
  const kind = findings ? 'findings of' : `the ${kinds.find(([pattern]) => pattern.test(known))?.[1] ?? event.type}`;
  let verb = known.replace(/_BATCH$/, '').match(/[A-Z]+$/)?.[0].toLowerCase() ?? 'changed';
  if (verb === 'test') verb = 'tested';
  if (verb === 'triaged') verb = 'decided about';
  return { verb: event.denied !== null ? verbs[verb] ?? verb : verb, kind, name: shorten(nameOfResource(event) || nameInBody(body)) };
}

/** Returns several events of the same kind in words, such as "tags". */
export const manyOf = ({ kind, type }: HappeningFragment): string => {
  const one = kinds.find(([pattern]) => pattern.test(kind ?? ''))?.[1].replace(/ of$/, '') ?? type;
  return one === 'findings' ? 'findings' : one === 'identity' ? 'identities' : one.endsWith('y') ? one.slice(0, -1) + 'ies' : one.includes(' of ') ? one.replace(' of ', 's of ') : one + 's';
};

/** Returns the name of a resource in the record of a change, which outlives the resource. */
function nameInBody(body: unknown): string {
  const { name, repoName, email, sink, externalGroupId, keyId, role, identity } = (body ?? {}) as Record<string, unknown>;
  if (role && identity) return [nameInBody(role), nameInBody(identity)].filter(Boolean).join(' for ');
  const found = name ?? repoName ?? email ?? sink ?? externalGroupId ?? keyId;
  return typeof found === 'string' ? found.replace(/^https:\/\//, '') : '';
}

/** Shortens the digests in a name. The name of a tag that refers to an image contains the whole digest of the image. */
export const shorten = (name: string) => name.replace(/([0-9a-f]{12})[0-9a-f]{28,}/g, '$1…');

const verbs: Record<string, string> = { created: 'create', updated: 'update', deleted: 'delete', tested: 'test', redelivered: 'redeliver to', accepted: 'accept', 'decided about': 'decide about', changed: 'change' };

function nameOfResource({ resource }: HappeningFragment): string {
  switch (resource?.__typename) {
    case 'Tag': return resource.repo ? `${resource.repo.name}:${resource.name}` : resource.name;
    case 'RoleBinding': return [resource.role?.name, resource.identity?.name].filter(Boolean).join(' for ');
    case 'EventSubscription': return resource.sink.replace(/^https:\/\//, '');
    case 'GroupInvite': return resource.email ?? resource.keyId;
    case undefined: return '';
    default: return 'name' in resource! ? resource.name : '';
  }
}

export const actorOf = ({ actor }: Pick<HappeningFragment, 'actor'>): string =>
  actor.identity?.name ?? (actor.act as Record<string, string> | null)?.email ?? (/^[0-9a-f/]{40,}$/.test(actor.subject) ? 'an identity that no longer exists' : actor.subject);
