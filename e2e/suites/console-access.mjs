// This suite checks the access page of the console in Chromium: the picture, the table and the question say what the server does,
// and the forms of bindings say what a change gives and takes before it is made.

import assert from 'node:assert/strict';
import { browser, violations } from '../browser.mjs';
import { enter, eventually, follow, loaded, look, maxRequests, newPage, open, reads, text, token } from '../console.mjs';
import { check, data, finish } from '../lib.mjs';

const { roles: { nodes: builtIn } } = await data('{ roles(directOnly: true) { nodes { uid name capabilities } } }');
const roleUid = (name) => builtIn.find((role) => role.name === name).uid;
const group = (path) => data('query Q($path: String!) { group(path: $path) { uid effectiveBindings(first: 200) { totalCount nodes { uid identity { uid name } role { name } group { name } } } } }', { path }).then((answer) => answer.group);
const addGroup = (parent, name) => data('mutation M($i: CreateGroupInput!) { createGroup(input: $i) { group { uid } } }', { i: { parent, name } }).then((answer) => answer.createGroup.group.uid);
const addIdentity = (parent, name) => data('mutation M($i: CreateIdentityInput!) { createIdentity(input: $i) { identity { uid } } }', { i: { parent, name, claimMatch: { issuer: 'https://login.example.com', subject: name } } }).then((answer) => answer.createIdentity.identity.uid);
const bind = (parent, pairs) => data('mutation M($i: BatchCreateRoleBindingsInput!) { batchCreateRoleBindings(input: $i) { roleBindings { uid } } }', { i: { parent, requests: pairs.map(([identityUid, role]) => ({ roleBinding: { identityUid, roleUid: roleUid(role) } })) } });

const acme = await group('acme'), team = await addGroup(acme.uid, 'access team'), below = await addGroup(team, 'deep');
const nora = await addIdentity(team, 'nora');
const teamPage = '/console/acme/access%20team', deepPage = teamPage + '/deep';
await bind(team, [[nora, 'viewer']]);

const boxes = (page, kind) => page.locator(`.node.${kind}`).evaluateAll((all) => all.map((one) => one.querySelector('b').textContent));
const counted = (page) => page.locator('.filters .total').innerText();

