import type { Option } from '@slack/types';
import { limits, plain } from './blocks.ts';
import type { Failure } from './failure.ts';
import { formatInteger, plainText, stripMarkup, wrapText } from './text.ts';

/** What a menu holds: https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element */
export const maxOptions = 100;

/** What is to be said below the lines of a menu with search. */
export interface Below {
  /** How many match beside these. */
  readonly more: number;
  /** What is known of those that were not looked at: they are being read, or cannot be. */
  readonly rest?: 'coming' | Failure | undefined;
  /** Why there is no line. */
  readonly none: string;
  /** What was typed, where it may be an id that the menu does not have. */
  readonly id?: string | undefined;
}

/** The lines of a menu with search. Slack's own "No results" never shows: it would not say why. */
export function menu(hits: readonly Option[], below: Below): Option[] {
  const { more, rest, none, id } = below;
  const own = id === undefined ? [] : [option(`Use the id ${id}`, id)];
  const failed = typeof rest === 'object' ? failureLines(rest) : [];
  if (hits.length === 0)
    return [...own, ...createNotes(rest === 'coming' ? [stillReading] : rest ? failed : [none])];
  const waiting = rest === 'coming' ? ['… the rest is still being read: keep typing'] : [];
  const room = maxOptions - own.length - createNotes([...failed, ...waiting]).length;
  // One line of the room says how many did not find any.
  const left = hits.length + more > room ? hits.length + more - (room - 1) : 0;
  const shown = left > 0 ? hits.slice(0, room - 1) : hits;
  const missing = left > 0 ? [`… and ${formatInteger(left)} more: keep typing`] : [];
  return [...shown, ...createNotes([...missing, ...waiting, ...failed]), ...own];
}

/** Nothing has come in time. */
export const stillReading = 'Your zones are still being read: type another letter';

/** Words as lines of a menu: they tell instead of offering. */
export function createNotes(texts: readonly string[]): Option[] {
  const sentences = texts.flatMap((text) => text.split(/(?<=[.!?]) (?=\p{Lu})/u));
  const lines = sentences.flatMap((sentence) => wrapText(sentence, limits.option));
  return lines.map((line, index) => option(line, index === 0 ? 'note' : `note:${index + 1}`));
}

/** Whether what was chosen in a menu is a line that tells. No id looks like it. */
export function isNote(value: string): boolean {
  return /^note(?::\d+)?$/u.test(value);
}

/** A line of a menu. */
export function option(text: string, value: string, description?: string): Option {
  return {
    text: plain(plainText(text, limits.option)),
    value,
    ...(description === undefined ? {} : { description: plain(plainText(description, limits.option)) }),
  };
}

/** The first of some names and how many more there are. */
export function firstOf([first = '', ...others]: readonly string[]): string {
  return others.length > 0
    ? `${plainText(first, 22)} +${formatInteger(others.length)}`
    : plainText(first, 30);
}

function failureLines({ message, hint, offer, reference }: Failure): string[] {
  return [
    stripMarkup(message),
    ...(hint ? [stripMarkup(hint)] : []),
    ...(offer === 'connect' ? ['Type /cdn connect'] : []),
    ...(reference ? [`Reference ${reference}`] : []),
  ];
}
