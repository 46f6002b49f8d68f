import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import { readRetryAfter } from '../../api/http/request.ts';
import { type Installation, tenantId } from '../../auth/identity.ts';
import { type FileTarget, postFile } from '../../lib/file-transfer.ts';
import { minuteMs } from '../../lib/time.ts';
import {
  type Audience,
  type FindWhere,
  isPassingCode,
  SlackFailure,
  type SlackPort,
} from '../../outbox/slack-port.ts';
import type { Attachment } from '../../views/blocks/blocks.ts';
import { type InstallationAccess, isThere, readSlackError } from '../installations.ts';
import {
  type Clients,
  isSlackAddress,
  postMessage,
  type SlackClock,
  toSlackFailure,
  waitOutLimits,
} from './clients.ts';
import type { Egress } from './egress.ts';

// Lower case with underscores.
const markerType = 'cdn_chatops';

interface SlackOptions {
  readonly access: Pick<InstallationAccess, 'token'>;
  readonly clients: Pick<Clients, 'job'>;
  readonly apiUrl: string;
  readonly egress: Pick<Egress, 'file'>;
  readonly clock?: Pick<SlackClock, 'skew'>;
}

export type Slack = ReturnType<typeof openSlack>;

/** By a client that never repeats a call: a lost answer must not post twice. */
export function openSlack(options: SlackOptions, place: Installation, signal: AbortSignal) {
  const { access, apiUrl, clients, clock, egress } = options;
  const client = async (): Promise<WebClient> => clients.job(await access.token(place), tenantId(place));
  const call = async <T>(run: (client: WebClient) => Promise<T>): Promise<T> => {
    try {
      return await run(await client());
    } catch (error) {
      throw toSlackFailure(error);
    }
  };
  const callWithFile = <T>(run: (client: WebClient) => Promise<T>): Promise<T> =>
    call(run).catch((error: unknown) => {
      if (error instanceof SlackFailure) throw error;
      throw fail('The file could not be made or sent.', { cause: error });
    });
  return {
    client,
    /** @throws SlackFailure */
    findDirectMessages: (userId: string): Promise<string> =>
      callWithFile(async ({ conversations }) => {
        const { channel } = await conversations.open({ users: userId });
        if (!channel?.id) throw fail('Slack did not open a conversation with you.');
        return channel.id;
      }),
    /** Deletes temporary files in any case. @throws SlackFailure, and what `beforeShare` throws. */
    async share(files, { channel, thread, comment, beforeShare }) {
      try {
        const uploaded: { id: string; title: string }[] = [];
        await callWithFile(async (slack) => {
          for (const file of files) {
            const id = await upload(slack, file, { apiUrl, inspect: egress.file(), signal });
            uploaded.push({ id, title: file.title });
          }
        });
        const [first, ...others] = uploaded;
        if (!first) return;
        await beforeShare?.(uploaded.map(({ id }) => id));
        await callWithFile(({ files }) => {
          const share = () =>
            files.completeUploadExternal({
              files: [first, ...others],
              channel_id: channel,
              ...(thread ? { thread_ts: thread } : {}),
              ...(comment ? { initial_comment: comment } : {}),
            });
          return waitOutLimits(share, signal, longestWaitMs);
        });
      } finally {
        await discardFiles(files);
      }
    },
    post: (channel, message, { id, thread }) =>
      call(async (slack) => {
        const posted = await postMessage(slack, channel, message, {
          ...(thread === undefined ? {} : { thread_ts: thread }),
          metadata: { event_type: markerType, event_payload: { id } },
        });
        // Without it nothing can be edited or replied to: it is looked for.
        if (posted.ts === undefined) throw new SlackFailure('no_answer');
        return { channel: posted.channel ?? channel, ts: posted.ts };
      }),
    update: ({ channel, ts }, { text, blocks = [] }) =>
      call(async ({ chat }) => void (await chat.update({ channel, ts, text, blocks }))),
    toSlackTime(at) {
      const skewSeconds = clock?.skew();
      const marginMs = skewSeconds === undefined ? unknownSkewMs : roundingMs;
      const there = at.getTime() - (skewSeconds ?? 0) * 1000;
      return { since: new Date(there - marginMs), until: new Date(there + marginMs) };
    },
    find: (id, where) => call((slack) => findMessage(slack, id, where)),
    completeStep: (run, end) =>
      call(async ({ functions }) => {
        const which = { function_execution_id: run };
        await isThere(
          'error' in end
            ? functions.completeError({ ...which, ...end })
            : functions.completeSuccess({ ...which, ...end }),
        );
      }),
    readChannel: (channel: string) => call((slack) => readChannel(slack, channel)),
    readAudience: (channel) =>
      call(async (slack): Promise<Audience> => {
        const found = await readChannel(slack, channel);
        if ('unknown' in found) return found;
        return found.is_ext_shared || found.is_pending_ext_shared ? 'others' : 'own';
      }),
    deleteFile: (file) => call(async ({ files }) => void (await isThere(files.delete({ file })))),
  } satisfies SlackPort & Record<'client' | 'findDirectMessages' | 'readChannel', unknown>;
}

