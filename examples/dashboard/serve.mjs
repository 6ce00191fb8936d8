// This program bundles the page whenever a file changes, and serves it. It forwards /graphql to the server, so the page and the server have
// one origin, and nothing has to be allowed at the server.

import { readFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import { context } from 'esbuild';

const { ATRIUM_URL = 'http://127.0.0.1:8080', PORT = '5173' } = process.env;
const types = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

const bundling = await context({
  entryPoints: ['src/main.tsx', 'src/style.css'], outdir: 'dist', bundle: true, format: 'esm', jsx: 'automatic', target: 'es2022', sourcemap: true, logLevel: 'warning',
});
await bundling.rebuild();
await bundling.watch();

createServer(async (asked, answer) => {
  const { pathname } = new URL(asked.url, 'http://page');
  if (pathname === '/graphql') {
    // Live changes are an answer that does not end, which is forwarded as it comes.
    const to = new URL(pathname, ATRIUM_URL);
    const forwarded = forward(to, { method: asked.method, headers: { ...asked.headers, host: to.host } }, (given) => {
      answer.writeHead(given.statusCode, given.headers);
      given.pipe(answer);
    });
    forwarded.on('error', (problem) => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end(String(problem))));
    answer.on('close', () => forwarded.destroy());
    asked.pipe(forwarded);
    return;
  }
  const [, name] = pathname.match(/^\/([\w-]+\.(?:js|css))$/) ?? [];
  const file = await readFile(name ? `dist/${name}` : 'index.html').catch(() => undefined);
  answer.writeHead(file ? 200 : 404, { 'Content-Type': types[name?.split('.').at(-1) ?? 'html'] }).end(file);
}).listen(Number(PORT), '127.0.0.1', function () {
  console.log(`the dashboard is at http://127.0.0.1:${this.address().port}/`);
});
