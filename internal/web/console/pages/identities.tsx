import { useState, type ReactNode } from 'react';
import { useChange, useData, useDaysAgo, usePages, type Problem } from '../client';
import { ConfirmButton, FormButton, Refusal, type Choice, type Holding } from '../form';
import {
  CreateGroupInvite, DeleteGroupInvite, Identities as IdentitiesDocument, Identity as IdentityDocument, Invites as InvitesDocument, Providers as ProvidersDocument, VerifyIdentityProvider,
  type IdentitiesQuery, type IdentitiesQueryVariables, type IdentityQuery, type InvitesQuery, type InvitesQueryVariables, type ListedProviderFragment, type ProvidersQuery, type ProvidersQueryVariables,
} from '../generated/graphql';
import { IdentityActions, NewIdentity } from '../identity-forms';
import { Find, ListProblems, Toggles, useNarrow } from '../list';
import { groupAddress, pageAddress } from '../places';
import { NewProvider, ProviderActions, RemoveMapping } from '../provider-forms';
import { Link, narrow, useLocation } from '../router';
import { Secret } from '../secret';
import { linkOfInvite } from '../session';
import { SortSelect, useSorting } from '../sorting';
import { ChooseColumns, ChosenBar, SaveRows, Table, useColumns, useMarking, type Column } from '../table';
import { CopyButton, Empty, Lines, namesOf, Problems, Time } from '../ui';
import { Views } from '../views';
import { count, formatRelativeTime, formatTime, plural } from '../words';

type Row = NonNullable<NonNullable<IdentitiesQuery['group']>['identities']>['nodes'][number];
type Invite = NonNullable<NonNullable<InvitesQuery['group']>['invites']>['nodes'][number];
type Rule = NonNullable<IdentityQuery['identity']>;

/** This page shows who can act in a group: its identities, and the people who are invited. */
export function Identities(at: { uid: string; names: string[] }) {
  const show = useLocation().search.get('show');
  return show === 'invites' ? <Invites {...at} /> : show === 'providers' ? <Providers {...at} /> : <People {...at} />;
}

const shows = [[undefined, 'Identities'], ['invites', 'Invites'], ['providers', 'Providers']] as const;

function Head({ names, show, children }: { names: string[]; show?: string; children?: ReactNode }) {
  return (
    <>
      <div className="title"><h1>Identities</h1><div className="actions">{children}</div></div>
      <p className="lead">Who can act in {names.join(' / ')} and below</p>
      <div className="tabs" role="group" aria-label="What is shown">
        {shows.map(([value, label]) => <button key={label} type="button" aria-pressed={show === value} onClick={() => narrow({ show: value, q: undefined, sort: undefined, dir: undefined, unseen: undefined })}>{label}</button>)}
      </div>
    </>
  );
}

export const formatLastSeen = ({ lastSeenTime }: { lastSeenTime: string | null }) => (lastSeenTime ? <Time at={lastSeenTime} /> : 'never');

const sorts = { name: { field: 'NAME', direction: 'ASC' }, seen: { field: 'LAST_SEEN_TIME', direction: 'DESC' }, unseen: { field: 'LAST_SEEN_TIME', direction: 'ASC' }, created: { field: 'CREATE_TIME', direction: 'DESC' }, email: { field: 'EMAIL', direction: 'ASC' } } as const;
const inviteSorts = { expires: { field: 'EXPIRATION_TIME', direction: 'ASC' }, email: { field: 'EMAIL', direction: 'ASC' }, role: { field: 'ROLE_NAME', direction: 'ASC' } } as const;
const unseenDays = 90;

