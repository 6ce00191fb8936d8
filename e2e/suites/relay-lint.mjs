// This suite runs the rules of two linters for a Relay schema: connections, edges, their arguments, PageInfo.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, print, printSchema, visit } from 'graphql';
import require from '../graphql-16/require.mjs';
import { check, clientSchema, finish } from '../lib.mjs';

const { default: graphqlESLint } = require('@graphql-eslint/eslint-plugin'), { ESLint } = require('eslint');

const folder = mkdtempSync(join(tmpdir(), 'atrium-lint-'));
const file = join(folder, 'schema.graphql');

// The additions of the federation specification are left out, because we cannot choose their names.
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
        // A connection has a list of nodes besides its edges. The rule would allow only edges.
        '@graphql-eslint/relay-edge-types': ['error', { withEdgeSuffix: true, shouldImplementNode: true, listTypeCanWrapOnlyEdgeType: false }],
        '@graphql-eslint/relay-page-info': 'error',
      },
    }],
  });
  const [{ messages }] = await eslint.lintFiles(['schema.graphql']);
  // An entry of the audit log is an event, which cannot be read in another way. Its id is a position in the log and the feed.
  const lines = readFileSync(file, 'utf8').split('\n');
  // So is a change of access, and what somebody had at a time is read from the log.
  // An advisory of a document and a package of an image are parts of them: they have no id of their own.
  const isEntry = ({ line, ruleId }) => ruleId?.endsWith('relay-edge-types') && /type (AuditLog|AuditLogRun|DocumentAdvisory|ImagePackage|AccessGrant|AccessChange)Edge /.test(lines[line - 1]);
  // A search returns the best hits first; the tags with a fix and the runs of the audit log begin with the newest. They have no backward paging.
  const isForward = ({ line, ruleId }) => ruleId?.endsWith('relay-arguments') && /^  (search|fixedIn|auditLogRuns)\(/.test(lines[line - 1]);
  const broken = messages.filter((m) => !isEntry(m) && !isForward(m));
  assert.deepEqual(broken.map(({ line, ruleId, message }) => `${line} ${ruleId}: ${message}`), []);
}, 60);

await check('the Relay rules of graphql-schema-linter', () => {
  const linter = require.resolve('graphql-schema-linter').replace(/lib\/.*/, 'lib/cli.js');
  const rules = 'relay-connection-types-spec,relay-connection-arguments-spec,relay-page-info-spec';
  const { stdout, stderr } = spawnSync(process.execPath, [linter, '--format', 'json', '--rules', rules, file], { cwd: folder, encoding: 'utf8' });
  assert.match(stdout, /^\s*\{/, stdout + stderr);
  assert.deepEqual(JSON.parse(stdout).errors.map(({ rule, message }) => `${rule}: ${message}`), []);
});

rmSync(folder, { recursive: true });
finish();
