// This suite signs people in with the built program: `atrium login` with a headless browser at oidc-provider, with a code in a browser
// elsewhere (--device), and at a second provider that imitates those with opaque access tokens.

import assert from 'node:assert/strict';
import { createSign, createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { browser, newContext } from '../browser.mjs';
import { check, finish, freePort, run, start, temporaryFolder, until } from '../lib.mjs';

const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const block = readFileSync(join(import.meta.dirname, '../../docs/sign-in.md'), 'utf8').match(/^```js provider\n(.*?)^```$/ms)[1];
const host = `127.0.0.1:${await freePort()}`, issuer = `http://${host}`, audience = 'https://atrium.example.com';
const database = `sqlite:${join(temporaryFolder(), 'atrium.db')}`, home = join(temporaryFolder(), 'config');
const module = join(import.meta.dirname, `../bin/login-provider-${process.pid}.mjs`);
process.on('exit', () => rmSync(module, { force: true }));
const env = { XDG_CONFIG_HOME: home, ATRIUM_URL: '', ATRIUM_TOKEN: '', ACTIONS_ID_TOKEN_REQUEST_URL: '', DISPLAY: '', WAYLAND_DISPLAY: '' };
const atrium = (...args) => run(program, args, env);

/** Imitates a provider whose access tokens only it can read, so that the ID token is sent. */
const opaque = { codes: new Map(), revoked: [] };
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const site2 = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, opaque.issuer);
  const answer = (value, status = 200) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
  if (pathname === '/.well-known/openid-configuration') return answer({ issuer: opaque.issuer, authorization_endpoint: `${opaque.issuer}/auth`, token_endpoint: `${opaque.issuer}/token`, revocation_endpoint: `${opaque.issuer}/revoke`, jwks_uri: `${opaque.issuer}/certs` });
  if (pathname === '/certs') return answer({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'o', alg: 'RS256', use: 'sig' }] });
  if (pathname === '/auth') {
    const code = randomBytes(16).toString('hex'), back = new URL(searchParams.get('redirect_uri'));
    opaque.codes.set(code, searchParams);
    back.search = new URLSearchParams({ code, state: searchParams.get('state') });
    return response.writeHead(302, { Location: back.href }).end();
  }
  let body = '';
  for await (const chunk of request) body += chunk;
  const form = new URLSearchParams(body);
  if (pathname === '/revoke') return opaque.revoked.push(form.get('token')) && answer({});
  const asked = opaque.codes.get(form.get('code'));
  if (form.get('grant_type') === 'refresh_token') {
    if (form.get('refresh_token') !== 'renew-carol') return answer({ error: 'invalid_grant' }, 400);
  } else if (!asked || asked.get('code_challenge') !== createHash('sha256').update(form.get('code_verifier')).digest('base64url')) return answer({ error: 'invalid_grant' }, 400);
  const now = Math.floor(Date.now() / 1000);
  const signed = `${encoded({ alg: 'RS256', kid: 'o' })}.${encoded({ iss: opaque.issuer, aud: 'program', sub: 'carol', iat: now, exp: now + opaque.life, ...(asked && { nonce: asked.get('nonce') }) })}`;
  return answer({ access_token: 'opaque', token_type: 'Bearer', expires_in: opaque.life, refresh_token: 'renew-carol', id_token: `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}` });
});
await new Promise((listening) => site2.listen(0, '127.0.0.1', listening));
opaque.host = `127.0.0.1:${site2.address().port}`;
opaque.issuer = `http://${opaque.host}`;

