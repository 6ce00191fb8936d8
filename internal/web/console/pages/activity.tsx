import { useState, type ReactNode } from 'react';
import { rootOf } from '../access';
import { lastHeard, useData, useDaysAgo, usePages } from '../client';
import { Events, Happening, runKey, RunOfEvents, useBodies } from '../events';
import { Audit, AuditDays, AuditEvents, Latest, type AuditDaysQuery, type AuditEventsQuery, type AuditEventsQueryVariables, type AuditQuery, type AuditQueryVariables, type EventKind, type HappeningFragment, type RunFragment } from '../generated/graphql';
import { List, ListProblems, Toggles, useNarrow, useOpened, valuesOf } from '../list';
import { joinEvents, noHistoryText, useLive } from '../live';
import { PersonFilter } from '../person-filter';
import { narrow, useLocation } from '../router';
import { SaveRows, type Column } from '../table';
import { kindOf, topics } from '../topics';
import { Empty, Icon, Lines, namesOf, NotShown, Problems } from '../ui';
import { Views } from '../views';
import { actorOf, count, formatTime, longDayOf, plural, tellEvent, utcDayOf } from '../words';

/** This page shows what happens in a group now, and what happened before: the audit log also has refused requests. */
export function Activity({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation();
  const chosen = valuesOf(search, 'about').filter((one) => topics.some(({ value }) => value === one));
  const kinds = chosen.length > 0 ? topics.filter(({ value }) => chosen.includes(value)).flatMap((topic) => topic.types.map(kindOf)) : undefined;
  const live = search.get('show') !== 'log';
  return (
    <div className="page">
      <div className="title"><h1>Activity</h1></div>
      <p className="lead">What happens in {names.join(' / ')} and below</p>
      <div className="tabs" role="group" aria-label="What is shown">
        <button type="button" aria-pressed={live} onClick={() => narrow({ show: undefined, actor: undefined, subject: undefined, day: undefined, outcome: undefined })}>Live feed</button>
        <button type="button" aria-pressed={!live} onClick={() => narrow({ show: 'log' })}>Audit log</button>
      </div>
      <div className="filters"><Toggles label="About" chosen={chosen} onChange={(next) => narrow({ about: next.join(',') })} options={topics} /></div>
      {live ? <Feed key={JSON.stringify(kinds)} uid={uid} kinds={kinds} names={names} /> : <Log uid={uid} kinds={kinds} />}
    </div>
  );
}

function Feed({ uid, kinds, names }: { uid: string; kinds?: EventKind[]; names: string[] }) {
  const [paused, setPaused] = useState(false);
  const latest = useData(Latest, { uid, ...(kinds && { kinds }) }), stored = latest.data?.auditLog?.nodes;
  const loading = latest.loading && !latest.data; // The stream begins after the latest stored event.
  const { events: live, state } = useLive(uid, kinds, { paused: paused || loading, after: stored?.[0]?.id });
  const events = joinEvents(live, stored);
  return (
    <section className="card" aria-label="Live feed">
      <header>
        <span className="live" data-state={state} role="status">{{ opening: 'Connecting …', live: 'live', paused: paused ? 'Paused: new events appear when you resume' : 'Loading …', waiting: `The connection was lost.${lastHeard() ? ` This list is as of ${formatTime(new Date(lastHeard()).toISOString())}.` : ''} Reconnecting …`, refused: 'Your role does not let you see this feed' }[state]}</span>
        {state !== 'refused' && <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}><Icon name={paused ? 'play' : 'pause'} />{paused ? 'Resume' : 'Pause'}</button>}
      </header>
      {loading ? <Lines rows={8} height={38} /> : events.length > 0 ? <Events events={events} />
        : <Empty title="No activity yet">{stored ? `Changes in ${names.at(-1)} and below appear here as they happen.` : noHistoryText}</Empty>}
    </section>
  );
}

const outcomes = [{ value: 'done', name: 'Done' }, { value: 'refused', name: 'Refused' }];

