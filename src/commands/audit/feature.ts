import { auditEvents } from '../../auth/audit/audit.ts';
import { type AuditRecord, writeRecord } from '../../auth/audit/record.ts';
import type { AuditFilter, AuditState } from '../../auth/audit/trail.ts';
import { tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { type CsvColumn, writeCsv, writeCsvHeader } from '../../lib/csv.ts';
import { createTempFile } from '../../lib/temp-file.ts';
import * as views from '../../views/audit/audit.ts';
import { type AuditLine, renderAuditLine } from '../../views/audit/words.ts';
import type { Message } from '../../views/blocks/message.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { With } from '../context.ts';
import type { Action, Command, Feature } from '../define.ts';
import { decodeAuditQuery, encodeAuditQuery, readAuditQuery, toAuditFilter } from './query.ts';

const pageSize = 10;
/** The newest records that each list verifies; takes a few hundredths of a second. */
const verifiedRecords = 1_000;

const auditCommand: Command<'audit' | 'zoneCache'> = {
  name: 'audit',
  aliases: ['log', 'history'],
  keywords: { logs: 'audit' },
  usage: 'audit [n] [@somebody] [kind]',
  summary: 'Who did what: the newest records of keys, settings, approvals and refusals, as a list or file',
  examples: ['audit', 'audit 200', 'audit denied', 'audit 50 keys'],
  needs: 'admin',
  run: (words, context) => showList(readAuditQuery(words), context, 'fresh'),
};

const turnPage: Action<'audit' | 'zoneCache'> = {
  id: 'audit:page',
  needs: 'admin',
  run: (value, context) =>
    showList(decodeAuditQuery(value), context, new URLSearchParams(value).has('fresh') ? 'fresh' : 'cached'),
};

const sendFile: Action<'audit' | 'tempDirectory'> = {
  id: 'audit:file',
  needs: 'admin',
  newMessage: true,
  run: (value, context) => sendAuditFile(value, context),
};

export const audit: Feature<'audit' | 'tempDirectory' | 'zoneCache'> = {
  name: 'audit',
  commands: [auditCommand],
  actions: [turnPage, sendFile],
};

/** One list, for its further pages. Lines only, since a record may be long. */
interface AuditList {
  readonly lines: readonly AuditLine[];
  readonly state: AuditState;
  readonly checkpoints: boolean;
  readonly takenAt: Date;
}

async function showList(
  view: views.AuditView,
  context: With<'audit' | 'zoneCache'>,
  how: 'fresh' | 'cached',
): Promise<Message> {
  const cached = context.zoneCache.forPerson(context.person).results<AuditList>('audit');
  const key = encodeAuditQuery({ ...view, page: 1 });
  const found = how === 'cached' ? cached.get(key) : undefined;
  const read = found ?? (await readList(view, context));
  if (!found) cached.set(key, read);
  const { lines, ...more } = read;
  const pages = Math.max(1, Math.ceil(lines.length / pageSize));
  const page = Math.min(view.page, pages);
  return views.renderAuditPage({
    ...more,
    view: { ...view, page },
    pages,
    found: lines.length,
    lines: lines.slice((page - 1) * pageSize, page * pageSize),
    kinds: auditEvents,
    value: encodeAuditQuery,
  });
}

async function readList(view: views.AuditView, context: With<'audit'>): Promise<AuditList> {
  const tenant = tenantId(context.person);
  const takenAt = context.now();
  const [entries, state, policy] = await Promise.all([
    context.audit.recent(tenant, view.most, toAuditFilter(view)),
    context.audit.check(tenant, verifiedRecords),
    context.authorizer.policy(),
  ]);
  const checkpoints = policy.auditChannel !== undefined;
  return { lines: entries.map(renderAuditLine), state, checkpoints, takenAt };
}

async function sendAuditFile(value: string, context: With<'audit' | 'tempDirectory'>): Promise<Message> {
  const format = new URLSearchParams(value).get('as') ?? '';
  if (format !== 'csv' && format !== 'ndjson') {
    throw new UserError(
      'This button is from an older version of the bot.',
      `Type ${formatCode('/cdn audit')} for a new list.`,
    );
  }
  const tenant = tenantId(context.person);
  const filter = format === 'csv' ? toAuditFilter(decodeAuditQuery(value)) : {};
  const written = await writeAuditFile(tenant, format, filter, context);
  if (!written) return views.renderNoRecords();
  await context.audit.record({
    tenant,
    actor: context.person.userId,
    event: 'audit-exported',
    detail: { format, records: written.records },
  });
  const day = context.now().toISOString().slice(0, 10);
  return {
    ...views.renderAuditFile({ kind: format, ...written }),
    files: [
      {
        name: `audit-${tenant}-${day}.${format}`,
        title: `Audit record of ${tenant}, ${day}`,
        mimetype: format === 'csv' ? 'text/csv' : 'application/x-ndjson',
        content: { path: written.path },
      },
    ],
  };
}

/**
 * Writes records into a temporary file, oldest first, up to the newest when it begins. Undefined where there are none.
 * NDJSON has every member that the hashes cover; CSV is for people and spreadsheets.
 */
async function writeAuditFile(
  tenant: string,
  format: 'csv' | 'ndjson',
  filter: AuditFilter,
  { audit, tempDirectory, signal }: With<'audit' | 'tempDirectory'>,
): Promise<
  { readonly path: string; readonly records: number; readonly head: string | undefined } | undefined
> {
  const { head } = await audit.check(tenant, 1);
  if (!head) return undefined;
  const file = await createTempFile(tempDirectory);
  let records = 0;
  try {
    if (format === 'csv') await file.write(writeCsvHeader(csvColumns));
    for await (const batch of audit.pieces(tenant, head.seq, filter)) {
      signal.throwIfAborted();
      records += batch.length;
      await file.write(
        format === 'csv'
          ? writeCsv(csvColumns, batch)
          : batch.map((record) => `${writeRecord(record)}\n`).join(''),
      );
    }
    if (records === 0) {
      await file.discard();
      return undefined;
    }
    await file.finish();
    // The head of the chain only for a file that holds all of it.
    return { path: file.path, records, head: records === head.seq ? head.hash : undefined };
  } catch (error) {
    await file.discard();
    throw error;
  }
}

const csvColumns: readonly CsvColumn<AuditRecord>[] = [
  { name: 'seq', cell: ({ seq }) => seq },
  { name: 'time', cell: ({ at }) => at.toISOString() },
  { name: 'who', cell: ({ actor }) => actor },
  { name: 'event', cell: ({ event }) => event },
  { name: 'subject', cell: ({ subject }) => subject ?? undefined },
  {
    name: 'detail',
    cell: ({ detail }) => (Object.keys(detail).length === 0 ? undefined : JSON.stringify(detail)),
  },
  { name: 'reference', cell: ({ requestId }) => requestId ?? undefined },
  { name: 'hash', cell: ({ hash }) => hash },
];
