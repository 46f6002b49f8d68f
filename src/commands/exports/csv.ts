import { createHmac, randomBytes } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Options, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { redactUrl } from '../../api/http/paths.ts';
import { UserError } from '../../errors.ts';
import { escapeCell } from '../../lib/csv.ts';
import { toPlainSigns } from '../../lib/names.ts';
import { dayMs, minuteMs, toEpochMs } from '../../lib/time.ts';
import type { EventFigures, EventSubject, ExportRequest } from '../../views/exports/exports.ts';

/** For finding the header. */
export const headerBytes = 65_536;

/** Stray quotes are text, rows may have any width. CR alone ends a row only in a file without LF. */
const readLeniently = (start: Buffer): Options => ({
  bom: true,
  relax_quotes: true,
  relax_column_count: true,
  skip_empty_lines: true,
  // 8 MiB: far above what any server accepts in one request.
  max_record_size: 8_388_608,
  record_delimiter: start.includes('\r') && !start.includes('\n') ? '\r' : ['\r\n', '\n'],
});

/** Memory is bounded by one row and one piece. @throws the library's error for an open quote or a row above 8 MiB. */
export async function readCsv(
  start: Buffer,
  pieces: Iterable<Uint8Array>,
  onRow: (cells: readonly string[]) => void,
): Promise<void> {
  if (start.includes(0)) throw Object.assign(new Error('the file is not text'), { code: 'CSV_NOT_TEXT' });
  const parser = parse({
    ...readLeniently(start),
    on_record(cells: string[]) {
      onRow(cells);
      return null;
    },
  });
  await pipeline(Readable.from(pieces), parser.resume());
}

/** Undefined if the first row is no header that is recognized. */
export function findHeader(start: Buffer): EventColumns | undefined {
  try {
    const [first = []] = parseText(start, { ...readLeniently(start), to: 1 });
    return readHeader(first);
  } catch {
    return undefined;
  }
}

const [quote, lf, cr] = [0x22, 0x0a, 0x0d];

/** Counts lines that are not empty, without line breaks between quotes. The header counts too. */
export function createRowCounter() {
  let rows = 0;
  let isQuoted = false;
  let isEmpty = true;
  return {
    // By index and with local variables: six times as fast, which is seconds of an export of a gigabyte.
    add(piece: Uint8Array): void {
      let [ends, quoted, lastEnd] = [0, isQuoted, isEmpty ? -1 : -2];
      for (let at = 0; at < piece.length; at += 1) {
        const byte = piece[at] as number;
        // Most bytes.
        if (byte > quote) continue;
        if (byte === quote) quoted = !quoted;
        else if ((byte === lf || byte === cr) && !quoted) {
          if (at - lastEnd > 1) ends += 1;
          lastEnd = at;
        }
      }
      rows += ends;
      [isQuoted, isEmpty] = [quoted, lastEnd === piece.length - 1];
    },
    /** A row that has begun counts. */
    rows: () => rows + (isEmpty ? 0 : 1),
  };
}

type Row = readonly string[];

export function writePlain(rows: readonly Row[]): string {
  return stringify(rows as string[][]);
}

/** For a spreadsheet: every cell is quoted, with an apostrophe before what would run as a formula. */
export function writeSafe(rows: readonly Row[]): string {
  return stringify(
    rows.map((row) => row.map(escapeCell)),
    { quoted: true },
  );
}

/**
 * Pseudonyms such as `ip-7f3a9c21d4`, the same for one address in this file only. @throws UserError without a column
 */
export function createPseudonymizer(addresses: readonly number[]): (row: Row) => Row {
  if (addresses.length === 0)
    throw new UserError(
      'I cannot tell which column of the CDN’s file holds IP addresses, so they cannot be replaced.',
      'Export without pseudonyms, to yourself first, and look at the file.',
    );
  const columns = new Set(addresses);
  const key = randomBytes(32);
  // 40 bits: among a million addresses, a collision has a chance of one in three.
  const pseudonymOf = (address: string): string =>
    `ip-${createHmac('sha256', key).update(address).digest('hex').slice(0, 10)}`;
  return (row) =>
    row.map((cell, nth) => {
      if (!columns.has(nth)) return replaceAddresses(cell, pseudonymOf);
      const plain = decode(cell);
      return /[\d:]/u.test(plain) ? pseudonymOf(findAddress(plain) ?? plain.trim().toLowerCase()) : cell;
    });
}

