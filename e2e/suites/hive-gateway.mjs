// This suite runs the Hive gateway with Atrium and another subgraph. This gateway also supports subscriptions.

import assert from 'node:assert/strict';
import { checkGateway, compose, startNotes } from '../federation.mjs';
import require from '../graphql-16/require.mjs';
import { ask, check, endpoint, finish, headers } from '../lib.mjs';

const { createGatewayRuntime } = require('@graphql-hive/gateway-runtime');

const sent = [];
const { supergraphSdl } = await compose(await startNotes());
const gateway = createGatewayRuntime({
  supergraph: supergraphSdl,
  demandControl: { maxCost: 5000, includeExtensionMetadata: true }, // Atrium's own limit
  maskedErrors: false,
  logging: 'error',
  propagateHeaders: { fromClientToSubgraphs: ({ request }) => ({ Authorization: request.headers.get('Authorization') }) },
  plugins: () => [{
    onFetch: ({ url, options }) => { if (url.startsWith(endpoint) && options.body) sent.push(JSON.parse(options.body).query); },
  }],
});

const post = (query, accept) => gateway.fetch('http://gateway/graphql', {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json', Accept: accept },
  body: JSON.stringify({ query }),
});

await checkGateway(async (query) => (await post(query, 'application/json')).json(), sent);

await check('the gateway itself refuses what costs too much, and counts as Atrium does', async () => {
  const expensive = '{ repos(first: 200) { nodes { tags(first: 100) { nodes { name } } } } }';
  const counted = (await ask(expensive)).errors[0].extensions.limit.requested;
  sent.length = 0;
  const { errors: [{ extensions: { code, cost } }] } = await (await post(expensive, 'application/json')).json();
  assert.deepEqual([code, cost.estimated, sent.length], ['COST_ESTIMATED_TOO_EXPENSIVE', counted, 0]);
  const cheap = '{ repos(first: 5) { nodes { name readme tags(first: 3) { nodes { name } } } } }';
  const { data, extensions } = await (await post(cheap, 'application/json')).json();
  assert.ok(data.repos.nodes.length);
  assert.equal(extensions.cost.estimated, (await ask(cheap)).extensions.cost.requested);
  return `${counted} and ${extensions.cost.estimated}`;
});

await check('a subscription works through the gateway', async () => {
  const stream = await (await post('subscription { events(after: "", first: 2) { id type } }', 'text/event-stream')).text();
  const events = [...stream.matchAll(/^event: next\ndata: (.*)$/gm)].map(([, text]) => JSON.parse(text).data?.events?.type);
  assert.equal(events.filter(Boolean).length, 2, stream.slice(0, 500));
  return events.join(', ');
});
finish();
