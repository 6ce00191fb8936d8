// This file has the forms that create, change and revoke bindings. They show what a change would give and take before the reader
// makes it.

import { useEffect, useId, useRef, useState, type ReactNode, type RefObject } from 'react';
import { enumerate, everything, foresee, homeOf, isWithin, kinds, reachOf, summarize, tell, verbs, type Outcome } from './access';
import { useData } from './client';
import { Action, ConfirmButton, Form, FormButton, reasonAgainst, type ControlProps, type Field } from './form';
import { Bind, Bindable, Holds, Impact, Rebind, Unbind, type BoundFragment, type Capability, type GivenRoleFragment, type GrantFragment, type ImpactQuery, type UpdateRoleBindingInput } from './generated/graphql';
import { Find } from './list';
import { Icon, Lines, namesOf, Problems } from './ui';
import { formatEnd, plural } from './words';

/** A ground has what all changes of bindings need to know. */
export interface Ground {
  roles: readonly GivenRoleFragment[]; // These are all roles that can be bound on the way to the group.
  nameOfGroup: (uid: string) => string;
  seesAll: boolean; // It says whether the reader may see the bindings of all groups above.
  isLastOwner: (binding: GrantFragment) => boolean;
  onDone: (what: string) => void;
}

const ownerNeeded = 'This is the last owner, and an organization needs one: give the role to another identity first.';
const nameOf = ({ identity }: GrantFragment) => identity?.name ?? 'somebody';

/** This button gives an identity a role on a group. */
export function BindButton({ group, mayBind, ground }: { group: string; mayBind: boolean; ground: Ground }) {
  const { roles, nameOfGroup, seesAll, onDone } = ground, where = nameOfGroup(group);
  const [chosen, setChosen] = useState<BoundFragment>();
  const fields: Field[] = [
    { name: 'identityUid', label: 'Who', hint: '', control: (props) => <ChooseIdentity {...props} group={group} chosen={chosen} onChoose={setChosen} nameOfGroup={nameOfGroup} /> },
    { name: 'roleUid', label: 'Role', hint: '', control: (props) => <ChooseRole {...props} roles={roles} group={group} nameOfGroup={nameOfGroup} /> },
    { name: 'expireTime', label: 'Until', hint: 'The role ends at this time. Without a time, it stays until somebody revokes it.' },
  ];
  return (
    <FormButton label="Give a role" icon="plus" className="primary" held={{ capabilities: mayBind ? ['ROLE_BINDINGS_CREATE'] : [], on: where }} document={Bind} title={`Give a role on ${where}`} submit="Give the role"
      fields={fields} fixed={{ parent: group }} affects={['RoleBinding']} below={({ identityUid, roleUid }) => <Forecast identity={String(identityUid)} on={group} after={roles.find(({ uid }) => uid === roleUid)} nameOfGroup={nameOfGroup} seesAll={seesAll} />}
      onDone={(_, { roleUid, expireTime }) => { onDone(`${chosen?.name} has the role ${roles.find(({ uid }) => uid === roleUid)?.name ?? 'that you chose'} on ${where}${endOf(expireTime)}.`); setChosen(undefined); }} />
  );
}

const endOf = (time: string | null | undefined) => (time ? ` until ${formatEnd(time)}` : '');

