// This suite takes the steps from the text of docs/from-ci.md. Two simulated issuers give jobs their ID tokens, as GitHub Actions and GitLab do,
// and the jobs hand in SBOMs and decisions at a separate server, up to the first finding.

import assert from 'node:assert/strict';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { delimiter, join } from 'node:path';
import { check, finish, run, start, temporaryFolder, until } from '../lib.mjs';

const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const page = readFileSync(join(import.meta.dirname, '../../docs/from-ci.md'), 'utf8');
const block = (kind) => page.match(new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\`$`, 'ms'))?.[1] ?? assert.fail(`the page has no block ${kind}`);

/** Starts an issuer, which signs tokens and gives them to jobs as GitHub does. */
async function issuer() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const self = { subject: '' };
  self.mint = (sub, aud) => {
    const now = Math.floor(Date.now() / 1000);
    const text = part({ alg: 'RS256', kid: '1', typ: 'JWT' }) + '.' + part({ iss: self.url, sub, aud, iat: now, exp: now + 600 });
    return text + '.' + createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url');
  };
  const server = http.createServer((request, response) => {
    const url = new URL(request.url, self.url);
    const answers = {
      '/.well-known/openid-configuration': () => ({ issuer: self.url, jwks_uri: self.url + '/jwks', id_token_signing_alg_values_supported: ['RS256'], response_types_supported: ['id_token'], subject_types_supported: ['public'] }),
      '/jwks': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' }] }),
      '/token': () => request.headers.authorization === 'Bearer of-the-runner' ? { value: self.mint(self.subject, url.searchParams.get('audience')) } : undefined,
    };
    const answer = answers[url.pathname]?.();
    response.writeHead(answer ? 200 : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer ?? {}));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  self.host = `127.0.0.1:${server.address().port}`;
  self.url = 'http://' + self.host;
  return self;
}

const freePort = () => new Promise((done) => {
  const probe = net.createServer().listen(0, '127.0.0.1', () => { const { port } = probe.address(); probe.close(() => done(port)); });
});

const folder = temporaryFolder(), database = `sqlite:${join(folder, 'atrium.db')}`;
const [github, gitlab, own] = [await issuer(), await issuer(), await issuer()];
const address = `127.0.0.1:${await freePort()}`, site = 'http://' + address;
const ours = (text) => text.replaceAll('https://token.actions.githubusercontent.com', github.url).replaceAll('https://gitlab.com', gitlab.url).replaceAll('https://atrium.example.com', site);
mkdirSync(join(folder, 'bin'));
symlinkSync(program, join(folder, 'bin/atrium'));
const bash = (script, env = {}) => run('bash', ['-euo', 'pipefail', '-c', script], { PATH: join(folder, 'bin') + delimiter + process.env.PATH, ...env }, folder);

/** Returns the lines of the script of a job: what follows "run: |" or "script:". */
const scriptOf = (yaml) => ours(yaml).split(/^ *(?:run: \||script:)\n/m)[1].replace(/^ *- /gm, '').replace(/^ {10}/gm, '');

