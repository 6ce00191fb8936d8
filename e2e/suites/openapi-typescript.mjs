// This suite generates the types of a TypeScript client from the OpenAPI document, checks them and uses them.

import assert from 'node:assert/strict';
import { copyFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { check, finish, read, run, temporary, temporaryFolder, tsc } from '../lib.mjs';

const here = join(import.meta.dirname, '..'), folder = temporaryFolder();
symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'));
copyFileSync(join(here, 'openapi/client.mts'), join(folder, 'client.mts'));

async function succeeds(name, args) {
  const { code, text } = await run(name, args, {}, folder);
  assert.equal(code, 0, text);
}

await check('openapi-typescript accepts the document', async () => {
  await succeeds(join(here, 'node_modules/.bin/openapi-typescript'), [temporary('openapi.json', await read('/openapi.json')), '--output', join(folder, 'schema.d.ts')]);
}, 150);

await check('the client compiles, and requests that the document forbids do not', async () => {
  await succeeds(process.execPath, [tsc, '--strict', '--noUncheckedIndexedAccess', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', 'node', '--skipLibCheck', 'client.mts']);
}, 150);

await check('the client lists, pages and patches', async () => {
  await succeeds(process.execPath, ['client.mjs']);
}, 90);

finish();
