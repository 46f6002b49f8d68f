import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { readManifest } from '../../simulator/slack/manifest.ts';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import { openForm, saveSettings, submitForm, waitForEnd } from '../commands/exports/bot.ts';
import { says } from '../commands/exports/words.ts';
import { ask, connect, environment } from '../support/bot.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { copyEmbeddedDatabase } from '../support/database-templates.ts';
import { alice, ops } from '../support/people.ts';
import { type BotProcess, startBotProcess } from '../support/process.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';
import { startTlsFront, type TlsFront } from '../support/tls-front.ts';

// A company's network: no name resolves here, one proxy tunnels (CONNECT) to hosts whose certificates are of a private
// authority. The bot is the built one, in a process of its own.

const domain = 'company.test';
const names = ['slack', 'files.slack', 'hooks.slack', 'wss.slack', 'cdn', 'logs', 'traces'] as const;
const hosts = Object.fromEntries(names.map((name) => [name, `${name}.${domain}`])) as Record<
  (typeof names)[number],
  string
>;

let front: TlsFront;
let proxy: Proxy;
let slack: SlackSimulator;
let cdn: CdnSimulator;
let collector: Collector;
let dataDir: string;
let bot: BotProcess | undefined;

const addressOf = (name: (typeof names)[number]): string => `https://${hosts[name]}:${front.port}`;

beforeEach(async () => {
  [front, proxy, cdn, collector, dataDir] = await Promise.all([
    startTlsFront(Object.values(hosts)),
    startProxy(),
    startCdn({ zones: 5 }),
    startCollector(),
    mkdtemp(join(tmpdir(), 'chatops-')),
  ]);
  const addresses = {
    files: addressOf('files.slack'),
    hooks: addressOf('hooks.slack'),
    sockets: addressOf('wss.slack'),
  };
  slack = await startSlack({ ...readManifest(), addresses });
  await copyEmbeddedDatabase(dataDir);
  const leads = { cdn: cdn.url, logs: cdn.originLoggingUrl, traces: collector.url };
  for (const name of names)
    front.lead(hosts[name], Number(new URL({ ...leads }[name as keyof typeof leads] ?? slack.url).port));
});
afterEach(async () => {
  await bot?.kill('SIGKILL');
  proxy.close();
  await Promise.all([front.close(), slack.close(), cdn.close(), collector.close()]);
  await rm(dataDir, { recursive: true, force: true });
});

const environmentHere = (): Record<string, string> => ({
  ...environment({ slack, cdn, dataDir }),
  SLACK_API_URL: `${addressOf('slack')}/api/`,
  CDN_API_URL: addressOf('cdn'),
  CDN_ORIGIN_LOGGING_URL: addressOf('logs'),
  OTEL_EXPORTER_OTLP_ENDPOINT: addressOf('traces'),
  HTTPS_PROXY: proxy.url,
  NODE_EXTRA_CA_CERTS: front.authority,
});

const start = (env: Record<string, string> = {}): BotProcess =>
  (bot = startBotProcess({ ...environmentHere(), ...env }));

/** What differs from run to run, out. */
const stabilize = (said: string): string =>
  said
    .replaceAll(`:${front.port}`, '')
    .replaceAll(new URL(proxy.url).host, '<proxy>')
    .replaceAll(dataDir, '<data>')
    .replace(/-?\d+ s from/u, '<n> s from');

/** What a start that fails prints. */
async function readRefusal(env: Record<string, string> = {}): Promise<string> {
  const started = start(env);
  expect(await started.exited).toBe(1);
  // Each attempt says why, too.
  expect(started.output()).not.toContain('http request failed fetch failed');
  const lines = started.output().trimEnd().split('\n');
  return stabilize(lines.filter((line) => !line.startsWith('{')).join('\n'));
}

