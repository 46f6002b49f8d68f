import { type SqlBool, sql, type Updateable } from 'kysely';
import { ApiError } from '../../api/http/errors.ts';
import { isTransient } from '../../api/http/request.ts';
import type { Person } from '../../auth/identity.ts';
import { LinkedKeyError } from '../../auth/keys/key-store.ts';
import type { OffboardingHook } from '../../auth/offboarding.ts';
import { assertKnown, RolesUnknown } from '../../auth/policy/authorizer.ts';
import { decideDestination, type Reason } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { dayMs, minuteMs } from '../../lib/time.ts';
import { defineMessage, type Ended, type Outbox } from '../../outbox/outbox.ts';
import { readCode } from '../../outbox/slack-port.ts';
import type { Schema, Trx } from '../../store/schema.ts';
import { renderDone, renderPaused } from '../../views/reports/card.ts';
import {
  type Alert,
  type Digest,
  type Incident,
  type IncidentFigures,
  isAlert,
  type Order,
  type PauseReason,
  type Report,
  type ReportKind,
} from '../../views/reports/report.ts';
import {
  type DigestPast,
  editIncident,
  editOpenIncidents,
  enqueueNext,
  enqueueRun,
  findFreeId,
  findIncident,
  findNextDue,
  findOpenIncidents,
  findReport,
  insertRun,
  loadPast,
  moveRun,
  orderColumns,
  ownerColumns,
  type ReportContext,
  type ReportOptions,
  type ReportPorts,
  type RunRow,
  readIncident,
  readReport,
  writeBody,
} from './store.ts';

export const undoMinutes = 15;

type Event = 'created' | 'changed' | 'paused' | 'taken-over' | 'deleted';

export type ReportService = ReturnType<typeof createReports>;

/**
 * What commands do with digests and alerts. They decide permissions; every change is audited in its transaction.
 * @throws UserError where another change of the same one came first.
 */
