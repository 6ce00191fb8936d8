// This suite has clients of other languages read the schema: graphql-core of Python, graphql-ruby, and gqlclient of Go. They check
// what the reference in JavaScript does not, such as the locations of directives, and do not know all of today's GraphQL.

import assert from 'node:assert/strict';
import { getIntrospectionQuery } from 'graphql';
import { check, endpoint, finish, headers, run, temporary, temporaryFolder } from '../lib.mjs';

const folder = temporaryFolder();
const must = async (program, ...args) => {
  const { code, text, out } = await run(program, args, {}, folder);
  assert.equal(code, 0, text.slice(-900));
  return out.trim();
};
/** Returns the first program that can do something. */
const pick = async (programs, ...args) => {
  for (const program of programs) if ((await run(program, args, {}, folder).catch(() => ({}))).code === 0) return program;
  assert.fail(`none of ${programs} can run ${args.at(-1)}`);
};

const files = [];
await check('the schema and that of each domain are read by introspection, as newer and as older clients do', async () => {
  const newer = getIntrospectionQuery({ specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true, oneOf: true });
  for (const domain of ['', 'iam', 'registry', 'vulnerabilities', 'advisory', 'libraries', 'events']) {
    for (const [age, query] of Object.entries({ newer, older: getIntrospectionQuery() })) {
      const response = await fetch(`${endpoint}${domain && '/'}${domain}`, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify({ query }) });
      const text = await response.text();
      assert.equal(response.status, 200, text.slice(0, 300));
      assert.doesNotMatch(text, /"errors":/);
      files.push(temporary(`${domain || 'whole'}-${age}.json`, text));
    }
  }
  const response = await fetch(endpoint + '/schema', { headers });
  assert.equal(response.status, 200);
  temporary('schema.graphql', await response.text());
  return `${files.length} answers`;
});

// Version 2 of graphql-core does not read descriptions, and so no text of a schema.
temporary('read.py', `
import json, sys
import graphql
if hasattr(graphql, "build_client_schema"):
    version, read = graphql.version, lambda data: len(graphql.build_client_schema(data).type_map)
    print(version, "text", len(graphql.build_schema(open("schema.graphql").read()).type_map))
else:
    from graphql.utils.build_client_schema import build_client_schema
    version, read = graphql.__version__, lambda data: len(build_client_schema(data).get_type_map())
for name in sys.argv[1:]:
    print(version, name.rsplit("/")[-1], read(json.load(open(name))["data"]))
`);
await check('graphql-core (Python) reads them', async () => {
  const python = await pick(['python3', '/usr/bin/python3'], '-c', 'import graphql');
  return (await must(python, 'read.py', ...files)).split('\n')[0];
}, 60);

temporary('read.rb', `
require "graphql"; require "json"
puts GraphQL::VERSION + " text " + GraphQL::Schema.from_definition(File.read("schema.graphql")).types.size.to_s
ARGV.each { |name| GraphQL::Schema.from_introspection(JSON.parse(File.read(name))).types.size > 50 or raise name }
`);
await check('graphql-ruby reads them', async () => must(await pick(['ruby', '/usr/bin/ruby'], '-e', 'require "graphql"'), 'read.rb', ...files), 60);

await check('gqlclient (Go) reads the schema by introspection, and generates code from its text', async () => {
  temporary('operation.graphql', 'query repos($where: RepoFilter, $group: UID!) { repos(first: 2, where: $where) { nodes { uid createTime } } group(uid: $group) { id } }\n');
  temporary('read.graphql', await must('gqlintrospect', '-H', 'Authorization:' + headers.Authorization, endpoint));
  for (const schema of ['read.graphql', 'schema.graphql']) {
    await must('gqlclientgen', '-s', schema, '-q', 'operation.graphql', '-o', 'generated.go', '-n', 'generated');
  }
}, 60);
finish();
