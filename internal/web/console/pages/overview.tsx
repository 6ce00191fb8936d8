import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useData, useDaysAgo } from '../client';
import { Events } from '../events';
import { Overview as OverviewDocument, type OverviewQuery } from '../generated/graphql';
import { GroupActions } from '../group-forms';
import { joinEvents, noHistoryText, useLive } from '../live';
import { groupAddress, pageAddress, repoAddress } from '../places';
import { Link } from '../router';
import { Card, Empty, Icon, Lines, namesOf, NotShown, Problems, SeverityBar, Time, type IconName } from '../ui';
import { compact, count, formatRelativeTime, plural, ratings, sentence, utcDayOf } from '../words';

type Group = NonNullable<OverviewQuery['group']>;
const unseenDays = 90, soonDays = 14, plotDays = 52 * 7;

/** This page shows what is wrong with the images of a group, what is in it, what happened, and what needs attention. */
export function Overview({ uid, names }: { uid: string; names: string[] }) {
  const unseenSince = useDaysAgo(unseenDays), from = useDaysAgo(plotDays);
  const loaded = useData(OverviewDocument, { uid, unseenSince, from });
  const { data, loading } = loaded, group = data?.group;
  if (data && !group) return <div className="page"><Problems loaded={loaded} /></div>;
  if (!data && !loading) return <div className="page"><Problems loaded={loaded} /></div>;
  return (
    <div className="page">
      <div className="title"><h1>{names.at(-1)}</h1>{group?.status === 'SUSPENDED' && <span className="chip bad">Suspended</span>}{group?.verified && <span className="chip">Verified</span>}{group && <GroupActions group={group} names={names} />}</div>
      <p className="lead">{group ? group.description ?? (names.length === 1 ? 'Organisation' : 'No description') : ' '}</p>
      {loaded.old && <Problems loaded={loaded} />}
      <p className="told">{!group ? <i className="blank" /> : <Told group={group} names={names} />}</p>
      <Tiles group={group} names={names} />
      <div className="grid">
        <Card title="Open findings" aside={<Link to={pageAddress(names, 'findings')}>All findings</Link>} className="wide-5">
          {!group ? <Lines rows={4} /> : <OpenFindings group={group} names={names} />}
        </Card>
        <Card title="Worst repos" aside={<Link to={groupAddress(names, uid, 'repos', { sort: 'worst' })}>All repos</Link>} className="wide-7">
          {!group ? <Lines rows={5} height={30} /> : <WorstRepos group={group} names={names} />}
        </Card>
        <Card title="Needs attention" className="wide-5">{!group ? <Lines rows={4} height={34} /> : <Concerns group={group} names={names} />}</Card>
        <LatestActivity uid={uid} names={names} stored={data?.auditLog?.nodes} loading={!data} />
        {(!group || names.length === 1 || (group.children?.totalCount ?? 0) > 0) && <Card title="Groups in this group" aside={group?.children && group.children.totalCount > group.children.nodes.length ? <span className="dim">The first {group.children.nodes.length} of {count(group.children.totalCount)}</span> : undefined} className="wide-12">
          {!group ? <Lines rows={3} height={34} /> : <ChildGroups group={group} names={names} />}
        </Card>}
        <Card title="What feeds hold" aside={<Link to={pageAddress(names, 'advisories')}>All advisories</Link>} className="wide-12">
          {!data ? <Lines rows={1} height={170} /> : data.advisoryActivity ? <Plot weeks={data.advisoryActivity} /> : <NotShown what="advisories" />}
          {group?.advisorySummary && <p className="dim footnote">The feeds here hold {plural(group.advisorySummary.open.total, 'open advisory', 'open advisories')}, {count(group.advisorySummary.fixed.total)} that are fixed, and {count(group.advisorySummary.notAffected.total)} by which nothing is affected, whether or not an image has the package. All other numbers of this page are those of findings: of images to which a tag points that is not deprecated.</p>}
        </Card>
      </div>
    </div>
  );
}

