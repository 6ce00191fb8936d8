// This suite builds the package client/typescript, installs it in an empty project, compiles a program with it and runs the program against
// a server, which goes away and comes back.

import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buildSchema, lexicographicSortSchema, parse, printSchema, visit } from 'graphql';
import { check, finish, run, serveDemo, start, temporary, temporaryFolder, until } from '../lib.mjs';

const here = join(import.meta.dirname, '..'), source = join(here, '../client/typescript'), project = temporaryFolder();
const succeeds = async (program, args, cwd = project) => {
  const { code, text, out } = await run(program, args, {}, cwd);
  assert.equal(code, 0, text.slice(-900));
  return out.trim();
};

await check('the package is built and its own tests pass', async () => {
  await succeeds('npm', ['pack', '--silent', '--pack-destination', project], source);
  const text = await succeeds(process.execPath, ['--test', ...readdirSync(join(source, 'test')).filter((name) => name.endsWith('.test.mjs')).map((name) => `test/${name}`)], source);
  return `${text.match(/^. pass (\d+)$/m)?.[1]} tests`;
}, 150);
await check('it is installed in an empty project, and has types, the schema and the license', async () => {
  const [archive] = readdirSync(project).filter((name) => name.endsWith('.tgz'));
  temporary('package.json', '{"private": true, "type": "module"}');
  await succeeds('npm', ['install', '--silent', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', `./${archive}`]);
  const installed = readdirSync(join(project, 'node_modules/@atrium/client'));
  assert.deepEqual(installed.sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  assert.ok(readdirSync(join(project, 'node_modules/@atrium/client/dist')).includes('schema.graphql'));
  return readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.')).join(', ');
}, 60);
await check('a program compiles with it, and what the server forbids does not', async () => {
  copyFileSync(join(here, 'typescript/client.mts'), join(project, 'client.mts'));
  temporary('node.d.ts', "declare const process: { env: Record<string, string | undefined> };\ndeclare module 'node:assert/strict' { const assert: any; export default assert; }");
  temporary('tsconfig.json', JSON.stringify({ compilerOptions: { strict: true, noUncheckedIndexedAccess: true, target: 'es2022', module: 'nodenext', lib: ['es2023', 'dom'], types: [] }, files: ['client.mts', 'node.d.ts'] }));
  await succeeds(join(here, 'node_modules/.bin/tsc'), ['-p', '.']);
}, 150);

const demo = await serveDemo();
// This server is between the client and Atrium: it breaks off the first read before Atrium gets it, answers the second one as an overloaded proxy
// does, and breaks off the first change after Atrium has made it.
const broken = { GET: 2, POST: 1 };
const flaky = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const turn = broken[request.method]--;
  if (request.method === 'GET' && turn === 2) return response.destroy();
  if (request.method === 'GET' && turn === 1) return response.writeHead(503).end('overloaded');
  const { host, connection, 'content-length': length, ...headers } = request.headers;
  const answer = await fetch(demo.site + request.url, { method: request.method, headers, ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}) });
  const text = await answer.text();
  if (request.method === 'POST' && turn === 1) return response.destroy();
  response.writeHead(answer.status, { 'Content-Type': answer.headers.get('Content-Type') }).end(text);
}).listen(0, '127.0.0.1');
await until(() => flaky.address());

const owner = await demo.token('owner');
const ask = async (query, variables) => (await (await fetch(demo.site + '/graphql', { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + owner }, body: JSON.stringify({ query, variables }) })).json());
const { groups: { nodes: [{ uid }] } } = (await ask('{ groups(first: 1) { nodes { uid } } }')).data;
const change = async (description) => assert.ifError((await ask('mutation($g: UID!, $d: String) { updateGroup(input: {uid: $g, description: $d}) { group { id } } }', { g: uid, d: description })).errors);
await check('the schema in the package is that of the server', async () => {
  const served = await (await fetch(demo.site + '/graphql/schema', { headers: { Authorization: 'Bearer ' + owner } })).text();
  const packed = readFileSync(join(project, 'node_modules/@atrium/client/dist/schema.graphql'), 'utf8');
  const types = (sdl) => printSchema(lexicographicSortSchema(buildSchema(sdl, { assumeValidSDL: true })));
  const nonNull = (sdl) => {
    const found = [];
    visit(parse(sdl), { FieldDefinition: (field, _key, _parent, _path, ancestors) => {
      const [said] = (field.directives ?? []).filter(({ name }) => name.value === 'semanticNonNull');
      if (said) found.push(`${ancestors.at(-1).name.value}.${field.name.value} ${(said.arguments ?? []).map(({ value }) => value.values.map((one) => one.value))}`);
    } });
    return found.sort();
  };
  assert.deepEqual(nonNull(packed), nonNull(served));
  assert.ok(types(packed) === types(served), 'the types differ');
}, 30);

const program = start(process.execPath, ['client.mjs'], { ATRIUM_URL: demo.site, ATRIUM_FLAKY: `http://127.0.0.1:${flaky.address().port}`, ATRIUM_TOKEN: owner }, project);
const says = (line) => until(() => program.said.split('\n').find((one) => line.test(one)), program);
await check('it pages, with a token that is renewed', () => says(/^read \d+$/), 60);
await check('a refusal has its reason and its fields, in REST and GraphQL', async () => { await says(/^refused$/); }, 60);
await check('requests are sent again after broken connections, and a change is made once', async () => { await says(/^repeated$/); }, 60);
await check('live events go on after the server was away, and none is lost or repeated', async () => {
  await says(/^open$/);
  await change('first');
  await says(/ first$/);
  await demo.stop();
  await says(/^lost$/);
  await demo.start();
  await change('in the gap');
  await change('last');
  await says(/ last$/);
  assert.deepEqual(program.said.match(/^event .*/gm), ['first', 'in the gap', 'last'].map((text) => `event IAM_GROUP_UPDATED ${text}`));
}, 90);
flaky.close();
finish();
