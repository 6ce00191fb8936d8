// This program uses Atrium through openapi-fetch, with the types that openapi-typescript generates from its document: it lists,
// pages and patches. The suite openapi-typescript compiles and runs it.

import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

type Repo = components['schemas']['Repo'];

const client = createClient<paths>({
  baseUrl: process.env.ATRIUM_URL,
  headers: { Authorization: `Bearer ${process.env.ATRIUM_TOKEN}` },
});

const page = (page_token: string) => client.GET('/registry/v2/repos', { params: { query: { page_size: 5, page_token, order_by: 'name' } } });

/** Reads every repo, page by page. */
async function allRepos(): Promise<Repo[]> {
  const repos: Repo[] = [];
  for (let token: string | undefined = ''; token !== undefined;) {
    const { data, error } = await page(token);
    assert.ok(data, error?.message);
    repos.push(...data.repos);
    token = data.nextPageToken;
    if (token === undefined) assert.equal(String(repos.length), data.totalCount);
  }
  return repos;
}

const repos = await allRepos();
const uids: Set<string> = new Set(repos.map((repo) => repo.uid));
assert.ok(uids.size > 5 && uids.size === repos.length, `${uids.size} of ${repos.length} repos`);

const params = { path: { uid: repos[1]!.uid } };
const description = 'changed by openapi-fetch';
const changed = await client.PATCH('/registry/v2/repos/{uid}', { params, body: { description } });
assert.equal(changed.data?.description, description, changed.error?.message);
const cleared = await client.PATCH('/registry/v2/repos/{uid}', { params: { ...params, query: { updateMask: 'description' } }, body: { description: null } });
assert.equal(cleared.data?.description, undefined, cleared.error?.message);

const missing = await client.GET('/registry/v2/repos/{uid}', { params: { path: { uid: `${repos[1]!.uid}/${'0'.repeat(16)}` } } });
assert.equal(missing.error?.details[0]?.reason, 'NOT_FOUND');

// The types must reject these lines: the compiler fails if one of them is no error.
// @ts-expect-error a repo has no color
void repos[0]!.color;
// @ts-expect-error a new repo has a name
void (() => client.POST('/registry/v2/repos/{uid}', { params, body: { description } }));
// @ts-expect-error page_size is a number
void (() => client.GET('/registry/v2/repos', { params: { query: { page_size: 'many' } } }));
