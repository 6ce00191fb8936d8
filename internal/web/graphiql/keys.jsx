import { useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef } from 'react';

/**
 * This component binds the keys that the toolbar names. GraphiQL binds them to the Windows key where it means Control. The
 * component renders nothing.
 */
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
