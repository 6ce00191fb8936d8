// This suite checks in Chromium that the console never passes off a part as the whole: where an answer fails or comes late, where a
// stream has gaps, and where only a part of a long list is in the page.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { browser } from '../browser.mjs';
import { enter, eventually, loaded, newPage, reads, startServer, text } from '../console.mjs';
import { check, finish, temporaryFolder } from '../lib.mjs';

const database = `sqlite:${join(temporaryFolder(), 'failures.db')}`;
let site, ask, data, acme, many, varied, viewer; // The viewer is the role.

const addGroup = async (name, parent) => (await data('mutation M($i: CreateGroupInput!) { createGroup(input: $i) { group { uid } } }', { i: { name, parent } })).createGroup.group.uid;
const describe = (uid, description) => data('mutation M($i: UpdateGroupInput!) { updateGroup(input: $i) { group { uid } } }', { i: { uid, description } });
const addRepos = async (parent, names) => { for (const name of names) await ask(`/registry/v2/repos/${parent}`, { method: 'POST', body: JSON.stringify({ name }) }); };
const numbers = (n) => Array.from({ length: n }, (_, i) => String(i).padStart(3, '0'));
const scrollDown = (page) => page.evaluate(() => scrollTo(0, document.body.scrollHeight));

/** Lets a function answer the requests of a page for a document. It answers none if it returns nothing. */
async function answerFor(page, name, answer) {
  await page.route(site + '/graphql', async (route) => {
    const { query, variables } = route.request().postDataJSON();
    if (!new RegExp(`^\\w+ ${name}\\b`).test(query) || await answer(route, variables) === undefined) await route.fallback().catch(() => undefined);
  });
}

/** Goes on in a list: events that are folded do not fill the window, and then a button reads more of them. */
async function goOn(page) {
  await scrollDown(page);
  const more = page.getByRole('button', { name: 'Show more' });
  if (await more.count()) await more.click({ timeout: 5000 }).catch(() => undefined); // It goes when the end was read.
}

/** Refuses the next pages of a list until it is told otherwise. */
async function refusePages(page, name) {
  const refusal = { on: true, count: 0 };
  page.failing = /503/;
  await answerFor(page, name, async (route, variables) => {
    if (!refusal.on || !variables.after) return;
    refusal.count++;
    await route.fulfill({ status: 503, body: 'out of order' });
    return true;
  });
  return refusal;
}

await check('a server starts', async () => {
  ({ site, ask, data } = await startServer(database));
  acme = (await data('{ group(path: "acme") { uid } }')).group.uid;
  viewer = (await data('{ roles(directOnly: true) { nodes { uid name } } }')).roles.nodes.find(({ name }) => name === 'viewer').uid;
  many = await addGroup('many', acme);
  await addRepos(many, numbers(180).map((n) => 'repo-' + n));
  varied = await addGroup('varied', acme); // No two events in a row are alike.
  for (const n of numbers(45)) {
    await describe(varied, 'Described ' + n);
    await addRepos(varied, ['repo-' + n]);
  }
}, 40);

