import { UserError } from '../errors.ts';
import { hourMs, minuteMs } from '../lib/time.ts';
import { type ApiError, isObject, readErrorBody } from './http/errors.ts';
import { address, checkNumericId, type Hosts, type IdKind } from './http/paths.ts';
import type { Reply, Send } from './http/request.ts';

/** Described by the service in prose, not as an enumeration: others cause a warning, not a refusal. */
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
  /** Usually one of `eventLogFields`. */
  readonly field: string;
  /** Usually one of `eventLogOps`. */
  readonly op: string;
  /** At least one must match. */
  readonly value: readonly string[];
}

export interface EventLogExport {
  readonly from: Date;
  readonly to: Date;
  /** Searches IP, rule id, URL, User-Agent and rule name. */
  readonly query?: string;
  /** All must match. */
  readonly filters?: readonly EventLogFilter[];
}

export interface EventLogFile {
  /** The file while it arrives. Cancel it if it is not read to the end. Fails with ApiError: cut, timeout, cancelled. */
  readonly body: ReadableStream<Uint8Array>;
  readonly contentType: string;
  /** Bytes, if the service says. */
  readonly length: number | undefined;
  readonly requestId: string | undefined;
}

/** Export Event Logs as CSV. The rows hold personal data. */
export interface EventLogs {
  /** Throws a UserError for a bad id, window or filter; ApiError `refused` if the service's 200 is a refusal. */
  readonly export: (shieldZoneId: string, wanted: EventLogExport) => Promise<EventLogFile>;
}

export const shieldZoneIdKind: IdKind = {
  noun: 'a shield zone id',
  hint: 'A shield zone id is a whole number, such as 501. It is not the pull zone’s id.',
};

/** The specification's name. */
export const exportOperation = 'Export Event Logs as CSV';

const maxWindowMs = 72 * hourMs;

/** The earliest start that the service accepts, to the minute: 72 hours less a margin, since time passes. */
export function findEarliestStart(now: Date, marginMs = 10 * minuteMs): Date {
  return new Date(Math.ceil((now.getTime() - maxWindowMs + marginMs) / minuteMs) * minuteMs);
}

/**
 * Checks a window against the service's 72 hours: it must lie inside, `marginMs` from the edge, since time passes while a
 * person confirms. Throws a UserError. `now` in ms.
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

/** The service refuses a window with 400 or 401; only the body tells. */
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
        // A POST that only reads.
        isRead: true,
        isSlow: true,
      } as const;
      return send(request, readFileReply);
    },
  };
}

// Bytes. A refusal has a few hundred; a longer answer is a file, however it begins.
const maxRefusalLength = 65_536;

/** Reads the beginning to tell a file from a refusal or a web page with status 200. */
async function readFileReply(reply: Reply): Promise<EventLogFile> {
  const { headers } = reply;
  const contentType = headers.get('content-type') ?? 'application/octet-stream';
  const chunks = reply.chunks();
  const held: Uint8Array[] = [];
  let length = 0;
  let text = '';
  let isDone = false;
  // Only an answer that begins like JSON or HTML is delayed; a line of CSV does not.
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
    // The length of a compressed answer is not that of the file.
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
    // No read-ahead: a file of a gigabyte must not gather here.
    { highWaterMark: 0 },
  );
}
