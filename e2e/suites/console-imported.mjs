// This suite checks the console with real data in Chromium: a public set of repos with their tags and readmes, and a public feed of
// advisories.
// ATRIUM_TEST_REAL_DATA names the folder with registry.jsonl.gz and osv-bitnami.tar.gz. Without them, the suite is skipped.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { browser, violations } from '../browser.mjs';
import { enter, eventually, follow, loaded, look, maxRequests, newPage, open, program, reads, text } from '../console.mjs';
import { check, finish, run, temporaryFolder } from '../lib.mjs';

const folder = process.env.ATRIUM_TEST_REAL_DATA ?? join(import.meta.dirname, '../../../shared/data');
const packed = join(folder, 'registry.jsonl.gz'), advisories = join(folder, 'osv-bitnami.tar.gz');
if (!existsSync(packed) || !existsSync(advisories)) {
  console.log(`skipped: ${folder} has no real data`);
  process.exit();
}

const database = `sqlite:${join(temporaryFolder(), 'real.db')}`, registry = join(temporaryFolder(), 'registry.jsonl');
const lines = gunzipSync(readFileSync(packed));
writeFileSync(registry, lines);
const records = lines.toString().trim().split('\n').map((line) => JSON.parse(line));
const repos = records.filter(({ kind }) => kind === 'repo').length;
let server, site;
process.on('exit', () => server?.kill('SIGKILL'));

const runProgram = async (...args) => {
  const { code, out, text: said } = await run(program, [...args, '--database-url', database]);
  assert.equal(code, 0, said);
  return out.trim();
};

await check('a server with the real data starts', async () => {
  server = spawn(program, ['serve', '--dev', '--addr', '127.0.0.1:0', '--metrics-addr=', '--log-format', 'json', '--database-url', database, '--rate-limit', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream.setEncoding('utf8').on('data', (chunk) => { said += chunk; });
  site = (await eventually(() => said.match(/"msg":"serving","url":"([^"]+)"/), () => said))[1];
  const group = said.match(/acme is ([0-9a-f]{40})/)[1];
  await runProgram('import', 'registry', '--group', group, registry);
  await runProgram('import', 'osv', '--group', group, advisories);
}, 120);

const pages = { overview: '', repos: '/~repos', repo: '/node', findings: '/~findings', packages: '/~packages', advisories: '/~advisories', access: '/~access', identities: '/~identities', activity: '/~activity', log: '/~activity?show=log', webhooks: '/~webhooks' };
for (const [colorScheme, width] of [['light', 1440], ['dark', 390]]) {
  await check(`an owner sees every page ${colorScheme} at ${width} pixels`, async () => {
    const page = await newPage({ viewport: { width, height: 900 }, colorScheme });
    for (const [name, path] of Object.entries(pages)) {
      await open(page, `${site}/console/acme${path}`);
      assert.equal(await page.locator('.problem').count(), 0, `${name}: ${await text(page)}`);
      assert.ok(reads(page).length <= maxRequests, `${name} takes ${reads(page).length} requests`);
      await look(page, `real-${name}-${width}`);
      assert.deepEqual(await violations(page), [], name);
    }
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }, 60);
}

await check('the list of repos scrolls to its end with few rows in the page', async () => {
  const page = await newPage();
  await open(page, `${site}/console/acme/~repos`);
  const last = page.locator(`[aria-rowindex="${repos + 1}"]`); // The first row has the headings.
  await eventually(async () => {
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    return await last.count() > 0 || Number(await page.locator('[aria-rowindex]').last().getAttribute('aria-rowindex')) > repos + 1;
  }, 'the list does not end', 20);
  assert.ok(await page.locator('[aria-rowindex]').count() < 60);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 40);

for (const who of ['editor', 'viewer']) {
  await check(`a ${who} sees the same pages`, async () => {
    const page = await newPage();
    await enter(page, await runProgram('token', '--as', who), site + '/console');
    for (const [name, path] of Object.entries(pages)) {
      await follow(page, '/console/acme' + path);
      assert.equal(await page.locator('.problem').count(), 0, `${name}: ${await text(page)}`);
      await look(page, `real-${name}-${who}`);
    }
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }, 60);
}

await check('a stranger sees none of it', async () => {
  const page = await newPage();
  await enter(page, await runProgram('token', '--subject', 'nobody'), site + '/console');
  await follow(page, '/console/acme/node');
  await loaded(page);
  assert.match(await text(page), /Page not found/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await browser.close();
finish();
