import type { Option } from '@slack/types';
import { limits } from './blocks.ts';
import type { Failure } from './failure.ts';
import { andMore, formatInteger } from './format.ts';
import { option } from './inputs.ts';
import { plainText, stripMarkup, wrapText } from './text.ts';

export const maxOptions = limits.options;

export interface MenuNotes {
  readonly more: number;
  /** The state of the zones that are not loaded yet. */
  readonly rest?: 'coming' | Failure | undefined;
  readonly none: string;
  /** The typed text, if it may be an id that the menu does not list. */
  readonly id?: string | undefined;
}

/** The options of a menu with search. Never empty: Slack's own "No results" would not say why. */
export function menu(hits: readonly Option[], notes: MenuNotes): Option[] {
  const { more, rest, none, id } = notes;
  const own = id === undefined ? [] : [option(`Use the ID ${id}`, id)];
  const failed = typeof rest === 'object' ? failureLines(rest) : [];
  if (hits.length === 0)
    return [...own, ...createNotes(rest === 'coming' ? [stillReading] : rest ? failed : [none])];
  const room = maxOptions - own.length - createNotes(failed).length;
  const left = hits.length + more > room ? hits.length + more - (room - 1) : 0;
  const shown = left > 0 ? hits.slice(0, room - 1) : hits;
  const missing = left > 0 ? [`… ${andMore(left)}: keep typing`] : [];
  return [...shown, ...createNotes([...missing, ...failed]), ...own];
}

export const stillReading = 'Your zones are still being read: type another letter';

export function createNotes(texts: readonly string[]): Option[] {
  const sentences = texts.flatMap((text) => text.split(/(?<=[.!?]) (?=\p{Lu})/u));
  const lines = sentences.flatMap((sentence) => wrapText(sentence, limits.option));
  return lines.map((line, index) => option(line, index === 0 ? 'note' : `note:${index + 1}`));
}

export function isNote(value: string): boolean {
  return /^note(?::\d+)?$/u.test(value);
}

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
