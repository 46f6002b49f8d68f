import type { ModalView } from '@slack/types';
import type { VariableShown } from '../../api/zones/summary.ts';
import { button, picked, plain, section } from '../blocks/blocks.ts';
import { type ApprovalNeeds, renderApprovalNeeds, scriptConsequences } from './operations.ts';

/** `Leave as it is` is an answer of its own: what was not touched is not sent. */
const requiredOptions = [
  { text: plain('Leave as it is'), value: 'unchanged' },
  { text: plain('Required'), value: 'true' },
  { text: plain('Not required'), value: 'false' },
];

export interface VariableTyped {
  readonly scriptId?: string | undefined;
  readonly variableId?: string | undefined;
}

/** What to set. `runs`: the zones that run the script, where they are known. */
export function renderVariableForm(
  typed: VariableTyped,
  known?: { readonly shown: VariableShown; readonly needs: ApprovalNeeds },
): ModalView {
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
      {
        type: 'input',
        block_id: 'scriptId',
        label: plain('Script'),
        hint: plain('The edge scripts that your zones run; type an id to use another.'),
        element: {
          type: 'external_select',
          action_id: 'scriptId',
          placeholder: plain('Type a part of its id or of its zone'),
          min_query_length: 0,
          ...(typed.scriptId ? { initial_option: picked(typed.scriptId) } : {}),
        },
      },
      ...(known
        ? []
        : [
            section(
              'Which zones run it?',
              button('Show the zones', 'variables:preview', typed.scriptId ?? 'typed'),
            ),
          ]),
      variableInput(typed.variableId),
      {
        type: 'input',
        block_id: 'defaultValue',
        optional: true,
        label: plain('New value'),
        hint: plain('Treated as a secret: never shown again, not even to you. Up to 3000 characters here.'),
        element: { type: 'plain_text_input', action_id: 'defaultValue', multiline: true, max_length: 3000 },
      },
      {
        type: 'input',
        block_id: 'empty',
        optional: true,
        label: plain('Or'),
        element: {
          type: 'checkboxes',
          action_id: 'empty',
          options: [{ text: plain('Set it to an empty value'), value: 'empty' }],
        },
      },
      {
        type: 'input',
        block_id: 'required',
        label: plain('Is it required?'),
        optional: true,
        element: {
          type: 'static_select',
          action_id: 'required',
          options: requiredOptions,
          initial_option: { text: plain('Leave as it is'), value: 'unchanged' },
        },
      },
    ],
  };
}

/** The zones that run a script, on top of the form. */
export function renderScriptZones(shown: VariableShown): ModalView {
  return {
    type: 'modal',
    title: plain('Who runs it'),
    close: plain('Back'),
    blocks: [section(scriptConsequences(shown))],
  };
}

export const variableBusy: ModalView = {
  type: 'modal',
  title: plain('Set a variable'),
  close: plain('Close'),
  blocks: [section('One moment…')],
};

function variableInput(initial: string | undefined): ModalView['blocks'][number] {
  return {
    type: 'input',
    block_id: 'variableId',
    label: plain('Variable id'),
    element: {
      type: 'plain_text_input',
      action_id: 'variableId',
      max_length: 30,
      placeholder: plain('A whole number'),
      ...(initial ? { initial_value: initial } : {}),
    },
  };
}
