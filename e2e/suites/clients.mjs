// This suite takes the clients from the text of docs/graphql.md. Its configurations generate types. Relay, Apollo Client and urql,
// configured as it shows, compile with these types and page through a list.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import compiler from 'relay-compiler';
import { check, endpoint, finish, headers, read, run, tsc } from '../lib.mjs';

const page = readFileSync(join(import.meta.dirname, '../../docs/graphql.md'), 'utf8');
const block = (kind, language = 'ts') => page.match(new RegExp(`^\`\`\`${language} ${kind}\n(.*?)^\`\`\`$`, 'ms'))?.[1] ?? assert.fail(`the page has no block ${kind}`);

// Modules are resolved from the folder of the file.
const folder = join(import.meta.dirname, `../bin/clients-${process.pid}`), programs = join(import.meta.dirname, '../node_modules/.bin');
mkdirSync(join(folder, 'src'), { recursive: true });
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const write = (name, text) => writeFileSync(join(folder, name), text);
const must = async (program, ...args) => {
  const { code, text } = await run(program, args, { ENDPOINT: endpoint, TOKEN: headers.Authorization.replace('Bearer ', '') }, folder);
  assert.equal(code, 0, text.slice(-900));
  return text.trim();
};

write('package.json', '{"type": "commonjs"}');
write('codegen.ts', block('codegen'));
write('src/feed.ts', block('feed')); // compiled here; the suite restart runs it
write('src/retry.ts', block('retry'));
write('src/apollo.ts', block('apollo'));
write('src/urql.ts', block('urql'));
mkdirSync(join(folder, 'relay'));
write('relay.config.json', block('relay', 'json'));
write('relay/retry.ts', block('retry'));
write('relay/environment.ts', block('relay'));
write('relay/pages.ts', `
import { createOperationDescriptor, fetchQuery, getRequest, graphql, type GraphQLTaggedNode } from 'relay-runtime';
import { relay } from './environment';
import document, { type pagesQuery, type pagesQuery$data } from './__generated__/pagesQuery.graphql';

// Babel would replace the text with the output of the compiler. Without Babel, the output is imported.
void ((graphql: (text: TemplateStringsArray) => unknown) => graphql\`
  query pagesQuery($after: String) @throwOnFieldError {
    repos(first: 2, after: $after, orderBy: {field: NAME}) @connection(key: "pages_repos", filters: []) { pageInfo { endCursor } edges { node { id name createTime } } }
  }
\`);

/** Returns the names of two pages, which the store has in one list. */
export async function names(endpoint: string, token: string): Promise<string[]> {
  const environment = relay(endpoint, token), query = document as unknown as GraphQLTaggedNode;
  const first = createOperationDescriptor(getRequest(query), {});
  environment.retain(first);
  const one = await fetchQuery<pagesQuery>(environment, query, {}).toPromise();
  await fetchQuery<pagesQuery>(environment, query, { after: one!.repos.pageInfo.endCursor }).toPromise();
  const both = environment.lookup(first.fragment).data as unknown as pagesQuery$data;
  const time: string = both.repos.edges[0].node.createTime; // A DateTime is a string.
  if (Number.isNaN(Date.parse(time))) throw new Error(time);
  return both.repos.edges.map((edge) => edge.node.name);
}
`);
write('src/page.ts', `
import { graphql } from './gql';
import type { ErrorExtensions, EventDetail } from './schema';
/** Returns what is wrong, by the name of the field of a form. */
export const faults = ({ reason, fields }: ErrorExtensions): Record<string, string> =>
  reason === 'INVALID_ARGUMENT' ? Object.fromEntries((fields ?? []).map(({ path, message }) => [path.slice(1).join('.'), message])) : {};
export const live = graphql(\`subscription Live { events { detail { __typename ... on FindingChange { counts { rating count } findings { vulnerabilityId } } } } }\`);
export const kinds: NonNullable<EventDetail['__typename']>[] = ['FindingChange', 'FindingTriage', 'DuePolicy'];
export const edges = graphql(\`query Edges($scope: UID!, $after: String) {
  repos(within: $scope, first: 1, after: $after, orderBy: {field: NAME}) { totalCount pageInfo { endCursor hasNextPage } edges { cursor node { id name createTime } } }
}\`);
export const nodes = graphql(\`query Nodes($scope: UID!, $after: String) {
  repos(within: $scope, first: 1, after: $after, orderBy: {field: NAME}) { pageInfo { endCursor } nodes { id name } }
}\`);
export const nested = graphql(\`query Nested($scope: UID!, $after: String) {
  group(uid: $scope) { id advisorySummary { open { total } } repos(first: 1, after: $after) { pageInfo { endCursor } nodes { id name } } }
}\`);
export const whole = graphql(\`query Whole($scope: UID!) { repos(within: $scope, first: 3, orderBy: {field: NAME}) { nodes { name } } }\`);
export const scopes = graphql(\`query Scopes { groups(first: 200) { nodes { uid repos(first: 0) { totalCount } } } }\`);
`);
const main = `
import { apollo } from './apollo';
import { urql } from './urql';
import { edges, nested, nodes, scopes, whole } from './page';
import { names } from '../relay/pages';

const endpoint = process.env.ENDPOINT!, token = process.env.TOKEN!;
const same = (what: string, got: string[], want: string[]) => {
  if (got.join() !== want.join()) throw new Error(\`\${what} has \${got}, want \${want}\`);
  console.log(what, got.join(' '));
};

/** Pages through three pages of a list. */
async function readThree(read: (after: string | null | undefined) => Promise<string | null | undefined>) {
  let after: string | null | undefined = await read(undefined);
  for (let page = 2; page <= 3; page++) after = await read(after);
}

async function main() {
  const four = await names(endpoint, token);
  if (four.length !== 4 || new Set(four).size !== 4) throw new Error(\`relay has \${four}\`);

  const direct = apollo(endpoint, token), groups = (await direct.query({ query: scopes })).data!.groups.nodes;
  const first: Record<string, string[]> = {};
  for (const { uid } of groups.filter((group) => group.repos.totalCount >= 3)) {
    first[uid] = (await direct.query({ query: whole, variables: { scope: uid }, fetchPolicy: 'no-cache' })).data!.repos.nodes.map((repo) => repo.name);
  }
  const [one, two] = Object.keys(first).filter((uid, i, all) => all.findIndex((other) => first[other].join() === first[uid].join()) === i);
  if (!two) throw new Error('there are no two groups with three repos each that differ');

  const client = apollo(endpoint, token);
  for (const scope of [one, two]) {
    const byEdges = client.watchQuery({ query: edges, variables: { scope } });
    byEdges.subscribe(() => {});
    await readThree(async (after) => (after === undefined ? await client.query({ query: edges, variables: { scope } }) : await byEdges.fetchMore({ variables: { after } })).data!.repos.pageInfo.endCursor);
  }
  for (const scope of [one, two]) {
    const { repos } = client.readQuery({ query: edges, variables: { scope } })!;
    same('apollo, edges', repos.edges.map((edge) => edge.node.name), first[scope]);
    const time: string = repos.edges[0].node.createTime; // A DateTime is a string.
    if (Number.isNaN(Date.parse(time))) throw new Error(time);
  }
  const other = apollo(endpoint, token);
  for (const scope of [one, two]) {
    await readThree(async (after) => (await other.query({ query: nodes, variables: { scope, after }, fetchPolicy: 'network-only' })).data!.repos.pageInfo.endCursor);
    await readThree(async (after) => (await other.query({ query: nested, variables: { scope, after }, fetchPolicy: 'network-only' })).data!.group.repos.pageInfo.endCursor);
  }
  for (const scope of [one, two]) {
    same('apollo, nodes', other.readQuery({ query: nodes, variables: { scope } })!.repos.nodes.map((repo) => repo.name), first[scope]);
    same('apollo, nested', other.readQuery({ query: nested, variables: { scope } })!.group.repos.nodes.map((repo) => repo.name), first[scope]);
  }

  const warned: string[] = [];
  console.warn = (...said: unknown[]) => { warned.push(said.join(' ')); };
  const ofEdges = urql(endpoint, token), ofNodes = urql(endpoint, token); // A joined list has only what all of its pages have.
  for (const scope of [one, two]) {
    for (const query of [edges, nodes, nested]) {
      const graphcache = (query as unknown) === edges ? ofEdges : ofNodes;
      await readThree(async (after) => {
        const { data, error } = await graphcache.query(query as typeof nested, { scope, after }).toPromise();
        if (error) throw error;
        const list = data!.group?.repos ?? (data as unknown as { repos: NonNullable<NonNullable<NonNullable<typeof data>['group']>['repos']> }).repos;
        return list.pageInfo.endCursor;
      });
    }
  }
  for (const scope of [one, two]) {
    const cached = { requestPolicy: 'cache-only' } as const;
    same('urql, edges', (await ofEdges.query(edges, { scope }, cached).toPromise()).data!.repos.edges.map((edge) => edge.node.name), first[scope]);
    same('urql, nodes', (await ofNodes.query(nodes, { scope }, cached).toPromise()).data!.repos.nodes.map((repo) => repo.name), first[scope]);
    same('urql, nested', (await ofNodes.query(nested, { scope }, cached).toPromise()).data!.group.repos.nodes.map((repo) => repo.name), first[scope]);
  }
  if (warned.length > 0) throw new Error(warned[0]);
}
main().then(() => process.exit(0), (problem) => { console.error(problem); process.exit(1); });
`;
write('src/main.ts', main);
write('tsconfig.json', JSON.stringify({ compilerOptions: { strict: true, module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom'], types: [], outDir: 'out', rootDir: '.', skipLibCheck: true }, include: ['src', 'relay'] }));
write('src/env.d.ts', 'declare const process: { env: Record<string, string | undefined>; exit(code: number): never };');

await check('graphql-code-generator accepts the configuration of the page', async () => {
  write('schema.graphql', await read('/graphql/schema').catch(async () => (await fetch(endpoint + '/schema', { headers })).text()));
  await must(join(programs, 'graphql-codegen'), '--config', 'codegen.ts');
}, 60);
await check('relay-compiler accepts the configuration of the page', async () => {
  mkdirSync(join(folder, 'relay/__generated__'), { recursive: true });
  await must(compiler, 'relay.config.json');
}, 60);
await check('Relay, Apollo Client and urql compile with what they generate', async () => { await must(process.execPath, tsc, '-p', '.'); }, 90);
await check('all clients join three pages of each of two lists', async () => (await must(process.execPath, 'out/src/main.js')).replaceAll('\n', ', '), 60);
await check('the types reject an unknown field and a wrong type', async () => {
  write('src/main.ts', main.replace('edge.node.name', 'edge.node.title').replace('const time: string', 'const time: number'));
  const { code, text } = await run(process.execPath, [tsc, '-p', '.', '--noEmit'], {}, folder);
  assert.notEqual(code, 0);
  assert.match(text, /'title' does not exist/);
  assert.match(text, /'string' is not assignable to type 'number'/);
}, 90);

finish();
