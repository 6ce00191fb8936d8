// This suite makes changes with the console in Chromium: of groups, repos, webhooks, identities and invites. It also checks that
// the message about a refused value is at its field, and what people see who may not make changes.

import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { browser, violations } from '../browser.mjs';
import { enter, eventually, loaded, look, newPage, open, text, token } from '../console.mjs';
import { ask, check, data, finish, site } from '../lib.mjs';
import { startSink } from '../receiver.mjs';

let gone = true; // It says whether the sink answers 410 on /gone.
const sink = await startSink(({ path }) => ({ status: path === '/gone' && gone ? 410 : path === '/broken' ? 400 : 204 }));

const button = (page, name) => page.getByRole('button', { name, exact: true });
const dialog = (page) => page.locator('dialog[open]');
const field = (page, label) => dialog(page).getByLabel(label === 'Name' ? /^Name$/ : new RegExp('^' + label));
const submit = (page, name) => dialog(page).getByRole('button', { name, exact: true }).click();
const closed = (page) => eventually(async () => (await dialog(page).count()) === 0, async () => `the dialog stays: ${await dialog(page).allInnerTexts()}`);
const fault = (page, label) => dialog(page).locator('.field', { has: page.getByLabel(label === 'Name' ? /^Name$/ : new RegExp('^' + label)) }).locator('.fault').innerText();

/** Records the inputs of the changes that a page sends. */
function watchChanges(page) {
  page.changes = [];
  page.on('request', (request) => {
    const { query, variables } = request.url().endsWith('/graphql') ? request.postDataJSON() : {};
    if (query?.startsWith('mutation')) page.changes.push(variables.input);
  });
  return page;
}

const { group: { uid: acme } } = await data('{ group(path: "acme") { uid } }');
const page = watchChanges(await newPage());

await check('a form tells what is wrong before it is sent, and the server the rest, at the field', async () => {
  await open(page, '/console/acme');
  await button(page, 'New group').click();
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'INPUT', 'the focus is not on the first field');
  await page.keyboard.press('Enter');
  assert.equal(await fault(page, 'Name'), 'This field is required.');
  await field(page, 'Name').fill('Not So!');
  await field(page, 'Description').fill('x'.repeat(513));
  await page.keyboard.press('Enter');
  assert.equal(await fault(page, 'Name'), 'Use only lower-case letters, digits, space, ., _ and -.');
  assert.equal(await fault(page, 'Description'), 'At most 512 characters; you entered 513.');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-invalid')), 'true', 'the focus is not on what is wrong');
  assert.deepEqual(page.changes, [], 'it was sent');
  await field(page, 'Description').fill('');
  await field(page, 'Name').fill('engineering');
  await page.keyboard.press('Enter');
  await eventually(async () => (await fault(page, 'Name')) === 'This is already in use.', 'the server says nothing');
  await look(page, 'changes-taken');
  assert.deepEqual(await violations(page), []);
});

await check('what was typed is not dropped without a question', async () => {
  await page.keyboard.press('Escape');
  await dialog(page).getByText('Your changes are not saved.').waitFor();
  await submit(page, 'Keep editing');
  assert.equal(await field(page, 'Name').inputValue(), 'engineering');
  await page.keyboard.press('Escape');
  await submit(page, 'Discard');
  await closed(page);
  assert.equal(await page.evaluate(() => document.activeElement.innerText.trim()), 'New group', 'the focus is not where it was');
});

await check('a group is created, renamed and deleted, and the tree follows', async () => {
  await button(page, 'New group').click();
  await field(page, 'Name').fill('console test');
  await field(page, 'Description').fill('Made by hand');
  await submit(page, 'Create the group');
  await page.waitForURL(/\/console\/acme\/console%20test$/);
  await loaded(page);
  const tree = page.getByRole('navigation', { name: 'Groups' });
  await tree.getByRole('link', { name: /console test/ }).waitFor();
  await button(page, 'Edit').click();
  await field(page, 'Name').fill('console-test');
  await dialog(page).getByText('The new name changes the address of the group').waitFor();
  await submit(page, 'Save');
  await page.waitForURL(/\/console\/acme\/console-test$/);
  const { uid, ...rest } = page.changes.at(-1);
  assert.deepEqual(rest, { name: 'console-test' }, 'more is sent than what differs');
  await tree.getByRole('link', { name: /console-test/ }).waitFor();
  await loaded(page);
  await button(page, 'Edit').click();
  await field(page, 'Description').fill('');
  await submit(page, 'Save');
  await closed(page);
  assert.deepEqual(page.changes.at(-1), { uid, description: null });
  assert.deepEqual((await data('query Q($uid: UID!) { group(uid: $uid) { name description } }', { uid })).group, { name: 'console-test', description: null });
  await eventually(async () => /No description/.test(await text(page)), 'the page still shows the description');
});