const identityColumns: Column<Row, keyof typeof sorts>[] = [
  { key: 'name', label: 'Name', names: true, width: 'minmax(0, 1.4fr)', className: 'main', by: 'name', text: ({ name }) => name,
    cell: (row) => <span className="two"><b>{row.name}</b><small>{[row.email ?? row.emailUnverified, row.description].filter(Boolean).join(' · ') || ' '}</small></span> },
  { key: 'email', label: 'Email', width: 'minmax(0, 1fr)', className: 'dim cut extra', by: 'email', hidden: true, text: ({ email }) => email, cell: ({ email }) => email ?? '–' },
  { key: 'group', label: 'Group', width: 'minmax(0, 1fr)', className: 'dim cut', text: ({ group }) => namesOf(group).join('/'), cell: ({ group }) => namesOf(group).join(' / ') },
  { key: 'roles', label: 'Roles', width: '9rem', className: 'roles dim', text: ({ roleBindings }) => roleBindings?.totalCount, cell: ({ roleBindings }) => (roleBindings ? (roleBindings.totalCount === 0 ? 'none' : plural(roleBindings.totalCount, 'binding')) : '–') },
  { key: 'created', label: 'Created', width: '8rem', className: 'dim extra', by: 'created', hidden: true, text: ({ createTime }) => createTime, cell: ({ createTime }) => <Time at={createTime} /> },
  { key: 'seen', label: 'Last seen', width: '8rem', className: 'when dim', by: 'seen', text: ({ lastSeenTime }) => lastSeenTime, cell: formatLastSeen },
];

// A file also has what a row shows in small.
const identityFileColumns: Pick<Column<Row>, 'label' | 'text'>[] = [
  { label: 'Email, not verified', text: ({ emailUnverified }) => emailUnverified }, { label: 'Description', text: ({ description }) => description }, { label: 'UID', text: ({ uid }) => uid },
];

function People({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation(), query = search.get('q') ?? '', unseen = search.get('unseen') === 'yes', since = useDaysAgo(unseenDays);
  const sorting = useSorting(sorts);
  const variables: IdentitiesQueryVariables = { uid, first: 50, start: true, orderBy: sorting.orderBy, where: { ...(query && { query }), ...(unseen && { lastSeenBefore: since }) } };
  const list = usePages<IdentitiesQuery, Row, IdentitiesQueryVariables>(IdentitiesDocument, variables, (data) => data.group?.identities, { start: false });
  const { rows, first, loading, started } = list, total = first?.group?.identities?.totalCount, name = names.at(-1)!;
  const columns = useColumns('identities', identityColumns), height = useNarrow() ? 84 : 58;
  const refused = list.problems.some(({ code }) => code === 'PERMISSION_DENIED');
  let body: ReactNode;
  if (refused) body = <div className="table"><Empty title="Your role does not let you see identities">This needs the capability identity.list. An owner of {name} can give you a role that includes it.</Empty></div>;
  else if (list.problems.length > 0 && rows.length === 0) body = <Problems loaded={list} />;
  else if (!started) body = <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>;
  else if (rows.length === 0 && !loading) body = <div className="table">{query || unseen ? <Empty title="No identity matches"><button type="button" className="link-button" onClick={() => narrow({ q: undefined, unseen: undefined })}>Show all identities</button></Empty> : <Empty title="No identities yet">Create one, or invite people: anyone who accepts an invite gets an identity here.</Empty>}</div>;
  else body = (
    <Table label="Identities" kind="identity-columns" columns={columns} rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} measured busy={loading} end={list.readMore} sorting={sorting} story={(row) => <Details uid={row.uid} names={names} />} />
  );
  return (
    <div className="page">
      <Head names={names}>{first?.group && <NewIdentity uid={uid} name={name} held={{ capabilities: first.group.viewerCapabilities, on: name }} />}</Head>
      <div className="filters">
        <Find value={query} label="Find by name, description or email" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
        <SortSelect sorting={sorting} names={{ name: 'By name', seen: 'Most recently seen first', unseen: 'Least recently seen first', created: 'Newest first', email: 'By email' }} />
        <Toggles label="Last seen" chosen={unseen ? ['yes'] : []} onChange={([one]) => narrow({ unseen: one })} options={[{ value: 'yes', name: `Not seen for ${unseenDays} days` }]} />
        <ChooseColumns page="identities" all={identityColumns} />
        <Views page="identities" />
        {!refused && <SaveRows name="identities" columns={[...identityColumns, ...identityFileColumns]} readAll={list.readAll} disabled={total === 0} />}
        <span className="total" role="status">{total != null && !loading && !refused ? plural(total, 'identity', 'identities') : ' '}</span>
      </div>
      {body}
      <ListProblems list={list} />
    </div>
  );
}

const withSearch = (to: string, search: Record<string, string>) => to + (to.includes('?') ? '&' : '?') + new URLSearchParams(search);

