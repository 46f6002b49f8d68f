import { type Expression, type SqlBool, sql } from 'kysely';
import type { OffboardingHook } from '../../auth/offboarding.ts';
import { defineMessage } from '../../outbox/outbox.ts';
import type { Trx } from '../../store/schema.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { alertCard, digestCard } from '../../views/reports/card.ts';
import { deletePlannedRuns } from './digests/runs.ts';
import type { LifeOptions } from './life.ts';
import type { PauseReason, Report, ReportContext, ReportPorts } from './model.ts';
import { findReport, isAlert, isDigest, readReport } from './table.ts';

type Tools = Pick<ReportPorts, 'audit' | 'outbox' | 'people'>;

/**
 * State of the notice of a pause: `sending` while it is in the outbox, `waiting` while the app is not in the
 * workspace; in the end `told`, or `nobody` if no place took it.
 */
type NoticeState = 'sending' | 'waiting' | 'told' | 'nobody';

const withIds = (ids: readonly string[]) => sql<SqlBool>`id in (${sql.join(ids)})`;

/** Moves the notices of paused ones on. Returns those that were in that state, oldest first. */
async function moveNotices(
  trx: Trx,
  which: Expression<SqlBool>,
  from: NoticeState,
  to: NoticeState,
): Promise<Report[]> {
  const rows = await trx
    .updateTable('reports')
    .set({ pause_notice: to })
    .where('pause_notice', '=', from)
    .where('paused', 'is not', null)
    .where('deleted_at', 'is', null)
    .where(which)
    .returningAll()
    .execute();
  return rows.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime()).map(readReport);
}

const pauseNotice = defineMessage({
  kind: 'report-paused',
  async render(
    { id, revision }: { readonly id: string; readonly revision: number },
    { db, place }: ReportContext & { readonly place: string },
  ) {
    const report = await findReport(db, id);
    // Changed since: it runs again, or the change has a notice of its own.
    if (!report?.paused || report.deletedAt || report.revision !== revision) return undefined;
    return renderPaused(report, report.paused.reason, { others: place !== report.owner.userId });
  },
  async ended(trx, { about: { id, revision }, state, reason, code }, { log }: ReportContext) {
    const report = await findReport(trx, id);
    if (reason === 'withdrawn' || report?.revision !== revision) return;
    const to: NoticeState = state !== 'dead' ? 'told' : reason === 'app-gone' ? 'waiting' : 'nobody';
    await moveNotices(trx, withIds([id]), 'sending', to);
    if (to === 'nobody')
      log.error({ [report.kind]: id, code }, `nobody could be told that ${nouns[report.kind]} is paused`);
  },
});

const nouns = { digest: 'a digest', alert: 'an alert' } as const;

function renderPaused(report: Report, reason: PauseReason, to: { readonly others: boolean }): Message {
  return isDigest(report)
    ? digestCard.renderPaused(report, reason, to)
    : alertCard.renderPaused(report, reason, to);
}

/** Into the channel, else to the owner, else to the configured admins. */
async function putPauseNotice(
  trx: Trx,
  { id, revision, channel, owner, paused }: Report,
  { outbox, people }: Omit<Tools, 'audit'>,
  again = '',
): Promise<void> {
  const owners = paused?.reason === 'owner-gone' ? [] : [owner.userId];
  // Other organisations would read it.
  const channels = paused?.reason === 'channel-shared' ? [] : [channel];
  await outbox.put(trx, {
    id: `report-paused:${id}:${revision}${again}`,
    kind: pauseNotice,
    about: { id, revision },
    installation: owner,
    to: { places: [...new Set([...channels, ...owners, ...people(owner).configuredAdmins])] },
    doubt: 'once',
  });
}

