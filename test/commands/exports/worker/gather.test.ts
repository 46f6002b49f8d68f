import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError } from '../../../../src/api/http/errors.ts';
import {
  createEncryptedTempFile,
  exportLimits,
  gatherLog,
  SecretInFile,
} from '../../../../src/commands/exports/worker/gather.ts';
import { UserError } from '../../../../src/errors.ts';
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

const plain = {
  from: new Date('2026-11-20T10:00:00Z'),
  to: new Date('2026-11-20T11:00:00Z'),
  pseudonyms: false,
  spreadsheetSafe: false,
};

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

function read(file: File | undefined): Buffer {
  return Buffer.concat(file ? [...file.content.read()] : []);
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Temporary files that this process holds open. */
async function openFiles(): Promise<number> {
  const handles = await readdir('/proc/self/fd').catch(() => []);
  const links = await Promise.all(handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((to) => to.startsWith(directory)).length;
}

function discard(files: readonly File[]): void {
  for (const { content } of files) content.discard();
}

test('the raw file is what came, byte for byte, with its hash, rows and figures', async () => {
  const whole = log(500);
  const reports: unknown[] = [];
  const { files, ...found } = await gatherLog(
    { body: pieces(whole), length: whole.length },
    { wanted: plain, directory, onProgress: (progress) => reports.push(progress) },
  );
  expect(read(files[0]).equals(whole)).toBe(true);
  expect(files[0]).toMatchObject({ kind: 'raw', sha256: sha256(whole), length: whole.length });
  expect(found).toMatchObject({ rows: 500, bytes: whole.length, unread: undefined });
  expect(found.figures).toMatchObject({ untimed: 0, top: { action: [['blocked', 500]] } });
  expect(reports.at(-1)).toEqual({ bytes: whole.length, rows: 500 });
  discard(files);
});

test('a safe copy is a further file; without addresses there is no raw one', async () => {
  const whole = log(700);
  const { files, rows, figures } = await gather(pieces(whole), { pseudonyms: true, spreadsheetSafe: true });
  expect(files.map(({ kind }) => kind)).toEqual(['raw', 'safe']);
  const [first, safe] = files.map(read);
  const expected: string[][] = parse(whole);
  const made: string[][] = parse(first ?? '');
  expect(made.map(([time, action, , url]) => [time, action, url])).toEqual(
    expected.map(([time, action, , url]) => [time, action, url]),
  );
  expect(new Set(made.slice(1).map(([, , ip]) => ip)).size).toBe(200);
  expect(String(first) + String(safe) + JSON.stringify(figures)).not.toContain('203.0.113.');
  expect(safe?.subarray(0, 3).toString('hex')).toBe('efbbbf');
  const copy: string[][] = parse(safe ?? '', { bom: true });
  expect(copy).toHaveLength(701);
  expect(copy.slice(1).every(([, , , url]) => url?.startsWith("'="))).toBe(true);
  expect(rows).toBe(700);
  for (const file of files) expect(file.sha256).toBe(sha256(read(file)));
  discard(files);
});

test('a log larger than a summary takes is passed on unread, with its rows', async () => {
  const body = Buffer.concat([log(700), Buffer.from('"never closed')]);
  const { files, ...found } = await gather(pieces(body), {}, { summaryBytes: 20_000 });
  expect(found).toMatchObject({ rows: 701, bytes: body.length, unread: 'large', figures: undefined });
  expect(read(files[0]).equals(body)).toBe(true);
  discard(files);
});

test.each([
  ['nothing', '', { rows: 0, unread: undefined }],
  ['a header alone', header, { rows: 0, unread: undefined }],
  ['a row that is no header', '2026-11-20T10:00:00Z,203.0.113.7\n', { rows: 1, unread: 'no-header' }],
  ['unknown columns', 'a,b\n1,2\n', { rows: 2, unread: 'no-header' }],
  ['another separator', 'time;ip\n1;203.0.113.7\n', { rows: 2, unread: 'no-header' }],
  ['a list of JSON', '[{"a":1},{"a":2}]', { rows: 1, unread: 'json' }],
  ['a list of JSON on lines', '[\n  {"a":1}\n]\n', { rows: 3, unread: 'json' }],
  ['a single zero', '\0', { rows: 1, unread: 'not-csv' }],
  ['a quote that is never closed', `${header}1,"2\n`, { rows: 1, unread: 'not-csv' }],
])('%s is told for what it is, and passed on as it came', async (_, text, expected) => {
  const { files, ...found } = await gather(pieces(Buffer.from(text)));
  expect(found).toMatchObject(expected);
  expect(read(files[0]).toString()).toBe(text);
  discard(files);
});

/** Without the order of bytes that the library reads: addresses and formulas would stay between zeros. */
const otherEncoding = Buffer.from(`\ufeff${header}1,block,DE,203.0.113.7,/\n`, 'utf16le').swap16();

test('text of two bytes a character in the other order is passed on unread, and has no other form', async () => {
  const { files, ...found } = await gather(pieces(otherEncoding));
  expect(found).toMatchObject({ unread: 'not-csv', figures: undefined });
  expect(read(files[0]).equals(otherEncoding)).toBe(true);
  discard(files);
  for (const wanted of [{ pseudonyms: true }, { spreadsheetSafe: true }])
    await expect(gather(pieces(otherEncoding), wanted)).rejects.toBeInstanceOf(UserError);
});

test.each([{ pseudonyms: true }, { spreadsheetSafe: true }])('nothing has no row with %j', async (wanted) => {
  const { files, ...found } = await gather(pieces(Buffer.from('')), wanted);
  expect(found).toMatchObject({ rows: 0, unread: undefined });
  discard(files);
});

test.each([
  ['pseudonyms without a header', '2026-11-20T10:00:00Z,203.0.113.7\n', { pseudonyms: true }],
  ['pseudonyms without a known address column', 'time,visitor\n1,2\n', { pseudonyms: true }],
  ['pseudonyms of what is no CSV', `${header}1,"2\n`, { pseudonyms: true }],
  ['a safe copy of what is no CSV', `${header}1,"2\n`, { spreadsheetSafe: true }],
])('%s are refused with a sentence, and no file is left', async (_, text, wanted) => {
  await expect(gather(pieces(Buffer.from(text)), wanted)).rejects.toBeInstanceOf(UserError);
  expect(await openFiles()).toBe(0);
});

test.each([
  [1.2e9, '30 minutes'],
  [9e10, '1 minute'],
])(
  'a log of %s bytes is too large, and how long a window may be is told: about %s',
  async (bytes, length) => {
    await expect(gather(pieces(log(1)), {}, {}, bytes)).rejects.toMatchObject({
      name: 'UserError',
      hint: `Choose a window of about ${length}, or filter.`,
    });
  },
);

describe('a failure leaves no file', () => {
  test.each([
    ['announced as too large', () => gather(pieces(log(100)), {}, { fileBytes: 1000 }, 5000)],
    ['larger than a file may be', () => gather(pieces(log(100)), {}, { fileBytes: 1000 })],
    [
      'a copy that grows too large',
      () => gather(pieces(log(100)), { spreadsheetSafe: true }, { fileBytes: log(100).length + 10 }),
    ],
  ])('%s', async (_, run) => {
    await expect(run()).rejects.toThrow(/and Slack accepts files up to/);
    expect(await openFiles()).toBe(0);
  });

  test.each([{}, { pseudonyms: true }, { spreadsheetSafe: true }])(
    'a secret across two pieces with %o fails with its kind',
    async (wanted) => {
      const secret = 'a-live-secret-0123456789abcdef';
      const release = registerSecrets({ 'cdn-key': [secret] });
      const body = Buffer.from(`${header}2026-11-20T10:00:00Z,blocked,203.0.113.7,/?key=${secret}\r\n`);
      const gathering = gather(pieces(body, body.indexOf(secret) + 9), wanted);
      await expect(gathering).rejects.toEqual(new SecretInFile(['cdn-key']));
      release();
      expect(await openFiles()).toBe(0);
    },
  );
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.skipIf(process.platform !== 'linux')('it has no name, and on the disk it is noise', async () => {
  const spool = createEncryptedTempFile(folder);
  const plain = 'a personal line\n'.repeat(50_000);
  spool.write(Buffer.from(plain));
  expect(await readdir(folder)).toEqual([]);
  const handles = await readdir('/proc/self/fd');
  const links = await Promise.all(
    handles.map(async (fd) => ({ fd, to: await readlink(`/proc/self/fd/${fd}`).catch(() => '') })),
  );
  const ours = links.find(({ to }) => to.startsWith(folder) && to.endsWith(' (deleted)'));
  const { open } = await import('node:fs/promises');
  const file = await open(`/proc/self/fd/${ours?.fd}`);
  const { mode } = await file.stat();
  const stored = await file.readFile('latin1');
  await file.close();
  expect(mode & 0o777).toBe(0o600);
  expect(stored).toHaveLength(plain.length);
  expect(stored).not.toContain('personal');
  spool.discard();
});
