// This suite composes the subgraphs of Atrium's domains, and runs @apollo/gateway and the Hive gateway over two processes, each of which
// serves some of the domains. It starts its own PostgreSQL.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeAll } from '../federation.mjs';
import require from '../graphql-16/require.mjs';
import { check, dataOf, finish, run, temporaryFolder } from '../lib.mjs';

const { ApolloGateway, RemoteGraphQLDataSource } = require('@apollo/gateway'), { ApolloServer } = require('@apollo/server');
const { createGatewayRuntime } = require('@graphql-hive/gateway-runtime'), { buildSchema, lexicographicSortSchema, parse, printSchema } = require('graphql');

const root = join(import.meta.dirname, '../..');
if (!process.env.ATRIUM_TEST_POSTGRES) {
  const { status } = spawnSync(join(root, 'scripts/with-postgres'), [process.execPath, import.meta.filename], { stdio: 'inherit' });
  process.exit(status ?? 1);
}
const program = process.env.ATRIUM_TEST_PROGRAM;
const database = ['--database-url', process.env.ATRIUM_TEST_POSTGRES];
const processes = [['iam', 'events', 'libraries'], ['registry', 'vulnerabilities', 'advisory', 'sources']];
const servers = [];
process.on('exit', () => servers.forEach((server) => server.kill()));

/** Starts a process that serves some domains, and returns its URL. */
async function serve(domains) {
  const output = join(temporaryFolder(), `${domains[0]}.out`), log = join(temporaryFolder(), `${domains[0]}.log`);
  const server = spawn(program, ['serve', '--dev', '--addr', '127.0.0.1:0', '--metrics-addr=', '--domains', domains.join(), ...database], { stdio: ['ignore', openSync(output, 'w'), openSync(log, 'w')] });
  servers.push(server);
  for (const end = Date.now() + 120_000; Date.now() < end && server.exitCode === null; await new Promise((go) => setTimeout(go, 100))) {
    const [site] = readFileSync(output, 'utf8').match(/http:\/\/[0-9.:]+/) ?? [];
    if (site && (await fetch(site + '/readyz').catch(() => undefined))?.ok) return site;
  }
  throw new Error('the server did not start:\n' + readFileSync(log, 'utf8'));
}

const atrium = async (...args) => {
  const { code, text, out } = await run(program, args);
  assert.equal(code, 0, text);
  return out;
};

const sites = [];
for (const domains of processes) sites.push(await serve(domains));
const headers = { Authorization: `Bearer ${(await atrium('token', ...database)).trim()}`, 'Content-Type': 'application/json' };
const post = async (url, query) => (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
const subgraphs = [];
for (const [n, domains] of processes.entries()) {
  for (const name of domains) subgraphs.push({ name, url: `${sites[n]}/graphql/${name}`, typeDefs: parse(await atrium('schema', '--domain', name)) });
}
const { supergraphSdl, publicSdl, hints } = composeAll(subgraphs);

await check('the domains compose without hints, and together are the whole', async () => {
  assert.deepEqual(hints.map(({ message }) => message), []);
  const whole = composeAll([{ name: 'atrium', url: sites[0], typeDefs: parse(await atrium('schema')) }]);
  const text = (sdl) => printSchema(lexicographicSortSchema(buildSchema(sdl)));
  assert.equal(text(publicSdl), text(whole.publicSdl));
  return `${supergraphSdl.length} bytes`;
});

await check('a domain is served where it belongs, with the schema that the command prints', async () => {
  for (const { name, url, typeDefs } of subgraphs) {
    const { _service: { sdl } } = dataOf(await post(url, '{ _service { sdl } }'));
    assert.deepEqual(parse(sdl, { noLocation: true }), parse(await atrium('schema', '--domain', name), { noLocation: true }));
    assert.ok(typeDefs);
    const other = sites.find((site) => !url.startsWith(site));
    assert.equal((await fetch(`${other}/graphql/${name}`, { method: 'POST', headers, body: '{}' })).status, 404);
  }
});

// What crosses from one domain to others, with the domains that are asked for entities, each as often as it may be.
const { repos } = dataOf(await post(sites[0] + '/graphql', '{ repos(first: 1) { nodes { id } } }'));
const questions = {
  '{ repos(first: 5) { totalCount nodes { uid name group { name description } advisorySummary { open { total } } tags(first: 1) { nodes { name } } } } }': { iam: 1, vulnerabilities: 1 },
  '{ groups(first: 5) { nodes { name repos(first: 2) { totalCount nodes { name group { name path } } } roleBindings(first: 2) { nodes { role { name } } } } } }': { registry: 1, iam: 1 },
  '{ auditLog(first: 5) { nodes { type group { name } } } }': { iam: 1 },
  '{ viewer { identities { name } } artifacts(where: { ecosystems: [JAVA, PYTHON] }, first: 2) { nodes { name } } advisoryDocuments(first: 2) { nodes { documentId } } }': {},
  '{ advisories(first: 3) { nodes { advisoryId artifactName group { name } } } }': { iam: 1 },
  [`{ node(id: ${JSON.stringify(repos.nodes[0].id)}) { __typename id ... on Group { name } ... on Repo { name } ... on Tag { name } } }`]: { registry: 1 },
};

/** Checks that a gateway answers like the whole, and asks for entities in batches. ask sends a query, sent has what it asks for. */
async function checkGateway(name, ask, sent) {
  for (const [query, batches] of Object.entries(questions)) {
    await check(`${name}: ${query.slice(0, 60)}`, async () => {
      const whole = dataOf(await post(sites[0] + '/graphql', query));
      sent.length = 0;
      assert.deepEqual(dataOf(await ask(query)), whole);
      const counted = {};
      for (const { url, query: part } of sent) {
        const domain = subgraphs.find((subgraph) => subgraph.url === url).name;
        if (part.includes('_entities')) counted[domain] = (counted[domain] ?? 0) + 1;
      }
      for (const [domain, n] of Object.entries(counted)) assert.ok(n <= (batches[domain] ?? 0), `${domain} is asked ${n} times:\n${sent.map((x) => x.query).join('\n')}`);
      return `${sent.length} requests, of which for entities ${JSON.stringify(counted)}`;
    });
  }
}

const asked = [];
class Source extends RemoteGraphQLDataSource {
  willSendRequest({ request }) {
    asked.push({ url: this.url, query: request.query });
    request.http.headers.set('Authorization', headers.Authorization);
  }
}
const apollo = new ApolloServer({ gateway: new ApolloGateway({ supergraphSdl, buildService: ({ url }) => new Source({ url }) }) });
await apollo.start();
await checkGateway('@apollo/gateway', async (query) => JSON.parse(JSON.stringify((await apollo.executeOperation({ query })).body.singleResult)), asked);
await apollo.stop();

const fetched = [];
const hive = createGatewayRuntime({
  supergraph: supergraphSdl, maskedErrors: false, logging: 'error',
  propagateHeaders: { fromClientToSubgraphs: ({ request }) => ({ Authorization: request.headers.get('Authorization') }) },
  plugins: () => [{ onFetch: ({ url, options }) => { if (options.body) fetched.push({ url, query: JSON.parse(options.body).query }); } }],
});
await checkGateway('Hive Gateway', async (query) => (await hive.fetch('http://gateway/graphql', { method: 'POST', headers: { ...headers }, body: JSON.stringify({ query }) })).json(), fetched);
await hive.dispose?.();
finish();
