import { z } from 'zod';
import { parseJson } from '../../lib/canonical-json.ts';
import { dayMs, minuteMs, parseIsoTime, startOfDay, toEpochMs, yieldToEventLoop } from '../../lib/time.ts';
import { hasSecret } from '../../secrets/key-in-text.ts';
import { isObject, toSentence } from '../http/errors.ts';
import { compareNames, count, flag, omitMissing, readLeniently, text } from '../http/lenient.ts';
import { readList } from '../http/lists.ts';
import { checkNumericId, createNumericKind, pathOf, redactUrl } from '../http/paths.ts';
import type { Reply, Send } from '../http/request.ts';

export interface OriginErrorDetails {
  readonly requestUrl?: string;
  readonly message?: string;
  readonly errorCode?: string;
  readonly statusCode?: number;
}

export interface OriginError {
  readonly id: string;
  /** Epoch ms; undefined if not reported, as the next three. */
  readonly at: number | undefined;
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly serverZone: string | undefined;
  /** Without its query; the document is parsed only where the position of the path is not certain. */
  readonly path: () => string | undefined;
  /** Parsed on demand, since counting does not need it; undefined if the document is invalid. */
  readonly details: () => OriginErrorDetails | undefined;
}

export type OriginErrors = ReturnType<typeof createOriginErrors>;

export function createOriginErrors(send: Send, now: () => number = Date.now) {
  return {
    /**
     * Every entry of a UTC day while they arrive; `visit` is awaited. @throws UserError for a bad id; ApiError, also after visits
     */
    async forEach(zoneId: string, day: string, visit: (entry: OriginError) => void | Promise<void>) {
      const id = checkNumericId(zoneId, 'int64', createNumericKind('zone ID', 1001));
      // Months come first here only.
      const [year, month, dayOfMonth] = day.split('-');
      const path = pathOf(id, `${month}-${dayOfMonth}-${year}`);
      const request = { operation: 'Get origin error logs', host: 'originLoggingUrl', path } as const;
      // Outside of the retried part: an entry must not be visited twice.
      const reply = await send(request, (reply) => Promise.resolve(reply));
      let entries = 0;
      let skipped = 0;
      const visits: Promise<void>[] = [];
      const times = { from: startOfDay(day) - dayMs, to: startOfDay(day) + 2 * dayMs, now: now() };
      const take = (raw: unknown) => {
        // The first stands for all: they are of one kind, and there may be half a million.
        if (entries + skipped === 0) reportDrift(raw, reply);
        const entry = readEntry(raw, times);
        if (entry) entries += 1;
        else skipped += 1;
        const visited = entry && visit(entry);
        if (visited) visits.push(visited);
        return true;
      };
      const pause = async () => {
        await Promise.all(visits.splice(0));
        await yieldToEventLoop();
      };
      const outside = await readList(reply, 'logs', pause, take);
      return { entries, skipped, moreExist: hasMore(outside?.document) };
    },
  };
}

/** Either member may be missing, since the specification has neither. A value of another form leaves the list unfinished. */
function hasMore(document: unknown): boolean {
  if (!isObject(document)) return false;
  const { hasMoreData: more, continuationToken: token } = document;
  const { success, data } = flag.safeParse(more);
  return !success || (data ?? (typeof token === 'string' && token !== ''));
}

const record = z.object({
  logId: text,
  timestamp: count,
  log: text,
  labels: z.record(z.string(), text).nullish(),
});

function reportDrift(raw: unknown, reply: Reply): void {
  const wrong = readLeniently(record, raw)?.wrong ?? ['an entry'];
  reply.reportDrift({ wrong, ...compareNames(raw, record.shape) });
}

