// This program writes generated/graphql.ts, generated/documents.json and generated/changes.ts from the documents of the pages and
// the schema of the server. The last one has the rules of the changes, for the forms (rules.mjs). The text of each document is
// exactly what urql sends, so that a server that executes only trusted documents accepts it. build.sh runs it before it bundles.
// It writes a file only if its content has changed.

import { codegen } from '@graphql-codegen/core';
import * as operations from '@graphql-codegen/typescript-operations';
import { formatDocument, stringifyDocument } from '@urql/core';
import { buildSchema, Kind, parse, validate, visit } from 'graphql';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { changeOf } from './rules.mjs';

const here = new URL('.', import.meta.url);
const schemaFolder = new URL('../../../schema/', here);
// Clients do not see the directives of federation.
const federation = 'directive @link(url: String!, import: [String!]) repeatable on SCHEMA directive @key(fields: String!) repeatable on OBJECT | INTERFACE directive @shareable on OBJECT | FIELD_DEFINITION ' +
  'schema { query: Query mutation: Mutation subscription: Subscription }';
const sdl = readdirSync(schemaFolder).filter((name) => name.endsWith('.graphqls')).map((name) => readFileSync(new URL(name, schemaFolder), 'utf8')).join('\n');
const schema = buildSchema(federation + sdl, { assumeValidSDL: true });

const folder = new URL('pages/', here);
const source = readdirSync(folder).filter((name) => name.endsWith('.graphql')).sort().map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
const document = parse(source, { noLocation: true });
const faults = validate(schema, document).filter(({ message }) => !message.includes('is never used'));
if (faults.length > 0) throw new Error(faults.map(({ message }) => message).join('\n'));

const fragments = new Map(document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).map((one) => [one.name.value, one]));

/** Returns all fragments that a definition needs, directly or through other fragments, sorted by name. */
function neededFragments(definition, found = new Set()) {
  visit(definition, {
    FragmentSpread({ name: { value } }) {
      if (found.has(value)) return;
      found.add(value);
      neededFragments(fragments.get(value), found);
    },
  });
  return [...found].sort().map((name) => fragments.get(name));
}

const named = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).map((definition) => ({
  name: definition.name.value,
  operation: definition.operation,
  field: definition.selectionSet.selections[0].name?.value,
  text: stringifyDocument(formatDocument({ kind: Kind.DOCUMENT, definitions: [definition, ...neededFragments(definition)] })),
})).sort((a, b) => (a.name < b.name ? -1 : 1));

const types = await codegen({
  filename: 'graphql.ts', schema: parse(federation + sdl, { noLocation: true }), schemaAst: schema,
  documents: [{ location: 'pages', document: visit(document, {}) }],
  config: {
    useTypeImports: true, skipTypename: false, nonOptionalTypename: true, enumsAsTypes: true, strictScalars: true, skipDocumentsValidation: true,
    scalars: { DateTime: 'string', UID: 'string', Duration: 'string', Base64: 'string', ByteCount: 'number', Int64: { input: 'string | number', output: 'string' }, StringMap: 'Record<string, string>', JSON: 'unknown', PathSegment: 'string | number' },
  },
  plugins: [{ operations: {} }], pluginMap: { operations },
});
const suffix = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' };
const constants = named.map(({ name, operation, text }) =>
  `export const ${name} = ${JSON.stringify(text)} as unknown as TypedDocument<${name}${suffix[operation]}, ${name}${suffix[operation]}Variables>;`);

const typesOfDocuments = `/** The text of a document, which knows the types of its answer and of its variables. */
export type TypedDocument<Data, Variables> = string & { __apiType?: (variables: Variables) => Data };\n`;
const manifest = Object.fromEntries(named.map(({ text }) => [createHash('sha256').update(text).digest('hex'), text]));
const changes = Object.fromEntries(named.filter(({ operation }) => operation === 'mutation').map(({ name, field }) => [name, changeOf(schema, field)]));
const typesOfChanges = `/** What a field of an input takes, as the schema describes it. */
export interface Rule {
  type: 'text' | 'choice' | 'list' | 'yes' | 'duration' | 'time' | 'pairs';
  required?: boolean; about: string; pattern?: string; words?: string; values?: Record<string, string>;
  least?: number; most?: number; mostBytes?: number; leastItems?: number; mostItems?: number; leastSeconds?: number; mostSeconds?: number;
}
/** What a change needs, and what its input takes. */
export interface Change { needs: string[]; fields: Record<string, Rule> }\n`;
const files = {
  'changes.ts': `// Written by generate.mjs. Do not edit.\n\n${typesOfChanges}\nexport const changes: Record<string, Change> = ${JSON.stringify(changes, null, 1)};\n`,
  'graphql.ts': `// Written by generate.mjs. Do not edit.\n\n${types}\n${typesOfDocuments}\n${constants.join('\n')}\n`,
  'documents.json': JSON.stringify(manifest, null, 1) + '\n',
};
files['documents.json.gz'] = files['documents.json']; // what the server embeds
const readGenerated = (path) => (path.pathname.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path)).toString();
for (const [name, content] of Object.entries(files)) {
  const path = new URL('generated/' + name, here);
  if (existsSync(path) && readGenerated(path) === content) continue;
  if (process.argv.includes('--check')) throw new Error(`internal/web/console/generated/${name} is not that of the documents and the schema: run node console/generate.mjs in web/`);
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(content, { level: 9 }) : content);
}