test('with the authority every way out goes through the tunnel, also with values in quotes', async () => {
  // As `docker --env-file` passes them on.
  const quoted = Object.entries(environmentHere()).map(([name, value]) => [name, `"${value}"`]);
  const { NODE_EXTRA_CA_CERTS: _, ...env } = Object.fromEntries(quoted) as Record<string, string>;
  await start(env).waitForOutput('"ready"');
  const person = slack.as(alice, ops);
  await connect({ slack, cdn, env: {} }, alice, ops);
  await ask(person, 'zones');
  await ask(person, 'errors');
  await saveSettings(slack, { operators: [alice] });
  await openForm(person);
  await submitForm(person);
  await waitForEnd(slack, `D${alice}`, says.posted());
  await bot?.kill('SIGTERM');
  const used = new Set(proxy.asked);
  expect(names.filter((name) => !used.has(`${hosts[name]}:${front.port}`))).toEqual([]);
  expect(collector.spans.length).toBeGreaterThan(0);
  expect(slack.problems).toEqual([]);
});

test('without the authority the start names it, the host and the code; doctor does so for each host', async () => {
  expect(await readRefusal({ NODE_EXTRA_CA_CERTS: '' })).toMatchSnapshot('start');
  expect(await readDoctor({ NODE_EXTRA_CA_CERTS: '' })).toMatchSnapshot('doctor');
  expect(await readRefusal({ NODE_EXTRA_CA_CERTS: join(dataDir, 'none.pem') })).toMatchSnapshot(
    'no such file',
  );
});

/** What doctor finds out about hosts. */
async function readDoctor(env: Record<string, string> = {}): Promise<string[]> {
  const doctor = startBotProcess({ ...environmentHere(), ...env }, 'doctor');
  await doctor.exited;
  const lines = stabilize(doctor.output()).split(/\n(?! )/u);
  return lines.filter((line) => /^\w+ +(?:slack|cdn|traces|socket|clock)\b/u.test(line));
}

test('a start whose WebSocket does not open names its host, not that of the Web API', async () => {
  const host = `${hosts['wss.slack']}:${front.port}`;
  const told: Record<string, string> = {};
  proxy.refuse(403, host);
  told['forbidden by the proxy'] = await readRefusal();
  expect(await readDoctor()).toMatchSnapshot('doctor, forbidden');
  proxy.refuse(502, host);
  told['not reached by the proxy'] = await readRefusal();
  proxy.refuse(200, host);
  told['cut by the proxy'] = await readRefusal();
  proxy.allow();
  front.distrust(hosts['wss.slack']);
  told['with another authority'] = await readRefusal();
  told['a proxy that does not run'] = await readRefusal({ HTTPS_PROXY: 'http://127.0.0.1:9' });
  told['a proxy whose name is not found'] = await readRefusal({ HTTPS_PROXY: 'http://proxy.invalid:3128' });
  expect(told).toMatchSnapshot('start');
});

test('while the bot runs, what fails is told with its host and code, in the log and by /readyz', async () => {
  const printed = await start().waitForOutput('"ready"');
  const port = /"port":(\d+)/u.exec(printed)?.[1];
  const person = slack.as(alice, ops);
  await connect({ slack, cdn, env: {} }, alice, ops);
  await saveSettings(slack, { operators: [alice] });
  const refuse = (name: (typeof names)[number]): void => proxy.refuse(403, `${hosts[name]}:${front.port}`);
  refuse('files.slack');
  refuse('hooks.slack');
  refuse('traces');
  await ask(person, 'zones');
  await openForm(person);
  await submitForm(person);
  await bot?.waitForOutput(/does not let the bot through to files\.slack\.company\.test/u);
  await bot?.waitForOutput(new RegExp(`"host":"${hosts['hooks.slack']}:\\d+","code":`, 'u'));
  await bot?.waitForOutput(new RegExp(`"host":"${hosts.traces}:\\d+".*the collector takes no spans`, 'u'));
  refuse('wss.slack');
  await bot?.waitForOutput(
    new RegExp(`"host":"${hosts['wss.slack']}:\\d+".*does not let the bot through to wss`, 'u'),
  );
  const readiness = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/readyz`)).text();
  await expect.poll(readiness, { timeout: 20_000 }).toContain(hosts['wss.slack']);
  expect(stabilize(await readiness())).toMatchSnapshot('readyz');
});
