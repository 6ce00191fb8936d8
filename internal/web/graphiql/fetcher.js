// This file sends the requests of GraphiQL to the server with POST. The answer to a subscription is a stream of server-sent events.

import { buildSchema, getOperationAST, introspectionFromSchema, parse } from 'graphql';
import { newestEvents } from '../builtin/events.js';
import { noteRefusal } from '../builtin/token.js';

/** Makes a fetcher for GraphiQL, which calls token at each request. */
export function createFetcher(endpoint, token) {
  const post = (params, headers, accept, signal) => {
    const all = new Headers({ 'Content-Type': 'application/json', Accept: accept });
    if (token()) all.set('Authorization', 'Bearer ' + token());
    for (const [name, value] of Object.entries(headers ?? {})) all.set(name, value);
    return fetch(endpoint, { method: 'POST', headers: all, body: JSON.stringify(params), signal });
  };
  const ask = async (params, headers) => answer(await post(params, headers, 'application/graphql-response+json, application/json;q=0.9'));

  return (params, { headers } = {}) => {
    if (isSubscription(params)) return makeStoppable((signal) => subscribe(post(params, headers, 'text/event-stream', signal)));
    if (params.operationName === 'IntrospectionQuery') return introspect(endpoint, token() || headers?.Authorization ? ask(params, headers) : undefined);
    return ask(params, headers);
  };
}

function isSubscription({ query, operationName }) {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription';
  } catch {
    return false; // The server has a better message about the faults of the document.
  }
}

// Readers who may not introspect still get documentation and completion from the public schema.
async function introspect(endpoint, asked) {
  const introspected = await asked;
  if (introspected?.data) return introspected;
  const response = await fetch(endpoint + '/schema');
  if (!response.ok) return introspected ?? { errors: [{ message: 'No schema: enter a token first.' }] };
  return { data: introspectionFromSchema(buildSchema(await response.text(), { assumeValidSDL: true })) };
}

async function answer(response) {
  const text = await response.text();
  try {
    const answered = JSON.parse(text);
    noteRefusal(answered);
    return answered;
  } catch {
    return { errors: [{ message: `${response.status} ${response.statusText}: ${text}` }] };
  }
}

async function* subscribe(request) {
  const response = await request;
  if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
    yield answer(response);
    return;
  }
  // GraphiQL shows only the last value, so each value has all events that are shown.
  for await (const value of newestEvents(response.body)) {
    noteRefusal(value.shown[0]);
    yield value;
  }
}

// The return() of a generator would wait for the next event. This return() aborts the request, and the failure that follows is not
// reported as an error.
function makeStoppable(open) {
  const stop = new AbortController();
  const values = open(stop.signal);
  return {
    [Symbol.asyncIterator]() { return this; },
    next: () => values.next().catch((problem) => {
      if (stop.signal.aborted) return { done: true };
      throw problem;
    }),
    return: async () => { stop.abort(); return { done: true }; },
  };
}
