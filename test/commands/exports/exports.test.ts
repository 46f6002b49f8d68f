import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { formatBytes } from '../../../src/views/blocks/format.ts';
import { channels, download, openForm, saveSettings, submitForm, users } from './bot.ts';
import { useExportHarness } from './harness.ts';
import { answers, readExport, readProblem, says } from './words.ts';

const { alice, bob, dave } = users;
const header = 'timestamp,action,ip,url\r\n';
const csvType = { 'content-type': 'text/csv' };
const { ops, random } = channels;
const {
  bot,
  exportRequests,
  callsTo,
  exportTo,
  expectNothingLeft,
  newFiles,
  expectEmptySpool,
  pass,
  waitForPost,
} = await useExportHarness();

/** What the service sends for the request that the bot made last. */
async function readSentFile(): Promise<Buffer> {
  const request = exportRequests().at(-1);
  const response = await fetch(`${bot.cdn.url}${request?.path}`, {
    method: 'POST',
    headers: { accesskey: bot.cdn.key, 'content-type': 'application/json' },
    body: JSON.stringify(request?.body),
  });
  return Buffer.from(await response.arrayBuffer());
}

describe('a file arrives', () => {
  test('in a channel, byte for byte, with what is in it beside it and one message that tells', async () => {
    const started = await exportTo(ops);
    expect(started.callback_id).toBe('event-logs:started');
    expect(readExport(started)).toMatchSnapshot('answer to the form');
    const done = await waitForPost(ops, says.posted());
    const [message, ...more] = newFiles(ops);
    expect(more).toEqual([]);
    const [csv, ...others] = message?.files ?? [];
    expect(others).toEqual([]);
    expect(csv?.name).toMatch(/^events-501-\d{8}T\d{4}Z-\d{8}T\d{4}Z\.csv$/);
    expect(done.blocks).toContainEqual(expect.objectContaining({ type: 'data_visualization' }));
    const bytes = await download(bot.slack, csv?.url ?? '');
    expect(bytes.equals(await readSentFile())).toBe(true);
    for (const words of [
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
    expect(readExport(done, { size: formatBytes(bytes.length) })).toMatchSnapshot('message of the export');
    expect(done.edited).toBe(true);
    expect(callsTo('chat.postMessage')).toHaveLength(1);
    await expectEmptySpool();
  });

  test('to the person alone where no channel is chosen', async () => {
    const person = bot.slack.as(alice, ops);
    await openForm(person);
    await submitForm(person, { query: 'wp-login', filters: 'country DE, fr' });
    await waitForPost(`D${alice}`, says.posted());
    expect(newFiles(`D${alice}`)).toHaveLength(1);
    expect(newFiles(ops)).toEqual([]);
    expect(exportRequests()[0]?.body).toMatchObject({
      query: 'wp-login',
      filters: [{ field: 'country', op: 'in', value: ['DE', 'FR'] }],
    });
    const [request] = newFiles(`D${alice}`)[0]?.reads.split('\n') ?? [];
    expect(readExport({ reads: request ?? '' })).toMatchSnapshot('what was asked for');
  });

  test('with pseudonyms and a copy for spreadsheets: no address and no formula is left, and the raw file stays away', async () => {
    await exportTo(ops, { pseudonyms: ['yes'], spreadsheetSafe: ['yes'] });
    await waitForPost(ops, says.posted(2));
    const [message] = newFiles(ops);
    const [csv, safe] = message?.files ?? [];
    expect(message?.reads).toMatch(/pseudonyms/);
    expect(message?.reads).not.toMatch(/203\.0\.113\.\d/);
    const text = (await download(bot.slack, csv?.url ?? '')).toString();
    expect(text).not.toMatch(/203\.0\.113\.\d|2001:db8/);
    expect(text).toContain('=HYPERLINK');
    expect(safe?.name).toMatch(/-spreadsheet\.csv$/);
    const rows: string[][] = parse(await download(bot.slack, safe?.url ?? ''), { bom: true });
    expect(rows).toHaveLength(201);
    expect(rows.flat().filter((cell) => /^[=+@-]/.test(cell))).toEqual([]);
  });

  test('a file without a header is posted as it came and told so; its addresses never leave under pseudonyms', async () => {
    const body = '2026-11-20T10:00:00Z,blocked,203.0.113.7\n2026-11-20T10:01:00Z,blocked,203.0.113.8\n';
    const answer = { match: { path: /export$/ }, body, headers: { 'content-type': 'text/csv' } };
    bot.cdn.faults.add(answer);
    await exportTo(ops, { pseudonyms: ['yes'] });
    expect(readExport(await waitForPost(ops, says.failed))).toMatchSnapshot('pseudonyms are refused');
    await expectNothingLeft();
    const person = bot.slack.as(alice, ops);
    await person.slash('export list');
    expect((await person.waitForMessage(answers.list('none'))).reads).toMatch(/failed, 2 events/);
    bot.cdn.faults.add(answer);
    await exportTo(ops);
    expect(readExport(await waitForPost(ops, says.posted()))).toMatchSnapshot('as it came');
    const [csv] = newFiles(ops)[0]?.files ?? [];
    expect((await download(bot.slack, csv?.url ?? '')).toString()).toBe(body);
  });

  test('an export without events posts a sentence and no file', async () => {
    bot.cdn.faults.add({ match: { path: /export$/ }, body: header, headers: csvType });
    await exportTo(ops);
    expect(readExport(await waitForPost(ops, says.noEvent))).toMatchSnapshot();
    await expectNothingLeft();
  });

  test('a list of JSON is named as that, and told', async () => {
    const headers = { 'content-type': 'application/json' };
    bot.cdn.faults.add({ match: { path: /export$/ }, body: '[{"a":1},{"a":2}]', headers });
    await exportTo(ops);
    expect(readExport(await waitForPost(ops, says.posted()))).toMatchSnapshot();
    expect(newFiles(ops)[0]?.files?.[0]?.name).toMatch(/Z\.json$/u);
  });

  test('an export whose answer has another form posts a sentence and no file', async () => {
    bot.cdn.faults.add({ match: { path: /export$/ }, body: '{"logs":null}', headers: csvType });
    await exportTo(ops);
    await waitForPost(ops, says.otherForm);
    await expectNothingLeft();
  });

  test('a log without an event is told directly where its message is gone', async () => {
    bot.cdn.faults.add({ match: { path: /export$/ }, body: header, headers: csvType });
    bot.slack.script.fail('chat.update', 'message_not_found', 2);
    await exportTo(ops, { pseudonyms: ['yes'] });
    await waitForPost(`D${alice}`, says.noEvent);
    await expectNothingLeft();
  });
});

const countRefusals = async (): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${bot.app.port()}/metrics`)).text();
  const counts = text.matchAll(/^chatops_refusals_total\{.*\} (\d+)$/gmu);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
};

describe('while the file is on its way to Slack', () => {
  test.each([
    ['it is cancelled', says.cancelled, () => bot.slack.as(alice, ops).press('event-logs:cancel:0'), 0, ops],
    [
      'other organizations come to read its channel',
      says.failed,
      async () => {
        Object.assign(bot.slack.world.channels.get(ops) ?? {}, { shared: true });
        // The form asked half a minute ago.
        pass(30_000);
      },
      0,
      `D${alice}`,
    ],
    ['a right is lost', says.failed, () => saveSettings(bot.slack, { operators: [bob] }), 1, ops],
  ])('%s: that is told, and nothing is posted', async (_, words, change, refusals, place) => {
    const before = await countRefusals();
    const held = bot.slack.script.hold('files.upload', 'before');
    await exportTo(ops);
    await held.reached;
    await change();
    if (words === says.cancelled) await waitForPost(ops, words);
    held.release();
    expect(readExport(await waitForPost(place, words))).toMatchSnapshot();
    expect(callsTo('files.completeUploadExternal')).toEqual([]);
    expect(await countRefusals()).toBe(before + refusals);
    await expectNothingLeft();
    Object.assign(bot.slack.world.channels.get(ops) ?? {}, { shared: false });
    if (refusals > 0) await saveSettings(bot.slack, { operators: [alice, bob] });
  });
});

test('nobody but its person and admins can cancel an export', async () => {
  const held = bot.slack.script.hold('files.upload', 'before');
  const person = bot.slack.as(bob, ops);
  await openForm(person);
  await submitForm(person, { channel: ops });
  await held.reached;
  const other = bot.slack.as(dave, ops);
  await other.press('event-logs:cancel:0');
  expect(readExport(await other.waitForMessage(answers.ofAnother))).toMatchSnapshot();
  await bot.slack.as(alice, ops).press('event-logs:cancel:0');
  await waitForPost(ops, says.cancelled, bob);
  held.release();
  await expectNothingLeft();
});

describe('the form', () => {
  test('says in its fields what is wrong, the corrected window included, and asks nobody', async () => {
    const person = bot.slack.as(alice, ops);
    await openForm(person);
    const now = Math.floor(Date.now() / 1000);
    const { errors } = await person.submit({
      from: now - 90 * 3600,
      to: now - 80 * 3600,
      filters: '10.0.0.0/8',
      channel: `D${alice}`,
    });
    expect(Object.keys(errors ?? {})).toEqual(['to', 'channel', 'filters']);
    expect(errors).toMatchSnapshot('each at its field');
    const turned = await person.submit({ from: now, to: now - 60 });
    expect(Object.keys(turned.errors ?? {})).toContain('to');
    expect(turned.errors).toMatchSnapshot('an end before its start');
    const ahead = await person.submit({ from: now, to: now + 7200 });
    expect(Object.keys(ahead.errors ?? {})).toContain('to');
    expect(ahead.errors).toMatchSnapshot('an end in the future');
    expect(exportRequests()).toEqual([]);
    await expectNothingLeft();
  });

  test('a window that is typed is read in the person’s time zone; one nobody understands leaves the usual one', async () => {
    const person = bot.slack.as(alice, ops);
    await openForm(person, 'export 501 yesterday');
    const { state } = person.modal() ?? {};
    const from = new Date(Number(state?.values['from']?.['from']?.['selected_date_time']) * 1000);
    const berlin = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    expect(berlin.format(from)).toBe('00:00');
    expect(readExport(person.modal() ?? { reads: '' })).toMatchSnapshot('the form');
    await openForm(person, 'export 501 lst 6h');
    expect(readProblem(person.modal())).toMatchSnapshot('nobody understands it');
    await openForm(person, 'export 501 last 9 days');
    const { from: typed } = person.modal()?.state.values ?? {};
    const begin = Number(typed?.['from']?.['selected_date_time']);
    expect(Math.round((Date.now() / 1000 - begin) / 86_400)).toBe(9);
  });

  test('a channel the bot is not in is told at once, the CDN is not asked, and the form comes back as it was', async () => {
    const person = bot.slack.as(alice, ops);
    await openForm(person);
    const sent = person.modal()?.hash;
    await person.submit({ channel: random, query: 'kept' });
    const back = await person.waitForModal(
      ({ callback_id: id, hash }) => id === 'event-logs:submit' && hash !== sent,
    );
    expect(readProblem(back)).toMatchSnapshot();
    expect(back.state.values['query']?.['query']).toMatchObject({ value: 'kept' });
    expect(exportRequests()).toEqual([]);
    // Elsewhere it works from there.
    expect((await submitForm(person, { channel: ops })).callback_id).toBe('event-logs:started');
    await waitForPost(ops, says.done);
  });

  test('a channel of several organizations gets nothing', async () => {
    expect(readProblem(await exportTo('C0SHARED0'))).toMatchSnapshot();
    expect(exportRequests()).toEqual([]);
  });
});
