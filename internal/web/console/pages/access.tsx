import { useEffect, useState, type ReactNode } from 'react';
import { countsOn, enumerate, homeOf, isCapability, isWithin, kinds, rootOf, summarize, tell } from '../access';
import { AccessChanges, AccessOnDay } from '../access-history';
import { AccessReview, BelowToggle, Until } from '../access-review';
import { BindButton, BindingActions, CapabilityTable, type Ground } from '../access-change';
import { Picture, type GrantedRole, type Holder, type Station } from '../access-picture';
import { useData, usePages } from '../client';
import { Access as AccessDocument, Can, Reach as ReachDocument, RolesFor, type AccessQuery, type AccessQueryVariables, type Capability, type GivenRoleFragment, type GrantFragment, type ReachQuery, type ReachQueryVariables } from '../generated/graphql';
import { Find, ListProblems, useNarrow } from '../list';
import { groupAddress } from '../places';
import { Link, narrow, useLocation } from '../router';
import { say } from '../said';
import { SortSelect, useSorting, type Sorting } from '../sorting';
import { SaveRows, Table as Rows, type Column } from '../table';
import { Card, Dialog, Empty, Icon, Lines, namesOf, Problems, Time, useKeptFocus } from '../ui';
import { count, dayOf, fold, plural } from '../words';
import { formatLastSeen } from './identities';

