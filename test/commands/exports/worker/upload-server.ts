import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SpooledFile } from '../../../../src/views/blocks/blocks.ts';

/** Somebody who takes files. */
export interface UploadServer {
  readonly url: URL;
  /** Sends a file here and gives what came. */
  readonly receive: (file: SpooledFile) => Promise<Buffer>;
  readonly headers: () => IncomingHttpHeaders | undefined;
  readonly close: () => Promise<void>;
}

export async function startUploadServer(): Promise<UploadServer> {
  let last: { bytes: Buffer; headers: IncomingHttpHeaders } | undefined;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      last = { bytes: Buffer.concat(parts), headers: request.headers };
      response.end('taken');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return {
    url,
    headers: () => last?.headers,
    async receive(file) {
      const { status } = await file.send({
        url,
        headers: { 'content-length': String(file.length) },
        signal: new AbortController().signal,
        moved: () => undefined,
      });
      if (status !== 200 || !last) throw new Error(`the sink answered ${status}`);
      return last.bytes;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
