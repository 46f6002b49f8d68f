import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { Answer, Delivery, Transport } from './delivery.ts';
import { readBody } from './http.ts';

export interface HttpTransport extends Transport {
  /** The address of signed requests; undefined until the app has one. */
  address: string | undefined;
  close(): void;
}

/**
 * Sends what Slack sends over HTTP: commands form-encoded, interactivity as `payload=<json>`, events as JSON, each
 * signed (v0, HMAC-SHA256 over `v0:timestamp:body`). `signsAt`: the clock of the receiver, which
 * compares it with its own. A new connection each time, so that an app restarted on its port is found again.
 */
export function createHttpTransport(options: {
  signingSecret: string;
  signsAt: () => number;
}): HttpTransport {
  const agent = new Agent({ keepAlive: false });

  const transport: HttpTransport = {
    address: undefined,
    send: (delivery) =>
      new Promise<Answer>((resolve) => {
        const { body, type } = encode(delivery);
        const timestamp = String(Math.floor(options.signsAt() / 1000));
        const signature = createHmac('sha256', options.signingSecret)
          .update(`v0:${timestamp}:${body}`)
          .digest('hex');
        const retry: Record<string, string> = delivery.retry
          ? {
              'x-slack-retry-num': String(delivery.retry.attempt),
              'x-slack-retry-reason': delivery.retry.reason,
            }
          : {};
        const outgoing = request(transport.address ?? '', {
          method: 'POST',
          agent,
          headers: {
            'content-type': type,
            'content-length': Buffer.byteLength(body),
            'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
            'x-slack-request-timestamp': timestamp,
            'x-slack-signature': `v0=${signature}`,
            ...retry,
          },
        });
        outgoing.on('error', () => resolve({ status: 0, body: '' }));
        outgoing.on('response', (incoming) => {
          readBody(incoming).then(
            (bytes) =>
              resolve({
                status: incoming.statusCode ?? 0,
                body: decode(bytes.toString()),
                noRetry: incoming.headers['x-slack-no-retry'] === '1',
              }),
            () => resolve({ status: 0, body: '' }),
          );
        });
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
  return transport;
}

function encode({ kind, payload }: Delivery): { body: string; type: string } {
  const form = 'application/x-www-form-urlencoded';
  if (kind === 'events_api') return { body: JSON.stringify(payload), type: 'application/json' };
  if (kind === 'interactive')
    return { body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), type: form };
  return { body: new URLSearchParams(payload as Record<string, string>).toString(), type: form };
}

function decode(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' ? parsed : text;
  } catch {
    return text;
  }
}
