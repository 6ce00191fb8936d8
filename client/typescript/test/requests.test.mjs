import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AtriumError, createClient } from '../dist/index.js';
import { broken, withServer } from './server.mjs';

const empty = { body: { repos: [], totalCount: '0', skipped: 0 } };
const repos = (atrium, init) => atrium.rest.GET('/registry/v2/repos', init);
const create = (atrium, headers) => atrium.rest.POST('/registry/v2/repos/{uid}', { params: { path: { uid: 'a' } }, body: { name: 'x' }, headers });
const busy = (status, after) => ({ status, headers: after === undefined ? {} : { 'Retry-After': after }, body: { code: 14, message: 'busy', details: [] } });
const bearers = (asked) => asked.map(({ headers }) => headers.authorization);

test('a request has the token, and its answer is data and a response', () => withServer([{ ...empty, headers: { ETag: '"1"' } }], async (atrium, { asked }) => {
  const { data, response } = await repos(atrium, { params: { query: { name: 'a b', page_size: 2 } } });
  assert.deepEqual(data, empty.body);
  assert.equal(response.headers.get('ETag'), '"1"');
  assert.equal(asked[0].url, '/registry/v2/repos?name=a%20b&page_size=2');
  assert.deepEqual(bearers(asked), ['Bearer first']);
}));

test('a read is sent again after a broken connection, a bad gateway and an overload, and not more often than attempts', async () => {
  await withServer([broken, busy(502), busy(503), empty], async (atrium, { asked }) => {
    await repos(atrium);
    assert.equal(asked.length, 4);
  });
  await withServer([broken, broken], async (atrium, { asked }) => {
    await assert.rejects(repos(atrium), { name: 'AtriumError', code: 'UNAVAILABLE', status: 0 });
    assert.equal(asked.length, 2);
  }, { attempts: 2 });
});

test('it waits as long as the server says, and fails if that is too long', async () => {
  await withServer([busy(429, '7'), empty], async (atrium, { waits }) => {
    await repos(atrium);
    assert.ok(waits.length === 1 && waits[0] >= 7000 && waits[0] < 8000, String(waits));
  });
  await withServer([busy(503, '3600')], async (atrium, { asked }) => {
    await assert.rejects(repos(atrium), { status: 503, retryAfter: 3600 });
    assert.equal(asked.length, 1);
  });
});

test('a change whose outcome is unknown is not sent again', async () => {
  for (const answer of [broken, busy(502), busy(503), busy(504)]) {
    await withServer([answer, empty], async (atrium, { asked }) => {
      await assert.rejects(create(atrium), AtriumError);
      assert.equal(asked.length, 1);
    });
  }
});

test('a change is sent again with an Idempotency-Key, or if the server says that it has done nothing', async () => {
  for (const [answer, headers] of [[broken, { 'Idempotency-Key': 'k' }], [busy(504), { 'Idempotency-Key': 'k' }], [busy(429, '1'), {}], [busy(503, '1'), {}]]) {
    await withServer([answer, { body: { uid: 'a/b', name: 'x' } }], async (atrium, { asked }) => {
      assert.equal((await create(atrium, headers)).data.uid, 'a/b');
      assert.deepEqual(asked.map(({ body }) => body), [{ name: 'x' }, { name: 'x' }]);
    });
  }
});

const refusal = { status: 401, body: { code: 16, message: 'expired', details: [] } };

test('a refused token is renewed once', async () => {
  await withServer([refusal, empty], async (atrium, { asked }) => {
    await repos(atrium);
    assert.deepEqual(bearers(asked), ['Bearer old', 'Bearer new']);
  }, { token: (refused) => (refused === 'old' ? 'new' : 'old') });
  await withServer([refusal, refusal], async (atrium, { asked }) => {
    await assert.rejects(repos(atrium), { code: 'UNAUTHENTICATED', status: 401 });
    assert.equal(asked.length, 2);
  }, { token: () => 'bad' });
  await withServer([refusal], async (atrium, { asked }) => {
    await assert.rejects(repos(atrium), { code: 'UNAUTHENTICATED' });
    assert.equal(asked.length, 1, 'a fixed token cannot be renewed');
  });
});

test('requests that are refused together share one renewal', async () => {
  let refusals = 0, renewals = 0, renew;
  const atrium = createClient({
    url: 'http://atrium.test',
    token: (refused) => (refused === undefined ? 'old' : new Promise((done) => { renewals++; renew = () => done('new'); })),
    fetch: async ({ headers }) => {
      const good = headers.get('Authorization') === 'Bearer new';
      if (!good && ++refusals === 3) setImmediate(() => renew()); // when all three have asked for another token
      return Response.json(good ? empty.body : refusal.body, { status: good ? 200 : 401 });
    },
  });
  await Promise.all([repos(atrium), repos(atrium), repos(atrium)]);
  assert.deepEqual([refusals, renewals], [3, 1]);
});

