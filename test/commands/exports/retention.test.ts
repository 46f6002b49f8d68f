import { describe, expect, test } from 'vitest';
import { exportOperation } from '../../../src/api/event-logs.ts';
import { ApiError } from '../../../src/api/http/errors.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { initialPolicy } from '../../../src/auth/policy/policy.ts';
import {
  countOverdueFiles,
  createExportService,
  type ExportContext,
  type ExportPorts,
  exportMessages,
  findExport,
  moveExport,
} from '../../../src/commands/exports/exports.ts';
import { exportRetentionJob, runExportJob } from '../../../src/commands/exports/jobs.ts';
import { createOutbox } from '../../../src/outbox/outbox.ts';
import { SlackFailure } from '../../../src/outbox/slack-port.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { renderSettingsSummary } from '../../../src/views/settings/settings.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';

const { embedded, both } = await prepareEngines();
const at = new Date('2026-11-21T08:00:00.000Z');
const daysAgo = (days: number): Date => new Date(at.getTime() - days * 86_400_000);
const acme = 'T0ACME000';

/** A finished export with its files. */
async function addExport({ db }: Database, id: string, files: readonly string[], days: number) {
  await db
    .insertInto('exports')
    .values({
      id,
      tenant: acme,
      team_id: acme,
      user_id: 'U0ALICE00',
      state: 'done',
      attempt: 1,
      row_count: 1,
      byte_count: 1,
      request: '{}',
      files: JSON.stringify(files),
      asked_at: daysAgo(days),
      ended_at: daysAgo(days),
    })
    .execute();
}

/** One round of the job where Slack refuses some files, by their ids. */
async function runRound({ db }: Database, refusals: Readonly<Record<string, string>>, exportKeepDays = 2) {
  const log = createMemoryLog();
  const deleted: string[] = [];
  const ports = {
    audit: createAudit({ db, now: () => at }),
    authorizer: () => ({ policy: async () => ({ exportKeepDays }) }),
    slack: () => ({
      async deleteFile(file: string) {
        const code = refusals[file];
        if (code) throw new SlackFailure(code);
        deleted.push(file);
      },
    }),
  } as unknown as ExportPorts;
  const { signal } = new AbortController();
  await exportRetentionJob.run({}, { db, ports, log, now: () => at, signal, attempt: 1 });
  return { deleted: deleted.toSorted(), warned: log.entries.map(({ fields }) => fields) };
}

const findNotes = (overdueFiles: number) => {
  const settings = {
    policy: initialPolicy,
    last: undefined,
    groups: [],
    missing: [],
    pending: undefined,
    reader: 'U1',
  };
  return renderSettingsSummary({ ...settings, overdueFiles }).blocks.filter(
    (block) => block.type === 'context' && JSON.stringify(block).includes('exported'),
  );
};

test('the settings tell admins how many files are overdue', () => {
  expect(findNotes(0)).toEqual([]);
  expect(JSON.stringify(findNotes(3))).toContain('3 exported files');
});

test('files that Slack does not delete hold up no others, and are counted until they are gone', async () => {
  const database = await embedded.emptyDatabase();
  await addExport(database, 'oldest', ['F1', 'F2'], 9);
  for (const n of [1, 2, 3]) await addExport(database, `due${n}`, [`F1${n}`], 5);
  await addExport(database, 'young', ['F20'], 1);
  // Due, but not for two hours yet.
  await addExport(database, 'now', ['F21'], 2);
  // Neither of these was ever in Slack.
  await addExport(database, 'empty', [], 9);
  await addExport(database, 'failed', ['F22'], 9);
  await database.db.updateTable('exports').set({ state: 'failed' }).where('id', '=', 'failed').execute();
  const count = (tenant = acme, days = 2): Promise<number> =>
    countOverdueFiles(database.db, tenant, days, at);
  expect(await count()).toBe(5);
  const refused = await runRound(database, { F1: 'cant_delete_file' });
  expect(refused.deleted).toEqual(['F11', 'F12', 'F13', 'F21']);
  expect(refused.warned).toMatchObject([{ id: 'oldest', error: { code: 'cant_delete_file' } }]);
  expect([await count(), await count('T0BETA000'), await count(acme, 0)]).toEqual([2, 0, 0]);
  expect(await runRound(database, {})).toEqual({ deleted: ['F1', 'F2'], warned: [] });
  expect(await count()).toBe(0);
  const [record, ...others] = await createAudit({ db: database.db, now: () => at }).recent(acme, 9);
  expect(others).toHaveLength(4);
  expect(record).toMatchObject({ event: 'export-deleted', actor: 'system', detail: { afterDays: 2 } });
  // What was searched for goes before the rest.
  const rows = await database.db.selectFrom('exports').select(['id', 'request']).orderBy('id').execute();
  expect(rows.filter(({ request }) => request === null).map(({ id }) => id)).toEqual([
    'empty',
    'failed',
    'oldest',
  ]);
  expect(await createService(database).exports.find(alice, 'oldest')).toBeUndefined();
});

