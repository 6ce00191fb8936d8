import { everything, homeOf, kinds, summarize, tell } from '../access';
import { CapabilityTable } from '../access-change';
import { useData } from '../client';
import { ConfirmButton, FormButton, type Field, type Holding } from '../form';
import { CreateRole, DeleteRole, RoleHolders, Roles as RolesDocument, UpdateRole, type ListedRoleFragment } from '../generated/graphql';
import { Find } from '../list';
import { groupAddress } from '../places';
import { Link, narrow, useLocation } from '../router';
import { SaveRows, type Column } from '../table';
import { Card, Empty, Icon, Lines, namesOf, Problems } from '../ui';
import { count, fold, plural } from '../words';

const fields: Field[] = [
  { name: 'name', label: 'Name' }, { name: 'description', label: 'Description' },
  {
    name: 'capabilities', label: 'What it allows', hint: 'You can only choose capabilities that you have yourself.',
    choices: kinds.flatMap(({ kind, by }) => Object.values(by).map((value) => ({ value, name: tell(value).replace(` ${kind}`, ''), about: tell(value), group: kind }))),
  },
];

const mostCounted = 100; // The server counts the bindings of no more roles.

// What a file has of each role.
const fileColumns: Pick<Column<ListedRoleFragment & { where: string; given?: number }>, 'label' | 'text'>[] = [
  { label: 'Role', text: ({ name }) => name }, { label: 'Where', text: ({ where }) => where }, { label: 'Description', text: ({ description }) => description }, { label: 'May', text: ({ capabilities }) => capabilities.map(tell).join('; ') },
  { label: 'Given', text: ({ given }) => given }, { label: 'Changed', text: ({ updateTime }) => updateTime }, { label: 'UID', text: ({ uid }) => uid },
];