await check('the picture and the table show exactly the bindings that count, and mark those of groups above', async () => {
  const page = await newPage();
  await open(page, deepPage + '/~access');
  const { effectiveBindings: { nodes } } = await group('acme/access team/deep');
  assert.deepEqual((await boxes(page, 'who')).sort(), nodes.map(({ identity }) => identity.name).sort());
  const given = new Set(nodes.map(({ role, group: where }) => `${role.name} in ${where.name}`)); // Who has the same role in the same group shares a box.
  assert.deepEqual((await boxes(page, 'role')).sort(), [...given].map((one) => one.split(' in ')[0]).sort());
  assert.deepEqual(await boxes(page, 'group'), ['acme', 'access team', 'deep']);
  assert.ok(reads(page).length <= maxRequests);
  await page.getByRole('button', { name: 'Table' }).click();
  await page.waitForURL(/show=table/);
  const rows = await page.locator('.row').allInnerTexts();
  assert.equal(rows.length, nodes.length);
  for (const row of rows) assert.match(row, /inherited/);
  assert.match(rows.find((row) => /nora/.test(row)), /viewer[^]*access team/);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('the external group of an identity provider is in the picture where its role counts, and nowhere else', async () => {
  const page = await newPage();
  await open(page, '/console/acme/engineering/~access');
  assert.ok((await boxes(page, 'who')).includes('developers'));
  await open(page, '/console/acme/security/~access');
  assert.ok(!(await boxes(page, 'who')).includes('developers'));
  await page.context().close();
});

await check('who may do something is what the server says', async () => {
  const page = await newPage();
  await open(page, '/console/acme/engineering/~access');
  await page.getByLabel('What they may do').selectOption('TAG_CREATE');
  await page.waitForURL(/can=TAG_CREATE/);
  const { group: { whoCan } } = await data('{ group(path: "acme/engineering") { whoCan(capability: TAG_CREATE) { nodes { name } } } }');
  await eventually(async () => (await boxes(page, 'who')).sort().join() === whoCan.nodes.map(({ name }) => name).sort().join(), async () => String(await boxes(page, 'who')));
  await page.context().close();
});

await check('"can somebody do something here?" is answered with the way of the grant', async () => {
  const page = await newPage();
  await open(page, `${deepPage}/~access`);
  await page.getByLabel('Who', { exact: true }).selectOption({ label: 'nora' });
  await page.getByLabel('Do what').selectOption('REPO_LIST');
  await page.locator('.verdict').getByText('Yes').waitFor();
  assert.deepEqual((await page.locator('.grantway').innerText()).split('\n').filter(Boolean), ['nora', 'viewer', 'acme / access team', 'acme / access team / deep']);
  await page.getByLabel('Do what').selectOption('REPO_CREATE');
  await page.locator('.verdict').getByText('No', { exact: true }).waitFor();
  assert.match(await text(page), /No role that applies here includes it: nora has viewer on acme \/ access team/);
  const { identity } = await data('query Q($u: UID!, $on: UID!) { identity(uid: $u) { list: can(capability: REPO_LIST, within: $on) create: can(capability: REPO_CREATE, within: $on) } }', { u: nora, on: below });
  assert.deepEqual([identity.list, identity.create], [true, false]);
  await page.getByLabel('Who', { exact: true }).selectOption('me');
  await page.locator('.verdict').getByText('Yes').waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a role is given, changed and revoked by the keyboard, and each says before what it changes', async () => {
  const page = await newPage();
  await open(page, deepPage + '/~access');
  await page.getByRole('button', { name: 'Give a role' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Find by name').fill('nora');
  await eventually(async () => (await dialog.locator('.choices button').count()) === 1, 'the identity is not found');
  await dialog.locator('.choices button').focus();
  await page.keyboard.press('Enter');
  await eventually(() => page.evaluate(() => document.activeElement.innerText?.startsWith('Choose another')), 'the focus is lost');
  await dialog.getByRole('radio', { name: /^registry\.push/ }).focus();
  await page.keyboard.press('Space');
  await dialog.locator('.gained').first().waitFor();
  // The form says the difference between what the server says before and after the change.
  const held = async () => (await data('query Q($u: UID!, $on: UID!) { identity(uid: $u) { effectiveCapabilities(within: $on) } }', { u: nora, on: below })).identity.effectiveCapabilities;
  const before = await held(), foretold = await dialog.locator('.gained').count();
  await look(page, 'access-give');
  assert.deepEqual(await violations(page), []);
  await dialog.getByLabel('Until').fill('2099-01-02T03:04:05');
  await dialog.getByRole('button', { name: 'Give the role' }).press('Enter');
  await page.getByText(/^nora has the role registry\.push on acme \/ access team \/ deep until Jan 2, 2099, 3:04:05\sAM (UTC|\(.+\))\.$/).waitFor();
  const after = await held();
  assert.equal(after.length - before.length, foretold);
  await eventually(async () => (await boxes(page, 'role')).includes('registry.push'), 'the picture is not drawn anew');

  await page.getByRole('button', { name: 'Table' }).click();
  await page.setViewportSize({ width: 1024, height: 800 });
  await page.getByRole('row', { name: /nora.*registry\.push/ }).getByText(/2099/).waitFor();
  await page.getByRole('button', { name: 'Change registry.push of nora' }).click();
  await dialog.getByLabel('Until').fill('');
  await dialog.getByRole('button', { name: 'Save the change' }).click();
  await page.getByText('nora has the role registry.push on acme / access team / deep without an end.').waitFor();
  assert.deepEqual((await held()).length, after.length, 'the end has changed the role');
  await page.getByRole('button', { name: 'Change registry.push of nora' }).click();
  await dialog.getByRole('radio', { name: /^editor/ }).check();
  await dialog.locator('.lost').first().waitFor();
  const [gained, lost] = [await dialog.locator('.gained').count(), await dialog.locator('.lost').count()];
  await dialog.getByRole('button', { name: 'Save the change' }).click();
  await dialog.waitFor({ state: 'hidden' });
  const changed = await held();
  assert.deepEqual([changed.filter((one) => !after.includes(one)).length, after.filter((one) => !changed.includes(one)).length], [gained, lost]);

  await page.getByRole('button', { name: 'Revoke editor of nora' }).click();
  await dialog.locator('.lost').first().waitFor();
  const taken = await dialog.locator('.lost').count();
  assert.match(await dialog.innerText(), /stay because of viewer on acme \/ access team/);
  await dialog.getByRole('button', { name: 'Revoke the role' }).click();
  await dialog.waitFor({ state: 'hidden' });
  assert.deepEqual([changed.length - taken, await held()], [before.length, before]);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 40);

await check('what somebody keeps further down is said', async () => {
  await bind(below, [[nora, 'registry.pull']]);
  const page = await newPage();
  await open(page, teamPage + '/~access?show=table');
  await page.getByRole('button', { name: 'Revoke viewer of nora' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('.lost').first().waitFor();
  assert.match(await dialog.innerText(), /Further down, 5 capabilities stay because of registry\.pull on acme \/ access team \/ deep/);
  await page.context().close();
});

await check('the last owner can be neither changed nor revoked', async () => {
  const page = await newPage();
  await open(page, '/console/acme/~access?show=table');
  for (const what of ['Change', 'Revoke']) {
    const button = page.getByRole('button', { name: `${what} owner of owner` });
    assert.equal(await button.getAttribute('aria-disabled'), 'true');
    await button.hover();
    await page.getByRole('tooltip', { name: /last owner, .*give the role to another identity first/ }).waitFor();
  }
  await page.context().close();
});

await check('an identity shows where it reaches and what it may do', async () => {
  const page = await newPage();
  await open(page, deepPage + '/~access');
  await page.locator('.node.who').filter({ hasText: 'nora' }).click();
  await page.waitForURL(/identity=/);
  await loaded(page);
  assert.equal(await page.locator('h1').innerText(), 'nora');
  assert.deepEqual((await boxes(page, 'group')).sort(), ['acme / access team', 'acme / access team / deep']);
  assert.match(await text(page), /https:\/\/login\.example\.com/);
  const { identity } = await data('query Q($u: UID!, $on: UID!) { identity(uid: $u) { effectiveCapabilities(within: $on) } }', { u: nora, on: below });
  assert.equal(await page.locator('#main .capabilities .held').count(), identity.effectiveCapabilities.length);
  assert.ok(reads(page).length <= maxRequests);
  await look(page, 'access-identity');
  assert.deepEqual(await violations(page), []);
  await page.goBack();
  await loaded(page);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

for (const who of ['editor', 'viewer']) {
  await check(`a ${who} sees who has access, and is told why it cannot be changed`, async () => {
    const page = await newPage();
    await enter(page, await token('--as', who));
    await follow(page, deepPage + '/~access');
    assert.ok((await boxes(page, 'who')).includes('nora'));
    const give = page.getByRole('button', { name: 'Give a role' });
    await give.hover();
    await page.getByRole('tooltip', { name: /role_bindings\.create/ }).waitFor();
    await give.press('Enter');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await follow(page, deepPage + '/~access?show=table');
    assert.equal(await page.locator('.row .acts button:not([aria-disabled=true])').count(), 0);
    await look(page, 'access-' + who);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

await check('nobody is offered to give more than they hold', async () => {
  const { createRole: { role } } = await data('mutation M($i: CreateRoleInput!) { createRole(input: $i) { role { uid } } }', { i: { parent: team, name: 'binder', capabilities: ['GROUPS_LIST', 'ROLES_LIST', 'ROLE_BINDINGS_LIST', 'ROLE_BINDINGS_CREATE', 'IDENTITY_LIST', 'REPO_LIST', 'TAG_LIST', 'MANIFEST_METADATA_LIST', 'FINDINGS_LIST'] } });
  const { createIdentity: { identity } } = await data('mutation M($i: CreateIdentityInput!) { createIdentity(input: $i) { identity { uid } } }', { i: { parent: team, name: 'binding clerk', claimMatch: { issuer: 'https://ci.example.com', subject: 'clerk' } } });
  await data('mutation M($i: CreateRoleBindingInput!) { createRoleBinding(input: $i) { roleBinding { uid } } }', { i: { parent: team, identityUid: identity.uid, roleUid: role.uid } });
  const page = await newPage();
  await enter(page, await token('--issuer', 'https://ci.example.com', '--subject', 'clerk'));
  await follow(page, `/console/access%20team/~access?group=${team}`);
  assert.match(await text(page), /more people may have a role here than are shown/);
  await page.getByRole('button', { name: 'Give a role' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('.choices .off').first().waitFor();
  assert.match(await dialog.locator('label').filter({ has: page.getByRole('radio', { name: /^owner/ }) }).getAttribute('title'), /You cannot give it, because you may not/);
  assert.ok(await dialog.getByRole('radio', { name: /^registry\.pull\b(?!_)/ }).first().isEnabled());
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('who may not list bindings sees what they may do themselves', async () => {
  const page = await newPage();
  await enter(page, await token('--issuer', 'https://ci.example.com', '--subject', 'pipeline:engineering'));
  const { group: { uid } } = await data('{ group(path: "acme/engineering") { uid } }');
  await follow(page, `/console/engineering/~access?group=${uid}`);
  assert.match(await text(page), /Your role does not let you see who else has a role here/);
  await page.getByLabel('Do what').selectOption('TAG_CREATE');
  await page.locator('.verdict').getByText('Yes').waitFor();
  assert.match(await text(page), /It comes from a role on engineering whose capabilities you may not see/);
  await look(page, 'access-denied');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('an access review confirms and revokes bindings with a note, says before whom it is about, and the audit log keeps it', async () => {
  const page = await newPage(), reviewed = await addGroup(acme.uid, 'reviewed'), [pat, quin, rae] = [await addIdentity(reviewed, 'pat'), await addIdentity(reviewed, 'quin'), await addIdentity(reviewed, 'rae')];
  await bind(reviewed, [[pat, 'viewer'], [quin, 'editor']]);
  await data('mutation M($i: CreateRoleBindingInput!) { createRoleBinding(input: $i) { roleBinding { uid } } }', { i: { parent: reviewed, identityUid: rae, roleUid: roleUid('viewer'), expireTime: new Date(Date.now() + 5 * 86_400_000).toISOString() } });
  await open(page, '/console/acme/reviewed/~access');
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await page.getByText('Nothing is left to review').waitFor();
  await page.getByRole('button', { name: 'Left to review' }).click();
  await page.waitForURL(/left=no/);
  await loaded(page);
  const row = (name) => page.getByRole('row').filter({ hasText: name }), decide = async (name, note) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').getByLabel('Note').fill(note);
    await page.getByRole('dialog').getByRole('button', { name: name.split(' ')[0], exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  assert.match(await row('rae').innerText(), /ends in 5 days[^]*never/);
  assert.equal(await page.getByRole('table', { name: 'Role bindings' }).getAttribute('aria-rowcount'), '4');
  assert.deepEqual(await violations(page), []);
  await look(page, 'access-review');
  await page.getByRole('checkbox', { name: 'Choose viewer of pat in acme / reviewed' }).check();
  await page.getByRole('checkbox', { name: 'Choose viewer of rae in acme / reviewed' }).check();
  await page.getByRole('button', { name: 'Confirm 2 bindings' }).click();
  assert.match(await page.getByRole('dialog').innerText(), /pat: viewer in acme \/ reviewed[^]*rae: viewer in acme \/ reviewed/);
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Escape');
  await decide('Confirm 2 bindings', 'Asked their manager');
  await page.getByText('You confirmed 2 bindings.').waitFor();
  await eventually(async () => /by owner[^]*Asked their manager/.test(await row('pat').innerText()), async () => row('pat').innerText());
  await page.getByRole('checkbox', { name: 'Choose editor of quin in acme / reviewed' }).check();
  await decide('Revoke 1 binding', 'Left the team');
  await eventually(async () => (await row('quin').count()) === 0, 'the revoked binding stays');
  await page.getByRole('button', { name: 'Ends within 30 days' }).click();
  await eventually(async () => (await page.getByRole('rowheader').allInnerTexts()).join() === 'rae', async () => text(page));
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const file = await (await download).createReadStream().then(async (stream) => (await stream.toArray()).join(''));
  assert.match(file, /^Identity,Role,In,Since,Until,Last seen,Confirmed,Email,Confirmed by,Note,Identity UID,UID\r\nrae,viewer,acme\/reviewed,[^]*,owner,Asked their manager,[0-9a-f/]+,[0-9a-f/]+\r\n$/);
  await page.getByRole('link', { name: 'Who confirmed and revoked what' }).click();
  await page.waitForURL(/about=reviews/);
  await loaded(page);
  await page.getByRole('button', { name: 'One by one' }).first().click();
  await eventually(async () => /owner deleted the role binding editor for quin · Left the team[^]*owner confirmed the role binding viewer for .* · Asked their manager/.test(await text(page)), async () => text(page));
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('changes of access are told in sentences, by person and by actor, and who had access on a day', async () => {
  const past = await addGroup(acme.uid, 'past'), deep = await addGroup(past, 'deep past'), [sam, tess, uma] = [await addIdentity(past, 'sam'), await addIdentity(past, 'tess'), await addIdentity(past, 'uma')];
  const mutate = (name, type, selection) => (input) => data(`mutation M($i: ${type}!) { ${name}(input: $i) { ${selection} } }`, { i: input });
  const rebind = mutate('updateRoleBinding', 'UpdateRoleBindingInput', 'roleBinding { uid }'), unbind = mutate('batchDeleteRoleBindings', 'BatchDeleteRoleBindingsInput', 'deletedUids');
  await bind(past, [[sam, 'viewer'], [tess, 'viewer']]);
  await mutate('createRoleBinding', 'CreateRoleBindingInput', 'roleBinding { uid }')({ parent: deep, identityUid: uma, roleUid: roleUid('editor'), expireTime: new Date(Date.now() + 2000).toISOString() });
  const { effectiveBindings: { nodes } } = await group('acme/past'), of = (name) => nodes.find(({ identity }) => identity?.name === name).uid;
  await rebind({ uid: of('sam'), roleUid: roleUid('editor') });
  await unbind({ uids: [of('tess')], note: 'Left the team' });
  await mutate('deleteIdentity', 'DeleteIdentityInput', 'deletedUid')({ uid: tess });
  const { createRole: { role } } = await mutate('createRole', 'CreateRoleInput', 'role { uid }')({ parent: past, name: 'shipper', capabilities: ['REPO_LIST'] });
  await mutate('updateRole', 'UpdateRoleInput', 'role { uid }')({ uid: role.uid, capabilities: ['TAG_CREATE'] });

  const page = await newPage();
  await open(page, '/console/acme/past/~access');
  await page.getByRole('button', { name: 'Changes', exact: true }).click();
  await page.waitForURL(/show=changes/);
  await loaded(page);
  const told = () => page.locator('.happening p:first-child').allInnerTexts();
  await eventually(async () => { if ((await told()).length < 7) await open(page, '/console/acme/past/~access?show=changes'); return (await told()).length === 7; }, told); // The end of a binding is recorded soon after it.
  const sentences = await told();
  for (const wanted of ['owner changed the role shipper of acme / past for all who have it: they may now create tags, and no longer read repos', 'owner revoked the role viewer in acme / past from tess · Left the team', 'owner gave sam the role editor in acme / past instead of viewer', 'owner gave tess the role viewer in acme / past', 'owner gave sam the role viewer in acme / past', 'uma lost the role editor in acme / past / deep past when it expired']) assert.ok(sentences.includes(wanted), `${wanted}: ${sentences.join('; ')}`);
  assert.match(sentences.join(), /owner gave uma the role editor in acme \/ past \/ deep past until /);
  assert.match(await text(page), /The audit log has everything/);
  assert.ok(reads(page).length <= maxRequests);
  assert.deepEqual(await violations(page), []);
  await look(page, 'access-changes');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const file = await (await download).createReadStream().then(async (stream) => (await stream.toArray()).join(''));
  assert.match(file, /^Time,By,What,Identity,Role,Group,[^]*\r\n[^\r]+,owner,revoked,tess,viewer,acme\/past,,tess,viewer,[^\r]*Left the team,/);
  // Tess is gone, and is found by what the log says.
  await page.getByRole('button', { name: 'Anybody’s access' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^tess/ }).click();
  await page.waitForURL(/person=/);
  await eventually(async () => (await told()).length === 2, told);
  await page.reload();
  await loaded(page);
  assert.deepEqual(await told(), ['owner revoked the role viewer in acme / past from tess · Left the team', 'owner gave tess the role viewer in acme / past']);
  await page.getByRole('button', { name: /^Whose access: tess/ }).click();
  await eventually(async () => (await told()).length === 7, told);
  await page.getByRole('button', { name: 'Only by owner' }).first().click();
  await page.waitForURL(/by=/);
  await eventually(async () => (await told()).length === 6, told); // Nobody revoked a role that expired.
  await page.getByLabel('to', { exact: true }).fill('2026-01-31');
  await page.getByLabel('From', { exact: true }).fill('2026-01-01');
  await page.waitForURL(/since=2026-01-01/);
  await page.getByText('No access changes').waitFor();
  await open(page, `/console/acme/past/~access?show=day&on=${new Date().toISOString().slice(0, 10)}`);
  await page.getByRole('button', { name: 'On a day' }).waitFor();
  assert.match(await text(page), /Who had access to acme \/ past at /);
  await open(page, '/console/acme/past/~access?show=day&on=2026-01-01');
  await page.getByText('Nobody had a role here').waitFor();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();

  const narrow = await newPage({ viewport: { width: 320, height: 844 } });
  await open(narrow, '/console/acme/past/~access?show=changes');
  await look(narrow, 'access-changes-320');
  assert.deepEqual(await violations(narrow), []);
  await narrow.context().close();

  const reader = await newPage();
  await enter(reader, await token('--as', 'viewer'));
  await follow(reader, '/console/acme/past/~access?show=changes');
  assert.match(await text(reader), /Your role does not let you see past access/);
  await reader.context().close();
}, 30);

await check('three hundred bindings are drawn whole, folded, and in three requests', async () => {
  const many = await addGroup(acme.uid, 'crowd'), aliases = Array.from({ length: 20 }, (_, i) => i);
  const uids = [];
  for (let batch = 0; batch < 15; batch++) {
    const made = await data(`mutation M(${aliases.map((i) => `$i${i}: CreateIdentityInput!`)}) { ${aliases.map((i) => `a${i}: createIdentity(input: $i${i}) { identity { uid } }`).join(' ')} }`,
      Object.fromEntries(aliases.map((i) => [`i${i}`, { parent: many, name: `person-${String(batch * 20 + i).padStart(3, '0')}`, claimMatch: { issuer: 'https://login.example.com', subject: `person-${batch * 20 + i}` } }])));
    const own = aliases.map((i) => made[`a${i}`].identity.uid);
    uids.push(...own);
    await bind(many, own.map((uid) => [uid, batch < 11 ? 'viewer' : 'editor']));
  }
  const above = (await group('acme')).effectiveBindings.totalCount;
  for (const [width, scheme] of [[1440, 'light'], [390, 'dark']]) {
    const page = await newPage({ colorScheme: scheme, viewport: { width, height: 900 } });
    await open(page, '/console/acme/crowd/~access');
    assert.match(await counted(page), new RegExp(`^${300 + above} bindings`));
    assert.equal(reads(page).length, 3);
    assert.ok((await boxes(page, 'who')).length < 25, 'it is not folded');
    assert.ok((await boxes(page, 'who')).includes('owner'), 'the oldest binding is not drawn');
    await page.getByRole('button', { name: /^Show 25 of/ }).first().click();
    assert.ok((await boxes(page, 'who')).length > 25);
    await look(page, `access-crowd-${scheme}-${width}`);
    assert.deepEqual(await violations(page), []);
    await page.getByLabel('Find by name, email or role').fill('person-123');
    await eventually(async () => (await boxes(page, 'who')).join() === 'person-123', async () => String(await boxes(page, 'who')));
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
}, 60);

await check('the table of access sorts all bindings, and providers are saved as a file', async () => {
  const page = await newPage(), first = async () => (await page.getByRole('row').nth(1).innerText()).split('\n')[0], heading = page.getByRole('columnheader', { name: 'Identity' });
  await open(page, '/console/acme/crowd/~access?show=table');
  await heading.getByRole('button').click();
  await page.waitForURL(/sort=identity/);
  await eventually(async () => await first() === 'dana', first);
  await heading.getByRole('button').click();
  await page.waitForURL(/dir=turned/);
  await eventually(async () => await first() === 'viewer', first);
  assert.equal(await heading.getAttribute('aria-sort'), 'descending');
  assert.match(await page.getByRole('row').nth(2).innerText(), /^person-299/);
  await page.getByRole('button', { name: 'Picture', exact: true }).click();
  await page.waitForURL((url) => !url.search.includes('sort'));
  await open(page, '/console/acme/~identities?show=providers');
  const file = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  assert.match((await (await (await file).createReadStream()).toArray()).join(''), /^Provider,Description,Issuer,[^]*login,Everybody who works here,https:\/\/login\.example\.com,acme,acme,in effect,.*viewer,developers: editor in engineering/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 60);

await browser.close();
finish();