test('where files stay no file is deleted, and their exports are known as long as they are there', async () => {
  const database = await embedded.emptyDatabase();
  const { db } = database;
  await addExport(database, 'kept', ['F1'], 91);
  await addExport(database, 'deleted', ['F2'], 91);
  await addExport(database, 'none', [], 91);
  await addExport(database, 'recent', [], 89);
  await db.updateTable('exports').set({ files_deleted_at: at }).where('id', '=', 'deleted').execute();
  expect(await runRound(database, {}, 0)).toEqual({ deleted: [], warned: [] });
  const left = db.selectFrom('exports').select('id').orderBy('id');
  expect(await left.execute()).toEqual([{ id: 'kept' }, { id: 'recent' }]);
});

test('where Slack wants a pause, the rest waits for the next hour', async () => {
  const database = await embedded.emptyDatabase();
  for (const n of [1, 2, 3]) await addExport(database, `due${n}`, [`F${n}`], 5);
  const paused = { F1: 'ratelimited', F2: 'ratelimited', F3: 'ratelimited' };
  const { deleted, warned } = await runRound(database, paused);
  expect(deleted).toEqual([]);
  expect(warned).toMatchObject([{ tenant: acme }]);
  expect(warned).toHaveLength(1);
});

test('an attempt changes nothing once another one has begun', async () => {
  const database = await embedded.emptyDatabase();
  const { db } = database;
  for (const id of ['one', 'other']) await addExport(database, id, [], 0);
  await db.updateTable('exports').set({ state: 'running', run: 'second' }).execute();
  const moveBy = (run: string) => moveExport(db, { id: 'one', from: ['running'], run }, { row_count: 7 });
  expect(await moveBy('first')).toBeUndefined();
  expect(await moveBy('second')).toMatchObject({ row_count: 7 });
  expect(await findExport(db, 'other')).toMatchObject({ row_count: 1 });
});

const wanted = {
  shieldZoneId: '501',
  from: daysAgo(1),
  to: at,
  query: '',
  filters: [],
  spreadsheetSafe: false,
  pseudonyms: false,
};

const alice = { teamId: acme, userId: 'U0ALICE00' };

function createService({ db }: Database) {
  const outbox = createOutbox({ enqueue: async () => undefined, now: () => at });
  const ports = { outbox, audit: createAudit({ db, now: () => at }) } as unknown as ExportPorts;
  return { exports: createExportService({ db, ports, now: () => at }), ports };
}

/** Several of one database differ in what they search for. */
async function askForExport(query = '', database?: Database) {
  const empty = database ?? (await embedded.emptyDatabase());
  const { exports, ports } = createService(empty);
  await exports.ask(alice, { ...wanted, query }, undefined);
  const id = (await exports.list(alice, 9)).find(({ request }) => request.query === query)?.id ?? '';
  return { db: empty.db, exports, ports, id };
}

const allowed = {
  decide: async () => ({ allowed: true, trace: [] }),
  policy: async () => initialPolicy,
};

/** An export whose message is posted, and what its attempts run with. */
async function prepareAttempts(
  more: object = {},
  signal = new AbortController().signal,
  ...asked: Parameters<typeof askForExport>
) {
  const { db, exports, ports, id } = await askForExport(...asked);
  await db.updateTable('outbox').set({ state: 'sent', posted_in: 'D1', ts: '1.1' }).execute();
  const made = {
    enqueue: async () => undefined,
    explain: () => ({ message: 'cut off' }),
    authorizer: () => allowed,
    cdnKey: async () => new Secret('key-of-a-test'),
    ...more,
  };
  const all = { ...ports, ...made } as unknown as ExportPorts;
  let now = at.getTime();
  const context = { db, ports: all, log: createMemoryLog(), now: () => new Date(now), signal, attempt: 1 };
  return {
    run: () => runExportJob.run({ id }, context),
    putAside: () => runExportJob.putAside?.({ id }, context),
    cancel: () => exports.cancel(alice, id),
    pass: (ms: number) => {
      now += ms;
    },
    state: async () => (await exports.find(alice, id))?.state,
    leaveAs: (state: string) => db.updateTable('exports').set({ state }).execute(),
    postTo: (channel: string) => db.updateTable('exports').set({ channel }).execute(),
  };
}

