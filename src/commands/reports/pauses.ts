import { type SqlBool, sql } from 'kysely';
import { ApiError } from '../../api/http/errors.ts';
import { isTransient } from '../../api/http/request.ts';
import { LinkedKeyError } from '../../auth/keys/key-store.ts';
import type { OffboardingHook } from '../../auth/offboarding.ts';
import { assertKnown, RolesUnknown } from '../../auth/policy/authorizer.ts';
import { decideDestination, type Reason } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { isPlaceCode } from '../../outbox/classify-failure.ts';
import { defineMessage, type Ended } from '../../outbox/outbox.ts';
import type { Trx } from '../../store/schema.ts';
import { renderPaused } from '../../views/reports/card.ts';
import type { PauseReason, Report } from '../../views/reports/report.ts';
import {
  editOpenIncidents,
  findReport,
  type ReportContext,
  type ReportOptions,
  type ReportPorts,
  readReport,
} from './store.ts';

type Tools = Pick<ReportPorts, 'audit' | 'outbox' | 'people'>;

/** Nothing can be posted while the app is not in the workspace. */
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
    return renderPaused(report, { others: place !== report.owner.userId });
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

/** Pauses one report (with `revision`: unless it was changed), all of a person, or all of a tenant, and announces each once. */
export async function pauseReports(
  trx: Trx,
  which:
    | { readonly id: string; readonly revision?: number }
    | { readonly tenant: string; readonly owner?: string },
  reason: PauseReason,
  tools: Tools,
): Promise<void> {
  const isAppGone = reason === 'uninstalled';
  const rows = await trx
    .updateTable('reports')
    .set({
      paused: reason,
      paused_by: null,
      pause_notice: isAppGone ? waiting : null,
      next_due: null,
      revision: sql<number>`revision + 1`,
    })
    .where((row) => row.and({ ...which }))
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .returningAll()
    .execute();
  for (const report of rows.map(readReport)) {
    const { id: subject, tenant, owner, channel, kind } = report;
    const detail = { reason, owner: owner.userId, channel };
    await tools.audit.record({ tenant, actor: 'system', event: `${kind}-paused`, subject, detail }, trx);
    const begun = trx.updateTable('report_runs').set({ state: 'failed' }).where('report_id', '=', subject);
    await begun.where('state', 'in', ['due', 'collecting']).execute();
    if (!isAppGone) await putPauseNotice(trx, report, tools);
  }
}

/** One that was changed since is not the one that failed. */
export async function pauseReport(
  { id, revision, kind }: Report,
  reason: PauseReason,
  { db, ports, log }: ReportContext,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await pauseReports(trx, { id, revision }, reason, ports);
    await editOpenIncidents(trx, id, ports.outbox);
  });
  log.warn({ [kind]: id, reason }, `${kind} paused`);
}

/** Pauses what belongs to a person or a tenant whose keys are gone. */
export function createPauseHook(options: ReportOptions): OffboardingHook {
  return async ({ person, tenant }) => {
    const which = person ? { tenant, owner: person.userId } : { tenant };
    const reason = person ? 'owner-gone' : 'uninstalled';
    await options.db.transaction().execute((trx) => pauseReports(trx, which, reason, options));
  };
}

/** Where the app is back in a workspace, what is paused is announced, each once. */
export async function announceReinstalled({ db, ports, now }: ReportContext): Promise<void> {
  const isInstalled = sql<SqlBool>`(exists (select from installations i where i.tenant = reports.tenant)
    or not exists (select from installations))`;
  await db.transaction().execute(async (trx) => {
    const announced = await trx
      .updateTable('reports')
      .set({ pause_notice: null })
      .where('pause_notice', '=', waiting)
      .where('paused', 'is not', null)
      .where('deleted_at', 'is', null)
      .where(isInstalled)
      .returningAll()
      .execute();
    for (const row of announced) await putPauseNotice(trx, readReport(row), ports, `:${now().toISOString()}`);
  });
}

/** Also under the name that 0.1.0 has put into the outbox. */
export const pauseMessages = [pauseNotice, { ...pauseNotice, kind: 'digest-paused' }];

/** Why a report may not run now: a right may be gone since it was created. Refusals are counted. */
export async function findRefusal(
  { owner, channel }: Pick<Report, 'owner' | 'channel'>,
  ports: Pick<ReportPorts, 'authorizer' | 'refused' | 'isSharedOutside'>,
  signal: AbortSignal,
): Promise<PauseReason | undefined> {
  const authorizer = ports.authorizer(owner);
  // Who the owner is may be known for some minutes: a thousand may be due.
  const policy = await authorizer.policy({ fresh: true });
  const isOwn = channel === owner.userId;
  const read = assertKnown(await authorizer.decide('read', isOwn ? undefined : channel));
  const { allowed, reason } = read.allowed && !isOwn ? decideDestination(policy, 'digest', channel) : read;
  if (!allowed) {
    ports.refused(reason);
    return refusals[reason] ?? 'right-lost';
  }
  return !isOwn && (await ports.isSharedOutside(owner, channel, signal)) ? 'channel-shared' : undefined;
}

const refusals: Readonly<Partial<Record<Reason, PauseReason>>> = {
  'no-key': 'key-missing',
  deactivated: 'owner-gone',
  'other-channel': 'channel-not-allowed',
};

/** Why a report pauses whose message ended like this; undefined where it goes on. `code`: of the first place. */
export function findLostPlace({
  reason,
  code = '',
}: Pick<Ended<unknown>, 'reason' | 'code'>): PauseReason | undefined {
  if (reason === 'app-gone') return 'uninstalled';
  return isPlaceCode(code) ? (lostPlaces[code] ?? 'channel-gone') : undefined;
}

const lostPlaces: Readonly<Record<string, PauseReason>> = {
  not_in_channel: 'bot-removed',
  is_archived: 'channel-archived',
  channel_is_archived: 'channel-archived',
  restricted_action: 'channel-not-allowed',
  restricted_action_read_only_channel: 'channel-not-allowed',
};

/** A reason to pause; `passes` where another attempt may succeed; undefined where it would end the same. */
export function classifyCdnFailure(
  error: unknown,
): PauseReason | { readonly passes: true; readonly retryAfterMs: number } | undefined {
  if (error instanceof LinkedKeyError) return 'key-missing';
  if (error instanceof UserError && error.offer === 'connect') return 'key-missing';
  const asked = error instanceof ApiError ? error : undefined;
  if (asked?.code === 'key_refused') return 'key-refused';
  const passes = asked ? isTransient(asked) || asked.code === 'cancelled' : error instanceof RolesUnknown;
  return passes ? { passes, retryAfterMs: (asked?.retryAfterSeconds ?? 0) * 1000 } : undefined;
}
