// In this suite, two linters check the two forms of the OpenAPI document. A warning also fails the suite.

import assert from 'node:assert/strict';
import { check, finish, read, run, temporary } from '../lib.mjs';

const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

const redocly = check('Redocly finds no problem in the JSON form', async () => {
  const file = await temporary('openapi.json', await read('/openapi.json'));
  const { text, out } = await run('node_modules/.bin/redocly', ['lint', '--config', '.redocly.yaml', '--format', 'json', file], quiet);
  const { totals, problems } = JSON.parse(out.slice(out.indexOf('{')));
  assert.deepEqual(totals, { errors: 0, warnings: 0, ignored: 0 }, problems.map((p) => `${p.ruleId}: ${p.message}`).join('\n') || text);
}, 150);

const spectral = check('Spectral finds no problem in the YAML form', async () => {
  const file = await temporary('openapi.yaml', await read('/openapi.yaml'));
  const { code, text } = await run('node_modules/.bin/spectral', ['lint', '--ruleset', '.spectral.yaml', '--fail-severity', 'hint', file], quiet);
  assert.equal(code, 0, text);
}, 150);

await Promise.all([redocly, spectral]);
finish();
