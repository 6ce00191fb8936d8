// This suite sends up to four times as many requests as the server can answer. It checks who gets answers and what refusals look like,
// not how fast they are, because other programs may use the machine. `make scale PARTS=overload` measures it for longer.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { check, finish, run } from '../lib.mjs';

const root = join(import.meta.dirname, '../..');

await check('an overload is refused with advice, and a flood by one organization takes nothing from another', async () => {
  const { code, text } = await run(join(root, 'e2e/bin/overload'), ['-program', process.env.ATRIUM_TEST_PROGRAM, '-seconds', '1.5'], { ATRIUM_TEST_POSTGRES: '' }, root);
  assert.equal(code, 0, text.slice(-900)); // The faults are at the end.
}, 120);

finish();
