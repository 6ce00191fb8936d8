// This file reads from the schema what a change accepts and needs: the fields of its input with their rules, and its capabilities.
// The descriptions state the rules in sentences of a few forms. A number outside these forms is an error: it would be a rule that
// the forms of the console do not know.

import { getNamedType, getNullableType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql';

const ociName = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*)*';
const characters = { 'lower-case letters': 'a-z', digits: '0-9', space: ' ' };

const sentences = [
  [/(\d+) to (\d+) of ((?:`[^`]*`|[^;.`])+)/, (least, most, set) => ({ least: +least, most: +most, pattern: `[${set.split(/, | and /).map((one) => characters[one] ?? escape(one)).join('')}]*`, words: set.replaceAll('`', '') })],
  [/OCI repository name/, () => ({ pattern: ociName, words: 'lower-case letters and digits, with dots, hyphens and underscores between them, and slashes between parts' })],
  [/at most (\d+) of at most (\d+) characters each/, (items, most) => ({ mostItems: +items, most: +most })],
  [/at most (\d+) characters/, (most) => ({ most: +most })],
  [/at most (\d+) bytes/, (most) => ({ mostBytes: +most })],
  [/at most (\d+) KiB/, (most) => ({ mostBytes: most * 1024 })],
  [/(\d+) seconds? to (\d+) days/, (least, most) => ({ leastSeconds: +least, mostSeconds: most * 86_400 })],
  [/(\d+) to (\d+)/, (least, most) => ({ leastItems: +least, mostItems: +most })],
  [/at most (\d+)/, (most) => ({ mostItems: +most })],
];

const escape = (one) => one.replaceAll('`', '').replace(/[\\\]^-]/, '\\$&');

/** Returns the rules that a description states. */
export function readRules(description, place) {
  const rules = {};
  let rest = description.replace(/(\d),(?=\d{3})/g, '$1');
  for (const [pattern, rule] of sentences) {
    const found = rest.match(pattern);
    if (!found) continue;
    Object.assign(rules, rule(...found.slice(1)));
    rest = rest.replace(found[0], '');
  }
  if (/\b\d/.test(rest)) throw new Error(`${place}: rules.mjs does not understand the number in ${JSON.stringify(rest)}`);
  return rules;
}

const scalars = { ID: 'text', UID: 'text', String: 'text', Boolean: 'yes', Duration: 'duration', DateTime: 'time', StringMap: 'pairs' };

function fieldOf(field, place) {
  const inner = getNullableType(field.type), named = getNamedType(inner);
  return {
    type: isListType(inner) ? 'list' : isEnumType(named) ? 'choice' : scalars[named.name] ?? 'text',
    ...(isNonNullType(field.type) && { required: true }),
    about: /^One line of at most \d+ characters\.$/.test(field.description) ? '' : field.description, // The form says this when the text is too long.
    ...readRules(field.description, place),
    ...(isEnumType(named) && { values: Object.fromEntries(named.getValues().map(({ name, description }) => [name, description])) }),
  };
}

/** Returns the fields of an input by their names. A field of a nested input has both names, with a dot between them. */
function fieldsOf(input, prefix = '') {
  const fields = {};
  for (const field of Object.values(input.getFields())) {
    const place = prefix + field.name, inner = getNullableType(field.type);
    if (['updateMask', 'where'].includes(place)) continue; // A form sends the fields that differ, so it needs no mask; and no form has a filter.
    if (isListType(inner) && isInputObjectType(getNamedType(inner))) continue; // No form has a list of objects.
    if (isInputObjectType(inner)) Object.assign(fields, fieldsOf(inner, place + '.'));
    else fields[place] = fieldOf(field, `${input.name}.${field.name}`);
  }
  return fields;
}

/** Returns what a mutation accepts and needs. If the input of an update leaves out a rule, the rule of the creation applies. */
export function changeOf(schema, mutation) {
  const { args, description } = schema.getMutationType().getFields()[mutation], input = getNullableType(args[0].type);
  const fields = fieldsOf(input), creation = schema.getType(input.name.replace(/^Update/, 'Create'));
  if (creation && creation !== input) {
    const first = fieldsOf(creation);
    for (const [name, { about, ...field }] of Object.entries(fields)) if (first[name]) fields[name] = { ...field, about, ...first[name] };
  }
  const capabilities = new Set(schema.getType('Capability').getValues().map(({ name }) => name));
  const needs = (description.match(/Needs [^]*?(?:\.\s|\.$)/g) ?? []).join(' ').match(/[a-z_]+(?:\.[a-z_]+)+/g) ?? [];
  return { needs: [...new Set(needs)].filter((name) => capabilities.has(name.toUpperCase().replaceAll('.', '_'))), fields };
}
