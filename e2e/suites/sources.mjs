// This suite starts a server whose feeds a web server of the suite has: advisories as osv.dev has them, known exploited vulnerabilities and EPSS.
// They are there without a command, only what has changed is read again, and sources that break, lie or attack leave a clear state.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import http from 'node:http';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { check, finish, freePort, run, start, temporaryFolder, until } from '../lib.mjs';

const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');

/** Packs files into a zip archive, without compression. `size` is what the archive says that each unpacks to. */
function zip(files, size) {
  const parts = [], directory = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text), head = Buffer.alloc(30), entry = Buffer.alloc(46), sum = crc32(content);
    head.writeUInt32LE(0x04034b50); head.writeUInt16LE(20, 4); head.writeUInt32LE(sum, 14); head.writeUInt32LE(content.length, 18); head.writeUInt32LE(content.length, 22); head.writeUInt16LE(name.length, 26);
    entry.writeUInt32LE(0x02014b50); entry.writeUInt16LE(20, 4); entry.writeUInt16LE(20, 6); entry.writeUInt32LE(sum, 16); entry.writeUInt32LE(content.length, 20); entry.writeUInt32LE(size ?? content.length, 24); entry.writeUInt16LE(name.length, 28); entry.writeUInt32LE(at, 42);
    parts.push(head, Buffer.from(name), content);
    directory.push(entry, Buffer.from(name));
    at += head.length + name.length + content.length;
  }
  const list = Buffer.concat(directory), end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50); end.writeUInt16LE(Object.keys(files).length, 8); end.writeUInt16LE(Object.keys(files).length, 10); end.writeUInt32LE(list.length, 12); end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, list, end]);
}

