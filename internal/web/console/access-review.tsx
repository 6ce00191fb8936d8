// This file has the access review: a list of role bindings, which are confirmed or revoked with a note. The audit log keeps both.

import { useState } from 'react';
import { homeOf } from './access';
import { useDaysAgo, usePages } from './client';
import { Form, Action, type Field } from './form';
import { Confirm, Reviews, UnbindAll, type IdentityKind, type ReviewedFragment, type ReviewsQuery, type ReviewsQueryVariables } from './generated/graphql';
import { joinValues, ListProblems, Toggles, useNarrow, valuesOf } from './list';
import { groupAddress, hereAndBelow } from './places';
import { Link, narrow, useLocation } from './router';
import { say } from './said';
import { useSorting } from './sorting';
import { ChooseColumns, ChosenBar, SaveRows, Table, useColumns, useMarking, type Column } from './table';
import { Empty, Icon, Lines, namesOf, Problems, Time } from './ui';
import { Views } from './views';
import { count, plural } from './words';

const sorts = { created: { field: 'CREATE_TIME', direction: 'ASC' }, identity: { field: 'IDENTITY_NAME', direction: 'ASC' }, role: { field: 'ROLE_NAME', direction: 'ASC' }, group: { field: 'GROUP_NAME', direction: 'ASC' } } as const;
const periods = [30, 90, 180, 365], usualPeriod = 90, idleDays = 90, soonDays = 30, mostAtOnce = 100;
const kinds: { value: IdentityKind; name: string }[] = [{ value: 'USER', name: 'Users of a provider' }, { value: 'CLAIM_MATCH', name: 'Claims of a token' }, { value: 'STATIC_KEYS', name: 'Stored keys' }, { value: 'NOBODY', name: 'Cannot sign in' }];
const unseen = 'An identity that you may not see';
const nameOf = ({ identity }: ReviewedFragment) => identity?.name ?? unseen;
const placeOf = ({ group }: ReviewedFragment) => namesOf(group).join(' / ') || 'a group that you may not see';
const roleOf = ({ role }: ReviewedFragment) => role?.name ?? 'a role that you may not see';

function columnsOf(names: string[], uid: string): Column<ReviewedFragment, keyof typeof sorts>[] {
  return [
    { key: 'identity', label: 'Identity', names: true, width: 'minmax(0, 1.2fr)', className: 'main', by: 'identity', text: nameOf,
      cell: (row) => <span className="two">{row.identity ? <Link to={groupAddress(names, uid, 'access', { identity: row.identity.uid })}><b>{row.identity.name}</b></Link> : <b>{unseen}</b>}<small>{row.identity?.email ?? row.identity?.description ?? ' '}</small></span> },
    { key: 'role', label: 'Role', width: 'minmax(0, .8fr)', className: 'cut', by: 'role', text: roleOf, cell: (row) => <b title={row.role?.description ?? undefined}>{roleOf(row)}</b> },
    { key: 'group', label: 'In', width: 'minmax(0, 1fr)', className: 'cut', by: 'group', text: (row) => namesOf(row.group).join('/'), cell: placeOf },
    { key: 'since', label: 'Since', width: '7rem', className: 'dim extra', wide: true, by: 'created', text: ({ createTime }) => createTime, cell: ({ createTime }) => <Time at={createTime} /> },
    { key: 'until', label: 'Until', width: '7rem', className: 'until', text: ({ expireTime }) => expireTime, cell: ({ expireTime }) => <Until at={expireTime} /> },
    { key: 'seen', label: 'Last seen', width: '7.5rem', className: 'dim', text: ({ identity }) => identity?.lastSeenTime, cell: ({ identity }) => (identity?.lastSeenTime ? <><span className="unit">seen </span><Time at={identity.lastSeenTime} /></> : <span className="chip bad">never<span className="unit"> seen</span></span>) },
    { key: 'review', label: 'Confirmed', width: 'minmax(0, 1fr)', className: 'review two', text: ({ reviewTime }) => reviewTime,
      cell: ({ reviewTime, reviewer, reviewNote }) => (reviewTime ? <><span><span className="unit">confirmed </span><Time at={reviewTime} />{reviewer && ` by ${reviewer.name}`}</span><small title={reviewNote ?? undefined}>{reviewNote ?? ' '}</small></> : <span className="dim">not yet<span className="unit"> confirmed</span></span>) },
  ];
}

