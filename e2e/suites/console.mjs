// This suite checks the console in Chromium: its pages with demonstration data, as an owner, an editor, a viewer and a stranger.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { browser, violations } from '../browser.mjs';
import { enter, eventually, follow, loaded, look, maxRequests, newPage, open, reads, text, token, watchPage } from '../console.mjs';
import { check, data, finish, run, site, tsc } from '../lib.mjs';

const web = join(import.meta.dirname, '../../internal/web');

// These programs take some time, and run while the browser works.
const generating = run(process.execPath, ['console/generate.mjs', '--check'], {}, web);
const typing = run(process.execPath, [tsc, '-p', join(web, 'console')]);

const { subscriptions: { nodes: [hook] }, repo: { tag: worst } } = await data('{ subscriptions(first: 1) { nodes { uid } } repo(path: "acme/engineering/shop/checkout") { tag(name: "4.2.7") { digest } } }');
const pages = { overview: '/console', group: '/console/acme/engineering/shop', repos: '/console/acme/~repos', repo: '/console/acme/engineering/shop/checkout', 'repo-findings': '/console/acme/engineering/shop/checkout?tab=findings', 'repo-packages': '/console/acme/engineering/shop/checkout?tab=packages', 'repo-readme': '/console/acme/engineering/shop/checkout?tab=readme', 'repo-compare': '/console/acme/engineering/shop/checkout?tab=compare&from=4.2.7&to=5.0.2', image: '/console/acme/engineering/shop/checkout?image=' + worst.digest, 'image-packages': `/console/acme/engineering/shop/checkout?image=${worst.digest}&tab=packages`, findings: '/console/acme/~findings', 'findings-over-time': '/console/acme/~findings?over=time', unknown: '/console/acme/~packages?show=unknown', packages: '/console/acme/~packages', package: '/console/acme/~packages?name=express&ecosystem=npm', advisory: '/console/acme/~advisories?id=ACME-2026-0102', advisories: '/console/acme/~advisories?severity=HIGH', access: '/console/acme/engineering/~access', 'access-table': '/console/acme/engineering/~access?show=table', 'access-review': '/console/acme/~access?show=review&left=no', 'access-changes': '/console/acme/~access?show=changes', 'access-day': `/console/acme/~access?show=day&on=${new Date().toISOString().slice(0, 10)}`, activity: '/console/acme/~activity', log: '/console/acme/~activity?show=log', roles: '/console/acme/engineering/~roles', providers: '/console/acme/~identities?show=providers', webhooks: '/console/acme/~webhooks', webhook: '/console/acme/~webhooks?hook=' + hook.uid, identities: '/console/acme/~identities', invites: '/console/acme/~identities?show=invites' };
// What readers open most costs at most 1,500. The pages of an advisory and of a package cost the most, nearly the limit of 5,000.
const costs = {}, cheap = ['Overview', 'DoFirst', 'Newest', 'Findings', 'Audit', 'AuditDays'];
// axe looks at every page in each theme once, and at each width once. With ATRIUM_TEST_MATRIX it does so in all themes at all widths.
const modes = process.env.ATRIUM_TEST_MATRIX ? ['light', 'dark', 'forced'].flatMap((theme) => [320, 390, 1024, 1440].map((width) => [theme, width])) : [['light', 1440], ['dark', 320], ['forced', 1024]];
for (const [theme, width] of modes) {
  await check(`every page shows, ${theme}, at ${width} pixels, and axe finds nothing`, async () => {
    const page = await newPage({ ...(theme === 'forced' ? { forcedColors: 'active' } : { colorScheme: theme }), viewport: { width, height: width < 400 ? 844 : 900 } });
    page.on('response', async (response) => {
      if (response.url().endsWith('/graphql') && /json/.test(response.headers()['content-type'])) {
        const answer = await response.json().catch(() => ({})), [, name] = response.request().postDataJSON().query.match(/^query (\w+)/) ?? [];
        if (name) costs[name] = answer.extensions?.cost?.requested;
      }
    });
    const found = [];
    for (const [name, path] of Object.entries({ ...pages, missing: '/console/acme/nothing' })) {
      await open(page, path);
      assert.equal(await page.locator('.problem').count(), 0, `${name}: ${await text(page)}`);
      assert.ok(reads(page).length <= maxRequests, `${name} takes ${reads(page).length} requests: ${reads(page).map((query) => query.slice(0, 60)).join(', ')}`);
      await look(page, `${name}-${theme}-${width}`);
      found.push(...(await violations(page)).map((violation) => `${name}: ${violation}`));
    }
    assert.deepEqual(found, []);
    assert.deepEqual(page.faults, []);
    assert.deepEqual(cheap.filter((name) => !(costs[name] <= 1500)), [], 'these cost more than 1,500, or were not asked');
    await page.context().close();
    return Object.entries(costs).map(([name, cost]) => `${name} ${cost}`).join(', ');
  }, 60);
}

await check('the five questions of an owner take no more than three clicks', async () => {
  const page = await newPage(), table = [];
  let clicks;
  const press = async (target) => { await target.click(); clicks++; await loaded(page); }, link = (name) => page.getByRole('link', { name }).first(), nav = (name) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });
  const save = async () => { const file = page.waitForEvent('download'); await press(page.getByRole('button', { name: 'Export CSV' })); return (await file).createReadStream().then(async (stream) => (await stream.toArray()).join('')); };
  const answer = async (question, most, steps) => {
    clicks = 0;
    await open(page, '/console/acme');
    await steps();
    table.push(`${question}: ${clicks}`);
    assert.ok(clicks <= most, `${question} takes ${clicks} clicks`);
  };
  await answer('which of mine are affected', 1, async () => {
    assert.match(await page.locator('.told').innerText(), /^\d+ of \d+ repos affected/);
    await press(link(/repos affected/));
    assert.match(await page.getByRole('row').nth(1).innerText(), /[1-9]\d*$/);
  });
  await answer('what do I do first', 1, async () => {
    const first = page.locator('.card').filter({ hasText: 'Do first' }).locator('.row-link').first(), [, name, to, n] = (await first.innerText()).match(/^(\S+) to (\S+)[^]* gone in \d+ images?[^]*?(\d+) findings?/);
    await press(first);
    assert.equal(await page.locator('.row').count(), Number(n));
    for (const one of await page.locator('.row').allInnerTexts()) assert.ok(one.includes(name) && one.includes('fixed in'), one);
    assert.match(to, /\d/);
  });
  await answer('who can change it', 2, async () => {
    await press(nav('Access'));
    await page.getByLabel('What they may do').selectOption('REPO_UPDATE');
    clicks++;
    await page.waitForURL(/can=/);
    await loaded(page);
    assert.ok((await page.locator('.node.who').allInnerTexts()).some((one) => one.startsWith('owner')));
  });
  await answer('what changed this week, in images', 1, async () => {
    await press(link('All new findings'));
    assert.ok(await page.getByRole('row').count() > 1);
  });
  await answer('what changed this week, in access', 2, async () => {
    await press(nav('Access'));
    await press(page.getByRole('button', { name: 'Changes', exact: true }));
    assert.match(await text(page), / gave /);
  });
  await answer('prove it to an auditor: findings', 2, async () => {
    await press(nav('Findings'));
    assert.match(await save(), /^uid,|^"?[A-Za-z_ ]+"?,/);
  });
  await answer('prove it to an auditor: access', 3, async () => {
    await press(nav('Access'));
    await press(page.getByRole('button', { name: 'Changes', exact: true }));
    assert.match(await save(), /^Time,By,What,Identity,Role,/);
  });
  await answer('prove it to an auditor: who did what', 3, async () => {
    await press(nav('Activity'));
    await press(page.getByRole('button', { name: 'Audit log' }));
    assert.match(await save(), /^Time,Actor,What,/);
  });
  assert.deepEqual(page.faults, []);
  await page.context().close();
  return table.join(', ');
}, 30);

