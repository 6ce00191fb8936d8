// This suite checks traces from end to end. A separate server sends its spans to a receiver of OTLP over HTTP, which decodes them
// with the public definitions of that protocol. The spans form one trace, which continues in a webhook.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createRequire } from 'node:module';
import { check, finish, run, temporaryFolder } from '../lib.mjs';
import { sinkFlags, startSink } from '../receiver.mjs';

const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
// Only the copy of the definitions in the transformer can decode.
const root = createRequire(import.meta.url)('@opentelemetry/otlp-transformer/build/src/generated/root.js');
const request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

const spans = [], services = new Set();
const collector = createServer((asked, answer) => {
  const parts = [];
  asked.on('data', (part) => parts.push(part));
  asked.on('end', () => {
    const body = Buffer.concat(parts);
    const { resourceSpans } = request.decode(asked.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
    for (const { resource, scopeSpans } of resourceSpans) {
      services.add(resource.attributes.find(({ key }) => key === 'service.name').value.stringValue);
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    answer.end();
  });
});
await new Promise((done) => collector.listen(0, '127.0.0.1', done));

const database = `sqlite:${join(temporaryFolder(), 'atrium.db')}`;
const server = spawn(program, ['serve', '--dev', '--addr', '127.0.0.1:0', '--metrics-addr=', '--database-url', database, '--log-format', 'json', ...sinkFlags], {
  env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.address().port}`, OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip', OTEL_SERVICE_NAME: 'inventory', OTEL_BSP_SCHEDULE_DELAY: '100' },
  stdio: ['ignore', 'ignore', 'pipe'],
});
process.on('exit', () => server.kill('SIGKILL'));
let log = '';
server.stderr.setEncoding('utf8').on('data', (chunk) => { log += chunk; });
const until = async (found) => {
  for (;;) {
    const value = found();
    if (value) return value;
    await new Promise((go) => setTimeout(go, 50));
  }
};
const site = (await until(() => log.match(/"msg":"serving","url":"([^"]+)"/)))[1];
const token = (await run(program, ['token', '--database-url', database])).out.trim();

const hex = (bytes) => Buffer.from(bytes).toString('hex');
const trace = (n) => `0af7651916cd43dd8448eb211c8031${n}`, remote = 'b7ad6b7169203331';

async function ask(n, path, body) {
  const response = await fetch(site + path, {
    method: body ? 'POST' : 'GET', body: body && JSON.stringify(body),
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', traceparent: `00-${trace(n)}-${remote}-01` },
  });
  assert.equal(response.status, 200, await response.clone().text());
  return response.json();
}

/** Reports whether a span has a name, or for the name database whether it is a span of the database. */
const isNamed = (span, name) => name === 'database' ? span.attributes.some(({ key }) => key === 'db.query.text') : span.name === name;

/** Waits for a chain of spans, in which each span is a child of the one before. */
async function chain(n, ...names) {
  let parent = remote;
  for (const name of names) {
    const span = await until(() => spans.find((other) => hex(other.traceId) === trace(n) && hex(other.parentSpanId) === parent && isNamed(other, name)));
    parent = hex(span.spanId);
  }
  return parent;
}

let group;
await check('a GraphQL request is one trace: the request, its operation, its fields and their statements', async () => {
  const { data } = await ask('01', '/graphql', { query: 'query Page { groups(first: 1) { nodes { uid repos(first: 2) { nodes { name } } } } }' });
  group = data.groups.nodes[0].uid;
  await chain('01', 'POST /graphql', 'query', 'Query.groups', 'database');
  await chain('01', 'POST /graphql', 'query', 'Group.repos');
  assert.deepEqual([...services], ['inventory']);
});
await check('a REST request is one trace', () => ask('02', '/registry/v2/repos?page_size=1').then(() => chain('02', 'GET /registry/v2/repos', 'ListRepos', 'database')).then(() => undefined));
await check('a Connect request is one trace', () => ask('03', '/platform.registry.v2.ReposService/ListRepos', {}).then(() => chain('03', 'platform.registry.v2.ReposService/ListRepos', 'ListRepos', 'database')).then(() => undefined));

await check('a trace continues in a webhook', async () => {
  const sink = await startSink();
  await ask('04', '/graphql', { query: 'mutation S($i: CreateSubscriptionInput!) { createSubscription(input: $i) { subscription { uid } } }', variables: { i: { parent: group, sink: sink.url } } });
  await ask('05', '/graphql', { query: 'mutation Make($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', variables: { i: { parent: group, name: 'traced' } } });
  const delivery = await until(() => sink.received.find(({ headers }) => headers['ce-traceparent']?.includes(trace('05'))));
  const [, name, sent, flags] = delivery.headers.traceparent.split('-');
  assert.deepEqual([name, flags], [trace('05'), '01']);
  const span = await until(() => spans.find(({ spanId }) => hex(spanId) === sent));
  assert.equal(span.name, 'POST');
  assert.equal(hex(span.parentSpanId), await chain('05', 'POST /graphql', 'mutation'));
  assert.ok(span.attributes.some(({ key, value }) => key === 'cloudevents.event_id' && value.stringValue === delivery.headers['ce-id']));
}, 60);

await check('the log has the trace of each request', async () => {
  await until(() => log.includes(`"trace_id":"${trace('01')}"`));
  const line = log.split('\n').find((text) => text.includes(trace('01')));
  assert.equal(JSON.parse(line).operation, 'Page');
});
await check('no span contains texts of people', () => {
  const text = JSON.stringify(spans);
  assert.ok(!text.includes('traced') && !text.includes(token));
});

finish();
