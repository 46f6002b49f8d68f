import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { type Installation, type Person, personKey, tenantId } from '../../auth/identity.ts';
import { type Policy, readAssistant } from '../../auth/policy/policy.ts';
import { adviseModel, tools } from '../../commands/tools/list.ts';
import {
  answerSchema,
  type Tool,
  type ToolAnswer,
  type ToolCall,
  ToolRefusal,
  toFacts,
} from '../../commands/tools/tool.ts';
import { UserError } from '../../errors.ts';
import { createCache } from '../../lib/cache.ts';
import { hourMs, minuteMs } from '../../lib/time.ts';
import { hasCdnKey } from '../../secrets/key-in-text.ts';
import { findSecretKinds, mapTexts, textOf } from '../../secrets/scanner.ts';
import { say } from '../../views/blocks/blocks.ts';
import { type Failure, renderFailure } from '../../views/blocks/failure.ts';
import { formatCount } from '../../views/blocks/format.ts';
import { escapeMarkup } from '../../views/blocks/text.ts';
import {
  defuse,
  describeToolFailure,
  maskTokens,
  readPlain,
  toAssistantBlocks,
  writeFacts,
} from '../../views/tools/answers.ts';
import { explainFailure } from '../receive/failures.ts';
import { type Interaction, perform, type SlackDeps, type Work } from '../receive/perform.ts';
import { postMessage } from '../send/clients.ts';
import { readSender } from '../sender.ts';
import { createRateLimit, oncePerMinute } from '../web/limits.ts';

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
/** An aborted call still says so. */
const lastWordMs = 2_000;
const callsAMinute = 30;
const requestsAnHour = 600;
/** Beside its arguments a call holds its answer. */
const callBytes = 64 * 1024;

/** Counts the requests to the CDN that a call makes, for its person. */
const counting = new AsyncLocalStorage<() => void>();

/** To be called before each request to the CDN. */
export function noteCdnRequest(): void {
  counting.getStore()?.();
}

export function createToolCalls(deps: SlackDeps) {
  const { access, egress, inFlight, log, now, policies } = deps;
  const calls = createRateLimit({ most: callsAMinute, perMs: minuteMs, maxKeys: 10_000, now });
  const requests = createRateLimit({ most: requestsAnHour, perMs: hourMs, maxKeys: 10_000, now });
  const told = createCache<true>({ now, maxEntries: 10_000, ttlMs: minuteMs });
  const shouldRecord = oncePerMinute(now);

  /** The installation of the person's workspace, else of their organisation; that of a token is the one it was made in. */
  const findInstallation = async ({ team_id: teamId, enterprise_id: enterpriseId, client }: Caller) => {
    const [own, whole] = [{ teamId }, { teamId, enterpriseId }];
    const places: Installation[] =
      enterpriseId === undefined ? [own] : client === undefined ? [own, whole] : [whole];
    let refused: UserError | undefined;
    for (const place of places)
      try {
        await access.token(place);
        return place;
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        refused = new UserError(error.message, error.hint, 'why');
      }
    throw refused ?? new Error('there is no place');
  };

  /** Calls a tool as a person, with their key, under the policy. Never throws: what fails is a result for the model. */
  return async (tool: Tool, given: ToolCall['arguments'], caller: Caller): Promise<ToolResult> => {
    try {
      return await call(tool, given, caller);
    } catch (error) {
      return refuse({ tool, given, error }, explainFailure(error, { kind: 'tool', feature: tool.name }, log));
    }
  };

  async function call(tool: Tool, given: ToolCall['arguments'], caller: Caller): Promise<ToolResult> {
    const typed = textOf(given);
    if (hasCdnKey(typed) || findSecretKinds(typed).length > 0 || maskTokens(typed) !== typed)
      throw new UserError(
        'An argument looks like a key or token, so nothing was done with it.',
        'The person enters keys with `/cdn connect` in Slack, and nowhere else.',
        'why',
      );
    const args = tool.input.parse(given);
    const { client: clientName, ...named } = caller;
    const via = clientName === undefined ? 'assistant' : `client ${clientName}`;
    const installation = await findInstallation(caller);
    const body = { ...named, is_enterprise_install: installation.enterpriseId !== undefined };
    const sender = readSender(body, access.own());
    if (!sender) throw new Error('a call names no person');
    const { person } = sender;
    const [key, tenant] = [personKey(person), tenantId(person)];
    const wait = calls.take(key) ?? requests.find(key);
    if (wait !== undefined) throw tooMany(wait);
    assertSwitchedOn(await policies.current(tenant), tool);
    const end = inFlight.admit({ tenant, person: person.userId }, callBytes);
    if (!end) throw new ToolRefusal('The bot is busy. Nothing was done.', 'Call again in a moment.', [{}]);
    const limit = AbortSignal.timeout(longestMs);
    // Calls side by side share the hour: each ends with the request that goes over it.
    const spent = new AbortController();
    const count = (): void => {
      if (requests.take(key) !== undefined) spent.abort();
    };
    const findEnd = (): ToolRefusal | undefined =>
      spent.signal.aborted ? tooMany(requests.find(key) ?? 1) : limit.aborted ? tooSlow(tool) : undefined;
    let result: ToolResult | undefined;
    let error: unknown;
    const work: Work = {
      feature: tool.name,
      needs: tool.needs,
      route: {},
      async run({ context }) {
        const answer = await tool.run(args, context, via).catch((failed: unknown) => {
          error = failed;
          throw failed;
        });
        const ended = findEnd();
        // What was read in part is no answer. What was asked for, was.
        if (ended && !tool.proposes) throw ended;
        if (tool.proposes || shouldRecord(`${key}/${tool.name}`)) {
          const about = { actor: person.userId, subject: tool.name, detail: { via } };
          await deps.audit.record({ tenant, event: 'tool-run', ...about });
        }
        result = withoutSecrets(toResult(tool, answer, now()));
      },
      async showFailure(_, { client, failure: found }) {
        const ended = findEnd();
        const failure = ended ? { ...found, message: ended.message, hint: ended.hint } : found;
        const offered = failure.offer === 'connect' && (await offerToConnect(failure, person, client));
        const about = { tool, given: args, error: ended ?? error };
        result = withoutSecrets(refuse(about, { ...failure, ...offered }));
        return true;
      },
    };
    const until = AbortSignal.any([limit, spent.signal]);
    const running = counting
      .run(count, () => perform(deps, { kind: 'tool', body, until }, work))
      .finally(end);
    await Promise.race([running, pause(longestMs + lastWordMs, undefined, { ref: false })]);
    if (result) return result;
    throw tooSlow(tool);
  }

  /** A refusal too names things of the CDN, such as zones that were meant. */
  function withoutSecrets(result: ToolResult): ToolResult {
    const blocked = egress.replacement('http', result);
    return blocked === undefined ? result : fail(blocked);
  }

  /** Without a key the person gets the button to connect one: the link is theirs and never goes through a model. */
  async function offerToConnect(
    failure: Failure,
    person: Person,
    client: Interaction['client'],
  ): Promise<Pick<Failure, 'hint'>> {
    try {
      await told.load(personKey(person), async () => {
        await postMessage(await client(), person.userId, renderFailure(failure));
        return true;
      });
      return { hint: 'The bot has written to the person in Slack, with a button to connect one.' };
    } catch (error) {
      log.warn({ error }, 'cannot write to a person who has no key');
      return { hint: 'The person can type `/cdn connect` in Slack.' };
    }
  }
}

