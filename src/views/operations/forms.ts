import type { InputBlock, ModalView } from '@slack/types';
import type { VariableShown, VolumeShown } from '../../api/zones/summary.ts';
import type { Operation } from '../../operations/model.ts';
import { button, limits, picked, plain, section } from '../blocks/blocks.ts';
import {
  type ApprovalNeeds,
  describeRequest,
  renderApprovalNeeds,
  scriptConsequences,
  volumeConsequences,
} from './describe.ts';

/** The values in the inputs of the form. */
export interface VolumeInputs {
  readonly appId?: string | undefined;
  readonly volumeId?: string | undefined;
  readonly confirmVolumeId?: string | undefined;
  readonly reason?: string | undefined;
}

export interface VolumePreview {
  readonly shown: VolumeShown;
  readonly needs: ApprovalNeeds;
  /** Carried in the form: identifies this preview, so that a later change of it is noticed. */
  readonly note: string;
  /** The preview changed since the form was rendered. */
  readonly changed?: boolean;
}

/** The form of a deletion. Only a form with the preview of its consequences proposes one. */
export function renderVolumeForm(typed: VolumeInputs, preview?: VolumePreview): ModalView {
  const submit = !preview
    ? 'Show what hangs on it'
    : preview.needs.needed > 0
      ? 'Ask for approval'
      : 'Delete for good';
  return {
    type: 'modal',
    callback_id: 'volumes:submit',
    title: plain('Delete a volume'),
    submit: plain(submit),
    close: plain('Cancel'),
    ...(preview ? { private_metadata: preview.note } : {}),
    blocks: [
      ...(preview ? renderPreview(preview) : [intro]),
      // An id too long for a menu's option has to be typed.
      (typed.appId ?? '').length > limits.option
        ? textInput('appId', 'App', typed.appId, 'About 15 letters and digits.')
        : searchInput(
            'appId',
            'App',
            typed.appId,
            'The apps that your zones lead to; type an id to use another.',
          ),
      textInput('volumeId', 'Volume id', typed.volumeId, 'As the CDN’s panel shows it: my-data-volume'),
      textInput(
        'confirmVolumeId',
        'Type the volume id again',
        typed.confirmVolumeId,
        'So that nothing else is deleted by a slip.',
      ),
      textInput('reason', 'Why?', typed.reason, 'Approvers read it; it is kept with the request.', {
        multiline: true,
        max_length: 500,
      }),
    ],
  };
}

const intro = section(
  '*Deletes every instance of a volume.* You see what hangs on it before anything is asked for.',
);

function renderPreview({ shown, needs, changed }: VolumePreview): ModalView['blocks'] {
  return [
    ...(changed
      ? [section(':arrows_counterclockwise: *This changed since you looked.* Read it again.')]
      : []),
    section(volumeConsequences(shown)),
    section(renderApprovalNeeds(needs)),
  ];
}

/** Shown while the form is looked up or sent. */
export const volumeBusy = renderSkeleton(
  'Delete a volume',
  'Close',
  'One moment: looking up what hangs on it and who has to agree…',
);
export const variableBusy = renderSkeleton('Set a variable', 'Close');

export interface VariableInputs {
  readonly scriptId?: string | undefined;
  readonly variableId?: string | undefined;
}

/** An untouched menu is a choice of its own: what stays as it is, is not sent. */
const requiredOptions = [
  { text: plain('Leave as it is'), value: 'unchanged' },
  { text: plain('Required'), value: 'true' },
  { text: plain('Not required'), value: 'false' },
];

