import type { ReactNode } from 'react';
import { Columns } from '../chart';
import { useData, useDaysAgo } from '../client';
import { DoFirst } from '../do-first';
import { Events } from '../events';
import { Newest as NewestDocument, Overview as OverviewDocument, type OverviewQuery } from '../generated/graphql';
import { GroupActions } from '../group-forms';
import { joinEvents, noHistoryText, useLive } from '../live';
import { groupAddress, hereAndBelow, pageAddress, repoAddress } from '../places';
import { Link } from '../router';
import { Card, CopyButton, Empty, Icon, knownOf, Lines, namesOf, NotShown, Problems, Severity, SeverityBar, Time, type IconName } from '../ui';
import { count, formatRelativeTime, plural, ratings, sentence, utcDayOf } from '../words';

type Group = NonNullable<OverviewQuery['group']>;
const unseenDays = 90, soonDays = 2, endingDays = 30, plotDays = 25 * 7, mostNew = 5;

/** This page says how it stands with the images of a group, what to upgrade first, what is new, and what needs attention. */
export function Overview({ uid, names }: { uid: string; names: string[] }) {
  const loaded = useData(OverviewDocument, { uid, from: useDaysAgo(plotDays), soon: useDaysAgo(-endingDays) });
  const { data, loading } = loaded, group = data?.group;
  if (data && !group) return <div className="page"><Problems loaded={loaded} /></div>;
  if (!data && !loading) return <div className="page"><Problems loaded={loaded} /></div>;
  const empty = group?.repos?.totalCount === 0, below = !group || names.length === 1 || (group.children?.totalCount ?? 0) > 0;
  return (
    <div className="page">
      <div className="title"><h1>{names.at(-1)}</h1>{group?.status === 'SUSPENDED' && <span className="chip bad">Suspended</span>}{group?.verified && <span className="chip">Verified</span>}{group ? <GroupActions group={group} names={names} /> : <div className="actions" />}</div>
      <p className="lead">{group ? group.description ?? (names.length === 1 ? 'Organization' : 'No description') : ' '}</p>
      {loaded.old && <Problems loaded={loaded} />}
      <p className="told">{!group ? <i className="blank" /> : <Told group={group} names={names} />}</p>
      <p className="counts">{group ? <Counted group={group} names={names} /> : ' '}</p>
      <div className="grid">
        {empty ? <>
          <Card title="First steps" className="wide-7 roomy"><FirstSteps uid={uid} names={names} /></Card>
          <Card title="Needs attention" className="wide-5 roomy"><Concerns group={group} names={names} /></Card>
        </> : <>
          <DoFirst key={uid} uid={uid} names={names} standing={group && group.findingSummary} />
          <Card title="Needs attention" className="wide-5 roomy">{!group ? <Lines rows={4} height={36} /> : <Concerns group={group} names={names} />}</Card>
          <Card title="Open findings" aside={<Link to={pageAddress(names, 'findings')}>All findings</Link>} className="wide-7 roomy">
            {!group ? <Lines rows={5} height={36} /> : <OpenFindings group={group} names={names} weeks={data.findingActivity} />}
          </Card>
          <Card title="New this week" aside={<Link to={groupAddress(names, uid, 'findings', { since: '7', sort: 'newest' })}>All new findings</Link>} className="wide-5 roomy">
            <Newest uid={uid} names={names} />
          </Card>
        </>}
        <LatestActivity uid={uid} names={names} stored={data?.auditLog?.nodes} loading={!data} wide={!below} />
        {below && <Card title="Groups in this group" aside={group?.children && group.children.totalCount > group.children.nodes.length ? <span className="dim">The first {group.children.nodes.length} of {count(group.children.totalCount)}</span> : undefined} className="wide-5">
          {!group ? <Lines rows={3} height={34} /> : <ChildGroups group={group} names={names} />}
        </Card>}
      </div>
      {group?.advisorySummary && <p className="dim footnote">All numbers count findings of images with a tag that is not deprecated. {group.advisorySummary.open.total > 0 ? <>The feeds of this group contain <Link to={groupAddress(names, group.uid, 'advisories', { show: 'open' })}>{plural(group.advisorySummary.open.total, 'open advisory', 'open advisories')}</Link>, whether or not an image has the package.</> : names.length > 1 && <>Advisories can also come from the groups above.</>}</p>}
    </div>
  );
}

