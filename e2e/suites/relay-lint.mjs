// The rules of two linters for a Relay schema: connections, edges, their arguments, PageInfo.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import graphqlESLint from '@graphql-eslint/eslint-plugin';
import { ESLint } from 'eslint';
import { parse, print, printSchema, visit } from 'graphql';
import { check, clientSchema, finish } from '../lib.mjs';

const folder = mkdtempSync(join(tmpdir(), 'atrium-lint-'));
const file = join(folder, 'schema.graphql');

// Without the additions of the federation specification, whose names we cannot choose.
const internal = ({ name }) => (/^(_|Entity$|federation__|FieldSet$)/.test(name.value) ? null : undefined);
writeFileSync(file, print(visit(parse(printSchema(await clientSchema())), {
  ObjectTypeDefinition: internal, UnionTypeDefinition: internal, ScalarTypeDefinition: internal, FieldDefinition: internal, DirectiveDefinition: () => null,
})));

await check('the Relay rules of @graphql-eslint', async () => {
  const eslint = new ESLint({
    cwd: folder,
    overrideConfigFile: true,
    overrideConfig: [{
      files: ['**/*.graphql'],
      plugins: { '@graphql-eslint': graphqlESLint },
      languageOptions: { parser: graphqlESLint.parser, parserOptions: { graphQLConfig: { schema: file } } },
      rules: {
        '@graphql-eslint/relay-arguments': ['error', { includeBoth: true }],
        '@graphql-eslint/relay-connection-types': 'error',
        // A connection lists its nodes beside its edges; the rule would have every list be of edges.
        '@graphql-eslint/relay-edge-types': ['error', { withEdgeSuffix: true, shouldImplementNode: true, listTypeCanWrapOnlyEdgeType: false }],
        '@graphql-eslint/relay-page-info': 'error',
      },
    }],
  });
  const [{ messages }] = await eslint.lintFiles(['schema.graphql']);
  // An entry of the audit log is an event, which is read in no other way: its id is a place in the log and the feed.
  const lines = readFileSync(file, 'utf8').split('\n');
  const isEntry = ({ line, ruleId }) => ruleId.endsWith('relay-edge-types') && lines[line - 1].includes('type AuditLogEdge ');
  // A search gives the best first, and is paged from there only.
  const isSearch = ({ line, ruleId }) => ruleId.endsWith('relay-arguments') && lines[line - 1].startsWith('  search(');
  const broken = messages.filter((m) => !isEntry(m) && !isSearch(m));
  assert.deepEqual(broken.map(({ line, ruleId, message }) => `${line} ${ruleId}: ${message}`), []);
}, 60);

await check('the Relay rules of graphql-schema-linter', () => {
  const linter = createRequire(import.meta.url).resolve('graphql-schema-linter').replace(/lib\/.*/, 'lib/cli.js');
  const rules = 'relay-connection-types-spec,relay-connection-arguments-spec,relay-page-info-spec';
  const { stdout, stderr } = spawnSync(process.execPath, [linter, '--format', 'json', '--rules', rules, file], { cwd: folder, encoding: 'utf8' });
  assert.match(stdout, /^\s*\{/, stdout + stderr);
  assert.deepEqual(JSON.parse(stdout).errors.map(({ rule, message }) => `${rule}: ${message}`), []);
});

rmSync(folder, { recursive: true });
finish();