function Details({ uid, names }: { uid: string; names: string[] }) {
  const loaded = useData(IdentityDocument, { uid }), identity = loaded.data?.identity;
  if (!identity) return loaded.loading ? <Lines rows={3} /> : <Problems loaded={loaded} />;
  const { roleBindings: bindings } = identity;
  return (
    <>
      <dl>
        {identity.company && <div><dt>Company</dt><dd>{identity.company}</dd></div>}
        {identity.emailUnverified && <div><dt>Email</dt><dd>{identity.emailUnverified} <span className="chip">not verified</span></dd></div>}
        <div><dt>Created</dt><dd>{formatTime(identity.createTime)}</dd></div>
        <div><dt>UID</dt><dd><code>{identity.uid}</code><CopyButton text={identity.uid} label="Copy the UID" /></dd></div>
        <Rules identity={identity} />
      </dl>
      <div>
        {!bindings ? <p className="dim">Your role does not let you see its role bindings.</p> : bindings.totalCount === 0 ? <p className="dim">It has no role, so it has no access yet.</p>
          : <ul className="plain">{bindings.nodes.map(({ uid: key, role, group }) => <li key={key}><b>{role?.name ?? 'a role'}</b> in {group ? <Link to={groupAddress(namesOf(group), group.uid)}>{namesOf(group).join(' / ')}</Link> : 'a group that you may not see'}</li>)}
            {bindings.totalCount > bindings.nodes.length && <li className="dim">and {count(bindings.totalCount - bindings.nodes.length)} more</li>}</ul>}
        <p><Link to={withSearch(pageAddress(names, 'access'), { identity: uid })}>What it may do</Link> · <Link to={withSearch(pageAddress(names, 'activity'), { show: 'log', actor: uid })}>What it did</Link></p>
        <IdentityActions identity={identity} />
      </div>
    </>
  );
}

/** These rules say which tokens act as an identity. */
function Rules({ identity: { claimMatch: rule, staticKeys: keys } }: { identity: Rule }) {
  if (!rule && !keys) return <div><dt>Signs in with</dt><dd>no token</dd></div>;
  const rows: [string, ReactNode][] = rule ? [
    ['Issuer', rule.issuer ?? matches(rule.issuerPattern)], ['Subject', rule.subject ?? matches(rule.subjectPattern)], ['Audience', rule.audience ?? matches(rule.audiencePattern)],
    ...Object.entries(rule.claims ?? {}).map(([claim, value]): [string, ReactNode] => [claim, value]), ...Object.entries(rule.claimPatterns ?? {}).map(([claim, value]): [string, ReactNode] => [claim, matches(value)]),
  ] : [['Issuer', keys!.issuer], ['Subject', keys!.subject], ['Keys', keys!.expirationTime ? <>stored, {Date.parse(keys!.expirationTime) < Date.now() ? 'expired' : 'valid until'} {formatTime(keys!.expirationTime)}</> : 'stored, without an expiration time']];
  return rows.filter(([, value]) => value).map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{typeof value === 'string' ? <code>{value}</code> : value}</dd></div>);
}

const matches = (pattern: string | null) => (pattern ? <>matches <code>{pattern}</code></> : null);

