import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, request as openRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Pool } from 'pg';

// The floor of an acknowledgement over HTTP: node:http, the signature check Slack asks for, an empty 200.
//   node bench/bare-http.ts [postgres | embedded]
// With a database it is also that of an answer: one insert, so that a repeated delivery would be noticed, and the message
// in ANSWER to the response_url.
const signingSecret = process.env['SLACK_SIGNING_SECRET'] ?? '';
const message = process.env['ANSWER'] ?? '';
const [engine] = process.argv.slice(2);
const pool = engine === undefined ? undefined : await openDatabase(engine);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    const timestamp = String(request.headers['x-slack-request-timestamp']);
    const ours = Buffer.from(
      `v0=${createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`,
    );
    const theirs = Buffer.from(String(request.headers['x-slack-signature']));
    const fresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
    const genuine = fresh && ours.length === theirs.length && timingSafeEqual(ours, theirs);
    response.writeHead(genuine ? 200 : 401, { 'content-length': 0 }).end();
    if (pool && genuine) void answer(pool, new URLSearchParams(body));
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ msg: 'ready', port })}\n`);
});
process.once('SIGTERM', () => process.exit(0));

async function answer(database: Pool, form: URLSearchParams): Promise<void> {
  const text = 'insert into bare_claims (id) values ($1) on conflict do nothing returning id';
  const { rows } = await database.query({ name: 'claim', text, values: [form.get('trigger_id')] });
  if (rows.length === 0) return;
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(message) };
  openRequest(form.get('response_url') ?? '', { method: 'POST', headers }, (said) => said.resume()).end(
    message,
  );
}

/** The embedded engine as the bot runs it, in a thread of its own. */
async function openDatabase(name: string): Promise<Pool> {
  const create = 'create table if not exists bare_claims (id text primary key)';
  if (name === 'postgres') {
    const { Pool } = await import('pg');
    const opened = new Pool({ connectionString: process.env['DATABASE_URL'] });
    await opened.query(create);
    return opened;
  }
  const { openEmbedded } = await import('../src/store/embedded/open.ts');
  const { createLogger } = await import('../src/telemetry/log.ts');
  const { native } = await openEmbedded(process.env['DATA_DIR'] ?? '', createLogger('error'));
  if (native.kind !== 'embedded') throw new Error('another engine was opened');
  await native.pool.query(create);
  return native.pool;
}
