// This suite takes the client of docs/graphql.md for live events, alone and below Apollo Client, urql and Relay. The server goes away for
// three seconds and comes back: each client goes on by itself, and misses nothing of what happened while it was not connected.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApolloClient, ApolloLink, gql, InMemoryCache } from '@apollo/client/core/index.js';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions/index.js';
import { Client, subscriptionExchange } from '@urql/core';
import relay from 'relay-runtime';
import WebSocket from 'ws';
import { check, finish, serveDemo, until } from '../lib.mjs';

const page = readFileSync(join(import.meta.dirname, '../../docs/graphql.md'), 'utf8');
const snippets = join(import.meta.dirname, `../bin/restart-${process.pid}`); // where modules of npm are found
mkdirSync(snippets, { recursive: true });
process.on('exit', () => rmSync(snippets, { recursive: true, force: true }));
const load = (kind) => {
  const text = page.match(new RegExp(`^\`\`\`ts ${kind}\n(.*?)^\`\`\`$`, 'ms'))?.[1] ?? assert.fail(`the page has no block ${kind}`);
  const path = join(snippets, `${kind}.mjs`);
  writeFileSync(path, stripTypeScriptTypes(text));
  return import(pathToFileURL(path));
};
const { feed } = await load('feed'), { patientFetch } = await load('retry');

const demo = await serveDemo(), { token, site } = demo;
const owner = await token('owner'), viewer = await token('viewer');
const ask = async (bearer, query, variables) => (await (await fetch(site + '/graphql', { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + bearer }, body: JSON.stringify({ query, variables }) })).json());
const { groups, feedPosition } = (await ask(viewer, '{ groups(first: 1) { nodes { uid } } feedPosition }')).data;
assert.ok(feedPosition, 'a viewer gets the position of the feed');
const change = async (description) => assert.ifError((await ask(owner, 'mutation($g: UID!, $d: String) { updateGroup(input: {uid: $g, description: $d}) { group { id } } }', { g: groups.nodes[0].uid, d: description })).errors);

const query = 'subscription Live($after: String) { events(after: $after, kinds: [IAM_GROUP_UPDATED]) { id body } }', variables = { after: feedPosition };
const client = () => feed(site.replace('http', 'ws') + '/graphql', () => viewer, WebSocket);
const heard = { 'graphql-ws': [], apollo: [], urql: [], relay: [] };
const hear = (name) => ({ next: ({ data }) => heard[name].push(data.events.body.description), error: (problem) => heard[name].push(problem), complete: () => heard[name].push('complete') });

await change('before the subscription'); // and after the page was read
client().subscribe({ query, variables }, hear('graphql-ws'));
new ApolloClient({ cache: new InMemoryCache(), link: ApolloLink.from([new GraphQLWsLink(client())]) }).subscribe({ query: gql(query), variables }).subscribe(hear('apollo'));
const ofUrql = client();
new Client({ url: site + '/graphql', preferGetMethod: false, exchanges: [subscriptionExchange({ forwardSubscription: (request) => ({ subscribe: (sink) => ({ unsubscribe: ofUrql.subscribe({ ...request, query: request.query ?? '' }, sink) }) }) })] })
  .subscription(query, variables).subscribe(hear('urql').next);
const ofRelay = client(), network = relay.Network.create(() => assert.fail('no query is sent'), ({ text }, values) => relay.Observable.create((sink) => ofRelay.subscribe({ query: text, variables: values }, sink)));
network.execute({ text: query, operationKind: 'subscription', name: 'Live' }, variables, {}).subscribe(hear('relay'));

const expected = [];
const allHear = async (...more) => {
  expected.push(...more);
  await until(() => Object.values(heard).every((list) => list.length >= expected.length));
  for (const [name, list] of Object.entries(heard)) assert.deepEqual(list, expected, name);
};
await check('each client hears what happened after the page was read and before it subscribed', () => allHear('before the subscription'));
await check('each client goes on after the server was away for three seconds, and misses nothing', async () => {
  await demo.stop();
  await new Promise((go) => setTimeout(go, 3000)); // the case: longer than the first attempts of the clients
  await demo.start();
  await change('in the gap');
  await change('after it');
  await allHear('in the gap', 'after it');
}, 60);

await check('a request that the server is too busy for is sent again, when the server says', async () => {
  let asked = 0;
  const busy = createServer((_, response) => { response.writeHead(++asked < 3 ? [429, 503][asked - 1] : 200, { 'Retry-After': '1' }).end('{}'); }).listen(0, '127.0.0.1');
  await until(() => busy.address());
  const response = await patientFetch(`http://127.0.0.1:${busy.address().port}/`);
  busy.close();
  assert.deepEqual([response.status, asked], [200, 3]);
});
finish();
