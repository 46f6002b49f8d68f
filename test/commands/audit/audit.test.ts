import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Actor } from '../../../simulator/slack/actor.ts';
import { type AuditInput, auditEvents, createAudit } from '../../../src/auth/audit/audit.ts';
import { renderAuditLine } from '../../../src/views/audit.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
import { acme, insertRecords, runWithoutTriggers } from '../../auth/audit/tampering.ts';
import { ask, useBot } from '../../support/bot.ts';
import { buttons, createCommandHarness, readText } from '../../support/command-harness.ts';
import { prepareEngines } from '../../support/engines.ts';
import { bob, carol, ops } from '../../support/people.ts';
import { readStable } from '../../support/words.ts';

const { embedded } = await prepareEngines();
const at = new Date('2026-11-21T08:00:00.123Z');

/** An admin at their keyboard, with the real record. */
async function admin() {
  const database = await embedded.emptyDatabase();
  const audit = createAudit({ db: database.db, now: () => at });
  const harness = await createCommandHarness({ audit });
  onTestFinished(() => harness[Symbol.asyncDispose]());
  const record = async (actor: string, event: AuditInput['event'], more: Partial<AuditInput> = {}) =>
    audit.record({ tenant: acme, actor, event, ...more });
  return { database, audit, record, somebody: harness.person() };
}

/** How many records were found, about what, and how many there are. */
const headline = (message: Message | undefined): string => readStable(message).split('\n')[0] ?? '';

/** The numbers of the records in the list. */
function readNumbers(message: Message | undefined): number[] {
  return [...readText(message).matchAll(/ · no\. ([\d,]+)/gu)].map(([, number = '']) =>
    Number(number.replaceAll(',', '')),
  );
}

async function contentOf(message: Message | undefined): Promise<string> {
  const content = message?.files?.[0]?.content;
  if (!content || !('path' in content)) throw new Error('no file');
  return readFile(content.path, 'utf8');
}

