import { useState, type ReactNode } from 'react';
import { useChange, useData, useDaysAgo, usePages, type Problem } from '../client';
import { ConfirmButton, FormButton, Refusal, type Choice, type Holding } from '../form';
import {
  CreateGroupInvite, DeleteGroupInvite, Identities as IdentitiesDocument, Identity as IdentityDocument, Invites as InvitesDocument, Providers as ProvidersDocument, VerifyIdentityProvider,
  type IdentitiesQuery, type IdentitiesQueryVariables, type IdentityQuery, type InvitesQuery, type InvitesQueryVariables, type ProvidersQuery, type ProvidersQueryVariables,
} from '../generated/graphql';
import { IdentityActions, NewIdentity } from '../identity-forms';
import { Find, List, ListProblems, Toggles, useNarrow } from '../list';
import { groupAddress, pageAddress } from '../places';
import { Link, narrow, useLocation } from '../router';
import { Secret } from '../secret';
import { linkOfInvite } from '../session';
import { SortBy, SortSelect, useSorting } from '../sorting';
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

const sorts = { name: { field: 'NAME', direction: 'ASC' }, seen: { field: 'LAST_SEEN_TIME', direction: 'DESC' }, unseen: { field: 'LAST_SEEN_TIME', direction: 'ASC' }, created: { field: 'CREATE_TIME', direction: 'DESC' } } as const;
const unseenDays = 90;

function People({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation(), query = search.get('q') ?? '', unseen = search.get('unseen') === 'yes', since = useDaysAgo(unseenDays);
  const sorting = useSorting(sorts);
  const variables: IdentitiesQueryVariables = { uid, first: 50, start: true, orderBy: sorting.orderBy, where: { ...(query && { query }), ...(unseen && { lastSeenBefore: since }) } };
  const list = usePages<IdentitiesQuery, Row, IdentitiesQueryVariables>(IdentitiesDocument, variables, (data) => data.group?.identities, { start: false });
  const { rows, first, loading, started } = list, total = first?.group?.identities?.totalCount, name = names.at(-1)!;
  const [open, setOpen] = useState(() => new Set<string>()), height = useNarrow() ? 84 : 58;
  const toggle = (key: string) => setOpen((old) => { const next = new Set(old); if (!next.delete(key)) next.add(key); return next; });
  const refused = list.problems.some(({ code }) => code === 'PERMISSION_DENIED');
  let body: ReactNode;
  if (refused) body = <div className="table"><Empty title="Your role does not let you see identities">This needs the capability identity.list. An owner of {name} can give you a role that includes it.</Empty></div>;
  else if (list.problems.length > 0 && rows.length === 0) body = <Problems loaded={list} />;
  else if (!started) body = <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>;
  else if (rows.length === 0 && !loading) body = <div className="table">{query || unseen ? <Empty title="No identity matches"><button type="button" className="link-button" onClick={() => narrow({ q: undefined, unseen: undefined })}>Show all identities</button></Empty> : <Empty title="No identities yet">Create one, or invite people: whoever accepts an invite gets an identity here.</Empty>}</div>;
  else body = (
    <List label="Identities" rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} measured busy={loading} end={list.readMore}
      head={<div className="head identity-columns"><span><SortBy by="name" label="Name" sorting={sorting} /></span><span>Group</span><span>Roles</span><span className="when"><SortBy by="seen" label="Last seen" sorting={sorting} /></span></div>}
      render={(row) => (
        <div className="advisory">
          <button type="button" className="identity-columns" aria-expanded={open.has(row.uid)} onClick={() => toggle(row.uid)}>
            <span className="two"><b>{row.name}</b><small>{[row.email ?? row.emailUnverified, row.description].filter(Boolean).join(' · ') || ' '}</small></span>
            <span className="dim cut">{namesOf(row.group).join(' / ')}</span>
            <span className="roles dim">{row.roleBindings ? (row.roleBindings.totalCount === 0 ? 'none' : plural(row.roleBindings.totalCount, 'binding')) : '–'}</span>
            <span className="when dim">{formatLastSeen(row)}</span>
          </button>
          {open.has(row.uid) && <Details uid={row.uid} names={names} />}
        </div>
      )} />
  );
  return (
    <div className="page">
      <Head names={names}>{first?.group && <NewIdentity uid={uid} name={name} held={{ capabilities: first.group.viewerCapabilities, on: name }} />}</Head>
      <div className="filters">
        <Find value={query} label="Find by name, description or email" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
        <SortSelect sorting={sorting} names={{ name: 'By name', seen: 'Most recently seen first', unseen: 'Least recently seen first', created: 'Newest first' }} />
        <Toggles label="Last seen" chosen={unseen ? ['yes'] : []} onChange={([one]) => narrow({ unseen: one })} options={[{ value: 'yes', name: `Not seen for ${unseenDays} days` }]} />
        <Views page="identities" />
        <span className="total" role="status">{total != null && !loading && !refused ? plural(total, 'identity', 'identities') : ' '}</span>
      </div>
      {body}
      <ListProblems list={list} />
    </div>
  );
}