/** By index. */
export interface EventColumns {
  readonly time: number | undefined;
  readonly subjects: readonly (readonly [EventSubject, number])[];
  /** Columns that hold an IP address and nothing else. */
  readonly addresses: readonly number[];
}

/** The CDN documents no names of columns: these are of its filters and of similar logs. */
const names: Readonly<Record<EventSubject | 'time', readonly string[]>> = {
  time: ['timestamp', 'time', 'datetime', 'date', 'eventtime', 'createdat', 'unixtimestamp', 'timestampms'],
  action: ['action', 'actiontaken', 'ruleaction', 'outcome'],
  country: ['country', 'countrycode', 'clientcountry', 'geocountry'],
  rule: ['ruleid', 'rule', 'ruleidentifier', 'rulename'],
  ip: [
    'ip',
    'clientip',
    'remoteip',
    'ipaddress',
    'clientipaddress',
    'sourceip',
    'remoteaddr',
    'remoteaddress',
  ],
  url: ['url', 'requesturl', 'uri', 'requesturi', 'path', 'requestpath'],
};
const subjects = ['action', 'country', 'rule', 'ip', 'url'] as const;

/** Undefined if no name is known, or a cell holds what only an event does (a number, time, address or path). */
export function readHeader(cells: readonly string[]): EventColumns | undefined {
  if (cells.some(isValue)) return undefined;
  const plain = cells.map(plainName);
  const columnOf = (subject: EventSubject | 'time'): number =>
    plain.indexOf(names[subject].find((name) => plain.includes(name)) ?? ' ');
  const time = columnOf('time');
  const found = subjects.map((subject) => [subject, columnOf(subject)] as const);
  const known = found.filter(([, column]) => column >= 0);
  // A header in one cell has another separator, unless it is one name.
  const isSplit = cells.length > 1 || names.ip.includes(plain[0] ?? '');
  const addresses = isSplit ? cells.flatMap((name, nth) => (namesAddress(name) ? [nth] : [])) : [];
  if (time < 0 && known.length === 0 && addresses.length === 0) return undefined;
  return { time: time < 0 ? undefined : time, subjects: known, addresses };
}

function isValue(cell: string): boolean {
  const text = cell.trim();
  return findAddress(text) !== undefined || /^[-+]?\d|^\/|:\/\/|\d[-:.]\d/u.test(text) || text.length > 60;
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, '');
}

/** Such as `visitor_ip` and `ClientIPv6`. */
function namesAddress(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u);
  return names.ip.includes(plainName(name)) || words.some((word) => /^ip(?:v[46])?s?$|^xff$/u.test(word));
}

/**
 * `replaced` gets the canonical form. Versions such as `Chrome/131.0.0.0` stay: no client address ends in two zeros.
 */
export function replaceAddresses(text: string, replaced: (address: string) => string): string {
  const plain = decode(text);
  const shown = replacePlain(plain, replaced);
  // Escapes stay where they hide no address.
  return shown === plain && plain !== text ? replacePlain(text, replaced) : shown;
}

