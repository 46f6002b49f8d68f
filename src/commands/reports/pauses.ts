import { type SqlBool, sql } from 'kysely';
import type { OffboardingHook } from '../../auth/offboarding.ts';
import { defineMessage } from '../../outbox/outbox.ts';
import type { Trx } from '../../store/schema.ts';
import { renderPaused } from '../../views/reports/card.ts';
import type { PauseReason, Report } from '../../views/reports/report.ts';
import { deletePlannedRuns } from './digests/runs.ts';
import type { ReportContext, ReportOptions, ReportPorts } from './model.ts';
import { findReport, readReport } from './table.ts';

type Tools = Pick<ReportPorts, 'audit' | 'outbox' | 'people'>;

/** The notice of a pause waits while the app is not in the workspace: nothing can be posted before it is back. */
const waiting = 'waiting';

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
    if (reason === 'app-gone')
      await trx.updateTable('reports').set({ pause_notice: waiting }).where('id', '=', id).execute();
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
 * The app is back in a workspace: what is paused is announced, each once. Without a tenant: in every workspace that has the
 * app again.
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
    const announced = await trx
      .updateTable('reports')
      .set({ pause_notice: null })
      .where('pause_notice', '=', waiting)
      .where('paused', 'is not', null)
      .where('deleted_at', 'is', null)
      .where(which)
      .returningAll()
      .execute();
    for (const row of announced) await putPauseNotice(trx, readReport(row), ports, `:${now().toISOString()}`);
  });
}

/** Also under the name that 0.1.0 has put into the outbox. */
export const pauseMessages = [pauseNotice, { ...pauseNotice, kind: 'digest-paused' }];
