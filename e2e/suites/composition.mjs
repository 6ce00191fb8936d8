// This suite runs Apollo's composition, which a gateway does with its subgraphs before it serves requests.

import { compose } from '../federation.mjs';
import { check, finish } from '../lib.mjs';

const told = ({ supergraphSdl, hints }) => [`${supergraphSdl.length} bytes`, ...hints.map(({ message }) => message)].join('; ').slice(0, 500);

await check('Atrium composes alone', async () => told(await compose()));
await check('Atrium composes with another subgraph that extends one of its types', async () => told(await compose('http://127.0.0.1:1/graphql')));
finish();
