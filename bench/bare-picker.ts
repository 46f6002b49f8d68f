import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// The floor of a menu of zones: verify, filter, answer with a hundred lines. `cold` first downloads and parses the
// whole account in one body, `warm` takes it from memory. No framework, no store, no policy, no sealed key, no order.
const env = process.env;
const signingSecret = env['SLACK_SIGNING_SECRET'] ?? '';

interface Zone {
  readonly Id: number;
  readonly Name: string;
  readonly Hostnames: readonly { readonly Value: string }[];
}
let zones: readonly Zone[] = [];

async function read(): Promise<void> {
  const response = await fetch(`${env['CDN_API_URL']}/pullzone`, {
    headers: { AccessKey: env['CDN_KEY'] ?? '', Accept: 'application/json' },
  });
  zones = JSON.parse(await response.text()) as Zone[];
}

function options(typed: string): object[] {
  const search = typed.toLowerCase();
  return zones
    .filter(
      ({ Name, Hostnames }) =>
        Name.toLowerCase().includes(search) ||
        Hostnames.some(({ Value }) => Value.toLowerCase().includes(search)),
    )
    .slice(0, 100)
    .map(({ Id, Name }) => ({ text: { type: 'plain_text', text: Name }, value: String(Id) }));
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  chunks: readonly Buffer[],
): Promise<void> {
  const body = Buffer.concat(chunks).toString('utf8');
  const signed = `v0:${String(request.headers['x-slack-request-timestamp'])}:${body}`;
  const ours = Buffer.from(`v0=${createHmac('sha256', signingSecret).update(signed).digest('hex')}`);
  const theirs = Buffer.from(String(request.headers['x-slack-signature']));
  if (ours.length !== theirs.length || !timingSafeEqual(ours, theirs)) {
    response.writeHead(401, { 'content-length': 0 }).end();
    return;
  }
  const asked = JSON.parse(new URLSearchParams(body).get('payload') ?? '{}') as {
    action_id: string;
    value: string;
  };
  if (asked.action_id === 'cold') await read();
  const json = JSON.stringify({ options: options(asked.value) });
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) })
    .end(json);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => void answer(request, response, chunks));
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ msg: 'ready', port })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
