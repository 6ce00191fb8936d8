import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import type { QueryState } from './client';
import { usePreferences } from './preferences';
import { Icon, Problems } from './ui';

/** Reports whether the window is as narrow as a phone. */
export function useNarrow(): boolean {
  const [query] = useState(() => matchMedia('(max-width: 760px)'));
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const change = () => setNarrow(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, [query]);
  return narrow;
}

interface ListProps<Row> {
  label: string;
  rows: Row[];
  total?: number;
  keyOf: (row: Row) => string;
  height: number; // This is the height of a row in pixels.
  measured?: boolean; // It says whether each row has its own height. The given height is then an estimate.
  head?: ReactNode;
  busy?: boolean;
  end: () => void; // The list calls this function when the reader comes near its end.
  render: (row: Row) => ReactNode;
}

/** This list has any length and scrolls with the window. Only the rows near the visible part are in the page. */
export function List<Row>({ label, rows, total, keyOf, height: comfortable, measured, head, busy, end, render }: ListProps<Row>) {
  const { density } = usePreferences(), narrow = useNarrow(), height = density === 'compact' && !narrow ? Math.round(comfortable * 0.78) : comfortable;
  const body = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(body.current ? body.current.getBoundingClientRect().top + scrollY : 0), [head, rows.length === 0]);
  const virtual = useWindowVirtualizer({ count: rows.length, estimateSize: () => height, overscan: 12, scrollMargin: offset, getItemKey: (i) => keyOf(rows[i]) });
  useEffect(() => virtual.measure(), [height]);
  const shown = virtual.getVirtualItems(), last = shown.at(-1)?.index ?? -1;
  useEffect(() => { if (last >= rows.length - 15) end(); }, [last, rows]);
  return (
    <div className={busy ? 'table busy' : 'table'} aria-busy={busy}>
      {head}
      <div className="body" role="list" aria-label={label} ref={body} style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ key, index, start }) => (
          <div key={key} className="row" role="listitem" aria-setsize={total ?? -1} aria-posinset={index + 1} data-index={index} ref={measured ? virtual.measureElement : undefined}
            style={{ transform: `translateY(${start - offset}px)`, ...(!measured && { height }) }}>{render(rows[index])}</div>
        ))}
      </div>
    </div>
  );
}

/** This part is below the rows of a list. It says why the list could not be read again, or why it stops there, and lets the reader try again. */
export const ListProblems = ({ list: { rows, problems, retry } }: { list: Pick<QueryState<unknown>, 'problems'> & { rows: unknown[]; retry: () => void } }) => (rows.length > 0 ? <Problems loaded={{ problems, reload: retry }} /> : null);

/** This field filters a list by words. It applies the words when the reader stops typing. */
export function Find({ value, label, onChange }: { value: string; label: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value), sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value); // In this case the reader went back.
  }, [value]);
  useEffect(() => {
    if (text.trim() === sent.current) return;
    const timer = setTimeout(() => { sent.current = text.trim(); onChange(text.trim()); }, 250);
    return () => clearTimeout(timer);
  }, [text]);
  return <label className="find"><span className="sr">{label}</span><Icon name="search" /><input type="search" value={text} placeholder={label} onChange={(event) => setText(event.target.value)} maxLength={200} spellCheck={false} autoComplete="off" /></label>;
}

/** These toggles let the reader choose several options, which are in the address of the page. Each option is a toggle button. */
export function Toggles({ label, options, chosen, onChange }: { label: string; options: { value: string; name: ReactNode; count?: string }[]; chosen: string[]; onChange: (chosen: string[]) => void }) {
  return (
    <div className="facets" role="group" aria-label={label}>
      {options.map(({ value, name, count }) => (
        <button key={value} type="button" className="toggle" aria-pressed={chosen.includes(value)} onClick={() => onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value])}>{name}{count !== undefined && <small>{count}</small>}</button>
      ))}
    </div>
  );
}

/** Returns the values of a name in the address, where commas separate them. */
export const valuesOf = (search: URLSearchParams, name: string): string[] => search.get(name)?.split(',').filter(Boolean).map((value) => value.replace(/%(?:25|2C)/g, decodeURIComponent)) ?? [];

/** Joins values for the address. Commas within a value are escaped. */
export const joinValues = (values: string[]): string => values.map((value) => value.replace(/[%,]/g, encodeURIComponent)).join(',');
