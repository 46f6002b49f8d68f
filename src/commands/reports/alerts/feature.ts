import { tenantId } from '../../../auth/identity.ts';
import { countAlerts, listAlert } from '../../../views/reports/list.ts';
import { defineReportFeature, pickVisible } from '../command.ts';
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

export const alert = defineReportFeature<'alerts' | 'keyStore' | 'names' | 'sharing' | 'zoneCache'>({
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
  newForm,
  editForm,
  async list(context, isVisible) {
    const tenant = tenantId(context.person);
    const [all, open, untold] = await Promise.all([
      context.alerts.list(tenant),
      context.alerts.listOpen(tenant),
      context.alerts.listUntold(tenant),
    ]);
    const byAlert = Map.groupBy(open, ({ alertId }) => alertId);
    const found = all.map((alert) => ({
      alert,
      open: byAlert.get(alert.id) ?? [],
      isUntold: untold.has(alert.id),
    }));
    const rows = await pickVisible(context, found, ({ alert }) => alert, isVisible);
    return { ...countAlerts(rows), rows: rows.map(listAlert) };
  },
  // `/cdn alert errors` means a new one.
  guess: (verb) => (conditions.some(({ words }) => words.test(verb)) ? `new ${verb}` : undefined),
  actions: [redraw, tryNow, ...alertActions],
  forms: [alertForm],
  pickers: [hostPicker, originPicker, groupsPicker],
});
