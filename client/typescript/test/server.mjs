// The server of the tests answers each request with the next of the given answers, and keeps what it was asked.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { createClient } from '../dist/index.js';

/** Calls `test` with a client of a server. An answer is a function of the request and the response, or what to send. */
export async function withServer(answers, test, options = {}) {
  const asked = [], waits = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const one = { method: request.method, url: request.url, headers: request.headers, body: text && JSON.parse(text) };
    asked.push(one);
    const answer = answers.shift() ?? { status: 500, body: { code: 13, message: `nothing is left for ${request.method} ${request.url}` } };
    if (typeof answer === 'function') return answer(response, one);
    const { status = 200, headers = {}, body } = answer;
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const atrium = createClient({ url: `http://127.0.0.1:${server.address().port}/`, token: 'first', wait: async (ms) => { waits.push(ms); }, ...options });
  try {
    await test(atrium, { asked, waits });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Ends the connection without an answer. */
export const broken = (response) => response.destroy();

/** Begins a stream of events as the server does, and sends these. It stays open, unless `end` says how it ends. */
export const stream = (ids, end = () => undefined) => (response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.write(':\n\n');
  for (const id of ids) response.write(`event: next\ndata: {"data":{"events":{"id":"${id}"}}}\n\n`);
  end(response);
};
