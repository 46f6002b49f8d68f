import type { ModalView } from '@slack/types';
import type { VolumeShown } from '../../api/zones/summary.ts';
import { limits, picked, plain, section } from '../blocks/blocks.ts';
import { type ApprovalNeeds, renderApprovalNeeds, volumeConsequences } from './operations.ts';

/** What is in the form's inputs already. */
export interface VolumeTyped {
  readonly appId?: string | undefined;
  readonly volumeId?: string | undefined;
  readonly confirmVolumeId?: string | undefined;
  readonly reason?: string | undefined;
}

export interface VolumePreview {
  readonly shown: VolumeShown;
  readonly needs: ApprovalNeeds;
  /** Carried in the form: what this preview is of, to notice what changes meanwhile. */
  readonly note: string;
  /** It was drawn anew, since this changed while it was read. */
  readonly changed?: boolean;
}

/**
 * Which volume, its id once more, and why. With `preview` also what hangs on it: only what is sent from there is
 * asked for.
 */
export function renderVolumeForm(typed: VolumeTyped, preview?: VolumePreview): ModalView {
  return {
    type: 'modal',
    callback_id: 'volumes:submit',
    title: plain('Delete a volume'),
    submit: plain(
      !preview ? 'Show what hangs on it' : preview.needs.needed > 0 ? 'Ask for approval' : 'Delete for good',
    ),
    close: plain('Cancel'),
    ...(preview ? { private_metadata: preview.note } : {}),
    blocks: [
      ...(preview ? previewBlocks(preview) : [intro]),
      appInput(typed.appId),
      textInput('volumeId', 'Volume id', typed.volumeId, 'As the CDN’s panel shows it: my-data-volume'),
      textInput(
        'confirmVolumeId',
        'Type the volume id again',
        typed.confirmVolumeId,
        'So that nothing else is deleted by a slip.',
      ),
      textInput('reason', 'Why?', typed.reason, 'Whoever approves reads it; it is kept with the request.', {
        multiline: true,
        max_length: 500,
      }),
    ],
  };
}

const intro = section(
  '*Deletes every instance of a volume.* You see what hangs on it before anything is asked for.',
);

function previewBlocks({ shown, needs, changed }: VolumePreview): ModalView['blocks'] {
  return [
    ...(changed
      ? [section(':arrows_counterclockwise: *This changed since you looked.* Read it again.')]
      : []),
    section(volumeConsequences(shown)),
    section(renderApprovalNeeds(needs)),
  ];
}

/** While something is looked up or sent. */
export const volumeBusy: ModalView = {
  type: 'modal',
  title: plain('Delete a volume'),
  close: plain('Close'),
  blocks: [section('One moment: looking up what hangs on it and who has to agree…')],
};

function appInput(initial: string | undefined): ModalView['blocks'][number] {
  // An id too long for a menu's option has to be typed.
  if (initial !== undefined && initial.length > limits.option)
    return textInput('appId', 'App', initial, 'About 15 letters and digits.');
  return {
    type: 'input',
    block_id: 'appId',
    label: plain('App'),
    hint: plain('The apps that your zones lead to; type an id to use another.'),
    element: {
      type: 'external_select',
      action_id: 'appId',
      placeholder: plain('Type a part of its id or of its zone'),
      min_query_length: 0,
      ...(initial ? { initial_option: picked(initial) } : {}),
    },
  };
}

function textInput(
  name: keyof VolumeTyped,
  label: string,
  initial: string | undefined,
  hint: string,
  more: { readonly multiline?: true; readonly max_length?: number } = {},
): ModalView['blocks'][number] {
  return {
    type: 'input',
    block_id: name,
    label: plain(label),
    hint: plain(hint),
    element: {
      type: 'plain_text_input',
      action_id: name,
      max_length: 200,
      ...more,
      ...(initial ? { initial_value: initial } : {}),
    },
  };
}