function tooMany(seconds: number): ToolRefusal {
  return new ToolRefusal(
    `Too many calls: at most ${callsAMinute} a minute, and ${formatCount(requestsAnHour, 'request')} to the CDN an hour.`,
    `Call again in ${formatCount(seconds, 'second')}.`,
    [{}],
  );
}

function tooSlow({ narrower = {} }: Tool): ToolRefusal {
  return new ToolRefusal(
    `This took longer than ${formatCount(longestMs / 1000, 'second')} and was stopped.`,
    'Try less: one zone, or a shorter time.',
    [narrower],
  );
}

/** @throws UserError where the settings do not let assistants do this */
function assertSwitchedOn(policy: Policy, { proposes }: Tool): void {
  const assistant = readAssistant(policy);
  if (assistant === 'proposing' || (assistant === 'reading' && !proposes)) return;
  throw new UserError(
    assistant === 'off'
      ? 'Assistants are switched off for this bot.'
      : 'Assistants may only read with this bot.',
    'An admin can change it in Slack: `/cdn settings`, Assistant.',
    'settings',
  );
}

function fail(text: string): ToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

function refuse(
  { tool, given, error }: { tool: Tool; given: ToolCall['arguments']; error: unknown },
  failure: Failure,
): ToolResult {
  const instead = error instanceof ToolRefusal ? error.instead : [];
  // Who may not run the tool may not run another one either.
  const offer = error === undefined ? 'why' : failure.offer;
  const { hint, next } = adviseModel({ ...failure, offer }, { tool, given, instead });
  return fail(describeToolFailure({ ...failure, hint }, mapTexts(next, defuse)));
}

function toResult(tool: Tool, answer: ToolAnswer, now: Date): ToolResult {
  const { asOf = now, warnings = [], shown = 1, total = 1, data, next, message } = answer;
  const summary = answer.summary ?? message?.text ?? '';
  const facts = {
    summary: defuse(readPlain(summary)),
    as_of: asOf.toISOString(),
    warnings: warnings.filter((warning) => warning !== false).map(defuse),
    shown,
    total,
    data: mapTexts(toFacts(data), defuse),
    next: next.map(({ tool, arguments: given }) => ({ tool, arguments: given })),
  };
  const structuredContent = answerSchema.parse(facts);
  const calls = next.map((call) => ({
    ...call,
    title: tools.find(({ name }) => name === call.tool)?.title ?? '',
  }));
  return {
    content: [{ type: 'text', text: writeFacts(structuredContent) }],
    structuredContent,
    _meta: { slack: { blocks: toAssistantBlocks(message ?? say(escapeMarkup(facts.summary)), calls) } },
  };
}
