// This program uses Atrium through gql.tada, which makes types of the text of each document, without a generator of code. The suite
// gql-tada compiles and runs it.

import assert from 'node:assert/strict';
import type { ResultOf, TadaDocumentNode } from 'gql.tada';
import { print } from 'graphql';
import { graphql } from './graphql.mjs';

/** Sends a document. Its result is used only if it has no errors, so what is null only with an error is not null. */
async function send<Result, Variables>(document: TadaDocumentNode<Result, Variables>, variables: NoInfer<Variables>): Promise<Result> {
  const response = await fetch(process.env.ATRIUM_URL + '/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${process.env.ATRIUM_TOKEN}` },
    body: JSON.stringify({ query: print(document), variables }),
  });
  const { data, errors } = await response.json() as { data: Result; errors?: { message: string }[] };
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data;
}

// A query. What is null only with an error is not null: a page, the group of a repo, each node of a list of nodes.
const reposDocument = graphql(`query Repos($first: Int) { repos(first: $first, orderBy: {field: NAME}) { totalCount nodes { id uid name createTime group { uid } } } }`);
const { repos } = await send(reposDocument, { first: 3 });
const names: string[] = repos.nodes.map((repo) => repo.name), place: string = repos.nodes[0]!.group.uid;
assert.equal(names.length, 3);
const nodesDocument = graphql(`query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id __typename ... on Repo { name } } }`);
const { nodes } = await send(nodesDocument, { ids: repos.nodes.map((repo) => repo.id) });
const ids: string[] = nodes.map((node) => node.id);
assert.deepEqual(ids, repos.nodes.map((repo) => repo.id));

// A field without that directive can be null.
const policyDocument = graphql(`query Policy($within: UID!) { duePolicy(within: $within) { criticalDays } }`);
const { duePolicy } = await send(policyDocument, { within: place });
const days: number | null | undefined = duePolicy?.criticalDays;
assert.ok(days === undefined || days === null || days > 0);

// A mutation, whose input is typed too.
const updateDocument = graphql(`mutation Update($input: UpdateRepoInput!) { updateRepo(input: $input) { repo { uid description } } }`);
const { updateRepo } = await send(updateDocument, { input: { uid: repos.nodes[1]!.uid, description: 'changed by gql.tada' } });
assert.equal(updateRepo.repo.description, 'changed by gql.tada');

// Two unions. TypeScript knows each member by its __typename.
const searchDocument = graphql(`query Search($query: String!) {
  search(query: $query, first: 20) { nodes { __typename ... on Group { name } ... on Repo { name } ... on Role { capabilities } } }
}`);
const { search } = await send(searchDocument, { query: names[0]! });
const found = search.nodes.map((result) => {
  switch (result.__typename) {
    case 'Repo': return result.name;
    case 'Group': return `group ${result.name}`;
    case 'Role': return result.capabilities.join();
    default: return result.__typename;
  }
});
assert.ok(found.includes(names[0]!), found.join());

const liveDocument = graphql(`subscription Live { events {
  kind
  detail { __typename ... on FindingChange { counts { rating count } findings { vulnerabilityId } } ... on FindingTriage { count } ... on DuePolicy { criticalDays } }
} }`);
type Detail = NonNullable<ResultOf<typeof liveDocument>['events']['detail']>;
/** Says what an event is about. The compiler knows that there is no other kind of detail. */
export function describe(detail: Detail): string {
  switch (detail.__typename) {
    case 'FindingChange': return detail.findings.map((finding) => finding.vulnerabilityId).join();
    case 'FindingTriage': return `${detail.count} rules`;
    case 'DuePolicy': return `${detail.criticalDays} days`;
  }
}

// The types must reject these lines: the compiler fails if one of them is no error.
// @ts-expect-error a repo has no such field, so nothing is known of its value
void (() => send(graphql(`query Wrong { repos { nodes { color } } }`), {}).then((answer): string => answer.repos.nodes[0]!.color));
// @ts-expect-error a document has what it selects only
void repos.nodes[0]!.color;
// @ts-expect-error an input has no such field
void (() => send(updateDocument, { input: { uid: place, color: 'red' } }));
// @ts-expect-error a variable is missing
void (() => send(updateDocument, {}));
// @ts-expect-error a policy can be missing
void (() => duePolicy.criticalDays);
// @ts-expect-error a role has no name here
void (() => search.nodes.map((result) => result.__typename === 'Role' && result.name));
