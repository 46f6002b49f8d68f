import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, createServer, type SecureContext } from 'node:tls';

export type TlsFront = Awaited<ReturnType<typeof startTlsFront>>;

/** A server with TLS in front of plain ones, with certificates of a private authority. */
export async function startTlsFront(hosts: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'chatops-authority-'));
  const [trusted, other] = [
    await certify(directory, 'trusted', hosts),
    await certify(directory, 'other', hosts),
  ];
  const targets = new Map<string, number>();
  const distrusted = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer(
    { SNICallback: (host, done) => done(null, distrusted.has(host) ? other : trusted) },
    (near) => {
      const far = connect(targets.get(near.servername || '') ?? 0, '127.0.0.1');
      for (const [socket, peer] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => (sockets.delete(socket), peer.destroy()));
      }
      near.pipe(far).pipe(near);
    },
  );
  // A client that does not trust the certificate ends the handshake.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    /** The file with the authority's certificate (PEM). */
    authority: join(directory, 'trusted-ca.pem'),
    lead: (host: string, port: number) => void targets.set(host, port),
    /** From now on this host's certificate is of another authority. */
    distrust: (host: string) => void distrusted.add(host),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const openssl = (words: string): unknown => execFileSync('openssl', words.split(' '), { stdio: 'pipe' });

/** A certificate for the hosts, signed by a new authority. */
async function certify(directory: string, name: string, hosts: readonly string[]): Promise<SecureContext> {
  const path = (file: string): string => join(directory, `${name}-${file}`);
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  openssl(
    `req -x509 ${key} -keyout ${path('ca.key')} -out ${path('ca.pem')} -days 2 -subj /CN=${name}-authority`,
  );
  openssl(`req ${key} -keyout ${path('key.pem')} -out ${path('request.pem')} -subj /CN=front`);
  await writeFile(path('names'), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join()}`);
  openssl(
    `x509 -req -in ${path('request.pem')} -CA ${path('ca.pem')} -CAkey ${path('ca.key')} -CAcreateserial -days 2 -extfile ${path('names')} -out ${path('cert.pem')}`,
  );
  return createSecureContext({
    key: await readFile(path('key.pem')),
    cert: await readFile(path('cert.pem')),
  });
}
