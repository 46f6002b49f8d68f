import { setTimeout } from 'node:timers/promises';
import {
  type ChatPostMessageArguments,
  type ChatPostMessageResponse,
  ErrorCode,
  type Logger,
  LogLevel,
  type WebAPICallResult,
  type WebAPIHTTPError,
  type WebAPIRateLimitedError,
  WebClient,
  type WebClientOptions,
} from '@slack/web-api';
import { SecretLeakBlocked } from '../../errors.ts';
import { createCache } from '../../lib/cache.ts';
import { explainNetworkFailure, mayHaveBeenSent } from '../../lib/network-failure.ts';
import { minuteMs } from '../../lib/time.ts';
import { classifySlackFailure, readCode, SlackFailure } from '../../outbox/slack-port.ts';
import { redactDoubtful } from '../../secrets/scanner.ts';
import { allowSecrets, type Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Call } from '../../telemetry/metrics.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { readSlackError } from '../installations.ts';
import { type Egress } from './egress.ts';
import type { SendNativeBlocks } from './native-blocks.ts';

interface ClientOptions {
  readonly apiUrl: string;
  readonly logger: Logger;
  readonly egress: Pick<Egress, 'check'>;
  readonly sendNativeBlocks: SendNativeBlocks;
  readonly onCall?: (call: Call) => void;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

// Token rotation brings a new token every twelve hours.
const poolSize = 500;

export type Clients = ReturnType<typeof createClients>;

/** Never pass `headers`: WebClient 8 writes the token into the caller's object, so another workspace could get it. */
export function createClients(options: ClientOptions) {
  const pool = (own: WebClientOptions): ((token: Secret, tenant: string) => WebClient) => {
    const clients = createCache<WebClient>({ now: () => new Date(), maxEntries: poolSize });
    return (token, tenant) => {
      const key = token.reveal();
      const client = clients.get(key) ?? new CheckedClient(options, key, tenant, own);
      clients.set(key, client);
      return client;
    };
  };
  return {
    /** For answers to people, whose triggers live for three seconds. */
    interactive: pool({ timeout: 5_000, retryConfig: { retries: 1, minTimeout: 100, maxTimeout: 500 } }),
    /** For jobs: a 429 is an error instead of a paused queue. */
    job: pool({ timeout: 10_000, retryConfig: { retries: 0 } }),
  };
}

/** Checks each call before it is queued, so that a blocked one is never sent. */
class CheckedClient extends WebClient {
  readonly #options: ClientOptions;
  readonly #tenant: string;
  readonly #isRetried: boolean;

  constructor(options: ClientOptions, token: string, tenant: string, own: WebClientOptions) {
    super(token, {
      slackApiUrl: options.apiUrl,
      logger: options.logger,
      allowAbsoluteUrls: false,
      rejectRateLimitedCalls: true,
      ...(options.fetch ? { fetch: options.fetch } : {}),
      ...own,
    });
    this.#options = options;
    this.#tenant = tenant;
    this.#isRetried = own.retryConfig?.retries !== 0;
  }