test.each([
  ['is put aside', 'running', 'failed'],
  ['is put aside', 'sharing', 'unknown'],
  ['is put aside', 'done', 'done'],
  ['was left by a process that died', 'sharing', 'unknown'],
])('an export that %s while %s ends as %s', async (how, state, end) => {
  const attempts = await prepareAttempts();
  await attempts.leaveAs(state);
  await (how === 'is put aside' ? attempts.putAside() : attempts.run());
  expect(await attempts.state()).toBe(end);
});

test('an export whose answer is cut off each time ends after its fourth attempt', async () => {
  const cut = new ApiError({ code: 'cut', operation: exportOperation, sent: true });
  const { run, state } = await prepareAttempts({
    authorizer: () => ({ decide: () => Promise.reject(cut) }),
    exportThread: () => ({ progress: () => ({ rows: 0, bytes: 0 }), close: async () => undefined }),
    slack: () => ({ update: async () => undefined }),
  });
  const states: unknown[] = [];
  for (let nth = 0; nth < 4; nth += 1) {
    await run();
    states.push(await state());
  }
  expect(states).toEqual(['waiting', 'waiting', 'waiting', 'failed']);
});

/** An export whose attempt reports twice, three seconds apart; how often its progress was shown. */
async function countShown(audience: 'own' | 'others', database: Database): Promise<number> {
  const gathered = Promise.withResolvers<object>();
  let [stored, shown] = [0, 0];
  const progress = () => {
    stored += 1;
    // The second report ends the export.
    if (stored === 2) gathered.resolve({ rows: 0, bytes: 0, files: [] });
    return { rows: 0, bytes: 0 };
  };
  const more = {
    exportThread: () => ({ gather: () => gathered.promise, progress, close: async () => undefined }),
    readAudience: async () => audience,
    slack: () => ({
      async update() {
        shown += 1;
        throw new SlackFailure('ratelimited', { retryAfterSeconds: 60 });
      },
    }),
  };
  const { run, state, postTo } = await prepareAttempts(more, undefined, audience, database);
  await postTo('C0OPS0000');
  await run();
  expect(await state()).toBe('done');
  return shown;
}

test('progress is shown to its own organization only, and not before the pause that Slack asks for is over', async () => {
  const database = await embedded.emptyDatabase();
  const shown = [countShown('own', database), countShown('others', database)];
  expect(await Promise.all(shown)).toEqual([1, 0]);
});

const endings = {
  'is cancelled': 'cancelled',
  'takes two hours': 'failed',
  'is stopped with the bot': 'running',
};

async function endWhileSending(why: keyof typeof endings, database: Database) {
  let closed = 0;
  const stopping = new AbortController();
  const attempts = await prepareAttempts(
    {
      exportThread: () => ({
        async gather(_key: Secret, _request: object, signal: AbortSignal) {
          if (why === 'is cancelled') await attempts.cancel();
          if (why === 'takes two hours') attempts.pass(2 * 3_600_000);
          if (why === 'is stopped with the bot') stopping.abort();
          // A report comes every three seconds.
          return new Promise((_, reject) => {
            const stop = () => reject(signal.reason);
            if (signal.aborted) stop();
            signal.addEventListener('abort', stop);
          });
        },
        progress: () => ({ rows: 5, bytes: 5 }),
        close: async () => void (closed += 1),
      }),
      slack: () => ({ update: async () => undefined }),
    },
    stopping.signal,
    why,
    database,
  );
  const failed = await attempts.run().catch((error: unknown) => error);
  return [why, await attempts.state(), closed, failed instanceof Error];
}

test('an export that ends while the CDN sends closes its thread; one that the bot stops runs again', async () => {
  const whys = Object.keys(endings) as (keyof typeof endings)[];
  const expected = whys.map((why) => [why, endings[why], 1, why === 'is stopped with the bot']);
  const database = await embedded.emptyDatabase();
  expect(await Promise.all(whys.map((why) => endWhileSending(why, database)))).toEqual(expected);
});

