// This suite runs the REST interface from end to end, twice: directly, and through a proxy that compares every request and response
// with the OpenAPI document.

import assert from 'node:assert/strict';
import { check, data, finish, headers, read, site } from '../lib.mjs';
import { differences, prism } from '../prism.mjs';

const document = JSON.parse(await read('/openapi.json'));
const encoded = (uid) => uid.replaceAll('/', '%2F');
const digest = 'sha256:' + '5'.repeat(64);
const nowhere = 'f'.repeat(40);

// These kinds can be written: the path, the parent, a body, and the change of a PATCH.
const kinds = ({ org, group, repo, identity, role, provider, name }) => [
  { path: '/iam/v2/groups', parent: org, body: { name, description: 'a group' }, patch: { description: 'another' } },
  { path: '/iam/v2/identities', parent: group, body: { name, claimMatch: { issuer: 'https://issuer.example.com', subject: name } }, patch: { company: 'Acme' } },
  { path: '/iam/v2/roles', parent: group, body: { name, capabilities: ['CAP_REPO_LIST'] }, patch: { description: 'lists repos' } },
  { path: '/iam/v2/roleBindings', parent: group, body: { identityUid: identity, roleUid: role } },
  { path: '/iam/v2/identityProviders', parent: group, body: { name, defaultRole: role, oidc: { issuer: 'https://login.example.com', clientId: name, clientSecret: 'a secret', groupsClaim: 'groups' } }, patch: { description: 'our people' } },
  { path: '/iam/v2/externalGroupRoleMappings', parent: provider, body: { externalGroupId: name, roleUid: role, scope: group } },
  { path: '/iam/v2/groupInvites', parent: group, body: { roleUid: role, ttl: '3600s', email: 'a@example.com' } },
  { path: '/iam/v2/accountAssociations', parent: group, body: { name, ...accounts(identity) }, patch: { description: 'where it runs' } },
  { path: '/registry/v2/repos', parent: group, body: { name, sync_config: { source: 'https://registry.example.com/a' }, catalogTier: 'CATALOG_TIER_BASE' }, patch: { description: 'a repo', aliases: ['b'] } },
  { path: '/registry/v2/tags', parent: repo, body: { name, digest, bundles: ['c'] } },
  { path: '/events/v2/subscriptions', parent: group, body: { sink: `https://hooks.example.com/${name}` } },
];

// This association has accounts of every type.
const accounts = (identity) => ({
  amazon: { account: '123456789012' },
  google: { projectId: 'acme', projectNumber: '123' },
  azure: { tenantId: 'acme', clientIds: { puller: 'a' } },
  platform: { serviceBindings: { puller: identity } },
  github: { appInstallations: { 7: { installations: [{ installationId: '8', name: 'acme' }] } } },
});

// These are the lists in the document. Their answers have a total.
const lists = Object.entries(document.paths).flatMap(([path, { get }]) => {
  const name = get?.responses['200'].content?.['application/json']?.schema?.$ref?.split('/').at(-1);
  const { properties } = document.components.schemas[name] ?? {};
  return properties?.skipped && !path.includes('{') ? [{ path, parameters: get.parameters, items: Object.keys(properties).find((p) => properties[p].type === 'array') }] : [];
});

/** Returns a value that a parameter accepts. */
function valueOf({ name, schema }, org) {
  const one = schema.items ?? schema;
  const definition = one.$ref ? document.components.schemas[one.$ref.split('/').at(-1)] : one;
  if (definition.enum) return definition.enum[0];
  if (definition.type === 'boolean') return String(!definition.default);
  if (definition.type === 'integer' || definition.type === 'number') return '1';
  if (definition.format === 'date-time') return /^end_time$|Before$/.test(name) ? '2026-02-01T00:00:00Z' : '2026-01-01T00:00:00Z';
  if (name === 'page_token') return '';
  if (name === 'imageRefs') return 'billing';
  return definition.default ?? [org, digest, 'some'].find((value) => new RegExp(definition.pattern ?? '').test(value));
}

// A list by something that is not there is 404, and so is one by what is of another kind.
const namesOne = (name) => /^(uidp\.ids|identity|group|role|identity_provider_uid|ids?)$/.test(name);