export function createReports(options: ReportOptions) {
  const { db, audit, enqueue, now, outbox } = options;

  async function recordAndPlan(
    trx: Trx,
    report: Report,
    by: Person,
    event: Event,
    detail: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { id: subject, kind, tenant } = report;
    await audit.record({ tenant, actor: by.userId, event: `${kind}-${event}`, subject, detail }, trx);
    await enqueueNext(enqueue, report, trx);
  }

  const change = <R extends Report>(
    before: R,
    by: Person,
    event: Event,
    changes: Updateable<Schema['reports']>,
    detail: Readonly<Record<string, string>> = {},
    tell?: (trx: Trx, report: Report) => Promise<unknown>,
  ): Promise<R> =>
    db.transaction().execute(async (trx) => {
      const { id, kind, revision } = before;
      const current = trx.selectFrom('reports').where((row) => row.and({ id, revision }));
      if (!(await current.select('id').forUpdate().executeTakeFirst())) throw createChangedError(kind);
      const row = await trx
        .updateTable('reports')
        .set({ ...changes, failures: 0, revision: revision + 1 })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      const report = readReport(row);
      await recordAndPlan(trx, report, by, event, detail);
      await tell?.(trx, report);
      if (isAlert(report)) await adaptIncidents(trx, report, before, { outbox, now: now() });
      return report as R;
    });
  const running = (order: Order) => ({
    paused: null,
    paused_by: null,
    pause_notice: null,
    next_due: findNextDue(order, now()),
  });
  return {
    ...createDigestWork(options),
    ...createAlertWork(options),
    /** For a new one, since its channel is notified before it runs. */
    newId: (): Promise<string> => findFreeId(db),
    create: (owner: Person, order: Order, id?: string): Promise<Report> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .insertInto('reports')
          .values({
            id: id ?? (await findFreeId(trx)),
            kind: 'schedule' in order ? 'digest' : 'alert',
            ...ownerColumns(owner),
            ...orderColumns(order),
            revision: 1,
            failures: 0,
            created_at: now(),
            next_due: findNextDue(order, now()),
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        const report = readReport(row);
        await recordAndPlan(trx, report, owner, 'created', describe(order));
        return report;
      }),
    /** Deleted ones too, as long as their deletion can be undone. */
    async find(tenant: string, id: string): Promise<Report | undefined> {
      const report = await findReport(db, id);
      return report?.tenant === tenant ? report : undefined;
    },
    async list(tenant: string): Promise<Report[]> {
      const rows = await db
        .selectFrom('reports')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('deleted_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(readReport);
    },
    /** The person becomes its owner: it shows what their key can read. One that the bot paused runs again. */
    change<R extends Report>(report: R, order: Order, by: Person) {
      const goesOn = report.paused?.reason === 'by-hand' ? {} : running(order);
      const changes = { ...ownerColumns(by), ...orderColumns(order), ...goesOn };
      return change(report, by, 'changed', changes, describe(order));
    },
    pause<R extends Report>(report: R, by: Person) {
      const changes = { paused: 'by-hand', paused_by: by.userId, pause_notice: null, next_due: null };
      return change(report, by, 'paused', changes);
    },
    resume: <R extends Report>(report: R, by: Person) =>
      change(report, by, 'changed', running(report), { resumed: 'yes' }),
    /** `isSeen`: its channel reads it already. */
    takeOver<R extends Report>(report: R, by: Person, isSeen = false) {
      const changes = { ...running(report), ...ownerColumns(by) };
      const from = report.owner.userId;
      const tell = (trx: Trx, { id, revision, channel }: Report) =>
        outbox.put(trx, {
          id: `report-taken-over:${id}:${revision}`,
          kind: takenOverNotice,
          about: { id, by: by.userId },
          installation: by,
          to: { places: [...new Set([channel, from])] },
          doubt: 'once',
        });
      return change(report, by, 'taken-over', changes, { from }, isSeen ? undefined : tell);
    },
    delete: <R extends Report>(report: R, by: Person) =>
      change(report, by, 'deleted', { deleted_at: now(), next_due: null }),
    /** Undoes a deletion; undefined where it is too late. */
    async restore<R extends Report>(report: R, by: Person): Promise<R | undefined> {
      const { deletedAt, paused } = report;
      if (!deletedAt || now().getTime() - deletedAt.getTime() > undoMinutes * minuteMs) return undefined;
      const changes = { ...(paused ? {} : running(report)), deleted_at: null };
      return change(report, by, 'changed', changes, { restored: 'yes' });
    },
  };
}

export function createChangedError(kind: ReportKind): UserError {
  return new UserError(
    `Somebody changed this ${kind} a moment ago, so your changes were not saved.`,
    `See \`/cdn ${kind} list\` and try again.`,
  );
}

function describe({ channel, ...order }: Order): Readonly<Record<string, string>> {
  return 'schedule' in order
    ? { channel, kinds: order.subject.kinds.map(({ name }) => name).join(' ') }
    : { channel, condition: order.subject.condition.name };
}

function createAlertWork({ db, audit, enqueue, now, outbox }: ReportOptions) {
  return {
    /** What is open, or ended today, oldest first. `isUntold`: no place took its newest message. */
    async listRecentIncidents(tenant: string): Promise<(Incident & { readonly isUntold: boolean })[]> {
      const rows = await db
        .selectFrom('report_incidents')
        .innerJoin('reports', 'reports.id', 'report_id')
        .leftJoin('outbox', 'outbox.id', 'report_incidents.message')
        .selectAll('report_incidents')
        .select('outbox.state as message_state')
        .where('reports.tenant', '=', tenant)
        .where('reports.deleted_at', 'is', null)
        .where((is) =>
          is.or([is('closed_at', 'is', null), is('closed_at', '>', new Date(now().getTime() - dayMs))]),
        )
        .orderBy('opened_at')
        .execute();
      return rows.map(({ message_state: state, ...row }) => ({
        ...readIncident(row),
        isUntold: state === 'dead' || state === 'unknown',
      }));
    },
    async listIncidents(alertId: string): Promise<Incident[]> {
      const rows = await db
        .selectFrom('report_incidents')
        .selectAll()
        .where('report_id', '=', alertId)
        .orderBy('opened_at', 'desc')
        .limit(20)
        .execute();
      return rows.map(readIncident);
    },
    findIncident: (id: string): Promise<Incident | undefined> => findIncident(db, id),
    /** Takes an incident on, or takes that back. Undefined where it is over or somebody was faster: the incident tells who. */
    acknowledge: (
      incident: Incident,
      { id, tenant }: Alert,
      by: Person,
      isUndone = false,
    ): Promise<Incident | undefined> =>
      db.transaction().execute(async (trx) => {
        const [before, after] = isUndone ? [by.userId, null] : [null, by.userId];
        const row = await trx
          .updateTable('report_incidents')
          .set({ acknowledged_by: after, acknowledged_at: isUndone ? null : now() })
          .where('id', '=', incident.id)
          .where('closed_at', 'is', null)
          .where('acknowledged_by', 'is not distinct from', before)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
        const record = { tenant, actor: by.userId, event: 'alert-acknowledged', subject: id } as const;
        const detail = { incident: incident.id, ...(isUndone && { undone: 'yes' }) };
        await audit.record({ ...record, detail }, trx);
        await editIncident(trx, incident, outbox);
        return readIncident(row);
      }),
    /** It goes on checking. `until` undefined = ends the snooze. */
    snooze: ({ id, tenant }: Alert, until: Date | undefined, by: Person): Promise<Alert> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('reports')
          .set({ snoozed_until: until ?? null, snoozed_by: until ? by.userId : null })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow();
        const record = { tenant, actor: by.userId, event: 'alert-snoozed', subject: id } as const;
        await audit.record({ ...record, detail: { until: until?.toISOString() ?? 'now' } }, trx);
        await editOpenIncidents(trx, id, outbox);
        return readReport(row) as Alert;
      }),
    /** Whatever its hours; not while it is paused. */
    checkNow: (alert: Alert): Promise<void> =>
      db.transaction().execute(async (trx) => {
        const due = trx.updateTable('reports').set({ next_due: now() }).where('id', '=', alert.id);
        await due.where('next_due', 'is not', null).execute();
        await enqueueNext(enqueue, alert, trx, { now: now() });
      }),
  };
}