const { group: { uid: place } } = await data('{ group(path: "acme/console-test") { uid } }');

await check('a repo is created, changed, given a readme and deleted', async () => {
  await page.getByRole('link', { name: 'Repos', exact: true }).click();
  await loaded(page);
  await button(page, 'New repo').click();
  await field(page, 'Name').fill('Bad//name');
  await field(page, 'Tier').selectOption('BASE');
  await field(page, 'Aliases').fill('one.example.com/a\n\ntwo.example.com/b\n');
  await submit(page, 'Create the repo');
  assert.match(await fault(page, 'Name'), /^Use only lower-case letters and digits, with dots/);
  await field(page, 'Name').fill('tools/hammer');
  await submit(page, 'Create the repo');
  await page.waitForURL(/\/console\/acme\/console-test\/tools\/hammer$/);
  await loaded(page);
  assert.deepEqual(page.changes.at(-1), { parent: place, name: 'tools/hammer', catalogTier: 'BASE', aliases: ['one.example.com/a', 'two.example.com/b'] });
  await button(page, 'Edit').first().click();
  await field(page, 'Tier').selectOption('');
  await field(page, 'Copied from').fill('upstream.example.com/hammer');
  await submit(page, 'Save');
  await closed(page);
  const { uid, ...rest } = page.changes.at(-1);
  assert.deepEqual(rest, { catalogTier: null, syncConfig: { source: 'upstream.example.com/hammer' } });
  await eventually(async () => /Copied from/.test(await text(page)), 'the page does not show the source');
  await button(page, 'Readme').click();
  await button(page, 'Write a readme').click();
  await field(page, 'Readme').fill('# Hammer\n\n<img src=x onerror="window.hurt = 1">');
  await dialog(page).getByRole('heading', { name: 'Hammer', exact: true }).waitFor();
  await submit(page, 'Save');
  await closed(page);
  await page.locator('.card .markdown').getByRole('heading', { name: 'Hammer', exact: true }).waitFor();
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  await button(page, 'Delete').click();
  await dialog(page).getByText('This removes the repo acme / console-test / tools/hammer, its readme and its settings').waitFor();
  await look(page, 'changes-delete');
  await submit(page, 'Delete the repo');
  await page.waitForURL(/console-test\/~repos$/);
  await page.getByText('No repos yet').waitFor();
  assert.equal((await ask('query Q($uid: UID!) { repo(uid: $uid) { uid } }', { uid })).errors[0].extensions.code, 'NOT_FOUND');
});

await check('what is in the way of a deletion is said before', async () => {
  await open(page, '/console/acme/engineering/shop/checkout');
  await button(page, 'Delete').click();
  assert.match(await dialog(page).innerText(), /Only a repo without tags can be deleted. checkout has \d+ tags/);
  assert.equal(await dialog(page).getByRole('button', { name: 'Delete the repo' }).count(), 0);
  await page.keyboard.press('Escape');
  await open(page, '/console/acme/engineering');
  await button(page, 'Delete').click();
  assert.match(await dialog(page).innerText(), /Only an empty group can be deleted. In engineering and below there are \d+ groups, \d+ repos/);
  await page.keyboard.press('Escape');
});

