import type { WebClient } from '@slack/web-api';
import type { CdnClient } from '../../api/cdn.ts';
import { type Person, tenantId } from '../../auth/identity.ts';
import type { RevealedKey } from '../../auth/keys/key-store.ts';
import type { KeyPage } from '../../auth/keys/tokens.ts';
import { assertKnown, createAuthorizer } from '../../auth/policy/authorizer.ts';
import type { Right } from '../../auth/policy/policy.ts';
import type { Answer, Context, OpenModal, Services, Setup } from '../../commands/define.ts';
import { loadHome } from '../../commands/home.ts';
import { createRefusal } from '../../commands/operations/propose.ts';
import { features } from '../../commands/registry.ts';
import { prefetchZones } from '../../commands/zones/lookup.ts';
import { SecretLeakBlocked, UserError } from '../../errors.ts';
import { classifySlackFailure } from '../../outbox/slack-port.ts';
import { type Secret, withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Kind, Metrics, Outcome } from '../../telemetry/metrics.ts';
import { makeReference, withReference } from '../../telemetry/reference.ts';
import { describeSpan, withSpan } from '../../telemetry/tracing.ts';
import { context as contextBlock, limits, type Message } from '../../views/blocks/blocks.ts';
import { type Failure, renderFailure } from '../../views/blocks/failure.ts';
import type { InstallationAccess } from '../installations.ts';
import type { PeopleOf } from '../people.ts';
import {
  type Clients,
  type PostToResponseUrl,
  postMessage,
  toSlackFailure,
  waitOutLimits,
} from '../send/clients.ts';
import { type Egress } from '../send/egress.ts';
import { createResponder, type Respond, type Route, withFiles } from '../send/responder.ts';
import { createSharing, withShare } from '../send/sharing.ts';
import { openSlack } from '../send/slack-port.ts';
import { readSender, readShownName, type Sender } from '../sender.ts';
import type { ThrottledLog } from '../web/limits.ts';
import { explainFailure, type FailedDelivery } from './failures.ts';
import type { InFlight } from './in-flight.ts';

export interface SlackDeps extends Omit<Services, 'cdnWith' | 'keyPage' | 'features' | 'sharing'> {
  readonly access: InstallationAccess;
  readonly clients: Clients;
  readonly cdn: { withKey(key: Secret, signal?: AbortSignal): CdnClient };
  /** Present if keys are entered on a page, which shows the person as `shownFor`. */
  readonly keyPage?: ((person: Person, shownFor: string) => KeyPage) | undefined;
  readonly people: PeopleOf;
  /** At most once a minute for a key. */
  readonly shouldRecord: (key: string) => boolean;
  /** False if it was claimed before, by this or another replica. */
  readonly claimOnce: (id: string) => Promise<boolean>;
  readonly release: (id: string) => Promise<void>;
  readonly inFlight: InFlight;
  readonly metrics: Metrics;
  readonly log: Log;
  /** For messages that an outage of Slack would cause at each command. */
  readonly throttledLog: ThrottledLog;
  readonly now: () => Date;
  readonly panel: Context['panel'];
  readonly postToResponseUrl: PostToResponseUrl;
  readonly apiUrl: string;
  readonly egress: Egress;
}

interface Delivery {
  readonly kind: Kind;
  readonly body: object;
  /** Identifies repeats; undefined = every delivery is new. */
  readonly claim?: string | undefined;
  /** Shows a long wait. */
  readonly route?: Work['route'];
  readonly until?: AbortSignal;
}

/** `feature` is a name from the registry, never anything typed: it becomes a metric label. */
export interface Work extends Omit<FailedDelivery, 'kind'> {
  readonly needs: Right;
  readonly route: Omit<Route, 'userId'>;
  readonly modal?: OpenModal | undefined;
  readonly message?: Context['message'];
  /** Opens what must not wait, for people of this organization. */
  readonly beforeAuthorize?: (
    early: Pick<Interaction, 'client'> & { readonly setup: Setup },
  ) => Promise<void>;
  readonly run: (turn: Interaction) => Promise<void>;
  /** Shows a failure elsewhere than in a message; false if it could not. */
  readonly showFailure?: (failed: Failed) => Promise<boolean>;
  /** Adds what was typed to a failure that is a message: the form is closed by then. */
  readonly addTyped?: (message: Message) => Message;
  readonly changesHome?: boolean | undefined;
}

