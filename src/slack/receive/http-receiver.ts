import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App, Receiver } from '@slack/bolt';
import { type Secret, withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Egress } from '../send/egress.ts';

// Bolt's own limit. A modal is at most 250 kB, an event far less.
const bodyLimit = 4 * 1024 * 1024;
// Slack's rule for old timestamps, applied to future ones too: Bolt accepts those.
const clockSkewSeconds = 5 * 60;
const longestCheck = 1024;

export interface HttpReceiver extends Receiver {
  /** Answers `POST /slack/events`. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/**
 * Passes signed HTTP requests from Slack to Bolt. Bolt's own receiver answers 400 to a form whose content type names a
 * charset, accepts timestamps from the future, and costs about twice as much for each request; its signature check
 * compares by two further HMACs, which was 44 % of an acknowledgement.
 *
 * Source of the rules: https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
export function createHttpReceiver(options: {
  signingSecret: Secret;
  egress: Pick<Egress, 'acknowledgement'>;
  log: Log;
  now: () => Date;
}): HttpReceiver {
  const { egress, log } = options;
  const signingSecret = options.signingSecret.reveal();
  let app: App | undefined;

  const isGenuine = (request: IncomingMessage, body: string): boolean => {
    const signature = request.headers['x-slack-signature'];
    const timestamp = Number(request.headers['x-slack-request-timestamp']);
    if (typeof signature !== 'string' || !Number.isInteger(timestamp)) return false;
    const nowMilliseconds = options.now().getTime();
    if (Math.abs(timestamp - nowMilliseconds / 1000) > clockSkewSeconds) return false;
    const digest = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
    const expected = Buffer.from(`v0=${digest}`);
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  };

  const dispatch = (request: IncomingMessage, response: ServerResponse, raw: string): void => {
    if (isCertificateCheck(request, raw)) return answer(response, 200);
    if (!isGenuine(request, raw)) {
      log.warn({ status: 401 }, 'request refused: wrong signature, or a clock is off');
      return answer(response, 401);
    }
    const body = parseBody(request.headers['content-type'], raw);
    if (!body) return answer(response, 400);
    if (body['ssl_check']) return answer(response, 200);
    if (body['type'] === 'url_verification') return answer(response, 200, { challenge: body['challenge'] });

    if (body['type'] === 'app_rate_limited') {
      log.warn({}, 'Slack drops events (app_rate_limited): too many within an hour');
      return answer(response, 200);
    }

    const retryNum = Number(request.headers['x-slack-retry-num']) || undefined;
    const retryReason = request.headers['x-slack-retry-reason'];
    const event = {
      body,
      ack: async (reply?: unknown) => answer(response, 200, egress.acknowledgement(reply)),
      ...(retryNum === undefined ? {} : { retryNum }),
      ...(typeof retryReason === 'string' ? { retryReason } : {}),
    };
    void withSecrets(async () => app?.processEvent(event))
      .catch((error: unknown) => log.error({ error }, 'a delivery failed outside its listener'))
      // Slack shows an error for an unacknowledged delivery; an empty 200 is right for unknown kinds.
      .finally(() => answer(response, 200));
  };

  return {
    init: (bolt) => {
      app = bolt;
    },
    start: async () => undefined,
    stop: async () => undefined,
    handle(request, response) {
      const chunks: Buffer[] = [];
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= bodyLimit) chunks.push(chunk);
        else {
          answer(response, 413);
          request.destroy();
        }
      });
      request.on('end', () => {
        if (size <= bodyLimit) dispatch(request, response, Buffer.concat(chunks).toString('utf8'));
      });
      request.on('error', () => undefined);
    },
  };
}

/**
 * Slack checks the certificate of a command's address with an unsigned form that holds `ssl_check=1` (and a token) and
 * expects a 200. A form that asks for anything is none.
 *
 * Source: https://docs.slack.dev/interactivity/implementing-slash-commands
 */
function isCertificateCheck(request: IncomingMessage, raw: string): boolean {
  if (request.headers['x-slack-signature'] !== undefined || raw.length > longestCheck) return false;
  if (!request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return false;
  const form = new URLSearchParams(raw);
  return form.get('ssl_check') === '1' && !form.has('command') && !form.has('payload');
}

/** Answers once; later answers are ignored. */
function answer(response: ServerResponse, status: number, body?: unknown): void {
  if (response.headersSent || response.destroyed) return;
  if (body === undefined || body === '') {
    response.writeHead(status, { 'content-length': 0 }).end();
    return;
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}

/** Events are JSON; everything else is a form, in which interactions are JSON in `payload`. */
function parseBody(contentType: string | undefined, raw: string): Record<string, unknown> | undefined {
  try {
    if (contentType?.startsWith('application/json')) return asRecord(JSON.parse(raw));
    const form = new URLSearchParams(raw);
    const payload = form.get('payload');
    return payload === null ? Object.fromEntries(form) : asRecord(JSON.parse(payload));
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