/** This sentence says how it stands with the images. Each number leads to what it counts. */
function Told({ group, names }: { group: Group; names: string[] }) {
  const { findingSummary: summary, repos } = group;
  if (!summary) return <span className="dim">Your role does not let you see findings.</span>;
  const { open, accepted, affectedRepos } = summary, of = repos ? ` of ${plural(repos.totalCount, 'repo')}` : affectedRepos === 1 ? ' repo' : ' repos';
  if (repos?.totalCount === 0) return <>There are no images here yet.</>;
  if (open.total === 0 && summary.images > 0 && summary.knownImages === 0) return <>No SBOM for {plural(summary.images, 'image')}: import SBOMs to see packages and findings.</>;
  const known = knownOf(summary);
  if (open.total === 0) return <>No open finding{repos && <> in {plural(repos.totalCount, 'repo')}</>}{accepted.total > 0 && <>, {count(accepted.total)} accepted</>}{known && <>, {known}</>}.</>;
  const to = (search: Record<string, string>) => groupAddress(names, group.uid, 'findings', search);
  return (
    <><Link to={groupAddress(names, group.uid, 'repos', { sort: 'worst' })}><b>{count(affectedRepos)}</b>{of} affected</Link>, <Link to={to({})}><b>{count(open.total)}</b> open {open.total === 1 ? 'finding' : 'findings'}</Link>
      {open.critical > 0 && <>, <Link to={to({ severity: 'CRITICAL' })}><b>{count(open.critical)}</b> critical</Link></>}{open.knownExploited > 0 && <>, <Link to={to({ exploited: 'yes' })}><b>{count(open.knownExploited)}</b> known to be exploited</Link></>}, <Link to={to({ show: 'fixable' })}><b>{count(open.fixable)}</b> fixable</Link>{known && <>, <b>{count(summary.knownImages)}</b> of {plural(summary.images, 'image')} with an SBOM (<Link to={groupAddress(names, group.uid, 'packages', { show: 'unknown' })}>see the rest</Link>)</>}.</>
  );
}

/** This line has the counts that change no decision. */
function Counted({ group, names }: { group: Group; names: string[] }) {
  const counts: [number | undefined, string, string | undefined, Record<string, string>?][] = [
    [group.descendants?.totalCount, 'group', undefined], [group.repos?.totalCount, 'repo', 'repos'], [group.tags?.totalCount, 'tag', undefined],
    [group.identities?.totalCount, 'identity', 'identities'], [group.roleBindings?.totalCount, 'binding', 'access', hereAndBelow], [group.subscriptions?.totalCount, 'webhook', 'webhooks'],
  ];
  return <>{counts.filter(([n]) => n !== undefined).map(([n, label, view, search], i) => {
    const words = plural(n!, label, label === 'identity' ? 'identities' : undefined);
    return <span key={label}>{i > 0 && ' · '}{view ? <Link to={groupAddress(names, group.uid, view, search)}>{words}</Link> : words}</span>;
  })}</>;
}