function Invites({ uid, names }: { uid: string; names: string[] }) {
  const sorting = useSorting(inviteSorts);
  const list = usePages<InvitesQuery, Invite, InvitesQueryVariables>(InvitesDocument, { uid, orderBy: sorting.orderBy, first: 50, start: true }, (data) => data.group?.invites, { start: false });
  const { first, loading, started } = list, name = names.at(-1)!, [gone, setGone] = useState<string[]>([]), [problems, setProblems] = useState<Problem[]>([]);
  const rows = list.rows.filter((row) => !gone.includes(row.uid)), total = first?.group?.invites?.totalCount, height = useNarrow() ? 92 : 58;
  const refused = list.problems.some(({ code, path }) => code === 'PERMISSION_DENIED' && /invites/.test(path)), { run } = useChange(DeleteGroupInvite, ['GroupInvite', 'Group']);
  /** Withdraws invites one after the other, and shows those again that could not be withdrawn. */
  const withdraw = async (uids: string[]) => {
    setProblems([]);
    setGone((old) => [...old, ...uids]);
    for (const one of uids) {
      const { data, problems: found } = await run({ uid: one });
      if (!data) { setProblems((old) => [...old, ...found]); setGone((old) => old.filter((other) => other !== one)); }
    }
  };
  const { marking, chosen, clear } = useMarking(rows, ({ uid: key }) => key, (invite) => `the invite for ${whomOf(invite)}`);
  const columns: Column<Invite, keyof typeof inviteSorts>[] = [...inviteColumns, { key: 'delete', label: 'Delete', width: '2rem', cell: (invite) => <Withdraw label="" invites={[invite]} onWithdraw={withdraw} /> }];
  let body: ReactNode;
  if (refused) body = <div className="table"><Empty title="Your role does not let you see invites">This needs the capability group_invites.list. An owner of {name} can give you a role that includes it.</Empty></div>;
  else if (list.problems.length > 0 && rows.length === 0 && !first?.group?.invites) body = <Problems loaded={list} />;
  else if (!started) body = <div className="table"><div className="pad"><Lines rows={4} height={38} /></div></div>;
  else if (rows.length === 0 && !loading) body = <div className="table"><Empty title="No invites">An invite gives a role to anyone who enters its code, until it expires.</Empty></div>;
  else body = (
    <Table label="Invites" kind="invite-columns" columns={columns} rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} busy={loading} end={list.readMore} sorting={sorting} marking={marking} />
  );
  return (
    <div className="page">
      <Head names={names} show="invites">{first?.group && <NewInvite uid={uid} name={name} first={first} />}</Head>
      <div className="filters"><Refusal problems={problems} />{!refused && <SaveRows name="invites" columns={[...inviteColumns, ...inviteFileColumns]} readAll={list.readAll} disabled={total === 0} />}<span className="total" role="status">{total != null && !refused ? plural(Math.max(total - gone.filter((one) => list.rows.some((row) => row.uid === one)).length, 0), 'invite') : ' '}</span></div>
      {chosen.length > 0 && <ChosenBar what={plural(chosen.length, 'invite')} onClear={clear}><Withdraw label={`Delete ${plural(chosen.length, 'invite')}`} invites={chosen} onWithdraw={(uids) => { clear(); return withdraw(uids); }} /></ChosenBar>}
      {body}
      {!refused && <ListProblems list={list} />}
    </div>
  );
}

const whomOf = ({ email }: Invite) => email ?? 'anyone with the code';
const inviteColumns: Column<Invite, keyof typeof inviteSorts>[] = [
  { key: 'for', label: 'For', names: true, width: 'minmax(0, 1fr)', className: 'main', by: 'email', text: ({ email }) => email ?? 'anyone with the code',
    cell: (invite) => <span className="two"><b>{invite.email ?? 'Anyone with the code'}</b><small>{namesOf(invite.group).join(' / ')}{' · '}{invite.singleUse ? 'single use' : 'unlimited uses'} · code {invite.keyId}…</small></span> },
  { key: 'role', label: 'Role', width: '9rem', by: 'role', text: ({ role }) => role?.name, cell: ({ role }) => role?.name ?? <span className="dim">a role</span> },
  { key: 'expires', label: 'Expires', width: '10rem', className: 'when dim', by: 'expires', text: ({ expirationTime }) => expirationTime,
    cell: ({ expirationTime }) => (Date.parse(expirationTime) < Date.now() ? <span className="chip bad">expired {formatRelativeTime(expirationTime)}</span> : <Time at={expirationTime} />) },
];

// A file also has what a row shows in small.
const inviteFileColumns: Pick<Column<Invite>, 'label' | 'text'>[] = [
  { label: 'Group', text: ({ group }) => namesOf(group).join('/') }, { label: 'Single use', text: ({ singleUse }) => (singleUse ? 'yes' : 'no') }, { label: 'Created', text: ({ createTime }) => createTime }, { label: 'Code begins with', text: ({ keyId }) => keyId }, { label: 'UID', text: ({ uid }) => uid },
];

