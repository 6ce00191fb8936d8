// This suite takes the configurations of proxies from the text of docs/proxies.md, runs those that it can get before two servers, which it
// restarts one after the other, and lets another server reach an issuer, a sink and a registry only through a proxy.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT, exportJWK } from 'jose';
import { check, finish, freePort, run, start, until } from '../lib.mjs';

const here = import.meta.dirname, root = join(here, '../..');
const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const hosts = ['localhost', 'issuer.test', 'registry.test'], sink = '8.8.4.4';

// Node reads further authorities only when it starts, so the suite runs itself again.
const folder = process.env.ATRIUM_TEST_PROXIES ?? mkdtempSync(join(tmpdir(), 'atrium-proxies-'));
const certificate = join(folder, 'atrium.crt'), key = join(folder, 'atrium.key');
if (!process.env.ATRIUM_TEST_PROXIES) {
  const names = [...hosts.map((host) => `DNS:${host}`), `IP:${sink}`].join();
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=test', '-addext', `subjectAltName=${names}`, '-keyout', key, '-out', certificate]);
  assert.equal(made.status, 0, String(made.stderr));
  const { status } = spawnSync(join(root, 'scripts/with-postgres'), [process.execPath, import.meta.filename], { stdio: 'inherit', env: { ...process.env, ATRIUM_TEST_PROXIES: folder, NODE_EXTRA_CA_CERTS: certificate } });
  process.exit(status ?? 1);
}

const page = readFileSync(join(root, 'docs/proxies.md'), 'utf8');
const configuration = (kind) => page.match(new RegExp(`^\`\`\`${kind} proxy\n(.*?)^\`\`\`$`, 'ms'))?.[1] ?? assert.fail(`the page has no configuration of ${kind}`);

const listen = (server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));

// ---- Proxies in front of the server.

const database = process.env.ATRIUM_TEST_POSTGRES;
const backends = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`], servers = [];
let headers, organization;
/** Starts one of the two servers. */
async function serve(i) {
  servers[i] = start(program, ['serve', '--dev', '--addr', backends[i], '--metrics-addr=', '--log-format', 'json', '--drain-delay', '3s', '--trusted-proxy', '127.0.0.1/32', '--database-url', database]);
  await until(() => servers[i].said.includes('"msg":"serving"'), servers[i]);
}
await check('two servers start behind the proxies', async () => {
  for (const i of [0, 1]) await serve(i);
  const { code, out, text } = await run(program, ['token', '--database-url', database]);
  assert.equal(code, 0, text);
  headers = { Authorization: `Bearer ${out.trim()}` };
  const groups = await (await fetch(`http://${backends[0]}/iam/v2/groups?name=acme`, { headers })).json();
  organization = groups.groups[0].uid;
}, 60);

