import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Actor } from '../../../simulator/slack/actor.ts';
import { followMessages } from '../../support/bot.ts';
import { fetchPage, parseForm, submitForm } from '../../support/page-client.ts';

/** The address of the page, as it is behind the button of the answer to `/cdn token`. */
export async function openTokens(person: Actor): Promise<{ readonly reads: string; readonly url: string }> {
  const { next } = followMessages(person);
  await person.slash('token');
  const { reads, blocks } = await next(({ blocks }) => JSON.stringify(blocks).includes('/client'));
  return { reads, url: /http[^"]*\/client/u.exec(JSON.stringify(blocks))?.[0] ?? '' };
}

/** A token that a person makes on the page. */
export async function makeToken(person: Actor, name: string, days = '30'): Promise<string> {
  const { url } = await openTokens(person);
  const { action, fields } = parseForm(await fetchPage(url), url);
  const { html } = await submitForm(action, { ...fields, name, days });
  return /cdn_[\w-]{43}/u.exec(html)?.[0] ?? '';
}

/** Calls a tool at the bot's address as a client with this token. */
export async function callWithToken(origin: string, token: string, tool: string, args: object = {}) {
  const client = new Client({ name: 'editor', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', origin), { requestInit }));
  const { isError } = await client.callTool({ name: tool, arguments: { ...args } });
  await client.close();
  return { isError };
}

/** Arguments of a call that finds something, where the account has something. */
export const argumentsOf: Readonly<Record<string, object>> = {
  list_zones: {},
  get_zone: { zone: 'shop' },
  list_origin_errors: { zone: 'shop' },
  get_app: { app: 'app0api00000001' },
  get_script: { script: '301' },
  get_upload_scanning: { shield_zone: '501' },
  list_zone_changes: {},
  compare_zones: { one: 'shop', other: 'media' },
  list_my_requests: {},
  get_request: { request: 'none' },
  propose_volume_deletion: { app: 'app0api00000001', volume: 'data-1', reason: 'The node is gone' },
  propose_variable_change: { script: '301', variable: '12', required: true, reason: 'So says the runbook' },
};
