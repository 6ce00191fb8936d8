// This file runs Chromium and checks that pages follow their policy.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { patience, site } from './lib.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  // Root has no sandbox. The other flags prevent requests of the browser itself.
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--host-resolver-rules=MAP demo.example.com 127.0.0.1'], // under this name a server takes no browser for one on its machine
});

/** Returns a new context of the browser. */
export async function newContext(options) {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options });
  context.setDefaultTimeout(patience * 1000);
  return context;
}

/** Opens a page in a new context and passes it to a function. Fails if the page has errors or sends requests to other hosts. */
export async function open(path, use, { failing, ...options } = {}) {
  const context = await newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const faults = [];
  await context.route((url) => url.origin !== site, (route) => { faults.push('request to another host: ' + route.request().url()); return route.abort(); });
  const page = await context.newPage();
  page.on('console', (message) => { if (message.type() === 'error' && !failing?.test(message.text())) faults.push('console: ' + message.text()); });
  page.on('pageerror', (error) => faults.push('error: ' + error));
  try {
    await page.goto(site + path);
    await use(page);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

/** Returns the violations on a page that axe finds, those of best practices included, as texts. It waits for lists that are read again, because they are dimmed. */
export async function violations(page) {
  await page.waitForFunction(() => !document.querySelector('.busy'));
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
  return violations
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}
