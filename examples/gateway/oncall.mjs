// This is a subgraph that knows nothing of Atrium but the key of a repo. It says who is on call for each repo, and which repos a person is on
// call for. Your service would read that from where you keep it.

import { createServer } from 'node:http';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { createHandler } from 'graphql-http/lib/use/http';

export const typeDefs = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])

  "The path of an object in the tree of Atrium."
  scalar UID

  type Repo @key(fields: "uid") {
    uid: UID!
    "Who is on call for the repo, and what to do."
    onCall: OnCall!
  }

  type OnCall {
    person: String!
    runbook: String!
  }

  type Query {
    "The repos that a person is on call for, of those with these uids."
    onCallFor(person: String!, uids: [UID!]!): [Repo!]!
  }
`);

const people = ['ada', 'grace', 'linus'];
const personFor = (uid) => people[parseInt(uid.slice(-4), 16) % people.length];

const resolvers = {
  Query: { onCallFor: (_, { person, uids }) => uids.filter((uid) => personFor(uid) === person).map((uid) => ({ uid })) },
  Repo: {
    __resolveReference: ({ uid }) => ({ uid }),
    onCall: ({ uid }) => ({ person: personFor(uid), runbook: `https://runbooks.example.com/${uid.split('/').at(-1)}` }),
  },
};

/** Serves the subgraph, and returns its URL. */
export async function serveOnCall() {
  const server = createServer(createHandler({ schema: buildSubgraphSchema([{ typeDefs, resolvers }]) }));
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${server.address().port}/graphql`;
}
