// This suite starts each example as its README says, with a server of its own, and uses it.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { browser, newContext } from '../browser.mjs';
import { check, finish, run, serveDemo, start, tsc, until } from '../lib.mjs';

const demo = await serveDemo();
const owner = await demo.token('owner');
const post = async (url, query, variables) => (await fetch(url, {
  method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + owner }, body: JSON.stringify({ query, variables }),
})).json();

/** Starts an example, and returns its URL. */
async function startExample(name) {
  // setsid makes a group, so that the suite can end the programs that npm has started too.
  const child = start('setsid', [join(import.meta.dirname, '../../examples/start'), name], { ATRIUM_URL: demo.site, ATRIUM_TOKEN: owner, PORT: '0' });
  process.on('exit', () => { if (child.exitCode === null) process.kill(-child.pid, 'SIGKILL'); });
  const [url] = await until(() => child.said.match(/http:\/\/127\.0\.0\.1:[1-9]\d*[^\s]*/), child);
  return url;
}

await check('gateway: one query reads what both sides know, in both directions, and rights are those of the caller', async () => {
  const gateway = await startExample('gateway');
  const { data, errors } = await post(gateway, '{ repos(first: 3) { nodes { uid name group { name } onCall { person runbook } } } }');
  assert.ok(data?.repos.nodes.length === 3, JSON.stringify(errors));
  const [repo] = data.repos.nodes;
  assert.ok(repo.group.name && repo.onCall.person && repo.onCall.runbook.endsWith(repo.uid.split('/').at(-1)));
  const back = await post(gateway, 'query ($person: String!, $uids: [UID!]!) { onCallFor(person: $person, uids: $uids) { name group { name } } }', { person: repo.onCall.person, uids: [repo.uid] });
  assert.deepEqual(back.data?.onCallFor, [{ name: repo.name, group: repo.group }], JSON.stringify(back.errors));
  const stranger = await (await fetch(gateway, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query: '{ repos(first: 1) { nodes { name } } }' }) })).json();
  assert.equal(stranger.errors?.[0].extensions.code, 'UNAUTHENTICATED', JSON.stringify(stranger));
}, 60);

const examples = join(import.meta.dirname, '../../examples'), asOwner = { ATRIUM_URL: demo.site, ATRIUM_TOKEN: owner };

await check('grafana: every panel of the dashboard gets values, of all weeks', async () => {
  const { code, text } = await run(process.execPath, ['check.mjs'], asOwner, join(examples, 'grafana'));
  assert.equal(code, 0, text);
  assert.match(text, /by severity: 17[67] rows, up to [1-9][^]*by team: 78 rows[^]*Teams: 3 rows[^]*Worst repos: 10 rows/);
  const { code: wrong, text: said } = await run(process.execPath, ['check.mjs'], { ...asOwner, ATRIUM_TOKEN: 'none' }, join(examples, 'grafana'));
  assert.ok(wrong !== 0, said);
}, 30);

await check('backstage: the provider has the types of Backstage, emits all groups and repos, and leaves the catalog alone if it cannot read', async () => {
  const { code, text: said, out } = await run(join(examples, 'start'), ['backstage'], asOwner); // It builds the client.
  assert.equal(code, 0, said);
  const { code: typed, text } = await run(process.execPath, [tsc, '-p', join(examples, 'backstage')]);
  assert.equal(typed, 0, text);
  const entities = out.trim().split('\n').map((line) => JSON.parse(line)), named = new Map(entities.map((entity) => [entity.metadata.name, entity]));
  const { data: { groups, repos } } = await post(demo.site + '/graphql', '{ groups { totalCount } repos { totalCount } }');
  assert.equal(named.size, groups.totalCount + repos.totalCount);
  const { spec, metadata: { annotations } } = named.get('acme.engineering.shop.checkout');
  assert.deepEqual(spec, { type: 'container-image', lifecycle: 'production', owner: 'group:default/acme.engineering.shop' });
  assert.match(annotations['atrium.dev/open-findings'], /^3 open, 1 critical/);
  for (const { metadata: { name }, spec: { parent, owner: of } } of entities) {
    assert.match(name, /^(?=.{1,63}$)[a-z0-9]+([-_.]+[a-z0-9]+)*$/);
    if (parent ?? of) assert.ok(named.has(parent ?? of.split('/').at(-1)), `${name} is of nobody`);
  }
  const { AtriumEntityProvider, entityName } = await import(join(examples, 'backstage/src/provider.ts'));
  assert.notEqual(entityName(['a.b', 'c']), entityName(['a', 'b.c']));
  assert.match(entityName(['acme', 'x'.repeat(80)]), /^.{13,63}$/);
  const emitted = [], atrium = { async *nodes() { yield { uid: 'x', name: 'x', description: null, ancestors: [] }; throw new Error('broken'); } };
  const provider = new AtriumEntityProvider(atrium, demo.site);
  await provider.connect({ applyMutation: async (mutation) => { emitted.push(mutation); } });
  await assert.rejects(provider.refresh(), /broken/);
  assert.deepEqual(emitted, []);
}, 60);

