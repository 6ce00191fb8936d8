// This suite opens subscriptions over both protocols, with public clients and by hand. It checks the events, the end of streams,
// and rejected callers.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient as createSSE } from 'graphql-sse';
import { createClient as createWS } from 'graphql-ws';
import WebSocket from 'ws';
import { ask, check, data, endpoint, finish, headers } from '../lib.mjs';

const two = 'subscription { events(after: "", first: 2) { id type } }';
const endless = 'subscription { events { id type subject } }';
const invalid = 'subscription { nothingOfThatName }';

/** Runs a document with one of the clients. Returns everything before the end, or fails with the error of the client. */
async function run(client, query) {
  const results = [];
  try {
    await new Promise((complete, error) => client.subscribe({ query }, { next: (result) => results.push(result), error, complete }));
  } finally {
    await client.dispose();
  }
  return results;
}

const eventsOf = (results) => results.map((result) => {
  assert.ok(result.data?.events && !result.errors, JSON.stringify(result));
  return result.data.events;
});

// ---- These checks use graphql-ws. The token is only in connection_init, as browsers must send it.

const wsURL = endpoint.replace(/^http/, 'ws');
const ws = (connectionParams = headers) => createWS({ url: wsURL, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0 });

await check('graphql-ws: a subscription runs to its end', async () => {
  const events = eventsOf(await run(ws(), two));
  assert.equal(events.length, 2);
  return events.map(({ type }) => type).join(', ');
});

await check('graphql-ws: queries also run', async () => {
  assert.deepEqual((await run(ws(), '{ ping }')).map((result) => result.data), [{ ping: 'pong' }]);
});

await check('graphql-ws: an invalid document gives an error message', async () => {
  await assert.rejects(run(ws(), invalid), (errors) => Array.isArray(errors) && /nothingOfThatName/.test(errors[0].message));
});

await check('graphql-ws: without a token there are no events', async () => {
  await assert.rejects(async () => eventsOf(await run(ws({}), two)));
});

// ---- These checks use graphql-transport-ws by hand, to see how the server treats clients that break the protocol.

/** Opens a socket, answers as `on` says (message type -> frames to send), and returns the close code. */
const closed = (on) => new Promise((close, fail) => {
  const socket = new WebSocket(wsURL, 'graphql-transport-ws');
  const send = (frames) => frames?.forEach((frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)));
  socket.on('open', () => send(on.open));
  socket.on('message', (text) => send(on[JSON.parse(text).type]));
  socket.on('close', close);
  socket.on('error', fail);
});

const init = { type: 'connection_init', payload: headers };
const subscribe = { id: '1', type: 'subscribe', payload: { query: endless } };

for (const [broken, code, on] of [
  ['no connection_init', 4408, {}],
  ['subscribe before connection_init', 4401, { open: [subscribe] }],
  ['a second connection_init', 4429, { open: [init], connection_ack: [init] }],
  ['a second subscriber of one id', 4409, { open: [init], connection_ack: [subscribe, subscribe] }],
  ['a message that is not JSON', 4400, { open: [init], connection_ack: ['{'] }],
]) {
  await check(`graphql-transport-ws: ${broken} closes the socket`, async () => {
    const got = await closed(on);
    // 1002 is the code of WebSocket for a client that breaks a protocol.
    assert.ok([code, 1002].includes(got), `closed with ${got}, want ${code}`);
    return got;
  });
}

await check('a page of another origin cannot open a socket', () => new Promise((refused, fail) => {
  const socket = new WebSocket(wsURL, 'graphql-transport-ws', { origin: 'https://elsewhere.example' });
  socket.on('open', () => { socket.close(); fail(new Error('it was let in')); });
  socket.on('unexpected-response', (_, response) => refused(response.statusCode));
  socket.on('error', fail);
}));

// ---- These checks use server-sent events.

const sse = () => createSSE({ url: endpoint, headers, retryAttempts: 0 });
const stream = (query, init = {}) => fetch(endpoint, {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
  body: JSON.stringify({ query }),
  ...init,
});

await check('graphql-sse: a subscription runs to its end', async () => {
  assert.equal(eventsOf(await run(sse(), two)).length, 2);
});

await check('graphql-sse: an invalid document is rejected', async () => {
  await assert.rejects(async () => {
    const [{ errors }] = await run(sse(), invalid);
    throw new Error(errors[0].message);
  });
});

for (const [method, open] of [
  ['POST', () => stream(two)],
  ['GET', () => fetch(`${endpoint}?query=${encodeURIComponent(two)}`, { headers: { ...headers, Accept: 'text/event-stream' } })],
]) {
  await check(`SSE by ${method}: two next events, then complete`, async () => {
    const response = await open();
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assert.match(response.headers.get('Content-Type'), /^text\/event-stream/);
    const fields = text.split('\n').filter((line) => line && !line.startsWith(':'));
    assert.deepEqual(fields.map((line) => line.replace(/^(data: ).+/, '$1…').trim()),
      ['event: next', 'data: …', 'event: next', 'data: …', 'event: complete', 'data:']);
  });
}

await check('SSE: without a token there are no events', async () => {
  const text = await (await stream(two, { headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' } })).text();
  assert.match(text, /UNAUTHENTICATED/);
  assert.doesNotMatch(text, /"events":\{/);
});

// ---- These checks look at the contents of events.

await check('a stream continues after the last event that a client has received', async () => {
  const [first, second] = eventsOf(await run(sse(), two));
  const [next] = eventsOf(await run(sse(), two.replace('after: "", first: 2', `after: ${JSON.stringify(first.id)}, first: 1`)));
  assert.deepEqual(next, second);
});

await check('a change arrives at open streams', async () => {
  const { groups } = await data('{ groups(first: 1) { nodes { uid } } }');
  const stop = new AbortController();
  const response = await stream(endless, { signal: stop.signal });
  assert.equal(response.status, 200);
  const made = [];
  let type;
  const reading = (async () => {
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (made.some((uid) => text.includes(uid))) return text.match(/"type":"([^"]*)"/)?.[1];
    }
    assert.fail(`the stream ended: ${text}`);
  })().then((found) => { type = found; });
  try {
    while (!type) { // The first change may come before the stream is live.
      const { createRepo } = await data('mutation ($input: CreateRepoInput!) { createRepo(input: $input) { repo { uid } } }',
        { input: { parent: groups.nodes[0].uid, name: `e2e-${Date.now()}` } });
      made.push(createRepo.repo.uid);
      await Promise.race([reading, sleep(300)]);
    }
    return type;
  } finally {
    stop.abort();
    for (const uid of made) await ask('mutation ($input: DeleteRepoInput!) { deleteRepo(input: $input) { deletedUid } }', { input: { uid } });
  }
});
finish();
