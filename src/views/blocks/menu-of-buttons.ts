import type { Button, Overflow, PlainTextOption, StaticSelect } from '@slack/types';
import { limits, plain } from './blocks.ts';
import { type Maybe, truncate } from './text.ts';

/** Buttons under a heading of a menu. */
export interface ButtonGroup {
  readonly label: string;
  readonly buttons: readonly Maybe<Button>[];
}

/** The `⋯` menu of an action row, or the button itself if there is only one. A choice does what a press would do. */
export function overflow(...buttons: readonly Maybe<Button>[]): Overflow | Button | undefined {
  const options = makeOptions(buttons).slice(0, maxOverflow);
  if (options.length < 2) return buttons.find((entry) => !!entry) || undefined;
  return { type: 'overflow', action_id: 'menu:more', options };
}

/**
 * A menu of buttons, with or without headings. A choice does what a press would do. `chosen` is the label of the entry
 * that is shown; `nth` makes the id unique in its block. Nothing if it has no entries.
 */
export function selectOf(
  placeholder: string,
  entries: readonly Maybe<Button | ButtonGroup>[],
  { chosen, nth = 0 }: { readonly chosen?: string | undefined; readonly nth?: number } = {},
): StaticSelect | undefined {
  const given = entries.filter((entry) => !!entry);
  const groups = given
    .filter((entry) => 'buttons' in entry)
    .map(({ label, buttons }) => ({
      label: plain(label),
      options: makeOptions(buttons).slice(0, maxOptions),
    }))
    .filter(({ options }) => options.length > 0);
  const options = makeOptions(given.filter((entry) => 'type' in entry)).slice(0, maxOptions);
  const all = [...options, ...groups.flatMap((group) => group.options)];
  const initial = all.find(({ text }) => text.text === chosen);
  if (all.length === 0) return undefined;
  return {
    type: 'static_select',
    action_id: `menu:select:${nth}`,
    placeholder: plain(truncate(placeholder, 150)),
    ...(groups.length > 0 ? { option_groups: groups } : { options }),
    ...(initial ? { initial_option: initial } : {}),
  };
}

/** The button behind the chosen entry of a menu; undefined if the element is no menu of buttons. */
export function readChoice(
  actionId: string,
  value: string,
): { readonly actionId: string; readonly value: string } | undefined {
  if (!actionId.startsWith('menu:')) return undefined;
  const space = value.indexOf(' ');
  return { actionId: value.slice(0, space), value: value.slice(space + 1) };
}

/** Slack's limit: https://docs.slack.dev/reference/block-kit/block-elements/overflow-menu-element */
const maxOverflow = 5;
/** Slack's limit: https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element */
const maxOptions = 100;
/** Slack's limit: https://docs.slack.dev/reference/block-kit/composition-objects/option-object */
const maxValue = 150;

/** Entries whose value is too long for an option are left out: their buttons carry short ids. */
function makeOptions(buttons: readonly Maybe<Button>[]): PlainTextOption[] {
  return buttons.flatMap((entry) => {
    const value = entry && `${entry.action_id} ${entry.value}`;
    if (!entry || !value || value.length > maxValue) return [];
    return [
      {
        text: plain(truncate(entry.text.text, limits.option)),
        value,
        ...(entry.url ? { url: entry.url } : {}),
      },
    ];
  });
}