/** The form of a variable. `known`: the zones that run the script, where it was named before. */
export function renderVariableForm(
  typed: VariableInputs,
  known?: { readonly shown: VariableShown; readonly needs: ApprovalNeeds },
): ModalView {
  const zonesButton = button('Show the zones', 'variables:preview', typed.scriptId ?? 'typed');
  return {
    type: 'modal',
    callback_id: 'variables:submit',
    title: plain('Set a variable'),
    submit: plain(known && known.needs.needed > 0 ? 'Ask for approval' : 'Set it'),
    close: plain('Cancel'),
    blocks: [
      section(
        known
          ? scriptConsequences(known.shown)
          : 'Changes a variable of an edge script. What you leave empty stays as it is.',
      ),
      ...(known ? [section(renderApprovalNeeds(known.needs))] : []),
      searchInput(
        'scriptId',
        'Script',
        typed.scriptId,
        'The edge scripts that your zones run; type an id to use another.',
      ),
      ...(known ? [] : [section('Which zones run it?', zonesButton)]),
      textInput('variableId', 'Variable id', typed.variableId, 'A whole number', { max_length: 30 }),
      {
        ...textInput(
          'defaultValue',
          'New value',
          undefined,
          'Treated as a secret: never shown again, not even to you. Up to 3000 characters here.',
          { multiline: true, max_length: 3000 },
        ),
        optional: true,
      },
      {
        ...input('empty', 'Or', {
          type: 'checkboxes',
          action_id: 'empty',
          options: [{ text: plain('Set it to an empty value'), value: 'empty' }],
        }),
        optional: true,
      },
      {
        ...input('required', 'Is it required?', {
          type: 'static_select',
          action_id: 'required',
          options: requiredOptions,
          initial_option: { text: plain('Leave as it is'), value: 'unchanged' },
        }),
        optional: true,
      },
    ],
  };
}

/** The zones that run a script, in a view on top of the form. */
export function renderScriptZones(shown: VariableShown): ModalView {
  return renderSkeleton('Who runs it', 'Back', scriptConsequences(shown));
}

/** Asks an approver for the reason of a denial. */
export function renderDenyForm(operation: Operation): ModalView {
  return {
    type: 'modal',
    callback_id: 'approvals:deny-submit',
    private_metadata: operation.id,
    title: plain('Deny the request'),
    submit: plain('Deny'),
    close: plain('Back'),
    blocks: [
      section(`<@${operation.requester.userId}> asks to *${describeRequest(operation)}*`),
      textInput('reason', 'Why not?', undefined, 'The requester reads it.', {
        multiline: true,
        max_length: 500,
        focus_on_load: true,
      }),
    ],
  };
}

/** Asks a person what they saw, where the outcome is unknown. `now`: what the CDN reports at this moment. */
export function renderCheckForm(operation: Operation, now: string): ModalView {
  const isVolume = operation.kind === 'volume-delete';
  const options = [
    { text: plain(isVolume ? 'The volume is gone' : 'The variable has the new value'), value: 'succeeded' },
    { text: plain(isVolume ? 'The volume is still there' : 'The variable is as it was'), value: 'failed' },
  ];
  return {
    type: 'modal',
    callback_id: 'approvals:check-submit',
    private_metadata: operation.id,
    title: plain('Was it done?'),
    submit: plain('That is what I saw'),
    close: plain('Back'),
    blocks: [
      section(`The outcome is unknown: *${describeRequest(operation)}*`),
      section(now),
      input('seen', 'What do you see in the CDN’s panel?', {
        type: 'radio_buttons',
        action_id: 'seen',
        options,
      }),
    ],
  };
}

export function renderSkeleton(title: string, close = 'Back', text = 'One moment…'): ModalView {
  return { type: 'modal', title: plain(title), close: plain(close), blocks: [section(text)] };
}

function input(name: string, label: string, element: InputBlock['element']): InputBlock {
  return { type: 'input', block_id: name, label: plain(label), element };
}

/** A menu with search. */
function searchInput(name: string, label: string, initial: string | undefined, hint: string): InputBlock {
  const element = {
    type: 'external_select' as const,
    action_id: name,
    placeholder: plain('Type a part of its id or of its zone'),
    min_query_length: 0,
    ...(initial ? { initial_option: picked(initial) } : {}),
  };
  return { ...input(name, label, element), hint: plain(hint) };
}

function textInput(
  name: string,
  label: string,
  initial: string | undefined,
  hint: string,
  more: { readonly multiline?: true; readonly max_length?: number; readonly focus_on_load?: true } = {},
): InputBlock {
  const element = {
    type: 'plain_text_input' as const,
    action_id: name,
    max_length: 200,
    ...more,
    ...(initial ? { initial_value: initial } : {}),
  };
  return { ...input(name, label, element), hint: plain(hint) };
}
