import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { Icon } from './ui';

/** Whether the window is as narrow as a phone. */
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
  height: number; // of a row
  measured?: boolean; // whether rows have heights of their own, which begin with this one
  head?: ReactNode;
  busy?: boolean;
  end: () => void; // is called when the end comes near
  render: (row: Row) => ReactNode;
}

/** A list of any length in the scroll of the window: only the rows near what is seen are in the page. */
export function List<Row>({ label, rows, total, keyOf, height, measured, head, busy, end, render }: ListProps<Row>) {
  const body = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(body.current ? body.current.getBoundingClientRect().top + scrollY : 0), [head, rows.length === 0]);
  const virtual = useWindowVirtualizer({ count: rows.length, estimateSize: () => height, overscan: 12, scrollMargin: offset, getItemKey: (i) => keyOf(rows[i]) });
  useEffect(() => virtual.measure(), [height]);
  const shown = virtual.getVirtualItems(), last = shown.at(-1)?.index ?? -1;
  useEffect(() => { if (last >= rows.length - 15) end(); }, [last, rows.length]);
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

/** A field that narrows a list by words. What is typed is asked once the reader pauses. */
export function Find({ value, label, onChange }: { value: string; label: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value), sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value); // the reader went back
  }, [value]);
  useEffect(() => {
    if (text.trim() === sent.current) return;
    const timer = setTimeout(() => { sent.current = text.trim(); onChange(text.trim()); }, 250);
    return () => clearTimeout(timer);
  }, [text]);
  return <label className="find"><span className="sr">{label}</span><Icon name="search" /><input type="search" value={text} placeholder={label} onChange={(event) => setText(event.target.value)} maxLength={200} spellCheck={false} autoComplete="off" /></label>;
}

/** A choice of several, in the address of the page: each a button that is pressed or not. */
export function Toggles({ label, options, chosen, onChange }: { label: string; options: { value: string; name: ReactNode; count?: string }[]; chosen: string[]; onChange: (chosen: string[]) => void }) {
  return (
    <div className="facets" role="group" aria-label={label}>
      {options.map(({ value, name, count }) => (
        <button key={value} type="button" className="toggle" aria-pressed={chosen.includes(value)} onClick={() => onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value])}>{name}{count !== undefined && <small>{count}</small>}</button>
      ))}
    </div>
  );
}

/** Values of one name in the address, with commas between them. */
export const several = (search: URLSearchParams, name: string): string[] => search.get(name)?.split(',').filter(Boolean) ?? [];
