// This file shows lists of any length as tables, whose columns the reader chooses, and whose rows they can mark and save as a file.

import { useEffect, useLayoutEffect, useRef, useState, type CSSProperties, type FocusEvent, type ReactNode, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { useNarrow, useOpened, useVirtualRows, useWide } from './list';
import { Link, narrow, useLocation } from './router';
import { SortBy, type Sorting } from './sorting';
import { Dialog, Icon, isTyping, keepFocus } from './ui';
import { count } from './words';

export interface Column<Row, Sort extends string = string> {
  key: string;
  label: string;
  width: string; // This is the track of a grid.
  className?: string;
  names?: boolean; // It says whether this column names the row. It is always shown, and has what opens the row.
  wide?: boolean; // It says whether only wide windows have the column.
  by?: Sort; // This is how the list is sorted by the column.
  hidden?: boolean; // It says whether the column is shown only if the reader chooses it.
  cell: (row: Row) => ReactNode;
  text?: (row: Row) => string | number | null | undefined; // This is what a file has.
}

interface TableProps<Row, Sort extends string> {
  label: string;
  kind: string; // This class has the places of the cells on a phone.
  columns: Column<Row, Sort>[];
  rows: Row[];
  total?: number;
  keyOf: (row: Row) => string;
  height: number; // This is the height of a row in pixels.
  measured?: boolean; // It says whether each row has its own height. The given height is then an estimate.
  busy?: boolean;
  end: () => void; // The table calls this function when the reader comes near its end.
  sorting?: Sorting<Sort>;
  to?: (row: Row) => string; // A row leads there.
  story?: (row: Row) => ReactNode; // A row opens and shows this.
  opening?: ReturnType<typeof useOpened>; // Rows that are open here stay open if the table is gone for a while.
  marking?: Marking<Row>;
  classOf?: (row: Row) => string;
}

/** Rows that the reader has marked to do something with all of them. */
export interface Marking<Row> { marked: ReadonlySet<string>; mark: (keys: ReadonlySet<string>) => void; nameOf: (row: Row) => string }

/** Returns which rows are marked, and those of them that the list still has. */
export function useMarking<Row>(rows: Row[], keyOf: (row: Row) => string, nameOf: (row: Row) => string): { marking: Marking<Row>; chosen: Row[]; clear: () => void } {
  const [marked, mark] = useState<ReadonlySet<string>>(new Set());
  return { marking: { marked, mark, nameOf }, chosen: rows.filter((row) => marked.has(keyOf(row))), clear: () => mark(new Set()) };
}

/** This table scrolls with the window. Only the rows near the visible part are in the page, and each says which it is. */
export function Table<Row, Sort extends string = string>({ label, kind, columns, rows, total, keyOf, height, measured, busy, end, sorting, to, story, opening, marking, classOf }: TableProps<Row, Sort>) {
  const own = useOpened(label), [opened, toggle] = opening ?? own, wide = useWide(), phone = useNarrow();
  const shown = wide || phone ? columns : columns.filter((one) => !one.wide); // On a phone, the class decides.
  const tracks = [...(marking ? ['1.2rem'] : []), ...shown.map(({ width }) => width)].join(' '), style = { '--columns': tracks } as CSSProperties;
  const { body, items, bodyHeight, placeOf, reveal } = useVirtualRows({ rows, keyOf, height, measured, end });
  const { table, place, focusRow, onFocus, onBlur } = useRowFocus({ rows, keyOf, body, reveal, marked: marking?.marked }), anchor = useRef<string>(undefined);
  useRowKeys({ rows, keyOf, body, place, anchor, focusRow, marking });
  const open = (row: Row, cell: ReactNode) => (to ? <Link className="whole" to={to(row)}>{cell}</Link>
    : story ? <button type="button" className="whole" aria-expanded={opened.has(keyOf(row))} onClick={() => toggle(keyOf(row))}>{cell}</button> : cell);
  return (
    <div ref={table} className={busy ? 'table busy' : 'table'} role="table" aria-label={label} aria-busy={busy} aria-rowcount={total === undefined ? -1 : total + 1} aria-colcount={shown.length + (marking ? 1 : 0)}>
      <div role="rowgroup" className="stuck"><div className={`head columns ${kind}`} role="row" aria-rowindex={1} style={style}>
        {marking && <span role="columnheader" className="mark-column"><MarkAll rows={rows} keyOf={keyOf} marking={marking} /></span>}
        {shown.map((one) => <span key={one.key} role="columnheader" className={one.className} aria-sort={sorting && one.by && sorting.defaults[one.by].field === sorting.orderBy.field ? (sorting.orderBy.direction === 'ASC' ? 'ascending' : 'descending') : undefined}>
          {sorting && one.by ? <SortBy by={one.by} label={one.label} sorting={sorting} /> : one.label}</span>)}
      </div></div>
      <div className="body" role="rowgroup" ref={body} style={{ height: bodyHeight }} onFocus={onFocus} onBlur={onBlur}>
        {items.map((item) => {
          const row = rows[item.index], key = keyOf(row);
          return (
            <div {...placeOf(item)} key={key} className={['row', classOf?.(row), marking?.marked.has(key) && 'marked'].filter(Boolean).join(' ')} role="row" aria-rowindex={item.index + 2}>
              <div className={`cells columns ${kind}`} style={style}>
                {marking && <span role="cell" className="mark-column"><Mark onMark={(marked, range) => { marking.mark(markedWith({ rows, keyOf, anchor, marking, key, marked, range })); anchor.current = key; }} marked={marking.marked.has(key)} name={marking.nameOf(row)} /></span>}
                {shown.map((one) => <span key={one.key} role={one.names ? 'rowheader' : 'cell'} className={one.className}>{one.names ? open(row, one.cell(row)) : one.cell(row)}</span>)}
              </div>
              {story && opened.has(key) && <div className="story" role="cell" aria-colspan={shown.length}>{story(row)}</div>}
            </div>
          );
        })}
      </div>
      {total !== undefined && total > items.length && <p className="print-only">The first {count(items.length)} of {count(total)} rows. To have all of them, export the list.</p>}
    </div>
  );
}

interface Focused<Row> { rows: Row[]; keyOf: (row: Row) => string; body: RefObject<HTMLDivElement | null>; reveal: (index: number) => void; marked?: ReadonlySet<string> }

/**
 * Keeps the focus in a table when what had it is gone. If the row is gone, the focus goes to the row that took its place, and after
 * something was done with the marked rows, to the first row after them. If the table is gone, it goes to the heading of the page.
 */
function useRowFocus<Row>({ rows, keyOf, body, reveal, marked }: Focused<Row>) {
  const table = useRef<HTMLDivElement>(null), wanted = useRef<number>(undefined), before = useRef(marked);
  const at = useRef<{ key: string; index: number }>(undefined), place = useRef<string>(undefined); // These are the row that has the focus, and the row that had it last.
  const focusRow = (index: number) => {
    const row = body.current?.querySelector(`:scope > [data-index="${index}"]`), to = row?.querySelector<HTMLElement>('.whole') ?? row?.querySelector<HTMLElement>('a, button, input');
    wanted.current = to ? undefined : index;
    if (to) to.focus(); else reveal(index);
  };
  const isLost = () => document.activeElement === document.body;
  useLayoutEffect(() => {
    const done = before.current;
    before.current = marked;
    if (!done?.size || marked?.size || rows.length === 0 || !isLost()) return;
    const places = rows.flatMap((row, i) => (done.has(keyOf(row)) ? [i] : [])), next = Math.max(-1, ...places) + 1;
    focusRow(next < rows.length ? next : Math.max(0, (places[0] ?? 0) - 1));
  }, [marked]);
  useLayoutEffect(() => {
    if (at.current && isLost() && rows.length > 0 && !rows.some((row) => keyOf(row) === at.current!.key)) focusRow(Math.min(at.current.index, rows.length - 1));
  }, [rows]);
  useLayoutEffect(() => { if (wanted.current !== undefined && isLost() && body.current?.querySelector(`:scope > [data-index="${wanted.current}"]`)) focusRow(wanted.current); });
  useLayoutEffect(() => () => { if (table.current?.contains(document.activeElement)) keepFocus(); }, []);
  const indexOf = (event: FocusEvent) => Number((event.target as Element).closest('[data-index]')?.getAttribute('data-index') ?? NaN);
  return {
    table, place, focusRow,
    onFocus: (event: FocusEvent) => { const index = indexOf(event); if (rows[index] !== undefined) at.current = { key: place.current = keyOf(rows[index]), index }; },
    onBlur: () => { at.current = undefined; }, // React tells it only where the element is still there.
  };
}

interface Marked<Row> { rows: Row[]; keyOf: (row: Row) => string; anchor: RefObject<string | undefined>; marking: Marking<Row>; key: string; marked: boolean; range: boolean }

/** Returns what is marked after a row was marked or not: the row alone, or all rows from the one before to it. */
function markedWith<Row>({ rows, keyOf, anchor, marking, key, marked, range }: Marked<Row>): ReadonlySet<string> {
  const keys = rows.map(keyOf), to = keys.indexOf(key), from = range && anchor.current !== undefined ? keys.indexOf(anchor.current) : to, next = new Set(marking.marked);
  for (const one of from < 0 ? [key] : keys.slice(Math.min(from, to), Math.max(from, to) + 1)) if (marked) next.add(one); else next.delete(one);
  return next;
}

type RowKeys<Row> = Pick<Marked<Row>, 'rows' | 'keyOf' | 'anchor'> & { body: RefObject<HTMLDivElement | null>; place: RefObject<string | undefined>; focusRow: (index: number) => void; marking?: Marking<Row> };

/** Lets the reader go through the rows with keys, mark them, and do what the bar of the marked rows offers. */
function useRowKeys<Row>({ rows, keyOf, body, place, anchor, focusRow, marking }: RowKeys<Row>) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector('dialog[open]')) return;
      const here = rows.findIndex((row) => keyOf(row) === place.current), key = here < 0 ? undefined : keyOf(rows[here]);
      if (event.key === 'j' || event.key === 'k') {
        // A reader who was in no row yet begins with the first one in the window.
        const first = [...body.current?.children ?? []].find((row) => row.getBoundingClientRect().top >= 100)?.getAttribute('data-index');
        focusRow(here < 0 ? Number(first ?? 0) : Math.min(Math.max(here + (event.key === 'j' ? 1 : -1), 0), rows.length - 1));
      } else if ((event.key === 'x' || event.key === 'X') && marking && key !== undefined) {
        marking.mark(markedWith({ rows, keyOf, anchor, marking, key, marked: event.key === 'X' || !marking.marked.has(key), range: event.key === 'X' }));
        anchor.current = key;
      } else if (event.key === 'e' && marking && (marking.marked.size > 0 || key !== undefined)) {
        if (marking.marked.size === 0) flushSync(() => marking.mark(new Set([key!])));
        const action = document.querySelector<HTMLElement>('.chosen [aria-keyshortcuts=e]');
        action?.focus(); // It says why it does nothing, if it does nothing.
        action?.click();
      } else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}

