import { ErrorCode, type WebAPIHTTPError, type WebAPIRateLimitedError, type WebClient } from '@slack/web-api';
import { z } from 'zod';
import { minuteMs } from '../../lib/time.ts';
import { readCode } from '../../outbox/classify-failure.ts';
import { type Audience, type FindWhere, SlackFailure, type SlackPort } from '../../outbox/slack-port.ts';
import { readSlackError } from '../installations.ts';
import { postMessage } from './clients.ts';
import { SecretLeakBlocked } from './egress.ts';
import { UploadError, type Uploads } from './uploads.ts';

// The type of a message's metadata: lower case with underscores.
const markerType = 'cdn_chatops';

/** Slack for jobs. Every method throws `SlackFailure` if Slack or the network fails. */
export function createSlackPort(
  client: () => Promise<WebClient>,
  uploads: Uploads,
  /** Seconds that this machine's clock is ahead of Slack's. */
  clockSkew: () => number | undefined = () => undefined,
): SlackPort {
  return {
    post: (channel, message, { id, thread }) =>
      classifyErrors(async () => {
        const posted = await postMessage(await client(), channel, message, {
          ...(thread === undefined ? {} : { thread_ts: thread }),
          metadata: { event_type: markerType, event_payload: { id } },
        });
        return { channel: posted.channel ?? channel, ts: posted.ts ?? '' };
      }),
    update: ({ channel, ts }, { text, blocks = [] }) =>
      classifyErrors(async () => {
        // An update without blocks would keep the old ones.
        await (await client()).chat.update({ channel, ts, text, blocks });
      }),
    find: (id, where) => classifyErrors(async () => findMessage(await client(), id, where, clockSkew())),
    share: (files, target) => classifyErrors(() => uploads.share(files, target)),
    completeStep: (run, end) =>
      classifyErrors(async () => {
        const { functions } = await client();
        const which = { function_execution_id: run };
        try {
          if ('error' in end) await functions.completeError({ ...which, ...end });
          else await functions.completeSuccess({ ...which, ...end });
        } catch (error) {
          if (readCode(readSlackError(error)) !== 'absent') throw error;
        }
      }),
    readAudience: (channel) => classifyErrors(async () => readAudience(await client(), channel)),
    deleteFile: (file) =>
      classifyErrors(async () => {
        try {
          await (await client()).files.delete({ file });
        } catch (error) {
          if (readCode(readSlackError(error)) !== 'absent') throw error;
        }
      }),
  };
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

async function classifyErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw classifyError(error);
  }
}

/** Whether a failed call took effect, as a `SlackFailure`; errors that are not Slack's are returned unchanged. */
function classifyError(error: unknown): unknown {
  if (error instanceof UploadError) {
    const inner = classifyError(error.cause);
    const { message } = error;
    const { outcome, code, retryAfterSeconds, reference } =
      inner instanceof SlackFailure ? inner : new SlackFailure('refused', error.code, error);
    return new SlackFailure(outcome, code, { cause: error, message, retryAfterSeconds, reference });
  }
  if (error instanceof SecretLeakBlocked) return toHeldBack(error);
  const code = readSlackError(error);
  if (code !== undefined)
    return new SlackFailure(readCode(code) === 'unclear' ? 'unknown' : 'refused', code, { cause: error });
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case ErrorCode.RateLimitedError: {
      const { retryAfter } = error as WebAPIRateLimitedError;
      return new SlackFailure('refused', 'ratelimited', { cause: error, retryAfterSeconds: retryAfter });
    }
    case ErrorCode.HTTPError:
      return new SlackFailure('unknown', `http_${(error as WebAPIHTTPError).statusCode}`, { cause: error });
    case ErrorCode.RequestError:
      return new SlackFailure('unknown', 'no_answer', { cause: error });
    default:
      // No token for that workspace, or a bug: nothing was sent.
      return error;
  }
}

export function toHeldBack(error: SecretLeakBlocked): SlackFailure {
  return new SlackFailure('refused', 'held_back', { cause: error, reference: error.reference });
}
