import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canary } from '../../simulator/cdn/canaries.ts';
import type { Fault } from '../../simulator/cdn/faults.ts';
import { readManifest } from '../../simulator/slack/manifest.ts';
import { features } from '../../src/commands/registry.ts';
import { steps } from '../../src/commands/steps.ts';
import { createPublicUrl, install } from '../support/bot.ts';
import { type CanaryBot, startCanaryBot } from '../support/canary/bot.ts';
import { crawl, createCrawlLog } from '../support/canary/crawl.ts';
import { findMarks } from '../support/canary/markers.ts';
import { addCertificates, makeErrorBodies } from '../support/canary/plant-secrets.ts';
import { fetchPage, parseForm, submitForm } from '../support/page-client.ts';
import { alice, bob, eve, ops } from '../support/people.ts';
import { findPostgres, type PostgresServer } from '../support/postgres.ts';
import { saveSettings } from '../support/settings.ts';

// What an account's key looks like: two UUIDs run together.
const typedKey = randomUUID() + randomUUID();
const commands = features.flatMap((feature) => feature.commands);

// One world a transport; between them every way to be configured: embedded and PostgreSQL, one token and OAuth, the
// form and the page for keys.
describe.each([
  { transport: 'socket', install: 'token' },
  { transport: 'http', install: 'oauth' },
] as const)('over $transport, with a mark in everything secret', ({ transport, install: way }) => {
  let postgres: PostgresServer | undefined;
  let bot: CanaryBot;
  beforeAll(async () => {
    const found = transport === 'http' ? await findPostgres() : undefined;
    let databaseUrl: string | undefined;
    if (found && typeof found !== 'string') {
      postgres = await found.start();
      const url = new URL((await postgres.createDatabase()).reveal());
      // Whoever connects is trusted there, so the password may be any.
      url.password = canary('env-database-password', 'x');
      databaseUrl = url.href;
    }
    const env: Record<string, string> = way === 'oauth' ? { ...(await createPublicUrl()) } : {};
    bot = await startCanaryBot({
      transport,
      install: way,
      env,
      ...(databaseUrl === undefined ? {} : { databaseUrl }),
    });
    if (way === 'oauth') {
      const done = await install({ env }, bot.slack.workspaces.acme.id);
      bot.recordAnswer(await done.text());
      if (!done.ok) throw new Error(`the installation ended with ${done.status}`);
    }
  }, 120_000);
  afterAll(async () => {
    await bot.stop();
    await postgres?.stop();
  });

  // What people can type is the same over both transports; how it is answered differs.
  const isFull = transport === 'socket';
  const done = createCrawlLog();
  const counts = new Map<string, number>();
  const look = (userId: string): Promise<void> => crawl(bot, bot.slack.as(userId, ops), done, counts);

  test('every command is typed in every way, by people with a key, without one, and from elsewhere', async () => {
    await connect(bot, alice);
    await configure(bot, { operators: [alice] });
    const { key } = bot.cdn;
    const zone = bot.cdn.data.zones[0];
    const more = [
      zone?.Name ?? '',
      zone?.Hostnames?.[0]?.Value ?? '',
      'no such thing',
      `"${key}" key=${key}`,
    ];
    const things = ['', String(zone?.Id), key];
    for (const [nth, command] of commands.entries()) {
      // A button that forgets the key may have been pressed.
      await connect(bot, alice);
      const examples = isFull ? command.examples : command.examples.slice(0, 1);
      const typed = [...things, ...(isFull ? [more[nth % more.length] ?? ''] : [])];
      for (const words of [...examples, ...typed.map((thing) => `${command.name} ${thing}`)]) {
        await say(bot, alice, words);
        await look(alice);
      }
      await say(bot, bob, `${command.name} ${String(zone?.Id)}`);
      await say(bot, eve, command.name);
    }
    for (const text of [key, `zoness ${key}`, typedKey, `zones ${typedKey}`, `help ${typedKey}`])
      await say(bot, alice, text);
    await bot.slack.as(alice, ops).openHome();
    await bot.waitUntilIdle();
    await look(alice);
    await connect(bot, alice);
    await say(bot, alice, 'zones');
    const host = zone?.Hostnames?.[0]?.Value ?? '';
    for (const { callbackId: id, kind } of readManifest().shortcuts) {
      for (const text of [
        'no link',
        `<https://${key}@${host}/?key=${key}>`,
        `<https://${host}/> <https://b.${host}/>`,
      ]) {
        const person = bot.slack.as(alice, ops);
        const { ts } = person.say(text);
        bot.recordAnswer(await person.shortcut(id, kind === 'message' ? { ts } : undefined));
        await bot.waitUntilIdle();
        await look(alice);
        while (person.modal()) await person.closeModal();
      }
    }
    for (const typed of isFull ? ['zone', ...things.slice(1)] : [key]) {
      const inputs = { zone: typed, app: typed, volume: typed, reason: typed };
      for (const { id, inputs: wanted } of steps) {
        const given = Object.keys(wanted).flatMap((name) =>
          Object.entries({ [name]: inputs[name as 'zone'] }),
        );
        const filled = given.filter(([, value]) => value !== undefined);
        const step = await bot.slack.step(id, Object.fromEntries(filled), { by: alice });
        if (id !== 'delete_volume') await step.ended(20_000);
        await bot.waitUntilIdle();
        await look(alice);
      }
    }
    await look(bob);
    expect(bot.slack.problems).toEqual([]);
  }, 300_000);

  test('what waits for approval is denied, and looked at where nobody knows', async () => {
    await connect(bot, alice);
    // What was pressed before may have undone it.
    await configure(bot, {
      operators: [alice],
      approvers: [bob],
      approvalChannel: ops,
      destroyApprovals: '1',
    });
    const [app] = bot.cdn.data.apps;
    if (!app) throw new Error('the CDN has no app');
    app.volumes['canary-volume'] = [{ id: 'vi-canary', detached: true }];
    for (const [form, press] of [
      ['approvals:deny-submit', 'approvals:deny'],
      ['approvals:check-submit', 'approvals:approve'],
    ] as const) {
      const [requester, approver] = [bot.slack.as(alice, ops), bot.slack.as(bob)];
      while (requester.modal()) await requester.closeModal();
      await requester.slash(`volume delete ${app.id} canary-volume`);
      await requester.waitForModal('volumes:submit');
      await requester.submit({ confirmVolumeId: 'canary-volume', reason: 'no longer needed' });
      await requester.waitForModal(/It needs 1 approval/);
      const card = await approver.waitForMessage(({ blocks }) => JSON.stringify(blocks).includes(press));
      bot.cdn.faults.add({ match: { method: 'DELETE' }, drop: 'after-processing' });
      bot.recordAnswer(await approver.press(press, { ts: card.ts }));
      if (press === 'approvals:approve') {
        const { ts } = await approver.waitForMessage(/outcome unknown/);
        bot.recordAnswer(await approver.press('approvals:check', { ts }));
      }
      await approver.waitForModal(form);
      bot.recordAnswer(
        await approver.submit(press === 'approvals:deny' ? { reason: 'not today' } : { seen: 'succeeded' }),
      );
      done.submitted.add(form);
      await bot.waitUntilIdle();
      bot.cdn.faults.clear();
    }
    expect(bot.slack.problems).toEqual([]);
  }, 120_000);

  test('…and again with certificates in every answer', async () => {
    await connect(bot, alice);
    bot.cdn.faults.add({ times: Number.POSITIVE_INFINITY, change: addCertificates });
    for (const command of commands)
      await say(bot, alice, `${command.name} ${String(bot.cdn.data.zones[1]?.Id)}`);
    counts.clear();
    await look(alice);
    bot.cdn.faults.clear();
    expect(bot.slack.problems).toEqual([]);
  }, 300_000);

  const statuses = [400, 401, 403, 404, 429, 500, 502];
  const failures: Fault[] = [
    ...makeErrorBodies(canary('echo', '0')).flatMap((_, nth) =>
      [statuses[nth % statuses.length] ?? 400, 200].map((status) => ({ status, body: nth as never })),
    ),
    ...statuses.map((status) => ({ status })),
    ...(transport === 'socket' ? [{ delayMs: Number.POSITIVE_INFINITY }] : []),
    { body: 'html' },
    { drop: 'before-headers' },
    { drop: 'mid-body' },
    { drop: 'after-processing' },
    { overwrite: { Items: 'none', Id: { a: 1 } } },
  ];

  test('every failure of the CDN, also those that repeat secrets, is told without one', async () => {
    await connect(bot, alice);
    const bodies = makeErrorBodies(bot.cdn.key);
    for (const failure of failures.filter((_, nth) => isFull || nth % 6 === 0)) {
      const body = typeof failure.body === 'number' ? bodies[failure.body] : failure.body;
      const fault: Fault = {
        ...failure,
        ...(body === undefined ? {} : { body }),
        times: Number.POSITIVE_INFINITY,
        headers: { 'cdn-requestid': bot.cdn.key, 'retry-after': '9' },
      };
      bot.cdn.faults.add(fault);
      const person = bot.slack.as(alice, ops);
      const reading = commands.filter(({ needs }) => needs === 'read');
      const typed = await Promise.all(reading.map(({ name }) => person.slash(`${name} shop`)));
      typed.forEach(bot.recordAnswer);
      await bot.waitUntilIdle();
      if (transport === 'socket' && failure.delayMs === undefined) await connect(bot, bob);
      bot.cdn.faults.clear();
    }
    expect(bot.slack.problems).toEqual([]);
  }, 300_000);

  test('errors of the network, with everything in them that a library may put there, are told without a secret', async () => {
    await connect(bot, alice);
    bot.breakFetch((url, init) => {
      if (!url.startsWith(bot.cdn.url) && !url.startsWith(bot.cdn.originLoggingUrl))
        return undefined as never;
      const headers = JSON.stringify([...new Headers(init?.headers)]);
      throw Object.assign(new TypeError(`failed: ${url} ${headers}`, { cause: new Error(headers) }), {
        headers,
        init,
      });
    });
    for (const { name } of commands.filter((_, nth) => isFull || nth % 3 === 0))
      await say(bot, alice, `${name} shop`);
    bot.breakFetch(undefined);
    expect(bot.slack.problems).toEqual([]);
  }, 300_000);

  test('when Slack refuses, hangs up or does not know a channel, no log says what was to be sent', async () => {
    const { script } = bot.slack;
    for (const method of [
      'response_url',
      'chat.postEphemeral',
      'chat.postMessage',
      'views.open',
      'views.update',
    ]) {
      script.fail(method, 'internal_error', 2);
      script.rateLimit(method, 1, 1);
      script.drop(method, 1);
    }
    for (let round = 0; round < 2; round += 1)
      for (const name of ['zones', 'zone', 'connect', 'whoami']) await say(bot, alice, name);
    while (bot.slack.as(alice, ops).modal()) await bot.slack.as(alice, ops).closeModal();
    expect(bot.logs.get('warn')?.join('')).toContain('Slack refused a response_url');
  }, 300_000);

  test('no mark is anywhere outside', async () => {
    expect(done.pressed.size).toBeGreaterThan(8);
    expect(done.searched).toContain('zones:pick');
    // With the page there is no form for keys.
    const forms = features.flatMap((feature) => feature.forms ?? []).map(({ id }) => id);
    const reachable = forms.filter((id) => transport === 'socket' || id !== 'connect:submit');
    expect(reachable.filter((id) => !done.submitted.has(id))).toEqual([]);
    // The firewall had nothing to do: what views are given holds no secret in the first place.
    expect((bot.logs.get('error') ?? []).filter((line) => line.includes('"sink"'))).toEqual([]);
    const sinks = await bot.collectOutput();
    for (const [name, text] of sinks)
      expect([name, findMarks(text, [...bot.others, typedKey])]).toEqual([name, []]);
    // The looking itself works: what was stored and sent is there, and a mark in it would be seen.
    expect(sinks.get('database')).toContain('linked_keys');
    expect(sinks.get('calls of Slack')).toContain('response_type');
    expect(sinks.get('log at trace')).toContain('delivery done');
    expect(findMarks(`…${Buffer.from(bot.cdn.key).toString('base64')}…`, [])).not.toEqual([]);
  }, 120_000);
});

