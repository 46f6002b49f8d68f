import type { Audit, AuditEvent, AuditRecord, Broken } from '../auth/audit/audit.ts';
import { actions, context, type Message, message, section } from './blocks/blocks.ts';
import { button, commandButton, overflow, selectOf } from './blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from './blocks/format.ts';
import { listHeight, renderPage } from './blocks/table.ts';
import {
  capitalize,
  escapeMarkup,
  escapeMrkdwn,
  formatCode,
  join,
  plainText,
  unbold,
} from './blocks/text.ts';

export interface AuditView {
  readonly who: string | undefined;
  readonly kind: string | undefined;
  readonly most: number;
  readonly page?: number | undefined;
}

interface AuditList {
  readonly view: AuditView;
  readonly records: readonly AuditRecord[];
  readonly kinds: readonly string[];
  readonly state: Awaited<ReturnType<Audit['check']>>;
  readonly takenAt: Date;
}

export function renderAuditList({ view, records, kinds, state, takenAt }: AuditList): Message {
  const lines = records.map(renderAuditLine);
  /** The typed words that show the same list with a change. */
  const at = (change: Partial<AuditView>): string => {
    const { most, who, kind, page } = { ...view, page: undefined, ...change };
    return join(['audit', String(most), who, kind, page && `page:${page}`], ' ');
  };
  const headline = join([describeIntegrity(state), describeSelection(view, lines.length)], '\n');
  const head = state.head ? `Head ${formatCode(state.head.hash.slice(0, 12))} · ` : '';
  const entry = (label: string, kind: string | undefined) => button(label, 'audit:list:kind', at({ kind }));
  const turn = (label: string, page: number) => button(label, 'audit:list:page', at({ page }));
  const { picture, pages, chosen } = renderPage(lines, { page: view.page, height: listHeight, turn });
  return message(unbold(headline), [
    section(headline),
    ...picture,
    actions(
      selectOf('Kind', [entry('All kinds', undefined), ...kinds.map((kind) => entry(nameKind(kind), kind))], {
        chosen: view.kind === undefined ? 'All kinds' : nameKind(view.kind),
      }),
      selectOf(chosen, pages, { chosen, nth: 1 }),
      lines.length > 0 && button('Download CSV', 'audit:file', at({})),
      overflow(
        button('Refresh', 'audit:list:refresh', at({})),
        lines.length === view.most &&
          view.most < 50 &&
          button('Show 50', 'audit:list:more', at({ most: 50 })),
        (view.who !== undefined || view.kind !== undefined) &&
          button('All records', 'audit:list:all', at({ who: undefined, kind: undefined })),
        commandButton('Settings', 'settings'),
      ),
    ),
    context(`${head}as of ${formatMoment(takenAt)}`),
  ]);
}

function nameKind(kind: string): string {
  return capitalize(kind.replaceAll('-', ' '));
}

function describeIntegrity({ head, verdict, since }: AuditList['state']): string {
  if (!verdict.ok) return `:rotating_light: *The audit is not intact.* ${describeBroken(verdict.broken)}`;
  if (!head) return '*Nothing has been recorded yet.*';
  const records = `:white_check_mark: *${pluralize(head.seq, 'record')}*`;
  return since === 1
    ? `${records}, none altered`
    : `${records}, none of the newest ${formatInteger(head.seq - since + 1)} altered (\`npm run audit:verify\` checks all)`;
}

function describeSelection({ who, kind }: AuditView, found: number): string {
  if (who === undefined && kind === undefined) return '';
  const of = kind === undefined ? '' : ` of kind ${escapeMrkdwn(kind, 40)}`;
  const by = who === undefined ? '' : ` by <@${who}>`;
  return `${capitalize(pluralize(found, 'record'))}${of}${by}`;
}

export function describeBroken({ seq, problem, found, noted }: Broken): string {
  const instead = Number.isSafeInteger(found)
    ? `record ${formatInteger(found ?? 0)} is in its place`
    : 'the record in its place has no number';
  const faults: Readonly<Record<Broken['problem'], string>> = {
    missing: `is missing: ${instead}.`,
    altered: 'was changed: its hash does not match its content.',
    unlinked: 'does not follow the record before it: its previous hash differs.',
    rewritten: 'is not the one in the log: it, or one before it, was rewritten since.',
    'cut-off': `and all after it are gone: the log has record ${formatInteger(noted?.seq ?? 0)}.`,
  };
  return `Record ${formatInteger(seq)} ${faults[problem]}`;
}

