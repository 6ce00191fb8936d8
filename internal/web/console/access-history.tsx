// This file shows what the audit log has about access: what was given and revoked between two days, and who had access on a day.

import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { enumerate, rootOf, summarize, tell } from './access';
import { usePages } from './client';
import { AccessOn, History, type AccessChangeKind, type AccessOnQuery, type AccessOnQueryVariables, type ChangedFragment, type HistoryQuery, type HistoryQueryVariables, type PastGrantFragment } from './generated/graphql';
import { List, ListProblems, useNarrow } from './list';
import { PersonFilter } from './person-filter';
import { groupAddress } from './places';
import { Link, narrow, useLocation } from './router';
import { SaveRows, Table, type Column } from './table';
import { Empty, Icon, Lines, namesOf, Problems, Time, type IconName } from './ui';
import { Views } from './views';
import { actorOf, beginOf, dateOf, dayOf, formatTime, longDayOf, plural } from './words';

interface Place { uid: string; names: string[] }
interface Record { complete: boolean; recordedSince: string | null }

const usualDays = 30, firstDay = '2000-01-01', today = () => dateOf(Date.now()), daysAgo = (days: number) => dateOf(Date.now() - days * 86_400_000);

/** This field chooses a day. What a reader types is taken when it is a day. */
function Day({ label, value, onChange }: { label: string; value: string; onChange: (day: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return <label className="day-field"><span>{label}</span><input type="date" value={text} min={firstDay} max={today()} onBlur={() => setText(value)} onChange={({ target: { value: day } }) => { setText(day); if (day >= firstDay && day <= today()) onChange(day); }} /></label>;
}

/** This sentence says from when on the audit log knows. */
const Reach = ({ record: { complete, recordedSince }, what }: { record: Record; what: string }) => (
  <p className={complete ? 'dim note' : 'warn'}>{complete ? (recordedSince ? `The audit log has everything since ${formatTime(recordedSince)}.` : 'The audit log has everything: no entry was ever deleted.')
    : <><Icon name="warning" />The audit log reaches back to {formatTime(recordedSince!)}, because older entries were deleted. {what}</>}</p>
);

const refusal = <div className="table"><Empty title="Your role does not let you see past access">This needs the capabilities role_bindings.list and groups.update: the answer comes from the audit log.</Empty></div>;
const isRefused = (problems: { code: string }[]) => problems.some(({ code }) => code === 'PERMISSION_DENIED');

type Group = PastGrant['group'];
const pathOf = (group: Group, name = '') => namesOf(group).join(' / ') || name || 'a group that is gone';
const nameOf = (grant: PastGrantFragment) => grant.identityName || 'an identity without a name';

/** This name leads to what somebody may do now, if they still exist. */
const Who = ({ grant, uid, names }: Place & { grant: PastGrantFragment }) => (grant.identity ? <Link to={groupAddress(names, uid, 'access', { identity: grant.identityUid })}><b>{nameOf(grant)}</b></Link> : <b>{nameOf(grant)}</b>);
const Where = ({ group, name }: { group: Group; name?: string }) => (group ? <Link to={groupAddress(namesOf(group), group.uid, 'access')}>{pathOf(group)}</Link> : <>{pathOf(group, name)}</>);
const endOf = ({ expireTime }: PastGrantFragment) => (expireTime ? dayOf(expireTime) : 'never');
const until = (grant: PastGrantFragment) => grant.expireTime && ` until ${dayOf(grant.expireTime)}`;

const kinds: { [kind in AccessChangeKind]: { icon: IconName; name: string; className?: string } } = {
  GIVEN: { icon: 'plus', name: 'given', className: 'gave' }, CHANGED: { icon: 'edit', name: 'changed' }, TAKEN: { icon: 'bin', name: 'revoked', className: 'took' },
  EXPIRED: { icon: 'close', name: 'expired', className: 'took' }, ROLE_CHANGED: { icon: 'role', name: 'role changed' },
};

/** This sentence says who gave or revoked what. */
function Sentence({ change, ...place }: Place & { change: ChangedFragment }): ReactNode {
  const { kind, before, after, role, event: { actor, group } } = change, by = <b>{actorOf({ actor })}</b>;
  const roleOf = (uid: string, name: string) => (role?.uid === uid ? <Link to={groupAddress(place.names, place.uid, 'roles', { role: uid })}><b>{name}</b></Link> : <b>{name}</b>);
  const given = after ?? before, now = given && <>the role {roleOf(given.roleUid, given.roleName)} in <Where group={group} name={given.groupName} /></>;
  switch (kind) {
    case 'GIVEN': return <>{by} gave <Who grant={after!} {...place} /> {now}{until(after!)}</>;
    case 'TAKEN': return <>{by} revoked {now} from <Who grant={before!} {...place} /></>;
    case 'EXPIRED': return <><Who grant={before!} {...place} /> lost {now} when it expired</>;
    case 'CHANGED':
      if (before!.identityUid !== after!.identityUid) return <>{by} gave <Who grant={after!} {...place} /> {now}{until(after!)}, and revoked it from <Who grant={before!} {...place} /></>;
      if (before!.roleUid !== after!.roleUid) return <>{by} gave <Who grant={after!} {...place} /> {now}{until(after!)} instead of <b>{before!.roleName}</b></>;
      return <>{by} changed when <Who grant={after!} {...place} /> loses {now}: {endOf(after!)} instead of {endOf(before!)}</>;
    case 'ROLE_CHANGED': return <>{by} changed the role {roleOf(change.roleUid, change.roleName)} of <Where group={group} /> for all who have it{differenceOf(change)}</>;
  }
}

const differenceOf = ({ addedCapabilities: added, removedCapabilities: removed }: ChangedFragment) => [added.length > 0 && `: they may now ${enumerate(added.map(tell), 4)}`, removed.length > 0 && `${added.length > 0 ? ', and' : ': they may'} no longer ${enumerate(removed.map(tell), 4)}`].filter(Boolean).join('');
const noteOf = ({ event }: ChangedFragment) => (event.body as { reviewNote?: string } | null)?.reviewNote;
const subjectOf = (change: ChangedFragment) => change.after ?? change.before;

// What a file has of each change.
const fileColumns: Pick<Column<ChangedFragment>, 'label' | 'text'>[] = [
  { label: 'Time', text: ({ event }) => event.time }, { label: 'By', text: ({ kind, event }) => (kind === 'EXPIRED' ? '' : actorOf(event)) }, { label: 'What', text: ({ kind }) => kinds[kind].name },
  { label: 'Identity', text: (change) => subjectOf(change)?.identityName }, { label: 'Role', text: ({ roleName }) => roleName }, { label: 'Group', text: (change) => pathOf(change.event.group, subjectOf(change)?.groupName).replaceAll(' / ', '/') },
  { label: 'Until', text: ({ after }) => after?.expireTime }, { label: 'Identity before', text: ({ before }) => before?.identityName }, { label: 'Role before', text: ({ before }) => before?.roleName }, { label: 'Until before', text: ({ before }) => before?.expireTime },
  { label: 'Added', text: ({ addedCapabilities }) => addedCapabilities.map(tell).join('; ') }, { label: 'Removed', text: ({ removedCapabilities }) => removedCapabilities.map(tell).join('; ') }, { label: 'Note', text: noteOf },
  { label: 'Identity UID', text: (change) => subjectOf(change)?.identityUid }, { label: 'Role UID', text: ({ roleUid }) => roleUid }, { label: 'By UID', text: ({ event }) => event.actor.subject }, { label: 'Event', text: ({ event }) => event.id },
];

/** This list says in sentences what was given and revoked in a group and below, between two days. */
export function AccessChanges({ uid, names }: Place) {
  const { search } = useLocation(), since = beginOf(search.get('since') ?? '') ? search.get('since')! : daysAgo(usualDays - 1), last = beginOf(search.get('until') ?? '') ? search.get('until')! : today();
  const person = search.get('person') ?? undefined, by = search.get('by') ?? undefined;
  const variables: HistoryQueryVariables = { uid, from: beginOf(since)!, to: beginOf(last, 1)!, identity: person ?? null, actor: by ?? null, first: 100 }, turned = variables.to <= variables.from;
  const list = usePages<HistoryQuery, ChangedFragment, HistoryQueryVariables>(History, variables, (data) => data.accessChanges, {}, { pause: turned, longest: 150 });
  const { rows, first, started, loading, more } = list, height = useNarrow() ? 110 : 68;
  const entries = rows.map((change, i) => ({ change, heading: i === 0 || longDayOf(rows[i - 1].event.time) !== longDayOf(change.event.time) ? longDayOf(change.event.time) : undefined }));
  const people = new Map(rows.flatMap(({ before, after }) => [before, after].flatMap((one) => (one ? [[one.identityUid, nameOf(one)] as const] : [])))), actors = new Map(rows.filter(({ kind }) => kind !== 'EXPIRED').map(({ event }) => [event.actor.subject, actorOf(event)]));
  if (isRefused(list.problems)) return refusal;
  return (
    <>
      <p className="lead">Roles given and revoked in {names.join(' / ')} and below, and by whom. <Link to={groupAddress(names, uid, 'access', { show: 'day', on: dateOf(Date.parse(beginOf(since, -1)!)) })}>Who had access before that</Link></p>
      <div className="filters">
        <Day label="From" value={since} onChange={(day) => narrow({ since: day }, { replace: true })} /><Day label="to" value={last} onChange={(day) => narrow({ until: day === today() ? undefined : day }, { replace: true })} />
        <PersonFilter label="Whose access" nothing="Anybody’s access" chosen={person} root={rootOf(uid)} known={people} onChange={(one) => narrow({ person: one })} />
        <PersonFilter label="By whom" nothing="By anybody" chosen={by} root={rootOf(uid)} known={actors} onChange={(one) => narrow({ by: one })} />
        <Views page="access" />
        <SaveRows name="access changes" columns={fileColumns} readAll={list.readAll} disabled={rows.length === 0} />
        <span className="total" role="status">{started && !loading ? plural(rows.length, 'change') + (more ? ' or more' : '') : ' '}</span>
      </div>
      {turned ? <div className="table"><Empty title="The last day is before the first">Choose a later last day, or an earlier first day.</Empty></div>
        : list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} /> : !started ? <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>
        : rows.length === 0 && !loading ? <div className="table"><Empty title="No access changes">{person || by ? <button type="button" className="link-button" onClick={() => narrow({ person: undefined, by: undefined })}>Show all changes</button> : 'Choose an earlier day to see more.'}</Empty></div>
        : <List label="Access changes" rows={entries} keyOf={({ change }) => change.event.id} height={height} busy={loading} end={list.readMore} render={({ heading, change }) => <>{heading && <h2 className="day-heading">{heading}</h2>}<Change change={change} uid={uid} names={names} /></>} />}
      <ListProblems list={list} />
      {person && <p className="dim note">Changes to the capabilities of a role are left out, because they affect everybody who has the role.</p>}
      {first?.accessChanges && <Reach record={first.accessChanges} what="Earlier changes are missing." />}
    </>
  );
}

function Change({ change, ...place }: Place & { change: ChangedFragment }) {
  const { kind, event } = change, { icon, className } = kinds[kind], grant = subjectOf(change), note = noteOf(change);
  return (
    <div className={className ? `happening ${className}` : 'happening'}>
      <Icon name={icon} />
      <div className="grow">
        <p><Sentence change={change} {...place} />{note && <span className="dim"> · {note}</span>}</p>
        <p className="dim where apart"><Time at={event.time} />
          {grant && <button type="button" className="link-button" onClick={() => narrow({ person: grant.identityUid })}>Only {nameOf(grant)}</button>}
          {kind !== 'EXPIRED' && <button type="button" className="link-button" onClick={() => narrow({ by: event.actor.subject })}>Only by {actorOf(event)}</button>}
          <Link to={groupAddress(place.names, place.uid, 'activity', { show: 'log', subject: event.subject })}>Audit log</Link></p>
      </div>
    </div>
  );
}

type PastGrant = NonNullable<AccessOnQuery['accessAt']>['nodes'][number];

// The server refuses a time in the future, and the clock of the reader may be ahead by this number of milliseconds.
const clockTolerance = 5000;

/** This list has who had access to a group at the end of a day, and why. */
export function AccessOnDay({ uid, names }: Place) {
  const { search } = useLocation(), asked = search.get('on') ?? '', day = beginOf(asked) && asked <= today() ? asked : daysAgo(1), isToday = day === today();
  const time = useMemo(() => (isToday ? new Date(Date.now() - clockTolerance).toISOString() : beginOf(day, 1)!), [day, isToday]);
  const list = usePages<AccessOnQuery, PastGrant, AccessOnQueryVariables>(AccessOn, { uid, time, first: 100 }, (data) => data.accessAt);
  const { rows, first, started, loading, more } = list, height = useNarrow() ? 104 : 58, when = isToday ? `at ${formatTime(time)}` : `at the end of ${dayOf(beginOf(day)!)}`;
  const place = { uid, names };
  const columns: Column<PastGrant>[] = [
    { key: 'identity', label: 'Identity', names: true, width: 'minmax(0, 1.2fr)', text: nameOf, cell: (row) => <span className="two"><Who grant={row} {...place} /><small>{row.identity?.email ?? ' '}</small></span> },
    { key: 'role', label: 'Role', width: 'minmax(0, 1fr)', text: ({ roleName }) => roleName, cell: ({ roleName, capabilities }) => <span className="two"><b>{roleName}</b><small>{capabilities ? summarize(capabilities) : ' '}</small></span> },
    { key: 'group', label: 'Bound on', width: 'minmax(0, 1fr)', className: 'bound', text: ({ group, groupName }) => pathOf(group, groupName).replaceAll(' / ', '/'), cell: ({ group, groupUid, groupName }) => (groupUid === uid ? <span>this group</span> : <><span className="cut" title={pathOf(group, groupName)}>{group?.name ?? groupName}</span><span className="chip">inherited</span></>) },
    { key: 'since', label: 'Since', width: '7.5rem', className: 'when dim', wide: true, text: ({ createTime }) => createTime, cell: ({ createTime }) => <Time at={createTime} /> },
    { key: 'until', label: 'Until', width: '7.5rem', className: 'dim', text: ({ expireTime }) => expireTime, cell: ({ expireTime }) => (expireTime ? <Time at={expireTime} /> : 'no end') },
  ];
  const onlyInFile: Pick<Column<PastGrant>, 'label' | 'text'>[] = [{ label: 'May', text: ({ capabilities }) => capabilities?.map(tell).join('; ') }, { label: 'Identity UID', text: ({ identityUid }) => identityUid }, { label: 'UID', text: ({ bindingUid }) => bindingUid }];
  if (isRefused(list.problems)) return refusal;
  return (
    <>
      <p className="lead">Who had access to {names.join(' / ')} {when}. <Link to={groupAddress(names, uid, 'access', { show: 'changes', since: isToday ? day : dateOf(Date.parse(time)) })}>What has changed since</Link></p>
      <div className="filters">
        <Day label="At the end of" value={day} onChange={(on) => narrow({ on }, { replace: true })} />
        <SaveRows name={`access on ${day}`} columns={[...columns, ...onlyInFile]} readAll={list.readAll} disabled={rows.length === 0} />
        <span className="total" role="status">{started && !loading ? plural(rows.length, 'binding') + (more ? ' or more' : '') : ' '}</span>
      </div>
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} /> : !started ? <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>
        : rows.length === 0 && !loading ? <div className="table"><Empty title="Nobody had a role here">No role was bound to this group, or to a group above it, {when}.</Empty></div>
        : <Table label="Role bindings of that time" kind="binding-columns past" columns={columns} rows={rows} keyOf={(row) => row.bindingUid} height={height} busy={loading} end={list.readMore} />}
      <ListProblems list={list} />
      {first?.accessAt && <Reach record={first.accessAt} what="Bindings that ended before are missing, and others are shown as they were then." />}
      <p className="dim note">People who had access through an external group of an identity provider had no binding, so they are not listed. Groups above whose audit log you may not read are left out.</p>
    </>
  );
}