export interface Failed extends Pick<Interaction, 'client'> {
  readonly failure: Failure;
  readonly message: Message;
}

export interface Interaction {
  readonly context: Context;
  readonly respond: Respond;
  /** Answers in another way, which may fall back on the plain one; also sends the files of an answer. */
  readonly wrapRespond: (wrap: (plain: Respond) => Respond) => Respond;
  readonly client: () => Promise<WebClient>;
}

export type RevealKey = () => Promise<RevealedKey | undefined>;

/** People who were told that a command of theirs waits. */
const waiting = new Set<string>();

/**
 * Once, authorized, with the person's own key; they see every failure. Never throws. Before its turn nothing is read.
 */
export async function perform(
  deps: SlackDeps,
  { kind, body, claim, route, until }: Delivery,
  given: Work | ((reveal: RevealKey) => Promise<Work>),
): Promise<void> {
  const { log, metrics } = deps;
  const started = performance.now();
  const sender = readSender(body, deps.access.own());
  if (!sender) {
    deps.throttledLog.warn({ kind }, 'a delivery names no user and workspace');
    return;
  }
  const { person } = sender;
  let work: Work | undefined;
  let early: Replies | undefined;
  const createOwn = (to: Work['route']) => createReplies(deps, sender, to, () => work?.retry);
  const tellWait = (): void => {
    if (!route || waiting.has(person.userId)) return;
    waiting.add(person.userId);
    early = createOwn(route);
    const text = 'Queued behind other commands.';
    void early.plain({ text }, 'progress').catch(() => undefined);
  };
  /** True if the Home tab has changed. */
  const runTurn = async (ending: AbortSignal): Promise<boolean> => {
    const signal = until ? AbortSignal.any([ending, until]) : ending;
    // Before the key is known: nothing is kept that a revoked one has read.
    const zones = deps.zoneCache.forPerson(person);
    let revealed: ReturnType<RevealKey> | undefined;
    const reveal: RevealKey = () => (revealed ??= deps.keyStore.reveal(person));
    const own = (work = typeof given === 'function' ? await given(reveal) : given);
    const { feature } = own;
    const outcome = await withSpan(`${kind} ${feature}`, { kind, feature }, async () => {
      const turn = { ...(early ?? createOwn(own.route)), kind, body, claim, sender, signal, reveal, zones };
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
  // The person did not ask for it, so a failure is only logged.
  if (hasChanged) await perform(deps, { kind: 'home', body }, { ...homeWork, showFailure: async () => true });
}

export const homeWork: Work = {
  feature: 'home',
  needs: 'none',
  route: {},
  run: (turn) => publishHome(turn),
};

/** Without a state of the zones it says that they are read, and shows what was found, once. */
export async function openHome(turn: Interaction): Promise<void> {
  const { context } = turn;
  const { state } = context.zoneCache.forPerson(context.person);
  if (state() || !(await context.decide('read')).allowed) return publishHome(turn);
  await publishHome(turn, 'Reading your zones…');
  await prefetchZones(context);
  await publishHome(turn);
}

export async function publishHome({ context, client }: Interaction, note?: string): Promise<void> {
  const { blocks, ...view } = await loadHome(context, features);
  const shown = note === undefined ? blocks : [contextBlock(note), ...blocks].slice(0, limits.homeBlocks);
  const { userId } = context.person;
  const { views } = await client();
  await waitOutLimits(
    () => views.publish({ user_id: userId, view: { ...view, blocks: shown } }),
    context.signal,
  );
}

interface Replies {
  readonly client: () => Promise<WebClient>;
  /** Sends every message to the person, in order. */
  readonly plain: Respond;
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
  return {
    client,
    plain: createResponder({
      ...deps,
      log: deps.throttledLog,
      client,
      tenant,
      route: own,
      signal: deps.inFlight.ending,
    }),
  };
}

interface Turn extends Replies, Pick<Delivery, 'kind' | 'body' | 'claim'> {
  readonly sender: Sender;
  readonly signal: AbortSignal;
  readonly reveal: RevealKey;
  readonly zones: ReturnType<SlackDeps['zoneCache']['forPerson']>;
}

async function performOnce(deps: SlackDeps, turn: Turn, work: Work): Promise<Outcome> {
  const { access, log } = deps;
  const { kind, body, claim, client, plain, sender, signal, zones } = turn;
  const { person, foreign } = sender;
  const { userId } = person;
  const slack = openSlack(deps, person, signal);
  const { channelId, threadTs, inConversation } = work.route;
  const place = inConversation
    ? { channelId: inConversation.channel, threadTs: inConversation.threadTs }
    : { channelId, threadTs };
  const wrapRespond: Interaction['wrapRespond'] = (wrap) =>
    withShare(withFiles(wrap(plain), { slack, userId, log }), place, zones.answers.set);
  const respond = wrapRespond(() => plain);
  try {
    if (claim !== undefined && !(await deps.claimOnce(`${kind}:${claim}`))) return 'duplicate';
    // An installation that ended, or is not allowed any more, is refused before anything else.
    await access.token(person);
    const setup = { keyPage: deps.keyPage?.(person, readShownName(body, person)), panel: deps.panel };
    if (work.beforeAuthorize && !(foreign ?? (await deps.people(person).profile(userId))?.foreign))
      await work.beforeAuthorize({ client, setup });
    const sharing = createSharing({
      ...deps,
      slack,
      route: work.route,
      tenant: tenantId(person),
      userId,
      teamId: person.enterpriseId === undefined ? undefined : person.teamId,
      recall: zones.answers.get,
    });
    const context = await authorize(deps, turn, work, { ...setup, sharing });
    await work.run({ context, respond, wrapRespond, client });
    return 'answered';
  } catch (error) {
    const failure = explainFailure(error, { ...work, kind }, log);
    const message = renderFailure(failure);
    try {
      // Where Slack takes no edit of a form, the failure is a message.
      if (!(await work.showFailure?.({ client, failure, message }).catch(() => false)))
        await respond(work.addTyped?.(message) ?? message, 'failure').catch((leak: unknown) => {
          if (work.addTyped && leak instanceof SecretLeakBlocked) return respond(message, 'failure');
          throw leak;
        });
    } catch (unreachable) {
      deps.throttledLog.error({ error: unreachable, kind }, 'cannot show a failure to its person');
    }
    return error instanceof UserError ? 'refused' : 'failed';
  }
}

/** @throws UserError with the rule that refused */
async function authorize(
  deps: SlackDeps,
  { client, kind, reveal, sender, signal, zones }: Turn,
  work: Work,
  services: Pick<Context, 'keyPage' | 'sharing'>,
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
    isReadByOthers: async () =>
      channelId !== undefined &&
      (await services.sharing.readAudience(channelId).catch(() => 'others')) === 'others',
    people,
    policies,
    keyStore,
    // A key that does not open refuses here what needs one.
    linked: usesKey ? reveal : undefined,
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
      const linkedKey = await reveal();
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
        const asBot = await client();
        await waitOutLimits(() => postMessage(asBot, channel, content), signal);
        return undefined;
      } catch (error) {
        const { code } = classifySlackFailure(toSlackFailure(error));
        log.warn({ channel, code }, 'cannot post in a channel');
        return code;
      }
    },
    explain: (error) => explainFailure(error, { ...work, kind }, log),
  };
}

