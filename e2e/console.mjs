// This file has the functions that the suites of the console share. They open pages that record their faults and requests, and
// sign in with a token.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { newContext } from './browser.mjs';
import { patience, run, site } from './lib.mjs';

export const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const pictures = process.env.ATRIUM_TEST_PICTURES; // Screenshots of the pages are stored in this folder.
/** A page may need at most this number of requests, besides the stream of events: two of what surrounds it, where an address leads to another, and three of its own. */
export const maxRequests = 5;

/** Opens a page in a new context of the browser. The page records its faults and its requests. */
export async function newPage(options = {}) {
  const context = await newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
  return watchPage(await context.newPage());
}

export function watchPage(page) {
  page.faults = [];
  page.asked = [];
  page.on('console', (message) => { if (message.type() === 'error' && !page.failing?.test(message.text())) page.faults.push('console: ' + message.text()); });
  page.on('pageerror', (error) => page.faults.push('error: ' + error));
  page.on('request', (request) => { if (request.url().endsWith('/graphql')) page.asked.push(request.postDataJSON().query); });
  return page;
}

export const reads = (page) => page.asked.filter((text) => text.startsWith('query'));
export const loaded = (page) => page.waitForFunction(() => document.querySelector('#main h1, #main .empty, .sign-in') && !document.querySelector('.lines, .blank, [aria-busy=true]'));
export const text = (page) => page.locator('#main').innerText();

export async function open(page, path) {
  page.asked = [];
  await page.goto(path.startsWith('http') ? path : site + path);
  await loaded(page);
}

/** Goes to another page of the console as a link does, so that the console keeps a token that was entered. */
export async function follow(page, path) {
  page.asked = [];
  await page.evaluate((to) => { history.pushState({ key: to }, '', to); dispatchEvent(new PopStateEvent('popstate')); }, path);
  await loaded(page);
}

export async function look(page, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
  if (pictures) await page.screenshot({ path: `${pictures}/console-${name}.png` });
}

export async function eventually(holds, otherwise) {
  for (const end = Date.now() + patience * 1000; ; await new Promise((go) => setTimeout(go, 50))) {
    const value = await holds();
    if (value) return value;
    assert.ok(Date.now() < end, typeof otherwise === 'function' ? await otherwise() : otherwise);
  }
}

export const token = async (...who) => {
  const { code, out, text: said } = await run(program, ['token', ...who, '--database-url', process.env.ATRIUM_DATABASE_URL]);
  assert.equal(code, 0, said);
  return out.trim();
};

/** Signs in with a token that replaces the development token. */
export async function enter(page, bearer, path = '/console') {
  await page.goto(path.startsWith('http') ? path : site + path);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.evaluate(() => document.querySelector('[aria-label="Sign out"]').click());
  await page.getByLabel('Bearer token').fill(bearer);
  page.asked = [];
  await page.getByRole('button', { name: 'Use this token' }).click();
  await loaded(page);
}

/** Starts a server with the demonstration data in a database of its own. Returns its URL, a function that sends it requests, and one that sends it documents. */
export async function startServer(database) {
  const server = spawn(program, ['serve', '--dev', '--allow-signup', '--addr', '127.0.0.1:0', '--metrics-addr=', '--log-format', 'json', '--database-url', database, '--rate-limit', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  process.on('exit', () => server.kill('SIGKILL'));
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream.setEncoding('utf8').on('data', (chunk) => { said += chunk; });
  const [, url] = await eventually(() => said.match(/"msg":"serving","url":"([^"]+)"/), () => said);
  const { code, out, text: output } = await run(program, ['token', '--database-url', database]);
  assert.equal(code, 0, output);
  const ask = async (path, options) => {
    const response = await fetch(url + path, { ...options, headers: { Authorization: 'Bearer ' + out.trim(), 'Content-Type': 'application/json' } });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response.json();
  };
  const data = async (query, variables) => {
    const { data: answered, errors } = await ask('/graphql', { method: 'POST', body: JSON.stringify({ query, variables }) });
    assert.equal(errors, undefined, JSON.stringify(errors));
    return answered;
  };
  return { site: url, ask, data };
}