async function suite(way, base, look) {
  const name = `e2e ${way}`.replaceAll(' ', '-');

  /** Sends a request and returns its answer, which must have this status, or one of several. */
  async function send(method, path, { body, raw, status = 200, bad = false, encoding, authorization = headers.Authorization } = {}) {
    const response = await fetch(base + path, {
      method, body: raw ?? (body && JSON.stringify(body)),
      headers: { ...(authorization && { Authorization: authorization }), ...((raw ?? body) !== undefined && { 'Content-Type': 'application/json' }), ...(encoding && { 'Content-Encoding': encoding }) },
    });
    const text = await response.text();
    assert.ok([status].flat().includes(response.status), `${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    look(response, `${method} ${path}`, bad);
    return text === '' ? undefined : JSON.parse(text);
  }
  const addressOf = (path, uid) => `${path}/${encoded(uid)}`;
  const make = (path, parent, body) => send('POST', addressOf(path, parent), { body });
  const refused = async (status, reason, method, path, request) => {
    const { code, message, details } = await send(method, path, { ...request, status });
    assert.ok(code && message && details.length > 0, message);
    assert.equal(details[0]['@type'], 'type.googleapis.com/google.rpc.ErrorInfo');
    assert.equal(details[0].reason, reason, message);
  };

  const org = (await send('GET', '/iam/v2/groups?uidp.in_root=true')).groups[0].uid;
  const group = (await make('/iam/v2/groups', org, { name: `${name}-all` })).uid;
  const identity = (await make('/iam/v2/identities', group, { name: 'robot' })).uid;
  const role = (await make('/iam/v2/roles', group, { name: 'lister', capabilities: ['CAP_TAG_LIST'] })).uid;
  const repo = (await make('/registry/v2/repos', group, { name: 'a/b' })).uid;
  const provider = (await make('/iam/v2/identityProviders', group, { name: 'login', defaultRole: role, oidc: { issuer: 'https://login.example.com', clientId: way } })).uid;
  const made = [];

  for (const kind of kinds({ org, group, repo, identity, role, provider, name })) {
    await check(`${way}: ${kind.path} is created, read, listed and changed`, async () => {
      const { path, body, patch } = kind;
      const one = await make(path, kind.parent, body);
      made.unshift(addressOf(path, one.uid));
      assert.equal((await send('GET', addressOf(path, one.uid))).uid, one.uid);
      const plural = path.split('/').at(-1);
      const page = await send('GET', `${path}?uidp.ids=${encoded(one.uid)}&page_size=1`);
      assert.deepEqual(page[plural].map((item) => item.uid), [one.uid]);
      if (!patch) return;
      const [field] = Object.keys(patch), path1 = addressOf(path, one.uid);
      assert.deepEqual((await send('PATCH', path1, { body: patch }))[field], patch[field]);
      assert.equal((await send('PATCH', path1, { body: { [field]: null } }))[field], undefined, 'null clears');
      const masked = await send('PATCH', `${path1}?updateMask=${field}`, { body: { ...patch, name: 'ignored' } });
      assert.deepEqual([masked[field], masked.name], [patch[field], body.name], 'what the mask does not list is left alone');
      assert.equal((await send('PATCH', `${path1}?update_mask=${field}`, { body: {} }))[field], undefined, 'what it lists and the body lacks is cleared');
      const whole = await send('PATCH', `${path1}?updateMask=*`, { body: { ...body, ...patch } });
      assert.deepEqual(whole[field], patch[field]);
      await refused(400, 'INVALID_ARGUMENT', 'PATCH', `${path1}?updateMask=nothing`, { body: patch });
      await refused(400, 'INVALID_ARGUMENT', 'PATCH', `${path1}?updateMask=createTime`, { body: patch });
    });
  }

  await check(`${way}: batches, readmes, images, look-ups`, async () => {
    const robot = (await make('/iam/v2/identities', group, { name: 'second robot' })).uid;
    const batch = await send('POST', '/iam/v2/roleBindings:batchCreate', { body: { parent: group, roleUid: role, requests: [{ roleBinding: { identityUid: robot } }] } });
    assert.equal(batch.roleBindings.length, 1);
    assert.equal((await send('PATCH', `${addressOf('/registry/v2/repos', repo)}/readme`, { body: { content: '# A' } })).content, '# A');
    assert.equal((await send('GET', `${addressOf('/registry/v2/repos', repo)}/readme`)).content, '# A');
    // Other suites make groups, repos and tags of their own.
    const { repo: { uid: checkout } } = await data('{ repo(path: "acme/engineering/shop/checkout") { uid } }');
    const { tags: [{ digest: imageDigest }] } = await send('GET', `/registry/v2/tags?name=5.0.2&uidp.children_of=${encoded(checkout)}`);
    const image = `${addressOf('/registry/v2/repos', checkout)}/digests/${encodeURIComponent(imageDigest)}`;
    assert.ok((await send('GET', `${image}/architectures`)).architectures.length > 0);
    assert.match((await send('GET', `${image}/size`)).size, /^\d+$/);
    assert.ok((await send('GET', `/iam/v2/identities:lookupIdentity?issuer=https%3A%2F%2Fissuer.example.com&subject=${name}`)).uid);
    assert.deepEqual(await send('GET', '/ping/v2/ping', { authorization: '' }), { response: 'pong' });
  });

  await check(`${way}: invites are accepted once, mappings deleted together, terms accepted`, async () => {
    const { code } = await make('/iam/v2/groupInvites', group, { roleUid: role, ttl: '60s', singleUse: true });
    assert.equal((await send('POST', '/iam/v2/groupInvites:accept', { body: { code } })).role.uid, role);
    await refused(404, 'NOT_FOUND', 'POST', '/iam/v2/groupInvites:accept', { body: { code } });

    const mapping = (await make('/iam/v2/externalGroupRoleMappings', provider, { externalGroupId: 'staff', roleUid: role })).uid;
    await refused(400, 'FAILED_PRECONDITION', 'DELETE', addressOf('/iam/v2/identityProviders', provider));
    const gone = await send('POST', '/iam/v2/externalGroupRoleMappings:batchDelete', { body: { parent: provider, names: [mapping] } });
    assert.deepEqual(gone.externalGroupRoleMappings.map((one) => one.uid), [mapping]);

    const terms = addressOf('/iam/v2/terms', group);
    assert.deepEqual((await send('POST', terms, { body: { documentIds: ['a', 'b'] } })).documentIds, ['a', 'b']);
    const first = await send('GET', `${terms}?page_size=1`);
    const rest = await send('GET', `${terms}?page_size=1&page_token=${first.nextPageToken}`);
    assert.deepEqual([...first.termsAcceptances, ...rest.termsAcceptances].map((one) => one.docId), ['a', 'b']);
  });

  await check(`${way}: libraries, documents, reports`, async () => {
    const { artifacts } = await send('GET', '/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&page_size=1');
    const versions = await send('GET', `/libraries/v2/artifacts/${artifacts[0].uid}/versions?page_size=200`);
    assert.equal(versions.artifactVersions.length, artifacts[0].versionCount);
    assert.equal((await send('GET', '/libraries/v2/artifacts/count?ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON')).counts.length, 2);
    const { documents } = await send('GET', '/advisory/v2/documents');
    const { id, advisories } = documents[0];
    assert.deepEqual((await send('GET', `/advisory/v2/documents?id=${encodeURIComponent(id)}&cves=${advisories[0].aliases[0]}`)).documents.map((one) => one.id), [id]);
    const { resolvedVulnsReports } = await send('GET', '/advisory/v2/images/resolvedVulns?imageRefs=billing&start_time=2026-01-01T00:00:00Z&end_time=2026-12-31T00:00:00Z');
    assert.ok(resolvedVulnsReports[0].resolvedVulns.length > 0);
  });

  for (const { path, parameters, items } of lists) {
    await check(`${way}: ${path} accepts each of its parameters, alone and together`, async () => {
      const needed = parameters.filter((p) => p.required).map((p) => [p.name, valueOf(p, org)]);
      const pairs = parameters.map((p) => [p.name, valueOf(p, org)]);
      const list = (query) => send('GET', `${path}?${new URLSearchParams(query)}`, { status: query.some(([n]) => namesOne(n)) ? [200, 404] : 200 });
      for (const pair of pairs) await list([...needed.filter(([n]) => n !== pair[0]), pair]);
      await list(pairs);
      const repeated = parameters.filter((p) => p.schema.type === 'array').flatMap((p) => [valueOf(p, org), valueOf(p, org)].map((v) => [p.name, v]));
      await list([...needed, ...repeated]);
      const first = await send('GET', `${path}?${new URLSearchParams([...needed, ['page_size', '2']])}`);
      if (first.nextPageToken) await send('GET', `${path}?${new URLSearchParams([...needed, ['page_size', '2'], ['page_token', first.nextPageToken]])}`);
      for (const { uid } of first[items]) if (document.paths[`${path}/{uid}`]?.get) await send('GET', addressOf(path, uid));
    });
  }

  await check(`${way}: every error has its form`, async () => {
    const repos = '/registry/v2/repos';
    await refused(400, 'INVALID_ARGUMENT', 'GET', `${repos}?page_size=-1`, { bad: true });
    await refused(400, 'INVALID_ARGUMENT', 'GET', `${repos}?order_by=color`, { bad: true });
    await refused(400, 'INVALID_ARGUMENT', 'GET', `${repos}?page_token=forged`);
    await refused(400, 'INVALID_ARGUMENT', 'GET', `${repos}?nmae=a`);
    await refused(400, 'INVALID_ARGUMENT', 'GET', `${repos}/nothing`, { bad: true });
    await refused(400, 'INVALID_ARGUMENT', 'POST', addressOf(repos, group), { body: {}, bad: true });
    await refused(400, 'INVALID_ARGUMENT', 'POST', addressOf(repos, group), { body: { name: 'c', color: 'red' }, bad: true });
    await refused(400, 'INVALID_ARGUMENT', 'POST', addressOf(repos, group), { body: { name: 'c', catalogTier: 'GOLD' }, bad: true });
    await refused(400, 'FAILED_PRECONDITION', 'DELETE', addressOf('/iam/v2/groups', group));
    await refused(400, 'FAILED_PRECONDITION', 'DELETE', addressOf('/iam/v2/identities', identity));
    await refused(401, 'UNAUTHENTICATED', 'GET', repos, { authorization: '', bad: true });
    await refused(401, 'UNAUTHENTICATED', 'GET', repos, { authorization: 'Bearer e30.e30.e30' });
    await refused(403, 'PERMISSION_DENIED', 'GET', addressOf(repos, nowhere));
    await refused(403, 'PERMISSION_DENIED', 'POST', addressOf(repos, nowhere), { body: { name: 'c' } });
    await refused(404, 'NOT_FOUND', 'GET', addressOf(repos, `${group}/${'0'.repeat(16)}`));
    await refused(404, 'NOT_FOUND', 'DELETE', addressOf('/registry/v2/tags', `${repo}/${'0'.repeat(16)}`));
    await refused(409, 'ALREADY_EXISTS', 'POST', addressOf(repos, group), { body: { name: 'a/b' } });
    await refused(413, 'INVALID_ARGUMENT', 'POST', addressOf(repos, group), { body: { name: 'c', description: 'x'.repeat(1 << 20) } });
    if (way === 'direct') { // The proxy would decode the body.
      await refused(415, 'INVALID_ARGUMENT', 'POST', addressOf(repos, group), { raw: '{"name":"c"}', encoding: 'br' });
    }
  }, 30);

  await check(`${way}: everything that was created is deleted`, async () => {
    for (const path of made) {
      assert.equal(await send('DELETE', path), undefined, 'the answer is empty');
      await refused(404, 'NOT_FOUND', 'GET', path);
    }
  });
}

await suite('direct', site, () => {});

const proxy = await prism('Architectures');
let compared = 0, differing = 0;
await suite('proxied', proxy, (response, asked, bad) => {
  const found = differences(response);
  compared++;
  if (asked.endsWith('/architectures')) {
    differing += found.response.length;
    return;
  }
  assert.deepEqual(found.response, [], asked);
  assert.equal(found.request.length > 0, bad, `${asked}: ${found.request}`);
});
await check('the proxy compared every answer, and found the wrong schema', async () => {
  assert.ok(compared > 100 && differing > 0, `${compared} compared, ${differing} differing`);
  return `${compared} answers`;
});
finish();
