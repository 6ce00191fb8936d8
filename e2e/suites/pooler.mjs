// This suite runs Atrium behind pgbouncer in transaction mode: commands, imports, feeds and webhooks, without and with a direct URL.
// It starts its own PostgreSQL and pgbouncer.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, finish, run } from '../lib.mjs';
import { sinkFlags } from '../receiver.mjs';

const root = join(import.meta.dirname, '../..');
const pooler = process.env.ATRIUM_TEST_POOLER;
if (!pooler) {
  if (spawnSync(join(root, 'scripts/debian-program'), ['pgbouncer', 'libevent-2.1-7', 'libc-ares2']).status !== 0) {
    console.log('skipped: pgbouncer is not installed');
    process.exit(0);
  }
  const [postgres, pgbouncer] = ['with-postgres', 'with-pgbouncer'].map((name) => join(root, 'scripts', name));
  const { status } = spawnSync(postgres, [pgbouncer, process.execPath, import.meta.filename], { stdio: 'inherit' });
  process.exit(status ?? 1);
}

const program = process.env.ATRIUM_TEST_PROGRAM;
const direct = process.env.ATRIUM_TEST_POSTGRES;
const pooled = direct.replace(/@[^/]+/, `@${pooler}`);
const folder = mkdtempSync(join(tmpdir(), 'atrium-pooler-'));
let server;
process.on('exit', () => server?.kill());

const atrium = async (...args) => {
  const { code, text, out } = await run(program, [...args, '--database-url', pooled], {}, root);
  assert.equal(code, 0, text);
  return out;
};

/** Starts a server behind the pooler. Returns its URL and a function that reads its log. */
async function serve(name, ...flags) {
  const output = join(folder, `${name}.out`), log = join(folder, `${name}.log`);
  server = spawn(program, ['serve', '--dev', '--addr', '127.0.0.1:0', '--metrics-addr=', '--database-url', pooled, ...sinkFlags, ...flags],
    { stdio: ['ignore', openSync(output, 'w'), openSync(log, 'w')] });
  for (const end = Date.now() + 120_000; Date.now() < end && server.exitCode === null; await new Promise((go) => setTimeout(go, 100))) {
    const [site] = readFileSync(output, 'utf8').match(/http:\/\/[0-9.:]+/) ?? [];
    if (site && (await fetch(site + '/readyz').catch(() => undefined))?.ok) return { site, said: () => readFileSync(log, 'utf8') };
  }
  throw new Error('the server did not start:\n' + readFileSync(log, 'utf8'));
}

const end = () => new Promise((ended) => { server.once('exit', ended).kill(); });

/** Runs another suite against a server. */
async function suite(name, site) {
  const token = (await atrium('token')).trim();
  const { code, text } = await run(process.execPath, [join(import.meta.dirname, `${name}.mjs`)], { ATRIUM_URL: site, ATRIUM_TOKEN: token, ATRIUM_DATABASE_URL: pooled });
  assert.equal(code, 0, text);
  return text.match(/^\d+ passed/m)?.[0];
}

await check('several commands migrate an empty database concurrently', async () => {
  await Promise.all([atrium('admin', 'migrate', 'up'), atrium('admin', 'migrate', 'up')]);
  assert.doesNotMatch(await atrium('admin', 'migrate', 'status'), /pending/);
}, 60);

const poolers = (said) => said.split('\n').filter((line) => line.includes('a pooler is between'));

let instance;
await check('a server serves, and logs once that it is behind a pooler', async () => {
  instance = await serve('alone');
  assert.equal(poolers(instance.said()).length, 1, instance.said());
  assert.match(poolers(instance.said())[0], /WARN.*not prepared.*database-direct-url/);
}, 60);
await check('feeds and websockets work', () => suite('subscriptions', instance.site), 60);
await check('webhooks work', () => suite('webhooks', instance.site), 60);
await check('imports and rotate-keys work', async () => {
  const token = (await atrium('token')).trim();
  const answer = await fetch(`${instance.site}/iam/v2/groups?name=acme`, { headers: { Authorization: `Bearer ${token}` } });
  const org = (await answer.text()).match(/[0-9a-f]{40}/)[0];
  await atrium('import', 'osv', '--group', org, 'docs/samples/advisories.json');
  await atrium('import', 'registry', '--group', org, 'docs/samples/registry.jsonl');
  await atrium('admin', 'rotate-keys');
  await atrium('admin', 'recount');
}, 60);
await check('nothing was logged as an error', () => assert.doesNotMatch(instance.said(), /"level":"ERROR"|prepared statement|unsupported startup/));
await end();

await check('with a direct URL, notifications are received', async () => {
  instance = await serve('direct', '--database-direct-url', direct);
  assert.match(poolers(instance.said())[0], /INFO.*received by --database-direct-url/);
}, 60);
await check('webhooks work with a direct URL', () => suite('webhooks', instance.site), 60);
await check('with a direct URL, nothing was logged as an error', () => assert.doesNotMatch(instance.said(), /"level":"ERROR"|not receiving/));
await end();
await check('a direct URL of another database is rejected', async () => {
  const other = await run(program, ['admin', 'migrate', 'up', '--database-url', pooled, '--database-direct-url', direct.replace('/postgres?', '/template1?')]);
  assert.equal(other.code, 1);
  assert.match(other.text, /leads to another database/);
});

finish();
