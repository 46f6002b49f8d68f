import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AssistantAnswer } from '../../../simulator/slack/assistant.ts';
import { listCalls, listElements } from '../../../simulator/slack/assistant-blocks.ts';
import { type Bot, connect, createPublicUrl, startBot } from '../../support/bot.ts';
import { configure } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';
import { argumentsOf } from './calls.ts';

const [alice, bob, carol, dave, eve] = ['U0ALICE00', 'U0BOB0000', 'U0CAROL00', 'U0DAVE000', 'U0EVE0000'];
const ops = 'C0OPS0000';

interface Running {
  readonly bot: Bot;
  readonly call: (who: string, tool: string, args?: object) => Promise<AssistantAnswer>;
  /** Of the bot's clock: so many calls are too many for a minute. */
  readonly wait: () => void;
}

async function start(zones: number): Promise<Running> {
  const env = await createPublicUrl();
  let aheadMs = 0;
  const now = (): Date => new Date(Date.now() + aheadMs);
  const zoneMembers = zones > 1_000 ? 'few' : 'all';
  const settings = { ADMIN_USER_IDS: carol };
  const bot = await startBot({ transport: 'http', zones, zoneMembers, now, env: { ...env, ...settings } });
  for (const person of bot.slack.world.people)
    if (person.id === alice) Object.assign(person, { admin: false });
  for (const id of [alice, dave]) await connect(bot, id, ops);
  await configure(bot.slack.as(carol), { operators: [alice], approvers: [bob], assistant: 'proposing' });
  return {
    bot,
    async call(who, tool, args = argumentsOf[tool] ?? {}) {
      const own = bot.slack.assistant(who, { origin: env.PUBLIC_URL });
      const answer = await own.call(tool, args);
      await own.close();
      return answer;
    },
    wait: () => {
      aheadMs += 61_000;
    },
  };
}

describe('every tool', () => {
  let running: Running;
  beforeAll(async () => {
    running = await start(12);
  });
  afterAll(() => running.bot.stop());

  test('refuses as the command does: another organization, no key, no role, a deactivated person', async () => {
    const { bot, call } = running;
    const told: Record<string, string[]> = {};
    const people = { foreign: eve, 'no key': bob, 'no role': dave, deactivated: alice };
    for (const record of bot.slack.world.people)
      if (record.id === alice) Object.assign(record, { deactivated: true });
    await bot.slack.event({ type: 'user_change', user: { id: alice, deleted: false } });
    for (const [why, who] of Object.entries(people))
      for (const tool of Object.keys(argumentsOf)) {
        const { isError, text } = await call(who, tool);
        if (isError) (told[`${why}: ${readStable(text)}`] ??= []).push(tool);
      }
    for (const record of bot.slack.world.people)
      if (record.id === alice) Object.assign(record, { deactivated: false });
    expect(told).toMatchSnapshot();
  });

  test('gives buttons and menus that call a listed tool, and pressing each works', async () => {
    const { bot, call, wait } = running;
    wait();
    await bot.slack.event({ type: 'user_change', user: { id: alice, deleted: false } });
    const pressed: string[] = [];
    for (const tool of Object.keys(argumentsOf)) {
      const { blocks } = await call(alice, tool);
      wait();
      for (const { tool: next, value } of blocks.flatMap(listElements).flatMap(listCalls)) {
        const { isError } = await call(alice, next, JSON.parse(String(value)) as object);
        pressed.push(`${tool} → ${next}: ${isError ? 'refused' : 'answered'}`);
      }
    }
    expect(pressed).toMatchSnapshot();
  });

  test('breaks no rule of blocks where the CDN fails', async () => {
    const { bot, call, wait } = running;
    wait();
    bot.cdn.faults.add({ times: Number.POSITIVE_INFINITY, status: 500 });
    for (const tool of Object.keys(argumentsOf)) expect((await call(alice, tool)).text).not.toBe('');
    bot.cdn.faults.clear();
  });

  test('that takes longer than 50 seconds is stopped, and says what to ask instead', async () => {
    const { bot, call, wait } = running;
    wait();
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const inTime = (ms: number) => timeout(ms === 50_000 ? 3_000 : ms);
    const clock = vi.spyOn(AbortSignal, 'timeout').mockImplementation(inTime);
    bot.cdn.faults.add({
      match: { host: 'origin-logging' },
      times: Number.POSITIVE_INFINITY,
      delayMs: 20_000,
    });
    const before = bot.cdn.requests.length;
    const { isError, text } = await call(alice, 'list_origin_errors', { period: 'last 7 days' });
    bot.cdn.faults.clear();
    clock.mockRestore();
    expect({ isError, text: readStable(text) }).toMatchSnapshot();
    // What was being read then has ended, and nothing more is read.
    const underWay = bot.cdn.requests.slice(before).filter(({ status }) => status === undefined);
    expect(underWay.length).toBeGreaterThan(0);
    await expect.poll(() => underWay.every(({ abandoned }) => abandoned)).toBe(true);
  });
});

test.each([0, 1, 50_000])('an account of %i zones gets one answer within the rules', async (zones) => {
  const { bot, call } = await start(zones);
  for (const tool of Object.keys(argumentsOf)) {
    const asked = call(alice, tool, tool.startsWith('list_') ? {} : undefined);
    // Others are acknowledged in time meanwhile: Slack gives three seconds.
    expect(await bot.slack.as(bob).slash('help')).toMatchObject({ status: 200, timedOut: false });
    const answer = await asked;
    expect(JSON.stringify(answer).length).toBeLessThan(100_000);
  }
  await bot.stop();
});