export const formatLastSeen = ({ lastSeenTime }: { lastSeenTime: string | null }) => (lastSeenTime ? <Time at={lastSeenTime} /> : 'not yet');

const withSearch = (to: string, search: Record<string, string>) => to + (to.includes('?') ? '&' : '?') + new URLSearchParams(search);

function Details({ uid, names }: { uid: string; names: string[] }) {
  const loaded = useData(IdentityDocument, { uid }), identity = loaded.data?.identity;
  if (!identity) return <div className="story">{loaded.loading ? <Lines rows={3} /> : <Problems loaded={loaded} />}</div>;
  const { roleBindings: bindings } = identity;
  return (
    <div className="story">
      <dl>
        {identity.company && <div><dt>Company</dt><dd>{identity.company}</dd></div>}
        {identity.emailUnverified && <div><dt>Email</dt><dd>{identity.emailUnverified} <span className="chip">not verified</span></dd></div>}
        <div><dt>Created</dt><dd>{formatTime(identity.createTime)}</dd></div>
        <div><dt>Uid</dt><dd><code>{identity.uid}</code><CopyButton text={identity.uid} label="Copy the uid" /></dd></div>
        <Rules identity={identity} />
      </dl>
      <div>
        {!bindings ? <p className="dim">Your role does not let you see its role bindings.</p> : bindings.totalCount === 0 ? <p className="dim">It has no role, so it may do nothing yet.</p>
          : <ul className="plain">{bindings.nodes.map(({ uid: key, role, group }) => <li key={key}><b>{role?.name ?? 'a role'}</b> in {group ? <Link to={groupAddress(namesOf(group), group.uid)}>{namesOf(group).join(' / ')}</Link> : 'a group that you may not see'}</li>)}
            {bindings.totalCount > bindings.nodes.length && <li className="dim">and {count(bindings.totalCount - bindings.nodes.length)} more</li>}</ul>}
        <p><Link to={withSearch(pageAddress(names, 'access'), { identity: uid })}>What it may do</Link> · <Link to={withSearch(pageAddress(names, 'activity'), { show: 'log', actor: uid })}>What it did</Link></p>
        <IdentityActions identity={identity} />
      </div>
    </div>
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
  const list = usePages<InvitesQuery, Invite, InvitesQueryVariables>(InvitesDocument, { uid, first: 50, start: true }, (data) => data.group?.invites, { start: false });
  const { first, loading, started } = list, name = names.at(-1)!, [gone, setGone] = useState<string[]>([]), [problems, setProblems] = useState<Problem[]>([]);
  const rows = list.rows.filter((row) => !gone.includes(row.uid)), total = first?.group?.invites?.totalCount, height = useNarrow() ? 92 : 58;
  const refused = list.problems.some(({ code, path }) => code === 'PERMISSION_DENIED' && /invites/.test(path));
  let body: ReactNode;
  if (refused) body = <div className="table"><Empty title="Your role does not let you see invites">This needs the capability group_invites.list. An owner of {name} can give you a role that includes it.</Empty></div>;
  else if (list.problems.length > 0 && rows.length === 0 && !first?.group?.invites) body = <Problems loaded={list} />;
  else if (!started) body = <div className="table"><div className="pad"><Lines rows={4} height={38} /></div></div>;
  else if (rows.length === 0 && !loading) body = <div className="table"><Empty title="No invites">An invite gives a role to anyone who enters its code, until it expires.</Empty></div>;
  else body = (
    <List label="Invites" rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} busy={loading} end={list.readMore}
      head={<div className="head invite-columns"><span>For</span><span>Role</span><span className="when">Expires</span><span className="sr">Delete</span></div>}
      render={(invite) => <InviteRow invite={invite} onGone={(yes, found = []) => { setProblems(found); setGone((old) => (yes ? [...old, invite.uid] : old.filter((one) => one !== invite.uid))); }} />} />
  );
  return (
    <div className="page">
      <Head names={names} show="invites">{first?.group && <NewInvite uid={uid} name={name} first={first} />}</Head>
      <div className="filters"><Refusal problems={problems} /><span className="total" role="status">{total != null && !refused ? plural(Math.max(total - gone.filter((one) => list.rows.some((row) => row.uid === one)).length, 0), 'invite') : ' '}</span></div>
      {body}
      {!refused && <ListProblems list={list} />}
    </div>
  );
}