function OpenFindings({ group, names, weeks }: { group: Group; names: string[]; weeks: OverviewQuery['findingActivity'] }) {
  const summary = group.findingSummary;
  if (!summary) return <NotShown what="findings" />;
  const { open, accepted, notAffected } = summary;
  if (open.total + accepted.total + notAffected.total === 0) return <Empty title="No findings">Findings come from the packages in images and the advisories about them: see <a href="/guide/importing">importing</a>.</Empty>;
  const shown = ratings.map((rating) => ({ rating, key: rating.toLowerCase() as 'critical' })).filter(({ key }) => !['none', 'unknown'].includes(key) || open[key] > 0 || (weeks ?? []).some((week) => week.open[key] > 0));
  const to = (search: Record<string, string>) => groupAddress(names, group.uid, 'findings', search);
  const before = weeks?.at(-2)?.open.total, change = before === undefined ? 0 : open.total - before;
  return (
    <>
      <p className="big"><b>{count(open.total)}</b> open<span className="dim">{change !== 0 && `${change > 0 ? '+' : '−'}${count(Math.abs(change))} since last week · `}<Link to={to({ show: 'accepted' })}>{count(accepted.total)} accepted</Link> · <Link to={to({ show: 'not-affected' })}>{count(notAffected.total)} not affected</Link></span></p>
      <ul className="legend">{shown.map(({ rating, key }) => (
        <li key={rating}><Link to={to({ severity: rating })} className={'severity ' + key}><i />{sentence(rating)}<b>{count(open[key])}</b></Link></li>
      ))}</ul>
      {weeks && weeks.length > 0 && <Columns label="Open at the end of each week" kinds={shown.map(({ rating, key }) => ({ name: sentence(rating), className: key }))}
        columns={weeks.map((week, i) => ({ time: week.time, name: i === weeks.length - 1 ? 'Now' : `Week of ${utcDayOf(week.time)}`, parts: shown.map(({ key }) => week.open[key]) }))} />}
    </>
  );
}

/** This list has the vulnerabilities of the findings that were first seen in the last seven days, the worst first. */
function Newest({ uid, names }: { uid: string; names: string[] }) {
  const { data, loading } = useData(NewestDocument, { uid, since: useDaysAgo(7) }), found = data?.findings;
  if (!found && loading) return <Lines rows={5} height={40} />;
  if (!found) return <NotShown what="findings" />;
  if (found.nodes.length === 0) return <Empty title="Nothing new">No open finding was first seen in the last seven days.</Empty>;
  const groups = Map.groupBy(found.nodes, ({ vulnerabilityId, package: name }) => `${vulnerabilityId} ${name}`);
  const rows = [...groups.values()].sort(([a], [b]) => Number(b.knownExploited) - Number(a.knownExploited) || ratings.indexOf(a.severity.rating) - ratings.indexOf(b.severity.rating) || (b.severity.score ?? 0) - (a.severity.score ?? 0));
  return (
    <>
      <ul className="rows">{rows.slice(0, mostNew).map((same) => {
        const [one] = same, repos = [...new Set(same.map(({ repo }) => repo?.name ?? 'a repo'))];
        return (
          <li key={one.uid}><Link className="row-link" to={groupAddress(names, uid, 'advisories', { id: one.vulnerabilityId })}>
            <span className="grow"><b>{one.vulnerabilityId}{one.knownExploited && <span className="chip bad">exploited</span>}</b><small>{one.package === one.digest ? 'the image' : one.package} in {repos.slice(0, 2).join(', ')}{repos.length > 2 && ` and ${repos.length - 2} more`}</small></span>
            <Severity rating={one.severity.rating} score={one.severity.score} />
          </Link></li>
        );
      })}</ul>
      {(rows.length > mostNew || found.pageInfo.hasNextPage) && <p className="dim note">{found.pageInfo.hasNextPage ? 'The worst of the newest 30 findings' : `And ${plural(rows.length - mostNew, 'more', 'more')}`}</p>}
    </>
  );
}

/** These are the steps of an organization that has no images yet. The commands run where the server runs, with its database. */
function FirstSteps({ uid, names }: { uid: string; names: string[] }) {
  const steps: [string, ReactNode, string?][] = [
    ['Import your images', <>Repos, tags and images come from your registry.</>, `atrium admin import oci --group ${uid} ghcr.io/example/api`],
    ['Import SBOMs', <>If the registry has no SBOMs of your images, create them, for example with Syft.</>, `syft -o cyclonedx-json ghcr.io/example/api:1.2 | atrium import sbom --group ${uid} -`],
    ['Import advisories', <>OSV feeds list affected versions. <a href="/guide/importing">Importing</a> also covers the KEV catalog and EPSS scores.</>, `curl -sSfO https://osv-vulnerabilities.storage.googleapis.com/Go/all.zip && atrium import osv --group ${uid} all.zip`],
    ['Invite others', <><Link to={groupAddress(names, uid, 'identities', { show: 'invites' })}>Invite people</Link>, and <Link to={pageAddress(names, 'access')}>give them roles</Link>. A <Link to={pageAddress(names, 'webhooks')}>webhook</Link> notifies other systems of new findings.</>],
  ];
  return (
    <ol className="steps">{steps.map(([title, about, command]) => (
      <li key={title}><b>{title}</b><p className="dim">{about}</p>{command && <div className="command"><code>{command}</code><CopyButton text={command} label={`Copy the command: ${title}`} /></div>}</li>
    ))}</ol>
  );
}