await check('in forced colors, what only a color tells still shows', async () => {
  const page = await newPage({ forcedColors: 'active' }), colors = (target) => target.evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  await open(page, '/console/acme/~findings?severity=HIGH');
  const [canvas] = await colors(page.locator('body'));
  for (const [of, pressed] of [['.tabs button', 'aria-pressed=true'], ['.toggle', 'aria-pressed=true'], ['.pages a', 'aria-current=page']]) {
    const [chosen] = await colors(page.locator(`${of}[${pressed}]`)), [other] = await colors(page.locator(`${of}:not([${pressed}])`));
    assert.notEqual(chosen, other, of);
  }
  assert.equal(new Set(await colors(page.locator('.toggle .severity i'))).size, await page.locator('.toggle .severity i').count());
  await open(page, '/console/acme/~repos?sort=worst');
  assert.ok(!(await colors(page.locator('.severity-bar .fill i'))).includes(canvas));
  await open(page, '/console/acme/~activity?show=log');
  assert.ok(!(await colors(page.locator('.made-part'))).includes(canvas));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('the overview tells what there is', async () => {
  const page = await newPage();
  await open(page, '/console');
  assert.equal(new URL(page.url()).pathname, '/console/acme');
  const { groups: { nodes: [acme] } } = await data('{ groups(directOnly: true, first: 1) { nodes { uid repos(first: 1) { totalCount } tags(first: 1) { totalCount } identities(first: 1) { totalCount } findingSummary { affectedRepos images knownImages open { total critical fixable } } } } }');
  const counts = await page.locator('.counts').innerText();
  for (const [name, { totalCount }] of [['repos', acme.repos], ['tags', acme.tags], ['identities', acme.identities]]) assert.match(counts, new RegExp(`\\b${totalCount} ${name}\\b`));
  const { affectedRepos, images, knownImages, open: found } = acme.findingSummary;
  assert.equal(await page.locator('.told').innerText(), `${affectedRepos} of ${acme.repos.totalCount} repos affected, ${found.total} open findings, ${found.critical} critical, ${found.fixable} fixable, ${knownImages} of ${images} images with an SBOM (see the rest).`);
  assert.equal(await page.locator('.big b').innerText(), String(found.total));
  assert.match(await page.locator('.footnote').innerText(), /feeds of this group contain \d+ open advisories/);
  assert.match(await text(page), /deprecated tags/);
  const { auditLog: { nodes: invites } } = await data('query Q($uid: UID!) { auditLog(within: $uid, kinds: [IAM_GROUP_INVITE_CREATED]) { nodes { id } } }', { uid: acme.uid });
  assert.ok(invites.length > 0);
  assert.doesNotMatch(await text(page), /invite expires soon/, 'an invite of a week is no news');
  const { upgrades } = await data('query Q($uid: UID!) { upgrades(within: $uid, first: 5) { totalCount nodes { package to gone { total } } } }', { uid: acme.uid });
  const shown = await page.locator('.card').filter({ hasText: 'Do first' }).locator('.row-link').allInnerTexts();
  assert.equal(shown.length, Math.min(upgrades.totalCount, 5));
  upgrades.nodes.forEach(({ package: name, to, gone }, i) => assert.ok(shown[i].startsWith(`${name} to ${to}`) && shown[i].includes(`${gone.total} finding`), shown[i]));
  assert.match(await page.locator('.card').filter({ hasText: 'New this week' }).innerText(), /ACME-2026-0102[^]*qs in/);
  await page.getByRole('slider', { name: /Open at the end of each week/ }).press('End');
  assert.match(await page.locator('.plot [role=status]').innerText(), /^Now: 2 critical, /);
  await page.getByText('As a table').click();
  const now = await page.locator('.numbers tbody tr').first().locator('td').allInnerTexts();
  assert.equal(now.reduce((sum, n) => sum + Number(n), 0), found.total);
  await page.context().close();
});

await check('each count of the overview leads to a list of that length, and one switch leads from bindings here to those below and back', async () => {
  const page = await newPage();
  await open(page, '/console/acme/engineering');
  const links = await page.locator('.counts a').evaluateAll((all) => all.map((one) => [one.textContent, one.getAttribute('href')]));
  assert.deepEqual(links.map(([words]) => words.replace(/^\d+ /, '').replace(/ies$/, 'y').replace(/s$/, '')), ['repo', 'identity', 'binding', 'webhook']);
  for (const [words, href] of links) {
    await open(page, href);
    await eventually(async () => new RegExp(`(^|[^\\d,])${words}\\b`).test(await text(page)), async () => `${href} says ${await text(page)}, and the overview ${words}`);
  }
  await open(page, '/console/acme/engineering/~access?show=table');
  const here = await page.locator('.total').innerText();
  await page.getByRole('button', { name: 'Here and below' }).click();
  await page.waitForURL(/show=review&left=no/);
  await page.getByRole('button', { name: 'Here and below', pressed: true }).click();
  await page.waitForURL(/show=table/);
  await eventually(async () => (await page.locator('.total').innerText()) === here, 'the way back leads elsewhere');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a severity of the overview leads to the open findings that it counts', async () => {
  const page = await newPage();
  await open(page, '/console/acme');
  const link = page.locator('.legend a').filter({ hasText: 'High' }), n = await link.locator('b').innerText();
  await link.click();
  await page.waitForURL(/~findings\?severity=HIGH/);
  await loaded(page);
  assert.match(await page.locator('.filters .total').innerText(), new RegExp(`^${n} finding`));
  assert.equal(await page.locator('.row').count(), Number(n));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a group without images says what to do first, with its own uid', async () => {
  const { group } = await data('{ group(path: "acme/security") { uid } }'), page = await newPage();
  await open(page, '/console/acme/security');
  assert.match(await page.locator('.told').innerText(), /no images here yet/);
  const commands = await page.locator('.steps .command code').allInnerTexts();
  assert.equal(await page.locator('.steps > li').count(), 4);
  assert.ok(commands.length >= 3 && commands.every((command) => command.includes(`--group ${group.uid} `)), commands.join('\n'));
  await page.context().close();
});

await check('group, tree, list, repo and tag show the same numbers of findings', async () => {
  const page = await newPage(), checkout = '/console/acme/engineering/shop/checkout';
  const { repo } = await data('{ repo(path: "acme/engineering/shop/checkout") { findingSummary { open { total } } } shop: group(path: "acme/engineering/shop") { findingSummary { open { total } } } }');
  const n = String(repo.findingSummary.open.total);
  await open(page, '/console/acme/engineering/shop');
  const all = await page.locator('.big b').innerText();
  await page.getByRole('button', { name: 'Show all' }).click();
  await eventually(async () => (await page.locator('.tree .branch').filter({ hasText: 'shop' }).locator('small').allInnerTexts()).includes(all), 'the tree has another number');
  await open(page, '/console/acme/~repos?sort=worst');
  assert.equal(await page.locator('.row').filter({ hasText: 'checkout' }).locator('.severity-bar b').innerText(), n);
  await open(page, checkout);
  const bars = page.locator('.tags tbody tr').filter({ hasText: '4.2.7' }).locator('.severity-bar b');
  assert.equal(await bars.innerText(), n);
  assert.match(await page.locator('.tags tr.old').innerText(), /not counted/);
  await page.locator('.tags tbody tr').filter({ hasText: '4.2.7' }).locator('a:has(.severity-bar)').click();
  await page.waitForURL(/image=sha256/);
  await loaded(page);
  assert.equal(await page.locator('.row').count(), Number(n));
  assert.match(await page.locator('.row').filter({ hasText: 'express' }).innerText(), /4\.17\.3[^]*fixed in 4\.18\.0/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a repo shows its images by version, and compares two of them', async () => {
  const page = await newPage();
  await open(page, '/console/acme/engineering/shop/checkout');
  assert.equal(await page.locator('.page > .command code').innerText(), 'docker pull registry.example.com/acme/checkout:latest');
  const rows = page.locator('.tags tbody tr');
  assert.deepEqual((await rows.locator('.tag-name').allInnerTexts()).map((name) => name.replace('\n', ' ')), ['5.0.2 (active)', 'latest (active)', '5.0.2-r0', '4.9.8', '4.2.7']);
  assert.equal(await rows.count(), 3);
  await page.getByRole('columnheader', { name: 'Open findings' }).getByRole('button').click();
  await page.waitForURL(/sort=findings/);
  await eventually(async () => /4\.2\.7/.test(await rows.first().innerText()), 'the worst image is not first');
  await page.getByRole('checkbox', { name: 'Choose 4.2.7' }).check();
  await page.getByRole('checkbox', { name: 'Choose 5.0.2' }).check();
  await page.getByRole('button', { name: 'Compare 4.2.7 with 5.0.2' }).click();
  await loaded(page);
  assert.match(await text(page), /3 findings are gone, none is new[^]*qs\n6\.9\.7 → 6\.13\.0/);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H2', 'the focus is not on the comparison');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('an image has a page that says what it is, how it stands beside the newest tag, and what it contains', async () => {
  const page = await newPage();
  const { repo: { uid } } = await data('{ repo(path: "acme/engineering/shop/checkout") { uid } }');
  const signature = (await data(`mutation { createTag(input: {parent: "${uid}", name: "${worst.digest.replace(':', '-')}.sig", digest: "sha256:${'5'.repeat(64)}"}) { tag { uid } } }`)).createTag.tag.uid;
  await open(page, '/console/acme/engineering/shop/checkout');
  await page.getByRole('row').filter({ hasText: '4.2.7' }).getByRole('link', { name: worst.digest.slice(7, 19) }).click();
  await page.waitForURL(/image=sha256/);
  await loaded(page);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1', 'the focus is not on the heading');
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'checkout:4.2.7');
  const { repo: { tag: { image } } } = await data('{ repo(path: "acme/engineering/shop/checkout") { tag(name: "4.2.7") { image { sizes { architecture } sboms { format } findingSummary { open { total fixable } } packages(first: 0) { totalCount } } } } }');
  const said = await text(page);
  assert.match(said, new RegExp(`${image.findingSummary.open.total} open findings, of which ${image.findingSummary.open.fixable} can be fixed\\. The newest tag, 5\\.0\\.2\\S*, has 3 fewer`));
  for (const part of [worst.digest, image.sizes[0].architecture, image.sboms[0].format, 'Base image', '(Atrium does not verify them)']) assert.ok(said.includes(part), `the page lacks ${part}: ${said}`);
  assert.match(said, /Signatures and attestations\s*signature of /);
  await data(`mutation { deleteTag(input: {uid: "${signature}"}) { deletedId } }`);
  assert.equal(await page.locator('[aria-label=Findings] [role=row][aria-rowindex]').count() > 0, true);
  await page.getByRole('button', { name: /^Packages/ }).click();
  await eventually(async () => (await page.locator('.total').innerText()) === `${image.packages.totalCount} packages`, 'the list is not as long as the image has packages');
  await page.getByRole('searchbox', { name: 'Find a package' }).fill('qs');
  await eventually(async () => /qs/.test(await page.getByRole('table', { name: 'Packages of checkout:4.2.7' }).innerText()) && /^1 package/.test(await page.locator('.total').innerText()), 'the package is not found');
  await page.getByRole('button', { name: 'compare them' }).click();
  await page.waitForURL(/tab=compare/);
  await loaded(page);
  assert.match(await text(page), /3 findings are gone/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('an advisory has a page that says what it affects, and a package one that says who holds it', async () => {
  const page = await newPage();
  await open(page, '/console/acme/~advisories?id=DEMO-2026-1102'); // This is another name of it.
  assert.match(await text(page), /2 open findings in 2 repos and 2 images, 2 with a fix/);
  assert.match(await page.locator('.plain-table tbody tr').filter({ hasText: 'checkout' }).innerText(), /4\.2\.7[^]*qs[^]*6\.9\.7[^]*6\.9\.8[^]*not in checkout:5\.0\.2[^]*Open/);
  assert.match(await page.locator('.facts').innerText(), /ACME-2026-0102[^]*Over the network, low complexity, without an account/);
  await page.locator('.plain-table').getByRole('link', { name: 'qs', exact: true }).first().click();
  await page.waitForURL(/~packages\?name=qs&ecosystem=npm/);
  await loaded(page);
  assert.match(await page.locator('.plain-table tbody tr').filter({ hasText: '6.9.7' }).innerText(), /checkout[^]*ACME-2026-0102/);
  assert.match(await page.locator('.plain-table tbody tr').filter({ hasText: '6.13.0' }).innerText(), /none/);
  const holders = page.locator('.plain-table tbody tr').filter({ hasText: '6.9.7' }).getByRole('link', { name: /^\d+ tags?$/ }), number = Number((await holders.innerText()).match(/\d+/)[0]);
  await holders.click();
  await page.waitForURL(/version=6\.9\.7.*show=tags/);
  await loaded(page);
  assert.equal(await page.locator('.row').count(), number, 'the number of tags leads to a list of that length');
  const [held] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()]);
  assert.match(readFileSync(await held.path(), 'utf8'), /^.?Group,Repo,Tag,Digest[^]*acme\/engineering\/shop,checkout,4\.2\.7,sha256:[0-9a-f]{64}/);
  await open(page, '/console/acme/~advisories?id=ACME-2026-0106');
  assert.match(await text(page), /Nothing is open[^]*Decisions[^]*Accepted[^]*We load only models/);
  await open(page, '/console/acme/~advisories?id=CVE-1999-0001');
  assert.match(await text(page), /Not in any feed here/);
  await open(page, '/console/acme/engineering/shop/~advisories');
  assert.match(await text(page), /No feeds here[^]*the advisories of acme/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a filtered list is saved as a file, and a refusal is told', async () => {
  const page = await newPage();
  await open(page, '/console/acme/~findings?severity=CRITICAL');
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()]);
  assert.equal(file.suggestedFilename(), 'findings.csv');
  const lines = readFileSync(await file.path(), 'utf8').trim().split('\n');
  assert.equal(lines.length - 1, await page.locator('.row').count());
  assert.ok(lines.slice(1).every((line) => line.includes(',CRITICAL,')));
  const [report] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export SARIF' }).click()]);
  assert.equal(JSON.parse(readFileSync(await report.path(), 'utf8')).version, '2.1.0');
  await open(page, '/console/acme/~packages?q=express');
  const [packages] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()]);
  assert.match(readFileSync(await packages.path(), 'utf8'), /express/);
  page.failing = /400/;
  await page.route('**/export/**', (route) => route.fulfill({ status: 400, json: { message: 'Limit exceeded: too many rows' } }));
  await page.getByRole('button', { name: 'Export JSON' }).click();
  assert.match(await page.getByRole('alert').innerText(), /could not be created: Limit exceeded: too many rows/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('search finds advisories, packages, roles and pages, keeps what was opened, and ? lists the keys', async () => {
  const page = await newPage();
  await open(page, '/console/acme');
  const search = async (words) => { await page.keyboard.press('Control+k'); await page.keyboard.type(words); };
  await search('ACME-2026-0003');
  await page.getByRole('group', { name: 'Advisories' }).getByRole('option', { name: /ACME-2026-0003/ }).click();
  await page.waitForURL(/~advisories\?id=ACME-2026-0003/);
  await search('express');
  await page.getByRole('group', { name: 'Packages' }).getByRole('option', { name: /^express/ }).click();
  await page.waitForURL(/~packages\?name=express&ecosystem=npm/);
  await loaded(page);
  await search('release manager');
  await page.getByRole('group', { name: 'Roles' }).getByRole('option', { name: /release manager/ }).click();
  await page.waitForURL(/engineering\/~roles\?role=/);
  await page.locator('.capabilities').waitFor();
  await eventually(async () => /ci in acme \/ engineering/.test(await text(page)), async () => text(page));
  await search('audit log');
  await page.getByRole('group', { name: 'Pages' }).getByRole('option', { name: /Audit log/ }).click();
  await page.waitForURL(/~activity\?show=log/);
  await page.keyboard.press('Control+k');
  assert.match(await page.getByRole('group', { name: 'Recently opened' }).innerText(), /Audit log[^]*release manager[^]*express[^]*ACME-2026-0003/);
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Findings').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page.waitForURL(/~findings$/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('a role is made, changed and deleted, and a provider says what it gives', async () => {
  const page = await newPage(), name = 'auditor ' + Date.now().toString(36);
  await open(page, '/console/acme/~roles');
  await page.getByRole('button', { name: 'New role' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByRole('group', { name: 'findings' }).getByRole('checkbox', { name: 'read' }).check();
  await dialog.getByRole('button', { name: 'Create the role' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: new RegExp(name) }).click();
  assert.match(await page.locator('.story').innerText(), /1 of 45|findings/);
  await page.getByText('Nobody has it.').waitFor();
  await page.locator('.story').getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete the role' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await eventually(async () => !(await text(page)).includes(name), 'the role stays');
  await page.getByRole('button', { name: /^owner/ }).click();
  assert.match(await page.locator('.story').innerText(), /cannot be changed/);
  await open(page, '/console/acme/~identities?show=providers');
  assert.match(await page.locator('.plain-table').innerText(), /login\nhttps:\/\/login\.example\.com[^]*In effect[^]*developers: editor/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('the audit log names what is gone, folds what is alike, and shows all about one resource', async () => {
  const { group: { uid } } = await data('{ group(path: "acme/engineering/platform") { uid } }');
  const { createRepo: { repo } } = await data('mutation M($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', { i: { parent: uid, name: 'short-lived' } });
  await data('mutation M($i: DeleteRepoInput!) { deleteRepo(input: $i) { deletedUid } }', { i: { uid: repo.uid } });
  const page = await newPage();
  await open(page, '/console/acme/~activity?show=log');
  await page.getByText('owner deleted the repo short-lived').waitFor();
  await page.getByRole('button', { name: 'By anybody' }).click();
  await page.getByRole('dialog').getByLabel('Find by name, description or email').fill('viewer');
  await page.getByRole('dialog').getByRole('button', { name: /^viewer/ }).first().click();
  await page.waitForURL(/actor=/);
  await eventually(async () => (await page.locator('.happening p:first-child > b:first-child').allInnerTexts()).every((who) => who === 'viewer'), async () => text(page));
  await page.getByRole('button', { name: /^By whom: viewer/ }).click();
  await open(page, '/console/acme/~activity?show=log');
  await page.getByText('owner deleted the repo short-lived').waitFor(); // Names come after the events.
  assert.deepEqual((await text(page)).match(/^(?!.* redelivered ).*no longer exists.*$/gm), null); // The record of a redelivery has no name.
  assert.match(await page.locator('.day-heading').first().innerText(), /day, /);
  await page.getByRole('button', { name: 'More', exact: true }).first().click();
  await page.getByRole('button', { name: 'Everything about this resource' }).click();
  await page.waitForURL(/subject=/);
  await eventually(async () => (await page.locator('.happening').count()) === 2, async () => text(page));
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const [head, ...lines] = (await (await (await download).createReadStream()).toArray()).join('').trim().split('\r\n');
  assert.match(head, /^Time,Actor,What,Name,Group,/);
  assert.equal(lines.length, 2);
  assert.match(lines[0], new RegExp(`,owner,deleted the repo,[^]*,${repo.uid},`));
  await open(page, '/console/acme/engineering/shop/~activity?show=log');
  const run = page.locator('.row').filter({ hasText: /demonstration created \d+ tags/ }).first();
  await run.getByRole('button', { name: 'One by one' }).click();
  await run.getByText(/created the tag [a-z]+:/).first().waitFor();
  await run.locator('.folded').getByRole('link', { name: /^[a-z]+:/ }).first().click();
  await page.waitForURL(/engineering\/shop\/[a-z]+\?tag=/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('findings that were chosen are decided about together, which is said and undone exactly, and the focus stays in the list', async () => {
  const page = await newPage({ viewport: { width: 390, height: 844 } });
  const { group: { findings: { nodes } } } = await data('{ group(path: "acme") { findings(first: 2, where: {states: [OPEN, IN_TRIAGE]}, orderBy: {field: PACKAGE}) { nodes { uid vulnerabilityId package digest repo { name } } } } }');
  const set = (input) => data('mutation M($i: UpdateFindingsInput!) { updateFindings(input: $i) { updatedCount } }', { i: input });
  const standing = async () => Promise.all(nodes.map(async ({ uid }) => (await data('query Q($u: UID!) { finding(uid: $u) { state justification note expireTime dueTime assignee { name } } }', { u: uid })).finding));
  await set({ uids: [nodes[0].uid], state: 'IN_TRIAGE', note: 'Ask the vendor', expireTime: '2099-01-02T03:04:05Z' });
  const before = await standing();
  await open(page, '/console/acme/~findings?sort=package');
  for (const one of nodes) await page.getByRole('checkbox', { name: `Choose ${one.vulnerabilityId} in ${one.repo.name}`, exact: true }).check();
  await look(page, 'findings-chosen');
  assert.deepEqual(await violations(page), []);
  await page.getByRole('button', { name: 'Decide about 2', exact: true }).click();
  const dialog = page.locator('dialog[open]');
  await dialog.getByLabel('State').selectOption('NOT_AFFECTED');
  await dialog.getByLabel('Reason').selectOption('INLINE_MITIGATIONS_ALREADY_EXIST');
  await dialog.getByLabel('Assigned to').selectOption({ label: 'owner (you)' });
  await dialog.getByLabel('Fix by').fill('2099-02-03T04:05:06');
  await look(page, 'findings-decide');
  await dialog.getByRole('button', { name: 'Save the decision' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await eventually(async () => (await page.getByRole('region', { name: 'What is chosen' }).count()) === 0, 'they stay chosen');
  assert.match(await page.getByRole('status', { name: 'What was saved' }).innerText(), /2 findings( of \S+)? are not affected; assigned to owner, to be fixed by Feb 3, 2099/);
  await eventually(() => page.evaluate(() => document.activeElement.matches('.row .whole')), () => page.evaluate(() => document.activeElement.outerHTML.slice(0, 200)));
  assert.deepEqual((await standing()).map(({ state }) => state), ['NOT_AFFECTED', 'NOT_AFFECTED']);
  await look(page, 'findings-said');
  assert.deepEqual(await violations(page), []);
  await page.getByRole('button', { name: /^Not affected/ }).click();
  await page.getByRole('button', { name: 'Any assignee' }).click();
  await dialog.getByRole('button', { name: 'Me', exact: true }).click();
  await page.locator('[role=status].total').filter({ hasText: /^2 findings$/ }).waitFor();
  await page.keyboard.press('z');
  await page.getByText('Undone: 2 findings are as they were.').waitFor();
  assert.deepEqual(await standing(), before);
  await set({ uids: [nodes[0].uid], state: 'OPEN' });
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('lists are sorted by what the graph can order by, and saved as files', async () => {
  const page = await newPage();
  const saved = async (path) => {
    await open(page, path);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    return (await download).createReadStream().then(async (stream) => (await stream.toArray()).join(''));
  };
  for (const [path, heading] of [['/console/acme/~findings', 'Repo and package'], ['/console/acme/~advisories', 'Affected'], ['/console/acme/~identities?show=invites', 'Role'], ['/console/acme/~webhooks', 'Created'], ['/console/acme/~webhooks?hook=' + hook.uid, 'Event']]) {
    await open(page, path);
    await page.getByRole('columnheader', { name: heading }).getByRole('button').click();
    await page.waitForURL(/sort=|dir=turned/);
    await loaded(page);
    assert.match(await page.getByRole('columnheader', { name: heading }).getAttribute('aria-sort'), /ascending/, path);
    assert.equal(await page.locator('.problem').count(), 0, path);
  }
  assert.match(await saved('/console/acme/engineering/shop/checkout'), /^Tag,Digest,Architectures,Last moved,Deprecated,Open findings,Critical,High,Medium,Low,UID\r\n(?:[^]*\r\n)?4\.2\.7,sha256:[0-9a-f]{64},amd64 arm64,[^,]+,no,3,1,0,1,1,/);
  assert.match(await saved('/console/acme/engineering/~roles'), /^Role,Where,Description,May,Given,Changed,UID\r\nrelease manager,Of engineering,/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('a finding is decided about, and comes back', async () => {
  const page = await newPage();
  await open(page, '/console/acme/engineering/shop/checkout?tab=findings');
  const view = (name) => page.locator('.tabs button').filter({ hasText: name }), number = async (name) => Number(await view(name).locator('small').innerText());
  const [before, accepted] = [await number('Open'), await number('Accepted')];
  const decide = async (state, note) => {
    await page.getByRole('button', { name: 'Decide', exact: true }).click();
    await page.getByLabel('State').selectOption(state);
    if (note) await page.getByLabel('Note').fill(note);
    await page.getByRole('button', { name: 'Save the decision' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  await page.locator('.row').filter({ hasText: 'express' }).locator('button').first().click();
  await decide('ACCEPTED', 'Only behind the gateway');
  await eventually(async () => (await number('Open')) === before - 1 && (await number('Accepted')) === accepted + 1, 'the numbers stay');
  assert.match(await page.locator('.said').innerText(), /^Accepted \S+ in express\./);
  await eventually(() => page.evaluate(() => document.activeElement.matches('.row .whole')), 'the focus is lost');
  await view('Accepted').click();
  await loaded(page);
  assert.match(await page.locator('.story').innerText(), /Accepted[^]*Only behind the gateway/); // It is still unfolded.
  await decide('OPEN');
  await eventually(async () => (await number('Open')) === before && (await number('Accepted')) === accepted, 'the numbers stay');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('who may not decide is told why, and search finds findings', async () => {
  const page = await newPage();
  await enter(page, await token('--as', 'viewer'), '/console');
  await follow(page, '/console/acme/~findings');
  await page.locator('.row button').first().click();
  await page.getByRole('button', { name: 'Decide', exact: true }).hover();
  assert.match(await page.getByRole('tooltip').filter({ visible: true }).innerText(), /needs findings\.update on/);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('express');
  await page.getByRole('option').filter({ hasText: 'ACME-2026-0101 in express' }).click();
  await page.waitForURL(/~findings\?q=ACME-2026-0101/);
  await loaded(page);
  assert.match(await text(page), /frontend[^]*express/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('search finds by the keyboard, and back leads back', async () => {
  const page = await newPage();
  await open(page, '/console/acme/~repos');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('checkout');
  await page.getByRole('group', { name: 'Repos' }).getByRole('option').first().waitFor();
  await page.locator('#hits[aria-busy=false]').waitFor(); // Hits of the first letters are not chosen.
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/console\/acme\/engineering\/shop\/checkout/);
  await page.getByText('5.0.2').first().waitFor();
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
  await page.locator('.toggle', { hasText: 'Medium' }).click();
  await page.getByRole('group', { name: 'Which advisories' }).getByRole('button', { name: /^Fix available/ }).click();
  await page.getByRole('link', { name: /ACME-2026-0001/ }).click();
  await page.locator('.timeline').waitFor();
  assert.match(await page.locator('.timeline').innerText(), /Detected[^]*Listed by security@example.com, imported[^]*Fixed[^]*2\.4\.1/);
  await page.context().close();
});

await check('filters of findings can be typed, and what fits no filter is told', async () => {
  const page = await newPage(), shown = page.getByRole('table', { name: 'Findings' }), total = page.locator('.total');
  await open(page, '/console/acme/~findings');
  const field = page.getByLabel('Find words, or severity:high');
  const count = async (where) => (await data(`{ group(path: "acme") { findings(where: ${where}, first: 0) { totalCount } } }`)).group.findings.totalCount;
  for (const [typed, where] of [['severity:critical,high score:>=8', '{severities: [CRITICAL, HIGH], minScore: 8, states: [OPEN, IN_TRIAGE]}'], ['is:accepted', '{states: [ACCEPTED]}'], ['ecosystem:npm qs', '{ecosystems: ["npm"], query: "qs", states: [OPEN, IN_TRIAGE]}']]) {
    const wants = await count(where);
    assert.ok(wants > 0, `${typed} finds nothing, so this checks nothing`);
    await field.fill(typed);
    await eventually(async () => new RegExp(`^${wants} findings?$`).test(await total.innerText()) && await shown.isVisible(), async () => `${typed}: ${await total.innerText()}, want ${wants}`);
  }
  await field.fill('severity:terrible qs');
  await eventually(async () => /“terrible” does not fit “severity:”, which takes critical, high/.test(await text(page)), async () => text(page));
  await field.fill('severity: score:8 is:fixable is:unfixable');
  await eventually(async () => /“severity:” needs a value: critical, high[^]*“8” does not fit “score:”, which takes >= or >[^]*“is:unfixable” contradicts a filter before it/.test(await text(page)), async () => text(page));
  await page.getByRole('button', { name: 'Filters to type' }).click();
  assert.match(await page.getByRole('dialog', { name: 'Filters to type' }).innerText(), /epss:[^]*>= or > and a number up to 1/);
  await page.keyboard.press('Escape');
  // What was typed wins over the chips, which are gone, and a file has the findings of the list.
  const worst = (await data('{ group(path: "acme") { findings(where: {states: [OPEN, IN_TRIAGE]}, orderBy: {field: SEVERITY}, first: 1) { nodes { severity { score } } } } }')).group.findings.nodes[0].severity.score;
  await open(page, `/console/acme/~findings?severity=LOW&q=${encodeURIComponent(`severity:critical,high score:>${worst}`)}`);
  assert.match(await text(page), /No finding matches/);
  assert.equal(await page.getByRole('group', { name: 'Severity' }).count(), 0, 'a chip says another severity than the list has');
  await field.fill('severity:critical is:fixable');
  const wants = await count('{severities: [CRITICAL], fixable: true, states: [OPEN, IN_TRIAGE]}');
  await eventually(async () => new RegExp(`^${wants} findings?$`).test(await total.innerText()), async () => `${await total.innerText()}, want ${wants}`);
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()]);
  assert.equal(readFileSync(await file.path(), 'utf8').trim().split('\n').length - 1, wants, 'the file has other findings than the list');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('columns sort in both directions, and a view keeps filters and order under a name', async () => {
  const page = await newPage();
  await open(page, '/console/acme/~repos');
  const names = async () => (await page.locator('.row .two > b').allInnerTexts()).join();
  const ascending = await names();
  await page.getByRole('button', { name: 'Name ascending' }).click();
  await page.waitForURL(/dir=turned/);
  await page.getByRole('button', { name: 'Name descending' }).waitFor();
  assert.equal(await page.getByLabel('Sort', { exact: true }).locator('option:checked').textContent(), 'By name, reversed');
  await eventually(async () => (await names()) !== ascending, 'the order is the same');
  await page.getByRole('button', { name: 'Last changed' }).click();
  await page.waitForURL(/\?sort=updated$/);
  await page.getByRole('searchbox').fill('a');
  await page.waitForURL(/q=a/);
  await loaded(page);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByLabel('Save the current filters').fill('With an a');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'With an a' }).waitFor();
  await open(page, '/console/acme/engineering/~repos');
  await page.getByRole('button', { name: 'Views' }).click();
  assert.deepEqual(await violations(page), []);
  await page.getByRole('link', { name: 'With an a' }).click();
  await page.waitForURL(/engineering\/~repos\?sort=updated&q=a$/);
  await page.getByRole('button', { name: 'With an a' }).click();
  await page.getByRole('button', { name: 'Delete the view With an a' }).click();
  await page.getByText('No views yet').waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('lists are tables for assistive technology, with the columns that the reader chose, and are saved as a file', async () => {
  const page = await newPage(), { groups: { nodes: [acme] } } = await data('{ groups(directOnly: true, first: 1) { nodes { repos(first: 1) { totalCount } } } }');
  await open(page, '/console/acme/~repos?sort=worst');
  const table = page.getByRole('table', { name: 'Repos' }), headers = async () => (await table.getByRole('columnheader').allInnerTexts()).map((label) => label.trim().split('\n')[0]);
  assert.equal(await table.getAttribute('aria-rowcount'), String(acme.repos.totalCount + 1));
  assert.deepEqual(await headers(), ['Name', 'Tier', 'Tags', 'Last changed', 'Open findings']);
  assert.equal(await table.getByRole('columnheader', { name: 'Open findings' }).getAttribute('aria-sort'), 'descending');
  const first = table.getByRole('row').nth(1);
  assert.equal(await first.getAttribute('aria-rowindex'), '2');
  assert.equal(await first.getByRole('rowheader').count() + await first.getByRole('cell').count(), 5);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('Tier').uncheck();
  await page.getByLabel('Bundles').check();
  await page.waitForURL(/columns=bundles%2Ctags%2Cchanged%2Cfindings/);
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Escape');
  assert.deepEqual(await headers(), ['Name', 'Bundles', 'Tags', 'Last changed', 'Open findings']);
  const saved = async () => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    return (await (await (await download).createReadStream()).toArray()).join('').trim().split('\r\n');
  };
  const lines = await saved();
  assert.equal(lines.length, acme.repos.totalCount + 1);
  assert.match(lines[0], /^Name,Tier,Bundles,Tags,Created,Last changed,Open findings,Group,Description,Images,Images with an SBOM,Critical,High,/);
  await open(page, '/console/acme/~repos?q=gate'); // The browser keeps the choice.
  assert.deepEqual(await headers(), ['Name', 'Bundles', 'Tags', 'Last changed', 'Open findings']);
  assert.match((await saved()).slice(1).join(), /^gateway,[^,]*,[^,]*,\d+,[^]*$/);
  await page.locator('.row').first().click({ position: { x: 600, y: 20 } }); // The whole row leads to the repo.
  await page.waitForURL(/platform\/gateway$/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('settings say who the reader is and why, and the looks and the role outlive a reload', async () => {
  const page = await newPage({ timezoneId: 'Asia/Tokyo', locale: 'de-DE' });
  await open(page, '/console/acme');
  const settings = async () => { await page.getByRole('button', { name: 'Settings' }).click(); await page.getByText('Your roles').waitFor(); };
  await settings();
  assert.match(await page.getByRole('region', { name: 'Who you are' }).innerText(), /owner in acme, and below/);
  assert.deepEqual(await violations(page), []);
  await page.getByLabel('Theme').selectOption('dark');
  await page.getByLabel('Rows').selectOption('compact');
  await page.getByLabel('Time zone').selectOption('UTC');
  await page.getByLabel('Language of dates and numbers').selectOption('de-DE');
  assert.match(await page.getByRole('region', { name: 'Appearance' }).innerText(), / UTC · vor 3 Tagen · 12\.345/);
  await page.getByRole('button', { name: 'Viewer', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const side = page.getByRole('navigation', { name: 'Pages' });
  await page.getByRole('button', { name: 'Fold the side bar' }).click();
  await side.waitFor({ state: 'hidden' });
  await page.reload();
  await loaded(page);
  assert.equal(await side.isVisible(), false);
  await page.getByRole('button', { name: 'Unfold the side bar' }).click();
  await side.waitFor();
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).colorScheme), 'dark');
  await settings();
  assert.equal(await page.getByRole('button', { name: 'Viewer', exact: true }).getAttribute('aria-pressed'), 'true');
  assert.match(await page.getByRole('region', { name: 'Who you are' }).innerText(), /viewer in acme/);
  await page.getByText('By capability').click();
  assert.match(await page.locator('.reasons').innerText(), /repos\s+read\s+viewer in acme\n/);
  assert.doesNotMatch(await page.locator('.reasons').innerText(), /delete/);
  assert.equal(await page.getByLabel('Rows').inputValue(), 'compact');
  assert.deepEqual(page.faults, []);
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
  await open(page, '/console/acme/engineering/platform/readme?tab=readme');
  await page.locator('.markdown table').waitFor();
  assert.deepEqual(await page.locator('.markdown a').evaluateAll((all) => all.map((one) => one.href)), ['https://example.com/', 'https://example.com/p.png']);
  assert.equal(await page.locator('.markdown :is(script, img)').count(), 0);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  assert.deepEqual(page.faults, []);
  await data('mutation M($i: DeleteRepoInput!) { deleteRepo(input: $i) { deletedUid } }', { i: { uid: repo.uid } });
  await page.context().close();
});

await check('a readme that takes too much work is shown as text, on a page that works', async () => {
  const { group: { uid } } = await data('{ group(path: "acme/engineering/platform") { uid } }');
  const { createRepo: { repo } } = await data('mutation M($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', { i: { parent: uid, name: 'odd' } });
  const page = await newPage();
  for (const content of ['>'.repeat(2000) + 'x', '- '.repeat(2000) + 'a', '*a_'.repeat(80_000), '- a\n' + 'b\n'.repeat(100_000)]) {
    await data('mutation M($i: UpdateRepoReadmeInput!) { updateRepoReadme(input: $i) { repo { uid } } }', { i: { uid: repo.uid, content } });
    await open(page, '/console/acme/engineering/platform/odd?tab=readme');
    assert.equal(await page.locator('.markdown > pre').textContent(), content);
    await page.locator('.card', { has: page.locator('.markdown') }).getByRole('button', { name: 'Edit', exact: true }).click();
    assert.equal(await page.getByRole('region', { name: 'Preview' }).locator('pre').textContent(), content);
  }
  assert.deepEqual(page.faults, []);
  await data('mutation M($i: DeleteRepoInput!) { deleteRepo(input: $i) { deletedUid } }', { i: { uid: repo.uid } });
  await page.context().close();
}, 40);

await check('the feed shows a change as it happens, waits while it is paused, and the log shows before and after', async () => {
  const { group } = await data('{ group(path: "acme/security") { uid description } }');
  const describe = (description) => data('mutation M($i: UpdateGroupInput!) { updateGroup(input: $i) { group { uid } } }', { i: { uid: group.uid, description } });
  const page = await newPage();
  await open(page, '/console/acme/~activity');
  await eventually(() => page.locator('.live[data-state=live]').count(), 'the feed is not live');
  const earlier = await page.locator('.events li').count();
  assert.ok(earlier > 0, 'what happened before is missing');
  await describe('Reviews of everything');
  await eventually(async () => (await page.locator('.events li').count()) > earlier, 'nothing comes');
  assert.match(await page.locator('.events li').first().innerText(), /owner updated the group security/);
  await page.getByRole('button', { name: 'Pause' }).click();
  const before = await page.locator('.events li').count();
  await describe(group.description);
  await page.getByRole('button', { name: 'Resume' }).click();
  await eventually(async () => (await page.locator('.events li').count()) > before, 'what happened meanwhile is lost');
  await page.getByRole('button', { name: 'Audit log' }).click();
  await page.getByRole('button', { name: 'One by one' }).first().click(); // Both changes are in one run.
  await page.getByRole('button', { name: 'Before and after' }).first().click();
  assert.match(await page.locator('.change').first().innerText(), /description[^]*Reviews of everything[^]*Reviews and advisories/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

for (const who of ['editor', 'viewer']) {
  await check(`a ${who} sees what the role includes`, async () => {
    const page = await newPage();
    await enter(page, await token('--as', who), '/console');
    for (const path of ['', '/~repos', '/~findings', '/~packages', '/~advisories', '/~advisories?id=ACME-2026-0102', '/~access', '/~access?show=table', '/~roles', '/~identities?show=providers', '/~webhooks', '/~identities', '/~activity?show=log']) {
      await follow(page, '/console/acme' + path);
      assert.equal(await page.locator('.problem').count(), 0, `${path}: ${await text(page)}`);
      await look(page, `${who}${path.replace(/\W+/g, '-')}`);
    }
    const log = await text(page);
    assert.match(log, /Your role does not let you read the audit log/);
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
  await eventually(async () => /\b\d+ repos\b/.test(await page.locator('.counts').innerText()), async () => text(page));
  assert.match(page.url(), /\/console\/engineering\?group=/);
  await loaded(page);
  assert.match(await text(page), /Your role does not let you see/);
  await page.getByRole('link', { name: 'Repos', exact: true }).click();
  await page.locator('.row').filter({ hasText: 'billing' }).getByRole('link').click();
  await page.locator('.tags tbody tr').first().waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a stranger is told how to get in', async () => {
  const page = await newPage();
  await enter(page, await token('--subject', 'nobody'));
  assert.match(await text(page), /Page not found/);
  await page.getByRole('link', { name: 'Go to your groups' }).click();
  await page.getByText('You have no access yet').waitFor();
  assert.match(await text(page), /Ask an owner of your organization/);
  await look(page, 'stranger');
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('a token that was pasted and expires keeps the form, which is sent with the next one', async () => {
  const page = await newPage(), name = 'kept-' + Date.now().toString(36);
  await enter(page, await token('--as', 'owner'), '/console');
  await follow(page, '/console/acme/engineering');
  await page.getByRole('button', { name: 'New group' }).click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name);
  await page.clock.setFixedTime(Date.now() + 366 * 86_400_000);
  page.failing = /401/;
  await page.route('**/graphql', (route) => route.fulfill({ status: 401, json: { errors: [{ message: 'expired' }] } }));
  await page.getByRole('button', { name: 'Create the group' }).click();
  await page.getByRole('dialog').getByText('Your session has expired.').waitFor(); // A list behind the form can say so, too.
  assert.equal(await page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue(), name);
  await page.unroute('**/graphql');
  await page.getByLabel('New bearer token').fill(await token('--as', 'owner'));
  await page.getByRole('button', { name: 'Use this token' }).click();
  await page.getByText('You are signed in again.').waitFor();
  await page.getByRole('button', { name: 'Create the group' }).click();
  await page.waitForURL(new RegExp(`/engineering/${name}$`));
  const { group: { uid } } = await data('query Q($path: String!) { group(path: $path) { uid } }', { path: 'acme/engineering/' + name });
  await data('mutation M($i: DeleteGroupInput!) { deleteGroup(input: $i) { deletedUid } }', { i: { uid } });
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

await check('an address of nothing is told in words, and every page fits into 320 pixels', async () => {
  const page = await newPage({ viewport: { width: 320, height: 700 } });
  for (const path of ['/console/acme/~webhooks?hook=nope', '/console/acme/~access?identity=x']) {
    await open(page, path);
    assert.match(await page.locator('.problem').innerText(), /Not found[^]*nothing at this address/);
    assert.doesNotMatch(await text(page), /must be a UID|Try again/);
  }
  for (const [name, path] of Object.entries(pages)) { await open(page, path); await look(page, `${name}-320`); }
  await page.context().close();
}, 40);

// With ATRIUM_TEST_MATRIX the connection is slow, and the table has the paint that a reader there waits for.
await check('nothing jumps while a page loads, and every page is within its budget', async () => {
  const table = [], exceeded = [];
  for (const width of [1440, 390]) {
    const page = await newPage({ viewport: { width, height: 900 } }), devtools = await page.context().newCDPSession(page), slow = process.env.ATRIUM_TEST_MATRIX && width === 1440;
    await devtools.send('Network.enable');
    if (slow) await devtools.send('Network.emulateNetworkConditions', { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 });
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
    // Answers come late, so that what takes their place is painted on a fast machine too.
    await page.route('**/graphql', async (route) => { await new Promise((go) => setTimeout(go, 200)); await route.continue().catch(() => {}); });
    let bytes = 0, requests = 0;
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => { bytes += encodedDataLength; });
    devtools.on('Network.responseReceived', () => { requests++; });
    await page.addInitScript(() => {
      window.shift = 0;
      new PerformanceObserver((list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) { window.shift += one.value; window.moved = [...(window.moved ?? []), one.sources.map(({ node }) => node?.className || node?.nodeName).join('+')]; } }).observe({ type: 'layout-shift', buffered: true });
      new PerformanceObserver((list) => { window.largest = list.getEntries().at(-1).startTime; }).observe({ type: 'largest-contentful-paint', buffered: true });
    });
    for (const [name, path] of Object.entries(pages)) {
      bytes = requests = 0;
      await open(page, path);
      const [shift, moved, largest] = await page.evaluate(() => [window.shift, window.moved, window.largest]), kilobytes = Math.round(bytes / 1000);
      table.push([name, width, requests, kilobytes, shift.toFixed(3), slow ? `${(largest / 1000).toFixed(1)} s` : ''].join(' '));
      if (shift > 0.05) exceeded.push(`${name} ${width}: ${shift.toFixed(3)} of ${moved.join(', ')}`);
      if (kilobytes > 300) exceeded.push(`${name} ${width}: ${kilobytes} KB`);
    }
    await page.context().close();
  }
  assert.deepEqual(exceeded, []);
  return table.join(', ');
}, 90);

/** Presses Tab until an element has the focus, and checks at each step that the focus can be seen. */
async function tabTo(page, target, most = 80) {
  const wanted = await target.elementHandle();
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab');
    const { name, seen } = await page.evaluate(() => {
      const one = document.activeElement, outlined = (style) => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
      const around = [one, one.closest('label, .find, .search-field')].filter(Boolean), box = one.getBoundingClientRect();
      return { name: `${one.tagName} ${one.className} ${one.textContent.slice(0, 30)}`, seen: one === document.body || around.some((each) => outlined(getComputedStyle(each)) || getComputedStyle(each).boxShadow !== 'none') || outlined(getComputedStyle(one, '::after')) || box.width * box.height === 0 };
    });
    assert.ok(seen, `the focus cannot be seen on ${name}`);
    if (await wanted.evaluate((one) => one === document.activeElement)) return;
  }
  assert.fail(`Tab does not lead to ${target}`);
}

await check('the keyboard leads through search, list, filter, dialogue and back, with a focus that can be seen and comes back, and screen readers are told', async () => {
  const page = await newPage(), focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim());
  await open(page, '/console/acme');
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'Skip to content');
  await page.keyboard.press('Enter');
  assert.equal(await focused(), 'main');
  assert.match(await page.locator('body').ariaSnapshot(), /- banner:[^]*- navigation "Where you are"[^]*- navigation "Pages"[^]*- main:\s+- heading "acme" \[level=1\]/);
  await page.keyboard.press('/');
  await page.keyboard.type('checkout');
  await page.getByRole('option').filter({ hasText: 'shop' }).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.equal(await focused(), 'main', 'the search does not give the focus back');
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.waitForURL(/~repos$/);
  await loaded(page);
  await tabTo(page, page.getByRole('searchbox'));
  await page.keyboard.type('gate');
  await page.locator('[role=status].total').filter({ hasText: /^1 repo$/ }).waitFor();
  assert.match(await page.locator('#main').ariaSnapshot(), /- table "Repos":[^]*- columnheader "Name ascending"[^]*- '?row "gateway [^]*- rowheader "gateway [^]*- link "gateway [^]*- cell "\d+"/);
  await tabTo(page, page.getByRole('table').getByRole('link'));
  await page.keyboard.press('Enter');
  await page.waitForURL(/platform\/gateway$/);
  await loaded(page);
  assert.equal(await focused(), 'main');
  await page.goBack();
  await page.getByRole('table', { name: 'Repos' }).waitFor();
  assert.equal(await page.getByRole('searchbox').inputValue(), 'gate');
  await tabTo(page, page.getByRole('button', { name: 'New repo' }));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: /New repo/ }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.labels?.[0]?.textContent), 'Name');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.equal(await focused(), 'New repo', 'the dialogue does not give the focus back');
  await follow(page, '/console/acme/~findings');
  for (const key of ['j', 'j', 'x', 'j', 'j', 'Shift+X']) await page.keyboard.press(key);
  const bar = page.getByRole('region', { name: 'What is chosen' }), boxes = page.getByRole('table').getByRole('checkbox');
  await bar.getByText(/^3 findings in/).waitFor();
  await page.keyboard.press('e');
  await page.getByRole('dialog', { name: 'Decide about 3 findings' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await boxes.nth(1).click();
  await boxes.nth(7).click({ modifiers: ['Shift'] });
  await bar.getByText(/^7 findings in/).waitFor();
  await page.setViewportSize({ width: 1440, height: 450 });
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  const [under, head] = await page.evaluate(() => ['.chosen', '.table .head'].map((one) => document.querySelector(one).getBoundingClientRect()).map(({ top, bottom }) => ({ top, bottom })));
  assert.ok(under.top >= 56 && under.bottom < head.top && head.bottom < 200, `the bar and the head leave the window: ${JSON.stringify([under, head])}`);
  await bar.getByRole('button', { name: 'Choose none' }).click();
  await page.setViewportSize({ width: 1440, height: 900 });
  const finding = page.getByRole('table', { name: 'Findings' }).getByRole('button', { expanded: false }).filter({ hasText: 'ACME' }).first();
  await tabTo(page, finding);
  await page.keyboard.press('Enter');
  await page.getByRole('table').getByRole('button', { expanded: true }).waitFor();
  await tabTo(page, page.getByRole('button', { name: 'Decide', exact: true }));
  await page.keyboard.press('Shift+Tab');
  assert.equal(await page.getByRole('button', { expanded: true }).filter({ hasText: 'ACME' }).count(), 1);
  await page.locator('.story').getByRole('link').first().click();
  await page.waitForURL(/id=/);
  await page.goBack();
  await page.getByRole('button', { expanded: true }).filter({ hasText: 'ACME' }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
}, 30);

await check('a page is read again when the reader comes back to the tab', async () => {
  const page = await newPage(), { group: { uid } } = await data('{ group(path: "acme/engineering/shop") { uid } }');
  await page.clock.install();
  await open(page, '/console/acme/engineering/shop/~repos');
  const hide = (state) => page.evaluate((value) => { Object.defineProperty(document, 'visibilityState', { value, configurable: true }); document.dispatchEvent(new Event('visibilitychange')); }, state);
  await hide('hidden');
  const { createRepo: { repo } } = await data('mutation M($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', { i: { parent: uid, name: 'meanwhile' } });
  await page.clock.fastForward('01:00');
  await hide('visible');
  await page.locator('.row').filter({ hasText: 'meanwhile' }).waitFor();
  await data('mutation M($i: DeleteRepoInput!) { deleteRepo(input: $i) { deletedUid } }', { i: { uid: repo.uid } });
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

await check('a token that is not taken does not sign out somebody else', async () => {
  const page = await newPage();
  await enter(page, await token('--as', 'viewer'), '/console');
  const other = watchPage(await page.context().newPage());
  await open(other, '/console/acme');
  page.failing = /401/;
  await page.route('**/graphql', (route) => route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer e30.e30.e30' } }));
  await page.getByRole('link', { name: 'Advisories', exact: true }).click();
  await page.getByText(/session has ended/).waitFor();
  await other.getByRole('link', { name: 'Repos', exact: true }).click();
  await other.locator('.row').first().waitFor();
  assert.deepEqual([...page.faults, ...other.faults], []);
  await page.context().close();
});

await check('the types and the manifest are those of the documents and the schema, and the types hold', async () => {
  for (const { code, text: said } of await Promise.all([generating, typing])) assert.equal(code, 0, said);
}, 60);

await browser.close();
finish();
