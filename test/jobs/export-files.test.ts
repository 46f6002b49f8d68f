import { createHash } from 'node:crypto';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { UserError } from '../../src/errors.ts';
import { judge, whyNotPosted } from '../../src/jobs/export-failures.ts';
import { type ExportFile, ExportTooLarge, type Gathered, gatherFiles } from '../../src/jobs/export-files.ts';
import { SlackFailure } from '../../src/jobs/ports.ts';
import type { ExportRequest } from '../../src/reports/event-export.ts';
import { startTransfer, type Transfer } from '../../src/transfer/transfer.ts';
import { type Sink, startSink } from '../transfer/sink.ts';

let spoolDirectory: string;
let transfer: Transfer;
let sink: Sink;
beforeAll(async () => {
  spoolDirectory = await mkdtemp(join(tmpdir(), 'gather-'));
  transfer = startTransfer();
  sink = await startSink();
});
afterAll(async () => {
  await transfer.close();
  await sink.close();
  await rm(spoolDirectory, { recursive: true, force: true });
});

const header = 'timestamp,action,ip,url\r\n';
const row = (nth: number): string =>
  `2026-11-20T10:${String(nth % 60).padStart(2, '0')}:00Z,blocked,203.0.113.${nth % 200},"=a${nth}\n""x"""\r\n`;
const log = (rows: number): Buffer =>
  Buffer.from(header + Array.from({ length: rows }, (_, nth) => row(nth)).join(''));

async function* pieces(whole: Buffer, size = 1000, breaksAfter = Infinity): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < whole.length; at += size) {
    if (at > breaksAfter) throw new ApiError({ code: 'cut', operation: 'Export', sent: true });
    yield whole.subarray(at, at + size);
  }
}

const plain = { pseudonyms: false, spreadsheetSafe: false, split: false };
const roomy = { fileBytes: 1e9, partBytes: 1e9, parts: 10, files: 14 };

const openFile = () => transfer.openFile(spoolDirectory, () => undefined);

