// Prism is a proxy that compares requests and responses with the OpenAPI document.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { freePort, read, site, temporary } from './lib.mjs';

/**
 * Closes every schema, so that an undocumented field in a response is a difference. The schema `wrong` loses its fields, so
 * that responses with it always differ. This proves that the proxy compares.
 */
function closed(document, wrong) {
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (name === wrong) Object.assign(schema, { properties: { nothing: { type: 'string' } }, required: ['nothing'] });
    if (schema.properties) schema.additionalProperties ??= false;
  }
  return document;
}

/** Starts the proxy until the suite ends, and returns its address. */
export async function prism(wrong) {
  const port = await freePort(), address = `http://127.0.0.1:${port}`;
  const document = temporary('proxy.json', JSON.stringify(closed(JSON.parse(await read('/openapi.json')), wrong)));
  const program = join(import.meta.dirname, 'node_modules/@stoplight/prism-cli/dist/index.js');
  const proxy = spawn(process.execPath, [program, 'proxy', document, site, '--host', '127.0.0.1', '--port', String(port)], { stdio: ['ignore', 'pipe', 'pipe'] });
  process.on('exit', () => proxy.kill());
  let text = '';
  for (const stream of [proxy.stdout, proxy.stderr]) stream.on('data', (chunk) => { text = (text + chunk).slice(-5000); });
  for (const end = Date.now() + 120_000; Date.now() < end && proxy.exitCode === null; await new Promise((go) => setTimeout(go, 200))) {
    if ((await fetch(address + '/ping/v2/ping').catch(() => undefined))?.ok) return address;
  }
  assert.fail('Prism did not start: ' + text);
}

/** Returns the differences that the proxy found in the request and in the response. */
export function differences(response) {
  const found = JSON.parse(response.headers.get('sl-violations') ?? '[]').map((v) => `${v.location.join('.')}: ${v.message}`);
  return { request: found.filter((text) => text.startsWith('request')), response: found.filter((text) => !text.startsWith('request')) };
}
