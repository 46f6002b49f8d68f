import { sql, type Updateable } from 'kysely';
import { findNextRun } from '../../../lib/schedule.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/time.ts';
import { defineMessage, type Ended, type Outbox } from '../../../outbox/outbox.ts';
import { readCode } from '../../../outbox/slack-port.ts';
import type { Db, Schema, Trx } from '../../../store/schema.ts';
import {
  type Change,
  type Heartbeat,
  renderChange,
  renderHeartbeat,
  renderIncident,
  renderResolved,
} from '../../../views/reports/incident.ts';
import type {
  Alert,
  AlertCondition,
  AlertState,
  Incident,
  IncidentFigures,
  IncidentPart,
  Part,
} from '../../../views/reports/report.ts';
import type { Observation } from '../checks/check.ts';
import { findLostPlace, pauseReports } from '../life.ts';
import {
  editIncident,
  enqueueNext,
  findIncident,
  findNextDue,
  findOpenIncidents,
  findReport,
  type ReportContext,
  readIncident,
  readReport,
  writeBody,
} from '../store.ts';

/** Failed checks after which people are told; one where the next is an hour away. */
const checksUntilUnreadable = 2;
const heartbeatTime = '09:00';
/** How soon a message that no place took is posted again. */
const soonMs = 5 * minuteMs;
/** Messages of an incident after which it waits for the next check as planned. */
const mostHastyPosts = 3;

interface Commit {
  readonly trx: Trx;
  readonly context: ReportContext;
  readonly at: Date;
  readonly alert: Alert;
  readonly isSnoozed: boolean;
}

/** Stores what a check found, with the messages that follow from it, in one transaction. */
export function writeObservation(
  seen: Alert,
  { at, observation }: { readonly at: Date; readonly observation: Observation<unknown> },
  context: ReportContext,
): Promise<void> {
  return withLockedAlert(seen, at, context, async (commit) => {
    const { trx, alert } = commit;
    const { firing, unreadable } = await findOpenIncidents(trx, alert.id);
    if (unreadable)
      await changeIncident(commit, unreadable, { ...unreadable.figures, lookedAt: at.toISOString() }, 'over');
    const { subject } = alert;
    const about = { ...subject.condition, now: at, windowMs: subject.window * minuteMs };
    const step = advance(alert.state, firing?.figures, observation, about);
    const { move, figures, joined, left } = step;
    if (figures && move === 'open') await openIncident(commit, 'firing', figures);
    else if (figures && firing) {
      const remaining = Math.max(figures.parts.length, figures.firing ?? 0);
      const change = { joined, left: left.map(({ name }) => name), remaining };
      await changeIncident(commit, firing, figures, move === 'close' ? 'over' : change);
    }
    const memory = observation.memory ?? alert.state.memory;
    const state: AlertState = { recent: step.recent, memory, evidence: observation.evidence.slice(0, 30) };
    return { state: JSON.stringify(state), checked_at: at, ...(await tellHeartbeat(commit)) };
  });
}

/** Stores that a check failed, and tells it once it is no accident. */
export function writeUnreadable(
  seen: Alert,
  { at, failure }: { readonly at: Date } & Required<Pick<IncidentFigures, 'failure'>>,
  context: ReportContext,
): Promise<void> {
  return withLockedAlert(seen, at, context, async (commit) => {
    const { trx, alert } = commit;
    const { state, subject, checkedAt = at } = alert;
    const blind = { since: state.blind?.since ?? at.toISOString(), looks: (state.blind?.looks ?? 0) + 1 };
    const { firing, unreadable } = await findOpenIncidents(trx, alert.id);
    const figures: IncidentFigures = {
      parts: [],
      everything: [],
      worst: { at: blind.since, parts: 0 },
      series: [],
      lookedAt: checkedAt.toISOString(),
      failure,
    };
    const isSame = unreadable?.figures.failure?.message === failure?.message;
    if (unreadable)
      await showIncident(
        commit,
        isSame ? unreadable : { ...unreadable, figures },
        isSame ? 'nothing' : 'change',
      );
    else if (blind.looks >= checksUntilUnreadable || subject.every * minuteMs >= hourMs) {
      await openIncident(commit, 'unreadable', figures, new Date(blind.since));
      if (firing) await editIncident(trx, firing, context.ports.outbox);
    }
    return { state: JSON.stringify({ ...state, blind } satisfies AlertState) };
  });
}

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
      .forUpdate()
      .executeTakeFirst();
    if (!row) return;
    const alert = readReport(row) as Alert;
    const isSnoozed = alert.snoozed !== undefined && alert.snoozed.until > at;
    const commit = { trx, context, at, alert, isSnoozed };
    // Those that ended while their message was on its way, and that nobody has read.
    const untold = await trx
      .selectFrom('report_incidents')
      .innerJoin('outbox', 'outbox.id', 'report_incidents.message')
      .selectAll('report_incidents')
      .where('report_id', '=', id)
      .where('closed_at', '>', new Date(at.getTime() - dayMs))
      .where('outbox.state', 'in', ['dead', 'unknown'])
      .execute();
    for (const incident of untold) await showIncident(commit, readIncident(incident));
    const changes = await change(commit);
    await trx
      .updateTable('reports')
      .set({ ...changes, next_due: findNextDue(alert, at) })
      .where('id', '=', id)
      .execute();
  });
}