const Mark = ({ marked, name, onMark }: { marked: boolean; name: string; onMark: (marked: boolean, range: boolean) => void }) => (
  <input type="checkbox" checked={marked} onChange={({ target, nativeEvent }) => onMark(target.checked, (nativeEvent as MouseEvent).shiftKey)} aria-label={`Choose ${name}`} />
);

/** This box marks all rows that the list has read. */
function MarkAll<Row>({ rows, keyOf, marking: { marked, mark } }: { rows: Row[]; keyOf: (row: Row) => string; marking: Marking<Row> }) {
  const all = rows.length > 0 && rows.every((row) => marked.has(keyOf(row)));
  return <input type="checkbox" checked={all} onChange={() => mark(new Set(all ? [] : rows.map(keyOf)))} aria-label={`Choose all ${count(rows.length)} that are shown`} />;
}

/** This bar says how many rows are marked, and has what can be done with them. */
export const ChosenBar = ({ what, onClear, children }: { what: string; onClear: () => void; children: ReactNode }) => (
  <div className="chosen" role="region" aria-label="What is chosen"><span role="status">{what}</span>{children}<button type="button" className="link-button" onClick={onClear}>Choose none</button></div>
);

const keptAt = (page: string) => `atrium.console.columns.${page}`;

/** Returns the columns that the reader wants to see: those in the address, or else those that the browser keeps for the page. */
export function useColumns<C extends Pick<Column<never>, 'key' | 'names' | 'hidden'>>(page: string, all: C[]): C[] {
  const asked = useLocation().search.get('columns') ?? localStorage.getItem(keptAt(page));
  if (asked === null) return all.filter(({ hidden }) => !hidden);
  const wanted = asked.split(',');
  return all.filter(({ key, names }) => names || wanted.includes(key));
}

