import { isIPv4, isIPv6 } from 'node:net';
import type { EventSubject } from '../../../views/exports/exports.ts';

/** Where a file has the columns that are known, by index. */
export interface EventColumns {
  readonly time: number | undefined;
  readonly subjects: readonly (readonly [EventSubject, number])[];
  /** Columns that hold an IP address and nothing else. */
  readonly addresses: readonly number[];
}

/**
 * The CDN documents no column names, so each column is recognized by several: the names of the CDN's filters,
 * and those of other logs of this kind, such as `ClientIP`, `RuleID` and `Datetime`
 * (https://developers.cloudflare.com/logs/reference/log-fields/zone/firewall_events/) or `remote_addr` and `request_uri`
 * (https://nginx.org/en/docs/varindex.html). Lower case, letters and digits only: `Rule Id` and `ruleId` are the same.
 */
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

/**
 * Reads the first row of a file. Undefined if it is no header that is recognized: no name in it is known, or a cell holds
 * what only an event does (a number, a time, an address, a path).
 */
export function readHeader(cells: readonly string[]): EventColumns | undefined {
  if (cells.some(isValue)) return undefined;
  const plain = cells.map(plainName);
  const columnOf = (subject: EventSubject | 'time'): number =>
    plain.indexOf(names[subject].find((name) => plain.includes(name)) ?? ' ');
  const time = columnOf('time');
  const found = subjects.map((subject) => [subject, columnOf(subject)] as const);
  const known = found.filter(([, column]) => column >= 0);
  const addresses = cells.flatMap((name, nth) => (namesAddress(name) ? [nth] : []));
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

/** `visitor_ip` and `ClientIPv6`, whatever else the name says. */
function namesAddress(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u);
  return names.ip.includes(plainName(name)) || words.some((word) => /^ip(?:v[46])?s?$|^xff$/u.test(word));
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
export function findAddress(cell: string): string | undefined {
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
  // A group that is joined to the word before it belongs to that word.
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
