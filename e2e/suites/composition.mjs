// This suite runs Apollo's composition and that of The Guild, which a gateway does with its subgraphs before it serves requests.

import assert from 'node:assert/strict';
import { compose } from '../federation.mjs';
import { check, finish } from '../lib.mjs';

const told = ({ supergraphSdl, hints }) => {
  assert.deepEqual(hints.map(({ message }) => message), []);
  const count = (directive) => supergraphSdl.split(`${directive}(`).length - 1;
  assert.ok(count('@cost') > 50 && count('@listSize') > 50 && count('@tag') > 300, 'the supergraph says what its fields cost, and of which areas they are');
  return `${supergraphSdl.length} bytes, ${count('@cost')} costs, ${count('@listSize')} sizes of lists, ${count('@tag')} tags`;
};

await check('Atrium composes alone', async () => told(await compose()));
await check('Atrium composes with another subgraph that extends one of its types', async () => told(await compose('http://127.0.0.1:1/graphql')));
finish();