/** What was done, by whom, when, its number, and what finds it: the seal of an operation, else a reference or request id. */
export function renderAuditLine(record: AuditRecord): string {
  const { seq, at, requestId, event, actor, subject } = record;
  const write = (Object.hasOwn(phrases, event) && phrases[event as AuditEvent]) || nameFacts;
  const reference =
    subject !== null && /^[0-9a-f]{64}$/u.test(subject) ? `seal ${subject.slice(0, 12)}` : (requestId ?? '');
  const number = `no. ${formatInteger(seq)}`;
  return join([write(record), nameId(actor), formatMoment(at), number, escapeMrkdwn(reference, 40)], ' · ');
}

/** What was done, without the person who did it, where that is more than the event's name, its subject and its facts. */
const phrases: Readonly<Partial<Record<AuditEvent, (record: AuditRecord) => string>>> = {
  'key-linked': ({ detail }) => (detail['replaced'] === true ? 'Key replaced' : 'Key connected'),
  'key-destroyed': ({ actor, subject, detail }) =>
    actor === subject ? 'Key disconnected' : `Key of ${nameId(subject)} destroyed${explain(detail['cause'])}`,
  'key-mismatch': ({ subject }) => `Stored key of ${nameId(subject)} does not match its record`,
  'key-entry-refused': ({ subject }) => `Key entered for ${nameId(subject)}, refused by the CDN`,
  'policy-changed': (record) => nameSettings(record),
  'policy-asked': (record) => nameSettings(record, ' change requested'),
  'policy-rejected': (record) =>
    nameSettings(
      record,
      record.detail['asked'] === `asked by ${record.actor}` ? ' change withdrawn' : ' change rejected',
    ),
  denied: ({ subject, detail: { reason, channel } }) => {
    const place = typeof channel === 'string' ? ` in ${nameId(channel)}` : '';
    const why = typeof reason === 'string' && Object.hasOwn(reasons, reason) ? reasons[reason] : reason;
    return `Refused: /cdn ${name(subject)}${place}${explain(why)}`;
  },
  'keyring-changed': ({ subject, detail: { step, rows } }) =>
    step === 'rewrapped' && typeof rows === 'number'
      ? `${pluralize(rows, 'row')} sealed under key ${name(subject)}`
      : `Encryption key ${name(subject)} changed`,
  'operation-proposed': (record) => `Asked${nameVia(record, ' through ')}: ${nameOperation(record)}`,
  'operation-approval': (record) => `Approved${countVotes(record)}: ${nameOperation(record)}`,
  'operation-approved': (record) => {
    const { need, via } = record.detail;
    const unasked = via === undefined ? 'Needs no approval' : 'Confirmed';
    return `${need === 0 ? unasked : `Approved${countVotes(record)}, may run`}: ${nameOperation(record)}`;
  },
  'operation-executing': (record) => `Sent: ${nameOperation(record)}`,
  'operation-succeeded': (record) => `Done: ${nameOperation(record)}${nameOutcome(record)}`,
  'operation-failed': (record) => `Not done: ${nameOperation(record)}${nameOutcome(record)}`,
  'operation-unknown': (record) => `Outcome unknown: ${nameOperation(record)}${nameOutcome(record)}`,
  'operation-denied': (record) => `Denied: ${nameOperation(record)}`,
  'operation-expired': (record) => `Expired: ${nameOperation(record)}`,
  'operation-cancelled': (record) => `Withdrawn: ${nameOperation(record)}`,
  'export-made': ({ subject, detail: { outcome, rows, channel } }) => {
    const events = typeof rows === 'number' ? pluralize(rows, 'event') : 'events';
    const exported = outcome === 'done' ? 'Exported' : 'May have exported';
    return `${exported} ${events} of ${name(subject)} to ${nameId(channel)}`;
  },
  'export-ended': ({ subject, detail: { outcome, by } }) =>
    `Export of ${name(subject)} ${outcome === 'cancelled' ? `stopped by ${nameId(by)}` : 'failed'}`,
  'export-deleted': ({ subject }) => `Files deleted of an export of ${nameId(subject)}`,
  'alert-acknowledged': ({ subject, detail: { undone } }) =>
    `${undone === undefined ? 'Alert acknowledged' : 'Acknowledgement undone'}: ${name(subject)}`,
  'answer-shared': ({ subject, detail: { channel } }) => `Shared ${name(subject)} in ${nameId(channel)}`,
  'step-run': ({ subject }) => `Ran the workflow step ${name(subject)}`,
  'tool-run': (record) => `Asked${nameVia(record, ' ')} for ${name(record.subject)}`,
  'default-zone-set': ({ detail: { channel, zone } }) =>
    `${nameId(channel)} shows ${zone === 'none' ? 'every zone' : `zone ${name(zone)}`}`,
};

