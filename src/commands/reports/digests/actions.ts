import { tenantId } from '../../../auth/identity.ts';
import { UserError } from '../../../errors.ts';
import type { Message } from '../../../views/blocks/blocks.ts';
import { formatCode } from '../../../views/blocks/text.ts';
import { digestCard } from '../../../views/reports/card.ts';
import { renderPostedAgain, renderRunning } from '../../../views/reports/list.ts';
import { describePause } from '../../../views/reports/words.ts';
import type { Action, With } from '../../define.ts';
import { beside, createManagement } from '../manage.ts';
import type { Digest } from '../model.ts';

type ReportContext = With<'digests' | 'keyStore' | 'sharing'>;

export const management = createManagement<Digest, 'digests'>({
  noun: 'digest',
  plural: 'digests',
  views: digestCard,
  life: ({ digests }) => digests,
  list: async ({ digests, person }) => (await digests.list(tenantId(person))).map(({ digest }) => digest),
});

/** Actions of an owner or admin on one digest, for the words of the command, the menu and the buttons. */
export const verbs = { run, ...management.verbs } as const;

/** Runs at once, into its channel. */
async function run(id: string, context: ReportContext): Promise<Message> {
  const digest = await management.findManaged(id, context);
  if (digest.paused && digest.paused.reason !== 'by-hand') {
    throw new UserError(
      `The digest ${formatCode(digest.id)} is paused: ${describePause(digest.paused.reason)}.`,
      `Once that is fixed: \`/cdn digest resume ${digest.id}\``,
    );
  }
  await management.requireOwnersKey(digest, context);
  return renderRunning(digest, await context.digests.runNow(digest, context.person));
}

/** Runs again after a post without an answer: a person has looked into the channel. */
async function postAgain(value: string, context: ReportContext): Promise<Message> {
  const [id = '', due = ''] = value.split('|');
  const digest = await management.findManaged(id, context);
  if (await context.digests.postAgain(digest, new Date(due))) return renderPostedAgain(digest);
  throw new UserError('That run is settled already.', `A new one: \`/cdn digest run ${digest.id}\``);
}

export const digestActions: readonly Action<'digests' | 'keyStore' | 'sharing'>[] = [
  { id: 'digests:run', ...beside, run },
  ...management.actions,
  { id: 'digests:again', needs: 'none', run: postAgain },
];
