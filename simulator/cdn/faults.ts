import type { Answer } from './answer.ts';
import type { RecordedRequest } from './requests.ts';

/** One way to misbehave, for the next `times` requests that match. */
export interface Fault {
  match?: {
    method?: string;
    path?: RegExp;
    host?: RecordedRequest['host'];
    /** Parameters that it has, with these values. */
    query?: Readonly<Record<string, string>>;
  };
  /** How many requests it applies to; default 1, Infinity for all. */
  times?: number;
  /** Let this many matching requests through first. */
  skip?: number;
  /** Wait before anything is processed. Infinity: never answer, keep the connection. */
  delayMs?: number;
  /** Hold the request back, unprocessed, until this settles: latency that a test controls without a clock. */
  until?: Promise<unknown>;
  /** Answer this instead of processing. Without a body: what the surface would send with that status. */
  status?: number;
  /** Seconds, or a text such as an HTTP date. */
  retryAfter?: number | string;
  /** Answer this instead of processing; status 200 unless given. The word `html` stands for a proxy's error page. */
  body?: string | object;
  headers?: Record<string, string>;
  /** Cut the connection: unprocessed; processed, after a part of the body; processed, before the headers. */
  drop?: 'before-headers' | 'mid-body' | 'after-processing';
  /** With `mid-body`: how much arrives. Half of the first piece unless given. */
  afterBytes?: number;
  /** Send the body in pieces of this many bytes, this many ms apart. */
  trickle?: { bytes: number; everyMs: number };
  /** Send so many bytes of the body, then wait until this settles. */
  hold?: { afterBytes: number; until: Promise<unknown>; reached?: () => void };
  /** Adds unknown members to every object of the body. */
  unknownMembers?: true;
  /** Give every member of this name, at any depth, this value: wrong types, nulls, new enumeration numbers. */
  overwrite?: Record<string, unknown>;
  /** Any other change of the parsed body. */
  change?: (body: unknown) => unknown;
}

export interface Faults {
  add: (fault: Fault) => void;
  clear: () => void;
}

/** The pending faults, oldest first. `take` uses one up; a request is struck by at most one. */
export function createFaults(): Faults & { take(request: RecordedRequest): Fault | undefined } {
  let pending: { fault: Fault; left: number; skip: number }[] = [];
  return {
    add: (fault) => {
      pending.push({ fault, left: fault.times ?? 1, skip: fault.skip ?? 0 });
    },
    clear: () => {
      pending = [];
    },
    take: (request) => {
      for (const entry of pending) {
        if (!matchesFault(entry.fault, request)) continue;
        if (entry.skip > 0) {
          entry.skip -= 1;
          continue;
        }
        entry.left -= 1;
        if (entry.left <= 0) pending = pending.filter((other) => other !== entry);
        return entry.fault;
      }
      return undefined;
    },
  };
}

function matchesFault({ match = {} }: Fault, request: RecordedRequest): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== request.method) return false;
  if (match.host !== undefined && match.host !== request.host) return false;
  for (const [name, value] of Object.entries(match.query ?? {}))
    if (request.query[name] !== value) return false;
  // `search` ignores the state that a regular expression with the g flag keeps between tests.
  return match.path === undefined || request.path.search(match.path) !== -1;
}

const errorPage =
  '<!doctype html><html><head><title>Bad gateway</title></head><body><h1>502</h1></body></html>';

/** The answer a fault puts in the operation's place, or undefined where the operation runs. */
export function replaceAnswer(fault: Fault, standard: (status: number) => Answer): Answer | undefined {
  const { status, body } = fault;
  if (body === undefined) return status === undefined ? undefined : standard(status);
  const html = body === 'html';
  const type = html
    ? 'text/html; charset=utf-8'
    : typeof body === 'string'
      ? 'text/plain'
      : 'application/json';
  return {
    status: status ?? 200,
    headers: { 'content-type': type },
    body: html ? errorPage : typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** Changes the answer's body and headers as the fault says; a body that is no JSON stays as it is. */
export async function applyFault(answer: Answer, fault: Fault): Promise<Answer> {
  const headers = {
    ...answer.headers,
    ...(fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }),
    ...fault.headers,
  };
  const { unknownMembers, overwrite, change } = fault;
  if (!unknownMembers && !overwrite && !change) return { ...answer, headers };
  let body: unknown = JSON.parse(await textOf(answer));
  if (overwrite || unknownMembers) body = rewriteMembers(body, overwrite ?? {}, unknownMembers ?? false);
  if (change) body = change(body);
  return { status: answer.status, headers, body: JSON.stringify(body) };
}

async function textOf({ body = 'null' }: Answer): Promise<string> {
  if (typeof body === 'string') return body;
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

function rewriteMembers(value: unknown, overwrite: Record<string, unknown>, strangers: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => rewriteMembers(item, overwrite, strangers));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => [
    name,
    Object.hasOwn(overwrite, name) ? overwrite[name] : rewriteMembers(inner, overwrite, strangers),
  ]);
  return {
    ...Object.fromEntries(members),
    ...(strangers ? { BrandNewMember: { Nested: [1, null] }, brandNew: '?' } : {}),
  };
}
