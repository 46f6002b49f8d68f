import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../src/app/config.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import type { Finding } from '../../src/views/doctor.ts';
import { type Bot, createPublicUrl, startBot } from '../support/bot.ts';
import { createMemoryLog } from '../support/engines.ts';

let bot: Bot;
beforeEach(async () => {
  bot = await startBot();
});
afterEach(() => bot.stop());

const doctor = async (
  { env = {}, now = new Date() }: { env?: Record<string, string>; now?: Date } = {},
  ...words: string[]
) => {
  const lines: string[] = [];
  const verdict = await doctorCommand(words, {
    config: readConfig({ ...bot.env, ...env }),
    fetch,
    now: () => now,
    log: createMemoryLog(),
    print: (line) => void lines.push(line),
  });
  return { verdict, said: lines.join('\n') };
};

const doctorFindings = async (...given: Parameters<typeof doctor>): Promise<Finding[]> =>
  JSON.parse((await doctor(given[0], '--json', ...given.slice(1).map(String))).said);

test('a healthy bot that is stopped: every check is ok or says why it is skipped', async () => {
  await bot.app.stop();
  const keyFile = join(bot.env['DATA_DIR'] ?? '', 'key');
  await writeFile(keyFile, bot.cdn.key, { mode: 0o600 });
  const { verdict, said } = await doctor({}, '--key-file', keyFile, '--probe', 'U0ALICE00');
  const stable = said
    .replace(/127\.0\.0\.1:\d+/gu, '<host>')
    .replace(/[\d.]+ [kMGT]B/gu, '<size>')
    .replace(/-?\d+ s from/u, '<n> s from')
    .replace(/with k\w+/u, 'with <key id>');
  expect(stable).toMatchSnapshot('all');
  expect(verdict).toBe('healthy');
  expect(said).not.toContain(bot.cdn.key);
  expect(bot.slack.calls.filter(({ method }) => method === 'chat.delete')).toHaveLength(2);
  expect(bot.slack.problems).toEqual([]);
});

test('beside the running bot the embedded database is skipped', async () => {
  const findings = await doctorFindings();
  expect(findings.find(({ check }) => check === 'database')?.state).toBe('skipped');
});

test('a scope that is not granted: what is lost and how to get it', async () => {
  bot.slack.script.withholdScopes(['usergroups:read']);
  const findings = await doctorFindings();
  expect(findings.find(({ check }) => check === 'scope usergroups:read')).toMatchSnapshot(
    'without usergroups:read',
  );
});

test('a wrong token, a clock that is wrong, and a CDN that is down make it ill', async () => {
  await bot.cdn.close();
  const now = new Date(Date.now() + 600_000);
  const env = { SLACK_BOT_TOKEN: 'xoxb-0000-another' };
  expect((await doctor({ env, now })).verdict).toBe('ill');
  const states = (await doctorFindings({ env, now })).filter(({ state }) => state === 'failed');
  expect(states.map(({ check }) => check.replace(/ 127.*/u, ''))).toEqual([
    'clock',
    'slack token',
    'cdn',
    'cdn',
  ]);
});

test('a chart that Slack refuses is told, with what comes instead', async () => {
  bot.slack.script.refuseNativeBlocks(['chat.postMessage']);
  const findings = await doctorFindings({}, '--probe', 'U0ALICE00');
  expect(findings.filter(({ check }) => check.startsWith('native blocks'))).toMatchSnapshot('refused');
});

const findAddresses = async (env: Record<string, string> = {}) =>
  (await doctorFindings({ env }))
    .filter(({ check }) => /address/u.test(check))
    .map(({ says, ...rest }) => ({ ...rest, says: says.replace(/:\d+/u, '') }));

test('over signed HTTP the address of deliveries is tried from outside', async () => {
  await bot.stop();
  bot = await startBot({ transport: 'http', env: await createPublicUrl() });
  expect(await findAddresses()).toMatchSnapshot('reached');
  expect(await findAddresses({ PUBLIC_URL: bot.cdn.url })).toMatchSnapshot('elsewhere');
});

test('a key file that is not there is named', async () => {
  await expect(doctor({}, '--key-file', '/nowhere')).rejects.toThrow('/nowhere');
});
