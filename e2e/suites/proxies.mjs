// This suite takes the configurations of proxies from the text of docs/proxies.md, runs those of nginx and Caddy before a server, and
// lets another server reach an issuer, a sink and a registry only through a proxy.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT, exportJWK } from 'jose';
import { check, finish, run, start, until } from '../lib.mjs';

const here = import.meta.dirname, root = join(here, '../..');
const program = process.env.ATRIUM_PROGRAM ?? assert.fail('ATRIUM_PROGRAM is not set');
const hosts = ['localhost', 'issuer.test', 'registry.test'], sink = '8.8.4.4';

// Node reads further authorities only when it starts, so the suite runs itself again.
const folder = process.env.ATRIUM_PROXIES ?? mkdtempSync(join(tmpdir(), 'atrium-proxies-'));
const certificate = join(folder, 'atrium.crt'), key = join(folder, 'atrium.key');
if (!process.env.ATRIUM_PROXIES) {
  const names = [...hosts.map((host) => `DNS:${host}`), `IP:${sink}`].join();
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=test', '-addext', `subjectAltName=${names}`, '-keyout', key, '-out', certificate]);
  assert.equal(made.status, 0, String(made.stderr));
  const { status } = spawnSync(process.execPath, [import.meta.filename], { stdio: 'inherit', env: { ...process.env, ATRIUM_PROXIES: folder, NODE_EXTRA_CA_CERTS: certificate } });
  process.exit(status ?? 1);
}

const page = readFileSync(join(root, 'docs/proxies.md'), 'utf8');
const configuration = (kind) => page.match(new RegExp(`^\`\`\`${kind} proxy\n(.*?)^\`\`\`$`, 'ms'))?.[1] ?? assert.fail(`the page has no configuration of ${kind}`);

const listen = (server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));
/** Returns a port that is free at the moment. */
async function freePort() {
  const server = http.createServer(), port = await listen(server);
  await new Promise((closed) => server.close(closed));
  return port;
}

// ---- Proxies in front of the server.

