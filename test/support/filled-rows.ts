import { sql } from 'kysely';
import type { Db } from '../../src/store/schema.ts';

/** A deployment with so many workspaces; the rest of its rows follows from these. */
export interface Sizes {
  readonly workspaces: number;
  readonly keys: number;
  readonly digests: number;
  readonly alerts: number;
}

/** The workspace, and the person, with this number. Everything is spread evenly over them. */
export const tenant = (n: string, { workspaces }: Sizes): string =>
  `'TF' || lpad((${n} % ${workspaces})::text, 6, '0')`;
export const user = (n: string, { keys }: Sizes): string => `'UF' || lpad((${n} % ${keys})::text, 6, '0')`;

export const digestBody = JSON.stringify({
  subject: {
    kinds: ['zones'],
    targets: { zones: [], shieldZones: [], apps: [] },
    only: 'always',
    timeZone: 'UTC',
  },
  schedule: { time: '09:00', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
});
export const alertBody = JSON.stringify({
  condition: 'zone-state',
  targets: [],
  every: 60,
  timeZone: 'UTC',
  names: [],
  lifeSign: false,
});
/** As long as the rows of a bot in use are, in the middle. */
const figures = JSON.stringify({ bandwidth: 812_345_678_901, requests: 12_345_678, zones: 'x'.repeat(300) });

/** Values by column, as SQL over `n`, the number of the row. */
export type Columns = Readonly<Record<string, string>>;

/** A run of each digest for each day. `first`: ids and numbers go on after earlier rows. */
export function runColumns({ digests }: Sizes, first: number): Columns {
  const due = ago(`(n / ${digests}) * 86400`);
  const id = `'f' || n % ${digests}`;
  return {
    report_id: id,
    due: `${due} - ${first} * interval '1 microsecond'`,
    state: `'sent'`,
    run_at: due,
    missed: '0',
    attempts: '1',
    figures: `'${figures}'`,
  };
}

/** Posts of digests, a third of them in threads. `first`: ids and numbers go on after earlier rows. */
export function outboxColumns(sizes: Sizes, first: number): Columns {
  return {
    id: `'filled ' || ${first} || ' ' || n`,
    tenant: tenant('n', sizes),
    team_id: tenant('n', sizes),
    kind: `'digest'`,
    about: `'{"digestId":"f' || n || '","due":"2026-11-21T09:00:00.000Z"}'`,
    places: `'["C0OPS0000"]'`,
    // A third is in threads.
    parent: `case n % 3 when 2 then 'filled ' || ${first} || ' ' || n - 1 end`,
    doubt: `'look'`,
    state: `'sent'`,
    shown: '1',
    posted_in: `'C0OPS0000'`,
    ts: `'1700000000.' || lpad((n % 1000000)::text, 6, '0')`,
    expires_at: ago('0'),
    changed_at: ago('n % 604800'),
  };
}

/** Records, tenant by tenant. `first`: ids and numbers go on after earlier rows. */
export function auditColumns(sizes: Sizes, first: number): Columns {
  return {
    tenant: tenant('n', sizes),
    seq: `${first} + 1 + n / ${sizes.workspaces}`,
    at: ago('n'),
    actor: user('n', sizes),
    event: `'answer-shared'`,
    subject: user('n', sizes),
    detail: `'{"channel":"C0OPS0000","words":"zones"}'::jsonb`,
    prev_hash: `md5(n::text) || md5(n::text)`,
    hash: `md5((n + 1)::text) || md5((n + 1)::text)`,
  };
}

/** Closed incidents. `first`: ids and numbers go on after earlier rows. */
export function incidentColumns({ alerts }: Sizes, first: number): Columns {
  return {
    id: `'filled ' || ${first} || ' ' || n`,
    report_id: `'a' || n % ${alerts}`,
    kind: `'firing'`,
    opened_at: ago('n * 10 + 600'),
    closed_at: ago('n * 10'),
    figures: `'${figures}'`,
    message: `'watch:filled ' || ${first} || ' ' || n`,
  };
}

/** So many seconds before the moment of filling. */
export function ago(seconds: string): string {
  return `(now - (${seconds}) * interval '1 second')`;
}

/** Inserts so many rows in one statement; `now` stands for that moment in the values. */
export function insertRows(
  db: Db,
  table: string,
  count: number,
  columns: Columns,
  now: Date,
): Promise<unknown> {
  return sql`insert into ${sql.table(table)} (${sql.join(Object.keys(columns).map((name) => sql.ref(name)))})
    select ${sql.raw(Object.values(columns).join(', '))}
      from generate_series(0, ${count - 1}::bigint) as rows(n), (select ${now}::timestamptz as now) as moment`.execute(
    db,
  );
}
