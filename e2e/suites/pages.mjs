// This suite opens every page in light, dark and forced colors, wide and on a phone. axe finds nothing, and no page is too wide. With
// ATRIUM_TEST_MATRIX it opens them in all themes at all widths.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { browser, open, violations } from '../browser.mjs';
import { check, finish, site } from '../lib.mjs';

const pictures = process.env.ATRIUM_TEST_PICTURES; // Screenshots of the pages are stored in this folder.
const widths = process.env.ATRIUM_TEST_MATRIX ? [320, 390, 1024, 1440] : undefined;

/** Checks the page that is open. */
async function inspect(page) {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, 'the page is too wide');
  assert.deepEqual(await violations(page), []);
}

// One tab opens the pages of a theme one after the other, because a new one compiles axe and the scripts anew. What it reports is a fault of its check.
for (const [theme, few] of [['light', [1440, 390]], ['dark', [1440, 390]], ['forced', [1024, 320]]]) {
  await check(`no page reports an error, ${theme}`, () => open('/', async (page) => {
    for (const [name, path] of [['home', '/'], ['graphiql', '/playground'], ['small', '/playground/small'], ['docs', '/docs'], ['guide', '/guide']]) {
      for (const width of widths ?? few) {
        await check(`axe finds nothing in ${name}, ${theme}, at ${width} pixels`, async () => {
          await page.setViewportSize({ width, height: width < 400 ? 844 : 900 });
          await page.goto(site + path);
          await page.waitForSelector({ graphiql: '.monaco-editor .view-lines', small: '#query', docs: '.opblock-tag', home: 'main', guide: 'main' }[name]);
          await page.evaluate(() => document.fonts.ready);
          if (pictures) await page.screenshot({ path: `${pictures}/${name}-${theme}-${width}.png` });
          await inspect(page);
        }, 60);
      }
    }
  }, theme === 'forced' ? { forcedColors: 'active' } : { colorScheme: theme }), 600);
}
await check('no page of the guide reports an error', () => open('/guide', async (page) => {
  for (const name of readdirSync(join(import.meta.dirname, '../../docs')).filter((name) => name.endsWith('.md'))) {
    const path = '/guide/' + name.slice(0, -3);
    await check(`${path} fits on a phone, and the keyboard scrolls its code and tables`, async () => {
      await page.goto(site + path);
      await inspect(page);
    });
  }
}, { viewport: { width: 360, height: 800 } }), 600);
await browser.close();
finish();
