/** What an operation answers, before faults are applied and before anything is on the wire. */
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

export const json = (body: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
});

export const empty = (status: number): Answer => ({ status });

/** The error of the core and compute surfaces: ErrorKey, Field, Message. */
export const coreError = (
  status: number,
  key: string,
  message: string,
  field: string | null = null,
): Answer => json({ ErrorKey: key, Field: field, Message: message }, status);

/** Shape A of the specification: title, status, detail, instance, errors, id. */
export const shapeA = (
  status: number,
  title: string,
  detail: string,
  more: { id: string; errors?: { field: string; message: string }[] },
): Answer =>
  json(
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
  ...json(body, body.status),
  headers: { 'content-type': 'application/problem+json; charset=utf-8' },
});

/** Shape C: only the status code. */
export const shapeC = (status: number): Answer => json({ statusCode: status }, status);

/** A parsed JSON object, or undefined for anything else. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
