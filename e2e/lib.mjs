// This file has the functions that the suites share: the address of the server, requests, and the output of checks.
// A suite is a separate script, which `run` calls with two variables:
//
//     ATRIUM_URL=http://127.0.0.1:8080 ATRIUM_TOKEN=$(atrium token) node suites/audit.mjs

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';

const requireVariable = (name) => process.env[name] || assert.fail(`${name} is not set`);

export const site = requireVariable('ATRIUM_URL');
export const endpoint = site + '/graphql';
export const headers = { Authorization: 'Bearer ' + requireVariable('ATRIUM_TOKEN') };

/** Posts a document and returns the answer with its errors. */
export async function ask(query, variables) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}

/** Returns the data of an answer, which must have no errors. */
export function dataOf(answer) {
  assert.ok(answer.data && !answer.errors, JSON.stringify(answer).slice(0, 500));
  return answer.data;
}

export const data = async (query, variables) => dataOf(await ask(query, variables));

/** Returns the schema that clients see, read with the full introspection query. */
export async function clientSchema() {
  const query = getIntrospectionQuery({ specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true, oneOf: true });
  return buildClientSchema(await data(query));
}

/** Returns some repos of the demonstration data, sorted by name. */
export async function someRepos() {
  const { repos } = await data('{ repos(first: 5) { nodes { uid name } } }');
  assert.ok(repos.nodes.length >= 2, 'there are fewer than two repos');
  return repos.nodes;
}

/** Returns the text of a page that needs no token. */
export async function read(path) {
  const response = await fetch(site + path);
  assert.equal(response.status, 200, `${path}: ${response.status}`);
  return response.text();
}

let folder;

/** Returns a temporary folder for the suite, which is removed when the suite ends. */
export function temporaryFolder() {
  if (folder) return folder;
  folder = mkdtempSync(join(tmpdir(), 'atrium-suite-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a file into that folder and returns its path. */
export function temporary(name, text) {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** The newest compiler of TypeScript, which node runs. Packages that generate code find an older one. */
export const tsc = join(import.meta.dirname, 'node_modules/typescript-7/bin/tsc');

/** Runs a program in this folder or another one. Returns its exit code, its whole output as text, and its standard output as out. */
export const run = (program, args, env = {}, cwd = import.meta.dirname) => new Promise((done, reject) => {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '', out = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    if (stream === child.stdout) out += chunk;
  });
  child.on('error', reject);
  child.on('close', (code) => done({ code, text, out }));
});

/**
 * Returns a port that nothing listens on. It is below the ports that the kernel gives to connections, one of which would take it
 * before a server does, and above those of the sinks. Suites that run at the same time begin at different ports.
 */
export async function freePort() {
  for (;;) {
    const port = nextPort++, probe = createServer();
    const isFree = await new Promise((done) => probe.on('error', () => done(false)).listen(port, '127.0.0.1', () => probe.close(() => done(true))));
    if (isFree) return port;
  }
}
let nextPort = 13100 + process.pid % 880 * 10;

const children = [];
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));

/** Starts a program, which ends with the suite. `said` of it has what it has printed. */
export function start(program, args, env = {}, cwd = import.meta.dirname) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  child.said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => { child.said += chunk; });
  return child;
}

/** Waits until `found` returns something. A child must not end before that. */
export async function until(found, child) {
  for (;;) {
    const value = await found();
    if (value) return value;
    if (child) assert.equal(child.exitCode, null, child.said);
    await new Promise((go) => setTimeout(go, 50));
  }
}

/** Serves demonstration data of the suite's own, from a server that can be stopped and started again at the same address. */
export async function serveDemo(...flags) {
  const program = requireVariable('ATRIUM_TEST_PROGRAM'), database = ['--database-url', `sqlite:${temporaryFolder()}/demo.db`];
  let server;
  const address = `127.0.0.1:${await freePort()}`;
  const demo = {
    site: '',
    async start() {
      server = start(program, ['serve', '--dev', '--addr', address, '--metrics-addr', '', ...flags, ...database]);
      [demo.site] = await until(() => server.said.match(/http:\/\/127[^\s"]+/), server);
      await until(async () => (await fetch(demo.site + '/readyz').catch(() => ({}))).ok, server);
    },
    async stop() {
      server.kill();
      await until(() => server.exitCode !== null || server.signalCode !== null);
    },
    token: async (role) => (await run(program, ['token', '--as', role, ...database])).out.trim(),
  };
  await demo.start();
  return demo;
}

/** How long a suite waits for what must come, in seconds. It comes soon, unless the machine is busy. */
export const patience = 120;

/** How many times as long as on a quiet machine a check may take. */
const busy = 20;

let passed = 0, failed = 0;

/** Runs one check, which takes less than some seconds on a quiet machine. The check fails if it throws or never ends. A value that it returns is printed with its name. */
export async function check(name, test, seconds = 15) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`the check did not end within ${busy * seconds} s`)), busy * seconds * 1000); });
  try {
    const result = await Promise.race([test(), late]);
    passed++;
    console.log(`ok    ${name}${result === undefined ? '' : ` (${result})`}`);
  } catch (problem) {
    failed++;
    console.log(`FAIL  ${name}\n      ${String(problem?.message ?? problem).trim().slice(0, 1000).replaceAll('\n', '\n      ')}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a suite, even if its packages still run something. */
export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
