// This program writes what the package takes from the contract of the server: the types of REST from the OpenAPI document, those of GraphQL
// from the schema, and the schema itself, as clients see it. None of it is committed. `npm run build` runs it.

import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import { buildSchema, parse, print, visit } from 'graphql';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import openapi, { astToString } from 'openapi-typescript';

const here = new URL('.', import.meta.url), root = new URL(process.env.ATRIUM_REPOSITORY ?? '../../', here);
for (const folder of ['dist', 'src/generated']) {
  rmSync(new URL(folder, here), { recursive: true, force: true });
  mkdirSync(new URL(folder, here), { recursive: true });
}
const write = (name, text) => writeFileSync(new URL(name, here), text);
const head = '// Written by generate.mjs. Do not edit.\n\n';

const document = JSON.parse(gunzipSync(readFileSync(new URL('internal/rest/openapi.json.gz', root))));
write('src/generated/rest.ts', head + astToString(await openapi(document)));

// Clients do not see the directives of federation.
const federation = 'directive @link(url: String!, import: [String!]) repeatable on SCHEMA directive @key(fields: String!) repeatable on OBJECT | INTERFACE directive @shareable on OBJECT | FIELD_DEFINITION ' +
  'schema { query: Query mutation: Mutation subscription: Subscription }';
const folder = new URL('schema/', root);
const sdl = readdirSync(folder).filter((name) => name.endsWith('.graphqls')).map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
const schema = buildSchema(federation + sdl, { assumeValidSDL: true });
const types = await codegen({
  filename: 'graph.ts', schema: parse(federation + sdl, { noLocation: true }), schemaAst: schema, documents: [],
  config: {
    enumsAsTypes: true, skipTypename: true, strictScalars: true,
    scalars: { DateTime: 'string', UID: 'string', Duration: 'string', Base64: 'string', ByteCount: 'number', Int64: { input: 'string | number', output: 'string' }, StringMap: 'Record<string, string>', JSON: 'unknown', PathSegment: 'string | number' },
  },
  plugins: [{ typescript: {} }], pluginMap: { typescript },
});
write('src/generated/graph.ts', head + types);
// The text has @semanticNonNull where the server says it, also by rule (internal/graphql/analysis/nullability.go). The suite
// typescript-client compares it with the text of the server.
const isNullable = ({ kind }) => kind !== 'NonNullType';
const nameOf = (type) => type.type ? nameOf(type.type) : type.name.value;
const nonNull = parse('type T { f: Int @semanticNonNull }', { noLocation: true }).definitions[0].fields[0].directives[0];
const forClients = visit(parse(sdl, { noLocation: true }), {
  SchemaExtension: () => null,
  Directive: ({ name }) => (['key', 'shareable'].includes(name.value) ? null : undefined),
  FieldDefinition: {
    leave(field, _key, _parent, _path, ancestors) {
      const owner = ancestors.at(-1), said = field.directives.find(({ name }) => name.value === 'semanticNonNull');
      const isObject = owner.kind === 'ObjectTypeDefinition' || owner.kind === 'ObjectTypeExtension';
      const others = field.directives.filter((one) => one !== said);
      if (!isObject || said?.arguments[0]?.value.values?.length === 0) return { ...field, directives: others };
      const isRule = isNullable(field.type) && (['Query', 'Mutation', 'Subscription'].includes(owner.name.value) || /(Connection|Facets|Summary)$/.test(nameOf(field.type)));
      return said || !isRule ? undefined : { ...field, directives: [...others, nonNull] };
    },
  },
});
// As the server writes it. Older readers do not know it by themselves.
const tag = `"Names a property of a field: experimental, if it may change in any release, with all that only it leads to."
directive @tag("The property." name: String!) repeatable on FIELD_DEFINITION\n\n`;
buildSchema(tag + print(forClients)); // fails if something is missing
write('dist/schema.graphql', tag + print(forClients) + '\n');
copyFileSync(new URL('LICENSE', root), new URL('LICENSE', here));