/** This button lets the reader choose columns. The address has the choice, so that views and links keep it, and so does the browser. */
export function ChooseColumns<C extends Pick<Column<never>, 'key' | 'label' | 'names' | 'hidden'>>({ page, all }: { page: string; all: C[] }) {
  const [open, setOpen] = useState(false), shown = useColumns(page, all), close = () => setOpen(false);
  const choose = (next: C[]) => {
    const usual = next.length === all.filter(({ hidden }) => !hidden).length && next.every(({ hidden }) => !hidden), value = next.filter(({ names }) => !names).map(({ key }) => key).join(',') || 'none';
    if (usual) localStorage.removeItem(keptAt(page)); else localStorage.setItem(keptAt(page), value);
    narrow({ columns: usual ? undefined : value }, { replace: true });
  };
  return (
    <>
      <button type="button" className="views-button columns-button" aria-haspopup="dialog" onClick={() => setOpen(true)}><Icon name="columns" />Columns</button>
      <Dialog open={open} onClose={close} label="Columns" className="form">
        <div>
          <header><h2>Columns of this list</h2><button type="button" className="icon-button" aria-label="Close" onClick={close}><Icon name="close" /></button></header>
          <fieldset className="column-choices"><legend className="sr">Columns</legend>{all.map((one) => (
            <label key={one.key}><input type="checkbox" checked={shown.includes(one)} disabled={one.names} onChange={() => choose(all.filter((other) => (other === one ? !shown.includes(one) : shown.includes(other))))} />{one.label}</label>
          ))}</fieldset>
          <p className="dim note">Your browser keeps this choice, and the address of the page and its views contain it. A small window leaves some columns out.</p>
        </div>
      </Dialog>
    </>
  );
}

