import type { Server } from 'node:http';
import { App, HTTPReceiver, SocketModeReceiver } from '@slack/bolt';
import { ofetch } from 'ofetch';
import { z } from 'zod';

// The peer: the least a Bolt app can be, with the two libraries that any such bot would bring for its API.
//   node bench/minimal-bolt.ts http | socket [answer]
// With `answer` it also posts one, as a bot in use does; without it only acknowledges.
const [transport, answer] = process.argv.slice(2);
const environment = z.object({
  SLACK_API_URL: z.string(),
  SLACK_BOT_TOKEN: z.string(),
  SLACK_SIGNING_SECRET: z.string().default(''),
  SLACK_APP_TOKEN: z.string().default(''),
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
app.command('/cdn', async ({ ack, respond }) => {
  await ack();
  if (answer === 'answer') await respond('Hello.');
});
await app.start(0);
const server =
  receiver instanceof HTTPReceiver ? (receiver as unknown as { server?: Server }).server : undefined;
const address = server?.address();
const port = typeof address === 'object' ? address?.port : undefined;
process.stdout.write(`${JSON.stringify({ msg: 'ready', port: port ?? 0, api: typeof api })}\n`);
process.once('SIGTERM', () => process.exit(0));
