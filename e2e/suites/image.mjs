// This suite builds the image without a daemon and without a registry. The image contains one static program and certificates. The
// suite runs it as its configuration says: in its root file system, as its user, and with its environment.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { check, finish, freePort, run, temporaryFolder } from '../lib.mjs';

const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const folder = temporaryFolder(), archive = join(folder, 'image.tar'), root = join(folder, 'root');
const version = 'v0.0.0-e2e';

/** Runs a program that must succeed. */
async function must(name, ...args) {
  const { code, text, out } = await run(name, args);
  assert.equal(code, 0, text.slice(-900));
  return out;
}

let config;
await check('the image is built by buildah alone', async () => {
  const said = await must(join(import.meta.dirname, '../../deploy/image/build'), version, archive, program);
  mkdirSync(join(folder, 'layers'));
  mkdirSync(root);
  await must('tar', '-xf', archive, '-C', join(folder, 'layers'));
  const layer = (name) => join(folder, 'layers', name);
  const [manifest] = JSON.parse(readFileSync(layer('manifest.json'), 'utf8'));
  assert.deepEqual(manifest.RepoTags, [`localhost/atrium:${version}`]);
  ({ config } = JSON.parse(readFileSync(layer(manifest.Config), 'utf8')));
  for (const name of manifest.Layers) await must('tar', '-xpf', layer(name), '-C', root);
  return said.match(/\S+B$/m)[0];
}, 120);

