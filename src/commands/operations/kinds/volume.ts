import { z } from 'zod';
import { volumePath } from '../../../api/apps.ts';
import { checkTextId } from '../../../api/http/paths.ts';
import { UserError } from '../../../errors.ts';
import { contentHash } from '../../../lib/canonical-json.ts';
import type { FormResult } from '../../../views/blocks/blocks.ts';
import { pluralize } from '../../../views/blocks/format.ts';
import { isNote } from '../../../views/blocks/menu.ts';
import { formatCode, truncateLines } from '../../../views/blocks/text.ts';
import { renderProposed } from '../../../views/operations/approvals.ts';
import { checkIt, describeVolumeConsequences, renderSent } from '../../../views/operations/describe.ts';
import * as forms from '../../../views/operations/forms.ts';
import { type Command, type Context, defineForm, type Feature } from '../../define.ts';
import { resolveAppToDelete } from '../../names.ts';
import { loadAffectedByVolume } from '../../zones/lookup.ts';
import { findApprovalNeeds, proposeChange, reasonField } from '../propose.ts';
import { type Kind, readShown } from './kind.ts';

export interface VolumeRequest {
  readonly appId: string;
  readonly volumeId: string;
}

export const volumeDeletion = {
  name: 'volume-delete',
  right: 'destroy',

  parse({ path }) {
    const [, , , appId = '', , volumeId = ''] = path.split('/').map(decodeURIComponent);
    return { appId, volumeId };
  },
  request: ({ appId, volumeId }) => ({ method: 'DELETE', path: volumePath(appId, volumeId), body: null }),

  consequences(snapshot) {
    const shown = readShown(snapshot);
    return { text: describeVolumeConsequences(shown), zones: shown };
  },

  describe: ({ appId, volumeId }) =>
    `delete volume ${formatCode(volumeId, 60)} of app ${formatCode(appId, 60)}, every instance`,
  describeOutcome({ word, instances }) {
    if (word !== 'done') return outcomes[word];
    // As earlier versions stored it.
    if (!instances) return 'Deleted. The CDN did not say how many instances there were.';
    const ids = instances.map((id) => formatCode(id, 60));
    return `${pluralize(ids.length, 'instance')} deleted: ${truncateLines(ids, 1000, ', ')}.`;
  },
  again: ({ appId, volumeId }) => `volume delete ${appId} ${volumeId}`,
  check: {
    done: 'The volume is gone',
    notDone: 'The volume is still there',
    look: 'Check in the CDN’s control panel whether the volume is still listed.',
  },

  audit: ({ appId, volumeId }) => ({ app: appId, volume: volumeId }),

  async send({ path, cdn }) {
    const { ids, requestId } = await cdn().volumes.deleteAll(path);
    if (ids === undefined) return { state: 'unknown', outcome: { word: 'unconfirmed', requestId } };
    return ids.length === 0
      ? { state: 'failed', outcome: { word: 'nothing-deleted', requestId } }
      : { state: 'succeeded', outcome: { word: 'done', requestId, instances: ids } };
  },
  nameRefusal: ({ status, serviceMessage }) =>
    status === 400 && /detach/iu.test(serviceMessage ?? '') ? 'not-detached' : undefined,
} satisfies Kind<VolumeRequest>;

const outcomes: Readonly<Record<string, string>> = {
  unconfirmed: `Accepted, not confirmed: the CDN did not say what it deleted. ${checkIt}`,
  'nothing-deleted': 'The CDN deleted nothing: the volume had no instances.',
  'not-found':
    'Nothing was deleted: the CDN does not know this volume. It is already gone, or an ID is wrong.',
  'not-detached':
    'Nothing was deleted: an instance is still attached. Detach it first: open the app in the CDN’s control panel, scale it down or remove the volume from it, then try again.',
};

