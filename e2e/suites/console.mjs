// The console in Chromium: its pages on demonstration data and in an empty organisation, as an owner, an editor, a viewer and a
// stranger; signing in at a real OpenID provider; and a server that executes only trusted documents.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browser, violations } from '../browser.mjs';
import { enter, eventually, follow, loaded, look, maxRequests, newPage, open, program, reads, text, token, watchPage } from '../console.mjs';
import { check, data, finish, run, site, temporary, temporaryFolder } from '../lib.mjs';

const web = join(import.meta.dirname, '../../web');

// These take a while, beside the browser.
const generating = run(process.execPath, ['console/generate.mjs', '--check'], {}, web);
const typing = run(process.execPath, [join(import.meta.dirname, '../node_modules/typescript/bin/tsc'), '-p', join(web, 'console')]);

const { subscriptions: { nodes: [hook] } } = await data('{ subscriptions(first: 1) { nodes { uid } } }');
const pages = { overview: '/console', group: '/console/acme/engineering/shop', repos: '/console/acme/~repos', repo: '/console/acme/engineering/shop/checkout', advisories: '/console/acme/~advisories?severity=HIGH', access: '/console/acme/engineering/~access', 'access-table': '/console/acme/engineering/~access?show=table', activity: '/console/acme/~activity', log: '/console/acme/~activity?show=log', webhooks: '/console/acme/~webhooks', webhook: '/console/acme/~webhooks?hook=' + hook.uid, identities: '/console/acme/~identities', invites: '/console/acme/~identities?show=invites' };
const costs = {};
for (const colorScheme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    await check(`every page shows, ${colorScheme}, at ${width} pixels, with nothing that axe calls serious`, async () => {
      const page = await newPage({ colorScheme, viewport: { width, height: width === 390 ? 844 : 900 } });
      page.on('response', async (response) => {
        if (response.url().endsWith('/graphql') && /json/.test(response.headers()['content-type'])) {
          const answer = await response.json().catch(() => ({})), [, name] = response.request().postDataJSON().query.match(/^query (\w+)/) ?? [];
          if (name) costs[name] = answer.extensions?.cost?.requested;
        }
      });
      for (const [name, path] of Object.entries(pages)) {
        await open(page, path);
        assert.equal(await page.locator('.problem').count(), 0, `${name}: ${await text(page)}`);
        assert.ok(reads(page).length <= maxRequests, `${name} takes ${reads(page).length} requests`);
        await look(page, `${name}-${colorScheme}-${width}`);
        // Each theme, and each width, is looked at by axe once.
        if (name !== 'group' && (colorScheme === 'light') === (width === 1440)) assert.deepEqual(await violations(page), [], name);
      }
      assert.deepEqual(page.faults, []);
      await page.context().close();
      return Object.entries(costs).map(([name, cost]) => `${name} ${cost}`).join(', ');
    }, 60);
  }
}

await check('the overview tells what there is', async () => {
  const page = await newPage();
  await open(page, '/console');
  assert.equal(new URL(page.url()).pathname, '/console/acme');
  const { groups: { nodes: [acme] } } = await data('{ groups(where: {inRoot: true}, first: 1) { nodes { repos(first: 1) { totalCount } tags(first: 1) { totalCount } identities(first: 1) { totalCount } advisorySummary { open { total } } } } }');
  const tiles = Object.fromEntries((await page.locator('.tiles li').allInnerTexts()).map((tile) => tile.split('\n')));
  assert.deepEqual([tiles.Repos, tiles.Tags, tiles.Identities], [acme.repos, acme.tags, acme.identities].map(({ totalCount }) => String(totalCount)));
  assert.equal(await page.locator('.big b').innerText(), String(acme.advisorySummary.open.total));
  assert.match(await text(page), /tags past end of life/);
  await page.context().close();
});

