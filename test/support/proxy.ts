import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** A proxy like those of companies: it tunnels (`CONNECT`) and forwards. It resolves every host to this machine. */
export async function startProxy() {
  const tunnels = new Map<Socket, string>();
  const asked: string[] = [];
  const refusals = new Map<string | undefined, number>();
  const findRefusal = (host: string): number | undefined => refusals.get(host) ?? refusals.get(undefined);
  const server = createServer((near, response) => {
    const { host, port, pathname, search } = new URL(near.url ?? '');
    asked.push(host);
    const refusal = findRefusal(host);
    if (refusal !== undefined) return void response.writeHead(refusal).end();
    const { method, headers } = near;
    const far = request({ host: '127.0.0.1', port, path: pathname + search, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    far.on('error', () => response.writeHead(502).end());
    near.pipe(far);
  });
  server.on('connect', ({ url = '' }, near: Socket, head: Buffer) => {
    asked.push(url);
    const refusal = findRefusal(url);
    if (refusal !== undefined) return void near.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    const port = Number(url.split(':').at(-1));
    let isThrough = false;
    const far = connect(port, '127.0.0.1', () => {
      isThrough = true;
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.write(head);
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) {
      tunnels.set(socket, url);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => tunnels.delete(socket));
    }
    near.on('close', () => far.destroy());
    far.on('close', () => (isThrough ? near.destroy() : near.end('HTTP/1.1 502 No\r\n\r\n')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The hosts that were asked for (`host:port`), in order. */
    asked,
    /** Refuses what follows and cuts what is open, or of this host (`host:port`) alone. */
    refuse(status: number, host?: string) {
      refusals.set(host, status);
      for (const [socket, to] of tunnels) if (host === undefined || host === to) socket.destroy();
    },
    allow: () => refusals.clear(),
    close() {
      for (const socket of tunnels.keys()) socket.destroy();
      server.close();
    },
  };
}
