import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll } from 'vitest';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { findFreePort } from '../../simulator/free-port.ts';
import type { Actor } from '../../simulator/slack/actor.ts';
import { readManifest } from '../../simulator/slack/manifest.ts';
import type { VisibleMessage } from '../../simulator/slack/messages.ts';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import { buildApp } from '../../src/app/build-app.ts';
import { type Role, readConfig } from '../../src/app/config.ts';
import type { ChatApp } from '../../src/app/wire.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { copyEmbeddedDatabase } from './database-templates.ts';
import { submitKey } from './page-client.ts';

export interface Bot {
  readonly slack: SlackSimulator;
  readonly cdn: CdnSimulator;
  readonly app: ChatApp;
  /** Every line it logged, at debug level. */
  readonly logs: string[];
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

type Env = Readonly<Record<string, string>>;

export interface BotOptions {
  readonly transport?: 'socket' | 'http';
  readonly zones?: number;
  /** `few`: large accounts are made sooner. */
  readonly zoneMembers?: 'all' | 'few';
  /** The bot's clock. */
  readonly now?: () => Date;
  /** The clock by which the CDN makes its logs and charts. */
  readonly cdnNow?: () => Date;
  readonly env?: Env;
  /** Variables that follow from where the simulators are. */
  readonly envOf?: (at: Pick<Bot, 'slack' | 'cdn'>) => Promise<Env>;
  /** A directory whose database is there already. */
  readonly dataDir?: string;
  readonly slack?: Parameters<typeof startSlack>[0];
  /** `web`: its jobs are left to others. */
  readonly role?: Role;
  readonly install?: 'token' | 'oauth';
}

/** The real bot on a throw-away embedded database, with the Slack and the CDN of `simulator/`. */
export async function startBot(options: BotOptions = {}): Promise<Bot> {
  const { transport = 'socket', now = () => new Date() } = options;
  const assistant = transport === 'http' && options.env?.['PUBLIC_URL'] !== undefined;
  const [slack, cdn, dataDir] = await Promise.all([
    startSlack({ ...readManifest({ assistant }), signsAt: () => now().getTime(), ...options.slack }),
    startCdn({
      zones: options.zones ?? 25,
      zoneMembers: options.zoneMembers ?? 'all',
      now: () => (options.cdnNow?.() ?? new Date()).getTime(),
    }),
    options.dataDir ?? mkdtemp(join(tmpdir(), 'chatops-')),
  ]);
  const env = {
    ...environment({ ...options, slack, cdn, dataDir }),
    ...options.env,
    ...(await options.envOf?.({ slack, cdn })),
  };
  if (options.dataDir === undefined && !('DATABASE_URL' in env))
    await copyEmbeddedDatabase(env['DATA_DIR'] ?? dataDir);
  const logs: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logs.push(chunk.toString('utf8'));
      done();
    },
  });
  const app = await buildApp({
    config: readConfig(env),
    log: createLogger('debug', sink),
    now,
    role: options.role ?? 'all',
  });
  await app.start();
  if (transport === 'http') slack.deliverTo(`http://127.0.0.1:${app.port()}/slack/events`);
  const stop = async (): Promise<void> => {
    await app.stop();
    await Promise.all([slack.close(), cdn.close()]);
    await rm(dataDir, { recursive: true, force: true });
    // Every test holds the bot to the rules of Slack.
    if (slack.problems.length > 0) throw new Error(`Slack has rules: ${JSON.stringify(slack.problems)}`);
  };
  return { slack, cdn, app, logs, env, stop, [Symbol.asyncDispose]: stop };
}

/** The bot of a file of tests, where these people have connected a key in #ops. To be called once, at the top of the file. */
export async function useBot(
  options: BotOptions = {},
  people: readonly string[] = ['U0ALICE00'],
): Promise<Bot> {
  const bot = await startBot(options);
  afterAll(() => bot.stop());
  for (const person of people) await connect(bot, person, 'C0OPS0000');
  return bot;
}

