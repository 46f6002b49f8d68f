import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import { type Installation, tenantId } from '../../auth/identity.ts';
import { minuteMs } from '../../lib/time.ts';
import { readCode } from '../../outbox/classify-failure.ts';
import { type Audience, type FindWhere, SlackFailure, type SlackPort } from '../../outbox/slack-port.ts';
import type { SlackClock } from '../clock.ts';
import { type InstallationAccess, readSlackError } from '../installations.ts';
import { type Clients, postMessage, toSlackFailure } from './clients.ts';
import { createUploads, type UploadOptions, type Uploads } from './uploads.ts';

// The type of a message's metadata: lower case with underscores.
const markerType = 'cdn_chatops';

/** Slack with the token of an installation, by a client that never repeats a call: a lost answer must not post twice. */
export function openSlack(
  {
    access,
    clients,
    apiUrl,
    inspect,
    clock,
  }: Pick<UploadOptions, 'apiUrl' | 'inspect'> & {
    readonly access: Pick<InstallationAccess, 'token'>;
    readonly clients: Pick<Clients, 'job'>;
    readonly clock?: Pick<SlackClock, 'skew'>;
  },
  place: Installation,
  signal: AbortSignal,
) {
  const client = async (): Promise<WebClient> => clients.job(await access.token(place), tenantId(place));
  const uploads = createUploads({ client, apiUrl, inspect, signal });
  return { client, uploads, port: createSlackPort(client, uploads, clock?.skew) };
}

/** Slack for jobs. Every method throws `SlackFailure` if Slack or the network fails. */
function createSlackPort(
  client: () => Promise<WebClient>,
  { share }: Pick<Uploads, 'share'>,
  /** Seconds that this machine's clock is ahead of Slack's. */
  clockSkew: () => number | undefined = () => undefined,
): SlackPort {
  const call = async <T>(run: (client: WebClient) => Promise<T>): Promise<T> => {
    try {
      return await run(await client());
    } catch (error) {
      throw toSlackFailure(error);
    }
  };
  return {
    share,
    post: (channel, message, { id, thread }) =>
      call(async (slack) => {
        const posted = await postMessage(slack, channel, message, {
          ...(thread === undefined ? {} : { thread_ts: thread }),
          metadata: { event_type: markerType, event_payload: { id } },
        });
        return { channel: posted.channel ?? channel, ts: posted.ts ?? '' };
      }),
    update: ({ channel, ts }, { text, blocks = [] }) =>
      // An update without blocks would keep the old ones.
      call(async ({ chat }) => void (await chat.update({ channel, ts, text, blocks }))),
    find: (id, where) => call((slack) => findMessage(slack, id, where, clockSkew())),
    completeStep: (run, end) =>
      call(async ({ functions }) => {
        const which = { function_execution_id: run };
        await unlessAbsent(
          'error' in end
            ? functions.completeError({ ...which, ...end })
            : functions.completeSuccess({ ...which, ...end }),
        );
      }),
    readAudience: (channel) => call((slack) => readAudience(slack, channel)),
    deleteFile: (file) => call(({ files }) => unlessAbsent(files.delete({ file }))),
  };
}

async function unlessAbsent(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (readCode(readSlackError(error)) !== 'absent') throw error;
  }
}

/** Errors that pass are thrown. */
async function readAudience(client: WebClient, channel: string): Promise<Audience> {
  try {
    const { channel: found } = await client.conversations.info({ channel });
    return found?.is_ext_shared || found?.is_pending_ext_shared ? 'others' : 'own';
  } catch (error) {
    const code = readSlackError(error);
    if (code === undefined || ['pass', 'unclear'].includes(readCode(code))) throw error;
    return { unknown: code };
  }
}

// One request: apps that are distributed outside of the Marketplace may make one a minute, for fifteen messages.
// https://docs.slack.dev/apis/web-api/rate-limits
const pageSize = 200;
/** Where Slack's clock is known, this covers its whole seconds. */
const roundingMs = 5_000;
const unknownSkewMs = 2 * minuteMs;

/**
 * The bot's message with this id in a channel or thread, posted between two moments of this machine's clock. Messages of
 * others do not count: every app of the channel can copy metadata.
 *
 * @throws what Slack answers, and SlackFailure `too_much` if there are more messages than one answer holds.
 */
async function findMessage(
  client: WebClient,
  id: string,
  { channel, since, until, thread }: FindWhere,
  skewSeconds: number | undefined,
) {
  const { bot_id: own, response_metadata: about } = await client.auth.test();
  // Without the scope Slack leaves the metadata out silently: then "not found" means nothing.
  if (about?.scopes && !about.scopes.includes('metadata.message:read'))
    throw new SlackFailure('refused', 'missing_scope');
  const marginMs = skewSeconds === undefined ? unknownSkewMs : roundingMs;
  const toSlackTime = (at: Date, byMs: number): string =>
    (Math.max(0, at.getTime() + byMs) / 1000 - (skewSeconds ?? 0)).toFixed(6);
  const query = {
    channel,
    oldest: toSlackTime(since, -marginMs),
    latest: toSlackTime(until, marginMs),
    include_all_metadata: true,
    limit: pageSize,
  };
  const answer =
    thread === undefined
      ? await client.conversations.history(query)
      : await client.conversations.replies({ ...query, ts: thread });
  for (const { bot_id: bot, metadata, ts } of answer.messages ?? []) {
    const marker = markedMetadata.safeParse(metadata).data?.event_payload.id;
    if (bot === own && ts !== undefined && marker === id) return { channel, ts };
  }
  if (answer.has_more) throw new SlackFailure('refused', 'too_much');
  return undefined;
}

const markedMetadata = z.object({
  event_type: z.literal(markerType),
  event_payload: z.object({ id: z.string() }),
});
