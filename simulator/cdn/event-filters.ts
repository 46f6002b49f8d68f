import { BlockList, isIP } from 'node:net';
import type { EventRow } from './event-rows.ts';

const fields = ['feature', 'ruleId', 'ip', 'ja4', 'ua', 'url', 'asn', 'country', 'action'] as const;
type Field = (typeof fields)[number];

const cases: Record<string, (cell: string, wanted: string) => boolean> = {
  eq: (cell, wanted) => same(cell, wanted),
  in: (cell, wanted) => same(cell, wanted),
  contains: (cell, wanted) => cell.toLowerCase().includes(wanted.toLowerCase()),
  wildcard: (cell, wanted) => wildcard(wanted).test(cell),
  cidr: inNetwork,
};

const same = (cell: string, wanted: string): boolean => cell.toLowerCase() === wanted.toLowerCase();

const wildcard = (pattern: string): RegExp =>
  new RegExp(`^${pattern.split('*').map(literally).join('.*')}$`, 'is');

const literally = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);

function inNetwork(ip: string, network: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  const family = isIP(address);
  if (family === 0 || isIP(ip) !== family || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return list.check(ip, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Reads the filters of an export. They combine with AND, the values within one with OR. Field and op names are those of
 * the public description; the specification leaves them open, and this service refuses others.
 * Returns the predicate, or a sentence saying what is wrong.
 */
export function readFilters(filters: unknown): ((row: EventRow) => boolean) | string {
  if (filters === undefined || filters === null) return () => true;
  if (!Array.isArray(filters)) return 'filters must be an array.';
  const all: ((row: EventRow) => boolean)[] = [];
  for (const filter of filters) {
    const read = readFilter(filter);
    if (typeof read === 'string') return read;
    all.push(read);
  }
  return (row) => all.every((matches) => matches(row));
}

function readFilter(filter: unknown): ((row: EventRow) => boolean) | string {
  if (typeof filter !== 'object' || filter === null) return 'A filter must be an object.';
  const { field, op, value }: { field?: unknown; op?: unknown; value?: unknown } = filter;
  const known = fields.find((name) => name === field);
  if (known === undefined) return `Unknown filter field ${JSON.stringify(field)}.`;
  const matches = typeof op === 'string' && Object.hasOwn(cases, op) ? cases[op] : undefined;
  if (!matches) return `Unknown filter op ${JSON.stringify(op)}.`;
  if (op === 'cidr' && known !== 'ip') return 'The op cidr works on the field ip only.';
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => typeof item === 'string')) {
    return 'The value of a filter must be a non-empty array of strings.';
  }
  const wanted: string[] = value;
  return (row: Pick<EventRow, Field>) => wanted.some((item) => matches(row[known], item));
}

/** Free text over IP, rule id, URL, User-Agent and rule name. */
export function matchesQuery(row: EventRow, query: string): boolean {
  const term = query.toLowerCase();
  return [row.ip, row.ruleId, row.url, row.ua, row.ruleName].some((cell) =>
    cell.toLowerCase().includes(term),
  );
}
