import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildApp } from '../src/app/build-app.ts';
import { readConfig } from '../src/app/config.ts';
import { UserError } from '../src/errors.ts';
import { createLogger, type Log } from '../src/telemetry/log.ts';
import { type CdnSimulator, startCdn } from './cdn/server.ts';
import { findFreePort } from './free-port.ts';
import { readManifest } from './slack/manifest.ts';
import { type SlackSimulator, startSlack } from './slack/server.ts';
import { createStory } from './story.ts';

export interface Playground {
  /** The page's address. */
  readonly url: string;
  /** The bot's own address. */
  readonly botUrl: string;
  readonly slack: SlackSimulator;
  readonly cdn: CdnSimulator;
  /** First steps; words between backticks are to be typed or pasted. */
  readonly hints: readonly string[];
  stop(): Promise<void>;
}

export interface PlaygroundOptions {
  /** Port of the page; a free one where it is taken. */
  readonly port: number;
  /** Deliver over signed HTTP instead of Socket Mode. */
  readonly http?: boolean;
  /** Keys are entered on the bot's own page in the browser instead of a form in Slack, as with `PUBLIC_URL`. */
  readonly keyPage?: boolean;
  /** Slack's assistant has the tools of the bot, in a conversation of its own. Keys are then entered on the page. */
  readonly assistant?: boolean;
  /** The bot's database and key file, and Slack's messages: both survive in it. */
  readonly dataDir: string;
  readonly zones?: number;
  /** An outage goes on, and people have the roles they are labelled with; else nothing has happened yet. */
  readonly story?: boolean;
  readonly log: Log;
}

/** The real bot, with a CDN and a Slack of this machine around it, and the Slack's page. */
export async function startPlayground(options: PlaygroundOptions): Promise<Playground> {
  const { http = false, assistant = false, dataDir, zones = 240, log } = options;
  const keyPage = options.keyPage === true || assistant;
  // The links of a page have to name this address before it is taken.
  const botPort = keyPage ? await findFreePort() : 0;
  const cdn = await startCdn({ zones });
  const story = options.story ? createStory(cdn) : undefined;
  // Elsewhere a doctor looks first.
  let retryNativeBlocks: (() => void) | undefined;
  const slack = await onPort(options.port, (port) =>
    startSlack({
      port,
      page: join(import.meta.dirname, 'page'),
      keep: dataDir,
      ...(story ? { signsAt: () => story.now().getTime() } : {}),
      hints: (did) => (story?.hints ?? []).filter((hint) => !hint.isFollowed(did)).map(({ text }) => text),
      onTaken: () => retryNativeBlocks?.(),
      samples: {
        zone: 'shop',
        app: 'app0worker00002',
        volume: 'old-cache',
        reason: 'Its node is gone since Thursday',
      },
      ...readManifest({ assistant }),
    }),
  );
  const config = readConfig({
    SLACK_BOT_TOKEN: slack.botToken,
    ...(http || assistant ? { SLACK_SIGNING_SECRET: slack.signingSecret } : {}),
    ...(http ? {} : { SLACK_APP_TOKEN: slack.appToken }),
    SLACK_API_URL: `${slack.url}/api/`,
    CDN_API_URL: cdn.url,
    CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl,
    DATA_DIR: dataDir,
    PORT: String(botPort),
    ...(keyPage ? { PUBLIC_URL: `http://127.0.0.1:${botPort}` } : {}),
  });
  const closeSimulators = async (): Promise<void> => {
    story?.end();
    await Promise.all([slack.close(), cdn.close()]);
  };
  try {
    const app = await buildApp({ config, log, ...(story ? { now: story.now } : {}) });
    retryNativeBlocks = app.retryNativeBlocks;
    try {
      await app.start();
    } catch (error) {
      await app.stop();
      throw error;
    }
    if (assistant) slack.serveTools(`http://127.0.0.1:${botPort}`);
    if (http) slack.deliverTo(`http://127.0.0.1:${app.port()}/slack/events`);
    await story?.tell(slack);
    return {
      url: slack.url,
      botUrl: `http://127.0.0.1:${app.port()}`,
      slack,
      cdn,
      hints: story?.hints.map(({ text }) => text) ?? [],
      async stop() {
        await app.stop();
        await closeSimulators();
      },
    };
  } catch (error) {
    await closeSimulators();
    throw error;
  }
}

/** Starts on the given port, or on a free one where it is taken. */
async function onPort<Started>(port: number, start: (port: number) => Promise<Started>): Promise<Started> {
  try {
    return await start(port);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    return await start(0);
  }
}

const usage = `npm run playground -- [options]

  --port N    port of the page (4400; a free one where it is taken)
  --http      deliver over signed HTTP instead of Socket Mode
  --key-page  enter keys on the bot's own page, as where PUBLIC_URL is set
  --assistant Slack's assistant has the bot's tools (implies --key-page)
  --fresh     forget linked keys and messages
  --zones N   how many pull zones the CDN has (240)
  --log L     how much the bot logs: error, warn, info or debug (error)`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4400' },
      http: { type: 'boolean', default: false },
      'key-page': { type: 'boolean', default: false },
      assistant: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
      zones: { type: 'string', default: '240' },
      log: { type: 'string', default: 'error' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(usage);
  const level = (['error', 'warn', 'info', 'debug'] as const).find((one) => one === values.log);
  if (!level) throw new UserError(`There is no log level “${values.log}”.`, usage);
  const port = wholeNumber('--port', values.port, 65_535);
  const dataDir = resolve('.playground');
  if (values.fresh) await rm(dataDir, { recursive: true, force: true });
  const log = createLogger(level);
  // As in src/main.ts: Slack's Socket Mode client may reject without a handler.
  process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));

  const zones = wholeNumber('--zones', values.zones, 100_000);
  const playground = await startPlayground({
    port,
    http: values.http,
    keyPage: values['key-page'],
    assistant: values.assistant,
    dataDir,
    zones,
    story: true,
    log,
  });
  let asked = false;
  const stop = (): void => {
    if (asked) process.exit(1);
    asked = true;
    console.log('\nStopping…');
    playground.stop().then(() => process.exit(0), fail);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  console.log(welcome(playground, port, values.http));
}

function welcome({ url, hints }: Playground, wished: number, http: boolean): string {
  const moved =
    wished !== 0 && !url.endsWith(`:${wished}`) ? `  (port ${wished} is taken, so this is a free one)` : '';
  const lines = hints.map((hint, index) => `  ${index + 1}. ${hint.replaceAll(/[`*]/g, '')}`);
  return [
    '',
    `The playground is at ${url}${moved}`,
    `The bot in it is the real one, over ${http ? 'signed HTTP' : 'Socket Mode'}; Slack and the CDN are simulated on this machine.`,
    '',
    ...lines,
    '',
    'Ctrl-C ends it. Linked keys and messages stay in .playground until you start it with --fresh.',
  ].join('\n');
}

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new UserError(`${name} takes a whole number up to ${most}, not “${text}”.`, usage);
}

function fail(error: unknown): never {
  const misused =
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  if (error instanceof UserError) console.error([error.message, error.hint].filter(Boolean).join('\n\n'));
  else if (misused) console.error(`${error.message}\n\n${usage}`);
  else console.error('The playground failed:', error);
  process.exit(1);
}

if (import.meta.main) main().catch(fail);
