// This suite has gql.tada type documents by the schema at /graphql/schema, configured as docs/graphql.md shows, checks the types with the
// compiler, and sends the documents.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, endpoint, finish, headers, run, tsc } from '../lib.mjs';

const page = readFileSync(join(import.meta.dirname, '../../docs/graphql.md'), 'utf8');
const block = (kind, language = 'ts') => page.match(new RegExp(`^\`\`\`${language} ${kind}\n(.*?)^\`\`\`$`, 'ms'))?.[1] ?? assert.fail(`the page has no block ${kind}`);

// Modules are resolved from the folder of the file.
const folder = join(import.meta.dirname, `../bin/tada-${process.pid}`), programs = join(import.meta.dirname, '../node_modules/.bin');
mkdirSync(folder, { recursive: true });
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const write = (name, text) => writeFileSync(join(folder, name), text);
const must = async (program, ...args) => {
  const { code, text } = await run(program, args, {}, folder);
  assert.equal(code, 0, text.slice(-900));
};

write('package.json', '{"type": "module"}');
write('graphql.mts', block('tada'));
copyFileSync(join(import.meta.dirname, '../gql-tada/client.mts'), join(folder, 'client.mts'));
const { compilerOptions } = JSON.parse(block('tada', 'json'));
write('tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, strict: true, noUncheckedIndexedAccess: true, module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom'], types: ['node'], skipLibCheck: true }, include: ['*.mts'] }));

await check('gql.tada makes types of the schema', async () => {
  write('schema.graphql', await (await fetch(endpoint + '/schema', { headers })).text());
  await must(join(programs, 'semantic-to-strict'), '--input', 'schema.graphql', '--output', 'strict.graphql');
  await must(join(programs, 'gql-tada'), 'generate', 'output');
}, 60);
await check('documents have types, and what the schema does not have is an error', async () => { await must(process.execPath, tsc, '--project', '.'); }, 90);
await check('the answers have these types', async () => { await must(process.execPath, 'client.mjs'); }, 60);

finish();
