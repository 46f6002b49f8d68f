import { createHmac, randomBytes } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { Span } from '../stats/urls.ts';
import { addressColumns } from './columns.ts';
import { type CsvRewriter, createCsvRewriter } from './rewrite.ts';
import { cellText } from './rows.ts';

/**
 * Replaces IP addresses in a CSV file by pseudonyms such as `ip-7f3a9c21d4`, in address columns and anywhere else. An
 * address has one pseudonym in a file and another in the next: the key is made here and never leaves. In an address
 * column everything with a digit or a colon is replaced, whether it is an address or not. Statistics of the result hold
 * no address.
 *
 * @throws UserError for a row longer than 8 MiB.
 */
export function createPseudonymizer(): CsvRewriter {
  const pseudonymOf = createPseudonyms();
  let columns: readonly number[] | undefined;

  const inColumn = (text: string): string => {
    if (!/[\d:]/u.test(text)) return text;
    return pseudonymOf(findAddress(text) ?? text.trim().toLowerCase());
  };

  return createCsvRewriter((row, out) => {
    const { bytes, start, end, from, to } = row;
    const parts: string[] = [];
    let done = start;
    const isHeader = columns === undefined && row.cells > 0;
    if (isHeader) columns = addressColumns(Array.from({ length: row.cells }, (_, nth) => cellText(row, nth)));
    else
      for (const column of columns ?? []) {
        if (column >= row.cells) continue;
        const cell = bytes.toString('latin1', from[column], to[column]);
        parts.push(elsewhere(bytes, done, from[column] as number), inColumn(cell));
        done = to[column] as number;
      }
    parts.push(isHeader ? bytes.toString('latin1', done, end) : elsewhere(bytes, done, end));
    // Latin-1 both ways keeps the bytes of all other characters.
    const text = parts.join('');
    const room = out.reserve(text.length);
    out.length += room.write(text, out.length, 'latin1');
  });

  function elsewhere(bytes: Buffer, from: number, to: number): string {
    return replaceAddresses(bytes.toString('latin1', from, to), pseudonymOf);
  }
}

// Size of the cache, which is cleared when full: an HMAC takes as long as reading a row.
const mostKnown = 20_000;

/** 40 bits: among a million addresses, a collision has a chance of one in three. */
function createPseudonyms(): (address: string) => string {
  const key = randomBytes(32);
  const known = new Map<string, string>();
  return (address) => {
    let pseudonym = known.get(address);
    if (pseudonym === undefined) {
      if (known.size >= mostKnown) known.clear();
      pseudonym = `ip-${createHmac('sha256', key).update(address).digest('hex').slice(0, 10)}`;
      known.set(address, pseudonym);
    }
    return pseudonym;
  };
}

/**
 * Replaces every IPv4 and IPv6 address in a text, also with `%3A` for colons as in a query. `replaced` gets the canonical
 * form, so that two spellings of an address are the same.
 *
 * Versions look like IPv4 addresses: `Chrome/131.0.0.0` stays, since no client address ends in two zeros after a name
 * and a slash.
 */
export function replaceAddresses(text: string, replaced: (address: string) => string): string {
  return text.replaceAll(candidate, (found, offset: number) => {
    if (!found.includes(':') && !/%3a/iu.test(found)) {
      const address = canonicalIPv4(found);
      if (address === undefined) return found;
      const isVersion =
        address.endsWith('.0.0') && /[a-z]\/$/iu.test(text.slice(Math.max(0, offset - 2), offset));
      return isVersion ? found : replaced(address);
    }
    return inColons(found, text[offset - 1] ?? '', text[offset + found.length] ?? '', replaced);
  });
}

/**
 * The canonical form of a cell's address, without port, brackets or zone (`203.0.113.7:8080`, `[2001:DB8::1]:443`,
 * `fe80::1%eth0`, `::ffff:203.0.113.7`). Undefined if the cell holds anything else.
 */
