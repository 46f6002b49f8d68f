import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/http/errors.ts';
import { type ExportFile, ExportTooLarge, type GatheredFiles, gatherFiles } from '../../src/exports/files.ts';
import { startTransfer, type Transfer } from '../../src/exports/worker/transfer.ts';
import { startUploadServer, type UploadServer } from './worker/upload-server.ts';

let tempDirectory: string;
let transfer: Transfer;
let sink: UploadServer;
beforeAll(async () => {
  tempDirectory = await mkdtemp(join(tmpdir(), 'gather-'));
  transfer = startTransfer();
  sink = await startUploadServer();
});
afterAll(async () => {
  await transfer.close();
  await sink.close();
  await rm(tempDirectory, { recursive: true, force: true });
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

const openFile = () => transfer.openFile(tempDirectory, () => undefined);

function gather(
  body: AsyncIterable<Uint8Array>,
  wanted: Partial<typeof plain> = {},
  limits = roomy,
  length?: number,
) {
  const gathered: GatheredFiles = { bytes: 0, rows: 0, sent: 0 };
  const options = { limits, openFile, gathered };
  return { gathered, done: gatherFiles({ body, length }, { ...plain, ...wanted }, options) };
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Spooled files that this process holds open. */
async function openFiles(): Promise<number> {
  const { readlink } = await import('node:fs/promises');
  const handles = await readdir('/proc/self/fd').catch(() => []);
  const links = await Promise.all(handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((to) => to.startsWith(tempDirectory)).length;
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