/** This button withdraws invites, and says before whose code then no longer works. */
function Withdraw({ label, invites, onWithdraw }: { label: string; invites: Invite[]; onWithdraw: (uids: string[]) => Promise<void> }) {
  const [one] = invites, several = invites.length > 1, kept = invites.find(({ mayDelete }) => !mayDelete);
  const held: Holding = { capabilities: kept ? [] : ['GROUP_INVITES_DELETE'], on: kept?.group?.name ?? 'its group' };
  return (
    <ConfirmButton label={label} icon="bin" className={label ? undefined : 'icon-button'} name={label ? undefined : `Delete the invite for ${whomOf(one)}`} held={held} title={several ? `Delete ${plural(invites.length, 'invite')}?` : 'Delete the invite?'} submit={several ? 'Delete the invites' : 'Delete the invite'}
      document={DeleteGroupInvite} input={{ uid: one.uid }} immediately={() => void onWithdraw(invites.map(({ uid }) => uid))} onDone={() => {}}>
      {several ? <><p>These codes will no longer work. People who have accepted an invite keep the role.</p><ul className="plain affected">{invites.map((invite) => <li key={invite.uid}><b>{invite.role?.name ?? 'a role'}</b> in {namesOf(invite.group).join(' / ')} for {whomOf(invite)}</li>)}</ul></>
        : <p>{one.email ? `The code for ${one.email}` : 'Its code'} will no longer work. People who have accepted the invite keep the role.</p>}
    </ConfirmButton>
  );
}

function NewInvite({ uid, name, first }: { uid: string; name: string; first: InvitesQuery }) {
  const [code, setCode] = useState<{ code: string; email: string | null }>(), group = first.group!;
  const inGroup = (roles: { uid: string; name: string; description: string | null }[] | undefined): Choice[] => (roles ?? []).map((role) => ({ value: role.uid, name: role.name, about: role.description ?? undefined }));
  const choices = [...inGroup(first.roles?.nodes), ...(group.ancestors ?? []).flatMap((one) => inGroup(one.roles?.nodes)), ...inGroup(group.roles?.nodes)];
  return (
    <>
      <FormButton label="New invite" icon="plus" held={{ capabilities: group.viewerCapabilities, on: name }} document={CreateGroupInvite} title={`Invite to ${name}`} submit="Create the invite" fixed={{ parent: uid }} start={{ ttl: String(7 * 86_400), singleUse: true }} affects={['GroupInvite', 'Group']}
        fields={[
          { name: 'roleUid', label: 'Role', choices, hint: `What they may do in ${name} and below. You can only give capabilities that you have yourself.` },
          { name: 'email', label: 'Email', placeholder: 'somebody@example.com', hint: 'Only a person whose token contains this verified address can accept. Without an address, anyone with the code can.' },
          { name: 'ttl', label: 'Valid for', hint: 'At most 365 days.' }, { name: 'singleUse', label: 'Single use', hint: 'The invite is deleted when somebody accepts it.' },
        ]}
        onDone={({ createGroupInvite }) => { const { code: made, email } = createGroupInvite!.groupInvite; setCode({ code: made ?? '', email }); }} />
      <Secret title="Invite code" secret={code?.code} link={code && linkOfInvite(code.code)} onClose={() => setCode(undefined)}>Send it, or its link, to {code?.email ?? 'the person you invite'} through a private channel: it cannot be shown again. They open the link and sign in, or enter the code under “I have an invite”.</Secret>
    </>
  );
}

// What a file has of each provider.
const providerFileColumns: Pick<Column<ListedProviderFragment>, 'label' | 'text'>[] = [
  { label: 'Provider', text: ({ name }) => name }, { label: 'Description', text: ({ description }) => description }, { label: 'Issuer', text: ({ oidc }) => oidc?.issuer }, { label: 'Client ID', text: ({ oidc }) => oidc?.clientId },
  { label: 'Group', text: ({ group }) => namesOf(group).join('/') }, { label: 'State', text: ({ issuerVerified }) => (issuerVerified ? 'in effect' : 'waiting for proof') }, { label: 'Proven', text: ({ issuerVerifyTime }) => issuerVerifyTime },
  { label: 'Default role', text: ({ defaultRole }) => defaultRole?.name }, { label: 'External groups', text: ({ mappings }) => mappings && [...mappings.nodes.map((one) => `${one.externalGroupId}: ${one.role?.name ?? 'a role'} in ${one.scope?.name ?? 'a group'}`), ...(mappings.totalCount > mappings.nodes.length ? [`and ${count(mappings.totalCount - mappings.nodes.length)} more`] : [])].join('; ') },
  { label: 'Created', text: ({ createTime }) => createTime }, { label: 'UID', text: ({ uid }) => uid },
];

