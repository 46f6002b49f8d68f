import { randomBytes } from 'node:crypto';
import { checkMessage } from './block-kit/checks.ts';
import { evictOldest } from './clock.ts';
import { type Route, readBody, sendJson } from './http.ts';
import type { Install } from './installs.ts';
import type { Messages, StoredMessage } from './messages.ts';
import type { Script } from './script.ts';
import type { Json } from './world.ts';
import { isObject } from './world.ts';

/** The target of answers to one interaction. */
export interface ResponseTarget {
  readonly install: Install;
  /** `team/user` who reads the ephemeral answers. */
  readonly member: string;
  readonly channel: string;
  /** The message the button is in. */
  readonly source?: StoredMessage | undefined;
}

export interface ResponseUrls {
  issue(target: ResponseTarget): string;
  readonly route: Route;
  /** Posts a body as if it had come to the address; used for what a slash acknowledgement carries. */
  say(target: ResponseTarget, body: Json): { ok: boolean; error?: string; messages?: string[] };
}

const mostUses = 5;
const lifeMs = 30 * 60 * 1000;

/** `response_url`s: five uses in 30 minutes, ephemeral by default (docs.slack.dev/interactivity/handling-user-interaction). */
export function createResponseUrls(options: {
  base: () => string;
  now: () => number;
  messages: Messages;
  problem: (text: string) => void;
  called: (call: { install: Install; args: Json; ok: boolean; error?: string }) => void;
  script: Script;
}): ResponseUrls {
  const issued = new Map<
    string,
    { target: ResponseTarget; at: number; uses: number; last: StoredMessage | undefined }
  >();

  function say(
    target: ResponseTarget,
    body: Json,
    last?: StoredMessage,
  ): { ok: boolean; error?: string; messages?: string[]; message?: StoredMessage } {
    const original = target.source ?? last;
    if (body['delete_original'] === true) {
      if (original) options.messages.remove(original);
      return { ok: true };
    }
    const open = body['response_type'] === 'in_channel';
    const checked = checkMessage(body, {
      ephemeral: !open,
      label: 'response_url',
      update: body['replace_original'] === true,
    });
    for (const problem of checked.problems) options.problem(problem);
    if (checked.error) return { ok: false, error: checked.error, messages: checked.messages };
    const content = { text: textOf(body), blocks: (body['blocks'] as Json[] | undefined) ?? [] };
    const refused = options.script.refuses('response_url', target.install.id, content.blocks);
    if (refused) return { ok: false, error: 'invalid_blocks', messages: [refused] };
    if (body['replace_original'] === true && original) {
      if (open && original.ephemeralFor !== undefined)
        options.problem('response_url: an ephemeral message cannot be made public by replacing it');
      if (body['response_type'] === 'ephemeral' && original.ephemeralFor === undefined) {
        options.problem(
          'response_url: a public message stays public when it is replaced; response_type ephemeral is ignored',
        );
      }
      options.messages.update(original, content);
      return { ok: true, message: original };
    }
    // Also behind a button in a thread: what does not name the thread is posted outside of it.
    const threadTs = typeof body['thread_ts'] === 'string' ? body['thread_ts'] : undefined;
    const message = options.messages.post({
      ...content,
      channel: target.channel,
      user: target.install.botUserId,
      botId: target.install.botId,
      threadTs,
      ephemeralFor: open ? undefined : target.member,
    });
    return { ok: true, message };
  }

  return {
    issue(target) {
      const path = `/response/${target.install.id}/${randomBytes(12).toString('hex')}`;
      issued.set(path, { target, at: options.now(), uses: 0, last: undefined });
      evictOldest(issued);
      return options.base() + path;
    },
    say,
    async route(request, response, url) {
      if (!url.pathname.startsWith('/response/')) return false;
      const body = bodyFrom((await readBody(request)).toString(), request.headers['content-type'] ?? '');
      const entry = issued.get(url.pathname);
      const fail = (
        status: number,
        error: string,
        messages?: string[],
        headers: Record<string, string> = {},
      ): boolean => {
        if (entry) options.called({ install: entry.target.install, args: body ?? {}, ok: false, error });
        sendJson(
          response,
          { ok: false, error, ...(messages ? { response_metadata: { messages } } : {}) },
          status,
          headers,
        );
        return true;
      };
      const fault = await options.script.interfere('response_url');
      if (fault)
        return fail(
          fault.status,
          fault.error ?? 'ratelimited',
          undefined,
          fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) },
        );
      if (!entry || options.now() - entry.at > lifeMs) return fail(404, 'expired_url');
      if (entry.uses >= mostUses) return fail(404, 'used_url');
      if (!body) return fail(400, 'invalid_payload');
      entry.uses += 1;
      const said = say(entry.target, body, entry.last);
      if (!said.ok) return fail(400, said.error ?? 'invalid_payload', said.messages);
      entry.last = said.message ?? entry.last;
      options.called({ install: entry.target.install, args: body, ok: true });
      if (options.script.drops('response_url')) request.socket.destroy();
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
      return true;
    },
  };
}

function textOf(body: Json): string {
  return typeof body['text'] === 'string' ? body['text'] : '';
}

function bodyFrom(text: string, type: string): Json | undefined {
  try {
    const source = type.startsWith('application/x-www-form-urlencoded')
      ? (new URLSearchParams(text).get('payload') ?? '')
      : text;
    const parsed: unknown = JSON.parse(source);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