interface Concern { icon: IconName; title: string; detail: ReactNode; bad?: boolean; key: string }

function Concerns({ group, names }: { group: Group; names: string[] }) {
  const soon = Date.now() + soonDays * 86_400_000;
  const failing = group.subscriptions?.nodes.filter(({ failingSince, disableTime }) => failingSince || disableTime) ?? [];
  const expiring = group.invites?.nodes.filter(({ expirationTime }) => Date.parse(expirationTime) < soon) ?? [];
  const { unseen, deprecated, ending } = group, old = unseen?.nodes.filter(({ lastSeenTime, createTime }) => Date.parse(lastSeenTime ?? createTime) < Date.now() - unseenDays * 86_400_000) ?? [];
  const exploited = group.findingSummary?.open.knownExploited ?? 0, unknown = (group.findingSummary?.images ?? 0) - (group.findingSummary?.knownImages ?? 0);
  const concerns: Concern[] = [
    ...(exploited > 0 ? [{
      key: 'exploited', icon: 'findings' as const, bad: true, title: `${plural(exploited, 'open finding')} known to be exploited`,
      detail: <><Link to={groupAddress(names, group.uid, 'findings', { exploited: 'yes' })}>Look at {exploited === 1 ? 'it' : 'them'} first</Link>: attacks have been seen.</>,
    }] : []),
    ...(unknown > 0 ? [{
      key: 'unknown', icon: 'warning' as const, title: `${plural(unknown, 'image')} without an SBOM`,
      detail: <><Link to={groupAddress(names, group.uid, 'packages', { show: 'unknown' })}>What is wrong with {unknown === 1 ? 'it' : 'them'}</Link> is unknown, so no number here counts {unknown === 1 ? 'it' : 'them'}.</>,
    }] : []),
    ...failing.map(({ uid, sink, disableTime, disableReason, failingSince }) => ({
      key: uid, icon: 'warning' as const, bad: true, title: disableTime ? 'A webhook was disabled' : 'A webhook is failing',
      detail: <><Link to={groupAddress(names, group.uid, 'webhooks', { hook: uid })}>{sink.replace(/^https:\/\//, '')}</Link> {disableTime ? disableReason : <>since <Time at={failingSince!} /></>}</>,
    })),
    ...(old.length > 0 ? [{
      key: 'unseen', icon: 'person' as const, title: `Identities not seen for ${unseenDays} days`,
      detail: <><Link to={groupAddress(names, group.uid, 'identities', { unseen: 'yes', sort: 'unseen' })}>{old.slice(0, 3).map(({ name, lastSeenTime }) => `${name} (${lastSeenTime ? formatRelativeTime(lastSeenTime) : 'never'})`).join(', ')}</Link>{old.length > 3 && ' and others'}</>,
    }] : []),
    ...expiring.map(({ uid, email, expirationTime, role, group: to }) => ({
      key: uid, icon: 'key' as const, title: Date.parse(expirationTime) < Date.now() ? 'An invite has expired' : 'An invite expires soon',
      detail: <><Link to={groupAddress(names, group.uid, 'identities', { show: 'invites' })}>{email ?? 'Anyone with its code'}</Link> as {role?.name ?? 'a role'} in {to?.name ?? 'a group'}, <Time at={expirationTime} /></>,
    })),
    ...(ending && ending.totalCount > 0 ? [{
      key: 'ending', icon: 'key' as const, title: `${plural(ending.totalCount, 'role binding')} ${ending.totalCount === 1 ? 'ends' : 'end'} within ${endingDays} days`,
      detail: <><Link to={groupAddress(names, group.uid, 'access', { show: 'review', left: 'no', only: 'ending' })}>{ending.nodes.map(({ identity, role, expireTime }) => `${role?.name ?? 'a role'} of ${identity?.name ?? 'somebody'} (${formatRelativeTime(expireTime!)})`).join(', ')}</Link>{ending.totalCount > ending.nodes.length && ' and others'}</>,
    }] : []),
    ...(deprecated && deprecated.totalCount > 0 ? [{
      key: 'deprecated', icon: 'tag' as const, title: plural(deprecated.totalCount, 'deprecated tag'),
      detail: <>{deprecated.nodes.map((tag, i) => tag.repo && <span key={tag.uid}>{i > 0 && ', '}<Link to={repoAddress(namesOf(tag.repo.group), tag.repo, { tag: tag.name })}>{tag.repo.name}:{tag.name}</Link></span>)}{deprecated.totalCount > deprecated.nodes.length && ' and others'}</>,
    }] : []),
  ];
  const hidden = [!group.subscriptions && 'webhooks', !group.invites && 'invites', !unseen && 'identities', !deprecated && 'tags'].filter(Boolean);
  const unread = (group.subscriptions?.totalCount ?? 0) - (group.subscriptions?.nodes.length ?? 0);
  return (
    <>
      {concerns.length === 0 ? <Empty title="Nothing needs attention">There is no finding known to be exploited, no image without an SBOM, no failing webhook, no expiring invite or role binding, no unused identity and no deprecated tag{names.length > 1 ? ' below this group' : ''}.</Empty>
        : <ul className="concerns">{concerns.map(({ key, icon, title, detail, bad }) => <li key={key} className={bad ? 'bad' : ''}><Icon name={icon} /><div><b>{title}</b><p>{detail}</p></div></li>)}</ul>}
      {hidden.length > 0 && <NotShown what={hidden.join(', ')} />}
      {unread > 0 && <p className="dim note">Only the first {count(group.subscriptions!.nodes.length)} of {count(group.subscriptions!.totalCount)} webhooks are checked here.</p>}
    </>
  );
}

function LatestActivity({ uid, names, stored, loading, wide }: { uid: string; names: string[]; stored?: NonNullable<OverviewQuery['auditLog']>['nodes']; loading: boolean; wide: boolean }) {
  const { events, state } = useLive(uid, undefined, { paused: loading, after: stored?.[0]?.id });
  const all = joinEvents(events, stored).slice(0, 30);
  return (
    <Card title={<>Latest activity <span className="live" data-state={state} role="status">{state === 'live' ? 'live' : state === 'waiting' ? 'reconnecting' : ''}</span></>} aside={<Link to={pageAddress(names, 'activity')}>All activity</Link>} className={(wide ? 'wide-12' : 'wide-7') + ' roomy'}>
      {loading ? <Lines rows={7} height={36} /> : all.length > 0 ? <Events events={all} compact most={8} />
        : <Empty title="No activity yet">{stored ? 'Changes appear here as they happen.' : noHistoryText}</Empty>}
    </Card>
  );
}

function ChildGroups({ group, names }: { group: Group; names: string[] }) {
  const nodes = group.children?.nodes;
  if (!nodes) return <NotShown what="groups" />;
  if (nodes.length === 0) return <Empty title="No groups yet">A group contains repos and other groups. A role on a group also applies to everything below it. The guide explains the <a href="/guide/concepts">concepts</a>.</Empty>;
  const most = Math.max(...nodes.map(({ findingSummary }) => findingSummary?.open.total ?? 0), 1);
  return (
    <ul className="rows">{nodes.map((one) => (
      <li key={one.uid}><Link className="row-link" to={groupAddress([...names, one.name], one.uid)}>
        <span className="grow"><b>{one.name}</b>{one.description && <small>{one.description}</small>}</span>
        <span className="dim fixed">{one.repos && plural(one.repos.totalCount, 'repo')}</span><SeverityBar of={one.findingSummary} most={most} />
      </Link></li>
    ))}</ul>
  );
}
