import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Bot } from '../bot.ts';
import { download, openForm, people, places, saveSettings, send } from './export-bot.ts';
import { exportDesk } from './export-desk.ts';

const { alice, bob, dave } = people;
const { ops, deploys, random } = places;
const desk = exportDesk();
const { asked, called, exportTo, holdService, isNew, leavesNothing, shared, spoolIsEmpty, tells } = desk;
let bot: Bot;
beforeAll(() => {
  bot = desk.bot();
});

/** What the service sends for the request that the bot made last. */
async function sentByService(): Promise<Buffer> {
  const request = asked().at(-1);
  const response = await fetch(`${bot.cdn.url}${request?.path}`, {
    method: 'POST',
    headers: { accesskey: bot.cdn.key, 'content-type': 'application/json' },
    body: JSON.stringify(request?.body),
  });
  return Buffer.from(await response.arrayBuffer());
}

describe('a file arrives', () => {
  test('in a channel, byte for byte, with what is in it beside it and one message that tells', async () => {
    expect(await exportTo(ops)).toMatch(/started/);
    const done = await tells(ops, /200 events.*in 1 file below/);
    const [message, ...more] = shared(ops);
    expect(more).toEqual([]);
    const [csv, chart] = message?.files ?? [];
    expect(csv?.name).toMatch(/^events-501-\d{8}T\d{4}Z-\d{8}T\d{4}Z\.csv$/);
    expect(chart).toMatchObject({ mimetype: 'image/png', altText: expect.stringContaining('200 events') });
    const bytes = await download(bot.slack, csv?.url ?? '');
    expect(bytes.equals(await sentByService())).toBe(true);
    for (const words of [
      '200 events',
      createHash('sha256').update(bytes).digest('hex'),
      'Actions',
      'Countries',
      'Rules',
      'IPs',
      'URLs',
      'everything',
    ]) {
      expect(message?.reads).toContain(words);
    }
    expect(done.edited).toBe(true);
    expect(called('chat.postMessage')).toHaveLength(1);
    await spoolIsEmpty();
  });

  test('to the person alone where no channel is chosen', async () => {
    await exportTo(undefined, { query: 'wp-login', filters: 'country in DE, fr' });
    await tells(`D${alice}`, /events of shield zone 501.*in 1 file below/);
    expect(shared(`D${alice}`)).toHaveLength(1);
    expect(shared(ops)).toEqual([]);
    expect(asked()[0]?.body).toMatchObject({
      query: 'wp-login',
      filters: [{ field: 'country', op: 'in', value: ['DE', 'FR'] }],
    });
    expect(shared(`D${alice}`)[0]?.reads).toMatch(/“wp-login” and country is DE or FR/);
  });

  test('with pseudonyms and a copy for spreadsheets: no address and no formula is left, and the raw file stays away', async () => {
    await exportTo(ops, { pseudonyms: ['yes'], spreadsheetSafe: ['yes'] });
    await tells(ops, /in 2 files below/);
    const [message] = shared(ops);
    const [csv, safe] = message?.files ?? [];
    expect(message?.reads).toMatch(/pseudonyms/);
    expect(message?.reads).not.toMatch(/203\.0\.113\.\d/);
    const text = (await download(bot.slack, csv?.url ?? '')).toString();
    expect(text).not.toMatch(/203\.0\.113\.\d|2001:db8/);
    expect(text).toContain('=HYPERLINK');
    expect(safe?.name).toMatch(/-spreadsheet\.csv$/);
    const rows: string[][] = parse(await download(bot.slack, safe?.url ?? ''));
    expect(rows).toHaveLength(201);
    expect(rows.flat().filter((cell) => /^[=+@-]/.test(cell))).toEqual([]);
  });

  test('what visitors asked for is told without its query; the file stays as it was sent', async () => {
    const log = `timestamp,url\n${'2026-11-20T10:00:00Z,https://ann:PASSW0RD9@shop.example/login?token=SECRETTOK123\n'.repeat(3)}`;
    bot.cdn.faults.add({ match: { path: /export$/ }, body: log, headers: { 'content-type': 'text/csv' } });
    await exportTo(ops);
    await tells(ops, /in 1 file below/);
    const [message] = shared(ops);
    expect(message?.reads).toMatch(/https:\/\/shop\.example\/login.* 3/);
    expect(JSON.stringify(message)).not.toMatch(/SECRETTOK|PASSW0RD/);
    expect((await download(bot.slack, message?.files[0]?.url ?? '')).toString()).toBe(log);
  });

  test.each(['', 'timestamp,action,ip,url\r\n'])(
    'a log without an event (%j) is told, without a file',
    async (body) => {
      bot.cdn.faults.add({ match: { path: /export$/ }, body, headers: { 'content-type': 'text/csv' } });
      await exportTo(ops);
      await tells(ops, /No event of shield zone 501 matches/);
      await leavesNothing();
    },
  );
});