async function openIncident(
  commit: Commit,
  kind: Incident['kind'],
  figures: IncidentFigures,
  openedAt = commit.at,
): Promise<void> {
  const { trx, alert } = commit;
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
  await showIncident(commit, readIncident(row));
}

/** Stores and shows an incident, and tells the change in its thread unless its message is new. */
async function changeIncident(
  commit: Commit,
  incident: Incident,
  figures: IncidentFigures,
  change: Change | 'over',
): Promise<void> {
  const { trx, context, alert, isSnoozed, at } = commit;
  const { id, kind, message } = incident;
  const isOver = change === 'over';
  const isNews = isOver
    ? kind === 'unreadable' || !alert.subject.condition.isEvent
    : change.joined.length + change.left.length > 0;
  const now = { ...incident, figures, closedAt: isOver ? at : undefined };
  const shown = await showIncident(commit, now, isNews ? 'change' : 'figures');
  if (!isNews || isSnoozed || message === undefined || message !== shown) return;
  await context.ports.outbox.put(trx, {
    id: changeId(id, at.toISOString()),
    kind: changeMessage,
    about: { incidentId: id, at: at.toISOString(), parent: message, ...(isOver ? {} : { change }) },
    installation: alert.owner,
    to: { parent: message },
    doubt: 'once',
  });
}

/** Stores an incident and shows it, in a new message if it has none that arrived. Returns the message’s id. */
async function showIncident(
  { trx, context, alert, isSnoozed }: Commit,
  { id, message, closedAt, figures }: Incident,
  news: 'change' | 'figures' | 'nothing' = 'change',
): Promise<string | undefined> {
  const { outbox } = context.ports;
  const store = (changes: Updateable<Schema['report_incidents']>) =>
    trx.updateTable('report_incidents').set(changes).where('id', '=', id).execute();
  await store({ figures: writeBody(figures), ...(closedAt ? { closed_at: closedAt } : {}) });
  if (message !== undefined && !(await isUntold(message, context, trx))) {
    if (news !== 'nothing') await outbox.edit(trx, message);
    return message;
  }
  if (isSnoozed || (closedAt !== undefined && message === undefined)) return message;
  return putIncident(trx, { id, message }, alert, outbox);
}

/** Puts the message of an incident into the outbox, also once more. Returns its id. */
async function putIncident(
  trx: Trx,
  { id, message }: Pick<Incident, 'id' | 'message'>,
  { channel, owner }: Alert,
  outbox: Outbox,
): Promise<string> {
  const next = message === undefined ? `watch:${id}` : `watch:${id}:again:${countPosts(message) + 1}`;
  await outbox.put(trx, {
    id: next,
    kind: incidentMessage,
    about: { incidentId: id, channel },
    installation: owner,
    to: { places: [...new Set([channel, owner.userId])] },
    doubt: 'retry',
  });
  await trx.updateTable('report_incidents').set({ message: next }).where('id', '=', id).execute();
  return next;
}

/** Whether no place took the message; one that may have arrived is put again a few times, and then once an hour. */
async function isUntold(message: string, { ports, now }: ReportContext, trx: Trx): Promise<boolean> {
  const { state, changedAt = now() } = (await ports.outbox.find(trx, message)) ?? {};
  if (state !== 'unknown') return state === 'dead';
  return countPosts(message) < mostHastyPosts || now().getTime() - changedAt.getTime() >= hourMs;
}