/** This sentence says how it stands with the images. Each number leads to what it counts. */
function Told({ group, names }: { group: Group; names: string[] }) {
  const { findingSummary: summary, repos } = group;
  if (!summary) return <span className="dim">Your role does not let you see findings.</span>;
  const { open, accepted, affectedRepos } = summary, of = repos ? ` of ${plural(repos.totalCount, 'repo')}` : affectedRepos === 1 ? ' repo' : ' repos';
  if (open.total === 0) return <>No open finding{repos && <> in {plural(repos.totalCount, 'repo')}</>}{accepted.total > 0 && <>, {count(accepted.total)} accepted</>}.</>;
  const to = (search: Record<string, string>) => groupAddress(names, group.uid, 'findings', search);
  return (
    <><Link to={groupAddress(names, group.uid, 'repos', { sort: 'worst' })}><b>{count(affectedRepos)}</b>{of} affected</Link>, <Link to={to({})}><b>{count(open.total)}</b> open {open.total === 1 ? 'finding' : 'findings'}</Link>
      {open.critical > 0 && <>, <Link to={to({ severity: 'CRITICAL' })}><b>{count(open.critical)}</b> critical</Link></>}, <Link to={to({ show: 'fixable' })}><b>{count(open.fixable)}</b> fixable</Link>.</>
  );
}

function WorstRepos({ group, names }: { group: Group; names: string[] }) {
  const rows = group.worst?.nodes.filter(({ findingSummary }) => (findingSummary?.open.total ?? 0) > 0);
  if (!rows) return <NotShown what="repos with their findings" />;
  if (rows.length === 0) return <Empty title="No repo is affected">Repos with open findings appear here, the worst first.</Empty>;
  const most = Math.max(...rows.map(({ findingSummary }) => findingSummary!.open.total));
  return (
    <ul className="rows">{rows.map((repo) => (
      <li key={repo.uid}><Link className="row-link" to={repoAddress(namesOf(repo.group), repo, { tab: 'findings' })}>
        <span className="grow"><b>{repo.name}</b><small>{namesOf(repo.group).slice(names.length - 1).join(' / ')}</small></span>
        <span className="dim fixed">{repo.findingSummary!.open.fixable > 0 && `${count(repo.findingSummary!.open.fixable)} fixable`}</span><SeverityBar counts={repo.findingSummary!.open} most={most} />
      </Link></li>
    ))}</ul>
  );
}

function Tiles({ group, names }: { group?: Group | null; names: string[] }) {
  const tiles: [string, number | undefined, string | undefined][] = [
    ['Groups', group?.descendants?.totalCount, undefined], ['Repos', group?.repos?.totalCount, 'repos'], ['Tags', group?.tags?.totalCount, undefined],
    ['Identities', group?.identities?.totalCount, 'identities'], ['Bindings', group?.roleBindings?.totalCount, undefined], ['Webhooks', group?.subscriptions?.totalCount, 'webhooks'],
  ];
  return (
    <ul className="tiles">{tiles.map(([label, n, view]) => {
      const content = <><span>{label}</span><b title={n === undefined ? undefined : count(n)}>{!group ? <i className="blank" /> : n === undefined ? <span title={`Your role does not include ${label.toLowerCase()}`}>–</span> : compact(n)}</b></>;
      return <li key={label}>{view ? <Link to={pageAddress(names, view)}>{content}</Link> : <div>{content}</div>}</li>;
    })}</ul>
  );
}

function OpenFindings({ group, names }: { group: Group; names: string[] }) {
  const summary = group.findingSummary;
  if (!summary) return <NotShown what="findings" />;
  const { open, accepted, notAffected } = summary;
  if (open.total + accepted.total + notAffected.total === 0) return <Empty title="No findings">Findings come from what images hold, and from advisories about it: see <a href="/guide/importing">importing</a>.</Empty>;
  const shown = ratings.map((rating) => ({ rating, n: open[rating.toLowerCase() as 'critical'] })).filter(({ rating, n }) => n > 0 || !['NONE', 'UNKNOWN'].includes(rating));
  return (
    <>
      <p className="big"><b>{count(open.total)}</b> open<span className="dim">{count(open.fixable)} fixable · {count(accepted.total)} accepted · {count(notAffected.total)} not affected</span></p>
      {open.total > 0 && <div className="severity-bar large" aria-hidden="true"><span className="track"><span className="fill">{shown.map(({ rating, n }) => n > 0 && <i key={rating} className={rating.toLowerCase()} style={{ flexGrow: n }} />)}</span></span></div>}
      <ul className="legend">{shown.map(({ rating, n }) => (
        <li key={rating}><Link to={groupAddress(names, group.uid, 'findings', { severity: rating })} className={'severity ' + rating.toLowerCase()}><i />{sentence(rating)}<b>{count(n)}</b></Link></li>
      ))}</ul>
    </>
  );
}

