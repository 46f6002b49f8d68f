import type { Updateable } from 'kysely';
import { dayMs, hourMs, minuteMs } from '../../../lib/time.ts';
import type { Schema, Trx } from '../../../store/schema.ts';
import type { Change } from '../../../views/reports/alerts/incident.ts';
import type { Alert, AlertState, Incident, IncidentFigures, ReportContext } from '../model.ts';
import { findNextRun } from '../schedule.ts';
import { findOpenIncidents, findUntoldIncidents, readIncident, readReport } from '../table.ts';
import type { Observation } from './conditions/condition.ts';
import { findCondition } from './conditions/list.ts';
import { findNextLook } from './hours.ts';
import { advance, type Step } from './incidents.ts';
import { editIncident, postHeartbeat, replyToIncident, showIncident } from './messages.ts';

/** Why a check failed, in words, with the reference that is in the log. */
type Failed = NonNullable<IncidentFigures['failure']>;

/** Failed checks after which people are told; one where the next is an hour away. */
const checksUntilUnreadable = 2;
/** The hour at which a heartbeat is due. */
const heartbeatTime = '09:00';

interface Commit {
  readonly trx: Trx;
  readonly context: ReportContext;
  readonly at: Date;
  /** As its row is now. */
  readonly alert: Alert;
  readonly isQuiet: boolean;
}

/** Stores what a check found, with the messages that follow from it, in one transaction. */
export function writeObservation(
  seen: Alert,
  { at, observation }: { readonly at: Date; readonly observation: Observation<unknown> },
  context: ReportContext,
): Promise<void> {
  return withLockedAlert(seen, at, context, async (commit) => {
    const { trx, alert } = commit;
    const { recent } = alert.state;
    const open = await findOpenIncidents(trx, alert.id);
    if (open.unreadable)
      await closeIncident(
        open.unreadable,
        { ...open.unreadable.figures, lookedAt: at.toISOString() },
        commit,
      );
    const { damping, isEvent } = findCondition(alert.subject.condition);
    const about = { now: at, damping, isEvent, isGap: isGap(alert, at) };
    const step = advance({ recent }, open.firing?.figures, observation, about);
    if (step.move === 'open' && step.figures) await openIncident('firing', step.figures, commit);
    else if (open.firing)
      await changeIncident(open.firing, step, commit, { redraw: open.unreadable !== undefined });
    const memory = observation.memory ?? alert.state.memory;
    const state: AlertState = { recent: step.recent, memory, evidence: observation.evidence.slice(0, 30) };
    const alive = await tellHeartbeat(commit);
    return { state: JSON.stringify(state), checked_at: at, ...alive };
  });
}

/** Stores that a check failed, and tells it once it is no accident. */
export function writeUnreadable(
  seen: Alert,
  { at, failure }: { readonly at: Date; readonly failure: Failed },
  context: ReportContext,
): Promise<void> {
  return withLockedAlert(seen, at, context, async (commit) => {
    const { trx, alert } = commit;
    const { state, subject } = alert;
    const blind = { since: state.blind?.since ?? at.toISOString(), looks: (state.blind?.looks ?? 0) + 1 };
    const open = await findOpenIncidents(trx, alert.id);
    const figures: IncidentFigures = {
      parts: [],
      everything: [],
      worst: { at: blind.since, parts: 0 },
      series: [],
      lookedAt: (alert.checkedAt ?? at).toISOString(),
      failure,
    };
    const isKnown = blind.looks >= checksUntilUnreadable || subject.every * minuteMs >= hourMs;
    if (!open.unreadable && isKnown) {
      await openIncident('unreadable', figures, commit, new Date(blind.since));
      if (open.firing) await editIncident(trx, open.firing, context.ports.outbox);
    } else if (open.unreadable && open.unreadable.figures.failure?.message !== failure.message) {
      await store(open.unreadable, { figures: JSON.stringify(figures) }, commit);
      await show(open.unreadable, commit);
    } else if (open.unreadable) await show(open.unreadable, commit, { onlyUntold: true });
    return { state: JSON.stringify({ ...state, blind } satisfies AlertState) };
  });
}

/** Leaves a check out: only the next one is planned. */
export function skipCheck(seen: Alert, at: Date, context: ReportContext): Promise<void> {
  return withLockedAlert(seen, at, context, async () => ({}));
}

