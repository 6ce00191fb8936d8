// This program composes the domains of Atrium with the subgraph of oncall.mjs, and serves the whole at http://127.0.0.1:4000/graphql.

import { createServer } from 'node:http';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { composeServices } from '@theguild/federation-composition';
import { parse } from 'graphql';
import { serveOnCall, typeDefs } from './oncall.mjs';

const { ATRIUM_URL = 'http://127.0.0.1:8080', ATRIUM_TOKEN, PORT = '4000' } = process.env;
const domains = ['iam', 'registry', 'vulnerabilities', 'advisory', 'libraries', 'events', 'sources'];

/** Reads the subgraph of a domain from the server. The token is that of an identity that may read the schema. */
async function readDomain(name) {
  const url = `${ATRIUM_URL}/graphql/${name}`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(ATRIUM_TOKEN ? { Authorization: `Bearer ${ATRIUM_TOKEN}` } : {}) },
    body: JSON.stringify({ query: '{ _service { sdl } }' }),
  });
  const { data, errors } = await response.json();
  if (!data?._service) throw new Error(`${url} did not give its schema; set ATRIUM_TOKEN: ${errors?.[0]?.message ?? response.status}`);
  return { name, url, typeDefs: parse(data._service.sdl) };
}

const subgraphs = await Promise.all(domains.map(readDomain));
subgraphs.push({ name: 'oncall', url: await serveOnCall(), typeDefs });
const { supergraphSdl, errors } = composeServices(subgraphs);
if (errors?.length) throw new Error(errors.map(({ message }) => message).join('\n'));

// A caller has the same rights as at Atrium itself: the gateway passes the token of each request on, and has none of its own.
const gateway = createGatewayRuntime({
  supergraph: supergraphSdl,
  demandControl: { maxCost: 5000, includeExtensionMetadata: true }, // the limit of Atrium
  maskedErrors: false,
  logging: 'warn',
  propagateHeaders: {
    fromClientToSubgraphs: ({ request, subgraphName }) => (subgraphName === 'oncall' ? {} : { Authorization: request.headers.get('Authorization') }),
  },
});
createServer(gateway).listen(Number(PORT), '127.0.0.1', function () {
  console.log(`the gateway is at http://127.0.0.1:${this.address().port}/graphql`);
});
