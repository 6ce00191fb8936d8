// This suite runs the Relay compiler on the operations in relay/: connections, refetching, mutations, subscriptions.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import compiler from 'relay-compiler';
import { check, endpoint, finish, headers } from '../lib.mjs';

const sources = fileURLToPath(new URL('../relay', import.meta.url));
const schema = await (await fetch(endpoint + '/schema', { headers })).text(); // with @semanticNonNull, which introspection does not show

const listNames = (folder) => readdirSync(folder).map((file) => file.replace(/\..*/, ''));

/** Compiles some of the files in relay/ in a new folder, after an edit of each, and returns what is read in the folder of the files that the compiler wrote: their names. */
function compile(files, read = listNames, edit = (text) => text) {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-relay-'));
  try {
    mkdirSync(join(folder, 'src/__generated__'), { recursive: true });
    for (const file of files) writeFileSync(join(folder, 'src', file), edit(readFileSync(join(sources, file), 'utf8')));
    writeFileSync(join(folder, 'schema.graphql'), schema);
    writeFileSync(join(folder, 'relay.config.json'), JSON.stringify({ src: 'src', schema: 'schema.graphql', language: 'typescript', artifactDirectory: 'src/__generated__' }));
    const { status, stdout, stderr } = spawnSync(compiler, ['relay.config.json'], { cwd: folder, encoding: 'utf8', env: { NO_COLOR: '1' } });
    assert.equal(status, 0, stdout + stderr);
    return read(join(folder, 'src/__generated__'));
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
await check('what is null only with an error is not null in the types of a query that handles errors', () => {
  const types = (text) => text.match(/data = (.*?)\n};/s)[1].replace(/\s+/g, ' ');
  const written = (edit) => compile(['RepoGroups.ts'], (folder) => types(readFileSync(join(folder, 'RepoGroupsQuery.graphql.ts'), 'utf8')), edit);
  const nullable = (text) => text.split('| null').length - 1;
  const handled = written((text) => text), plain = written((text) => text.replace(' @throwOnFieldError', ''));
  assert.equal(nullable(handled), 1, handled); // the tag, which the repo may not have
  assert.equal(nullable(plain), 3, plain);
});
await check('all files compile together', () => `${compile(readdirSync(sources)).length} artifacts`);
finish();