await check('a list whose next page fails says so, and continues after its last row', async () => {
  for (const [path, name, row, last] of [['/many/~repos', 'Repos', 'repo-179', 'End of the list: 180 repos.'], ['/varied/~activity?show=log', 'Audit', 'created the group varied', /End of the log: 91 events/]]) {
    const page = await newPage(), refusal = await refusePages(page, name);
    await page.goto(`${site}/console/acme${path}`);
    await loaded(page);
    await eventually(async () => { await goOn(page); return page.locator('.problem').count(); }, `${name} does not say that a page failed`);
    assert.equal(await page.getByText(/End of the|Loading more/).count(), 0);
    const asked = refusal.count;
    await page.evaluate(() => scrollTo(0, 0));
    await scrollDown(page);
    refusal.on = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    assert.equal(refusal.count, asked, 'a page that failed is requested by itself');
    await eventually(async () => { await goOn(page); return page.getByText(last).count(); }, `${name} does not continue`);
    await eventually(async () => { await scrollDown(page); return page.getByText(row, { exact: false }).count(); }, `${name} lacks ${row}`);
    assert.equal(await page.locator('.problem').count(), 0);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
}, 40);

await check('a picture of access that is not complete says so, and who may be the last owner is not claimed', async () => {
  const parent = await addGroup('crowd', acme);
  const identities = [];
  for (const name of numbers(230)) identities.push((await data('mutation M($i: CreateIdentityInput!) { createIdentity(input: $i) { identity { uid } } }', { i: { parent, name, claimMatch: { issuer: 'https://login.example.com', subject: name } } })).createIdentity.identity.uid);
  for (const identityUid of identities) await data('mutation M($i: CreateRoleBindingInput!) { createRoleBinding(input: $i) { roleBinding { uid } } }', { i: { parent, identityUid, roleUid: viewer } });
  for (const show of ['', '?show=table']) {
    const page = await newPage(), refusal = await refusePages(page, 'Access');
    await page.goto(`${site}/console/acme/crowd/~access${show}`);
    await loaded(page);
    await eventually(async () => { await scrollDown(page); return page.locator('.problem').count(); }, 'the page does not say that bindings are missing');
    if (!show) await page.getByText(/This shows the newest 200 of 23\d bindings/).waitFor();
    refusal.on = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await eventually(async () => (await page.locator('.problem').count()) === 0, 'the list does not continue');
    if (show) await eventually(async () => { await scrollDown(page); return page.locator('[aria-rowindex="232"]').count(); }, 'the table does not continue');
    else await page.getByText('This shows the newest').waitFor({ state: 'detached' });
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
}, 60);

const invite = (parent) => (name, ttl) => data('mutation M($i: CreateGroupInviteInput!) { createGroupInvite(input: $i) { groupInvite { uid } } }', { i: { parent, roleUid: viewer, email: `${name}@example.com`, ttl: `${ttl}s`, singleUse: true } });
const removeInvite = async (page, name) => {
  await page.getByRole('button', { name: `Delete the invite for ${name}@example.com` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the invite' }).click();
};

/** Scrolls from the top of a list to its end, and returns the names of all rows. */
async function readAll(page) {
  const names = new Set();
  await page.evaluate(() => scrollTo(0, 0));
  for (let at = -1, waits = 0; waits < 10;) {
    for (const name of await page.locator('.row b').allInnerTexts()) names.add(name);
    await page.evaluate(() => scrollBy(0, 500));
    await page.evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))));
    const now = await page.evaluate(() => scrollY);
    waits = now === at ? waits + 1 : 0;
    at = now;
  }
  return [...names];
}

