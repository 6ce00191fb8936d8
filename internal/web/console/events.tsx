import { memo, useCallback, useState } from 'react';
import type { HappeningFragment } from './generated/graphql';
import { groupAddress } from './places';
import { Link } from './router';
import { Icon, namesOf, Time, type IconName } from './ui';
import { actorOf, count, formatTime, tellEvent } from './words';

const icons: [RegExp, IconName][] = [[/REPO/, 'repos'], [/TAG/, 'tag'], [/SUBSCRIPTION/, 'activity'], [/IDENTITY/, 'person'], [/ROLE|INVITE|TERMS|ISSUER/, 'key'], [/./, 'group']];

/** Returns the events whose details are open, and a function that opens or closes those of an event. */
export function useOpened(): [ReadonlySet<string>, (id: string) => void] {
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set<string>());
  return [opened, useCallback((id) => setOpened((old) => { const next = new Set(old); if (!next.delete(id)) next.add(id); return next; }), [])];
}

/** This list shows events as sentences. */
export function Events({ events, compact = false }: { events: HappeningFragment[]; compact?: boolean }) {
  const [opened, toggle] = useOpened();
  return <ol className={compact ? 'events compact' : 'events'}>{events.map((event) => <li key={event.id}><Happening event={event} compact={compact} open={opened.has(event.id)} onToggle={toggle} /></li>)}</ol>;
}

interface HappeningProps { event: HappeningFragment; compact?: boolean; open: boolean; onToggle: (id: string) => void }

/** This part shows an event as a sentence. The fields that an update changed open below the sentence. */
export const Happening = memo(({ event, compact, open, onToggle }: HappeningProps) => {
  const { verb, kind, name } = tellEvent(event), names = namesOf(event.groupNode), changes = event.changes ?? [];
  const more = !compact && (changes.length > 0 || event.denied !== null);
  return (
    <div className={event.denied !== null ? 'happening denied' : 'happening'}>
      <Icon name={icons.find(([pattern]) => pattern.test(event.kind ?? ''))?.[1] ?? 'activity'} />
      <div className="grow">
        <p><b>{actorOf(event)}</b> {event.denied !== null && <em>was not allowed to </em>}{verb} the {kind} {name ? <b>{name}</b> : event.resource ? '' : <span className="dim">that no longer exists</span>}
          {changes.length > 0 && <span className="dim"> · {changes.map(({ field }) => field).join(', ')}</span>}{event.count > 1 && <span className="chip">{count(event.count)} times</span>}</p>
        <p className="dim where">{names.length > 0 && event.groupNode && <><Link to={groupAddress(names, event.groupNode.uid)}>{names.join(' / ')}</Link> · </>}<Time at={event.time} />
          {more && <button type="button" className="link-button" aria-expanded={open} onClick={() => onToggle(event.id)}>{open ? 'Less' : changes.length > 0 ? 'Before and after' : 'Why'}</button>}</p>
        {open && <Details event={event} />}
      </div>
    </div>
  );
});

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
    </div>
  );
}
