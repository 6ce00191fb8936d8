// Creating, changing and revoking bindings. What a change would give and take is shown before it is made.

import { useId, useState, type ReactNode } from 'react';
import { useClient } from 'urql';
import { everything, foresee, homeOf, kinds, reachOf, summarize, tell, verbs, within, enumerate, type Outcome } from './access';
import { problemsOf, useData, type Loaded } from './client';
import { Bind, Bindable, Impact, Rebind, Unbind, type BoundFragment, type Capability, type GivenRoleFragment, type GrantFragment, type ImpactQuery } from './generated/graphql';
import { Find } from './list';
import { Dialog, Icon, Lines, namesOf, Problems } from './ui';
import { plural } from './words';

/** What is changed: a new binding on a group, another role for a binding, or none. */
export type Change =
  | { kind: 'bind'; group: string; identity?: BoundFragment }
  | { kind: 'rebind' | 'unbind'; binding: GrantFragment };

interface ChangeProps {
  change?: Change;
  roles: readonly GivenRoleFragment[]; // all that can be bound on the way to the group
  nameOfGroup: (uid: string) => string;
  seesAll: boolean; // whether the reader may see the bindings of all groups above
  lastOwner?: boolean;
  onClose: () => void;
  onDone: (what: string) => void;
}

const titles = { bind: 'Give a role', rebind: 'Change the role', unbind: 'Revoke the role' };

export function ChangeBinding(props: ChangeProps) {
  const { change, onClose } = props;
  return <Dialog open={change !== undefined} onClose={onClose} label={change ? titles[change.kind] : ''} className="sheet change-binding">{change && <Form {...props} change={change} />}</Dialog>;
}

function Form({ change, roles, nameOfGroup, seesAll, lastOwner, onClose, onDone }: ChangeProps & { change: Change }) {
  const client = useClient();
  const binding = change.kind === 'bind' ? undefined : change.binding, group = change.kind === 'bind' ? change.group : homeOf(change.binding.uid);
  const [identity, setIdentity] = useState<BoundFragment | undefined>(change.kind === 'bind' ? change.identity : change.binding.identity ?? undefined);
  const [role, setRole] = useState<GivenRoleFragment>(), [sending, setSending] = useState(false), [failed, setFailed] = useState<Loaded<unknown>['problems']>([]);
  const old = binding?.role ? roles.find(({ uid }) => uid === binding.role!.uid) : undefined;
  const on = binding ? reachOf(binding) ?? group : group;
  const impact = useData(Impact, { identity: identity?.uid ?? '', on }, { pause: !identity });
  const ready = identity !== undefined && (change.kind === 'unbind' || (role !== undefined && role.uid !== binding?.role?.uid));
  const outcome = ready && impact.data?.identity ? foresee(on, impact.data.identity.held, impact.data.identity.roleBindings?.nodes ?? [],
    binding ? { uid: binding.uid, capabilities: old?.capabilities ?? [] } : undefined, role?.capabilities ?? []) : undefined;

  const send = async () => {
    if (!ready || sending) return;
    setSending(true);
    const { error } = change.kind === 'bind' ? await client.mutation(Bind, { input: { parent: group, identityUid: identity.uid, roleUid: role!.uid } } as never).toPromise()
      : change.kind === 'rebind' ? await client.mutation(Rebind, { input: { uid: change.binding.uid, roleUid: role!.uid } } as never).toPromise()
      : await client.mutation(Unbind, { input: { uid: change.binding.uid } } as never).toPromise();
    setSending(false);
    setFailed(problemsOf(error));
    if (error) return;
    const where = nameOfGroup(group);
    onDone(change.kind === 'bind' ? `${identity.name} now has the role ${role!.name} on ${where}.` : change.kind === 'rebind' ? `${identity.name} now has the role ${role!.name} on ${where}, no longer ${binding!.role?.name}.`
      : `${identity.name} no longer has the role ${binding!.role?.name} on ${where}.`);
  };
  return (
    <form onSubmit={(event) => { event.preventDefault(); void send(); }}>
      <header><div><h2>{titles[change.kind]}</h2><p className="dim">{change.kind === 'bind' ? <>On <b>{nameOfGroup(group)}</b> and everything below it.</>
        : <><b>{binding!.identity?.name ?? 'Somebody'}</b> is <b>{binding!.role?.name ?? 'something'}</b> on <b>{nameOfGroup(group)}</b>.</>}</p></div>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}><Icon name="close" /></button></header>
      {change.kind === 'bind' && <section><h3>Who</h3><ChooseIdentity group={group} chosen={identity} onChoose={setIdentity} nameOfGroup={nameOfGroup} /></section>}
      {change.kind !== 'unbind' && <section><h3>{change.kind === 'bind' ? 'Role' : 'New role'}</h3>
        <ChooseRole roles={roles.filter(({ uid }) => homeOf(uid) === '' || within(group, homeOf(uid)))} chosen={role} onChoose={setRole} current={binding?.role?.uid} may={impact.data?.viewer?.capabilities} nameOfGroup={nameOfGroup} /></section>}
      <section aria-live="polite"><h3>What it changes</h3>
        {!identity ? <p className="dim">{binding ? 'Your role does not include this identity, so that what it would lose cannot be shown.' : 'Choose who gets the role.'}</p>
          : !ready ? <p className="dim">Choose {change.kind === 'bind' ? 'a' : 'another'} role.</p>
          : impact.problems.length > 0 && !impact.data?.identity ? <Problems of={impact} />
          : !outcome ? <Lines rows={4} />
          : <Effect outcome={outcome} name={identity.name} data={impact.data!} nameOfGroup={nameOfGroup} seesAll={seesAll} self={impact.data!.viewer?.identities.some(({ uid }) => uid === identity.uid) ?? false} />}
      </section>
      {failed.length > 0 && <section><Problems of={{ problems: failed, reload: () => void send() }} /></section>}
      <footer>
        <button type="submit" className={change.kind === 'unbind' ? 'danger' : 'primary'} disabled={!(change.kind === 'unbind' ? !lastOwner : ready) || sending} title={lastOwner ? 'An organisation needs an owner: bind the role to another identity first' : undefined}>{titles[change.kind]}</button>
        <button type="button" onClick={onClose}>Cancel</button>
        {change.kind === 'unbind' && lastOwner && <p className="dim">This is the last owner. An organisation needs one: give the role to another identity first.</p>}
      </footer>
    </form>
  );
}