/** These buttons change the role of a binding and when it ends, and revoke it. */
export function BindingActions({ binding, ground }: { binding: GrantFragment; ground: Ground }) {
  const { roles, nameOfGroup, seesAll, isLastOwner, onDone } = ground, group = homeOf(binding.uid), where = nameOfGroup(group), who = nameOf(binding), role = binding.role?.name ?? 'the role';
  const [open, setOpen] = useState(false);
  const end: Field = { name: 'expireTime', label: 'Until', hint: 'The role ends at this time. Without a time, it stays until somebody revokes it.' };
  const changed = ({ roleUid, expireTime }: UpdateRoleBindingInput) => {
    const next = roles.find(({ uid }) => uid === roleUid)?.name ?? (roleUid ? 'a new role' : role);
    return `${who} has the role ${next} on ${where}${expireTime === undefined ? endOf(binding.expireTime) : expireTime ? endOf(expireTime) : ' without an end'}${roleUid ? `, and no longer ${role}` : ''}.`;
  };
  const before = { uid: binding.uid, capabilities: roles.find(({ uid }) => uid === binding.role?.uid)?.capabilities }, on = reachOf(binding) ?? group;
  const reason = binding.mayChange ? (isLastOwner(binding) ? ownerNeeded : undefined) : reasonAgainst(Rebind, { capabilities: [], on: where });
  const forecast = (after: GivenRoleFragment | undefined, revoked: boolean) => <Forecast identity={binding.identity?.uid ?? ''} on={on} before={before} after={after} revoked={revoked} nameOfGroup={nameOfGroup} seesAll={seesAll} />;
  return (
    <span className="acts">
      <Action label={`Change ${role} of ${who}`} reason={reason} onClick={() => setOpen(true)}>Change</Action>
      <Form open={open} onClose={() => setOpen(false)} document={Rebind} title={`Change the role of ${who}`} lead={<>{who} has the role {role} on {where}{endOf(binding.expireTime)}.</>} submit="Save the change" resource={{ roleUid: binding.role?.uid, expireTime: binding.expireTime }} fixed={{ uid: binding.uid }} affects={['RoleBinding']}
        fields={[...(binding.role ? [{ name: 'roleUid', label: 'Role', hint: '', control: (props) => <ChooseRole {...props} roles={roles} group={group} current={binding.role?.uid} nameOfGroup={nameOfGroup} /> } satisfies Field] : []), end]}
        below={({ roleUid }) => roleUid && roleUid !== binding.role?.uid && forecast(roles.find(({ uid }) => uid === roleUid), false)} onDone={(_, input) => onDone(changed(input))} />
      <ConfirmButton label="Revoke" name={`Revoke ${role} of ${who}`} held={{ capabilities: binding.mayRevoke ? ['ROLE_BINDINGS_DELETE'] : [], on: where }} document={Unbind} input={{ uid: binding.uid }} title={`Revoke ${role} of ${who}?`} submit="Revoke the role"
        reason={binding.mayRevoke && isLastOwner(binding) ? ownerNeeded : undefined} affects={['RoleBinding']} onDone={() => onDone(`${who} no longer has the role ${role} on ${where}.`)}><p>{who} has the role {role} on {where}{on !== group && `; it applies to ${nameOfGroup(on)} and everything below`}.</p>{forecast(undefined, true)}</ConfirmButton>
    </span>
  );
}

type IdentityProps = ControlProps & { group: string; chosen?: BoundFragment; onChoose: (one: BoundFragment) => void; nameOfGroup: (uid: string) => string };

