// This suite uses the built program as a person with a URL and a token does: sign in, list the critical findings of a group, get one, and
// write CSV.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { check, finish, headers, site, temporaryFolder } from '../lib.mjs';

const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const env = { ...process.env, XDG_CONFIG_HOME: join(temporaryFolder(), 'config'), ATRIUM_URL: '', ATRIUM_TOKEN: '' };
function atrium(args, input = '') {
  const { status, stdout, stderr } = spawnSync(program, args, { env, input, encoding: 'utf8' });
  return { status, stdout, stderr };
}
function must(...args) {
  const { status, stdout, stderr } = atrium(args);
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

await check('sign in with a token', () => {
  const { status, stderr } = atrium(['login', '--with-token', site], headers.Authorization.replace('Bearer ', ''));
  assert.equal(status, 0, stderr);
});

let uid;
await check('critical findings of a group, and one of them', () => {
  const found = JSON.parse(must('list', 'findings', '--group', 'acme', '--severity', 'critical', '--limit', '5', '-o', 'json'));
  assert.ok(found.length > 0);
  assert.ok(found.every(({ severity }) => severity.rating === 'SEVERITY_RATING_CRITICAL'));
  uid = found[0].uid;
  const one = must('get', 'finding', uid);
  assert.match(one, new RegExp(`^vulnerabilityId +${found[0].vulnerabilityId}$`, 'm'));
  assert.match(one, /^severity\.rating +critical$/m);
});

await check('tables, CSV, names and uids', () => {
  const args = ['list', 'findings', '--group', 'acme', '--severity', 'critical', '--limit', '5'];
  const [header, first] = must(...args).split('\n');
  assert.match(header, /^SEVERITY +VULNERABILITY +PACKAGE +VERSION +FIXED IN +STATE +REPO +AGE$/);
  assert.match(first, /^critical .* acme\//);
  assert.match(must(...args, '-o', 'csv'), /^severity,vulnerability,package,.*,uid\ncritical,/);
  assert.equal(must(...args, '-q').split('\n')[0], uid);
  assert.equal(must('list', 'groups', '--direct-only', '-o', 'name'), 'acme\n');
});

await check('what is unknown is named', () => {
  const wrong = atrium(['list', 'findings', '--color', 'red']);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /unknown flag --color.*the filters of findings are .*--severity/);
  assert.match(atrium(['list', 'repos', '--group', 'acme/nowhere']).stderr, /there is no group and no repo acme\/nowhere/);
});

finish();
