import { tenantId } from '../../../auth/identity.ts';
import { UserError } from '../../../errors.ts';
import { minuteMs } from '../../../lib/time.ts';
import type { Message } from '../../../views/blocks/blocks.ts';
import { formatCode } from '../../../views/blocks/text.ts';
import * as views from '../../../views/reports/alerts/answers.ts';
import { renderWhy } from '../../../views/reports/alerts/why.ts';
import { alertCard } from '../../../views/reports/card.ts';
import { describePause } from '../../../views/reports/words.ts';
import type { Action, With } from '../../define.ts';
import { beside, createManagement } from '../manage.ts';
import type { Alert, Incident } from '../model.ts';

type AlertsContext = With<'alerts' | 'keyStore' | 'sharing'>;

export const management = createManagement<Alert, 'alerts'>({
  noun: 'alert',
  plural: 'alerts',
  views: alertCard,
  life: ({ alerts }) => alerts,
  list: ({ alerts, person }) => alerts.list(tenantId(person)),
});

/** Actions of an owner or admin on one alert, for the words of the command, the menu and the buttons. */
export const verbs = { check, why, snooze, ...management.verbs } as const;

async function check(id: string, context: AlertsContext): Promise<Message> {
  const alert = await management.findManaged(id, context);
  if (alert.paused)
    throw new UserError(
      `The alert ${formatCode(alert.id)} is paused: ${describePause(alert.paused.reason, alert.paused.by)}.`,
      `Resume it first: \`/cdn alert resume ${alert.id}\``,
    );
  await management.requireOwnersKey(alert, context);
  await context.alerts.checkNow(alert);
  return views.renderChecking(alert);
}

/** The numbers behind its decision. Its channel has seen what the owner's key reads, so its readers may. */
async function why(id: string, context: AlertsContext): Promise<Message> {
  const alert = await management.find(id, context);
  const isHere = context.channelId === alert.channel || alert.owner.userId === context.person.userId;
  if (!isHere) await management.findManaged(id, context);
  return renderWhy(alert, await context.alerts.listIncidents(alert.id), context.now());
}

const longestSnoozeMinutes = 7 * 24 * 60;

/** Snoozes an alert for so many minutes; 0 = ends the snooze. */
async function snooze(id: string, context: AlertsContext, typed = '1h'): Promise<Message> {
  const alert = await management.find(id, context);
  const isHere = context.channelId === alert.channel;
  // Whoever is on call may, where its messages are read.
  if (!isHere) await management.findManaged(id, context);
  const minutes = readMinutes(typed);
  if (minutes === undefined || minutes > longestSnoozeMinutes)
    throw new UserError(
      `I can't read ${formatCode(typed, 20)} as a time to snooze.`,
      `Up to seven days: \`/cdn alert snooze ${alert.id} 2h\`, \`30m\`, \`1d\``,
    );
  const until = minutes === 0 ? undefined : new Date(context.now().getTime() + minutes * minuteMs);
  const snoozed = management.requireChanged(await context.alerts.snooze(alert, until, context.person));
  return views.renderSnoozed(snoozed);
}

/** `2h`, `30m`, `1d`, or minutes. */
function readMinutes(typed: string): number | undefined {
  const [, count, unit = 'm'] = /^(\d{1,5})\s*([mhd])?$/iu.exec(typed.trim()) ?? [];
  const sizes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 };
  return count === undefined ? undefined : Number(count) * (sizes[unit.toLowerCase()] ?? 1);
}

async function snoozeByValue(value: string, context: AlertsContext): Promise<Message> {
  const [id = '', minutes = ''] = value.split('|');
  return snooze(id, context, minutes);
}

/** Says in the incident's message who is on it. */
async function acknowledge(incidentId: string, context: AlertsContext): Promise<Message> {
  const { alerts, person } = context;
  const incident = await alerts.findIncident(incidentId);
  const alert = incident && (await alerts.find(tenantId(person), incident.alertId));
  if (!incident || !alert) throw gone();
  const acknowledged = incident.closedAt ? undefined : await alerts.acknowledge(incident, alert, person);
  if (acknowledged) return views.renderAcknowledged(acknowledged);
  const now = (await alerts.findIncident(incidentId)) ?? incident;
  return views.renderNotAcknowledged(now satisfies Incident, alert);
}

function gone(): UserError {
  return new UserError(
    'This incident is no longer stored, or its alert was deleted.',
    'See `/cdn alert list`.',
  );
}

export const alertActions: readonly Action<'alerts' | 'keyStore' | 'sharing'>[] = [
  { id: 'alerts:check', ...beside, run: check },
  { id: 'alerts:why', ...beside, run: why },
  { id: 'alerts:snooze', ...beside, run: snoozeByValue },
  { id: 'alerts:acknowledge', ...beside, run: acknowledge },
  ...management.actions,
];
