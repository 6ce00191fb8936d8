// This file finds people, and filters a list by a person.

import { useEffect, useRef, useState } from 'react';
import { useData } from './client';
import { People } from './generated/graphql';
import { Find, Toggles } from './list';
import { Dialog, Icon, Lines, namesOf, Problems } from './ui';
import { plural, sentence } from './words';

const seenNames = new Map<string, string>(); // A list that a filter has emptied no longer names whom the filter is about.
/** Remembers the name of somebody whom a list names, or whom the reader has chosen. */
export const rememberName = (uid: string, name: string) => { seenNames.set(uid, name); };
/** Returns the name of somebody, if the console has seen it. */
export const seenName = (uid: string) => seenNames.get(uid);

export interface Person { uid: string; name: string }
interface FindPersonProps { root: string; before?: (words: string) => (Person & { detail?: string })[]; onChoose: (one: Person) => void }

/** This list finds people of the organization by words. Others can come before them. */
export function FindPerson({ root, before = () => [], onChoose }: FindPersonProps) {
  const [words, setWords] = useState(''), loaded = useData(People, { root, where: words ? { query: words } : null }, { keep: true });
  const found = loaded.data?.identities?.nodes ?? [], total = loaded.data?.identities?.totalCount ?? 0;
  const others = before(words).filter(({ uid }) => !found.some((one) => one.uid === uid));
  const all = [...others, ...found.map((one) => ({ uid: one.uid, name: one.name, detail: [namesOf(one.group).join(' / '), one.email ?? one.description].filter(Boolean).join(' · ') }))];
  return (
    <>
      <div className="filters"><Find value={words} label="Find by name, description or email" onChange={setWords} /></div>
      {all.length === 0 ? (loaded.loading ? <Lines rows={3} /> : loaded.problems.length > 0 ? <Problems loaded={loaded} /> : <p className="dim">No identity matches these words.</p>)
        : <ul className="choices">{all.map((one) => <li key={one.uid}><button type="button" onClick={() => { rememberName(one.uid, one.name); onChoose(one); }}><Icon name="person" /><span className="two"><b>{one.name}</b><small>{one.detail || ' '}</small></span></button></li>)}</ul>}
      {total > found.length && <p className="dim note">These are the first {found.length} of {plural(total, 'identity', 'identities')}. Type words to find the others.</p>}
    </>
  );
}

interface PersonFilterProps { label: string; nothing: string; chosen?: string; root: string; known: ReadonlyMap<string, string>; choices?: readonly (readonly [string, string])[]; onChange: (uid: string | undefined) => void }

/** This button chooses a person: one of those that the list names, who may be gone, or one of the organization. There can be other choices before them. */
export function PersonFilter({ label, nothing, chosen, root, known, choices = [], onChange }: PersonFilterProps) {
  for (const one of [...known, ...choices]) rememberName(...one);
  const [open, setOpen] = useState(false), close = () => setOpen(false);
  // The button that was pressed is gone when somebody is chosen, and so is what takes the choice back.
  const place = useRef<HTMLSpanElement>(null), last = useRef(chosen);
  useEffect(() => {
    if (last.current !== chosen && document.activeElement === document.body) place.current?.querySelector('button')?.focus();
    last.current = chosen;
  }, [chosen]);
  if (chosen) return <span ref={place} className="action"><Toggles label={label} chosen={['one']} onChange={() => onChange(undefined)} options={[{ value: 'one', name: `${label}: ${seenName(chosen) ?? (chosen.includes('/') ? 'one identity' : chosen)} ×` }]} /></span>;
  const before = (words: string) => [
    ...(words ? [] : choices.map(([uid, one]) => ({ uid, name: sentence(one.toUpperCase()) }))),
    ...[...known].filter(([, one]) => one.toLowerCase().includes(words.toLowerCase())).slice(0, 10).map(([uid, one]) => ({ uid, name: one, detail: 'named in this list' })),
  ];
  return (
    <span ref={place} className="action">
      <button type="button" className="views-button" aria-haspopup="dialog" onClick={() => setOpen(true)}><Icon name="person" />{nothing}</button>
      <Dialog open={open} onClose={close} label={label} className="form">
        <div>
          <header><h2>{label}</h2><button type="button" className="icon-button" aria-label="Close" onClick={close}><Icon name="close" /></button></header>
          <section className="choosing person-choices"><FindPerson root={root} before={before} onChoose={({ uid }) => { onChange(uid); close(); }} /></section>
        </div>
      </Dialog>
    </span>
  );
}
