// This program bundles the console into dist/console, and compresses the files with gzip, as the server embeds them. build.sh runs
// this program.

import { build } from 'esbuild';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describePackages, readPackages } from '../licenses.mjs';

const { outputFiles, metafile } = await build({
  entryPoints: { main: 'console/main.tsx', style: 'console/style.css' },
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  minify: true,
  legalComments: 'none', // The file licenses.txt has the full texts.
  define: { 'process.env.NODE_ENV': '"production"' },
  outdir: 'dist/console',
  write: false,
  metafile: true,
});

// These are the scripts that main.js imports. The HTML names them, so that browsers do not request one after the other.
const outputs = Object.fromEntries(Object.entries(metafile.outputs).map(([path, { imports }]) => [basename(path), imports]));
const modules = new Set(['main.js']);
for (const name of modules) for (const { path, kind } of outputs[name]) if (kind === 'import-statement') modules.add(basename(path));

const files = outputFiles.map(({ path, contents }) => [basename(path), contents]);
files.push(...describePackages(readPackages(metafile)), ['modules.json', JSON.stringify([...modules])]);
// The server takes main.js as the sign that all other files are there, so it is written last.
files.sort(([a], [b]) => (a === 'main.js') - (b === 'main.js'));

const maxBytes = 300_000;
const packed = files.map(([name, contents]) => [name, gzipSync(contents, { level: 9 })]);
const total = packed.reduce((sum, [, { length }]) => sum + length, 0);
if (total > maxBytes) throw new Error(`the console has ${total} bytes compressed, at most ${maxBytes}`);
rmSync('dist/console', { recursive: true, force: true });
mkdirSync('dist/console');
for (const [name, content] of packed) writeFileSync(`dist/console/${name}.gz`, content);
console.log(`console: ${files.length} files, ${Math.round(total / 1000)} KB: ${packed.map(([name, { length }]) => `${name} ${(length / 1000).toFixed(1)}`).join(', ')}`);

if (process.argv.includes('--parts')) {
  const inputs = Object.values(metafile.outputs).filter(({ entryPoint }) => entryPoint !== 'console/style.css').flatMap(({ inputs }) => Object.entries(inputs));
  const parts = {};
  for (const [path, { bytesInOutput }] of inputs) {
    const part = path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? (path.includes('generated') ? 'documents' : 'console');
    parts[part] = (parts[part] ?? 0) + bytesInOutput;
  }
  console.table(Object.fromEntries(Object.entries(parts).sort(([, a], [, b]) => b - a)));
}
