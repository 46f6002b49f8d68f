import { auditEvents } from '../../auth/audit/audit.ts';
import type { AuditState } from '../../auth/audit/trail.ts';
import { tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import * as views from '../../views/audit/audit.ts';
import { type AuditLine, renderAuditLine } from '../../views/audit/words.ts';
import type { Message } from '../../views/blocks/message.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { With } from '../context.ts';
import type { Action, Command, Feature } from '../define.ts';
import { isAuditFile, writeAuditFile } from './file.ts';
import { decodeAuditQuery, encodeAuditQuery, readAuditQuery, toAuditFilter } from './query.ts';

const pageSize = 10;
/** Read and checked each time: a few hundredths of a second. */
const checkedNow = 1_000;

const auditCommand: Command<'audit' | 'zoneCache'> = {
  name: 'audit',
  aliases: ['log', 'history'],
  usage: 'audit [n] [@somebody] [kind]',
  summary: 'Who did what: the newest records of keys, settings, approvals and refusals, as a list or file',
  examples: ['audit', 'audit 200', 'audit denied', 'audit 50 keys'],
  needs: 'admin',
  run: (words, context) => list(readAuditQuery(words), context, 'afresh'),
};

const turnPage: Action<'audit' | 'zoneCache'> = {
  id: 'audit:page',
  needs: 'admin',
  run: (value, context) =>
    list(decodeAuditQuery(value), context, new URLSearchParams(value).has('fresh') ? 'afresh' : 'as known'),
};

const sendFile: Action<'audit' | 'tempDirectory'> = {
  id: 'audit:file',
  needs: 'admin',
  newMessage: true,
  run: (value, context) => file(value, context),
};

export const audit: Feature<'audit' | 'tempDirectory' | 'zoneCache'> = {
  name: 'audit',
  commands: [auditCommand],
  actions: [turnPage, sendFile],
};

/** What was read for one list; lines only, since a record may be long. */
interface Read {
  readonly lines: readonly AuditLine[];
  readonly state: AuditState;
  readonly checkpoints: boolean;
  readonly takenAt: Date;
}

async function list(
  view: views.AuditView,
  context: With<'audit' | 'zoneCache'>,
  how: 'afresh' | 'as known',
): Promise<Message> {
  const cached = context.zoneCache.forPerson(context.person).results<Read>('audit');
  const key = encodeAuditQuery({ ...view, page: 1 });
  const known = how === 'as known' ? cached.get(key) : undefined;
  const read = known ?? (await readList(view, context));
  if (!known) cached.set(key, read);
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

async function readList(view: views.AuditView, context: With<'audit'>): Promise<Read> {
  const tenant = tenantId(context.person);
  const takenAt = context.now();
  const [entries, state, policy] = await Promise.all([
    context.audit.recent(tenant, view.most, toAuditFilter(view)),
    context.audit.check(tenant, checkedNow),
    context.authorizer.policy(),
  ]);
  const checkpoints = policy.auditChannel !== undefined;
  return { lines: entries.map(renderAuditLine), state, checkpoints, takenAt };
}

async function file(value: string, context: With<'audit' | 'tempDirectory'>): Promise<Message> {
  const kind = new URLSearchParams(value).get('as') ?? '';
  if (!isAuditFile(kind)) {
    throw new UserError(
      'This button is from an older version of the bot.',
      `Type ${formatCode('/cdn audit')} for a new list.`,
    );
  }
  const tenant = tenantId(context.person);
  const filter = kind === 'csv' ? toAuditFilter(decodeAuditQuery(value)) : {};
  const made = await writeAuditFile(tenant, kind, filter, context);
  if (!made) return views.renderNoRecords();
  await context.audit.record({
    tenant,
    actor: context.person.userId,
    event: 'audit-exported',
    detail: { format: kind, records: made.records },
  });
  const day = context.now().toISOString().slice(0, 10);
  return {
    ...views.renderAuditFile({ kind, ...made }),
    files: [
      {
        name: `audit-${tenant}-${day}.${kind}`,
        title: `Audit record of ${tenant}, ${day}`,
        mimetype: kind === 'csv' ? 'text/csv' : 'application/x-ndjson',
        content: { path: made.path },
      },
    ],
  };
}
