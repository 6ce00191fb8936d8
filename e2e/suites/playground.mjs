// Both playground pages in Chromium: every example answers, and nothing leaves the host or breaks the policy.

import assert from 'node:assert/strict';
import { browser, open } from '../browser.mjs';
import { check, finish } from '../lib.mjs';

const answer = async (page) => (await page.locator('.graphiql-response').innerText()).replaceAll('\u00a0', ' ');

/** Runs what is in the editor and gives the answer once it holds what is expected. */
async function run(page, expected) {
  await page.locator('.graphiql-execute-button').click();
  const end = Date.now() + 10_000;
  while (!expected.test(await answer(page))) {
    assert.ok(Date.now() < end, `no ${expected} in the answer: ${await answer(page)}`);
    await page.waitForTimeout(50);
  }
  return answer(page);
}

for (const [name, path] of [['GraphiQL', '/'], ['the small page', '/playground/small']]) {
  await check(`${name} is what ${path} shows`, () => open(path, async (page) => {
    await page.waitForSelector(name === 'GraphiQL' ? '.monaco-editor' : '#query');
  }), 30);

  await check(`${name} answers the query of a link`, () => open(`${path}?query=${encodeURIComponent('query Linked { __typename }')}`, async (page) => {
    await run(page, /"__typename": "Query"/);
  }), 30);

  await check(`${name} shows the events of a subscription`, () => open(`${path}?query=${encodeURIComponent('subscription { events(after: "", first: 2) { type } }')}`, async (page) => {
    await run(page, /"events": \{/);
  }), 30);

  await check(`${name} answers every example, but for those that change something`, () => open(path, async (page) => {
    const tabs = page.getByRole('tab');
    await tabs.first().waitFor();
    const names = await tabs.allInnerTexts();
    assert.ok(names.length >= 2, `tabs: ${names}`);
    for (const [i, tab] of names.entries()) {
      await tabs.nth(i).click();
      await page.waitForTimeout(300); // the editor takes over the tab's query
      const query = path === '/' ? await page.locator('.graphiql-query-editor').innerText() : await page.locator('#query').inputValue();
      if (/^\s*(mutation|subscription)\b/m.test(query)) continue;
      const text = await run(page, /"data": /);
      assert.doesNotMatch(text, /"errors": /, `${tab}: ${text}`);
      assert.match(text, /"(uid|name|advisoryId|subject)":\s*"/, `${tab} finds nothing: ${text}`);
    }
  }), 60);
}
await browser.close();
finish();