describe('/cdn audit', () => {
  test('with nothing recorded says so, and offers no file', async () => {
    const { somebody } = await admin();
    const [answer] = await somebody.run('audit');
    expect(headline(answer)).toMatchSnapshot('nothing recorded');
    expect([...buttons(answer).keys()]).not.toContain('Download CSV');
  });

  test('says who did what, to whom, when, with which reference, newest first', async () => {
    const { record, somebody } = await admin();
    const detail = { fingerprint: 'f1a9c0de', replaced: false };
    await record('U0BOB0000', 'key-linked', { subject: 'U0BOB0000', detail });
    const changes = { change1: 'operators: +U0BOB0000', change2: 'approvalChannel: none -> C0OPS0000' };
    await record('U0ALICE00', 'policy-changed', { subject: 'policy v3', detail: changes });
    await record('U0EVE0000', 'denied', {
      subject: 'volume',
      detail: { reason: 'not-operator', needs: 'destroy', channel: 'C0OPS0000' },
      requestId: 'ABCD2345',
    });
    const operation = { operation: 'KX7PQ2', kind: 'volume-delete', have: 2, need: 2 };
    const subject = 'ab'.repeat(32);
    await record('U0BOB0000', 'operation-approved', { subject, detail: operation });
    const done = { ...operation, outcome: 'done', status: 204 };
    await record('system', 'operation-succeeded', { subject, detail: done, requestId: 'cdn-1' });
    await record('system', 'key-destroyed', { subject: 'U0BOB0000', detail: { cause: 'user-deleted' } });
    const [answer] = await somebody.run('audit');
    expect(readStable(answer)).toMatchSnapshot();
    expect([...buttons(answer).keys()]).toContain('Download CSV');
    expect(answer?.text).toContain('6 records');
  });

  test('the newest six are shown, fifty by a button, the newest of all after a refresh', async () => {
    const { database, somebody } = await admin();
    await insertRecords(database, 64);
    const [first] = await somebody.run('audit');
    expect(headline(first)).toMatchSnapshot('the newest of many');
    expect(readNumbers(first)).toHaveLength(6);
    const [actionId, value] = buttons(first).get('Show 50') ?? [];
    const pages = (await somebody.press(actionId ?? '', value ?? '')).at(-1);
    const [last] = await somebody.press('audit:list:page', 'audit 50 page:6');
    expect([readNumbers(pages).at(0), readNumbers(last).at(-1)]).toEqual([64, 15]);
    expect(readNumbers(first).at(0)).toBe(64);
    await insertRecords(database, 3);
    const [fresh] = await somebody.pressIn(first, 'Refresh');
    expect(readNumbers(fresh).at(0)).toBe(67);
  });

  test('a person and a kind can be asked for, in any order and in words', async () => {
    const { record, somebody } = await admin();
    await record('U0BOB0000', 'key-linked', { subject: 'U0BOB0000' });
    await record('U0BOB0000', 'denied', { subject: 'settings' });
    await record('U0EVE0000', 'denied', { subject: 'settings' });
    await record('system', 'key-destroyed', { subject: 'U0BOB0000' });
    const findRecords = async (words: string): Promise<number[]> =>
      readNumbers((await somebody.run(words))[0]);
    expect(await findRecords('audit <@U0BOB0000|bob>')).toEqual([4, 2, 1]);
    expect(await findRecords('audit denied')).toEqual([3, 2]);
    expect(await findRecords('audit refusals U0BOB0000 9')).toEqual([2]);
    expect(await findRecords('audit 1 keys')).toEqual([4]);
    expect(await findRecords('audit 50 <@U0BOB0000> key-linked')).toEqual([1]);
    expect(await findRecords('audit exports')).toEqual([]);
    const [filtered] = await somebody.run('audit denied U0EVE0000');
    expect(readStable(filtered).split('\n').slice(0, 2)).toMatchSnapshot('filtered');
    const [all] = await somebody.pressIn(filtered, 'All records');
    expect(readNumbers(all)).toEqual([4, 3, 2, 1]);
  });

  test.each(['audit 0', 'audit 101', 'audit denid', 'audit e', 'audit kind:denied', 'audit <!channel>'])(
    '%s is refused with what would be right',
    async (words) => {
      const { somebody } = await admin();
      const { message, hint } = await somebody.refuse(words);
      expect(`${message}\n${hint}`).toMatchSnapshot();
    },
  );

  test('a name in place of a mention is answered with a menu of people', async () => {
    const { somebody } = await admin();
    const [asked] = await somebody.run('what did bob do');
    expect(readStable(asked)).toMatchSnapshot();
    const [answer] = await somebody.press('audit:person', 'U0EVE0000');
    expect(readText(answer)).toContain('U0EVE0000');
  });

  test('a record that was changed is named, here too', async () => {
    const { database, somebody } = await admin();
    await insertRecords(database, 5);
    await runWithoutTriggers(
      database,
      `update audit_records set detail = '"none"', at = 'infinity' where seq = 3`,
    );
    const [answer] = await somebody.run('audit');
    expect(headline(answer)).toMatchSnapshot('record 3 was changed');
    expect(answer?.text).toMatchSnapshot('notification');
  });

  test('of a long record the newest thousand are looked at, and that is said', async () => {
    const { audit, database, somebody } = await admin();
    await insertRecords(database, 1_203);
    const [answer] = await somebody.run('audit 100');
    expect(headline(answer)).toMatchSnapshot('of 1,203 records');
    expect(readNumbers(answer).at(0)).toBe(1203);
    expect(readText(answer)).toContain('91–100 of 100');
    const [newest] = await audit.recent(acme, 1);
    expect(readText(answer)).toContain(`Head \`${newest?.hash.slice(0, 12)}\``);
  });

  test('the file has what was asked for, nothing in it runs in a spreadsheet, and it is recorded', async () => {
    const { audit, record, somebody } = await admin();
    await record('U1234567', 'denied', { subject: '=cmd()', detail: { '+x': '@y' } });
    await record('U7654321', 'key-linked', { requestId: '-1' });
    const [answer] = await somebody.run('audit denied');
    const [sent] = await somebody.pressIn(answer, 'Download CSV');
    // A file that lacks records of the chain does not lead to its head.
    expect(readText(sent)).not.toContain('Head');
    const content = await contentOf(sent);
    expect(parse(content, { bom: true, columns: true })).toEqual([
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
    expect(await audit.recent(acme, 1)).toMatchObject([
      { actor: 'U0ALICE00', event: 'audit-exported', detail: { format: 'csv', records: 1 } },
    ]);
    const [none] = await somebody.press('audit:file', 'audit 9 U9999999');
    expect(readStable(none)).toMatchSnapshot('no record for a table');
  });

  test('whatever is in a record, every answer holds Slack’s limits and nothing in it is markup', async () => {
    const { audit, somebody } = await admin();
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 1_500 }),
      fc.constantFrom('<!channel>', '<@U0BOB0000>', '&amp;', '`x`', 'U0BOB0000', '*_~', 'ab'.repeat(32)),
    );
    const member = fc.oneof(fc.constantFrom('operation', 'kind', 'outcome', 'reason', 'channel'), text);
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            actor: fc.oneof(fc.constantFrom('system', 'U0BOB0000'), text),
            event: fc.constantFrom(...auditEvents),
            subject: fc.option(text, { nil: undefined }),
            detail: fc.dictionary(member, fc.oneof(text, fc.integer(), fc.boolean()), { maxKeys: 20 }),
            requestId: fc.option(text, { nil: undefined }),
          }),
          { minLength: 5, maxLength: 10 },
        ),
        async (entries) => {
          for (const entry of entries) await audit.record({ tenant: acme, ...entry });
          // The harness checks each answer.
          await somebody.run('audit 10');
        },
      ),
      { numRuns: 15 },
    );
  });
});

