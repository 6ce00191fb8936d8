// This file sends the requests of the console to the GraphQL endpoint. All data that the console shows passes through here.

import { cacheExchange, Client, fetchExchange, type CombinedError, type OperationResult } from '@urql/core';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useClient, useQuery } from 'urql';
import type { TypedDocument } from './generated/graphql';
import { forgetPlaces } from './known';
import { useLocation } from './router';
import { refuseToken, tokenOf } from './session';
import { settings } from './settings';

/** Makes a client for one person, and forgets the stored answers to others. Each request has the token of the time when it is sent. */
export function makeClient(person: number): Client {
  keptPages.clear();
  forgetPlaces();
  const send = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const token = tokenOf(person);
    const response = await fetch(input, { ...init, headers: { ...init?.headers as Record<string, string>, Authorization: 'Bearer ' + token } });
    if (response.status !== 401) return watchStream(response);
    await refuseToken(token);
    // The server did nothing for the refused token, so the request can be sent again with a token that was renewed.
    return [token, ''].includes(tokenOf(person)) ? response : send(input, init);
  };
  return new Client({
    url: settings.endpoint,
    preferGetMethod: false,
    fetchSubscriptions: true,
    fetch: send,
    exchanges: [cacheExchange, fetchExchange],
  });
}

/** On a stream the server writes at least a comment every 12 s. One that is silent for longer ends here, so that it is opened again. */
const longestSilence = 30_000;
let heard = 0;
/** Returns when a stream last brought anything. */
export const lastHeard = () => heard;
/** These are called whenever a stream brings anything. */
export const hearers = new Set<() => void>();

function watchStream(response: Response): Response {
  if (!response.body || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) return response;
  let timer: ReturnType<typeof setTimeout>;
  const listen = (to: TransformStreamDefaultController) => {
    clearTimeout(timer);
    heard = Date.now();
    for (const hear of hearers) hear();
    timer = setTimeout(() => to.error(new Error('the stream is silent')), longestSilence);
  };
  const watched = new TransformStream<Uint8Array, Uint8Array>({ start: listen, transform: (chunk, to) => { listen(to); to.enqueue(chunk); }, flush: () => clearTimeout(timer) });
  return new Response(response.body.pipeThrough(watched), response);
}

/** This is one of the requests that made the current page. */
export interface ShownRequest { name: string; text: string; variables: object; cost?: number }

let asked: ShownRequest[] = [];
const watchers = new Set<() => void>();

function publish(next: ShownRequest[]) {
  asked = next;
  for (const watcher of watchers) watcher();
}

export const useShownRequests = () => useSyncExternalStore((watcher) => { watchers.add(watcher); return () => watchers.delete(watcher); }, () => asked);

const costOf = (extensions?: Record<string, { requested?: number }>) => extensions?.cost?.requested;
export const nameOf = (text: string) => text.match(/^\w+ (\w+)/)?.[1] ?? 'Query';

/** Lists a request in "Show the query" as long as the component that needs it is mounted. */
export function useShownQuery(text: string, variables: object, cost?: number, shown = true) {
  const key = JSON.stringify(variables);
  useEffect(() => {
    if (!shown) return;
    const entry = { name: nameOf(text), text, variables, cost };
    publish([...asked, entry]);
    return () => publish(asked.filter((one) => one !== entry));
  }, [text, key, cost, shown]);
}

/** What is wrong with a field of what was sent, as FieldViolation of the schema has it. The generated types have only what documents ask for. */
interface Violation { path: (string | number)[]; message: string }
export interface Problem { code: string; message: string; path: string; violations: Violation[] }

/** Returns what went wrong, in words for the reader. */
export function problemsOf(error?: CombinedError): Problem[] {
  if (!error) return [];
  if (error.response?.status === 401) return [{ code: 'UNAUTHENTICATED', message: 'Your session has expired.', path: '', violations: [] }];
  if (error.networkError) return [{ code: 'UNAVAILABLE', message: 'The server cannot be reached. Check your connection, then try again.', path: '', violations: [] }];
  return error.graphQLErrors.map(({ message, path, extensions }) => ({
    code: String(extensions?.code ?? ''), message, path: (path ?? []).join('.'),
    violations: (extensions?.fields ?? []) as Violation[],
  }));
}

let changed = 0, returns = 0;
const changeWatchers = new Set<() => void>();
/** Returns how many changes the reader has made. Lists that are read page by page are read again after each change. */
export const useChanged = () => useSyncExternalStore((watcher) => { changeWatchers.add(watcher); return () => changeWatchers.delete(watcher); }, () => changed);

