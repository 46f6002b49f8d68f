import { tenantId } from '../../../auth/identity.ts';
import { watchSkeleton } from '../../../views/reports/watches/form.ts';
import { type Row, renderWatchList, watchesAtHome } from '../../../views/reports/watches/list.ts';
import type { Feature, With } from '../../define.ts';
import { defineScheduledCommand } from '../schedules/command.ts';
import { canBeTakenOver } from '../schedules/model.ts';
import { verbs, watchActions } from './actions.ts';
import { conditions } from './conditions/list.ts';
import {
  editForm,
  groupsPicker,
  hostPicker,
  newForm,
  originPicker,
  redraw,
  tryNow,
  watchForm,
} from './form.ts';
import type { Watch } from './model.ts';

const watchCommand = defineScheduledCommand<'watches' | 'keyStore' | 'accounts'>({
  noun: 'watch',
  plural: 'watches',
  usage: 'watch [new|list|look <id>|why <id>|snooze <id> [2h]|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary:
    'Tells when something begins, changes or ends: origin errors, zones, limits, settings, apps, charges',
  label: 'Watches',
  examples: ['watch new errors', 'watch list', 'watch snooze k7f3q 2h'],
  verbs,
  skeleton: watchSkeleton,
  newForm,
  editForm,
  async list(context) {
    // The person's own, those of this channel, and for admins all.
    const isHere = ({ channel }: Watch, admin: boolean): boolean => admin || channel === context.channelId;
    const rows = await listVisible(context, isHere);
    const budget = await context.accounts.describeBudget(context.person);
    return renderWatchList(rows, { budget, asOf: context.now() });
  },
  // `/cdn watch errors` means a new one.
  guess: (verb) => (conditions.some(({ words }) => words.test(verb)) ? `new ${verb}` : undefined),
});

export const watch: Feature<'watches' | 'keyStore' | 'zoneCache' | 'accounts'> = {
  name: 'watches',
  commands: [watchCommand],
  actions: [
    redraw,
    tryNow,
    { id: 'watches:edit', needs: 'read', modal: () => watchSkeleton('Edit the watch'), load: editForm },
    ...watchActions,
  ],
  forms: [watchForm],
  pickers: [hostPicker, originPicker, groupsPicker],
  /** The person's own, and for admins those of others that the bot paused. */
  homeSection: async (context) =>
    watchesAtHome(await listVisible(context, (watch, admin) => admin && canBeTakenOver(watch))),
};

/** The person's own watches, and those of others that `isVisible` picks. */
async function listVisible(
  { person, authorizer, watches }: With<'watches'>,
  isVisible: (watch: Watch, admin: boolean) => boolean,
): Promise<Row[]> {
  const tenant = tenantId(person);
  const [all, open, { admin }] = await Promise.all([
    watches.list(tenant),
    watches.listOpen(tenant),
    authorizer.actor(),
  ]);
  const byWatch = Map.groupBy(open, ({ watchId }) => watchId);
  return all.flatMap((watch) => {
    const own = watch.owner.userId === person.userId;
    if (!own && !isVisible(watch, admin)) return [];
    return [{ watch, open: byWatch.get(watch.id) ?? [], own, manages: admin || own }];
  });
}
