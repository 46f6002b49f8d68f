import { tenantId } from '../../auth/identity.ts';
import { digestKinds } from '../../digests/kinds/list.ts';
import type { Digest } from '../../digests/model.ts';
import { UserError } from '../../errors.ts';
import { canBeTakenOver } from '../../schedules/model.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { Row } from '../../views/digests/custody.ts';
import { digestSkeleton } from '../../views/digests/form.ts';
import { digestsAtHome, renderDigestList } from '../../views/digests/list.ts';
import type { Command, Feature, With } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Words } from '../words.ts';
import { digestActions, verbs } from './actions.ts';
import {
  digestForm,
  editForm,
  look,
  newForm,
  preview,
  redraw,
  targetPicker,
  timeZonePicker,
} from './form.ts';

const digestCommand: Command<'accounts' | 'digests' | 'keyStore'> = {
  name: 'digest',
  aliases: ['digests'],
  usage: 'digest [new|list|run <id>|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary: `Posts on a schedule: ${digestKinds.map(({ label }) => label.toLowerCase()).join(', ')}, and what changed`,
  label: 'Digests',
  task: 'Act',
  changesHome: true,
  examples: ['digest new', 'digest list', 'digest run k7f3q'],
  needs: 'read',
  needsFor(words) {
    const [verb = 'list'] = readWords(words);
    // Verbs decide by the digest's owner.
    return verb === 'list' || isVerb(verb) ? 'none' : 'read';
  },
  modal(words) {
    const [verb, id] = readWords(words);
    if (verb === 'new') return digestSkeleton('New digest');
    return verb === 'edit' && id !== undefined ? digestSkeleton('Edit the digest') : undefined;
  },
  load(words, context) {
    const [verb, id = ''] = readWords(words);
    return verb === 'edit' ? editForm(id, context) : newForm(words.list.slice(1), context);
  },
  async run(words, context) {
    const [verb = 'list', id] = readWords(words);
    if (verb === 'list') {
      // The person's own, those of this channel, and for admins all.
      const isHere = ({ channel }: Digest, admin: boolean): boolean => admin || channel === context.channelId;
      const rows = await listVisible(context, isHere);
      const budget = await context.accounts.describeBudget(context.person);
      return renderDigestList(rows, { budget, asOf: context.now() });
    }
    if (verb !== 'edit' && !isVerb(verb)) throw unknownVerb(verb);
    // With an id, `edit` opens a form instead.
    if (id !== undefined && verb !== 'edit') return verbs[verb](id, context);
    const example = `\`/cdn digest list\` shows their ids: \`/cdn digest ${verb} k7f3q\``;
    throw new UserError('Which digest?', example);
  },
};

type DigestServices = 'accounts' | 'digests' | 'keyStore' | 'names' | 'settingsHistory' | 'zoneCache';

export const digest: Feature<DigestServices> = {
  name: 'digests',
  commands: [digestCommand],
  actions: [
    preview,
    redraw,
    look,
    { id: 'digests:edit', needs: 'read', modal: () => digestSkeleton('Edit the digest'), load: editForm },
    ...digestActions,
  ],
  forms: [digestForm],
  pickers: [targetPicker, timeZonePicker],
  /** The person's own, and for admins those of others that the bot paused. */
  homeSection: async (context) =>
    digestsAtHome(await listVisible(context, (digest, admin) => admin && canBeTakenOver(digest))),
};

/** The person's own digests, and those of others that `isVisible` picks. */
async function listVisible(
  { person, authorizer, digests }: With<'digests'>,
  isVisible: (digest: Digest, admin: boolean) => boolean,
): Promise<Row[]> {
  const [all, { admin }] = await Promise.all([digests.list(tenantId(person)), authorizer.actor()]);
  return all.flatMap((one) => {
    const own = one.digest.owner.userId === person.userId;
    return own || isVisible(one.digest, admin) ? [{ ...one, own, manages: admin || own }] : [];
  });
}

function unknownVerb(verb: string): UserError {
  const [near] = findClosest(verb, ['new', 'list', 'edit', ...Object.keys(verbs)], 1);
  return new UserError(
    `Digests know no ${formatCode(verb, 30)}.`,
    near === undefined
      ? '`/cdn digest new` makes one, `/cdn digest list` shows all.'
      : `Did you mean \`/cdn digest ${near}\`?`,
  );
}

function readWords({ list: [verb, id] }: Words): [string | undefined, string | undefined] {
  const word = verb?.toLowerCase();
  return [word === 'remove' ? 'delete' : word, id];
}

function isVerb(word: string): word is keyof typeof verbs {
  return Object.hasOwn(verbs, word);
}