test('a file that may have been shown, or not, ends as unknown', async () => {
  const attempts = await prepareAttempts({
    exportThread: () => ({
      gather: async () => ({ rows: 1, bytes: 1, files: [{ kind: 'raw', length: 1, sha256: 'a' }] }),
      progress: () => ({ rows: 1, bytes: 1 }),
      close: async () => undefined,
    }),
    slack: () => ({
      async share(_files: unknown, { beforeShare }: { beforeShare: (ids: string[]) => Promise<void> }) {
        await beforeShare(['F1']);
        throw new Error('the connection broke off');
      },
    }),
  });
  await attempts.run();
  expect(await attempts.state()).toBe('unknown');
});

test.each([
  ['asked', 'dead', 'is_archived', 'failed', 0],
  ['asked', 'unknown', undefined, 'failed', 0],
  // Cancelled meanwhile: there is no message that says so.
  ['cancelled', 'dead', 'is_archived', 'cancelled', 1],
  ['erased', 'dead', 'is_archived', undefined, 0],
] as const)(
  'a message of an export (%s) that ends as %s (%s): it is %s, and the person is told in %i other messages',
  async (before, state, code, after, notices) => {
    const { db, ports, id } = await askForExport();
    await db.updateTable('exports').set({ state: before }).execute();
    if (before === 'erased') await db.deleteFrom('exports').execute();
    const ended = { id: `export:${id}`, about: { id }, state, code, place: 'D1', posted: undefined } as const;
    const context = { db, ports, now: () => at } as unknown as ExportContext;
    const [message] = exportMessages;
    await db
      .transaction()
      .execute((trx) => message.ended?.(trx, { ...ended, reason: undefined }, context) ?? Promise.resolve());
    const row = await db.selectFrom('exports').select(['state', 'ending']).executeTakeFirst();
    expect(row?.state).toBe(after);
    expect(JSON.parse(row?.ending ?? 'null')?.failure).toMatchSnapshot();
    const told = db.selectFrom('outbox').select('id').where('id', 'like', 'export-end:%');
    expect(await told.execute()).toHaveLength(notices);
  },
);

describe.each(both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('forms at once: an equal one is no second export, a fourth is too many', async () => {
    const { exports } = createService(await emptyDatabase());
    const askFor = async (...queries: string[]): Promise<string[]> => {
      const asked = queries.map((query) => exports.ask(alice, { ...wanted, query }, undefined));
      const settled = await Promise.allSettled(asked);
      return settled.map((one) => ('reason' in one ? String(one.reason) : 'begun')).toSorted();
    };
    const told = [await askFor('same', 'same', 'same'), await askFor('second', 'third', 'fourth')];
    expect(told).toMatchInlineSnapshot(`
      [
        [
          "UserError: This export is already under way.",
          "UserError: This export is already under way.",
          "begun",
        ],
        [
          "UserError: You already have 3 exports under way, the maximum.",
          "begun",
          "begun",
        ],
      ]
    `);
    expect(await exports.countUnderWay(alice)).toBe(3);
  });
});

test('an export is found, counted and cancelled in its own workspace only', async () => {
  const database = await embedded.emptyDatabase();
  await addExport(database, 'x1', [], 0);
  await database.db.updateTable('exports').set({ state: 'waiting', ended_at: null }).execute();
  const ports = {} as ExportPorts;
  const exports = createExportService({ db: database.db, ports, now: () => at });
  const stranger = { teamId: 'T0OTHER00', enterpriseId: undefined, userId: 'U0ALICE00' };
  expect(await exports.find(stranger, 'x1')).toBeUndefined();
  expect(await exports.cancel(stranger, 'x1')).toBe('over');
  expect([await exports.list(stranger, 9), await exports.countUnderWay(stranger)]).toEqual([[], 0]);
  await exports.endFor({ person: undefined, tenant: stranger.teamId });
  const bob = { ...alice, userId: 'U0BOB0000' };
  expect([await exports.list(bob, 9), await exports.countUnderWay(bob)]).toEqual([[], 0]);
  await exports.endFor({ person: bob, tenant: acme });
  expect(await database.db.selectFrom('exports').select('state').execute()).toEqual([{ state: 'waiting' }]);
});