/** Most cells hold none of these and are not decoded. */
const disguise =
  /%[\da-fu]|&(?:#|amp;|period|colon)|=[23][\dae]|\\[ux.:]|\d\s+\.|\.\s+\d|dot|arpa|[[({]\s*\.|0x|:\/\/\d|[^\0-~]/iu;

function toCharacter(_: string, hex: string | undefined, decimal?: string): string {
  return String.fromCharCode(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
}

/** The digits of an IPv6 address, last one first. */
const reversedAddress = /(?<![\w.])(?:[\da-f]\.){32}(?=ip6\.arpa)/giu;

function reverseDigits(digits: string): string {
  return `${digits
    .split('.')
    .toReversed()
    .join('')
    .replaceAll(/.{4}(?=.)/gu, '$&:')}.`;
}

/** What hides an address from a search but not from a reader: escapes, invisible characters, and other digits and dots. */
function decode(text: string): string {
  if (!disguise.test(text)) return text;
  return decodePercent(text)
    .replaceAll(reversedAddress, reverseDigits)
    .replaceAll(/&(?:amp;)*#(?:x([\da-f]{2,4})|(\d{2,4}));?/giu, toCharacter)
    .replaceAll(/&(?:period|(colon));/gu, (_, colon?: string) => (colon === undefined ? '.' : ':'))
    .replaceAll(/(?:%u00|\\u00|\\x|(?<=[\da-f])=)([2346][\da-f])/giu, toCharacter)
    .replaceAll(/\\(?=[.:])|[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replaceAll(/[^\0-~]/gu, (sign) => {
      const plain = toPlainSigns(sign.normalize('NFKC'));
      return /^[\da-f.:]$/iu.test(plain) ? plain : sign;
    })
    .replaceAll(/(?<=\d)\s*(?:[.。·∙•‧⋅]|[[({]\s*(?:\.|dot)\s*[\])}]|\sdot\s)\s*(?=\d)/giu, '.')
    .replaceAll(numericHost, (host) => URL.parse(`http://${host}`)?.hostname ?? host);
}

/** `http://3405803785/`, `0xCB.0x0.0x71.0x9` */
const numericHost =
  /(?<=:\/\/|@)(?:0x[\da-f]{8}|\d{8,10})(?![\w.])|(?<![\w.])(?:0x[\da-f]{1,2}\.){3}0x[\da-f]{1,2}(?!\w)/giu;

/** `%20203.0.113.9` and `203%252E0%252E113%252E9` */
function decodePercent(text: string): string {
  return text.replaceAll(/(?:%(?:25)*[\da-f]{2})+/giu, (escapes) => {
    const once = escapes.replaceAll(/%(?:25)+(?=[\da-f]{2})/giu, '%');
    try {
      return decodeURIComponent(once);
    } catch {
      return once.replaceAll(/%[\da-f]{2}/giu, '\uFFFD');
    }
  });
}

function replacePlain(text: string, replaced: (address: string) => string): string {
  return text.replaceAll(candidate, (found, ...rest) => {
    const offset: number = rest.at(-2);
    const isVersion = /[a-z]\/$/iu.test(text.slice(Math.max(0, offset - 2), offset));
    if (isVersion && /^\d+\.\d+\.0\.0$/u.test(found)) return found;
    // A word behind letters is part of a name: `std::bad_alloc`.
    if (!/\d/u.test(found) && /^\w/u.test(text.slice(offset + found.length))) return found;
    const groups = found.replaceAll('-', ':').split(':');
    // A word may stand before the address, and punctuation or a port behind it.
    for (const from of [0, 1])
      for (let to = Math.min(groups.length, from + mostGroups); to > from + 2; to -= 1) {
        const address = canonicalIPv6(groups.slice(from, to).join(':'));
        if (address !== undefined)
          return [...groups.slice(0, from), replaced(address), ...groups.slice(to)].join(':');
      }
    return found.replaceAll(run, (numbers, separator: string) =>
      replaceNumbers(numbers.split(separator), replaced).join(separator),
    );
  });
}

/** Each four that are an address; a port may follow. */
function replaceNumbers(numbers: readonly string[], replaced: (address: string) => string): string[] {
  const shown: string[] = [];
  for (let at = 0; at < numbers.length; ) {
    const address = canonicalIPv4(numbers.slice(at, at + 4).join('.'));
    shown.push(address === undefined ? (numbers[at] ?? '') : replaced(address));
    at += address === undefined ? 1 : 4;
  }
  return shown;
}

// Eight, and an empty one before a leading `::`.
const mostGroups = 9;

/** Four numbers or more with one separator: `203.0.113.9`, `203-0-113-9.isp.example`, `203[.]0[.]113[.]9`. */
const run = /(?<!\d)\d+(?:([-_.]|\[\.\])\d+)(?:\1\d+){2,}/gu;
// Or groups with at least two colons, the last of which may be such numbers; or the groups of a name, as in `2001-db8--1.isp.example`.
const candidate = new RegExp(
  String.raw`${run.source}|(?:(?<!\w)[\da-f]{1,4})?(?::[\da-f]{0,4}){2,}(?:(?:\.\d{1,3}){3})?|(?<![\da-f])(?:[23][\da-f]|f[c-e])[\da-f]{2}(?:-[\da-f]{0,4}){2,7}(?!\w)`,
  'giu',
);

/** The canonical address of a cell, without port, brackets or zone; undefined if the cell holds anything else. */
function findAddress(cell: string): string | undefined {
  const plain = cell.trim();
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/u.exec(plain) ?? [];
  if (bracketed !== undefined) return canonicalAddress(bracketed);
  return canonicalAddress(plain) ?? canonicalAddress(plain.replace(/:\d{1,5}$/u, ''));
}

function canonicalAddress(text: string): string | undefined {
  return text.includes(':') ? canonicalIPv6(text) : canonicalIPv4(text);
}

function canonicalIPv4(text: string): string | undefined {
  const plain = text.replaceAll(/(^|\.)0+(?=\d)/gu, '$1');
  return isIPv4(plain) ? plain : undefined;
}

function canonicalIPv6(text: string): string | undefined {
  const address = text.replace(/%.*$/u, '');
  if (!isIPv6(address) || !/[\da-f]/iu.test(address)) return undefined;
  const short = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/u.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16);
  return [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255].join('.');
}

const shown = 5;
const mostDifferent = 100_000;
const longest = 256;

/** Counts events by known columns and by time, in bounded memory. */
export function createEventCounter(
  { time, subjects }: EventColumns,
  window: Pick<ExportRequest, 'from' | 'to'>,
) {
  const bars = createBars(window);
  const values = new Map(subjects.map(([subject]) => [subject, new Map<string, number>()]));
  let untimed = 0;

  return {
    add(row: readonly string[]): void {
      if (time !== undefined && !bars.add(readTime(row[time] ?? ''))) untimed += 1;
      for (const [subject, column] of subjects) {
        const value = read[subject](row[column] ?? '');
        const counted = value.length > longest ? `${value.slice(0, longest)}…` : value;
        const counts = values.get(subject);
        if (counted !== '' && counts && (counts.size < mostDifferent || counts.has(counted)))
          counts.set(counted, (counts.get(counted) ?? 0) + 1);
      }
    },
    result: (): EventFigures => ({
      bars: bars.result(),
      untimed,
      top: Object.fromEntries([...values].map(([subject, counts]) => [subject, rank(counts)])),
    }),
  };
}

/** Equal counts are ordered by value, so that the answer is always the same. */
function rank(counts: ReadonlyMap<string, number>): (readonly [string, number])[] {
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, shown);
}

const asWritten = (cell: string): string => cell;
/** One address counts once, however it is written; URLs lose what may be a secret. */
const read: Readonly<Record<EventSubject, (cell: string) => string>> = {
  action: asWritten,
  country: asWritten,
  rule: asWritten,
  ip: (cell) => findAddress(cell) ?? cell,
  url: (cell) => (redactUrl(cell).split(/[?#]/u, 1)[0] ?? '').replaceAll(/=[^/&;]+/gu, '=…'),
};

/** Epoch ms; NaN for other text. UTC without a zone; a number's size tells its unit. */
function readTime(cell: string): number {
  const text = cell.trim();
  if (text.length > 64) return Number.NaN;
  if (/^\d{9,19}(?:\.\d+)?$/u.test(text)) return toEpochMs(Number(text));
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/u.test(text))
    return Date.parse(`${text.replace(' ', 'T')}Z`);
  // `Date.parse` accepts bare numbers and words with a number.
  return /\d[-/: ]\d/u.test(text) ? Date.parse(text) : Number.NaN;
}

const barMinutes = [10, 20, 30, 60, 120, 180, 240, 360, 720];
/** As many as a phone shows with their labels. */
const mostBars = 8;

/** In equal buckets. `add` is false for a time outside of the window. */
function createBars({ from, to }: Pick<ExportRequest, 'from' | 'to'>) {
  const [first, last] = [from.getTime(), to.getTime() - 1];
  const indexOf = (at: number, size: number): number => Math.floor(at / size) - Math.floor(first / size);
  const size =
    barMinutes.map((minutes) => minutes * minuteMs).find((one) => indexOf(last, one) < mostBars) ??
    Math.ceil((last - first) / dayMs / (mostBars - 1)) * dayMs;
  const counts = Array.from({ length: indexOf(last, size) + 1 }, () => 0);
  let isEmpty = true;
  return {
    add(at: number): boolean {
      const index = indexOf(at, size);
      if (counts[index] === undefined) return false;
      counts[index] += 1;
      isEmpty = false;
      return true;
    },
    result: (): EventFigures['bars'] =>
      isEmpty ? undefined : { from: Math.floor(first / size) * size, minutes: size / minuteMs, counts },
  };
}