const reinstalledNotice = defineMessage({
  kind: 'reports-reinstalled',
  /** Of one kind: digests or alerts. */
  async render({ ids }: { readonly ids: readonly string[] }, { db, ports }: ReportContext) {
    const found = await Promise.all(ids.map((id) => findReport(db, id)));
    const reports = found.filter(
      (report) => report?.paused?.reason === 'uninstalled' && !report.deletedAt,
    ) as Report[];
    const [first] = reports;
    if (!first) return undefined;
    const decision = await ports.authorizer(first.owner).decide('read', undefined);
    const about = { hasKey: decision.reason !== 'no-key' };
    const digests = reports.filter(isDigest);
    return digests.length > 0
      ? digestCard.renderReinstalled(digests, about)
      : alertCard.renderReinstalled(reports.filter(isAlert), about);
  },
  async ended(trx, { about: { ids }, state, reason }, { ports, now }: ReportContext) {
    if (reason === 'withdrawn') return;
    if (state !== 'dead' || reason === 'app-gone') {
      await moveNotices(trx, withIds(ids), 'sending', state === 'dead' ? 'waiting' : 'told');
      return;
    }
    // Its owner cannot be reached: each is announced in its channel.
    for (const id of ids) {
      const report = await findReport(trx, id);
      if (report?.paused?.reason === 'uninstalled')
        await putPauseNotice(trx, report, ports, `:${now().toISOString()}`);
    }
  },
});

/**
 * Pauses one report (with `revision`: unless it was changed meanwhile), all of a person, or all of a tenant, with its record and
 * one notice each. Returns what it paused.
 */
export async function pauseReports(
  trx: Trx,
  which:
    | { readonly id: string; readonly revision?: number }
    | { readonly tenant: string; readonly owner?: string },
  { reason, at }: { readonly reason: PauseReason; readonly at: Date },
  tools: Tools,
): Promise<Report[]> {
  const notice: NoticeState = reason === 'uninstalled' ? 'waiting' : 'sending';
  const rows = await trx
    .updateTable('reports')
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
  const paused = rows.map(readReport);
  for (const report of paused) {
    const { id: subject, tenant, owner, channel, kind } = report;
    const detail = { reason, owner: owner.userId, channel };
    await tools.audit.record({ tenant, actor: 'system', event: `${kind}-paused`, subject, detail }, trx);
    // The app is not in the workspace, so nothing can be posted before it is back.
    if (notice === 'sending') await putPauseNotice(trx, report, tools);
  }
  return paused;
}

/** Pauses what belongs to a person or a tenant whose keys are gone. */
export function createPauseHook(options: LifeOptions): OffboardingHook {
  const { db, now } = options;
  return async ({ person, tenant }) => {
    const which = person ? { tenant, owner: person.userId } : { tenant };
    const pause = { reason: person ? 'owner-gone' : 'uninstalled', at: now() } as const;
    await db.transaction().execute(async (trx) => {
      const paused = await pauseReports(trx, which, pause, options);
      await deletePlannedRuns(
        trx,
        paused.map(({ id }) => id),
      );
    });
  };
}

/**
 * The app is back in a workspace: each owner of what stopped with it gets one message about all digests and one about all
 * alerts; what was paused for another reason gets its notice. Without a tenant: in every workspace that has the app again.
 */
export async function announceReinstalled(
  tenant: string | undefined,
  { db, ports, now }: ReportContext,
): Promise<void> {
  const which =
    tenant === undefined
      ? // The bot that serves one workspace stores no installation.
        sql<SqlBool>`(exists (select from installations i where i.tenant = reports.tenant)
          or not exists (select from installations))`
      : sql<SqlBool>`tenant = ${tenant}`;
  await db.transaction().execute(async (trx) => {
    const waiting = await moveNotices(trx, which, 'waiting', 'sending');
    const at = now().toISOString();
    const { uninstalled = [], others = [] } = Object.groupBy(waiting, ({ paused }) =>
      paused?.reason === 'uninstalled' ? 'uninstalled' : 'others',
    );
    const byOwner = Map.groupBy(
      uninstalled,
      ({ kind, tenant, owner }) => `${kind}:${tenant}:${owner.userId}`,
    );
    for (const [key, reports] of byOwner) {
      const { owner } = reports[0] as Report;
      await ports.outbox.put(trx, {
        id: `reports-reinstalled:${key}:${at}`,
        kind: reinstalledNotice,
        about: { ids: reports.map(({ id }) => id) },
        installation: owner,
        to: { places: [owner.userId] },
        doubt: 'once',
      });
    }
    for (const report of others) await putPauseNotice(trx, report, ports, `:${at}`);
  });
}

/** Their messages, also under the names that the version before has put into the outbox. */
export const pauseMessages = [
  pauseNotice,
  ...['digest-paused', 'watch-paused'].map((kind) => ({ ...pauseNotice, kind })),
  reinstalledNotice,
  ...['digests-reinstalled', 'watches-reinstalled'].map((kind) => ({ ...reinstalledNotice, kind })),
];
