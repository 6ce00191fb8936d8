// This suite checks the schema that clients read: it is valid, everything has a description, and it is available as a file.

import assert from 'node:assert/strict';
import { buildSchema, GraphQLSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType, lexicographicSortSchema, printSchema, validateSchema } from 'graphql';
import { check, clientSchema, endpoint, finish, headers } from '../lib.mjs';

let schema;

await check('the full introspection query returns a valid schema', async () => {
  schema = await clientSchema();
  assert.deepEqual(validateSchema(schema).map(({ message }) => message), []);
  return `${Object.keys(schema.getTypeMap()).length} types`;
});

await check('every type, field, argument and enum value has a description', () => {
  const bare = [];
  const see = (path, { description }) => { if (!description?.trim()) bare.push(path); };
  for (const type of Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))) { // These types belong to GraphQL itself.
    see(type.name, type);
    if (isEnumType(type)) for (const value of type.getValues()) see(`${type.name}.${value.name}`, value);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      see(`${type.name}.${field.name}`, field);
      for (const argument of field.args ?? []) see(`${type.name}.${field.name}(${argument.name})`, argument);
    }
  }
  assert.deepEqual(bare, []);
});

await check('the public schema can be read with a token', async () => {
  assert.equal((await fetch(endpoint + '/schema')).status, 401);
  const response = await fetch(endpoint + '/schema', { headers });
  assert.equal(response.status, 200);
  const text = await response.text();
  assert.ok(buildSchema(text, { assumeValidSDL: true }).getType('Repo'));
  assert.doesNotMatch(text, /@go[A-Z]/, 'directives for the Go generator');
  // Introspection cannot show which elements have a directive, so it does not name those that only say something of elements.
  const printed = (one) => printSchema(lexicographicSortSchema(new GraphQLSchema({ ...one.toConfig(), directives: one.getDirectives().filter(({ name }) => !['semanticNonNull', 'tag'].includes(name)) }))).split('\n');
  assert.deepEqual(printed(schema), printed(buildSchema(text, { assumeValidSDL: true })), 'introspection shows the published schema');
});
finish();