let url, organization;
await check('the server says how people sign in', async () => {
  const made = await run(program, ['admin', 'bootstrap', '--org', 'acme', '--issuer', issuer, '--subject', 'alice', '--database-url', database]);
  assert.equal(made.code, 0, made.text);
  organization = made.text.match(/[0-9a-f]{40}/)[0];
  mkdirSync(join(module, '..'), { recursive: true });
  writeFileSync(module, block);
  const provider = start(process.execPath, [module], { ISSUER: issuer, ORGANIZATION: organization });
  await until(() => fetch(`${issuer}/.well-known/openid-configuration`).then((r) => r.ok, () => false), provider);
  const server = start(program, ['serve', '--audience', audience, '--audience', 'program', '--private-issuer', host, '--private-issuer', opaque.host, '--trust-issuer', opaque.issuer,
    '--console-issuer', issuer, '--console-client-id', 'console', '--login-client-id', 'program',
    '--console-provider', JSON.stringify({ name: 'Opaque', issuer: opaque.issuer, clientId: 'program' }),
    '--addr', '127.0.0.1:0', '--metrics-addr=', '--log-format', 'json', '--database-url', database]);
  url = (await until(() => server.said.match(/"msg":"serving","url":"([^"]+)"/), server))[1];
  const said = await (await fetch(`${url}/.well-known/oauth-protected-resource`)).json();
  assert.deepEqual(said.sign_in_providers.map((one) => [one.issuer, one.client_id]), [[issuer, 'program'], [opaque.issuer, 'program']]);
});

/** Answers the forms of oidc-provider as a person, until the page that ends the sign-in. */
async function answerForms(page, login, ends) {
  for (let step = 0; step < 8; step++) {
    const text = await page.locator('body').innerText();
    if (ends.test(text)) return text;
    if (await page.locator('input[name=login]').count()) {
      await page.locator('input[name=login]').fill(login);
      await page.locator('input[name=password]').fill('any');
    }
    await Promise.all([page.waitForNavigation(), page.locator('button[type=submit], button:not([type])').first().click()]);
  }
  return assert.fail(await page.locator('body').innerText());
}
const pageOf = (child) => until(() => child.said.match(/^(https?:\/\/\S+)$/m)?.[1], child);
const ended = (child) => new Promise((done) => { if (child.exitCode !== null) done(child.exitCode); else child.on('close', done); });

await check('several providers need a name', async () => {
  const { code, text } = await atrium('login', url);
  assert.equal(code, 1);
  assert.match(text, new RegExp(`choose one with --provider: ${host}, Opaque`));
});
await check('alice signs in with a browser', async () => {
  const login = start(program, ['login', url, '--provider', host, '--context', 'work'], env);
  const context = await newContext(), page = await context.newPage();
  await page.goto(await pageOf(login));
  await answerForms(page, 'alice', /You are signed in/);
  assert.equal(await ended(login), 0, login.said);
  assert.match(login.said, /Signed in to http:\S+ as /);
  assert.doesNotMatch(login.said, /eyJ|state=/);
  await context.close();
}, 60);
await check('commands need neither a URL nor a token', async () => {
  const who = await atrium('whoami');
  assert.equal(who.code, 0, who.text);
  assert.match(who.out, /subject +alice\n/);
  assert.match(who.out, new RegExp(`role +owner on acme \\(${organization}\\)`));
  const asked = await atrium('query', '{ groups(first: 1) { nodes { name } } }');
  assert.equal(asked.code, 0, asked.text);
  assert.match(asked.out, /"acme"/);
});
await check('only the owner can read the token, and a refresh gives a new one', async () => {
  const folder = join(home, 'atrium/contexts'), file = join(folder, 'work.json');
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const stored = JSON.parse(readFileSync(file, 'utf8'));
  assert.ok(stored.refreshToken, 'there is no refresh token');
  writeFileSync(file, JSON.stringify({ ...stored, expires: new Date(Date.now() - 1000) }));
  const both = await Promise.all([atrium('whoami'), atrium('whoami'), atrium('whoami')]);
  assert.deepEqual(both.map(({ code }) => code), [0, 0, 0], both.map(({ text }) => text).join('\n'));
  const renewed = JSON.parse(readFileSync(file, 'utf8'));
  assert.notEqual(renewed.token, stored.token);
});
await check('alice signs in with a browser elsewhere', async () => {
  const login = start(program, ['login', url, '--provider', host, '--context', 'device', '--device'], env);
  const [, where, code] = await until(() => login.said.match(/Open (\S+) in any browser, and enter the code (\S+)/), login);
  const context = await newContext(), page = await context.newPage();
  await page.goto(where);
  await page.locator('input[name=user_code]').fill(code);
  await Promise.all([page.waitForNavigation(), page.locator('button[type=submit]').first().click()]);
  await answerForms(page, 'alice', /signed in|sign-in success/i);
  assert.equal(await ended(login), 0, login.said);
  assert.match((await atrium('whoami')).out, /context +device\n/);
  await context.close();
}, 60);
await check('a person who refuses is not signed in', async () => {
  const login = start(program, ['login', url, '--provider', host, '--context', 'refused'], env);
  const context = await newContext(), page = await context.newPage();
  await page.goto(await pageOf(login));
  await page.getByRole('link', { name: /cancel/i }).click();
  await page.getByText('The sign-in has failed').waitFor();
  assert.equal(await ended(login), 1, login.said);
  assert.match(login.said, /access_denied/);
  await context.close();
}, 60);
await check('carol signs in at a provider with opaque access tokens, and is not known', async () => {
  opaque.life = 3600;
  const login = start(program, ['login', url, '--provider', 'opaque', '--context', 'carol'], env);
  const context = await newContext(), page = await context.newPage();
  await page.goto(await pageOf(login));
  await page.getByText('You are signed in').waitFor();
  await context.close();
  assert.equal(await ended(login), 0, login.said);
  assert.match((await atrium('whoami')).out, /subject +carol\n/);
});
await check('a sign-out revokes and forgets', async () => {
  assert.equal((await atrium('logout', '--context', 'carol')).code, 0);
  assert.deepEqual(opaque.revoked, ['renew-carol']);
  const out = await atrium('logout', '--context', 'work');
  assert.equal(out.code, 0, out.text);
  const listed = await atrium('context', 'list');
  assert.match(listed.out, /device/);
  assert.doesNotMatch(listed.out, /work|carol|refused/);
  assert.equal((await atrium('context', 'use', 'device')).code, 0);
  assert.match((await atrium('whoami')).out, /subject +alice\n/);
  assert.deepEqual(readdirSync(join(home, 'atrium/contexts')).filter((name) => name.endsWith('.json')), ['device.json']);
});

await browser.close();
site2.close();
finish();
