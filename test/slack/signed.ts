import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { Bot } from '../support/bot.ts';
import { alice } from './words.ts';

const form = 'application/x-www-form-urlencoded';

/** The headers with which Slack signs this body. */
export function sign(
  body: string,
  secret: string,
  { at = Date.now(), type = form }: { at?: number; type?: string } = {},
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    'content-type': type,
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${signature}`,
  };
}

/** The form of `/cdn help`, of Alice unless `more` says otherwise. Each trigger id is worked on once. */
export function commandForm(
  triggerId: string,
  text = 'help',
  more: Readonly<Record<string, string>> = {},
): string {
  const from = { team_id: 'T0ACME000', user_id: alice };
  return new URLSearchParams({ command: '/cdn', text, ...from, ...more, trigger_id: triggerId }).toString();
}

/** The form of a press, menu or submission, of Alice unless `body` says otherwise. */
export function interactionForm(body: object): string {
  const from = { user: { id: alice }, team: { id: 'T0ACME000', domain: 'acme' } };
  return new URLSearchParams({ payload: JSON.stringify({ ...from, ...body }) }).toString();
}

/** Delivers a form, or a body of another type, as Slack does; the text of its acknowledgement. */
export async function deliverSigned({ app, slack }: Bot, body: string, type = form): Promise<string> {
  const headers = sign(body, slack.signingSecret, { type });
  const response = await fetch(`http://127.0.0.1:${app.port()}/slack/events`, {
    method: 'POST',
    headers,
    body,
  });
  expect(response.status).toBe(200);
  return response.text();
}