let secret;
await check('a webhook is created with a choice of events, and its secret is shown once', async () => {
  await open(page, '/console/acme/console-test/~webhooks');
  assert.match(await text(page), /No webhooks yet/);
  await button(page, 'New webhook').click();
  await field(page, 'Sink').fill('http://10.0.0.1/x');
  await submit(page, 'Create the webhook');
  await eventually(async () => /Sink must be an https URL/.test(await fault(page, 'Sink')), 'the server says nothing');
  await field(page, 'Sink').fill(sink.url + '/hook');
  await dialog(page).getByRole('button', { name: 'All of Repos' }).click();
  await look(page, 'changes-webhook');
  await submit(page, 'Create the webhook');
  await button(page, 'I have saved it').waitFor();
  assert.deepEqual(page.changes.at(-1).types, ['created', 'updated', 'deleted'].map((verb) => 'platform.registry.repo.' + verb));
  secret = await dialog(page).locator('code').innerText();
  assert.match(secret, /^whsec_/);
  for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
  assert.equal(await dialog(page).locator('code').innerText(), secret, 'the secret goes away before it is kept');
  await button(page, 'I have saved it').click();
  await page.waitForURL(/hook=/);
  await loaded(page);
  assert.ok(!(await page.content()).includes(secret), 'the secret is still in the page');
  assert.match(await text(page), /Nothing sent yet/);
});

await check('a test event arrives with a good signature, and its delivery shows up by itself', async () => {
  await button(page, 'Send a test event').click();
  const [delivery] = await sink.arrived('/hook');
  new Webhook(secret).verify(delivery.body, delivery.headers);
  await page.getByText('The sink accepted the test event and answered 204').waitFor();
  const row = page.locator('.row').first();
  assert.match(await row.innerText(), /Delivered\s+Webhook tested\s+204/);
  await row.getByRole('button').first().click();
  assert.match(await row.innerText(), new RegExp(`${delivery.headers['webhook-id']}[^]*1 of at most 10[^]*HTTP status 204`));
  await look(page, 'changes-delivery');
  assert.deepEqual(await violations(page), []);
}, 30);

await check('a delivery is redelivered, with the secret that was rotated', async () => {
  await button(page, 'Rotate the secret').click();
  await submit(page, 'Make a new secret');
  await button(page, 'I have saved it').waitFor();
  const next = await dialog(page).locator('code').innerText();
  assert.notEqual(next, secret);
  await button(page, 'I have saved it').click();
  await page.locator('.row').first().getByRole('button', { name: 'Redeliver' }).click();
  const [first, second] = await sink.arrived('/hook', 2);
  assert.equal(second.headers['webhook-id'], first.headers['webhook-id']);
  new Webhook(next).verify(second.body, second.headers);
  new Webhook(secret).verify(second.body, second.headers);
  await eventually(async () => /^Delivered/.test(await page.locator('.row').first().innerText()), async () => page.locator('.row').first().innerText());
  await page.getByRole('checkbox', { name: /^Choose Webhook tested of / }).check();
  await button(page, 'Redeliver 1').click();
  const [,, third] = await sink.arrived('/hook', 3);
  assert.equal(third.headers['webhook-id'], first.headers['webhook-id']);
  assert.equal(await page.getByRole('region', { name: 'What is chosen' }).count(), 0);
}, 30);

await check('what a sink refused is shown with its answer', async () => {
  await data('mutation M($input: CreateSubscriptionInput!) { createSubscription(input: $input) { secret } }', { input: { parent: place, sink: sink.url + '/broken' } });
  await open(page, '/console/acme/console-test/~webhooks');
  await page.getByText('/broken').click();
  await page.waitForURL(/hook=/);
  await loaded(page);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1', 'the focus is not on the webhook');
  await button(page, 'Send a test event').click();
  await page.getByText(/The sink did not accept the test event/).waitFor();
  assert.match(await page.locator('.row').first().innerText(), /Retrying[^]*400/);
  await eventually(async () => /Failing/.test(await page.locator('.facts').innerText()), async () => page.locator('.facts').innerText());
}, 30);

