// This program runs the provider without Backstage, and prints the entities that it emits.

import { createClient } from '@atrium/client';
import type { EntityProviderConnection } from '@backstage/plugin-catalog-node';
import { AtriumEntityProvider } from './provider.ts';

const { ATRIUM_URL = 'http://127.0.0.1:8080', ATRIUM_TOKEN } = process.env;
if (!ATRIUM_TOKEN) throw new Error('set ATRIUM_TOKEN to a token of an identity that may see the repos');

const connection: EntityProviderConnection = {
  async applyMutation(mutation) {
    if (mutation.type === 'full') for (const { entity } of mutation.entities) console.log(JSON.stringify(entity));
  },
  async refresh() {},
};
const provider = new AtriumEntityProvider(createClient({ url: ATRIUM_URL, token: ATRIUM_TOKEN }), ATRIUM_URL);
await provider.connect(connection);
await provider.refresh();
