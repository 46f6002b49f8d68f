import type { WebClient } from '@slack/web-api';
import { tenantId } from '../../auth/identity.ts';
import type { MissingScope } from '../../auth/people.ts';
import { createAuthorizer } from '../../auth/policy/authorizer.ts';
import type { Decision, Right } from '../../auth/policy/policy.ts';
import type { Context, OpenModal, Service, With } from '../../commands/context.ts';
import type { Setup } from '../../commands/define.ts';
import { features } from '../../commands/registry.ts';
import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Secret } from '../../secrets/secret.ts';
import { makeReference } from '../../telemetry/log.ts';
import type { Message } from '../../views/blocks/message.ts';
import { renderRefusal } from '../../views/blocks/refusal.ts';
import { readSlackError } from '../installations.ts';
import { readShownName, type Sender } from '../sender.ts';
import type { SlackDeps } from './dispatch.ts';
import { explainFailure, type FailedDelivery } from './failures.ts';

/** What is to be decided, and for which work. */
export interface AuthorizeRequest extends FailedDelivery {
  readonly body: unknown;
  readonly needs: Right;
  readonly channelId: string | undefined;
  readonly modal: OpenModal | undefined;
  readonly message: Context['message'];
}

interface AuthorizeTools {
  readonly client: () => Promise<WebClient>;
  readonly signal: AbortSignal;
}

/**
 * Decides by policy and hands out what the work may use.
 *
 * @throws UserError with the step that refused.
 */
export async function authorize(
  deps: SlackDeps,
  sender: Sender,
  wanted: AuthorizeRequest,
  { client, signal }: AuthorizeTools,
): Promise<With<Service>> {
  const { person, foreign } = sender;
  const { needs, channelId } = wanted;
  const tenant = tenantId(person);
  const people = deps.people(sender.workspace);
  const usesKey = needs !== 'none' && needs !== 'admin';
  let looked: ReturnType<typeof deps.keyStore.reveal> | undefined;
  const reveal = (): NonNullable<typeof looked> => (looked ??= deps.keyStore.reveal(person));
  const authorizer = createAuthorizer({
    person,
    foreign,
    people,
    policies: deps.policies,
    keyStore: deps.keyStore,
    linked: async () => (usesKey ? await reveal() : await deps.keyStore.describe(person)) !== undefined,
  });

  const decision = await authorizer.decide({ needs, name: wanted.feature }, channelId);
  if (!decision.allowed) {
    // People of another organisation have no record of their own: it is kept where they knocked.
    const reference = makeReference();
    await recordDenied(
      deps,
      foreign ? (deps.access.own()?.teamId ?? tenant) : tenant,
      sender,
      wanted,
      decision,
      reference,
    );
    throw refusal(decision, people.missingScopes(), reference);
  }
  return {
    person,
    cdn: async (until = signal) => deps.cdn.withKey(await ownKey(reveal), until),
    cdnWith: (key) => deps.cdn.withKey(key, signal),
    keyStore: deps.keyStore,
    ...createSetup(deps, sender, wanted.body),
    zoneCache: deps.zoneCache,
    tempDirectory: deps.tempDirectory,
    features,
    channelId,
    authorizer,
    decide: (action, options) => authorizer.decide(action, channelId, options),
    people,
    policies: deps.policies,
    audit: deps.audit,
    ledger: deps.ledger,
    exports: deps.exports,
    digests: deps.digests,
    post: (channel, message) => post(deps, client, channel, message),
    message: wanted.message,
    modal: wanted.modal,
    now: deps.now,
    explain: (error) => explainFailure(error, wanted, deps.log),
    signal,
  };
}

/** How this bot is set up, known without asking anybody. */
export function createSetup(deps: SlackDeps, sender: Sender, body: unknown): Setup {
  return { keyPage: deps.keyPage?.(sender.person, readShownName(body, sender.person)) };
}

async function ownKey(reveal: () => Promise<{ readonly key: Secret } | undefined>): Promise<Secret> {
  const linked = await reveal();
  if (!linked)
    throw new UserError(
      'You have not connected a CDN key yet.',
      'Connect yours: it takes a minute.',
      'connect',
    );
  return linked.key;
}

function refusal(decision: Decision, blind: readonly MissingScope[], reference: string): UserError {
  const { message, hint, offer } = renderRefusal(decision, blind);
  return new UserError(message, hint, offer, reference);
}

/** Records an attempt once a minute for each person and command, so that nobody can flood the record. */
async function recordDenied(
  deps: SlackDeps,
  tenant: string,
  { person }: Sender,
  { requested: asks, feature, needs, channelId }: AuthorizeRequest,
  { reason }: Decision,
  reference: string,
): Promise<void> {
  const subject = asks ?? feature;
  // Somebody who has yet to connect a key was not denied anything.
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
    // They are refused whether or not it could be written down.
    deps.log.error({ error, tenant }, 'a denied attempt could not be recorded');
  }
}

async function post(
  deps: SlackDeps,
  client: () => Promise<WebClient>,
  channel: string,
  { text, blocks }: Message,
): Promise<boolean> {
  try {
    const shown = blocks ? { text, blocks } : { text };
    await (await client()).chat.postMessage({ channel, ...shown, unfurl_links: false, unfurl_media: false });
    return true;
  } catch (error) {
    deps.log.warn({ channel, reason: readSlackError(error) ?? 'no-answer' }, 'a channel could not be told');
    return false;
  }
}

// More in one minute and some are recorded twice.
const mostAttempts = 10_000;

/** True the first time in a minute that it is asked about `key`. */
export function oncePerMinute(now: () => Date): (key: string) => boolean {
  let minute = 0;
  const seen = new Set<string>();
  return (key) => {
    const current = Math.floor(now().getTime() / minuteMs);
    if (current !== minute || seen.size >= mostAttempts) seen.clear();
    minute = current;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  };
}
