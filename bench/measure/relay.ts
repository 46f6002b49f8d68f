import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes connections on, to each target in turn, and counts what comes back over them. */
export interface Relay {
  readonly url: string;
  readonly port: number;
  /** Bytes from the other side so far, headers included. */
  bytes(): number;
  close(): void;
}

/** For so long a balancer sends nothing to a target that broke a connection. */
const outMs = 2_000;

/**
 * With several targets a balancer: one that takes no connection, or breaks it before it answers, is passed over for a
 * while. A process that is being killed goes on taking connections, only to break them.
 */
export async function startRelay(...targets: readonly string[]): Promise<Relay> {
  const sockets = new Set<Socket>();
  let bytes = 0;
  let turn = 0;
  const outUntil = new Map<string, number>();
  const isOut = (target: string): boolean => (outUntil.get(target) ?? 0) > performance.now();
  /** The next one in turn, of all where all are out. */
  const choose = (): string => {
    const following = targets.map((_, n) => targets[(turn + 1 + n) % targets.length] ?? '');
    const target = following.find((one) => !isOut(one)) ?? following[0] ?? '';
    turn = targets.indexOf(target);
    return target;
  };
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  const join = (near: Socket, tries: number): void => {
    const target = choose();
    const { hostname, port } = new URL(target);
    const far = connect({ host: hostname, port: Number(port), noDelay: true });
    keep(far);
    let isJoined = false;
    far.once('connect', () => {
      isJoined = true;
      far.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      near.pipe(far).pipe(near);
      near.once('close', () => far.destroy());
    });
    // What became of it is decided at its end.
    far.on('error', () => undefined);
    far.once('close', () => {
      if (far.bytesRead === 0 && !near.destroyed) outUntil.set(target, performance.now() + outMs);
      if (!isJoined && tries > 1) join(near, tries - 1);
      else near.destroy();
    });
  };
  const server = createServer((near) => {
    keep(near);
    near.on('error', () => near.destroy());
    join(near, targets.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    bytes: () => bytes,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
