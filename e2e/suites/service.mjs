// This suite checks the systemd unit: systemd accepts it and rates its isolation as good, and the program knows its settings.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, finish, run, site, temporary, temporaryFolder } from '../lib.mjs';

const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const text = readFileSync(join(import.meta.dirname, '../../deploy/systemd/atrium.service'), 'utf8');
const unit = temporary('atrium.service', text.replaceAll('/usr/bin/atrium', program).replace(/^Documentation=.*\n/m, ''));

await check('systemd accepts the unit', async () => {
  const { code, text: said } = await run('systemd-analyze', ['verify', unit]);
  assert.equal(code, 0, said);
  assert.equal(said.trim(), '');
});

await check('systemd rates its exposure at 1.5 of 10 or less', async () => {
  const { code, text: said } = await run('systemd-analyze', ['security', '--offline=yes', '--threshold=15', '--no-pager', unit]);
  assert.equal(code, 0, said.slice(-200));
  return said.match(/level for \S+: (\S+)/)[1];
});

await check('the program accepts the settings of the unit', async () => {
  const [command, ...args] = text.match(/^ExecStart=(.*)$/m)[1].split(' ');
  assert.equal(command, '/usr/bin/atrium');
  const folder = temporary('database-url', 'postgres://user:secret@db/atrium\n').replace(/\/database-url$/, '');
  temporary('encryption-key', 'ab'.repeat(32) + '\n');
  const config = temporary('atrium.yaml', 'audience: [https://atrium.example.com]\ndrain-delay: 10s\ndrain-timeout: 15s\n');
  const env = Object.fromEntries([...text.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value.replace('%d', folder)]));
  const { code, out, text: said } = await run(program, ['admin', 'config', ...args.slice(1).map((arg) => arg.replace('/etc/atrium/atrium.yaml', config))], { ...env, ATRIUM_DATABASE_URL: '' });
  assert.equal(code, 0, said);
  assert.match(out, /^database-url: postgres:\/\/user:xxxxx@db\/atrium # \$ATRIUM_DATABASE_URL_FILE$/m);
  assert.match(out, /^encryption-key: \(hidden\) # \$ATRIUM_ENCRYPTION_KEY_FILE$/m);
  assert.match(out, /^drain-delay: 10s # /m);
});

await check('a reader of the log that ends does not end the server', async () => {
  const server = spawn(program, ['serve', '--dev', '--addr', '127.0.0.1:0', '--metrics-addr=', '--log-format', 'json', '--database-url', `sqlite:${join(temporaryFolder(), 'piped.db')}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    let said = '';
    for (const stream of [server.stdout, server.stderr]) stream.setEncoding('utf8').on('data', (chunk) => { said += chunk; });
    const serving = /"msg":"serving","url":"([^"]+)"/;
    while (!serving.test(said) && server.exitCode === null) await new Promise((go) => setTimeout(go, 50));
    server.stdout.destroy();
    server.stderr.destroy();
    // The log is written several times a second.
    for (const end = Date.now() + 2000; Date.now() < end;) assert.equal((await fetch(said.match(serving)[1] + '/registry/v2/repos')).status, 401);
    assert.deepEqual([server.exitCode, server.signalCode], [null, null]);
  } finally {
    server.kill();
  }
}, 60);

await check('atrium health reports whether a server is ready', async () => {
  assert.equal((await run(program, ['health', '--url', site])).out, 'ready\n');
  assert.equal((await run(program, ['health', '--url', 'http://127.0.0.1:1'])).code, 1);
});

finish();