function changeId(incidentId: string, lookedAt = ''): string {
  return `watch:${incidentId}:${lookedAt}`;
}

function countPosts(message: string): number {
  return Number(/(?<=:again:)\d+$/u.exec(message)?.[0] ?? 1);
}

/** Once a day, where people want it; the first is due the next morning. */
async function tellHeartbeat({ trx, context, at, alert, isSnoozed }: Commit) {
  const { lifeSign, timeZone } = alert.subject;
  if (!lifeSign || isSnoozed) return {};
  const daily = { time: heartbeatTime, zone: timeZone, weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] };
  const { heartbeatAt: since } = alert;
  if (!since) return { heartbeat_at: at };
  if (findNextRun(daily, since) > at) return {};
  const { count } = await trx
    .selectFrom('report_incidents')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('report_id', '=', alert.id)
    .where('opened_at', '>', since)
    .executeTakeFirstOrThrow();
  const { channel, id: alertId } = alert;
  const about = { alertId, channel, since: since.toISOString(), at: at.toISOString() };
  await context.ports.outbox.put(trx, {
    id: `watch-alive:${alert.id}:${at.toISOString().slice(0, 10)}`,
    kind: heartbeat,
    about: { ...about, incidents: Number(count) },
    installation: alert.owner,
    to: { places: [...new Set([alert.channel, alert.owner.userId])] },
    doubt: 'once',
  });
  return { heartbeat_at: at };
}

type AboutIncident = {
  readonly incidentId: string;
  /** The first place it went to. */
  readonly channel: string;
};

/** The one message of an incident, rendered from its row whenever it is shown. */
const incidentMessage = defineMessage({
  // Rows of messages that are edited for days have this name.
  kind: 'watch-incident',
  render: renderMessage,
  async ended(
    trx,
    { id, about, state, reason, code }: Ended<AboutIncident>,
    { ports, now, log }: ReportContext,
  ) {
    const found = await findWithAlert(trx, about.incidentId);
    if (await pauseIfLost(trx, found?.alert, { channel: about.channel, reason, code }, ports)) {
      // Its channel has not read it: what still fires when the alert runs again opens another one, which is posted.
      await trx
        .updateTable('report_incidents')
        .set({ closed_at: now(), message: null })
        .where('id', '=', about.incidentId)
        .where('closed_at', 'is', null)
        .execute();
      return;
    }
    if (state === 'sent' || reason === 'withdrawn') return;
    log.error({ message: id, incident: about.incidentId, state, code }, 'alert could not be posted');
    if (!found || countPosts(id) > mostHastyPosts) return;
    // The next check posts it: a daily one comes in five minutes for that, three times.
    const soon = new Date(now().getTime() + soonMs);
    await trx
      .updateTable('reports')
      .set({ next_due: sql`least(next_due, ${soon}::timestamptz)` })
      .where('id', '=', found.alert.id)
      .where('next_due', 'is not', null)
      .execute();
    await enqueueNext(ports.enqueue, found.alert, trx);
  },
  async editFailed(trx, { id, about, code }, { ports }: ReportContext) {
    const { incident, alert } = (await findWithAlert(trx, about.incidentId)) ?? {};
    if (!alert || incident?.message !== id) return;
    // One that somebody deleted comes back once, with a change.
    const mayComeBack = code === 'message_not_found' && countPosts(id) === 1;
    const change = changeId(incident.id, incident.figures.lookedAt);
    const isChanged = mayComeBack && (await ports.outbox.find(trx, change)) !== undefined;
    // Where only edits are refused, its thread tells what changes.
    if (isChanged || (readCode(code) === 'place' && !incident.closedAt))
      await putIncident(trx, incident, alert, ports.outbox);
  },
});

/**
 * Pauses an alert whose channel takes nothing. The code is the first place's: that the owner's conversation took the message
 * does not make the channel well. One that was moved meanwhile posts elsewhere.
 */
async function pauseIfLost(
  trx: Trx,
  alert: Alert | undefined,
  { channel, ...ended }: Pick<Ended<unknown>, 'reason' | 'code'> & { readonly channel: string },
  ports: ReportContext['ports'],
): Promise<boolean> {
  const lost = findLostPlace(ended);
  if (alert && lost && (lost === 'uninstalled' || alert.channel === channel))
    await pauseReports(trx, { id: alert.id, revision: alert.revision }, lost, ports);
  return lost !== undefined;
}