await check('its configuration has the user, the command and the health check', () => {
  assert.equal(config.User, '65532:65532');
  assert.deepEqual(config.Entrypoint, ['/usr/bin/atrium']);
  assert.deepEqual(config.Cmd, ['serve']);
  assert.deepEqual(config.Healthcheck.Test, ['CMD', '/usr/bin/atrium', 'health']);
  assert.deepEqual(Object.keys(config.ExposedPorts), ['8080/tcp']);
  assert.deepEqual(Object.keys(config.Volumes), ['/var/lib/atrium']);
  assert.equal(config.WorkingDir, '/var/lib/atrium');
  assert.equal(config.Labels['org.opencontainers.image.version'], version);
  const names = Object.fromEntries([...readFileSync(join(import.meta.dirname, '../../project.env'), 'utf8').matchAll(/^(\w+)="?(.*?)"?$/gm)].map(([, name, value]) => [name, value]));
  const wanted = { title: names.TITLE, description: names.DESCRIPTION, licenses: names.LICENSE, vendor: names.MAINTAINER };
  for (const [name, value] of Object.entries(wanted)) assert.equal(config.Labels[`org.opencontainers.image.${name}`], value);
  assert.match(config.Labels['org.opencontainers.image.source'], /^https:\/\/github\.com\//);
  assert.match(config.Labels['org.opencontainers.image.revision'], /^[0-9a-f]{40}$/);
  assert.match(config.Labels['org.opencontainers.image.created'], /^\d{4}-\d\d-\d\dT/);
});

await check('it contains only the program, certificates, licenses and a home folder', async () => {
  const files = (await must('find', root, '-type', 'f', '-printf', '%P\n')).trim().split('\n').sort();
  assert.deepEqual(files, ['etc/group', 'etc/passwd', 'etc/ssl/certs/ca-certificates.crt', 'usr/bin/atrium', 'usr/share/doc/atrium/licenses.txt']);
  const writable = (await must('find', root, '-perm', '/o+w', '-printf', '%P\n')).trim();
  assert.equal(writable, 'tmp');
  assert.ok((await must('grep', '-c', 'BEGIN CERTIFICATE', join(root, 'etc/ssl/certs/ca-certificates.crt'))) > 100);
  return `program ${(statSync(join(root, 'usr/bin/atrium')).size / 1e6).toFixed(1)} MB`;
});

await check('an index has an image for each architecture, and building it again gives the same layers', async () => {
  // The image of the other architecture is not run here, so any static program for it will do.
  const source = join(folder, 'other'), other = join(folder, 'arm64');
  mkdirSync(source);
  writeFileSync(join(source, 'go.mod'), 'module other\n');
  writeFileSync(join(source, 'main.go'), 'package main\n\nfunc main() {}\n');
  await must('env', 'CGO_ENABLED=0', 'GOOS=linux', 'GOARCH=arm64', 'go', 'build', '-C', source, '-buildvcs=false', '-o', other, '.');
  const build = async (name) => {
    await must(join(import.meta.dirname, '../../deploy/image/build'), version, join(folder, name), program, other);
    const read = (file) => JSON.parse(readFileSync(join(folder, name, file), 'utf8'));
    return read('manifest.json').manifests.map(({ digest, platform }) => {
      const manifest = read(`${digest.slice(7)}.manifest.json`), image = read(manifest.config.digest.slice(7));
      assert.equal(image.architecture, platform.architecture);
      assert.equal(image.config.Healthcheck.Test[0], 'CMD');
      return [`${platform.os}/${platform.architecture}`, image.config.Labels, image.created, manifest.layers];
    });
  };
  const images = await build('index');
  assert.deepEqual(images.map(([platform]) => platform).sort(), ['linux/amd64', 'linux/arm64']);
  assert.deepEqual(await build('again'), images); // Only the names that buildah gives to its containers differ.
}, 240);

// Only root may become another user. Other users run it as root of a new namespace.
const own = process.getuid() !== 0;
const inside = (args) => own ? ['unshare', '--map-root-user', 'chroot', root, ...args]
  : ['chroot', `--userspec=${config.User}`, root, ...args];
const port = await freePort();
const environment = { ...Object.fromEntries(config.Env.map((text) => text.split(/=(.*)/s).slice(0, 2))), ATRIUM_ADDR: `127.0.0.1:${port}`, ATRIUM_DATABASE_URL: 'sqlite:/var/lib/atrium/atrium.db' };

/** Runs a command of the image to its end, without the environment of this machine. */
const execute = async (args, env = {}) => {
  const all = { ...environment, ...env };
  const [name, ...rest] = inside(args);
  return run('env', ['-i', ...Object.entries(all).filter(([key]) => key !== 'PATH').map((pair) => pair.join('=')), `PATH=${process.env.PATH}`, name, ...rest]);
};

const [name, ...args] = inside([...config.Entrypoint, ...config.Cmd, '--dev']);
const server = spawn(name, args, { env: { ...environment, PATH: process.env.PATH }, stdio: ['ignore', 'ignore', 'pipe'] });
let log = '';
server.stderr.setEncoding('utf8').on('data', (chunk) => { log += chunk; });
process.on('exit', () => server.kill('SIGKILL'));
const address = `http://127.0.0.1:${port}`;
const health = config.Healthcheck.Test.slice(1);

await check('its health check fails before it serves and passes from then on', async () => {
  assert.equal((await execute(health, { ATRIUM_URL: 'http://127.0.0.1:1' })).code, 1);
  let last;
  do last = await execute(health, { ATRIUM_URL: address }); while (last.code !== 0 && server.exitCode === null);
  assert.equal(last.out, 'ready\n', last.text + log);
}, 60);

await check('it answers a request and does not run as root', async () => {
  const token = (await execute([...config.Entrypoint, 'token'])).out.trim();
  const response = await fetch(`${address}/registry/v2/repos?page_size=1`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(response.status, 200, log);
  assert.equal((await response.json()).repos.length, 1);
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  if (!own) assert.match(status, /^Uid:\t65532\t65532\t65532\t65532$/m);
  assert.equal(lstatSync(join(root, 'var/lib/atrium/atrium.db')).uid, own ? process.getuid() : 65532);
  assert.match((await execute([...config.Entrypoint, 'version'])).out, /\S/);
});

await check('it trusts only the certificates in the image', async () => {
  const key = join(folder, 'key.pem'), certificate = join(folder, 'certificate.pem');
  await must('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate);
  const other = https.createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, response) => response.end('{}'));
  await new Promise((done) => other.listen(0, '127.0.0.1', done));
  const url = `https://127.0.0.1:${other.address().port}`;
  assert.equal((await execute(health, { ATRIUM_URL: url })).code, 1);
  await must('sh', '-c', `cat ${certificate} >> ${root}/etc/ssl/certs/ca-certificates.crt`);
  assert.equal((await execute(health, { ATRIUM_URL: url })).out, 'ready\n');
  other.close();
});

await check('it shuts down in time after a signal', async () => {
  const ended = new Promise((done) => server.on('exit', (code, signal) => done(code ?? signal)));
  server.kill(config.StopSignal ?? 'SIGTERM');
  assert.equal(await ended, 0, log.slice(-500));
}, 30);

finish();
