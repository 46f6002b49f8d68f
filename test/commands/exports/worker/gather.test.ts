import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError } from '../../../../src/api/http/errors.ts';
import { gatherLog } from '../../../../src/commands/exports/worker/gather.ts';
import { ExportTooLarge, exportLimits, SecretFound } from '../../../../src/commands/exports/worker/limits.ts';
import { registerSecrets } from '../../../../src/secrets/secret.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gather-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

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

function gather(
  body: AsyncIterable<Uint8Array>,
  wanted: Partial<typeof plain> = {},
  limits: Partial<typeof exportLimits> = {},
  length?: number,
) {
  const options = { directory, limits: { ...exportLimits, ...limits }, onProgress: () => undefined };
  return gatherLog({ body, length }, { ...options, wanted: { ...plain, ...wanted } });
}

type File = Awaited<ReturnType<typeof gather>>['files'][number];

async function read(file: File | undefined): Promise<Buffer> {
  return Buffer.concat((await file?.content.read().toArray()) ?? []);
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Temporary files that this process holds open. */
async function openFiles(): Promise<number> {
  const handles = await readdir('/proc/self/fd').catch(() => []);
  const links = await Promise.all(handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((to) => to.startsWith(directory)).length;
}

test('one file is what came, byte for byte, with its hash and its number of rows', async () => {
  const whole = log(500);
  const reports: unknown[] = [];
  const { files, parts, stats } = await gatherLog(
    { body: pieces(whole), length: whole.length },
    { wanted: plain, limits: exportLimits, directory, onProgress: (progress) => reports.push(progress) },
  );
  expect(parts).toBe(1);
  expect((await read(files[0])).equals(whole)).toBe(true);
  expect(files[0]).toMatchObject({ sha256: sha256(whole), length: whole.length });
  expect(stats).toMatchObject({ rows: 500, broken: 0, bytes: whole.length });
  expect(reports.at(-1)).toEqual({ bytes: whole.length, rows: 500 });
  for (const { content } of files) content.discard();
});

test('split, each file begins with the header and all rows are there once, with a safe copy of each', async () => {
  const limits = { fileBytes: 20_000, partBytes: 10_000 };
  const {
    files,
    parts,
    sha256: whole,
  } = await gather(
    pieces(log(700)),
    { split: true, spreadsheetSafe: true },
    { ...limits, parts: 10, files: 14 },
  );
  expect(parts).toBeGreaterThan(3);
  expect(whole).toBe(sha256(log(700)));
  expect(files.map(({ kind }) => kind)).toEqual(Array.from({ length: parts }, () => ['raw', 'safe']).flat());
  const rows: string[][] = [];
  const bare: string[][] = [];
  for (const file of files) {
    const bytes = await read(file);
    expect(sha256(bytes)).toBe(file.sha256);
    const [first, ...rest]: string[][] = parse(bytes);
    expect(first).toEqual(['timestamp', 'action', 'ip', 'url']);
    if (file.kind === 'raw') rows.push(...rest);
    else bare.push(...rest.filter(([, , , url]) => !url?.startsWith("'=")));
    file.content.discard();
  }
  expect(rows).toEqual(parse(log(700)).slice(1));
  expect(bare).toEqual([]);
});

describe('a failure leaves no file', () => {
  test.each([
    ['announced as too large', () => gather(pieces(log(100)), {}, { fileBytes: 1000 }, 5000)],
    ['larger than a file may be', () => gather(pieces(log(100)), {}, { fileBytes: 1000 })],
    [
      'a copy that grows too large',
      () => gather(pieces(log(100)), { spreadsheetSafe: true }, { fileBytes: log(100).length + 10 }),
    ],
    [
      'more parts than there may be',
      () => gather(pieces(log(900)), { split: true }, { fileBytes: 9000, partBytes: 9000, parts: 2 }),
    ],
  ])('%s', async (_, run) => {
    await expect(run()).rejects.toBeInstanceOf(ExportTooLarge);
    expect(await openFiles()).toBe(0);
  });

  test.each([{}, { pseudonyms: true }, { spreadsheetSafe: true }, { split: true }])(
    'a stream that breaks off with %o fails as it broke',
    async (wanted) => {
      await expect(gather(pieces(log(500), 1000, 9000), wanted)).rejects.toMatchObject({ code: 'cut' });
      expect(await openFiles()).toBe(0);
    },
  );

  test.each([{}, { pseudonyms: true }, { spreadsheetSafe: true }, { split: true }])(
    'a secret across two pieces with %o fails with its kind',
    async (wanted) => {
      const secret = 'a-live-secret-0123456789abcdef';
      const release = registerSecrets({ 'cdn-key': [secret] });
      const body = Buffer.from(`${header}2026-11-20T10:00:00Z,blocked,203.0.113.7,/?key=${secret}\r\n`);
      const gathering = gather(pieces(body, body.indexOf(secret) + 9), wanted);
      await expect(gathering).rejects.toEqual(new SecretFound(['cdn-key']));
      release();
      expect(await openFiles()).toBe(0);
    },
  );
});
