import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { count } from './words';

/** A column of a chart: a time, and how many there were of each kind then. */
export interface Column { time: string; name: string; parts: number[] }
export interface Kind { name: string; className: string }

/**
 * This chart stacks the kinds of each time in a column. The pointer or the arrow keys choose a column, whose numbers are above the
 * chart, and a table below has all numbers.
 */
export function Columns({ label, columns, kinds, height = 150 }: { label: string; columns: Column[]; kinds: Kind[]; height?: number }) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0), [chosen, setChosen] = useState<number>();
  useEffect(() => {
    const observer = new ResizeObserver(([{ contentRect }]) => setWidth(contentRect.width));
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  const sums = columns.map(({ parts }) => parts.reduce((sum, n) => sum + n, 0)), most = niceTop(Math.max(...sums, 1));
  const left = 8 + String(count(most)).length * 7, step = Math.max((width - left) / columns.length, 0), bar = Math.max(Math.min(step - 2, 22), 1);
  const bottom = height - 20, scale = (bottom - 10) / most;
  const months = columns.flatMap(({ time }, i) => (i > 0 && monthOf(time) !== monthOf(columns[i - 1].time) ? [{ i, name: monthOf(time) }] : []));
  const said = chosen !== undefined && columns[chosen] ? inWords(columns[chosen], kinds) : undefined;
  const press = (event: KeyboardEvent) => {
    const last = columns.length - 1, next = { ArrowLeft: (chosen ?? columns.length) - 1, ArrowRight: (chosen ?? -1) + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setChosen(Math.max(0, Math.min(next, last)));
  };
  return (
    <figure className="plot" ref={frame} aria-label={label}>
      <p className="legend-line"><span className="dim" role="status">{said ?? label}</span></p>
      <div role="slider" tabIndex={0} aria-label={`${label}: choose a time`} aria-valuemin={1} aria-valuemax={columns.length} aria-valuenow={(chosen ?? columns.length - 1) + 1} aria-valuetext={inWords(columns[chosen ?? columns.length - 1], kinds)}
        onKeyDown={press} onBlur={() => setChosen(undefined)} onPointerLeave={() => setChosen(undefined)}
        onPointerMove={({ clientX, currentTarget }) => { const i = Math.floor((clientX - currentTarget.getBoundingClientRect().left - left) / step); setChosen(columns[i] ? i : undefined); }}>
        <svg width={Math.max(width, 1)} height={height} aria-hidden="true">
          {[0, most / 2, most].filter(Number.isInteger).map((n) => <g key={n} className="axis"><line x1={left} x2={width} y1={bottom - n * scale} y2={bottom - n * scale} /><text x={left - 6} y={bottom - n * scale + 4} textAnchor="end">{count(n)}</text></g>)}
          {chosen !== undefined && <rect className="chosen" x={left + chosen * step} y={4} width={step} height={bottom - 4} />}
          {width > 0 && columns.map(({ parts }, i) => stack(parts, scale).map(({ from, size }, kind) => size > 0 && (
            <rect key={`${i} ${kind}`} className={kinds[kind].className} x={left + i * step + (step - bar) / 2} y={bottom - from - size} width={bar} height={size} />)))}
          {months.filter((_, i) => i % (width < 420 ? 2 : 1) === 0).map(({ i, name }) => <text key={i} className="month" x={left + i * step} y={height - 4}>{name}</text>)}
        </svg>
      </div>
      <details><summary>As a table</summary>
        <div className="scroll" tabIndex={0} role="region" aria-label={`${label}, as a table`}><table className="numbers">
          <thead><tr><th scope="col">Time</th>{kinds.map(({ name }) => <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>{columns.toReversed().map((column) => <tr key={column.time}><th scope="row">{column.name}</th>{column.parts.map((n, i) => <td key={i}>{count(n)}</td>)}</tr>)}</tbody>
        </table></div>
      </details>
    </figure>
  );
}

const monthOf = (time: string) => new Date(time).toLocaleDateString('en', { month: 'short', timeZone: 'UTC' });
const inWords = ({ name, parts }: Column, kinds: Kind[]) => `${name}: ${parts.flatMap((n, i) => (n > 0 ? [`${count(n)} ${kinds[i].name.toLowerCase()}`] : [])).join(', ') || 'none'}`;

/** Returns where the parts of a column begin, and how high they are. The last one is at the bottom. */
function stack(parts: number[], scale: number) {
  let from = 0;
  return parts.toReversed().map((n) => { const part = { from, size: n * scale }; from += part.size; return part; }).toReversed();
}

function niceTop(n: number): number {
  const unit = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 4, 5, 10].map((factor) => factor * unit).find((top) => top >= n)!;
}
