// This suite lets porcupine judge what three Atrium processes answer that read from two standbys. It starts its own PostgreSQL.
// `make scale PARTS=replicas` does so for longer.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { check, finish, run } from '../lib.mjs';

const root = join(import.meta.dirname, '../..');

await check('what callers read from standbys is linearizable, though their replay is paused at random', async () => {
  const { code, text } = await run(join(root, 'scripts/with-standby'), ['--read', '2', join(root, 'e2e/bin/replicas'), '-program', process.env.ATRIUM_TEST_PROGRAM, '-seconds', '8'], {}, root);
  assert.equal(code, 0, text);
}, 90);

finish();
