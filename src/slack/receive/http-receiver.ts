import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJson } from '../../lib/canonical-json.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { markVerified, readBody, throttleLog } from '../web/limits.ts';
import type { Deliver } from './deliver.ts';

// A modal is at most 250 kB, an event far less.
const maxBytes = 4 * 1024 * 1024;
const longestCheck = 1024;

export function createHttpReceiver(options: {
  signingSecret: Secret;
  deliver: Deliver;
  log: Log;
  now: () => Date;
}) {
  const { deliver, log, now } = options;
  const signature = createSignatureCheck(options);
  const { warn } = throttleLog(log, now);

  /** The body of a genuine delivery; undefined if the request was answered. Apart, so that nothing else is held meanwhile. */
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const isSigned = signature.isFresh(request);
    // Unsigned requests: at most 1 kB, enough for Slack's ssl_check.
    const read = await readBody(request, isSigned ? maxBytes : longestCheck).catch(() => undefined);
    if (!Buffer.isBuffer(read)) {
      const status = read === 'too-slow' ? 408 : 413;
      response.setHeader('connection', 'close');
      request.resume();
      return answer(response, isSigned ? status : 401);
    }
    const raw = read.toString('utf8');
    if (isCertificateCheck(request, raw)) return answer(response, 200);
    if (!isSigned || !signature.isGenuine(request, read)) {
      warn({ status: 401 }, 'request refused: wrong signature, or a clock is off');
      return answer(response, 401);
    }
    markVerified(request);
    const body = parseBody(request.headers['content-type'], raw);
    if (!body) return answer(response, 400);
    if (body['type'] === 'url_verification') return answer(response, 200, { challenge: body['challenge'] });
    if (body['type'] === 'app_rate_limited') {
      warn({}, 'Slack drops events (app_rate_limited): too many within an hour');
      return answer(response, 200);
    }
    return body;
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await receive(request, response);
    if (!body) return;
    const ack = async (reply?: unknown) => answer(response, 200, reply);
    const sentAt = Number(request.headers['x-slack-request-timestamp']) * 1000;
    try {
      await deliver(body, ack, { transport: 'http', sentAt });
    } catch {
      answer(response, 500);
    }
  };
}

/** Slack checks certificates by an unsigned form: https://docs.slack.dev/interactivity/implementing-slash-commands */
function isCertificateCheck({ headers }: IncomingMessage, raw: string): boolean {
  if (headers['x-slack-signature'] !== undefined) return false;
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return false;
  const form = new URLSearchParams(raw);
  return form.get('ssl_check') === '1' && !form.has('command') && !form.has('payload');
}

// Slack's rule for old timestamps, applied to future ones too.
const clockSkewSeconds = 5 * 60;

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
export function createSignatureCheck(options: { readonly signingSecret: Secret; readonly now: () => Date }) {
  const signingSecret = options.signingSecret.reveal();
  return {
    /** Whether it has a signature and a current timestamp. Does not check the signature. */
    isFresh(request: IncomingMessage): boolean {
      const { timestamp, signature } = readSignature(request);
      const age = Number(timestamp) - options.now().getTime() / 1000;
      // Slack sends decimal digits; Number() alone would also take 0x65 and 1e9.
      return signature !== '' && /^\d+$/u.test(timestamp) && Math.abs(age) <= clockSkewSeconds;
    },
    isGenuine(request: IncomingMessage, body: Buffer): boolean {
      const { timestamp, signature } = readSignature(request);
      const digest = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(body);
      const expected = Buffer.from(`v0=${digest.digest('hex')}`);
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

function readSignature({ headers }: IncomingMessage) {
  return {
    timestamp: String(headers['x-slack-request-timestamp']),
    signature: String(headers['x-slack-signature'] ?? ''),
  };
}

function answer(response: ServerResponse, status: number, body: unknown = ''): undefined {
  if (response.headersSent || response.destroyed) return;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}

/**
 * Events are JSON; everything else is a form, in which interactions are JSON in `payload`. Slack does not sign the type: under
 * another one `&payload=` in the text of a message would be an interaction.
 */
function parseBody(contentType: string | undefined, raw: string): Record<string, unknown> | undefined {
  const isJson = contentType?.startsWith('application/json') || /^\s*\{/u.test(raw);
  const form = isJson ? undefined : new URLSearchParams(raw);
  const json = form ? form.get('payload') : raw;
  const body = json === null ? Object.fromEntries(form ?? []) : parseJson(json);
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined;
}
