// This suite opens every page in light, dark and forced colours, wide and on a phone. axe finds nothing, and no page is too wide. With
// ATRIUM_TEST_MATRIX it opens them in all themes at all widths.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { browser, open, violations } from '../browser.mjs';
import { check, finish } from '../lib.mjs';

const pictures = process.env.ATRIUM_TEST_PICTURES; // Screenshots of the pages are stored in this folder.
const widths = process.env.ATRIUM_TEST_MATRIX ? [320, 390, 1024, 1440] : undefined;
for (const [theme, few] of [['light', [1440, 390]], ['dark', [1440, 390]], ['forced', [1024, 320]]]) {
  for (const [name, path] of [['home', '/'], ['graphiql', '/playground'], ['small', '/playground/small'], ['docs', '/docs'], ['guide', '/guide']]) {
    for (const width of widths ?? few) {
      await check(`axe finds nothing in ${name}, ${theme}, at ${width} pixels`, () => open(path, async (page) => {
        await page.waitForSelector({ graphiql: '.monaco-editor .view-lines', small: '#query', docs: '.opblock-tag', home: 'main', guide: 'main' }[name]);
        await page.evaluate(() => document.fonts.ready);
        if (pictures) await page.screenshot({ path: `${pictures}/${name}-${theme}-${width}.png` });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, 'the page is too wide');
        assert.deepEqual(await violations(page), []);
      }, { ...(theme === 'forced' ? { forcedColors: 'active' } : { colorScheme: theme }), viewport: { width, height: width < 400 ? 844 : 900 } }), 60);
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
