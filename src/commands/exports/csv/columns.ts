import { findAddress } from './addresses.ts';

/** Columns whose most frequent values are counted. */
export type EventSubject = 'action' | 'country' | 'rule' | 'ip' | 'url';

/** Where a file has the columns that are known, by index. */
export interface EventColumns {
  readonly width: number;
  readonly time: number | undefined;
  readonly subjects: readonly (readonly [EventSubject, number])[];
  /** Columns that hold an IP address and nothing else. */
  readonly addresses: readonly number[];
}

/**
 * The CDN documents no column names, so each column is recognized by several: the names of the CDN's filters
 * (`eventLogFields`), and those of other logs of this kind, such as `ClientIP`, `RuleID` and `Datetime`
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
  return { width: cells.length, time: time < 0 ? undefined : time, subjects: known, addresses };
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
