// This script starts a server with the given program, runs the suites, and prints a line for each. `run` calls it. The suites that
// use this server run one after the other, and beside them those that start servers of their own. Suites that measure run at the end.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [program, ...chosen] = process.argv.slice(2);
const suites = readdirSync(new URL('suites', import.meta.url)).filter((file) => chosen.length === 0 || chosen.includes(file.replace('.mjs', '')));
if (suites.length === 0) throw new Error(`no such suite: ${chosen}`);
const apart = new Set(['console-answers', 'console-failures', 'console-imported', 'console-sign-in', 'domains', 'examples', 'from-ci', 'image', 'login', 'packages', 'pooler', 'proxies', 'replicas', 'restart', 'sign-in', 'soak', 'sources', 'traces', 'typescript-client'].map((name) => `${name}.mjs`));
const measuring = new Set(['overload.mjs']);
const suiteSeconds = 3600; // The longest suite takes ten minutes, unless the machine is busy.

const folder = mkdtempSync(join(tmpdir(), 'atrium-e2e-'));
const database = ['--database-url', `sqlite:${folder}/atrium.db`];
// The sinks of the suites listen on these ports, which are below those that the kernel gives to connections: four of the suites that
// use this server, four of the others.
const sinkPorts = Array.from({ length: 8 }, (_, n) => 11000 + process.pid % 250 * 8 + n);
const sinks = sinkPorts.slice(0, 4).flatMap((port) => ['--private-sink', `127.0.0.1:${port}`]);
// The server reads a feed by itself.
const feed = createServer((_, response) => response.end('#model_version:v1,score_date:2026-03-01T00:00:00Z\ncve,epss,percentile\nCVE-2026-99999,0.5,0.9\n'));
await new Promise((done) => feed.listen(0, '127.0.0.1', done));
feed.unref();
const feedHost = `127.0.0.1:${feed.address().port}`, feeds = ['--private-source', feedHost, '--feeds', `epss@http://${feedHost}/epss.csv`];
const output = join(folder, 'output'), log = join(folder, 'log');
const server = spawn(program, ['serve', '--dev', '--addr', '127.0.0.1:0', '--metrics-addr', '127.0.0.1:0', ...sinks, ...feeds, ...database], { stdio: ['ignore', openSync(output, 'w'), openSync(log, 'w')] });

process.on('exit', () => {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** Waits until the server is ready, and returns its URL. */
async function ready() {
  for (const end = Date.now() + 120_000; Date.now() < end; await new Promise((go) => setTimeout(go, 100))) {
    if (server.exitCode !== null) break;
    const [site] = readFileSync(output, 'utf8').match(/http:\/\/\S+/) ?? [];
    if (site && (await fetch(site + '/readyz').catch(() => undefined))?.ok) return site;
  }
  throw new Error('the server did not start:\n' + readFileSync(log, 'utf8'));
}

/** Runs a suite. Returns whether it passed, and its output. */
const run = (suite, env) => new Promise((done) => {
  const child = spawn(process.execPath, [new URL(`suites/${suite}`, import.meta.url).pathname], { env: { ...process.env, ...env }, timeout: suiteSeconds * 1000, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => { text += chunk; });
  child.on('close', (code, signal) => done({ passed: code === 0, text: signal ? `${text}\nended by ${signal}` : text }));
});

const site = await ready();
const [, metrics] = readFileSync(log, 'utf8').match(/"msg":"metrics","url":"([^"]+)"/);
const token = spawnSync(program, ['token', ...database], { encoding: 'utf8' });
if (token.status !== 0) throw new Error('no token: ' + token.stderr);

let failed = 0;
/** Runs suites one after the other. */
async function runInTurn(suites, ports) {
  for (const suite of suites) {
    const started = Date.now();
    const { passed, text } = await run(suite, { ATRIUM_URL: site, ATRIUM_TOKEN: token.stdout.trim(), ATRIUM_TEST_METRICS: metrics, ATRIUM_TEST_PROGRAM: program, ATRIUM_DATABASE_URL: database[1], ATRIUM_TEST_SINK_PORTS: ports.join() });
    const [result] = text.match(/^(\d+ passed, \d+ failed|skipped: .*)$/m) ?? ['it ended early'];
    console.log(`${passed ? 'ok  ' : 'FAIL'}  ${suite.replace('.mjs', '').padEnd(16)} ${result.padEnd(22)} ${((Date.now() - started) / 1000).toFixed(1)} s`);
    if (passed) continue;
    failed++;
    // Only the failed checks are printed.
    console.log(text.split('\n').filter((line) => !/^(ok {4}|\d+ passed)/.test(line)).join('\n').trimEnd().replace(/^/gm, '      '));
  }
}
await Promise.all([
  runInTurn(suites.filter((suite) => !apart.has(suite) && !measuring.has(suite)), sinkPorts.slice(0, 4)),
  runInTurn(suites.filter((suite) => apart.has(suite)), sinkPorts.slice(4)),
]);
await runInTurn(suites.filter((suite) => measuring.has(suite)), sinkPorts.slice(4));
console.log(`${suites.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