function ChooseIdentity({ group, chosen, onChoose, nameOfGroup }: { group: string; chosen?: BoundFragment; onChoose: (one: BoundFragment | undefined) => void; nameOfGroup: (uid: string) => string }) {
  const [words, setWords] = useState('');
  const loaded = useData(Bindable, { uid: group, where: words ? { query: words } : null }, { pause: chosen !== undefined });
  if (chosen) return <p className="chosen-one"><Icon name="person" /><span className="two"><b>{chosen.name}</b><small>{chosen.email ?? chosen.description ?? nameOfGroup(homeOf(chosen.uid))}</small></span><button type="button" onClick={() => onChoose(undefined)}>Choose another</button></p>;
  const levels = loaded.data?.group ? [loaded.data.group, ...(loaded.data.group.ancestors ?? []).toReversed()] : [];
  const found = levels.flatMap((level) => level.identities?.nodes ?? []), total = levels.reduce((sum, level) => sum + (level.identities?.totalCount ?? 0), 0);
  return (
    <>
      <div className="filters"><Find value={words} label="Find by name, description or email" onChange={setWords} /></div>
      {!loaded.data && loaded.loading ? <Lines rows={3} /> : found.length === 0 ? (loaded.problems.length > 0 ? <Problems of={loaded} /> : <p className="dim">{words ? 'No identity that can have a role here is found by these words.' : 'There is no identity in this group or above it. Only such a one can have a role here.'}</p>)
        : <ul className="choices">{found.map((one) => (
          <li key={one.uid}><button type="button" onClick={() => onChoose(one)}><Icon name="person" /><span className="two"><b>{one.name}</b><small>{[nameOfGroup(homeOf(one.uid)), one.email ?? one.description].filter(Boolean).join(' · ')}</small></span></button></li>
        ))}</ul>}
      {total > found.length && <p className="dim note">The first {found.length} of {plural(total, 'identity', 'identities')}. Words find the others.</p>}
    </>
  );
}

function ChooseRole({ roles, chosen, onChoose, current, may, nameOfGroup }: { roles: readonly GivenRoleFragment[]; chosen?: GivenRoleFragment; onChoose: (role: GivenRoleFragment) => void; current?: string; may?: readonly Capability[]; nameOfGroup: (uid: string) => string }) {
  const name = useId();
  return (
    <ul className="choices roles">{roles.toSorted((a, b) => b.capabilities.length - a.capabilities.length || (a.name < b.name ? -1 : 1)).map((role) => {
      // Nobody can give more than they hold themselves.
      const lacking = may ? role.capabilities.filter((one) => !may.includes(one)) : [];
      const reason = role.uid === current ? 'It has this role' : lacking.length > 0 ? `You cannot give it, because you may not ${enumerate(lacking.map(tell), 2)} yourself` : '';
      return (
        <li key={role.uid}><label title={reason || undefined} className={reason ? 'off' : ''}>
          <input type="radio" name={name} checked={chosen?.uid === role.uid} disabled={reason !== ''} onChange={() => onChoose(role)} />
          <span className="two"><b>{role.name}</b><small>{reason || [homeOf(role.uid) && `of ${nameOfGroup(homeOf(role.uid))}`, role.description ?? summarize(role.capabilities)].filter(Boolean).join(' · ')}</small></span>
        </label></li>
      );
    })}</ul>
  );
}

