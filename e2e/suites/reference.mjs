// This suite opens the page of the REST reference in Chromium: it shows the document, finds operations, has samples in four languages
// and sends requests, and no request leaves the host.

import assert from 'node:assert/strict';
import { browser, open, violations } from '../browser.mjs';
import { check, finish, headers, read } from '../lib.mjs';

const operation = '/docs#/registry%2Frepos/ListRepos';

await check('/docs lists every operation of the document beside it', () => open('/docs', async (page) => {
  const { tags, paths } = JSON.parse(await read('/openapi.json'));
  await page.waitForSelector('.opblock-tag');
  assert.deepEqual(await page.locator('.opblock-tag').evaluateAll((all) => all.map((tag) => tag.dataset.tag)), tags.map((tag) => tag.name));
  assert.deepEqual(await page.locator('.contents summary').allInnerTexts(), tags.map((tag) => tag.name));
  assert.equal(await page.locator('.contents a').count(), Object.values(paths).flatMap((item) => Object.keys(item)).filter((key) => ['get', 'post', 'put', 'patch', 'delete'].includes(key)).length);
}), 60);

await check('the search finds an operation by its words or its name, and leads to it', () => open('/docs', async (page) => {
  await page.waitForSelector('.opblock-tag');
  await page.getByLabel('Find an operation').fill('updategroup');
  await page.getByText('1 operation', { exact: true }).waitFor();
  await page.locator('.contents a:visible').click();
  await page.waitForURL(/UpdateGroup$/);
  await page.locator('.opblock.is-open[id$="-UpdateGroup"] .samples').waitFor();
  assert.equal(await page.locator('.contents a[aria-current]').count(), 1);
  await page.waitForFunction(() => document.activeElement.closest('.opblock')?.id.endsWith('-UpdateGroup'));
}), 60);

await check('an operation has samples in four languages, and the choice is kept', () => open('/docs#/registry%2Frepos/CreateRepo', async (page) => {
  const sample = page.locator('.samples pre');
  for (const [language, expected] of [['Go', /http\.NewRequest\("POST"/], ['TypeScript', /await fetch\([^]*JSON\.stringify\(\{/], ['Python', /urllib\.request\.Request\([^]*method="POST"/], ['curl', /^curl -sS -X POST [^]*-d '\{/]]) {
    await page.getByRole('button', { name: language, exact: true }).click();
    assert.match(await sample.innerText(), expected);
  }
  await page.getByRole('button', { name: 'Python', exact: true }).click();
  await page.reload();
  assert.match(await sample.innerText(), /^import os/);
  assert.deepEqual(await violations(page), []);
}), 60);

await check('an operation can be tried with the token of the header', () => open(operation, async (page) => {
  await page.fill('#token', headers.Authorization.replace('Bearer ', ''));
  await page.locator('.try-out__btn').click();
  await page.locator('.execute').click();
  const answer = page.locator('.live-responses-table');
  await answer.waitFor();
  assert.match(await answer.innerText(), /"totalCount": "\d+"/);
}), 60);

await browser.close();
finish();
