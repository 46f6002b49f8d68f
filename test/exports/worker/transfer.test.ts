import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTransfer, type Transfer } from '../../../src/exports/worker/transfer.ts';
import { startUploadServer, type UploadServer } from './upload-server.ts';

const whole = randomBytes(3_000_000);
let folder: string;
let sink: UploadServer;
let server: Server;
let base: string;
let transfer: Transfer;
/** How the next request is answered. */
let answer: (response: ServerResponse, asked: { method: string; body: string; key: unknown }) => void;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transfer-'));
  sink = await startUploadServer();
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      answer(response, { method: request.method ?? '', body, key: request.headers['accesskey'] });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  await sink.close();
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  transfer = startTransfer();
});
afterEach(() => transfer.close());

const openFile = (inspect: (piece: Uint8Array) => void = () => undefined) =>
  transfer.openFile(folder, inspect);

async function read(response: Response): Promise<Buffer> {
  const parts: Buffer[] = [];
  // Copied: a piece holds something else once the next one is there.
  for await (const piece of response.body ?? []) parts.push(Buffer.from(piece));
  return Buffer.concat(parts);
}

test('what arrives is what was sent, and what was asked arrives there', async () => {
  let asked: unknown;
  answer = (response, request) => {
    asked = request;
    response.writeHead(200, { 'content-length': whole.length, 'x-words': 'a' }).end(whole);
  };
  const headers = { AccessKey: 'the-key' };
  const response = await transfer.fetch(base, { method: 'POST', headers, body: '{"from":1}' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-length')).toBe(String(whole.length));
  expect((await read(response)).equals(whole)).toBe(true);
  expect(asked).toEqual({ method: 'POST', body: '{"from":1}', key: 'the-key' });
});

test('a packed body arrives unpacked', async () => {
  answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(whole));
  const response = await transfer.fetch(base);
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect((await read(response)).equals(whole)).toBe(true);
});

test('a packed body that breaks off fails', async () => {
  answer = (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(whole).subarray(0, 2_000_000));
  await expect(read(await transfer.fetch(base))).rejects.toThrow('a transfer failed');
});

test('a redirect is an answer, and nobody goes there', async () => {
  answer = (response) => response.writeHead(302, { location: sink.url.href }).end('elsewhere');
  const response = await transfer.fetch(base, { redirect: 'manual' });
  expect([response.status, (await read(response)).toString()]).toEqual([302, 'elsewhere']);
  expect(sink.headers()).toBeUndefined();
});

test('a slow body comes piece by piece', async () => {
  const more = Promise.withResolvers<void>();
  answer = (response) => {
    response.writeHead(200).write('first');
    void more.promise.then(() => response.end('second'));
  };
  const reader = (await transfer.fetch(base)).body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
  more.resolve();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('second');
  expect((await reader?.read())?.done).toBe(true);
});

test('a body that breaks off fails, after what had come', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-length': whole.length });
    response.write(whole.subarray(0, 2_000_000), () => response.destroy());
  };
  let came = 0;
  const response = await transfer.fetch(base);
  const reading = (async () => {
    for await (const piece of response.body ?? []) came += piece.length;
  })();
  await expect(reading).rejects.toThrow('ECONNRESET');
  expect(came).toBeGreaterThan(0);
});

test('where nobody listens it fails with the code that says so, and without what was sent', async () => {
  const failing = transfer.fetch('http://127.0.0.1:1/', { headers: { AccessKey: 'the-key' } });
  await expect(failing).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await expect(failing).rejects.not.toMatchObject({ message: expect.stringContaining('the-key') });
});

test('who ends it while it comes ends the connection, and may ask again at once', async () => {
  const closed = Promise.withResolvers<void>();
  answer = (response) => {
    response.on('close', closed.resolve);
    response.writeHead(200).write(whole.subarray(0, 700_000));
  };
  const controller = new AbortController();
  const reader = (await transfer.fetch(base, { signal: controller.signal })).body?.getReader();
  await reader?.read();
  controller.abort(new Error('enough'));
  await expect(
    (async () => {
      while (!(await reader?.read())?.done);
    })(),
  ).rejects.toThrow('enough');
  await closed.promise;
  answer = (response) => response.end(whole);
  expect((await read(await transfer.fetch(base))).equals(whole)).toBe(true);
});

