// This file is the playground with GraphiQL. The header with the token is plain HTML, which the built-in page also has.

import { useMonaco } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { settings, showPane, token } from '../builtin/token.js';
import { CopyLink } from './copy-link.jsx';
import { Examples } from './examples.jsx';
import { createFetcher } from './fetcher.js';
import { Keys } from './keys.jsx';
import { storage } from './storage.js';
import { tabs } from './tabs.js';

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
const opened = tabs(location.search, settings.examples ?? [], storage);

// GraphiQL reads the schema again if it gets another fetcher. This is needed because another token may see another schema.
function show() {
  root.render(
    <WithEditor>
      <GraphiQL {...opened} fetcher={createFetcher(settings.endpoint, token)} storage={storage} defaultEditorToolsVisibility>
        <GraphiQL.Logo><span /></GraphiQL.Logo>
        <GraphiQL.Toolbar>{({ prettify, merge, copy }) => <>{prettify}{merge}{copy}<CopyLink /><Examples /><Keys /></>}</GraphiQL.Toolbar>
      </GraphiQL>
    </WithEditor>,
  );
}

// GraphiQL's tabs contain buttons, which a tab must not contain. For screen readers, they become a list of buttons.
function listTabs() {
  for (const list of host.querySelectorAll('[role=tablist]')) list.role = 'list';
  for (const tab of host.querySelectorAll('.graphiql-tab')) {
    const selected = tab.classList.contains('graphiql-tab-active');
    if (tab.role !== 'listitem') tab.role = 'listitem';
    if (tab.hasAttribute('aria-selected')) tab.removeAttribute('aria-selected');
    const button = tab.querySelector('.graphiql-tab-button');
    if (button && button.ariaCurrent !== String(selected)) button.ariaCurrent = String(selected);
  }
}
new MutationObserver(listTabs).observe(host, { childList: true, subtree: true, attributes: true, attributeFilter: ['aria-selected', 'role', 'class'] });

document.getElementById('token').addEventListener('change', show);
// A reader who runs a query wants to see the answer.
document.addEventListener('click', ({ target }) => { if (target.closest?.('.graphiql-execute-button')) showPane('answer'); });
show();
