import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useClient } from 'urql';
import { hearers, useShownQuery } from './client';
import { Latest, Live, type EventKind, type HappeningFragment, type LatestQuery, type LiveSubscription } from './generated/graphql';
import { useSession } from './session';

const mostKept = 200;

/** This text says to readers who may not read the stored events why they see none. */
export const noHistoryText = 'Changes appear here from now on. To see earlier ones, you need the capability groups.update.';

const isHidden = () => document.visibilityState === 'hidden';
const isOffline = () => !navigator.onLine;
const watchOffline = (changed: () => void) => { for (const name of ['online', 'offline']) addEventListener(name, changed); return () => { for (const name of ['online', 'offline']) removeEventListener(name, changed); }; };
const watchHidden = (changed: () => void) => { document.addEventListener('visibilitychange', changed); return () => document.removeEventListener('visibilitychange', changed); };

/**
 * Returns what happens in a group from now on, the latest event first. If a stream ends, the next one starts after the last event
 * that arrived, so that no event is lost. While it is paused, there is no stream, and the next stream has the events of that time.
 * The same holds while nobody sees the tab: browsers open only six connections to a host without HTTP/2, so that with six such tabs
 * no page of this host would load.
 */
export function useLive(uid: string, kinds: EventKind[] | undefined, { paused = false, after }: { paused?: boolean; after?: string } = {}) {
  const client = useClient();
  const [events, setEvents] = useState<HappeningFragment[]>([]), [state, setState] = useState<'opening' | 'live' | 'waiting' | 'refused'>('opening');
  const { expired } = useSession(); // In an expired session the stream waits until the reader has signed in again.
  const last = useRef<string | null | undefined>(after), key = JSON.stringify([uid, kinds]);
  if (last.current === undefined && after) last.current = after;
  // A stream can be continued only after an event that the reader knows.
  const asleep = useSyncExternalStore(watchHidden, isHidden) && Boolean(last.current);
  const offline = useSyncExternalStore(watchOffline, isOffline);
  useEffect(() => setEvents([]), [key]);
  useEffect(() => {
    if (paused || asleep || expired || offline) return;
    let timer: ReturnType<typeof setTimeout> | undefined, ended = false, stop = () => {};
    const open = (tries: number) => {
      let failed = false;
      if (tries > 0) setState('waiting');
      const subscription = client.subscription<LiveSubscription>(Live, { uid, kinds, after: last.current } as never).subscribe(({ data, error, hasNext }) => {
        if (data?.events && data.events.id !== last.current) { // The last result of a stream repeats its last event.
          tries = 0;
          last.current = data.events.id;
          setEvents((old) => (old.some(({ id }) => id === data.events.id) ? old : [data.events, ...old].slice(0, mostKept)));
        }
        if ((error || hasNext === false) && !failed) {
          failed = true;
          const codes = error?.graphQLErrors.map(({ extensions }) => extensions?.code) ?? [];
          if (codes.includes('PERMISSION_DENIED') || codes.includes('NOT_FOUND')) setState('refused');
          else if (codes.includes('INVALID_ARGUMENT') && last.current) void readAgain().then((done) => reopen(done ? 0 : tries + 1));
          else if (codes.length === 0 && (!error || error.response?.ok)) reopen(0); // The stream has ended, for example with its token: the next one has a newer token.
          else reopen(tries + 1);
        }
      });
      stop = () => subscription.unsubscribe();
    };
    const reopen = (tries: number) => {
      if (ended) return;
      stop(); // For urql a stream that was refused is still open, and it would not request the same again.
      if (tries > 0) setState('waiting');
      timer = setTimeout(() => open(tries), Math.min(1000 * 2 ** Math.max(tries - 1, 0), 30_000));
    };
    // A database that was restored from a backup may lack the last event. The feed then continues after the latest that is stored.
    const readAgain = async () => {
      const { data } = await client.query<LatestQuery>(Latest, { uid, ...(kinds && { kinds }) } as never, { requestPolicy: 'network-only' }).toPromise();
      if (!data || ended) return false;
      const stored = data.auditLog?.nodes ?? [];
      last.current = stored[0]?.id ?? null; // The value null means that there is none, and that the last one of the page is forgotten.
      setEvents(stored);
      return true;
    };
    const hear = () => setState('live');
    hearers.add(hear);
    open(0);
    return () => { ended = true; hearers.delete(hear); clearTimeout(timer); stop(); };
  }, [client, key, paused, asleep, expired, offline]);
  useShownQuery(Live, { uid, ...(kinds && { kinds }) });
  return { events, state: paused ? 'paused' as const : expired || offline ? 'waiting' as const : state };
}

/** Returns the live events, and below them those that were stored before. */
export function joinEvents(live: HappeningFragment[], stored: HappeningFragment[] = []): HappeningFragment[] {
  const known = new Set(live.map(({ id }) => id));
  return [...live, ...stored.filter(({ id }) => !known.has(id))];
}