/** This chart has two bars for each week: the advisories that became known, and beside them those that were fixed. */
function Plot({ weeks }: { weeks: NonNullable<OverviewQuery['advisoryActivity']> }) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0), [chosen, setChosen] = useState<number>();
  useEffect(() => {
    const observer = new ResizeObserver(([{ contentRect }]) => setWidth(contentRect.width));
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  const opened = weeks.reduce((sum, week) => sum + week.opened, 0), fixed = weeks.reduce((sum, week) => sum + week.fixed, 0);
  const most = niceTop(Math.max(...weeks.map((week) => Math.max(week.opened, week.fixed)), 1));
  const height = 150, left = 8 + String(count(most)).length * 7, step = (width - left) / weeks.length, bar = Math.max(Math.min(step * 0.38, 9), 1.2);
  const y = (n: number) => height - 20 - (n / most) * (height - 30);
  const months = weeks.flatMap(({ time }, i) => (i > 0 && new Date(time).getUTCMonth() !== new Date(weeks[i - 1].time).getUTCMonth() ? [{ i, name: new Date(time).toLocaleDateString('en', { month: 'short', timeZone: 'UTC' }) }] : []));
  const every = width < 420 ? 2 : 1;
  return (
    <div className="plot" ref={frame}>
      <p className="legend-line"><span className="opened"><i />{plural(opened, 'opened', 'opened')}</span><span className="fixed"><i />{plural(fixed, 'fixed', 'fixed')}</span>
        <span className="dim" aria-hidden="true">{chosen !== undefined ? `Week of ${utcDayOf(weeks[chosen].time)}: ${weeks[chosen].opened} opened, ${weeks[chosen].fixed} fixed` : 'The last 52 weeks'}</span></p>
      <svg width={Math.max(width, 1)} height={height} role="img" aria-label={`In the last 52 weeks ${opened} advisories became known and ${fixed} were fixed.`} onPointerLeave={() => setChosen(undefined)}
        onPointerMove={({ clientX, currentTarget }) => { const i = Math.floor((clientX - currentTarget.getBoundingClientRect().left - left) / step); setChosen(weeks[i] ? i : undefined); }}>
        {[0, most / 2, most].filter((n) => Number.isInteger(n)).map((n) => <g key={n} className="axis"><line x1={left} x2={width} y1={y(n)} y2={y(n)} /><text x={left - 6} y={y(n) + 4} textAnchor="end">{count(n)}</text></g>)}
        {chosen !== undefined && <rect className="chosen" x={left + chosen * step} y={4} width={step} height={height - 24} />}
        {weeks.map((week, i) => {
          const x = left + i * step + step / 2;
          return <g key={i}>{week.opened > 0 && <rect className="opened" x={x - bar - 0.5} y={y(week.opened)} width={bar} height={height - 20 - y(week.opened)} rx={1} />}
            {week.fixed > 0 && <rect className="fixed" x={x + 0.5} y={y(week.fixed)} width={bar} height={height - 20 - y(week.fixed)} rx={1} />}</g>;
        })}
        {months.filter((_, i) => i % every === 0).map(({ i, name }) => <text key={i} className="month" x={left + i * step} y={height - 4}>{name}</text>)}
      </svg>
    </div>
  );
}

function niceTop(n: number): number {
  const unit = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 4, 5, 10].map((factor) => factor * unit).find((top) => top >= n)!;
}

interface Concern { icon: IconName; title: string; detail: ReactNode; bad?: boolean; key: string }

