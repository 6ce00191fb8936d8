// This file has the dialog that says who the reader is and why they may do what they may, and how the console looks.

import { useId } from 'react';
import { enumerate, kinds } from './access';
import { useData } from './client';
import { Start as StartDocument, type StartQuery } from './generated/graphql';
import { groupAddress } from './places';
import { prefer, usePreferences, type Preferences } from './preferences';
import { Link } from './router';
import { chosenRole, enterAs } from './session';
import { settings } from './settings';
import { CopyButton, Dialog, Icon, Lines, namesOf, Problems, Time } from './ui';
import { count, formatRelativeTime, formatTime, plural, sentence } from './words';

const languages = [...new Set(['', ...navigator.languages])];
const nameOfLanguage = (code: string) => (code === '' ? 'English' : `${new Intl.DisplayNames('en', { type: 'language' }).of(code)} (${code})`);
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function SettingsDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} label="Settings" className="form">
      <div>
        <header><h2>Settings</h2><button type="button" className="icon-button" aria-label="Close" onClick={onClose}><Icon name="close" /></button></header>
        <Who onClose={onClose} />
        {settings.roles && <Roles />}
        <Looks />
      </div>
    </Dialog>
  );
}

/** This part says who the reader is for the server, and which role bindings let them do what they may. */
function Who({ onClose }: { onClose: () => void }) {
  const loaded = useData(StartDocument, {}), viewer = loaded.data?.viewer, bindings = viewer?.roleBindings?.nodes ?? [];
  if (!loaded.data) return loaded.problems.length > 0 ? <Problems loaded={loaded} /> : <Lines rows={4} />;
  return (
    <section className="who" aria-label="Who you are">
      <h3>Who you are</h3>
      {(viewer?.identities ?? []).map(({ uid, name, email }) => <p key={uid}><b>{name}</b>{email && ` · ${email}`} <code>{uid.slice(-16)}</code><CopyButton text={uid} label="Copy your UID" /></p>)}
      {viewer?.identities?.length === 0 && <p>Your token is valid, but no identity matches it. Ask an owner of your organization for an invite.</p>}
      <h3>Your roles</h3>
      {bindings.length === 0 ? <p className="dim">You have no role.</p> : <ul className="plain">{bindings.map(({ uid, expireTime, role, group }) => (
        <li key={uid}><b>{role?.name ?? 'A role'}</b> in {group ? <Link to={groupAddress(namesOf(group), group.uid, 'access', { identity: viewer!.identities![0]?.uid })} onClick={onClose}>{namesOf(group).join(' / ')}</Link> : 'a group that you may not see'}, and below{expireTime && <>, until <Time at={expireTime} /></>}</li>
      ))}</ul>}
      {bindings.length > 0 && <ByCapability bindings={bindings} />}
      {bindings.length === 50 && <p className="dim">Only the first {plural(50, 'role binding')} are shown.</p>}
    </section>
  );
}

type Binding = NonNullable<NonNullable<StartQuery['viewer']>['roleBindings']>['nodes'][number];

/** This table says for each kind of resource what the reader may do with it, and which role in which group lets them. */
function ByCapability({ bindings }: { bindings: Binding[] }) {
  const rows = kinds.map(({ kind, by }) => {
    const ways = bindings.map((one) => ({ one, may: Object.entries(by).flatMap(([verb, capability]) => (one.role?.capabilities.includes(capability) ? [verb] : [])) }));
    return { kind, ways: ways.filter(({ may }) => may.length > 0) };
  });
  const none = rows.filter(({ ways }) => ways.length === 0).map(({ kind }) => kind);
  return (
    <details className="reasons">
      <summary>By capability</summary>
      <table className="plain-table"><thead><tr><th scope="col">Resource</th><th scope="col">You may</th><th scope="col">Because you are</th></tr></thead>
        <tbody>{rows.filter(({ ways }) => ways.length > 0).map(({ kind, ways }) => ways.map(({ one, may }, i) => (
          <tr key={kind + one.uid}>{i === 0 && <th scope="rowgroup" rowSpan={ways.length}>{kind}</th>}<td>{enumerate(may, 4)}</td><td>{one.role!.name} in {namesOf(one.group).join(' / ') || 'a group that you may not see'}</td></tr>
        )))}</tbody></table>
      {none.length > 0 && <p className="dim">You have no access to {enumerate(none, none.length)}.</p>}
      <p className="dim">Roles that an external group of your provider gives you are not listed.</p>
    </details>
  );
}

/** These buttons show the console as the people of the demonstration see it. The choice outlives a reload of the tab. */
function Roles() {
  const chosen = chosenRole();
  return (
    <section aria-label="Demonstration role">
      <h3>Demonstration role</h3>
      <div className="tabs" role="group" aria-label="Act as">{Object.keys(settings.roles!).map((role) => <button key={role} type="button" aria-pressed={role === chosen} onClick={() => enterAs(role)}>{sentence(role.toUpperCase())}</button>)}</div>
    </section>
  );
}

function Looks() {
  const now = usePreferences(), sample = new Date(Date.now() - 3 * 86_400_000).toISOString();
  return (
    <section aria-label="Appearance">
      <h3>Appearance</h3>
      <Choose of="theme" label="Theme" options={[['', 'System'], ['light', 'Light'], ['dark', 'Dark']]} now={now} />
      <Choose of="density" label="Rows" options={[['', 'Comfortable'], ['compact', 'Compact']]} now={now} />
      <Choose of="zone" label="Time zone" options={[['', `Local (${zone})`], ['UTC', 'UTC']]} now={now} />
      <Choose of="language" label="Language of dates and numbers" options={languages.map((code) => [code, nameOfLanguage(code)])} now={now} />
      <p className="dim">{formatTime(sample)} · {formatRelativeTime(sample)} · {count(12_345)}</p>
    </section>
  );
}

function Choose({ of, label, options, now }: { of: keyof Preferences; label: string; options: (readonly [string, string])[]; now: Preferences }) {
  const id = useId();
  return <p className="choose"><label htmlFor={id}>{label}</label><select id={id} value={now[of]} onChange={(event) => prefer({ [of]: event.target.value })}>{options.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></p>;
}