function Effect({ outcome, name, data, nameOfGroup, seesAll, self }: { outcome: Outcome; name: string; data: ImpactQuery; nameOfGroup: (uid: string) => string; seesAll: boolean; self: boolean }) {
  const { gained, lost, kept, below, on } = outcome, { group } = data;
  const parts = [gained.length > 0 && `gains ${plural(gained.length, 'capability', 'capabilities')}`, lost.length > 0 && `loses ${plural(lost.length, 'capability', 'capabilities')}`].filter(Boolean);
  const reach = [group?.descendants && plural(group.descendants.totalCount, 'group'), group?.repos && plural(group.repos.totalCount, 'repo')].filter(Boolean).join(' and ');
  const by = ({ binding }: Outcome['kept'][number]) => `${binding.role?.name ?? 'a role'} on ${namesOf(binding.group).join(' / ') || nameOfGroup(homeOf(binding.uid))}`;
  const partly = (data.identity?.roleBindings?.pageInfo.hasNextPage ?? false) || !data.identity?.roleBindings;
  return (
    <>
      <p>{parts.length > 0 ? <><b>{name}</b> {parts.join(' and ')} on <b>{nameOfGroup(on)}</b> and everything below{reach && ` (${reach})`}, from the next request.</> : <>Nothing changes for <b>{name}</b> on <b>{nameOfGroup(on)}</b>: it holds all of this by other bindings.</>}</p>
      {self && lost.length > 0 && <p className="warn"><Icon name="warning" />This is your own access. You may not be able to undo it.</p>}
      {parts.length > 0 && <CapabilityTable held={outcome.next} gained={gained} lost={lost} />}
      {kept.map((one) => <p key={one.binding.uid} className="dim note">{plural(one.capabilities.length, 'capability stays', 'capabilities stay')}, because of {by(one)}: {enumerate(one.capabilities.map(tell), 4)}.</p>)}
      {below.map((one) => <p key={one.binding.uid} className="dim note">Further down, {plural(one.capabilities.length, 'capability stays', 'capabilities stay')} by {by(one)}.</p>)}
      {lost.length > 0 && (!seesAll || partly) && <p className="dim note">You do not see all bindings of {name}. One that is not shown may give some of this too; then it stays.</p>}
      <p className="dim note">Roles that come from an external group of an identity provider are not counted here.</p>
    </>
  );
}

/** Capabilities by kind: those held, gained and lost. */
export function CapabilityTable({ held, gained = [], lost = [] }: { held: ReadonlySet<Capability>; gained?: readonly Capability[]; lost?: readonly Capability[] }) {
  const changed = gained.length + lost.length > 0;
  const rows = kinds.filter(({ by }) => Object.values(by).some((one) => (changed ? gained.includes(one) || lost.includes(one) : held.has(one))));
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Capabilities"><table className="capabilities">
      <thead><tr><th scope="col">{changed ? 'What changes' : `${held.size} of ${everything.length}`}</th>{verbs.map((verb) => <th key={verb} scope="col">{verb}</th>)}</tr></thead>
      <tbody>{rows.map(({ kind, by }) => (
        <tr key={kind}><th scope="row">{kind}</th>{verbs.map((verb) => {
          const one = by[verb], state = !one ? 'absent' : gained.includes(one) ? 'gained' : lost.includes(one) ? 'lost' : held.has(one) ? 'held' : 'lacking';
          return <td key={verb} className={state} title={one && `${tell(one)}: ${words[state]}`}>{one && <><span aria-hidden="true">{marks[state]}</span><span className="sr">{words[state]}</span></>}</td>;
        })}</tr>
      ))}</tbody>
    </table></div>
  );
}

const marks: Record<string, ReactNode> = { gained: '+', lost: '−', held: '●', lacking: '·' };
const words: Record<string, string> = { gained: 'gained', lost: 'lost', held: 'yes', lacking: 'no' };

