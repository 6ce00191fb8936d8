// This suite checks the console of a server with a provider in Chromium: an owner signs in with a code and with a refresh token,
// and sees an empty organization. The server executes only trusted documents.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { browser, newContext, violations } from '../browser.mjs';
import { eventually, loaded, look, newPage, program, reads, text, watchPage } from '../console.mjs';
import { check, finish, freePort, run, temporary, temporaryFolder } from '../lib.mjs';

const block = readFileSync(join(import.meta.dirname, '../../docs/sign-in.md'), 'utf8').match(/^```js provider\n(.*?)^```$/ms)[1];
const port = await freePort(); // This is the port of the server, which the provider must know.
const host = `127.0.0.1:${await freePort()}`, issuer = `http://${host}`, audience = 'https://atrium.example.com';
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

/** Imitates Google, which gives pages no code without a secret, but an ID token in the address. */
const google = { host: `127.0.0.1:${await freePort()}`, asked: [] };
google.issuer = `http://${google.host}`;
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, google.issuer);
  const answer = (value) => response.writeHead(200, { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' }).end(JSON.stringify(value));
  if (pathname === '/.well-known/openid-configuration') return answer({ issuer: google.issuer, authorization_endpoint: `${google.issuer}/o/oauth2/v2/auth`, jwks_uri: `${google.issuer}/certs` });
  if (pathname === '/certs') return answer({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'g', alg: 'RS256', use: 'sig' }] });
  google.asked.push(searchParams);
  const now = Math.floor(Date.now() / 1000), nonce = google.nonce ?? searchParams.get('nonce');
  const input = `${encoded({ alg: 'RS256', kid: 'g', typ: 'JWT' })}.${encoded({ iss: google.issuer, azp: 'google-client', aud: 'google-client', sub: '110169484474386276334', nonce, iat: now, exp: now + 3600 })}`;
  const token = `${input}.${createSign('RSA-SHA256').update(input).sign(privateKey, 'base64url')}`;
  return response.writeHead(302, { Location: `${searchParams.get('redirect_uri')}#${new URLSearchParams({ state: searchParams.get('state'), id_token: token, authuser: '0' })}` }).end();
}).listen(google.host.split(':')[1], '127.0.0.1').unref();

/**
 * Imitates two more providers. The honest one knows the reader, does not name itself in its answers, and sends codes only to where the console had
 * them sent before, which stands for the redirect URI that the operator has registered there. The evil one sends readers on to it.
 */
const honest = { host: `127.0.0.1:${await freePort()}`, registered: '', challenges: new Map(), log: [] };
const evil = { host: `127.0.0.1:${await freePort()}`, log: [] };
for (const one of [honest, evil]) one.issuer = one.says = `http://${one.host}`;
function imitate(one, handle) {
  createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, one.issuer);
    const answer = (value, status = 200) => response.writeHead(status, { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' }).end(JSON.stringify(value));
    if (pathname === '/.well-known/openid-configuration') return answer({ issuer: one.says, authorization_endpoint: `${one.issuer}/auth`, token_endpoint: `${one.issuer}/token` });
    if (!['/auth', '/token'].includes(pathname)) return answer({}, 404); // Browsers ask for an icon.
    let form = '';
    for await (const chunk of request) form += chunk;
    one.log.push(pathname);
    return handle(pathname, pathname === '/token' ? new URLSearchParams(form) : searchParams, answer, (to) => response.writeHead(302, { Location: to }).end());
  }).listen(one.host.split(':')[1], '127.0.0.1').unref();
}
imitate(honest, (path, asked, answer, redirect) => {
  if (path === '/token') return answer({ error: 'invalid_grant', error_description: 'nobody is here' }, 400);
  if (asked.get('redirect_uri') !== (honest.registered ||= asked.get('redirect_uri'))) return answer({ error: 'the redirect URI is not registered' }, 400);
  return redirect(`${asked.get('redirect_uri')}?${new URLSearchParams({ code: 'of-honest', state: asked.get('state') })}`);
});
imitate(evil, (path, asked, answer, redirect) => {
  if (path === '/token') return answer({ error: 'invalid_grant', error_description: 'thanks' }, 400);
  asked.set('client_id', 'honest-client');
  asked.set('redirect_uri', evil.redirectURI ?? asked.get('redirect_uri'));
  return redirect(`${honest.issuer}/auth?${asked}`);
});

