// This suite generates a Go client from the OpenAPI document with oapi-codegen, compiles it and uses it. tools/restclient has the
// program that uses it, and the version of the generator.

import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { check, finish, read, run, temporary, temporaryFolder } from '../lib.mjs';

const folder = join(temporaryFolder(), 'restclient');
cpSync(join(import.meta.dirname, '../../tools/restclient'), folder, { recursive: true });

async function go(...args) {
  const { code, text } = await run('go', args, {}, folder);
  assert.equal(code, 0, text);
}

await check('oapi-codegen accepts the document', async () => {
  await go('tool', 'oapi-codegen', '-config', 'config.yaml', temporary('openapi.json', await read('/openapi.json')));
}, 150);

await check('the client compiles, lists, pages and patches', async () => {
  await go('run', '.');
}, 90);

finish();
