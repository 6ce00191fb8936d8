// This file has a receiver of webhooks that uses only public libraries: cloudevents, standardwebhooks and jose.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import http from 'node:http';
import { HTTP } from 'cloudevents';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { Webhook } from 'standardwebhooks';

/** The ports of sinks that the servers of suites allow. A suite has at most as many sinks. */
export const sinkPorts = (process.env.ATRIUM_TEST_SINK_PORTS ?? '11000,11001,11002,11003').split(',').map(Number);

/** The flags with which a server allows these sinks. */
export const sinkFlags = sinkPorts.flatMap((port) => ['--private-sink', `127.0.0.1:${port}`]);

const textOf = async (stream) => {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

/**
 * Starts a sink, which runs until the suite ends. It keeps every request as {path, headers, body}, and answers it with the result
 * of `answer(request, seen)`, {status, headers}; without a status it answers 204. seen counts earlier requests to the same path.
 */
export async function startSink(answer = () => ({})) {
  const received = [];
  let wake = () => {};
  const server = http.createServer(async (request, response) => {
    const delivery = { path: request.url, method: request.method, headers: request.headers, body: await textOf(request) };
    const seen = received.filter(({ path }) => path === delivery.path).length;
    received.push(delivery);
    const { status = 204, headers = {} } = answer(delivery, seen);
    response.writeHead(status, headers).end();
    wake();
  });
  await new Promise((listening) => server.listen(sinkPorts[0], '127.0.0.1', listening));
  const url = `http://127.0.0.1:${server.address().port}`;
  /** Waits for a number of matching requests to a path, and returns all matching requests to it. */
  const arrived = async (path, count = 1, fits = () => true) => {
    for (;;) {
      const found = received.filter((delivery) => delivery.path === path && fits(delivery));
      if (found.length >= count) return found;
      await new Promise((come) => { wake = come; setTimeout(come, 200); });
    }
  };
  return { url, received, arrived };
}

/** Finds the keys of a service by OpenID Connect discovery, and returns a function that verifies its tokens. */
export async function discover(issuer) {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`);
  assert.equal(response.status, 200);
  const document = await response.json();
  assert.equal(document.issuer, issuer);
  const keys = createRemoteJWKSet(new URL(document.jwks_uri));
  return (token, claims) => jwtVerify(token, keys, { issuer, algorithms: document.id_token_signing_alg_values_supported, ...claims });
}

/** Fails unless all three libraries accept a delivery. Returns its event and the claims of its token. */
export async function accept({ method, headers, body }, { issuer, verify, secret, group }) {
  assert.equal(method, 'POST');
  const event = HTTP.toEvent({ headers, body });
  event.validate();
  assert.equal(event.specversion, '1.0');
  assert.equal(event.source, issuer);
  assert.equal(event.audience, 'customer');
  assert.equal(event.id, headers['webhook-id']);
  assert.deepEqual(Object.keys(event.data).sort(), ['actor', 'body']);

  assert.deepEqual(new Webhook(secret).verify(body, headers), event.data);

  const { payload } = await verify(headers.authorization.replace(/^Bearer /, ''), { audience: 'customer', subject: `webhook:${group}`, requiredClaims: ['exp', 'iat', 'jti'] });
  // The platform's public receivers accept the digest only in this nested form.
  assert.deepEqual(payload.webhook, { digest: 'sha256:' + createHash('sha256').update(body).digest('hex') });
  assert.ok(!('webhook.digest' in payload), 'the token has a member named webhook.digest');
  assert.equal(payload.exp - payload.iat, 300);
  return { event, payload };
}
