import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { useShownQuery } from './client';
import { Live, type HappeningFragment, type LiveSubscription } from './generated/graphql';

const mostKept = 200;

/** This text tells readers who may not read the stored events why they see none. */
export const noHistoryText = 'Changes appear here from now on. Only people who may change the group can see earlier ones.';

/**
 * Returns what happens in a group from now on, the latest event first. If a stream ends, the next one starts after the last event
 * that arrived, so that no event is lost. While it is paused, there is no stream, and the next stream has the events of that time.
 */
export function useLive(uid: string, types: string[] | undefined, { paused = false, after }: { paused?: boolean; after?: string } = {}) {
  const client = useClient();
  const [events, setEvents] = useState<HappeningFragment[]>([]), [state, setState] = useState<'live' | 'waiting' | 'refused'>('live');
  const last = useRef<string | undefined>(after), key = JSON.stringify([uid, types]);
  if (last.current === undefined && after) last.current = after;
  useEffect(() => setEvents([]), [key]);
  useEffect(() => {
    if (paused) return;
    let timer: ReturnType<typeof setTimeout> | undefined, ended = false, stop = () => {};
    const open = (tries: number) => {
      let failed = false;
      setState(tries === 0 ? 'live' : 'waiting');
      const retry = () => { if (!ended) timer = setTimeout(() => open(tries + 1), Math.min(1000 * 2 ** tries, 30_000)); };
      const subscription = client.subscription<LiveSubscription>(Live, { uid, types, after: last.current } as never).subscribe(({ data, error, hasNext }) => {
        if (data?.events) {
          tries = 0;
          last.current = data.events.id;
          setState('live');
          setEvents((old) => (old.some(({ id }) => id === data.events.id) ? old : [data.events, ...old].slice(0, mostKept)));
        } else if (error?.graphQLErrors.some(({ extensions }) => ['PERMISSION_DENIED', 'NOT_FOUND', 'INVALID_ARGUMENT'].includes(String(extensions?.code)))) {
          setState('refused');
          failed = true;
        } else if ((error || hasNext === false) && !failed) {
          failed = true;
          setState('waiting');
          retry();
        }
      });
      stop = () => subscription.unsubscribe();
    };
    open(0);
    return () => { ended = true; clearTimeout(timer); stop(); };
  }, [client, key, paused]);
  useShownQuery(Live, { uid, ...(types && { types }) });
  return { events, state: paused ? 'paused' as const : state };
}

/** Returns the live events, and below them those that were stored before. */
export function joinEvents(live: HappeningFragment[], stored: HappeningFragment[] = []): HappeningFragment[] {
  const known = new Set(live.map(({ id }) => id));
  return [...live, ...stored.filter(({ id }) => !known.has(id))];
}
