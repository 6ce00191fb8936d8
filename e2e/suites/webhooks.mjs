// This suite checks webhooks from end to end: a sink is subscribed, resources change, and the public libraries of CloudEvents,
// Standard Webhooks and JOSE accept the deliveries.

import assert from 'node:assert/strict';
import { check, data, finish, site, until } from '../lib.mjs';
import { accept, discover, startSink } from '../receiver.mjs';

const digest = 'sha256:' + '7'.repeat(64);
const repoCreated = 'dev.atrium.api.platform.registry.repo.created.v1';

// The sink fails the first attempt on /flaky, and answers 410 on /gone.
const sink = await startSink(({ path }, seen) => {
  if (path === '/flaky' && seen === 0) return { status: 500 };
  if (path === '/gone') return { status: 410 };
  if (path === '/moved') return { status: 307, headers: { Location: '/elsewhere' } };
  return {};
});

/** Runs a mutation by its name, such as createRepo, and returns its answer. */
async function change(name, input, fields) {
  const type = name[0].toUpperCase() + name.slice(1);
  return (await data(`mutation ($input: ${type}Input!) { ${name}(input: $input) { ${fields} } }`, { input }))[name];
}

const createGroup = async (parent, name) => (await change('createGroup', { parent, name }, 'group { uid }')).group.uid;
const createRepo = async (parent, name) => (await change('createRepo', { parent, name }, 'repo { uid }')).repo.uid;

async function subscribe(parent, path, types) {
  const { subscription, secret } = await change('createSubscription', { parent, sink: sink.url + path, types }, 'secret subscription { uid }');
  return { uid: subscription.uid, secret, group: parent };
}

const about = (uid) => ({ headers }) => headers['ce-subject'] === uid;

const { groups } = await data('{ groups(first: 1) { nodes { uid } } }');
const name = `webhooks-${Date.now()}`;
const top = await createGroup(groups.nodes[0].uid, name);
const below = await createGroup(top, name);

let verify;
await check('the keys are found by discovery', async () => { verify = await discover(site); });

const all = await subscribe(top, '/all');
await check('every change arrives, and the libraries accept each delivery', async () => {
  const repo = await createRepo(below, name);
  const { tag } = await change('createTag', { parent: repo, name: 'latest', digest }, 'tag { uid }');
  await change('updateRepo', { uid: repo, description: 'with ü and "quotes"' }, 'repo { uid }');
  const { roles } = await data('{ roles(where: { name: "viewer" }) { nodes { uid } } }');
  const role = roles.nodes[0].uid;
  const { identityProvider } = await change('createIdentityProvider', { parent: below, name, defaultRole: role }, 'identityProvider { uid }');
  const { externalGroupRoleMapping } = await change('createExternalGroupRoleMapping', { parent: identityProvider.uid, externalGroupId: 'staff', roleUid: role }, 'externalGroupRoleMapping { uid }');
  await change('deleteTag', { uid: tag.uid }, 'deletedUid');
  // The creation of the subscription may also arrive, and those of the two groups if the relay was late.
  const deliveries = await sink.arrived('/all', 6, ({ headers }) => ![all.uid, top, below].includes(headers['ce-subject']));
  const types = [];
  for (const delivery of deliveries) {
    const { event } = await accept(delivery, { issuer: site, verify, ...all });
    assert.equal(event.group, below);
    types.push(event.type.replace('dev.atrium.api.', ''));
    if (event.subject === externalGroupRoleMapping.uid) assert.equal(event.identityprovider, identityProvider.uid);
    if (event.subject === repo) assert.equal(event.bodytype, 'registry.Repo');
  }
  assert.deepEqual(types.sort(), [
    'iam.external_group_role_mappings.created.v1', 'iam.identity_providers.created.v1', 'platform.registry.repo.created.v1',
    'platform.registry.repo.updated.v1', 'platform.registry.tag.created.v1', 'platform.registry.tag.deleted.v1',
  ]);
  return `${deliveries.length} deliveries`;
}, 30);

