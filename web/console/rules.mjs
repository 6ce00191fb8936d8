// Reads from the schema what a change takes: the fields of its input with their rules, and the capabilities that it needs.
// The descriptions state the rules, in sentences of a few forms. A number that is in none of them is an error: it is a rule
// that the forms of the console would not know.

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

/** The rules that a description states. */
export function readRules(description, place) {
  const rules = {};
  let rest = description;
  for (const [pattern, rule] of sentences) {
    const found = rest.match(pattern);
    if (!found) continue;
    Object.assign(rules, rule(...found.slice(1)));
    rest = rest.replace(found[0], '');
  }
  if (/\b\d/.test(rest)) throw new Error(`${place}: rules.mjs does not understand the number in ${JSON.stringify(rest)}`);
  return rules;
}

const scalars = { ID: 'text', String: 'text', Boolean: 'yes', Duration: 'duration', DateTime: 'time', StringMap: 'pairs' };

function fieldOf(field, place) {
  const inner = getNullableType(field.type), named = getNamedType(inner);
  if (isListType(inner) && isInputObjectType(named)) return;
  return {
    type: isListType(inner) ? 'list' : isEnumType(named) ? 'choice' : scalars[named.name] ?? 'text',
    ...(isNonNullType(field.type) && { required: true }),
    about: /^One line of at most \d+ characters\.$/.test(field.description) ? '' : field.description, // which the form says once it is too long
    ...readRules(field.description, place),
    ...(isEnumType(named) && { values: Object.fromEntries(named.getValues().map(({ name, description }) => [name, description])) }),
  };
}

/** The fields of an input by their names; those of an input in it by both names, with a dot between them. */
function fieldsOf(input, prefix = '') {
  const fields = {};
  for (const field of Object.values(input.getFields())) {
    const place = prefix + field.name, inner = getNullableType(field.type);
    if (place === 'updateMask') continue; // a form sends the fields that differ
    if (isInputObjectType(inner)) Object.assign(fields, fieldsOf(inner, place + '.'));
    else fields[place] = fieldOf(field, `${input.name}.${field.name}`);
  }
  return fields;
}

/** What a mutation takes and needs. What the input of an update says less about is as in that of the creation. */
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
