import type { IncomingHttpHeaders } from 'node:http';

export type Host = 'main' | 'origin-logging';

/** One request as it arrived. The key itself is never kept, only what it was. */
export interface RecordedRequest {
  host: Host;
  method: string;
  /** As sent, still encoded, without the query. */
  path: string;
  query: Record<string, string>;
  /** `accesskey` and `authorization` read `[full key]`, `[restricted key]` or `[wrong key]`. */
  headers: IncomingHttpHeaders;
  key: 'full' | 'restricted' | 'wrong' | 'none';
  /** Parsed where it is JSON, otherwise the text; undefined where there was none. */
  body: unknown;
  /** The service's clock, ms. */
  at: number;
  /** The `Cdn-Requestid` of the answer (main host). */
  requestId: string;
  /** Undefined while the answer is under way and where it was dropped before its headers. */
  status?: number;
  /** The client closed the connection before it had the whole answer. */
  abandoned?: true;
}

type Match = (request: RecordedRequest) => boolean;

// A bench sends hundreds of thousands; the newest of them are enough and memory stays flat.
const keptRequests = 20_000;

export interface RequestLog {
  requests: RecordedRequest[];
  add: (request: RecordedRequest) => void;
  /** Resolves with the n-th request that matches, whether it has arrived already or will. */
  received: (match: Match, nth?: number) => Promise<RecordedRequest>;
}

export function createRequestLog(): RequestLog {
  const requests: RecordedRequest[] = [];
  const waiting = new Set<(request: RecordedRequest) => void>();
  return {
    requests,
    add: (request) => {
      requests.push(request);
      if (requests.length > keptRequests) requests.splice(0, keptRequests / 2);
      for (const tell of waiting) tell(request);
    },
    received: (match, nth = 1) => {
      const before = requests.filter(match);
      const known = before[nth - 1];
      if (known) return Promise.resolve(known);
      let missing = nth - before.length;
      return new Promise((resolve) => {
        const tell = (request: RecordedRequest): void => {
          if (!match(request)) return;
          missing -= 1;
          if (missing > 0) return;
          waiting.delete(tell);
          resolve(request);
        };
        waiting.add(tell);
      });
    },
  };
}

/** The headers without anything that opens a door. */
export function redactHeaders(
  headers: IncomingHttpHeaders,
  key: RecordedRequest['key'],
): IncomingHttpHeaders {
  const shown = { ...headers };
  if ('accesskey' in shown) shown['accesskey'] = `[${key} key]`;
  if (shown.authorization !== undefined) shown.authorization = '[wrong key]';
  return shown;
}

/** The body as a test wants to compare it. */
export function parseBody(body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
