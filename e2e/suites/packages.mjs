// This suite checks the files for deployment and packaging: the chart, compose.yaml, the workflows, and the configuration of
// packages. The libraries of the programs that use a file check it, and must find a fault that the suite adds.

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, finish, run, temporary, temporaryFolder } from '../lib.mjs';

const program = process.env.ATRIUM_TEST_PROGRAM ?? assert.fail('ATRIUM_TEST_PROGRAM is not set');
const root = join(import.meta.dirname, '../..'), tools = join(import.meta.dirname, '../bin');
const packages = (...args) => run(join(tools, 'packages'), args, {}, root);

async function accepts(result) {
  const { code, text, out } = await result;
  assert.equal(code, 0, text);
  return out.trim().replaceAll('\n', ', ');
}

async function refuses(result, why) {
  const { code, text } = await result;
  assert.notEqual(code, 0, 'the fault is not found');
  assert.match(text, why);
}

const chart = join(root, 'deploy/helm/atrium');

/** Returns a copy of the chart in which a text is replaced. */
function spoilt(name, file, from, to) {
  const copy = join(temporaryFolder(), name, 'atrium'), path = join(copy, file);
  cpSync(chart, copy, { recursive: true });
  const text = readFileSync(path, 'utf8');
  assert.ok(text.includes(from), `${file} has no ${from}`);
  writeFileSync(path, text.replace(from, to));
  return copy;
}

