import { AsyncLocalStorage } from 'node:async_hooks';
import type { WebClient } from '@slack/web-api';
import type { PersonFacts } from '../../auth/claims.ts';
import type { Answer, Setup, With } from '../../commands/define.ts';
import type { Service } from '../../commands/services.ts';
import { UserError } from '../../errors.ts';
import { withSecrets } from '../../secrets/secret.ts';
import type { Kind, Outcome } from '../../telemetry/metrics.ts';
import { withReference } from '../../telemetry/reference.ts';
import { describeSpan, withSpan } from '../../telemetry/spans.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { type Failure, renderFailure } from '../../views/blocks/failure.ts';
import { createConversation } from '../send/conversation.ts';
import { createResponder, type Responder, type Route, withFiles } from '../send/responder.ts';
import { createSharing, withShare } from '../send/sharing.ts';
import { createUploads } from '../send/uploads.ts';
import { readSender, type Sender, tenantIdOfWorkspace } from '../sender.ts';
import { type AuthorizeRequest, authorize, createSetup, type SlackDeps } from './authorize.ts';
import { explainFailure } from './failures.ts';

/** One acknowledged delivery from Slack. */
interface Delivery extends Omit<AuthorizeRequest, 'channelId' | 'threadTs'> {
  readonly kind: Kind;
  /** A name from the registry, never anything typed: it becomes a metric label. */
  readonly feature: string;
  /** Identifies repeats of the same delivery; undefined = every delivery is new. */
  readonly claim: string | undefined;
  readonly route: Omit<Route, 'userId'>;
}

/** The work of a delivery. */
export interface Flow {
  /** Runs before anything is looked up or decided, for people of this organisation: opens what must not wait. */
  readonly beforeAuthorize?: (
    early: Pick<Interaction, 'client'> & { readonly setup: Setup },
  ) => Promise<void>;
  readonly run: (turn: Interaction) => Promise<void>;
  /** Shows a failure somewhere else than in a message (an open form); false if it could not. */
  readonly showFailure?: (
    message: Message,
    turn: Pick<Interaction, 'client'> & { readonly failure: Failure },
  ) => Promise<boolean>;
  /** Runs after the turn, where the delivery was answered. */
  readonly afterwards?: (() => Promise<void>) | undefined;
}

/** A delivery and its work. */
interface Task {
  readonly delivery: Delivery;
  readonly flow: Flow;
}

export interface Interaction {
  readonly context: With<Service>;
  readonly responder: Responder;
  /** A responder that answers in another way and may fall back on the plain one; it also sends the files of an answer. */
  readonly wrapResponder: (wrap: (plain: Responder) => Responder) => Responder;
  readonly client: () => Promise<WebClient>;
}

/**
 * Runs the work of a delivery: once, identified, authorized, with the person's own key, and with every failure shown
 * to the person. Never throws.
 */
export function perform(deps: SlackDeps, delivery: Delivery, flow: Flow): Promise<Outcome> {
  const { kind, body, claim } = delivery;
  return performFound(deps, { kind, body, claim }, () => ({ delivery, flow }));
}

/** Claims the delivery when first asked; undefined for a repeat. */
export type ReadFacts = () => Promise<PersonFacts | undefined>;

/**
 * The same for what is found in its turn: nothing but the sender is read before, so that other acknowledgements go first.
 * With `route` a long wait for the turn is told there, and the answer replaces that.
 */
export async function performFound(
  deps: SlackDeps,
  { kind, body, claim, route }: Pick<Delivery, 'kind' | 'body' | 'claim'> & Partial<Pick<Delivery, 'route'>>,
  find: (facts: ReadFacts) => Task | Promise<Task>,
): Promise<Outcome> {
  const started = performance.now();
  const sender = readSender(body, deps.access.own());
  if (!sender) {
    deps.log.warn({ kind }, 'a delivery names no user and workspace');
    return 'failed';
  }
  let task: Task | undefined;
  let early: Replies | undefined;
  // A retry repeats what can be repeated.
  const createOwn = (to: Delivery['route']) => createReplies(deps, sender, to, () => task?.delivery.retry);
  const { userId } = sender.person;
  const tellWait = (): void => {
    if (!route || waiting.has(userId)) return;
    waiting.add(userId);
    early = createOwn(route);
    void early.plain
      .send({ text: 'Waiting for its turn: other commands are before it.' }, 'progress')
      .catch(() => undefined);
  };
  const work = async (signal: AbortSignal) => {
    // Before the key is known: nothing is kept that a revoked one has read.
    const mine = deps.zoneCache.forPerson(sender.person);
    let claimed: ReturnType<ReadFacts> | undefined;
    const facts: ReadFacts = () =>
      (claimed ??= deps.claim(claim === undefined ? undefined : `${kind}:${claim}`, sender.person));
    task = await find(facts);
    const { delivery, flow } = task;
    const { feature } = delivery;
    const replies = early ?? createOwn(delivery.route);
    const outcome = await withSpan(`${kind} ${feature}`, { kind, feature }, async () => {
      const outcome = await performOnce(deps, { ...delivery, ...replies, sender, signal, facts, mine }, flow);
      describeSpan({ outcome });
      return outcome;
    });
    // In the same scope, but behind the turn: what comes afterwards takes one of its own.
    return AsyncLocalStorage.bind(async (): Promise<Outcome> => {
      const seconds = (performance.now() - started) / 1000;
      deps.metrics.delivered(kind, feature, outcome, seconds);
      deps.log.debug({ kind, feature, outcome, ms: Math.round(seconds * 1000) }, 'delivery done');
      if (outcome === 'answered') await flow.afterwards?.();
      return outcome;
    });
  };
  const workInScope = (signal: AbortSignal) => withReference(() => withSecrets(() => work(signal)));
  const end = await deps.inFlight.run(workInScope, sender.person, tellWait);
  if (early) waiting.delete(userId);
  return end();
}

