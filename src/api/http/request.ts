import { createFetch } from 'ofetch';
import { redactValues } from '../../secrets/scanner.ts';
import type { Secret } from '../../secrets/secret.ts';
import { createReadDeadline, parseWithExactIds, type ReadDeadline, readChunks, readText } from './bodies.ts';
import {
  ApiError,
  type ApiErrorCode,
  type ApiErrorFacts,
  classifyStatus,
  type ErrorDetails,
  readErrorBody,
  readErrorText,
} from './errors.ts';
import { type ErrorBudget, findRetryDelay, readRetryAfter } from './retry.ts';

/** One call of an operation. */
export interface ApiRequest {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly address: string;
  readonly query?: Readonly<Record<string, string | number>>;
  /** JSON text. */
  readonly body?: string;
  /** Values of the body that must not appear in an error. */
  readonly secrets?: readonly Secret[];
  readonly accept?: string;
  /** Only reads. The export is a POST and does. */
  readonly isRead: boolean;
  /** Sent at most once, even after a 429. */
  readonly neverRetry?: true;
  /** The service works long before it answers: it gets three times as long. */
  readonly isSlow?: true;
}

/** A 2xx answer whose body has not been read. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  /** Read it once, to its end or leave it early: the connection stays open until then. */
  readonly chunks: () => AsyncGenerator<Uint8Array, void>;
  /** Milliseconds without an element after which reading a list gives up. */
  readonly patienceMs: number;
  /** The whole body, parsed; undefined if it is empty. For small bodies. */
  readonly json: () => Promise<unknown>;
  /** An error about this answer. */
  readonly error: (code: ApiErrorCode, words?: ErrorDetails) => ApiError;
  /** The error for a body of the wrong outer shape, with the service's message if it has one. */
  readonly wrongShape: (body: unknown) => ApiError;
}

/**
 * Sends a request and passes the answer to `consume`. Both together are one try, so that a body that is cut short can be
 * read again; the result of `consume` must not depend on an earlier try. Throws ApiError only.
 */
export type Send = <T>(request: ApiRequest, consume: (reply: Reply) => Promise<T>) => Promise<T>;

