import { tenantId } from '../../../auth/identity.ts';
import { UserError } from '../../../errors.ts';
import { type Message, say } from '../../../views/blocks/blocks.ts';
import { formatCode } from '../../../views/blocks/text.ts';
import { describeDigest } from '../../../views/reports/list.ts';
import { describePause } from '../../../views/reports/words.ts';
import type { With } from '../../define.ts';
import { defineReportFeature } from '../command.ts';
import { findManaged, type Manages, ownMessage, requireOwnersKey } from '../manage.ts';
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
import { digestKinds } from './kinds/list.ts';

export const digest = defineReportFeature<'digest', 'names' | 'settingsHistory' | 'zoneCache'>('digest', {
  aliases: [],
  usage: 'digest [new|list|run <id>|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary: `Posts a summary on a schedule: ${digestKinds.map(({ label }) => label.toLowerCase()).join(', ')}, and what changed`,
  label: 'Digests',
  examples: ['digest new', 'digest list', 'digest run k7f3q'],
  otherVerbs: { check: 'run', now: 'run' },
  verbs: { run },
  newForm,
  editForm,
  async readStates({ reports, person }) {
    const last = await reports.listLastRuns(tenantId(person));
    return (digest) => describeDigest(digest, last.get(digest.id));
  },
  actions: [
    preview,
    redraw,
    look,
    { id: 'digests:run', ...ownMessage, run },
    { id: 'digests:again', needs: 'none', run: postAgain },
  ],
  forms: [digestForm],
  pickers: [targetPicker, timeZonePicker],
});

/** Runs at once, into its channel. */
async function run(id: string, context: With<Manages>): Promise<Message> {
  const digest = await findManaged('digest', id, context);
  if (digest.paused && digest.paused.reason !== 'by-hand')
    throw new UserError(
      `The digest ${formatCode(digest.id)} is paused: ${describePause(digest.paused.reason)}.`,
      `Once that is fixed: \`/cdn digest resume ${digest.id}\``,
    );
  await requireOwnersKey(digest, context);
  const isNew = await context.reports.runNow(digest, context.person);
  return say(
    `The digest ${formatCode(digest.id)} is ${isNew ? '' : 'already '}on its way to <#${digest.channel}>.`,
  );
}

/** Runs again after a post without an answer: a person has looked into the channel. */
async function postAgain(value: string, context: With<Manages>): Promise<Message> {
  const [id = '', due = ''] = value.split('|');
  const digest = await findManaged('digest', id, context);
  if (await context.reports.postAgain(digest, new Date(due)))
    return say(`It is on its way to <#${digest.channel}>.`);
  throw new UserError('That run is settled already.', `A new one: \`/cdn digest run ${digest.id}\``);
}
