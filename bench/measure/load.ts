import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** One kept-alive HTTP connection that carries one request at a time. */
interface HttpConnection {
  /** Ms from the first byte written to the last byte of the answer. @throws Error for anything but 200. */
  post(request: Buffer): Promise<number>;
  /** The body of the last answer. */
  body(): string;
  close(): void;
}

/**
 * Raw bytes over a plain socket: the load must cost less than the barest server it is put on, and `node:http`'s own
 * client costs more.
 */
async function openConnection(port: number): Promise<HttpConnection> {
  const socket = await openSocket(port);
  let answer = '';
  let body = '';
  let sent = 0;
  let settle: { resolve: (ms: number) => void; reject: (error: Error) => void } | undefined;
  const fail = (why: string): void => settle?.reject(new Error(why));
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    if (!isComplete(answer)) return;
    const status = answer.slice(9, 12);
    body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
    if (status === '200') settle?.resolve(performance.now() - sent);
    else fail(`answered ${status}`);
    answer = '';
  });
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the connection was closed'));
  return {
    post: (request) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        // Nothing more is heard of a socket that was closed before.
        if (socket.destroyed) return fail('the connection was closed');
        sent = performance.now();
        socket.write(request);
      }),
    body: () => body,
    close: () => socket.destroy(),
  };
}

/** As Slack does, it tries again where a connection is refused or reset before anything was sent over it. */
async function openSocket(port: number, triesLeft = 2): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  try {
    await once(socket, 'connect');
    return socket;
  } catch (error) {
    if (triesLeft === 0) throw error;
    await pause(50);
    return openSocket(port, triesLeft - 1);
  }
}

function isComplete(answer: string): boolean {
  const head = answer.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer);
  if (length && length.index < head) return answer.length >= head + 4 + Number(length[1]);
  return answer.endsWith('0\r\n\r\n');
}

/** Sends one request and waits for its acknowledgement, ms. */
export async function post(port: number, request: Buffer): Promise<number> {
  const line = await openConnection(port);
  return line.post(request).finally(() => line.close());
}

/** Sends one request for the sake of its answer. */
export async function requestAnswer(port: number, request: Buffer): Promise<{ ms: number; body: string }> {
  const line = await openConnection(port);
  const ms = await line.post(request).finally(() => line.close());
  return { ms, body: line.body() };
}

/** Sends all at the same moment, each over a connection of its own that is open already; ms of each. */
export async function sendAtOnce(port: number, requests: readonly Buffer[]): Promise<number[]> {
  const lines = await Promise.all(requests.map(() => openConnection(port)));
  const began = performance.now();
  const taken = await Promise.all(
    requests.map(async (request, n) => {
      await lines[n]?.post(request);
      return performance.now() - began;
    }),
  );
  for (const line of lines) line.close();
  return taken;
}

/** Keeps `atOnce` requests under way for `forMs`; gives acknowledgements a second. */
export async function measureThroughput(
  port: number,
  next: () => Buffer,
  options: { atOnce: number; forMs: number },
): Promise<number> {
  const lines = await Promise.all(Array.from({ length: options.atOnce }, () => openConnection(port)));
  const began = performance.now();
  let acknowledged = 0;
  await Promise.all(
    lines.map(async (line) => {
      while (performance.now() < began + options.forMs) {
        await line.post(next());
        acknowledged += 1;
      }
    }),
  );
  const perSecond = (acknowledged * 1000) / (performance.now() - began);
  for (const line of lines) line.close();
  return perSecond;
}

/** Sends `perSecond` requests a second, whatever the answers do, and gives each one's ms, waiting for a line included. */
export async function sendAtRate(
  port: number,
  next: () => Buffer,
  options: { perSecond: number; until: (sent: number) => boolean; connections?: number },
): Promise<number[]> {
  const most = options.connections ?? Number.POSITIVE_INFINITY;
  const first = Math.min(most, 8);
  const free: HttpConnection[] = await Promise.all(Array.from({ length: first }, () => openConnection(port)));
  const waiting: ((line: HttpConnection) => void)[] = [];
  const all = [...free];
  let opened = all.length;
  const send = async (): Promise<number> => {
    const due = performance.now();
    // The longest idle first: a server closes what stays idle for some seconds.
    let line = free.shift();
    if (!line && opened >= most) line = await new Promise<HttpConnection>((resolve) => waiting.push(resolve));
    if (!line) {
      opened += 1;
      all.push((line = await openConnection(port)));
    }
    await line.post(next());
    const taken = performance.now() - due;
    const successor = waiting.shift();
    if (successor) successor(line);
    else free.push(line);
    return taken;
  };
  const taken = await startAtRate(options.perSecond, options.until, send);
  for (const line of all) line.close();
  return taken;
}

/** Starts `run` `perSecond` times a second until told to stop, and collects what comes of all of them. */
export async function startAtRate<T>(
  perSecond: number,
  until: (started: number) => boolean,
  run: () => Promise<T>,
): Promise<T[]> {
  const began = performance.now();
  const running: Promise<T>[] = [];
  while (!until(running.length)) {
    running.push(run());
    const wait = began + (running.length * 1000) / perSecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return Promise.all(running);
}