await check('a severity of the overview leads to the open advisories that it counts', async () => {
  const page = await newPage();
  await open(page, '/console/acme');
  const link = page.locator('.legend a').filter({ hasText: 'High' }), n = await link.locator('b').innerText();
  await link.click();
  await page.waitForURL(/severity=HIGH&stage=OPEN/);
  await loaded(page);
  assert.match(await page.locator('.filters .total').innerText(), new RegExp(`^${n} advisor`));
  assert.equal(await page.locator('.row').count(), Number(n));
  assert.doesNotMatch(await page.locator('.table').innerText(), /Fixed/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('search finds by the keyboard, and back leads back', async () => {
  const page = await newPage();
  await open(page, '/console/acme/~repos');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('checkout');
  await page.getByRole('option').filter({ hasText: 'Repo' }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/console\/acme\/engineering\/shop\/checkout/);
  await loaded(page);
  assert.match(await text(page), /5\.0\.2/);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main', 'the focus is elsewhere');
  await page.goBack();
  await page.waitForURL(/~repos$/);
  await page.locator('.row').filter({ hasText: 'billing' }).waitFor();
  await page.goForward();
  await page.waitForURL(/checkout/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('the tree opens and leads to a group', async () => {
  const page = await newPage();
  await open(page, '/console/acme');
  await page.getByRole('button', { name: 'Groups in engineering' }).click();
  await page.getByRole('navigation', { name: 'Groups' }).getByRole('link', { name: /shop/ }).click();
  await page.waitForURL(/\/console\/acme\/engineering\/shop$/);
  await loaded(page);
  assert.equal(await page.locator('h1').innerText(), 'shop');
  await page.context().close();
});

await check('filters are in the address and survive a reload', async () => {
  const page = await newPage();
  await open(page, '/console/acme/~repos');
  await page.getByLabel('Find by name, description or alias').fill('gate');
  await page.waitForURL(/q=gate/);
  await eventually(async () => (await page.locator('.row').count()) === 1, async () => `rows: ${await page.locator('.row').allInnerTexts()}`);
  await page.reload();
  await loaded(page);
  assert.match(await text(page), /gateway/);
  assert.doesNotMatch(await text(page), /billing/);
  await open(page, '/console/acme/~advisories');
  await page.locator('.toggle', { hasText: 'Medium' }).click();
  await page.waitForURL(/severity=MEDIUM/);
  await eventually(async () => !/ACME-2026-0003/.test(await text(page)), 'the rows of another severity stay');
  await page.getByRole('button', { name: /ACME-2026-0001/ }).click();
  assert.match(await page.locator('.timeline').innerText(), /Detected[^]*Fixed[^]*2\.4\.1/);
  await page.context().close();
});

await check('"Show the query" opens the playground with the document, which answers', async () => {
  const page = await newPage();
  await open(page, '/console/acme/~repos');
  await page.getByRole('button', { name: 'Show the query' }).click();
  const sheet = page.getByRole('dialog', { name: 'The queries of this page' });
  assert.match(await sheet.innerText(), /cost \d+/);
  const link = await sheet.getByRole('link', { name: 'Open in the playground' }).first().getAttribute('href');
  const { searchParams } = new URL(link, site);
  assert.ok(reads(page).includes(searchParams.get('query')), 'it is another document');
  const { group } = await data(searchParams.get('query'), JSON.parse(searchParams.get('variables')));
  assert.ok(group.repos.nodes.length > 0);
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'hidden' });
  await page.context().close();
});

await check('a readme is shown without what it must not do', async () => {
  const { group: { uid } } = await data('{ group(path: "acme/engineering/platform") { uid } }');
  const { createRepo: { repo } } = await data('mutation M($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', { i: { parent: uid, name: 'readme' } });
  const content = '# Hello\n\n<script>window.hurt = 1</script>\n\n<img src=x onerror="window.hurt = 1">\n\n[bad](javascript:window.hurt=1) [good](https://example.com) ![pic](https://example.com/p.png)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n';
  await data('mutation M($i: UpdateRepoReadmeInput!) { updateRepoReadme(input: $i) { repo { uid } } }', { i: { uid: repo.uid, content } });
  const page = await newPage();
  await open(page, '/console/acme/engineering/platform/readme');
  await page.locator('.markdown table').waitFor();
  assert.deepEqual(await page.locator('.markdown a').evaluateAll((all) => all.map((one) => one.href)), ['https://example.com/', 'https://example.com/p.png']);
  assert.equal(await page.locator('.markdown :is(script, img)').count(), 0);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  assert.deepEqual(page.faults, []);
  await data('mutation M($i: DeleteRepoInput!) { deleteRepo(input: $i) { deletedUid } }', { i: { uid: repo.uid } });
  await page.context().close();
});

await check('the feed shows a change as it happens, waits while it is paused, and the log shows before and after', async () => {
  const { group } = await data('{ group(path: "acme/security") { uid description } }');
  const describe = (description) => data('mutation M($i: UpdateGroupInput!) { updateGroup(input: $i) { group { uid } } }', { i: { uid: group.uid, description } });
  const page = await newPage();
  await open(page, '/console/acme/~activity');
  await eventually(() => page.locator('.live.live').count(), 'the feed is not live');
  await eventually(async () => { await describe('Reviews of everything'); return page.locator('.events li').count(); }, 'nothing comes');
  assert.match(await text(page), /owner updated the group security/);
  await page.getByRole('button', { name: 'Pause' }).click();
  const before = await page.locator('.events li').count();
  await describe(group.description);
  await page.getByRole('button', { name: 'Go on' }).click();
  await eventually(async () => (await page.locator('.events li').count()) > before, 'what happened meanwhile is lost');
  await page.getByRole('button', { name: 'Audit log' }).click();
  await page.getByRole('button', { name: 'Before and after' }).first().click();
  assert.match(await page.locator('.change').first().innerText(), /description[^]*Reviews of everything[^]*Reviews and advisories/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

for (const who of ['editor', 'viewer']) {
  await check(`a ${who} sees what the role includes`, async () => {
    const page = await newPage();
    await enter(page, await token('--as', who), '/console');
    for (const path of ['', '/~repos', '/~advisories', '/~access', '/~access?show=table', '/~webhooks', '/~identities', '/~activity?show=log']) {
      await follow(page, '/console/acme' + path);
      assert.equal(await page.locator('.problem').count(), 0, `${path}: ${await text(page)}`);
      await look(page, `${who}${path.replace(/\W+/g, '-')}`);
    }
    const log = await text(page);
    assert.match(log, /for those who may change the group/);
    assert.match(await page.locator('.viewer').innerText(), new RegExp(who));
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }, 30);
}

await check('who has a role deep in the tree finds the way there', async () => {
  const page = await newPage();
  await enter(page, await token('--issuer', 'https://ci.example.com', '--subject', 'pipeline:engineering'));
  await page.getByRole('link', { name: 'Go to your groups' }).click();
  await page.getByRole('link', { name: /^engineering/ }).click();
  await eventually(async () => /^1?[0-9]$/m.test(await page.locator('.tiles').innerText()), async () => text(page));
  assert.match(page.url(), /\/console\/engineering\?group=/);
  await loaded(page);
  assert.match(await text(page), /Your role does not include/);
  await page.getByRole('link', { name: 'Repos', exact: true }).click();
  await page.locator('.row').filter({ hasText: 'billing' }).getByRole('link').click();
  await page.locator('.tags tbody tr').first().waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a stranger is told how to get in', async () => {
  const page = await newPage();
  await enter(page, await token('--subject', 'nobody'));
  assert.match(await text(page), /There is nothing here/);
  await page.getByRole('link', { name: 'Go to your groups' }).click();
  await page.getByText('Nobody has let you in').waitFor();
  assert.match(await text(page), /Nobody has let you in yet/);
  await look(page, 'stranger');
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a token that is not taken signs out, in all tabs', async () => {
  const page = await newPage();
  await open(page, '/console/acme');
  const other = watchPage(await page.context().newPage());
  await open(other, '/console/acme/~repos');
  page.failing = /401/;
  await page.route('**/graphql', (route) => route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer e30.e30.e30' } }));
  await page.getByRole('link', { name: 'Advisories', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await other.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /session has ended/);
  await look(page, 'sign-in');
  assert.deepEqual([...page.faults, ...other.faults], []);
  await page.context().close();
});

// A server of its own: an empty organisation, whose owner signs in at a provider, and only trusted documents.

const block = readFileSync(join(import.meta.dirname, '../../docs/sign-in.md'), 'utf8').match(/^```js provider\n(.*?)^```$/ms)[1];
const port = 44000 + process.pid % 4000; // of the server, which the provider must know
const host = `127.0.0.1:${23000 + (process.pid + 7) % 20000}`, issuer = `http://${host}`, audience = 'https://atrium.example.com';
const database = `sqlite:${join(temporaryFolder(), 'empty.db')}`, module = join(import.meta.dirname, `../bin/console-provider-${process.pid}.mjs`);
const children = [];
process.on('exit', () => { children.forEach((child) => child.kill('SIGKILL')); rmSync(module, { force: true }); });
function start(command, args, env) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  child.said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => { child.said += chunk; });
  return child;
}

let other; // the server
const page = await newPage();
await check('a server with a provider for the console and with trusted documents starts', async () => {
  const { code, text: said } = await run(program, ['bootstrap', '--org', 'empty', '--issuer', issuer, '--subject', 'alice', '--database-url', database]);
  assert.equal(code, 0, said);
  mkdirSync(join(module, '..'), { recursive: true });
  const refreshing = [["token_endpoint_auth_method: 'none'", "token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token']"], ['clientBasedCORS:', 'issueRefreshToken: () => true,\n  clientBasedCORS:']];
  for (const [before] of refreshing) assert.ok(block.includes(before), before);
  writeFileSync(module, refreshing.reduce((text, [before, after]) => text.replace(before, after), block.replace('127.0.0.1:8080', `127.0.0.1:${port}`)));
  const provider = start(process.execPath, [module], { ISSUER: issuer });
  await eventually(() => fetch(`${issuer}/.well-known/openid-configuration`).then((r) => r.ok, () => false), () => provider.said, 15);
  const trusted = temporary('trusted.json', JSON.stringify({ mine: 'query Mine { ping }' }));
  const server = start(program, ['serve', '--audience', audience, '--allow-host', host, '--addr', `127.0.0.1:${port}`, '--metrics-addr=', '--log-format', 'json', '--database-url', database, '--rate-limit', '0',
    '--console-issuer', issuer, '--console-client-id', 'console', '--trusted-documents', trusted]);
  other = (await eventually(() => server.said.match(/"msg":"serving","url":"([^"]+)"/), () => server.said, 15))[1];
}, 40);

let bearer;
await check('an owner signs in at the provider, with a code and PKCE', async () => {
  page.on('request', (request) => { if (request.url() === other + '/graphql') bearer = request.headers().authorization; });
  page.on('request', (request) => { if (request.url().startsWith(issuer + '/auth?')) page.authorization = new URL(request.url()).searchParams; });
  await page.goto(other + '/console/empty/~repos');
  page.failing = /./; // the provider's own pages want fonts of other hosts
  await page.getByRole('button', { name: `Continue with ${host}` }).click();
  await page.fill('[name=login]', 'alice');
  await page.fill('[name=password]', 'any');
  await page.click('[type=submit]');
  await page.locator('[type=submit]').click(); // consent
  await page.waitForURL(other + '/console/empty/~repos');
  await loaded(page);
  assert.equal(page.authorization.get('code_challenge_method'), 'S256');
  assert.match(await text(page), /No repos yet/);
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
  assert.ok(!stored.includes(bearer.split('.')[2]) && !/verifier/.test(stored), 'a token or a verifier is stored: ' + stored);
}, 30);

await check('a reload signs in again without a question, and the pages of an empty organisation say what to do', async () => {
  page.failing = undefined;
  for (const [path, says] of [['', /Nothing needs a hand/], ['/~repos', /No repos yet/], ['/~advisories', /No advisories yet/], ['/~access', /owner on empty/], ['/~activity', /Quiet so far/], ['/~webhooks', /No webhooks yet/], ['/~identities?show=invites', /No invites/], ['/~activity?show=log', /empty/]]) {
    await page.goto(other + '/console/empty' + path);
    await page.locator('.shell').waitFor();
    await loaded(page);
    assert.equal(page.url(), other + '/console/empty' + path);
    await eventually(async () => says.test(await text(page)), async () => `${path}: ${await text(page)}`);
    assert.equal(await page.locator('.problem').count(), 0, path);
    await look(page, 'empty' + path.replace(/\W+/g, '-'));
    assert.deepEqual(await violations(page), [], path);
  }
  assert.deepEqual(page.faults, []);
}, 40);

await check('where only trusted documents are executed, those of the console are, and others are not', async () => {
  const ask = async (query) => (await fetch(other + '/graphql', { method: 'POST', headers: { Authorization: bearer, 'Content-Type': 'application/json' }, body: JSON.stringify({ query }) })).json();
  assert.equal((await ask('query Mine { ping }')).data.ping, 'pong');
  assert.equal((await ask('{ ping }')).errors[0].extensions.code, 'PERMISSION_DENIED');
});

await check('a long list is read page by page, has few rows in the page, and keeps its place', async () => {
  const { groups: [{ uid: parent }] } = await (await fetch(other + '/iam/v2/groups', { headers: { Authorization: bearer } })).json();
  const create = (i) => fetch(`${other}/registry/v2/repos/${parent}`, { method: 'POST', headers: { Authorization: bearer, 'Content-Type': 'application/json' }, body: JSON.stringify({ name: `repo-${String(i).padStart(3, '0')}` }) });
  for (let i = 0; i < 130; i += 10) {
    for (const answer of await Promise.all(Array.from({ length: 10 }, (_, j) => create(i + j)))) assert.ok(answer.ok, `${answer.status} ${await answer.text()}`);
  }
  await page.goto(other + '/console/empty/~repos');
  await page.getByText('130 repos').waitFor();
  page.asked = [];
  await eventually(async () => { await page.evaluate(() => scrollTo(0, document.body.scrollHeight)); return page.getByText('That is all: 130 repos.').count(); }, 'the end is never reached');
  assert.equal(reads(page).length, 2, 'requests for two more pages');
  const rows = await page.locator('.row').count();
  assert.ok(rows < 60, `${rows} rows are in the page`);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.getByText('repo-120').click();
  await page.waitForURL(/repo-120$/);
  await loaded(page);
  await page.goBack();
  await page.getByText('repo-120').waitFor();
  const seen = await page.getByText('repo-120').boundingBox();
  assert.ok(seen.y > 0 && seen.y < 900, `the row is at ${seen.y}`);
  assert.deepEqual(page.faults, []);
}, 40);

await check('a refresh token renews the token before it expires, and a session that the provider ended is left', async () => {
  const tab = watchPage(await page.context().newPage());
  const bearers = [], grants = [];
  tab.on('request', (request) => { if (request.url() === other + '/graphql') bearers.push(request.headers().authorization); });
  tab.on('response', async (response) => { if (response.url() === issuer + '/token' && response.request().method() === 'POST') grants.push({ asked: new URLSearchParams(response.request().postData()), answer: await response.json() }); });
  await tab.clock.install();
  await tab.goto(other + '/console/empty/~repos');
  await tab.getByRole('button', { name: `Continue with ${host}` }).click();
  await tab.waitForURL(other + '/console/empty/~repos');
  await loaded(tab);
  assert.ok(grants[0].answer.refresh_token, 'the provider gives no refresh token');
  const lives = grants[0].answer.expires_in;
  await tab.clock.fastForward((lives - 120) * 1000);
  assert.equal(grants.length, 1, 'the token is renewed too early');
  await tab.clock.fastForward(61_000);
  await eventually(() => grants.length === 2, 'the token is not renewed');
  assert.deepEqual([grants[1].asked.get('grant_type'), grants[1].asked.get('refresh_token')], ['refresh_token', grants[0].answer.refresh_token]);
  await eventually(() => bearers.at(-1) === 'Bearer ' + grants[1].answer.access_token, 'the new token is not used');
  await loaded(tab);
  assert.equal(tab.url(), other + '/console/empty/~repos');
  const stored = await tab.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
  for (const { answer } of grants) assert.ok(!stored.includes(answer.refresh_token) && !stored.includes(answer.access_token), 'a token is stored');
  assert.deepEqual(tab.faults, []);
  // Who uses a refresh token a second time may be a thief: the provider ends the session.
  const again = await fetch(issuer + '/token', { method: 'POST', body: new URLSearchParams({ client_id: 'console', grant_type: 'refresh_token', refresh_token: grants[0].answer.refresh_token }) });
  assert.equal(again.status, 400);
  tab.failing = /400/;
  await tab.clock.fastForward((lives - 59) * 1000);
  await tab.getByRole('alert').waitFor();
  assert.match(await tab.getByRole('alert').innerText(), /Your session has ended/);
  assert.deepEqual(tab.faults, []);
  await tab.close();
}, 40);

await check('the types and the manifest are those of the documents and the schema, and the types hold', async () => {
  for (const { code, text: said } of await Promise.all([generating, typing])) assert.equal(code, 0, said);
}, 60);

await browser.close();
finish();
