// This suite checks metrics from end to end. Debian's Prometheus scrapes the server while it has traffic, and an import while it
// runs. Every metric of Atrium must be above zero, and every query of the dashboard and of the alert rules must have an answer.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, check, data, endpoint, finish, freePort, headers, patience, run, site, temporary, temporaryFolder } from '../lib.mjs';
import { startSink } from '../receiver.mjs';

const deploy = join(import.meta.dirname, '../../deploy');
const metrics = process.env.ATRIUM_TEST_METRICS ?? assert.fail('ATRIUM_TEST_METRICS is not set');
const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const pause = (ms) => new Promise((go) => setTimeout(go, ms));

await check('promtool accepts the rules and the configuration', async () => {
  for (const args of [['check', 'rules', `${deploy}/prometheus/alerts.yaml`], ['check', 'config', `${deploy}/prometheus/prometheus.yaml`]]) {
    const { code, text } = await run('promtool', args);
    assert.equal(code, 0, text);
  }
});

await check('each alert fires only when it must', async () => {
  const { code, text } = await run('promtool', ['test', 'rules', `${deploy}/prometheus/alerts_test.yaml`]);
  assert.equal(code, 0, text);
  const alerts = [...readFileSync(`${deploy}/prometheus/alerts.yaml`, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const tests = readFileSync(`${deploy}/prometheus/alerts_test.yaml`, 'utf8');
  for (const name of alerts) assert.match(tests, new RegExp(`alertname: ${name}\\n +exp_alerts:`), `no test makes ${name} fire`);
  return `${alerts.length} alerts`;
});

const text = await (await fetch(metrics)).text();
await check('promtool reports no problem with the metrics', async () => {
  const folder = temporary('metrics.txt', text);
  const { code, text: said } = await run('sh', ['-c', `promtool check metrics < ${folder}`]);
  assert.equal(code, 0, said);
});

await check('profiles and metrics are at the private address only', async () => {
  assert.equal((await fetch(metrics.replace('/metrics', '/debug/pprof/heap'))).status, 200);
  for (const path of ['/metrics', '/debug/pprof/heap']) assert.equal((await fetch(site + path)).status, 404);
});

const port = await freePort(), importPort = await freePort();

// This Prometheus belongs to the suite. It scrapes every second, and has the rules of the repository.
const config = temporary('prometheus.yaml', `
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [${deploy}/prometheus/alerts.yaml]
scrape_configs:
  - job_name: atrium
    static_configs: [{targets: [${new URL(metrics).host}]}]
  - job_name: atrium-import
    static_configs: [{targets: ['127.0.0.1:${importPort}']}]
`);
const prometheus = spawn('prometheus', [`--config.file=${config}`, `--storage.tsdb.path=${temporaryFolder()}/tsdb`, `--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'], { stdio: 'inherit' });
process.on('exit', () => prometheus.kill('SIGKILL'));

/** Sends a query to Prometheus, and returns the series that it finds. */
async function query(expression) {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?` + new URLSearchParams({ query: expression }));
  const answer = await response.json();
  assert.equal(answer.status, 'success', `${expression}: ${answer.error}`);
  return answer.data.result;
}

/** Waits until a query finds what is wanted. */
async function waitUntil(expression, isWanted, otherwise) {
  for (const end = Date.now() + patience * 1000; Date.now() < end; await pause(500)) {
    const found = await query(expression).catch(() => []);
    if (isWanted(found)) return;
  }
  assert.fail(`${expression} ${otherwise}`);
}

const waitUntilAbove = (expression) => waitUntil(expression, (found) => found.some(({ value }) => Number(value[1]) > 0), 'is not above zero');

const sink = await startSink(({ path }, seen) => path === '/flaky' && seen === 0 ? { status: 500 } : {});
let stop = false;

/** Sends requests of all kinds that metrics count, until the suite has seen all metrics. */
async function traffic() {
  const { groups } = await data('{ groups(first: 1) { nodes { uid } } }');
  const parent = groups.nodes[0].uid, name = `metrics-${Date.now()}`;
  const { createGroup: { group } } = await data('mutation Group($i: CreateGroupInput!) { createGroup(input: $i) { group { uid } } }', { i: { parent, name } });
  for (const path of ['/works', '/flaky']) {
    await data('mutation Sink($i: CreateSubscriptionInput!) { createSubscription(input: $i) { subscription { uid } } }', { i: { parent: group.uid, sink: sink.url + path } });
  }
  const json = { ...headers, 'Content-Type': 'application/json' };
  const live = new AbortController();
  fetch(endpoint, { method: 'POST', signal: live.signal, headers: { ...json, Accept: 'text/event-stream' }, body: JSON.stringify({ query: 'subscription Live { events { id } }' }) })
    .then(async ({ body }) => { for await (const _ of body); }).catch(() => {});
  for (let i = 0; !stop; i++) {
    await data('mutation Repo($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', { i: { parent: group.uid, name: `${name}-${i}` } });
    await data('query Page { repos(first: 50) { totalCount nodes { name tags(first: 5) { nodes { name } } } } }');
    await ask(`{ ${Array.from({ length: 200 }, (_, n) => `a${n}: repos(first: 200) { nodes { tags(first: 200) { nodes { name } } } }`).join(' ')} }`);
    await Promise.all(Array.from({ length: 40 }, () => fetch(`${site}/registry/v2/repos?page_size=200`, { headers }).then((r) => r.text())));
    await fetch(`${site}/registry/v2/repos/none`, { headers });
    await fetch(`${site}/registry/v2/repos`, { headers: { Authorization: 'Bearer wrong' } });
    await fetch(`${site}/platform.registry.v2.ReposService/ListRepos`, { method: 'POST', headers: json, body: '{}' });
    await fetch(`${site}/docs`);
    await pause(100);
  }
  live.abort();
}
const busy = traffic();

/** Imports libraries from a pipe into a separate database, until the suite has seen all metrics of the import. */
async function importLibraries() {
  const database = ['--database-url', `sqlite:${join(temporaryFolder(), 'import.db')}`], pipe = join(temporaryFolder(), 'libraries.jsonl');
  for (const [command, args] of [[program, ['admin', 'migrate', 'up', ...database]], ['mkfifo', [pipe]]]) {
    const { code, text } = await run(command, args);
    assert.equal(code, 0, text);
  }
  const ended = run(program, ['admin', 'import', 'artifacts', ...database, '--metrics-addr', `127.0.0.1:${importPort}`, pipe]);
  const records = createWriteStream(pipe);
  records.on('error', () => {}); // The exit status of the import says why it closed the pipe.
  for (let i = 0; !stop; i++) {
    records.write(JSON.stringify({ ecosystem: 'PYTHON', name: `library-${i}`, versions: [{ version: '1.0.0', sizeBytes: 1, time: '2026-01-01T00:00:00Z' }] }) + '\n');
    await pause(10);
  }
  records.end();
  return ended;
}
const importing = importLibraries();

// These metrics must be above zero.
const families = [...text.matchAll(/^# TYPE (atrium_\w+) (\w+)$/gm)].map(([, name, type]) => type === 'histogram' ? `${name}_count` : name);
const declared = [...readFileSync(join(import.meta.dirname, '../../internal/telemetry/metrics.go'), 'utf8').matchAll(/m\.(\w+)\("(atrium_\w+)"/g)]
  .map(([, kind, name]) => kind.startsWith('histogram') ? `${name}_count` : name);
await check('Prometheus finds the server', () => waitUntilAbove('up{job="atrium"}'), 40);
await check('Prometheus finds the import', () => waitUntilAbove('up{job="atrium-import"}'), 40);
const specials = {
  // Prometheus seldom sees anything that waits, or an attempt that runs. Counters show that requests have waited, and Go tests let events and deliveries wait.
  atrium_requests_waiting: 'atrium_requests_waiting + 1',
  atrium_delivery_attempts_running: 'atrium_delivery_attempts_running + 1',
  atrium_event_waiting_seconds: 'atrium_event_waiting_seconds + 1',
  atrium_delivery_waiting_seconds: 'atrium_delivery_waiting_seconds + 1',
  // The feed of the server works; the suite sources has some that do not.
  atrium_sources_failing: 'atrium_sources_failing + 1',
  atrium_sources_stale: 'atrium_sources_stale + 1',
  // A server that is ready has no migration left.
  atrium_migrations_pending: 'atrium_migrations_pending + 1',
  // Nothing is wrong with the log, and no limit refuses a caller of an organization. Go tests cause both.
  atrium_log_lines_lost_total: 'atrium_log_lines_lost_total + 1',
  atrium_organization_refusals_total: 'atrium_organization_refusals_total + 1',
};
for (const name of new Set([...declared, ...families])) {
  await check(`${name} is above zero`, async () => { await waitUntilAbove(specials[name] ?? `max_over_time(${name}[1m])`); }, 40);
}

const dashboard = JSON.parse(readFileSync(`${deploy}/grafana/atrium.json`, 'utf8'));
for (const panel of dashboard.panels.filter(({ targets }) => targets)) {
  await check(`the dashboard's panel "${panel.title}" shows data`, async () => {
    for (const { expr } of panel.targets) {
      if (/atrium_(tls_|db_read|db_standby)/.test(expr)) continue; // This server has no certificate and no standby. A Go test compares the names.
      await waitUntil(expr.replaceAll('$job', 'atrium').replaceAll('$__rate_interval', '30s'), (found) => found.length > 0, 'finds nothing');
    }
  });
}

await check('Prometheus evaluates every rule', async () => {
  const answer = await (await fetch(`http://127.0.0.1:${port}/api/v1/rules`)).json();
  const rules = answer.data.groups.flatMap((group) => group.rules);
  assert.ok(rules.length >= 9);
  for (const rule of rules) {
    assert.equal(rule.health, 'ok', `${rule.name}: ${rule.health} ${rule.lastError ?? ''}`);
    const [series] = rule.query.match(/atrium_\w+|up/);
    if (series.startsWith('atrium_tls_')) continue; // The server has no certificate.
    assert.ok((await query(`${series}{job="atrium"}`)).length > 0, `${rule.name} uses ${series}, which does not exist`);
  }
  return `${rules.length} rules`;
});

stop = true;
await busy;
await check('the import succeeds', async () => {
  const { code, text } = await importing;
  assert.equal(code, 0, text);
});
finish();
