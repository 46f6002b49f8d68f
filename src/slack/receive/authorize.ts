import type { WebClient } from '@slack/web-api';
import type { CdnClient } from '../../api/cdn.ts';
import type { Claim, PersonFacts } from '../../auth/claims.ts';
import { type Person, tenantId } from '../../auth/identity.ts';
import type { KeyPage } from '../../auth/keys/links.ts';
import { assertKnown, createAuthorizer } from '../../auth/policy/authorizer.ts';
import type { Decision, Right } from '../../auth/policy/policy.ts';
import type { Context, OpenModal, Setup, With } from '../../commands/define.ts';
import { features } from '../../commands/registry.ts';
import type { Service, Services } from '../../commands/services.ts';
import { UserError } from '../../errors.ts';
import { createCache } from '../../lib/cache.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { makeReference } from '../../telemetry/reference.ts';
import { renderRefusal } from '../../views/blocks/failure.ts';
import { type InstallationAccess, readSlackError } from '../installations.ts';
import type { PeopleOf } from '../people.ts';
import { type Clients, postMessage } from '../send/clients.ts';
import type { SendNativeBlocks } from '../send/native-blocks.ts';
import type { PostToResponseUrl } from '../send/response-url.ts';
import { readShownName, type Sender } from '../sender.ts';
import { explainFailure, type FailedDelivery } from './failures.ts';
import type { InFlight } from './in-flight.ts';

/** The services behind every delivery. */
export interface SlackDeps extends Omit<Services, 'cdnWith' | 'keyPage' | 'features' | 'sharing'> {
  readonly access: InstallationAccess;
  readonly clients: Clients;
  readonly sendNativeBlocks: SendNativeBlocks;
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
  /** Gives a claim back. */
  readonly release: (id: string) => Promise<void>;
  readonly inFlight: InFlight;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly now: () => Date;
  readonly panel: Context['panel'];
  readonly postToResponseUrl: PostToResponseUrl;
  /** Base of the Web API: files are uploaded to its hosts only. */
  readonly apiUrl: string;
  /** Throws if the file, given piece by piece, holds a live secret. */
  readonly createFileScanner: () => (piece: Uint8Array) => void;
}

export interface AuthorizeRequest extends FailedDelivery {
  readonly body: unknown;
  readonly needs: Right;
  readonly channelId: string | undefined;
  readonly threadTs: string | undefined;
  readonly modal?: OpenModal | undefined;
  readonly message?: Context['message'];
}

/**
 * Decides by policy and returns the context of the work.
 *
 * @throws UserError with the rule that refused.
 */
export async function authorize(
  deps: SlackDeps,
  sender: Sender,
  request: AuthorizeRequest,
  own: Pick<With<Service>, 'sharing' | 'signal' | 'zoneCache'> & {
    readonly client: () => Promise<WebClient>;
    readonly facts: PersonFacts;
  },
): Promise<With<Service>> {
  const { keyStore, names, tempDirectory, policies, audit, ledger, exports } = deps;
  const { accounts, settingsHistory } = deps;
  const { log, now, panel } = deps;
  const { client, facts, sharing, signal, zoneCache } = own;
  const { person, foreign } = sender;
  const { needs, channelId } = request;
  const people = deps.people(sender.workspace, person.teamId);
  const usesKey = needs !== 'none' && needs !== 'admin';
  const authorizer = createAuthorizer({
    person,
    // A slash command does not say where its person is at home, and a link to connect a key is for our own people.
    foreign:
      foreign === false && request.kind === 'command' && request.feature === 'connect' ? undefined : foreign,
    people,
    policies,
    keyStore,
    policy: facts.policy,
    // A key that does not open refuses here what needs one.
    linked: async () => (usesKey ? facts.reveal() : facts.linked),
  });

  const decision = assertKnown(await authorizer.decide(needs, channelId));
  if (!decision.allowed) {
    deps.metrics.refused(decision.reason);
    const reference = makeReference();
    await recordDenial(deps, sender, request, decision, reference);
    const { message, hint, offer } = renderRefusal(decision, people.missingScopes());
    throw new UserError(message, hint, offer, reference);
  }
  return {
    person,
    channelId,
    threadTs: request.threadTs,
    message: request.message,
    modal: request.modal,
    authorizer,
    decide: (right, options) => authorizer.decide(right, channelId, options),
    refused: deps.metrics.refused,
    people,
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
    async post(channel, message) {
      try {
        await postMessage(await client(), channel, message);
        return true;
      } catch (error) {
        log.warn({ channel, reason: readSlackError(error) ?? 'no-answer' }, 'cannot post in a channel');
        return false;
      }
    },
    explain: (error) => explainFailure(error, request, log),
    now,
    panel,
    signal,
    ...createSetup(deps, sender, request.body),
    keyStore,
    zoneCache,
    accounts,
    names,
    settingsHistory,
    tempDirectory,
    policies,
    audit,
    ledger,
    exports,
    reports: deps.reports,
    doctor: deps.doctor,
    sharing,
    features,
  };
}

/** The setup of this bot for this person, without any I/O. */
export function createSetup(deps: SlackDeps, sender: Sender, body: unknown): Setup {
  return { keyPage: deps.keyPage?.(sender.person, readShownName(body, sender.person)) };
}

/** Audits a denied attempt, once a minute for each person and command, so that it cannot flood the audit log. */
async function recordDenial(
  deps: SlackDeps,
  { person, foreign }: Sender,
  { requested, feature, needs, channelId }: AuthorizeRequest,
  { reason }: Decision,
  reference: string,
): Promise<void> {
  // People of another organisation have no audit log here: it goes to the workspace where they tried.
  const tenant = (foreign ? deps.access.own()?.teamId : undefined) ?? tenantId(person);
  const subject = requested ?? feature;
  // A missing key is not a denial.
  if (reason === 'no-key' || !deps.shouldRecordDenial(`${tenant}/${person.userId}/${subject}`)) return;
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
    // The refusal does not depend on its record.
    deps.log.error({ error, tenant }, 'cannot record a denied attempt');
  }
}

/** True the first time in a minute that it is called with `key`. Keeps the 10,000 latest keys. */
export function oncePerMinute(now: () => Date): (key: string) => boolean {
  const seen = createCache<true>({ now, maxEntries: 10_000, ttlMs: minuteMs });
  return (key) => {
    if (seen.get(key)) return false;
    seen.set(key, true);
    return true;
  };
}
