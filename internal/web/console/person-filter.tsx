// This file has the filter of a list by a person.

import { useEffect, useRef, useState } from 'react';
import { useData } from './client';
import { People } from './generated/graphql';
import { Find, Toggles } from './list';
import { Dialog, Icon, Lines, namesOf } from './ui';
import { plural, sentence } from './words';

const seenNames = new Map<string, string>(); // A list that a filter has emptied no longer names whom the filter is about.

interface PersonFilterProps { label: string; nothing: string; chosen?: string; root: string; known: ReadonlyMap<string, string>; choices?: readonly (readonly [string, string])[]; onChange: (uid: string | undefined) => void }

/** This button chooses a person: one of those that the list names, who may be gone, or one of the organization. There can be other choices before them. */
export function PersonFilter({ label, nothing, chosen, root, known, choices = [], onChange }: PersonFilterProps) {
  for (const one of [...known, ...choices]) seenNames.set(...one);
  const [open, setOpen] = useState(false), [words, setWords] = useState(''), close = () => { setOpen(false); setWords(''); };
  const { data, loading } = useData(People, { root, where: words ? { query: words } : null }, { pause: !open, keep: true }), found = data?.identities?.nodes ?? [], total = data?.identities?.totalCount ?? 0;
  // The button that was pressed is gone when somebody is chosen, and so is what takes the choice back.
  const place = useRef<HTMLSpanElement>(null), before = useRef(chosen);
  useEffect(() => {
    if (before.current !== chosen && document.activeElement === document.body) place.current?.querySelector('button')?.focus();
    before.current = chosen;
  }, [chosen]);
  if (chosen) return <span ref={place} className="action"><Toggles label={label} chosen={['one']} onChange={() => onChange(undefined)} options={[{ value: 'one', name: `${label}: ${seenNames.get(chosen) ?? (chosen.includes('/') ? 'one identity' : chosen)} ×` }]} /></span>;
  const listed = [...known].filter(([uid, one]) => one.toLowerCase().includes(words.toLowerCase()) && !found.some((other) => other.uid === uid)).slice(0, 10).map(([uid, one]) => ({ uid, name: one, detail: 'named in this list' }));
  const all = [...(words ? [] : choices.map(([uid, one]) => ({ uid, name: sentence(one.toUpperCase()), detail: ' ' }))), ...listed, ...found.map((one) => ({ uid: one.uid, name: one.name, detail: [namesOf(one.group).join(' / '), one.email ?? one.description].filter(Boolean).join(' · ') }))];
  return (
    <span ref={place} className="action">
      <button type="button" className="views-button" aria-haspopup="dialog" onClick={() => setOpen(true)}><Icon name="person" />{nothing}</button>
      <Dialog open={open} onClose={close} label={label} className="form">
        <div>
          <header><h2>{label}</h2><button type="button" className="icon-button" aria-label="Close" onClick={close}><Icon name="close" /></button></header>
          <section className="choosing person-choices"><div className="filters"><Find value={words} label="Find by name, description or email" onChange={setWords} /></div>
            {all.length === 0 ? (loading ? <Lines rows={3} /> : <p className="dim">Nobody has all these words.</p>)
              : <ul className="choices">{all.map((one) => <li key={one.uid}><button type="button" onClick={() => { seenNames.set(one.uid, one.name); onChange(one.uid); close(); }}><Icon name="person" /><span className="two"><b>{one.name}</b><small>{one.detail}</small></span></button></li>)}</ul>}
            {total > found.length && <p className="dim note">These are the first {found.length} of {plural(total, 'identity', 'identities')}. Type words to find the others.</p>}</section>
        </div>
      </Dialog>
    </span>
  );
}
