// This program uses the package client/typescript as its users do: pages, refusals, requests that are sent again, and live events. The suite
// typescript-client installs the package in an empty project, compiles this file there and runs it.

import assert from 'node:assert/strict';
import { AtriumError, createClient, type ErrorReason, type Graph } from '@atrium/client';

const { ATRIUM_URL, ATRIUM_FLAKY, ATRIUM_TOKEN } = process.env as Record<string, string>;
let token = 'expired';
const atrium = createClient({ url: ATRIUM_URL!, token: (refused) => (refused ? token = ATRIUM_TOKEN! : token) });
const reasonOf = (problem: unknown): ErrorReason | (string & {}) => {
  if (!(problem instanceof AtriumError)) throw problem;
  return problem.reason;
};

// Pages of REST, and the rows of both protocols. The first request is refused, and sent again with the renewed token.
const uids = new Set<string>();
let total = '';
for await (const page of atrium.pages('/registry/v2/repos', { params: { query: { page_size: 3, order_by: 'name' } } })) {
  for (const repo of page.repos) uids.add(repo.uid);
  total = page.totalCount;
}
assert.ok(uids.size > 3 && String(uids.size) === total, `${uids.size} of ${total} repos`);
const rows: string[] = [];
for await (const repo of atrium.list('/registry/v2/repos', { params: { query: { page_size: 3, order_by: 'name' } } })) rows.push(repo.name);
const names: string[] = [];
const document = 'query ($after: String) { repos(first: 3, after: $after, orderBy: {field: NAME}) { nodes { name } pageInfo { hasNextPage endCursor } } }';
for await (const { name } of atrium.nodes(document, {}, (data: { repos: Pick<Graph.RepoConnection, 'pageInfo'> & { nodes: Pick<Graph.Repo, 'name'>[] } }) => data.repos)) names.push(name);
assert.deepEqual(rows, names);
console.log('read', rows.length);

// Refusals name the fields.
const { data: { groups: [group] } } = await atrium.rest.GET('/iam/v2/groups', { params: { query: { page_size: 1 } } });
const parent: string = group!.uid;
await assert.rejects(atrium.rest.POST('/registry/v2/repos/{uid}', { params: { path: { uid: parent } }, body: { name: 'Not A Name' } }), (problem: AtriumError) => {
  assert.deepEqual([reasonOf(problem), problem.status, problem.fields.map(({ field }) => field)], ['INVALID_ARGUMENT', 400, ['name']]);
  return true;
});
const input: Graph.CreateRepoInput = { parent, name: 'Not A Name' };
await assert.rejects(atrium.graphql('mutation ($input: CreateRepoInput!) { createRepo(input: $input) { repo { uid } } }', { input }), (problem: AtriumError) => {
  assert.deepEqual([reasonOf(problem), problem.fields.map(({ path }) => path)], ['INVALID_ARGUMENT', [['input', 'name']]]);
  return true;
});
await assert.rejects(atrium.rest.GET('/registry/v2/repos/{uid}', { params: { path: { uid: `${parent}/${'0'.repeat(16)}` } } }), (problem: unknown) => reasonOf(problem) === 'NOT_FOUND');
console.log('refused');

// Between this client and the server, a read is broken off, and a change after it was made.
const far = createClient({ url: ATRIUM_FLAKY!, token: ATRIUM_TOKEN! });
assert.equal((await far.rest.GET('/registry/v2/repos', { params: { query: { page_size: 1 } } })).data.repos.length, 1);
const created = await far.rest.POST('/registry/v2/repos/{uid}', { params: { path: { uid: parent }, header: { 'Idempotency-Key': 'once' } }, body: { name: 'made-once' } });
const { data: { repos: made } } = await atrium.rest.GET('/registry/v2/repos', { params: { query: { name: 'made-once' } } });
assert.deepEqual(made.map(({ uid }) => uid), [created.data.uid]);
console.log('repeated');

for await (const event of atrium.events({ kinds: ['IAM_GROUP_UPDATED'] }, { onConnection: (open) => console.log(open ? 'open' : 'lost') })) {
  const change: Graph.EventKind | null | undefined = event.kind;
  console.log('event', change, (event.body as { description: string }).description);
}

// The types must reject these lines: the compiler fails if one of them is no error.
// @ts-expect-error a repo has no color
void (async () => { for await (const repo of atrium.list('/registry/v2/repos')) void repo.color; });
// @ts-expect-error one repo is no list
void (() => atrium.list('/registry/v2/repos/{uid}'));
// @ts-expect-error a new repo has a name
void (() => atrium.rest.POST('/registry/v2/repos/{uid}', { params: { path: { uid: parent } }, body: { description: 'x' } }));
// @ts-expect-error there is no such kind of event
void (() => atrium.events({ kinds: ['NOTHING'] }));
