// This suite checks in Chromium that the console never shows an answer below the name of something else: on the way through the
// tree, from one organization to another, and while a slow answer is awaited.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { browser } from '../browser.mjs';
import { eventually, loaded, look, newPage, startServer, text, watchPage } from '../console.mjs';
import { check, finish, temporaryFolder } from '../lib.mjs';

const database = `sqlite:${join(temporaryFolder(), 'answers.db')}`;
let site, ask, data;

const addGroup = async (name, parent) => (await data('mutation M($i: CreateGroupInput!) { createGroup(input: $i) { group { uid } } }', { i: { name, description: `this is ${name}`, ...(parent && { parent }) } })).createGroup.group.uid;
const addRepo = async (name, parent) => (await data('mutation M($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', { i: { name, parent } })).createRepo.repo.uid;
const addTags = async (repo, names) => { for (const name of names) await ask(`/registry/v2/tags/${repo}`, { method: 'POST', body: JSON.stringify({ name, digest: 'sha256:' + Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64) }) }); };
const lead = (page) => page.locator('.lead').innerText();

/** Holds back some requests of a page. Returns a function that lets them go. */
async function hold(page, name) {
  let release;
  const released = new Promise((go) => { release = go; });
  await page.route(site + '/graphql', async (route) => {
    if (new RegExp(`^query ${name}\\b`).test(route.request().postDataJSON().query)) await released;
    await route.continue().catch(() => undefined);
  });
  return release;
}

let acme;
await check('a server starts', async () => {
  ({ site, ask, data } = await startServer(database));
  acme = (await data('{ group(path: "acme") { uid } }')).group.uid;
}, 30);

