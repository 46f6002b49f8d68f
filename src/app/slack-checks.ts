import { type Logger, LogLevel, WebClient } from '@slack/web-api';
import { z } from 'zod';
import { minuteMs } from '../lib/time.ts';
import { readSlackError } from '../slack/installations.ts';
import { type Scope, scopes } from '../slack/scopes.ts';
import { renderChart } from '../views/blocks/chart.ts';
import { renderTable } from '../views/blocks/table.ts';
import type { Config } from './config.ts';

/** One finding of `npm run doctor`. */
export interface Finding {
  /** `slack token` */
  readonly check: string;
  /** `limited`: it works, with less. `skipped`: it cannot be looked at from here. */
  readonly state: 'ok' | 'limited' | 'failed' | 'skipped';
  /** What was found. Never a secret. */
  readonly says: string;
  /** What to do. */
  readonly fix?: string;
}

interface Options {
  readonly slack: Config['slack'];
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => Date;
  /** Channels that digests post to. */
  readonly channels: readonly string[];
  /** A person who gets a chart and a table, which are taken back at once. */
  readonly probe: string | undefined;
}

/** Asks Slack for what the bot needs of it: token, scopes, connection, clock, channels, native blocks. */
export async function checkSlack(options: Options): Promise<Finding[]> {
  const { slack, fetch } = options;
  const { installing, apiUrl, appToken } = slack;
  const settings = {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    fetch,
    timeout: 5_000,
    retryConfig: { retries: 1 },
    logger: silent,
  };
  const findings: Finding[] = [await checkClock(options)];
  if (appToken) findings.push(await checkSocket(new WebClient(appToken.reveal(), settings)));
  if (installing.kind === 'oauth') {
    const says = 'many workspaces: each token is checked when it is used, and daily';
    return [...findings, { check: 'slack token', state: 'skipped', says }];
  }
  const client = new WebClient(installing.botToken.reveal(), settings);
  const token = await checkToken(client);
  findings.push(...token);
  if (token.some(({ state }) => state === 'failed')) return findings;
  for (const channel of options.channels) findings.push(await checkChannel(client, channel));
  if (options.probe !== undefined) findings.push(await probeNativeBlocks(client, options.probe));
  return findings;
}

// A refusal is a finding.
const ignore = (): void => {};
export const silent: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  setLevel: ignore,
  getLevel: () => LogLevel.ERROR,
  setName: ignore,
};

async function checkToken(client: WebClient): Promise<Finding[]> {
  try {
    const { team, response_metadata: metadata } = await client.auth.test();
    const given = z.array(z.string()).catch([]).parse(metadata?.scopes);
    return [{ check: 'slack token', state: 'ok', says: `accepted by ${team}` }, ...findLackingScopes(given)];
  } catch (error) {
    const fix = 'Copy the Bot User OAuth Token again: api.slack.com/apps → your app → OAuth & Permissions.';
    return [{ check: 'slack token', state: 'failed', says: describe(error), fix }];
  }
}

function findLackingScopes(given: readonly string[]): Finding[] {
  const lacking = Object.entries<Scope>(scopes).filter(([scope]) => !given.includes(scope));
  if (lacking.length === 0) return [{ check: 'scopes', state: 'ok', says: 'all are granted' }];
  const fix = 'Paste manifest.yml under App Manifest again and reinstall the app.';
  return lacking.map(([scope, { lost, optional = false }]) => ({
    check: `scope ${scope}`,
    state: optional ? 'limited' : 'failed',
    says: `not granted; without it: ${lost}`,
    fix,
  }));
}

async function checkSocket(client: WebClient): Promise<Finding> {
  const check = 'socket mode';
  try {
    await client.apps.connections.open();
    return { check, state: 'ok', says: 'the app token opens connections' };
  } catch (error) {
    const fix = 'SLACK_APP_TOKEN needs the scope connections:write, and the app Socket Mode enabled.';
    return { check, state: 'failed', says: describe(error), fix };
  }
}

// Slack refuses nothing by its clock, but the bot refuses signed deliveries that are older than five minutes.
const maxSkewMs = minuteMs;

async function checkClock({ slack, fetch, now }: Options): Promise<Finding> {
  const check = 'clock';
  const answer = await fetch(`${slack.apiUrl}api.test`, {
    method: 'POST',
    signal: AbortSignal.timeout(5_000),
  }).catch(() => undefined);
  if (!answer) {
    const fix = `Allow https to ${new URL(slack.apiUrl).host}, or check SLACK_API_URL.`;
    return { check, state: 'failed', says: 'Slack does not answer', fix };
  }
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return { check, state: 'skipped', says: 'Slack’s answer has no time' };
  const skew = Math.round((now().getTime() - theirs) / 1000);
  if (Math.abs(skew) * 1000 <= maxSkewMs) return { check, state: 'ok', says: `${skew} s from Slack’s` };
  const fix = 'Set the clock by NTP: a delivery that seems older than five minutes is refused.';
  return { check, state: 'failed', says: `${skew} s from Slack’s`, fix };
}

async function checkChannel(client: WebClient, channel: string): Promise<Finding> {
  const check = `channel ${channel}`;
  try {
    await client.conversations.history({ channel, limit: 1 });
    return { check, state: 'ok', says: 'the bot is a member' };
  } catch (error) {
    const code = readSlackError(error);
    if (code === 'missing_scope')
      return { check, state: 'skipped', says: 'without channels:history it is not known' };
    return {
      check,
      state: 'failed',
      says: describe(error),
      fix: 'Type /invite @cdn there, or choose another channel.',
    };
  }
}

async function probeNativeBlocks(client: WebClient, userId: string): Promise<Finding> {
  const check = 'native blocks';
  const labels = ['1', '2'];
  const blocks = [
    ...renderChart({
      kind: 'bar',
      title: 'Probe',
      unit: 'Points',
      labels,
      series: [{ name: 'Points', values: [1, 2] }],
    }),
    ...renderTable({ caption: 'Probe', columns: ['Name', 'Value'], rows: [['a', 'b']] }),
  ];
  try {
    const { channel, ts } = await client.chat.postMessage({
      channel: userId,
      text: 'Probe of charts and tables',
      blocks,
    });
    if (channel !== undefined && ts !== undefined) await client.chat.delete({ channel, ts });
    return { check, state: 'ok', says: 'messages take charts and tables' };
  } catch (error) {
    const says = `${describe(error)}; answers come with words in their place`;
    return { check, state: 'limited', says, fix: 'Slack’s plan of this workspace may not have them.' };
  }
}

function describe(error: unknown): string {
  const code = readSlackError(error);
  return code === undefined ? 'Slack does not answer' : `Slack says ${code}`;
}
