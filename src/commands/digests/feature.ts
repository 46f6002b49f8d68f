import { tenantId } from '../../auth/identity.ts';
import { canBeTakenOver, type Digest } from '../../digests/model.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/message.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { digestSkeleton } from '../../views/digests/form.ts';
import { digestsAtHome, type Row, renderDigestList } from '../../views/digests/list.ts';
import type { With } from '../context.ts';
import type { Command, Feature } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Words } from '../words.ts';
import * as steps from './actions.ts';
import { digestForm, editForm, newForm, preview, redraw, targetPicker, timeZonePicker } from './form.ts';

/** What is done with one digest. The other words open a form, or list. */
const byId = {
  run: steps.run,
  pause: steps.pause,
  resume: steps.resume,
  delete: steps.remove,
  remove: steps.remove,
} as const;
const verbs = ['new', 'list', 'edit', ...Object.keys(byId)];

/** Digests on a page. */
const pageSize = 10;

const digestCommand: Command<'digests' | 'keyStore'> = {
  name: 'digest',
  aliases: ['digests'],
  usage: 'digest [new|list|run <id>|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary: 'Posts on a schedule: zones, origin errors, upload scanning, app usage, and what changed',
  label: 'Digests',
  changesHome: true,
  examples: ['digest new', 'digest list', 'digest run k7f3q'],
  needs: 'read',
  needsFor(words) {
    const [verb = 'list'] = typed(words);
    // Who may do what with one is decided by whose it is.
    return verb === 'list' || isVerb(verb) ? 'none' : 'read';
  },
  modal(words) {
    const [verb, id] = typed(words);
    if (verb === 'new') return digestSkeleton('New digest');
    return verb === 'edit' && id !== undefined ? digestSkeleton('Edit the digest') : undefined;
  },
  load(words, context) {
    const [verb, id = ''] = typed(words);
    return verb === 'edit' ? editForm(id, context) : newForm(words.list.slice(1), context);
  },
  run(words, context) {
    const [verb = 'list', id] = typed(words);
    if (verb === 'list') return list(Number(id ?? 1), context);
    if (verb !== 'edit' && !isVerb(verb)) throw unknownVerb(verb);
    // With an id, a form opens for it.
    if (id === undefined || verb === 'edit')
      throw new UserError(
        'Which digest?',
        `\`/cdn digest list\` shows their ids: \`/cdn digest ${verb} k7f3q\``,
      );
    return byId[verb](id, context);
  },
};

export const digest: Feature<'digests' | 'keyStore' | 'zoneCache'> = {
  name: 'digests',
  commands: [digestCommand],
  actions: [preview, redraw, ...steps.digestActions],
  forms: [digestForm],
  pickers: [targetPicker, timeZonePicker],
  /** Mine, and for admins those of others that stopped by themselves: where nobody could be told, they see it here. */
  async homeSection(context) {
    return digestsAtHome(await seenBy(context, isStopped));
  },
};

function isStopped({ paused }: Digest, admin: boolean): boolean {
  return admin && paused !== undefined && canBeTakenOver(paused.reason);
}

/** Mine, those that come into this channel, and for admins all. */
async function list(page: number, context: With<'digests'>): Promise<Message> {
  const seen = await seenBy(context, ({ channel }, admin) => admin || channel === context.channelId);
  const pages = Math.max(1, Math.ceil(seen.length / pageSize));
  const at = Number.isInteger(page) ? Math.min(Math.max(page, 1), pages) : 1;
  return renderDigestList({
    listed: seen.slice((at - 1) * pageSize, at * pageSize),
    total: seen.length,
    page: at,
    pages,
    asOf: context.now(),
  });
}

/** Mine, and which of others’ else. */
async function seenBy(
  { person, authorizer, digests }: With<'digests'>,
  isSeen: (digest: Digest, admin: boolean) => boolean,
): Promise<Row[]> {
  const [all, { admin }] = await Promise.all([digests.list(tenantId(person)), authorizer.actor()]);
  return all.flatMap((one) => {
    const own = one.digest.owner.userId === person.userId;
    return own || isSeen(one.digest, admin) ? [{ ...one, own, manages: admin || own }] : [];
  });
}

function unknownVerb(verb: string): UserError {
  const [near] = findClosest(verb, verbs, 1);
  return new UserError(
    `Digests know no ${formatCode(verb, 30)}.`,
    near === undefined
      ? '`/cdn digest new` makes one, `/cdn digest list` shows all.'
      : `Did you mean \`/cdn digest ${near}\`?`,
  );
}

function typed({ list: [verb, id] }: Words): [string | undefined, string | undefined] {
  return [verb?.toLowerCase(), id];
}

function isVerb(word: string): word is keyof typeof byId {
  return Object.hasOwn(byId, word);
}
