import { tenantId } from '../../../auth/identity.ts';
import { UserError } from '../../../errors.ts';
import { minuteMs } from '../../../lib/time.ts';
import type { Message } from '../../../views/blocks/blocks.ts';
import { formatCode } from '../../../views/blocks/text.ts';
import * as views from '../../../views/reports/alerts/incident.ts';
import { renderWhy } from '../../../views/reports/alerts/why.ts';
import { describeAlert } from '../../../views/reports/list.ts';
import { describePause } from '../../../views/reports/words.ts';
import type { Context } from '../../define.ts';
import { defineReportFeature } from '../command.ts';
import { findManaged, findReport, ownMessage, requireOwnersKey } from '../manage.ts';
import type { Alert } from '../model.ts';
import { conditions } from './conditions/list.ts';
import {
  alertForm,
  editForm,
  groupsPicker,
  hostPicker,
  newForm,
  originPicker,
  redraw,
  tryNow,
} from './form.ts';

type AlertsContext = Context;

export const alert = defineReportFeature('alert', {
  aliases: ['watch', 'watches'],
  usage: 'alert [new|list|check <id>|why <id>|snooze <id> [2h]|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary:
    'Tells you when something starts, changes or resolves: origin errors, zones, limits, settings, apps, charges',
  label: 'Alerts',
  examples: ['alert new errors', 'alert list', 'alert snooze k7f3q 2h'],
  otherVerbs: { look: 'check', run: 'check', now: 'check', silence: 'snooze', mute: 'snooze' },
  verbs: { check, why, snooze },
  newForm,
  editForm,
  async readStates({ reports, person }) {
    const recent = await reports.listRecentIncidents(tenantId(person));
    const byAlert = Map.groupBy(recent, ({ alertId }) => alertId);
    return (alert) => describeAlert(alert, byAlert.get(alert.id) ?? []);
  },
  // `/cdn alert errors` means a new one.
  guess: (verb) => (conditions.some(({ words }) => words.test(verb)) ? `new ${verb}` : undefined),
  actions: [
    redraw,
    tryNow,
    { id: 'alerts:check', ...ownMessage, run: check },
    { id: 'alerts:why', ...ownMessage, run: why },
    {
      id: 'alerts:snooze',
      ...ownMessage,
      run(value, context) {
        const [id = '', minutes = ''] = value.split('|');
        return snooze(id, context, minutes);
      },
    },
    { id: 'alerts:acknowledge', ...ownMessage, run: acknowledge },
  ],
  forms: [alertForm],
  pickers: [hostPicker, originPicker, groupsPicker],
});

async function check(id: string, context: AlertsContext): Promise<Message> {
  const alert = await findManaged('alert', id, context);
  if (alert.paused)
    throw new UserError(
      `The alert ${formatCode(alert.id)} is paused: ${describePause(alert.paused.reason, alert.paused.by)}.`,
      `Resume it first: \`/cdn alert resume ${alert.id}\``,
    );
  await requireOwnersKey(alert, context);
  await context.reports.checkNow(alert);
  return views.renderChecking(alert);
}

/** For its owner, admins, and those who read its messages. */
async function findReadable(id: string, context: AlertsContext): Promise<Alert> {
  const alert = await findReport('alert', id, context);
  return context.channelId === alert.channel ? alert : findManaged('alert', id, context);
}

/** The numbers behind its decision. */
async function why(id: string, context: AlertsContext): Promise<Message> {
  const alert = await findReadable(id, context);
  return renderWhy(alert, await context.reports.listIncidents(alert.id), context.now());
}

const longestSnoozeMinutes = 7 * 24 * 60;

/** Snoozes an alert for so many minutes; 0 = ends the snooze. Whoever is on call may. */
async function snooze(id: string, context: AlertsContext, typed = '1h'): Promise<Message> {
  const alert = await findReadable(id, context);
  const minutes = readMinutes(typed);
  if (minutes === undefined || minutes > longestSnoozeMinutes)
    throw new UserError(
      `I can't read ${formatCode(typed, 20)} as a time to snooze.`,
      `Up to seven days: \`/cdn alert snooze ${alert.id} 2h\`, \`30m\`, \`1d\``,
    );
  const until = minutes === 0 ? undefined : new Date(context.now().getTime() + minutes * minuteMs);
  return views.renderSnoozed(await context.reports.snooze(alert, until, context.person));
}

/** `2h`, `30m`, `1d`, or minutes. */
function readMinutes(typed: string): number | undefined {
  const [, count, unit = 'm'] = /^(\d{1,5})\s*([mhd])?$/iu.exec(typed.trim()) ?? [];
  const sizes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 };
  return count === undefined ? undefined : Number(count) * (sizes[unit.toLowerCase()] ?? 1);
}

/** Says in the incident's message who is on it. */
async function acknowledge(incidentId: string, { reports, person }: AlertsContext): Promise<Message> {
  const incident = await reports.findIncident(incidentId);
  const alert = incident && (await reports.find(tenantId(person), incident.alertId));
  if (!incident || alert?.kind !== 'alert')
    throw new UserError(
      'This incident is no longer stored, or its alert was deleted.',
      'See `/cdn alert list`.',
    );
  const acknowledged = incident.closedAt ? undefined : await reports.acknowledge(incident, alert, person);
  const current = acknowledged ?? (await reports.findIncident(incidentId)) ?? incident;
  return views.renderAcknowledged(current, alert, acknowledged !== undefined);
}