await check('a webhook that was disabled says why, and is enabled again', async () => {
  const { createSubscription: { subscription } } = await data('mutation M($input: CreateSubscriptionInput!) { createSubscription(input: $input) { subscription { uid } } }', { input: { parent: place, sink: sink.url + '/gone' } });
  // Its creation is an event too. If that has arrived, the webhook is disabled already, and the test event is refused.
  await ask('mutation M($input: TestSubscriptionInput!) { testSubscription(input: $input) { eventId } }', { input: { uid: subscription.uid } });
  await eventually(async () => (await data('query Q($uid: UID!) { subscription(uid: $uid) { disableTime } }', { uid: subscription.uid })).subscription.disableTime, 'it is never disabled');
  await open(page, '/console/acme/console-test/~webhooks?hook=' + subscription.uid);
  assert.match(await text(page), /Disabled[^]*Why: [^]*410[^]*Repair the sink, then enable the webhook/i);
  await look(page, 'changes-disabled');
  assert.deepEqual(await violations(page), []);
  const test = button(page, 'Send a test event');
  assert.equal(await test.getAttribute('aria-disabled'), 'true');
  await test.hover();
  await page.getByRole('tooltip').filter({ hasText: 'enable it first' }).waitFor();
  gone = false;
  await button(page, 'Enable it again').click();
  await eventually(async () => (await page.locator('.notice').count()) === 0, 'the notice stays');
  await eventually(async () => (await test.getAttribute('aria-disabled')) === null, 'it is not enabled');
  await test.click();
  await page.getByText('The sink accepted the test event and answered 204').waitFor();
  await page.getByRole('button', { name: /^Redeliver \d+ failed/ }).click();
  await dialog(page).getByRole('button', { name: /^Redeliver \d+$/ }).click();
  await eventually(async () => !/Failed\s+Webhook/.test(await text(page)), async () => text(page));
  assert.ok((await sink.arrived('/gone', 3)).length >= 3);
  await open(page, '/console/acme/~webhooks');
  assert.match(await text(page), /console-test/);
}, 40);

await check('every type of event can be chosen, and no other', async () => {
  const { errors } = await ask('mutation M($input: CreateSubscriptionInput!) { createSubscription(input: $input) { secret } }', { input: { parent: acme, sink: 'https://hooks.example.com/types', types: ['none'] } });
  const all = errors[0].extensions.details[0].metadata.types.split(', ').filter((type) => !type.endsWith('.batch')); // a type stands for its batches too
  await button(page, 'New webhook').click();
  const offered = await dialog(page).locator('.several label').evaluateAll((labels) => labels.map((label) => label.title));
  assert.deepEqual(offered.toSorted(), all.toSorted());
  await page.keyboard.press('Escape');
  await closed(page);
  await open(page, '/console/acme/~activity?show=log');
  for (const topic of await page.getByRole('group', { name: 'About' }).getByRole('button').all()) await topic.click();
  await loaded(page);
  assert.equal(await page.locator('.problem').count(), 0, await text(page));
}, 30);

await check('webhooks are deleted', async () => {
  for (const path of ['/hook', '/broken', '/gone']) {
    await open(page, '/console/acme/console-test/~webhooks');
    await page.getByText(sink.url + path).click();
    await page.waitForURL(/hook=/);
    await loaded(page);
    await button(page, 'Delete').click();
    await dialog(page).getByText(/its secret, and the record of its \d+ deliver/).waitFor();
    await submit(page, 'Delete the webhook');
    await page.waitForURL(/~webhooks$/);
    await loaded(page);
    await eventually(async () => !(await text(page)).includes(path), 'it is still in the list');
  }
  await page.getByText('No webhooks yet').waitFor();
}, 30);