await check('another secret, other data and another time are rejected', async () => {
  const [delivery] = await sink.arrived('/all');
  const known = { issuer: site, verify, ...all };
  await accept(delivery, known);
  await assert.rejects(accept(delivery, { ...known, secret: 'whsec_' + Buffer.alloc(32).toString('base64') }));
  await assert.rejects(accept({ ...delivery, body: delivery.body + ' ' }, known));
  await assert.rejects(accept({ ...delivery, headers: { ...delivery.headers, 'webhook-timestamp': '1' } }, known));
  await assert.rejects(accept(delivery, { ...known, group: below }));
});

await check('a failed attempt is retried with the same id and data', async () => {
  const flaky = await subscribe(top, '/flaky', [repoCreated]);
  const repo = await createRepo(top, `${name}-flaky`);
  const [first, second] = await sink.arrived('/flaky', 2, about(repo));
  assert.equal(second.headers['ce-id'], first.headers['ce-id']);
  assert.equal(second.body, first.body);
  assert.notEqual(second.headers.authorization, first.headers.authorization);
  await accept(second, { issuer: site, verify, ...flaky });
}, 30);

await check('a redirect is not followed', async () => {
  await subscribe(top, '/moved', [repoCreated]);
  const repo = await createRepo(top, `${name}-moved`);
  await sink.arrived('/moved', 2, about(repo)); // This is the retry.
  assert.deepEqual(sink.received.filter(({ path }) => path === '/elsewhere'), []);
}, 30);

await check('a sink that answers 410 gets one request', async () => {
  const { uid } = await subscribe(top, '/gone', [repoCreated]);
  await createRepo(top, `${name}-gone`);
  await sink.arrived('/gone');
  await until(async () => (await data('query ($uid: UID!) { subscription(uid: $uid) { disableTime } }', { uid })).subscription.disableTime);
  // This waits longer than the first retry takes on another path.
  const repo = await createRepo(top, `${name}-gone-later`);
  await sink.arrived('/moved', 2, about(repo));
  assert.equal(sink.received.filter(({ path }) => path === '/gone').length, 1);
}, 30);

await check('a subscription gets only its types and its group, and nothing after it is deleted', async () => {
  const narrow = await subscribe(below, '/narrow', [repoCreated]);
  const beside = await createRepo(top, `${name}-beside`);
  const inside = await createRepo(below, `${name}-inside`);
  await change('updateRepo', { uid: inside, description: 'changed' }, 'repo { uid }');
  await sink.arrived('/narrow', 1, about(inside));
  await sink.arrived('/all', 2, about(inside));
  await change('deleteSubscription', { uid: narrow.uid }, 'deletedUid');
  const after = await createRepo(below, `${name}-after`);
  await sink.arrived('/all', 1, about(after));
  await sink.arrived('/all', 1, about(beside));
  assert.deepEqual(sink.received.filter(({ path }) => path === '/narrow').map(({ headers }) => headers['ce-subject']), [inside]);
}, 30);

await check('people in a chat get a sample at once, and what has happened with links', async () => {
  const { subscription } = await change('createSubscription', { parent: top, sink: sink.url + '/chat', types: [repoCreated], format: 'SLACK' }, 'subscription { uid format digest }');
  const tested = await change('testSubscription', { uid: subscription.uid }, 'delivered status error');
  assert.deepEqual([tested.delivered, tested.error], [true, null]);
  const names = ['told', 'told-too'].map((part) => `${name}-${part}`);
  for (const one of names) await createRepo(below, one);
  const [sample] = (await sink.arrived('/chat')).map(({ body }) => JSON.parse(body));
  assert.match(sample.text, /^\*Test: Known exploited: /);
  for (const one of names) {
    const [message] = (await sink.arrived('/chat', 1, ({ body }) => JSON.parse(body).text.includes('Repo created: `' + one + '`'))).map(({ body }) => JSON.parse(body));
    assert.ok(message.text.includes(`<${site}/console/`), message.text);
    assert.equal(message.blocks[0].type, 'header');
  }
  const { subscription: found } = await data('query ($uid: UID!) { subscription(uid: $uid) { deliveries { nodes { events } } } }', { uid: subscription.uid });
  assert.equal(found.deliveries.nodes.reduce((sum, { events }) => sum + events, 0), 3);
}, 30);

await check('every delivery that arrived is valid', async () => {
  const deliveries = sink.received.filter(({ path }) => path === '/all');
  for (const delivery of deliveries) await accept(delivery, { issuer: site, verify, ...all });
  return `${deliveries.length} deliveries`;
});
finish();
