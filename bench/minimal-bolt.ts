import type { Server } from 'node:http';
import { App, HTTPReceiver, type RespondArguments, SocketModeReceiver } from '@slack/bolt';
import { ofetch } from 'ofetch';
import { z } from 'zod';

// The peer: the least a Bolt app can be, with the two libraries that any such bot would bring for its API.
//   node bench/minimal-bolt.ts http | socket [answer | row]
// With `answer` it also posts one, as a bot in use does; with `row` it posts the message in ANSWER after it has read a row of
// DATABASE_URL; without either it only acknowledges.
const [transport, answer] = process.argv.slice(2);
const environment = z.object({
  SLACK_API_URL: z.string(),
  SLACK_BOT_TOKEN: z.string(),
  SLACK_SIGNING_SECRET: z.string().default(''),
  SLACK_APP_TOKEN: z.string().default(''),
  DATABASE_URL: z.string().default(''),
  ANSWER: z.string().default(''),
});
const env = environment.parse(process.env);
const clientOptions = { slackApiUrl: env.SLACK_API_URL };
// Bound as a bot would bind its API, so that nothing may leave the import out.
const api = ofetch.create({ baseURL: env.SLACK_API_URL, retry: 0 });

const receiver =
  transport === 'socket'
    ? new SocketModeReceiver({ appToken: env.SLACK_APP_TOKEN, installerOptions: { clientOptions } })
    : new HTTPReceiver({ signingSecret: env.SLACK_SIGNING_SECRET });
const app = new App({ token: env.SLACK_BOT_TOKEN, receiver, clientOptions });
app.command('/cdn', async ({ command, ack, respond }) => {
  await ack();
  if (answer === 'answer') await respond('Hello.');
  if (!readRow) return;
  await readRow(command.team_id, command.user_id);
  await respond(JSON.parse(env.ANSWER) as RespondArguments);
});
const readRow = answer === 'row' ? await openDatabase() : undefined;
await app.start(0);
const server =
  receiver instanceof HTTPReceiver ? (receiver as unknown as { server?: Server }).server : undefined;
const address = server?.address();
const port = typeof address === 'object' ? address?.port : undefined;
process.stdout.write(`${JSON.stringify({ msg: 'ready', port: port ?? 0, api: typeof api })}\n`);
process.once('SIGTERM', () => process.exit(0));

async function openDatabase() {
  const { Pool } = await import('pg');
  const pool = new Pool({ connectionString: env.DATABASE_URL });
  return (team: string, user: string) =>
    pool.query('select fingerprint from linked_keys where tenant = $1 and user_id = $2', [team, user]);
}
