import {
  type ChatPostMessageArguments,
  type ChatPostMessageResponse,
  ErrorCode,
  type Logger,
  type WebAPICallResult,
  type WebAPIHTTPError,
  type WebAPIRateLimitedError,
  WebClient,
  type WebClientOptions,
} from '@slack/web-api';
import { createCache } from '../../lib/cache.ts';
import { minuteMs } from '../../lib/time.ts';
import { readCode } from '../../outbox/classify-failure.ts';
import { SlackFailure } from '../../outbox/slack-port.ts';
import { redactDoubtful } from '../../secrets/scanner.ts';
import { allowSecrets, type Secret } from '../../secrets/secret.ts';
import type { Call } from '../../telemetry/metrics.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { readSlackError } from '../installations.ts';
import { type Egress, SecretLeakBlocked } from './egress.ts';
import type { SendNativeBlocks } from './native-blocks.ts';

interface ClientOptions {
  readonly apiUrl: string;
  readonly logger: Logger;
  readonly egress: Pick<Egress, 'check'>;
  readonly sendNativeBlocks: SendNativeBlocks;
  readonly onCall?: (call: Call) => void;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

// Upper bound of clients: token rotation brings a new token every twelve hours.
const poolSize = 500;

export type Clients = ReturnType<typeof createClients>;

/**
 * Web API clients, one for each token and kind, so that a 429 on one workspace's jobs pauses no other.
 * `headers` is never passed: WebClient 8 writes Authorization into the caller's object, so a token could leak into
 * another workspace's client.
 */
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
    /** For answers to people: gives up after seconds, since a trigger lives for three. */
    interactive: pool({ timeout: 5_000, retryConfig: { retries: 1, minTimeout: 100, maxTimeout: 500 } }),
    /** For jobs: a 429 comes back as an error instead of pausing a queue, so that jobs never hold up a person. */
    job: pool({ timeout: 10_000, retryConfig: { retries: 0 } }),
  };
}

/** Checks each call before it is queued, so that a blocked one is never sent and never retried. */
class CheckedClient extends WebClient {
  readonly #options: ClientOptions;
  readonly #tenant: string;

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
  }

  override async apiCall(method: string, content: Record<string, unknown> = {}): Promise<WebAPICallResult> {
    const { egress, onCall, sendNativeBlocks } = this.#options;
    return sendNativeBlocks({ tenant: this.#tenant, method }, content, (sent) => {
      egress.check('slack', sent, method);
      return observeCall(onCall, method, () => super.apiCall(method, redactDoubtful(sent)));
    });
  }
}

/** Runs a call of Slack and reports how it went, by its HTTP status where `readStatus` is given. */
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
    report(failure instanceof SlackFailure ? failure.code : 'no_answer');
    throw error;
  }
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Whether a failed call took effect, as a `SlackFailure`; errors that are not Slack's are returned unchanged. */
export function toSlackFailure(error: unknown): unknown {
  if (error instanceof SecretLeakBlocked)
    return new SlackFailure('refused', 'held_back', { cause: error, reference: error.reference });
  const code = readSlackError(error);
  if (code !== undefined)
    return new SlackFailure(readCode(code) === 'unclear' ? 'unknown' : 'refused', code, { cause: error });
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case ErrorCode.RateLimitedError: {
      const { retryAfter } = error as WebAPIRateLimitedError;
      return new SlackFailure('refused', 'ratelimited', { cause: error, retryAfterSeconds: retryAfter });
    }
    case ErrorCode.HTTPError:
      return new SlackFailure('unknown', `http_${(error as WebAPIHTTPError).statusCode}`, { cause: error });
    case ErrorCode.RequestError:
      return new SlackFailure('unknown', 'no_answer', { cause: error });
    default:
      // No token for that workspace, or a bug: nothing was sent.
      return error;
  }
}

/** Posts a message in a channel or, by a user's id, in their direct messages. */
export async function postMessage(
  client: WebClient,
  channel: string,
  { text, blocks, carries = [] }: Message,
  more: Pick<ChatPostMessageArguments, 'thread_ts' | 'metadata'> = {},
): Promise<ChatPostMessageResponse> {
  const content = { text, ...(blocks ? { blocks } : {}), unfurl_links: false, unfurl_media: false };
  return allowSecrets(carries, () => client.chat.postMessage({ channel, ...content, ...more }));
}

/** `tenant`: the owner of the response_url. */
export type PostToResponseUrl = (tenant: string, url: string, content: object) => Promise<void>;

const timeoutMs = 5_000;
/** Characters that are read of an answer: a word, or an object with the reasons. */
const maxAnswer = 200;

/**
 * Posts to a response_url at the hosts of `apiUrl`: five uses in thirty minutes, no scope, no membership.
 * https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
 *
 * @throws SecretLeakBlocked, Error with Slack's code in the form of the Web API's errors if Slack refused it, else Node's own.
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
    // One after the other: joined, they would be copied twice.
    egress.check('response_url', [url, ...address.searchParams.values()]);
    egress.check('response_url', body);
    const { status, text } = await observeCall(
      onCall,
      'response_url',
      () => post(address, body),
      (reply) => reply.status,
    );
    if (isOk(status) && !text.includes('"ok":false')) return;
    // The code comes alone or in JSON.
    const error = text.includes('invalid_blocks') ? 'invalid_blocks' : text;
    throw Object.assign(new Error(`Slack answered HTTP ${status}`), {
      status,
      data: { error, response_metadata: { messages: [text] } },
    });
  };
  return (tenant, url, content) =>
    sendNativeBlocks({ tenant, method: 'response_url' }, content, (sent) => postOnce(url, sent));
}

/**
 * Follows no redirect, and takes half of the processor time of `fetch`, whose signal keeps all that the delivery made until
 * its time is over.
 */
async function post(url: URL, body: string): Promise<{ readonly status: number; readonly text: string }> {
  // Loaded with the first answer: it costs a tenth of a second.
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

/** Whether an address is at or below the host of the Web API: that is slack.com, and its others are hooks.slack.com … */
export function isSlackAddress({ protocol, hostname }: URL, apiUrl: string): boolean {
  const api = new URL(apiUrl);
  return protocol === api.protocol && (hostname === api.hostname || hostname.endsWith(`.${api.hostname}`));
}

const maxAgeMs = minuteMs;
const askMs = 2_000;
/** The header has whole seconds, cut off. */
const cutOffMs = 500;

export type SlackClock = ReturnType<typeof createSlackClock>;

/** Slack's clock, as the headers of its answers tell it. */
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
    /** Seconds that this machine's clock is ahead, of the latest answer. Undefined until there is one. */
    skew,
    /** The same, from an answer at most a minute old: asks Slack if there is no such answer. */
    async refresh(): Promise<number | undefined> {
      if (latest && performance.now() - latest.heardAt < maxAgeMs) return skew();
      const asked = fetch(new URL('api.test', api), { method: 'POST', signal: AbortSignal.timeout(askMs) });
      // Whether Slack can be reached is another question.
      await asked.then(note, () => undefined);
      return skew();
    },
  };
}
