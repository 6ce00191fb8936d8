// This suite kills and restarts Atrium processes, PostgreSQL, its standbys and pgbouncer under load, each once, and checks what
// came of it. It starts its own servers. `make soak` does so for longer, and also checks that memory stays flat.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { check, finish, run } from '../lib.mjs';

const root = join(import.meta.dirname, '../..');
const scripts = ['with-standby', 'with-pgbouncer', 'debian-program'].map((name) => join(root, 'scripts', name));
const [standby, pooler, program] = scripts;
if (spawnSync(program, ['pgbouncer', 'libevent-2.1-7', 'libc-ares2']).status !== 0) {
  console.log('skipped: pgbouncer is not installed');
  process.exit(0);
}

await check('nothing is lost or repeated when processes and servers are killed', async () => {
  const { code, text } = await run(standby, ['--read', '2', pooler, join(root, 'e2e/bin/replicas'), '-program', process.env.ATRIUM_TEST_PROGRAM, '-faults', 'restarts', '-seconds', '1'],
    { PGBOUNCER_CONF: 'server_login_retry = 1' }, root);
  assert.equal(code, 0, text.slice(0, 30) + text.slice(-900));
  return text.match(/^seed \d+/)[0];
}, 170);

finish();
