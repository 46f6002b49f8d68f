import type { ModalView, Option } from '@slack/types';
import { limits, plain } from './blocks.ts';
import { grouped, plainly } from './text.ts';

export interface ListedApp {
  readonly id: string;
  /** Names of the zones that lead to it. */
  readonly zones: readonly string[];
}

/** Which app? A menu of those that the zones name; an id can always be typed, also while the menu cannot be read. */
export function appForm(): ModalView {
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

/** Lines of that menu. `more`: how many match beside these. */
export function appOptions(
  apps: readonly ListedApp[],
  found: { readonly more: number; readonly searched: boolean },
): Option[] {
  if (apps.length === 0)
    return [
      option(
        found.searched
          ? 'None matches: type the id into the field below'
          : 'Your zones name no app: type its id below',
        'note',
      ),
    ];
  const options = apps.map(({ id, zones }): Option => {
    const [first = '', ...others] = zones;
    const names = others.length > 0 ? `${plainly(first, 30)} +${grouped(others.length)}` : plainly(first, 40);
    return { ...option(id, id), description: plain(plainly(`Zone ${names}`, limits.option)) };
  });
  return found.more > 0
    ? [...options, option(`… and ${grouped(found.more)} more: keep typing`, 'note')]
    : options;
}

function option(text: string, value: string): Option {
  return { text: plain(plainly(text, limits.option)), value };
}