function gather(
  body: AsyncIterable<Uint8Array>,
  wanted: Partial<typeof plain> = {},
  limits = roomy,
  length?: number,
) {
  const gathered: Gathered = { bytes: 0, rows: 0, sent: 0 };
  const options = { limits, openFile, gathered };
  return { gathered, done: gatherFiles({ body, length }, { ...plain, ...wanted }, options) };
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Spooled files that this process holds open. */
async function openFiles(): Promise<number> {
  const { readlink } = await import('node:fs/promises');
  const handles = await readdir('/proc/self/fd').catch(() => []);
  const links = await Promise.all(handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((to) => to.startsWith(spoolDirectory)).length;
}

test('one file is what came, byte for byte, with its hash', async () => {
  const whole = log(500);
  const { files, parts, figures } = await gather(pieces(whole)).done;
  expect(parts).toBe(1);
  expect((await sink.receive((files[0] as ExportFile).spooled)).equals(whole)).toBe(true);
  expect(files[0]?.sha256).toBe(sha256(whole));
  expect(figures).toMatchObject({ rows: 500, broken: 0, bytes: whole.length });
  for (const { spooled } of files) await spooled.discard();
});

test('split, each file begins with the header and all rows are there once, with a safe copy of each', async () => {
  const limits = { fileBytes: 20_000, partBytes: 10_000, parts: 10, files: 14 };
  const { files, parts } = await gather(pieces(log(700)), { split: true, spreadsheetSafe: true }, limits)
    .done;
  expect(parts).toBeGreaterThan(3);
  expect(files.map(({ kind }) => kind)).toEqual(Array.from({ length: parts }, () => ['raw', 'safe']).flat());
  const rows: string[][] = [];
  const bare: string[][] = [];
  for (const file of files) {
    const bytes = await sink.receive(file.spooled);
    expect(sha256(bytes)).toBe(file.sha256);
    const [first, ...rest]: string[][] = parse(bytes);
    expect(first).toEqual(['timestamp', 'action', 'ip', 'url']);
    if (file.kind === 'raw') rows.push(...rest);
    else bare.push(...rest.filter(([, , , url]) => !url?.startsWith("'=")));
    await file.spooled.discard();
  }
  expect(rows).toEqual(parse(log(700)).slice(1));
  expect(bare).toEqual([]);
});

describe('what goes wrong leaves nothing', () => {
  test.each([
    ['announced as too large', () => gather(pieces(log(100)), {}, { ...roomy, fileBytes: 1000 }, 5000)],
    ['larger than a file may be', () => gather(pieces(log(100)), {}, { ...roomy, fileBytes: 1000 })],
    [
      'a copy that grows too large',
      () =>
        gather(pieces(log(100)), { spreadsheetSafe: true }, { ...roomy, fileBytes: log(100).length + 10 }),
    ],
    [
      'more parts than there may be',
      () =>
        gather(pieces(log(900)), { split: true }, { fileBytes: 9000, partBytes: 9000, parts: 2, files: 14 }),
    ],
  ])('%s', async (_, run) => {
    await expect(run().done).rejects.toBeInstanceOf(ExportTooLarge);
    expect(await openFiles()).toBe(0);
  });

  test.each([{}, { pseudonyms: true }, { spreadsheetSafe: true }, { split: true }])(
    'a stream that breaks off with %o fails as it broke',
    async (wanted) => {
      await expect(gather(pieces(log(500), 1000, 9000), wanted).done).rejects.toMatchObject({ code: 'cut' });
      expect(await openFiles()).toBe(0);
    },
  );
});

function api(code: ConstructorParameters<typeof ApiError>[0]['code'], more = {}): ApiError {
  return new ApiError({ code, operation: 'Export Event Logs as CSV', sent: true, ...more });
}

describe('what an attempt that failed means', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const request: ExportRequest = {
    shieldZoneId: '501',
    from: new Date('2026-11-21T00:00:00Z'),
    to: new Date('2026-11-21T12:00:00Z'),
    query: '',
    filters: [],
    ...plain,
  };
  test('what may come back is tried again, longer and longer, and not for ever', () => {
    const waits = [1, 2, 3, 4].map((attempt) => judge(api('cut'), request, attempt, now));
    expect(waits.map((verdict) => ('retryAfterMs' in verdict ? verdict.retryAfterMs : 'tell'))).toEqual([
      2000,
      10_000,
      30_000,
      'tell',
    ]);
  });

  test('a pause that is asked for is kept, unless nobody would wait for it', () => {
    expect(judge(api('rate_limited', { retryAfterSeconds: 120 }), request, 1, now)).toMatchObject({
      retryAfterMs: 120_000,
    });
    expect(judge(api('rate_limited', { retryAfterSeconds: 3600 }), request, 1, now)).toHaveProperty('tell');
  });

  test('a window that slid out of the 72 hours comes back corrected', () => {
    const old = { ...request, from: new Date('2026-11-18T11:00:00Z') };
    for (const error of [
      new UserError('The window reaches back more than 72 hours.'),
      api('refused', { errorKey: 'invalid_datetime_window.event_logs' }),
      api('refused', { serviceMessage: 'You can only view the past 3 days (72 hours) of Event Logs.' }),
    ]) {
      expect(judge(error, old, 1, now)).toEqual({
        tell: error,
        offers: [{ from: new Date('2026-11-18T12:10:00Z'), to: old.to, split: false }],
      });
    }
  });

  test('a window that only the CDN finds wrong is offered away from the edges, and recent ones after that', () => {
    const refused = api('refused', { status: 401, errorKey: 'invalid_datetime_window.event_logs' });
    const offers = (from: string, to: string) => {
      const verdict = judge(refused, { ...request, from: new Date(from), to: new Date(to) }, 1, now);
      const found = 'offers' in verdict ? verdict.offers : [];
      return found.map(({ from, to }) => [from, to].map((at) => at.toISOString().slice(8, 16)).join(' '));
    };
    expect(offers('2026-11-21T06:00:00Z', '2026-11-21T12:00:00Z')).toEqual(['21T06:00 21T11:50']);
    expect(offers('2026-11-18T12:20:00Z', '2026-11-21T11:00:00Z')).toEqual(['18T13:00 21T11:00']);
    const recent = ['20T11:50 21T11:50', '21T05:50 21T11:50'];
    expect(offers('2026-11-20T10:00:00Z', '2026-11-20T12:00:00Z')).toEqual(recent);
    expect(offers('2026-11-16T10:00:00Z', '2026-11-17T12:00:00Z')).toEqual(recent);
  });

  test.each([
    ['missing_scope', /Ask an admin/, 1],
    ['file_uploads_disabled', /Ask an admin/, 1],
    ['blocked_file_type', /Ask an admin/, 1],
    ['file_upload_size_restricted', /smaller window.*ask an admin/, 2],
    ['not_in_channel', /\/invite @cdn/, 1],
  ])('an upload that Slack refuses with %s is told with what helps', (code, hint, buttons) => {
    const verdict = judge(new SlackFailure('refused', code), request, 1, now);
    expect(verdict).toMatchObject({ tell: { hint: expect.stringMatching(hint) } });
    expect(verdict).not.toMatchObject({ tell: { hint: expect.stringContaining('to yourself') } });
    expect('offers' in verdict && verdict.offers).toHaveLength(buttons);
  });

  test('windows that are proposed cover the whole one, without a gap', () => {
    for (const [bytes, pieces] of [
      [1.2e9, 2],
      [3e9, 4],
      [9e10, 4],
    ] as const) {
      const verdict = judge(new ExportTooLarge(bytes, { announced: true, limit: 1e9 }), request, 1, now);
      const [splitting, ...windows] = 'offers' in verdict ? verdict.offers : [];
      expect(splitting).toEqual({ from: request.from, to: request.to, split: true });
      expect(windows).toHaveLength(pieces);
      expect(windows[0]?.from).toEqual(request.from);
      expect(windows.at(-1)?.to).toEqual(request.to);
      for (const [nth, window] of windows.slice(1).entries()) expect(window.from).toEqual(windows[nth]?.to);
    }
  });

  test.skipIf(process.platform !== 'linux')('a full disk is told as one', async () => {
    const full = await open('/dev/full', 'w');
    const error: unknown = await full.write('x').catch((failure: unknown) => failure);
    await full.close();
    const verdict = judge(error, request, 1, now);
    expect(verdict).toMatchObject({ tell: { message: expect.stringContaining('disk is full') } });
    expect('offers' in verdict && verdict.offers).toHaveLength(2);
  });

  test.each([
    ['not_in_channel', /The bot is not in <#C1>/],
    ['channel_not_found', /The bot is not in <#C1>/],
    ['is_archived', /<#C1> is archived/],
    ['ratelimited', /asks for a pause/],
    ['restricted_action', /does not let the bot post in <#C1> \(restricted_action\)/],
  ])('a first message that is refused with %s says so', (code, words) => {
    expect(whyNotPosted(new SlackFailure('refused', code), 'C1')).toMatchObject({
      message: expect.stringMatching(words),
    });
  });
});