/** This list has the providers at which people sign in, and what they get there. */
function Providers({ uid, names }: { uid: string; names: string[] }) {
  const list = usePages<ProvidersQuery, ListedProviderFragment, ProvidersQueryVariables>(ProvidersDocument, { uid, first: 20, start: true }, (data) => data.identityProviders, { start: false }, { longest: 20 });
  const { rows, started, loading, first } = list, refused = list.problems.some(({ code }) => code === 'PERMISSION_DENIED'), total = first?.identityProviders?.totalCount;
  return (
    <div className="page">
      <Head names={names} show="providers">{first?.group && !refused && <NewProvider uid={uid} name={names.at(-1)!} held={{ capabilities: first.group.viewerCapabilities, on: names.at(-1)! }} />}</Head>
      {!refused && <div className="filters"><SaveRows name="providers" columns={providerFileColumns} readAll={list.readAll} disabled={total === 0} /><span className="total" role="status">{total != null && !loading ? plural(total, 'provider') : ' '}</span></div>}
      <div className={refused ? 'below-lead' : undefined}>{refused ? <div className="table"><Empty title="Your role does not let you see providers">This needs the capability identity_providers.list. An owner of {names.at(-1)} can give you a role that includes it.</Empty></div>
        : list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} />
        : !started ? <div className="card"><Lines rows={4} height={38} /></div>
        : rows.length === 0 && !loading ? <div className="table"><Empty title="No identity providers">People sign in with the operator’s provider, and get roles through invites and role bindings. A provider of {names.at(-1)} can give them roles based on their groups there: see <a href="/guide/sign-in">sign-in</a>.</Empty></div>
        : <div className="card"><div className="scroll" tabIndex={0} role="region" aria-label="Providers"><table className="plain-table stacks">
            <thead><tr><th scope="col">Provider</th><th scope="col">Group</th><th scope="col">State</th><th scope="col">Default role</th><th scope="col">External groups</th><th scope="col">Change</th></tr></thead>
            <tbody>{rows.map((row) => <ProviderRow key={row.uid} row={row} />)}</tbody>
          </table></div></div>}</div>
      <ListProblems list={list} />
    </div>
  );
}

function ProviderRow({ row }: { row: ListedProviderFragment }) {
  const held: Holding = { capabilities: row.viewerCapabilities, on: row.name }, { mappings } = row;
  return (
    <tr>
      <th scope="row">{row.name}<small>{row.oidc?.issuer ?? row.description}</small></th>
      <td data-label="Group">{row.group ? <Link to={groupAddress(namesOf(row.group), row.group.uid)}>{namesOf(row.group).join(' / ')}</Link> : 'a group above'}</td>
      <td data-label="State">{row.issuerVerified ? <span className="state fixed">In effect{row.issuerVerifyTime && <small><Time at={row.issuerVerifyTime} /></small>}</span> : <><span className="state open">Waiting for proof</span><ConfirmButton label="Check" held={held} harmless document={VerifyIdentityProvider} input={{ uid: row.uid }} title={`Check the proof of ${row.name}?`} submit="Check the proof" affects={['IdentityProvider']} onDone={() => {}}>
        <p>The server reads <code>{row.oidc?.issuer}/.well-known/atrium-organization</code> to check that your organization owns the issuer. Then people can sign in with this provider.</p></ConfirmButton></>}</td>
      <td data-label="Default role">{row.defaultRole?.name ?? 'a role'}</td>
      <td data-label="External">{!mappings ? '–' : mappings.totalCount === 0 ? <span className="dim">none</span> : <ul className="stacked">{mappings.nodes.map((one) => <li key={one.uid}>{one.externalGroupId}: <b>{one.role?.name ?? 'a role'}</b>{one.scopeUid !== row.group?.uid && ` in ${one.scope?.name ?? 'a group below'}`}<RemoveMapping mapping={one} held={held} /></li>)}{mappings.totalCount > mappings.nodes.length && <li className="dim">and {count(mappings.totalCount - mappings.nodes.length)} more</li>}</ul>}</td>
      <td data-label="Change"><ProviderActions provider={row} held={held} /></td>
    </tr>
  );
}