const volumeCommand: Command = {
  name: 'volume',
  aliases: ['volumes'],
  usage: 'volume delete [<appId> <volumeId>]',
  summary: 'Delete a volume: every instance of it, after others have approved',
  label: 'Delete a volume',
  examples: ['volume delete', 'volume delete app0api00000001 my-data-volume'],
  needs: 'destroy',
  modal: ({ list: [verb = 'delete'] }) =>
    /^(?:delete|remove|rm)$/iu.test(verb) ? forms.volumeBusy : undefined,
  load: async (words, context) => {
    const [, first, ...others] = words.list;
    const second = others.pop();
    // A single word with a dash in it is the ID of a volume: those of apps are letters and digits.
    const isVolume = second === undefined && first?.includes('-') === true;
    const [typedApp, volumeId] = isVolume
      ? [undefined, first]
      : [first && [first, ...others].join(' '), second];
    const appId = typedApp && (await resolveAppToDelete(typedApp, context));
    const named = appId ? await context.names.find(context.person, 'app', appId) : undefined;
    if (!appId || !volumeId) return forms.renderVolumeForm({ appId, volumeId }, named);
    const typed = { appId, volumeId };
    return forms.renderVolumeForm(typed, named, await loadPreview(typed, context));
  },
  async run() {
    throw new UserError('A volume can only be deleted.', 'Type `/cdn volume delete`.');
  },
};

/** An id that leads to another path is refused before approvers are asked. */
function isTextId(value: string): boolean {
  try {
    return checkTextId(value, { noun: 'an ID', hint: '' }) === value;
  } catch {
    return false;
  }
}

const id = (noun: string) =>
  z
    .string({ error: `Type the ${noun}.` })
    .trim()
    .min(1, { error: `Type the ${noun}.` })
    .max(200, { error: 'That is too long for an ID.' })
    .regex(/^[^\s/\\]+$/u, { error: 'An ID has no spaces or slashes.' })
    .refine(isTextId, { error: 'This is not a valid ID.' });

export const volumeIds = z.object({
  appId: id('app ID').refine((value) => !isNote(value), {
    error: 'That line is not an app. Pick one, or type its ID.',
  }),
  volumeId: id('volume ID'),
});

const fields = volumeIds
  .extend({
    confirmVolumeId: z.string({ error: 'Type the volume ID once more.' }).trim(),
    reason: reasonField('Say why: the approvers read it.'),
  })
  .refine(({ volumeId, confirmVolumeId }) => volumeId === confirmVolumeId, {
    path: ['confirmVolumeId'],
    error: 'This is not the volume ID above. Type exactly the same ID.',
  });
async function submit(values: z.output<typeof fields>, context: Context): Promise<FormResult> {
  const { appId, volumeId, reason } = values;
  const named = await context.names.find(context.person, 'app', appId);
  const preview = await loadPreview(values, context);
  const seen = context.modal?.metadata;
  if (seen !== preview.note) {
    // Shown for the first time, or changed since it was shown: nothing is proposed before it is read.
    const changed = seen?.startsWith(`${contentHash([appId, volumeId])}:`) ?? false;
    return {
      modal: forms.renderVolumeForm(values, named, { ...preview, changed }),
      message: { text: 'Nothing was requested: the form was closed before it was sent.' },
    };
  }
  const { policy, approvers } = preview.needs;
  const request = { appId, volumeId };
  const proposal = { kind: volumeDeletion, request, reason, snapshot: preview.shown, policy, approvers };
  const message = renderProposed(await proposeChange(proposal, context));
  return { modal: renderSent(message), message };
}

export async function loadPreview(
  { appId, volumeId }: { readonly appId: string; readonly volumeId: string },
  context: Context,
) {
  const [shown, needs] = await Promise.all([
    loadAffectedByVolume(appId, context),
    findApprovalNeeds(volumeDeletion, context),
  ]);
  // The cost changes every minute and decides nothing.
  const { monthlyCost: _, ...decisive } = shown;
  const note = `${contentHash([appId, volumeId])}:${contentHash([decisive, needs.needed])}`;
  return { shown, needs, note };
}

export const volumes: Feature = {
  name: 'volumes',
  commands: [volumeCommand],
  forms: [
    defineForm({
      id: 'volumes:submit',
      needs: 'destroy',
      changesHome: true,
      fields,
      loadingView: forms.volumeBusy,
      again: ({ appId = '', volumeId = '' }) => [
        'help:run',
        ['volume delete', appId, volumeId].flat().join(' '),
      ],
      run: submit,
    }),
  ],
};
