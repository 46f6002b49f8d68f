import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { type Installation, tenantId } from '../../auth/identity.ts';
import { type Policy, readAssistant } from '../../auth/policy/policy.ts';
import { answerSchema, type Tool, type ToolAnswer } from '../../commands/tools/tool.ts';
import { UserError } from '../../errors.ts';
import { createCache } from '../../lib/cache.ts';
import { hourMs, minuteMs } from '../../lib/time.ts';
import { hasCdnKey } from '../../secrets/key-in-text.ts';
import { findSecretKinds, mapTexts, textOf } from '../../secrets/scanner.ts';
import { say } from '../../views/blocks/blocks.ts';
import { type Failure, renderFailure } from '../../views/blocks/failure.ts';
import { formatCount, formatDuration } from '../../views/blocks/format.ts';
import { escapeMarkup } from '../../views/blocks/text.ts';
import {
  defuse,
  describeToolFailure,
  readPlain,
  toAssistantBlocks,
  writeFacts,
} from '../../views/tools/answers.ts';
import { explainFailure } from '../receive/failures.ts';
import { perform, type SlackDeps } from '../receive/perform.ts';
import { postMessage } from '../send/clients.ts';
import type { Egress } from '../send/egress.ts';
import { readSender } from '../sender.ts';
import { oncePerMinute } from '../web/limits.ts';

/** Whom a call is from: ids, in a body that Slack signed, or of a token. */
export interface Caller {
  readonly user_id: string;
  readonly team_id: string;
  readonly enterprise_id?: string | undefined;
  /** Where its token is used; undefined = Slack's assistant. */
  readonly client?: string | undefined;
}

