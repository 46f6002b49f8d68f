import type { EventSubject } from '../stats/event-stats.ts';

/**
 * The service names its columns nowhere, so each is known by several names: those of its filters (cdn-api.md §2.8),
 * and how logs name the same thing. Written small and without signs: `Rule Id`, `rule_id` and `ruleId` are one.
 */
const names = {
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
} as const satisfies Record<EventSubject | 'time', readonly string[]>;

/** Which column of a file is what. -1, or no entry, where it has none. */
export function eventColumns(header: readonly string[]): {
  readonly time: number;
  readonly subjects: readonly (readonly [EventSubject, number])[];
} {
  const { time, ...subjects } = names;
  const plain = header.map(plainName);
  const columnOf = (known: readonly string[]): number => {
    const found = known.find((name) => plain.includes(name));
    return found === undefined ? -1 : plain.indexOf(found);
  };
  return {
    time: columnOf(time),
    subjects: (Object.entries(subjects) as [EventSubject, readonly string[]][]).flatMap(
      ([subject, known]) => {
        const column = columnOf(known);
        return column < 0 ? [] : [[subject, column] as const];
      },
    ),
  };
}

/** All columns that hold an address and nothing else. */
export function addressColumns(header: readonly string[]): readonly number[] {
  const plain = header.map(plainName);
  return plain.flatMap((name, nth) => (names.ip.some((known) => known === name) ? [nth] : []));
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, '');
}