/** People who were told that a command of theirs waits: one notice a person at a time. */
const waiting = new Set<string>();

interface Replies {
  readonly client: () => Promise<WebClient>;
  /** Every message to the person goes by this one, in their order. */
  readonly plain: Responder;
}

export function createReplies(
  { access, clients, postToResponseUrl, log, sendNativeBlocks }: SlackDeps,
  { person, workspace }: Sender,
  { inConversation, ...route }: Delivery['route'],
  repeats: Route['repeats'],
): Replies {
  const tenant = tenantIdOfWorkspace(workspace);
  const client = async (): Promise<WebClient> => clients.interactive(await access.token(workspace), tenant);
  const inPlace = createResponder({
    route: { ...route, userId: person.userId, repeats },
    client,
    postToResponseUrl,
    tenant,
    sendNativeBlocks,
    log,
  });
  const plain = inConversation
    ? createConversation(inConversation, client, inConversation.isElsewhere && inPlace)
    : inPlace;
  return { client, plain };
}

type Turn = Delivery &
  Replies & {
    readonly sender: Sender;
    readonly signal: AbortSignal;
    readonly facts: ReadFacts;
    readonly mine: ReturnType<SlackDeps['zoneCache']['forPerson']>;
  };

async function performOnce(deps: SlackDeps, delivery: Turn, flow: Flow): Promise<Outcome> {
  const { access, apiUrl, clients, postToResponseUrl, log, sendNativeBlocks } = deps;
  const { kind, body, client, plain, sender, signal, mine } = delivery;
  const { workspace, foreign } = sender;
  const { userId } = sender.person;
  const tenant = tenantIdOfWorkspace(workspace);
  const jobClient = async (): Promise<WebClient> => clients.job(await access.token(workspace), tenant);
  const uploads = createUploads({
    client: jobClient,
    apiUrl,
    inspect: deps.createFileScanner,
    signal,
  });
  const route = { ...delivery.route, userId };
  const conversation = route.inConversation;
  const place = { channelId: route.channelId, threadTs: route.threadTs };
  const answerPlace = conversation
    ? { channelId: conversation.channel, threadTs: conversation.threadTs }
    : place;
  const wrapResponder: Interaction['wrapResponder'] = (wrap) =>
    withShare(withFiles(wrap(plain), { uploads, userId, log }), answerPlace, mine.answers.set);
  const responder = wrapResponder(() => plain);
  try {
    const facts = await delivery.facts();
    if (!facts) return 'duplicate';
    // An installation that ended, or is not allowed any more, is refused before anything else.
    await access.token(workspace);
    if (!foreign) await flow.beforeAuthorize?.({ client, setup: createSetup(deps, sender, body) });
    const { claimOnce: claim, release } = deps;
    const sharing = createSharing({
      route,
      client: jobClient,
      uploads,
      postToResponseUrl,
      tenant,
      sendNativeBlocks,
      log,
      release,
      userId,
      teamId: workspace.isEnterpriseInstall ? sender.person.teamId : undefined,
      recall: mine.answers.get,
      claim,
    });
    const request = { ...delivery, ...place };
    const zoneCache = { ...deps.zoneCache, forPerson: () => mine };
    const context = await authorize(deps, sender, request, { client, facts, sharing, signal, zoneCache });
    await flow.run({ context, responder, wrapResponder, client });
    return 'answered';
  } catch (error) {
    const failure = explainFailure(error, delivery, log);
    const message = renderFailure(failure);
    try {
      if (!(await flow.showFailure?.(message, { client, failure }))) await responder.send(message, 'failure');
    } catch (unreachable) {
      log.error({ error: unreachable, kind }, 'cannot show a failure to its person');
    }
    return error instanceof UserError ? 'refused' : 'failed';
  }
}

// After this, "Working on it…" is shown: people type again after a longer silence.
const progressMs = 1_500;

/** Sends an answer, each message in the place of the one before, and a sign of progress if it takes longer. */
export async function sendAnswer(answer: Answer, responder: Responder): Promise<void> {
  const showProgress = () =>
    void responder.send({ text: 'Working on it…' }, 'progress').catch(() => undefined);
  const progress = setTimeout(showProgress, progressMs);
  try {
    const settled = await answer;
    if (!(Symbol.asyncIterator in settled)) {
      clearTimeout(progress);
      await responder.send(settled);
      return;
    }
    let unsent: Message | undefined;
    for await (const message of settled) {
      clearTimeout(progress);
      unsent = (await responder.send(message, 'interim')) ? undefined : message;
    }
    if (unsent) await responder.send(unsent);
  } finally {
    clearTimeout(progress);
  }
}
