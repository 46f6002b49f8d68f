import { defineMessage, type Outbox } from '../../../outbox/outbox.ts';
import type { Trx } from '../../../store/schema.ts';
import type { Message } from '../../../views/blocks/blocks.ts';
import { renderIncident } from '../../../views/reports/watches/incident.ts';
import { toPlaceReason } from '../schedules/failures.ts';
import { findScheduled } from '../schedules/rows.ts';
import type { Incident, IncidentFigures, Watch, WatchContext } from './model.ts';
import { findIncident, findOpenIncidents, watchPauses, watchTable } from './table.ts';

type AboutIncident = { readonly incidentId: string; readonly watchId: string };

/** The one message of an incident, drawn from its row whenever it is shown. */
const incidentMessage = defineMessage({
  kind: 'watch-incident',
  async render({ incidentId, watchId }: AboutIncident, { db, now }: WatchContext) {
    const [watch, incident] = await Promise.all([
      findScheduled(db, watchTable, watchId),
      findIncident(db, incidentId),
    ]);
    if (!watch || !incident) return undefined;
    const { blind } = incident.kind === 'wrong' ? await findOpenIncidents(db, watchId) : {};
    return renderIncident(incident, watch, { now: now(), blindSince: blind?.openedAt });
  },
  async ended(trx, { about, place, reason, code }, { ports, now }: WatchContext) {
    if (reason !== 'app-gone' && reason !== 'place-gone') return;
    const at = now();
    const pause = reason === 'app-gone' ? 'uninstalled' : toPlaceReason(code);
    const watch = await findScheduled(trx, watchTable, about.watchId);
    // One that was moved meanwhile speaks elsewhere.
    if (watch && (reason === 'app-gone' || watch.channel === place))
      await watchPauses.pause(trx, { id: watch.id, revision: watch.revision }, { reason: pause, at }, ports);
    // Nobody has read it: what still is wrong when the watch runs again opens another one, which is told.
    const incident = trx.updateTable('watch_incidents').set({ closed_at: at, told: false });
    await incident.where('id', '=', about.incidentId).where('closed_at', 'is', null).execute();
  },
});

/** A change of an incident in its thread, a sign of life. */
const watchReply = defineMessage({ kind: 'watch-reply' });
const lifeSign = defineMessage({ kind: 'watch-life-sign' });

interface Posting {
  readonly outbox: Outbox;
  readonly watch: Watch;
}

/** Posts an incident that nobody has been told of. */
export async function postIncident(trx: Trx, { id }: Incident, { outbox, watch }: Posting): Promise<void> {
  await outbox.put(trx, {
    id: idOf(id),
    kind: incidentMessage,
    about: { incidentId: id, watchId: watch.id },
    installation: watch.owner,
    to: { places: [watch.channel] },
    doubt: 'look',
  });
}

/** Tells a change in the thread of an incident. `nth`: counted by its row, so that a change is told once. */
export async function replyToIncident(
  trx: Trx,
  { id, nth, body }: { readonly id: string; readonly nth: number; readonly body: Message },
  { outbox, watch }: Posting,
): Promise<void> {
  await outbox.put(trx, {
    id: `${idOf(id)}:${nth}`,
    kind: watchReply,
    about: {},
    installation: watch.owner,
    to: { parent: idOf(id) },
    body,
    doubt: 'once',
  });
}

/** Has the message of an incident drawn anew. */
export async function editIncident(trx: Trx, id: string, outbox: Outbox): Promise<void> {
  await outbox.edit(trx, idOf(id));
}

/** Leaves what is open, for a watch that looks no more, or for something else: whether it is over stays unknown. */
export async function leaveOpenIncidents(
  trx: Trx,
  { id: watchId, subject: left }: Watch,
  { outbox, now }: { readonly outbox: Outbox; readonly now: Date },
): Promise<void> {
  for (const incident of Object.values(await findOpenIncidents(trx, watchId))) {
    const { id } = incident;
    const figures = JSON.stringify({ ...incident.figures, left } satisfies IncidentFigures);
    const row = trx.updateTable('watch_incidents').set({ closed_at: now, figures });
    await row.where('id', '=', id).execute();
    await editIncident(trx, id, outbox);
  }
}

/** Has the messages of open incidents drawn anew: what they say of their watch has changed. */
export async function editOpenIncidents(trx: Trx, watchId: string, outbox: Outbox): Promise<void> {
  for (const { id } of Object.values(await findOpenIncidents(trx, watchId)))
    await editIncident(trx, id, outbox);
}

/** Posts that a watch looks and what it found, once for that day. */
export async function postLifeSign(trx: Trx, day: string, body: Message, { outbox, watch }: Posting) {
  await outbox.put(trx, {
    id: `watch-alive:${watch.id}:${day}`,
    kind: lifeSign,
    about: {},
    installation: watch.owner,
    to: { places: [watch.channel] },
    body,
    doubt: 'once',
  });
}

function idOf(incidentId: string): string {
  return `watch:${incidentId}`;
}

/** Every kind of message that watches put into the outbox. */
export const watchMessages = [incidentMessage, watchReply, lifeSign, ...watchPauses.messages];
