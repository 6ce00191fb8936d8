// This suite takes the steps from the text of docs/from-ci.md. Two simulated issuers give jobs their ID tokens, as GitHub Actions and GitLab do,
// and the jobs hand in SBOMs and decisions at a separate server, up to the first finding. They also run the steps of the action and of the component
// of the folder ci.

import assert from 'node:assert/strict';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { check, finish, freePort, run, start, temporaryFolder, until } from '../lib.mjs';
import { runAction, runComponent } from '../pipeline.mjs';

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

const folder = temporaryFolder(), database = `sqlite:${join(folder, 'atrium.db')}`;
const [github, gitlab, own] = [await issuer(), await issuer(), await issuer()];
const address = `127.0.0.1:${await freePort()}`, site = 'http://' + address;
const ours = (text) => text.replaceAll('https://token.actions.githubusercontent.com', github.url).replaceAll('https://gitlab.com', gitlab.url).replaceAll('https://atrium.example.com', site);
mkdirSync(join(folder, 'bin'));
symlinkSync(program, join(folder, 'bin/atrium'));
const bash = (script, env = {}) => run('bash', ['-euo', 'pipefail', '-c', script], { PATH: join(folder, 'bin') + delimiter + process.env.PATH, ...env }, folder);

const digest = (n) => 'sha256:' + String(n).padStart(64, '0');
const component = (name, version) => ({ type: 'library', name, version, purl: `pkg:npm/${name}@${version}` });
writeFileSync(join(folder, 'sbom.json'), JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', metadata: { component: { type: 'container', name: 'checkout' } }, components: [component('left-pad', '1.3.0'), component('other', '2.0.0')] }));
writeFileSync(join(folder, 'advisory.json'), JSON.stringify({ id: 'CVE-2026-12345', modified: '2026-03-27T13:55:00Z', severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }], affected: [{ package: { ecosystem: 'npm', name: 'left-pad' }, ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.3.1' }] }] }] }));
writeFileSync(join(folder, 'decisions.openvex.json'), JSON.stringify({ '@context': 'https://openvex.dev/ns/v0.2.0', '@id': 'https://example.com/vex/1', author: 'acme', timestamp: '2026-03-27T13:55:00Z', version: 1, statements: [{ vulnerability: { name: 'CVE-2026-12345' }, products: [{ '@id': 'pkg:npm/left-pad@1.3.0' }], status: 'not_affected', justification: 'vulnerable_code_not_in_execute_path' }] }));

let organization, owner, shop;
await check('a server trusts the issuers of the jobs', async () => {
  const { code, text } = await run(program, ['admin', 'bootstrap', '--org', 'acme', '--issuer', own.url, '--subject', 'alice', '--database-url', database]);
  assert.equal(code, 0, text);
  organization = text.match(/[0-9a-f]{40}/)[0];
  const server = start(program, ['serve', '--audience', site, '--addr', address, '--metrics-addr=', '--log-format', 'json', '--database-url', database,
    ...[github, gitlab, own].flatMap(({ host }) => ['--private-issuer', host]),
    '--shared-issuer', `${github.url}=repo:[^/:]+/`, '--shared-issuer', `${gitlab.url}=project_path:[^/:]+/`]);
  await until(() => server.said.includes('"msg":"serving"'), server);
  owner = own.mint('alice', site);
  const made = await fetch(`${site}/iam/v2/groups/${organization}`, { method: 'POST', headers: { Authorization: 'Bearer ' + owner }, body: '{"name": "shop"}' });
  assert.equal(made.status, 200, await made.clone().text());
  shop = (await made.json()).uid;
  const fed = await bash('atrium import osv --group "$ORGANIZATION" advisory.json', { ORGANIZATION: organization, ATRIUM_URL: site, ATRIUM_TOKEN: owner });
  assert.equal(fed.code, 0, fed.text);
});

await check('the owner lets the pipelines in with the commands of the page', async () => {
  const { code, text } = await bash(ours(block('sh from-ci')), { ATRIUM_URL: site, ATRIUM_TOKEN: owner });
  assert.equal(code, 0, text);
  assert.ok(text.includes(`The group of the pipelines is ${shop}`), text);
});

const actionText = readFileSync(join(import.meta.dirname, '../../ci/github/action.yml'), 'utf8');
const componentText = readFileSync(join(import.meta.dirname, '../../ci/gitlab/templates/check.yml'), 'utf8');
const job = { ATRIUM_TOKEN: '', SHOP: shop, ACTIONS_ID_TOKEN_REQUEST_URL: github.url + '/token?api-version=2', ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner' };
const mint = (audience) => gitlab.mint('project_path:acme/payments:ref_type:branch:ref:main', audience), pipeline = mint(site);
const inGitHub = (given, text = actionText) => runAction(text, { url: site, group: shop, binary: program, ...given }, job, folder);
const inGitLab = (given, env = {}) => runComponent(componentText, { url: site, group: shop, binary: program, ...given }, mint, { ATRIUM_TOKEN: '', SHOP: shop, ...env }, folder);

/** Returns the inputs that the workflow of the page gives to the action, for an image. */
const inputsOfPage = (image) => {
  const { uses, with: given } = parse(ours(block('yaml from-ci-github'))).jobs.image.steps.at(-1);
  assert.match(uses, /\/ci\/github@v\d/);
  return Object.fromEntries(Object.entries({ ...given, image, group: shop }).map(([name, value]) => [name, String(value)]));
};

await check('a job of GitHub Actions stores its SBOM, and its build ends with the finding and the fix', async () => {
  github.subject = 'repo:acme/checkout:ref:refs/heads/main';
  const failed = await inGitHub(inputsOfPage(`checkout:main@${digest(1)}`));
  assert.equal(failed.code, 1, failed.text);
  assert.match(failed.text, /2 packages; 1 findings opened/);
  assert.match(failed.text, /^::error title=CVE-2026-12345 in left-pad::.* left-pad 1\.3\.0, fixed in 1\.3\.1$/m);
  assert.match(failed.summary, /upgrade left-pad 1\.3\.0 to 1\.3\.1/);
  assert.equal(failed.outputs.verdict, 'failed');
  assert.equal(JSON.parse(readFileSync(failed.used['github/codeql-action/upload-sarif'].sarif_file, 'utf8')).runs[0].results.length, 1);
  assert.match(readFileSync(failed.used['actions/upload-artifact'].path.split('\n')[1], 'utf8'), /failures="1"/);
  const passed = await inGitHub({ image: `checkout@${digest(1)}`, 'new-since': 'main', 'upload-reports': 'false' });
  assert.deepEqual([passed.code, passed.outputs.verdict, passed.used], [0, 'passed', {}], passed.text);
  const unknown = await inGitHub({ image: 'checkout:none' });
  assert.deepEqual([unknown.code, unknown.outputs.verdict], [3, 'undecided'], unknown.text);
});

await check('a job of another repository is refused, and stores nothing', async () => {
  github.subject = 'repo:mallory/checkout:ref:refs/heads/main';
  const { code, text } = await inGitHub(inputsOfPage(`checkout:main@${digest(9)}`));
  assert.notEqual(code, 0, text);
  assert.match(text, /403|PERMISSION_DENIED|IDENTITY_NOT_FOUND|no identity/i);
  github.subject = 'repo:acme/checkout:ref:refs/heads/main';
});

await check('the action decides about an SBOM, and stores nothing', async () => {
  const failed = await inGitHub({ image: 'unborn', sbom: 'sbom.json' });
  assert.equal(failed.code, 1, failed.text);
  assert.doesNotMatch(failed.text, /findings opened/);
  assert.equal((await inGitHub({ image: 'unborn:1', wait: '0s' })).code, 3);
});

await check('a job of GitLab does the same', async () => {
  const [{ remote, inputs }] = parse(ours(block('yaml from-ci-gitlab'))).include;
  assert.match(remote, /\/ci\/gitlab\/templates\/check\.yml$/);
  const failed = await inGitLab(inputs, { CI_COMMIT_TAG: '1.4', DIGEST: digest(2) });
  assert.equal(failed.code, 1, failed.text);
  assert.match(failed.text, /2 packages; 1 findings opened[^]*CVE-2026-12345 +critical +left-pad +1\.3\.0 +fixed in 1\.3\.1[^]*upgrade left-pad 1\.3\.0 to 1\.3\.1/);
  for (const path of failed.job.artifacts.paths) assert.ok(existsSync(join(folder, path)), path);
  assert.match(readFileSync(join(folder, failed.job.artifacts.reports.junit), 'utf8'), /failures="1"/);
  const passed = await inGitLab({ image: `payments@${digest(2)}`, 'new-since': '1.4' });
  assert.equal(passed.code, 0, passed.text);
});

await check('a failed build says what the page says', async () => {
  const { code, text } = await bash(block('sh from-ci-gate'), { ATRIUM_URL: site, ATRIUM_TOKEN: pipeline, SHOP: shop });
  assert.equal(code, 1, text);
  assert.equal(text.replace(/ +$/gm, ''), block('text from-ci-failed'));
});

await check('a job hands in its SBOM with curl', async () => {
  const { code, text, out } = await bash(ours(block('sh from-ci-curl')), { ...job, IMAGE: `checkout:curl@${digest(5)}` });
  assert.equal(code, 0, text);
  assert.match(out, /"opened": 1/);
});

// Whoever names a branch or a tag decides what such inputs have.
const nasty = `$(touch taken)'; touch taken; '"; touch taken; "\ntouch taken\n`; // runs in each kind of quotation marks
await check('no input is a command', async () => {
  for (const { run: script = '' } of parse(actionText).runs.steps) assert.doesNotMatch(script, /\$\{\{/);
  assert.doesNotMatch(componentText.split('script:')[1].split('artifacts:')[0], /\$\[\[/);
  for (const name of ['url', 'image', 'group', 'sbom', 'fail-on', 'fixable', 'new-since', 'wait', 'binary', 'version', 'checksum']) {
    const given = { image: 'checkout:main', [name]: nasty, ...['version', 'checksum'].includes(name) && { binary: '', releases: 'http://127.0.0.1:1' } };
    assert.notEqual((await inGitHub(given)).code, 0, name);
    if (name !== 'fail-on') assert.notEqual((await inGitLab(given)).code, 0, name);
    assert.ok(!existsSync(join(folder, 'taken')), name);
  }
  for (const value of ['--url=http://127.0.0.1:1', '--help']) assert.match((await inGitHub({ image: value })).text, /does not exist|must be a repo with/);
  await inGitHub({ image: nasty, sbom: 'sbom.json', import: 'true' }, actionText.replace('--image="$IMAGE"', '--image="${{ inputs.image }}"'));
  assert.ok(existsSync(join(folder, 'taken')), 'a step with an input in its text is not attacked: the check above finds nothing');
}, 60);

await check('both install a release whose checksum is right, and nothing else', async () => {
  const platform = `linux_${process.arch === 'x64' ? 'amd64' : 'arm64'}`, archive = `atrium_1.2.3_${platform}.tar.gz`, files = join(folder, 'release');
  mkdirSync(files);
  const pack = async (script) => {
    writeFileSync(join(files, 'atrium'), script, { mode: 0o755 });
    assert.equal((await run('tar', ['-czf', archive, 'atrium'], {}, files)).code, 0);
  };
  await pack(`#!/bin/sh\necho installed\nexec '${program}' "$@"\n`);
  const { out: sums } = await run('sha256sum', [archive], {}, files), right = sums.slice(0, 64);
  writeFileSync(join(files, 'checksums.txt'), `${'0'.repeat(64)}  atrium_1.2.3_darwin_amd64.tar.gz\n${sums}`);
  const server = http.createServer((request, response) => {
    const name = request.url.match(/^\/(?:download\/v1\.2\.3|latest\/download)\/([\w.-]+)$/)?.[1];
    response.writeHead(name ? 200 : 404).end(name && readFileSync(join(files, name)));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  const release = { binary: '', releases: `http://127.0.0.1:${server.address().port}`, image: `checkout@${digest(1)}` };
  for (const [name, does] of Object.entries({ action: inGitHub, component: inGitLab })) {
    for (const given of [{ version: '1.2.3' }, { version: 'latest', checksum: right }]) {
      const { code, text } = await does({ ...release, ...given });
      assert.equal(code, 1, `${name}: ${text}`);
      assert.match(text, /installed/);
    }
    const { code, text } = await does({ ...release, checksum: '0'.repeat(64) });
    assert.notEqual(code, 0, `${name}: ${text}`);
    assert.match(text, /its checksum differs/);
  }
  await pack('#!/bin/sh\ntouch taken-too\n');
  for (const [name, does] of Object.entries({ action: inGitHub, component: inGitLab })) {
    const { text } = await does({ ...release, version: 'v1.2.3' });
    assert.match(text, /its checksum differs/, name);
  }
  assert.ok(!existsSync(join(folder, 'taken-too')));
}, 60);

await check('the pipeline hands in its SBOM, reads the findings, and hands in a decision with the program', async () => {
  const decide = () => bash(block('sh from-ci-program'), { ATRIUM_URL: site, ATRIUM_TOKEN: pipeline, SHOP: shop, IMAGE: `payments:1.5@${digest(6)}` });
  const { code, text } = await decide();
  assert.equal(code, 0, text);
  assert.match(text, /2 packages; 1 findings opened, 0 resolved; 1 open/);
  assert.ok(readFileSync(join(folder, 'findings.csv'), 'utf8').match(/CVE-2026-12345/g).length >= 2);
  assert.equal((await decide()).code, 0);
  assert.doesNotMatch(readFileSync(join(folder, 'findings.csv'), 'utf8'), /,OPEN,/);
});

await check('the pipeline reaches nothing beside its group', async () => {
  const refused = await fetch(`${site}/import/sbom?group=${organization}`, { method: 'POST', headers: { Authorization: 'Bearer ' + pipeline }, body: '{}' });
  assert.equal(refused.status, 403);
  assert.match(await refused.text(), /sboms\.import/);
});

finish();