async function findWithAlert(db: Db, incidentId: string) {
  const incident = await findIncident(db, incidentId);
  const alert = incident && (await findReport(db, incident.alertId, 'alert'));
  return alert && { incident, alert };
}

async function renderMessage({ incidentId }: AboutIncident, { db, now }: ReportContext) {
  const found = await findWithAlert(db, incidentId);
  if (!found) return undefined;
  const { incident, alert } = found;
  const { unreadable } = incident.kind === 'firing' ? await findOpenIncidents(db, alert.id) : {};
  return renderIncident(incident, alert, { now: now(), unreadableSince: unreadable?.openedAt });
}

/** A change of an incident, posted in its thread. The change is the data, since the thread is a record. */
const changeMessage = defineMessage({
  kind: 'alert-change',
  async render(about: AboutChange, { db }: ReportContext) {
    const found = await findWithAlert(db, about.incidentId);
    if (found && about.change) return renderChange(about.change, about.at, found.alert);
    return found && renderResolved(found.incident, found.alert);
  },
  async ended(trx, { about, state, reason, code = '' }, { ports }: ReportContext) {
    // After its parent the next check posts the incident.
    if (state !== 'dead' || reason === 'withdrawn' || reason === 'parent') return;
    // Somebody deleted it again.
    if (code === 'thread_not_found' && countPosts(about.parent) > 1) return;
    const { incident, alert } = (await findWithAlert(trx, about.incidentId)) ?? {};
    // Of several changes the first one puts it.
    if (alert && incident && incident.message === about.parent)
      await putIncident(trx, incident, alert, ports.outbox);
  },
});

type AboutChange = {
  readonly incidentId: string;
  readonly at: string;
  /** The message whose thread it belongs to. */
  readonly parent: string;
  readonly change?: Change;
};

const heartbeat = defineMessage({
  kind: 'alert-heartbeat',
  async render(about: AboutHeartbeat, { db }: ReportContext) {
    const alert = await findReport(db, about.alertId, 'alert');
    return alert && renderHeartbeat(alert, about);
  },
  async ended(trx, { about, reason, code }, { ports }: ReportContext) {
    const { alertId, channel } = about;
    await pauseIfLost(trx, await findReport(trx, alertId, 'alert'), { channel, reason, code }, ports);
  },
});

type AboutHeartbeat = Heartbeat & { readonly alertId: string; readonly channel: string };

export const alertMessages = [incidentMessage, changeMessage, heartbeat];

/** Points of a chart's series, as many as a phone shows, and parts by name that are stored of an incident. */
const mostPoints = 8;
const mostParts = 50;

/** What follows from a check, beside the state that is stored. */
export interface Step {
  readonly recent: readonly boolean[];
  readonly move: 'nothing' | 'open' | 'update' | 'close';
  /** With all but `nothing`. */
  readonly figures?: IncidentFigures | undefined;
  /** With `update`: what the thread tells; empty where only figures moved. */
  readonly joined: readonly Part[];
  readonly left: readonly Part[];
}

/** Damps flapping, and opens, changes or closes the incident whose figures are `open`. Pure. */
export function advance(
  { recent: before }: Pick<AlertState, 'recent'>,
  last: IncidentFigures | undefined,
  seen: Observation<unknown>,
  about: {
    readonly now: Date;
    readonly damping: AlertCondition['damping'];
    readonly isEvent?: boolean | undefined;
    readonly windowMs?: number;
  },
): Step {
  const { now, damping, isEvent = false, windowMs } = about;
  const open = last && renameParts(last, seen);
  const unlisted = open?.parts.filter(({ id }) => seen.isUnlisted?.(id)).map(({ id }) => id) ?? [];
  const unread = new Set([...(seen.unread ?? []), ...unlisted]);
  const ids = new Set(seen.parts.map(({ id }) => id));
  // A part of which nothing is known now fires as it did last.
  const kept = (open?.parts ?? [])
    .filter(({ id, calm }) => calm === 0 && unread.has(id) && !ids.has(id))
    .map((part) => ({ ...part, text: part.text.replace(lastKnown, '') + lastKnown }));
  const firing = [...seen.parts, ...kept];
  const recent = [...before, firing.length > 0].slice(-Math.max(damping.open[1], damping.close));
  const none = { recent, joined: [], left: [] };
  if (!open) {
    const times = recent.slice(-damping.open[1]).filter(Boolean).length;
    if (firing.length === 0 || times < damping.open[0]) return { ...none, move: 'nothing' };
    return {
      ...none,
      move: 'open',
      figures: addCheck(undefined, firing, firing.map(fire), seen, now, windowMs),
    };
  }
  // An event has happened, and stays so.
  const close = isEvent ? Number.POSITIVE_INFINITY : damping.close;
  const { parts, joined, left } = mergeParts(open.parts, firing, unread, close);
  const calm = recent.length - 1 - recent.lastIndexOf(true);
  if (isEvent ? calm >= damping.close : parts.length === 0)
    return { ...none, move: 'close', figures: addCheck(open, firing, open.parts, seen, now) };
  return { recent, move: 'update', figures: addCheck(open, firing, parts, seen, now), joined, left };
}

