import type { KnownBlock, ModalView } from '@slack/types';
import { limits, picked, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { formatCount } from '../blocks/format.ts';
import { input, modal, option, renderSkeleton, searchSelect, select, textInput } from '../blocks/inputs.ts';
import { escapeMrkdwn, formatCode, truncate } from '../blocks/text.ts';
import {
  type ApprovalNeeds,
  type Consequences,
  describeVolumeConsequences,
  nameRequester,
  noUndo,
  renderApprovalNeeds,
  type ShownOperation,
  type VolumeShown,
} from './describe.ts';

type VolumeInputs = Partial<
  Readonly<Record<'appId' | 'volumeId' | 'confirmVolumeId' | 'reason', string | undefined>>
>;

export interface VolumePreview {
  readonly shown: VolumeShown;
  readonly needs: ApprovalNeeds;
  /** Identifies this preview, so that a later change of it is noticed. */
  readonly note: string;
  readonly changed?: boolean;
}

/** Only a form with the preview proposes a deletion. `named`: the name that a person gave to the app. */
export function renderVolumeForm(typed: VolumeInputs, named?: Giver, preview?: VolumePreview): ModalView {
  const settings = {
    title: 'Delete a volume',
    callbackId: 'volumes:submit',
    submit: preview ? labelDeletion(preview.needs) : 'Review impact',
    metadata: preview?.note,
  };
  const { appId = '' } = typed;
  return modal(settings, [
    ...(preview ? renderPreview(preview) : [intro]),
    named && renderGiver('App', named),
    // An id too long for a menu's option has to be typed.
    appId.length > limits.option
      ? textInput('appId', 'App', { initial: appId, hint: 'About 15 letters and digits.' })
      : searchSelect('appId', 'App', {
          chosen: appId ? picked(appId) : undefined,
          placeholder: searchPlaceholder,
          hint: 'Apps that your zones use; type an ID to use another.',
        }),
    textInput('volumeId', 'Volume ID', {
      initial: typed.volumeId,
      hint: 'As the CDN’s control panel shows it: my-data-volume',
    }),
    textInput('confirmVolumeId', 'Type the volume ID again', {
      initial: typed.confirmVolumeId,
      focus: typed.volumeId !== undefined,
      hint: 'Guards against deleting the wrong volume.',
    }),
    textInput('reason', 'Why?', {
      initial: typed.reason,
      hint: 'Approvers read it; it is kept with the request.',
      multiline: true,
      maxLength: 500,
    }),
  ]);
}

type Giver = Readonly<Record<'id' | 'name' | 'by', string>>;

function renderGiver(what: string, { id, name, by }: Giver): KnownBlock {
  return section(`${what} ${formatCode(id, 60)} is called *${escapeMrkdwn(name)}* here, by <@${by}>.`);
}

function labelDeletion({ needed }: ApprovalNeeds): string {
  return needed > 0 ? 'Request approval' : 'Delete for good';
}

const searchPlaceholder = 'Type part of its ID or of its zone';

const intro = section(
  '*Deletes every instance of a volume.* You review the impact before anything is requested.',
);

function renderPreview({ shown, needs, changed }: VolumePreview): KnownBlock[] {
  const isChanged = ':arrows_counterclockwise: *This changed while you were reading.* Review it again.';
  const first = 'Detach every instance first, or the CDN refuses and nothing is deleted.';
  const needed = renderApprovalNeeds(needs, labelDeletion(needs));
  const blocks = [section(describeVolumeConsequences(shown)), section([first, needed])];
  return changed ? [section(isChanged), ...blocks] : blocks;
}

export const volumeBusy = renderSkeleton('Delete a volume', 'Looking up the impact and who has to approve…');
export const variableBusy = renderSkeleton('Set a variable');

/** An untouched menu counts as a choice: unchanged members are not sent. */
const requiredOptions = [
  option('Leave unchanged', 'unchanged'),
  option('Required', 'true'),
  option('Not required', 'false'),
];

/** Characters. Slack's inputs take 3000, a variable holds 4096. */
export const valueLengths = { first: 3000, rest: 1096 };
const valueInput = { multiline: true, optional: true };
const valueOptions = [
  option('Set it to an empty value', 'empty'),
  option('Keep curly quotes (“ ” ‘ ’) as typed', 'curly'),
];

export interface KnownVariable {
  readonly name: string | undefined;
  /** The name that a person gave to the script. */
  readonly named: Giver | undefined;
  readonly consequences: Consequences;
  readonly needs: ApprovalNeeds;
  readonly canUndo: boolean;
}

export function renderVariableForm(
  {
    scriptId,
    variableId,
    required = 'unchanged',
    unknown,
    metadata,
  }: Partial<
    Readonly<Record<'scriptId' | 'variableId' | 'required' | 'unknown' | 'metadata', string | undefined>>
  >,
  known?: KnownVariable,
): ModalView {
  const zonesButton = button('Show the zones', 'variables:preview', scriptId ?? 'typed');
  const settings = {
    title: 'Set a variable',
    callbackId: 'variables:submit',
    submit: known && known.needs.needed > 0 ? 'Request approval' : 'Set it',
    metadata,
  };
  const undo = known?.canUndo ? 'You can undo it for 30 minutes.' : noUndo;
  return modal(settings, [
    section([
      unknown &&
        `Nobody here has set ${formatCode(unknown, 60)} yet: choose its script and type its ID once. Then the name is enough.`,
      known?.consequences.text ?? 'Changes a variable of an edge script. Empty fields stay unchanged.',
    ]),
    known && section([renderApprovalNeeds(known.needs, 'Set it'), undo]),
    known?.named && renderGiver('Script', known.named),
    searchSelect('scriptId', 'Script', {
      chosen: scriptId ? picked(scriptId) : undefined,
      placeholder: searchPlaceholder,
      hint: 'The edge scripts that your zones run; type an ID to use another.',
    }),
    !known && section('Which zones run it?', zonesButton),
    textInput('variableId', 'Variable ID', {
      initial: variableId,
      hint: known?.name ? `The CDN calls it ${truncate(known.name, 60)}.` : 'A whole number',
      maxLength: 30,
    }),
    textInput('defaultValue', 'New value', {
      hint: 'Treated as a secret: never shown again, not even to you. Above 2,048 bytes the CDN may refuse it.',
      maxLength: valueLengths.first,
      focus: variableId !== undefined,
      ...valueInput,
    }),
    textInput('moreValue', 'The rest of a long value', {
      hint: `Added directly after the first ${formatCount(valueLengths.first, 'character')}.`,
      maxLength: valueLengths.rest,
      ...valueInput,
    }),
    input('empty', 'Or', { type: 'checkboxes', options: valueOptions }, { optional: true }),
    select('required', 'Is it required?', requiredOptions, { chosen: required, optional: true }),
  ]);
}

export function renderDenyForm(operation: ShownOperation): ModalView {
  const { id } = operation;
  const settings = { title: 'Deny the request', callbackId: 'approvals:deny-submit', metadata: id };
  return modal({ ...settings, submit: 'Deny', close: 'Back' }, [
    section(`${nameRequester(operation)} asks to *${operation.words.what}*`),
    textInput('reason', 'Why not?', {
      hint: 'The requester reads it.',
      multiline: true,
      maxLength: 500,
      focus: true,
    }),
  ]);
}

export function renderCheckForm(
  operation: ShownOperation,
  { done, notDone, look }: Readonly<Record<'done' | 'notDone' | 'look', string>>,
): ModalView {
  const settings = { title: 'Was it done?', callbackId: 'approvals:check-submit', metadata: operation.id };
  const options = [option(done, 'succeeded'), option(notDone, 'failed')];
  return modal({ ...settings, submit: 'Record it', close: 'Back' }, [
    section(`The outcome is unknown: *${operation.words.what}*`),
    section(look),
    input('seen', 'What did you find?', { type: 'radio_buttons', options }),
  ]);
}
