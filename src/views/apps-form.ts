import type { ModalView, Option } from '@slack/types';
import { plain } from './blocks/blocks.ts';
import { firstOf, option } from './blocks/menu.ts';

export interface ListedApp {
  readonly id: string;
  /** Names of the zones that lead to it. */
  readonly zones: readonly string[];
}

/** Which app? A menu of those that the zones name; an id can always be typed, also while the menu cannot be read. */
export function renderAppForm(): ModalView {
  return {
    type: 'modal',
    callback_id: 'apps:submit',
    title: plain('Show an app'),
    submit: plain('Show'),
    close: plain('Cancel'),
    blocks: [
      {
        type: 'input',
        block_id: 'app',
        optional: true,
        label: plain('App'),
        hint: plain('The container applications that your zones lead to.'),
        element: {
          type: 'external_select',
          action_id: 'apps:pick',
          placeholder: plain('Type a part of its id or of its zone'),
          min_query_length: 0,
          focus_on_load: true,
        },
      },
      {
        type: 'input',
        block_id: 'appId',
        optional: true,
        label: plain('Or its id'),
        element: {
          type: 'plain_text_input',
          action_id: 'appId',
          placeholder: plain('About 15 letters and digits'),
          max_length: 200,
        },
      },
    ],
  };
}

/** A line of that menu. */
export function appOption({ id, zones }: ListedApp): Option {
  return option(id, id, `Zone ${firstOf(zones)}`);
}
