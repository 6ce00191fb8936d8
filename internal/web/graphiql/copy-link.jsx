import { ToolbarButton, useGraphiQL } from '@graphiql/react';
import { useState } from 'react';

/** This button copies a link that opens the page with the current query and its variables. */
export function CopyLink() {
  const query = useGraphiQL((state) => state.queryEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  const [copied, setCopied] = useState(false);

  const copy = async () => {
    const to = new URLSearchParams({ query: query.getValue() });
    if (variables.getValue().trim()) to.set('variables', variables.getValue());
    await navigator.clipboard.writeText(`${location.origin}${location.pathname}?${to}`);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };

  return (
    <ToolbarButton onClick={copy} label={copied ? 'Copied' : 'Copy a link to this query'}>
      <svg className="graphiql-toolbar-icon" viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" aria-hidden="true">
        <path d="M8.5 11.5a3.5 3.5 0 0 0 5 0l3-3a3.5 3.5 0 0 0-5-5l-1 1M11.5 8.5a3.5 3.5 0 0 0-5 0l-3 3a3.5 3.5 0 0 0 5 5l1-1" />
      </svg>
    </ToolbarButton>
  );
}