function Concerns({ group, names }: { group: Group; names: string[] }) {
  const soon = Date.now() + soonDays * 86_400_000;
  const failing = group.subscriptions?.nodes.filter(({ failingSince, disableTime }) => failingSince || disableTime) ?? [];
  const expiring = group.invites?.nodes.filter(({ expirationTime }) => Date.parse(expirationTime) < soon) ?? [];
  const { unseen, deprecated } = group, old = unseen?.nodes.filter(({ createTime }) => Date.parse(createTime) < Date.now() - unseenDays * 86_400_000) ?? [];
  const concerns: Concern[] = [
    ...failing.map(({ uid, sink, disableTime, disableReason, failingSince }) => ({
      key: uid, icon: 'warning' as const, bad: true, title: disableTime ? 'A webhook was disabled' : 'A webhook fails',
      detail: <><Link to={groupAddress(names, group.uid, 'webhooks', { hook: uid })}>{sink.replace(/^https:\/\//, '')}</Link> {disableTime ? disableReason : <>since <Time at={failingSince!} /></>}</>,
    })),
    ...(unseen && old.length > 0 ? [{
      key: 'unseen', icon: 'person' as const, title: `${plural(unseen.totalCount, 'identity', 'identities')} not seen for ${unseenDays} days`,
      detail: <><Link to={groupAddress(names, group.uid, 'identities', { unseen: 'yes', sort: 'unseen' })}>{old.map(({ name, lastSeenTime }) => `${name} (${lastSeenTime ? formatRelativeTime(lastSeenTime) : 'never'})`).join(', ')}</Link>{unseen.totalCount > old.length && ' and others'}</>,
    }] : []),
    ...expiring.map(({ uid, email, expirationTime, role, group: to }) => ({
      key: uid, icon: 'key' as const, title: Date.parse(expirationTime) < Date.now() ? 'An invite has expired' : 'An invite expires soon',
      detail: <><Link to={groupAddress(names, group.uid, 'identities', { show: 'invites' })}>{email ?? 'Anyone with its code'}</Link> as {role?.name ?? 'a role'} in {to?.name ?? 'a group'}, <Time at={expirationTime} /></>,
    })),
    ...(deprecated && deprecated.totalCount > 0 ? [{
      key: 'deprecated', icon: 'tag' as const, title: `${plural(deprecated.totalCount, 'tag')} past end of life`,
      detail: <>{deprecated.nodes.map((tag, i) => tag.repo && <span key={tag.uid}>{i > 0 && ', '}<Link to={repoAddress(namesOf(tag.repo.group), tag.repo, { tag: tag.name })}>{tag.repo.name}:{tag.name}</Link></span>)}{deprecated.totalCount > deprecated.nodes.length && ' and others'}</>,
    }] : []),
  ];
  const hidden = [!group.subscriptions && 'webhooks', !group.invites && 'invites', !unseen && 'identities', !deprecated && 'tags'].filter(Boolean);
  const unread = (group.subscriptions?.totalCount ?? 0) - (group.subscriptions?.nodes.length ?? 0);
  return (
    <>
      {concerns.length === 0 ? <Empty title="Nothing needs attention">There is no failing webhook, no expiring invite, no unused identity and no tag past its end of life{names.length > 1 ? ' below this group' : ''}.</Empty>
        : <ul className="concerns">{concerns.map(({ key, icon, title, detail, bad }) => <li key={key} className={bad ? 'bad' : ''}><Icon name={icon} /><div><b>{title}</b><p>{detail}</p></div></li>)}</ul>}
      {hidden.length > 0 && <NotShown what={hidden.join(', ')} />}
      {unread > 0 && <p className="dim note">Of the {count(group.subscriptions!.totalCount)} webhooks only the first {count(group.subscriptions!.nodes.length)} are considered here.</p>}
    </>
  );
}

function LatestActivity({ uid, names, stored, loading }: { uid: string; names: string[]; stored?: NonNullable<OverviewQuery['auditLog']>['nodes']; loading: boolean }) {
  const { events, state } = useLive(uid, undefined, { paused: loading, after: stored?.[0]?.id });
  const all = joinEvents(events, stored).slice(0, 8);
  return (
    <Card title={<>Latest activity <span className={'live ' + state} role="status">{state === 'live' ? 'live' : state === 'waiting' ? 'reconnecting' : ''}</span></>} aside={<Link to={pageAddress(names, 'activity')}>All activity</Link>} className="wide-7">
      {loading ? <Lines rows={6} height={34} /> : all.length > 0 ? <Events events={all} compact />
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
        <span className="dim fixed">{one.repos && plural(one.repos.totalCount, 'repo')}</span><SeverityBar counts={one.findingSummary?.open} most={most} />
      </Link></li>
    ))}</ul>
  );
}
