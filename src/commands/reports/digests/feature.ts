import { tenantId } from '../../../auth/identity.ts';
import { countDigests, listDigest, type Row } from '../../../views/reports/digests/list.ts';
import { reportSkeleton } from '../../../views/reports/form.ts';
import { renderAtHome, renderList } from '../../../views/reports/list.ts';
import type { Feature, With } from '../../define.ts';
import { defineScheduledCommand } from '../command.ts';
import { canBeTakenOver, type Digest } from '../model.ts';
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
import { digestKinds } from './kinds/list.ts';

type DigestServices = 'accounts' | 'digests' | 'keyStore' | 'names' | 'settingsHistory' | 'zoneCache';

const digestCommand = defineScheduledCommand<'accounts' | 'digests' | 'keyStore'>({
  noun: 'digest',
  plural: 'digests',
  usage: 'digest [new|list|run <id>|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary: `Posts a summary on a schedule: ${digestKinds.map(({ label }) => label.toLowerCase()).join(', ')}, and what changed`,
  label: 'Digests',
  examples: ['digest new', 'digest list', 'digest run k7f3q'],
  otherVerbs: { check: 'run', now: 'run' },
  verbs,
  skeleton: (title) => reportSkeleton('digests', title),
  newForm,
  editForm,
  async list(context) {
    // The person's own, those of this channel, and for admins all.
    const isHere = ({ channel }: Digest, admin: boolean): boolean => admin || channel === context.channelId;
    const rows = await listVisible(context, isHere);
    const budget = await context.accounts.describeBudget(context.person);
    return renderList(rows.map(listDigest), countDigests(rows), { budget, asOf: context.now() });
  },
});

export const digest: Feature<DigestServices> = {
  name: 'digests',
  commands: [digestCommand],
  actions: [
    preview,
    redraw,
    look,
    {
      id: 'digests:edit',
      needs: 'read',
      modal: () => reportSkeleton('digests', 'Edit digest'),
      load: editForm,
    },
    ...digestActions,
  ],
  forms: [digestForm],
  pickers: [targetPicker, timeZonePicker],
  /** The person's own, and for admins those of others that the bot paused. */
  homeSection: async (context) =>
    renderAtHome(
      (await listVisible(context, (digest, admin) => admin && canBeTakenOver(digest))).map(listDigest),
      'digest',
      'Digests',
    ),
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
