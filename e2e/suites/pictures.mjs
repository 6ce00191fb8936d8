// This suite compares the pictures of the README and the guide with the console of today. What a picture shows is in pictures.json: the menu,
// headings and columns. If the console no longer has it, or has another menu, the picture is old, and `make pictures` takes all of them again,
// from a demonstration that is new. The SHA-256 in pictures.json is of the picture and of these texts together, so that neither can change alone.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browser } from '../browser.mjs';
import { loaded, newPage, open } from '../console.mjs';
import { check, finish } from '../lib.mjs';

const root = join(import.meta.dirname, '../..'), file = join(root, 'e2e/pictures.json'), writes = process.env.ATRIUM_TEST_WRITE_PICTURES;
const pictures = {
  console: { path: '/console/acme' },
  'console-findings': { path: '/console/acme/~findings' },
  'console-access': {
    path: '/console/acme/engineering/~access', colorScheme: 'dark', async prepare(page) {
      await page.getByLabel('Who', { exact: true }).selectOption({ label: 'ci' });
      await page.getByLabel('Do what').selectOption('TAG_CREATE');
      await page.getByText('Yes', { exact: true }).waitFor();
    },
  },
};

const texts = async (locator) => [...new Set((await locator.allInnerTexts()).map((text) => text.replaceAll(/[\d,.]+/g, '').replaceAll(/\s+/g, ' ').trim()).filter(Boolean))];
const shown = writes ? {} : JSON.parse(readFileSync(file, 'utf8'));
const pictureOf = (name) => join(root, `docs/${name}.png`);
const digest = (name, { menu, parts }) => createHash('sha256').update(JSON.stringify({ menu, parts })).update(readFileSync(pictureOf(name))).digest('hex');

for (const [name, { path, colorScheme = 'light', prepare }] of Object.entries(pictures)) {
  if (!writes) await check(`docs/${name}.png was taken together with its texts`, () => {
    assert.equal(digest(name, shown[name]), shown[name].sha256, 'the picture or its texts in pictures.json were changed by hand: run make pictures');
  });
  await check(`docs/${name}.png shows the console of today`, async () => {
    const page = await newPage({ colorScheme });
    await open(page, path);
    await prepare?.(page);
    await loaded(page);
    const menu = await texts(page.getByRole('navigation', { name: 'Pages' }).getByRole('link')), parts = await texts(page.locator('#main').locator('h1, h2, th, [role=columnheader]'));
    assert.ok(menu.length > 5 && parts.length > 1, `${menu} ${parts}`);
    if (writes) {
      await page.evaluate(() => document.fonts.ready);
      await page.screenshot({ path: pictureOf(name), animations: 'disabled', caret: 'hide' });
      shown[name] = { sha256: digest(name, { menu, parts }), menu, parts };
    } else {
      assert.deepEqual(menu, shown[name].menu, 'the menu is another one: run make pictures');
      assert.deepEqual(shown[name].parts.filter((part) => !parts.includes(part)), [], 'parts of the picture are gone: run make pictures');
    }
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }, 60);
}
if (writes) writeFileSync(file, JSON.stringify(shown, undefined, 2) + '\n');
await browser.close();
finish();
