import { type Expression, type SqlBool, sql } from 'kysely';
import { defineMessage } from '../../../outbox/outbox.ts';
import type { JobContext } from '../../../store/queue/define-job.ts';
import type { Trx } from '../../../store/schema.ts';
import type { Message } from '../../../views/blocks/blocks.ts';
import type { PauseReason, Scheduled, ScheduledTable, SchedulePorts } from './model.ts';
import { findScheduled, tableOf } from './rows.ts';

type Tools = Pick<SchedulePorts, 'audit' | 'outbox' | 'people'>;
type Context = JobContext<SchedulePorts>;

/**
 * State of the notice of a pause: `sending` while it is in the outbox, `waiting` while the app is not in the
 * workspace; in the end `told`, or `nobody` if no place took it.
 */
type NoticeState = 'sending' | 'waiting' | 'told' | 'nobody';

type AboutPause = { readonly id: string; readonly revision: number };

interface PauseViews<Item> {
  /** Why it is paused and what can be done. `others`: other people than its owner read it. */
  readonly renderPaused: (item: Item, reason: PauseReason, to: { readonly others: boolean }) => Message;
  /** For the owner: all that stopped when the app was removed. */
  readonly renderReinstalled: (items: readonly Item[], owner: { readonly hasKey: boolean }) => Message;
}

const withIds = (ids: readonly string[]) => sql<SqlBool>`id in (${sql.join(ids)})`;

