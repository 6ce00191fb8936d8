import { useState } from 'react';
import { useShownRequests } from './client';
import { settings } from './settings';
import { CopyButton, Dialog, Icon } from './ui';
import { count, plural } from './words';

/** Returns a document without the fields that only the cache of the console needs. */
const removeTypenames = (text: string) => text.replaceAll(/\n *__typename(?=\n)/g, '');

/** Returns the address of the playground with a document and its variables. */
export const playgroundAddress = (text: string, variables: object) =>
  '/playground?' + new URLSearchParams({ query: text, variables: JSON.stringify(variables, null, 2) });

/** This button opens a sheet with the requests that made the page, and their cost. */
export function ShowQuery() {
  // The requests of the page come first, then the request of what surrounds every page.
  const asked = useShownRequests().toSorted((a, b) => Number(a.name === 'Shell') - Number(b.name === 'Shell'));
  const [open, setOpen] = useState(false);
  const total = asked.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
  return (
    <>
      <button type="button" className="query-button" onClick={() => setOpen(true)} title="Show the query of this page"><Icon name="query" /><span>Show the query</span></button>
      <Dialog open={open} onClose={() => setOpen(false)} label="The queries of this page" className="sheet"><article>
        <header><div><h2>The queries of this page</h2>
          <p className="dim">Everything here comes from the public GraphQL endpoint: {plural(asked.length, 'document')}{total > 0 && ` with a total cost of ${count(total)}`}. One operation may cost up to 5,000.</p></div>
          <button type="button" className="icon-button" aria-label="Close" onClick={() => setOpen(false)}><Icon name="close" /></button></header>
        {asked.map(({ name, text, variables, cost }, i) => (
          <section key={i}>
            <header><h3>{name}</h3>{cost !== undefined && <span className="chip">cost {count(cost)}</span>}
              <CopyButton text={text} label="Copy the document" />
              {settings.playground && <a className="button" href={playgroundAddress(text, variables)} target="_blank" rel="noreferrer">Open in the playground <Icon name="external" /></a>}</header>
            <pre tabIndex={0} aria-label={`Document ${name}`}>{removeTypenames(text)}</pre>
            <h4>Variables</h4>
            <pre tabIndex={0} aria-label={`Variables of ${name}`}>{JSON.stringify(variables, null, 2)}</pre>
          </section>
        ))}
        {asked.length === 0 && <p className="dim">This page made no request.</p>}
      </article></Dialog>
    </>
  );
}
