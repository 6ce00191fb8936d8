// This suite opens every page in light and dark, wide and on a phone. axe finds no serious violation, and no page is too wide.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { browser, open, violations } from '../browser.mjs';
import { check, finish } from '../lib.mjs';

const pictures = process.env.ATRIUM_PICTURES; // Screenshots of the pages are stored in this folder.
for (const colorScheme of ['light', 'dark']) {
  for (const [name, path] of [['home', '/'], ['graphiql', '/playground'], ['small', '/playground/small'], ['docs', '/docs'], ['guide', '/guide']]) {
    for (const width of [1440, 390]) {
      await check(`axe finds no serious violation in ${name}, ${colorScheme}, at ${width} pixels`, () => open(path, async (page) => {
        await page.waitForSelector({ graphiql: '.monaco-editor .view-lines', small: '#query', docs: '.opblock-tag', home: 'main', guide: 'main' }[name]);
        await page.evaluate(() => document.fonts.ready);
        if (pictures) await page.screenshot({ path: `${pictures}/${name}-${colorScheme}-${width}.png` });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, 'the page is too wide');
        assert.deepEqual(await violations(page), []);
      }, { colorScheme, viewport: { width, height: width === 390 ? 844 : 900 } }), 60);
    }
  }
}
for (const name of readdirSync(join(import.meta.dirname, '../../docs')).filter((name) => name.endsWith('.md'))) {
  const path = '/guide/' + name.slice(0, -3);
  await check(`${path} fits on a phone, and the keyboard scrolls its code and tables`, () => open(path, async (page) => {
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, 'the page is too wide');
    assert.deepEqual(await violations(page), []);
  }, { viewport: { width: 360, height: 800 } }), 60);
}
await browser.close();
finish();
