import type { InputBlock, KnownBlock, PlainTextOption } from '@slack/types';
import type { eventLogFields, eventLogOps } from '../../api/event-logs.ts';
import { actions, button, context, plain } from '../blocks/blocks.ts';

/** A row of the form. */
export interface FilterRow {
  /** Part of its block ids: Slack keeps the value of a block whose id stays. */
  readonly id: number;
  /** How often its menus were rendered with another choice than the person's. */
  readonly drawn: number;
  /** A name of the CDN, `another`, or empty. */
  readonly field: string;
  readonly otherField: string;
  readonly op: string;
  readonly otherOp: string;
  readonly values: string;
}

/** The choice for a name that the CDN does not document: it is typed below. */
export const another = 'another';

/** Slack allows a hundred blocks in a form. */
export const mostRows = 20;

const fieldWords: Readonly<Record<(typeof eventLogFields)[number], string>> = {
  action: 'Action',
  country: 'Country',
  ip: 'IP address',
  ruleId: 'Rule id',
  url: 'URL',
  ua: 'User-Agent',
  asn: 'Network (ASN)',
  feature: 'Feature',
  ja4: 'JA4 fingerprint',
};

const opWords: Readonly<Record<(typeof eventLogOps)[number], string>> = {
  in: 'is one of',
  eq: 'is',
  contains: 'contains',
  wildcard: 'looks like …*…',
  cidr: 'is in network (IP only)',
};

/** Block ids of a row; `filters` is the first row's values. */
export function rowBlocks(id: number): {
  readonly values: string;
  readonly field: string;
  readonly op: string;
} {
  return {
    values: id === 1 ? 'filters' : `filters-${id}`,
    field: `filter-field-${id}`,
    op: `filter-op-${id}`,
  };
}

/** Action ids of a row's menus. */
export function rowMenus(id: number): { readonly field: string; readonly op: string } {
  return { field: `event-logs:filter-field:${id}`, op: `event-logs:filter-op:${id}` };
}

/** Renders the rows and the button that adds one. */
export function filterRows(rows: readonly FilterRow[]): KnownBlock[] {
  return [
    context('*Filters*: every one has to match.'),
    ...rows.flatMap((row, nth) => filterRow(row, nth + 1)),
    ...(rows.length < mostRows ? [actions(button('Add a filter', 'event-logs:filter', 'add'))] : []),
  ];
}

function filterRow(row: FilterRow, nth: number): KnownBlock[] {
  const blocks = rowBlocks(row.id);
  const menus = rowMenus(row.id);
  return [
    {
      ...actions(
        menu(menus.field, 'Field', row.field, { ...fieldWords, [another]: 'Another field …' }),
        menu(menus.op, 'Operation', row.op, { ...opWords, [another]: 'Another operation …' }),
        button('Remove', `event-logs:filter-remove:${row.id}`, String(row.id)),
      ),
      block_id: `filter-${row.id}-${row.drawn}`,
    },
    ...(row.field === another ? [otherName(blocks.field, `Field of filter ${nth}`, row.otherField)] : []),
    ...(row.op === another ? [otherName(blocks.op, `Operation of filter ${nth}`, row.otherOp)] : []),
    input(blocks.values, `Values of filter ${nth}`, valuesHint(row, nth), row.values, true),
  ];
}

function valuesHint({ field, op }: FilterRow, nth: number): string {
  if (op === 'cidr')
    return field === 'ip' || field === ''
      ? 'Networks: 203.0.113.0/24, 2001:db8::/32'
      : ':warning: Networks work with IP addresses only.';
  return nth === 1 ? 'Separate values by commas or lines: one has to match.' : '';
}

function otherName(block: string, label: string, name: string): InputBlock {
  const hint = ':warning: Not a name the CDN tells of. It is sent as you type it; the CDN may refuse it.';
  return input(block, label, hint, name, false);
}

function input(block: string, label: string, hint: string, value: string, multiline: boolean): InputBlock {
  return {
    type: 'input',
    block_id: block,
    optional: true,
    label: plain(label),
    ...(hint === '' ? {} : { hint: plain(hint) }),
    element: {
      type: 'plain_text_input',
      action_id: block,
      multiline,
      max_length: multiline ? 3000 : 60,
      ...(value === '' ? {} : { initial_value: value.slice(0, multiline ? 3000 : 60) }),
    },
  };
}

function menu(id: string, placeholder: string, chosen: string, words: Readonly<Record<string, string>>) {
  const options = Object.entries(words).map(
    ([value, label]): PlainTextOption => ({ text: plain(label), value }),
  );
  const initial = options.find(({ value }) => value === chosen);
  return {
    type: 'static_select' as const,
    action_id: id,
    placeholder: plain(placeholder),
    options,
    ...(initial ? { initial_option: initial } : {}),
  };
}
