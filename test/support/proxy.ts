import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A proxy that tunnels (`CONNECT`), like those of companies. It resolves every host to this machine. */
export interface Proxy {
  readonly url: string;
  /** The hosts that were asked for, in order. */
  readonly asked: string[];
  /** Refuses what follows. */
  refuse(status: number): void;
  close(): void;
}

export async function startProxy(): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  let refusal: number | undefined;
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '' }, near: Socket, head: Buffer) => {
    asked.push(url);
    if (refusal !== undefined) return void near.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    const port = Number(url.split(':').at(-1));
    const far = connect(port, '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.write(head);
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => (socket === near ? far : near).destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    refuse: (status) => (refusal = status),
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