const database = `sqlite:${join(folder, 'atrium.db')}`;
let server, backend, headers;
await check('a server starts behind the proxies', async () => {
  server = start(program, ['serve', '--dev', '--addr', '127.0.0.1:0', '--metrics-addr=', '--log-format', 'json', '--trusted-proxy', '127.0.0.1/32', '--database-url', database]);
  backend = (await until(() => server.said.match(/"msg":"serving","url":"http:\/\/([^"]+)"/), server))[1];
  const { code, out, text } = await run(program, ['token', '--database-url', database]);
  assert.equal(code, 0, text);
  headers = { Authorization: `Bearer ${out.trim()}` };
}, 60);

/** Adapts a configuration of the page to this machine. */
const adapt = (text, port) => text.replaceAll('127.0.0.1:8080', backend).replaceAll(/\/etc\/(nginx|caddy)\/atrium/g, join(folder, 'atrium'))
  .replace('listen 443 ', `listen 127.0.0.1:${port} `).replace(/^atrium\.example\.com \{/m, `https://localhost:${port} {`).replace('atrium.example.com', 'localhost');

const proxies = {
  nginx(port, path) {
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
    const user = process.getuid() === 0 ? 'user root;' : '';
    writeFileSync(join(folder, 'nginx.conf'), `daemon off; error_log stderr; pid ${folder}/nginx.pid; ${user}\nevents {}\nhttp {\naccess_log off;\n${paths}\n${adapt(configuration('nginx'), port)}}\n`);
    return start(path, ['-p', folder, '-c', join(folder, 'nginx.conf')]);
  },
  caddy(port, path) {
    const old = /2\.6\./.test(spawnSync(path, ['version'], { encoding: 'utf8' }).stdout);
    writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n${adapt(configuration('caddy'), port).replace(/request_buffers .*/, old ? 'buffer_requests' : '$&')}`);
    return start(path, ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder });
  },
};

const list = 'platform.registry.v2.ReposService/ListRepos';
const grpcurl = (...args) => run(join(here, '../bin/grpcurl'), ['-cacert', certificate, ...args]);

for (const [name, launch] of Object.entries(proxies)) {
  const found = spawnSync(join(root, 'scripts/debian-program'), [name], { encoding: 'utf8' });
  if (found.status !== 0) {
    console.log(`ok    ${name} is not to be had on this machine`);
    continue;
  }
  const port = await freePort(), site = `https://localhost:${port}`;
  let proxy;
  await check(`${name}: the configuration of the page starts`, async () => {
    proxy = launch(port, found.stdout.trim());
    await until(() => fetch(`${site}/readyz`).then((response) => response.ok, () => false), proxy);
  });
  await check(`${name}: REST, with HTTP/1.1 and HTTP/2`, async () => {
    const response = await fetch(`${site}/registry/v2/repos?page_size=2`, { headers });
    assert.equal((await response.json()).repos.length, 2);
    const session = http2.connect(site), stream = session.request({ ':path': '/registry/v2/repos?page_size=2', ...headers });
    const status = await new Promise((done, fail) => stream.on('response', (answer) => done(answer[':status'])).on('error', fail));
    session.destroy();
    assert.equal(status, 200);
  });
  await check(`${name}: a body that is too large gets the error of the server`, async () => {
    const response = await fetch(`${site}/graphql`, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: ' '.repeat((1 << 20) + 1) });
    assert.equal(response.status, 413);
    assert.ok((await response.json()).errors?.length > 0);
  });
  await check(`${name}: GraphQL, websockets and server-sent events`, async () => {
    const { code, text } = await run(process.execPath, [join(here, 'subscriptions.mjs')], { ATRIUM_URL: site, ATRIUM_TOKEN: headers.Authorization.slice('Bearer '.length), ATRIUM_DATABASE_URL: database });
    assert.equal(code, 0, text);
    return text.match(/^\d+ passed/m)?.[0];
  }, 60);
  await check(`${name}: gRPC`, async () => {
    const host = `localhost:${port}`, token = ['-H', `authorization: ${headers.Authorization}`];
    const { code, out, text } = await grpcurl(...token, '-d', '{"page_size": 2}', host, list);
    assert.equal(code, 0, text);
    assert.equal(JSON.parse(out).repos.length, 2);
    assert.match((await grpcurl(host, 'list')).text, /^grpc\.health\.v1\.Health$/m);
    assert.match((await grpcurl(...token, '-d', '{"page_size": -1}', host, list)).text, /google\.rpc\.BadRequest/);
    assert.match((await grpcurl(host, list)).text, /Code: Unauthenticated/);
  });
  await check(`${name}: gRPC-Web and Connect`, async () => {
    const web = await fetch(`${site}/${list}`, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/grpc-web+proto', 'X-Grpc-Web': '1' }, body: Buffer.from([0, 0, 0, 0, 2, 0x20, 2]) });
    assert.match(Buffer.from(await web.arrayBuffer()).toString('latin1'), /grpc-status: ?0/);
    const connected = await fetch(`${site}/${list}`, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: '{"pageSize": 2}' });
    assert.equal((await connected.json()).repos.length, 2);
  });
  await check(`${name}: the log has the address of the client, whatever the client says`, async () => {
    const id = `proxies-${name}`;
    await new Promise((done, fail) => https.get(`${site}/registry/v2/repos`, {
      localAddress: '127.0.0.2', family: 4, ca: readFileSync(certificate), headers: { ...headers, 'X-Request-Id': id, 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.10' },
    }, (response) => response.resume().on('end', done)).on('error', fail));
    const line = await until(() => server.said.split('\n').find((one) => one.includes(`"${id}"`)), server);
    assert.equal(JSON.parse(line).remote, '127.0.0.2:0');
  });
}

// ---- A proxy between the server and the internet.

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const issuer = 'https://issuer.test', audience = 'https://atrium.example.com';
const deliveries = [];
/** Answers as the issuer, as a registry, or as the sink. */
async function internet(request, response) {
  response.setHeader('Content-Type', 'application/json');
  switch (`${request.headers.host}${request.url}`) {
    case 'issuer.test/.well-known/openid-configuration':
      return response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` }));
    case 'issuer.test/keys':
      return response.end(JSON.stringify({ keys: [{ ...await exportJWK(publicKey), kid: '1', alg: 'ES256', use: 'sig' }] }));
    case 'registry.test/v2/':
      return response.end('{}');
    case 'registry.test/v2/team/app/tags/list?n=1000':
      return response.end('{"name": "team/app", "tags": []}');
    default:
      deliveries.push(`${request.method} ${request.headers.host}${request.url}`);
      return response.end();
  }
}

const asked = [];
const outward = { database: `sqlite:${join(folder, 'outward.db')}` };
await check('a server has a proxy to the internet', async () => {
  const target = await listen(https.createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, internet));
  const proxy = http.createServer((request, response) => response.writeHead(405).end());
  proxy.on('connect', (request, socket) => {
    asked.push(request.url);
    if (request.headers['proxy-authorization'] !== `Basic ${btoa('atrium:secret')}`) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const to = connect(target, '127.0.0.1', () => { socket.write('HTTP/1.1 200 OK\r\n\r\n'); to.pipe(socket).pipe(to); });
    for (const end of [to, socket]) end.on('error', () => { to.destroy(); socket.destroy(); });
  });
  const variables = { HTTPS_PROXY: `http://atrium:secret@127.0.0.1:${await listen(proxy)}`, NO_PROXY: '', SSL_CERT_FILE: certificate };
  outward.atrium = (...args) => run(program, [...args, '--database-url', outward.database], variables);
  const { code, text } = await outward.atrium('bootstrap', '--org', 'acme', '--issuer', issuer, '--subject', 'alice');
  assert.equal(code, 0, text);
  outward.organisation = text.match(/[0-9a-f]{40}/)[0];
  // The name of the issuer is known only to the proxy.
  const child = start(program, ['serve', '--audience', audience, '--private-issuer', 'issuer.test:443', '--addr', '127.0.0.1:0', '--metrics-addr=', '--log-format', 'json', '--database-url', outward.database], variables);
  outward.site = (await until(() => child.said.match(/"msg":"serving","url":"([^"]+)"/), child))[1];
}, 60);
await check('the keys of an issuer come through the proxy', async () => {
  outward.token = await new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid: '1' }).setIssuer(issuer).setSubject('alice').setAudience(audience).setExpirationTime('1h').sign(privateKey);
  const response = await fetch(`${outward.site}/iam/v2/groups`, { headers: { Authorization: `Bearer ${outward.token}` } });
  assert.equal(response.status, 200, await response.text());
  assert.ok(asked.includes('issuer.test:443'), String(asked));
});
await check('a delivery goes through the proxy, to the address that was checked', async () => {
  const send = async (path, body) => {
    const response = await fetch(outward.site + path, { method: 'POST', headers: { Authorization: `Bearer ${outward.token}`, 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    assert.equal(response.status, 200, await response.clone().text());
  };
  await send(`/events/v2/subscriptions/${outward.organisation}`, { sink: `https://${sink}/hook` });
  await send(`/iam/v2/groups/${outward.organisation}`, { name: 'team' });
  await until(() => deliveries.includes(`POST ${sink}/hook`));
  assert.ok(asked.includes(`${sink}:443`), String(asked));
}, 60);
await check('a registry is read through the proxy', async () => {
  const { code, text } = await outward.atrium('import', 'oci', '--group', outward.organisation, 'registry.test/team/app');
  assert.equal(code, 0, text);
  assert.ok(asked.includes('registry.test:443'), String(asked));
}, 60);
finish();
