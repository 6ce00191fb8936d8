// This suite runs the Relay compiler on the operations in relay/: connections, refetching, mutations, subscriptions.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printSchema } from 'graphql';
import compiler from 'relay-compiler';
import { check, clientSchema, finish } from '../lib.mjs';

const sources = fileURLToPath(new URL('../relay', import.meta.url));
const schema = printSchema(await clientSchema());

/** Compiles some of the files in relay/ in a new folder, and returns the names of the files that the compiler wrote. */
function compile(files) {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-relay-'));
  try {
    mkdirSync(join(folder, 'src/__generated__'), { recursive: true });
    for (const file of files) cpSync(join(sources, file), join(folder, 'src', file));
    writeFileSync(join(folder, 'schema.graphql'), schema);
    writeFileSync(join(folder, 'relay.config.json'), JSON.stringify({ src: 'src', schema: 'schema.graphql', language: 'typescript', artifactDirectory: 'src/__generated__' }));
    const { status, stdout, stderr } = spawnSync(compiler, ['relay.config.json'], { cwd: folder, encoding: 'utf8', env: { NO_COLOR: '1' } });
    assert.equal(status, 0, stdout + stderr);
    return readdirSync(join(folder, 'src/__generated__')).map((file) => file.replace(/\..*/, ''));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// The first line of each file says what the file shows. A file needs at most the fragment of a row.
const row = 'RepoRow.ts';
for (const file of readdirSync(sources)) {
  const text = readFileSync(join(sources, file), 'utf8');
  await check(text.match(/^\/\/ (.*)\./)[1], () => {
    const written = compile([...new Set([row, file])]);
    for (const [, operation] of text.matchAll(/(?:^  (?:query|mutation|subscription) |queryName: ")(\w+)/gm)) assert.ok(written.includes(operation), `${operation} was not written, but ${written}`);
  });
}
await check('all files compile together', () => `${compile(readdirSync(sources)).length} artifacts`);
finish();
