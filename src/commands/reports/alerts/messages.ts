import { sql } from 'kysely';
import { minuteMs } from '../../../lib/time.ts';
import { isPlaceCode } from '../../../outbox/classify-failure.ts';
import { defineMessage, type Outbox } from '../../../outbox/outbox.ts';
import type { Trx } from '../../../store/schema.ts';
import { say } from '../../../views/blocks/blocks.ts';
import {
  type Change,
  renderChange,
  renderChecksAgain,
  renderHeartbeat,
  renderIncident,
  renderResolved,
} from '../../../views/reports/alerts/incident.ts';
import { toPlaceReason } from '../failures.ts';
import type { Alert, Incident, IncidentFigures, ReportContext } from '../model.ts';
import { pauseReports } from '../pauses.ts';
import { enqueueNext } from '../queue.ts';
import { findAlert, findIncident, findOpenIncidents, readReport } from '../table.ts';

type AboutIncident = {
  readonly incidentId: string;
  /** The first place it went to; missing in rows of before. */
  readonly channel?: string;
};

/** How soon a message that no place took is posted again. */
const soonMs = 5 * minuteMs;
/** Messages of an incident after which it waits for the next check as planned. */
const mostHastyPosts = 3;

/** The one message of an incident, drawn from its row whenever it is shown. */
const incidentMessage = defineMessage({
  kind: 'watch-incident',
  render: (about: AboutIncident, context: ReportContext) => renderMessage(about, context),
  async renderInstead(about, _refusal, context) {
    const whole = await renderMessage(about, context);
    return whole && say(whole.text);
  },
  async ended(trx, { id, about, place, state, reason, code }, { ports, now, log }: ReportContext) {
    const incident = await findIncident(trx, about.incidentId);
    const alert = incident && (await findAlert(trx, incident.alertId));
    const isAppGone = reason === 'app-gone';
    // The code is the first place's: that the owner's conversation took the message does not make the channel well.
    if (isAppGone || isPlaceCode(code)) {
      const at = now();
      // One that was moved meanwhile posts elsewhere.
      if (alert && (isAppGone || alert.channel === (about.channel ?? place)))
        await pauseReports(
          trx,
          { id: alert.id, revision: alert.revision },
          { reason: isAppGone ? 'uninstalled' : toPlaceReason(code), at },
          ports,
        );
      // Its channel has not read it: what still is wrong when the alert runs again opens another one, which is posted.
      await trx
        .updateTable('report_incidents')
        .set({ closed_at: at, message: null })
        .where('id', '=', about.incidentId)
        .where('closed_at', 'is', null)
        .execute();
      return;
    }
    if (state === 'sent' || reason === 'withdrawn') return;
    ports.untold();
    log.error({ message: id, incident: about.incidentId, state, code }, 'alert could not be posted');
    if (alert && countPosts(id) <= mostHastyPosts) await checkSoon(trx, alert.id, { ports, now });
  },
});

async function renderMessage({ incidentId }: AboutIncident, { db, now }: ReportContext) {
  const incident = await findIncident(db, incidentId);
  const alert = incident && (await findAlert(db, incident.alertId));
  if (!alert) return undefined;
  const { unreadable } = incident.kind === 'firing' ? await findOpenIncidents(db, alert.id) : {};
  return renderIncident(incident, alert, { now: now(), unreadableSince: unreadable?.openedAt });
}

/** The next check posts what was not told: a daily one comes in five minutes for that, three times. */
async function checkSoon(
  trx: Trx,
  id: string,
  { ports, now }: Pick<ReportContext, 'ports' | 'now'>,
): Promise<void> {
  const row = await trx
    .updateTable('reports')
    .set({ next_due: sql`least(next_due, ${new Date(now().getTime() + soonMs)}::timestamptz)` })
    .where('id', '=', id)
    .where('next_due', 'is not', null)
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (row) await enqueueNext(ports.enqueue, readReport(row), trx);
}

/** A change of an incident in its thread: the change is the data, since the thread tells what was at that moment. */
const changeMessage = defineMessage({
  kind: 'alert-change',
  async render(
    {
      incidentId,
      at,
      change,
    }: { readonly incidentId: string; readonly at: string; readonly change?: Change },
    { db }: ReportContext,
  ) {
    const incident = await findIncident(db, incidentId);
    const alert = incident && (await findAlert(db, incident.alertId));
    if (!alert) return undefined;
    if (change) return renderChange(change, new Date(at), alert);
    return incident.kind === 'unreadable' ? renderChecksAgain(incident) : renderResolved(incident, alert);
  },
});

