// This suite opens the page of the REST reference in Chromium: it shows the document and sends requests, and no request leaves the
// host.

import assert from 'node:assert/strict';
import { browser, open } from '../browser.mjs';
import { check, finish, headers, read } from '../lib.mjs';

await check('/docs shows every collection of the document', () => open('/docs', async (page) => {
  const { tags } = JSON.parse(await read('/openapi.json'));
  await page.waitForSelector('.opblock-tag');
  assert.deepEqual(await page.locator('.opblock-tag').evaluateAll((all) => all.map((tag) => tag.dataset.tag)), tags.map((tag) => tag.name));
}), 60);

await check('an operation can be tried with a token', () => open('/docs', async (page) => {
  await page.locator('.btn.authorize').click();
  await page.locator('.auth-container input').fill(headers.Authorization.replace('Bearer ', ''));
  await page.locator('.auth-btn-wrapper .authorize').click();
  await page.locator('.btn-done').click();
  await page.locator('[data-tag="registry/repos"]').click();
  await page.getByText('Lists repos, a page at a time').click();
  await page.locator('.try-out__btn').click();
  await page.locator('.execute').click();
  const answer = page.locator('.live-responses-table');
  await answer.waitFor();
  assert.match(await answer.innerText(), /"totalCount": "\d+"/);
}), 60);

await browser.close();
finish();