const page = await (await newContext()).newPage();
const faults = [];
page.on('pageerror', (error) => faults.push(String(error)));
const rows = page.locator('tbody'), row = (uid) => page.locator(`tbody[data-uid="${uid}"]`);

await check('dashboard: somebody signs in, filters the findings and pages through them', async () => {
  await page.goto(await startExample('dashboard'));
  await page.getByLabel('Token').fill(owner);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await rows.first().waitFor();
  const { data: { findings } } = await post(demo.site + '/graphql', '{ findings(where: {severities: [CRITICAL]}) { totalCount } }');
  await page.getByLabel('Severity').selectOption('CRITICAL');
  await page.getByText(`of ${findings.totalCount}`, { exact: false }).waitFor();
  assert.equal(await rows.count(), Math.min(findings.totalCount, 10));
  await page.getByLabel('Severity').selectOption('');
  await until(async () => await page.getByRole('button', { name: 'Show more' }).isVisible() && await rows.count() === 10);
  const first = await rows.first().getAttribute('data-uid');
  await page.getByRole('button', { name: 'Show more' }).click();
  await until(async () => await rows.count() > 10);
  assert.equal(await rows.first().getAttribute('data-uid'), first);
}, 90);
await check('dashboard: what the server refuses stands beside its field, and the row is as before', async () => {
  const uid = await rows.first().getAttribute('data-uid'), before = await row(uid).locator('.state').textContent();
  await row(uid).getByRole('button', { name: 'Decide' }).click();
  await row(uid).getByLabel('State').selectOption('NOT_AFFECTED');
  await row(uid).getByRole('button', { name: 'Save' }).click();
  assert.match(await row(uid).locator('label', { hasText: 'Why it is not affected' }).getByRole('alert').textContent(), /justification/i);
  assert.equal(await row(uid).locator('.state').textContent(), before);
}, 30);
await check('dashboard: a decision is shown before the server answers, and stays', async () => {
  const uid = await rows.first().getAttribute('data-uid');
  let answer;
  const held = new Promise((go) => { answer = go; });
  await page.route('**/graphql', async (route) => {
    if (route.request().postData()?.includes('mutation Decide')) await held;
    await route.continue();
  });
  await row(uid).getByLabel('State').selectOption('ACCEPTED');
  await row(uid).getByLabel('Note').fill('until the next release');
  await row(uid).getByRole('button', { name: 'Save' }).click();
  await row(uid).locator('.state', { hasText: 'ACCEPTED until the next release' }).waitFor();
  const stored = async () => (await post(demo.site + '/graphql', 'query ($uid: UID!) { finding(uid: $uid) { state } }', { uid })).data.finding.state;
  assert.notEqual(await stored(), 'ACCEPTED');
  answer();
  await until(async () => await stored() === 'ACCEPTED');
  await row(uid).getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  assert.match(await row(uid).locator('.state').textContent(), /ACCEPTED/);
}, 30);
await check('dashboard: what others decide is shown as it happens', async () => {
  await page.getByText('live', { exact: true }).waitFor();
  const uid = await rows.nth(1).getAttribute('data-uid');
  const { errors } = await post(demo.site + '/graphql', 'mutation ($uid: UID!) { updateFindings(input: {uids: [$uid], state: ACCEPTED, note: "by somebody else"}) { updatedCount } }', { uid });
  assert.ifError(errors);
  await row(uid).locator('.state', { hasText: 'by somebody else' }).waitFor();
  await page.getByRole('status').getByText('changed in').waitFor();
  assert.deepEqual(faults, []);
}, 30);
await check('dashboard: the list and the form are not wider than a phone', async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  await rows.first().getByRole('button', { name: 'Decide' }).click();
  await rows.first().getByRole('button', { name: 'Save' }).waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
  if (process.env.ATRIUM_TEST_PICTURES) await page.screenshot({ path: join(process.env.ATRIUM_TEST_PICTURES, 'example-dashboard-phone.png') });
}, 30);
await browser.close();
finish();
