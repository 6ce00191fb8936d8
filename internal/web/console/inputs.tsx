// This file has the form controls that browsers do not have.

import { useState } from 'react';
import { Icon } from './ui';
import { fieldOfTime, plural, zoneName } from './words';

export type Value = string | boolean | string[] | [string, string][];
export type Values = Record<string, Value>;
export interface Choice { value: string; name: string; about?: string; group?: string }

/** These are the properties of a custom control. All of them except value and onChange belong on its element. */
export interface ControlProps {
  id: string;
  value: Value;
  onChange: (value: Value) => void;
  onBlur: () => void;
  'aria-invalid'?: true;
  'aria-describedby'?: string;
  'aria-required'?: true;
}

/** This control shows check boxes below the names of their groups. */
export function CheckBoxes({ choices, chosen, onChange }: { choices: Choice[]; chosen: string[]; onChange: (chosen: string[]) => void }) {
  const groups = [...new Set(choices.map(({ group }) => group ?? ''))];
  return (
    <div className="several"><div>{groups.map((group) => {
      const members = choices.filter((one) => (one.group ?? '') === group), all = members.every(({ value }) => chosen.includes(value));
      const without = chosen.filter((value) => !members.some((one) => one.value === value));
      return (
        <div key={group} role="group" aria-label={group || undefined}>
          {group && <p><b>{group}</b><button type="button" className="link-button" onClick={() => onChange(all ? without : [...without, ...members.map(({ value }) => value)])}>{all ? 'None' : 'All'}<span className="sr"> of {group}</span></button></p>}
          {members.map(({ value, name, about }) => (
            <label key={value} title={about}><input type="checkbox" checked={chosen.includes(value)} onChange={(event) => onChange(event.target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))} />{name}</label>
          ))}
        </div>
      );
    })}</div></div>
  );
}

/** This control shows pairs of a name and a value, with a row for each pair. */
export function Pairs({ label, pairs, onChange }: { label: string; pairs: [string, string][]; onChange: (pairs: [string, string][]) => void }) {
  const put = (i: number, pair: [string, string]) => onChange(pairs.map((old, j) => (i === j ? pair : old)));
  return (
    <div className="pairs">
      {pairs.map(([key, value], i) => (
        <div key={i}>
          <input type="text" className="code" value={key} aria-label={`${label}, name ${i + 1}`} placeholder="name" autoFocus={key === '' && value === ''} onChange={(event) => put(i, [event.target.value, value])} autoComplete="off" spellCheck={false} />
          <input type="text" className="code" value={value} aria-label={`${label}, value ${i + 1}`} placeholder="value" onChange={(event) => put(i, [key, event.target.value])} autoComplete="off" spellCheck={false} />
          <button type="button" className="icon-button" aria-label={`Remove ${key || 'this pair'}`} onClick={() => onChange(pairs.filter((_, j) => i !== j))}><Icon name="close" /></button>
        </div>
      ))}
      <button type="button" onClick={() => onChange([...pairs, ['', '']])}>Add {pairs.length > 0 ? 'another' : 'one'}</button>
    </div>
  );
}

const daysAhead = [1, 7, 30, 90];

/** This control shows a time in the zone of the settings, which it names, and sets it to some days from now. */
export function TimeField({ value, onChange, ...common }: Omit<ControlProps, 'value' | 'onChange'> & { value: string; onChange: (value: string) => void }) {
  return (
    <>
      <input type="datetime-local" step={1} {...common} value={value} onChange={(event) => onChange(event.target.value)} />
      <span className="presets" role="group" aria-label="Days from now">
        {daysAhead.map((days) => <button key={days} type="button" className="link-button" onClick={() => onChange(fieldOfTime(Date.now() + days * 86_400_000))}>in {plural(days, 'day')}</button>)}
        <span className="dim">Time zone: {zoneName()}</span>
      </span>
    </>
  );
}

const units = [['minutes', 60], ['hours', 3600], ['days', 86_400]] as const;

/** This control shows a duration as a number and a unit. */
export function Span({ label, seconds, onChange, ...common }: Omit<ControlProps, 'value' | 'onChange'> & { label: string; seconds: string; onChange: (seconds: string) => void }) {
  const [unit, setUnit] = useState<number>(() => units.findLast(([, length]) => seconds !== '' && Number(seconds) % length === 0)?.[1] ?? 86_400);
  return (
    <div className="span">
      <input type="number" min={1} step={1} inputMode="numeric" {...common} value={seconds === '' ? '' : String(Number(seconds) / unit)} onChange={(event) => onChange(event.target.value === '' ? '' : String(Math.round(Number(event.target.value) * unit)))} />
      <select aria-label={`Unit of ${label.toLowerCase()}`} value={unit} onChange={(event) => { const next = Number(event.target.value); if (seconds !== '') onChange(String((Number(seconds) / unit) * next)); setUnit(next); }}>
        {units.map(([name, length]) => <option key={name} value={length}>{name}</option>)}
      </select>
    </div>
  );
}