const heartbeat = defineMessage({
  kind: 'alert-heartbeat',
  async render(
    about: {
      readonly alertId: string;
      readonly since: string;
      readonly at: string;
      readonly incidents: number;
    },
    { db }: ReportContext,
  ) {
    const { alertId, since, at, incidents } = about;
    const alert = await findAlert(db, alertId);
    return alert && renderHeartbeat(alert, { since: new Date(since), at: new Date(at), incidents });
  },
});

interface Posting {
  readonly outbox: Outbox;
  readonly alert: Alert;
}

/**
 * Has an incident shown as its row is now: by its message, or, where there is none yet or no place took it, by a new one.
 * Returns the id of that message; undefined where there is none.
 */
export async function showIncident(
  trx: Trx,
  { id, message, closedAt }: Incident,
  {
    outbox,
    alert,
    isQuiet,
    onlyUntold,
  }: Posting & { readonly isQuiet: boolean; readonly onlyUntold?: boolean },
): Promise<string | undefined> {
  if (message !== undefined && !(await isUntold(trx, message, outbox))) {
    if (!onlyUntold) await outbox.edit(trx, message);
    return message;
  }
  if (isQuiet || (closedAt !== undefined && message === undefined)) return message;
  const next = message === undefined ? `watch:${id}` : `watch:${id}:again:${countPosts(message) + 1}`;
  await outbox.put(trx, {
    id: next,
    kind: incidentMessage,
    about: { incidentId: id, channel: alert.channel },
    installation: alert.owner,
    to: { places: [...new Set([alert.channel, alert.owner.userId])] },
    doubt: 'retry',
  });
  await trx.updateTable('report_incidents').set({ message: next }).where('id', '=', id).execute();
  return next;
}

/** Whether no place took the message; one that may have arrived is put again a few times, and not for ever. */
async function isUntold(trx: Trx, message: string, outbox: Outbox): Promise<boolean> {
  const state = (await outbox.find(trx, message))?.state;
  return state === 'dead' || (state === 'unknown' && countPosts(message) < mostHastyPosts);
}

/** The number of the message, among those of its incident. */
function countPosts(message: string): number {
  return Number(/(?<=:again:)\d+$/u.exec(message)?.[0] ?? 1);
}

/** Tells a change in the thread of an incident, or its end. `nth`: counted by its row, so that a change is told once. */
export async function replyToIncident(
  trx: Trx,
  { id, message }: Incident,
  { nth, at, change }: { readonly nth: number; readonly at: Date; readonly change: Change | undefined },
  { outbox, alert }: Posting,
): Promise<void> {
  if (message === undefined) return;
  await outbox.put(trx, {
    id: `watch:${id}:${nth}`,
    kind: changeMessage,
    about: { incidentId: id, at: at.toISOString(), ...(change ? { change } : {}) },
    installation: alert.owner,
    to: { parent: message },
    doubt: 'once',
  });
}

/** Has the message of an incident drawn anew. */
export async function editIncident(trx: Trx, { message }: Incident, outbox: Outbox): Promise<void> {
  if (message !== undefined) await outbox.edit(trx, message);
}

/** Leaves what is open, for an alert that looks no more, or for something else: whether it is over stays unknown. */
export async function leaveOpenIncidents(
  trx: Trx,
  { id: alertId, subject: left }: Alert,
  { outbox, now }: { readonly outbox: Outbox; readonly now: Date },
): Promise<void> {
  for (const incident of Object.values(await findOpenIncidents(trx, alertId))) {
    const { id } = incident;
    const figures = JSON.stringify({ ...incident.figures, left } satisfies IncidentFigures);
    const row = trx.updateTable('report_incidents').set({ closed_at: now, figures });
    await row.where('id', '=', id).execute();
    await editIncident(trx, incident, outbox);
  }
}

/** Has the messages of open incidents drawn anew: what they say of their alert has changed. */
export async function editOpenIncidents(trx: Trx, alertId: string, outbox: Outbox): Promise<void> {
  for (const incident of Object.values(await findOpenIncidents(trx, alertId)))
    await editIncident(trx, incident, outbox);
}

/** Posts that an alert is checked and what it found, once for that day. */
export async function postHeartbeat(
  trx: Trx,
  { since, at, incidents }: { readonly since: Date; readonly at: Date; readonly incidents: number },
  { outbox, alert }: Posting,
): Promise<void> {
  await outbox.put(trx, {
    id: `watch-alive:${alert.id}:${at.toISOString().slice(0, 10)}`,
    kind: heartbeat,
    about: { alertId: alert.id, since: since.toISOString(), at: at.toISOString(), incidents },
    installation: alert.owner,
    to: { places: [alert.channel] },
    doubt: 'once',
  });
}

/** Every kind of message that alerts put into the outbox; the last two wait from the version before, with their bodies. */
export const alertMessages = [
  incidentMessage,
  changeMessage,
  heartbeat,
  ...['watch-reply', 'watch-life-sign'].map((kind) => defineMessage({ kind })),
];
