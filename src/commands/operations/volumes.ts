import { createHash } from 'node:crypto';
import { z } from 'zod';
import { textId } from '../../api/http/paths.ts';
import type { VolumeShown } from '../../api/zones/summary.ts';
import { UserError } from '../../errors.ts';
import { addFailure, renderFailure } from '../../views/blocks/failure.ts';
import { isNote } from '../../views/blocks/menu.ts';
import { renderProposed } from '../../views/operations/answers.ts';
import { renderSent } from '../../views/operations/operations.ts';
import * as forms from '../../views/operations/volumes.ts';
import { type Command, type Context, defineForm, type Feature, type FormResult } from '../define.ts';
import type { Words } from '../words.ts';
import { loadAffectedByVolume, toShownFacts } from '../zones/affected.ts';
import { type ApprovalNeedsByPolicy, findApprovalNeeds, propose } from './proposals.ts';

const volumeCommand: Command = {
  name: 'volume',
  aliases: ['volumes'],
  usage: 'volume delete [<appId> <volumeId>]',
  summary: 'Delete every instance of a volume, after others have approved it',
  label: 'Delete a volume',
  examples: ['volume delete', 'volume delete app0api00000001 my-data-volume'],
  needs: 'destroy',
  modal: (words) => (isDelete(words) ? forms.volumeBusy : undefined),
  fill: async (words, context) => {
    const typed = idsIn(words);
    const { appId, volumeId } = typed;
    return appId && volumeId
      ? (await previewed({ ...typed, appId, volumeId }, context)).form
      : forms.renderVolumeForm(typed);
  },
  async run() {
    throw new UserError('With a volume the bot can do one thing: delete it.', 'Type `/cdn volume delete`.');
  },
};

function isDelete({ list }: Words): boolean {
  return ['delete', 'remove', 'rm'].includes(list[0]?.toLowerCase() ?? 'delete');
}

function idsIn({ list: [, appId, volumeId] }: Words): forms.VolumeTyped {
  return { appId, volumeId };
}

/** As the CDN's addresses take it: what would lead to another address is noticed before anybody is asked. */
function isTextId(value: string): boolean {
  try {
    return textId(value, { noun: 'an id', hint: '' }) === value;
  } catch {
    return false;
  }
}

const id = (what: string) =>
  z
    .string({ error: `Type ${what}.` })
    .trim()
    .min(1, { error: `Type ${what}.` })
    .max(200, { error: 'That is too long for an id.' })
    .regex(/^[^\s/\\]+$/u, { error: 'An id has no spaces or slashes in it.' })
    .refine(isTextId, { error: 'This cannot be an id.' });

const fields = z
  .object({
    appId: id('the app id').refine((value) => !isNote(value), {
      error: 'This line is no app. Pick one, or type its id.',
    }),
    volumeId: id('the volume id'),
    confirmVolumeId: z.string({ error: 'Type the volume id once more.' }).trim(),
    reason: z
      .string({ error: 'Say why: whoever approves reads it.' })
      .trim()
      .min(1, { error: 'Say why: whoever approves reads it.' })
      .max(500, { error: 'At most 500 characters.' }),
  })
  .refine(({ volumeId, confirmVolumeId }) => volumeId === confirmVolumeId, {
    path: ['confirmVolumeId'],
    error: 'This is not the volume id above. Type exactly the same id.',
  });
type Values = z.output<typeof fields>;

async function submit(values: Values, context: Context): Promise<FormResult> {
  const { appId, volumeId, reason } = values;
  let preview: Previewed;
  try {
    preview = await previewed(values, context);
  } catch (error) {
    // What was typed stays: whoever mends what was wrong goes on from there.
    const problem = context.explain(error);
    return { modal: addFailure(forms.renderVolumeForm(values), problem), message: renderFailure(problem) };
  }
  const { shown, needs, note, form } = preview;
  const seen = context.modal?.note;
  if (seen !== note) {
    const changed = seen?.startsWith(`${nameOf(appId, volumeId)}:`) ?? false;
    const redrawn = changed ? forms.renderVolumeForm(values, { shown, needs, note, changed }) : form;
    return {
      modal: redrawn,
      message: { text: 'Nothing was asked for: the form was closed before it was sent.' },
    };
  }
  const request = { kind: 'volume-delete', appId, volumeId } as const;
  const { policy } = needs;
  const operation = await propose({ request, reason, snapshot: toShownFacts(shown), policy }, context);
  const message = renderProposed(operation);
  return { modal: renderSent(message), message };
}

interface Previewed {
  readonly shown: VolumeShown;
  readonly needs: ApprovalNeedsByPolicy;
  readonly note: string;
  readonly form: ReturnType<typeof forms.renderVolumeForm>;
}

/** The form with what hangs on the volume now. */
async function previewed(
  typed: forms.VolumeTyped & { readonly appId: string; readonly volumeId: string },
  context: Context,
): Promise<Previewed> {
  const [shown, needs] = await Promise.all([
    loadAffectedByVolume(typed.appId, context),
    findApprovalNeeds('volume-delete', context),
  ]);
  // The cost moves with every minute; what matters is what would go, and who has to agree.
  const { monthlyCost: _, ...matters } = shown;
  const digest = createHash('sha256')
    .update(JSON.stringify([matters, needs.needed]))
    .digest('hex');
  const note = `${nameOf(typed.appId, typed.volumeId)}:${digest.slice(0, 32)}`;
  return { shown, needs, note, form: forms.renderVolumeForm(typed, { shown, needs, note }) };
}

/** Ids may be long, and a form carries little. */
function nameOf(appId: string, volumeId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([appId, volumeId]))
    .digest('hex')
    .slice(0, 16);
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
      busy: forms.volumeBusy,
      run: submit,
    }),
  ],
};