/** Starts a web server. `files` are served with ETags, `handlers` answer by themselves, and `asked` has the paths of requests. */
async function serveFiles() {
  const self = { files: {}, handlers: {}, asked: [] };
  const server = http.createServer((request, response) => {
    self.asked.push(request.url);
    if (self.handlers[request.url]) return void self.handlers[request.url](request, response);
    const content = self.files[request.url];
    if (content === undefined) return void response.writeHead(404).end();
    const tag = `"${createHash('sha256').update(content).digest('hex')}"`;
    if (request.headers['if-none-match'] === tag) return void response.writeHead(304, { ETag: tag }).end();
    response.writeHead(200, { ETag: tag }).end(content);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  self.host = `127.0.0.1:${server.address().port}`;
  self.url = 'http://' + self.host;
  return self;
}

const record = (id, name, modified, summary) => JSON.stringify({
  id, modified, summary, aliases: [id.replace('GO', 'CVE')], severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
  affected: [{ package: { ecosystem: 'Go', name }, ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.4.2' }] }] }],
});
const records = {};
for (let n = 1; n <= 40; n++) records[`GO-2026-${1000 + n}`] = [`example.com/module${n}`, '2026-03-01T10:00:00Z', `Fault ${n}`];
const mirror = await serveFiles(), inside = await serveFiles();

/** Puts the records as osv.dev has them. */
function putRecords() {
  const files = Object.fromEntries(Object.entries(records).map(([id, [name, modified, summary]]) => [id + '.json', record(id, name, modified, summary)]));
  for (const [name, text] of Object.entries(files)) mirror.files['/osv/Go/' + name] = text;
  mirror.files['/osv/Go/all.zip'] = zip(files);
  mirror.files['/osv/Go/modified_id.csv'] = Object.entries(records).map(([id, [, modified]]) => `${modified},${id}\n`).join('');
}
putRecords();
const putCatalog = (...ids) => { mirror.files['/kev.json'] = JSON.stringify({ title: 'KEV', catalogVersion: '2026.03.01', vulnerabilities: ids.map((cveID) => ({ cveID, dateAdded: '2026-03-01' })) }); };
putCatalog('CVE-2026-1001');
mirror.files['/epss.csv.gz'] = gzipSync('#model_version:v2026.03.01,score_date:2026-03-01T00:00:00Z\ncve,epss,percentile\nCVE-2026-1001,0.94,0.99\nCVE-2026-1002,0.01,0.2\n');

const folder = temporaryFolder(), database = `sqlite:${join(folder, 'atrium.db')}`;
const address = `127.0.0.1:${await freePort()}`, metrics = `127.0.0.1:${await freePort()}`, site = 'http://' + address;
const atrium = async (...args) => {
  const { code, text, out } = await run(program, [...args, '--database-url', database], {}, folder);
  assert.equal(code, 0, text);
  return out;
};

let server, token, organization;
const serve = async () => {
  server = start(program, ['serve', '--dev', '--addr', address, '--metrics-addr', metrics, '--log-format', 'json', '--database-url', database, '--private-source', mirror.host,
    '--feeds', `osv=Go@${mirror.url}/osv/`, '--feeds', `kev@${mirror.url}/kev.json`, '--feeds', `epss@${mirror.url}/epss.csv.gz`], {}, folder);
  await until(() => server.said.includes('"msg":"serving"'), server);
};
/** Asks the server, whose answer must have no errors. */
const ask = async (query, variables) => {
  const response = await fetch(site + '/graphql', { method: 'POST', headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' }, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await response.json();
  assert.ok(data && !errors, JSON.stringify(errors));
  return data;
};
const sourceFields = 'uid name state url lastSuccessTime failingSince failures lastRun { number state error isUnchanged problems records { kind added updated unchanged failed } }';
const feeds = async () => Object.fromEntries((await ask(`{ sources { nodes { ${sourceFields} group { uid } } } }`)).sources.nodes.filter(({ group }) => group === null).map((feed) => [feed.name, feed]));
/** Waits for the end of the run of a source with a number, and returns the source. */
const ended = (uid, number) => until(async () => {
  const { source } = await ask(`query ($uid: UID!) { source(uid: $uid) { ${sourceFields} } }`, { uid });
  return source.lastRun?.number >= number && source.state !== 'RUNNING' && source;
}, server);
/** Asks for a run of a feed, and returns the feed after it, and the paths that were asked for. */
async function runFeed(feed) {
  mirror.asked.length = 0;
  await atrium('admin', 'feeds', 'run', feed.name);
  return [await ended(feed.uid, feed.lastRun.number + 1), [...mirror.asked].sort()];
}
const known = async (id) => (await ask('query ($id: String!) { vulnerability(id: $id) { name metadata { summary } exploitation { knownExploited epss } } }', { id })).vulnerability;
const advisories = async (ids) => (await ask('query ($ids: [String!]) { advisories(where: { advisoryIds: $ids }) { totalCount } }', { ids })).advisories.totalCount;
const scrape = async () => (await fetch(`http://${metrics}/metrics`)).text();

let all;
await check('advisories, known exploited vulnerabilities and EPSS are there without a command', async () => {
  await serve();
  token = (await atrium('token')).trim();
  organization = (await ask('{ groups(first: 1) { nodes { uid } } }')).groups.nodes[0].uid;
  all = await until(async () => { const found = await feeds(); return Object.values(found).every(({ state }) => state === 'SUCCEEDED') && found; }, server);
  assert.deepEqual(Object.keys(all).sort(), ['epss', 'kev', 'osv']);
  assert.equal(all.osv.lastRun.records.find(({ kind }) => kind === 'advisories').added, 40);
  const { findingSummary } = await ask('{ findingSummary { feedsAsOf } }');
  assert.equal(findingSummary.feedsAsOf, Object.values(all).map(({ lastSuccessTime }) => lastSuccessTime).sort()[0]);
  assert.deepEqual(await known('CVE-2026-1001'), { name: 'CVE-2026-1001', metadata: { summary: 'Fault 1' }, exploitation: { knownExploited: true, epss: 0.94 } });
  assert.deepEqual((await known('CVE-2026-1002')).exploitation, { knownExploited: false, epss: 0.01 });
  const { groups } = await ask('{ groups(first: 1) { nodes { findingSummary { feedsAsOf } } } }');
  assert.equal(groups.nodes[0].findingSummary.feedsAsOf, findingSummary.feedsAsOf);
});

await check('a run reads nothing again that has not changed', async () => {
  for (const [name, path] of [['osv', '/osv/Go/modified_id.csv'], ['kev', '/kev.json'], ['epss', '/epss.csv.gz']]) {
    const [feed, asked] = await runFeed(all[name]);
    assert.deepEqual([feed.state, feed.lastRun.isUnchanged, asked], ['SUCCEEDED', true, [path]]);
    all[name] = feed;
  }
});

await check('one file that changed at the source is all that the next run reads', async () => {
  records['GO-2026-1007'] = ['example.com/module7', '2026-03-02T09:00:00Z', 'Fault 7, understood'];
  putRecords();
  let [feed, asked] = await runFeed(all.osv);
  assert.deepEqual([feed.state, asked], ['SUCCEEDED', ['/osv/Go/GO-2026-1007.json', '/osv/Go/modified_id.csv']]);
  assert.equal((await known('CVE-2026-1007')).metadata.summary, 'Fault 7, understood');
  all.osv = feed;
  putCatalog('CVE-2026-1002');
  [feed] = await runFeed(all.kev);
  assert.deepEqual([(await known('CVE-2026-1001')).exploitation.knownExploited, (await known('CVE-2026-1002')).exploitation.knownExploited], [false, true]);
  all.kev = feed;
});

const made = {};
/** Creates a source of the organization, and returns it after its first run. */
async function make(name, url, more = {}) {
  const { createSource } = await ask('mutation ($input: CreateSourceInput!) { createSource(input: $input) { source { uid } } }', { input: { parent: organization, name, type: 'OSV', url, ...more } });
  made[name] = createSource.source.uid;
  return ended(createSource.source.uid, 1);
}
const archive = (id) => zip({ [id + '.json']: record(id, 'example.com/attack', '2026-03-01T10:00:00Z', 'An attack') });
inside.files['/secret.zip'] = archive('GO-2026-2001');
const hostile = {
  'lies about its size': [(_, response) => { response.writeHead(200, { 'Content-Length': '1000000' }); response.write(archive('GO-2026-2001')); response.socket.end(); }, /it announced 1000000 bytes/],
  'redirects inside': [(_, response) => response.writeHead(302, { Location: inside.url + '/secret.zip' }).end(), /https/],
  'redirects for ever': [(request, response) => response.writeHead(302, { Location: request.url }).end(), /too many redirects/],
  'sends a bomb': [(_, response) => response.end(zip({ 'GO-2026-2001.json': record('GO-2026-2001', 'example.com/attack', '2026-03-01T10:00:00Z', 'x') }, 2 ** 31)), /unpacks to more than/],
  'has a page': [(_, response) => response.end('<html>Sign in</html>'), /none of the source's records can be used/],
  'is away': [(_, response) => response.writeHead(503).end(), /503/],
};
for (const [name, [handler, want]] of Object.entries(hostile)) await check(`a source that ${name} leaves a clear state, and no record`, async () => {
  const path = `/${encodeURIComponent(name)}.zip`;
  mirror.handlers[path] = handler;
  const source = await make(name, mirror.url + path);
  assert.equal(source.state, 'FAILED');
  assert.match(source.lastRun.error, want);
  assert.ok(source.failingSince && source.failures === 1 && source.lastSuccessTime === null, JSON.stringify(source));
  assert.equal(await advisories(['GO-2026-2001']), 0);
  assert.deepEqual(inside.asked, []);
});
await check('a source with bad TLS leaves a clear state', async () => {
  const source = await make('speaks no tls', `https://${mirror.host}/all.zip`);
  assert.equal(source.state, 'FAILED');
  assert.match(source.lastRun.error, /TLS|HTTPS/i);
});
await check('a source that hangs does not hold up the others, and its run can be cancelled', async () => {
  mirror.handlers['/hang.zip'] = () => {};
  const { createSource } = await ask('mutation ($input: CreateSourceInput!) { createSource(input: $input) { source { uid } } }', { input: { parent: organization, name: 'hangs', type: 'OSV', url: mirror.url + '/hang.zip' } });
  await until(() => mirror.asked.includes('/hang.zip'), server);
  [all.kev] = await runFeed(all.kev);
  const { cancelSource } = await ask('mutation ($uid: UID!) { cancelSource(input: { uid: $uid }) { source { state } } }', { uid: createSource.source.uid });
  assert.equal(cancelSource.source.state, 'RUNNING');
  assert.equal((await ended(createSource.source.uid, 1)).state, 'CANCELLED');
});

await check('the page of the operator, metrics, the log and events name what fails', async () => {
  const status = JSON.parse(await atrium('admin', 'status', '-o', 'json'));
  const bomb = status.sources.find(({ name }) => name === 'sends a bomb');
  assert.deepEqual([bomb.type, bomb.state, bomb.stale], ['osv', 'failed', false]);
  assert.match(bomb.error, /unpacks to more than/);
  assert.match(await atrium('admin', 'status', '--most', '30'), /sends a bomb +osv +failed +never +http.*unpacks to more/);
  const text = await scrape(), failing = Object.keys(hostile).length + 1;
  assert.match(text, new RegExp(`^atrium_sources_failing\\{type="osv"\\} ${failing}$`, 'm'));
  assert.match(text, /^atrium_sources_stale\{type="kev"\} 0$/m);
  assert.match(text, /^atrium_feed_interval_seconds\{feed="osv"\} 3600$/m);
  assert.match(text, /^atrium_feed_age_seconds\{feed="epss"\} \d/m);
  assert.match(text, new RegExp(`^atrium_source_runs_total\\{state="failed",type="osv"\\} ${failing}$`, 'm'));
  const lines = server.said.split('\n').filter((line) => line.includes('a source cannot be read')).map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ name }) => name).sort(), [...Object.keys(hostile), 'speaks no tls'].sort());
  const { auditLog } = await ask('{ auditLog(first: 100, kinds: [SOURCES_SOURCE_FAILED]) { nodes { subject } } }');
  assert.equal(auditLog.nodes.length, failing);
});

await check('a source that works again is read, and says so', async () => {
  for (const name of Object.keys(hostile)) {
    const path = `/${encodeURIComponent(name)}.zip`;
    delete mirror.handlers[path];
    mirror.files[path] = archive('GO-2026-3001');
  }
  const uid = made['sends a bomb'];
  await ask('mutation ($uid: UID!) { runSource(input: { uid: $uid }) { source { uid } } }', { uid });
  const source = await ended(uid, 2);
  assert.deepEqual([source.state, source.failingSince, source.failures], ['SUCCEEDED', null, 0]);
  assert.equal(await advisories(['GO-2026-3001']), 1);
  const { auditLog } = await ask('{ auditLog(first: 10, kinds: [SOURCES_SOURCE_RECOVERED]) { nodes { subject } } }');
  assert.deepEqual(auditLog.nodes.map(({ subject }) => subject), [uid]);
});

await check('a run of a server that was killed is made again, and half a run leaves no half record', async () => {
  records['GO-2026-1008'] = ['example.com/module8', '2026-03-03T09:00:00Z', 'Fault 8, understood'];
  records['GO-2026-1009'] = ['example.com/module9', '2026-03-03T09:00:00Z', 'Fault 9, understood'];
  putRecords();
  mirror.handlers['/osv/Go/GO-2026-1009.json'] = () => {}; // one of the two records never comes
  mirror.asked.length = 0;
  await atrium('admin', 'feeds', 'run', 'osv');
  await until(() => mirror.asked.includes('/osv/Go/GO-2026-1009.json'), server);
  server.kill('SIGKILL');
  await until(() => server.exitCode !== null || server.signalCode !== null);
  delete mirror.handlers['/osv/Go/GO-2026-1009.json'];
  await serve();
  assert.equal((await known('CVE-2026-1008')).metadata.summary, 'Fault 8');
  const feed = await ended(all.osv.uid, all.osv.lastRun.number + 2); // after the lease of the process that was killed
  assert.equal(feed.state, 'SUCCEEDED');
  assert.deepEqual([(await known('CVE-2026-1008')).metadata.summary, (await known('CVE-2026-1009')).metadata.summary], ['Fault 8, understood', 'Fault 9, understood']);
  const { source } = await ask('query ($uid: UID!) { source(uid: $uid) { runs { state error } } }', { uid: feed.uid });
  assert.deepEqual(source.runs.slice(0, 2).map(({ state }) => state), ['SUCCEEDED', 'FAILED']);
  assert.match(source.runs[1].error, /has stopped/);
}, 90);

finish();
