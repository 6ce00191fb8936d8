// Functions that the suites share: the address of the server, requests, and the output of checks.
// A suite is a separate script, which `run` calls with two variables:
//
//     ATRIUM_URL=http://127.0.0.1:8080 ATRIUM_TOKEN=$(atrium token) node suites/audit.mjs

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';

const needed = (name) => process.env[name] || assert.fail(`${name} is not set`);

export const site = needed('ATRIUM_URL');
export const endpoint = site + '/graphql';
export const headers = { Authorization: 'Bearer ' + needed('ATRIUM_TOKEN') };

/** Posts a document and gives the answer, errors and all. */
export async function ask(query, variables) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}

/** What an answer without errors holds. */
export function dataOf(answer) {
  assert.ok(answer.data && !answer.errors, JSON.stringify(answer).slice(0, 500));
  return answer.data;
}

export const data = async (query, variables) => dataOf(await ask(query, variables));

/** The schema as clients see it, from the whole introspection query. */
export async function clientSchema() {
  const query = getIntrospectionQuery({ specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true, oneOf: true });
  return buildClientSchema(await data(query));
}

/** A few repos of the demonstration data, in the order of their names. */
export async function someRepos() {
  const { repos } = await data('{ repos(first: 5) { nodes { uid name } } }');
  assert.ok(repos.nodes.length >= 2, 'there are not two repos');
  return repos.nodes;
}

/** The text of a page that needs no token. */
export async function read(path) {
  const response = await fetch(site + path);
  assert.equal(response.status, 200, `${path}: ${response.status}`);
  return response.text();
}

let folder;

/** A folder of the suite's own, which goes away with it. */
export function temporaryFolder() {
  if (folder) return folder;
  folder = mkdtempSync(join(tmpdir(), 'atrium-suite-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a file into that folder and gives its path. */
export function temporary(name, text) {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** Runs a program in this folder (or in another) and gives how it ended and what it printed: all of it, and standard output alone. */
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

let passed = 0, failed = 0;

/** Runs one check. It has failed when it throws, or takes too long; what it returns is shown beside its name. */
export async function check(name, test, seconds = 15) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`nothing within ${seconds} s`)), seconds * 1000); });
  try {
    const said = await Promise.race([test(), late]);
    passed++;
    console.log(`ok    ${name}${said === undefined ? '' : ` (${said})`}`);
  } catch (problem) {
    failed++;
    console.log(`FAIL  ${name}\n      ${String(problem?.message ?? problem).trim().slice(0, 1000).replaceAll('\n', '\n      ')}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a suite, whatever its packages have left running. */
export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
