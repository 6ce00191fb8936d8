import { useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef } from 'react';

/** The keys that the toolbar names. GraphiQL binds them to the key of Windows where it means Control. It shows nothing. */
export function Keys() {
  const { prettifyEditors, mergeQuery } = useGraphiQLActions();
  const actions = useRef();
  actions.current = { KeyP: prettifyEditors, KeyM: mergeQuery };

  useEffect(() => {
    const press = (event) => {
      const action = event.shiftKey && (event.ctrlKey || event.metaKey) && !event.altKey && actions.current[event.code];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    };
    document.addEventListener('keydown', press, true);
    return () => document.removeEventListener('keydown', press, true);
  }, []);
  return null;
}
