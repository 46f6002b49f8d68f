import type { WebClient } from '@slack/web-api';
import type { CdnClient } from '../../api/cdn.ts';
import type { Claim, PersonFacts } from '../../auth/claims.ts';
import { type Person, tenantId } from '../../auth/identity.ts';
import type { KeyPage } from '../../auth/keys/links.ts';
import { assertKnown, createAuthorizer } from '../../auth/policy/authorizer.ts';
import type { Right } from '../../auth/policy/policy.ts';
import type { Answer, Context, OpenModal, Services, Setup } from '../../commands/define.ts';
import { loadHome } from '../../commands/home.ts';
import { createRefusal } from '../../commands/operations/propose.ts';
import { features } from '../../commands/registry.ts';
import { UserError } from '../../errors.ts';
import { type Secret, withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Kind, Metrics, Outcome } from '../../telemetry/metrics.ts';
import { makeReference, withReference } from '../../telemetry/reference.ts';
import { describeSpan, withSpan } from '../../telemetry/tracing.ts';
import { context as contextBlock, limits, type Message } from '../../views/blocks/blocks.ts';
import { type Failure, renderFailure } from '../../views/blocks/failure.ts';
import { type InstallationAccess, readSlackError } from '../installations.ts';
import type { PeopleOf } from '../people.ts';
import { type Clients, type PostToResponseUrl, postMessage } from '../send/clients.ts';
import type { Egress } from '../send/egress.ts';
import { createResponder, type Responder, type Route, withFiles } from '../send/responder.ts';
import { createSharing, withShare } from '../send/sharing.ts';
import { openSlack } from '../send/slack-port.ts';
import { readSender, readShownName, type Sender } from '../sender.ts';
import { explainFailure, type FailedDelivery } from './failures.ts';
import type { InFlight } from './in-flight.ts';

export interface SlackDeps extends Omit<Services, 'cdnWith' | 'keyPage' | 'features' | 'sharing'> {
  readonly access: InstallationAccess;
  readonly clients: Clients;
  readonly cdn: { withKey(key: Secret, signal?: AbortSignal): CdnClient };
  /** Present if keys are entered on a page. `shownFor` is how the page names the person. */
  readonly keyPage?: ((person: Person, shownFor: string) => KeyPage) | undefined;
  readonly people: PeopleOf;
  /** False if the same denied attempt was recorded within the last minute. */
  readonly shouldRecordDenial: (key: string) => boolean;
  /** Claims a delivery, and reads what decides about its person. */
  readonly claim: Claim;
  /** Claims anything else: false if it was claimed before, by this or another replica. */
  readonly claimOnce: (id: string) => Promise<boolean>;
  readonly release: (id: string) => Promise<void>;
  readonly inFlight: InFlight;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly now: () => Date;
  readonly panel: Context['panel'];
  readonly postToResponseUrl: PostToResponseUrl;
  readonly apiUrl: string;
  readonly egress: Egress;
}

interface Delivery {
  readonly kind: Kind;
  readonly body: object;
  /** Identifies repeats of the same delivery; undefined = every delivery is new. */
  readonly claim?: string | undefined;
  /** Where a long wait for the turn is told; the answer replaces that. */
  readonly route?: Work['route'];
  /** Ends the work before the bot does. */
  readonly until?: AbortSignal;
}

/** The work of a delivery. `feature` is a name from the registry, never anything typed: it becomes a metric label. */
export interface Work extends Omit<FailedDelivery, 'kind'> {
  readonly needs: Right;
  readonly route: Omit<Route, 'userId'>;
  readonly modal?: OpenModal | undefined;
  readonly message?: Context['message'];
  /** Runs before anything but who they are is looked up, for people of this organisation: opens what must not wait. */
  readonly beforeAuthorize?: (
    early: Pick<Interaction, 'client'> & { readonly setup: Setup },
  ) => Promise<void>;
  readonly run: (turn: Interaction) => Promise<void>;
  /** Shows a failure somewhere else than in a message (an open form); false if it could not. */
  readonly showFailure?: (
    message: Message,
    turn: Pick<Interaction, 'client'> & { readonly failure: Failure },
  ) => Promise<boolean>;
  /** What was typed, below a failure that is a message: the form is closed by then. */
  readonly addTyped?: (message: Message) => Message;
  /** The Home tab is published again after the answer. */
  readonly changesHome?: boolean | undefined;
}

export interface Interaction {
  readonly context: Context;
  readonly responder: Responder;
  /** A responder that answers in another way and may fall back on the plain one; it also sends the files of an answer. */
  readonly wrapResponder: (wrap: (plain: Responder) => Responder) => Responder;
  readonly client: () => Promise<WebClient>;
}

/** Claims the delivery when first asked; undefined for a repeat. */
export type ReadFacts = () => Promise<PersonFacts | undefined>;