/** Writes a value as a field of CSV. A program for tables would execute a text that begins like a formula, so such a text gets an apostrophe. */
function fieldOf(value: string | number | null | undefined): string {
  const text = typeof value === 'string' ? value.replace(/^[=+\-@\t\r]/, "'$&") : String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** This button saves all rows of a filtered list as CSV, with all columns, and not only what the page shows. */
export function SaveRows<Row>({ name, columns, readAll, disabled }: { name: string; columns: Pick<Column<Row>, 'label' | 'text'>[]; readAll: (onProgress: (n: number) => void) => Promise<{ rows: Row[]; problem?: string }>; disabled?: boolean }) {
  const [read, setRead] = useState<number>(), [said, setSaid] = useState('');
  const save = async () => {
    setSaid('');
    setRead(0);
    const { rows, problem } = await readAll(setRead), written = columns.filter(({ text }) => text);
    setRead(undefined);
    if (problem) { setSaid(`The file could not be created: ${problem}`); return; }
    const lines = [written.map(({ label }) => fieldOf(label)), ...rows.map((row) => written.map(({ text }) => fieldOf(text!(row))))].map((fields) => fields.join(','));
    saveText(`${name}.csv`, lines.join('\r\n') + '\r\n');
    setSaid(`Saved ${count(rows.length)} rows to ${name}.csv.`);
  };
  const busy = read !== undefined;
  return (
    <span className="exports"><Icon name="save" /><button type="button" className="link-button" aria-label="Export CSV" title={`Save all ${name} of this list as CSV`} aria-disabled={disabled || busy} onClick={() => { if (!disabled && !busy) void save(); }}>{busy ? `${count(read)} …` : 'CSV'}</button>
      <span role="status" className={said.startsWith('The file') ? 'fault' : 'sr'}>{said}</span></span>
  );
}

function saveText(name: string, text: string) {
  const file = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' })), link = document.createElement('a');
  link.href = file;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(file), 10_000);
}