// What a file has of each event. The names are those of now, and the log also has uids, which never change.
const fileColumns: Pick<Column<HappeningFragment>, 'label' | 'text'>[] = [
  { label: 'Time', text: ({ time }) => time }, { label: 'Actor', text: actorOf }, { label: 'What', text: (event) => `${event.denied === null ? '' : 'was not allowed to '}${tellEvent(event).verb} ${tellEvent(event).kind}` }, { label: 'Name', text: (event) => tellEvent(event).name },
  { label: 'Group', text: ({ group }) => namesOf(group).join('/') }, { label: 'Changed fields', text: ({ changes }) => (changes ?? []).map(({ field }) => field).join(' ') }, { label: 'Why it was refused', text: ({ denied }) => denied }, { label: 'Times', text: ({ count: n }) => n },
  { label: 'Type', text: ({ type }) => type }, { label: 'Resource UID', text: ({ subject }) => subject }, { label: 'Actor UID', text: ({ actor }) => actor.subject }, { label: 'Event', text: ({ id }) => id },
];

function Log({ uid, kinds }: { uid: string; kinds?: EventKind[] }) {
  const { search } = useLocation(), [outcome] = valuesOf(search, 'outcome'), actor = search.get('actor') ?? undefined, subject = search.get('subject') ?? undefined;
  const day = search.get('day') ?? undefined, since = day && !Number.isNaN(Date.parse(day)) ? day : undefined;
  const filters = {
    uid, ...(kinds && { kinds }), ...(actor && { actor }), ...(subject && { subject }), ...(outcome && { denied: outcome === 'refused' }),
    ...(since && { since, until: new Date(Date.parse(since) + 86_400_000).toISOString() }),
  };
  const variables: AuditQueryVariables = { ...filters, first: 20 };
  const list = usePages<AuditQuery, RunFragment, AuditQueryVariables>(Audit, variables, (data) => data.auditLogRuns, { first: 40 }, { longest: 20 });
  const chart = useData(AuditDays, { uid, from: useDaysAgo(29), ...(kinds && { kinds }) }), days = chart.data?.eventActivity; // A request of its own, so that none costs much.
  const { readAll } = useEvents({ ...filters, first: 50 }, true); // A file has every event.
  const { rows, loading, started } = list, [opened, toggle] = useOpened(), height = useNarrow() ? 86 : 64, bodies = useBodies(rows.filter(({ count: n }) => n === 1).map(({ newest }) => newest));
  const runs = rows.map((run, i) => ({ run, heading: i === 0 || longDayOf(rows[i - 1].newest.time) !== longDayOf(run.newest.time) ? longDayOf(run.newest.time) : undefined }));
  const refused = list.problems.some(({ code }) => code === 'PERMISSION_DENIED');
  let notice: ReactNode; // It replaces the events.
  if (refused) notice = <Empty title="Your role does not let you read the audit log">This needs the capability groups.update. The live feed shows what happens from now on.</Empty>;
  else if (list.problems.length > 0 && rows.length === 0) notice = <Problems loaded={list} />;
  else if (!started) notice = <Lines rows={8} height={38} />;
  else if (rows.length === 0 && !loading) notice = <Empty title="Nothing in the log">{outcome || actor || subject || kinds || since ? <>No event matches the filters. <button type="button" className="link-button" onClick={() => narrow({ about: undefined, outcome: undefined, actor: undefined, subject: undefined, day: undefined })}>Show everything</button></> : 'The audit log lists every change and every refused request. The operator configures how long it keeps them.'}</Empty>;
  return (
    <>
      {!refused && <section className="card days" aria-label="By day">{days ? <Days days={days} chosen={since} /> : chart.loading ? <div className="plot" /> : <NotShown what="these counts" />}</section>}
      {!refused && <div className="filters">
        <Toggles label="Outcome" chosen={outcome ? [outcome] : []} onChange={(next) => narrow({ outcome: next.at(-1) })} options={outcomes} />
        <Views page="log" />
        <SaveRows name="events" columns={fileColumns} readAll={readAll} disabled={started && rows.length === 0} />
        <PersonFilter label="By whom" nothing="By anybody" chosen={actor} root={rootOf(uid)} known={new Map(rows.map(({ newest }) => [newest.actor.subject, actorOf(newest)]))} onChange={(one) => narrow({ actor: one })} />
        {subject && <Toggles label="About what" chosen={['subject']} onChange={() => narrow({ subject: undefined })} options={[{ value: 'subject', name: `Only about ${(rows[0]?.newest.subject === subject && tellEvent(rows[0].newest).name) || 'one resource'} ×` }]} />}
        {since && <Toggles label="Day" chosen={['day']} onChange={() => narrow({ day: undefined })} options={[{ value: 'day', name: `Only ${utcDayOf(since)} ×` }]} />}
      </div>}
      <section aria-label="Audit log">
        {notice ? <div className="card">{notice}</div>
          : <List label="Events" rows={runs} keyOf={({ run }) => run.newest.id} height={height} busy={loading} end={() => { if (scrollY > 0) list.readMore(); }} render={({ heading, run: { newest, count: n, oldestTime } }) => <>{heading && <h2 className="day-heading">{heading}</h2>}
            {n === 1 ? <Happening event={newest} body={bodies.get(newest.id)} open={opened.has(newest.id)} onToggle={toggle} />
              : <RunOfEvents newest={newest} count={n} oldestTime={oldestTime} open={opened.has(runKey(newest))} onToggle={toggle}><EventsOfRun newest={newest} count={n} filters={filters} opened={opened} onToggle={toggle} /></RunOfEvents>}</>} />}
      </section>
      {!refused && <ListProblems list={list} />}
      {!notice && !list.stopped && <p className="end" aria-live="polite">{list.more ? <button type="button" onClick={list.readMore}>Show more</button> : rows.length > 20 ? `End of the log: ${plural(rows.reduce((sum, run) => sum + run.count, 0), 'event')}.` : ''}</p>}
    </>
  );
}