await check('an identity is created, its rule changed, and deleted', async () => {
  await open(page, '/console/acme/console-test/~identities');
  assert.match(await text(page), /No identities yet/);
  await button(page, 'New identity').click();
  await field(page, 'Name').fill('robot');
  await field(page, 'Company').fill('Acme');
  await submit(page, 'Create the identity');
  assert.equal(await fault(page, 'Issuer'), 'This field is required.');
  assert.equal(await fault(page, 'Subject'), 'This field is required.');
  await field(page, 'Issuer').fill('ftp://nowhere');
  await field(page, 'Subject').fill('robot-1');
  await submit(page, 'Create the identity');
  await eventually(async () => /https URL/.test(await fault(page, 'Issuer')), async () => (await dialog(page).allInnerTexts()).join());
  await look(page, 'changes-identity');
  await field(page, 'Issuer').fill('https://robots.example.com');
  await submit(page, 'Create the identity');
  await closed(page);
  const row = page.locator('.row').filter({ hasText: 'robot' });
  await row.getByRole('button').first().click();
  await row.getByText('robot-1').waitFor();
  await row.getByRole('button', { name: 'Edit' }).click();
  await field(page, 'How it signs in').selectOption('claims');
  await dialog(page).getByRole('button', { name: 'Add one' }).first().click();
  const rowFault = () => dialog(page).locator('.fault').innerText(), sent = page.changes.length;
  await field(page, 'Further claims, value 1').fill('blue');
  await submit(page, 'Save');
  assert.equal(await rowFault(), 'Row 1: This value has no name.');
  await field(page, 'Further claims, name 1').fill('team');
  await dialog(page).getByRole('button', { name: 'Add another' }).click();
  await field(page, 'Further claims, name 2').fill('team');
  await field(page, 'Further claims, value 2').fill('red');
  await submit(page, 'Save');
  assert.equal(await rowFault(), 'Row 2: The name team is already in use.');
  assert.equal(page.changes.length, sent, 'it was sent');
  await field(page, 'Further claims, name 2').fill('');
  await field(page, 'Further claims, value 2').fill('');
  await submit(page, 'Save');
  await closed(page);
  const { uid, ...rest } = page.changes.at(-1);
  assert.deepEqual(rest, { claimMatch: { issuer: 'https://robots.example.com', subject: 'robot-1', claims: { team: 'blue' } } });
  await row.getByText('blue').waitFor();
  await row.getByRole('button', { name: 'Edit' }).click();
  const keys = { issuer: 'https://keys.example.com', subject: 'robot-2', issuerKeys: JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'one', alg: 'EdDSA', use: 'sig', x: 'A'.repeat(42) + 'E' }] }), expirationTime: '2031-02-03T04:05:06.000Z' };
  await field(page, 'How it signs in').selectOption('keys');
  await field(page, 'Issuer').fill(keys.issuer);
  await field(page, 'Subject').fill(keys.subject);
  await field(page, 'Keys').fill(keys.issuerKeys);
  await field(page, 'Expiration of the keys').fill(await page.evaluate((time) => new Date(new Date(time) - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19), keys.expirationTime));
  await submit(page, 'Save');
  await closed(page);
  assert.deepEqual(page.changes.at(-1), { uid, claimMatch: null, staticKeys: keys });
  await row.getByText('robot-2').waitFor();
  await row.getByRole('button', { name: 'Edit' }).click();
  await field(page, 'Subject').fill('robot-3');
  await submit(page, 'Save');
  await closed(page);
  assert.deepEqual(page.changes.at(-1), { uid, staticKeys: { ...keys, subject: 'robot-3' } }, 'the rest of the keys changes too');
  await row.getByText('robot-3').waitFor();
  await row.getByRole('button', { name: 'Edit' }).click();
  await field(page, 'How it signs in').selectOption('none');
  await dialog(page).getByText('robot can no longer sign in').waitFor();
  await submit(page, 'Save');
  await closed(page);
  assert.deepEqual(page.changes.at(-1), { uid, staticKeys: null });
  await row.getByRole('button', { name: 'Delete' }).click();
  await submit(page, 'Delete the identity');
  await page.getByText('No identities yet').waitFor();
  await open(page, '/console/acme/~identities?q=owner');
  await page.locator('.row').getByRole('button').first().click();
  await page.locator('.row').getByRole('button', { name: 'Delete' }).click();
  assert.match(await dialog(page).innerText(), /has 1 role binding: revoke it first/);
  await page.keyboard.press('Escape');
}, 40);