describe('the form', () => {
  test('says in its fields what is wrong, the corrected window included, and asks nobody', async () => {
    const person = bot.slack.as(alice, ops);
    await openForm(person, 'export shop last 6h');
    const now = Math.floor(Date.now() / 1000);
    const { errors } = await person.submit({
      shieldZoneId: 'shop',
      from: now - 80 * 3600,
      filters: 'country DE\nasn cidr 10.0.0.0/8',
      channel: `D${alice}`,
    });
    expect(errors).toEqual({
      shieldZoneId: expect.stringContaining('whole number'),
      from: expect.stringMatching(/72 hours.*earliest start now is \d{1,2} \w{3}/),
      filters: expect.stringMatching(/^Line 1: .*country in DE, FR\nLine 2: cidr works with ip only/),
      channel: expect.stringContaining('Choose a channel'),
    });
    expect((await person.submit({ from: now, to: now - 60 })).errors).toMatchObject({
      to: expect.stringContaining('The end has to lie after the start'),
    });
    expect((await person.submit({ from: now, to: now + 7200 })).errors).toMatchObject({
      to: expect.stringContaining('in the future'),
    });
    expect(asked()).toEqual([]);
    await leavesNothing();
  });

  test('a window that is typed is read in the person’s time zone; one nobody understands leaves the usual one', async () => {
    const person = bot.slack.as(alice, ops);
    await openForm(person, 'export 501 yesterday');
    const { state } = person.modal() ?? {};
    const from = new Date(Number(state?.values['from']?.['from']?.['selected_date_time']) * 1000);
    const berlin = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    expect(berlin.format(from)).toBe('00:00');
    expect(person.modal()?.reads).toContain('your time zone, Europe/Berlin');
    await openForm(person, 'export 501 lst 6h');
    expect(person.modal()?.reads).toMatch(/is no window that can be read/);
    await openForm(person, 'export 501 last 9 days');
    expect(person.modal()?.reads).toMatch(/the start was moved to the earliest/);
  });

  test('a channel the bot is not in is told at once, the CDN is not asked, and the form comes back as it was', async () => {
    const person = bot.slack.as(alice, ops);
    await openForm(person);
    await person.submit({ channel: random, query: 'kept' });
    const back = await person.waitForModal(
      ({ callback_id: id, reads }) => id === 'event-logs:submit' && /The bot is not in/.test(reads),
    );
    expect(back.reads).toMatch(/\/invite @cdn/);
    expect(back.state.values['query']?.['query']).toMatchObject({ value: 'kept' });
    expect(asked()).toEqual([]);
    // Elsewhere it works from there.
    expect(await send(person, { channel: ops })).toMatch(/started/);
    await tells(ops, /shield zone 501.*matches|events of shield zone 501/);
  });

  test('somebody who may not export is told so', async () => {
    const person = bot.slack.as(dave, ops);
    await person.slash('export 501');
    expect((await person.waitForModal(/That did not work|operator/)).reads).toMatch(/operator/);
    await person.closeModal();
  });
});

