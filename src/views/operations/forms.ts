import type { ModalView } from '@slack/types';
import type { Operation } from '../../operations/model.ts';
import { plain, section } from '../blocks/blocks.ts';
import { describeRequest } from './operations.ts';

/** Asks an approver why not. */
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
      {
        type: 'input',
        block_id: 'reason',
        label: plain('Why not?'),
        hint: plain('The requester reads it.'),
        element: {
          type: 'plain_text_input',
          action_id: 'reason',
          multiline: true,
          max_length: 500,
          focus_on_load: true,
        },
      },
    ],
  };
}

/** Asks a person what they saw, where nobody knows the outcome. `now`: what the CDN shows at this moment. */
export function renderCheckForm(operation: Operation, now: string): ModalView {
  const volume = operation.kind === 'volume-delete';
  const options = [
    { text: plain(volume ? 'The volume is gone' : 'The variable has the new value'), value: 'succeeded' },
    { text: plain(volume ? 'The volume is still there' : 'The variable is as it was'), value: 'failed' },
  ];
  return {
    type: 'modal',
    callback_id: 'approvals:check-submit',
    private_metadata: operation.id,
    title: plain('Was it done?'),
    submit: plain('That is what I saw'),
    close: plain('Back'),
    blocks: [
      section(`Nobody knows the outcome of: *${describeRequest(operation)}*`),
      section(now),
      {
        type: 'input',
        block_id: 'seen',
        label: plain('What do you see in the CDN’s panel?'),
        element: { type: 'radio_buttons', action_id: 'seen', options },
      },
    ],
  };
}

export function renderSkeleton(title: string): ModalView {
  return { type: 'modal', title: plain(title), close: plain('Back'), blocks: [section('One moment…')] };
}
