// This suite takes the clients from the text of docs/graphql.md. Its configurations generate types. Relay, Apollo Client and urql,
// configured as it shows, compile with these types and page through a list.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import compiler from 'relay-compiler';
import { check, endpoint, finish, headers, read, run } from '../lib.mjs';

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
write('src/apollo.ts', block('apollo'));
write('src/urql.ts', block('urql'));
mkdirSync(join(folder, 'relay'));
write('relay.config.json', block('relay', 'json'));
write('relay/environment.ts', block('relay'));
write('relay/pages.ts', `
import { createOperationDescriptor, fetchQuery, getRequest, graphql, type GraphQLTaggedNode } from 'relay-runtime';
import { relay } from './environment';
import document, { type pagesQuery, type pagesQuery$data } from './__generated__/pagesQuery.graphql';

// Babel would replace the text with the output of the compiler. Without Babel, the output is imported.
void ((graphql: (text: TemplateStringsArray) => unknown) => graphql\`
  query pagesQuery($after: String) {
    repos(first: 2, after: $after, orderBy: {field: NAME}) @connection(key: "pages_repos", filters: []) { pageInfo { endCursor } edges { node { id name createTime } } }
  }
\`);

/** Returns the names of two pages, which the store has in one list. */
export async function names(endpoint: string, token: string): Promise<string[]> {
  const environment = relay(endpoint, token), query = document as unknown as GraphQLTaggedNode;
  const first = createOperationDescriptor(getRequest(query), {});
  environment.retain(first);
  const one = await fetchQuery<pagesQuery>(environment, query, {}).toPromise();
  await fetchQuery<pagesQuery>(environment, query, { after: one!.repos!.pageInfo.endCursor }).toPromise();
  const both = environment.lookup(first.fragment).data as unknown as pagesQuery$data;
  const time: string = both.repos!.edges[0].node.createTime; // A DateTime is a string.
  if (Number.isNaN(Date.parse(time))) throw new Error(time);
  return both.repos!.edges.map((edge) => edge.node.name);
}
`);
write('src/page.ts', `
import { graphql } from './gql';
export const page = graphql(\`query Page($after: String) {
  repos(first: 2, after: $after, orderBy: {field: NAME}) { totalCount pageInfo { endCursor hasNextPage } edges { cursor node { id name createTime } } }
}\`);
`);
const main = `
import { apollo } from './apollo';
import { urql } from './urql';
import { page } from './page';
import { names } from '../relay/pages';

const endpoint = process.env.ENDPOINT!, token = process.env.TOKEN!;
const same = (what: string, names: string[]) => {
  if (names.length !== 4 || new Set(names).size !== 4) throw new Error(\`\${what} has \${names}\`);
  console.log(what, names.join(' '));
};

async function main() {
  same('relay', await names(endpoint, token));

  const client = apollo(endpoint, token), query = client.watchQuery({ query: page });
  query.subscribe(() => {});
  const first = await client.query({ query: page });
  const after: string | null | undefined = first.data!.repos!.pageInfo.endCursor;
  await query.fetchMore({ variables: { after } });
  const all = client.readQuery({ query: page })!;
  same('apollo', all.repos!.edges.map((edge) => edge.node.name));
  const time: string = all.repos!.edges[0].node.createTime; // A DateTime is a string.
  if (Number.isNaN(Date.parse(time))) throw new Error(time);

  const other = urql(endpoint, token);
  const one = await other.query(page, {}).toPromise();
  if (one.error) throw one.error;
  await other.query(page, { after: one.data!.repos!.pageInfo.endCursor }).toPromise();
  const both = await other.query(page, { after: one.data!.repos!.pageInfo.endCursor }, { requestPolicy: 'cache-only' }).toPromise();
  same('urql', both.data!.repos!.edges.map((edge) => edge.node.name));
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
await check('Relay, Apollo Client and urql compile with what they generate', async () => { await must(join(programs, 'tsc'), '-p', '.'); }, 90);
await check('all clients page through a list and join the pages', async () => (await must(process.execPath, 'out/src/main.js')).replaceAll('\n', ', '), 60);
await check('the types reject an unknown field and a wrong type', async () => {
  write('src/main.ts', main.replace('edge.node.name', 'edge.node.title').replace('const time: string', 'const time: number'));
  const { code, text } = await run(join(programs, 'tsc'), ['-p', '.', '--noEmit'], {}, folder);
  assert.notEqual(code, 0);
  assert.match(text, /'title' does not exist/);
  assert.match(text, /'string' is not assignable to type 'number'/);
}, 90);

finish();