await check('a slow next page is not appended to a list that was read again meanwhile', async () => {
  const parent = await addGroup('waiting', acme), add = invite(parent);
  for (const n of numbers(120)) await add('person-' + n, 7_000_000 + 60 * Number(n));
  const page = await newPage();
  let release, held = 0;
  const released = new Promise((go) => { release = go; });
  await answerFor(page, 'Invites', async (route, { after }) => {
    if (!after || held++ > 0) return;
    const response = await route.fetch();
    await released;
    await route.fulfill({ response }).catch(() => undefined);
    return true;
  });
  await page.goto(`${site}/console/acme/waiting/~identities?show=invites`);
  await loaded(page);
  await eventually(async () => { await scrollDown(page); return held; }, 'no page is requested');
  for (const n of numbers(5)) await add('earlier-' + n, 3_000_000);
  await page.evaluate(() => scrollTo(0, 0));
  await removeInvite(page, 'person-000');
  await page.getByText('earlier-000').waitFor();
  release();
  const names = await readAll(page);
  assert.deepEqual(numbers(120).slice(1).filter((n) => !names.includes(`person-${n}@example.com`)), [], 'the list has a hole');
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 60);

await check('a change leaves a long list as long as it was, and the reader where they were', async () => {
  const parent = await addGroup('long', acme), add = invite(parent);
  for (const n of numbers(260)) await add('person-' + n, 7_000_000 + 60 * Number(n));
  const page = await newPage();
  await page.goto(`${site}/console/acme/long/~identities?show=invites`);
  await loaded(page);
  await eventually(async () => { await scrollDown(page); return page.getByText('person-259').count(); }, 'the end is never reached');
  const before = await page.evaluate(() => scrollY);
  page.asked = [];
  await removeInvite(page, 'person-258');
  await page.getByText('259 invites').waitFor();
  await eventually(() => reads(page).filter((query) => /^query Invites/.test(query)).length >= 2, 'the list is not read again');
  await page.waitForLoadState('networkidle');
  await page.getByText('person-259').waitFor();
  const shrunk = before - await page.evaluate(() => scrollY);
  assert.ok(shrunk < 200, `the reader is thrown back by ${shrunk} pixels`);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 60);

await check('a long audit log has few rows in the page, and an event that was opened stays open', async () => {
  const page = await newPage(), rows = page.locator('[aria-label="Audit log"] .happening');
  await describe(varied, 'Described');
  await page.goto(`${site}/console/acme/varied/~activity?show=log`);
  await loaded(page);
  await page.getByRole('button', { name: 'Before and after' }).first().click();
  await page.locator('.change').waitFor();
  await eventually(async () => { await goOn(page); return page.getByText('End of the log').count(); }, 'the end is never reached');
  assert.ok(await rows.count() < 60, `${await rows.count()} rows are in the page`);
  await page.evaluate(() => scrollTo(0, 0));
  assert.match(await page.locator('.change').innerText(), /description[^]*Described/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('events that follow each other and are alike are one line with their number, below which all of them open page by page', async () => {
  const page = await newPage(), refusal = await refusePages(page, 'AuditEvents'), run = page.locator('.row').filter({ hasText: /created 180 repos/ });
  refusal.on = false;
  await page.goto(`${site}/console/acme/many/~activity?show=log`);
  await loaded(page);
  assert.equal(await page.locator('[aria-label="Audit log"] .happening').count(), 2, await text(page)); // The repos, and their group.
  await run.getByRole('button', { name: 'One by one' }).click();
  await run.getByText('51 of 180').waitFor();
  refusal.on = true;
  await run.getByRole('button', { name: 'Show more' }).click();
  await run.locator('.problem').waitFor();
  refusal.on = false;
  await run.getByRole('button', { name: 'Try again' }).click();
  await run.getByText('101 of 180').waitFor();
  await run.getByRole('button', { name: 'Show more' }).click();
  await run.getByText('151 of 180').waitFor();
  await run.getByRole('button', { name: 'Show more' }).click();
  await eventually(async () => (await run.locator('.folded .happening').count()) === 180, async () => `${await run.locator('.folded .happening').count()} events`);
  assert.deepEqual((await run.locator('.folded').innerText()).match(/repo-\d+/g), numbers(180).map((n) => 'repo-' + n).reverse());
  assert.equal(await run.getByRole('button', { name: 'Show more' }).count(), 0);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  assert.equal((await (await (await download).createReadStream()).toArray()).join('').trim().split('\r\n').length, 1 + 181, 'a file has every event');
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('a list that could not be read claims no number of rows', async () => {
  for (const [path, name] of [['~repos', 'Repos'], ['~advisories', 'Advisories'], ['~identities', 'Identities'], ['~identities?show=invites', 'Invites'], ['~webhooks', 'Webhooks'], ['~access', 'Access']]) {
    const page = await newPage();
    page.failing = /503/;
    await answerFor(page, name, (route) => route.fulfill({ status: 503, body: 'out of order' }).then(() => true));
    await page.goto(`${site}/console/acme/many/${path}`);
    await page.locator('.problem').waitFor();
    assert.doesNotMatch(await text(page), /\b0 /, path);
    await page.context().close();
  }
}, 30);

await check('the tree has the group of the page beyond the first hundred, each group once, and room for deep names', async () => {
  const parent = await addGroup('wide', acme), page = await newPage();
  for (const n of numbers(230)) await addGroup('child-' + n, parent);
  await page.goto(`${site}/console/acme/wide/child-229`);
  await loaded(page);
  const tree = page.locator('.tree'), more = tree.getByRole('button', { name: 'Show more' }), children = tree.getByRole('link', { name: /^child-/ });
  await tree.getByRole('button', { name: 'Show all' }).first().click().catch(() => undefined);
  await tree.getByRole('button', { name: 'Groups in wide' }).click();
  await tree.getByRole('button', { name: 'Groups in wide' }).click();
  await eventually(async () => (await children.count()) === 101, async () => `${await children.count()} groups`);
  await tree.getByRole('link', { name: /^child-229/ }).waitFor();
  await more.dblclick();
  await eventually(async () => (await children.count()) >= 201, async () => `${await children.count()} groups`);
  assert.equal(new Set(await children.locator('.name').allInnerTexts()).size, await children.count(), 'groups are shown twice');
  let deep = acme;
  const names = numbers(20).map((n) => 'deep-' + n);
  for (const name of names) deep = await addGroup(name, deep);
  await page.goto(`${site}/console/acme/${names.join('/')}`);
  await loaded(page);
  const { width } = await tree.getByRole('link', { name: 'deep-019' }).locator('.name').boundingBox();
  assert.ok(width > 40, `the name is ${width} pixels wide`);
  await page.context().close();
}, 60);

await check('days are those of the server, also west of Greenwich', async () => {
  const page = await newPage({ timezoneId: 'America/Los_Angeles' });
  await page.goto(`${site}/console/acme/many/~activity?show=log`);
  await loaded(page);
  const today = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }).format(new Date());
  assert.match(await page.locator('.day-bars button').last().getAttribute('aria-label'), new RegExp(`^${today} UTC: `));
  await page.context().close();
});

await check('an image of which nothing is known has no number, and neither has its repo', async () => {
  const group = await addGroup('unscanned', acme);
  await addRepos(group, ['bare']);
  const { repos: { nodes: [repo] } } = await data('query Q($g: UID!) { repos(within: $g) { nodes { uid } } }', { g: group });
  await ask(`/registry/v2/tags/${repo.uid}`, { method: 'POST', body: JSON.stringify({ name: 'latest', digest: 'sha256:' + 'ab'.repeat(32) }) });
  const page = await newPage();
  for (const [path, where] of [['unscanned/bare', 'table.tags tbody tr'], ['unscanned/~repos', '.body .row']]) {
    await page.goto(`${site}/console/acme/${path}`);
    await loaded(page);
    const row = await page.locator(where).first().innerText();
    assert.match(row, /no SBOM/, path);
    assert.doesNotMatch(row, /\b0\b/, path);
  }
  await page.goto(`${site}/console/acme/unscanned`);
  await loaded(page);
  assert.match(await page.locator('.told').innerText(), /^No SBOM for 1 image/);
  await page.goto(`${site}/console/acme/unscanned/~packages?show=unknown`);
  await loaded(page);
  assert.match(await page.locator('.body .row').allInnerTexts().then((rows) => rows.join()), /^bare:latest/);
  assert.match(await page.locator('.feed-ages').innerText(), /^Feeds: the server reads none/);
  await page.context().close();
}, 30);

await check('a live feed that is silent, or of a browser that is offline, does not claim to be live', async () => {
  const page = await newPage(), state = (name) => page.locator(`.live[data-state=${name}]`);
  await page.clock.install();
  await page.goto(`${site}/console/acme/~activity`);
  await state('live').waitFor();
  let again = false; // While the server hangs, no stream opens.
  await answerFor(page, 'Live', (route) => again ? undefined : route.abort());
  page.failing = /Failed to load/;
  await page.clock.fastForward(31_000); // The server writes a comment every 12 s, but not in this time.
  await page.getByText(/^The connection was lost\. This list is as of .*\d/).waitFor();
  again = true;
  await page.clock.fastForward(30_000);
  await state('live').waitFor();
  await page.context().setOffline(true);
  await state('waiting').waitFor();
  await addGroup('while-offline', acme);
  await page.context().setOffline(false);
  await state('live').waitFor();
  await page.getByText('while-offline').first().waitFor();
  await page.context().close();
}, 30);

await check('a page of an advisory and a grouped list count all findings, and each number leads to a list of that length', async () => {
  const { topVulnerabilities: { nodes: [top] } } = await data('{ topVulnerabilities(first: 1) { nodes { vulnerabilityId findings repos } } }');
  const page = await newPage();
  await page.goto(`${site}/console/acme/~advisories?id=${top.vulnerabilityId}`);
  await loaded(page);
  const told = page.locator('.told.small');
  assert.match(await told.innerText(), new RegExp(`^${top.findings} open findings? in ${top.repos} repos? `));
  await told.getByRole('link').first().click();
  await page.waitForURL(/~findings\?vulnerability=/);
  await eventually(async () => (await page.locator('.filters .total').innerText()) === `${top.findings} finding${top.findings === 1 ? '' : 's'}`, async () => page.locator('.filters').first().innerText());
  assert.deepEqual(await page.locator('.tabs button small').allInnerTexts(), [], 'the numbers of the group stand beside a list of one advisory');
  // Each row of a grouped list leads to a list of the length that it tells.
  await page.getByRole('group', { name: 'Vulnerability' }).getByRole('button').click();
  for (const by of ['advisory', 'package', 'repo', 'team']) {
    await page.getByLabel('Group the findings').selectOption(by);
    const row = page.locator('.group-columns').nth(1);
    await row.waitFor();
    await loaded(page);
    const told = (await row.locator('.number').first().innerText()).match(/\d+/)[0];
    await row.getByRole('link').click();
    await page.waitForURL((url) => !url.search.includes('grouped'));
    await eventually(async () => (await page.locator('.filters .total').innerText()) === `${told} finding${told === '1' ? '' : 's'}`, async () => `${by}: ${told} and ${await page.locator('.filters .total').innerText()}`);
    await page.goBack();
    await row.waitFor();
  }
  await page.context().close();
}, 30);

await check('a decision about more findings than one update takes goes on in the background, says how far it is, and can be stopped', async () => {
  const page = await newPage();
  let sent, done = 2000, stopped = false;
  // What the page asks when the test is over gets no answer.
  const fulfill = async (route, data) => { await route.fulfill({ json: { data } }).catch(() => undefined); return true; };
  await answerFor(page, 'UpdateFindings', (route, { input }) => { sent = input; return fulfill(route, { updateFindings: { __typename: 'UpdateFindingsPayload', updatedCount: 0, findings: [], operation: { __typename: 'Operation', uid: 'a/b' } } }); });
  await answerFor(page, 'StopDecision', (route) => { stopped = true; return fulfill(route, { cancelOperation: { __typename: 'CancelOperationPayload', operation: { __typename: 'Operation', uid: 'a/b' } } }); });
  await answerFor(page, 'DecisionProgress', (route) => fulfill(route, { operation: { __typename: 'Operation', uid: 'a/b', done: stopped || done === 10_001, state: stopped ? 'CANCELLED' : done === 10_001 ? 'SUCCEEDED' : 'RUNNING', records: done, progressPercent: Math.floor(done / 100.01), error: null } }));
  await answerFor(page, 'Findings', async (route) => {
    const answer = await route.fetch().then((response) => response.json()).catch(() => undefined);
    if (answer) answer.data.findings.totalCount = 10_001;
    return fulfill(route, answer?.data);
  });
  await page.goto(`${site}/console/acme/~findings`);
  await loaded(page);
  const said = page.getByRole('status', { name: 'What was saved' });
  const begin = async () => {
    await page.getByRole('button', { name: 'Decide about all 10,001' }).click();
    await page.getByRole('dialog').getByText('in the background. You can stop it, but you cannot undo it.').waitFor();
    await page.getByLabel('State').selectOption('ACCEPTED');
    await page.getByRole('button', { name: 'Save the decision' }).click();
    await said.getByText('deciding about 10,001 findings in the background: 2,000 done (19%).').waitFor();
  };
  await begin();
  assert.equal(sent.background, true);
  done = 10_001;
  await said.getByText('Accepted 10,001 findings. You cannot undo this.').waitFor();
  assert.equal(await said.getByRole('button', { name: 'Undo' }).count(), 0);
  done = 2000;
  await begin();
  await said.getByRole('button', { name: 'Stop' }).click();
  await said.getByText('Stopped. What was decided stays: 2,000 findings.').waitFor();
  await page.context().close();
}, 30);

await check('a time is typed and shown in the zone of the settings, whatever the zone of the browser is', async () => {
  const page = await newPage({ timezoneId: 'America/Los_Angeles' });
  let sent;
  await answerFor(page, 'UpdateFindings', (route, { input }) => { sent = input; });
  await page.addInitScript(() => localStorage.setItem('atrium.console.preferences', JSON.stringify({ zone: 'UTC' })));
  await page.goto(`${site}/console/acme/~findings`);
  await loaded(page);
  await page.locator('.body .row').first().getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Decide about 1', exact: true }).click();
  await page.getByLabel('State').selectOption('ACCEPTED');
  const until = page.getByLabel(/^Until/).first();
  const field = page.locator('.field', { has: until });
  assert.match(await field.locator('.presets').innerText(), /Time zone: UTC/);
  await field.getByRole('button', { name: 'in 30 days' }).click();
  const left = Date.parse(await until.inputValue() + 'Z') - Date.now();
  assert.ok(Math.abs(left - 30 * 86_400_000) < 600_000, `30 days from now is ${await until.inputValue()}`);
  await until.fill('2099-12-31T17:00:00');
  await page.getByRole('dialog').getByRole('button', { name: /^(Save|Decide|Accept)/ }).last().click();
  await eventually(() => sent, 'nothing was sent');
  assert.equal(sent.expireTime, '2099-12-31T17:00:00.000Z');
  await page.context().close();
}, 30);

await check('a page whose script could not be loaded is loaded when the reader comes back', async () => {
  const page = await newPage();
  page.failing = /Failed to load resource|Failed to fetch dynamically/;
  await page.route(/\/roles-[^/]*\.js$/, (route) => route.abort());
  await page.goto(`${site}/console/acme`);
  await loaded(page);
  await page.getByRole('link', { name: 'Roles' }).click();
  await page.getByText('This page could not be loaded').waitFor();
  await page.unroute(/\/roles-[^/]*\.js$/);
  await page.getByRole('link', { name: 'Overview' }).click();
  await loaded(page);
  await page.getByRole('link', { name: 'Roles' }).click();
  await page.getByRole('heading', { name: 'Roles' }).waitFor();
  await page.context().close();
}, 30);

await check('a printed list has the rows beyond the window, and no controls', async () => {
  const page = await newPage();
  await page.goto(`${site}/console/acme/many/~repos`);
  await loaded(page);
  const rows = () => page.locator('.body .row').count(), before = await rows();
  await page.emulateMedia({ media: 'print' });
  await eventually(async () => (await rows()) > before, `not more than the ${before} rows of the screen are printed`);
  assert.equal(await page.locator('.top, .side, .filters').filter({ visible: true }).count(), 0);
  await page.emulateMedia({ media: 'screen' });
  await eventually(async () => (await rows()) === before, 'the screen has other rows after printing');
  await page.context().close();
}, 30);

await browser.close();
finish();
