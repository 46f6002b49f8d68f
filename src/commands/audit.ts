import { type AuditFilter, type AuditRecord, auditEvents } from '../auth/audit/audit.ts';
import { tenantId } from '../auth/identity.ts';
import { UserError } from '../errors.ts';
import { type CsvColumn, writeCsv, writeCsvHeader } from '../lib/csv.ts';
import { writeTempFile } from '../lib/temp-file.ts';
import { toUtcDay } from '../lib/time.ts';
import * as views from '../views/audit.ts';
import { context as contextBlock, type Message, say } from '../views/blocks/blocks.ts';
import { pluralize } from '../views/blocks/format.ts';
import { capitalize, formatCode } from '../views/blocks/text.ts';
import { renderWhichPerson } from '../views/settings/why.ts';
import type { Context, Feature } from './define.ts';
import { findClosest } from './did-you-mean.ts';
import { parseWords, type Words, withoutFirst } from './words.ts';

/** The newest records that each list verifies. */
const verifiedRecords = 1_000;
// Fits the screen of a phone.
const defaultLimit = 6;
/** More records than this are for a file. */
const maxLimit = 100;

export const audit: Feature = {
  name: 'audit',
  commands: [
    {
      name: 'audit',
      aliases: ['history'],
      usage: 'audit [n] [@person] [kind]',
      summary: 'Who did what: keys, settings, approvals and refusals, as a list or file',
      examples: ['audit', 'audit 100', 'audit denied', 'audit 50 keys'],
      needs: 'admin',
      shares: 'never',
      async run(words, context) {
        const name = words.list.find((word) => word.startsWith('@') && !isMember(word));
        return name ? renderWhichPerson(name, 'audit:person') : showList(readQuery(words), context);
      },
    },
  ],
  actions: [
    { id: 'audit:list', needs: 'admin', run: (value, context) => showList(readButton(value), context) },
    { id: 'audit:person', needs: 'none', runsCommand: true, toCommand: (_action, who) => `audit ${who}` },
    { id: 'audit:file', needs: 'admin', newMessage: true, run: sendFile },
  ],
};

async function showList(view: views.AuditView, context: Context): Promise<Message> {
  const tenant = tenantId(context.person);
  const takenAt = context.now();
  const [records, state] = await Promise.all([
    context.audit.recent(tenant, view.most, toFilter(view)),
    context.audit.check(tenant, verifiedRecords),
  ]);
  return views.renderAuditList({ view, records, kinds: auditEvents, state, takenAt });
}

async function sendFile(value: string, context: Context): Promise<Message> {
  const tenant = tenantId(context.person);
  const written = await writeFile(tenant, toFilter(readButton(value)), context);
  if (!written) return say('No record matches, so there is no file.');
  const { path, records, head } = written;
  const entry = { tenant, actor: context.person.userId, event: 'audit-exported' } as const;
  await context.audit.record({ ...entry, detail: { format: 'csv', records } });
  const day = toUtcDay(context.now());
  const [name, title] = [`audit-${tenant}-${day}.csv`, `Audit of ${tenant}, ${day}`];
  const text = `${capitalize(pluralize(records, 'record'))} as CSV.`;
  return {
    ...say(text, head && contextBlock(`Head \`${head}\``)),
    files: [{ name, title, mimetype: 'text/csv', content: { path } }],
  };
}

/** Writes records into a temporary file, oldest first. Undefined if empty. */
async function writeFile(
  tenant: string,
  filter: AuditFilter,
  { audit, tempDirectory, signal }: Context,
): Promise<{ path: string; records: number; head: string | undefined } | undefined> {
  const { head } = await audit.check(tenant, 1);
  if (!head) return undefined;
  return writeTempFile(tempDirectory, async (write) => {
    let records = 0;
    await write(writeCsvHeader(csvColumns));
    for await (const batch of audit.pieces(tenant, head.seq, filter)) {
      signal.throwIfAborted();
      records += batch.length;
      await write(writeCsv(csvColumns, batch));
    }
    // The head of the chain only for a file that holds all of it.
    return records > 0 ? { records, head: records === head.seq ? head.hash : undefined } : undefined;
  });
}

const csvColumns: readonly CsvColumn<AuditRecord>[] = [
  { name: 'seq', cell: ({ seq }) => seq },
  { name: 'time', cell: ({ at }) => at.toISOString() },
  { name: 'who', cell: ({ actor }) => actor },
  { name: 'event', cell: ({ event }) => event },
  { name: 'subject', cell: ({ subject }) => subject ?? undefined },
  { name: 'detail', cell: ({ detail }) => JSON.stringify(detail).replace(/^\{\}$/, '') },
  { name: 'reference', cell: ({ requestId }) => requestId ?? undefined },
  { name: 'hash', cell: ({ hash }) => hash },
];

/** Reads `[n] [@somebody] [kind]` in any order. @throws UserError that names the mistake. */
function readQuery(words: Words): views.AuditView {
  let view: views.AuditView = { most: defaultLimit, who: undefined, kind: undefined };
  const { page, ...others } = words.named;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownKind(unknown);
  if (page !== undefined) view = { ...view, page: Number(page) };
  for (const word of words.list) {
    if (/^[-+]?\d+$/u.test(word)) view = { ...view, most: readNumber(word) };
    else if (isMember(word)) view = { ...view, who: word.replace('@', '') };
    else if (!/^(?:logs?|trail|of|for)$/iu.test(word)) view = { ...view, kind: readKind(word) };
  }
  return view;
}

function isMember(word: string): boolean {
  return /^@?[UW][A-Z0-9]{6,}$/u.test(word);
}

function readButton(value: string): views.AuditView {
  return readQuery(withoutFirst(parseWords(value)));
}

function toFilter({ who, kind }: views.AuditView): AuditFilter {
  return { who, events: kind === undefined ? undefined : eventsOf(kind) };
}

function readNumber(word: string): number {
  const number = Number(word);
  if (number >= 1 && number <= maxLimit) return number;
  throw new UserError(
    `${formatCode(word, 20)} is not a number of records from 1 to ${maxLimit}.`,
    '*Download CSV* has all of them.',
  );
}

const synonyms: Readonly<Record<string, string>> = {
  settings: 'policy',
  refused: 'denied',
  refusals: 'denied',
  approvals: 'operation',
  deletions: 'operation',
  changes: 'operation',
};

function readKind(word: string): string {
  const lower = word.toLowerCase();
  const meant = synonyms[lower] ?? lower;
  const kind = [meant, meant.replace(/s$/u, '')].find((one) => one.length >= 3 && eventsOf(one).length > 0);
  if (kind === undefined) throw unknownKind(word);
  return kind;
}

function eventsOf(kind: string): string[] {
  const exact = auditEvents.filter((word) => word === kind);
  return exact.length > 0 ? exact : auditEvents.filter((word) => word.includes(kind));
}

function unknownKind(word: string): UserError {
  const [near] = findClosest(word, auditEvents, 1);
  return new UserError(
    `${formatCode(word, 40)} is not a kind of record.`,
    near
      ? `Did you mean ${formatCode(`/cdn audit ${near}`)}?`
      : 'Choose a kind in the menu of `/cdn audit`. For a person, type @ and pick them.',
  );
}
