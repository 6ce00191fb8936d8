import type { ErrorCode, ErrorReason, ExceededLimit } from './generated/graph.js';

/** What is wrong with one field of a request. */
export interface Violation {
  /** The field: in REST as the document names it, in GraphQL as the schema does, such as `requests[2].digest`. */
  field: string;
  /** What is wrong, for people. */
  message: string;
  /** GraphQL only: the place in the variables or arguments, such as `['input', 'requests', 2, 'digest']`. */
  path?: readonly (string | number)[];
}

/** One google.rpc detail of an error. */
export interface Detail {
  '@type': string;
  [member: string]: unknown;
}

/** One error of a GraphQL answer, as the server sent it. */
export interface GraphQLErrorItem {
  message: string;
  path?: readonly (string | number)[];
  extensions?: {
    code?: string;
    reason?: string;
    fields?: readonly Violation[];
    limit?: ExceededLimit;
    details?: readonly Detail[];
  };
}

/** What every call of the client fails with, unless the caller aborts it. */
export class AtriumError extends Error {
  override readonly name = 'AtriumError';
  /** What kind of error it is. */
  readonly code: ErrorCode | (string & {});
  /** Why, as exactly as the server knows. A newer server can have reasons that the type does not know: go by `code` then. */
  readonly reason: ErrorReason | (string & {});
  /** What is wrong with each field of the request. */
  readonly fields: readonly Violation[];
  /** The google.rpc details. */
  readonly details: readonly Detail[];
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** The id of the request, which the log of the server has too. */
  readonly requestId: string | undefined;
  /** When the same request may be sent again, in seconds, if the server says so. */
  readonly retryAfter: number | undefined;
  /** GraphQL only: the limit that the document exceeds. */
  readonly limit: ExceededLimit | undefined;
  /** GraphQL only: all errors of the answer. The other members are those of the first. */
  readonly errors: readonly GraphQLErrorItem[];
  /** GraphQL only: what the server answered beside the errors. */
  readonly data: unknown;

  constructor(message: string, about: Partial<Omit<AtriumError, 'name' | 'message'>> & { code: string }) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.code = about.code;
    this.reason = about.reason ?? about.code;
    this.fields = about.fields ?? [];
    this.details = about.details ?? [];
    this.status = about.status ?? 0;
    this.requestId = about.requestId;
    this.retryAfter = about.retryAfter;
    this.limit = about.limit;
    this.errors = about.errors ?? [];
    this.data = about.data;
  }
}

// The names of google.rpc.Code, by number.
const codes = ['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'];

// What an answer means that is not one of Atrium, such as that of a proxy.
const codeOfStatus: Record<number, string> = {
  400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND', 408: 'UNAVAILABLE', 409: 'ABORTED', 413: 'RESOURCE_EXHAUSTED',
  429: 'RESOURCE_EXHAUSTED', 501: 'UNIMPLEMENTED', 502: 'UNAVAILABLE', 503: 'UNAVAILABLE', 504: 'DEADLINE_EXCEEDED',
};

/** Returns what a response says of itself. */
function aboutResponse(response: Response) {
  return { status: response.status, requestId: response.headers.get('X-Request-Id') ?? undefined, retryAfter: retryAfter(response) };
}

/** Returns the seconds of Retry-After, which can also be a date. */
export function retryAfter(response: Response): number | undefined {
  const text = response.headers.get('Retry-After');
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}

/** Makes the error of a response whose status is no success. */
export async function errorOfResponse(response: Response): Promise<AtriumError> {
  const text = await response.text().catch(() => '');
  let body: { code?: unknown; message?: string; details?: readonly Detail[]; errors?: readonly GraphQLErrorItem[]; data?: unknown } | null;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  if (body?.errors?.length) return errorOfGraph(body.errors, body.data, response);
  if (typeof body?.code !== 'number') {
    const code = codeOfStatus[response.status] ?? (response.status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL');
    return new AtriumError(`the answer has the status ${response.status} ${response.statusText}`.trim(), { ...aboutResponse(response), code });
  }
  const code = codes[body.code] ?? 'UNKNOWN', details = body.details ?? [];
  const detail = (type: string) => details.find((one) => one['@type'] === `type.googleapis.com/google.rpc.${type}`);
  const precondition = detail('PreconditionFailure')?.['violations'] as { type?: string }[] | undefined;
  const violations = detail('BadRequest')?.['fieldViolations'] as { field?: string; description?: string }[] | undefined;
  return new AtriumError(body.message ?? code, {
    ...aboutResponse(response), code, details,
    reason: precondition?.[0]?.type ?? (detail('ErrorInfo')?.['reason'] as string | undefined) ?? code,
    fields: (violations ?? []).map(({ field = '', description = '' }) => ({ field, message: description })),
  });
}

/** Makes the error of a GraphQL answer with errors. */
export function errorOfGraph(errors: readonly GraphQLErrorItem[], data: unknown, response: Response): AtriumError {
  const { message = 'the answer has an error without a message', extensions = {} } = errors[0] ?? {}, code = extensions.code ?? 'UNKNOWN';
  return new AtriumError(message, {
    ...aboutResponse(response), code, errors, data, reason: extensions.reason ?? code,
    fields: extensions.fields ?? [], details: extensions.details ?? [], limit: extensions.limit,
  });
}
