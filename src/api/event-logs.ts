import { UserError } from '../errors.ts';
import { hourMs, minuteMs } from '../lib/time.ts';
import { type ApiError, isObject, readErrorBody } from './http/errors.ts';
import { address, checkNumericId, type Hosts, type IdKind } from './http/paths.ts';
import type { Reply, Send } from './http/request.ts';

/** Described by the service, not enumerated: others are warned about, not refused (cdn-api.md §2.8). */
export const eventLogFields = [
  'feature',
  'ruleId',
  'ip',
  'ja4',
  'ua',
  'url',
  'asn',
  'country',
  'action',
] as const;
export const eventLogOps = ['eq', 'in', 'contains', 'cidr', 'wildcard'] as const;

export interface EventLogFilter {
  /** One of `eventLogFields`, as far as is known. */
  readonly field: string;
  /** One of `eventLogOps`, likewise. */
  readonly op: string;
  /** One of them has to match. */
  readonly value: readonly string[];
}

export interface EventLogExport {
  readonly from: Date;
  readonly to: Date;
  /** Searches IP, rule id, URL, User-Agent and rule name. */
  readonly query?: string;
  /** All of them have to match. */
  readonly filters?: readonly EventLogFilter[];
}

export interface EventLogFile {
  /** The file, as it arrives. Cancel it when it is not read to the end. Fails with ApiError: cut, timeout, cancelled. */
  readonly body: ReadableStream<Uint8Array>;
  readonly contentType: string;
  /** Bytes, where the service says. */
  readonly length: number | undefined;
  readonly requestId: string | undefined;
}

/** Export Event Logs as CSV (cdn-api.md §2.8). The rows hold personal data. */
export interface EventLogs {
  /** Throws a UserError for a bad id, window or filter; ApiError `refused` where the service's 200 is a refusal. */
  readonly export: (shieldZoneId: string, wanted: EventLogExport) => Promise<EventLogFile>;
}

export const shieldZoneIdKind: IdKind = {
  noun: 'a shield zone id',
  hint: 'A shield zone id is a whole number, such as 501. It is not the pull zone’s id.',
};

/** As the specification calls it. */
export const exportOperation = 'Export Event Logs as CSV';

const maxWindowMs = 72 * hourMs;

/** The earliest start that is surely taken, to the minute: the 72 hours less a margin, since time passes. */
export function findEarliestStart(now: Date, marginMs = 10 * minuteMs): Date {
  return new Date(Math.ceil((now.getTime() - maxWindowMs + marginMs) / minuteMs) * minuteMs);
}

/**
 * Checks a window against the service's 72 hours: all of it has to lie inside, `marginMs` from the edge, since time
 * passes while somebody confirms. Throws a UserError. `now` in ms. The rule: specification, Errors 4; cdn-api.md §2.8.
 */
export function checkEventLogWindow(
  window: { from: Date; to: Date },
  now: number,
  marginMs = 5 * minuteMs,
): void {
  const from = window.from.getTime();
  const to = window.to.getTime();
  if (Number.isNaN(from) || Number.isNaN(to))
    throw new UserError('The window has no start or no end.', 'Give both.');
  if (to <= from) throw new UserError('The window ends before it begins.', 'Swap start and end.');
  if (to > now + minuteMs) throw new UserError('The window ends in the future.', 'End it now or earlier.');
  if (from < now - maxWindowMs + marginMs) {
    throw new UserError(
      'The window reaches back more than 72 hours, and the CDN keeps events no longer.',
      'Begin later: the last 71 hours always work.',
    );
  }
}

/** The service refuses a window with 400 or 401, and says so in the body only (cdn-api.md §2.8). */
export function isWindowError({ code, operation, errorKey = '', serviceMessage = '' }: ApiError): boolean {
  return (
    code === 'refused' &&
    operation === exportOperation &&
    (/window|datetime/iu.test(errorKey) || /72 hours|past 3 days|\bwindow\b/iu.test(serviceMessage))
  );
}

export function createEventLogs(send: Send, hosts: Hosts, now: () => number): EventLogs {
  return {
    async export(shieldZoneId, { from, to, query, filters = [] }) {
      const id = checkNumericId(shieldZoneId, 'int32', shieldZoneIdKind);
      checkEventLogWindow({ from, to }, now(), minuteMs);
      for (const { field, op, value } of filters) {
        if (field && op && value.length > 0) continue;
        throw new UserError('A filter is not complete.', 'Each one needs a field, an operation and a value.');
      }
      const window = { from: from.getTime(), to: Math.min(to.getTime(), now()) };
      const request = {
        operation: exportOperation,
        method: 'POST',
        address: address(hosts.api, 'shield', 'event-logs', id, 'export'),
        accept: 'text/csv',
        body: JSON.stringify({
          ...window,
          ...(query ? { query } : {}),
          ...(filters.length > 0 ? { filters } : {}),
        }),
        // A POST that only reads: cdn-api.md §1.4.
        isRead: true,
        isSlow: true,
      } as const;
      return send(request, readFileReply);
    },
  };
}

// A refusal is a few hundred bytes; what is longer is a file, whatever it begins with.
const maxRefusalLength = 65_536;

/** Makes sure that the answer is a file and not a refusal or a web page with status 200, by looking at its beginning. */
async function readFileReply(reply: Reply): Promise<EventLogFile> {
  const { headers } = reply;
  const contentType = headers.get('content-type') ?? 'application/octet-stream';
  const chunks = reply.chunks();
  const held: Uint8Array[] = [];
  let length = 0;
  let text = '';
  let isDone = false;
  // Only what begins like JSON or HTML is held up: a line of CSV begins with neither.
  do {
    const next = await chunks.next();
    isDone = next.done === true;
    if (next.done) break;
    held.push(next.value);
    length += next.value.length;
    text = Buffer.concat(held).subarray(0, maxRefusalLength).toString('utf8').trimStart();
  } while (length < maxRefusalLength && (text === '' || text.startsWith('{')));

  const isPage = /^text\/html/i.test(contentType) || /^<(!doctype|html)/i.test(text);
  const refusal = isDone && isRefusal(text) ? reply.wrongShape(JSON.parse(text)) : undefined;
  if (isPage || refusal) {
    await chunks.return();
    throw refusal ?? reply.error('unexpected');
  }
  const announced = Number(headers.get('content-length') ?? Number.NaN);
  return {
    body: createFileStream(held, chunks),
    contentType,
    // Compressed on the way, the length says nothing about the file.
    length: Number.isNaN(announced) || headers.has('content-encoding') ? undefined : announced,
    requestId: reply.requestId,
  };
}

function isRefusal(text: string): boolean {
  if (!text.startsWith('{')) return false;
  try {
    const body: unknown = JSON.parse(text);
    if (!isObject(body)) return false;
    const hasStatus = [body['status'], body['statusCode']].some((status) => Number(status) >= 400);
    return hasStatus || 'ErrorKey' in body || readErrorBody(body).kind === 'envelope';
  } catch {
    return false;
  }
}

function createFileStream(
  held: Uint8Array[],
  chunks: AsyncGenerator<Uint8Array, void>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const first = held.shift();
        const { done, value } = first ? { done: false, value: first } : await chunks.next();
        if (value) controller.enqueue(value);
        if (done) controller.close();
      },
      async cancel() {
        await chunks.return();
      },
    },
    // Nothing is read ahead of whoever reads: a file of a gigabyte must not gather here.
    { highWaterMark: 0 },
  );
}
