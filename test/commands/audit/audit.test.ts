import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Audit, type AuditInput, auditEvents, createAudit } from '../../../src/auth/audit/audit.ts';
import { readRecord } from '../../../src/auth/audit/record.ts';
import { UserError } from '../../../src/errors.ts';
import { renderAuditLine } from '../../../src/views/audit/words.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
import {
  acme,
  beta,
  insertRecords,
  readExportedLines,
  runWithoutTriggers,
} from '../../auth/audit/tampering.ts';
import { buttons, createCommandHarness, readText } from '../../support/command-harness.ts';
import { prepareEngines } from '../../support/engines.ts';
import { readStable } from '../../support/words.ts';

const { embedded } = await prepareEngines();
const at = new Date('2026-11-21T08:00:00.123Z');

/** An admin at their keyboard, with the real record. */
async function admin(): Promise<{
  database: Awaited<ReturnType<typeof embedded.emptyDatabase>>;
  audit: Audit;
  somebody: ReturnType<Awaited<ReturnType<typeof createCommandHarness>>['person']>;
}> {
  const database = await embedded.emptyDatabase();
  const audit = createAudit({ db: database.db, now: () => at });
  const at$ = await createCommandHarness({ audit });
  open.push(at$);
  return { database, audit, somebody: at$.person() };
}
const open: AsyncDisposable[] = [];
afterAll(async () => {
  for (const one of open) await one[Symbol.asyncDispose]();
});

/** How many records were found, about what, and how many there are. */
const headline = (message: Message | undefined): string => readStable(message).split('\n')[0] ?? '';

/** Dates as Slack draws them where it cannot. */
const plain = (message: Message | undefined): string =>
  readText(message).replaceAll(/<!date\^\d+\^[^|]+\|([^>]+)>/gu, '[$1]');

async function contentOf(message: Message | undefined): Promise<string> {
  const content = message?.files?.[0]?.content;
  if (!content || !('path' in content)) throw new Error('no file');
  return readFile(content.path, 'utf8');
}

