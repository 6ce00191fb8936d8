// This suite runs @apollo/gateway with Atrium and another subgraph.

import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { checkGateway, compose, startNotes } from '../federation.mjs';
import { endpoint, finish, headers } from '../lib.mjs';

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