let other; // This is the URL of the server.
const page = await newPage();
await check('a server with a provider for the console and with trusted documents starts', async () => {
  for (const owner of [['--org', 'empty', '--issuer', issuer, '--subject', 'alice'], ['--org', 'other', '--issuer', google.issuer, '--subject', '110169484474386276334']]) {
    const { code, text: said } = await run(program, ['admin', 'bootstrap', ...owner, '--database-url', database]);
    assert.equal(code, 0, said);
  }
  mkdirSync(join(module, '..'), { recursive: true });
  const refreshing = [['      defaultResource: () => audience,\n', ''], ['      useGrantedResource: () => true,\n', ''], ['getResourceServerInfo: () => ({ audience,', 'getResourceServerInfo: (_, resource) => ({ audience: resource,'], ["token_endpoint_auth_method: 'none'", "token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token']"], ['clientBasedCORS:', 'issueRefreshToken: () => true,\n  clientBasedCORS:']];
  for (const [before] of refreshing) assert.ok(block.includes(before), before);
  writeFileSync(module, refreshing.reduce((text, [before, after]) => text.replace(before, after), block.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`).replaceAll('127.0.0.1:3010', host)));
  const provider = start(process.execPath, [module], { ISSUER: issuer });
  await eventually(() => fetch(`${issuer}/.well-known/openid-configuration`).then((r) => r.ok, () => false), () => provider.said);
  const trusted = temporary('trusted.json', JSON.stringify({ mine: 'query Mine { ping }' }));
  const server = start(program, ['serve', '--audience', audience, '--audience', 'google-client', '--private-issuer', host, '--private-issuer', google.host, '--private-issuer', honest.host, '--private-issuer', evil.host, '--addr', `127.0.0.1:${port}`, '--metrics-addr=', '--log-format', 'json', '--database-url', database, '--rate-limit', '0',
    '--console-issuer', issuer, '--console-client-id', 'console', '--console-parameter', `resource=${audience}`, '--console-scope', 'openid profile',
    '--console-provider', JSON.stringify({ name: 'Google', issuer: google.issuer, clientId: 'google-client', parameters: { response_type: 'id_token', prompt: 'select_account' } }),
    ...['honest', 'evil'].flatMap((name) => ['--console-provider', JSON.stringify({ name, issuer: { honest, evil }[name].issuer, clientId: `${name}-client` })]), '--trusted-documents', trusted]);
  other = (await eventually(() => server.said.match(/"msg":"serving","url":"([^"]+)"/), () => server.said))[1];
}, 40);

let bearer;
await check('an owner signs in at the provider, with a code and PKCE', async () => {
  page.on('request', (request) => { if (request.url() === other + '/graphql') bearer = request.headers().authorization; });
  page.on('request', (request) => { if (request.url().startsWith(issuer + '/auth?')) page.authorization = new URL(request.url()).searchParams; });
  await page.goto(other + '/console/empty/~repos');
  page.failing = /./; // The pages of the provider request fonts from other hosts.
  await page.getByRole('button', { name: `Continue with ${host}` }).click();
  await page.fill('[name=login]', 'alice');
  await page.fill('[name=password]', 'any');
  await page.click('[type=submit]');
  await page.locator('[type=submit]').click(); // This click gives the consent.
  await page.waitForURL(other + '/console/empty/~repos');
  await loaded(page);
  assert.equal(page.authorization.get('code_challenge_method'), 'S256');
  assert.deepEqual([page.authorization.get('resource'), page.authorization.get('scope')], [audience, 'openid profile']);
  assert.match(await text(page), /No repos yet/);
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
  assert.ok(!stored.includes(bearer.split('.')[2]) && !/verifier/.test(stored), 'a token or a verifier is stored: ' + stored);
}, 30);

await check('a reload signs in again without a question, and the pages of an empty organization say what to do', async () => {
  page.failing = undefined;
  for (const [path, says] of [['', /no images here yet[^]*atrium admin import oci --group/], ['/~repos', /No repos yet/], ['/~advisories', /No advisories yet/], ['/~access', /owner on empty/], ['/~activity', /bootstrap created the group empty/], ['/~webhooks', /No webhooks yet/], ['/~identities?show=invites', /No invites/], ['/~activity?show=log', /empty/]]) {
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

await check('a sign-in that nobody asked for leaves nothing in the history', async () => {
  await page.goto(other + '/console/empty');
  await page.locator('.shell').waitFor();
  await loaded(page);
  await page.getByRole('link', { name: 'Repos', exact: true }).click();
  await page.waitForURL(/~repos$/);
  const before = await page.evaluate(() => history.length);
  await page.reload();
  await page.locator('.title').getByText('Repos').waitFor();
  await loaded(page);
  assert.equal(await page.evaluate(() => history.length), before);
  await page.goBack();
  await page.locator('.counts a').first().waitFor();
  await loaded(page);
  assert.equal(page.url(), other + '/console/empty');
  assert.deepEqual(page.faults, []);
}, 30);

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
  await eventually(async () => { await page.evaluate(() => scrollTo(0, document.body.scrollHeight)); return page.getByText('End of the list: 130 repos.').count(); }, 'the end is never reached');
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

await check('the code of a new invite stays if the list cannot be read again', async () => {
  page.failing = /503/;
  await page.goto(other + '/console/empty/~identities?show=invites');
  await loaded(page);
  await page.getByRole('button', { name: 'New invite' }).click();
  const dialog = page.locator('dialog[open]');
  await dialog.getByLabel(/^Role/).selectOption({ label: 'viewer' });
  let failed = 0;
  await page.route(other + '/graphql', (route) => {
    if (!route.request().postDataJSON().query.startsWith('query Invites')) return route.continue();
    failed++;
    return route.fulfill({ status: 503, body: 'out of order' });
  });
  await dialog.getByRole('button', { name: 'Create the invite' }).click();
  await dialog.locator('.secret code:not(.link)').waitFor();
  await eventually(() => failed > 0, 'the list is not read again');
  await new Promise((go) => setTimeout(go, 500)); // The page reads the answer.
  assert.match(await dialog.locator('.secret code:not(.link)').innerText(), /\S{8}/);
  await page.unroute(other + '/graphql');
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  page.failing = undefined;
  assert.deepEqual(page.faults, []);
}, 30);

await check('the live feed continues where the database lacks the last event, because it was restored', async () => {
  let refused = 0;
  page.asked = [];
  await page.route(other + '/graphql', (route) => {
    const { query, variables } = route.request().postDataJSON();
    if (refused > 0 || !query.startsWith('subscription') || !variables.after) return route.continue();
    refused++;
    return route.fulfill({ json: { errors: [{ message: 'after: is not the id of a stored event', extensions: { code: 'INVALID_ARGUMENT' } }] } });
  });
  await page.goto(other + '/console/empty/~activity');
  await loaded(page);
  await eventually(() => refused, 'the feed does not continue after an event');
  await eventually(() => page.asked.filter((text) => text.startsWith('subscription')).length > 1, 'there is no new stream');
  await page.locator('.live[data-state=live]').waitFor();
  const { groups: [{ uid: parent }] } = await (await fetch(other + '/iam/v2/groups', { headers: { Authorization: bearer } })).json();
  const made = await fetch(`${other}/registry/v2/repos/${parent}`, { method: 'POST', headers: { Authorization: bearer, 'Content-Type': 'application/json' }, body: JSON.stringify({ name: 'after-restore' }) });
  assert.ok(made.ok, `${made.status} ${await made.text()}`);
  await page.locator('.events').getByText('after-restore').first().waitFor();
  await page.unroute(other + '/graphql');
  assert.deepEqual(page.faults, []);
}, 30);

await check('a session that expires without a refresh token leaves an open form as it is, until the reader has signed in again in another tab', async () => {
  const tab = watchPage(await page.context().newPage());
  let expired = '', streams = 0;
  tab.on('request', (request) => { if (request.url() === other + '/graphql' && /^subscription/.test(request.postDataJSON().query)) streams++; });
  await tab.route(issuer + '/token', async (route) => {
    const response = await route.fetch(), { refresh_token, ...tokens } = await response.json();
    return route.fulfill({ response, json: tokens });
  }, { times: 1 });
  await tab.route(other + '/graphql', (route) => (route.request().headers().authorization === expired ? route.fulfill({ status: 401, json: { errors: [{ message: 'Unauthenticated: the token has expired', extensions: { code: 'UNAUTHENTICATED' } }] } }) : route.continue()));
  await tab.clock.install();
  tab.on('request', (request) => { if (request.url() === other + '/graphql') tab.bearer = request.headers().authorization; });
  await tab.goto(other + '/console/empty');
  await tab.getByRole('button', { name: `Continue with ${host}` }).click();
  await tab.waitForURL(other + '/console/empty');
  await loaded(tab);
  await tab.locator('.live[data-state=live]').waitFor();
  await tab.getByRole('button', { name: 'New group' }).click();
  await tab.getByRole('dialog').getByLabel(/^Name$/).fill('kept-group');
  tab.failing = /401/;
  expired = tab.bearer;
  await tab.clock.fastForward(3_700_000);
  await tab.getByRole('button', { name: 'Create the group' }).click();
  await tab.getByRole('dialog').getByText('Your session has expired.').waitFor();
  const before = streams;
  await tab.clock.fastForward(60_000);
  assert.equal(streams, before, 'the stream does not wait');
  assert.equal(await tab.getByRole('dialog').getByLabel(/^Name$/).inputValue(), 'kept-group');
  const opening = tab.context().waitForEvent('page');
  await tab.getByRole('link', { name: 'Sign in again in another tab' }).click();
  const second = await opening;
  await tab.getByText('You are signed in again.').waitFor();
  await second.locator('.shell').waitFor();
  await second.close();
  await tab.getByRole('button', { name: 'Create the group' }).click();
  await tab.waitForURL(other + '/console/empty/kept-group');
  assert.deepEqual(tab.faults, []);
  await tab.close();
}, 40);

await check('a refresh token renews the token before it expires, without a loss for the reader, and a session that the provider ended is left', async () => {
  const tab = watchPage(await page.context().newPage());
  const bearers = [], grants = [];
  tab.on('request', (request) => { if (request.url() === other + '/graphql') bearers.push(request.headers().authorization); });
  tab.on('response', async (response) => { if (response.url() === issuer + '/token' && response.request().method() === 'POST' && response.ok()) grants.push({ asked: new URLSearchParams(response.request().postData()), answer: await response.json() }); });
  await tab.clock.install();
  await tab.goto(other + '/console/empty/~repos');
  await tab.getByRole('button', { name: `Continue with ${host}` }).click();
  await tab.waitForURL(other + '/console/empty/~repos');
  await loaded(tab);
  await eventually(() => grants.length === 1, 'the provider gives no token'); // its answer is read beside the page
  assert.ok(grants[0].answer.refresh_token, 'the provider gives no refresh token');
  const lives = grants[0].answer.expires_in;
  await tab.clock.fastForward((lives - 120) * 1000);
  assert.equal(grants.length, 1, 'the token is renewed too early');
  await tab.getByRole('button', { name: 'New repo' }).click();
  const name = tab.getByRole('dialog').getByLabel(/^Name$/);
  await name.fill('kept');
  // The provider is out of order when it is asked for the first time.
  let failed = 0;
  tab.failing = /503/;
  await tab.route(issuer + '/token', (route) => { failed++; return route.fulfill({ status: 503, headers: { 'Access-Control-Allow-Origin': '*' }, body: 'out of order' }); }, { times: 1 });
  await tab.clock.fastForward(61_000);
  await eventually(() => grants.length === 2, 'the token is not renewed');
  assert.equal(failed, 1, 'the provider was not out of order');
  tab.failing = undefined;
  assert.deepEqual([grants[1].asked.get('grant_type'), grants[1].asked.get('refresh_token')], ['refresh_token', grants[0].answer.refresh_token]);
  await new Promise((go) => setTimeout(go, 500)); // A console that starts again would need less time.
  assert.equal(await name.inputValue(), 'kept', 'the form has lost its text');
  await tab.getByRole('button', { name: 'Create the repo' }).click();
  await tab.waitForURL(other + '/console/empty/kept');
  await loaded(tab);
  assert.equal(bearers.at(-1), 'Bearer ' + grants[1].answer.access_token, 'the new token is not used');
  const stored = await tab.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
  for (const { answer } of grants) assert.ok(!stored.includes(answer.refresh_token) && !stored.includes(answer.access_token), 'a token is stored');
  assert.deepEqual(tab.faults, []);
  // A provider may answer without a new refresh token. The old one is then used again.
  const { access_token, expires_in } = grants[1].answer;
  await tab.route(issuer + '/token', (route) => route.fulfill({ json: { access_token, token_type: 'Bearer', expires_in }, headers: { 'Access-Control-Allow-Origin': '*' } }), { times: 1 });
  for (const count of [3, 4]) {
    await tab.clock.fastForward((lives - 59) * 1000);
    await eventually(() => grants.length === count, `the token is renewed ${grants.length - 1} times`);
    assert.equal(grants[count - 1].asked.get('refresh_token'), grants[1].answer.refresh_token);
    await new Promise((go) => setTimeout(go, 2000)); // The page reads the answer.
  }
  // Somebody who uses a refresh token a second time may have stolen it, so the provider ends the session.
  const again = await fetch(issuer + '/token', { method: 'POST', body: new URLSearchParams({ client_id: 'console', grant_type: 'refresh_token', refresh_token: grants[0].answer.refresh_token }) });
  assert.equal(again.status, 400);
  tab.failing = /400/;
  await tab.clock.fastForward((lives - 59) * 1000);
  await tab.getByRole('alert').waitFor();
  assert.match(await tab.getByRole('alert').innerText(), /Your session has ended/);
  assert.deepEqual(tab.faults, []);
  await tab.close();
}, 40);

await check('where the provider no longer knows the reader, the next sign-in leads to the same page', async () => {
  page.failing = /./;
  await page.context().clearCookies();
  await page.evaluate((at) => sessionStorage.setItem('atrium.console.signed-in', at), issuer);
  await page.goto(other + '/console/empty/~repos?sort=created');
  await page.waitForURL(/sort=created/);
  await page.getByRole('button', { name: `Continue with ${host}` }).waitFor();
  assert.equal(page.url(), other + '/console/empty/~repos?sort=created');
  // The endpoint of a provider may have parameters.
  await page.route(issuer + '/.well-known/openid-configuration', async (route) => {
    const response = await route.fetch(), found = await response.json();
    return route.fulfill({ response, json: { ...found, authorization_endpoint: found.authorization_endpoint + '?policy=a' } });
  });
  await page.reload();
  await page.getByRole('button', { name: `Continue with ${host}` }).click();
  await page.waitForURL(issuer + '/**');
  assert.deepEqual([page.authorization.get('policy'), page.authorization.get('response_type')], ['a', 'code']);
}, 30);

await check('a token that is opaque or for another audience is explained, with what to set', async () => {
  for (const [parameters, says] of [[null, /a token that only the provider can read; the operator must name this server in the request/], [{ resource: 'https://other.example.com' }, /a token for https:\/\/other\.example\.com, but this server accepts only tokens for https:\/\/atrium\.example\.com/]]) {
    const tab = await page.context().browser().newContext().then((context) => context.newPage());
    // The page gets the settings of a server that was started with other parameters.
    await tab.addInitScript((given) => new MutationObserver((_, observer) => {
      const block = document.getElementById('settings');
      if (!block?.textContent.includes('"parameters"')) return;
      observer.disconnect();
      const settings = JSON.parse(block.textContent);
      block.textContent = JSON.stringify({ ...settings, providers: settings.providers.map((one) => ({ ...one, parameters: given })) });
    }).observe(document, { childList: true, subtree: true }), parameters);
    await tab.goto(other + '/console');
    await tab.getByRole('button', { name: `Continue with ${host}` }).click();
    await tab.fill('[name=login]', 'alice');
    await tab.fill('[name=password]', 'any');
    await tab.click('[type=submit]');
    await tab.locator('[type=submit]').click(); // This click gives the consent.
    await tab.getByRole('alert').waitFor();
    assert.match(await tab.getByRole('alert').innerText(), says);
    await tab.context().close();
  }
}, 60);

await check('people choose among providers, also one that gives an ID token in place of a code, and a reload asks the same one again', async () => {
  const tab = watchPage(await page.context().browser().newContext().then((context) => context.newPage()));
  await tab.goto(other + '/console/other');
  assert.deepEqual(await tab.getByRole('button', { name: /^Continue/ }).allInnerTexts(), [`Continue with ${host}`, 'Continue with Google', 'Continue with honest', 'Continue with evil']);
  await tab.getByRole('button', { name: 'Continue with Google' }).click();
  await tab.waitForURL(other + '/console/other');
  await tab.locator('.shell').waitFor();
  await loaded(tab);
  const [asked] = google.asked;
  assert.deepEqual(['response_type', 'client_id', 'scope', 'prompt', 'code_challenge'].map((name) => asked.get(name)), ['id_token', 'google-client', 'openid profile email', 'select_account', null]);
  assert.ok(asked.get('nonce').length > 30 && asked.get('state').length > 30);
  await tab.reload();
  await tab.locator('.shell').waitFor();
  await loaded(tab);
  assert.deepEqual([google.asked.length, google.asked[1].get('prompt')], [2, 'none']);
  assert.equal(await tab.evaluate(() => location.hash), '');
  google.nonce = 'of-another-sign-in';
  await tab.reload();
  await tab.getByRole('alert').waitFor();
  assert.match(await tab.getByRole('alert').innerText(), /does not belong to this sign-in/);
  google.nonce = undefined;
  await tab.getByRole('button', { name: 'Continue with Google' }).click();
  await tab.locator('.shell').waitFor();
  assert.deepEqual(tab.faults, []);
  await tab.context().close();
}, 60);

await check('an answer of another provider than the one that was asked is refused, and its code is sent to nobody', async () => {
  const tab = await page.context().browser().newContext().then((context) => context.newPage());
  const redeemed = [];
  let named = {};
  tab.on('request', (request) => { if (request.url() === issuer + '/token') redeemed.push(request.postData()); });
  // A provider that works for an attacker would send a reader back like this, with a code that another provider has given.
  await tab.route((url) => url.href.startsWith(issuer + '/auth?'), (route) => {
    const asked = new URL(route.request().url()).searchParams, state = asked.get('state');
    return route.fulfill({ status: 302, headers: { Location: `${asked.get('redirect_uri')}?` + new URLSearchParams({ code: 'of-another', state, ...named }) } });
  });
  for (const answer of [{ iss: google.issuer }, { iss: '' }, {}]) { // The provider of this suite says that it always names itself.
    named = answer;
    await tab.goto(other + '/console');
    await tab.getByRole('button', { name: `Continue with ${host}` }).click();
    await tab.getByRole('alert').getByText('another provider has answered').waitFor();
  }
  assert.deepEqual(redeemed, []);
  named = { iss: issuer };
  await tab.getByRole('button', { name: `Continue with ${host}` }).click();
  await tab.getByRole('alert').getByText(/grant request is invalid/).waitFor(); // Only this code came to the provider.
  assert.equal(redeemed.length, 1);
  await tab.close();
}, 60);

await check('a provider that sends readers on to another one gets neither its code nor the verifier', async () => {
  const tab = await page.context().browser().newContext().then((context) => context.newPage());
  const choose = async (name) => {
    await tab.goto(other + '/console');
    await tab.getByRole('button', { name: `Continue with ${name}` }).click();
  };
  await choose('honest');
  await tab.getByRole('alert').getByText('nobody is here').waitFor();
  assert.equal(honest.registered, `${other}/console/~signed-in/${honest.host}`);
  await choose('evil'); // The console's own redirect URI for the evil provider is not registered at the honest one.
  await tab.getByText('the redirect URI is not registered').waitFor();
  evil.redirectURI = honest.registered;
  await choose('evil');
  await tab.getByRole('alert').getByText('another provider has answered').waitFor();
  assert.deepEqual([evil.log, honest.log], [['/auth', '/auth'], ['/auth', '/token', '/auth', '/auth']]);
  await tab.close();
}, 60);

await check('a provider whose discovery document is that of another one is not asked', async () => {
  const tab = await page.context().browser().newContext().then((context) => context.newPage());
  const before = evil.log.length;
  for (const says of [honest.issuer, evil.issuer + '/', undefined]) {
    evil.says = says;
    await tab.goto(other + '/console');
    await tab.getByRole('button', { name: 'Continue with evil' }).click();
    await tab.getByText('the operator must configure exactly this issuer').waitFor();
  }
  evil.says = evil.issuer;
  assert.equal(evil.log.length, before);
  await tab.close();
}, 60);

await check('the link of a demonstration signs one browser of another machine in, once, on every page and after a reload', async () => {
  const server = start(program, ['demo', '--addr', '127.0.0.1:0', '--metrics-addr=', '--database-url', `sqlite:${join(temporaryFolder(), 'demo.db')}`]);
  const [, at, hash] = await eventually(() => server.said.match(/Sign in +http:\/\/127\.0\.0\.1(:\d+)\/console(#demonstration=\S+)/), () => server.said);
  const there = `http://demo.example.com${at}`, context = await newContext(), page = await context.newPage();
  await page.goto(there + '/console');
  await page.getByLabel('Bearer token').waitFor(); // Without the link, it is nobody.
  await page.goto(there + '/console' + hash);
  for (const again of [false, true]) {
    if (again) await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.waitForURL(there + '/console/acme'); // The console goes on to the organization, and the code is gone.
  }
  await page.goto(there + '/playground/small');
  assert.match(await page.evaluate(() => JSON.parse(document.getElementById('settings').textContent).token), /^[\w-]+\.[\w-]+\.[\w-]+$/);
  const other = await (await newContext()).newPage();
  await other.goto(there + '/console' + hash);
  await other.getByText('This link was already used').waitFor();
  await other.getByLabel('Bearer token').waitFor();
  await Promise.all([context, other.context()].map((one) => one.close()));
});

await check('who signs out also ends the session at the provider', async () => {
  const tab = await page.context().browser().newContext().then((context) => context.newPage());
  await tab.goto(other + '/console');
  await tab.getByRole('button', { name: `Continue with ${host}` }).click();
  await tab.fill('[name=login]', 'alice');
  await tab.fill('[name=password]', 'any');
  await tab.click('[type=submit]');
  await tab.locator('[type=submit]').click();
  await tab.locator('.shell').waitFor();
  const ending = tab.waitForRequest((request) => request.url().startsWith(issuer + '/session/end?'));
  await tab.getByRole('button', { name: 'Sign out' }).click();
  const asked = new URL((await ending).url()).searchParams;
  assert.deepEqual([asked.get('client_id'), asked.get('post_logout_redirect_uri')], ['console', other + '/console']);
  assert.match(asked.get('id_token_hint'), /^[\w-]+\.[\w-]+\.[\w-]+$/);
  await tab.getByRole('button', { name: /sign me out/i }).click();
  await tab.waitForURL(other + '/console');
  await tab.getByRole('button', { name: `Continue with ${host}` }).click();
  await tab.locator('[name=login]').waitFor(); // The provider no longer knows the reader.
  await tab.close();
}, 60);

await browser.close();
finish();