describe('/cdn audit', () => {
  test('with nothing recorded says so, and offers no file', async () => {
    const { somebody } = await admin();
    const [answer] = await somebody.run('audit');
    expect(readStable(answer)).toMatchSnapshot('nothing recorded');
    expect([...buttons(answer).keys()]).toEqual(['Refresh']);
  });

  test('says who did what, to whom, when, with which reference, newest first', async () => {
    const { audit, somebody } = await admin();
    await audit.record({
      tenant: acme,
      actor: 'U0BOB0000',
      event: 'key-linked',
      subject: 'U0BOB0000',
      detail: { fingerprint: 'f1a9c0de', replaced: false },
    });
    await audit.record({
      tenant: acme,
      actor: 'U0ALICE00',
      event: 'policy-changed',
      subject: 'policy v3',
      detail: { change1: 'operators: +U0BOB0000', change2: 'approvalChannel: none -> C0OPS0000' },
    });
    await audit.record({
      tenant: acme,
      actor: 'U0EVE0000',
      event: 'denied',
      subject: 'volume',
      detail: { reason: 'not-operator', needs: 'destroy', channel: 'C0OPS0000' },
      requestId: 'ABCD2345',
    });
    const operation = { operation: 'KX7PQ2', kind: 'volume-delete', have: 2, need: 2 };
    await audit.record({
      tenant: acme,
      actor: 'U0BOB0000',
      event: 'operation-approved',
      subject: 'ab'.repeat(32),
      detail: operation,
    });
    await audit.record({
      tenant: acme,
      actor: 'system',
      event: 'operation-succeeded',
      subject: 'ab'.repeat(32),
      detail: { ...operation, outcome: 'done', status: 204 },
      requestId: 'cdn-1',
    });
    await audit.record({
      tenant: acme,
      actor: 'system',
      event: 'key-destroyed',
      subject: 'U0BOB0000',
      detail: { cause: 'user-deleted' },
    });
    const [answer] = await somebody.run('audit');
    expect(plain(answer)).toMatchInlineSnapshot(`
      "*6 records* · 6 records in all
      :white_check_mark: All of them hold together.
      The CDN key of <@U0BOB0000> was destroyed by the bot (cause user-deleted)
      #6 · [2026-11-21 08:00 UTC]
      :white_check_mark: The deletion \`KX7PQ2\` (seal \`abababababab\`) was done: status 204
      #5 · [2026-11-21 08:00 UTC] · reference cdn-1
      <@U0BOB0000> approved the deletion \`KX7PQ2\` (seal \`abababababab\`) (2 of 2): it may run
      #4 · [2026-11-21 08:00 UTC]
      :no_entry: <@U0EVE0000> was refused \`/cdn volume\` in <#C0OPS0000>: not an operator
      #3 · [2026-11-21 08:00 UTC] · reference ABCD2345
      <@U0ALICE00> changed the settings to version 3: operators: +<@U0BOB0000>; approvalChannel: none -&gt; <#C0OPS0000>
      #2 · [2026-11-21 08:00 UTC]
      <@U0BOB0000> connected a CDN key (fingerprint f1a9c0de)
      #1 · [2026-11-21 08:00 UTC]
      Kind
      All kinds
      key linked
      key destroyed
      key mismatch
      key entry refused
      policy changed
      policy asked
      policy rejected
      export made
      export ended
      export deleted
      digest created
      digest changed
      digest paused
      digest taken over
      digest deleted
      denied
      keyring changed
      operation proposed
      operation approval
      operation approved
      operation executing
      operation succeeded
      operation failed
      operation unknown
      operation denied
      operation expired
      operation cancelled
      audit exported
      audit key made
      All kinds
      Refresh
      File to verify
      Table (CSV)
      Settings
      as of [2026-11-21 12:00 UTC]
      Head: record 6, \`6db4356fa9731a9173abddd403b9f78bb61df39236c7bdea579a34541b687f97\`
      No daily checkpoint: name a channel for it in the settings."
    `);
    expect(answer?.text).toContain('6 records');
  });

  test('pages, filters and the number of records come from one reading', async () => {
    const { database, somebody } = await admin();
    await insertRecords(database, 64);
    const [first] = await somebody.run('audit');
    expect(headline(first)).toMatchSnapshot('the newest of many');
    expect(plain(first)).toContain('Page 1 of 5');
    // A record that comes meanwhile does not move the pages.
    await insertRecords(database, 3);
    const [second] = await somebody.press(...(buttons(first).get('Older ›') ?? ['', '']));
    expect(plain(second)).toMatch(/Page 2 of 5/);
    expect(plain(second)).toMatch(/<@U54>[^]*<@U45>/);
    expect([...buttons(second).keys()]).toContain('‹ Newer');
    const [fresh] = await somebody.press(...(buttons(second).get('Refresh') ?? ['', '']));
    expect(headline(fresh)).toMatch(/\b50\b.*\b67\b/);
  });

  test('a person and a kind can be asked for, in any order and in words', async () => {
    const { audit, somebody } = await admin();
    const record = (actor: string, event: AuditInput['event'], subject: string): Promise<void> =>
      audit.record({ tenant: acme, actor, event, subject });
    await record('U0BOB0000', 'key-linked', 'U0BOB0000');
    await record('U0BOB0000', 'denied', 'settings');
    await record('U0EVE0000', 'denied', 'settings');
    await record('system', 'key-destroyed', 'U0BOB0000');
    const findRecords = async (words: string): Promise<string[]> =>
      [...plain((await somebody.run(words))[0]).matchAll(/#(\d+) ·/gu)].map(([, seq]) => seq ?? '');
    expect(await findRecords('audit <@U0BOB0000|bob>')).toEqual(['4', '2', '1']);
    expect(await findRecords('audit denied')).toEqual(['3', '2']);
    expect(await findRecords('audit refusals U0BOB0000 9')).toEqual(['2']);
    expect(await findRecords('audit 1 keys')).toEqual(['4']);
    expect(await findRecords('audit 50 <@U0BOB0000> key-linked')).toEqual(['1']);
    expect(await findRecords('audit exports')).toEqual([]);
    const [filtered] = await somebody.run('audit denied U0EVE0000');
    expect(headline(filtered)).toMatchSnapshot('filtered');
    const [all] = await somebody.press(...(buttons(filtered).get('All records') ?? ['', '']));
    expect(headline(all)).toMatch(/^\*4\b.*\b4\b/);
  });

  test.each([
    'audit 0',
    'audit -5',
    'audit 501',
    'audit 99999999999999999999',
    'audit denid',
    'audit e',
    'audit @bob',
    'audit kind:denied',
    'audit <!channel>',
  ])('%s is refused with what would be right', async (words) => {
    const { somebody } = await admin();
    const refused = await somebody.run(words).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UserError);
    const { message, hint } = refused as UserError;
    expect(`${message}\n${hint}`).toMatchSnapshot();
  });

  test('a button of another version says so', async () => {
    const { somebody } = await admin();
    for (const value of ['', 'most=0', 'most=9&kind=nonsense', 'most=9&page=-1', 'page=2'])
      await expect(somebody.press('audit:page', value)).rejects.toThrow('older version');
    await expect(somebody.press('audit:file', 'most=9&as=exe')).rejects.toThrow('older version');
  });

  test('a record that was changed is named, here too', async () => {
    const { database, somebody } = await admin();
    await insertRecords(database, 5);
    await runWithoutTriggers(
      database,
      `update audit_records set detail = '"none"', at = 'infinity' where seq = 3`,
    );
    const [answer] = await somebody.run('audit');
    expect(readStable(answer).split('\n').slice(0, 4)).toMatchSnapshot('record 3 was changed');
    expect(answer?.text).toMatchSnapshot('notification');
  });

  test('of a long record the newest thousand are looked at, and that is said', async () => {
    const { database, somebody } = await admin();
    await insertRecords(database, 1_203);
    const [answer] = await somebody.run('audit 500');
    expect(readStable(answer).split('\n')[1]).toMatchSnapshot('of 1,203 records');
    expect(plain(answer)).toMatch(/Page 1 of 50/);
    const [newest] = await createAudit({ db: database.db, now: () => at }).recent(acme, 1);
    expect(plain(answer)).toContain(`Head: record 1,203, \`${newest?.hash}\``);
  });

  test('the file to verify holds the whole chain, whatever was filtered, and the export is recorded', async () => {
    const { database, audit, somebody } = await admin();
    await insertRecords(database, 12);
    await insertRecords(database, 2, beta);
    const lines = await readExportedLines(database);
    const [answer] = await somebody.run('audit 3 U0BOB0000');
    const [sent] = await somebody.press(...(buttons(answer).get('File to verify') ?? ['', '']));
    expect(sent?.files).toMatchObject([
      { name: 'audit-T0ACME000-2026-11-21.ndjson', mimetype: 'application/x-ndjson' },
    ]);
    const content = await contentOf(sent);
    expect(content).toBe(`${lines.join('\n')}\n`);
    expect(readText(sent)).toContain(readRecord(lines.at(-1) ?? '')?.hash);
    expect(await audit.recent(acme, 1)).toMatchObject([
      { actor: 'U0ALICE00', event: 'audit-exported', detail: { format: 'ndjson', records: 12 } },
    ]);
  });

  test('the table has what was asked for, and nothing in it runs in a spreadsheet', async () => {
    const { audit, somebody } = await admin();
    await audit.record({
      tenant: acme,
      actor: 'U1234567',
      event: 'denied',
      subject: '=cmd()',
      detail: { '+x': '@y' },
    });
    await audit.record({ tenant: acme, actor: 'U7654321', event: 'key-linked', requestId: '-1' });
    const [answer] = await somebody.run('audit denied');
    const [sent] = await somebody.press(...(buttons(answer).get('Table (CSV)') ?? ['', '']));
    const content = await contentOf(sent);
    expect(parse(content, { columns: true })).toEqual([
      {
        seq: '1',
        time: at.toISOString(),
        who: 'U1234567',
        event: 'denied',
        subject: "'=cmd()",
        detail: '{"+x":"@y"}',
        reference: '',
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    const [none] = await somebody.press('audit:file', 'most=9&who=U9999999&as=csv');
    expect(readStable(none)).toMatchSnapshot('no record for a table');
  });

  test('whatever is in a record, every answer holds Slack’s limits and nothing in it is markup', async () => {
    const { database, somebody } = await admin();
    const audit = createAudit({ db: database.db, now: () => at });
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 1_500 }),
      fc.constantFrom(
        '<!channel>',
        '<@U0BOB0000>',
        '&amp;',
        '`x`',
        'U0BOB0000',
        'C0OPS0000',
        '*_~',
        '__proto__',
        'ab'.repeat(32),
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            actor: fc.oneof(fc.constantFrom('system', 'U0BOB0000'), text),
            event: fc.constantFrom(...auditEvents),
            subject: fc.option(text, { nil: undefined }),
            detail: fc.dictionary(
              fc.oneof(
                fc.constantFrom(
                  'operation',
                  'kind',
                  'have',
                  'need',
                  'outcome',
                  'status',
                  'reason',
                  'channel',
                  'change1',
                ),
                text,
              ),
              fc.oneof(text, fc.integer(), fc.boolean()),
              { maxKeys: 20 },
            ),
            requestId: fc.option(text, { nil: undefined }),
          }),
          { minLength: 1, maxLength: 10 },
        ),
        async (entries) => {
          for (const entry of entries) await audit.record({ tenant: acme, ...entry });
          // The harness checks each answer.
          await somebody.run('audit 10');
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('every word that can be recorded', () => {
  let lines: string[];
  beforeAll(() => {
    lines = auditEvents.map(
      (event) =>
        renderAuditLine({
          tenant: acme,
          seq: 1,
          at,
          actor: 'U0BOB0000',
          event,
          subject: 'U0CAROL00',
          detail: {},
          requestId: null,
          prevHash: '',
          hash: '',
        }).says,
    );
  });

  test('reads as a sentence of its own', () => {
    expect(new Set(lines).size).toBe(auditEvents.length);
    for (const line of lines) expect(line).not.toMatch(/undefined|NaN|\[object/);
  });

  test('one of another version reads as its name and its facts', () => {
    const detail = { rows: 12, where: 'C0OPS0000', seal: 'cd'.repeat(32), secret_thing: '<b>' };
    const entry = {
      tenant: acme,
      seq: 1,
      at,
      actor: 'system',
      subject: 'a zone',
      requestId: null,
      prevHash: '',
      hash: '',
    };
    expect(renderAuditLine({ ...entry, event: 'moon-landed', detail }).says).toMatchInlineSnapshot(
      `"The bot: moon landed · \`a zone\` (rows 12, where <#C0OPS0000>, seal \`cdcdcdcdcdcd\`, secret thing &lt;b&gt;)"`,
    );
    for (const event of ['toString', '__proto__', '<!here>'])
      expect(renderAuditLine({ ...entry, event, detail: {} }).says).toMatch(/^The bot: [^<]+ · `a zone`$/);
  });
});
