// The playground with GraphiQL. The head, with the token, is plain HTML that it shares with the small page.

import { useMonaco } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { settings, token } from '../builtin/token.js';
import { CopyLink } from './copy-link.jsx';
import { createFetcher } from './fetcher.js';
import { storage } from './storage.js';
import { tabs } from './tabs.js';

globalThis.MonacoEnvironment = {
  getWorker: (_, label) => new Worker(new URL(`${{ json: 'json', graphql: 'graphql' }[label] ?? 'editor'}.worker.js`, import.meta.url), { type: 'module' }),
};

// GraphiQL shows its run button before the editor has loaded, and then ignores clicks on it: so it has to wait.
function WithEditor({ children }) {
  const { monaco, actions } = useMonaco();
  useEffect(() => { actions.initialize(); }, [actions]);
  return monaco ? children : <p className="loading">Loading GraphiQL …</p>;
}

const root = createRoot(document.getElementById('graphiql'));
const opened = tabs(location.search, settings.examples ?? [], storage);

// GraphiQL reads the schema again when it gets another fetcher: another token may see another schema.
function show() {
  root.render(
    <WithEditor>
      <GraphiQL {...opened} fetcher={createFetcher(settings.endpoint, token)} storage={storage} defaultEditorToolsVisibility>
        <GraphiQL.Logo><span /></GraphiQL.Logo>
        <GraphiQL.Toolbar>{({ prettify, merge, copy }) => <>{prettify}{merge}{copy}<CopyLink /></>}</GraphiQL.Toolbar>
      </GraphiQL>
    </WithEditor>,
  );
}

document.getElementById('token').addEventListener('change', show);
show();
