import { afterAll, describe, expect, test } from 'vitest';
import { countDeleteRequests, startApprovalWorkspace } from '../../commands/operations/workspace.ts';
import { connect, createPublicUrl, disconnect } from '../../support/bot.ts';
import { fetchPage, parseForm, submitForm } from '../../support/page-client.ts';
import { readStable } from '../../support/words.ts';
import { callWithToken, makeToken, openTokens } from './calls.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
let aheadMs = 0;

const env = await createPublicUrl();
const origin = env.PUBLIC_URL;
const team = await startApprovalWorkspace({
  transport: 'http',
  env,
  now: () => new Date(Date.now() + aheadMs),
  settings: { assistant: 'proposing', destroyApprovals: 1 },
});
afterAll(() => team.bot.stop());

const make = (name: string, days?: string): Promise<string> => makeToken(team.alice, name, days);
const callAs = (token: string, tool: string, args?: object) => callWithToken(origin, token, tool, args);

const guess = async (nth: number) => {
  const headers = { authorization: `Bearer cdn_${String(nth).padStart(43, 'x')}` };
  const { status, headers: given } = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers,
    body: '{}',
  });
  return [status, given.has('retry-after')];
};

describe('a token for a client', () => {
  test('is made on the page, shown once, and calls the same tools as its person', async () => {
    const { reads, url } = await openTokens(team.alice);
    expect(readStable(reads)).toMatchSnapshot('none yet');
    const form = await fetchPage(url);
    expect(readStable(form.text)).toMatchSnapshot('form');
    const { action, fields } = parseForm(form, url);
    const made = await submitForm(action, { ...fields, name: 'laptop', days: '30' });
    expect(readStable(made.text.replace(/cdn_[\w-]{43}/u, '<token>'))).toMatchSnapshot('made');
    const token = /cdn_[\w-]{43}/u.exec(made.html)?.[0] ?? '';
    expect((await fetchPage(url)).html).not.toContain(token);
    expect((await submitForm(action, { ...fields, name: 'again', days: '30' })).status).not.toBe(200);

    expect((await callAs(token, 'list_zones')).isError).toBeUndefined();
    const listed = readStable((await openTokens(team.alice)).reads);
    expect(listed.replace(/(?<=until )\d{1,2} [A-Z][a-z]{2}\b/u, '<day>')).toMatchSnapshot('listed');
    const kept = JSON.stringify([team.bot.logs, team.alice.messages()]);
    expect(kept).not.toContain(token);
  });

  test('works while somebody at the same address guesses tokens, who is told to wait', async () => {
    const token = await make('desk');
    expect((await callAs(token, 'list_zones')).isError).toBeUndefined();
    for (let nth = 0; nth < 300; nth += 1) await guess(nth);
    expect(await guess(300)).toEqual([429, true]);
    expect((await callAs(token, 'list_zones')).isError).toBeUndefined();
    aheadMs += minuteMs;
  });

  test('asks for a deletion in the name of its person, marked with where it is used', async () => {
    const token = await make('terminal');
    const { appId: app, volumeId: volume } = team.addVolume();
    const reason = 'The node is gone';
    expect((await callAs(token, 'propose_volume_deletion', { app, volume, reason })).isError).toBeUndefined();
    const card = await team.bob.waitForMessage(({ reads }) => reads.includes(volume));
    expect(readStable(card, { volume, app })).toMatchSnapshot('card');
    expect(countDeleteRequests(team, volume)).toBe(0);
    await team.carol.slash('audit');
    const { reads } = await team.carol.waitForMessage((message) =>
      message.reads.includes('propose_volume_deletion'),
    );
    const named = reads.split(/\n| · /u).filter((part) => /terminal|propose/u.test(part));
    expect(named.map((part) => readStable(part, { volume, app }))).toMatchSnapshot('audit');
  });

  test.each([
    { name: 'a wrong one', header: `Bearer cdn_${'x'.repeat(43)}` },
    { name: 'another scheme', header: 'Basic YWxpY2U6c2VjcmV0LXdvcmQtaGVyZQ==' },
  ])('$name is refused, with the scheme that is taken', async ({ header }) => {
    const answer = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: { authorization: header, 'content-type': 'application/json' },
      body: '{}',
    });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  test('is refused while its person is deactivated, and in every tool with a key that the CDN refuses', async () => {
    const token = await make('tablet');
    const { world } = team.bot.slack;
    const alice = world.people.find(({ id, teamId }) => id === 'U0ALICE00' && teamId === 'T0ACME000');
    const tellSlack = (deleted: boolean) => {
      Object.assign(alice ?? {}, { deactivated: deleted });
      // Slack tells of everybody whose profile changed.
      return team.bot.slack.event({ type: 'user_change', user: { id: 'U0ALICE00', deleted: false } });
    };
    await tellSlack(true);
    expect(await callAs(token, 'list_my_requests')).toEqual({ isError: true });
    await tellSlack(false);
    expect((await callAs(token, 'list_my_requests')).isError).toBeUndefined();
    const { data, key } = team.bot.cdn;
    data.accessKeys.delete(key);
    expect(await callAs(token, 'list_zones')).toEqual({ isError: true });
    data.accessKeys.set(key, 'full');
    expect((await callAs(token, 'list_zones')).isError).toBeUndefined();
  });

  test('ends when it is revoked', async () => {
    const token = await make('old laptop');
    await openTokens(team.alice);
    await team.alice.press('tokens:end');
    await expect.poll(() => callAs(token, 'list_zones').catch(() => 'refused')).toBe('refused');
  });

  test('ends on its day', async () => {
    const token = await make('for a day', '1');
    aheadMs = dayMs + minuteMs;
    await expect(callAs(token, 'list_zones')).rejects.toThrow('-32600');
    aheadMs = 0;
  });

  test('ends with the key with which it was made, also where another is connected', async () => {
    const token = await make('desk');
    await disconnect(team.alice);
    await expect.poll(() => callAs(token, 'list_zones').catch(() => 'refused')).toBe('refused');
    await connect(team.bot, 'U0ALICE00', 'C0OPS0000');
    await expect(callAs(token, 'list_zones')).rejects.toThrow('-32600');
  });
});
