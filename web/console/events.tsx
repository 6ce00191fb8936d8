import { useState } from 'react';
import type { HappeningFragment } from './generated/graphql';
import { groupAddress } from './places';
import { Link } from './router';
import { Icon, namesOf, Time, type IconName } from './ui';
import { actorOf, count, formatTime, tellEvent } from './words';

const icons: [RegExp, IconName][] = [[/REPO/, 'repos'], [/TAG/, 'tag'], [/SUBSCRIPTION/, 'activity'], [/IDENTITY/, 'person'], [/ROLE|INVITE|TERMS|ISSUER/, 'key'], [/./, 'group']];

/** This list shows events as sentences. The fields that an update changed open below its sentence. */
export const Events = ({ events, compact = false }: { events: HappeningFragment[]; compact?: boolean }) => (
  <ol className={compact ? 'events compact' : 'events'}>{events.map((event) => <Happening key={event.id} event={event} compact={compact} />)}</ol>
);

function Happening({ event, compact }: { event: HappeningFragment; compact: boolean }) {
  const [open, setOpen] = useState(false);
  const { verb, kind, name } = tellEvent(event), names = namesOf(event.groupNode), changes = event.changes ?? [];
  const more = !compact && (changes.length > 0 || event.denied !== null);
  return (
    <li className={event.denied !== null ? 'denied' : ''}>
      <Icon name={icons.find(([pattern]) => pattern.test(event.kind ?? ''))?.[1] ?? 'activity'} />
      <div className="grow">
        <p><b>{actorOf(event)}</b> {event.denied !== null && <em>was not allowed to </em>}{verb} the {kind} {name ? <b>{name}</b> : event.resource ? '' : <span className="dim">that no longer exists</span>}
          {changes.length > 0 && <span className="dim"> · {changes.map(({ field }) => field).join(', ')}</span>}{event.count > 1 && <span className="chip">{count(event.count)} times</span>}</p>
        <p className="dim where">{names.length > 0 && event.groupNode && <><Link to={groupAddress(names, event.groupNode.uid)}>{names.join(' / ')}</Link> · </>}<Time at={event.time} />
          {more && <button type="button" className="link-button" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Less' : changes.length > 0 ? 'Before and after' : 'Why'}</button>}</p>
        {open && <Details event={event} />}
      </div>
    </li>
  );
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
    </div>
  );
}
