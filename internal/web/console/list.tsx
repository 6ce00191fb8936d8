import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import type { QueryState } from './client';
import { usePreferences } from './preferences';
import { narrow, useLocation } from './router';
import { Icon, Problems } from './ui';
import { count } from './words';

function useWindow(condition: string): boolean {
  const [query] = useState(() => matchMedia(condition));
  const [matches, setMatches] = useState(query.matches);
  useEffect(() => {
    const change = () => flushSync(() => setMatches(query.matches)); // A browser prints what is in the page right after this.
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, [query]);
  return matches;
}

/** Reports whether the window is as narrow as a phone. */
export const useNarrow = () => useWindow('(max-width: 760px)');

/** Reports whether the window has place for all columns of a table. */
export const useWide = () => useWindow('(min-width: 1101px)');

/** Says whether the page is being printed: then the rows beyond the window are in the page, too. */
const usePrinting = () => useWindow('print');

const keptOpened = new Map<string, ReadonlySet<string>>(); // It has the open entries by the key of the page in the history and the name of the list.
const mostKept = 30;

/** Returns which entries of a list are open, and a function that opens or closes one. A reader who comes back finds those open that they left open. */
export function useOpened(list = ''): [ReadonlySet<string>, (key: string) => void] {
  const { key, returned } = useLocation(), entry = key + list;
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => (returned && keptOpened.get(entry)) || new Set<string>());
  useEffect(() => {
    keptOpened.delete(entry);
    keptOpened.set(entry, opened);
    if (keptOpened.size > mostKept) keptOpened.delete(keptOpened.keys().next().value!);
  }, [opened, entry]);
  return [opened, useCallback((key) => setOpened((old) => { const next = new Set(old); if (!next.delete(key)) next.add(key); return next; }), [])];
}

interface VirtualRows<Row> { rows: Row[]; keyOf: (row: Row) => string; height: number; measured?: boolean; end: () => void }

/** Returns the rows of a list near the visible part of the window, and where they are. */
export function useVirtualRows<Row>({ rows, keyOf, height: comfortable, measured, end }: VirtualRows<Row>) {
  const { density } = usePreferences(), narrow = useNarrow(), height = density === 'compact' && !narrow ? Math.round(comfortable * 0.78) : comfortable;
  const body = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(body.current ? body.current.getBoundingClientRect().top + scrollY : 0)); // What is above the rows can change with every render.
  const virtual = useWindowVirtualizer({ count: rows.length, estimateSize: () => height, overscan: 12, scrollMargin: offset, getItemKey: (i) => keyOf(rows[i]) });
  useEffect(() => virtual.measure(), [height]);
  const printing = usePrinting(), items = printing ? rows.slice(0, mostPrinted).map((row, index) => ({ index, key: keyOf(row), start: 0 })) : virtual.getVirtualItems(), last = items.at(-1)?.index ?? -1;
  useEffect(() => { if (last >= rows.length - 15 && !printing) end(); }, [last, rows]);
  const placeOf = ({ index, start }: { index: number; start: number }) => ({
    'data-index': index, ref: measured ? virtual.measureElement : undefined, style: { transform: `translateY(${start - offset}px)`, ...(!measured && { height }) },
  });
  const reveal = (index: number) => virtual.scrollToIndex(index, { align: 'auto' });
  return { body, items, bodyHeight: virtual.getTotalSize(), placeOf, reveal };
}

const mostPrinted = 1000; // A browser prints what is in the page.

interface ListProps<Row> {
  label: string;
  rows: Row[];
  total?: number;
  keyOf: (row: Row) => string;
  height: number; // This is the height of a row in pixels, which is an estimate: each row has its own height.
  busy?: boolean;
  end: () => void; // The list calls this function when the reader comes near its end.
  render: (row: Row) => ReactNode;
}

/** This list has any length and scrolls with the window. Only the rows near the visible part are in the page. */
export function List<Row>({ label, rows, total, keyOf, height, busy, end, render }: ListProps<Row>) {
  const { body, items, bodyHeight, placeOf } = useVirtualRows({ rows, keyOf, height, measured: true, end });
  return (
    <div className={busy ? 'table busy' : 'table'} aria-busy={busy}>
      <div className="body" role="list" aria-label={label} ref={body} style={{ height: bodyHeight }}>
        {items.map((item) => <div {...placeOf(item)} key={item.key} className="row" role="listitem" aria-setsize={total ?? -1} aria-posinset={item.index + 1}>{render(rows[item.index])}</div>)}
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

// These parameters belong to the lists of the tabs. Those of one tab mean nothing in another one.
const ofTabs = Object.fromEntries(['show', 'q', 'severity', 'sort', 'dir', 'tag', 'all', 'from', 'to', 'since', 'exploited', 'grouped', 'package', 'vulnerability', 'ecosystem', 'assignee', 'direct'].map((name) => [name, undefined]));

/** These tabs say which list a page shows. */
export const Tabs = ({ label, chosen, options }: { label: string; chosen: string; options: { value: string; name: string; count?: number }[] }) => (
  <div className="tabs" role="group" aria-label={label}>{options.map(({ value, name, count: of }) => (
    <button key={value} type="button" aria-pressed={chosen === value} onClick={() => narrow({ ...ofTabs, tab: value || undefined })}>{name}{of !== undefined && <> <small>{count(of)}</small></>}</button>
  ))}</div>
);

/** Returns the values of a name in the address, where commas separate them. */
export const valuesOf = (search: URLSearchParams, name: string): string[] => search.get(name)?.split(',').filter(Boolean).map((value) => value.replace(/%(?:25|2C)/g, decodeURIComponent)) ?? [];

/** Joins values for the address. Commas within a value are escaped. */
export const joinValues = (values: string[]): string => values.map((value) => value.replace(/[%,]/g, encodeURIComponent)).join(',');
