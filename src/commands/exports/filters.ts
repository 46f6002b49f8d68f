import { isIP } from 'node:net';
import { type EventLogFilter, eventLogFields, eventLogOps } from '../../api/event-logs.ts';

/** Filters of one export. */
export const mostFilters = 20;
const mostValues = 50;
const longestValue = 500;

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

const closers: Readonly<Record<string, string>> = { '"': '"“”', '“': '"“”', '”': '"“”', '„': '"“”' };

function readValues(text: string): string[] | string {
  const values: string[] = [];
  for (let at = 0; at <= text.length; ) {
    while (text[at] === ' ') at += 1;
    const closing = closers[text.charAt(at)];
    if (closing === undefined) {
      const end = (text.indexOf(',', at) + 1 || text.length + 1) - 1;
      const value = text.slice(at, end).trim();
      if (value === '') return 'a value is missing between two commas or at the end';
      values.push(value);
      at = end + 1;
      continue;
    }
    const quoted = readQuoted(text, at, closing);
    if (!quoted) return 'a quote does not close; a quote inside a value is doubled: "a ""b"""';
    values.push(quoted.value);
    at = quoted.end + 1;
  }
  return values;
}

/** Reads from the quote at `at` to the comma after the closing quote. */
function readQuoted(
  text: string,
  at: number,
  closing: string,
): { readonly value: string; readonly end: number } | undefined {
  let value = '';
  for (let here = at + 1; here < text.length; here += 1) {
    const sign = text.charAt(here);
    if (!closing.includes(sign)) value += sign;
    else if (closing.includes(text.charAt(here + 1)) && here + 1 < text.length) {
      value += sign;
      here += 1;
    } else {
      const behind = text.slice(here + 1).match(/^ *(,|$)/u);
      if (!behind || value === '') return undefined;
      const [all, comma = ''] = behind;
      return { value, end: here + 1 + all.length - comma.length };
    }
  }
  return undefined;
}

/** Warnings about names that the CDN does not document. */
export function describeUnknownNames({ field, op }: Pick<EventLogFilter, 'field' | 'op'>): string[] {
  const warnings: string[] = [];
  if (!isKnownField(field)) warnings.push(`the field ${field} is not a known one`);
  if (!isKnownOp(op)) warnings.push(`the operation ${op} is not a known one`);
  return warnings;
}

export function isKnownField(field: string): boolean {
  return eventLogFields.some((name) => name === field);
}

export function isKnownOp(op: string): boolean {
  return eventLogOps.some((name) => name === op);
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
