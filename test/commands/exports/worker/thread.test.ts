import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { findFreePort } from '../../../../simulator/free-port.ts';
import { type ExportThread, startExportThread } from '../../../../src/commands/exports/worker/thread.ts';
import { registerSecrets, Secret } from '../../../../src/secrets/secret.ts';
import type { ExportRequest } from '../../../../src/views/exports/exports.ts';
import { startUploadServer, type UploadServer } from './upload-server.ts';

const row = `2026-11-20T10:00:00Z,blocked,${randomBytes(40).toString('hex')}\n`;
const whole = Buffer.from(`timestamp,action,url\n${row.repeat(30_000)}`);
/** A thread starts first. */
const waitFor = (check: () => void) => vi.waitFor(check, 20_000);

let folder: string;
let uploads: UploadServer;
let server: Server;
let base: string;
let thread: ExportThread;
/** How the next request is answered. */
interface Asked {
  readonly method: string;
  readonly body: string;
  readonly key: unknown;
  readonly encoding: unknown;
}
let answer: (response: ServerResponse, asked: Asked) => void;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'thread-'));
  uploads = await startUploadServer();
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const { accesskey: key, 'accept-encoding': encoding } = request.headers;
      answer(response, { method: request.method ?? '', body, key, encoding });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await uploads.close();
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

afterEach(() => thread.close());

const never = new AbortController().signal;
const request = (): ExportRequest => ({
  shieldZoneId: '501',
  from: new Date(Date.now() - 3_600_000),
  to: new Date(Date.now() - 60_000),
  query: 'words',
  filters: [],
  pseudonyms: false,
  spreadsheetSafe: false,
});

interface Gathering {
  readonly signal?: AbortSignal;
  readonly apiUrl?: string;
  readonly directory?: string;
  readonly pseudonyms?: boolean;
}