const doublePressMs = 5_000;

function createDigestWork({ db, enqueue, now }: ReportOptions) {
  return {
    /** How the last run of each digest of a tenant ended or goes. */
    async listLastRuns(tenant: string) {
      const runs = await db
        .selectFrom('report_runs')
        .innerJoin('reports', 'reports.id', 'report_id')
        .distinctOn('report_id')
        .select(['report_id', 'due', 'report_runs.state'])
        .where('tenant', '=', tenant)
        .where('report_runs.state', 'not in', ['due', 'cancelled'])
        .orderBy('report_id')
        .orderBy('due', 'desc')
        .execute();
      return new Map(runs.map((run) => [run.report_id, run]));
    },
    loadPast: ({ id }: Digest): Promise<DigestPast> => loadPast(db, id, now()),
    /** Runs at once. False where a run is on its way already, or the same person asked a moment ago. */
    runNow({ id }: Digest, { userId }: Person): Promise<boolean> {
      const due = now();
      const since = new Date(due.getTime() - doublePressMs);
      return db.transaction().execute(async (trx) => {
        // Simultaneous requests wait for each other.
        await trx.selectFrom('reports').select('id').where('id', '=', id).forUpdate().execute();
        const underWay = await trx
          .selectFrom('report_runs')
          .select('due')
          .where('report_id', '=', id)
          .where(
            sql<SqlBool>`(state in ('collecting', 'sending')
              or state = 'due' and (by_hand is not null or run_at <= ${due}::timestamptz)
              or state = 'sent' and by_hand = ${userId} and due > ${since}::timestamptz)`,
          )
          .executeTakeFirst();
        if (underWay) return false;
        await insertRun(trx, { report_id: id, due, by_hand: userId });
        await enqueueRun(enqueue, { report_id: id, due }, { in: trx });
        return true;
      });
    },
  };
}

async function adaptIncidents(
  trx: Trx,
  { id, owner, subject, deletedAt }: Alert,
  before: Report,
  { outbox, now }: { readonly outbox: Outbox; readonly now: Date },
): Promise<void> {
  const { subject: left } = before as Alert;
  const isOther = describeScope(subject) !== describeScope(left);
  // A memory of another subject, or read with another key, would be taken for a change.
  if (isOther || owner.userId !== before.owner.userId)
    await trx.updateTable('reports').set({ state: null, checked_at: null }).where('id', '=', id).execute();
  if (!isOther && !deletedAt) return editOpenIncidents(trx, id, outbox);
  // Whether they are over stays unknown.
  for (const incident of Object.values(await findOpenIncidents(trx, id))) {
    const figures = writeBody({ ...incident.figures, left } satisfies IncidentFigures);
    const row = trx.updateTable('report_incidents').set({ closed_at: now, figures });
    await row.where('id', '=', incident.id).execute();
    await editIncident(trx, incident, outbox);
  }
}