/** Adapts a configuration of the page to this machine. */
const adapt = (text, port) => text.replaceAll('127.0.0.1:8080', backends[0]).replaceAll('127.0.0.1:8081', backends[1])
  .replaceAll(/\/etc\/(nginx|haproxy|caddy|apache2)\/atrium/g, join(folder, 'atrium'))
  .replace('listen 443 ', `listen 127.0.0.1:${port} `).replace('bind :443', `bind 127.0.0.1:${port}`).replace('Listen 443', `Listen 127.0.0.1:${port}`).replace('*:443', `*:${port}`)
  .replace(/^atrium\.example\.com \{/m, `https://localhost:${port} {`).replace('atrium.example.com', 'localhost');

/** The packages of Debian that programs need, other than the one of their own name. */
const libraries = {
  haproxy: ['liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
  apache2: ['apache2-bin', 'libapr1', 'libaprutil1', 'libnghttp2-14', 'libjansson4', 'liblua5.3-0', 'libbrotli1'],
};

const proxies = {
  nginx(port, path) {
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
    const user = process.getuid() === 0 ? 'user root;' : '';
    writeFileSync(join(folder, 'nginx.conf'), `daemon off; error_log stderr; pid ${folder}/nginx.pid; ${user}\nevents {}\nhttp {\naccess_log off;\n${paths}\n${adapt(configuration('nginx'), port)}}\n`);
    return start(path, ['-p', folder, '-c', join(folder, 'nginx.conf')]);
  },
  haproxy(port, path) {
    writeFileSync(join(folder, 'atrium.pem'), readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'));
    writeFileSync(join(folder, 'haproxy.cfg'), adapt(configuration('haproxy'), port));
    return start(path, ['-db', '-f', join(folder, 'haproxy.cfg')]);
  },
  caddy(port, path) {
    const old = /2\.6\./.test(spawnSync(path, ['version'], { encoding: 'utf8' }).stdout);
    writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n${adapt(configuration('caddy'), port).replace(/request_buffers .*/, old ? 'buffer_requests' : '$&')}`);
    return start(path, ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder });
  },
  apache2(port, path) {
    const text = configuration('apache'), modules = [path.replace(/[^/]*$/, 'apache2.root/usr/lib/apache2/modules'), '/usr/lib/apache2/modules'].find(existsSync);
    // What Debian's configuration has already: modules that others need, and where files are.
    const named = ['mpm_event', 'authz_core', 'proxy', 'slotmem_shm', 'socache_shmcb', ...text.match(/^# a2enmod (.*)/m)[1].split(' ')];
    const load = named.sort((a, b) => (a === 'proxy' ? -1 : b === 'proxy' ? 1 : 0)).map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`);
    writeFileSync(join(folder, 'apache.conf'), [...load, `ServerRoot ${folder}`, `DefaultRuntimeDir ${folder}`, `PidFile ${folder}/apache.pid`, `ErrorLog ${folder}/apache.log`, 'ServerName localhost', adapt(text, port)].join('\n'));
    return start(path, ['-f', join(folder, 'apache.conf'), '-DFOREGROUND']);
  },
};

const list = 'platform.registry.v2.ReposService/ListRepos';
const grpcurl = (...args) => run(join(here, '../bin/grpcurl'), ['-cacert', certificate, ...args]);

/**
 * Sends requests through a proxy, many at the same time, until `end` of the result is called, which returns how many there were. Every third
 * one changes something, and others are gRPC. `failed` has the answers that were not good.
 */
function load(site, round) {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 8 }), sessions = [], failed = [];
  let sent = 0, ended = false;
  const ask = (method, path, body) => new Promise((done) => {
    const request = https.request(site + path, { method, agent, headers: { ...headers, 'Content-Type': 'application/json' } }, async (response) => {
      const text = await response.setEncoding('utf8').toArray();
      done(response.statusCode === 200 ? undefined : `${method} ${path}: ${response.statusCode} ${text.join('').slice(0, 200)}`);
    });
    request.on('error', (problem) => done(`${method} ${path}: ${problem}`)).end(body);
  });
  const call = (number) => new Promise((done) => {
    if (!sessions[number] || sessions[number].closed || sessions[number].destroyed) sessions[number] = http2.connect(site).on('error', () => {}); // Proxies close one after some requests.
    const stream = sessions[number].request({ ':method': 'POST', ':path': `/${list}`, ...headers, 'content-type': 'application/grpc', te: 'trailers' });
    let status = 'no status', http = 0;
    stream.on('response', (answer) => { http = answer[':status']; status = answer['grpc-status'] ?? status; }).on('trailers', (last) => { status = last['grpc-status'] ?? status; })
      .on('error', (problem) => { status = String(problem); }).on('close', () => done(http === 200 && status === '0' ? undefined : `gRPC: ${http} ${status}`)).resume();
    stream.end(Buffer.from([0, 0, 0, 0, 2, 0x20, 2]));
  });
  async function worker(number) {
    for (let i = 0; !ended; i++) {
      await new Promise((go) => setImmediate(go)); // A call that fails at once must not keep others from being answered.
      sent++;
      const fault = number < 2 ? await call(number) : i % 3 ? await ask('GET', '/registry/v2/repos?page_size=5')
        : await ask('POST', `/iam/v2/groups/${organization}`, JSON.stringify({ name: `restart-${round}-${number}-${i}` }));
      if (fault) failed.push(fault);
    }
  }
  const workers = Array.from({ length: 8 }, (_, number) => worker(number));
  return { failed, async end() { ended = true; await Promise.all(workers); sessions.forEach((session) => session.destroy()); agent.destroy(); return sent; } };
}

for (const [name, launch] of Object.entries(proxies)) {
  const found = spawnSync(join(root, 'scripts/debian-program'), [name, ...libraries[name] ?? []], { encoding: 'utf8' });
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
    const line = await until(() => servers.flatMap((server) => server.said.split('\n')).find((one) => one.includes(`"${id}"`)));
    assert.equal(JSON.parse(line).remote, '127.0.0.2');
  });
  await check(`${name}: two servers are restarted one after the other, and clients notice nothing`, async () => {
    const running = load(site, name);
    for (const i of [0, 1, 0, 1]) {
      servers[i].kill('SIGTERM');
      await new Promise((exited) => servers[i].once('exit', exited));
      await serve(i);
      // The proxy uses it again, for both kinds of requests.
      await until(() => ['"/registry/v2/repos', `"/${list}`].every((path) => servers[i].said.split(path).length > 10), servers[i]);
    }
    const sent = await running.end();
    // A request that is sent at the very moment at which the server closes its connection is lost, and no proxy may repeat it. A server that
    // is left out or tried too long loses some of a hundred.
    assert.ok(running.failed.length <= Math.max(2, sent / 2000), `${running.failed.length} of ${sent} requests were lost: ${running.failed.slice(0, 5).join('\n')}`);
    return `${running.failed.length} of ${sent} requests were lost`;
  }, 60);
  proxy?.kill();
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
  const { code, text } = await outward.atrium('admin', 'bootstrap', '--org', 'acme', '--issuer', issuer, '--subject', 'alice');
  assert.equal(code, 0, text);
  outward.organization = text.match(/[0-9a-f]{40}/)[0];
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
  await send(`/events/v2/subscriptions/${outward.organization}`, { sink: `https://${sink}/hook` });
  await send(`/iam/v2/groups/${outward.organization}`, { name: 'team' });
  await until(() => deliveries.includes(`POST ${sink}/hook`));
  assert.ok(asked.includes(`${sink}:443`), String(asked));
}, 60);
await check('a registry is read through the proxy', async () => {
  const { code, text } = await outward.atrium('admin', 'import', 'oci', '--group', outward.organization, 'registry.test/team/app');
  assert.equal(code, 0, text);
  assert.ok(asked.includes('registry.test:443'), String(asked));
}, 60);
finish();