await check('Helm lints the chart, and Kubernetes knows every rendered field', () => accepts(packages('chart', chart, program)));
for (const [name, file, from, to, why] of [
  ['a field that Kubernetes does not have', 'templates/deployment.yaml', 'replicas:', 'replica:', /unknown field "spec.replica"/],
  ['a field that the Prometheus operator does not have', 'templates/servicemonitor.yaml', 'jobLabel:', 'joblabel:', /unknown field "spec.joblabel"/],
  ['a selector that selects nothing', 'templates/poddisruptionbudget.yaml', '{{- include "atrium.selector" . | nindent 6 }}', 'a: b', /PodDisruptionBudget does not select the pods/],
  ['a port that no container has', 'templates/service.yaml', 'targetPort: http', 'targetPort: web', /port web that no container has/],
  ['a root that can be written to', 'templates/_helpers.tpl', 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false', /may write to its root/],
  ['a setting that the program does not have', 'values.yaml', 'drain-delay: 10s', 'drain-wait: 10s', /drain-wait/],
  ['a schema without a setting of the program', 'values.schema.json', '"rate-burst", ', '', /values.schema.json must have these settings/],
  ['a port at which gateways break websockets', 'templates/service.yaml', 'ternary "https" ""', 'ternary "https" "kubernetes.io/h2c"', /the HTTPRoute leads to the Service/],
  ['a migration without the proxy of its database', 'templates/migration.yaml', '{{- with .Values.initContainers }}', '{{- with "" }}', /other containers before it than the server/],
  ['metrics that everybody can read', 'templates/networkpolicy.yaml', 'from: {{ toYaml .Values.networkPolicy.metricsFrom | nindent 8 }}', '', /shows metrics and profiles to everybody/],
  ['replicas beside an autoscaler', 'templates/deployment.yaml', '{{- if not .Values.autoscaling.enabled }}', '{{- if true }}', /does not decide how many replicas/],
  ['a user that OpenShift refuses', 'templates/_helpers.tpl', 'omit $context "runAsUser" "runAsGroup" "fsGroup"', '$context', /chooses its user is true/],
  ['a migration without the volumes of the server', 'templates/migration.yaml', '{{- with include "atrium.volumes" . | trim }}', '{{- with "" }}', /the migration: it mounts|the migration has no volume/],
  ['an ingress that leads nowhere', 'templates/ingress.yaml', 'port: {name: http}', 'port: {name: web}', /the Ingress leads to the Service/],
  ['a README of other values', 'values.yaml', '  maxReplicas: 6', '  maxReplicas: 7', /README.md of the chart is not that of its values/],
  ['pods that are killed too early', 'values.yaml', 'terminationGracePeriodSeconds: 30', 'terminationGracePeriodSeconds: 20', /must be 30 or more/],
]) {
  await check(`the check of the chart finds ${name}`, () => refuses(packages('chart', spoilt(name, file, from, to), program), why));
}

await check('the chart of a release has its version, and names its image by the digest', async () => {
  const image = `ghcr.io/acme/atrium@sha256:${'0123456789abcdef'.repeat(4)}`, folder = temporaryFolder();
  const path = await accepts(packages('archive', chart, 'v1.2.3', image, folder));
  assert.equal(path, join(folder, 'atrium-1.2.3.tgz'));
  await accepts(run('tar', ['-xzf', path, '-C', folder]));
  const read = (name) => readFileSync(join(folder, 'atrium', name), 'utf8');
  assert.match(read('Chart.yaml'), /^appVersion: v1\.2\.3$[^]*^version: 1\.2\.3$/m);
  assert.ok(read('Chart.yaml').includes(`    - name: atrium\n      image: ${image}\n`) && read('Chart.yaml').includes('artifacthub.io/prerelease: "false"'));
  assert.ok(read('values.yaml').includes('\n  repository: ghcr.io/acme/atrium\n') && read('values.yaml').includes('\n  digest: sha256:0123'));
  assert.ok(read('files/alerts.yaml').includes('AtriumDown') && read('files/dashboard.json').includes('"Atrium"'));
  await refuses(packages('archive', chart, 'v1.2.3', 'ghcr.io/acme/atrium:v1.2.3', folder), /must have a digest/);
});

const secrets = ['POSTGRES_PASSWORD', 'GRAFANA_PASSWORD', 'ATRIUM_ENCRYPTION_KEY'];
await check('Compose loads compose.yaml only with its secrets', () => accepts(packages('compose', 'compose.yaml', ...secrets)));
await check('Compose loads the demonstration without a secret', () => accepts(packages('compose', 'deploy/demo/compose.yaml')));
for (const [name, from, to, why] of [
  ['a field that Compose does not have', 'read_only:', 'readonly:', /readonly/],
  ['a port that all can reach', '127.0.0.1:8080:8080', '8080:8080', /is reached from other machines at port 8080/],
  ['logs that fill the disk', 'max-size: 10m, ', '', /may fill the disk with logs/],
  ['a service without limits', '    cpus: 1.0\n', '', /has no limits of memory, CPU and processes/],
  ['an image without a digest', 'postgres:17.10-bookworm@sha256:9b', 'postgres:17.10-bookworm@sha256:', /image without a version and a digest/],
  ['a file that is not there', './deploy/grafana/atrium.json', './deploy/grafana/other.json', /mounts what is not there/],
]) {
  const path = temporary('compose.yaml', readFileSync(join(root, 'compose.yaml'), 'utf8').replaceAll(from, to));
  await check(`the check of compose.yaml finds ${name}`, () => refuses(packages('compose', path, ...secrets), why));
}
for (const file of ['compose.yaml', 'deploy/demo/compose.yaml']) await check(`${file} passes settings that the program accepts`, async () => {
  const service = readFileSync(join(root, file), 'utf8').match(/^ {2}atrium:$.*?^ {2}(?:postgres|dex):$/ms)[0];
  const given = { POSTGRES_PASSWORD: 'secret', ATRIUM_ENCRYPTION_KEY: 'ab'.repeat(32) };
  const env = Object.fromEntries([...service.matchAll(/^ {6}(ATRIUM_\w+): (.*?)(?: #.*)?$/gm)]
    .map(([, name, value]) => [name, value.replace(/\$\{(\w+)(?::?-(.*?)|:\?.*?)\}/g, (_, variable, instead) => given[variable] ?? instead)]));
  const { code, out, text } = await run(program, ['admin', 'config'], env);
  assert.equal(code, 0, text);
  for (const name of Object.keys(env)) assert.ok(out.includes(`# $${name}`), `${name} is not a setting`);
  return `${Object.keys(env).length} settings`;
});

await check('every base image of the Dockerfile has a digest', async () => {
  const said = await accepts(packages('dockerfile', 'Dockerfile'));
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  await refuses(packages('dockerfile', temporary('Dockerfile', text.replace(/@sha256:[0-9a-f]{64}/, ''))), /must have a version and a digest/);
  return said;
});

await check('govulncheck finds a vulnerability of the program in a database that is a folder', async () => {
  const database = (affected) => {
    const folder = join(temporaryFolder(), affected.replaceAll('/', '-')), modified = '2026-11-01T00:00:00Z', id = 'GO-2026-0001';
    const write = (name, value) => writeFileSync(join(folder, name), JSON.stringify(value));
    for (const name of ['index', 'ID']) mkdirSync(join(folder, name), { recursive: true });
    write('index/db.json', { modified });
    write('index/modules.json', [{ path: affected, vulns: [{ id, modified }] }]);
    write('index/vulns.json', [{ id, modified }]);
    write(`ID/${id}.json`, { schema_version: '1.3.1', id, modified, published: modified, summary: 'invented', details: 'invented', database_specific: { url: 'https://example.com' },
      affected: [{ package: { name: affected, ecosystem: 'Go' }, ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }] }], ecosystem_specific: { imports: [{ path: affected }] } }] });
    return `file://${folder}`;
  };
  const govulncheck = (affected) => run(join(tools, 'govulncheck'), ['-mode=binary', `-db=${database(affected)}`, program]);
  await accepts(govulncheck('example.com/other'));
  await refuses(govulncheck('github.com/jackc/pgx/v5'), /GO-2026-0001[^]*github\.com\/jackc\/pgx\/v5@v5/);
});

