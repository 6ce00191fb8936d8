// This suite runs both playground pages in Chromium: every example returns data, no request leaves the host, and the policy is not
// violated.

import assert from 'node:assert/strict';
import { browser, open } from '../browser.mjs';
import { check, finish } from '../lib.mjs';

const tabs = '.graphiql-tab-button, #tabs [role=tab]';
const linked = (path, query) => `${path}?query=${encodeURIComponent(query)}`;

const answer = async (page) => (await page.locator('.graphiql-response').innerText()).replaceAll('\u00a0', ' ');

/** Runs the document in the editor, and returns the answer as soon as it matches what is expected. */
async function run(page, expected) {
  await page.locator('.graphiql-execute-button').click();
  const end = Date.now() + 10_000;
  while (!expected.test(await answer(page))) {
    assert.ok(Date.now() < end, `no ${expected} in the answer: ${await answer(page)}`);
    await page.waitForTimeout(50);
  }
  return answer(page);
}

for (const [name, path] of [['GraphiQL', '/playground'], ['the small page', '/playground/small']]) {
  await check(`${path} shows ${name}`, () => open(path, async (page) => {
    await page.waitForSelector(name === 'GraphiQL' ? '.monaco-editor' : '#query');
  }), 30);

  await check(`${name} answers the query of a link`, () => open(`${path}?query=${encodeURIComponent('query Linked { __typename }')}`, async (page) => {
    await run(page, /"__typename": "Query"/);
  }), 30);

  await check(`${name} shows the events of a subscription`, () => open(`${path}?query=${encodeURIComponent('subscription { events(after: "", first: 2) { type } }')}`, async (page) => {
    await run(page, /"events": \{/);
  }), 30);

  await check(`${name} shows the newest of many events`, () => open(`${path}?query=${encodeURIComponent('subscription { events(after: "") { id } }')}`, async (page) => {
    const streamed = Array.from({ length: 4000 }, (_, i) => `event: next\ndata: {"data":{"events":{"id":"${i}","padding":"${'x'.repeat(400)}"}}}\n\n`);
    await page.route('**/graphql', (route) => (route.request().postDataJSON().query.startsWith('subscription')
      ? route.fulfill({ contentType: 'text/event-stream', body: streamed.join('') + 'event: complete\n\n' })
      : route.continue()));
    const shown = await run(page, /"id": "3999"/);
    if (path === '/playground') assert.match(shown, /"received": 4000/);
    else {
      assert.deepEqual([...shown.matchAll(/"id": "(\d+)"/g)].map(([, id]) => Number(id)), Array.from({ length: 100 }, (_, i) => 3999 - i));
      assert.match(await page.locator('#status').innerText(), /^4000 events, the newest 100 are shown/);
    }
  }), 60);

  await check(`${name} runs its first example by itself, and no query of a link`, async () => {
    await open(path, async (page) => {
      await waitFor(page, async () => /"totalCount": /.test(await answer(page)), 'the first example has no answer');
      assert.deepEqual(await page.locator(tabs).allInnerTexts(), ['Overview', 'Repo', 'Open findings', 'What is affected']);
    });
    const asked = [];
    await open(linked(path, 'query Linked { ping }'), async (page) => {
      page.on('request', (request) => { if (request.url().endsWith('/graphql')) asked.push(request.postDataJSON().query); });
      await page.waitForSelector(path === '/playground' ? '.monaco-editor .view-lines' : '#query');
      await run(page, /"ping": /);
    });
    assert.equal(asked.filter((query) => query.includes('Linked')).length, 1);
  }, 60);

  await check(`${name} answers every example except those that change something`, () => open(path, async (page) => {
    await waitFor(page, async () => /"totalCount": /.test(await answer(page)), 'the first example has no answer');
    const names = (await page.locator('#examples option').allInnerTexts()).slice(1);
    assert.ok(names.length > 5, `examples: ${names}`);
    for (const tab of names) {
      await page.selectOption('#examples', { label: tab });
      await waitFor(page, async () => (await page.locator(tabs).last().innerText()) === tab, `no tab is named ${tab}`);
      await page.waitForTimeout(300); // The editor loads the query of the tab.
      const query = path === '/playground' ? await page.locator('.graphiql-query-editor').innerText() : await page.locator('#query').inputValue();
      if (/^\s*mutation\b/m.test(query)) continue;
      if (/^\s*subscription\b/m.test(query)) {
        await run(page, /"received": ([2-9]|\d\d)|"events": [^]*"events": /); // Earlier events are shown, too.
        continue;
      }
      const text = await run(page, /"data": /);
      assert.doesNotMatch(text, /"errors": /, `${tab}: ${text}`);
      assert.match(text, /"(uid|name|advisoryId|vulnerabilityId|subject)":\s*"/, `${tab} finds nothing: ${text}`);
    }
  }), 60);
}

const editorText = async (page) => (await page.locator('.graphiql-query-editor').innerText()).replaceAll('\u00a0', ' ');

await check('every button of the toolbar of GraphiQL works', () => open(linked('/playground', 'query Pressed{__typename ...F} fragment F on Query{ping}'), async (page) => {
  await page.waitForSelector('.monaco-editor');
  const buttons = page.locator('.graphiql-toolbar button:not(.graphiql-execute-button)');
  const names = await buttons.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  const does = {
    Prettify: async () => { await waitFor(page, async () => /query Pressed \{\s*\n\s*__typename/.test(await editorText(page)), 'it is not prettified'); },
    Merge: async () => { await waitFor(page, async () => !/\.\.\.\s*F/.test(await editorText(page)), 'the fragment is not merged'); },
    'Copy query': async () => assert.match(await page.evaluate(() => navigator.clipboard.readText()), /query Pressed/),
    'Copy a link': async () => assert.match(await page.evaluate(() => navigator.clipboard.readText()), /\?query=query\+Pressed/),
  };
  const pressed = new Set();
  for (const [i, name] of names.entries()) {
    const [what] = Object.keys(does).filter((known) => name.startsWith(known));
    assert.ok(what, `the suite has no check for the button ${name}`);
    await buttons.nth(i).click();
    await page.waitForTimeout(300);
    await does[what]();
    pressed.add(what);
  }
  assert.deepEqual([...pressed].sort(), Object.keys(does).sort());
}), 60);

await check('in forced colors, the button that runs the query shows, and the shown pane stands out', () => open(linked('/playground', 'query Forced{__typename}'), async (page) => {
  const colors = (target) => target.evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  await page.waitForSelector('.monaco-editor');
  assert.notEqual((await colors(page.locator('.graphiql-execute-button')))[0], (await colors(page.locator('body')))[0]);
  const [shown, hidden] = await colors(page.locator('.panes button'));
  assert.notEqual(shown, hidden);
}, { forcedColors: 'active', viewport: { width: 390, height: 844 } }), 30);

await check('the key of Prettify works like the button', () => open(linked('/playground', 'query Keyed{__typename}'), async (page) => {
  await page.waitForSelector('.monaco-editor');
  await page.locator('.graphiql-query-editor .view-lines').click();
  await page.keyboard.press('Shift+Control+P');
  await waitFor(page, async () => /query Keyed \{\s*\n/.test(await editorText(page)), 'it is not prettified');
}), 30);

await check('Prettify formats the variables and keeps their comments', () => {
  const given = '{"name":"acme", // the organization\n"sizes":[1,{"deep":null}]}';
  return open(`${linked('/playground', 'query Keyed($name: String){ping}')}&variables=${encodeURIComponent(given)}`, async (page) => {
    await page.waitForSelector('.monaco-editor');
    const variables = async () => (await page.locator('.graphiql-editor-tool .graphiql-editor').first().innerText()).replaceAll('\u00a0', ' ');
    await waitFor(page, async () => (await variables()).includes('organization'), 'the variables are not there');
    await page.getByRole('button', { name: /^Prettify/ }).click();
    const formatted = /\{\s*\n  "name": "acme", \/\/ the organization\s*\n  "sizes": \[\s*\n    1,\s*\n    \{\s*\n      "deep": null/;
    await waitFor(page, async () => formatted.test(await variables()), 'the variables are not prettified');
  });
}, 30);

async function waitFor(page, holds, otherwise) {
  for (const end = Date.now() + 10_000; !(await holds());) {
    assert.ok(Date.now() < end, otherwise);
    await page.waitForTimeout(50);
  }
}

for (const [name, path] of [['GraphiQL', '/playground'], ['the small page', '/playground/small']]) {
  const ready = (page) => page.waitForSelector(path === '/playground' ? '.monaco-editor .view-lines' : '#query');

  await check(`${name} reports a rejected token, and gets another one`, () => open(linked(path, 'query Refused { viewer { identities { name } } }'), async (page) => {
    await ready(page);
    await page.fill('#token', 'e30.e30.e30');
    await page.locator('#token').blur();
    await page.locator('.graphiql-execute-button').click();
    await page.locator('#token-note.refused').waitFor();
    assert.match(await page.locator('#token-note').innerText(), /not accepted/);
    await page.locator('#renew').click();
    await waitFor(page, async () => (await page.inputValue('#token')).length > 100, 'there is no new token');
    await ready(page);
    await run(page, /"name": /);
    assert.equal(await page.locator('#token-note.refused').count(), 0);
  }, { failing: /401/ }), 60);

  await check(`${name} brings an example back`, () => open(path, async (page) => {
    await ready(page);
    const before = await page.locator(tabs).count();
    const names = await page.locator('#examples option').allInnerTexts();
    assert.ok(names.length > 5, `the menu has ${names}`);
    await page.selectOption('#examples', { label: 'Overview' });
    await waitFor(page, async () => (await page.locator(tabs).count()) === before + 1, 'no tab was opened');
    await page.waitForTimeout(300);
    await run(page, /"totalCount": /);
  }), 30);

  await check(`${name} offers the schema, and its links to the other pages work`, () => open(path, async (page) => {
    await ready(page);
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#sdl').click()]);
    assert.equal(download.suggestedFilename(), 'schema.graphql');
    for (const href of await page.locator('header nav a:not(#sdl)').evaluateAll((all) => all.map((one) => one.getAttribute('href')))) {
      assert.equal((await page.request.get(new URL(href, page.url()).href)).status(), 200, href);
    }
  }), 30);

  await check(`${name} shows one pane at a time on a phone`, () => open(linked(path, 'query Narrow { __typename }'), async (page) => {
    await ready(page);
    const shown = async () => [await page.locator(path === '/playground' ? '.graphiql-editors' : '.write').isVisible(), await page.locator('.graphiql-response').isVisible()];
    assert.deepEqual(await shown(), [true, false]);
    await run(page, /"__typename": "Query"/);
    assert.deepEqual(await shown(), [false, true]);
    await page.locator('[data-pane=query]').click();
    assert.deepEqual(await shown(), [true, false]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
  }, { viewport: { width: 390, height: 844 } }), 30);
}

await browser.close();
finish();
