/** An operation's answer, before faults are applied and before anything is on the wire. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Bytes of a streamed body, where they are known and should be announced. */
  length?: number;
}

/** One request as an operation sees it: already authorised, path parameters decoded. */
export interface Call {
  params: readonly string[];
  query: URLSearchParams;
  body: string;
  contentType: string;
  /** The service's clock, ms since the epoch. */
  now: number;
}

export const jsonAnswer = (body: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
});

export const emptyAnswer = (status: number): Answer => ({ status });

/** The error of the core and compute surfaces: ErrorKey, Field, Message. */
export const coreError = (
  status: number,
  key: string,
  message: string,
  field: string | null = null,
): Answer => jsonAnswer({ ErrorKey: key, Field: field, Message: message }, status);

/** Shape A of the specification: title, status, detail, instance, errors, id. */
export const shapeA = (
  status: number,
  title: string,
  detail: string,
  more: { id: string; errors?: { field: string; message: string }[] },
): Answer =>
  jsonAnswer(
    { title, status, detail, instance: '/internal/containers', errors: more.errors ?? [], id: more.id },
    status,
  );

/** Shape B: type, title, status, detail, instance. */
export const shapeB = (status: number, title: string, detail: string): Answer =>
  problem({
    type: `https://httpstatuses.io/${status}`,
    title,
    status,
    detail,
    instance: '/internal/request',
  });

/** Bare problem details, as shield answers a bad key. */
export const problem = (body: { status: number; [member: string]: unknown }): Answer => ({
  ...jsonAnswer(body, body.status),
  headers: { 'content-type': 'application/problem+json; charset=utf-8' },
});

/** Shape C: only the status code. */
export const shapeC = (status: number): Answer => jsonAnswer({ statusCode: status }, status);

/** A parsed JSON object, or undefined for anything else. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const largest = 2_147_483_647;

/**
 * page and perPage of a list. Below 5 perPage is silently raised to 5 (as the live service does); above 1000 it is
 * refused, and so is everything that is not a whole number within the bounds. An empty value counts as absent.
 */
export function readPaging(
  query: URLSearchParams,
  first: { page: 0 | 1 },
): { page: number; perPage: number } | Answer {
  const page = wholeNumber(query.get('page'), first.page);
  const perPage = wholeNumber(query.get('perPage'), 1000);
  if (page === undefined || page < first.page || page > largest) {
    return coreError(400, 'validation_error', `page must be between 1 and ${largest}.`, 'page');
  }
  if (perPage === undefined || perPage > 1000) {
    return coreError(400, 'validation_error', 'perPage must be between 5 and 1000.', 'perPage');
  }
  return { page, perPage: Math.max(5, perPage) };
}

function wholeNumber(text: string | null, otherwise: number): number | undefined {
  if (text === null || text === '') return otherwise;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The envelope around one page, without its Items. */
export const pageEnvelope = (page: number, perPage: number, total: number) => ({
  CurrentPage: page,
  TotalItems: total,
  HasMoreItems: page * perPage < total,
});