describe('failures', () => {
  test('a stream that breaks off is read again, and one file arrives', async () => {
    bot.cdn.faults.add({ match: { path: /export$/ }, drop: 'mid-body', afterBytes: 5000 });
    await exportTo(ops);
    await tells(ops, /200 events.*in 1 file below/);
    expect(shared(ops)).toHaveLength(1);
    expect(asked()).toHaveLength(2);
    await spoolIsEmpty();
  });

  test('a window the service refuses with 401 is no bad key: the corrected one is offered', async () => {
    bot.cdn.faults.add({
      match: { path: /export$/ },
      status: 401,
      body: {
        logs: null,
        errorResponse: {
          statusCode: 401,
          success: false,
          message: 'You can only view the past 3 days (72 hours) of Event Logs.',
          errorKey: 'invalid_datetime_window.event_logs',
        },
      },
    });
    await exportTo(ops);
    const told = await tells(ops, /did not work/);
    expect(told.reads).toMatch(/past 3 days/);
    expect(told.reads).toMatch(/72 hours only, and the whole window has to lie in them/);
    expect(told.reads).not.toMatch(/what you typed/i);
    expect(told.reads).not.toMatch(/key/i);
    await leavesNothing();
    await bot.slack.as(alice, ops).press('event-logs:again:0', { ts: told.ts });
    await tells(ops, /in 1 file below/);
    const [refused, corrected] = asked().map(({ body }) => body as { from: number; to: number });
    expect(corrected?.from).toBe(refused?.from);
    expect(corrected?.to).toBeLessThan(refused?.to ?? 0);
  });

  test('a refused key is told with the way to connect another', async () => {
    bot.cdn.faults.add({ match: { path: /export$/ }, status: 401 });
    await exportTo(ops);
    expect((await tells(ops, /did not work/)).reads).toMatch(/refused your key/);
    await leavesNothing();
  });

  test.each(['file_uploads_disabled', 'blocked_file_type', 'missing_scope'])(
    'Slack refusing the upload (%s) is told, and the message can start it again',
    async (code) => {
      bot.slack.script.fail('files.getUploadURLExternal', code);
      await exportTo(ops);
      const told = await tells(ops, /did not work; nothing was posted/);
      expect(told.reads).toMatch(/workspace does not allow|lacks the permission to send files/);
      expect(told.reads).toMatch(/Ask an admin of your Slack workspace/);
      expect(told.reads).not.toMatch(/export to yourself/);
      await leavesNothing();
      await bot.slack.as(alice, ops).press('event-logs:again:0', { ts: told.ts });
      await tells(ops, /in 1 file below/);
    },
  );

  test('Slack refusing to show the file is told: nothing is there', async () => {
    bot.slack.script.fail('files.completeUploadExternal', 'is_archived');
    await exportTo(ops);
    expect((await tells(ops, /did not work/)).reads).toMatch(/archived/);
    await leavesNothing();
  });

  test('where nobody knows whether the file was shown it is said, and not tried again', async () => {
    bot.slack.script.drop('files.completeUploadExternal');
    await exportTo(ops);
    await tells(ops, /may have been posted/);
    expect(shared(ops)).toHaveLength(1);
    expect(called('files.completeUploadExternal')).toHaveLength(1);
  });

  test('an upload that breaks off is tried again from the beginning: one file arrives', async () => {
    bot.slack.script.drop('files.upload');
    await exportTo(ops);
    await tells(ops, /in 1 file below/);
    expect(shared(ops)).toHaveLength(1);
    await spoolIsEmpty();
  });

  test('a pause that Slack asks for while posting is kept, and one file arrives', async () => {
    bot.slack.script.rateLimit('files.completeUploadExternal', 1);
    await exportTo(ops);
    await tells(ops, /in 1 file below/);
    expect(shared(ops)).toHaveLength(1);
  });

  test('more than a gigabyte is refused before a byte is read, with smaller windows and splitting as buttons', async () => {
    Object.assign(bot.cdn.data.eventLogs, { bytes: 1_500_000_000, announceLength: true });
    await exportTo(ops);
    const told = await tells(ops, /too large/);
    expect(told.reads).toMatch(/1\.5 GB/);
    const buttons = JSON.stringify(told.blocks);
    expect(buttons).toContain('Split into several files');
    expect(buttons.match(/event-logs:again:\d/g)).toHaveLength(3);
    await leavesNothing();
    Object.assign(bot.cdn.data.eventLogs, { bytes: undefined, announceLength: false });
    await bot.slack.as(alice, ops).press('event-logs:again:1', { ts: told.ts });
    await tells(ops, /in 1 file below/);
    const [whole, part] = asked().map(({ body }) => body as { from: number; to: number });
    expect((part?.to ?? 0) - (part?.from ?? 0)).toBeLessThan((whole?.to ?? 0) - (whole?.from ?? 0));
  });

  test('a right that is lost meanwhile counts: nothing is posted', async () => {
    const held = holdService();
    await exportTo(ops);
    await held.reached;
    await saveSettings(bot.slack, { operators: [bob] });
    held.release();
    expect((await tells(ops, /did not work/)).reads).toMatch(/not an operator/);
    await leavesNothing();
    await saveSettings(bot.slack, { operators: [alice, bob] });
  });

  test('where exports may go is decided for the form and for the file', async () => {
    await saveSettings(bot.slack, { exportChannels: [deploys] });
    expect(await exportTo(ops)).toMatch(/exports may go into #deploys only/);
    expect(await exportTo(undefined)).toMatch(/exports may go into #deploys only/);
    const held = holdService();
    await exportTo(deploys);
    await held.reached;
    await saveSettings(bot.slack, { exportChannels: [random] });
    held.release();
    expect((await tells(deploys, /did not work/)).reads).toMatch(/exports may go into #random only/);
    await leavesNothing();
    await saveSettings(bot.slack, { exportChannels: [] });
  });
});

describe('cancelling', () => {
  test('while the CDN sends: nothing is posted', async () => {
    const held = holdService();
    await exportTo(ops);
    await held.reached;
    await bot.slack.as(alice, ops).press('event-logs:cancel:0');
    await tells(ops, /was stopped; nothing was posted/);
    await leavesNothing();
  });

  test('while the file is on its way to Slack: nothing is posted', async () => {
    const held = bot.slack.script.hold('files.upload', 'before');
    await exportTo(ops);
    await held.reached;
    await bot.slack.as(alice, ops).press('event-logs:cancel:0');
    await tells(ops, /was stopped; nothing was posted/);
    held.release();
    expect(called('files.completeUploadExternal')).toEqual([]);
    await leavesNothing();
  });

  test('between two attempts: it is not tried again', async () => {
    bot.cdn.faults.add({ match: { path: /export$/ }, status: 429, retryAfter: 300, times: 9 });
    await exportTo(ops);
    await tells(ops, /asks for a pause\. Trying again in 300 s/);
    await bot.slack.as(alice, ops).press('event-logs:cancel:0');
    await tells(ops, /was stopped; nothing was posted/);
    await leavesNothing();
  });

  test('when Slack is being told to show the file it is too late, and that is said', async () => {
    const held = bot.slack.script.hold('files.completeUploadExternal', 'before');
    await exportTo(ops);
    await held.reached;
    const person = bot.slack.as(alice, ops);
    await person.press('event-logs:cancel:0');
    await person.waitForMessage(/Too late/);
    held.release();
    await tells(ops, /in 1 file below/);
  });

  test('by others than the person and admins it is refused; an admin may', async () => {
    const held = holdService();
    const person = bot.slack.as(bob, ops);
    await openForm(person);
    await send(person, { channel: ops });
    await held.reached;
    const other = bot.slack.as(dave, ops);
    await other.press('event-logs:cancel:0');
    await other.waitForMessage(/This is an export of @Bob Brown/);
    await bot.slack.as(alice, ops).press('event-logs:cancel:0');
    await tells(ops, /was stopped/, bob);
    await leavesNothing();
  });

  test('the list shows what runs and what ran, each with its way to stop', async () => {
    const held = holdService();
    await exportTo(deploys);
    await held.reached;
    const person = bot.slack.as(alice, ops);
    await person.slash('export list');
    const list = await person.waitForMessage(
      (message) => isNew(message) && /1 under way/.test(message.reads),
    );
    expect(list.ephemeral).toBe(true);
    await person.press('event-logs:cancel:0', { ts: list.ts });
    await tells(deploys, /was stopped/);
    await leavesNothing();
  });

  test('disconnecting the key ends it', async () => {
    const held = holdService();
    await exportTo(ops);
    await held.reached;
    const person = bot.slack.as(alice, ops);
    await person.slash('disconnect');
    await person.waitForMessage(/forgotten/);
    held.release();
    expect((await tells(ops, /did not work|was stopped/)).reads).toMatch(/key/);
    await leavesNothing();
  });
});
