import { isIP } from 'node:net';
import { type EventLogFilter, eventLogFields, eventLogOps } from '../../api/event-logs.ts';

/** Filters as they were typed: what they mean, what is wrong by line, and what is unusual. */
export interface ReadFilters {
  readonly filters: readonly EventLogFilter[];
  /** For people, each naming its line. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** As many as an export takes. */
export const mostFilters = 20;
const mostValues = 50;
const longestValue = 500;

// Other words that people use for the service's own.
const fieldWords: Readonly<Record<string, string>> = {
  rule: 'ruleId',
  'rule-id': 'ruleId',
  agent: 'ua',
  useragent: 'ua',
  'user-agent': 'ua',
  path: 'url',
};
const opWords: Readonly<Record<string, string>> = {
  is: 'eq',
  '=': 'eq',
  '==': 'eq',
  equals: 'eq',
  has: 'contains',
  includes: 'contains',
  like: 'wildcard',
  matches: 'wildcard',
  within: 'cidr',
};

/**
 * One filter a line: `field op value, value`. Written on phones, so capital letters, curly quotes, long spaces and empty
 * lines do no harm. A value with a comma or a space at its end goes in quotes, a quote in it is doubled.
 */
export function readFilters(typed: string): ReadFilters {
  const filters: EventLogFilter[] = [];
  const problems: string[] = [];
  const warnings: string[] = [];
  const lines = tidy(typed).split('\n');
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    if (line === '') continue;
    const read = readLine(line);
    if (typeof read === 'string') problems.push(`Line ${index + 1}: ${read}`);
    else {
      filters.push(read);
      warnings.push(...describeUnknownNames(read));
    }
  }
  if (filters.length > mostFilters) problems.push(`At most ${mostFilters} filters.`);
  return { filters, problems, warnings };
}

/** What phones and pasting leave in a text: invisible signs, long spaces, other line breaks. */
function tidy(typed: string): string {
  return typed
    .replaceAll(/[\u200B-\u200F\u2060\uFEFF]/gu, '')
    .replaceAll(/\r\n|[\r\u2028\u2029]/gu, '\n')
    .replaceAll(/[\u00A0\u2000-\u200A\u202F]/gu, ' ');
}

function readLine(line: string): EventLogFilter | string {
  const [, fieldTyped = '', opTyped = '', rest = ''] =
    /^(\S+?)(?:\s+|(?==))(=+|\S+)\s*(.*)$/su.exec(line) ?? [];
  if (fieldTyped === '' || rest === '')
    return 'a filter is a field, an operation and a value: country in DE, FR';
  return readFilter(fieldTyped, opTyped, rest);
}

/** One filter from its parts; values stand in lines or with commas between them. Gives what is wrong, for people. */
export function readFilter(fieldTyped: string, opTyped: string, typed: string): EventLogFilter | string {
  const field = known(tidy(fieldTyped).trim(), eventLogFields, fieldWords);
  const op = known(tidy(opTyped).trim(), eventLogOps, opWords);
  if (!/^[\w.-]{1,60}$/u.test(field)) return 'the field is one word, such as country';
  if (!/^[\w.-]{1,60}$/u.test(op)) return 'the operation is one word, such as in or contains';
  const value = readValues(
    tidy(typed)
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

/** The service's own spelling, whatever the case; what it does not have stays as it was typed. */
function known(typed: string, names: readonly string[], others: Readonly<Record<string, string>>): string {
  const lower = typed.toLowerCase();
  const own = Object.hasOwn(others, lower) ? others[lower] : undefined;
  return own ?? names.find((name) => name.toLowerCase() === lower) ?? typed;
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

/** From the quote at `at` to the comma behind the one that closes it. */
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

/** About names that the service does not tell of. */
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

/** Values as `readFilter` reads them again. */
export function splitValues(values: readonly string[]): string {
  const quoted = values.map((value) =>
    /^\s|[",“”„\n]|\s$/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value,
  );
  const text = quoted.join(', ');
  // What fitted as it was typed has to fit again.
  return text.length > 3000 ? quoted.join(',') : text;
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
