import { AtriumError, errorOfGraph, errorOfResponse, type GraphQLErrorItem } from './errors.js';
import { pause, type Send, wait } from './http.js';

/** How live events are read. */
export interface LiveOptions {
  /** Ends the events when it is aborted. */
  signal?: AbortSignal;
  /** Is called when the connection is open (true), and when it is lost and will be made again, with the reason if there is one. */
  onConnection?: (open: boolean, problem?: unknown) => void;
  /** How long a connection may be silent until it counts as lost, in milliseconds. The server sends something every 12 s. The default is 45 s. */
  silence?: number;
  /** @internal Tests set it, so that they do not wait. */
  wait?: typeof wait;
}

/** A connection that is lost, so that it is made again. */
class Lost extends Error {}

/**
 * Yields the results of a subscription to events, which has a variable `$after` and selects the `id` of the event. It goes on after the last
 * event that it has yielded whenever the connection breaks, so that none is lost or repeated, until the caller ends it or the server
 * refuses it.
 */
export async function* follow<Data>(
  send: Send, url: string, query: string, variables: Record<string, unknown>, options: LiveOptions,
): AsyncGenerator<Data, void, undefined> {
  const { signal, silence = 45_000 } = options, sleep = options.wait ?? wait;
  let { after } = variables;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const connection = new AbortController(), abort = () => connection.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const response = await send(new Request(url, {
        method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' }, signal: connection.signal,
        body: JSON.stringify({ query, variables: { ...variables, after } }),
      }));
      if (!response.ok || !response.body) throw await errorOfResponse(response);
      options.onConnection?.(true);
      for await (const { name, data } of readEvents(response.body, silence)) {
        if (name === 'alive') attempt = 1;
        if (name === 'complete') return;
        if (name !== 'next') continue;
        const result = JSON.parse(data) as { data?: Record<string, { id?: string } | null> | null; errors?: GraphQLErrorItem[] };
        if (result.errors?.length) throw errorOfGraph(result.errors, result.data, response);
        const id = Object.values(result.data ?? {})[0]?.id;
        if (!id) throw new TypeError('the subscription must select the id of the event, by which it is resumed');
        after = id;
        attempt = 1;
        yield result.data as Data;
      }
      throw new Lost('the connection has ended');
    } catch (problem) {
      signal?.throwIfAborted();
      if (!(problem instanceof Lost) && !isPassing(problem)) throw problem;
      options.onConnection?.(false, problem);
      await sleep(pause(attempt, problem instanceof AtriumError ? problem.retryAfter : 0), signal);
    } finally {
      signal?.removeEventListener('abort', abort);
      connection.abort();
    }
  }
}

/** Reports whether the server may accept the same subscription a little later. */
const isPassing = (problem: unknown) =>
  problem instanceof AtriumError && (['UNAVAILABLE', 'DEADLINE_EXCEEDED'].includes(problem.code) || problem.status === 429);

/** Reads server-sent events. A comment that shows that the connection is alive is the event `alive`. */
async function* readEvents(body: ReadableStream<Uint8Array>, silence: number): AsyncGenerator<{ name: string; data: string }> {
  const reader = body.getReader(), decoder = new TextDecoder();
  let rest = '', name = '', opened = false, data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await readSoon(reader, silence);
      if (done) return; // An event that is not complete is left out.
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { name, data: data.join('\n') };
          name = '';
          data = [];
        } else if (line === ':') {
          if (opened) yield { name: 'alive', data: '' };
          opened = true; // The first comment only opens the stream.
        } else if (line.startsWith('event:')) {
          name = line.slice(6).trim();
        } else if (line.startsWith('data:')) {
          data.push(line.slice(5).replace(/^ /, ''));
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads a part, which must come before the connection was silent for too long. */
async function readSoon(reader: ReadableStreamDefaultReader<Uint8Array>, silence: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, fail) => { timer = setTimeout(() => fail(new Lost(`nothing came for ${silence} ms`)), silence); });
  try {
    return await Promise.race([reader.read(), late]);
  } catch (problem) {
    throw problem instanceof Lost ? problem : new Lost('the connection broke', { cause: problem });
  } finally {
    clearTimeout(timer);
  }
}