/** This control offers the identities that can have a role on a group: those of the group, and those of the groups above. */
function ChooseIdentity({ value, onChange, group, chosen, onChoose, nameOfGroup, ...common }: IdentityProps) {
  const [words, setWords] = useState('');
  const found = value !== '' && chosen?.uid === value ? chosen : undefined;
  const loaded = useData(Bindable, { uid: group, where: words ? { query: words } : null }, { pause: found !== undefined, keep: true });
  // What had the focus is gone when somebody is chosen, and when another is to be chosen.
  const [before, place] = [useRef(found), useRef<HTMLElement>(null)];
  useEffect(() => {
    if (before.current?.uid !== found?.uid) place.current?.querySelector<HTMLElement>('button, input')?.focus();
    before.current = found;
  }, [found]);
  if (found) return <p className="chosen-one" ref={place as RefObject<HTMLParagraphElement>}><Icon name="person" /><span className="two"><b>{found.name}</b><small>{found.email ?? found.description ?? nameOfGroup(homeOf(found.uid))}</small></span><button type="button" id={common.id} onClick={() => onChange('')}>Choose another<span className="sr"> than {found.name}</span></button></p>;
  const levels = loaded.data?.group ? [loaded.data.group, ...(loaded.data.group.ancestors ?? []).toReversed()] : [];
  const nodes = levels.flatMap((level) => level.identities?.nodes ?? []), total = levels.reduce((sum, level) => sum + (level.identities?.totalCount ?? 0), 0);
  return (
    <div className="choosing" ref={place as RefObject<HTMLDivElement>} id={common.id} tabIndex={-1} role="group" aria-label="Who" aria-invalid={common['aria-invalid']} aria-describedby={common['aria-describedby']}>
      <div className="filters"><Find value={words} label="Find by name, description or email" onChange={setWords} /></div>
      {!loaded.data && loaded.loading ? <Lines rows={3} /> : nodes.length === 0 ? (loaded.problems.length > 0 ? <Problems loaded={loaded} /> : <p className="dim">{words ? 'No identity that can have a role here matches these words.' : 'This group and the groups above it have no identities. Only their identities can have a role here.'}</p>)
        : <ul className="choices">{nodes.map((one) => (
          <li key={one.uid}><button type="button" onClick={() => { onChoose(one); onChange(one.uid); }}><Icon name="person" /><span className="two"><b>{one.name}</b><small>{[nameOfGroup(homeOf(one.uid)), one.email ?? one.description].filter(Boolean).join(' · ')}</small></span></button></li>
        ))}</ul>}
      {total > nodes.length && <p className="dim note">These are the first {nodes.length} of {plural(total, 'identity', 'identities')}. Type words to find the others.</p>}
    </div>
  );
}

type RoleProps = ControlProps & { roles: readonly GivenRoleFragment[]; group: string; current?: string; nameOfGroup: (uid: string) => string };

/** This control offers the roles that can be bound on a group. Nobody can give more than they hold there themselves. */
function ChooseRole({ value, onChange, roles, group, current, nameOfGroup, ...common }: RoleProps) {
  const name = useId(), may = useData(Holds, { on: group }).data?.viewer?.capabilities;
  const bindable = roles.filter(({ uid }) => homeOf(uid) === '' || isWithin(group, homeOf(uid))).toSorted((a, b) => b.capabilities.length - a.capabilities.length || (a.name < b.name ? -1 : 1));
  return (
    <ul className="choices" id={common.id} tabIndex={-1} role="radiogroup" aria-label="Role" aria-invalid={common['aria-invalid']} aria-describedby={common['aria-describedby']}>{bindable.map((role) => {
      const lacking = may ? role.capabilities.filter((one) => !may.includes(one)) : [];
      const reason = role.uid !== current && lacking.length > 0 ? `You cannot give it, because you may not ${enumerate(lacking.map(tell), 2)} there yourself.` : '';
      return (
        <li key={role.uid} role="none"><label title={reason || undefined} className={reason ? 'off' : ''}>
          <input type="radio" name={name} checked={value === role.uid} disabled={reason !== ''} onChange={() => onChange(role.uid)} />
          <span className="two"><b>{role.name}</b><small>{reason || [role.uid === current && 'current role', homeOf(role.uid) && `of ${nameOfGroup(homeOf(role.uid))}`, role.description ?? summarize(role.capabilities)].filter(Boolean).join(' · ')}</small></span>
        </label></li>
      );
    })}</ul>
  );
}

interface ForecastProps { identity: string; on: string; before?: { uid: string; capabilities?: readonly Capability[] }; after?: GivenRoleFragment; revoked?: boolean; nameOfGroup: (uid: string) => string; seesAll: boolean }

