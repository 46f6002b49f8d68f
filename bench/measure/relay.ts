import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes connections on, to each target in turn, and counts what comes back over them. */
export interface Relay {
  readonly url: string;
  readonly port: number;
  /** Bytes from the other side so far, headers included. */
  bytes(): number;
  close(): void;
}

/** With several targets a balancer: a target that takes no connection is passed over. */
export async function startRelay(...targets: readonly string[]): Promise<Relay> {
  const sockets = new Set<Socket>();
  let bytes = 0;
  let turn = 0;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  const join = (near: Socket, tries: number): void => {
    turn += 1;
    const { hostname, port } = new URL(targets[turn % targets.length] ?? '');
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
      far.once('close', () => near.destroy());
    });
    far.on('error', () => {
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