/** Does nothing where another process or a change came first: the row is no longer as it was seen. */
async function withLockedAlert(
  { id, revision, nextDue }: Alert,
  at: Date,
  context: ReportContext,
  change: (commit: Commit) => Promise<Updateable<Schema['reports']>>,
): Promise<void> {
  await context.db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('reports')
      .selectAll()
      .where((is) => is.and({ id, revision, next_due: nextDue ?? null }))
      .where('paused', 'is', null)
      .where('deleted_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return;
    const alert = readReport(row) as Alert;
    const isQuiet = alert.snoozed !== undefined && alert.snoozed.until > at;
    const commit = { trx, context, at, alert, isQuiet };
    for (const incident of await findUntoldIncidents(trx, id, new Date(at.getTime() - dayMs)))
      await show(incident, commit, { onlyUntold: true });
    const changes = await change(commit);
    const next_due = findNextLook(alert.subject, at);
    await trx
      .updateTable('reports')
      .set({ ...changes, next_due })
      .where('id', '=', id)
      .execute();
  });
}

/** Whether so much time has passed since the last check that it says nothing about now. */
function isGap({ checkedAt, subject }: Alert, at: Date): boolean {
  return checkedAt !== undefined && at.getTime() - checkedAt.getTime() > 2.5 * subject.every * minuteMs;
}

async function openIncident(
  kind: Incident['kind'],
  figures: IncidentFigures,
  { trx, context, at, alert, isQuiet }: Commit,
  openedAt = at,
): Promise<void> {
  const row = await trx
    .insertInto('report_incidents')
    .values({
      id: `${alert.id}-${kind}-${openedAt.getTime().toString(36)}`,
      report_id: alert.id,
      kind,
      opened_at: openedAt,
      figures: JSON.stringify(figures),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await showIncident(trx, readIncident(row), { outbox: context.ports.outbox, alert, isQuiet });
}

async function changeIncident(
  incident: Incident,
  step: Step,
  commit: Commit,
  { redraw }: { readonly redraw: boolean },
): Promise<void> {
  const { figures = incident.figures, joined, left } = step;
  if (step.move === 'close') return closeIncident(incident, figures, commit);
  await store(incident, { figures: JSON.stringify(figures) }, commit);
  const message = await show(incident, commit);
  const tells = joined.length > 0 || left.length > 0;
  // A message that is new says all of it itself.
  if (tells && message === incident.message && !redraw) {
    const names = left.map(({ name }) => name);
    await reply(incident, commit, { joined, left: names, remaining: figures.parts.length });
  }
}

async function closeIncident(incident: Incident, figures: IncidentFigures, commit: Commit): Promise<void> {
  const { at, alert } = commit;
  await store(incident, { figures: JSON.stringify(figures), closed_at: at }, commit);
  const closed: Incident = { ...incident, figures, closedAt: at };
  const message = await show(closed, commit);
  if (message === undefined || message !== incident.message) return;
  const { isEvent = false } = findCondition(alert.subject.condition);
  if (incident.kind === 'unreadable' || !isEvent) await reply(incident, commit);
}

function show(
  incident: Incident,
  { trx, context, alert, isQuiet }: Commit,
  { onlyUntold = false }: { readonly onlyUntold?: boolean } = {},
): Promise<string | undefined> {
  const { outbox } = context.ports;
  return showIncident(trx, incident, { outbox, alert, isQuiet, onlyUntold });
}

/** Tells a change in the thread; without one, that the incident is over. */
async function reply(incident: Incident, commit: Commit, change?: Change): Promise<void> {
  const { trx, context, alert, isQuiet, at } = commit;
  if (isQuiet) return;
  const nth = incident.replies + 1;
  await store(incident, { replies: nth }, commit);
  await replyToIncident(trx, incident, { nth, at, change }, { outbox: context.ports.outbox, alert });
}

async function store(
  { id }: Incident,
  changes: { figures?: string; closed_at?: Date; replies?: number },
  { trx }: Commit,
): Promise<void> {
  await trx.updateTable('report_incidents').set(changes).where('id', '=', id).execute();
}

/** Once a day, where people want it; the first is due the next morning. */
async function tellHeartbeat({ trx, context, at, alert, isQuiet }: Commit) {
  const { lifeSign, timeZone } = alert.subject;
  if (!lifeSign || isQuiet) return {};
  const daily = { time: heartbeatTime, zone: timeZone, weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] };
  const since = alert.heartbeatAt ?? at;
  if (alert.heartbeatAt && findNextRun(daily, since) > at) return {};
  if (alert.heartbeatAt) {
    const incidents = await trx
      .selectFrom('report_incidents')
      .select(({ fn }) => fn.countAll<bigint>().as('count'))
      .where('report_id', '=', alert.id)
      .where('opened_at', '>', since)
      .executeTakeFirstOrThrow();
    const quiet = { since, at, incidents: Number(incidents.count) };
    await postHeartbeat(trx, quiet, { outbox: context.ports.outbox, alert });
  }
  return { heartbeat_at: at };
}
