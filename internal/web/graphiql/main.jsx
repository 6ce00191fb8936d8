// This file is the playground with GraphiQL. The header with the token is plain HTML, which the built-in page also has.

import { explorerPlugin } from '@graphiql/plugin-explorer';
import { useGraphiQL, useGraphiQLActions, useMonaco } from '@graphiql/react';
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { openExamples, settings, showPane, token } from '../builtin/token.js';
import { CopyLink } from './copy-link.jsx';
import { Examples } from './examples.jsx';
import { createFetcher } from './fetcher.js';
import { Keys } from './keys.jsx';
import { storage } from './storage.js';
import { tabs, wordsOf } from './tabs.js';

globalThis.MonacoEnvironment = {
  getWorker: (_, label) => new Worker(new URL(`${{ json: 'json', graphql: 'graphql' }[label] ?? 'editor'}.worker.js`, import.meta.url), { type: 'module' }),
};

// GraphiQL shows its run button before the editor has loaded, and ignores clicks on it until then. So GraphiQL appears only after
// the editor has loaded.
function WithEditor({ children }) {
  const { monaco, actions } = useMonaco();
  useEffect(() => { actions.initialize(); }, [actions]);
  return monaco ? children : <p className="loading">Loading GraphiQL …</p>;
}

const host = document.getElementById('graphiql');
const root = createRoot(host);
const { runsFirst, ...opened } = tabs(location.search, openExamples, storage);
const plugins = [HISTORY_PLUGIN, { ...explorerPlugin(), title: 'Query builder' }];

/** Runs the first example as soon as the editors are there, if somebody is signed in. It renders nothing. */
function RunFirst() {
  const { run } = useGraphiQLActions();
  const ready = useGraphiQL(({ queryEditor, variableEditor, responseEditor }) => Boolean(queryEditor && variableEditor && responseEditor));
  useEffect(() => { if (ready && token()) run(); }, [ready]);
  return null;
}

// GraphiQL reads the schema again if it gets another fetcher. This is needed because another token may see another schema.
function show() {
  root.render(
    <WithEditor>
      <GraphiQL {...opened} plugins={plugins} fetcher={createFetcher(settings.endpoint, token)} storage={storage} defaultEditorToolsVisibility>
        <GraphiQL.Logo><span /></GraphiQL.Logo>
        <GraphiQL.Toolbar>{({ prettify, merge, copy }) => <>{prettify}{merge}{copy}<CopyLink /><Examples /><Keys />{runsFirst && <RunFirst />}</>}</GraphiQL.Toolbar>
      </GraphiQL>
    </WithEditor>,
  );
}

// GraphiQL's tabs contain buttons, which a tab must not contain. For screen readers, they become a list of buttons. Their names become
// words.
function listTabs() {
  for (const list of host.querySelectorAll('[role=tablist]')) list.role = 'list';
  for (const tab of host.querySelectorAll('.graphiql-tab')) {
    const selected = tab.classList.contains('graphiql-tab-active');
    if (tab.role !== 'listitem') tab.role = 'listitem';
    if (tab.hasAttribute('aria-selected')) tab.removeAttribute('aria-selected');
    const button = tab.querySelector('.graphiql-tab-button');
    if (!button) continue;
    if (button.ariaCurrent !== String(selected)) button.ariaCurrent = String(selected);
    const name = button.firstChild, words = wordsOf(name?.data ?? '');
    if (words && name.data !== words) name.data = words;
  }
}
new MutationObserver(listTabs).observe(host, { childList: true, subtree: true, characterData: true, attributes: true, attributeFilter: ['aria-selected', 'role', 'class'] });

document.getElementById('token').addEventListener('change', show);
// A reader who runs a query wants to see the answer.
document.addEventListener('click', ({ target }) => { if (target.closest?.('.graphiql-execute-button')) showPane('answer'); });
show();
