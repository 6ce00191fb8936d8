// What the suites share: where the server is, how to ask it, and how a check is told.
// A suite is a script of its own, which `run` calls with two variables set:
//
//     ATRIUM_URL=http://127.0.0.1:8080 ATRIUM_TOKEN=$(atrium token) node suites/audit.mjs

import assert from 'node:assert/strict';
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