// A file also has what an auditor asks for.
const columnsOfFile: Pick<Column<ReviewedFragment>, 'label' | 'text'>[] = [
  { label: 'Email', text: ({ identity }) => identity?.email }, { label: 'Confirmed by', text: ({ reviewer }) => reviewer?.name }, { label: 'Note', text: ({ reviewNote }) => reviewNote }, { label: 'Identity UID', text: ({ identity }) => identity?.uid }, { label: 'UID', text: ({ uid }) => uid },
];

/** This text says when a grant ends. An end that comes soon stands out. */
export function Until({ at }: { at: string | null }) {
  if (!at) return <span className="dim">no end</span>;
  return Date.parse(at) < Date.now() + soonDays * 86_400_000 ? <span className="chip bad">ends <Time at={at} /></span> : <span><span className="unit">ends </span><Time at={at} /></span>;
}

/** This switch leads from the bindings that count on a group to all bindings on it and below, and back. */
export const BelowToggle = ({ below = false }: { below?: boolean }) => (
  <Toggles label="Where" chosen={below ? ['below'] : []} options={[{ value: 'below', name: 'Here and below' }]}
    onChange={() => narrow({ can: undefined, q: undefined, sort: undefined, dir: undefined, only: undefined, kind: undefined, columns: undefined, ...(below ? { show: 'table', left: undefined } : hereAndBelow) })} />
);

/** This list has the grants on a group and below. At first it shows those that nobody has confirmed for a while. */
export function AccessReview({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation(), days = periods.find((one) => String(one) === search.get('period')) ?? usualPeriod, every = search.get('left') === 'no';
  const unreviewedSince = useDaysAgo(days), idleSince = useDaysAgo(idleDays), soon = useDaysAgo(-soonDays), lately = useDaysAgo(30);
  const only = valuesOf(search, 'only'), kind = kinds.find(({ value }) => value === search.get('kind'))?.value, sorting = useSorting(sorts);
  // A grant that was made within the period was decided about then.
  const where = {
    ...(!every && { unreviewedSince }), ...(kind && { identityKinds: [kind] }), ...(only.includes('idle') && { identityLastSeenBefore: idleSince }),
    ...(only.includes('ending') && { expiring: { before: soon } }), ...(only.includes('new') && { createdSince: lately }),
  };
  const list = usePages<ReviewsQuery, ReviewedFragment, ReviewsQueryVariables>(Reviews, { uid, where, since: unreviewedSince, orderBy: sorting.orderBy, first: 100, start: true }, (data) => data.roleBindings, { start: false });
  const { rows, first, started, loading } = list, total = first?.roleBindings?.totalCount, left = first?.left?.totalCount, height = useNarrow() ? 128 : 58;
  const columns = columnsOf(names, uid), shown = useColumns('review', columns);
  const { marking, chosen, clear } = useMarking(rows, (row) => row.uid, (row) => `${roleOf(row)} of ${nameOf(row)} in ${placeOf(row)}`);
  const own = new Set(first?.viewer?.identities.map((mine) => mine.uid)), filtered = only.length > 0 || kind !== undefined;
  const done = (what: string) => { clear(); say({ text: what }); };
  const refused = list.problems.some(({ code }) => code === 'PERMISSION_DENIED');
  if (refused) return <div className="table"><Empty title="Your role does not let you see role bindings">A review needs the capability role_bindings.list, and role_bindings.delete to confirm or revoke.</Empty></div>;
  return (
    <>
      <p className="lead">{left === undefined ? <span aria-hidden style={{ visibility: 'hidden' }}>All of the role bindings in {names.at(-1)} and below were neither given nor confirmed within {days} days.</span> /* It keeps the place of the sentence. */ : left === 0 ? `Every role binding in ${names.at(-1)} and below was given or confirmed within ${days} days.` : `${count(left)} of ${plural(first?.all?.totalCount ?? left, 'role binding')} in ${names.at(-1)} and below ${left === 1 ? 'was' : 'were'} neither given nor confirmed within ${days} days.`} <Link to={groupAddress(names, uid, 'activity', { show: 'log', about: 'reviews' })}>Who confirmed and revoked what</Link></p>
      <div className="filters">
        <BelowToggle below />
        <Toggles label="Which bindings" chosen={every ? [] : ['left']} onChange={([one]) => narrow({ left: one ? undefined : 'no' })} options={[{ value: 'left', name: 'Left to review', count: left === undefined ? undefined : count(left) }]} />
        <select aria-label="Period of the review" value={days} onChange={({ target: { value } }) => narrow({ period: value === String(usualPeriod) ? undefined : value })}>{periods.map((one) => <option key={one} value={one}>every {one} days</option>)}</select>
        <select aria-label="Kind of identity" value={kind ?? ''} onChange={({ target: { value } }) => narrow({ kind: value || undefined })}><option value="">Any kind of identity</option>{kinds.map(({ value, name }) => <option key={value} value={value}>{name}</option>)}</select>
        <ChooseColumns page="review" all={columns} />
        <Views page="access" />
        <SaveRows name="bindings" columns={[...columns, ...columnsOfFile]} readAll={list.readAll} disabled={total === 0} />
        <span className="total" role="status">{total != null && !loading ? plural(total, 'binding') : ' '}</span>
      </div>
      <div className="filters tight"><Toggles label="Only" chosen={only} onChange={(next) => narrow({ only: joinValues(next) })} options={[{ value: 'idle', name: `Not seen for ${idleDays} days` }, { value: 'ending', name: `Ends within ${soonDays} days` }, { value: 'new', name: 'Given in the last 30 days' }]} /></div>
      {chosen.length > 0 && <Decide chosen={chosen} own={own} onClear={clear} onDone={done} />}
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} /> : !started ? <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>
        : rows.length === 0 && !loading ? <div className="table"><Empty title={filtered ? 'No binding matches' : every ? 'Nobody has a role here' : 'Nothing is left to review'}>{filtered ? <button type="button" className="link-button" onClick={() => narrow({ only: undefined, kind: undefined })}>Clear the filters</button> : !every && <button type="button" className="link-button" onClick={() => narrow({ left: 'no' })}>Show all bindings</button>}</Empty></div>
        : <Table label="Role bindings" kind="review-columns" columns={shown} rows={rows} total={total} keyOf={(row) => row.uid} height={height} busy={loading} end={list.readMore} sorting={sorting} marking={marking} />}
      <ListProblems list={list} />
    </>
  );
}

