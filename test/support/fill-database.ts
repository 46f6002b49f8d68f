import { sql } from 'kysely';
import type { Keyring } from '../../src/auth/keyring/keyring.ts';
import type { Db } from '../../src/store/schema.ts';

import {
  ago,
  alertBody,
  auditColumns,
  type Columns,
  digestBody,
  incidentColumns,
  insertRows,
  outboxColumns,
  runColumns,
  type Sizes,
  tenant,
  user,
} from './filled-rows.ts';

/**
 * Fills a migrated database by set-based statements, in the past of `now`; nothing is due before an hour after it. Its
 * sealed values open under no key, and its audit is not chained: it is for queries, not for what they find.
 */
export async function fillDatabase(
  db: Db,
  sizes: Sizes,
  { now, keyring }: { readonly now: Date; readonly keyring: Keyring },
): Promise<void> {
  const { workspaces, keys, digests, alerts } = sizes;
  // Without its check value a key has to prove itself by what it sealed.
  const fill = (table: string, count: number, columns: Columns): Promise<unknown> =>
    insertRows(db, table, count, columns, now);
  const sealed = { sealed: `repeat('s', 160)`, key_id: `'${keyring.ids[0]}'`, version: '1' };
  const person = { tenant: tenant('n', sizes), user_id: user('n', sizes) };
  await fill('installations', workspaces, { tenant: person.tenant, ...sealed, installed_at: ago('n') });
  await fill('policies', 2 * workspaces, {
    tenant: person.tenant,
    version: `1 + n / ${workspaces}`,
    body: `'{"padding":"' || repeat('p', 1200) || '"}'`,
    changed_by: person.user_id,
    changed_at: ago('n'),
  });
  await fill('linked_keys', keys, {
    ...person,
    team_id: person.tenant,
    ...sealed,
    fingerprint: `lpad(to_hex(n), 8, '0')`,
    linked_at: ago('n'),
  });
  await fill('sealed_versions', keys, { ...person, kind: `'cdn-key'`, version: '1' });
  await fill('audit_records', 4 * keys, auditColumns(sizes, 0));
  await fill('key_links', workspaces, {
    token_hash: `md5(n::text)`,
    ...person,
    team_id: person.tenant,
    shown_for: `'Ann'`,
    made_at: ago('n % 80000'),
    expires_at: ago('n % 80000'),
    renewals: '0',
    refusals: '0',
  });
  await fill('client_tokens', workspaces, {
    token_hash: `md5('token' || n)`,
    ...person,
    team_id: person.tenant,
    key_version: '1',
    name: `'laptop'`,
    made_at: ago('n % 80000'),
    expires_at: ago('n % 80000 - 86400'),
  });
  await fill('deliveries', keys, { id: `'filled' || n`, seen_at: ago('n % 80000') });
  await fill('slack_pace', 2 * workspaces, {
    tenant: person.tenant,
    bucket: `'C' || n`,
    free_at: ago('n % 80000'),
  });
  await fill('outbox', keys, outboxColumns(sizes, 0));
  await fill('operations', workspaces, {
    id: `'filled' || n`,
    ...person,
    kind: `'purge'`,
    state: `'succeeded'`,
    seq: '2',
    team_id: person.tenant,
    method: `'POST'`,
    path: `'/purge/' || n`,
    snapshot: `repeat('s', 500)`,
    policy_version: '1',
    approvals_needed: '0',
    created_at: ago('n'),
    expires_at: ago('n'),
    seal: `repeat('s', 64)`,
    key_id: `'${keyring.ids[0]}'`,
    mac: `repeat('m', 44)`,
    moved_by: person.user_id,
    moved_at: ago('n'),
    approvers: `'[]'`,
  });
  await fill('operation_events', 3 * workspaces, {
    operation_id: `'filled' || n % ${workspaces}`,
    seq: `n / ${workspaces}`,
    at: ago('n'),
    actor: person.user_id,
    what: `(array['proposed', 'executing', 'succeeded'])[1 + n / ${workspaces}]`,
  });
  await fill('exports', workspaces, {
    id: `'filled' || n`,
    ...person,
    team_id: person.tenant,
    state: `'done'`,
    attempt: '1',
    row_count: '1000',
    byte_count: '100000',
    files: `'[]'`,
    asked_at: ago('n'),
    ended_at: ago('n'),
    files_deleted_at: ago('n'),
  });
  const scheduled = {
    tenant: person.tenant,
    team_id: person.tenant,
    owner: person.user_id,
    channel: `'C' || n`,
    revision: '1',
    // A day's worth, an hour from now on.
    next_due: `${ago('0')} + (3600 + (n * 8) % 82800) * interval '1 second'`,
    failures: '0',
    created_at: ago('n'),
  };
  const digest = { kind: `'digest'`, body: `'${digestBody}'` };
  await fill('reports', digests, { id: `'f' || n`, ...scheduled, ...digest });
  await fill('report_runs', 10 * digests, runColumns(sizes, 0));
  await fill('report_baselines', digests, {
    report_id: `'f' || n`,
    body: `repeat('b', 2000)`,
  });
  const alert = { kind: `'alert'`, body: `'${alertBody}'`, state: `'{"recent":[]}'` };
  const checked = { checked_at: ago('n % 3600') };
  await fill('reports', alerts, { id: `'a' || n`, ...scheduled, ...alert, ...checked });
  await fill('report_incidents', 3 * alerts, incidentColumns(sizes, 0));
  await fill('names', 2 * workspaces, {
    tenant: person.tenant,
    kind: `'script'`,
    id: `n::text`,
    name: `'Script ' || n`,
    named_by: person.user_id,
    named_at: ago('n'),
  });
  const recent = { ...person, kind: `'script'`, id: `'r' || n / ${keys}`, used_at: ago('n') };
  await fill('recent_ids', 2 * keys, recent);
  await fill('channel_zones', workspaces, {
    tenant: person.tenant,
    channel: `'C' || n`,
    zone_id: `n::text`,
    zone_name: `'zone-' || n`,
    set_by: person.user_id,
    set_at: ago('n'),
  });
  await fill('read_budgets', alerts, { ...person, hour: `date_trunc('hour', ${ago('0')})`, requests: '12' });
  const zone = { ...person, zone_id: `(n / ${alerts})::text` };
  const owners = alerts;
  await fill('error_days', owners, {
    ...zone,
    day: `'2026-11-20'`,
    fingerprint: `lpad(to_hex(n), 8, '0')`,
    read_at: ago('n % 80000'),
    noticed: `'{}'`,
    body: `repeat('e', 2000)`,
  });
  await fill('zone_looks', owners, { ...person, looked_at: ago('n % 80000') });
  const named = {
    tenant: tenant(`(n % ${owners})`, sizes),
    user_id: user(`(n % ${owners})`, sizes),
    zone_id: `(n / ${owners})::text`,
    zone_name: `'zone-' || n`,
  };
  await fill('zone_settings', 5 * owners, { ...named, hash: 'md5(n::text)', body: `repeat('z', 1500)` });
  const change = { at: ago('n * 30'), path: `'Enabled'`, before: `'true'`, after: `'false'` };
  await fill('zone_changes', 5 * owners, { ...named, ...change });
  await fill('step_runs', workspaces, {
    id: `'Fx' || n`,
    tenant: person.tenant,
    team_id: person.tenant,
    begun_at: ago('n * 60'),
    closed_at: ago('n * 60'),
  });
  // Each digest has one that waits for its next run, and the finished ones of a day.
  await fill('pgboss.job', 3 * digests, {
    name: `'reports-due'`,
    state: `(case when n < ${digests} then 'created' else 'completed' end)::pgboss.job_state`,
    data: `jsonb_build_object('digestId', 'f' || n % ${digests})`,
    singleton_key: `'f' || n % ${digests}`,
    group_id: person.tenant,
    policy: `'short'`,
    start_after: `case when n < ${digests} then ${scheduled.next_due} else ${ago('n % 80000')} end`,
    completed_on: `case when n >= ${digests} then ${ago('n % 80000')} end`,
    deletion_seconds: '86400',
  });
  // Without figures the planner guesses, and a new database has none yet.
  await sql`analyze`.execute(db);
}
