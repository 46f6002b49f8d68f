import { type Expression, type SqlBool, sql } from 'kysely';
import type { Reason } from '../auth/policy/policy.ts';
import { defineMessage } from '../outbox/outbox.ts';
import type { Trx } from '../store/schema.ts';
import { renderReinstalled } from '../views/digests/list.ts';
import { renderPaused } from '../views/digests/notices.ts';
import type { Digest, DigestContext, DigestPorts, PauseReason } from './model.ts';
import { findDigest, readDigest } from './queries/digests.ts';

type Tools = Pick<DigestPorts, 'audit' | 'outbox' | 'people'>;

/**
 * State of the notice of a pause: `sending` while it is in the outbox, `waiting` while the app is not in the
 * workspace; in the end `told`, or `nobody` if no place took it.
 */
type NoticeState = 'sending' | 'waiting' | 'told' | 'nobody';

/** Pauses a digest, all of a person, or all of a tenant, with its record and one notice each. Returns what it paused. */
export async function pauseDigests(
  trx: Trx,
  which: { readonly id: string } | { readonly tenant: string; readonly owner?: string },
  { reason, at }: { readonly reason: PauseReason; readonly at: Date },
  tools: Tools,
): Promise<Digest[]> {
  const notice: NoticeState = reason === 'uninstalled' ? 'waiting' : 'sending';
  const rows = await trx
    .updateTable('digests')
    .set({
      paused: reason,
      paused_by: null,
      paused_at: at,
      pause_notice: notice,
      next_due: null,
      revision: sql<number>`revision + 1`,
    })
    .where((row) => row.and({ ...which }))
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .returningAll()
    .execute();
  const paused = rows.map(readDigest);
  for (const digest of paused) {
    const { id: subject, tenant, owner, channel } = digest;
    const detail = { reason, owner: owner.userId, channel };
    await tools.audit.record({ tenant, actor: 'system', event: 'digest-paused', subject, detail }, trx);
    // The app is not in the workspace, so nothing can be posted before it is back.
    if (notice === 'sending') await putPauseNotice(trx, digest, tools);
  }
  return paused;
}

/** Moves the notices of paused digests on. Returns those that were in that state, oldest first. */
async function moveNotices(trx: Trx, which: Expression<SqlBool>, from: NoticeState, to: NoticeState) {
  const rows = await trx
    .updateTable('digests')
    .set({ pause_notice: to })
    .where('pause_notice', '=', from)
    .where('paused', 'is not', null)
    .where('deleted_at', 'is', null)
    .where(which)
    .returningAll()
    .execute();
  return rows.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime()).map(readDigest);
}

const withIds = (ids: readonly string[]) => sql<SqlBool>`id in (${sql.join(ids)})`;

/** A policy decision as the reason of a pause. */
export function toPauseReason(reason: Reason): PauseReason {
  if (reason === 'no-key') return 'key-missing';
  if (reason === 'deactivated') return 'owner-gone';
  return reason === 'other-channel' ? 'channel-not-allowed' : 'right-lost';
}

/** Into the channel, else to the owner, else to the configured admins. */
async function putPauseNotice(
  trx: Trx,
  { id, revision, channel, owner, paused }: Digest,
  { outbox, people }: Omit<Tools, 'audit'>,
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

type AboutPause = { readonly digestId: string; readonly revision: number };

export const pauseNotice = defineMessage({
  kind: 'digest-paused',
  async render({ digestId, revision }: AboutPause, { db, place }: DigestContext & { place: string }) {
    const digest = await findDigest(db, digestId);
    // Changed since: it runs again, or the change has a notice of its own.
    if (!digest?.paused || digest.deletedAt || digest.revision !== revision) return undefined;
    return renderPaused(digest, digest.paused.reason, { others: place !== digest.owner.userId });
  },
  async ended(trx, { about: { digestId, revision }, state, reason, code }, { log }: DigestContext) {
    if (reason === 'withdrawn' || (await findDigest(trx, digestId))?.revision !== revision) return;
    const to: NoticeState = state !== 'dead' ? 'told' : reason === 'app-gone' ? 'waiting' : 'nobody';
    await moveNotices(trx, withIds([digestId]), 'sending', to);
    if (to === 'nobody')
      log.error({ digest: digestId, code }, 'nobody could be told that a digest is paused');
  },
});

/**
 * The app is back in a workspace: each owner of digests that stopped with it gets one message about all of them; digests
 * that were paused for another reason get their notice. Without a tenant: in every workspace that has the app again.
 */
export async function announceReinstalled(
  tenant: string | undefined,
  { db, ports, now }: DigestContext,
): Promise<void> {
  const which =
    tenant === undefined
      ? // The bot that serves one workspace stores no installation.
        sql<SqlBool>`(exists (select from installations i where i.tenant = digests.tenant)
          or not exists (select from installations))`
      : sql<SqlBool>`tenant = ${tenant}`;
  await db.transaction().execute(async (trx) => {
    const waiting = await moveNotices(trx, which, 'waiting', 'sending');
    const at = now().toISOString();
    const { uninstalled = [], others = [] } = Object.groupBy(waiting, ({ paused }) =>
      paused?.reason === 'uninstalled' ? 'uninstalled' : 'others',
    );
    const byOwner = Map.groupBy(uninstalled, ({ tenant, owner }) => `${tenant}:${owner.userId}`);
    for (const [key, digests] of byOwner) {
      const { owner } = digests[0] as Digest;
      await ports.outbox.put(trx, {
        id: `digests-reinstalled:${key}:${at}`,
        kind: reinstalledNotice,
        about: { ids: digests.map(({ id }) => id) },
        installation: owner,
        to: { places: [owner.userId] },
        doubt: 'once',
      });
    }
    for (const digest of others) await putPauseNotice(trx, digest, ports, `:${at}`);
  });
}

export const reinstalledNotice = defineMessage({
  kind: 'digests-reinstalled',
  async render({ ids }: { ids: readonly string[] }, { db, ports }: DigestContext) {
    const found = await Promise.all(ids.map((id) => findDigest(db, id)));
    const digests = found.filter((digest) => digest?.paused?.reason === 'uninstalled' && !digest.deletedAt);
    const [first] = digests;
    if (!first) return undefined;
    const authorizer = ports.authorizer(first.owner);
    const decision = await authorizer.decide('read', undefined);
    return renderReinstalled(digests as Digest[], { hasKey: decision.reason !== 'no-key' });
  },
  async ended(trx, { about: { ids }, state, reason }, { ports, now }: DigestContext) {
    if (reason === 'withdrawn') return;
    if (state !== 'dead' || reason === 'app-gone') {
      await moveNotices(trx, withIds(ids), 'sending', state === 'dead' ? 'waiting' : 'told');
      return;
    }
    // Its owner cannot be reached: each is announced in its channel.
    for (const id of ids) {
      const digest = await findDigest(trx, id);
      if (digest?.paused?.reason === 'uninstalled')
        await putPauseNotice(trx, digest, ports, `:${now().toISOString()}`);
    }
  },
});
