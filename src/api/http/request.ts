import { setTimeout as delay } from 'node:timers/promises';
import { createFetch } from 'ofetch';
import { SecretLeakBlocked } from '../../errors.ts';
import { parseJson, parseWithExactIds } from '../../lib/canonical-json.ts';
import { explainNetworkFailure, mayHaveBeenSent } from '../../lib/network-failure.ts';
import { redactValues } from '../../secrets/scanner.ts';
import type { Secret } from '../../secrets/secret.ts';
import {
  ApiError,
  type ApiErrorCode,
  type ApiErrorFacts,
  classifyStatus,
  isHtml,
  readErrorBody,
  toSentence,
} from './errors.ts';

export interface CdnOptions {
  readonly apiUrl: string;
  readonly originLoggingUrl: string;
  readonly fetch?: typeof globalThis.fetch;
  /** For the headers, and between two pieces of a body. Default 10 s. */
  readonly timeoutMs?: number;
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random?: () => number;
  readonly onAttempt?: (attempt: Attempt) => void;
  /** With member names and no values. */
  readonly onDrift?: (drift: Drift) => void;
}

export interface Attempt {
  readonly name: string;
  readonly outcome: 'ok' | 'failed' | ApiErrorCode;
  readonly status: number | undefined;
  readonly startedAt: number;
  readonly seconds: number;
}

/** Members by which an answer differs from the specification. */
export interface Drift {
  readonly operation: string;
  /** Of the wrong type, by path: `Hostnames[].ForceSSL`. They count as not reported. */
  readonly wrong: readonly string[];
  readonly missing: readonly string[];
  readonly unknown: readonly string[];
}

export interface ApiRequest {
  readonly operation: string;
  /** A GET unless given. One that is not a read is repeated only after 429, a DELETE never. */
  readonly method?: 'POST' | 'DELETE';
  readonly isRead?: true;
  readonly host?: 'originLoggingUrl';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: string;
  /** Values of the body that must not appear in an error. */
  readonly secrets?: readonly Secret[];
  readonly accept?: string;
  /** The service works long before it answers: it gets three times as long. */
  readonly isSlow?: true;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  /** Read it once, to its end or leave it early: the connection stays open until then. */
  readonly chunks: () => AsyncGenerator<Uint8Array, void>;
  readonly patienceMs: number;
  readonly json: () => Promise<unknown>;
  readonly error: (code: ApiErrorCode, words?: string) => ApiError;
  /** The error for a body of the wrong outer shape, with the service's message if it has one. */
  readonly wrongShape: (body: unknown) => ApiError;
  readonly reportDrift: (drift: Omit<Drift, 'operation'>) => void;
}

/** Sends a request and passes the answer to `consume`: together one try, which may be repeated. Throws ApiError only. */
export type Send = <T>(request: ApiRequest, consume: (reply: Reply) => Promise<T>) => Promise<T>;

// Bytes, decompressed. Values of hostile JSON take twenty times as much memory.
const maxJsonBytes = 1_000_000;
const maxErrorBytes = 64_000;
/** Members and elements of one object: each that is of a wrong type costs a kilobyte. A zone has two hundred. */
export const maxParts = 50_000;
const tookTooLong = new Error('the service took too long');