export interface Transport {
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds until the headers, and between two pieces of a body. */
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

// Bytes. The largest answer that is read whole, a page of API keys, has about 100 kB.
const maxJsonBytes = 16_000_000;
const maxErrorBytes = 64_000;

/** The only way to the CDN: the key, timeouts, errors and retries are handled here. */
export function createSend(
  transport: Transport,
  key: Secret,
  signal: AbortSignal | undefined,
  allowance?: ErrorBudget,
): Send {
  const { timeoutMs, now, sleep, random } = transport;
  const ofetch = createFetch({
    fetch: transport.fetch,
    // ofetch would retry a GET at once, and on 409 too; the rule is in retry.ts.
    defaults: { retry: 0, ignoreResponseError: true, responseType: 'stream' },
  });

  return async function send(request, consume) {
    let waitedMs = 0;
    for (let tries = 1; ; tries += 1) {
      if (signal?.aborted)
        throw new ApiError({ code: 'cancelled', operation: request.operation, sent: tries > 1 });
      try {
        const attempt = async () => consume(await once(request));
        return await (allowance ? allowance.spend(attempt) : attempt());
      } catch (error) {
        if (!(error instanceof ApiError) || request.neverRetry) throw error;
        const wait = findRetryDelay({ error, isRead: request.isRead, tries, waitedMs, random: random() });
        if (wait === undefined) throw error;
        // A cancelled request ends the wait; the loop checks the signal.
        await sleep(wait, signal).catch(() => {});
        waitedMs += wait;
      }
    }
  };

  async function once(request: ApiRequest): Promise<Reply> {
    const watch = createReadDeadline(signal);
    const patienceMs = request.isSlow ? 3 * timeoutMs : timeoutMs;
    watch.start(patienceMs);
    const { operation, method, query, body } = request;
    const response = await ofetch
      .raw(request.address, {
        method,
        // With 'follow' the key would travel to wherever a redirect points.
        redirect: 'manual',
        signal: watch.signal,
        headers: {
          AccessKey: key.reveal(),
          Accept: request.accept ?? 'application/json',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(query ? { query } : {}),
        ...(body === undefined ? {} : { body }),
      })
      .catch((error: unknown) => {
        watch.end();
        // A FetchError contains the key and the address. Only whether the request was sent is kept.
        throw new ApiError({ operation, ...withoutAnswer(error, watch) });
      });
    watch.pause();

    const { status, headers } = response;
    const requestId = readRequestId(headers, hide);
    const fail = (code: ApiErrorCode, facts: Partial<ApiErrorFacts> = {}) =>
      new ApiError({ code, operation, sent: true, status, requestId, ...facts });
    const chunks = () => readChunks(response.body, watch, patienceMs, () => fail(ending(watch, 'cut')));
    const text = (bytes: number) =>
      readText(chunks(), {
        bytes,
        ms: 3 * patienceMs,
        tooLong: () => fail('unexpected'),
        tooSlow: () => fail('timeout'),
      });

    if (!response.ok) {
      const body = await text(maxErrorBytes).catch(ignoreUnreadable);
      const words = readErrorText(body, hide);
      const retryAfterSeconds = readRetryAfter(headers.get('retry-after'), now());
      throw fail(classifyStatus(status, words, isHtml(headers, body)), {
        ...toErrorFacts(words),
        retryAfterSeconds,
      });
    }

    const error: Reply['error'] = (code, words) => fail(code, words ? toErrorFacts(words) : {});
    return {
      status,
      headers,
      requestId,
      chunks,
      patienceMs: 3 * patienceMs,
      error,
      async json() {
        const body = await text(maxJsonBytes);
        if (body.trim() === '') return undefined;
        try {
          return parseWithExactIds(body);
        } catch {
          // JSON without an end: the connection was closed early.
          throw fail(/^\s*[[{]/.test(body) && !/[\]}]\s*$/.test(body) ? 'cut' : 'unexpected');
        }
      },
      wrongShape(body) {
        const words = readErrorBody(body, hide);
        // A bare string explains a failure only with an error status.
        const explains = words.kind !== 'none' && typeof body !== 'string';
        return error(explains ? 'refused' : 'unexpected', explains ? words : undefined);
      },
    };

    function hide(text: string): string {
      const secrets = [key, ...(request.secrets ?? [])];
      return redactValues(
        text,
        secrets.map((secret) => secret.reveal()),
      );
    }
  }

  function ending(watch: ReadDeadline, otherwise: ApiErrorCode): ApiErrorCode {
    if (signal?.aborted) return 'cancelled';
    return watch.timedOut() ? 'timeout' : otherwise;
  }

  function withoutAnswer(error: unknown, watch: ReadDeadline): { code: ApiErrorCode; sent: boolean } {
    const code = ending(watch, 'unreachable');
    return { code, sent: code !== 'unreachable' || !neverConnected(error) };
  }
}

/** An unreadable error body counts as empty. A cancelled request stays cancelled. */
function ignoreUnreadable(error: unknown): string {
  if (error instanceof ApiError && error.code === 'cancelled') throw error;
  return '';
}

function toErrorFacts({ message, errorKey, fieldErrors }: ErrorDetails): Partial<ApiErrorFacts> {
  return { serviceMessage: message, errorKey, fieldErrors };
}

function readRequestId(headers: Headers, hide: (text: string) => string): string | undefined {
  // A redacted value no longer has this shape.
  return /^[\w.:-]{1,80}$/.exec(hide(headers.get('cdn-requestid') ?? ''))?.[0];
}

function isHtml(headers: Headers, text: string): boolean {
  return /^\s*text\/html/i.test(headers.get('content-type') ?? '') || /^\s*<(!doctype|html)/i.test(text);
}

// Codes of failed connections: the request cannot have reached the service.
const connectErrorCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_INVALID_ARG',
]);

function neverConnected(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string' && isConnectError(at.code)) return true;
  }
  return false;
}

function isConnectError(code: string): boolean {
  return (
    connectErrorCodes.has(code) ||
    code.startsWith('ERR_TLS_') ||
    code.includes('CERT') ||
    code.startsWith('ERR_SSL_')
  );
}
