import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import { settings } from '../builtin/token.js';
import { nameOperation } from './tabs.js';

/** This component opens the example that the reader chooses in the header. It uses a new tab, and renders nothing. */
export function Examples() {
  const { addTab, stop } = useGraphiQLActions();
  const query = useGraphiQL((state) => state.queryEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  const editors = useRef();
  editors.current = { query, variables, addTab, stop };

  useEffect(() => {
    const menu = document.getElementById('examples');
    const choose = () => {
      const example = settings.examples[menu.value];
      menu.value = '';
      if (!example) return;
      editors.current.stop(); // Otherwise the next click on the button would end the subscription of the other tab.
      editors.current.addTab();
      // The editors must switch to the new tab first.
      setTimeout(() => {
        editors.current.query.setValue(nameOperation(example.query, example.name));
        editors.current.variables.setValue(example.variables);
      });
    };
    menu?.addEventListener('change', choose);
    return () => menu?.removeEventListener('change', choose);
  }, []);
  return null;
}
