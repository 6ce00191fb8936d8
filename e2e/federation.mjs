// In this file, Atrium is one of two subgraphs. The other one adds a note to every repo, and lists repos by uid only.

import assert from 'node:assert/strict';
import http from 'node:http';
import require from './graphql-16/require.mjs';
import { check, data, dataOf, endpoint, someRepos } from './lib.mjs';

const { composeServices } = require('@apollo/composition'), { composeServices: composeWithGuild } = require('@theguild/federation-composition');
const { buildSubgraphSchema } = require('@apollo/subgraph'), { createHandler } = require('graphql-http/lib/use/http'), { parse } = require('graphql');

const notes = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
  scalar UID
  type Repo @key(fields: "uid") { uid: UID!  note: String! }
  type Query { noted(uids: [ID!]!): [Repo]! }
`);

/** Composes Atrium's subgraph, alone or with the other subgraph at url, by Apollo's composition and by that of The Guild. */
export async function compose(url) {
  const { _service: { sdl } } = await data('{ _service { sdl } }');
  const subgraphs = [{ name: 'atrium', url: endpoint, typeDefs: parse(sdl) }];
  if (url) subgraphs.push({ name: 'notes', url, typeDefs: notes });
  return composeAll(subgraphs);
}

/** Composes subgraphs by both compositions. */
export function composeAll(subgraphs) {
  const { errors, supergraphSdl, hints } = composeServices(subgraphs);
  assert.deepEqual((errors ?? []).map(({ message }) => message), []);
  const { errors: other, publicSdl } = composeWithGuild(subgraphs);
  assert.deepEqual((other ?? []).map(({ message }) => message), []);
  return { supergraphSdl, publicSdl, hints };
}

/** Serves the other subgraph until the suite ends, and returns its URL. */
export async function startNotes() {
  const schema = buildSubgraphSchema([{
    typeDefs: notes,
    resolvers: {
      Query: { noted: (_, { uids }) => uids.map((uid) => ({ uid })) },
      Repo: { __resolveReference: (repo) => repo, note: ({ uid }) => `note on ${uid}` },
    },
  }]);
  const server = http.createServer(createHandler({ schema }));
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${server.address().port}/graphql`;
}

/**
 * Checks a gateway with both subgraphs, by queries that cross from each to the other.
 * ask sends a query to the gateway; sent has the queries that the gateway sent to Atrium.
 */
export async function checkGateway(ask, sent) {
  const repos = await someRepos();
  const uids = repos.map(({ uid }) => uid);
  const noted = (list) => `{ noted(uids: ${JSON.stringify(list)}) { uid note name group { name } } }`;

  await check('a list of Atrium has the field of the other subgraph', async () => {
    const { repos: found } = dataOf(await ask('{ repos(first: 5) { totalCount edges { node { uid name note } } } }'));
    assert.deepEqual(found.edges.map(({ node }) => node), repos.map((repo) => ({ ...repo, note: `note on ${repo.uid}` })));
  });

  await check('a list of the other subgraph has the fields of Atrium, read as one batch', async () => {
    sent.length = 0;
    const { noted: found } = dataOf(await ask(noted(uids)));
    assert.deepEqual(found.map(({ uid, name }) => ({ uid, name })), repos);
    assert.ok(found.every(({ group }) => group.name));
    assert.equal(sent.filter((query) => query.includes('_entities')).length, 1, `sent: ${sent.join('\n')}`);
  });

  await check('an unknown uid and an invalid one are null, the others are found', async () => {
    const unknown = uids[0].replace(/[^/]*$/, '0123456789abcdef');
    const answer = await ask(noted([uids[0], unknown, 'no uid', uids[1]]));
    assert.deepEqual(answer.data?.noted?.map((repo) => repo?.name ?? null), [repos[0].name, null, null, repos[1].name], JSON.stringify(answer).slice(0, 500));
  });
}