/** The result of a call, as the protocol has it. */
export interface ToolResult {
  readonly content: [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: true;
  readonly _meta?: { readonly slack: { readonly blocks: object[] } };
}

/** Slack gives up after 60 seconds. */
const longestMs = 50_000;
/** What was aborted still says so. */
const lastWordMs = 2_000;
const callsAMinute = 30;
const requestsAnHour = 600;
/** Beside its arguments a call holds its answer. */
const callBytes = 64 * 1024;

/** Counts the requests to the CDN that a call makes, for its person. */
const counting = new AsyncLocalStorage<() => void>();

/** To be called for each request to the CDN. */
export function noteCdnRequest(): void {
  counting.getStore()?.();
}

/** The times of what each key did within a window: at most so many. */
function createWindow(now: () => Date, ms: number, most: number) {
  const times = createCache<number[]>({ now, maxEntries: 10_000, ttlMs: ms });
  const recent = (key: string): number[] => {
    const since = now().getTime() - ms;
    return (times.get(key) ?? []).filter((one) => one > since);
  };
  const add = (key: string): void => times.set(key, [...recent(key), now().getTime()].slice(-most));
  /** The whole seconds until there is room again. */
  const look = (key: string): number | undefined => {
    const last = recent(key);
    const oldest = last[0] ?? 0;
    return last.length < most ? undefined : Math.ceil((oldest + ms - now().getTime()) / 1000);
  };
  return {
    add,
    look,
    take(key: string): number | undefined {
      const wait = look(key);
      if (wait === undefined) add(key);
      return wait;
    },
  };
}

export function createToolCalls(deps: SlackDeps & { readonly egress: Egress }) {
  const { access, egress, inFlight, log, now, policies } = deps;
  const calls = createWindow(now, minuteMs, callsAMinute);
  const requests = createWindow(now, hourMs, requestsAnHour);
  const shouldTell = oncePerMinute(now);
  const shouldRecord = oncePerMinute(now);

  /** The installation of the person's workspace, else of their organisation. */
  const findInstallation = async ({ team_id: teamId, enterprise_id: enterpriseId }: Caller) => {
    const places: Installation[] = [
      { teamId },
      ...(enterpriseId === undefined ? [] : [{ teamId, enterpriseId }]),
    ];
    for (const place of places) {
      const isInstalled = await access.token(place).then(
        () => true,
        (error: unknown) => {
          if (error instanceof UserError) return false;
          throw error;
        },
      );
      if (isInstalled) return place;
    }
    return undefined;
  };

  /** Never throws: what fails is a result for the model. */
  return async (tool: Tool, args: Readonly<Record<string, unknown>>, caller: Caller): Promise<ToolResult> => {
    try {
      return await call(tool, args, caller);
    } catch (error) {
      return fail(describeToolFailure(explainFailure(error, { kind: 'tool', feature: tool.name }, log)));
    }
  };

  /** Calls a tool as a person, with their key, under the policy. */
  async function call(
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    caller: Caller,
  ): Promise<ToolResult> {
    const typed = textOf(args);
    if (hasCdnKey(typed) || findSecretKinds(typed).length > 0)
      return fail(
        'An argument looks like a key or token, so nothing was done with it. Keys are entered with /cdn connect.',
      );
    const { client: clientName, ...named } = caller;
    const via = clientName === undefined ? 'assistant' : `client ${clientName}`;
    const installation = await findInstallation(caller);
    const body = { ...named, is_enterprise_install: installation?.enterpriseId !== undefined };
    const sender = installation && readSender(body, access.own());
    if (!sender) return fail('The bot is not installed in the workspace of this person.');
    const { person } = sender;
    const key = `${tenantId(person)}/${person.userId}`;
    const wait = calls.take(key) ?? requests.look(key);
    if (wait !== undefined)
      return fail(
        `Too many calls: at most ${callsAMinute} a minute, and ${formatCount(requestsAnHour, 'request')} to the CDN an hour. Call again in ${formatDuration(wait * 1000)}.`,
      );
    const closed = refuseBySwitch(await policies.current(tenantId(person)), tool);
    if (closed) return fail(closed);
    const end = inFlight.admit({ tenant: tenantId(person), person: person.userId }, callBytes);
    if (!end) return fail('The bot is busy. Nothing was done; call again in a moment.');
    const limit = AbortSignal.timeout(longestMs);
    let result: ToolResult | undefined;
    const runCall = () =>
      perform(
        deps,
        {
          kind: 'tool',
          body,
          until: limit,
        },
        {
          feature: tool.name,
          requested: undefined,
          needs: tool.needs,
          route: {},
          async run({ context }) {
            const answer = await tool.run(args, context, via);
            if (tool.proposes || shouldRecord(`${key}/${tool.name}`))
              await deps.audit.record({
                tenant: tenantId(person),
                actor: person.userId,
                event: 'tool-run',
                subject: tool.name,
                detail: { via },
              });
            result = toResult(tool, answer);
            const blocked = egress.replacement('http', result);
            if (blocked !== undefined) result = fail(blocked);
          },
          async showFailure(_, { client, failure }) {
            result = limit.aborted ? fail(tooSlow) : await explain(failure, person.userId, client);
            return true;
          },
        },
      );
    const work = counting.run(() => requests.add(key), runCall).finally(end);
    await Promise.race([work, pause(longestMs + lastWordMs, undefined, { ref: false })]);
    return result ?? fail(tooSlow);
  }

  /** Without a key the person gets the button to connect one: the link is theirs and never goes through a model. */
  async function explain(
    failure: Failure,
    userId: string,
    client: () => Promise<Parameters<typeof postMessage>[0]>,
  ): Promise<ToolResult> {
    if (failure.offer !== 'connect') return fail(describeToolFailure(failure));
    const { message } = failure;
    if (!shouldTell(userId))
      return fail(`${message} The bot has just written to them with a button to connect one.`);
    try {
      await postMessage(await client(), userId, renderFailure(failure));
      return fail(`${message} The bot has written to them in Slack with a button to connect one.`);
    } catch (error) {
      log.warn({ error }, 'cannot write to a person who has no key');
      return fail(`${message} They can type /cdn connect in Slack.`);
    }
  }
}

const tooSlow = `This took longer than ${longestMs / 1000} s and was stopped. Ask for less: one zone, or a shorter time.`;

function fail(text: string): ToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

function refuseBySwitch(policy: Policy, { proposes }: Tool): string | undefined {
  const where = 'An admin can change it in Slack: /cdn settings, Assistant.';
  const assistant = readAssistant(policy);
  if (assistant === 'off') return `Assistants are switched off for this bot. ${where}`;
  if (proposes && assistant === 'reading') return `Assistants may only read with this bot. ${where}`;
  return undefined;
}

/** @throws Error where the tool does not keep to its own schema */
function toResult(tool: Tool, answer: ToolAnswer): ToolResult {
  const { summary, asOf, warnings = [], shown, total, data, next = [], message } = answer;
  const facts = {
    summary: defuse(readPlain(summary)),
    as_of: asOf.toISOString(),
    warnings: warnings.map(defuse),
    shown,
    total,
    data: mapTexts(data, defuse),
    next: next.map(({ tool, arguments: given }) => ({ tool, arguments: given })),
  };
  const structuredContent = answerSchema(tool).parse(facts);
  return {
    content: [{ type: 'text', text: writeFacts(structuredContent) }],
    structuredContent,
    _meta: { slack: { blocks: toAssistantBlocks(message ?? say(escapeMarkup(facts.summary)), next) } },
  };
}