const note: Field = { name: 'note', label: 'Note', hint: 'Why you decided this. The audit log keeps the note.' };

/** These buttons confirm or revoke the grants that the reader has marked. */
export function Decide({ chosen, own, onClear, onDone }: { chosen: ReviewedFragment[]; own: ReadonlySet<string>; onClear: () => void; onDone: (what: string) => void }) {
  const [deciding, setDeciding] = useState<'keep' | 'revoke'>(), close = () => setDeciding(undefined), n = plural(chosen.length, 'binding');
  const fixed = chosen.find(({ mayRevoke }) => !mayRevoke), uids = chosen.map(({ uid }) => uid);
  const reason = fixed ? `This needs role_bindings.delete on ${placeOf(fixed)}, which your role does not include. An owner can give you a role that does.` : chosen.length > mostAtOnce ? `You can confirm or revoke at most ${mostAtOnce} bindings at once: choose fewer.` : undefined;
  return (
    <ChosenBar what={n} onClear={onClear}>
      <Action icon="done" reason={reason} onClick={() => setDeciding('keep')}>Confirm {n}</Action>
      <Action icon="bin" reason={reason} onClick={() => setDeciding('revoke')}>Revoke {n}</Action>
      <Form open={deciding === 'keep'} onClose={close} document={Confirm} title={`Confirm ${n}?`} lead="You confirm that these role bindings are still needed. They stay as they are." fields={[note]} fixed={{ requests: chosen.map(({ uid, identity, role, expireTime }) => ({ uid, identityUid: identity?.uid, roleUid: role?.uid, expireTime })) }} submit="Confirm" affects={['RoleBinding']} below={() => <Listed chosen={chosen} />} onDone={() => onDone(`You confirmed ${n}.`)} />
      <Form open={deciding === 'revoke'} onClose={close} document={UnbindAll} title={`Revoke ${n}?`} lead="From their next request, these identities no longer have these roles. This cannot be undone." fields={[note]} fixed={{ uids }} submit="Revoke" affects={['RoleBinding', 'Group']}
        below={() => <>{chosen.some(({ identity }) => identity && own.has(identity.uid)) && <p className="warn"><Icon name="warning" />Some of these are your own access. You may not be able to undo it.</p>}<Listed chosen={chosen} /></>} onDone={() => onDone(`You revoked ${n}.`)} />
    </ChosenBar>
  );
}

const Listed = ({ chosen }: { chosen: ReviewedFragment[] }) => (
  <section aria-label="Affected bindings"><ul className="plain affected">{chosen.map((row) => <li key={row.uid}><b>{nameOf(row)}</b>: {roleOf(row)} in {placeOf(row)}{row.group === null && ` (${homeOf(row.uid).slice(-8)})`}</li>)}</ul></section>
);
