import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';

// The barest way from the CDN to Slack over a file, in a process of its own: it receives, writes, reads and sends, with
// Node's own client, one thing after the other. Nothing is counted, hashed, encrypted or looked through.
const {
  EXPORT_URL: from = '',
  CDN_KEY: key = '',
  EXPORT_BODY: body = '',
  SINK_URL: to = '',
  SPOOL: directory = '',
} = process.env;

const path = join(directory, 'bare.spool');
const file = openSync(path, 'wx+', 0o600);
unlinkSync(path);
const buffer = Buffer.allocUnsafeSlow(1_048_576);

const began = performance.now();
const headers = { AccessKey: key, 'content-type': 'application/json' };
let length = 0;
for await (const piece of await answer(from, headers, (asking) => asking.end(body)))
  length += writeSync(file, piece as Buffer);
const sent = await answer(to, { 'content-length': String(length) }, (asking) => {
  let at = 0;
  const go = (): void => {
    while (at < length) {
      const bytes = readSync(file, buffer, 0, buffer.length, at);
      at += bytes;
      if (!asking.write(Buffer.from(buffer.subarray(0, bytes)))) return void asking.once('drain', go);
    }
    asking.end();
  };
  go();
});
let taken = '';
for await (const piece of sent) taken += String(piece);
closeSync(file);
if (Number(taken) !== length) throw new Error(`sent ${taken} of ${length} bytes`);
process.stdout.write(`${JSON.stringify({ ms: performance.now() - began })}\n`);

function answer(
  url: string,
  headers: Readonly<Record<string, string>>,
  send: (asking: ReturnType<typeof request>) => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    send(request(url, { method: 'POST', headers, agent: false }, resolve).on('error', reject));
  });
}
