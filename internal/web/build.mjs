// This program bundles the GraphiQL page into dist/, and compresses the files with gzip, as the server embeds them. build.sh runs
// this program.

import { build } from 'esbuild';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describePackages, readPackages } from './licenses.mjs';

// GraphiQL's style sheet contains its fonts for all scripts. The bundle has only the Latin fonts, because readers of other scripts
// have fonts for them.
const isOtherScript = (face) => /unicode-range:/.test(face) && !/unicode-range:\s*U\+0000-00FF/i.test(face);
const latinFonts = ({ path }) => ({
  contents: readFileSync(path, 'utf8').replace(/@font-face\s*\{[^}]*\}/g, (face) => (isOtherScript(face) ? '' : face)),
  loader: 'css',
});

const { outputFiles, metafile } = await build({
  entryPoints: {
    main: 'graphiql/main.jsx',
    style: 'graphiql/style.css',
    'editor.worker': 'monaco-editor/esm/vs/editor/editor.worker.js',
    'graphql.worker': 'monaco-graphql/esm/graphql.worker.js',
    'json.worker': 'monaco-editor/esm/vs/language/json/json.worker.js',
  },
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  minify: true,
  legalComments: 'none', // The file licenses.txt has the full texts.
  // GraphiQL imports the first module by an older name. In a bundle, the older name gives it no parser, and Prettify does nothing.
  // The other two become a smaller plugin for JSON.
  alias: {
    'prettier/parser-graphql': 'prettier/plugins/graphql',
    'prettier/parser-babel': './graphiql/format-json.js',
    'prettier/plugins/estree': './graphiql/format-json.js',
  },
  define: { 'process.env.NODE_ENV': '"production"' },
  // GraphiQL's style sheet already contains the styles of the editor, which the scripts of the editor import again.
  plugins: [
    { name: 'styles once', setup: ({ onLoad }) => onLoad({ filter: /monaco-editor.*\.css$/ }, () => ({ contents: '' })) },
    // The editor has a copy of DOMPurify in its own code, which no scanner of packages sees and which gets no fixes.
    { name: 'purifier as a package', setup: ({ onResolve }) => onResolve({ filter: /\/dompurify\/dompurify\.js$/ }, () => ({ path: resolve('graphiql/purifier.js') })) },
    { name: 'latin fonts', setup: ({ onLoad }) => onLoad({ filter: /graphiql.*\.css$/ }, latinFonts) },
  ],
  outdir: 'dist',
  write: false,
  metafile: true,
});

const files = outputFiles.map(({ path, contents }) => [basename(path), contents]);
files.push(...describePackages(readPackages(metafile)));
// The server takes main.js as the sign that all other files are there, so it is written last.
files.sort(([a], [b]) => (a === 'main.js') - (b === 'main.js'));

// The folders belong to the console and to the reference.
for (const old of readdirSync('dist', { withFileTypes: true })) if (old.isFile() && old.name !== '.gitignore') rmSync('dist/' + old.name);
let total = 0;
for (const [name, contents] of files) {
  const packed = gzipSync(contents, { level: 9 });
  writeFileSync(`dist/${name}.gz`, packed);
  total += packed.length;
}
console.log(`playground: GraphiQL in ${files.length} files, ${(total / 1e6).toFixed(2)} MB`);