/** How digests or alerts are paused by the bot, and how people hear of it. */
export function definePauses<Item extends Scheduled>(table: ScheduledTable<Item>, views: PauseViews<Item>) {
  const { noun, name } = table;

  /** Moves the notices of paused ones on. Returns those that were in that state, oldest first. */
  async function moveNotices(trx: Trx, which: Expression<SqlBool>, from: NoticeState, to: NoticeState) {
    const rows = await trx
      .updateTable(tableOf(table))
      .set({ pause_notice: to })
      .where('pause_notice', '=', from)
      .where('paused', 'is not', null)
      .where('deleted_at', 'is', null)
      .where(which)
      .returningAll()
      .execute();
    return rows.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime()).map(table.read);
  }

  const pauseNotice = defineMessage({
    kind: `${noun}-paused`,
    async render({ id, revision }: AboutPause, { db, place }: Context & { place: string }) {
      const item = await findScheduled(db, table, id);
      // Changed since: it runs again, or the change has a notice of its own.
      if (!item?.paused || item.deletedAt || item.revision !== revision) return undefined;
      return views.renderPaused(item, item.paused.reason, { others: place !== item.owner.userId });
    },
    async ended(trx, { about: { id, revision }, state, reason, code }, { log }: Context) {
      if (reason === 'withdrawn' || (await findScheduled(trx, table, id))?.revision !== revision) return;
      const to: NoticeState = state !== 'dead' ? 'told' : reason === 'app-gone' ? 'waiting' : 'nobody';
      await moveNotices(trx, withIds([id]), 'sending', to);
      if (to === 'nobody') log.error({ [noun]: id, code }, `nobody could be told that a ${noun} is paused`);
    },
  });

  /** Into the channel, else to the owner, else to the configured admins. */
  async function putPauseNotice(
    trx: Trx,
    { id, revision, channel, owner, paused }: Item,
    { outbox, people }: Omit<Tools, 'audit'>,
    again = '',
  ): Promise<void> {
    const owners = paused?.reason === 'owner-gone' ? [] : [owner.userId];
    await outbox.put(trx, {
      id: `${noun}-paused:${id}:${revision}${again}`,
      kind: pauseNotice,
      about: { id, revision },
      installation: owner,
      to: { places: [...new Set([channel, ...owners, ...people(owner).configuredAdmins])] },
      doubt: 'once',
    });
  }

  const reinstalledNotice = defineMessage({
    kind: `${name}-reinstalled`,
    async render({ ids }: { ids: readonly string[] }, { db, ports }: Context) {
      const found = await Promise.all(ids.map((id) => findScheduled(db, table, id)));
      const items = found.filter((item) => item?.paused?.reason === 'uninstalled' && !item.deletedAt);
      const [first] = items;
      if (!first) return undefined;
      const decision = await ports.authorizer(first.owner).decide('read', undefined);
      return views.renderReinstalled(items as Item[], { hasKey: decision.reason !== 'no-key' });
    },
    async ended(trx, { about: { ids }, state, reason }, { ports, now }: Context) {
      if (reason === 'withdrawn') return;
      if (state !== 'dead' || reason === 'app-gone') {
        await moveNotices(trx, withIds(ids), 'sending', state === 'dead' ? 'waiting' : 'told');
        return;
      }
      // Its owner cannot be reached: each is announced in its channel.
      for (const id of ids) {
        const item = await findScheduled(trx, table, id);
        if (item?.paused?.reason === 'uninstalled')
          await putPauseNotice(trx, item, ports, `:${now().toISOString()}`);
      }
    },
  });

  return {
    messages: [pauseNotice, reinstalledNotice],

    /**
     * Pauses one (with `revision`: unless it was changed meanwhile), all of a person, or all of a tenant, with its record and
     * one notice each. Returns what it paused.
     */
    async pause(
      trx: Trx,
      which:
        | { readonly id: string; readonly revision?: number }
        | { readonly tenant: string; readonly owner?: string },
      { reason, at }: { readonly reason: PauseReason; readonly at: Date },
      tools: Tools,
    ): Promise<Item[]> {
      const notice: NoticeState = reason === 'uninstalled' ? 'waiting' : 'sending';
      const rows = await trx
        .updateTable(tableOf(table))
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
      const paused = rows.map(table.read);
      for (const item of paused) {
        const { id: subject, tenant, owner, channel } = item;
        const detail = { reason, owner: owner.userId, channel };
        await tools.audit.record({ tenant, actor: 'system', event: `${noun}-paused`, subject, detail }, trx);
        // The app is not in the workspace, so nothing can be posted before it is back.
        if (notice === 'sending') await putPauseNotice(trx, item, tools);
      }
      return paused;
    },

    /**
     * The app is back in a workspace: each owner of what stopped with it gets one message about all of it; what was
     * paused for another reason gets its notice. Without a tenant: in every workspace that has the app again.
     */
    async announceReinstalled(tenant: string | undefined, { db, ports, now }: Context): Promise<void> {
      const which =
        tenant === undefined
          ? // The bot that serves one workspace stores no installation.
            sql<SqlBool>`(exists (select from installations i where i.tenant = ${sql.ref(`${name}.tenant`)})
              or not exists (select from installations))`
          : sql<SqlBool>`tenant = ${tenant}`;
      await db.transaction().execute(async (trx) => {
        const waiting = await moveNotices(trx, which, 'waiting', 'sending');
        const at = now().toISOString();
        const { uninstalled = [], others = [] } = Object.groupBy(waiting, ({ paused }) =>
          paused?.reason === 'uninstalled' ? 'uninstalled' : 'others',
        );
        const byOwner = Map.groupBy(uninstalled, ({ tenant, owner }) => `${tenant}:${owner.userId}`);
        for (const [key, items] of byOwner) {
          const { owner } = items[0] as Item;
          await ports.outbox.put(trx, {
            id: `${name}-reinstalled:${key}:${at}`,
            kind: reinstalledNotice,
            about: { ids: items.map(({ id }) => id) },
            installation: owner,
            to: { places: [owner.userId] },
            doubt: 'once',
          });
        }
        for (const item of others) await putPauseNotice(trx, item, ports, `:${at}`);
      });
    },
  };
}

export type Pauses<Item extends Scheduled> = ReturnType<typeof definePauses<Item>>;
