import { type Expression, type SqlBool, sql } from 'kysely';
import type { OffboardingHook } from '../../auth/offboarding.ts';
import { defineMessage } from '../../outbox/outbox.ts';
import type { Trx } from '../../store/schema.ts';
import { renderPaused, renderReinstalled } from '../../views/reports/card.ts';
import { deletePlannedRuns } from './digests/runs.ts';
import type { PauseReason, Report, ReportContext, ReportOptions, ReportPorts } from './model.ts';
import { findReport, readReport } from './table.ts';

type Tools = Pick<ReportPorts, 'audit' | 'outbox' | 'people'>;

/** The notice of a pause waits while the app is not in the workspace: nothing can be posted before it is back. */
const waiting = 'waiting';

/** Sets or clears the mark of those that are paused. */
function markNotices(trx: Trx, which: Expression<SqlBool>, to: typeof waiting | null) {
  return trx
    .updateTable('reports')
    .set({ pause_notice: to })
    .where('paused', 'is not', null)
    .where('deleted_at', 'is', null)
    .where(which);
}

const withIds = (ids: readonly string[]) => sql<SqlBool>`id in (${sql.join(ids)})`;

const pauseNotice = defineMessage({
  kind: 'report-paused',
  async render(
    { id, revision }: { readonly id: string; readonly revision: number },
    { db, place }: ReportContext & { readonly place: string },
  ) {
    const report = await findReport(db, id);
    // Changed since: it runs again, or the change has its own notice.
    if (!report?.paused || report.deletedAt || report.revision !== revision) return undefined;
    return renderPaused(report, report.paused.reason, { others: place !== report.owner.userId });
  },
  async ended(trx, { about: { id, revision }, state, reason, code }, { log }: ReportContext) {
    if (state !== 'dead' || reason === 'withdrawn') return;
    const report = await findReport(trx, id);
    if (report?.revision !== revision) return;
    if (reason === 'app-gone') await markNotices(trx, withIds([id]), waiting).execute();
    else log.error({ [report.kind]: id, code }, 'nobody could be told that a report is paused');
  },
});

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
    return renderReinstalled(reports, { hasKey: decision.reason !== 'no-key' });
  },
  async ended(trx, { about: { ids }, state, reason }, { ports, now }: ReportContext) {
    if (state !== 'dead' || reason === 'withdrawn') return;
    if (reason === 'app-gone') {
      await markNotices(trx, withIds(ids), waiting).execute();
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
  const isAppGone = reason === 'uninstalled';
  const rows = await trx
    .updateTable('reports')
    .set({
      paused: reason,
      paused_by: null,
      paused_at: at,
      pause_notice: isAppGone ? waiting : null,
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
    if (!isAppGone) await putPauseNotice(trx, report, tools);
  }
  return paused;
}

/** Pauses what belongs to a person or a tenant whose keys are gone. */
export function createPauseHook(options: ReportOptions): OffboardingHook {
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
    const rows = await markNotices(trx, which, null)
      .where('pause_notice', '=', waiting)
      .returningAll()
      .execute();
    const sorted = rows.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime());
    const at = now().toISOString();
    const byOwner = Map.groupBy(sorted.map(readReport), ({ kind, tenant, owner, paused }) =>
      paused?.reason === 'uninstalled' ? `${kind}:${tenant}:${owner.userId}` : undefined,
    );
    for (const [key, reports] of byOwner) {
      const [first] = reports;
      if (key === undefined || !first) {
        for (const report of reports) await putPauseNotice(trx, report, ports, `:${at}`);
        continue;
      }
      await ports.outbox.put(trx, {
        id: `reports-reinstalled:${key}:${at}`,
        kind: reinstalledNotice,
        about: { ids: reports.map(({ id }) => id) },
        installation: first.owner,
        to: { places: [first.owner.userId] },
        doubt: 'once',
      });
    }
  });
}

/** Also under the names that 0.1.0 has put into the outbox. */
export const pauseMessages = [
  pauseNotice,
  { ...pauseNotice, kind: 'digest-paused' },
  reinstalledNotice,
  { ...reinstalledNotice, kind: 'digests-reinstalled' },
];