await check('an invite lets somebody in, and another is deleted', async () => {
  await open(page, '/console/acme/console-test/~identities?show=invites');
  const invite = async () => {
    await button(page, 'New invite').click();
    await field(page, 'Role').selectOption({ label: 'viewer' });
    await field(page, 'Valid for').fill('400');
    await submit(page, 'Create the invite');
    assert.equal(await fault(page, 'Valid for'), 'At most 365 days.');
    await field(page, 'Valid for').fill('2');
    await submit(page, 'Create the invite');
    await button(page, 'I have saved it').waitFor();
    assert.equal(page.changes.at(-1).ttl, '172800s');
    const code = await dialog(page).locator('code').first().innerText();
    assert.equal(await dialog(page).locator('code.link').innerText(), `${site}/console#invite=${encodeURIComponent(code)}`);
    await button(page, 'I have saved it').click();
    return code;
  };
  const code = await invite();
  await page.getByText('1 invite').waitFor();
  const stranger = await newPage();
  await enter(stranger, await token('--subject', 'guest-of-the-console'));
  await stranger.getByRole('link', { name: 'Go to your groups' }).click();
  await button(stranger, 'I have an invite').click();
  await field(stranger, 'Code').fill('nonsense');
  await submit(stranger, 'Accept');
  await stranger.locator('dialog[open] .problem, dialog[open] .fault').first().waitFor();
  await field(stranger, 'Code').fill(code);
  await submit(stranger, 'Accept');
  await stranger.getByRole('link', { name: /^console-test/ }).click();
  await eventually(async () => (await stranger.locator('h1').allInnerTexts()).includes('console-test'), async () => text(stranger));
  assert.deepEqual(stranger.faults, []);
  await stranger.context().close();
  const guest = await newPage(), second = await invite();
  await guest.goto(`${site}/console#invite=${encodeURIComponent(second)}`);
  await field(guest, 'Code').waitFor(); // The demonstration signs a local browser in.
  assert.equal(await field(guest, 'Code').inputValue(), second);
  assert.ok(!guest.url().includes(second), 'the address keeps the code');
  await guest.reload();
  await field(guest, 'Code').waitFor();
  await guest.keyboard.press('Escape');
  await guest.context().close();
  await page.locator('.row').getByRole('button', { name: /Delete the invite/ }).click();
  await submit(page, 'Delete the invite');
  await page.getByText('No invites').waitFor();
  const left = async () => (await data('query Q($uid: UID!) { group(uid: $uid) { invites { totalCount } } }', { uid: place })).group.invites.totalCount;
  await eventually(async () => (await left()) === 0, 'the invite is still there');
}, 40);

for (const [who, may] of [['viewer', []], ['editor', ['New repo', 'New webhook']]]) {
  await check(`a ${who} is told what the role does not include`, async () => {
    const other = await newPage();
    await enter(other, await token('--as', who));
    const show = async (path) => {
      await other.evaluate((to) => { history.pushState({ key: to }, '', to); dispatchEvent(new PopStateEvent('popstate')); }, path);
      await loaded(other);
    };
    for (const [path, names] of [['/console/acme', ['New group', 'Edit', 'Delete']], ['/console/acme/~repos', ['New repo']], ['/console/acme/~webhooks', ['New webhook']], ['/console/acme/~identities', ['New identity']]]) {
      await show(path);
      for (const name of names) {
        const one = button(other, name);
        await one.first().waitFor();
        assert.equal(await one.first().getAttribute('aria-disabled'), may.includes(name) ? null : 'true', `${path} ${name}`);
        if (may.includes(name)) continue;
        await one.first().focus();
        await other.getByRole('tooltip').filter({ hasText: /This needs [a-z_]+\.[a-z]+ on acme, which your role does not include/ }).first().waitFor();
        await other.keyboard.press('Enter');
        assert.equal(await dialog(other).count(), 0, `${name} opens a form`);
      }
      await look(other, `changes-${who}${path.replace(/\W+/g, '-')}`);
      assert.deepEqual(await violations(other), []);
    }
    assert.deepEqual(other.faults, []);
    await other.context().close();
  }, 40);
}

await check('what the server refuses all the same is said in the dialog', async () => {
  await open(page, '/console/acme/console-test');
  await button(page, 'Edit').click();
  await field(page, 'Description').fill('Something else');
  page.failing = /./;
  await page.route('**/graphql', (route) => (route.request().postData().includes('mutation') ? route.abort() : route.continue()));
  await submit(page, 'Save');
  await dialog(page).getByRole('alert').waitFor();
  assert.match(await dialog(page).getByRole('alert').innerText(), /cannot be reached/);
  assert.equal(await field(page, 'Description').inputValue(), 'Something else', 'what was typed is lost');
  await page.unroute('**/graphql');
  page.failing = undefined;
  await submit(page, 'Save');
  await closed(page);
  await page.getByText('Something else').waitFor();
});

