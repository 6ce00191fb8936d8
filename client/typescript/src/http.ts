import { AtriumError, retryAfter } from './errors.js';

/**
 * Gives the bearer token of each request. It is asked again, once, with the token that the server has just refused (401), and
 * then returns another one. It must not ask a provider each time: keep the token, and renew it when it is refused or about to expire.
 */
export type TokenSource = (refused?: string) => string | Promise<string>;

/** How requests are sent. */
export interface SendOptions {
  /** A token, or a function that gives one. Without it, requests have no token. */
  token?: string | TokenSource;
  /** How often a request is sent at most. The default is 4; 1 means that nothing is sent again. */
  attempts?: number;
  /** What to use in place of the global fetch. */
  fetch?: (request: Request) => Promise<Response>;
  /** @internal Tests set it, so that they do not wait. */
  wait?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Sends a request. It may be repeated after an unknown outcome if it changes nothing, has an `Idempotency-Key`, or `repeatable` is true. */
export type Send = (request: Request, repeatable?: boolean) => Promise<Response>;

const firstPause = 200, longestPause = 10_000; // milliseconds
const longestDemand = 120; // seconds that a server may ask to wait; a request that must wait longer fails

/** How long to wait before an attempt, in milliseconds: longer with each one, and at random, so that not all clients come back at once. */
export function pause(attempt: number, least = 0): number {
  const most = Math.min(firstPause * 2 ** (attempt - 1), longestPause);
  return least * 1000 + most * (0.5 + Math.random() / 2);
}

/** Waits, unless the signal is aborted. */
export const wait = (milliseconds: number, signal: AbortSignal | undefined) => new Promise<void>((done, fail) => {
  const abort = () => { clearTimeout(timer); fail(signal?.reason); };
  const timer = setTimeout(() => { signal?.removeEventListener('abort', abort); done(); }, milliseconds);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
});

/** Returns a function that sends requests with a token, and again where that is safe. */
export function createSend(options: SendOptions): Send {
  const { token, attempts = 4 } = options, sleep = options.wait ?? wait;
  const send = options.fetch ?? ((request: Request) => fetch(request));
  // Requests that are refused at the same time share one renewal.
  const renewals = new Map<string, Promise<string>>();
  const bearer = (refused?: string) => {
    if (typeof token !== 'function') return token;
    if (refused === undefined) return token();
    let renewal = renewals.get(refused);
    if (!renewal) renewals.set(refused, renewal = Promise.resolve(token(refused)).finally(() => renewals.delete(refused)));
    return renewal;
  };

  return async (request, repeatable = false) => {
    const safe = repeatable || ['GET', 'HEAD'].includes(request.method) || request.headers.has('Idempotency-Key');
    let refused: string | undefined;
    for (let attempt = 1; ; attempt++) {
      const used = await bearer(refused), copy = request.clone();
      if (used) copy.headers.set('Authorization', `Bearer ${used}`);
      let response: Response | undefined, problem: unknown;
      try {
        response = await send(copy);
      } catch (caught) {
        if (request.signal.aborted) throw caught;
        problem = caught;
      }
      if (response?.status === 401 && used && refused === undefined && typeof token === 'function') {
        refused = used;
        attempt--;
        await response.body?.cancel();
        continue;
      }
      const demand = response && retryAfter(response);
      if (attempt >= attempts || !isTemporary(response, safe) || (demand ?? 0) > longestDemand) {
        if (response) return response;
        throw new AtriumError(`no answer from ${new URL(request.url).host}`, { code: 'UNAVAILABLE', cause: problem });
      }
      await response?.body?.cancel();
      await sleep(pause(attempt, demand), request.signal);
    }
  };
}

/**
 * Reports whether a request may be sent again after a response, or after none. With 429 and 503 and a time, the server says that it has
 * done nothing. Otherwise nobody knows whether a request was executed, and only a safe one is sent again.
 */
function isTemporary(response: Response | undefined, safe: boolean): boolean {
  if (!response) return safe;
  if (response.status === 429 || response.status === 503) return safe || response.headers.has('Retry-After');
  return safe && (response.status === 502 || response.status === 504);
}