  override async apiCall(method: string, content: Record<string, unknown> = {}): Promise<WebAPICallResult> {
    const { egress, onCall, sendNativeBlocks } = this.#options;
    return sendNativeBlocks({ tenant: this.#tenant, method }, content, (sent) => {
      egress.check('slack', sent, method);
      const call = async () =>
        super.apiCall(method, redactDoubtful(sent)).catch((cause) => this.#throwNamed(cause));
      return observeCall(onCall, method, call);
    });
  }

  /** Slack's client leaves unnamed what it cannot read: a page in the place of JSON, a cut answer, a 429 without a pause. */
  #throwNamed(cause: unknown): never {
    const failure = toSlackFailure(cause);
    // The try before this one may have been sent.
    const isUnclear = this.#isRetried && failure instanceof SlackFailure && failure.code === 'not_sent';
    if (failure instanceof SlackFailure && !isUnclear) throw cause;
    const isLimit = cause instanceof Error && cause.message.startsWith('Retry header');
    throw new SlackFailure(isLimit ? 'ratelimited' : 'no_answer', { cause });
  }
}

async function observeCall<Result>(
  onCall: ClientOptions['onCall'],
  name: string,
  call: () => Promise<Result>,
  readStatus?: (result: Result) => number,
): Promise<Result> {
  const startedAt = Date.now();
  const started = performance.now();
  const report = (outcome: string, status?: number): void =>
    onCall?.({ name, outcome, status, startedAt, seconds: (performance.now() - started) / 1000 });
  try {
    const result = await call();
    const status = readStatus?.(result);
    report(status === undefined || isOk(status) ? 'ok' : 'refused', status);
    return result;
  } catch (error) {
    const failure = toSlackFailure(error);
    report(failure instanceof SlackFailure ? nameOutcome(failure.code) : 'no_answer');
    throw error;
  }
}

/** Slack's code if it is a known one: a label of a metric has a bounded number of values. */
function nameOutcome(code: string): string {
  return readCode(code) !== 'refused' || ['held_back', 'invalid_blocks'].includes(code) ? code : 'refused';
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Whether a failed call took effect, as a `SlackFailure`; other errors are returned unchanged. */
export function toSlackFailure(error: unknown): unknown {
  if (error instanceof SecretLeakBlocked)
    return new SlackFailure('held_back', { cause: error, reference: error.reference });
  const code = readSlackError(error);
  if (code !== undefined) return new SlackFailure(code, { cause: error });
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case ErrorCode.RateLimitedError: {
      const { retryAfter } = error as WebAPIRateLimitedError;
      return new SlackFailure('ratelimited', { cause: error, retryAfterSeconds: retryAfter });
    }
    case ErrorCode.HTTPError:
      return new SlackFailure(`http_${(error as WebAPIHTTPError).statusCode}`, { cause: error });
    case ErrorCode.RequestError:
      return new SlackFailure(mayHaveBeenSent(explainNetworkFailure(error)) ? 'no_answer' : 'not_sent', {
        cause: error,
      });
    default:
      return error;
  }
}

/** Repeats a call that Slack rate limits, with growing pauses, for `leftMs` in all: its message would be lost otherwise. */
export async function waitOutLimits<Result>(
  call: () => Promise<Result>,
  signal: AbortSignal,
  leftMs = 30_000,
): Promise<Result> {
  for (let growingMs = 0; ; growingMs = Math.min(minuteMs, 2 * growingMs || 4_000)) {
    try {
      return await call();
    } catch (error) {
      const { meaning, askedMs = 2_000 } = classifySlackFailure(toSlackFailure(error));
      const pauseMs = Math.max(askedMs, growingMs);
      leftMs -= pauseMs;
      if (meaning !== 'pass' || leftMs < 0) throw error;
      await setTimeout(pauseMs, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}

/** `channel` may be a user's id, for their direct messages. */
export async function postMessage(
  client: WebClient,
  channel: string,
  { text, blocks, carries = [] }: Message,
  more: Pick<ChatPostMessageArguments, 'thread_ts' | 'metadata'> = {},
): Promise<ChatPostMessageResponse> {
  const content = { text, ...(blocks ? { blocks } : {}), unfurl_links: false, unfurl_media: false };
  return allowSecrets(carries, () => client.chat.postMessage({ channel, ...content, ...more }));
}

/** Drops debug lines of Slack's libraries at every LOG_LEVEL: they hold whole payloads with tokens and typed keys. */
export function createLibraryLog(log: Log): Logger {
  return {
    debug: () => undefined,
    info: (...parts) => log.debug({}, join(parts)),
    warn: (...parts) => log.warn({}, join(parts)),
    error: (...parts) => log.error({}, join(parts)),
    setLevel: () => undefined,
    getLevel: () => LogLevel.INFO,
    setName: () => undefined,
  };
}

function join(parts: readonly unknown[]): string {
  return parts.map((part) => (part instanceof Error ? part.message : String(part))).join(' ');
}

export type PostToResponseUrl = (tenant: string, url: string, content: object) => Promise<void>;

const timeoutMs = 5_000;
const maxAnswer = 200;

/**
 * Five uses in thirty minutes, without scope or membership. @throws SecretLeakBlocked, or Slack's code as the Web API.
 */
export function createResponseUrls({
  apiUrl,
  egress,
  onCall,
  sendNativeBlocks,
}: Pick<ClientOptions, 'apiUrl' | 'egress' | 'onCall' | 'sendNativeBlocks'>): PostToResponseUrl {
  const postOnce = async (url: string, content: object): Promise<void> => {
    const body = JSON.stringify(redactDoubtful(content));
    const address = new URL(url);
    if (!isSlackAddress(address, apiUrl))
      throw new Error(`response_url is not an address of Slack: ${address.host}`);
    egress.check('response_url', [url, ...address.searchParams.values()]);
    egress.check('response_url', body);
    const { status, text } = await observeCall(
      onCall,
      'response_url',
      () => post(address, body),
      (reply) => reply.status,
    );
    // A page stands in the place of Slack's answer.
    if (isOk(status) && !/^\s*<|"ok": ?false/u.test(text)) return;
    // The code comes alone or in JSON.
    const [, error = text] = /"error": ?"(\w+)"/u.exec(text) ?? /\b(invalid_blocks)\b/u.exec(text) ?? [];
    throw Object.assign(new Error(`Slack answered HTTP ${status}`), {
      status,
      data: { error, response_metadata: { messages: [text] } },
    });
  };
  return (tenant, url, content) =>
    sendNativeBlocks({ tenant, method: 'response_url' }, content, (sent) => postOnce(url, sent));
}

/** Follows no redirect. The signal of `fetch` would keep the delivery in memory. */
async function post(url: URL, body: string): Promise<{ readonly status: number; readonly text: string }> {
  // Loading it takes a tenth of a second.
  const { request } = await import('undici');
  const { statusCode, body: answer } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text = (text + String(piece)).slice(0, maxAnswer);
  return { status: statusCode, text };
}

/** Such as hooks.slack.com beside slack.com, on the same port. Only a Slack of tests may use several ports. */
export function isSlackAddress(url: URL, apiUrl: string): boolean {
  const api = new URL(apiUrl);
  const isHost = url.hostname === api.hostname || url.hostname.endsWith(`.${api.hostname}`);
  const isPort = url.port === api.port || api.port !== '';
  return url.protocol === api.protocol && isHost && isPort && url.username + url.password === '';
}

const maxAgeMs = minuteMs;
const askMs = 2_000;
/** The header has whole seconds, cut off. */
const cutOffMs = 500;

export type SlackClock = ReturnType<typeof createSlackClock>;

/** Slack's clock, read from the headers of its answers. */
export function createSlackClock(options: {
  readonly apiUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => Date;
}) {
  const { apiUrl, fetch, now } = options;
  const api = new URL(apiUrl);
  let latest: { readonly skewMs: number; readonly heardAt: number } | undefined;

  const note = (response: Response): void => {
    const theirs = Date.parse(response.headers.get('date') ?? '');
    if (Number.isNaN(theirs)) return;
    latest = { skewMs: now().getTime() - theirs - cutOffMs, heardAt: performance.now() };
  };
  const skew = (): number | undefined => latest && latest.skewMs / 1000;
  const observe: typeof globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    note(response);
    return response;
  };
  return {
    fetch: observe,
    /** Seconds that this machine's clock is ahead; undefined until Slack has answered. */
    skew,
    /** The same, at most a minute old: asks Slack if need be. */
    async refresh(): Promise<number | undefined> {
      if (latest && performance.now() - latest.heardAt < maxAgeMs) return skew();
      const asked = fetch(new URL('api.test', api), { method: 'POST', signal: AbortSignal.timeout(askMs) });
      await asked.then(note, () => undefined);
      return skew();
    },
  };
}