/** In a thread of its own. */
function gather({ signal = never, apiUrl = base, directory = folder, pseudonyms = false }: Gathering = {}) {
  thread = startExportThread({ cdn: { apiUrl, originLoggingUrl: apiUrl }, directory, now: () => new Date() });
  return thread.gather(new Secret('the-key'), { ...request(), pseudonyms }, signal);
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test('the log is received as it was sent, counted, and uploaded as often as needed', async () => {
  let asked: Asked | undefined;
  answer = (response, request) => {
    asked = request;
    response.writeHead(200, { 'content-length': whole.length }).end(whole);
  };
  const { files, rows, bytes } = await gather();
  // A compressed file that breaks off would pass for a whole one.
  expect(asked).toMatchObject({ method: 'POST', key: 'the-key', encoding: 'identity' });
  expect(JSON.parse(asked?.body ?? '')).toMatchObject({ query: 'words' });
  expect([rows, bytes]).toEqual([30_000, whole.length]);
  expect(files[0]?.sha256).toBe(sha256(whole));
  expect(thread.progress()).toEqual({ bytes: whole.length, rows: 30_000, announced: whole.length, sent: 0 });
  const [file] = files;
  if (!file) throw new Error('no file came');
  expect(file.length).toBe(whole.length);
  expect((await uploads.receive(file)).equals(whole)).toBe(true);
  expect((await uploads.receive(file)).equals(whole)).toBe(true);
  expect(uploads.headers()).toMatchObject({ 'content-length': String(whole.length) });
});

test.each<[string, typeof answer, object]>([
  [
    'a refusal',
    (response) => response.writeHead(429, { 'retry-after': '120' }).end(),
    { code: 'rate_limited', status: 429, retryAfterSeconds: 120 },
  ],
  [
    'a body that breaks off',
    (response) =>
      void response
        .writeHead(200, { 'content-length': whole.length })
        .write(whole.subarray(0, 2_000_000), () => response.destroy()),
    { code: 'cut' },
  ],
  [
    'a compressed body that does not open',
    (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(whole),
    { code: 'cut' },
  ],
  [
    'a compressed body that breaks off, although nobody asked for one',
    (response) => {
      const packed = gzipSync(whole);
      const half = packed.subarray(0, packed.length / 2);
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': half.length }).end(half);
    },
    { code: 'cut' },
  ],
])('%s fails with the facts of the CDN’s answer', async (_, answers, facts) => {
  answer = answers;
  await expect(gather()).rejects.toMatchObject({ name: 'ApiError', ...facts });
});

test.each([
  ['br', brotliCompressSync],
  ['gzip', gzipSync],
] as const)('a file that came in %s is unpacked', async (encoding, pack) => {
  answer = (response) => response.writeHead(200, { 'content-encoding': encoding }).end(pack(whole));
  expect((await gather()).files[0]?.sha256).toBe(sha256(whole));
});

test('what people can mend comes back with its hint', async () => {
  answer = (response) => response.end('2026-11-20,203.0.113.7\n');
  await expect(gather({ pseudonyms: true })).rejects.toMatchObject({
    name: 'UserError',
    hint: expect.any(String),
  });
});

test('a redirect is an unexpected answer, and the key goes nowhere else', async () => {
  answer = (response) => response.writeHead(302, { location: uploads.url.href }).end('elsewhere');
  await expect(gather()).rejects.toMatchObject({ name: 'ApiError', status: 302 });
  expect(uploads.headers()?.['accesskey']).toBeUndefined();
});

test('progress is reported while a slow body arrives', async () => {
  const more = Promise.withResolvers<void>();
  answer = (response) => {
    response.writeHead(200).write('a,b\n1,2\n');
    void more.promise.then(() => response.end('3,4\n'));
  };
  const gathering = gather();
  await waitFor(() => expect(thread.progress().bytes).toBe(8));
  more.resolve();
  expect((await gathering).rows).toBe(3);
});

test('an unreachable CDN fails with a code, and without the key', async () => {
  const failing = gather({ apiUrl: `http://127.0.0.1:${await findFreePort()}/` });
  await expect(failing).rejects.toMatchObject({ name: 'ApiError', code: 'unreachable', sent: false });
  await expect(failing).rejects.not.toMatchObject({ message: expect.stringContaining('the-key') });
});

test('a secret in the log fails with its kind, also one that is registered meanwhile', async () => {
  const secret = 'a-live-secret-0123456789abcdef';
  const held = Promise.withResolvers<void>();
  answer = (response) => {
    response.writeHead(200).write('a,b\n');
    void held.promise.then(() => response.end(`1,${secret}\n`));
  };
  const gathering = gather();
  await waitFor(() => expect(thread.progress().bytes).toBe(4));
  const release = registerSecrets({ 'slack-token': [secret] });
  // The worker hears of it with its next report.
  await new Promise((resolve) => setTimeout(resolve, 300));
  held.resolve();
  await expect(gathering).rejects.toMatchObject({ kinds: ['slack-token'] });
  release();
});

test('aborting a download closes the connection, and the next export finds nothing of it', async () => {
  const closed = Promise.withResolvers<void>();
  answer = (response) => {
    response.on('close', closed.resolve);
    response.writeHead(200).write(whole.subarray(0, 700_000));
  };
  const controller = new AbortController();
  const gathering = gather({ signal: controller.signal });
  gathering.catch(() => undefined);
  await waitFor(() => expect(thread.progress().bytes).toBeGreaterThan(0));
  controller.abort(new Error('enough'));
  await expect(gathering).rejects.toThrow('enough');
  await closed.promise;
  await thread.close();
  answer = (response) => response.end(whole);
  expect((await gather()).files[0]?.sha256).toBe(sha256(whole));
});

test('an upload reports what was taken, returns the answer, and ends when it is aborted', async () => {
  answer = (response) => response.end(whole);
  const [file] = (await gather()).files;
  if (!file) throw new Error('no file came');
  let moved = 0;
  answer = (response) => response.writeHead(413, { 'retry-after': '7' }).end();
  const to = {
    url: new URL(base),
    headers: { 'content-length': String(whole.length) },
    moved: (bytes: number) => {
      moved += bytes;
    },
  };
  expect(await file.send({ ...to, signal: never })).toEqual({ status: 413, retryAfter: '7' });
  expect(moved).toBe(whole.length);

  const controller = new AbortController();
  const closed = Promise.withResolvers<void>();
  answer = (response) => {
    response.on('close', closed.resolve);
    controller.abort(new DOMException('enough', 'AbortError'));
  };
  const sending = file.send({ ...to, signal: controller.signal });
  await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
  await closed.promise;
});

test('a folder that cannot be written to fails with its code', async () => {
  const file = join(folder, 'a-file');
  await writeFile(file, '');
  answer = (response) => response.end(whole);
  await expect(gather({ directory: join(file, 'spool') })).rejects.toMatchObject({ code: 'ENOTDIR' });
});

/** This process holds a file of an export open. */
async function hasOpenFile(): Promise<boolean> {
  const handles = await readdir('/proc/self/fd').catch(() => []);
  const links = await Promise.all(handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.some((to) => to.startsWith(folder));
}

test('closing a thread ends what is under way, and takes its files with it', async () => {
  answer = (response) => response.writeHead(200).write('a,beginning');
  const gathering = gather();
  gathering.catch(() => undefined);
  await waitFor(() => expect(thread.progress().bytes).toBe(11));
  expect(await hasOpenFile()).toBe(process.platform === 'linux');
  await thread.close();
  await expect(gathering).rejects.toThrow('closed');
  await expect(thread.gather(new Secret('the-key'), request(), never)).rejects.toThrow('closed');
  expect(await hasOpenFile()).toBe(false);
  expect((await readdir(folder)).filter((name) => name.endsWith('.spool'))).toEqual([]);
});
