// This suite takes the commands from the text of the guide and the README. Every command in an `sh` block runs against the server,
// in the order of its page. The receivers of webhooks get real deliveries. Every page is shown, all its links work, and the search finds its headings.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { browser, newContext, open, violations } from '../browser.mjs';
import { check, data, finish, read, run, site, temporary, temporaryFolder } from '../lib.mjs';
import { sinkPorts } from '../receiver.mjs';

const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
mkdirSync(join(folder, 'bin'));
symlinkSync(process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set'), join(folder, 'bin/atrium'));
symlinkSync(join(root, 'docs'), join(folder, 'docs'));

const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => 'docs/' + name)];

/** Returns the blocks of a page: the words after the fence, and the text. */
const blocksOf = (text) => [...text.matchAll(/^```(\S+)( \S+)?\n(.*?)^```$/gms)].map(([, language, kind = '', code]) => ({ language, kind: kind.trim(), code }));

let commands = 0;
for (const page of pages) {
  const blocks = blocksOf(readFileSync(join(root, page), 'utf8')).filter(({ language }) => language === 'sh' || language === 'bash');
  const script = blocks.filter(({ kind }) => kind !== 'example' && kind !== 'sign-in' && !kind.startsWith('from-ci')).map(({ code }) => code).join('\n');
  if (!script) continue;
  commands += script.split('\n').filter((line) => line && !line.startsWith('#')).length;
  await check(`the commands of ${page} work as printed`, async () => {
    // A reader sees the answer to a request that fails. Here it fails, except on pages that show such answers.
    const strict = ['docs/errors.md', 'docs/moving-from-v1.md'].includes(page) ? '' : 'curl() { if [ "$1" = -sSf ]; then command curl "$@"; else command curl --fail-with-body "$@"; fi; }\n';
    const { code, text } = await run('bash', ['-euo', 'pipefail', '-c', strict + script.replaceAll('http://127.0.0.1:8080', site).replaceAll('127.0.0.1:8080', new URL(site).host)], { XDG_CONFIG_HOME: join(folder, 'config') }, folder);
    assert.equal(code, 0, text.slice(-900));
    return `${blocks.length} blocks`;
  }, 120);
}
await check('there are commands to run', () => { assert.ok(commands > 25, `only ${commands}`); });

const lines = (code) => code.split('\n').map((line) => line.trim()).filter(Boolean).join('\n');
await check('code that a page takes from an example is in the example', () => {
  const taken = blocksOf(readFileSync(join(root, 'docs/tutorial-dashboard.md'), 'utf8')).filter(({ kind }) => kind.startsWith('examples/'));
  for (const { kind, code } of taken) assert.ok(lines(readFileSync(join(root, kind), 'utf8')).includes(lines(code)), `${kind} has no\n${code}`);
  assert.ok(taken.length >= 6);
});

for (const page of pages.filter((name) => name.startsWith('docs/'))) {
  await check(`${page} is shown, and its links work`, async () => {
    const html = await read('/guide/' + page.slice(5, -3));
    assert.match(html, /<h1 id/);
    assert.doesNotMatch(html, /<!-- \w+ -->/);
    for (const [, target] of html.matchAll(/href="(\/[^"#]*)/g)) assert.equal((await fetch(site + target)).status, 200, target);
    for (const [, target] of html.matchAll(/(?:src|href)="(https?:[^"]*)"/g)) assert.ok(!/\.(css|js)$/.test(target), `${target} is loaded from another host`);
  });
}

const found = '#found a';
await check('the search finds a heading by words, with the keyboard alone', () => open('/guide/concepts', async (page) => {
  await page.keyboard.press('/');
  await page.keyboard.type('DATES due polic');
  await page.locator(found).first().waitFor();
  const [first] = await page.locator(found).allTextContents();
  assert.match(first, /^Due dates/);
  assert.match(await page.locator('#count').textContent(), /^\d+ found$/);
  await page.keyboard.press('ArrowDown');
  const target = await page.evaluate(() => document.activeElement.href);
  await page.keyboard.press('Enter');
  await page.waitForURL(target);
  assert.ok(await page.locator(new URL(target).hash).isVisible());
}), 30);
await check('the search finds a page by its title first, says when it finds nothing, and Escape closes it', () => open('/guide', async (page) => {
  const box = page.getByRole('searchbox', { name: 'Search' });
  await box.fill('settings');
  await page.locator(found).first().waitFor();
  assert.equal(await page.locator(found).first().getAttribute('href'), '/guide/settings');
  await box.press('Escape');
  await page.locator('#found').waitFor({ state: 'hidden' });
  await box.fill('xyzzyq');
  await page.getByRole('status').getByText('none').waitFor();
  await box.fill('capabilities and roles');
  await box.press('Enter');
  await page.waitForURL('**/guide/roles');
}), 30);
await check('the search fits on a phone, and axe finds nothing in it', () => open('/guide/events', async (page) => {
  await page.getByRole('searchbox').fill('<b> --addr "quoted" webhook');
  await page.locator(found).first().waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is too wide');
  assert.deepEqual(await violations(page), []);
  await page.locator(found).first().tap();
  await page.locator('#found').waitFor({ state: 'hidden' });
}, { viewport: { width: 360, height: 800 }, hasTouch: true, colorScheme: 'dark' }), 30);
await check('without scripts there is no box that does nothing', async () => {
  const context = await newContext({ javaScriptEnabled: false }), page = await context.newPage();
  await page.goto(site + '/guide');
  assert.ok(await page.getByRole('heading', { level: 1, name: 'What Atrium is' }).isVisible());
  assert.equal(await page.getByRole('searchbox').count(), 0);
  await context.close();
});
await browser.close();

const receivers = blocksOf(readFileSync(join(root, 'docs/events.md'), 'utf8')).filter(({ kind }) => kind === 'receiver');
const { groups } = await data('{ groups(first: 1) { nodes { uid } } }');
const name = `guide-${Date.now()}`;
const { createGroup: { group } } = await data('mutation ($i: CreateGroupInput!) { createGroup(input: $i) { group { uid } } }', { i: { parent: groups.nodes[0].uid, name } });
const start = {
  js: (code) => [process.execPath, [temporary('receiver.mjs', code)]],
  python: (code) => ['python3', [temporary('receiver.py', code)]],
  go: (code) => ['go', ['run', temporary('receiver.go', code)]],
};
for (const [n, { language, code }] of receivers.entries()) {
  await check(`the receiver in ${language} accepts a real delivery and rejects a forged one`, async () => {
    const port = sinkPorts[n], address = `http://127.0.0.1:${port}`;
    const { createSubscription: { secret } } = await data('mutation ($i: CreateSubscriptionInput!) { createSubscription(input: $i) { secret } }', { i: { parent: group.uid, sink: address } });
    const [program, args] = start[language](code);
    const child = spawn(program, args, { env: { ...process.env, SECRET: secret, PORT: String(port) }, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    try {
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (chunk) => { said += chunk; });
      const forged = () => fetch(address, { method: 'POST', headers: { 'webhook-id': 'x', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)), 'webhook-signature': 'v1,AAAA' }, body: '{}' });
      while (!(await forged().catch(() => undefined))) await new Promise((go) => setTimeout(go, 200));
      assert.equal((await forged()).status, 401);
      await data('mutation ($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', { i: { parent: group.uid, name: `${name}-${language}` } });
      while (!said.includes(`${name}-${language}`)) await new Promise((go) => setTimeout(go, 200));
      assert.match(said, /dev\.atrium\.api\.platform\.registry\.repo\.created\.v1/);
    } finally {
      process.kill(-child.pid);
    }
  }, 60);
}

finish();