/** Audits a denied attempt once a minute for each person and command. */
async function recordDenial(
  deps: SlackDeps,
  { person, foreign }: Sender,
  { requested, feature, needs, route: { channelId } }: Work,
  { reason, reference }: { readonly reason: string; readonly reference: string },
): Promise<void> {
  // People of another organization have no audit log here.
  const tenant = (foreign ? deps.access.own()?.teamId : undefined) ?? tenantId(person);
  const subject = requested ?? feature;
  if (!deps.shouldRecord(`${tenant}/${person.userId}/${subject}`)) return;
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

// People type again after a longer silence.
export const progressMs = 1_500;

export async function sendAnswer(answer: Answer, respond: Respond): Promise<void> {
  const showProgress = () => void respond({ text: 'Working on it…' }, 'progress').catch(() => undefined);
  const progress = setTimeout(showProgress, progressMs);
  try {
    const settled = await answer;
    if (!(Symbol.asyncIterator in settled)) {
      clearTimeout(progress);
      await respond(settled);
      return;
    }
    let unsent: Message | undefined;
    for await (const message of settled) {
      clearTimeout(progress);
      unsent = (await respond(message, 'interim')) ? undefined : message;
    }
    if (unsent) await respond(unsent);
  } finally {
    clearTimeout(progress);
  }
}
