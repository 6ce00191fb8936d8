import assert from 'node:assert/strict';
import { test } from 'node:test';
import { broken, stream, withServer } from './server.mjs';

/** Reads events until there are `count`. */
async function read(events, count) {
  const ids = [];
  for await (const { id } of events) if (ids.push(id) === count) break;
  return ids;
}
const sent = (asked) => asked.map(({ body }) => body.variables?.after);
const end = (response) => response.end();
const cut = (response) => response.write(':\n\n', () => response.destroy()); // when what was written before is on its way
const position = { body: { data: { feedPosition: 'p' } } };

test('events go on after the last one, whatever happens to the connection', () => withServer([
  position, stream(['1', '2'], end), broken, { status: 503, body: '' }, stream(['3'], cut), stream(['4']),
], async (atrium, { asked }) => {
  const seen = [];
  assert.deepEqual(await read(atrium.events({ kinds: ['REGISTRY_REPO_CREATED'] }, { onConnection: (open) => seen.push(open) }), 4), ['1', '2', '3', '4']);
  assert.deepEqual(sent(asked).slice(1), ['p', '2', '2', '2', '3']);
  assert.deepEqual(asked[1].body.variables.kinds, ['REGISTRY_REPO_CREATED']);
  assert.deepEqual(seen, [true, false, false, false, true, false, true]);
}));

test('a break before the first event loses nothing', () => withServer([position, stream([], end), stream(['1'])], async (atrium, { asked }) => {
  assert.deepEqual(await read(atrium.events(), 1), ['1']);
  assert.deepEqual(sent(asked), [undefined, 'p', 'p']);
}));

test('a part of an event that a broken connection has cut off is not yielded', () => withServer([
  stream(['1'], (response) => response.end('event: next\ndata: {"data":{"events":{"id":"2"}}}')), stream(['2']),
], async (atrium, { asked }) => {
  assert.deepEqual(await read(atrium.events({ after: '' }), 2), ['1', '2']);
  assert.deepEqual(sent(asked), ['', '1']);
}));

test('events are read in whatever parts and line ends they come', () => withServer([(response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const text = Buffer.from(':\r\n\r\nevent: next\r\ndata: {"data":{"events":\r\ndata: {"id":"ü"}}}\r\n\r\n');
  const parts = [...text].map((byte) => Buffer.of(byte));
  const write = () => (parts.length > 0 ? response.write(parts.shift(), () => setImmediate(write)) : undefined);
  write();
}], async (atrium) => assert.deepEqual(await read(atrium.events({ after: '' }), 1), ['ü'])));

test('a silent connection counts as lost', () => withServer([stream([]), stream(['1'])], async (atrium, { asked }) => {
  assert.deepEqual(await read(atrium.events({ after: '' }, { silence: 20 }), 1), ['1']);
  assert.equal(asked.length, 2);
}));

test('an expired token is renewed when the stream ends', () => withServer([stream(['1'], end), { status: 401, body: { code: 16, message: 'expired', details: [] } }, stream(['2'])], async (atrium, { asked }) => {
  assert.deepEqual(await read(atrium.events({ after: '' }), 2), ['1', '2']);
  assert.deepEqual(asked.map(({ headers }) => headers.authorization), ['Bearer old', 'Bearer old', 'Bearer new']);
}, { token: (refused) => (refused ? 'new' : 'old') }));

test('what the server refuses ends the events with an error', async () => {
  const refused = (response) => stream([], () => response.end('event: next\ndata: {"errors":[{"message":"no","extensions":{"code":"INVALID_ARGUMENT","reason":"INVALID_ARGUMENT","fields":[{"field":"after","path":["after"],"message":"After is not the id of a stored event."}]}}]}\n\nevent: complete\ndata: \n\n'))(response);
  await withServer([refused], async (atrium) => assert.rejects(read(atrium.events({ after: 'x' }), 1), { code: 'INVALID_ARGUMENT', fields: [{ field: 'after', path: ['after'], message: 'After is not the id of a stored event.' }] }));
  await withServer([{ status: 401, body: { code: 16, message: 'no', details: [] } }], async (atrium) => assert.rejects(read(atrium.events({ after: '' }), 1), { code: 'UNAUTHENTICATED' }));
});

test('a subscription of the caller ends when the server completes it, and must select the id', async () => {
  const complete = (response) => response.end('event: complete\ndata: \n\n');
  await withServer([stream(['1'], complete)], async (atrium) => {
    const results = [];
    for await (const result of atrium.subscribe('subscription ($after: String) { events(after: $after, first: 1) { id } }', { after: '' })) results.push(result);
    assert.deepEqual(results, [{ events: { id: '1' } }]);
  });
  await withServer([stream([], (response) => response.write('event: next\ndata: {"data":{"events":{"type":"t"}}}\n\n'))], async (atrium) => {
    await assert.rejects(async () => { for await (const result of atrium.subscribe('subscription { events { type } }', { after: '' })) void result; }, TypeError);
  });
});

test('a signal ends the events, and a break of the loop ends the connection', async () => {
  let closed;
  const open = stream(['1'], (response) => { closed = new Promise((done) => response.on('close', done)); });
  await withServer([open], async (atrium) => {
    const stop = new AbortController();
    await assert.rejects(async () => { for await (const { id } of atrium.events({ after: '' }, { signal: stop.signal })) if (id) stop.abort(new Error('enough')); }, { message: 'enough' });
    await closed;
  });
  await withServer([open], async (atrium) => {
    await read(atrium.events({ after: '' }), 1);
    await closed;
  });
});
