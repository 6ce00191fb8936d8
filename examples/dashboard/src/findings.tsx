import type { Client } from '@atrium/client';
import { useDeferredValue, useOptimistic, useState } from 'react';
import { type Finding, useFindings } from './data';
import { DecisionForm, type Decision } from './decision';
import type { FindingFilter, FindingState, SeverityRating } from './gql/graphql';

const ratings: SeverityRating[] = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'];
const states: FindingState[] = ['OPEN', 'IN_TRIAGE', 'ACCEPTED', 'NOT_AFFECTED', 'RESOLVED'];

/** The list of findings with its filters. */
export function Findings({ atrium }: { atrium: Client }) {
  const [rating, setRating] = useState(''), [state, setState] = useState(''), [query, setQuery] = useState(''), [fixable, setFixable] = useState(false);
  const where: FindingFilter = {
    ...(rating && { severities: [rating as SeverityRating] }), ...(state && { states: [state as FindingState] }),
    ...(query && { query }), ...(fixable && { fixable }),
  };
  const { list, live, news, readMore, reread } = useFindings(atrium, useDeferredValue(JSON.stringify(where)));
  // What was decided is shown at once. When the change is done, the list has it; when it fails, the row is as before.
  const [rows, decide] = useOptimistic(list?.rows ?? [], (old, { uid, ...decision }: Decision & { uid: string }) =>
    old.map((row) => (row.uid === uid ? { ...row, ...decision } : row)));
  const [open, setOpen] = useState<string>();

  return (
    <>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <label>Severity <select value={rating} onChange={({ target }) => setRating(target.value)}><option value="">all</option>{ratings.map((one) => <option key={one}>{one}</option>)}</select></label>
        <label>State <select value={state} onChange={({ target }) => setState(target.value)}><option value="">all but resolved</option>{states.map((one) => <option key={one}>{one}</option>)}</select></label>
        <label>Search <input type="search" value={query} onChange={({ target }) => setQuery(target.value)} /></label>
        <label><input type="checkbox" checked={fixable} onChange={({ target }) => setFixable(target.checked)} /> with a fix</label>
        <output className={live ? 'live' : ''}>{live ? 'live' : 'not connected'}</output>
      </form>
      {news && <p role="status">{news}</p>}
      {list?.problem && <p role="alert">{list.problem}</p>}
      {list && <p>{rows.length} of {list.total}</p>}
      <table>
        <thead><tr><th>Severity</th><th>Vulnerability</th><th>Package</th><th>Fixed in</th><th>Repo</th><th>State</th><th /></tr></thead>
        {rows.map((row) => (
          <tbody key={row.uid} data-uid={row.uid}>
            <Row row={row} onOpen={() => setOpen(open === row.uid ? undefined : row.uid)} />
            {open === row.uid && (
              <tr><td colSpan={7}>
                <DecisionForm atrium={atrium} finding={row} onDecide={(decision) => decide({ uid: row.uid, ...decision })}
                  onDone={async () => { await reread(); setOpen(undefined); }} />
              </td></tr>
            )}
          </tbody>
        ))}
      </table>
      {list?.more && <button onClick={() => void readMore()}>Show more</button>}
    </>
  );
}

const Row = ({ row, onOpen }: { row: Finding; onOpen: () => void }) => (
  <tr>
    <td className={row.severity.rating}>{row.severity.rating} {row.severity.score}{row.knownExploited && ' (exploited)'}</td>
    <td>{row.vulnerabilityId}</td>
    <td>{row.package} {row.installedVersion}</td>
    <td>{row.fixedVersions[0]}</td>
    <td>{row.repo.name}</td>
    <td className="state">{row.state}{row.note && <small title={row.note}> {row.note}</small>}</td>
    <td><button onClick={onOpen}>Decide</button></td>
  </tr>
);
