import { isIP } from 'node:net';
import { type EventLogFilter, eventLogFields, eventLogOps } from '../../api/event-logs.ts';
import { capitalize } from '../../views/blocks/text.ts';
import { another, type FilterRow, mostRows, rowIds } from '../../views/exports/form.ts';
import type { Fields } from '../define.ts';

const mostValues = 50;
const longestValue = 500;

/** The rows of a form, and the id of the next one. */
type Rows = { readonly filters: readonly FilterRow[]; readonly nextRow: number };

/** One row per filter. */
export function toFilterRows(filters: readonly EventLogFilter[]): Rows {
  const rows = filters.map(({ field, op, value }, nth): FilterRow => {
    const [hasField, hasOp] = [isOneOf(eventLogFields, field), isOneOf(eventLogOps, op)];
    return {
      id: nth + 1,
      drawn: 0,
      field: hasField ? field : another,
      otherField: hasField ? '' : field,
      op: hasOp ? op : another,
      otherOp: hasOp ? '' : op,
      values: joinValues(value),
    };
  });
  return { filters: rows, nextRow: rows.length + 1 };
}

export function addRow({ filters, nextRow }: Rows): Rows {
  if (filters.length >= mostRows) return { filters, nextRow };
  const row = { id: nextRow, drawn: 0, field: '', otherField: '', op: 'in', otherOp: '', values: '' };
  return { filters: [...filters, row], nextRow: nextRow + 1 };
}

/**
 * After the choice of a field. A URL or User-Agent is searched for a part: the default operation becomes `contains`.
 * Undefined where no input comes or goes and no menu or hint changes: a press at the same time would be lost.
 */
export function chooseFields<Form extends Rows>(form: Form, fields: Fields): Form | undefined {
  const filters = form.filters.map((row) =>
    ['url', 'ua'].includes(row.field) && row.op === 'in' && row.drawn === 0
      ? { ...row, op: 'contains', drawn: 1 }
      : row,
  );
  const isChanged = filters.some(
    (row, nth) =>
      row !== form.filters[nth] ||
      row.op === 'cidr' ||
      (row.field === another) !== rowIds(row.id).field in fields,
  );
  return isChanged ? { ...form, filters } : undefined;
}

/** Reads the inputs of the rows. `drawn`: their ids, and how often their menus were drawn. */
export function readTypedRows(
  fields: Fields,
  drawn: readonly (readonly [id: number, drawn: number])[],
): FilterRow[] {
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  return drawn.map(([id, times]) => {
    const ids = rowIds(id);
    return {
      id,
      drawn: times,
      field: text(ids.fieldMenu),
      otherField: text(ids.field),
      op: text(ids.opMenu),
      otherOp: text(ids.op),
      values: text(ids.values),
    };
  });
}

type Problem = readonly [block: string, problem: string];

/**
 * Reads the rows. `fields` shows which inputs for other names the form has: `missing` are those that were not drawn yet when
 * the form was sent.
 */
export function readRows(rows: readonly FilterRow[], fields: Fields) {
  const read = rows.map((row) => readRow(row, fields));
  const filters = read.flatMap(({ filter }) => filter ?? []);
  return {
    filters,
    problems: read.flatMap(({ problem }) => (problem ? [problem] : [])),
    missing: read.flatMap(({ missing }) => missing ?? []),
    warnings: filters.flatMap(describeUnknownNames),
  };
}

function readRow(
  row: FilterRow,
  fields: Fields,
): { readonly filter?: EventLogFilter; readonly problem?: Problem; readonly missing?: string } {
  const ids = rowIds(row.id);
  const isEmpty = row.values.trim() === '';
  if (row.field === '')
    return isEmpty ? {} : { problem: [ids.values, 'Choose a field above for these values, or remove them.'] };
  const hidden = [
    ...(row.field === another && !(ids.field in fields) ? ['its field'] : []),
    ...(row.op === another && !(ids.op in fields) ? ['its operation'] : []),
  ];
  if (hidden.length > 0) return { missing: `a filter still needs the name of ${hidden.join(' and of ')}` };
  const field = row.field === another ? row.otherField.trim() : row.field;
  const op = row.op === another ? row.otherOp.trim() : row.op || 'in';
  if (field === '') return { problem: [ids.field, 'Type the name of the field, such as method.'] };
  if (op === '') return { problem: [ids.op, 'Type the name of the operation, such as startsWith.'] };
  if (isEmpty) return { problem: [ids.values, 'Type a value, or remove this filter.'] };
  const filter = readFilter(field, op, row.values);
  if (typeof filter !== 'string') return { filter };
  return { problem: [ids.values, `${capitalize(filter)}.`] };
}

