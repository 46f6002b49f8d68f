import { tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { canBeTakenOver } from '../../schedules/model.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { watchSkeleton } from '../../views/watches/form.ts';
import { type Row, renderWatchList, watchesAtHome } from '../../views/watches/list.ts';
import { conditions } from '../../watches/conditions/list.ts';
import type { Watch } from '../../watches/model.ts';
import type { Command, Feature, With } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Words } from '../words.ts';
import { verbs, watchActions } from './actions.ts';
import { editForm, groupsPicker, hostPicker, newForm, redraw, tryNow, watchForm } from './form.ts';

const watchCommand: Command<'watches' | 'keyStore' | 'accounts'> = {
  name: 'watch',
  aliases: ['watches'],
  usage: 'watch [new|list|look <id>|why <id>|snooze <id> [2h]|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary:
    'Tells when something begins, changes or ends: origin errors, zones, limits, settings, apps, charges',
  label: 'Watches',
  task: 'Act',
  changesHome: true,
  examples: ['watch new errors', 'watch list', 'watch snooze k7f3q 2h'],
  needs: 'read',
  needsFor(words) {
    const [verb = 'list'] = readWords(words);
    // Verbs decide by the watch's owner.
    return verb === 'list' || isVerb(verb) ? 'none' : 'read';
  },
  modal(words) {
    const [verb, id] = readWords(words);
    if (verb === 'new') return watchSkeleton('New watch');
    return verb === 'edit' && id !== undefined ? watchSkeleton('Edit the watch') : undefined;
  },
  load(words, context) {
    const [verb, id = ''] = readWords(words);
    return verb === 'edit' ? editForm(id, context) : newForm(words.list.slice(1), context);
  },
  async run(words, context) {
    const [verb = 'list', id, more] = readWords(words);
    if (verb === 'list') {
      // The person's own, those of this channel, and for admins all.
      const isHere = ({ channel }: Watch, admin: boolean): boolean => admin || channel === context.channelId;
      const rows = await listVisible(context, isHere);
      const budget = await context.accounts.describeBudget(context.person);
      return renderWatchList(rows, { budget, asOf: context.now() });
    }
    if (verb !== 'edit' && !isVerb(verb)) throw unknownVerb(verb);
    if (id === undefined || verb === 'edit') {
      const example = `\`/cdn watch list\` shows their ids: \`/cdn watch ${verb} k7f3q\``;
      throw new UserError('Which watch?', example);
    }
    return verb === 'snooze' ? verbs.snooze(id, context, more) : verbs[verb](id, context);
  },
};

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
  pickers: [hostPicker, groupsPicker],
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

function unknownVerb(verb: string): UserError {
  const known = ['new', 'list', 'edit', ...Object.keys(verbs)];
  const [near] = findClosest(verb, known, 1);
  // `/cdn watch errors` means a new one.
  const named = conditions.find(({ words }) => words.test(verb));
  const hint = named ? `watch new ${verb}` : near === undefined ? undefined : `watch ${near}`;
  return new UserError(
    `Watches know no ${formatCode(verb, 30)}.`,
    hint === undefined
      ? '`/cdn watch new` makes one, `/cdn watch list` shows all.'
      : `Did you mean \`/cdn ${hint}\`?`,
  );
}

function readWords({
  list: [verb, id, more],
}: Words): [string | undefined, string | undefined, string | undefined] {
  const word = verb?.toLowerCase();
  return [word === 'remove' ? 'delete' : word, id, more];
}

function isVerb(word: string): word is keyof typeof verbs {
  return Object.hasOwn(verbs, word);
}