type Fact = AuditRecord['detail'][string] | null | undefined;

function name(text: Fact, most = 40): string {
  return escapeMarkup(plainText(String(text ?? ''), most));
}

const mostFacts = 5;

function nameFacts({ event, subject, actor, detail }: AuditRecord): string {
  const facts = Object.entries(detail).map(
    ([fact, value]) => `${escapeMarkup(humanize(fact))} ${value === null ? 'none' : nameId(value)}`,
  );
  const about = subject === null || subject === actor ? '' : `: ${nameId(subject)}`;
  return `${escapeMarkup(capitalize(humanize(event)))}${about}${facts.length > 0 ? ` (${facts.slice(0, mostFacts).join(', ')})` : ''}`;
}

/** `Settings, version 3: operators, confirmed by @Carol`: the names of what changed, and the second admin. */
function nameSettings({ subject, detail }: AuditRecord, verb = ''): string {
  const version = /^policy v(\d+)$/u.exec(subject ?? '')?.[1];
  const { asked, confirmed, ...changes } = detail;
  const changed = Object.values(changes).map((change) => humanize(String(change).split(':', 1)[0] ?? ''));
  const [, words = '', other = ''] = /^(\w+ by )(\w+)$/u.exec(String(confirmed ?? asked ?? '')) ?? [];
  const by = words && `, ${words}${nameId(other)}`;
  return `Settings${verb}${version ? `, version ${version}` : ''}: ${name(changed.join(', ') || 'nothing', 120)}${by}`;
}

const operations: Readonly<Record<string, string>> = { 'volume-delete': 'delete', 'variable-update': 'set' };

function nameOperation({ detail }: AuditRecord): string {
  const { kind, operation: id, volume, app, variable, name: named, script } = detail;
  const verb = typeof kind === 'string' && Object.hasOwn(operations, kind) ? operations[kind] : '';
  const target = typeof named === 'string' ? name(named, 60) : `variable ${name(variable, 30)}`;
  const ofScript = `${target} of script ${name(script, 30)}`;
  const other = typeof variable === 'string' ? ofScript : `request ${name(id)}`;
  const what = typeof volume === 'string' ? `volume ${name(volume, 60)} of app ${name(app, 60)}` : other;
  return join([verb, what], ' ');
}

function nameVia({ detail: { via } }: AuditRecord, before: string): string {
  if (typeof via !== 'string') return '';
  const known: Readonly<Record<string, string>> = { assistant: 'Slack’s assistant', workflow: 'a workflow' };
  return before + ((Object.hasOwn(known, via) && known[via]) || name(via, 60));
}

function countVotes({ detail: { have, need } }: AuditRecord): string {
  return typeof have === 'number' && typeof need === 'number' && need > 1
    ? ` (${formatInteger(have)} of ${formatInteger(need)})`
    : '';
}

function nameOutcome({ actor, detail: { outcome, why, status } }: AuditRecord): string {
  const words = [outcome, why, status === undefined ? undefined : `status ${status}`]
    .filter((word) => word !== undefined && word !== 'done')
    .map((word) => plainText(String(word), 60));
  return actor === 'system' ? explain(words.join(', ')) : ', confirmed by a person';
}

function explain(reason: Fact): string {
  return reason === undefined || reason === '' ? '' : `: ${name(reason, 60)}`;
}

function humanize(name: string): string {
  return plainText(name.replaceAll(/[-_]/gu, ' ').replaceAll(/(?<=[a-z])(?=[A-Z])/gu, ' '), 60).toLowerCase();
}

/** An id of a person or channel as a mention, anything else unchanged. In a private answer a mention notifies nobody. */
function nameId(id: Fact): string {
  if (id === null) return 'nobody named';
  if (id === 'system') return 'the bot';
  if (/^[UW][A-Z0-9]{2,40}$/u.test(String(id))) return `<@${id}>`;
  if (/^[CG][A-Z0-9]{8,40}$/u.test(String(id))) return `<#${id}>`;
  return name(id, 60);
}

const reasons: Readonly<Record<string, string>> = {
  foreign: 'from another organization',
  'not-operator': 'not an operator',
  'not-admin': 'not an admin',
  'not-approver': 'not an approver',
  'channel-cap': 'the channel is restricted',
  'other-channel': 'not into that channel',
};
