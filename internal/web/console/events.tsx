import { memo, type ReactNode } from 'react';
import { useData } from './client';
import { Bodies, type HappeningFragment } from './generated/graphql';
import { useOpened } from './list';
import { groupAddress, repoAddress } from './places';
import { Link, narrow } from './router';
import { Icon, namesOf, Time, type IconName } from './ui';
import { actorOf, count, dayOf, formatTime, manyOf, tellEvent } from './words';

const icons: [RegExp, IconName][] = [[/FINDING/, 'findings'], [/REPO/, 'repos'], [/TAG/, 'tag'], [/SUBSCRIPTION/, 'activity'], [/IDENTITY/, 'person'], [/ROLE|INVITE|TERMS|ISSUER/, 'key'], [/./, 'group']];

/** Events that follow each other, of the same actor and kind: an import creates thousands of tags. */
interface Run { first: HappeningFragment; events: HappeningFragment[] }
const leastFolded = 3, mostShown = 50;

/** Joins events to runs. Two in a row stay apart. */
function foldEvents(events: HappeningFragment[]): Run[] {
  const runs: Run[] = [];
  const isLike = (a: HappeningFragment, b: HappeningFragment) => a.actor.subject === b.actor.subject && a.kind?.replace(/_BATCH$/, '') === b.kind?.replace(/_BATCH$/, '') && (a.denied === null) === (b.denied === null) && dayOf(a.time) === dayOf(b.time);
  for (const event of events) {
    const last = runs.at(-1);
    if (last && isLike(last.first, event)) last.events.push(event); else runs.push({ first: event, events: [event] });
  }
  return runs.flatMap((run) => (run.events.length < leastFolded ? run.events.map((event) => ({ first: event, events: [event] })) : [run]));
}

/** Returns the records of the events whose resource is gone, because they have its name, and of confirmed grants, because they have the note. Those of findings are long, and are left out. */
export function useBodies(events: HappeningFragment[]): ReadonlyMap<string, unknown> {
  const ids = events.filter(({ resource, kind }) => kind === 'IAM_ROLE_BINDING_CONFIRMED' || !resource && !kind?.startsWith('VULNERABILITIES')).map(({ id }) => id).slice(0, 200);
  const { data } = useData(Bodies, { ids }, { pause: ids.length === 0, fresh: false, keep: true });
  return new Map((data?.nodes ?? []).flatMap((node) => (node?.__typename === 'Event' ? [[node.id, node.body] as const] : [])));
}

/** This list shows events as sentences. */
export function Events({ events, compact = false, most }: { events: HappeningFragment[]; compact?: boolean; most?: number }) {
  const [opened, toggle] = useOpened('events'), runs = foldEvents(events).slice(0, most), bodies = useBodies(compact ? [] : runs.flatMap((run) => run.events.slice(0, mostShown))); // A compact list does without a request of its own.
  const happening = (event: HappeningFragment) => <Happening event={event} body={bodies.get(event.id)} compact={compact} open={opened.has(event.id)} onToggle={toggle} />;
  return (
    <ol className={compact ? 'events compact' : 'events'}>{runs.map(({ first, events: same }) => (
      <li key={first.id}>{same.length === 1 ? happening(first) : (
        <RunOfEvents newest={first} count={same.length} oldestTime={same.at(-1)!.time} groups={same.map(({ group }) => namesOf(group).join(' / '))} compact={compact} open={opened.has(runKey(first))} onToggle={toggle}>
          <ol className="folded">{same.slice(0, mostShown).map((event) => <li key={event.id}>{happening(event)}</li>)}{same.length > mostShown && <li className="dim note">and {count(same.length - mostShown)} more</li>}</ol>
        </RunOfEvents>)}</li>
    ))}</ol>
  );
}

/** Returns the key by which a run is open. Its newest event can be open by itself. */
export const runKey = (newest: HappeningFragment) => 'run ' + newest.id;

interface RunProps { newest: HappeningFragment; count: number; oldestTime: string; groups?: string[]; compact?: boolean; open: boolean; onToggle: (key: string) => void; children: ReactNode /* The events. */ }

/** This part tells of several events in one sentence, below which they open. */
export function RunOfEvents({ newest, count: n, oldestTime, groups = [], compact, open, onToggle, children }: RunProps) {
  const { verb } = tellEvent(newest), names = [...new Set(groups)].filter(Boolean);
  return (
    <>
      <div className={newest.denied !== null ? 'happening denied' : 'happening'}>
        <Icon name={iconOf(newest)} />
        <div className="grow">
          <p><b>{actorOf(newest)}</b> {newest.denied !== null && <em>was not allowed to </em>}{verb} {newest.kind?.startsWith('VULNERABILITIES') ? `findings of ${count(n)} images` : `${count(n)} ${manyOf(newest)}`}</p>
          <p className="dim where">{names.slice(0, 2).join(', ')}{names.length > 2 && ` and ${names.length - 2} more`}{names.length > 0 && ' · '}<Time at={oldestTime} />{formatTime(oldestTime) !== formatTime(newest.time) && <> to <Time at={newest.time} /></>}
            {!compact && <button type="button" className="link-button" aria-expanded={open} onClick={() => onToggle(runKey(newest))}>{open ? 'Less' : 'One by one'}</button>}</p>
        </div>
      </div>
      {open && children}
    </>
  );
}