test('a body left behind does not get into the next one', async () => {
  answer = (response) => response.writeHead(200).write(randomBytes(5_000_000));
  const left = await transfer.fetch(base);
  await left.body?.getReader().read();
  answer = (response) => response.end(whole);
  expect((await read(await transfer.fetch(base))).equals(whole)).toBe(true);
});

test('what arrives is sent on: seen before it is written, hashed, exactly its bytes', async () => {
  answer = (response) => response.end(whole);
  const seen: Buffer[] = [];
  const file = await openFile((piece) => void seen.push(Buffer.from(piece)));
  for await (const piece of (await transfer.fetch(base)).body ?? []) await file.write(piece);
  // What somebody else made can be written as well, and be used again.
  const own = Buffer.from('the last line');
  await file.write(own);
  own.fill(0);
  const all = Buffer.concat([whole, Buffer.from('the last line')]);
  expect(await file.finish()).toBe(createHash('sha256').update(all).digest('hex'));
  expect(file.length()).toBe(all.length);
  expect(Buffer.concat(seen).equals(all)).toBe(true);
  expect((await sink.receive(file)).equals(all)).toBe(true);
  expect((await sink.receive(file)).equals(all)).toBe(true);
  expect(sink.headers()).toMatchObject({ 'content-length': String(all.length) });
});

test('what must not leave is not written', async () => {
  const file = await openFile(() => {
    throw new Error('a secret');
  });
  await expect(file.write(Buffer.from('x'))).rejects.toThrow('a secret');
  expect(file.length()).toBe(0);
});

test('sending tells how much was taken, gives the answer, and ends when it is told to', async () => {
  const file = await openFile();
  await file.write(whole);
  await file.finish();
  let moved = 0;
  answer = (response) => response.writeHead(413).end();
  const to = {
    url: new URL(base),
    headers: { 'content-length': String(whole.length) },
    moved: (bytes: number) => {
      moved += bytes;
    },
  };
  expect(await file.send({ ...to, signal: new AbortController().signal })).toEqual({
    status: 413,
    retryAfter: undefined,
  });
  expect(moved).toBe(whole.length);

  const controller = new AbortController();
  const closed = Promise.withResolvers<void>();
  answer = (response) => {
    response.on('close', closed.resolve);
    controller.abort(new DOMException('enough', 'AbortError'));
  };
  await expect(file.send({ ...to, signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
  await closed.promise;
});

test('a folder that cannot be written to fails with its code', async () => {
  const file = join(folder, 'a-file');
  const { writeFile } = await import('node:fs/promises');
  await writeFile(file, '');
  await expect(transfer.openFile(join(file, 'spool'), () => undefined)).rejects.toMatchObject({
    code: 'ENOTDIR',
  });
});

test('ended, it lets nobody wait and leaves nothing', async () => {
  answer = (response) => response.writeHead(200).write('a beginning');
  const response = await transfer.fetch(base);
  const reading = read(response);
  reading.catch(() => undefined);
  const file = await openFile();
  await file.write(Buffer.from('personal'));
  await transfer.close();
  await expect(reading).rejects.toThrow('ended');
  await expect(file.finish()).rejects.toThrow('ended');
  await file.discard();
  expect((await readdir(folder)).filter((name) => name.endsWith('.spool'))).toEqual([]);
});

test.each(['nothing', 'a body', 'a file'])('the next one finds nothing of one that left %s', async (left) => {
  answer = (response) => response.writeHead(200, { 'content-length': whole.length }).end(whole);
  const body = (await transfer.fetch(base)).body?.getReader();
  await body?.read();
  if (left !== 'a body') while (!(await body?.read())?.done);
  const file = await openFile();
  await file.write(Buffer.from('what the one before had'));
  if (left !== 'a file') await file.discard();
  await transfer.close();

  transfer = startTransfer();
  answer = (response) => response.writeHead(200).end('its own');
  expect((await read(await transfer.fetch(base))).toString()).toBe('its own');
  const own = await openFile();
  await own.write(Buffer.from('its own'));
  expect([own.length(), await own.finish()]).toEqual([
    7,
    createHash('sha256').update('its own').digest('hex'),
  ]);
  await own.discard();
});
