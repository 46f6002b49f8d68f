import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startCdn } from '../../simulator/cdn/server.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Finding } from '../../src/views/doctor.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { type Bot, createPublicUrl, startBot, useBot } from '../support/bot.ts';
import { createMemoryLog } from '../support/engines.ts';
import { findPostgres } from '../support/postgres.ts';
import { createTerminal } from '../support/terminal.ts';

// One bot, which runs for the first tests and is stopped for the last ones.
let bot = await useBot({}, []);
const keyFile = join(bot.env['DATA_DIR'] ?? '', 'key');
await writeFile(keyFile, bot.cdn.key, { mode: 0o600 });

/** Another one in its place, for one test. */
async function startOther(...options: Parameters<typeof startBot>): Promise<Bot> {
  const [shared, other] = [bot, await startBot(...options)];
  bot = other;
  onTestFinished(async () => {
    bot = shared;
    await other.stop();
  });
  return other;
}

const doctor = async (
  { env = {}, now = new Date() }: { env?: Record<string, string>; now?: Date } = {},
  ...words: string[]
) => {
  const { terminal, lines } = createTerminal({ ...bot.env, ...env }, () => now);
  const verdict = await doctorCommand(words, terminal);
  return { verdict, said: lines.join('\n') };
};

const doctorFindings = async (...given: Parameters<typeof doctor>): Promise<Finding[]> =>
  JSON.parse((await doctor(given[0], '--json', ...given.slice(1).map(String))).said);

const postgres = await findPostgres();

const stabilize = (said: string): string =>
  said
    .replace(/127\.0\.0\.1:\d+/gu, '<host>')
    .replace(/[\d.]+ [kMGT]B/gu, '<size>')
    .replace(/-?\d+ s from/u, '<n> s from')
    .replace(/with k\w+/u, 'with <key id>')
    .replace(/PostgreSQL \d[^,]*/u, 'PostgreSQL <version>');

const findAnswers = async (...words: string[]) =>
  (await doctorFindings({}, ...words)).find(({ check }) => check === 'cdn answers');

test('answers of the CDN are compared with the specification where there is a key', async () => {
  expect(await findAnswers()).toMatchObject({
    state: 'skipped',
    says: expect.stringContaining('type /cdn doctor'),
  });
  const changed: { Weather?: string } = Object.assign(bot.cdn.data.zones[0] ?? {}, { Weather: 'fair' });
  expect(await findAnswers('--key-file', keyFile)).toMatchObject({
    says: 'has fields that the bot does not read: List Pull Zones: not in the specification: Weather',
  });
  delete changed.Weather;
});

test('beside a running embedded bot its database is skipped with what to do, and the rest is checked', async () => {
  const findings = await doctorFindings({}, '--key-file', keyFile);
  expect(findings.find(({ check }) => check === 'database')).toMatchObject({
    state: 'skipped',
    fix: 'Ask /cdn doctor in Slack, or stop the bot first.',
  });
  expect(findings.find(({ check }) => check === 'slack token')?.state).toBe('ok');
  expect(bot.logs.join('')).not.toContain(bot.cdn.key);
});

test('a bot of many workspaces is asked in each of them', async () => {
  await startOther({ transport: 'http', install: 'oauth', env: await createPublicUrl() });
  const findings = await doctorFindings();
  expect(findings.find(({ check }) => check === 'slack token')).toMatchObject({
    state: 'skipped',
    says: expect.stringContaining('/cdn doctor'),
  });
});

test.skipIf(typeof postgres === 'string')(
  'on PostgreSQL version and size are told, that free room is not, and how an empty database is set up',
  async () => {
    if (typeof postgres === 'string') throw new Error(postgres);
    const server = await postgres.start();
    onTestFinished(() => server.stop());
    const DATABASE_URL = (await server.createDatabase()).reveal();
    await startOther({ env: { DATABASE_URL, ENCRYPTION_KEYS: generateKeys('k1') } });
    const tell = async (): Promise<string[]> =>
      (await doctorFindings({ env: bot.env }))
        .filter(({ check }) => /^(disk space|database|keyring)$/u.test(check))
        .map(
          ({ check, state, says, fix }) => `${state} ${check}: ${stabilize(says)}${fix ? ` → ${fix}` : ''}`,
        );
    expect(await tell()).toMatchSnapshot('postgres');
    const empty = (await server.createDatabase({ empty: true })).reveal();
    Object.assign(bot.env, { DATABASE_URL: empty });
    expect(await tell()).toMatchSnapshot('an empty database');
    const owner = await openDatabase({ databaseUrl: new Secret(empty), dataDir: '', log: createMemoryLog() });
    const limited = new URL(empty);
    limited.username = `limited_${limited.pathname.slice(1)}`;
    await sql`create role ${sql.id(limited.username)} login`.execute(owner.db);
    Object.assign(bot.env, { DATABASE_URL: limited.href });
    const told = await tell();
    await sql`drop role ${sql.id(limited.username)}`.execute(owner.db);
    await owner.close();
    expect(told.join('\n').replaceAll(/chatops_test_\w+/gu, '<database>')).toMatchSnapshot('a limited user');
  },
);

test('a scope that is not granted: what is lost and how to get it', async () => {
  bot.slack.script.withholdScopes(['usergroups:read']);
  const findings = await doctorFindings();
  expect(findings.find(({ check }) => check === 'scope usergroups:read')).toMatchSnapshot(
    'without usergroups:read',
  );
  bot.slack.script.withholdScopes(['usergroups:read', 'im:history', 'channels:read']);
  const { said } = await doctor();
  expect(said.match(/^limited .*without it/gmu)).toHaveLength(3);
  expect(said.match(/Paste manifest\.yml/gu)).toHaveLength(1);
  bot.slack.script.withholdScopes([]);
});

const findAddresses = async () =>
  (await doctorFindings())
    .filter(({ check }) => /address/u.test(check))
    .map(({ says, ...rest }) => ({ ...rest, says: says.replace(/:\d+/u, '') }));

test('over signed HTTP the address of deliveries is tried from outside', async () => {
  await startOther({ transport: 'http', env: await createPublicUrl() });
  expect(await findAddresses()).toMatchSnapshot('reached');
  const elsewhere = await startCdn({ zones: 0 });
  onTestFinished(() => elsewhere.close());
  await startOther({ transport: 'http', env: { PUBLIC_URL: elsewhere.url } });
  expect(await findAddresses()).toMatchSnapshot('elsewhere');
});

describe('of a bot that is stopped', () => {
  beforeAll(() => bot.app.stop());

  test('every check is ok or says why it is skipped', async () => {
    const { verdict, said } = await doctor({}, '--key-file', keyFile);
    expect(stabilize(said)).toMatchSnapshot('all');
    expect(verdict).toBe(true);
    expect(said).not.toContain(bot.cdn.key);
    expect(bot.slack.problems).toEqual([]);
  });

  test('a wrong token, a clock that is wrong, and a CDN that is down make it ill', async () => {
    await bot.cdn.close();
    const now = new Date(Date.now() + 600_000);
    const env = { SLACK_BOT_TOKEN: 'xoxb-0000-another' };
    expect((await doctor({ env, now })).verdict).toBe(false);
    const states = (await doctorFindings({ env, now })).filter(({ state }) => state === 'failed');
    expect(states.map(({ check }) => check.replace(/ 127.*/u, ''))).toEqual([
      'clock',
      'slack token',
      'cdn',
      'cdn',
    ]);
  });
});
