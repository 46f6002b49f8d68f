import type { Button, KnownBlock } from '@slack/types';
import type { BudgetState } from '../../commands/reports/accounts/budget.ts';
import { actions, context, limits, type Message, message, say, section } from '../blocks/blocks.ts';
import { commandButton } from '../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { overflow, selectOf } from '../blocks/menu-of-buttons.ts';
import { formatCode, join, type Maybe, plainText } from '../blocks/text.ts';
import { formatReaders } from './card.ts';
import { describeBudget } from './words.ts';

/** A digest or an alert as a list and the Home tab show it. */
export interface Listed {
  readonly id: string;
  /** `Origin errors of shop, api`: plain text. */
  readonly name: string;
  /** mrkdwn: how it is now. */
  readonly state: string;
  /** mrkdwn: what it does, and when. */
  readonly what: string;
  readonly place: string;
  readonly owner: string;
  /** Whether the person who reads the list owns it. */
  readonly own: boolean;
  readonly manages: boolean;
  /** Those that need somebody come first. */
  readonly urgency: number;
  readonly buttons: readonly Button[];
  /** Where the person who reads the list may take it over. */
  readonly takeOver: Button | undefined;
}

interface Wording {
  readonly noun: 'digest' | 'alert';
  readonly none: string;
  /** `2 firing`, `1 paused` */
  readonly counts: readonly Maybe<string>[];
  readonly sign?: string | undefined;
}

/** Lines of a list; the menu below it has more. */
const mostRows = 40;
/** As many can be taken over by a press below the list. */
const mostOrphans = 2;

export function renderList(
  rows: readonly Listed[],
  { noun, none, counts, sign = '' }: Wording,
  { budget, asOf }: { readonly budget: BudgetState; readonly asOf: Date },
): Message {
  const create = commandButton(`New ${noun}`, `${noun} new`, 0, { style: 'primary' });
  if (rows.length === 0) return say(none, actions(create));
  const sorted = rows.toSorted((a, b) => b.urgency - a.urgency);
  const text = join([pluralize(rows.length, noun), ...counts], ', ');
  const more = rows.length - mostRows;
  return message(text, [
    section(`${sign}*${text}*`),
    ...sorted.slice(0, mostRows).map((row) => section(renderLines(row))),
    more > 0 && context(`and ${pluralize(more, `more ${noun}`)}: see the menu`),
    actions(
      create,
      selectOf(
        'Manage…',
        sorted
          .filter(({ manages }) => manages)
          .map(({ id, name, buttons }) => ({
            label: plainText(`${id} · ${name}`, limits.option),
            buttons,
          })),
      ),
      ...sorted
        .flatMap(({ takeOver, id }) =>
          takeOver ? [{ ...takeOver, text: { ...takeOver.text, text: `Take over ${id}` } }] : [],
        )
        .slice(0, mostOrphans),
    ),
    context([rows.some(({ own }) => own) && describeBudget(budget), `as of ${formatMoment(asOf)}`]),
  ]);
}

function renderLines({ id, what, state, place, owner }: Listed): string {
  return `${formatCode(id)} ${what}\n${join([state, formatReaders(place, owner)], ' · ')}`;
}

const mostAtHome = 5;

/** For the Home tab: the first few, those that need somebody before all, and a button for all. */
export function renderAtHome(rows: readonly Listed[], noun: Wording['noun'], heading: string): KnownBlock[] {
  if (rows.length === 0) return [];
  const others = rows.filter(({ own }) => !own).length;
  const stopped = others > 0 ? ` · ${formatInteger(others)} owned by others stopped` : '';
  return [
    section(
      `*${heading}:* ${pluralize(rows.length - others, noun)} of yours${stopped}`,
      commandButton(`All ${noun}s`, `${noun} list`),
    ),
    ...rows
      .toSorted((a, b) => b.urgency - a.urgency)
      .slice(0, mostAtHome)
      .flatMap(renderRow),
  ];
}

/** Its lines, a menu for those who manage it, and a button for people who can take it over. */
function renderRow(row: Listed): KnownBlock[] {
  const { manages, takeOver, buttons } = row;
  const lines = section(renderLines(row));
  if (!manages) return [takeOver ? { ...lines, accessory: takeOver } : lines];
  const menu = overflow(...buttons);
  return [
    { ...lines, ...(menu ? { accessory: menu } : {}) },
    // Not in the menu: its confirmation would ask for every entry.
    ...(takeOver ? [actions(takeOver)] : []),
  ];
}
