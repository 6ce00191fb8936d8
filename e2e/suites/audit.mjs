// This suite runs the audits of the GraphQL over HTTP specification with the package graphql-http: the MUSTs, SHOULDs and MAYs.

import assert from 'node:assert/strict';
import { serverAudits } from 'graphql-http';
import { check, endpoint, finish, headers } from '../lib.mjs';

const fetchFn = (url, init = {}) => fetch(url, { ...init, headers: { ...headers, ...init.headers } });

for (const { id, name, fn } of serverAudits({ url: endpoint, fetchFn })) {
  await check(`${id} ${name}`, async () => {
    const { status, reason, response } = await fn();
    const body = response && !response.bodyUsed ? await response.text() : '';
    assert.equal(status, 'ok', `${reason}: ${response?.status} ${response?.headers.get('Content-Type')} ${body.slice(0, 200)}`);
  });
}
finish();