/** People who were told that a command of theirs waits: one notice a person at a time. */
const waiting = new Set<string>();

/**
 * Runs the work of a delivery: once, identified, authorized, with the person's own key, and with every failure shown to
 * the person. Never throws. Before its turn nothing but the sender is read, so that other acknowledgements go first.
 */
export async function perform(
  deps: SlackDeps,
  { kind, body, claim, route, until }: Delivery,
  given: Work | ((facts: ReadFacts) => Promise<Work>),
): Promise<void> {
  const { log, metrics } = deps;
  const started = performance.now();
  const sender = readSender(body, deps.access.own());
  if (!sender) return log.warn({ kind }, 'a delivery names no user and workspace');
  const { person } = sender;
  let work: Work | undefined;
  let early: Replies | undefined;
  const createOwn = (to: Work['route']) => createReplies(deps, sender, to, () => work?.retry);
  const tellWait = (): void => {
    if (!route || waiting.has(person.userId)) return;
    waiting.add(person.userId);
    early = createOwn(route);
    const text = 'Queued behind other commands.';
    void early.plain.send({ text }, 'progress').catch(() => undefined);
  };
  /** Whether the Home tab has changed. */
  const runTurn = async (ending: AbortSignal): Promise<boolean> => {
    const signal = until ? AbortSignal.any([ending, until]) : ending;
    // Before the key is known: nothing is kept that a revoked one has read.
    const zones = deps.zoneCache.forPerson(person);
    let claimed: ReturnType<ReadFacts> | undefined;
    const readFacts: ReadFacts = () =>
      (claimed ??= deps.claim(claim === undefined ? undefined : `${kind}:${claim}`, person));
    const own = (work = typeof given === 'function' ? await given(readFacts) : given);
    const { feature } = own;
    const outcome = await withSpan(`${kind} ${feature}`, { kind, feature }, async () => {
      const turn = { ...(early ?? createOwn(own.route)), kind, body, sender, signal, readFacts, zones };
      const outcome = await performOnce(deps, turn, own);
      describeSpan({ outcome });
      return outcome;
    });
    const seconds = (performance.now() - started) / 1000;
    metrics.delivered(kind, feature, outcome, seconds);
    log.debug({ kind, feature, outcome, ms: Math.round(seconds * 1000) }, 'delivery done');
    return outcome === 'answered' && own.changesHome === true;
  };
  const runInScope = (signal: AbortSignal) => withReference(() => withSecrets(() => runTurn(signal)));
  const hasChanged = await deps.inFlight.run(runInScope, person, tellWait);
  if (early) waiting.delete(person.userId);
  // In its own turn. The person did not request it, so a failure is only logged.
  if (hasChanged) await perform(deps, { kind: 'home', body }, { ...homeWork, showFailure: async () => true });
}

export const homeWork: Work = {
  feature: 'home',
  needs: 'none',
  route: {},
  run: (turn) => publishHome(turn),
};

/** Draws the person's Home tab, with `note` above it. */
export async function publishHome({ context, client }: Interaction, note?: string): Promise<void> {
  const { blocks, ...view } = await loadHome(context, features);
  const shown = note === undefined ? blocks : [contextBlock(note), ...blocks].slice(0, limits.homeBlocks);
  const { userId } = context.person;
  await (await client()).views.publish({ user_id: userId, view: { ...view, blocks: shown } });
}

interface Replies {
  readonly client: () => Promise<WebClient>;
  /** Every message to the person goes by this one, in their order. */
  readonly plain: Responder;
}

export function createReplies(
  deps: SlackDeps,
  { person }: Sender,
  route: Work['route'],
  repeats?: Route['repeats'],
): Replies {
  const { access, clients } = deps;
  const tenant = tenantId(person);
  const client = async (): Promise<WebClient> => clients.interactive(await access.token(person), tenant);
  const own = { ...route, userId: person.userId, repeats };
  return { client, plain: createResponder({ ...deps, client, tenant, route: own }) };
}

interface Turn extends Replies, Pick<Delivery, 'kind' | 'body'> {
  readonly sender: Sender;
  readonly signal: AbortSignal;
  readonly readFacts: ReadFacts;
  readonly zones: ReturnType<SlackDeps['zoneCache']['forPerson']>;
}

