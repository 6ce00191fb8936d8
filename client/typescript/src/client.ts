import createRest, { type FetchResponse, type MaybeOptionalInit } from 'openapi-fetch';
import type { MediaType, PathsWithMethod, RequiredKeysOf } from 'openapi-typescript-helpers';
import { AtriumError, errorOfGraph, errorOfResponse, type GraphQLErrorItem } from './errors.js';
import { follow, type LiveOptions } from './events.js';
import type { Event, EventActor, EventChange, Identity, SubscriptionEventsArgs } from './generated/graph.js';
import type { paths } from './generated/rest.js';
import { createSend, type SendOptions } from './http.js';

/** Where the server is, and how requests are sent. */
export interface ClientOptions extends SendOptions {
  /** The URL of the server, such as https://atrium.example.com. */
  url: string;
}

/** A GraphQL document: a text, or what graphql-codegen makes of one with `documentMode: 'string'`, which knows its types. */
export interface GraphDocument<Data, Variables> {
  toString(): string;
  __apiType?: (variables: Variables) => Data;
}

/** How one GraphQL document is sent. */
export interface GraphOptions {
  signal?: AbortSignal;
  /** Whether a mutation may be sent again after an unknown outcome: true if its input has an `idempotencyKey`. Queries always may. */
  repeatable?: boolean;
}

/** One page of a list, as GraphQL has it. */
export interface Connection<Node> {
  nodes?: readonly Node[];
  edges?: readonly { node: Node }[];
  pageInfo: { hasNextPage: boolean; endCursor?: string | null };
}

/** An event as `events` yields it. Use `subscribe` to select other fields. */
export type LiveEvent = Pick<Event, 'id' | 'type' | 'kind' | 'subject' | 'groupUid' | 'time' | 'count' | 'body'> & {
  actor: Pick<EventActor, 'subject'> & { identity?: Pick<Identity, 'uid' | 'name'> | null };
  changes?: Pick<EventChange, 'field' | 'before' | 'after'>[] | null;
};

type Answer<Path extends keyof paths, M extends keyof paths[Path], Init> =
  FetchResponse<paths[Path][M] & Record<never, never>, Init, MediaType> extends infer Result ? Result extends { data: infer Data } ? Exclude<Data, undefined> : never : never;
type Rest = {
  [M in 'get' | 'post' | 'patch' | 'delete' as Uppercase<M>]: <Path extends PathsWithMethod<paths, M>, Init extends MaybeOptionalInit<paths[Path], M>>(
    path: Path, ...init: RequiredKeysOf<Init> extends never ? [Init?] : [Init]
  ) => Promise<{ data: Answer<Path, M & keyof paths[Path], Init>; response: Response }>;
};

type PageAt<Path extends keyof paths> = paths[Path] extends { get: { responses: { 200: { content: { 'application/json': infer Page } } } } } ? Page : never;
/** A path of REST whose answer is a page of a list. */
export type ListPath = { [Path in keyof paths]: 'nextPageToken' extends keyof PageAt<Path> ? Path : never }[keyof paths];
/** What a list of REST consists of. */
export type ItemAt<Path extends ListPath> = { [Key in keyof PageAt<Path>]-?: PageAt<Path>[Key] extends readonly (infer Item)[] ? Item : never }[keyof PageAt<Path>];
type ListInit<Path extends ListPath> = paths[Path] extends { get: { parameters: infer Params } } ? { params?: Partial<Pick<Params, 'query' & keyof Params>> & Omit<Params, 'query'>; signal?: AbortSignal } : never;

/** Calls one server. */
export interface Client {
  /** REST by path, such as `rest.GET('/registry/v2/repos/{uid}', { params: { path: { uid } } })`. */
  rest: Rest;
  /** Yields the pages of a list of REST. */
  pages<Path extends ListPath>(path: Path, init?: ListInit<Path>): AsyncGenerator<PageAt<Path>, void, undefined>;
  /** Yields what a list of REST consists of, over all pages. */
  list<Path extends ListPath>(path: Path, init?: ListInit<Path>): AsyncGenerator<ItemAt<Path>, void, undefined>;
  /** Sends a GraphQL document, and returns its data. An answer with errors is an AtriumError, whose `data` has the rest. */
  graphql<Data = any, Variables = Record<string, unknown>>(document: GraphDocument<Data, Variables>, variables?: Variables, options?: GraphOptions): Promise<Data>;
  /** Yields the rows of a list of GraphQL, over all pages. The document has a variable `$after` and selects `pageInfo { hasNextPage endCursor }`. */
  nodes<Node, Data = any, Variables = Record<string, unknown>>(
    document: GraphDocument<Data, Variables>, variables: Variables, list: (data: Data) => Connection<Node> | null | undefined, options?: GraphOptions,
  ): AsyncGenerator<Node, void, undefined>;
  /** Yields each change from now on, or after `after`, as it happens. */
  events(args?: Omit<SubscriptionEventsArgs, 'first'>, options?: LiveOptions): AsyncGenerator<LiveEvent, void, undefined>;
  /** Yields the results of a subscription of your own, which has a variable `$after` and selects the `id` of the event. */
  subscribe<Data = any, Variables = Record<string, unknown>>(document: GraphDocument<Data, Variables>, variables?: Variables, options?: LiveOptions): AsyncGenerator<Data, void, undefined>;
}