await check('each name on the way of a deep group leads to its own group', async () => {
  const names = ['first', 'second', 'third', 'fourth'];
  let parent = acme;
  for (const name of names) parent = await addGroup(name, parent);
  const page = await newPage();
  await page.goto(`${site}/console/acme/${names.join('/')}`);
  await loaded(page);
  for (const name of names.toReversed()) {
    await page.locator('.breadcrumbs').getByRole('link', { name, exact: true }).click();
    await eventually(async () => (await page.locator('h1').innerText()) === name, `the page of ${name} does not open`);
    await loaded(page);
    assert.equal(await lead(page), `this is ${name}`, `of ${name}`);
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('another organization has its own page and its own tree', async () => {
  const other = await addGroup('globex');
  await addGroup('branch', other);
  const page = await newPage();
  await page.goto(`${site}/console/acme/first/second`);
  await loaded(page);
  await page.locator('.switch select').selectOption('globex');
  await page.waitForURL(/\/console\/globex$/);
  await eventually(async () => (await page.locator('h1').innerText()) === 'globex', 'the page does not open');
  await loaded(page);
  assert.equal(await lead(page), 'this is globex');
  await eventually(async () => /branch/.test(await page.locator('.tree').innerText()), async () => page.locator('.tree').innerText());
  assert.doesNotMatch(await page.locator('.tree').innerText(), /engineering/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('a uid in the address does not show one group below the name of another', async () => {
  const uid = await addGroup('decoy', acme), page = await newPage();
  await page.goto(`${site}/console/acme/first?group=${uid}`);
  await loaded(page);
  assert.equal(await lead(page), 'this is first');
  await page.context().close();
});

await check('tags that are filtered or read again have a button for more exactly if there are more, and none is left out', async () => {
  const repo = await addRepo('many', acme), page = await newPage(), rows = page.locator('.tags tbody tr'), more = page.getByRole('button', { name: 'Show more' });
  await addTags(repo, Array.from({ length: 230 }, (_, i) => `v1.${String(i).padStart(3, '0')}`));
  await page.goto(`${site}/console/acme/many`);
  await loaded(page);
  assert.deepEqual([await rows.count(), await more.count()], [200, 1]);
  await page.getByLabel('Find a tag').fill('v1.00');
  await eventually(async () => (await rows.count()) === 10, 'the filter has no effect');
  assert.equal(await more.count(), 0);
  await page.getByLabel('Find a tag').fill('');
  await eventually(async () => (await rows.count()) === 200 && (await more.count()) === 1, 'the button does not come back');
  await page.getByRole('link', { name: 'Repos', exact: true }).click();
  await loaded(page);
  await addTags(repo, ['v2.0', 'v2.1', 'v2.2']);
  await page.goBack();
  await page.getByText('v2.2', { exact: true }).waitFor();
  await more.click();
  await eventually(async () => (await rows.count()) === 233, async () => `${await rows.count()} of 233 tags`);
  const names = await page.locator('.tags .tag-name').allInnerTexts();
  assert.equal(new Set(names).size, 233);
  assert.deepEqual(names.slice(0, 4), ['v2.2', 'v2.1', 'v2.0', 'v1.229'], 'the tags are not in the order of versions');
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('a form sends only what the reader changed, also if the page is read again meanwhile', async () => {
  const uid = await addGroup('edited', acme), page = await newPage(), sent = [];
  page.on('request', (request) => { if (request.url().endsWith('/graphql') && /^mutation/.test(request.postDataJSON().query)) sent.push(request.postDataJSON().variables.input); });
  await page.goto(`${site}/console/acme/edited`);
  await loaded(page);
  await page.getByRole('link', { name: 'Repos', exact: true }).click();
  await loaded(page);
  await data('mutation M($i: UpdateGroupInput!) { updateGroup(input: $i) { group { uid } } }', { i: { uid, description: 'of somebody else' } });
  const answerOverview = await hold(page, 'Overview');
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByRole('dialog').getByLabel(/^Name$/).fill('edited-2');
  answerOverview();
  await page.getByText('of somebody else').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/edited-2$/);
  assert.deepEqual(sent, [{ uid, name: 'edited-2' }]);
  await page.context().close();
}, 30);

await check('the answer to a question is not shown for the next question', async () => {
  const page = await newPage();
  await page.goto(`${site}/console/acme/~access?do=REPO_LIST`);
  await loaded(page);
  assert.match(await page.locator('.verdict').innerText(), /^Yes\s*You may read repos/);
  const answerCan = await hold(page, 'Can');
  await page.getByLabel('Do what').selectOption('GROUPS_DELETE');
  await page.waitForURL(/GROUPS_DELETE/);
  assert.equal(await page.locator('.verdict').count(), 0, 'an answer is shown before there is one');
  answerCan();
  await page.locator('.verdict').waitFor();
  assert.match(await page.locator('.verdict').innerText(), /may delete groups/);
  await page.context().close();
});

await check('Enter in the search waits for the answer to what was typed', async () => {
  const page = await newPage();
  await page.goto(`${site}/console/acme`);
  await loaded(page);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('billing');
  await page.getByRole('option').filter({ hasText: 'billing' }).first().waitFor();
  const answerSearch = await hold(page, 'Search');
  await page.getByRole('combobox', { name: 'Search' }).fill('decoy');
  await page.keyboard.press('Enter');
  answerSearch();
  await page.waitForURL(/\/console\/acme\/decoy$/);
  await page.context().close();
});

await check('nothing leads away from a form but the form itself', async () => {
  const page = await newPage();
  await page.goto(`${site}/console/acme/~repos`);
  await loaded(page);
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('button', { name: 'New group' }).click();
  await page.getByRole('dialog').getByLabel(/^Description/).fill('typed');
  await page.keyboard.press('Control+k');
  await page.evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))));
  assert.equal(await page.locator('dialog[open]').count(), 1, 'the search opens above the form');
  assert.equal(await page.getByRole('dialog').getByLabel(/^Description/).inputValue(), 'typed');
  const goBack = async (answer) => {
    await page.evaluate(() => history.back());
    await page.getByRole('dialog').getByText('Your changes are not saved.').waitFor();
    await page.waitForURL(/\/console\/acme$/);
    await page.getByRole('dialog').getByRole('button', { name: answer }).click();
  };
  await goBack('Keep editing');
  assert.equal(await page.getByRole('dialog').getByLabel(/^Description/).inputValue(), 'typed');
  await goBack('Discard');
  await page.waitForURL(/~repos$/);
  await page.getByRole('table', { name: 'Repos' }).waitFor();
  await page.context().close();
});

await check('a form in which nothing was changed closes without a question', async () => {
  const page = await newPage();
  await page.goto(`${site}/console/acme/many`);
  await loaded(page);
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await page.getByRole('dialog').getByLabel(/^Bundles/).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await eventually(async () => (await page.locator('dialog[open]').count()) === 0, 'the form asks about changes');
  await page.context().close();
});

await check('a console whose first request was refused tries again', async () => {
  const page = await newPage();
  page.failing = /503/;
  let refused = true;
  await page.route(site + '/graphql', (route) => (refused ? route.fulfill({ status: 503, json: { errors: [{ message: 'too many requests', extensions: { code: 'UNAVAILABLE' } }] } }) : route.continue()));
  await page.goto(`${site}/console/acme/first`);
  await page.getByText('The server did not answer').waitFor();
  refused = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('this is first').waitFor();
  assert.match(await text(page), /Needs attention/);
  await page.context().close();
});

await check('a group whose name is two dots has an address', async () => {
  await addGroup('..', acme);
  const page = await newPage();
  await page.goto(`${site}/console/acme`);
  await loaded(page);
  await page.getByText('this is ..', { exact: true }).click();
  await eventually(async () => (await page.locator('h1').innerText()) === '..', async () => page.url());
  await page.reload();
  await loaded(page);
  assert.deepEqual([await lead(page), await page.locator('.breadcrumbs').innerText()], ['this is ..', 'acme\n..']);
  await page.context().close();
});

await check('a group and a repo with the same path have both an address', async () => {
  await addGroup('twin', acme);
  await addRepo('twin', acme);
  const page = await newPage();
  await page.goto(`${site}/console/acme/~repos?q=twin`);
  await loaded(page);
  await page.locator('.row').filter({ hasText: 'twin' }).getByRole('link').click();
  await page.getByRole('button', { name: 'Readme', exact: true }).waitFor();
  await page.reload();
  await loaded(page);
  await page.getByRole('button', { name: 'Readme', exact: true }).waitFor();
  await page.locator('.tree').getByRole('link', { name: /^twin/ }).click();
  await eventually(async () => (await lead(page)) === 'this is twin', 'the tree leads to the repo');
  await page.getByRole('link', { name: 'a repo with this name' }).click();
  await page.getByRole('button', { name: 'Readme', exact: true }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a bundle with a comma is one bundle in the address', async () => {
  const uid = await addRepo('bundled', acme), page = await newPage();
  await data('mutation M($i: UpdateRepoInput!) { updateRepo(input: $i) { repo { uid } } }', { i: { uid, bundles: ['alpha, 100%', 'beta'] } });
  await page.goto(`${site}/console/acme/~repos`);
  await loaded(page);
  await page.locator('.toggle', { hasText: 'alpha, 100%' }).click();
  await page.waitForURL(/bundle=/);
  await page.reload();
  await loaded(page);
  assert.equal(await page.locator('.row').count(), 1);
  assert.match(await page.locator('.row').innerText(), /bundled/);
  await page.context().close();
});

await check('what a binding takes is said also for a role that is not among the first of its group', async () => {
  const parent = await addGroup('roles', acme), child = await addGroup('below', parent), roles = [];
  for (let i = 0; i < 52; i++) roles.push((await data('mutation M($i: CreateRoleInput!) { createRole(input: $i) { role { uid } } }', { i: { parent, name: `role-${i}`, capabilities: ['REPO_LIST', 'REPO_CREATE'] } })).createRole.role.uid);
  const first = (await data('query Q($uid: UID!) { group(uid: $uid) { roles(directOnly: true, first: 50) { nodes { uid } } } }', { uid: parent })).group.roles.nodes.map(({ uid }) => uid);
  const { createIdentity: { identity } } = await data('mutation M($i: CreateIdentityInput!) { createIdentity(input: $i) { identity { uid } } }', { i: { parent, name: 'zoe', claimMatch: { issuer: 'https://login.example.com', subject: 'zoe' } } });
  await data('mutation M($i: CreateRoleBindingInput!) { createRoleBinding(input: $i) { roleBinding { uid } } }', { i: { parent: child, identityUid: identity.uid, roleUid: roles.find((uid) => !first.includes(uid)) } });
  const page = await newPage();
  await page.goto(`${site}/console/acme/roles/below/~access?show=table`);
  await loaded(page);
  await page.getByRole('button', { name: /^Revoke .* of zoe/ }).click();
  await page.getByRole('dialog').getByText('loses 2 capabilities').waitFor();
  await page.context().close();
}, 30);

await check('a text is copied also where the browser gives the page no clipboard', async () => {
  const page = await newPage();
  await page.goto(`${site}/console/acme/many`);
  await loaded(page);
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }));
  await page.getByRole('button', { name: 'Copy the path' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  await page.evaluate(() => { delete navigator.clipboard; });
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'acme/many');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('an invite that expires soon needs attention, however many there are', async () => {
  const parent = await addGroup('inviting', acme), roleUid = (await data('{ roles(directOnly: true) { nodes { uid name } } }')).roles.nodes.find(({ name }) => name === 'viewer').uid;
  const invite = (email, ttl) => data('mutation M($i: CreateGroupInviteInput!) { createGroupInvite(input: $i) { groupInvite { uid } } }', { i: { parent, roleUid, email, ttl, singleUse: true } });
  for (let i = 0; i < 120; i++) await invite(`later-${i}@example.com`, '8640000s');
  const soon = Array.from({ length: 6 }, (_, i) => `soon-${i}@example.com`);
  for (const email of soon) await invite(email, '3600s');
  const page = await newPage();
  await page.goto(`${site}/console/acme/inviting`);
  await loaded(page);
  for (const email of soon) await page.locator('.concerns').getByText(email).waitFor();
  await page.context().close();
}, 30);

await check('a long readme can be typed, and has no link that the server refuses', async () => {
  const uid = await addRepo('readme', acme), page = await newPage();
  await data('mutation M($i: UpdateRepoReadmeInput!) { updateRepoReadme(input: $i) { repo { uid } } }', { i: { uid, content: 'one\n\n'.repeat(10_000) } });
  await page.goto(`${site}/console/acme/readme?tab=readme`);
  await loaded(page);
  await page.locator('.card', { has: page.locator('.markdown') }).getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByRole('region', { name: 'Preview' }).locator('p').first().waitFor();
  assert.equal(await page.locator('.mutation').count(), 1);
  await page.getByRole('dialog').locator('textarea').press('Control+Home');
  const before = await page.locator('.preview p').first().innerText();
  await page.keyboard.type('x');
  assert.equal(await page.locator('.mutation').count(), 0);
  assert.equal(await page.locator('.preview p').first().innerText(), before, 'the preview is made anew at each key');
  await eventually(async () => (await page.locator('.preview p').first().innerText()) === 'xone', 'the preview does not follow');
  await page.context().close();
}, 30);

await check('long names and texts make no page too wide', async () => {
  const name = 'n'.repeat(255), uid = await addGroup(name, acme);
  await data('mutation M($i: UpdateGroupInput!) { updateGroup(input: $i) { group { uid } } }', { i: { uid, description: 'D'.repeat(512) } });
  const repo = await addRepo('r'.repeat(255), uid);
  await data('mutation M($i: UpdateRepoInput!) { updateRepo(input: $i) { repo { uid } } }', { i: { uid: repo, description: 'D'.repeat(512), bundles: ['B'.repeat(512), 'b'], aliases: ['A'.repeat(512)] } });
  await addTags(repo, ['t'.repeat(128)]);
  const { createIdentity: { identity } } = await data('mutation M($i: CreateIdentityInput!) { createIdentity(input: $i) { identity { uid } } }', { i: { parent: uid, name: 'i'.repeat(255), description: 'D'.repeat(512), claimMatch: { issuer: 'https://login.example.com', subject: 's'.repeat(200) } } });
  for (const width of [1440, 390]) {
    const page = await newPage({ viewport: { width, height: 900 } });
    for (const path of ['', '/~repos', '/' + 'r'.repeat(255), '/~identities', '/~access', '/~access?identity=' + identity.uid, '/~activity', '/~webhooks']) {
      await page.goto(`${site}/console/acme/${name}${path}`);
      await loaded(page);
      await look(page, `long${path.slice(0, 12).replace(/\W+/g, '-')}-${width}`);
    }
    await page.context().close();
  }
}, 60);

await check('tabs that nobody sees take no connection from the others, and continue when they are seen', async () => {
  const pages = [await newPage()], see = (page, visibility) => page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, visibility);
  for (let i = 0; i < 8; i++) {
    const page = pages[i] ?? watchPage(await pages[0].context().newPage());
    pages[i] = page;
    await page.goto(`${site}/console/acme`);
    await page.locator('.live[data-state=live]').waitFor();
    await loaded(page);
    await see(page, 'hidden');
  }
  await addGroup('unseen', acme);
  await see(pages[0], 'visible');
  await pages[0].locator('.events').getByText('unseen').first().waitFor();
  await pages[0].context().close();
}, 60);

await browser.close();
finish();
