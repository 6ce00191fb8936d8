export { type Client, type ClientOptions, type Connection, createClient, type GraphDocument, type GraphOptions, type ItemAt, type ListPath, type LiveEvent } from './client.js';
export { AtriumError, type Detail, type GraphQLErrorItem, type Violation } from './errors.js';
export type { LiveOptions } from './events.js';
export type { SendOptions, TokenSource } from './http.js';
export type { components, operations, paths } from './generated/rest.js';
/** The types of the GraphQL schema: `Graph.Finding`, `Graph.ErrorReason`, `Graph.EventKind` ... */
export type * as Graph from './generated/graph.js';
export type { ErrorCode, ErrorReason } from './generated/graph.js';
