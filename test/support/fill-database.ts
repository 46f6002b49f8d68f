import { sql } from 'kysely';
import type { Keyring } from '../../src/auth/keyring/keyring.ts';
import { type Db, definedTables } from '../../src/store/schema.ts';

/** Values by column, as SQL over `n`, the number of the row, and `now`. */
type Columns = Readonly<Record<string, string>>;

/** So many seconds before the moment of filling. */
const ago = (seconds: string): string => `(now - (${seconds}) * interval '1 second')`;

const valuesOfType: Columns = {
  timestamptz: ago('n % 80000'),
  jsonb: `'{}'::jsonb`,
  bigint: '1',
  integer: '1',
  boolean: 'false',
};

/** A deployment with so many workspaces; the rest of its rows follows from these. */
interface Sizes {
  readonly workspaces: number;
  readonly keys: number;
  readonly digests: number;
  readonly alerts: number;
}

const digestBody = JSON.stringify({
  subject: {
    kinds: ['zones'],
    targets: { zones: [], shieldZones: [], apps: [] },
    only: 'always',
    timeZone: 'UTC',
  },
  schedule: { time: '09:00', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
});
const alertBody = JSON.stringify({
  condition: 'zone-state',
  targets: [],
  every: 60,
  timeZone: 'UTC',
  names: [],
  lifeSign: false,
});

/**
 * Fills a migrated database by set-based statements, in the past of `now`; nothing is due before an hour after it. Its
 * sealed values open under no key, and its audit is not chained: it is for queries, not for what they find.
 */
export async function fillDatabase(
  db: Db,
  { workspaces, keys, digests, alerts }: Sizes,
  { now, keyring }: { readonly now: Date; readonly keyring: Keyring },
): Promise<void> {
  // Everything is spread evenly over workspaces and people.
  const tenant = (n: string): string => `'TF' || lpad((${n} % ${workspaces})::text, 6, '0')`;
  const user = (n: string): string => `'UF' || lpad((${n} % ${keys})::text, 6, '0')`;
  const usual: Columns = {
    tenant: tenant('n'),
    team_id: tenant('n'),
    ...Object.fromEntries(
      ['user_id', 'owner', 'actor', 'changed_by', 'named_by', 'set_by', 'moved_by'].map((name) => [
        name,
        user('n'),
      ]),
    ),
    // Without its check value a key has to prove itself by what it sealed.
    key_id: `'${keyring.ids[0]}'`,
    body: `repeat('b', 1500)`,
    figures: `repeat('f', 350)`,
    snapshot: `repeat('s', 500)`,
  };
  /** Every column that needs a value gets one, by its name or its type; `special` are those of this table. */
  const fill = async (table: string, count: number, special: Columns = {}): Promise<void> => {
    const needed = Object.entries(definedTables.get(table) ?? {}).flatMap(([name, definition]) => {
      const isFilled = /not null|primary key/u.test(definition) && !/default|generated/u.test(definition);
      const value = usual[name] ?? valuesOfType[definition.split(' ')[0] ?? ''] ?? `'${name} ' || n`;
      return isFilled ? [[name, value] as const] : [];
    });
    const columns = { ...Object.fromEntries(needed), ...special };
    const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
    await sql`insert into ${sql.table(table)} (${names}) select ${sql.raw(Object.values(columns).join(', '))}
      from generate_series(0, ${count - 1}::bigint) as rows(n), (select ${now}::timestamptz as now) as moment`.execute(
      db,
    );
  };
  // A day's worth, an hour from now on.
  const nextDue = `${ago('0')} + (3600 + (n * 8) % 82800) * interval '1 second'`;
  const report = { channel: `'C' || n`, next_due: nextDue, failures: '0' };
  const ofLook = { tenant: tenant(`(n % ${alerts})`), user_id: user(`(n % ${alerts})`) };

  await fill('installations', workspaces);
  await fill('policies', 2 * workspaces, { version: `1 + n / ${workspaces}` });
  await fill('linked_keys', keys);
  await fill('sealed_versions', keys, { kind: `'cdn-key'` });
  await fill('audit_records', 4 * keys, { seq: `1 + n / ${workspaces}`, event: `'answer-shared'` });
  await fill('key_links', workspaces);
  await fill('client_tokens', workspaces);
  await fill('deliveries', keys);
  await fill('slack_pace', 2 * workspaces);
  await fill('outbox', keys, {
    kind: `'digest'`,
    places: `'["C0OPS0000"]'`,
    // A third is in threads.
    parent: `case n % 3 when 2 then 'id ' || n - 1 end`,
    state: `'sent'`,
    changed_at: ago('n % 604800'),
  });
  await fill('operations', workspaces, { kind: `'purge'`, state: `'succeeded'`, approvers: `'[]'` });
  await fill('operation_events', 3 * workspaces, {
    operation_id: `'id ' || n % ${workspaces}`,
    seq: `n / ${workspaces}`,
  });
  await fill('exports', workspaces, {
    state: `'done'`,
    files: `'[]'`,
    ended_at: ago('n'),
    files_deleted_at: ago('n'),
  });
  await fill('reports', digests, { ...report, id: `'f' || n`, kind: `'digest'`, body: `'${digestBody}'` });
  await fill('report_runs', 10 * digests, {
    report_id: `'f' || n % ${digests}`,
    due: ago(`(n / ${digests}) * 86400`),
    state: `'sent'`,
  });
  await fill('report_baselines', digests, { report_id: `'f' || n` });
  await fill('reports', alerts, {
    ...report,
    id: `'a' || n`,
    kind: `'alert'`,
    body: `'${alertBody}'`,
    state: `'{"recent":[]}'`,
    checked_at: ago('n % 3600'),
  });
  await fill('report_incidents', 3 * alerts, {
    report_id: `'a' || n % ${alerts}`,
    kind: `'firing'`,
    opened_at: ago('n * 10 + 600'),
    closed_at: ago('n * 10'),
    message: `'watch:filled ' || n`,
  });
  await fill('names', 2 * workspaces, { kind: `'script'` });
  await fill('recent_ids', 2 * keys, { kind: `'script'` });
  await fill('channel_zones', workspaces);
  await fill('read_budgets', alerts);
  await fill('error_days', alerts, { day: `'2026-11-20'` });
  await fill('zone_looks', alerts);
  await fill('zone_settings', 5 * alerts, ofLook);
  await fill('zone_changes', 5 * alerts, { ...ofLook, at: ago('n * 30') });
  await fill('step_runs', workspaces, { closed_at: ago('n * 60') });
  // Each digest has one that waits for its next run, and the finished ones of a day.
  await fill('pgboss.job', 3 * digests, {
    name: `'reports-due'`,
    state: `(case when n < ${digests} then 'created' else 'completed' end)::pgboss.job_state`,
    data: `jsonb_build_object('digestId', 'f' || n % ${digests})`,
    singleton_key: `'f' || n % ${digests}`,
    group_id: tenant('n'),
    policy: `'short'`,
    start_after: `case when n < ${digests} then ${nextDue} else ${ago('n % 80000')} end`,
    completed_on: `case when n >= ${digests} then ${ago('n % 80000')} end`,
    deletion_seconds: '86400',
  });
  // Without figures the planner guesses, and a new database has none yet.
  await sql`analyze`.execute(db);
}
