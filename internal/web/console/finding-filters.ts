// This file reads the filters that a reader types into the field above a list of findings: severity:high epss:>0.5 qs.

import type { FindingFilter, FindingState, PackageScope, SeverityRating } from './generated/graphql';
import { beginOf, ratings } from './words';

export interface Typed { filter: FindingFilter; words: string; faults: string[] }
interface Key { takes: string; read: (value: string) => FindingFilter | undefined }

const stateOf: Record<string, FindingState[]> = { open: ['OPEN', 'IN_TRIAGE'], triage: ['IN_TRIAGE'], accepted: ['ACCEPTED'], 'not-affected': ['NOT_AFFECTED'], resolved: ['RESOLVED'] };
const is: Record<string, FindingFilter> = {
  ...Object.fromEntries(Object.entries(stateOf).map(([name, states]) => [name, { states }])),
  fixable: { fixable: true }, unfixable: { fixable: false }, exploited: { knownExploited: true }, direct: { direct: true }, indirect: { direct: false }, assigned: { assigned: true }, unassigned: { assigned: false }, mine: { assignedToMe: true },
};
const scopes: PackageScope[] = ['REQUIRED', 'OPTIONAL', 'DEVELOPMENT'];

/** Reads one of the names of an enum. */
const among = <Name extends string>(names: readonly Name[], field: keyof FindingFilter): Key => ({
  takes: names.map((name) => name.toLowerCase()).join(', '),
  read: (value) => { const name = names.find((one) => one === value.toUpperCase()); return name && { [field]: [name] }; },
});
const text = (field: keyof FindingFilter, takes: string): Key => ({ takes, read: (value) => ({ [field]: [value] }) });
/** Reads a number after >= or >. The server has only “at least”, so what is above a number begins a little after it. */
const least = (field: keyof FindingFilter, most: number): Key => ({
  takes: `>= or > and a number up to ${most}, such as >=${most / 2}`,
  read: (value) => { const [, sign, digits] = value.match(/^(>=?)(\d+(?:\.\d+)?)$/) ?? [], number = Number(digits) + (sign === '>' ? 1e-6 : 0); return number <= most ? { [field]: number } : undefined; },
});
/** Reads a day after which, or before which. */
const day = (after: keyof FindingFilter | undefined, before: keyof FindingFilter): Key => ({
  takes: after ? 'a day with > or <, such as >2026-11-30' : 'a day with <, such as <2026-11-30',
  read: (value) => { const field = { '>': after, '<': before }[value[0]], begin = beginOf(value.slice(1)); return field && begin ? { [field]: begin } : undefined; },
});

const keys: Record<string, Key> = {
  is: { takes: Object.keys(is).join(', '), read: (value) => is[value.toLowerCase()] },
  severity: among<SeverityRating>(ratings, 'severities'), epss: least('minEpss', 1), score: least('minScore', 10),
  id: text('vulnerabilityIds', 'the id of an advisory'), package: text('packages', 'the name of a package'), ecosystem: text('ecosystems', 'an ecosystem, such as npm'), tag: text('tagNames', 'the name of a tag'),
  scope: among(scopes, 'scopes'), seen: day('firstSeenSince', 'firstSeenBefore'), due: day(undefined, 'dueBefore'), until: day(undefined, 'expireBefore'),
};

// These names look like filters, and what they would ask for is chosen elsewhere.
const elsewhere: Record<string, string> = {
  repo: 'Open the page of the repo: it has its findings.', group: 'Open the page of the group: it has its findings.', image: 'Open the page of the image: it has its findings.',
  state: 'Use “is:”, such as is:accepted.', assignee: 'Use is:mine or is:assigned, or choose a person beside the severities.', cve: 'Use “id:”.',
};

/** Each filter with the values that it takes. */
export const filterHelp: [string, string][] = Object.entries(keys).map(([name, { takes }]) => [name, takes]);

/** Reads what was typed. A list, such as severity:high,critical, means any of its values, and so does such a filter that is there twice; what has no known name before its colon is a word to find. */
export function readFilters(typed: string): Typed {
  const filter: Record<string, unknown> = {}, words: string[] = [], faults: string[] = [];
  for (const token of typed.split(/\s+/).filter(Boolean)) {
    const [, name, values = ''] = token.match(/^(\w+):(.*)$/) ?? [], key = Object.hasOwn(keys, name?.toLowerCase() ?? '') ? keys[name.toLowerCase()] : undefined;
    if (!key && name && Object.hasOwn(elsewhere, name.toLowerCase())) faults.push(`There is no filter “${name}:”. ${elsewhere[name.toLowerCase()]}`);
    else if (!key) words.push(token);
    else if (!values.replaceAll(',', '')) faults.push(`“${name}:” needs a value: ${key.takes}.`);
    else for (const value of values.split(',').filter(Boolean)) {
      const read = key.read(value);
      if (!read) faults.push(`“${value}” does not fit “${name}:”, which takes ${key.takes}.`);
      for (const [field, one] of Object.entries(read ?? {})) {
        if (Array.isArray(one)) filter[field] = [...new Set([...filter[field] as string[] ?? [], ...one])];
        else if (field in filter && filter[field] !== one) faults.push(`“${name}:${value}” contradicts a filter before it. Keep one of the two.`);
        else filter[field] = one;
      }
    }
  }
  return { filter, words: words.join(' '), faults };
}