let seen = Date.now();
const staleAfter = 30_000;
// A tab to which the reader comes back shows what is true now: like a change, this requests everything again that is shown.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') { seen = Date.now(); return; }
  if (Date.now() - seen >= staleAfter) requestAgain();
});
/** Requests everything again that is shown. */
export function requestAgain() {
  keptPages.clear();
  changed++;
  returns++;
  for (const watcher of changeWatchers) watcher();
}
const useReturned = () => useSyncExternalStore((watcher) => { changeWatchers.add(watcher); return () => changeWatchers.delete(watcher); }, () => returns);

/** An outcome has the data of a change that was made, or else the problems. */
export interface Outcome<Data> { data?: Data; problems: Problem[] }

/**
 * Returns a function that makes changes. After a change, the console immediately requests again what it shows of the types in the
 * answer and of the affected types. The affected types are needed because the answer to a deletion contains no types.
 */
export function useChange<Data, Input>(document: TypedDocument<Data, { input: Input }>, affects: string[] = []): { run: (input: Input) => Promise<Outcome<Data>>; busy: boolean } {
  const client = useClient(), [busy, setBusy] = useState(false);
  const run = async (input: Input): Promise<Outcome<Data>> => {
    setBusy(true);
    const { data, error } = await client.mutation<Data>(document, { input } as never, { additionalTypenames: affects }).toPromise();
    setBusy(false);
    // If the reader may not read what was changed, the payload is there without it. Without a change, the payload is null.
    if (!data || Object.values(data).includes(null)) return { problems: problemsOf(error) };
    keptPages.clear();
    changed++;
    for (const watcher of changeWatchers) watcher();
    return { data, problems: [] };
  };
  return { run, busy };
}

export interface QueryState<Data> { data?: Data; problems: Problem[]; loading: boolean; own: boolean; old: boolean; reload: () => void }

/**
 * Requests the data of a page. It returns cached data at once, and requests the data again each time that the page opens. While the
 * answer for other variables is awaited, there are no data. With keep, the data of the previous variables stay until then, and own
 * says whether the data belong to these variables. If data cannot be requested again, they stay, and so do the forms that the page
 * shows: old then says that the last request failed.
 */
export function useData<Data, Variables extends object>(document: TypedDocument<Data, Variables>, variables: Variables, { pause = false, fresh = true, keep = false } = {}): QueryState<Data> {
  const [{ data, error, fetching, extensions, operation }, ask] = useQuery<Data>({ query: document, variables: variables as never, pause, requestPolicy: fresh ? 'cache-and-network' : 'cache-first' });
  // While urql requests the data of other variables, or pauses, it has the last data and the last error.
  const own = operation !== undefined && JSON.stringify(operation.variables) === JSON.stringify(variables);
  const last = useRef<{ key: string; data: Data }>(undefined), key = JSON.stringify(variables);
  if (own && data) last.current = { key, data };
  const old = own && !data && last.current?.key === key;
  useShownQuery(document, variables, own ? costOf(extensions) : undefined, !pause);
  const version = useReturned(), [first] = useState(version);
  useEffect(() => { if (version !== first && !pause) ask({ requestPolicy: 'network-only' }); }, [version]);
  return { data: old ? last.current!.data : own || keep ? data ?? undefined : undefined, problems: own ? problemsOf(error) : [], loading: fetching, own, old, reload: () => ask({ requestPolicy: 'network-only' }) };
}