/** This page shows who can do what in a group and why, or where one identity has access. */
export function Access({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation(), identity = search.get('identity');
  if (identity) return <Reach key={identity} identity={identity} uid={uid} names={names} />;
  const way = search.get('show'), Other = way === 'review' ? AccessReview : way === 'changes' ? AccessChanges : way === 'day' ? AccessOnDay : undefined;
  return Other ? <div className="page"><div className="title"><h1>Access</h1></div><div className="filters"><Ways now={way as Way} /></div><Other uid={uid} names={names} /></div> : <GroupAccess uid={uid} names={names} />;
}

const ways = [['', 'Picture'], ['table', 'Table'], ['review', 'Review'], ['changes', 'Changes'], ['day', 'On a day']] as const;
type Way = (typeof ways)[number][0];

/** These tabs choose how the page shows who has access. */
const Ways = ({ now }: { now: Way }) => (
  <div className="tabs" role="group" aria-label="How to show it">{ways.map(([value, name]) => <button key={value} type="button" aria-pressed={value === now} onClick={() => { if (value !== now) narrow({ show: value, sort: undefined, dir: undefined, columns: undefined }); }}>{name}</button>)}</div>
);

type Mapping = NonNullable<AccessQuery['externalGroupRoleMappings']>['nodes'][number];
const sorts = { newest: { field: 'CREATE_TIME', direction: 'DESC' }, identity: { field: 'IDENTITY_NAME', direction: 'ASC' }, role: { field: 'ROLE_NAME', direction: 'ASC' }, group: { field: 'GROUP_NAME', direction: 'ASC' } } as const;
const isDenial = (code: string) => code === 'PERMISSION_DENIED';

function GroupAccess({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation();
  const asked = search.get('can'), capability = isCapability(asked) ? asked : undefined, table = search.get('show') === 'table', sorting = useSorting(sorts);
  const variables: AccessQueryVariables = { uid, root: rootOf(uid), capability: capability ?? null, orderBy: table ? sorting.orderBy : null, first: 200, start: true };
  const list = usePages<AccessQuery, GrantFragment, AccessQueryVariables>(AccessDocument, variables, (data) => data.group?.effectiveBindings, { start: false });
  const { rows, first, started, loading } = list, group = first?.group, total = group?.effectiveBindings?.totalCount;
  const [given, setGiven] = useState<string>();

  const way = [...(group?.ancestors ?? []).map((one) => ({ uid: one.uid, name: one.name })), { uid, name: group?.name ?? names.at(-1)! }];
  const roles = first ? rolesOf(first) : [];
  const nameOfGroup = (one: string) => { const at = way.findIndex((step) => step.uid === one); return at < 0 ? 'a group above' : way.slice(0, at + 1).map(({ name }) => name).join(' / '); };
  const mappings = (first?.externalGroupRoleMappings?.nodes ?? []).filter(({ scopeUid, role }) => isWithin(uid, scopeUid) && (!capability || role?.capabilities.includes(capability)));
  const query = search.get('q') ?? '', words = fold(query).split(/\s+/).filter(Boolean);
  const says = (...texts: (string | null | undefined)[]) => words.every((word) => texts.some((one) => one && fold(one).includes(word)));
  const shown = rows.filter(({ identity: who, role }) => says(who?.name, who?.email, who?.description, role?.name));
  const externals = mappings.filter((one) => says(one.externalGroupId, one.role?.name));
  const counting = shown.filter((one) => countsOn(one, uid)), problems = list.problems.filter(({ code }) => !isDenial(code));
  const owners = rows.filter(({ uid: binding, role }) => homeOf(binding) === rootOf(uid) && role?.name === 'owner' && homeOf(role.uid) === '');
  const isLastOwner = (one: GrantFragment) => !list.more && !capability && owners.length === 1 && owners[0].uid === one.uid;
  // A picture of a few hundred bindings is complete, and so needs a second page: the newest bindings may lack the organization's
  // owners.
  const whole = table || !list.more || rows.length >= 400 || list.problems.some(({ code }) => !isDenial(code));
  useEffect(() => { if (started && !loading && !whole) list.readMore(); }, [started, loading, whole, rows]);
  const ground: Ground = { roles, nameOfGroup, seesAll: first?.viewer?.seesAll ?? false, isLastOwner, onDone: (what) => { setGiven(undefined); say({ text: what }); } };
  const drawn = started ? draw(counting, externals, roles, way, uid, names) : undefined;
  const shownGiven = drawn?.given.find(({ key }) => key === given);
  const denied = started && !group?.effectiveBindings && problems.length === 0;
  return (
    <div className="page">
      <div className="title"><h1>Access</h1>
        {!denied && <span className="actions">{group && <BindButton group={uid} mayBind={group.mayBind} ground={ground} />}</span>}</div>
      <p className="lead">Who can do what in {names.join(' / ')}, and why</p>
      {problems.length > 0 && rows.length === 0 ? <Problems loaded={{ ...list, problems }} /> : denied ? <Denial capabilities={group?.viewerCapabilities ?? []} uid={uid} names={names} /> : (
        <>
          <div className="filters">
            <Ways now={table ? 'table' : ''} />
            <Find value={query} label="Find by name, email or role" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
            <label className="asks"><span>Who may</span><CapabilityChoice value={capability} label="What they may do" nothing="do something" onChange={(can) => narrow({ can })} /></label>
            {table && <SortSelect sorting={sorting} names={{ newest: 'Newest first', identity: 'By identity', role: 'By role', group: 'By group' }} />}
            {table && <BelowToggle />}
            {table && <SaveRows name="bindings" columns={fileColumns(nameOfGroup)} readAll={list.readAll} disabled={total === 0} />}
            <span className="total" role="status">{total != null && !loading ? (query ? `${count(shown.length)} of ` : '') + plural(total, 'binding') + (mappings.length > 0 ? ` and ${plural(mappings.length, 'external group')}` : '') : ' '}</span>
          </div>
          {!started || !whole ? <div className="card"><Lines rows={6} height={40} /></div>
            : rows.length + mappings.length === 0 && !loading ? <div className="card"><Empty title={capability ? `Nobody may ${tell(capability)} here` : 'Nobody has a role here'}>{capability ? 'No role that is bound here or above includes it.' : 'Roles that are bound to this group, or to a group above it, appear here.'}</Empty></div>
            : shown.length + externals.length === 0 && !list.more ? <div className="card"><Empty title="Nothing found">No binding contains all words of “{query}” in its identity or role. <button type="button" className="link-button" onClick={() => narrow({ q: undefined })}>Show all</button></Empty></div>
            : table ? <Table rows={shown} total={total} uid={uid} names={names} mappings={externals} busy={loading} end={list.readMore} ground={ground} sorting={sorting} />
            : <div className={loading ? 'card flush busy' : 'card flush'} aria-busy={loading}><Picture label={`Who has which role on ${names.join(' / ')}`} given={drawn!.given} stations={drawn!.stations} way onGiven={setGiven} /></div>}
          {started && whole && !table && list.more && <p className="end">This shows the newest {count(rows.length)} of {count(total ?? rows.length)} bindings. {!list.stopped && <button type="button" className="link-button" onClick={list.readMore}>Show {count(Math.min(200, (total ?? 0) - rows.length))} more</button>}</p>}
          <ListProblems list={{ ...list, problems }} />
          {started && <Notes seesAll={first?.viewer?.seesAll ?? false} seesExternal={first?.viewer?.seesExternal ?? false} moreMappings={first?.externalGroupRoleMappings?.pageInfo.hasNextPage ?? false} deep={way.length > 1 || uid.includes('/')} />}
          {started && <Question uid={uid} names={names} people={people(rows)} />}
        </>
      )}
      <Dialog open={shownGiven !== undefined} onClose={() => setGiven(undefined)} label="The role" className="sheet">
        {shownGiven && <RoleSheet given={shownGiven} bindings={counting.filter((one) => keyOf(one) === shownGiven.key)} mappings={mappings.filter((one) => mappingKey(one) === shownGiven.key)} role={roles.find(({ uid: one }) => one === shownGiven.roleUid)} where={nameOfGroup(shownGiven.station)} uid={uid} names={names} onClose={() => setGiven(undefined)} ground={ground} />}
      </Dialog>
    </div>
  );
}

/** Returns the roles that can be bound on a group: the built-in ones, those of the group, and those of the groups above. */
const rolesOf = ({ roles, group }: Pick<AccessQuery, 'roles'> & { group: Pick<NonNullable<AccessQuery['group']>, 'roles'> & { ancestors?: { roles: NonNullable<AccessQuery['group']>['roles'] | null }[] | null } | null }): GivenRoleFragment[] =>
  [...(roles?.nodes ?? []), ...(group?.ancestors ?? []).flatMap((one) => one.roles?.nodes ?? []), ...(group?.roles?.nodes ?? [])];
const keyOf = (one: GrantFragment) => `${one.role?.uid ?? 'unknown'} ${homeOf(one.uid)}`;
const mappingKey = (one: Mapping) => `${one.role?.uid ?? 'unknown'} ${one.scopeUid}`;
const unseenName = 'An identity that you may not see';

/** Returns the identities of bindings without duplicates, sorted by name. */
const people = (rows: readonly GrantFragment[]) => [...new Map(rows.flatMap(({ identity }) => (identity ? [[identity.uid, identity.name] as const] : [])))].sort(([, a], [, b]) => (a < b ? -1 : 1));

type DrawnRole = GrantedRole & { roleUid: string };

/** Prepares the picture of the bindings that count on a group. Roles with more capabilities come first. */
function draw(rows: readonly GrantFragment[], mappings: readonly Mapping[], roles: readonly GivenRoleFragment[], way: { uid: string; name: string }[], uid: string, names: string[]) {
  const given = new Map<string, DrawnRole>();
  const add = (key: string, role: { uid: string; name: string } | null, station: string, holder: Holder) => {
    let one = given.get(key);
    if (!one) given.set(key, one = { key, role: role?.name ?? 'a role that you may not see', roleUid: role?.uid ?? '', capabilities: roles.find((known) => known.uid === role?.uid)?.capabilities, station, holders: [] });
    one.holders.push(holder);
  };
  for (const row of rows) {
    const { identity } = row;
    add(keyOf(row), row.role, homeOf(row.uid), identity ? { key: identity.uid, name: identity.name, detail: identity.email ?? identity.description ?? undefined, icon: 'person', to: pageAddressOf(names, uid, { identity: identity.uid }) } : { key: row.uid, name: unseenName, icon: 'person' });
  }
  for (const one of mappings) add(mappingKey(one), one.role, one.scopeUid, { key: one.uid, name: one.externalGroupId, detail: `everyone in this group of ${one.identityProvider?.name ?? 'a provider'}`, icon: 'people' });
  // A group above is on the way even if the reader may not see its name.
  const unnamed = [...given.values()].map(({ station }) => station).filter((station, i, all) => all.indexOf(station) === i && !way.some((one) => one.uid === station)).sort();
  const whole = [...unnamed.map((one) => ({ uid: one, name: 'a group above' })), ...way];
  const stations: Station[] = whole.map((one, i) => {
    const here = one.uid === uid, at = names.slice(0, names.length - (whole.length - 1 - i));
    return { key: one.uid, name: one.name, here, detail: here ? (i === 0 ? 'and everything below it' : 'this group and everything below it') : 'also applies here', to: at.length > 0 ? groupAddress(at, one.uid, 'access') : undefined };
  });
  const might = (one: GrantedRole) => one.capabilities?.length ?? 0;
  const inOrder = [...given.values()].toSorted((a, b) => might(b) - might(a) || (a.role < b.role ? -1 : 1));
  for (const one of inOrder) one.holders.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { given: inOrder, stations };
}

const pageAddressOf = (names: string[], uid: string, search: Record<string, string | undefined>) => groupAddress(names, uid, 'access', search);

function CapabilityChoice({ value, label, nothing, onChange }: { value?: Capability; label: string; nothing?: string; onChange: (value: Capability | undefined) => void }) {
  return (
    <select aria-label={label} value={value ?? ''} onChange={(event) => onChange(isCapability(event.target.value) ? event.target.value : undefined)}>
      {nothing && <option value="">{nothing}</option>}
      {kinds.map(({ kind, by }) => <optgroup key={kind} label={kind}>{Object.values(by).map((one) => <option key={one} value={one}>{tell(one)}</option>)}</optgroup>)}
    </select>
  );
}

function Notes({ seesAll, seesExternal, moreMappings, deep }: { seesAll: boolean; seesExternal: boolean; moreMappings: boolean; deep: boolean }) {
  const notes = [
    !seesAll && deep && 'Your role does not include the bindings of all groups above: more people may have a role here than are shown.',
    !seesExternal && 'Your role does not include all identity providers: people may also have a role here because of a group that a provider lists.',
    moreMappings && 'Only the first 100 external groups of the organization are included.',
  ].filter(Boolean);
  return <>{notes.map((note, i) => <p key={i} className="dim note">{note}</p>)}</>;
}

function Denial({ capabilities, uid, names }: { capabilities: readonly Capability[]; uid: string; names: string[] }) {
  return (
    <>
      <Card title="What you may do here" className="below">
        {capabilities.length > 0 ? <CapabilityTable held={new Set(capabilities)} /> : <p className="dim">Nothing.</p>}
        <p className="dim note">Your role does not let you see who else has a role here.</p>
      </Card>
      <Question uid={uid} names={names} people={[]} />
    </>
  );
}

/** Returns what a file has of each binding. */
const fileColumns = (nameOfGroup: (uid: string) => string): Pick<Column<GrantFragment>, 'label' | 'text'>[] => [
  { label: 'Identity', text: ({ identity }) => identity?.name ?? unseenName }, { label: 'Email', text: ({ identity }) => identity?.email }, { label: 'Role', text: ({ role }) => role?.name }, { label: 'Bound on', text: ({ uid }) => nameOfGroup(homeOf(uid)).replaceAll(' / ', '/') },
  { label: 'Since', text: ({ createTime }) => createTime }, { label: 'Until', text: ({ expireTime }) => expireTime }, { label: 'Identity UID', text: ({ identity }) => identity?.uid }, { label: 'UID', text: ({ uid }) => uid },
];

interface TableProps { rows: GrantFragment[]; total?: number; uid: string; names: string[]; mappings: readonly Mapping[]; busy: boolean; ground: Ground; end: () => void; sorting: Sorting<keyof typeof sorts> }

function Table({ rows, total, uid, names, mappings, busy, ground, end, sorting }: TableProps) {
  const { roles, nameOfGroup } = ground;
  const height = useNarrow() ? 104 : 58;
  const where = (group: string) => (group === uid ? <span>this group</span> : <><span className="cut" title={nameOfGroup(group)}>{nameOfGroup(group).split(' / ').at(-1)}</span><span className="chip">inherited</span></>);
  const columns: Column<GrantFragment, keyof typeof sorts>[] = [
    { key: 'identity', label: 'Identity', names: true, by: 'identity', width: 'minmax(0, 1.2fr)', cell: ({ identity }) => <span className="two">{identity ? <Link to={pageAddressOf(names, uid, { identity: identity.uid })}><b>{identity.name}</b></Link> : <b>{unseenName}</b>}<small>{identity?.email ?? identity?.description ?? ' '}</small></span> },
    { key: 'role', label: 'Role', width: 'minmax(0, 1fr)', by: 'role', cell: ({ role }) => <span className="two"><b>{role?.name ?? 'A role that you may not see'}</b><small>{summarize(roles.find((one) => one.uid === role?.uid)?.capabilities)}</small></span> },
    { key: 'group', label: 'Bound on', width: 'minmax(0, 1fr)', className: 'bound', by: 'group', cell: (row) => (countsOn(row, uid) ? where(homeOf(row.uid)) : <><span className="cut">{nameOfGroup(homeOf(row.uid))}</span><span className="chip bad" title="The identity belongs to a group below and has no rights outside that group">does not apply here</span></>) },
    { key: 'since', label: 'Since', width: '7.5rem', className: 'when dim', wide: true, by: 'newest', cell: ({ createTime }) => <Time at={createTime} /> },
    { key: 'until', label: 'Until', width: '7rem', className: 'until', cell: ({ expireTime }) => <Until at={expireTime} /> },
    { key: 'change', label: 'Change', width: '9.5rem', cell: (row) => <BindingActions binding={row} ground={ground} /> },
  ];
  return (
    <>
      <Rows label="Role bindings" kind="binding-columns" columns={columns} rows={rows} total={total} keyOf={(row) => row.uid} height={height} busy={busy} end={end} sorting={sorting} />
      {mappings.length > 0 && <Card title="Through an external group" className="below">
        <ul className="rows">{mappings.map((one) => (
          <li key={one.uid} className="row-link still"><Icon name="people" /><span className="grow"><b>{one.externalGroupId}</b><small>everyone whom {one.identityProvider?.name ?? 'a provider'} lists in this group</small></span><span>{one.role?.name ?? 'a role'}</span><span className="dim">on {nameOfGroup(one.scopeUid)}</span></li>
        ))}</ul>
      </Card>}
    </>
  );
}

/** This sheet shows a role of the picture: what it allows, and all holders who have it there. */
function RoleSheet({ given, bindings, mappings, role, where, uid, names, onClose, ground }: {
  given: DrawnRole; bindings: GrantFragment[]; mappings: Mapping[]; role?: GivenRoleFragment; where: string; uid: string; names: string[]; onClose: () => void; ground: Ground;
}) {
  const [shown, setShown] = useState(25);
  return (
    <>
      <header><div><h2>{given.role} on {where}</h2><p className="dim">{role?.description ?? summarize(given.capabilities)}</p></div>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}><Icon name="close" /></button></header>
      <section><h3>What it allows</h3>{given.capabilities ? <CapabilityTable held={new Set(given.capabilities)} /> : <p className="dim">Your role does not let you see this role.</p>}</section>
      <section><h3>{plural(bindings.length + mappings.length, 'holder')}</h3>
        <ul className="rows">
          {bindings.slice(0, shown).map((one) => (
            <li key={one.uid} className="row-link still"><Icon name="person" /><span className="grow">{one.identity ? <Link to={pageAddressOf(names, uid, { identity: one.identity.uid })}><b>{one.identity.name}</b></Link> : <b>{unseenName}</b>}<small>since {dayOf(one.createTime)}{one.expireTime && `, until ${dayOf(one.expireTime)}`}</small></span><BindingActions binding={one} ground={ground} /></li>
          ))}
          {mappings.map((one) => <li key={one.uid} className="row-link still"><Icon name="people" /><span className="grow"><b>{one.externalGroupId}</b><small>everyone whom {one.identityProvider?.name ?? 'a provider'} lists in this group</small></span></li>)}
        </ul>
        {bindings.length > shown && <p className="end"><button type="button" onClick={() => setShown(shown + 50)}>Show {Math.min(50, bindings.length - shown)} more</button></p>}
      </section>
    </>
  );
}

/** This card answers the question "Can somebody do something here?", and shows which bindings allow it. */
function Question({ uid, names, people: known, fixed, className = 'below' }: { uid: string; names: string[]; people: readonly (readonly [string, string])[]; fixed?: { uid: string; name: string }; className?: string }) {
  const { search } = useLocation();
  const who = fixed?.uid ?? search.get('who') ?? 'me', doing = search.get('do'), capability = isCapability(doing) ? doing : undefined, me = who === 'me';
  const loaded = useData(Can, { identity: me ? '' : who, me, capability: capability ?? 'REPO_LIST', on: uid }, { pause: !capability });
  const answer = me ? loaded.data?.viewer : loaded.data?.identity, can = answer?.can;
  const bindings = (answer?.roleBindings?.nodes ?? []).filter((one) => countsOn(one, uid)), ways = bindings.filter((one) => one.role?.capabilities.includes(capability!)), unknown = bindings.filter(({ role }) => !role);
  const placeOf = (one: (typeof bindings)[number]) => namesOf(one.group).join(' / ') || 'a group that you may not see';
  const name = me ? 'You' : loaded.data?.identity?.name ?? fixed?.name ?? known.find(([one]) => one === who)?.[1] ?? 'It', here = names.join(' / ');
  return (
    <Card title={fixed ? `Can ${fixed.name} do something here?` : 'Can somebody do something here?'} className={className}>
      <p className="asking"><span>Can</span>
        {fixed ? <b>{fixed.name}</b> : <select aria-label="Who" value={who} onChange={(event) => narrow({ who: event.target.value === 'me' ? undefined : event.target.value }, { replace: true })}>
          <option value="me">I</option>{!me && !known.some(([one]) => one === who) && <option value={who}>{name}</option>}{known.map(([one, label]) => <option key={one} value={one}>{label}</option>)}
        </select>}
        <CapabilityChoice value={capability} label="Do what" nothing="choose what" onChange={(next) => narrow({ do: next }, { replace: true })} /><span>in <b>{here}</b>?</span></p>
      <div role="status">{!capability ? null : loaded.loading && !answer ? <Lines rows={2} /> : can == null ? <Problems loaded={loaded} /> : (
        <>
          <p className="verdict"><span className={can ? 'chip good' : 'chip bad'}>{can ? 'Yes' : 'No'}</span>{name} {can ? 'may' : 'may not'} {tell(capability)} in {here}.</p>
          {can && ways.map((one) => <Grantway key={one.uid} who={name === 'You' ? one.identity?.name ?? 'You' : name} role={one.role!.name} group={placeOf(one)} here={here} direct={homeOf(one.uid) === uid} />)}
          {can && ways.length === 0 && <p className="dim">{unknown.length > 0 ? `It comes from a role on ${enumerate(unknown.map(placeOf), 3)} whose capabilities you may not see${me ? ', or from an external group that your token lists' : ''}.`
            : me ? 'It comes from an external group that your token lists, or from a binding that is not shown.' : 'It comes from a binding on a group above that you may not see.'}</p>}
          {!can && <p className="dim">{bindings.length > 0 ? `No role that applies here includes it: ${name === 'You' ? 'you have' : `${name} has`} ${enumerate([...new Set(bindings.map((one) => `${one.role?.name ?? 'a role'} on ${placeOf(one)}`))], 4)}.` : `${name} ${me ? 'have' : 'has'} no role here or above.`} {known.length > 0 && <Link to={pageAddressOf(names, uid, { can: capability })}>See who may</Link>}</p>}
          {!me && <p className="dim note">Roles from external groups of an identity provider are known only when the identity signs in, so they are not included here.</p>}
        </>
      )}</div>
    </Card>
  );
}

const Grantway = ({ who, role, group, here, direct }: { who: string; role: string; group: string; here: string; direct: boolean }) => (
  <ol className="grantway"><li><Icon name="person" />{who}</li><li><Icon name="key" />{role}</li><li><Icon name="group" />{group}</li>{!direct && <li className="here"><Icon name="group" />{here}</li>}</ol>
);

/** This page shows where an identity has a role, and what it may do in the group of the page. */
function Reach({ identity: id, uid, names }: { identity: string; uid: string; names: string[] }) {
  useKeptFocus();
  const variables: ReachQueryVariables = { identity: id, on: uid, root: rootOf(uid) };
  type Row = NonNullable<NonNullable<ReachQuery['identity']>['roleBindings']>['nodes'][number];
  const list = usePages<ReachQuery, Row, ReachQueryVariables>(ReachDocument, variables, (data) => data.identity?.roleBindings);
  const { rows, first, started } = list, one = first?.identity, total = one?.roleBindings?.totalCount;
  const [given, setGiven] = useState<string>();
  const problems = list.problems.filter(({ code }) => !isDenial(code) || !one);
  const home = namesOf(one?.group), pathOf = (row: Row) => namesOf(row.group).join(' / ') || 'a group that you may not see';
  const nameOfGroup = (group: string) => { const row = rows.find((binding) => homeOf(binding.uid) === group); return row ? pathOf(row) : group === uid ? names.join(' / ') : 'a group above'; };
  const counts = (row: Row) => { const group = homeOf(row.uid); return isWithin(group, homeOf(id)) || isWithin(homeOf(id), group); };
  const stations = [...new Map(rows.filter(counts).map((row) => [homeOf(row.uid), row])).values()].map((row): Station => ({
    key: homeOf(row.uid), name: pathOf(row), here: homeOf(row.uid) === uid, detail: [row.group?.repos && plural(row.group.repos.totalCount, 'repo'), 'and everything below'].filter(Boolean).join(', '), to: row.group ? groupAddress(namesOf(row.group), row.group.uid, 'access', { identity: id }) : undefined,
  }));
  const holder: Holder = { key: id, name: one?.name ?? '', detail: one?.email ?? one?.description ?? undefined, icon: 'person' };
  const drawn = rows.filter(counts).map((row): GrantedRole => ({ key: row.uid, role: row.role?.name ?? 'a role that you may not see', capabilities: row.role?.capabilities, station: homeOf(row.uid), holders: [holder] }));
  const chosen = rows.find((row) => row.uid === given);
  const self = first?.viewer?.identities.some((mine) => mine.uid === id);
  return (
    <div className="page">
      <p className="back"><Link to={pageAddressOf(names, uid, {})}>All access in {names.at(-1)}</Link></p>
      <div className="title"><h1>{one?.name ?? (started ? 'Identity' : ' ')}</h1>{self && <span className="chip">You</span>}</div>
      <p className="lead">{one ? [one.description, home.length > 0 && `identity of ${home.join(' / ')}`, one.email].filter(Boolean).join(' · ') : ' '}</p>
      {problems.length > 0 && rows.length === 0 && !one?.roleBindings ? <Problems loaded={{ ...list, problems }} /> : !started ? <div className="card"><Lines rows={4} height={40} /></div> : (
        <>
          <SignsIn one={one!} />
          <div className="card flush below"><header><h2>Where it has access</h2>{total != null && <span className="dim">{plural(total, 'binding')}</span>}</header>
            {!one?.roleBindings ? <p className="dim note">Your role does not let you see role bindings.</p> : rows.length === 0 ? <Empty title="No role anywhere">It has no access to the groups that you can see.</Empty>
              : <Picture label={`Where ${one.name} has a role`} given={drawn} stations={stations} way={false} onGiven={setGiven} />}</div>
          {list.more && <p className="end">The first {count(rows.length)} of {count(total ?? rows.length)} bindings. {!list.stopped && <button type="button" className="link-button" onClick={list.readMore}>Show more</button>}</p>}
          <ListProblems list={{ ...list, problems }} />
          <p className="dim note">An identity has no rights outside its own group{home.length > 0 && `, ${home.join(' / ')}`}. Roles from external groups of an identity provider are not shown.{!first?.viewer?.seesAll && ' Bindings in groups that you may not see are not shown.'}</p>
          <div className="grid"><Card title={`What it may do in ${names.join(' / ')}`} className="wide-6">{one?.held ? (one.held.length > 0 ? <CapabilityTable held={new Set(one.held)} /> : <p className="dim">Nothing.</p>) : <p className="dim note">Your role does not let you see this.</p>}</Card>
          {one && <Question uid={uid} names={names} people={[]} fixed={{ uid: id, name: one.name }} className="wide-6" />}</div>
        </>
      )}
      <Dialog open={chosen !== undefined} onClose={() => setGiven(undefined)} label="The role" className="sheet">
        {chosen && <BindingSheet binding={chosen} where={pathOf(chosen)} onClose={() => setGiven(undefined)} ground={{ roles: [], nameOfGroup, seesAll: first?.viewer?.seesAll ?? false, isLastOwner: () => false, onDone: (what) => { setGiven(undefined); say({ text: what }); } }} />}
      </Dialog>
    </div>
  );
}

/** This sheet shows a binding of an identity: what its role allows, and what can be changed. */
function BindingSheet({ binding, where, onClose, ground }: { binding: GrantFragment & { role: GivenRoleFragment | null }; where: string; onClose: () => void; ground: Ground }) {
  const { data } = useData(RolesFor, { uid: homeOf(binding.uid) }), { role } = binding;
  return (
    <>
      <header><div><h2>{role?.name ?? 'A role'} on {where}</h2><p className="dim">{role?.description ?? summarize(role?.capabilities)}</p></div><button type="button" className="icon-button" aria-label="Close" onClick={onClose}><Icon name="close" /></button></header>
      <section>{binding.expireTime && <p>This binding ends <Time at={binding.expireTime} />.</p>}{data ? <BindingActions binding={binding} ground={{ ...ground, roles: rolesOf(data) }} /> : <Lines rows={1} />}</section>
      <section><h3>What it allows</h3>{role ? <CapabilityTable held={new Set(role.capabilities)} /> : <p className="dim">Your role does not let you see this role.</p>}</section>
    </>
  );
}

function SignsIn({ one }: { one: NonNullable<ReachQuery['identity']> }) {
  const rule = one.claimMatch ?? one.staticKeys, by: ReactNode = rule
    ? <>tokens that <code>{rule.issuer ?? (one.claimMatch?.issuerPattern || 'any known issuer')}</code> issued for <code>{rule.subject ?? (one.claimMatch?.subjectPattern || 'any subject')}</code></> : 'an identity provider, or not at all';
  return <dl className="facts"><div><dt>Signs in with</dt><dd>{by}</dd></div><div><dt>Last seen</dt><dd>{formatLastSeen(one)}</dd></div></dl>;
}