async function say(bot: CanaryBot, userId: string, text: string): Promise<void> {
  bot.recordAnswer(await bot.slack.as(userId, ops).slash(text));
  await bot.waitUntilIdle();
}

/** Links a key, whichever way this bot does it; a page's form is sent as a browser would. */
async function connect(bot: CanaryBot, userId: string): Promise<void> {
  const person = bot.slack.as(userId, ops);
  while (person.modal()) await person.closeModal();
  bot.recordAnswer(await person.slash('connect'));
  await bot.waitUntilIdle();
  if (person.modal()) {
    bot.recordAnswer(await person.submit({ accessKey: bot.cdn.key }));
    await bot.waitUntilIdle();
    while (person.modal()) await person.closeModal();
    return;
  }
  await sendPage(bot, person.messages());
}

async function sendPage(bot: CanaryBot, messages: { blocks: unknown }[]): Promise<void> {
  const url = JSON.stringify(messages.map(({ blocks }) => blocks))
    .match(/http:\/\/127\.0\.0\.1:\d+\/connect\/[\w-]+/gu)
    ?.at(-1);
  if (!url) throw new Error('no link to a page was sent');
  const { action, fields } = parseForm(await fetchPage(url), url);
  for (const accessKey of [canary('typed', 'on-the-page'), bot.cdn.key]) {
    bot.recordAnswer((await submitForm(action, { ...fields, accessKey })).html);
    await bot.waitUntilIdle();
  }
}

/** Alice is an admin. */
async function configure(bot: CanaryBot, values: Record<string, unknown>): Promise<void> {
  const admin = bot.slack.as(alice, ops);
  while (admin.modal()) await admin.closeModal();
  await saveSettings(admin, values);
  await admin.closeModal();
}