interface Page<Row> { nodes: Row[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
interface Pages<Data, Row> {
  first?: Data;
  rows: Row[];
  after: string | null;
  more: boolean;
  problems: Problem[]; // These problems are of the first page.
  stopped: Problem[]; // These problems are of the page after the rows. As long as there are any, no page is read by itself.
  cost?: number;
}

const keptPages = new Map<string, Pages<unknown, unknown>>();
const mostKept = 30;

/** Sends a query. If the signal ends it, there is no answer, and the same query can be sent again. */
const send = <Data>(client: Client, document: TypedDocument<Data, never>, variables: object, signal: AbortSignal) => new Promise<OperationResult<Data>>((done) => {
  const { unsubscribe } = client.query<Data>(document, variables as never, { requestPolicy: 'network-only' }).subscribe((result) => {
    if (result.stale) return;
    done(result);
    queueMicrotask(unsubscribe);
  });
  signal.addEventListener('abort', unsubscribe);
});

/** Returns why a page could not be read. A list that is gone has no rows, and the answer may name no error. */
const problemsOfPage = (error?: CombinedError): Problem[] => (error ? problemsOf(error) : [{ code: 'NOT_FOUND', message: 'The rest of the list could not be loaded.', path: '', violations: [] }]);

/**
 * Reads a list page by page. A reader who comes back finds the list as they left it: with all pages that were read, and therefore
 * at the same position. While the rows of another filter are loading, the rows of the previous filter stay. If a page cannot be read,
 * the list stops there, and `retry` continues it. A page that is read again, or for a file, has at most `longest` rows.
 */
export function usePages<Data, Row, Variables extends { after?: string | null }>(
  document: TypedDocument<Data, Variables>, variables: Variables, pick: (data: Data) => Page<Row> | null | undefined, following: Partial<Variables> = {}, { pause = false, longest = 200 } = {},
) {
  const client = useClient(), { key: entry, returned } = useLocation();
  const wanted = JSON.stringify([nameOf(document), variables]), key = entry + wanted;
  const [state, setState] = useState<Pages<Data, Row> & { key: string }>(() => ({ rows: [], after: null, more: false, problems: [], stopped: [], ...(returned && keptPages.get(key) as Pages<Data, Row>), key: returned && keptPages.has(key) ? wanted : '' }));
  const [round, setRound] = useState(0), version = useChanged();
  const reading = useRef<AbortController>(undefined);

  /** Begins to read. What was being read before is dropped, because it may no longer follow the rows. */
  const begin = () => {
    reading.current?.abort();
    reading.current = new AbortController();
    return reading.current.signal;
  };
  const end = () => { reading.current = undefined; };

  /** Reads the page after the given rows, and returns it with them. */
  const readAfter = async (pages: Pages<Data, Row>, size: object, signal: AbortSignal): Promise<Pages<Data, Row>> => {
    const { data, error } = await send(client, document, { ...variables, ...following, ...size, after: pages.after }, signal), page = data && pick(data);
    if (!page) return { ...pages, stopped: problemsOfPage(error) };
    return { ...pages, rows: [...pages.rows, ...page.nodes], after: page.pageInfo.endCursor, more: page.pageInfo.hasNextPage, stopped: [] };
  };

  /** Reads a list from its start. A list that is read again is read as far as the reader has come, before its rows are replaced. */
  const readAgain = async (signal: AbortSignal) => {
    const old = state.key === wanted ? state : undefined, enough = old?.rows.length ?? 0;
    const size = old && 'first' in variables ? { first: Math.min(Math.max(variables.first as number, enough), longest) } : {};
    const { data, error, extensions } = await send(client, document, { ...variables, ...size }, signal), page = data && pick(data);
    let pages: Pages<Data, Row> = { first: data, rows: page?.nodes ?? [], after: page?.pageInfo.endCursor ?? null, more: page?.pageInfo.hasNextPage ?? false, problems: problemsOf(error), stopped: [], cost: costOf(extensions) };
    while (pages.more && pages.rows.length < enough && pages.stopped.length === 0) pages = await readAfter(pages, size, signal);
    end();
    // If a list cannot be read again, it stays as it was, and so do the forms and secrets that its page shows.
    const failed = data ? pages.stopped : pages.problems;
    setState(old && failed.length > 0 ? { ...old, problems: failed } : { ...pages, key: wanted });
  };

  useEffect(() => {
    if (pause) return;
    void readAgain(begin()); // A reader who comes back sees the pages that they left until this has read them again.
    return () => { reading.current?.abort(); end(); };
  }, [client, wanted, pause, round, version]);

  useEffect(() => {
    if (state.key !== wanted) return;
    keptPages.delete(key);
    keptPages.set(key, state);
    if (keptPages.size > mostKept) keptPages.delete(keptPages.keys().next().value!);
  }, [state, key]);

  const continueReading = async () => {
    if (!state.more || state.key !== wanted || reading.current) return;
    const pages = await readAfter(state, {}, begin());
    end();
    setState({ ...pages, key: wanted });
  };
  /** Reads all rows from the start, for a file. What the page shows does not change. */
  const readAll = async (onProgress: (n: number) => void): Promise<{ rows: Row[]; problem?: string }> => {
    let pages: Pages<Data, Row> = { rows: [], after: null, more: true, problems: [], stopped: [] };
    for (const { signal } = new AbortController(); pages.more && pages.stopped.length === 0; onProgress(pages.rows.length)) pages = await readAfter(pages, 'first' in variables ? { first: longest } : {}, signal);
    return { rows: pages.rows, problem: pages.stopped[0]?.message };
  };
  const stopped = state.stopped.length > 0, reload = () => setRound((n) => n + 1);

  useShownQuery(document, variables, state.key === wanted ? state.cost : undefined, !pause);
  return {
    ...state, problems: [...state.stopped, ...state.problems], stopped, loading: !pause && state.key !== wanted, started: state.key !== '',
    readMore: () => { if (!stopped) void continueReading(); }, readAll, reload, retry: stopped ? () => void continueReading() : reload,
  };
}

/** Returns a time some days ago, which stays the same as long as the component is mounted. */
export const useDaysAgo = (days: number) => useMemo(() => new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - days * 86_400_000).toISOString(), [days]);
