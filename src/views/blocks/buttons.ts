import type { Button, ConfirmationDialog, Overflow, PlainTextOption, StaticSelect } from '@slack/types';
import { limits, plain } from './blocks.ts';
import { type Maybe, truncate } from './text.ts';

export function confirmation(title: string, text: string, confirm: string, deny: string): ConfirmationDialog {
  return { title: plain(title), text: plain(text), confirm: plain(confirm), deny: plain(deny) };
}

/** A button. `actionId` is `feature:verb`, plus `:anything` if a block holds several of one kind. */
export function button(
  label: string,
  actionId: string,
  value: string,
  more: Pick<Button, 'style' | 'confirm'> = {},
): Button {
  return { type: 'button', text: plain(truncate(label, limits.button)), action_id: actionId, value, ...more };
}

type Look = Pick<Button, 'style'>;

export function commandButton(label: string, words: string, nth = 0, more: Look = {}): Button {
  return button(label, `help:run:${nth}`, words.slice(0, limits.value), more);
}

/** The answer takes the place of the message that it is pressed in. */
export function replacingButton(label: string, words: string, nth = 0): Button {
  return button(label, `origin-errors:day:${nth}`, words);
}

export function connectButton(label = 'Connect your key', more: Look = { style: 'primary' }): Button {
  return button(label, 'connect:open', 'open', more);
}

/** Pages of the CDN's own panel: of a thing, with `{id}` in the address, and of a person's keys. Undefined: no link. */
export type PanelPages = Readonly<Record<'zone' | 'app' | 'script' | 'storage' | 'keys', string | undefined>>;

export function panelButton(
  pages: PanelPages,
  kind: keyof PanelPages,
  id: string,
  label = 'Open in the panel',
): Maybe<Button> {
  const url = pages[kind]?.replaceAll('{id}', encodeURIComponent(id));
  return url && url.length <= limits.url && { ...button(label, `panel:link:${kind}`, id), url };
}

export interface ButtonGroup {
  readonly label: string;
  readonly buttons: readonly Maybe<Button>[];
}

/** Or the button itself if there is only one. A choice does what a press would do. */
export function overflow(...buttons: readonly Maybe<Button>[]): Overflow | Button | undefined {
  const options = makeOptions(buttons).slice(0, limits.overflow);
  if (options.length < 2) return buttons.find((entry) => !!entry) || undefined;
  return { type: 'overflow', action_id: 'menu:more', options };
}

/** A menu of buttons. `chosen`: the label of the entry that is shown; `nth` makes the id unique. Nothing without entries. */
export function selectOf(
  placeholder: string,
  entries: readonly Maybe<Button | ButtonGroup>[],
  { chosen, nth = 0 }: { readonly chosen?: string | undefined; readonly nth?: number } = {},
): StaticSelect | undefined {
  const given = entries.filter((entry) => !!entry);
  const groups = given
    .filter((entry) => 'buttons' in entry)
    .map(({ label, buttons }) => ({ label: plain(label), options: makeOptions(buttons) }))
    .filter(({ options }) => options.length > 0);
  const options = makeOptions(given.filter((entry) => 'type' in entry));
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

export interface Pressed {
  readonly actionId: string;
  readonly value: string;
}

export function readChoice(actionId: string, value: string): Pressed | undefined {
  return actionId.startsWith('menu:') ? readPressed(value) : undefined;
}

export function readPressed(value: string): Pressed {
  const space = value.indexOf(' ');
  return { actionId: value.slice(0, space), value: value.slice(space + 1) };
}

/** Entries whose value is too long for an option are left out: their buttons carry short ids. */
function makeOptions(buttons: readonly Maybe<Button>[]): PlainTextOption[] {
  return buttons
    .flatMap((entry): PlainTextOption[] => {
      const value = entry && `${entry.action_id} ${entry.value}`;
      if (!entry || !value || value.length > limits.optionValue) return [];
      const text = plain(truncate(entry.text.text, limits.option));
      return [{ text, value, ...(entry.url ? { url: entry.url } : {}) }];
    })
    .slice(0, limits.options);
}
