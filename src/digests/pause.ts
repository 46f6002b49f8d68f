import type { Transaction } from 'kysely';
import type { Audit } from '../auth/audit/audit.ts';
import type { Installation, People } from '../auth/identity.ts';
import type { Reason } from '../auth/policy/policy.ts';
import { defineMessage, type Outbox } from '../outbox/outbox.ts';
import type { Schema } from '../store/schema.ts';
import { renderReinstalled } from '../views/digests/list.ts';
import { renderPaused } from '../views/digests/notices.ts';
import type { Digest, PauseReason } from './model.ts';
import type { DigestContext } from './ports.ts';
import { findDigest, moveNotices, type NoticeState, pauseRunningDigests } from './queries/digests.ts';

interface Tools {
  readonly audit: Audit;
  readonly outbox: Outbox;
  readonly people: (installation: Installation) => People;
}

/** Pauses a digest, all of a person, or all of a tenant, with its record and one notice each. Returns what it paused. */
export async function pauseDigests(
  trx: Transaction<Schema>,
  which: Parameters<typeof pauseRunningDigests>[1],
  { reason, at }: { readonly reason: PauseReason; readonly at: Date },
  tools: Tools,
): Promise<Digest[]> {
  const paused = await pauseRunningDigests(trx, which, { reason, at });
  for (const digest of paused) {
    const { id: subject, tenant, owner, channel } = digest;
    const detail = { reason, owner: owner.userId, channel };
    await tools.audit.record(
      { tenant, actor: 'system', event: 'digest-paused', subject, detail },
      { in: trx },
    );
    // Without the app in the workspace there is nobody to tell before it is back.
    if (reason !== 'uninstalled') await putPauseNotice(trx, digest, tools);
  }
  return paused;
}

/** A policy decision as the reason of a pause. */
export function toPauseReason(reason: Reason): PauseReason {
  if (reason === 'no-key') return 'key-missing';
  return reason === 'other-channel' ? 'channel-not-allowed' : 'right-lost';
}

/** Into the channel, else to the owner, else to the configured admins. */
async function putPauseNotice(
  trx: Transaction<Schema>,
  { id, revision, channel, owner, paused }: Digest,
  { outbox, people }: Pick<Tools, 'outbox' | 'people'>,
  again = '',
): Promise<void> {
  const owners = paused?.reason === 'owner-gone' ? [] : [owner.userId];
  await outbox.put(trx, {
    id: `digest-paused:${id}:${revision}${again}`,
    kind: pauseNotice,
    about: { digestId: id, revision },
    installation: owner,
    to: { places: [...new Set([channel, ...owners, ...people(owner).configuredAdmins])] },
    doubt: 'once',
  });
}

export const pauseNotice = defineMessage({
  kind: 'digest-paused',
  async render({ digestId, revision }: { digestId: string; revision: number }, context: NoticeContext) {
    const digest = await findDigest(context.db, digestId);
    // Changed since: it runs again, or the change has a notice of its own.
    if (!digest?.paused || digest.deletedAt || digest.revision !== revision) return undefined;
    const { reason } = digest.paused;
    return renderPaused({ digest, reason, others: context.place !== digest.owner.userId });
  },
  async ended(trx, { about: { digestId, revision }, state, reason, code }, { log }: DigestContext) {
    if (reason === 'withdrawn' || (await findDigest(trx, digestId))?.revision !== revision) return;
    const to: NoticeState = state !== 'dead' ? 'told' : reason === 'app-gone' ? 'waiting' : 'nobody';
    await moveNotices(trx, { ids: [digestId] }, 'sending', to);
    if (to === 'nobody')
      log.error({ digest: digestId, code }, 'nobody could be told that a digest is paused');
  },
});

type NoticeContext = DigestContext & { readonly place: string };

/**
 * The app is back in a workspace: each owner of digests that stopped with it gets one message about all of them; digests
 * that were paused for another reason get their notice.
 */
export async function announceReinstalled(
  tenant: string | undefined,
  { db, ports, now }: DigestContext,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const waiting = await moveNotices(trx, { tenant }, 'waiting', 'sending');
    const at = now().toISOString();
    const owners = Map.groupBy(
      waiting.filter(({ paused }) => paused?.reason === 'uninstalled'),
      ({ tenant, owner }) => `${tenant}:${owner.userId}`,
    );
    for (const [key, digests] of owners) {
      const [first] = digests;
      if (!first) continue;
      await ports.outbox.put(trx, {
        id: `digests-reinstalled:${key}:${at}`,
        kind: reinstalledNotice,
        about: { ids: digests.map(({ id }) => id) },
        installation: first.owner,
        to: { places: [first.owner.userId] },
        doubt: 'once',
      });
    }
    for (const digest of waiting)
      if (digest.paused?.reason !== 'uninstalled') await putPauseNotice(trx, digest, ports, `:${at}`);
  });
}

export const reinstalledNotice = defineMessage({
  kind: 'digests-reinstalled',
  async render({ ids }: { ids: readonly string[] }, { db, ports }: DigestContext) {
    const found = await Promise.all(ids.map((id) => findDigest(db, id)));
    const digests = found.filter(
      (digest) => digest?.paused?.reason === 'uninstalled' && !digest.deletedAt,
    ) as Digest[];
    const [first] = digests;
    if (!first) return undefined;
    const authorizer = ports.authorizer(first.owner);
    const decision = await authorizer.decide('read', undefined);
    return renderReinstalled({ digests, hasKey: decision.reason !== 'no-key' });
  },
  async ended(trx, { about: { ids }, state, reason }, { ports, now }: DigestContext) {
    if (state !== 'dead') return void (await moveNotices(trx, { ids }, 'sending', 'told'));
    if (reason === 'withdrawn') return;
    if (reason === 'app-gone') return void (await moveNotices(trx, { ids }, 'sending', 'waiting'));
    // Its owner cannot be reached: each is announced in its channel.
    for (const id of ids) {
      const digest = await findDigest(trx, id);
      if (digest?.paused?.reason === 'uninstalled')
        await putPauseNotice(trx, digest, ports, `:${now().toISOString()}`);
    }
  },
});