const useEvents = (variables: AuditEventsQueryVariables, pause = false) => usePages<AuditEventsQuery, HappeningFragment, AuditEventsQueryVariables>(AuditEvents, variables, (data) => data.auditLog, {}, { longest: 50, pause });

interface EventsOfRunProps { newest: HappeningFragment; count: number; filters: Omit<AuditEventsQueryVariables, 'first'>; opened: ReadonlySet<string>; onToggle: (id: string) => void }

/** This list has the events of a run, page by page: those that the log has after the newest, as many as the run has. */
function EventsOfRun({ newest, count: n, filters, opened, onToggle }: EventsOfRunProps) {
  const list = useEvents({ ...filters, after: newest.id, first: Math.min(n - 1, 50) }), events = [newest, ...list.rows].slice(0, n), bodies = useBodies(events);
  return (
    <>
      <ol className="folded">{events.map((event) => <li key={event.id}><Happening event={event} body={bodies.get(event.id)} open={opened.has(event.id)} onToggle={onToggle} /></li>)}
        {events.length < n && !list.stopped && <li className="dim note">{list.started && !list.loading ? <>{count(events.length)} of {count(n)} <button type="button" className="link-button" onClick={list.readMore}>Show more</button></> : 'Loading …'}</li>}</ol>
      <ListProblems list={list} />
    </>
  );
}

/** This chart has a bar for each day: changes that were made, and above them refused requests. A click selects the day. */
function Days({ days, chosen }: { days: NonNullable<AuditDaysQuery['eventActivity']>; chosen?: string }) {
  const most = Math.max(...days.map(({ made, refused }) => made + refused), 1);
  const made = days.reduce((sum, day) => sum + day.made, 0), refused = days.reduce((sum, day) => sum + day.refused, 0);
  return (
    <>
      <p className="legend-line"><span className="made"><i />{plural(made, 'change')}</span><span className="refused-ones"><i />{plural(refused, 'refused', 'refused')}</span><span className="dim">The last {days.length} days</span></p>
      <div className="day-bars">{days.map((day) => (
        <button key={day.time} type="button" title={`${utcDayOf(day.time)}: ${day.made} done, ${day.refused} refused`} aria-label={`${utcDayOf(day.time)}: ${day.made} done, ${day.refused} refused`} aria-pressed={chosen === day.time}
          disabled={day.made + day.refused === 0} onClick={() => narrow({ day: chosen === day.time ? undefined : day.time })}>
          <i className="refused-part" style={{ height: `${(day.refused / most) * 100}%` }} /><i className="made-part" style={{ height: `${(day.made / most) * 100}%` }} />
        </button>
      ))}</div>
      <details className="plot"><summary>As a table</summary><div className="scroll" tabIndex={0} role="region" aria-label="Changes by day, as a table"><table className="numbers"><thead><tr><th scope="col">Day</th><th scope="col">Changes</th><th scope="col">Refused</th></tr></thead>
        <tbody>{days.filter((day) => day.made + day.refused > 0).toReversed().map((day) => <tr key={day.time}><th scope="row">{utcDayOf(day.time)}</th><td>{count(day.made)}</td><td>{count(day.refused)}</td></tr>)}</tbody></table></div></details>
    </>
  );
}