/** Removes what phones and pasting leave in a text: invisible characters, wide spaces, other line breaks. */
function normalize(typed: string): string {
  return typed
    .replaceAll(/[\u200B-\u200F\u2060\uFEFF]/gu, '')
    .replaceAll(/\r\n|[\r\u2028\u2029]/gu, '\n')
    .replaceAll(/[\u00A0\u2000-\u200A\u202F]/gu, ' ');
}

/**
 * Reads one filter. Values are separated by commas or line breaks; a value with a comma, or with a space at its end, goes
 * in quotes, with quotes in it doubled. Returns a string that says what is wrong if it cannot be read.
 */
export function readFilter(fieldTyped: string, opTyped: string, typed: string): EventLogFilter | string {
  const field = canonicalName(normalize(fieldTyped).trim(), eventLogFields);
  const op = canonicalName(normalize(opTyped).trim(), eventLogOps);
  if (!/^[\w.-]{1,60}$/u.test(field)) return 'type one word for the field, such as country';
  if (!/^[\w.-]{1,60}$/u.test(op)) return 'type one word for the operation, such as in or contains';
  const value = readValues(
    normalize(typed)
      .trim()
      .replaceAll(/ *,?[ \n]*\n */gu, ', '),
  );
  if (typeof value === 'string') return value;
  if (value.length > mostValues) return `at most ${mostValues} values`;
  if (value.some((one) => one.length > longestValue)) return `a value has at most ${longestValue} characters`;
  if (op === 'cidr') {
    if (field !== 'ip') return `cidr works with ip only, not with ${field}`;
    const wrong = value.find((one) => !isNetwork(one));
    if (wrong !== undefined) return `${wrong.slice(0, 60)} is no network: 203.0.113.0/24 or 2001:db8::/32`;
  }
  const isCountry = field === 'country' && (op === 'eq' || op === 'in');
  return { field, op, value: isCountry ? value.map((one) => one.toUpperCase()) : value };
}

/** The CDN's own spelling, whatever the case; an unknown name stays as it was typed. */
function canonicalName(typed: string, names: readonly string[]): string {
  return names.find((name) => name.toLowerCase() === typed.toLowerCase()) ?? typed;
}

// A value in quotes, straight or curly, with doubled ones inside; or up to the next comma.
const nextValue = / *(?:["“”„]((?:[^"“”]|["“”]{2})+)["“”] *|([^,]*))(?:,|$)/uy;

function readValues(text: string): string[] | string {
  const values: string[] = [];
  nextValue.lastIndex = 0;
  for (let isLast = false; !isLast; ) {
    const [all = '', quoted, bare = ''] = nextValue.exec(text) ?? [];
    const value = quoted?.replaceAll(/(["“”])["“”]/gu, '$1') ?? bare.trim();
    if (value === '') return 'a value is missing between two commas or at the end';
    if (quoted === undefined && /^["“”„]/u.test(value))
      return 'a quote does not close; a quote inside a value is doubled: "a ""b"""';
    values.push(value);
    isLast = !all.endsWith(',');
  }
  return values;
}

/** Warnings about names that the CDN does not document. */
export function describeUnknownNames({ field, op }: Pick<EventLogFilter, 'field' | 'op'>): string[] {
  return [
    ...(isOneOf(eventLogFields, field) ? [] : [`the field ${field} is not a known one`]),
    ...(isOneOf(eventLogOps, op) ? [] : [`the operation ${op} is not a known one`]),
  ];
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

/** Joins values into text that `readFilter` reads as the same values. */
export function joinValues(values: readonly string[]): string {
  const quoted = values.map((value) =>
    /^\s|[",“”„\n]|\s$/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value,
  );
  const text = quoted.join(', ');
  // An input holds 3,000 characters: values that fitted must fit again.
  return text.length > 3000 ? quoted.join(',') : text;
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