/** The only way to the CDN: the key, timeouts, errors and retries are handled here. */
export function createSend(cdn: CdnOptions, key: Secret, signal?: AbortSignal, budget?: ErrorBudget): Send {
  const { timeoutMs = 10_000, now = Date.now, random = Math.random, fetch = globalThis.fetch } = cdn;
  const { sleep = (ms, signal) => delay(ms, undefined, signal && { signal }) } = cdn;
  // ofetch would retry a GET at once, and on 409 too.
  const defaults = { retry: 0, ignoreResponseError: true, responseType: 'stream' } as const;
  const ofetch = createFetch({ fetch, defaults });

  return async function send(request, consume) {
    let waitedMs = 0;
    for (let tries = 1; ; tries += 1) {
      if (signal?.aborted)
        throw new ApiError({ code: 'cancelled', operation: request.operation, sent: tries > 1 });
      try {
        const attempt = () => observe(request, consume);
        return await (budget?.spend(attempt) ?? attempt());
      } catch (error) {
        if (!(error instanceof ApiError) || !mayRepeat(request, error)) throw error;
        const wait = findRetryDelay(error, tries, waitedMs, random());
        if (wait === undefined) throw error;
        await sleep(wait, signal).catch(() => {});
        waitedMs += wait;
      }
    }
  };

  async function observe<T>(request: ApiRequest, consume: (reply: Reply) => Promise<T>): Promise<T> {
    const startedAt = Date.now();
    const started = performance.now();
    let status: number | undefined;
    let outcome: Attempt['outcome'] = 'failed';
    try {
      const result = await consume(await once(request, (answered) => (status = answered)));
      outcome = 'ok';
      return result;
    } catch (error) {
      // Whatever reads an answer that nests too deep runs out of stack.
      const told = error instanceof RangeError ? unexpected(request.operation, status) : error;
      if (told instanceof ApiError) outcome = told.code;
      throw told;
    } finally {
      const seconds = (performance.now() - started) / 1000;
      cdn.onAttempt?.({ name: request.operation, outcome, status, startedAt, seconds });
    }
  }

  async function once(request: ApiRequest, onStatus: (status: number) => void): Promise<Reply> {
    const { operation, method = 'GET', host = 'apiUrl', path, query = {}, body = null } = request;
    const controller = new AbortController();
    const patienceMs = request.isSlow ? 3 * timeoutMs : timeoutMs;
    const codeOr = (code: ApiErrorCode): ApiErrorCode =>
      signal?.aborted ? 'cancelled' : controller.signal.reason === tookTooLong ? 'timeout' : code;
    const response = await waitAtMost(
      patienceMs,
      controller,
      ofetch.raw(cdn[host].replace(/\/+$/, '') + path, {
        method,
        // With 'follow' the key would travel to wherever a redirect points.
        redirect: 'manual',
        signal: AbortSignal.any([controller.signal, ...(signal ? [signal] : [])]),
        headers: { AccessKey: key.reveal(), Accept: request.accept ?? 'application/json' },
        query,
        body,
      }),
    ).catch((error: unknown) => {
      if (error instanceof Error && error.cause instanceof SecretLeakBlocked)
        throw new ApiError({ operation, code: 'held_back', sent: false });
      // A FetchError contains the key and the address. Only the cause and whether the request was sent are kept.
      const code = codeOr('unreachable');
      const network = code === 'unreachable' ? explainNetworkFailure(error, cdn[host]) : undefined;
      throw new ApiError({ operation, code, sent: mayHaveBeenSent(network), network });
    });

    const { status, headers } = response;
    onStatus(status);
    // A redacted value no longer has this shape.
    const requestId = /^[\w.:-]{1,80}$/.exec(hide(headers.get('cdn-requestid') ?? ''))?.[0];
    const fail = (code: ApiErrorCode, facts: Partial<ApiErrorFacts> = {}) =>
      new ApiError({ code, operation, sent: true, status, requestId, ...facts });

    if (!response.ok) {
      const text = await readText(maxErrorBytes).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'cancelled') throw error;
        return '';
      });
      const isPage = isHtml(headers.get('content-type'), text);
      // A refusal may be a sentence; the text of a broken service is for its developers.
      const body = parseJson(text) ?? (isPage || status >= 500 ? undefined : text);
      const { kind, ...facts } = readErrorBody(body, hide);
      const code = classifyStatus(status, { kind, ...facts }, isPage);
      throw fail(code, { ...facts, retryAfterSeconds: readRetryAfter(headers.get('retry-after'), now()) });
    }
    return {
      status,
      headers,
      requestId,
      chunks,
      patienceMs: 3 * patienceMs,
      error: (code, words) => fail(code, { serviceMessage: toSentence(words && hide(words)) }),
      async json() {
        const text = await readText(maxJsonBytes);
        if (countCommas(text) > maxParts) throw fail('too_large');
        // A compressed body of which nothing came out was cut.
        if (text.trim() === '' && headers.has('content-encoding')) throw fail('cut');
        if (text.trim() === '') return undefined;
        try {
          return parseWithExactIds(text);
        } catch {
          // JSON without an end: the connection was closed early.
          throw fail(/^\s*[[{]/.test(text) && !/[\]}]\s*$/.test(text) ? 'cut' : 'unexpected');
        }
      },
      wrongShape(body) {
        const { kind, ...facts } = readErrorBody(body, hide);
        // A bare string explains a failure only with an error status.
        return kind === 'none' || typeof body === 'string' ? fail('unexpected') : fail('refused', facts);
      },
      reportDrift: (found) => cdn.onDrift?.({ operation, ...found }),
    };

    async function* chunks(): AsyncGenerator<Uint8Array, void> {
      const reader = response.body?.getReader();
      try {
        if (!reader) return;
        for (;;) {
          // The clock runs only while the service is awaited. The error of fetch may contain the address.
          const { done, value } = await waitAtMost(patienceMs, controller, reader.read()).catch(() => {
            throw fail(codeOr('cut'));
          });
          if (done) return;
          if (value.length > 0) yield value;
        }
      } finally {
        // Closes the connection where the reader left early.
        controller.abort();
      }
    }

    async function readText(maxBytes: number): Promise<string> {
      const parts: Uint8Array[] = [];
      let length = 0;
      const end = performance.now() + 3 * patienceMs;
      for await (const chunk of chunks()) {
        length += chunk.length;
        if (length > maxBytes) throw fail('too_large');
        if (performance.now() > end) throw fail('timeout');
        parts.push(chunk);
      }
      // TextDecoder drops a byte order mark, which JSON.parse would refuse.
      return new TextDecoder().decode(Buffer.concat(parts));
    }

    function hide(text: string): string {
      const secrets = [key, ...(request.secrets ?? [])];
      return redactValues(
        text,
        secrets.map((secret) => secret.reveal()),
      );
    }
  }
}