/** The environment variables that point a bot at the simulators. */
export function environment(options: {
  slack: SlackSimulator;
  cdn: CdnSimulator;
  dataDir: string;
  transport?: 'socket' | 'http';
  install?: 'token' | 'oauth';
}): Record<string, string> {
  const { slack, cdn } = options;
  return {
    ...(options.install === 'oauth'
      ? {
          SLACK_CLIENT_ID: slack.clientId,
          SLACK_CLIENT_SECRET: slack.clientSecret,
          SLACK_STATE_SECRET: 'a state secret for tests',
        }
      : { SLACK_BOT_TOKEN: slack.botToken }),
    ...(options.transport === 'http'
      ? { SLACK_SIGNING_SECRET: slack.signingSecret }
      : { SLACK_APP_TOKEN: slack.appToken }),
    SLACK_API_URL: `${slack.url}/api/`,
    CDN_API_URL: cdn.url,
    CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl,
    DATA_DIR: options.dataDir,
    PORT: '0',
    LOG_LEVEL: 'debug',
  };
}

/** Links a key as a person does: the command, the form or the page, the answer. */
export async function connect(
  bot: Pick<Bot, 'slack' | 'cdn' | 'env'>,
  userId: string,
  channelId: string,
  key = bot.cdn.key,
  teamId?: string,
): Promise<void> {
  const person = bot.slack.as(userId, channelId, teamId);
  if (bot.env['PUBLIC_URL'] !== undefined) {
    const done = await submitKey(await requestConnectLink(person), key);
    if (done.status !== 200) throw new Error(`the page answered ${done.status}: ${done.text}`);
    return;
  }
  await person.slash('connect');
  await person.waitForModal(/key/i);
  await person.submit({ accessKey: key });
  await person.waitForModal(/connected|linked/i);
  await person.closeModal();
}

/** Installs the app as an admin does in a browser: our page, Slack's, and back with a code. */
export async function install(bot: Pick<Bot, 'env'>, team: string): Promise<Response> {
  const page = await fetch(`${bot.env['PUBLIC_URL']}/slack/install`);
  const cookie = page.headers
    .getSetCookie()
    .map((value) => value.split(';', 1)[0])
    .join('; ');
  const link = /href="([^"]+authorize[^"]*)"/.exec(await page.text())?.[1]?.replaceAll('&amp;', '&') ?? '';
  const allowed = await fetch(`${link}&team=${team}`, { redirect: 'manual' });
  return fetch(allowed.headers.get('location') ?? '', { headers: { cookie } });
}

/** The messages that a person sees from now on: the next one that fits, and all. */
export function followMessages(person: Actor) {
  const before = new Set(person.messages().map(({ ts }) => ts));
  const isNew = ({ ts }: Pick<VisibleMessage, 'ts'>): boolean => !before.has(ts);
  return {
    next: (fits: (message: VisibleMessage) => boolean = () => true, longestMs?: number) =>
      person.waitForMessage((message) => isNew(message) && fits(message), longestMs),
    all: () => person.messages().filter(isNew),
  };
}

/** Types a command and returns the next message that its person sees. */
export async function ask(person: Actor, words: string, longestMs?: number): Promise<VisibleMessage> {
  const { next } = followMessages(person);
  await person.slash(words);
  return next(undefined, longestMs);
}

/** Types `/cdn disconnect` and says yes. */
export async function disconnect(person: Actor): Promise<void> {
  const { ts } = await ask(person, 'disconnect');
  await person.press('connect:forget', { ts });
  await person.waitForMessage((message) => message.ts === ts && message.reads.includes('Disconnected'));
}

/** Types `/cdn connect` and returns the new link to the page for keys. */
export async function requestConnectLink(person: Actor): Promise<string> {
  const before = new Set(person.messages().map(findConnectLink));
  await person.slash('connect');
  const isNew = (link: string | undefined): boolean => link !== undefined && !before.has(link);
  const offer = await person.waitForMessage((message) => isNew(findConnectLink(message)));
  return findConnectLink(offer) ?? '';
}

/** The address behind the button of a message that leads to the page for keys. */
export function findConnectLink(
  message: { readonly blocks: readonly object[] } | undefined,
): string | undefined {
  return /"url":"([^"]*\/connect\/[^"]*)"/.exec(JSON.stringify(message?.blocks ?? []))?.[1];
}

/** Variables for a bot that is reached from outside, and so has its page for keys. */
export async function createPublicUrl(): Promise<{ readonly PORT: string; readonly PUBLIC_URL: string }> {
  const port = await findFreePort();
  return { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` };
}