async function performOnce(deps: SlackDeps, turn: Turn, work: Work): Promise<Outcome> {
  const { access, log } = deps;
  const { kind, body, client, plain, sender, signal, zones } = turn;
  const { person, foreign } = sender;
  const { userId } = person;
  const slack = openSlack(deps, person, signal);
  const { channelId, threadTs, inConversation } = work.route;
  const place = inConversation
    ? { channelId: inConversation.channel, threadTs: inConversation.threadTs }
    : { channelId, threadTs };
  const wrapResponder: Interaction['wrapResponder'] = (wrap) =>
    withShare(withFiles(wrap(plain), { ...slack, userId, log }), place, zones.answers.set);
  const responder = wrapResponder(() => plain);
  try {
    const facts = await turn.readFacts();
    if (!facts) return 'duplicate';
    // An installation that ended, or is not allowed any more, is refused before anything else.
    await access.token(person);
    const setup = { keyPage: deps.keyPage?.(person, readShownName(body, person)), panel: deps.panel };
    if (work.beforeAuthorize && !(foreign ?? (await deps.people(person).profile(userId))?.foreign))
      await work.beforeAuthorize({ client, setup });
    const sharing = createSharing({
      ...deps,
      ...slack,
      route: work.route,
      tenant: tenantId(person),
      userId,
      teamId: person.enterpriseId === undefined ? undefined : person.teamId,
      recall: zones.answers.get,
    });
    const context = await authorize(deps, turn, work, { ...setup, sharing, facts });
    await work.run({ context, responder, wrapResponder, client });
    return 'answered';
  } catch (error) {
    const failure = explainFailure(error, { ...work, kind }, log);
    const message = renderFailure(failure);
    try {
      if (!(await work.showFailure?.(message, { client, failure })))
        await responder.send(work.addTyped?.(message) ?? message, 'failure');
    } catch (unreachable) {
      log.error({ error: unreachable, kind }, 'cannot show a failure to its person');
    }
    return error instanceof UserError ? 'refused' : 'failed';
  }
}

/**
 * Decides by policy and returns the context of the work.
 *
 * @throws UserError with the rule that refused.
 */
async function authorize(
  deps: SlackDeps,
  { client, kind, sender, signal, zones }: Turn,
  work: Work,
  { facts, ...services }: Pick<Context, 'keyPage' | 'sharing'> & { readonly facts: PersonFacts },
): Promise<Context> {
  const { keyStore, log, metrics, policies } = deps;
  const { person, foreign } = sender;
  const { needs, modal, message } = work;
  const { channelId, threadTs } = work.route;
  const people = deps.people(person);
  const usesKey = needs !== 'none' && needs !== 'admin';
  const authorizer = createAuthorizer({
    person,
    foreign,
    // Keys are connected by people whose profile was read.
    isKnownByKey: true,
    people,
    policies,
    keyStore,
    policy: facts.policy,
    // A key that does not open refuses here what needs one.
    linked: async () => (usesKey ? facts.reveal() : facts.linked),
  });
  const decision = assertKnown(await authorizer.decide(needs, channelId));
  if (!decision.allowed) {
    const { reason } = decision;
    metrics.refused(reason);
    const reference = makeReference();
    // A missing key is not a denial.
    if (reason !== 'no-key') await recordDenial(deps, sender, work, { reason, reference });
    throw await createRefusal(decision, { people, policies, person }, reference);
  }
  return {
    ...deps,
    ...services,
    features,
    person,
    people,
    authorizer,
    channelId,
    threadTs,
    modal,
    message,
    signal,
    zoneCache: { ...deps.zoneCache, forPerson: () => zones },
    decide: (right, options) => authorizer.decide(right, channelId, options),
    refused: metrics.refused,
    async cdn(until = signal) {
      const linkedKey = await facts.reveal();
      if (linkedKey) return deps.cdn.withKey(linkedKey.key, until);
      throw new UserError(
        'You have not connected a CDN key yet.',
        'Connect yours: it takes a minute.',
        'connect',
      );
    },
    cdnWith: (key) => deps.cdn.withKey(key, signal),
    async post(channel, content) {
      try {
        await postMessage(await client(), channel, content);
        return true;
      } catch (error) {
        log.warn({ channel, reason: readSlackError(error) ?? 'no-answer' }, 'cannot post in a channel');
        return false;
      }
    },
    explain: (error) => explainFailure(error, { ...work, kind }, log),
  };
}

/** Audits a denied attempt, once a minute for each person and command, so that it cannot flood the audit log. */
async function recordDenial(
  deps: SlackDeps,
  { person, foreign }: Sender,
  { requested, feature, needs, route: { channelId } }: Work,
  { reason, reference }: { readonly reason: string; readonly reference: string },
): Promise<void> {
  // People of another organization have no audit log here: it goes to the workspace where they tried.
  const tenant = (foreign ? deps.access.own()?.teamId : undefined) ?? tenantId(person);
  const subject = requested ?? feature;
  if (!deps.shouldRecordDenial(`${tenant}/${person.userId}/${subject}`)) return;
  try {
    await deps.audit.record({
      tenant,
      actor: person.userId,
      event: 'denied',
      subject,
      detail: { reason, needs, ...(channelId === undefined ? {} : { channel: channelId }) },
      requestId: reference,
    });
  } catch (error) {
    deps.log.error({ error, tenant }, 'cannot record a denied attempt');
  }
}

// After this, "Working on it…" is shown: people type again after a longer silence.
export const progressMs = 1_500;

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
