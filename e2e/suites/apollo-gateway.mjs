// This suite runs @apollo/gateway with Atrium and another subgraph.

import { checkGateway, compose, startNotes } from '../federation.mjs';
import require from '../graphql-16/require.mjs';
import { endpoint, finish, headers } from '../lib.mjs';

const { ApolloGateway, RemoteGraphQLDataSource } = require('@apollo/gateway'), { ApolloServer } = require('@apollo/server');

const sent = [];

class Source extends RemoteGraphQLDataSource {
  willSendRequest({ request }) {
    if (this.url !== endpoint) return;
    sent.push(request.query);
    request.http.headers.set('Authorization', headers.Authorization);
  }
}

const { supergraphSdl } = await compose(await startNotes());
const gateway = new ApolloGateway({ supergraphSdl, buildService: ({ url }) => new Source({ url }) });
const server = new ApolloServer({ gateway });
await server.start();

await checkGateway(async (query) => {
  const { body } = await server.executeOperation({ query });
  return JSON.parse(JSON.stringify(body.singleResult));
}, sent);
finish();