function readEntry(raw: unknown, times: Times): OriginError | undefined {
  if (!isObject(raw)) return undefined;
  const labels = isObject(raw['labels']) ? raw['labels'] : {};
  const log = raw['log'];
  let read: { details: OriginErrorDetails | undefined } | undefined;
  const details = () => (read ??= { details: readDetails(log) }).details;
  return {
    id: readWord(raw['logId']) ?? '',
    at: readTimestamp(raw['timestamp'], times),
    // The labels usually have both; else the document is parsed.
    errorCode: readWord(labels['ErrorCode']) ?? details()?.errorCode,
    statusCode: readStatus(labels['StatusCode']) ?? details()?.statusCode,
    serverZone: readWord(labels['ServerZone']),
    path: () => readLeadingPath(log) ?? details()?.requestUrl?.split(/[?#]/u, 1)[0],
    details,
  };
}

/** The path, if RequestUrl is the first member. Parsing every document would double the time of half a million entries. */
function readLeadingPath(log: unknown): string | undefined {
  if (typeof log !== 'string' || !log.endsWith('}')) return undefined;
  // The path ends with the string, or where its query begins.
  const [, path, end] = /^\{"RequestUrl":"([^"\\?#]{0,2000})(.)/su.exec(log) ?? [];
  if (path === undefined || end === '\\') return undefined;
  return /[@=]/u.test(path) ? redactPath(path) : path;
}

const maxUrlLength = 2000;

/** Like `redactUrl`, and for tokens in the path: `/bcdn_token=…&expires=…/video/1.ts`. */
function redactPath(url: string): string {
  const safe = redactUrl(url.slice(0, maxUrlLength));
  return safe.includes('=') ? safe.replaceAll(/=[^/&;?#]+/g, '=…') : safe;
}

function readDetails(log: unknown): OriginErrorDetails | undefined {
  const document = typeof log === 'string' ? parseJson(log) : log;
  if (!isObject(document)) return undefined;
  const url = document['RequestUrl'];
  return omitMissing({
    requestUrl: typeof url === 'string' ? redactPath(url) : undefined,
    message: redactMessage(toSentence(document['Message'])),
    errorCode: readWord(document['ErrorCode']),
    statusCode: readStatus(document['StatusCode']),
  });
}

const address = /[a-z][a-z\d+.-]*:\/\/[^\s"'<>]+/giu;
const queryValue = /(?<=[?&][^\s=&?]{1,80}=)[^\s&"'<>]+/gu;
// All of a `Cookie: a=b; c=d`, and what follows `cookie` as `a=b`.
const cookies = /(?<=\bcookies?["']?(?:\s{0,3}[:=]\s{0,3}|\s(?=[^\s=;]+=)))[^\s;]+(?:;\s?[^\s;]+)*/giu;
// `Authorization: Bearer …`, `X-Api-Key=…`, `session "…"`, and after a space only what has a digit: `token 8f3a…`.
const credentials =
  /(?<=(?:authorization|token|secret|passw(?:or)?d|pwd|session(?:[-_]?id)?|sid|signature|api[-_ ]?key|accesskey|access[-_]key|credentials?|jwt)["']?(?:\s{0,3}[:=]\s{0,3}|\s(?=\S*\d))|\bbearer\s)(?:(?:bearer|basic|digest|token)\s)?(?:"[^"]*"|'[^']*'|[^\s,;&"']+)/giu;

/** The sentence without what may be secret in it: query values, cookies, credentials, random words. */
function redactMessage(sentence: string | undefined): string | undefined {
  return sentence
    ?.replaceAll(address, redactPath)
    .replaceAll(queryValue, '…')
    .replaceAll(cookies, '…')
    .replaceAll(credentials, '…')
    .replaceAll(/[^\s"'`<>|,;:=?&()[\]{}]{20,}/gu, (word) => (hasSecret(word) ? '…' : word));
}

/** A time far from the day of its log, or in the future, is in another unit or of a wrong clock: it counts as unknown. */
interface Times {
  readonly from: number;
  readonly to: number;
  readonly now: number;
}

const skewMs = 10 * minuteMs;

function readTimestamp(timestamp: unknown, { from, to, now }: Times): number | undefined {
  let read = timestamp;
  if (typeof read === 'string') read = /^\d{9,19}(?:\.\d+)?$/u.test(read) ? Number(read) : readTimeText(read);
  const at = typeof read === 'number' ? toEpochMs(read) : Number.NaN;
  return at >= from && at < to && at < now + skewMs ? Math.min(at, now - 1) : undefined;
}

/** ISO, or `Sat, 21 Nov 2026 11:40:00 GMT`: that only with its zone, since the service does not use this computer's. */
function readTimeText(text: string): number | undefined {
  const isZoned = text.length < 50 && /\d:\d\d.*(?:GMT|UTC|Z|[+-]\d\d:?\d\d)$/u.test(text);
  // A day alone tells no time.
  const at = /\d[t ]\d/iu.test(text) ? parseIsoTime(text) : undefined;
  return at ?? (isZoned ? Date.parse(text) : undefined);
}

function readWord(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, 200) : undefined;
}

function readStatus(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined;
}