function findAddress(cell: string): string | undefined {
  const plain = cell.trim();
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/u.exec(plain) ?? [];
  if (bracketed !== undefined) return canonicalAddress(bracketed);
  return canonicalAddress(plain) ?? canonicalAddress(plain.replace(/:\d{1,5}$/u, ''));
}

function canonicalAddress(text: string): string | undefined {
  return text.includes(':') ? canonicalIPv6(text) : canonicalIPv4(text);
}

// Four numbers with dots, but not five; or anything with at least two colons.
const candidate =
  /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3,}(?!\d)|[\da-f]{0,4}(?::|%3a)[\da-f]{0,4}(?::|%3a)(?:[\da-f:.]|%3a)*/giu;

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

/** A run of hexadecimal groups may be an address, have one in it (`from:2001:db8::1:`), or be a time or `std::string`. */
function inColons(found: string, before: string, behind: string, replaced: (address: string) => string) {
  const isEncoded = /%3a/iu.test(found);
  const run = isEncoded ? found.replaceAll(/%3a/giu, ':') : found;
  // The last two groups may be written as an IPv4 address.
  if (!run.includes('::') && run.split(':').length < 7) return ipv4Within(found, replaced);
  if (/\w/u.test(behind)) return ipv4Within(found, replaced);
  // A group joined to a word before it is none.
  const joined = /\w/u.test(before) ? run.indexOf(':') : 0;
  for (const [from, to] of spans(run, joined)) {
    const address = canonicalIPv6(run.slice(from, to));
    if (address === undefined) continue;
    const as = (rest: string): string => (isEncoded ? rest.replaceAll(':', '%3A') : rest);
    return as(run.slice(0, from)) + replaced(address) + as(run.slice(to));
  }
  return ipv4Within(found, replaced);
}

/** Candidate ranges of an address in a run, longest first: punctuation and one group may surround it. */
function spans(run: string, joined: number): [number, number][] {
  const second = run.indexOf(':', joined) + 1;
  const bare = run.replace(/[:.]+$/u, '').length;
  const lastGroup = run.lastIndexOf(':', bare - 1);
  const begins = run[joined] === ':' && run[joined + 1] !== ':' ? [joined + 1] : [joined, second];
  const ends = [run.length, run.length - 1, bare, lastGroup].filter((end) => end > 0);
  return begins.flatMap((from) => ends.map((to): [number, number] => [from, to]));
}

/** `10.0.0.1:8080:…`: no IPv6 address, but it may begin or end with the other kind. */
function ipv4Within(found: string, replaced: (address: string) => string): string {
  return found.replaceAll(/(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/gu, (text) => {
    const address = canonicalIPv4(text);
    return address === undefined ? text : replaced(address);
  });
}

const zero = 0x30;
const nine = 0x39;
const dot = 0x2e;
// Bounds the cache: an attacker has many addresses, in many spellings.
const mostSpellings = 4_096;
/** Bytes of the longest address with zone and port. */
const longest = 80;

/**
 * Points a span at the canonical form of its address, so that an address with a port, in brackets or in capitals is
 * counted with the others. Spans without an address stay.
 */
export function createAddressNormalizer(): (word: Span) => void {
  const known = new Map<string, Buffer | undefined>();
  return (word) => {
    const { bytes, from, to } = word;
    if (to - from > longest || isPlain(word)) return;
    const text = bytes.toString('latin1', from, to);
    let spelled = known.get(text);
    if (spelled === undefined && !known.has(text)) {
      const address = findAddress(text);
      spelled = address === undefined ? undefined : Buffer.from(address, 'latin1');
      if (known.size >= mostSpellings) known.clear();
      known.set(text, spelled);
    }
    if (!spelled) return;
    word.bytes = spelled;
    word.from = 0;
    word.to = spelled.length;
  };
}

/** True for nearly every address of a log: numbers with dots, none with a leading zero. */
function isPlain({ bytes, from, to }: Span): boolean {
  let before = dot;
  let isZero = false;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (byte !== dot && (byte < zero || byte > nine)) return false;
    if (isZero && byte !== dot) return false;
    isZero = byte === zero && before === dot;
    before = byte;
  }
  return true;
}