const workflows = readdirSync(join(root, '.github/workflows')).map((name) => join(root, '.github/workflows', name));
const actionlint = (...files) => run(join(tools, 'actionlint'), ['-no-color', '-shellcheck=', '-pyflakes=', ...files], {}, root);
await check('actionlint accepts the workflows, and every action is pinned', async () => {
  await accepts(actionlint(...workflows));
  return accepts(packages('workflows', ...workflows, 'ci/github/action.yml'));
});
await check('actionlint accepts the workflow of the guide, with the inputs that the action has', async () => {
  const [, text] = readFileSync(join(root, 'docs/from-ci.md'), 'utf8').match(/^```yaml from-ci-github\n(.*?)^```$/ms);
  const project = join(temporaryFolder(), 'project'), local = text.replace(/uses: \S+\/ci\/github@\S+/, 'uses: ./ci/github');
  for (const folder of ['.git', '.github/workflows']) mkdirSync(join(project, folder), { recursive: true }); // So that actionlint finds the action.
  cpSync(join(root, 'ci'), join(project, 'ci'), { recursive: true });
  const lint = (workflow) => {
    writeFileSync(join(project, '.github/workflows/image.yaml'), workflow);
    return actionlint(join(project, '.github/workflows/image.yaml'));
  };
  await accepts(lint(local));
  await refuses(lint(local.replace('fail-on:', 'fails-on:')), /input "fails-on" is not defined in action "Atrium check"/);
});
await check('the checks of workflows find an unknown key and an action that is not pinned', async () => {
  const text = readFileSync(workflows[0], 'utf8');
  await refuses(actionlint(temporary('key.yaml', text.replace('runs-on:', 'runs-at:'))), /"runs-at"/);
  await refuses(packages('workflows', temporary('loose.yaml', text.replace(/@[0-9a-f]{40} # /, '@'))), /must be pinned/);
});

const release = readFileSync(join(root, '.goreleaser.yaml'), 'utf8');
await check('GoReleaser reads its configuration, and the named files exist', async () => {
  const said = await accepts(run(join(tools, 'goreleaser-config'), ['.goreleaser.yaml'], {}, root));
  const named = [...release.matchAll(/^ +(?:- )?(?:src|postinstall|preremove|postremove): (\S+)$/gm)].map(([, path]) => path);
  assert.ok(named.length >= 9);
  for (const path of named.filter((path) => !path.startsWith('bin/'))) assert.ok(existsSync(join(root, path)), `${path} does not exist`);
  for (const path of named.filter((name) => /after|before/.test(name))) await accepts(run('sh', ['-n', path], {}, root));
  return said;
});
await check('the check of its configuration finds an unknown key', () =>
  refuses(run(join(tools, 'goreleaser-config'), [temporary('goreleaser.yaml', release.replace('ldflags:', 'linkflags:'))]), /linkflags/));

await check('the program accepts the settings of the package', () =>
  accepts(run(program, ['admin', 'config', '--config', join(root, 'deploy/package/atrium.yaml')], { ATRIUM_DATABASE_URL: 'sqlite:atrium.db' })).then(() => undefined));

// A page that was built from several packages names them all; these are known to be in one.
const inPages = ['react', 'graphiql', 'monaco-editor', 'urql', 'marked', 'swagger-ui-dist', 'dompurify'];
const modules = [...(await accepts(run('go', ['version', '-m', program]))).matchAll(/\tdep\t(\S+)\t(\S+)/g)].map(([, name, version]) => `${name} ${version}`);
await check('the SBOM has each module and each package of the pages, with licenses and hashes', async () => {
  const path = join(temporaryFolder(), 'atrium.cdx.json');
  await accepts(run(join(root, 'scripts/contents'), [program, 'v1.2.3', path]));
  const { specVersion, serialNumber, metadata, components, dependencies } = JSON.parse(readFileSync(path, 'utf8'));
  assert.equal(specVersion, '1.6');
  assert.match(serialNumber, /^urn:uuid:/);
  assert.equal(metadata.component.version, 'v1.2.3');
  const listed = new Set(components.map(({ name, version }) => `${name} ${version}`));
  for (const name of modules) assert.ok(listed.has(name), `${name} is missing`);
  const pages = components.filter(({ purl }) => purl.startsWith('pkg:npm/'));
  for (const name of inPages) assert.ok(pages.some((page) => page.name === name), `${name} is missing`);
  for (const page of pages) assert.ok(page.licenses.length > 0 && page.hashes?.length > 0, `${page.name} has no license or no hash`);
  const unlicensed = components.filter(({ licenses }) => !licenses?.length);
  assert.ok(unlicensed.length <= 3, `no license: ${unlicensed.map(({ name }) => name)}`); // The tool does not recognize all texts.
  const depended = dependencies.find(({ ref }) => ref === metadata.component['bom-ref']).dependsOn;
  for (const page of pages) assert.ok(depended.includes(page['bom-ref']), `nothing depends on ${page.name}`);
  return `${components.length} components`;
}, 240);
await check('the program prints the license of each module and of each package of the pages', async () => {
  const text = await accepts(run(program, ['licenses']));
  for (const name of modules) assert.ok(text.includes(`${name}, Source: `), `${name} is missing`);
  for (const name of inPages) assert.match(text, new RegExp(`, ${name} \\d[\\w.-]+ \\(`), `${name} is missing`);
  return `${(text.length / 1000).toFixed()} KB`;
});

finish();