const entry = { tenant: acme, seq: 1, at, requestId: null, prevHash: '', hash: '' };
const read = (record: Parameters<typeof renderAuditLine>[0]): string =>
  renderAuditLine(record).split(' · ')[0] ?? '';

describe('every word that can be recorded', () => {
  test('reads as words of its own', () => {
    const rows = auditEvents.map((event) =>
      read({ ...entry, actor: 'U0BOB0000', event, subject: 'U0CAROL00', detail: {} }),
    );
    expect(new Set(rows).size).toBe(auditEvents.length);
    for (const row of rows) expect(row).not.toMatch(/undefined|NaN|\[object/);
  });

  test('an acknowledgement that was taken back does not read as one', () => {
    const record = { ...entry, actor: 'U0BOB0000', event: 'alert-acknowledged', subject: '7tswr' };
    expect(
      ['', 'yes'].map((undone) => read({ ...record, detail: undone ? { undone } : {} })),
    ).toMatchInlineSnapshot(`
      [
        "Alert acknowledged: 7tswr",
        "Acknowledgement undone: 7tswr",
      ]
    `);
  });

  test('one of another version reads as its name and its facts', () => {
    const detail = { rows: 12, where: 'C0OPS0000', secret_thing: '<b>' };
    const unknown = { ...entry, actor: 'system', subject: 'a zone' };
    expect(read({ ...unknown, event: 'moon-landed', detail })).toMatchInlineSnapshot(
      `"Moon landed: a zone (rows 12, where <#C0OPS0000>, secret thing &lt;b&gt;)"`,
    );
    for (const event of ['toString', '__proto__', '<!here>'])
      expect(read({ ...unknown, event, detail: {} })).toContain('a zone');
  });
});

const readAnswer = async (person: Actor, words: string): Promise<string> => (await ask(person, words)).reads;

function withoutHashes(answer: string): string {
  const hashes = answer.replaceAll(/\b[\da-f]{12,64}\b/g, '<hash>');
  return readStable(hashes.replaceAll(/\b[A-Z\d]{8}$/gm, '<reference>'));
}

const bot = await useBot({ zones: 12, env: { ADMIN_USER_IDS: carol } }, [bob]);

describe('the audit in Slack', () => {
  const [admin, other] = [bot.slack.as(carol, ops), bot.slack.as(bob, ops)];

  test('an admin reads who connected a key, others are refused, and that is recorded too', async () => {
    expect(withoutHashes(await readAnswer(admin, 'audit'))).toMatchSnapshot('the newest records');
    const refused = await readAnswer(other, 'audit');
    expect(withoutHashes(refused)).toMatchSnapshot('refused');
    const denied = await readAnswer(admin, 'audit denied');
    expect(withoutHashes(denied)).toMatchSnapshot('the record of the refusal');
    // What somebody reads out on the phone is what stands in the record.
    expect(denied).toContain(`· ${/Reference (\w{8})/.exec(refused)?.[1]}`);
    const keys = await readAnswer(admin, `audit 9 <@${bob}|bob> keys`);
    expect(withoutHashes(keys)).toMatchSnapshot('keys of a person');
  });
});
