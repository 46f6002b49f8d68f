import { UserError } from '../errors.ts';
import { parseJson } from '../lib/canonical-json.ts';
import { hourMs, minuteMs } from '../lib/time.ts';
import { type ApiError, isHtml, readErrorBody } from './http/errors.ts';
import { checkNumericId, type IdKind, pathOf } from './http/paths.ts';
import type { Reply, Send } from './http/request.ts';

export interface EventLogFilter {
  readonly field: string;
  readonly op: string;
  readonly value: readonly string[];
}

export interface EventLogExport {
  readonly from: Date;
  readonly to: Date;
  readonly query?: string;
  readonly filters?: readonly EventLogFilter[];
}

export const shieldZoneIdKind: IdKind = {
  noun: 'a shield zone ID',
  hint: 'A shield zone ID is a whole number, such as 501. It is not the pull zone’s ID.',
};

export const exportOperation = 'Export Event Logs as CSV';

const maxWindowMs = 72 * hourMs;
export const endsTooEarly = 'The window ends more than 72 hours ago: the CDN no longer exports it.';

/** 72 hours ago and a margin, since time passes, to the minute. The service wants the end of a window after it. */
export function findOldestEnd(now: Date, marginMs = 10 * minuteMs): Date {
  return new Date(Math.ceil((now.getTime() - maxWindowMs + marginMs) / minuteMs) * minuteMs);
}

/** The service refuses a window with 400 or 401; only the body tells. */
export function isWindowError({ code, operation, errorKey = '', serviceMessage = '' }: ApiError): boolean {
  return (
    code === 'refused' &&
    operation === exportOperation &&
    (/window|datetime/iu.test(errorKey) || /72 hours|past 3 days|\bwindow\b/iu.test(serviceMessage))
  );
}

export function createEventLogs(send: Send, now: () => number = Date.now) {
  return {
    /** @throws UserError for a bad id or a window that has grown too old; ApiError `refused` also after a 200. */
    async export(shieldZoneId: string, { from, to, query, filters = [] }: EventLogExport) {
      const id = checkNumericId(shieldZoneId, 'int32', shieldZoneIdKind);
      if (to.getTime() < now() - maxWindowMs + minuteMs)
        throw new UserError(endsTooEarly, 'Choose a later one.');
      const request = {
        operation: exportOperation,
        method: 'POST',
        isRead: true,
        path: pathOf('shield', 'event-logs', id, 'export'),
        // Many servers write an error's body only for those who accept its type.
        accept: 'text/csv, application/problem+json;q=0.9, application/json;q=0.9',
        body: JSON.stringify({
          from: from.getTime(),
          to: Math.min(to.getTime(), now()),
          query: query || undefined,
          filters: filters.length > 0 ? filters : undefined,
        }),
        isSlow: true,
      } as const;
      return send(request, readFileReply);
    },
  };
}

const maxRefusalLength = 65_536;
const documentStart = /^\s*[{<]/u;
const separator = /\S\s*[,;\t\n]|^\s*\[\s*[[{]/u;

/** Neither a word nor a sentence: events have times, and names of columns more separators than spaces. */
const isTable = (text: string): boolean =>
  separator.test(text) && (/\d/u.test(text) || text.split(' ').length <= text.split(/[,;\t]/u).length);

async function readFileReply(reply: Reply) {
  const { headers } = reply;
  const contentType = headers.get('content-type') ?? 'application/octet-stream';
  const chunks = reply.chunks();
  const held: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let text = '';
  let next = await chunks.next();
  // Held back until it has a cell or a line and is not a document.
  for (; !next.done; next = await chunks.next()) {
    held.push(next.value);
    text += decoder.decode(next.value, { stream: true });
    if (text.length >= maxRefusalLength || (isTable(text) && !documentStart.test(text))) break;
  }
  const refusal = next.done && documentStart.test(text) ? parseJson(text) : undefined;
  const isRefusal = readErrorBody(refusal).kind !== 'none';
  // A document or nothing is not a table. With 202 there is no file yet, with 206 and 207 perhaps a part.
  const isOther = documentStart.test(text) || (next.done && !isTable(text.trim()));
  if (isRefusal || isOther || [202, 206, 207].includes(reply.status) || isHtml(contentType, text)) {
    await chunks.return();
    if (isRefusal) throw reply.wrongShape(refusal);
    throw reply.error(reply.status === 200 && text.trim() === '' ? 'empty' : 'unexpected');
  }
  const announced = Number(headers.get('content-length') ?? Number.NaN);
  async function* readBody(): AsyncGenerator<Uint8Array, void> {
    yield* held;
    yield* chunks;
  }
  // The length of a compressed answer is not that of the file.
  const size = Number.isNaN(announced) || headers.has('content-encoding') ? undefined : announced;
  return { body: readBody(), length: size };
}
