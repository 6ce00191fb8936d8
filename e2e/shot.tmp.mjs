import { chromium } from 'playwright-core';
const b = await chromium.launch({executablePath:'/usr/bin/chromium',args:['--no-sandbox']});
const pages = process.argv.slice(2);
for (const spec of pages) { const [name, path, width, scheme] = spec.split('@');
const c = await b.newContext({viewport:{width:+(width||1440),height:+(width||1440)<500?844:1000}, colorScheme: scheme||'light'});
const p = await c.newPage(); p.setDefaultTimeout(90000);
await p.goto('http://127.0.0.1:4121'+path); await p.waitForFunction(() => document.querySelector('#main h1, #main .empty') && !document.querySelector('.lines, .blank, [aria-busy=true]')); await p.waitForTimeout(700);
await p.screenshot({path:`/tmp/shots/${name}.png`, fullPage: true}); await c.close(); }
await b.close();