/** What decides whether it fires. */
function describeScope({ condition, threshold, window, targets }: Alert['subject']): string {
  return [condition.name, threshold, window, ...targets.toSorted()].join(' ');
}

type Tools = Pick<ReportPorts, 'audit' | 'outbox' | 'people'>;

/** The notice of a pause waits for the hourly repair: the app is not in the workspace, or Slack took nothing for a day. */
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
    if (state === 'sent' || reason === 'withdrawn') return;
    const report = await findReport(trx, id);
    if (report?.revision !== revision) return;
    if (state === 'unknown' || reason === 'app-gone' || reason === 'expired' || code === 'put_aside')
      await trx.updateTable('reports').set({ pause_notice: waiting }).where('id', '=', id).execute();
    else log.error({ [report.kind]: id, code }, 'nobody could be told that a report is paused');
  },
});

const takenOverNotice = defineMessage({
  kind: 'report-taken-over',
  async render({ id, by }: { readonly id: string; readonly by: string }, { db, now }: ReportContext) {
    const report = await findReport(db, id);
    return report?.owner.userId === by ? renderDone(report, now(), 'taken over') : undefined;
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
  // Other organizations would read it.
  const channels = paused?.reason === 'channel-shared' ? [] : [channel];
  await outbox.put(trx, {
    id: `report-paused:${id}:${revision}${again}`,
    kind: pauseNotice,
    about: { id, revision },
    installation: owner,
    to: { places: [...new Set([...channels, ...owners, ...people(owner).configuredAdmins])] },
    doubt: 'retry',
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

/** One that was changed since is not the one that failed. The run ends in any case: one by hand may be of a paused digest. */
export async function pauseReport(
  { id, revision, kind }: Report,
  reason: PauseReason,
  { db, ports, log, run }: ReportContext & { readonly run?: RunRow },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (run) await moveRun(trx, run, 'collecting', 'failed');
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
      .where(isInstalled)
      .returningAll()
      .execute();
    for (const row of announced) await putPauseNotice(trx, readReport(row), ports, `:${now().toISOString()}`);
  });
}

/** Also under the name that 0.1.0 has put into the outbox. */
export const pauseMessages = [takenOverNotice, pauseNotice, { ...pauseNotice, kind: 'digest-paused' }];

const audienceKnownMs = 10 * minuteMs;

/** Why a report may not run now: a right may be gone since it was created. Refusals are counted. */
export async function findRefusal(
  { owner, channel }: Pick<Report, 'owner' | 'channel'>,
  ports: Pick<ReportPorts, 'authorizer' | 'refused' | 'readAudience'>,
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
  // What posts there asks again; where Slack does not say it, a check goes on and its message waits.
  const audience = isOwn || (await ports.readAudience(owner, channel, { signal, knownMs: audienceKnownMs }));
  return audience === 'others' ? 'channel-shared' : undefined;
}

const refusals: Readonly<Partial<Record<Reason, PauseReason>>> = {
  'no-key': 'key-missing',
  deactivated: 'owner-gone',
  foreign: 'owner-gone',
  'other-channel': 'channel-not-allowed',
};

/** Why a report pauses whose message ended like this; undefined where it goes on. `code`: of the first place. */
export function findLostPlace({
  reason,
  code = '',
}: Pick<Ended<unknown>, 'reason' | 'code'>): PauseReason | undefined {
  if (reason === 'app-gone') return 'uninstalled';
  if (readCode(code) !== 'place') return undefined;
  if (/^(?:restricted_action|posting_to_|slack_connect_)/u.test(code)) return 'channel-not-allowed';
  return lostPlaces[code] ?? 'channel-gone';
}

const lostPlaces: Readonly<Record<string, PauseReason>> = {
  not_in_channel: 'bot-removed',
  channel_shared: 'channel-shared',
  is_archived: 'channel-archived',
  channel_is_archived: 'channel-archived',
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