/** `unknown`: Slack's reason where the bot may not look. @throws errors that pass */
async function readChannel(client: WebClient, channel: string) {
  try {
    return (await client.conversations.info({ channel })).channel ?? { unknown: 'no_answer' };
  } catch (error) {
    const code = readSlackError(error);
    if (code === undefined || isPassingCode(code)) throw error;
    return { unknown: code };
  }
}

// One request: some apps may make one a minute. https://docs.slack.dev/apis/web-api/rate-limits
const pageSize = 200;
/** Slack's clock has whole seconds. */
const roundingMs = 5_000;
const unknownSkewMs = 2 * minuteMs;

/**
 * By its id and time, since every app can copy metadata. @throws SlackFailure `too_much` above one answer's messages
 */
async function findMessage(client: WebClient, id: string, { channel, since, until, thread }: FindWhere) {
  const { bot_id: own, response_metadata: about } = await client.auth.test();
  // Without the scope Slack silently leaves out the metadata.
  if (about?.scopes && !about.scopes.includes('metadata.message:read'))
    throw new SlackFailure('missing_scope');
  const query = {
    channel,
    oldest: (since.getTime() / 1000).toFixed(6),
    latest: (until.getTime() / 1000).toFixed(6),
    include_all_metadata: true,
    limit: pageSize,
  };
  const answer =
    thread === undefined
      ? await client.conversations.history(query)
      : await client.conversations.replies({ ...query, ts: thread });
  if (!answer.messages) throw new SlackFailure('no_answer');
  for (const { bot_id: bot, metadata, ts } of answer.messages) {
    const marker = markedMetadata.safeParse(metadata).data?.event_payload.id;
    if (bot === own && ts !== undefined && marker === id) return { channel, ts };
  }
  if (answer.has_more) throw new SlackFailure('too_much');
  return undefined;
}

const markedMetadata = z.object({
  event_type: z.literal(markerType),
  event_payload: z.object({ id: z.string() }),
});

export async function discardFiles(files: readonly Attachment[]): Promise<void> {
  for (const { content } of files) if ('path' in content) await rm(content.path, { force: true });
}

type Source = Attachment['content'];

/** A file is kept for so long while Slack asks for pauses: what made it may have taken an hour. */
const longestWaitMs = 5 * minuteMs;

/**
 * https://docs.slack.dev/messaging/working-with-files#upload
 * The bytes go only to Slack's hosts, without the token; the SDK would keep a large file in memory.
 */
async function upload(
  client: WebClient,
  { name, mimetype, content }: Attachment,
  to: {
    readonly apiUrl: string;
    readonly inspect: (piece: Uint8Array) => void;
    readonly signal: AbortSignal;
  },
): Promise<string> {
  const length = 'path' in content ? (await stat(content.path)).size : content.length;
  if (length === 0) throw fail('The file is empty, and Slack refuses empty files.');
  // The whole file first, so that no half of it is sent.
  if ('path' in content)
    for await (const piece of createReadStream(content.path)) to.inspect(piece as Buffer);
  else if (!('send' in content)) to.inspect(content);
  // An address takes one upload: each attempt gets a new one.
  const send = async (): Promise<string> => {
    const { upload_url: address, file_id: id } = await client.files.getUploadURLExternal({
      filename: name,
      length,
    });
    if (!address || !id) throw fail('Slack gave no address for the file.');
    const url = new URL(address);
    // Files go to Slack only, whatever the answer says.
    if (!isSlackAddress(url, to.apiUrl))
      throw fail('Slack named an address for the file that is not Slack’s.');
    const headers = { 'content-type': mimetype, 'content-length': String(length) };
    await sendBytes(content, { url, headers, signal: to.signal });
    return id;
  };
  return waitOutLimits(send, to.signal, longestWaitMs);
}

// An upload without progress for so long is aborted.
const stallMs = 30_000;
const temporary = new Set([408, 425]);

async function sendBytes(source: Source, to: Omit<FileTarget, 'moved'>): Promise<void> {
  const stalled = new AbortController();
  const timer = setTimeout(
    () => stalled.abort(new DOMException('Slack stopped taking the file', 'TimeoutError')),
    stallMs,
  );
  const signal = AbortSignal.any([to.signal, stalled.signal]);
  const target = { ...to, signal, moved: () => void timer.refresh() };
  const sending =
    'send' in source
      ? source.send(target)
      : postFile('path' in source ? createReadStream(source.path) : source, target);
  const { status, retryAfter } = await sending.finally(() => clearTimeout(timer));
  if (status === 200) return;
  if (status === 413)
    throw fail('Slack does not accept a file of this size (HTTP 413).', { code: 'upload_too_large' });
  const isPermanent = status >= 400 && status < 500 && !temporary.has(status);
  throw fail(`Slack did not accept the file (HTTP ${status}).`, {
    code: status === 429 ? 'ratelimited' : isPermanent ? 'upload_refused' : 'upload_failed',
    retryAfterSeconds: readRetryAfter(retryAfter ?? null, Date.now()),
  });
}

/** `upload_failed` and `ratelimited` may succeed later; the others are permanent. `sentence` holds no foreign text. */
function fail(
  sentence: string,
  {
    code = 'upload_failed',
    ...more
  }: Partial<Pick<SlackFailure, 'code' | 'retryAfterSeconds' | 'cause'>> = {},
): SlackFailure {
  return new SlackFailure(code, { sentence, ...more });
}