/** This section says what a change would give and take, before the reader makes it. */
function Forecast({ identity, on, before, after, revoked = false, nameOfGroup, seesAll }: ForecastProps) {
  const loaded = useData(Impact, { identity, on }, { pause: identity === '' }), { data } = loaded;
  // The page knows only the first roles of each group, but this binding comes with its role.
  const bindings = data?.identity?.roleBindings?.nodes ?? [], old = before && { ...before, capabilities: bindings.find(({ uid }) => uid === before.uid)?.role?.capabilities ?? before.capabilities };
  const outcome = data?.identity && (after || revoked) && !(old && !old.capabilities) ? foresee(on, data.identity.held, bindings, old && { uid: old.uid, capabilities: old.capabilities! }, after?.capabilities ?? []) : undefined;
  return (
    <section className="forecast" aria-live="polite" aria-label="What it changes"><h3>What it changes</h3>
      {identity === '' ? <p className="dim">{before ? 'Your role does not let you see this identity, so the console cannot show what it would lose.' : 'Choose who gets which role.'}</p>
        : !after && !revoked ? <p className="dim">Choose a role.</p>
        : !data?.identity ? (loaded.loading ? <Lines rows={4} /> : <Problems loaded={loaded} />)
        : !outcome ? <p className="dim">Your role does not let you see this role, so the console cannot show what {data.identity.name} would lose.</p>
        : <Effect outcome={outcome} name={data.identity.name} data={data} nameOfGroup={nameOfGroup} seesAll={seesAll} self={data.viewer?.identities.some(({ uid }) => uid === identity) ?? false} />}
    </section>
  );
}

function Effect({ outcome, name, data, nameOfGroup, seesAll, self }: { outcome: Outcome; name: string; data: ImpactQuery; nameOfGroup: (uid: string) => string; seesAll: boolean; self: boolean }) {
  const { gained, lost, kept, below, on } = outcome, { group } = data;
  const parts = [gained.length > 0 && `gains ${plural(gained.length, 'capability', 'capabilities')}`, lost.length > 0 && `loses ${plural(lost.length, 'capability', 'capabilities')}`].filter(Boolean);
  const reach = [group?.descendants && plural(group.descendants.totalCount, 'group'), group?.repos && plural(group.repos.totalCount, 'repo')].filter(Boolean).join(' and ');
  const describeBinding = ({ binding }: Outcome['kept'][number]) => `${binding.role?.name ?? 'a role'} on ${namesOf(binding.group).join(' / ') || nameOfGroup(homeOf(binding.uid))}`;
  const partly = (data.identity?.roleBindings?.pageInfo.hasNextPage ?? false) || !data.identity?.roleBindings;
  return (
    <>
      <p>{parts.length > 0 ? <><b>{name}</b> {parts.join(' and ')} on <b>{nameOfGroup(on)}</b> and everything below{reach && ` (${reach})`}, from the next request.</> : <>Nothing changes for <b>{name}</b> on <b>{nameOfGroup(on)}</b>: other bindings already give it the same capabilities.</>}</p>
      {self && lost.length > 0 && <p className="warn"><Icon name="warning" />This is your own access. You may not be able to undo it.</p>}
      {parts.length > 0 && <CapabilityTable held={outcome.next} gained={gained} lost={lost} />}
      {kept.map((one) => <p key={one.binding.uid} className="dim note">{plural(one.capabilities.length, 'capability stays', 'capabilities stay')} because of {describeBinding(one)}: {enumerate(one.capabilities.map(tell), 4)}.</p>)}
      {below.map((one) => <p key={one.binding.uid} className="dim note">Further down, {plural(one.capabilities.length, 'capability stays', 'capabilities stay')} because of {describeBinding(one)}.</p>)}
      {lost.length > 0 && (!seesAll || partly) && <p className="dim note">You do not see all bindings of {name}. A binding that is not shown may also give some of these capabilities; they then stay.</p>}
      <p className="dim note">Roles that come from an external group of an identity provider are not included here.</p>
    </>
  );
}

/** This table shows capabilities by kind: those that an identity or a role has, gains and loses. */
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

