// This suite takes the steps from the text of docs/sign-in.md. It runs a real OpenID provider, two people who sign in with the flow
// for browsers and PKCE, and a separate server that accepts their tokens.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, finish, freePort, run, start, temporaryFolder, until } from '../lib.mjs';

const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const page = readFileSync(join(import.meta.dirname, '../../docs/sign-in.md'), 'utf8');
const block = (kind) => page.match(new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\`$`, 'ms'))?.[1] ?? assert.fail(`the page has no block ${kind}`);

const host = `127.0.0.1:${await freePort()}`, issuer = `http://${host}`, audience = 'https://atrium.example.com';
const ours = (text) => text.replaceAll('127.0.0.1:3010', host);
const database = `sqlite:${join(temporaryFolder(), 'atrium.db')}`;

// The module is resolved from the folder of the file.
const module = join(import.meta.dirname, `../bin/provider-${process.pid}.mjs`);
process.on('exit', () => rmSync(module, { force: true }));

let organization, site;
await check('the command of the page creates the owner', async () => {
  const command = ours(block('sh sign-in')).trim().split(' ');
  assert.equal(command.shift(), 'atrium');
  const { code, text } = await run(program, [...command, '--database-url', database]);
  assert.equal(code, 0, text);
  organization = text.match(/[0-9a-f]{40}/)[0];
});

await check('the provider of the page and the server start', async () => {
  mkdirSync(join(module, '..'), { recursive: true });
  writeFileSync(module, block('js provider'));
  const provider = start(process.execPath, [module], { ISSUER: issuer, ORGANIZATION: organization });
  await until(() => fetch(`${issuer}/.well-known/openid-configuration`).then((r) => r.ok, () => false), provider);
  const server = start(program, ['serve', '--audience', audience, '--private-issuer', host, '--addr', '127.0.0.1:0', '--metrics-addr=', '--log-format', 'json', '--database-url', database]);
  site = (await until(() => server.said.match(/"msg":"serving","url":"([^"]+)"/), server))[1];
});

/** Signs a person in, as a browser does, and returns the access token. */
async function signIn(login) {
  const verifier = randomBytes(32).toString('base64url'), callback = 'http://127.0.0.1:3011/callback', jar = new Map();
  const request = async (url, form) => {
    const response = await fetch(new URL(url, issuer), {
      method: form ? 'POST' : 'GET', body: form && new URLSearchParams(form), redirect: 'manual',
      headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
    });
    for (const cookie of response.headers.getSetCookie()) jar.set(...cookie.split(';')[0].split(/=(.*)/s));
    return response;
  };
  let response = await request('/auth?' + new URLSearchParams({
    client_id: 'console', response_type: 'code', scope: 'openid', redirect_uri: callback, resource: audience,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256',
  }));
  for (let step = 0; step < 10; step++) {
    const to = response.headers.get('location');
    if (to?.startsWith(callback)) {
      const code = new URL(to).searchParams.get('code') ?? assert.fail(to);
      const answer = await (await request('/token', { grant_type: 'authorization_code', code, client_id: 'console', redirect_uri: callback, code_verifier: verifier, resource: audience })).json();
      return answer.access_token ?? assert.fail(JSON.stringify(answer));
    }
    if (to) {
      response = await request(to);
      continue;
    }
    const html = await response.text(), action = html.match(/<form[^>]*action="([^"]+)"/)?.[1] ?? assert.fail(html);
    const prompt = html.match(/name="prompt" value="(\w+)"/)[1];
    response = await request(action, prompt === 'login' ? { prompt, login, password: 'any' } : { prompt });
  }
  assert.fail('the provider has more forms than ten');
}

async function ask(token, query, variables, operationName) {
  const response = await fetch(`${site}/graphql`, { method: 'POST', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ query, variables, operationName }) });
  return response.json();
}
async function data(...args) {
  const answer = await ask(...args);
  assert.ok(answer.data && !answer.errors, JSON.stringify(answer));
  return answer.data;
}

const alice = await signIn('alice').catch((problem) => problem), bob = await signIn('bob').catch((problem) => problem);
await check('alice signs in and is the owner', async () => {
  assert.equal(typeof alice, 'string', alice.message);
  const { groups } = await data(alice, '{ groups(first: 1) { nodes { uid viewerCan(capabilities: [IDENTITY_PROVIDERS_CREATE]) } } }');
  assert.equal(groups.nodes[0].uid, organization);
});
const readsRepos = () => ask(bob, '{ repos(first: 1) { totalCount } }');
await check('bob signs in, and Atrium does not know him', async () => {
  assert.equal(typeof bob, 'string', bob.message);
  const { data: found, errors } = await readsRepos();
  assert.ok(errors?.length > 0 || found.repos.totalCount === 0, JSON.stringify(found));
  const { errors: [refused] } = await ask(bob, 'mutation M($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', { i: { parent: organization, name: 'of-bob' } });
  assert.match(refused.extensions.code, /PERMISSION_DENIED|UNAUTHENTICATED|NOT_FOUND/);
});
await check('alice admits people with the operations of the page, after the provider was verified', async () => {
  const text = ours(block('graphql sign-in'));
  const { roles } = await data(alice, '{ roles(first: 100) { nodes { uid name } } }');
  const role = (name) => roles.nodes.find((node) => node.name === name)?.uid ?? assert.fail(JSON.stringify(roles));
  const { createIdentityProvider: { identityProvider: { uid: provider } } } = await data(alice, text, { organization, viewer: role('viewer') }, 'LetIn');
  await data(alice, text, { provider, editor: role('editor') }, 'Map');
  const { verifyIdentityProvider: { identityProvider } } = await data(alice, text, { provider }, 'Prove');
  assert.equal(identityProvider.issuerVerified, true);
});
await check('bob signs in, and is an editor because he is a developer', async () => {
  await data(bob, 'mutation M($i: CreateRepoInput!) { createRepo(input: $i) { repo { uid } } }', { i: { parent: organization, name: 'of-bob' } });
  const { repos } = (await readsRepos()).data;
  assert.equal(repos.totalCount, 1);
  const { errors: [refused] } = await ask(bob, 'mutation D($i: DeleteGroupInput!) { deleteGroup(input: $i) { __typename } }', { i: { uid: organization } });
  assert.ok(refused, 'bob may delete the organization');
});
await check('a token of another issuer with the same name is rejected', async () => {
  const [header, payload, signature] = bob.split('.');
  const forged = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(payload, 'base64url')), sub: 'alice' })).toString('base64url');
  const response = await fetch(`${site}/registry/v2/repos`, { headers: { Authorization: `Bearer ${header}.${forged}.${signature}` } });
  assert.equal(response.status, 401);
});

finish();