await check('an empty group is deleted', async () => {
  const { group } = await data('query Q($uid: UID!) { group(uid: $uid) { identities { nodes { uid roleBindings { nodes { uid } } } } } }', { uid: place });
  for (const { uid, roleBindings } of group.identities.nodes) {
    for (const binding of roleBindings.nodes) await data('mutation M($input: DeleteRoleBindingInput!) { deleteRoleBinding(input: $input) { deletedUid } }', { input: { uid: binding.uid } });
    await data('mutation M($input: DeleteIdentityInput!) { deleteIdentity(input: $input) { deletedUid } }', { input: { uid } });
  }
  await open(page, '/console/acme/console-test');
  await button(page, 'Delete').click();
  await submit(page, 'Delete the group');
  await page.waitForURL(/\/console\/acme$/);
  await loaded(page);
  await eventually(async () => !(await page.locator('.tree').innerText()).includes('console-test'), 'it is still in the tree');
  assert.deepEqual(page.faults, []);
});

await check('a provider is made, changed and deleted, and a group there gets a role and loses it', async () => {
  const page = watchChanges(await newPage()), row = () => page.getByRole('row').filter({ hasText: 'https://login.other.example.com' });
  await open(page, '/console/acme/~identities?show=providers');
  await button(page, 'New provider').click();
  await field(page, 'Name').fill('other');
  await field(page, 'Default role').selectOption({ label: 'viewer' });
  await field(page, 'Issuer').fill('https://login.other.example.com');
  await field(page, 'Claim that identifies').selectOption('OID_EQUALS_EXTERNAL_ID');
  await submit(page, 'Create the provider');
  assert.equal(await fault(page, 'Client'), 'This field is required.');
  await field(page, 'Client').fill('atrium');
  assert.deepEqual(await violations(page), []);
  await submit(page, 'Create the provider');
  await closed(page);
  await row().waitFor();
  assert.match(await row().innerText(), /In effect|Waiting for proof/); // The operator may have allowed every issuer.

  await button(page, 'Add a group of other').click();
  await dialog(page).getByText('This provider has no groups claim yet').waitFor();
  await field(page, 'External group').fill('platform');
  await field(page, 'Role').selectOption({ label: 'editor' });
  await field(page, 'Where').selectOption({ label: 'acme / engineering / shop' });
  await submit(page, 'Give the role');
  await closed(page);
  await eventually(async () => /platform: editor in shop/.test(await row().innerText()), async () => row().innerText());

  await button(page, 'Edit other').click();
  await field(page, 'Groups claim').fill('groups');
  await look(page, 'changes-provider');
  await submit(page, 'Save');
  await closed(page);
  // The configuration is replaced as a whole, so the form sends all of it.
  assert.deepEqual(page.changes.at(-1).oidc, { issuer: 'https://login.other.example.com', clientId: 'atrium', groupsClaim: 'groups', correlationRule: 'OID_EQUALS_EXTERNAL_ID' });
  const { identityProviders: { nodes: [made] } } = await data('query Q($u: UID!) { identityProviders(within: $u, directOnly: true, where: {name: "other"}) { nodes { uid defaultRole { name } oidc { issuer groupsClaim correlationRule } } } }', { u: acme });
  assert.deepEqual([made.defaultRole.name, made.oidc], ['viewer', { issuer: 'https://login.other.example.com', groupsClaim: 'groups', correlationRule: 'OID_EQUALS_EXTERNAL_ID' }]);

  await button(page, 'Delete other').click();
  assert.match(await dialog(page).innerText(), /1 group of this provider has a role: remove it first/);
  await submit(page, 'Close');
  await closed(page);
  await button(page, 'Revoke editor from platform').click();
  await submit(page, 'Revoke the role');
  await closed(page);
  await eventually(async () => !/platform/.test(await row().innerText()), async () => row().innerText());
  await button(page, 'Delete other').click();
  await submit(page, 'Delete the provider');
  await closed(page);
  await eventually(async () => (await row().count()) === 0, 'the provider stays');
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('the list of webhooks is saved as a file', async () => {
  const page = await newPage();
  await open(page, '/console/acme/~webhooks');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const file = await (await download).createReadStream().then(async (stream) => (await stream.toArray()).join(''));
  assert.match(file, /^Sink,State,Events,Created,Group,Format,When,Failing since,Disabled,Why,UID\r\n/);
  assert.match(file, /\r\nhttps:\/\/hooks\.example\.com\/atrium,\w+,[^\r]*,acme,/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await browser.close();
finish();
