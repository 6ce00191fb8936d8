// This file chooses who looks after findings: for a decision, and as a filter of the list.

import { useEffect, useRef, useState } from 'react';
import { useData } from './client';
import { Me, type FindingFilter } from './generated/graphql';
import type { ControlProps } from './inputs';
import { FindPerson, PersonFilter, rememberName, seenName, type Person } from './person-filter';
import { narrow } from './router';

export const nobody = 'nobody';
const me = 'me', another = 'another';

/** Returns the name of an identity that the reader has chosen. */
export const nameOfAssignee = (uid: string): string => seenName(uid) ?? 'somebody';

/** This control offers nobody, the reader, those who look after the findings now, and any other identity of the organization. */
export function ChooseAssignee({ value, onChange, root, now, ...common }: ControlProps & { root: string; now: readonly Person[] }) {
  const [looking, setLooking] = useState(false), [chosen, setChosen] = useState<Person>();
  const own = useData(Me, {}, { fresh: false }).data?.viewer?.identities ?? [];
  const others = [...new Map([...now, ...(chosen ? [chosen] : [])].map((one) => [one.uid, one])).values()].filter(({ uid }) => !own.some((mine) => mine.uid === uid));
  for (const { uid, name } of [...own, ...others]) rememberName(uid, name);
  const [asItIs] = useState(value === ''), select = useRef<HTMLSelectElement>(null), search = useRef<HTMLDivElement>(null);
  useEffect(() => { if (looking) search.current?.querySelector('input')?.focus(); }, [looking]);
  const choose = (one: Person) => { setChosen(one); onChange(one.uid); setLooking(false); select.current?.focus(); };
  return (
    <>
      <select {...common} ref={select} value={value as string} onChange={({ target }) => { setLooking(target.value === another); if (target.value !== another) onChange(target.value); }}>
        {asItIs && <option value="">No change</option>}<option value={nobody}>Nobody</option>
        {own.map(({ uid, name }) => <option key={uid} value={uid}>{name} (you)</option>)}{others.map(({ uid, name }) => <option key={uid} value={uid}>{name}</option>)}
        <option value={another}>Somebody else …</option>
      </select>
      {looking && <div className="choosing" ref={search} role="group" aria-label="Somebody else"><FindPerson root={root} onChoose={choose} /></div>}
    </>
  );
}

/** Returns the condition for the assignee in an address. */
export const assignedTo = (asked: string | undefined): FindingFilter => (!asked ? {} : asked === me ? { assignedToMe: true } : asked === nobody ? { assigned: false } : { assignee: asked });

/** This filter restricts a list to the findings that somebody looks after, or nobody. */
export const AssigneeFilter = ({ chosen, root, known }: { chosen?: string; root: string; known: ReadonlyMap<string, string> }) => (
  <PersonFilter label="Assigned to" nothing="Any assignee" choices={[[me, 'me'], [nobody, nobody]]} chosen={chosen} root={root} known={known} onChange={(assignee) => narrow({ assignee })} />
);