const eventsDocument = `subscription Events($within: UID, $kinds: [EventKind!], $actor: String, $findings: FindingConditionsInput, $after: String) {
  events(within: $within, kinds: $kinds, actor: $actor, findings: $findings, after: $after) {
    id type kind subject groupUid time count body actor { subject identity { uid name } } changes { field before after }
  }
}`;

/** Returns a client of a server. It sends nothing before it is used. */
export function createClient(options: ClientOptions): Client {
  const { protocol, href, search, hash } = new URL(options.url);
  if (!/^https?:$/.test(protocol) || search || hash) throw new TypeError(`the url ${JSON.stringify(options.url)} must be that of a server, such as https://atrium.example.com`);
  const site = href.replace(/\/+$/, ''), endpoint = `${site}/graphql`, send = createSend(options);

  const rest = createRest<paths>({ baseUrl: site, fetch: (request) => send(request) });
  rest.use({
    async onResponse({ response }) {
      if (!response.ok && response.status !== 304) throw await errorOfResponse(response);
    },
  });
  const get = rest.GET as unknown as (path: string, init: unknown) => Promise<{ data: Record<string, unknown> }>;

  async function* pages(path: string, init: { params?: { query?: object }; signal?: AbortSignal } = {}) {
    for (let token: unknown = undefined; ;) {
      const query = { ...init.params?.query, ...(token === undefined ? {} : { page_token: token }) };
      const { data } = await get(path, { ...init, params: { ...init.params, query } });
      yield data;
      token = data['nextPageToken'];
      if (!token) return;
    }
  }

  const graphql = async <Data, Variables>(document: GraphDocument<Data, Variables>, variables?: Variables, { signal, repeatable }: GraphOptions = {}): Promise<Data> => {
    const query = textOf(document);
    const request = new Request(endpoint, {
      method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ query, variables }), ...(signal ? { signal } : {}),
    });
    const response = await send(request, repeatable ?? !/\bmutation\b/.test(query));
    if (!response.ok) throw await errorOfResponse(response);
    const { data, errors } = await response.json() as { data: Data; errors?: GraphQLErrorItem[] };
    if (errors?.length) throw errorOfGraph(errors, data, response);
    return data;
  };

  async function* subscribe<Data, Variables>(document: GraphDocument<Data, Variables>, variables?: Variables, live: LiveOptions = {}) {
    const args = { ...variables } as Record<string, unknown>;
    // Without a position, what happens before the first event arrives would be lost with the connection.
    args['after'] ??= (await graphql<{ feedPosition: string }, object>('{ feedPosition }', {}, live.signal ? { signal: live.signal } : {})).feedPosition;
    yield* follow<Data>(send, endpoint, textOf(document), args, { ...live, ...(live.wait ?? options.wait ? { wait: live.wait ?? options.wait } : {}) } as LiveOptions);
  }

  return {
    rest: rest as unknown as Rest,
    pages: pages as unknown as Client['pages'],
    list: async function* (path: string, init: object) {
      for await (const page of pages(path, init)) yield* Object.values(page).find(Array.isArray) ?? [];
    } as unknown as Client['list'],
    graphql,
    async *nodes(document, variables, list, how) {
      for (let after: string | null | undefined = undefined; ;) {
        const page = list(await graphql(document, { ...variables, ...(after ? { after } : {}) }, how));
        yield* page?.nodes ?? page?.edges?.map(({ node }) => node) ?? [];
        if (!page?.pageInfo.hasNextPage) return;
        if (!page.pageInfo.endCursor || page.pageInfo.endCursor === after) throw new TypeError('the document must pass $after to the list, and select pageInfo { hasNextPage endCursor }');
        after = page.pageInfo.endCursor;
      }
    },
    async *events(args = {}, live) {
      for await (const { events } of subscribe<{ events: LiveEvent }, object>(eventsDocument, args, live)) yield events;
    },
    subscribe,
  };
}

/** Returns the text of a document. */
function textOf(document: GraphDocument<any, any>): string {
  const text = String(document);
  if (text.startsWith('[object')) throw new TypeError("the document must be a text: generate documents with documentMode: 'string'");
  return text;
}

export { AtriumError };
