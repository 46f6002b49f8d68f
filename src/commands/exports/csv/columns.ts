/** Columns whose most frequent values are counted. */
export const eventSubjects = ['action', 'country', 'rule', 'ip', 'url'] as const;
export type EventSubject = (typeof eventSubjects)[number];

/**
 * The CDN documents no column names, so each column is recognized by several: the names of the CDN's filters
 * (`eventLogFields`), and those of other logs of this kind, such as `ClientIP`, `RuleID` and `Datetime`
 * (https://developers.cloudflare.com/logs/reference/log-fields/zone/firewall_events/) or `remote_addr` and `request_uri`
 * (https://nginx.org/en/docs/varindex.html). Lower case, letters and digits only: `Rule Id` and `ruleId` are the same.
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

/** Finds the columns of a file. `time` is -1, and `subjects` has no entry, for a missing column. */
export function eventColumns(header: readonly string[]): {
  readonly time: number;
  readonly subjects: readonly (readonly [EventSubject, number])[];
} {
  const plain = header.map(plainName);
  const columnOf = (subject: keyof typeof names): number => {
    const found = names[subject].find((name) => plain.includes(name));
    return found === undefined ? -1 : plain.indexOf(found);
  };
  const subjects = eventSubjects.map((subject) => [subject, columnOf(subject)] as const);
  return { time: columnOf('time'), subjects: subjects.filter(([, column]) => column >= 0) };
}

/** Columns that hold an IP address and nothing else. */
export function addressColumns(header: readonly string[]): readonly number[] {
  const plain = header.map(plainName);
  return plain.flatMap((name, nth) => (names.ip.some((known) => known === name) ? [nth] : []));
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, '');
}
