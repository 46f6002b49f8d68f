import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';

/** A delivery as an app receives it: the verified headers, and the body parsed. */
export interface Received {
  headers: Record<string, string | string[] | undefined>;
  raw: string;
  body: Record<string, unknown>;
}
export interface Reply {
  status?: number;
  body?: unknown;
  delayMs?: number;
  headers?: Record<string, string>;
}

/** What Slack itself says to the person whose command came to nothing. */
export const slackSays = {
  failed: '/cdn failed with the error "dispatch_failed"',
  noAnswer: '/cdn failed because the app did not respond',
};

/** A simulated Slack that ends with its test. */
export async function openSlack(options?: Parameters<typeof startSlack>[0]): Promise<SlackSimulator> {
  const slack = await startSlack(options);
  onTestFinished(() => slack.close());
  return slack;
}

/** A bare app written against Slack's documentation alone: checks the signature itself, gives the configured answers, ends with its test. */
export async function startStubApp(
  slack: SlackSimulator,
  reply: (received: Received) => Reply | Promise<Reply> = () => ({}),
): Promise<{ received: Received[]; origin: string }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const raw = Buffer.concat(parts).toString();
      const stamp = String(request.headers['x-slack-request-timestamp']);
      const expected = createHmac('sha256', slack.signingSecret).update(`v0:${stamp}:${raw}`).digest('hex');
      if (request.headers['x-slack-signature'] !== `v0=${expected}`) {
        response.writeHead(401).end();
        return;
      }
      const one = { headers: request.headers, raw, body: parse(raw, request.headers['content-type'] ?? '') };
      received.push(one);
      const { status = 200, body, delayMs = 0, headers = {} } = await reply(one);
      if (delayMs > 0) await new Promise<void>((resolve) => void setTimeout(resolve, delayMs));
      const json = typeof body === 'object';
      response.writeHead(status, { ...headers, ...(json ? { 'content-type': 'application/json' } : {}) });
      response.end(json ? JSON.stringify(body) : (body as string | undefined));
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  slack.deliverTo(`${origin}/slack/events`);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { received, origin };
}

/** Calls the Web API the way the SDK does: form-encoded, structures as JSON text. */
export async function callWebApi(
  slack: SlackSimulator,
  method: string,
  args: Record<string, unknown> = {},
  token: string | undefined = slack.botToken,
): Promise<Record<string, unknown>> {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(args))
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  const response = await fetch(`${slack.url}/api/${method}`, {
    method: 'POST',
    body: form,
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
  });
  return (await response.json()) as Record<string, unknown>;
}

export async function postJson(url: string, body: unknown): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
  return { status: response.status, text: await response.text() };
}

function parse(raw: string, type: string): Record<string, unknown> {
  if (type === 'application/json') return JSON.parse(raw) as Record<string, unknown>;
  const form = Object.fromEntries(new URLSearchParams(raw));
  return 'payload' in form ? (JSON.parse(form['payload'] ?? '{}') as Record<string, unknown>) : form;
}