const digest = (n) => 'sha256:' + String(n).padStart(64, '0');
const component = (name, version) => ({ type: 'library', name, version, purl: `pkg:npm/${name}@${version}` });
writeFileSync(join(folder, 'sbom.json'), JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', metadata: { component: { type: 'container', name: 'checkout' } }, components: [component('left-pad', '1.3.0'), component('other', '2.0.0')] }));
writeFileSync(join(folder, 'advisory.json'), JSON.stringify({ id: 'CVE-2026-12345', modified: '2026-03-27T13:55:00Z', severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }], affected: [{ package: { ecosystem: 'npm', name: 'left-pad' }, ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.3.1' }] }] }] }));
writeFileSync(join(folder, 'decisions.openvex.json'), JSON.stringify({ '@context': 'https://openvex.dev/ns/v0.2.0', '@id': 'https://example.com/vex/1', author: 'acme', timestamp: '2026-03-27T13:55:00Z', version: 1, statements: [{ vulnerability: { name: 'CVE-2026-12345' }, products: [{ '@id': 'pkg:npm/left-pad@1.3.0' }], status: 'not_affected', justification: 'vulnerable_code_not_in_execute_path' }] }));

let organisation, owner, shop;
await check('a server trusts the issuers of the jobs', async () => {
  const { code, text } = await run(program, ['admin', 'bootstrap', '--org', 'acme', '--issuer', own.url, '--subject', 'alice', '--database-url', database]);
  assert.equal(code, 0, text);
  organisation = text.match(/[0-9a-f]{40}/)[0];
  const server = start(program, ['serve', '--audience', site, '--addr', address, '--metrics-addr=', '--log-format', 'json', '--database-url', database,
    ...[github, gitlab, own].flatMap(({ host }) => ['--private-issuer', host]),
    '--shared-issuer', `${github.url}=repo:[^/:]+/`, '--shared-issuer', `${gitlab.url}=project_path:[^/:]+/`]);
  await until(() => server.said.includes('"msg":"serving"'), server);
  owner = own.mint('alice', site);
  const made = await fetch(`${site}/iam/v2/groups/${organisation}`, { method: 'POST', headers: { Authorization: 'Bearer ' + owner }, body: '{"name": "shop"}' });
  assert.equal(made.status, 200, await made.clone().text());
  shop = (await made.json()).uid;
  const fed = await bash('atrium import osv --group "$ORGANISATION" advisory.json', { ORGANISATION: organisation, ATRIUM_URL: site, ATRIUM_TOKEN: owner });
  assert.equal(fed.code, 0, fed.text);
});

await check('the owner lets the pipelines in with the commands of the page', async () => {
  const { code, text } = await bash(ours(block('sh from-ci')), { token: owner });
  assert.equal(code, 0, text);
  assert.ok(text.includes(`The group of the pipelines is ${shop}`), text);
});

const job = { ATRIUM: site, SHOP: shop, ACTIONS_ID_TOKEN_REQUEST_URL: github.url + '/token?api-version=2', ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner' };
await check('a job of GitHub Actions hands in its SBOM, and learns of a finding', async () => {
  github.subject = 'repo:acme/checkout:ref:refs/heads/main';
  const { code, text, out } = await bash(scriptOf(block('yaml from-ci-github')), { ...job, IMAGE: `checkout:main@${digest(1)}` });
  assert.equal(code, 0, text);
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
  assert.equal(report.images[0].findings.opened, 1, text);
  assert.match(out, /"opened": 1/);
});

await check('a job of another repository is refused, and stores nothing', async () => {
  github.subject = 'repo:mallory/checkout:ref:refs/heads/main';
  const { code, text } = await bash(scriptOf(block('yaml from-ci-github')), { ...job, IMAGE: `checkout:main@${digest(9)}` });
  assert.notEqual(code, 0, text);
  assert.match(text, /403|PERMISSION_DENIED|IDENTITY_NOT_FOUND/);
});

const pipeline = gitlab.mint('project_path:acme/payments:ref_type:branch:ref:main', site);
await check('a job of GitLab hands in its SBOM with the program', async () => {
  const { code, text } = await bash(scriptOf(block('yaml from-ci-gitlab')), { ATRIUM_URL: site, ATRIUM_TOKEN: pipeline, SHOP: shop, CI_COMMIT_TAG: '1.4', DIGEST: digest(2) });
  assert.equal(code, 0, text);
  assert.match(text, /2 packages; 1 findings opened, 0 resolved; 1 open/);
});

await check('a gate ends the build, and names the finding and the fix', async () => {
  const gate = () => bash(ours(block('sh from-ci-gate')), { token: pipeline, SHOP: shop });
  const failed = await gate();
  assert.notEqual(failed.code, 0, failed.text);
  assert.match(failed.text, /CVE-2026-12345 in left-pad 1\.3\.0, fixed in 1\.3\.1/);
  const ended = await bash('atrium check --group "$SHOP" --fail-on critical --sbom sbom.json', { ATRIUM_URL: site, ATRIUM_TOKEN: pipeline, SHOP: shop });
  assert.equal(ended.code, 1, ended.text);
  assert.match(ended.text, /upgrade left-pad 1\.3\.0 to 1\.3\.1/);
  const unknown = await bash('atrium check --group "$SHOP" checkout:none', { ATRIUM_URL: site, ATRIUM_TOKEN: pipeline, SHOP: shop });
  assert.equal(unknown.code, 3, unknown.text);
});

await check('the pipeline reads the findings, and hands in a decision', async () => {
  const read = () => bash(ours(block('sh from-ci-findings')), { token: pipeline, SHOP: shop });
  assert.equal((await read()).code, 0);
  assert.equal(readFileSync(join(folder, 'findings.csv'), 'utf8').match(/CVE-2026-12345/g)?.length >= 2, true);
  const decided = await bash(ours(block('sh from-ci-vex')), { token: pipeline, SHOP: shop });
  assert.equal(decided.code, 0, decided.text);
  await read();
  assert.doesNotMatch(readFileSync(join(folder, 'findings.csv'), 'utf8'), /,OPEN,/);
});

await check('the pipeline reaches nothing beside its group', async () => {
  const refused = await fetch(`${site}/import/sbom?group=${organisation}`, { method: 'POST', headers: { Authorization: 'Bearer ' + pipeline }, body: '{}' });
  assert.equal(refused.status, 403);
  assert.match(await refused.text(), /sboms\.import/);
});

finish();