const unexpected = (operation: string, status: number | undefined): ApiError =>
  new ApiError({ code: 'unexpected', operation, sent: true, status });

async function waitAtMost<T>(ms: number, controller: AbortController, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => controller.abort(tookTooLong), ms);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** After 429 everything but a deletion is repeated, after other failures only what reads. */
function mayRepeat({ method, isRead }: ApiRequest, { code }: ApiError): boolean {
  if (!method || isRead) return true;
  return code === 'rate_limited' && method !== 'DELETE';
}

/** Three tries and a few seconds in all, because a person is waiting for the answer. */
const maxTries = 3;
const maxWaitMs = 4_000;

/** Milliseconds to wait before the next try, undefined to give up; Retry-After counts if it fits into the time left. */
export function findRetryDelay(
  error: ApiError,
  tries: number,
  waitedMs: number,
  random: number,
): number | undefined {
  if (tries >= maxTries || !isTransient(error) || error.code === 'timeout') return undefined;
  const { retryAfterSeconds: asked } = error;
  const backoff = 250 * 2 ** (tries - 1) * (1 + random);
  // Never earlier than asked; the jitter keeps many waiters from coming back at once.
  const afterPause = asked === undefined ? backoff * 2 : asked * 1000 + 100 * random;
  const wait = error.code === 'rate_limited' ? afterPause : backoff;
  return wait <= maxWaitMs - waitedMs ? wait : undefined;
}

/** Commas outside of texts. A pattern would take quadratic time where a text has no end. */
function countCommas(json: string): number {
  let commas = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '"') isText = !isText;
    else if (isText && sign === '\\') at += 1;
    else if (!isText && sign === ',') commas += 1;
  }
  return commas;
}

/** Retry-After: seconds, or an HTTP date (RFC 9110 §10.2.3). Undefined where it is missing or says neither. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Math.min(Number(header), 86_400);
  // HTTP dates begin with the day's name; Date.parse alone would take "-5" for a year.
  const at = /^\s*[A-Za-z]/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, (at - now) / 1000), 86_400);
}

/** Failures of the service or the network, not of the request: the same one may succeed in a moment. */
export function isTransient({ code }: ApiError): boolean {
  return ['unavailable', 'unreachable', 'timeout', 'cut', 'rate_limited'].includes(code);
}

export type ErrorBudget = ReturnType<typeof createErrorBudget>;

/** Bounds the failed requests of one piece of work. Where the first one that ends fails, the work ends: the service is down. */
export function createErrorBudget(most: number) {
  let spent = 0;
  let isUp = false;
  let last: ApiError | undefined;
  return {
    spent: () => spent,
    /** Runs one try of one request. @throws its error; the last one, without sending, if the budget is spent. */
    async spend<T>(attempt: () => Promise<T>): Promise<T> {
      if (last && (!isUp || spent >= most)) throw last;
      try {
        const answer = await attempt();
        isUp = true;
        return answer;
      } catch (error) {
        if (error instanceof ApiError && isTransient(error)) {
          // Requests that were under way together fail together: a CDN that is down costs one.
          if (isUp || last === undefined) spent += 1;
          last = error;
        } else if (error instanceof ApiError && error.code !== 'cancelled') isUp = true;
        throw error;
      }
    },
  };
}
