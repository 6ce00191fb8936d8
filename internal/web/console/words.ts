// This file formats numbers, times and names for people.

import type { HappeningFragment, SeverityRating } from './generated/graphql';
import { currentPreferences } from './preferences';

const dayParts = { day: 'numeric', month: 'short', year: 'numeric' } as const;
/** Makes the formats of the language and the time zone that the reader prefers. */
function makeFormats(language: string, timeZone?: string) {
  return {
    number: new Intl.NumberFormat(language), short: new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 }),
    day: new Intl.DateTimeFormat(language, { ...dayParts, timeZone }), utcDay: new Intl.DateTimeFormat(language, { ...dayParts, timeZone: 'UTC' }),
    longDay: new Intl.DateTimeFormat(language, { ...dayParts, weekday: 'long', month: 'long', timeZone }),
    exact: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium', timeZone }),
    relative: new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'long' }),
  };
}
let made: { for: string; formats: ReturnType<typeof makeFormats> } | undefined;
function formats() {
  const { language, zone } = currentPreferences(), wanted = `${language} ${zone}`;
  if (made?.for !== wanted) made = { for: wanted, formats: makeFormats(language || 'en', zone || undefined) };
  return made.formats;
}

export const longDayOf = (time: string) => formats().longDay.format(new Date(time));
export const count = (n: number) => formats().number.format(n);
export const compact = (n: number) => (n < 10_000 ? formats().number.format(n) : formats().short.format(n));
export const plural = (n: number, one: string, many = one + 's') => `${formats().number.format(n)} ${n === 1 ? one : many}`;
export const dayOf = (time: string) => formats().day.format(new Date(time));
/** Formats the day of an interval that the server counted: its days begin at midnight UTC. */
export const utcDayOf = (time: string) => `${formats().utcDay.format(new Date(time))} UTC`;
export const formatTime = (time: string) => formats().exact.format(new Date(time)) + (currentPreferences().zone === 'UTC' ? ' UTC' : '');

const isUTC = () => currentPreferences().zone === 'UTC';
/** Names the time zone in which the reader reads and writes times. */
export const zoneName = () => (isUTC() ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone);
/** Formats a time at which something ends, with the name of its zone. */
export const formatEnd = (time: string) => formatTime(time) + (isUTC() ? '' : ` (${zoneName()})`);
/** Returns a time as a field for times has it, in the zone of the reader: 2026-11-27T17:30:00. */
export const fieldOfTime = (time: number) => new Date(isUTC() ? time : time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
/** Returns the time that the reader means by the text of such a field. */
export const timeOfField = (text: string) => new Date(text + (isUTC() ? 'Z' : ''));
/** Returns the day of a time as a date field has it: 2026-11-27. */
export const dateOf = (time: number) => fieldOfTime(time).slice(0, 10);
/** Returns when a day of a date field begins for the reader, or the day some days later. A text that is no day has no beginning. */
export function beginOf(day: string, later = 0): string | undefined {
  const begin = new Date(`${day}T00:00${isUTC() ? 'Z' : ''}`);
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(begin.getTime())) return undefined;
  if (isUTC()) begin.setUTCDate(begin.getUTCDate() + later); else begin.setDate(begin.getDate() + later);
  return begin.toISOString();
}

const units = [['minute', 60], ['hour', 3600], ['day', 86_400]] as const;

/** Says how long ago a time was, or how soon it will be. A time more than 30 days away is shown as a date. */
export function formatRelativeTime(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000, distance = Math.abs(seconds);
  if (distance < 45) return currentPreferences().language ? formats().relative.format(0, 'second') : 'a moment ago';
  if (distance > 30 * 86_400) return dayOf(time);
  const [unit, length] = units.findLast(([, length]) => distance >= length * 0.75) ?? units[0];
  return formats().relative.format(Math.round(seconds / length), unit);
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
  [/^IAM_GROUP_INVITE/, 'invite'], [/^IAM_GROUP_ISSUER/, 'issuer of'], [/^IAM_GROUP/, 'group'], [/^IAM_IDENTITY_PROVIDER/, 'identity provider'], [/^IAM_IDENTITY/, 'identity'],
  [/^IAM_ROLE_BINDING/, 'role binding'], [/^IAM_ROLE/, 'role'], [/^IAM_ACCOUNT/, 'account association'], [/^IAM_EXTERNAL/, 'mapping of an external group'], [/^IAM_TERMS/, 'terms of'],
  [/^REGISTRY_REPO/, 'repo'], [/^REGISTRY_TAG/, 'tag'], [/^EVENTS_SUBSCRIPTION/, 'webhook'], [/^SOURCES_SOURCE/, 'source'], [/^VULNERABILITIES_FINDING/, 'findings'],
];

/** Returns what happened as the parts of a sentence: somebody "created" "the repo" "checkout". A body has the name of what is gone. */
export function tellEvent(event: HappeningFragment, body?: unknown): { verb: string; kind: string; name: string } {
  const known = event.kind ?? '', findings = known.startsWith('VULNERABILITIES_FINDING');
  const kind = known === 'VULNERABILITIES_FINDING_DUE_POLICY_SET' ? 'the due dates of' : findings ? 'findings of' : `the ${kinds.find(([pattern]) => pattern.test(known))?.[1] ?? event.type}`;
  let verb = known.replace(/_BATCH$/, '').match(/[A-Z]+$/)?.[0].toLowerCase() ?? 'changed';
  if (verb === 'test') verb = 'tested';
  if (verb === 'triaged') verb = 'decided about';
  if (verb === 'failed') verb = 'could not read';
  if (verb === 'recovered') verb = 'could again read';
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

/** Returns what readers compare of a digest. */
export const shortDigest = (digest: string) => digest.replace('sha256:', '').slice(0, 12);

const verbs: Record<string, string> = { created: 'create', updated: 'update', deleted: 'delete', tested: 'test', redelivered: 'redeliver to', accepted: 'accept', 'decided about': 'decide about', confirmed: 'confirm', changed: 'change' };

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
