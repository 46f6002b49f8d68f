import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export type Relay = Awaited<ReturnType<typeof startRelay>>;

/** A network in front of an address of any scheme, which can go wrong without closing a connection. */
export async function startRelay(target: string) {
  let to = new URL(target);
  const sockets = new Set<Socket>();
  let isHeld = false;
  let delayMs = 0;
  const slow = (): Transform =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (delayMs === 0) done(null, chunk);
        else setTimeout(() => done(null, chunk), delayMs);
      },
    });
  const server = createServer((near) => {
    const far = connect({ host: to.hostname, port: Number(to.port), noDelay: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        (socket === near ? far : near).destroy();
      });
    }
    near.pipe(slow()).pipe(far);
    far.pipe(slow()).pipe(near);
    if (isHeld) for (const socket of [near, far]) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    /** Passes nothing on from now on, of new connections neither. */
    hold() {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
    /** Leads new connections elsewhere. `isDead`: nothing passes on the old ones any more. */
    redirect(other: string, isDead = false) {
      to = new URL(other);
      if (isDead) for (const socket of sockets) socket.pause();
    },
    delay(ms: number) {
      delayMs = ms;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
