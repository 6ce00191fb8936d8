// This suite runs public gRPC clients: grpcurl, grpc-health-probe and ghz as published by their authors, a client with grpc-go,
// and gRPC-Web and Connect over plain HTTP. `run` builds them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { check, finish, headers, site } from '../lib.mjs';

const host = new URL(site).host;
const list = 'platform.registry.v2.ReposService/ListRepos';

/** Runs a client. Returns its exit code and its output. */
const run = (program, ...args) => new Promise((done) => {
  const path = fileURLToPath(new URL(`../bin/${program}`, import.meta.url));
  execFile(path, args, { maxBuffer: 64 << 20 }, (error, stdout, stderr) => done({ code: error ? error.code : 0, text: stdout + stderr, stdout }));
});
const grpcurl = (...args) => run('grpcurl', '-plaintext', ...args);
const token = ['-H', `authorization: ${headers.Authorization}`];

await check('grpcurl lists the services by reflection', async () => {
  const { text } = await grpcurl(host, 'list');
  for (const name of ['grpc.health.v1.Health', 'platform.iam.v2.GroupsService', 'platform.ping.v2.PingService', 'platform.registry.v2.ReposService']) assert.match(text, new RegExp(`^${name}$`, 'm'));
  return `${text.trim().split('\n').length} services`;
});
await check('grpcurl describes a message', async () => {
  const { text } = await grpcurl(host, 'describe', 'platform.registry.v2.Repo');
  assert.match(text, /string name = 2 /);
});
await check('grpcurl calls with a bearer token', async () => {
  const { code, stdout, text } = await grpcurl(...token, '-d', '{"page_size": 2, "order_by": "name"}', host, list);
  assert.equal(code, 0, text);
  const page = JSON.parse(stdout);
  assert.equal(page.repos.length, 2);
  return `${page.repos.map((repo) => repo.name)} of ${page.totalCount}`;
});
await check('grpcurl prints the details of an error', async () => {
  const { code, text } = await grpcurl(...token, '-d', '{"page_size": -1}', host, list);
  assert.notEqual(code, 0);
  for (const part of ['Code: InvalidArgument', 'google.rpc.ErrorInfo', 'google.rpc.BadRequest', 'page_size']) assert.ok(text.includes(part), text);
});
await check('grpcurl without a token is rejected, but may ping', async () => {
  assert.match((await grpcurl(host, list)).text, /Code: Unauthenticated/);
  assert.match((await grpcurl(host, 'platform.ping.v2.PingService/Ping')).text, /"response": "pong"/);
});
await check('grpc-health-probe reports that the server is serving', async () => {
  assert.match((await run('grpc-health-probe', `-addr=${host}`)).text, /status: SERVING/);
  assert.match((await run('grpc-health-probe', `-addr=${host}`, '-service=platform.iam.v2.GroupsService')).text, /status: SERVING/);
  assert.notEqual((await run('grpc-health-probe', `-addr=${host}`, '-service=none')).code, 0);
});
await check('ghz gets an answer to every request', async () => {
  const { stdout, text } = await run('ghz', '--insecure', '--call', list, '-m', JSON.stringify({ authorization: headers.Authorization }), '-d', '{"page_size": 50}', '-n', '200', '-c', '4', '-O', 'json', host);
  const report = JSON.parse(stdout || `"${text}"`);
  assert.deepEqual(report.statusCodeDistribution, { OK: 200 });
  return `${Math.round(report.rps)} pages a second, ${(report.average / 1e6).toFixed(1)} ms each`;
}, 60);

await check('grpc-go reads pages and errors', async () => {
  const { stdout, text } = await run('grpc');
  const steps = Object.fromEntries(stdout.trim().split('\n').map((line) => JSON.parse(line)).map((step) => [step.step, step]));
  assert.ok(steps.late, text);
  assert.deepEqual([steps.page.code, steps.page.answer.repos.length], ['OK', 2]);
  assert.equal(steps.compressed.code, 'OK');
  assert.deepEqual([steps.invalid.code, steps.invalid.details], ['InvalidArgument', ['*errdetails.ErrorInfo', '*errdetails.BadRequest']]);
  assert.equal(steps.nobody.code, 'Unauthenticated');
  assert.equal(steps.late.code, 'DeadlineExceeded');
});

/** Posts one gRPC-Web frame. Returns the message and the trailers of the answer. */
async function web(procedure, message, extra = headers) {
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const response = await fetch(`${site}/${procedure}`, { method: 'POST', headers: { ...extra, 'Content-Type': 'application/grpc-web+proto', 'X-Grpc-Web': '1' }, body: frame });
  let rest = Buffer.from(await response.arrayBuffer()), answer, trailers = Object.fromEntries(response.headers);
  for (; rest.length; rest = rest.subarray(5 + rest.readUInt32BE(1))) {
    const content = rest.subarray(5, 5 + rest.readUInt32BE(1));
    if (rest[0] & 0x80) trailers = Object.fromEntries(content.toString().trim().split('\r\n').map((line) => line.split(/: ?/)));
    else answer = content;
  }
  return { answer, trailers };
}

await check('gRPC-Web works over plain HTTP', async () => {
  const { answer, trailers } = await web(list, Buffer.from([0x20, 2]));
  assert.equal(trailers['grpc-status'], '0');
  assert.equal(answer[0], 0x0a); // This is the tag of the first repo.
  const refused = await web(list, Buffer.alloc(0), {});
  assert.equal(refused.trailers['grpc-status'], '16');
  assert.ok(refused.trailers['grpc-status-details-bin']);
});
await check('Connect works with JSON by POST and GET', async () => {
  const posted = await fetch(`${site}/${list}`, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: '{"pageSize": 2}' });
  assert.equal((await posted.json()).repos.length, 2);
  const got = await fetch(`${site}/${list}?encoding=json&message=${encodeURIComponent('{"pageSize": 2}')}`, { headers });
  assert.equal((await got.json()).repos.length, 2);
  const refused = await fetch(`${site}/${list}`, { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: 'Bearer nonsense' }, body: '{}' });
  assert.equal(refused.status, 401);
  assert.deepEqual([refused.headers.get('WWW-Authenticate'), (await refused.json()).code], ['Bearer error="invalid_token"', 'unauthenticated']);
});
finish();