interface HappeningProps { event: HappeningFragment; body?: unknown; compact?: boolean; open: boolean; onToggle: (id: string) => void }

const iconOf = (event: HappeningFragment) => icons.find(([pattern]) => pattern.test(event.kind ?? ''))?.[1] ?? 'activity';

/** This part shows an event as a sentence. The fields that an update changed open below the sentence. */
export const Happening = memo(({ event, body, compact, open, onToggle }: HappeningProps) => {
  const { verb, kind, name } = tellEvent(event, body), names = namesOf(event.group), note = (body as { reviewNote?: string } | undefined)?.reviewNote, changes = event.changes ?? [], to = addressOf(event);
  return (
    <div className={event.denied !== null ? 'happening denied' : 'happening'}>
      <Icon name={iconOf(event)} />
      <div className="grow">
        <p><b>{actorOf(event)}</b> {event.denied !== null && <em>was not allowed to </em>}{verb} {kind} {name ? to ? <Link to={to}><b>{name}</b></Link> : <b>{name}</b> : event.resource ? '' : <span className="dim">that no longer exists</span>}
          {changes.length > 0 && <span className="dim"> · {changes.map(({ field }) => field).join(', ')}</span>}{note && <span className="dim"> · {note}</span>}{event.count > 1 && <span className="chip">{count(event.count)} times</span>}</p>
        <p className="dim where">{names.length > 0 && event.group && <><Link to={groupAddress(names, event.group.uid)}>{names.join(' / ')}</Link> · </>}<Time at={event.time} />
          {!compact && <button type="button" className="link-button" aria-expanded={open} onClick={() => onToggle(event.id)}>{open ? 'Less' : changes.length > 0 ? 'Before and after' : event.denied !== null ? 'Why' : 'More'}</button>}</p>
        {open && <Details event={event} />}
      </div>
    </div>
  );
});

/** Returns where the resource of an event is, if it still exists. */
function addressOf({ resource, subject, group }: HappeningFragment): string | undefined {
  const names = namesOf(group);
  if (!resource || !group) return undefined;
  switch (resource.__typename) {
    case 'Group': return groupAddress(names, group.uid);
    case 'Repo': return repoAddress(names, { uid: subject, name: resource.name });
    case 'Tag': return resource.repo ? repoAddress(names, { uid: subject.slice(0, subject.lastIndexOf('/')), name: resource.repo.name }, { tag: resource.name }) : undefined;
    case 'Identity': return groupAddress(names, group.uid, 'access', { identity: subject });
    case 'Role': return groupAddress(names, group.uid, 'roles', { role: subject });
    case 'RoleBinding': return groupAddress(names, group.uid, 'access', { show: 'table' });
    case 'EventSubscription': return groupAddress(names, group.uid, 'webhooks', { hook: subject });
    case 'GroupInvite': return groupAddress(names, group.uid, 'identities', { show: 'invites' });
    case 'IdentityProvider': return groupAddress(names, group.uid, 'identities', { show: 'providers' });
    default: return undefined;
  }
}

const text = (value: unknown) => (value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 1));

function Details({ event }: { event: HappeningFragment }) {
  return (
    <div className="details">
      {event.denied !== null && <p>{event.denied || 'Permission denied'}</p>}
      {(event.changes ?? []).map(({ field, before, after }) => (
        <div key={field} className="change"><code>{field}</code>
          <div className="before"><span className="sr">Before: </span>{before == null ? <i>empty or secret</i> : <pre>{text(before)}</pre>}</div>
          <div className="after"><span className="sr">After: </span>{after == null ? <i>empty or secret</i> : <pre>{text(after)}</pre>}</div></div>
      ))}
      <dl><div><dt>When</dt><dd>{formatTime(event.time)}</dd></div><div><dt>Event</dt><dd><code>{event.id}</code></dd></div><div><dt>Resource</dt><dd><code>{event.subject}</code></dd></div><div><dt>By</dt><dd><code>{event.actor.subject}</code></dd></div></dl>
      <p className="further"><button type="button" onClick={() => narrow({ show: 'log', actor: event.actor.subject, subject: undefined })}>Everything by {actorOf(event)}</button><button type="button" onClick={() => narrow({ show: 'log', subject: event.subject, actor: undefined })}>Everything about this resource</button></p>
    </div>
  );
}