/** This page shows the roles that can be given in a group: what each allows, and who has it. */
export function Roles({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation(), query = search.get('q') ?? '', opened = search.get('role');
  const loaded = useData(RolesDocument, { uid }), { data, loading } = loaded, group = data?.group, words = fold(query).split(/\s+/).filter(Boolean);
  const says = ({ name, description }: ListedRoleFragment) => words.every((word) => fold(`${name} ${description ?? ''}`).includes(word));
  const levels = [
    { key: uid, title: `Of ${names.at(-1)}`, roles: group?.roles?.nodes ?? [] },
    ...(group?.ancestors ?? []).toReversed().map((one) => ({ key: one.uid, title: `Of ${one.name}, above`, roles: one.roles?.nodes ?? [] })),
    { key: '', title: 'Built in', roles: data?.roles?.nodes ?? [] },
  ];
  const counted = data?.roleBindings?.facets?.roles, givenOf = (role: string) => counted?.find(({ value }) => value === role)?.count ?? (counted && counted.length < mostCounted ? 0 : undefined);
  const held: Holding | undefined = group ? { capabilities: group.viewerCapabilities, on: names.at(-1)! } : undefined;
  return (
    <div className="page">
      <div className="title"><h1>Roles</h1><div className="actions">{held && <FormButton label="New role" icon="plus" held={held} document={CreateRole} title={`New role in ${names.at(-1)}`} lead="It can be given in this group and everywhere below." submit="Create the role" fields={fields} fixed={{ parent: uid }} unique="name" affects={['Role', 'Group']} onDone={() => {}} />}</div></div>
      <p className="lead">Roles that can be given in {names.join(' / ')}. To see who has which role, open <Link to={groupAddress(names, uid, 'access')}>Access</Link>.</p>
      <div className="filters"><Find value={query} label="Find a role" onChange={(q) => narrow({ q }, { replace: true })} />
        <SaveRows name="roles" columns={fileColumns} readAll={() => Promise.resolve({ rows: levels.flatMap(({ title, roles }) => roles.filter(says).map((role) => ({ ...role, where: title, given: givenOf(role.uid) }))) })} disabled={!data} /></div>
      {!data ? loading ? <div className="card"><Lines rows={7} height={38} /></div> : <Problems loaded={loaded} /> : (
        <div className="column">{levels.map(({ key, title, roles }) => {
          const shown = roles.filter(says);
          if (shown.length === 0 && (key !== uid || words.length > 0)) return null;
          return (
            <Card key={key} title={<>{title} <span className="chip">{count(shown.length)}</span></>} className="flush">
              {shown.length === 0 ? <Empty title="No role of its own">The roles below can be given here, too. Create a role if none of them fits.</Empty>
                : shown.map((role) => <RoleRow key={role.uid} role={role} given={givenOf(role.uid)} open={opened === role.uid} names={names} uid={uid} />)}
            </Card>
          );
        })}</div>
      )}
    </div>
  );
}

function RoleRow({ role, given, open, names, uid }: { role: ListedRoleFragment; given?: number; open: boolean; names: string[]; uid: string }) {
  return (
    <div className="advisory">
      <button type="button" className="role-columns" aria-expanded={open} onClick={() => narrow({ role: open ? undefined : role.uid }, { replace: true })}>
        <span className="two"><b>{role.name}</b><small>{role.description ?? summarize(role.capabilities)}</small></span>
        <span className="dim">{role.capabilities.length === everything.length ? 'everything' : plural(role.capabilities.length, 'capability', 'capabilities')}</span>
        <span className="dim">{given === undefined ? '' : given === 0 ? 'given to nobody' : `given ${given === 1 ? 'once' : `${count(given)} times`}`}</span>
        <Icon name={open ? 'up' : 'down'} />
      </button>
      {open && <div className="story"><CapabilityTable held={new Set(role.capabilities)} /><div><Holders role={role} names={names} uid={uid} /><RoleActions role={role} bound={given ?? 0} /></div></div>}
    </div>
  );
}

function Holders({ role, names, uid }: { role: ListedRoleFragment; names: string[]; uid: string }) {
  const loaded = useData(RoleHolders, { uid: role.uid }), bindings = loaded.data?.role?.roleBindings;
  if (!loaded.data) return loaded.loading ? <Lines rows={3} /> : <Problems loaded={loaded} />;
  if (!bindings) return <p className="dim">Your role does not let you see who has it.</p>;
  if (bindings.totalCount === 0) return <p className="dim">Nobody has it.</p>;
  return (
    <ul className="stacked">{bindings.nodes.map((one) => (
      <li key={one.uid}>{one.identity ? <Link to={groupAddress(names, uid, 'access', { identity: one.identity.uid })}><b>{one.identity.name}</b></Link> : 'An identity that you may not see'} in {one.group ? <Link to={groupAddress(namesOf(one.group), one.group.uid, 'access')}>{namesOf(one.group).join(' / ')}</Link> : 'a group that you may not see'}</li>
    ))}{bindings.totalCount > bindings.nodes.length && <li className="dim">and {count(bindings.totalCount - bindings.nodes.length)} more</li>}</ul>
  );
}

function RoleActions({ role, bound }: { role: ListedRoleFragment; bound: number }) {
  if (homeOf(role.uid) === '') return <p className="dim note">Roles that are built in cannot be changed.</p>;
  const held: Holding = { capabilities: role.viewerCapabilities, on: role.name };
  return (
    <div className="actions">
      <FormButton label="Edit" icon="edit" held={held} document={UpdateRole} title={`Edit the role ${role.name}`} submit="Save" fields={fields} fixed={{ uid: role.uid }} resource={role} unique="name" affects={['Role']} onDone={() => {}}
        below={() => bound > 0 && <p className="dim">This changes at once what {bound === 1 ? 'one binding allows' : `${count(bound)} bindings allow`}.</p>} />
      <ConfirmButton label="Delete" icon="bin" held={held} document={DeleteRole} input={{ uid: role.uid }} title={`Delete the role ${role.name}?`} submit="Delete the role" affects={['Role', 'Group']} onDone={() => narrow({ role: undefined }, { replace: true })}
        obstacle={bound > 0 && <p>Only a role that nobody has can be deleted. {role.name} is given {bound === 1 ? 'once' : `${count(bound)} times`}: revoke {bound === 1 ? 'that' : 'these'} first.</p>}>
        <p>This removes the role {role.name}. This cannot be undone.</p>
      </ConfirmButton>
    </div>
  );
}
