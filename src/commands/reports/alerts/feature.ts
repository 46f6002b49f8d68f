import { tenantId } from '../../../auth/identity.ts';
import { countAlerts, listAlert, type Row } from '../../../views/reports/alerts/list.ts';
import { reportSkeleton } from '../../../views/reports/form.ts';
import { renderAtHome, renderList } from '../../../views/reports/list.ts';
import type { Feature, With } from '../../define.ts';
import { defineScheduledCommand } from '../command.ts';
import { type Alert, canBeTakenOver } from '../model.ts';
import { alertActions, verbs } from './actions.ts';
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

const alertCommand = defineScheduledCommand<'alerts' | 'keyStore' | 'accounts'>({
  noun: 'alert',
  plural: 'alerts',
  aliases: ['watch', 'watches'],
  usage: 'alert [new|list|check <id>|why <id>|snooze <id> [2h]|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary:
    'Tells you when something starts, changes or resolves: origin errors, zones, limits, settings, apps, charges',
  label: 'Alerts',
  examples: ['alert new errors', 'alert list', 'alert snooze k7f3q 2h'],
  otherVerbs: { look: 'check', run: 'check', now: 'check', silence: 'snooze', mute: 'snooze' },
  verbs,
  skeleton: (title) => reportSkeleton('alerts', title),
  newForm,
  editForm,
  async list(context) {
    // The person's own, those of this channel, and for admins all.
    const isHere = ({ channel }: Alert, admin: boolean): boolean => admin || channel === context.channelId;
    const rows = await listVisible(context, isHere);
    const budget = await context.accounts.describeBudget(context.person);
    return renderList(rows.map(listAlert), countAlerts(rows), { budget, asOf: context.now() });
  },
  // `/cdn alert errors` means a new one.
  guess: (verb) => (conditions.some(({ words }) => words.test(verb)) ? `new ${verb}` : undefined),
});

export const alert: Feature<'alerts' | 'keyStore' | 'names' | 'zoneCache' | 'accounts'> = {
  name: 'alerts',
  commands: [alertCommand],
  actions: [
    redraw,
    tryNow,
    { id: 'alerts:edit', needs: 'read', modal: () => reportSkeleton('alerts', 'Edit alert'), load: editForm },
    ...alertActions,
  ],
  forms: [alertForm],
  pickers: [hostPicker, originPicker, groupsPicker],
  /** The person's own, and for admins those of others that the bot paused. */
  homeSection: async (context) =>
    renderAtHome(
      (await listVisible(context, (alert, admin) => admin && canBeTakenOver(alert))).map(listAlert),
      'alert',
      'Alerts',
    ),
};

/** The person's own alerts, and those of others that `isVisible` picks. */
async function listVisible(
  { person, authorizer, alerts }: With<'alerts'>,
  isVisible: (alert: Alert, admin: boolean) => boolean,
): Promise<Row[]> {
  const tenant = tenantId(person);
  const [all, open, untold, { admin }] = await Promise.all([
    alerts.list(tenant),
    alerts.listOpen(tenant),
    alerts.listUntold(tenant),
    authorizer.actor(),
  ]);
  const byAlert = Map.groupBy(open, ({ alertId }) => alertId);
  return all.flatMap((alert) => {
    const own = alert.owner.userId === person.userId;
    if (!own && !isVisible(alert, admin)) return [];
    const isUntold = untold.has(alert.id);
    return [{ alert, open: byAlert.get(alert.id) ?? [], isUntold, own, manages: admin || own }];
  });
}