function InviteRow({ invite, onGone }: { invite: Invite; onGone: (yes: boolean, problems?: Problem[]) => void }) {
  const { run } = useChange(DeleteGroupInvite, ['GroupInvite', 'Group']), expired = Date.parse(invite.expirationTime) < Date.now(), whom = invite.email ?? 'anyone with the code';
  const held: Holding = { capabilities: invite.mayDelete ? ['GROUP_INVITES_DELETE'] : [], on: invite.group?.name ?? 'its group' };
  return (
    <div className="cells invite-columns">
      <span className="two"><b>{invite.email ?? 'Anyone with the code'}</b><small>{namesOf(invite.group).join(' / ')}{' · '}{invite.singleUse ? 'single use' : 'unlimited uses'} · code {invite.keyId}…</small></span>
      <span>{invite.role?.name ?? <span className="dim">a role</span>}</span>
      <span className="when dim">{expired ? <span className="chip bad">expired {formatRelativeTime(invite.expirationTime)}</span> : <Time at={invite.expirationTime} />}</span>
      <ConfirmButton label="" icon="bin" className="icon-button" name={`Delete the invite for ${whom}`} held={held} title="Delete the invite?" submit="Delete the invite" document={DeleteGroupInvite} input={{ uid: invite.uid }}
        immediately={(input) => { onGone(true); void run(input).then(({ data, problems }) => { if (!data) onGone(false, problems); }); }} onDone={() => {}}>
        <p>{invite.email ? `The code for ${invite.email}` : 'Its code'} will no longer work. People who have accepted the invite keep the role.</p>
      </ConfirmButton>
    </div>
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
      <Secret title="The code of the invite" secret={code?.code} link={code && linkOfInvite(code.code)} onClose={() => setCode(undefined)}>Send it, or its link, to {code?.email ?? 'the person you invite'} by a private channel: it cannot be shown again. They open the link and sign in, or enter the code under “I have an invite”.</Secret>
    </>
  );
}

type Provider = NonNullable<ProvidersQuery['identityProviders']>['nodes'][number];

/** This list has the providers at which people sign in, and what they get there. */
function Providers({ uid, names }: { uid: string; names: string[] }) {
  const list = usePages<ProvidersQuery, Provider, ProvidersQueryVariables>(ProvidersDocument, { uid, first: 50, start: true }, (data) => data.identityProviders, { start: false });
  const { rows, started, loading } = list, refused = list.problems.some(({ code }) => code === 'PERMISSION_DENIED');
  return (
    <div className="page">
      <Head names={names} show="providers" />
      <div className="below-lead">{refused ? <div className="table"><Empty title="Your role does not let you see providers">This needs the capability identity_providers.list. An owner of {names.at(-1)} can give you a role that includes it.</Empty></div>
        : list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} />
        : !started ? <div className="card"><Lines rows={4} height={38} /></div>
        : rows.length === 0 && !loading ? <div className="table"><Empty title="No providers of its own">People sign in at the provider of the operator, and get roles by invites and bindings. A provider of {names.at(-1)} can give them roles by their groups there: see <a href="/guide/sign-in">sign-in</a>.</Empty></div>
        : <div className="card"><table className="plain-table stacks">
            <thead><tr><th scope="col">Provider</th><th scope="col">Group</th><th scope="col">State</th><th scope="col">Everybody gets</th><th scope="col">Groups there that get more</th></tr></thead>
            <tbody>{rows.map((row) => <ProviderRow key={row.uid} row={row} />)}</tbody>
          </table></div>}</div>
      <ListProblems list={list} />
    </div>
  );
}

function ProviderRow({ row }: { row: Provider }) {
  const held: Holding = { capabilities: row.viewerCapabilities, on: row.name }, { mappings } = row;
  return (
    <tr>
      <th scope="row">{row.name}<small>{row.oidc?.issuer ?? row.description}</small></th>
      <td data-label="Group">{row.group ? <Link to={groupAddress(namesOf(row.group), row.group.uid)}>{namesOf(row.group).join(' / ')}</Link> : 'a group above'}</td>
      <td data-label="State">{row.issuerVerified ? <span className="state fixed">In effect{row.issuerVerifyTime && <small><Time at={row.issuerVerifyTime} /></small>}</span> : <><span className="state open">Waits for proof</span><ConfirmButton label="Check" held={held} harmless document={VerifyIdentityProvider} input={{ uid: row.uid }} title={`Check ${row.name}?`} submit="Look for the proof" affects={['IdentityProvider']} onDone={() => {}}>
        <p>The server looks whether your organisation has proven that the issuer is its own: by the file <code>{row.oidc?.issuer}/.well-known/atrium-organisation</code>. Then its people can sign in.</p></ConfirmButton></>}</td>
      <td data-label="Everybody">{row.defaultRole?.name ?? 'a role'}</td>
      <td data-label="Groups">{!mappings ? '–' : mappings.totalCount === 0 ? <span className="dim">none</span> : <ul className="stacked">{mappings.nodes.map((one) => <li key={one.uid}>{one.externalGroupId}: <b>{one.role?.name ?? 'a role'}</b></li>)}{mappings.totalCount > mappings.nodes.length && <li className="dim">and {count(mappings.totalCount - mappings.nodes.length)} more</li>}</ul>}</td>
    </tr>
  );
}