test('an error of REST has its code, reason, fields and request', () => withServer([{
  status: 412, headers: { 'X-Request-Id': 'R1' },
  body: { code: 9, message: 'no', details: [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'FAILED_PRECONDITION', domain: 'd' },
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'name', description: 'must not be empty' }] },
    { '@type': 'type.googleapis.com/google.rpc.PreconditionFailure', violations: [{ type: 'LAST_OWNER' }] },
  ] },
}], async (atrium) => {
  const problem = await create(atrium).catch((caught) => caught);
  assert.ok(problem instanceof AtriumError);
  const { code, reason, fields, status, requestId, message } = problem;
  assert.deepEqual({ code, reason, fields, status, requestId, message }, {
    code: 'FAILED_PRECONDITION', reason: 'LAST_OWNER', fields: [{ field: 'name', message: 'must not be empty' }], status: 412, requestId: 'R1', message: 'no',
  });
}));

test('an answer of a proxy is an error with a code', () => withServer([{ status: 403, headers: { 'Content-Type': 'text/html' }, body: '<h1>no</h1>' }], async (atrium) => {
  await assert.rejects(repos(atrium), { code: 'PERMISSION_DENIED', reason: 'PERMISSION_DENIED', status: 403 });
}));

test('an error of GraphQL has its fields, and what was answered beside it', () => withServer([{ body: {
  data: { createRepo: null, ping: 'pong' },
  errors: [{ message: 'bad name', path: ['createRepo'], extensions: { code: 'INVALID_ARGUMENT', reason: 'INVALID_ARGUMENT', fields: [{ field: 'name', path: ['input', 'name'], message: 'Name is required.' }] } }],
} }], async (atrium, { asked }) => {
  await assert.rejects(atrium.graphql('mutation ($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } ping }', { i: {} }), {
    code: 'INVALID_ARGUMENT', fields: [{ field: 'name', path: ['input', 'name'], message: 'Name is required.' }], data: { createRepo: null, ping: 'pong' },
  });
  assert.deepEqual(asked[0].body.variables, { i: {} });
}));

test('queries are sent again, and mutations only if the caller says so', async () => {
  const pong = { body: { data: { ping: 'pong' } } };
  await withServer([broken, pong], async (atrium) => assert.deepEqual(await atrium.graphql('{ ping }'), { ping: 'pong' }));
  await withServer([broken, pong], async (atrium) => assert.rejects(atrium.graphql('mutation { x }'), { code: 'UNAVAILABLE' }));
  await withServer([broken, pong], async (atrium) => assert.deepEqual(await atrium.graphql('mutation { x }', {}, { repeatable: true }), { ping: 'pong' }));
});

test('a request that its caller aborts is not sent again', () => withServer([() => undefined, empty], async (atrium, { asked }) => {
  const stop = new AbortController(), reading = repos(atrium, { signal: stop.signal });
  while (asked.length === 0) await new Promise(setImmediate);
  stop.abort();
  await assert.rejects(reading, { name: 'AbortError' });
  assert.equal(asked.length, 1);
}));

test('a wrong address and a document that is no text are errors of the program', async () => {
  for (const url of ['ftp://x', 'https://x/?a=1']) assert.throws(() => createClient({ url }), TypeError);
  await withServer([], async (atrium) => assert.rejects(atrium.graphql({ kind: 'Document' }), TypeError));
});

test('pages and rows of REST', () => withServer([
  { body: { repos: [{ uid: '1' }, { uid: '2' }], nextPageToken: 't' } }, { body: { repos: [{ uid: '3' }] } },
  { body: { repos: [{ uid: '1' }], nextPageToken: 't' } },
], async (atrium, { asked }) => {
  const uids = [];
  for await (const { uid } of atrium.list('/registry/v2/repos', { params: { query: { page_size: 2 } } })) uids.push(uid);
  assert.deepEqual(uids, ['1', '2', '3']);
  assert.deepEqual(asked.map(({ url }) => url), ['/registry/v2/repos?page_size=2', '/registry/v2/repos?page_size=2&page_token=t']);
  for await (const page of atrium.pages('/registry/v2/repos')) {
    assert.equal(page.repos.length, 1);
    break;
  }
  assert.equal(asked.length, 3, 'a page that nobody reads is not asked for');
}));

test('rows of GraphQL, as nodes and as edges', async () => {
  const page = (rows, endCursor) => ({ body: { data: { repos: { ...rows, pageInfo: { hasNextPage: endCursor !== null, endCursor } } } } });
  await withServer([page({ nodes: [1, 2] }, 'c'), page({ edges: [{ node: 3 }] }, null)], async (atrium, { asked }) => {
    const rows = [];
    for await (const row of atrium.nodes('query ($after: String, $n: Int) { repos }', { n: 2 }, ({ repos }) => repos)) rows.push(row);
    assert.deepEqual(rows, [1, 2, 3]);
    assert.deepEqual(asked.map(({ body }) => body.variables), [{ n: 2 }, { n: 2, after: 'c' }]);
  });
  await withServer([page({ nodes: [1] }, 'c'), page({ nodes: [1] }, 'c')], async (atrium) => {
    await assert.rejects(async () => { for await (const row of atrium.nodes('{ repos }', {}, ({ repos }) => repos)) void row; }, TypeError);
  });
});