const gone = ' (gone)';
const lastKnown = ' (last known)';

/** Under the names of now; a part whose zone is gone says so, since that is no recovery. */
function renameParts(open: IncidentFigures, { parts, isGone }: Observation<unknown>): IncidentFigures {
  const named = open.parts.map((part) => {
    const plain = part.name.replace(gone, '');
    const name = parts.find(({ id }) => id === part.id)?.name ?? (isGone?.(part.id) ? plain + gone : plain);
    return { ...part, name };
  });
  const names = new Map(open.parts.map(({ name }, nth) => [name, named[nth]?.name ?? name]));
  return { ...open, parts: named, everything: open.everything.map((name) => names.get(name) ?? name) };
}

function fire(part: Part): IncidentPart {
  return { ...part, calm: 0 };
}

function addCheck(
  open: IncidentFigures | undefined,
  firing: readonly Part[],
  parts: readonly IncidentPart[],
  { value, countSince }: Observation<unknown>,
  now: Date,
  windowMs = 0,
): IncidentFigures {
  const at = now.toISOString();
  const { everything: known = [], worst, series = [] } = open ?? {};
  const everything = [...new Set([...known, ...firing.map(({ name }) => name)])].slice(0, mostParts);
  const isWorse =
    !worst ||
    (value === undefined
      ? worst.value === undefined && firing.length > worst.parts
      : value > (worst.value ?? Number.NEGATIVE_INFINITY));
  return {
    parts: parts.slice(0, mostParts),
    firing: firing.length,
    everything,
    worst: isWorse ? { at, value, parts: firing.length } : worst,
    ...(countSince && addUp(open, (from) => countSince(from, everything), now.getTime() - windowMs)),
    series: value === undefined ? series : [...series, [at, value] as const].slice(-mostPoints),
    lookedAt: at,
  };
}

/** The total of an incident: all that is stored since it opened. It never falls, whatever could not be read this time. */
function addUp(
  { total = 0, counted }: Partial<IncidentFigures> = {},
  countSince: (from: number) => number,
  at: number,
): Pick<IncidentFigures, 'total' | 'counted'> {
  const { from, before } = counted ?? { from: at, before: total };
  const sum = Math.max(total, before + countSince(from));
  // Counts are kept for eight days.
  const isOld = at - from > 6 * dayMs;
  return { total: sum, counted: isOld ? { from: at, before: sum - countSince(at) } : { from, before } };
}

/** Parts that came, and those that were calm for `close` checks; the others stay, so that a flapping one is reported once. */
function mergeParts(
  before: readonly IncidentPart[],
  firing: readonly Part[],
  unread: ReadonlySet<string>,
  close: number,
) {
  const ids = new Set(firing.map(({ id }) => id));
  const known = new Set(before.map(({ id }) => id));
  // One that is not kept would join again at each check.
  const kept = firing.slice(0, mostParts);
  const others = before
    .filter(({ id }) => !ids.has(id))
    .map((part) => (unread.has(part.id) ? part : { ...part, calm: part.calm + 1 }));
  const left = others.filter(({ id, calm }) => calm >= close && !unread.has(id));
  return {
    parts: [...kept.map(fire), ...others.filter((part) => !left.includes(part))],
    joined: kept.filter(({ id }) => !known.has(id)),
    left,
  };
}
