import type { AuditEvent } from '../../auth/audit/audit.ts';
import type { AuditEntry } from '../../auth/audit/trail.ts';
import { escapeMrkdwn, formatCode, formatInteger } from '../blocks/text.ts';

/** One record as people read it. */
export interface AuditLine {
  readonly seq: number;
  readonly at: Date;
  /** In mrkdwn. */
  readonly says: string;
  readonly requestId: string | undefined;
}

/** Renders a record as a sentence. Any content, also of altered rows, is escaped. */
export function renderAuditLine(entry: AuditEntry): AuditLine {
  const { seq, at, requestId } = entry;
  const says = Object.hasOwn(sentences, entry.event) ? sentences[entry.event as AuditEvent] : undefined;
  return { seq, at, says: (says ?? anything)(entry), requestId };
}

type Sentence = (entry: AuditEntry) => string;

/** The sentence of each event. Others are rendered as their name and details. */
const sentences: Readonly<Partial<Record<AuditEvent, Sentence>>> = {
  'key-linked': (entry) =>
    entry.detail['replaced'] === true
      ? `${who(entry)} replaced their CDN key${rest(entry, ['replaced'])}`
      : `${who(entry)} connected a CDN key${rest(entry, ['replaced'])}`,
  'key-destroyed': (entry) =>
    entry.actor === entry.subject
      ? `${who(entry)} disconnected their CDN key${rest(entry)}`
      : `The CDN key of ${named(entry.subject)} was destroyed by ${who(entry, 'the bot')}${rest(entry)}`,
  'key-mismatch': (entry) =>
    `:warning: The stored key of ${named(entry.subject)} does not match its record${rest(entry)}`,
  'key-entry-refused': (entry) =>
    `The CDN refused a key that was entered for ${named(entry.subject)}${rest(entry)}`,
  'policy-changed': (entry) => {
    const version = /^policy v(\d+)$/u.exec(entry.subject ?? '')?.[1];
    const changes = Object.values(entry.detail).map((change) => mentioned(String(change), 300));
    return `${who(entry)} changed the settings${version ? ` to version ${version}` : ''}: ${changes.join('; ')}`;
  },
  denied: (entry) => {
    const { reason, channel } = entry.detail;
    const where = typeof channel === 'string' ? ` in ${named(channel)}` : '';
    return `:no_entry: ${who(entry)} was refused ${formatCode(`/cdn ${entry.subject ?? ''}`, 60)}${where}: ${why(reason)}`;
  },
  'keyring-changed': (entry) =>
    `The encryption key ${formatCode(entry.subject ?? '', 40)} was changed by an operator${rest(entry)}`,
  'operation-proposed': (entry) => `${who(entry)} asked for ${operation(entry)}`,
  'operation-approval': (entry) => `${who(entry)} approved ${operation(entry)}${votes(entry)}`,
  'operation-approved': (entry) =>
    entry.actor === 'system' || entry.detail['need'] === 0
      ? `${capital(operation(entry))} needs no approval`
      : `${who(entry)} approved ${operation(entry)}${votes(entry)}: it may run`,
  'operation-executing': (entry) => `The bot sent ${operation(entry)}`,
  'operation-succeeded': (entry) => ended(':white_check_mark:', 'was done', entry),
  'operation-failed': (entry) => ended(':x:', 'was not done', entry),
  'operation-unknown': (entry) => ended(':grey_question:', 'has an unknown outcome', entry),
  'operation-denied': (entry) => `:no_entry: ${who(entry)} denied ${operation(entry)}`,
  'operation-expired': (entry) => `${capital(operation(entry))} expired`,
  'operation-cancelled': (entry) => `${who(entry)} took back ${operation(entry)}`,
  'export-made': (entry) => {
    const { rows, from, to, channel, outcome } = entry.detail;
    const sent = outcome === 'done' ? 'exported' : 'may have exported';
    const amount = typeof rows === 'number' ? `${formatInteger(rows)} events` : 'events';
    const window = [from, to].map((at) => (typeof at === 'string' ? at.slice(0, 16).replace('T', ' ') : '?'));
    return `${who(entry)} ${sent} ${amount} of ${formatCode(entry.subject ?? '', 40)}, ${window.join(' to ')} UTC, to ${named(String(channel ?? ''))}${rest(entry, ['rows', 'from', 'to', 'channel', 'outcome', 'bytes'])}`;
  },
  'export-ended': (entry) => {
    const { outcome, by } = entry.detail;
    const how =
      outcome === 'cancelled'
        ? `was stopped by ${by === 'system' ? 'the bot' : named(String(by))}`
        : 'did not work';
    return `The export of ${formatCode(entry.subject ?? '', 40)} by ${who(entry)} ${how}${rest(entry, ['outcome', 'by'])}`;
  },
  'export-deleted': (entry) =>
    `The bot deleted the files of an export of ${named(entry.subject)}${rest(entry)}`,
  'digest-created': (entry) =>
    `${who(entry)} made the digest ${formatCode(entry.subject ?? '', 40)}${rest(entry)}`,
  'digest-changed': (entry) =>
    `${who(entry)} changed the digest ${formatCode(entry.subject ?? '', 40)}${rest(entry)}`,
  'digest-paused': (entry) =>
    `The digest ${formatCode(entry.subject ?? '', 40)} was paused by ${who(entry, 'the bot')}${rest(entry)}`,
  'digest-taken-over': (entry) =>
    `${who(entry)} took over the digest ${formatCode(entry.subject ?? '', 40)}${rest(entry)}`,
  'digest-deleted': (entry) =>
    `${who(entry)} deleted the digest ${formatCode(entry.subject ?? '', 40)}${rest(entry)}`,
  'audit-exported': (entry) => `${who(entry)} exported the audit record${rest(entry)}`,
  'audit-key-made': (entry) =>
    `The bot made the key ${formatCode(entry.subject ?? '', 40)} that signs audit checkpoints${rest(entry)}`,
};

/** `the deletion KX7… · seal ab12…`. */
function operation({ detail, subject }: AuditEntry): string {
  const { kind, operation: id } = detail;
  const nouns: Readonly<Record<string, string>> = {
    'volume-delete': 'the deletion',
    'variable-update': 'the change',
  };
  const noun = typeof kind === 'string' && Object.hasOwn(nouns, kind) ? nouns[kind] : 'the operation';
  return [
    noun,
    typeof id === 'string' ? formatCode(id, 40) : '',
    about(detail),
    subject === undefined ? '' : `(${named(subject)})`,
  ]
    .filter(Boolean)
    .join(' ');
}

function about({ volume, app, variable, script }: AuditEntry['detail']): string {
  if (typeof volume === 'string')
    return `of volume ${formatCode(volume, 60)} of app ${formatCode(String(app), 60)}`;
  return typeof variable === 'string'
    ? `of variable ${formatCode(variable, 30)} of script ${formatCode(String(script), 30)}`
    : '';
}

function votes({ detail }: AuditEntry): string {
  const { have, need } = detail;
  return typeof have === 'number' && typeof need === 'number' && need > 1 ? ` (${have} of ${need})` : '';
}

/** Set by a person who checked, else by the bot. */
function ended(sign: string, how: string, entry: AuditEntry): string {
  const { outcome, why: reason, status } = entry.detail;
  const facts = [outcome, reason, status === undefined ? undefined : `status ${status}`].filter(
    (fact) => fact !== undefined && fact !== 'done',
  );
  const behind =
    facts.length > 0 ? `: ${facts.map((fact) => escapeMrkdwn(String(fact), 60)).join(', ')}` : '';
  const by = entry.actor === 'system' ? '' : ` · said by ${named(entry.actor)}`;
  return `${sign} ${capital(operation(entry))} ${how}${behind}${by}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const anything: Sentence = (entry) => {
  const words = escapeMrkdwn(entry.event.replaceAll('-', ' '), 60);
  const about =
    entry.subject === undefined || entry.subject === entry.actor ? '' : ` · ${named(entry.subject)}`;
  return `${who(entry)}: ${words}${about}${rest(entry)}`;
};

function who({ actor }: AuditEntry, system = 'The bot'): string {
  return actor === 'system' ? system : named(actor);
}

/** An id of a person or channel as a mention, a seal by its first characters, anything else as it is. */
function named(id: string | undefined): string {
  if (id === undefined) return 'nobody named';
  if (/^[UW][A-Z0-9]{2,40}$/u.test(id)) return `<@${id}>`;
  if (/^[CG][A-Z0-9]{8,40}$/u.test(id)) return `<#${id}>`;
  return /^[0-9a-f]{64}$/u.test(id) ? `seal ${formatCode(id.slice(0, 12))}` : formatCode(id, 80);
}

/** The facts beside it, but for those that the sentence has said. */
function rest({ detail }: AuditEntry, said: readonly string[] = []): string {
  const facts = Object.entries(detail).filter(([name]) => !said.includes(name));
  return facts.length === 0 ? '' : ` (${facts.map(fact).join(', ')})`;
}

function fact([name, value]: [string, string | number | boolean]): string {
  const label = escapeMrkdwn(name.replaceAll(/[-_]/gu, ' '), 40);
  const text = String(value);
  return `${label} ${/^[0-9a-f]{64}$/u.test(text) ? formatCode(text.slice(0, 12)) : mentioned(text, 200)}`;
}

/** Foreign text in which ids of people and channels are mentions. One that was cut is no id. */
function mentioned(text: string, length: number): string {
  return escapeMrkdwn(text, length).replaceAll(
    /(?<![\w&])(?=[A-Z]*\d)(?:([UW][A-Z0-9]{8,40})|([CG][A-Z0-9]{8,40}))(?![\w…;])/gu,
    (_, person?: string, channel?: string) => (person === undefined ? `<#${channel}>` : `<@${person}>`),
  );
}

const reasons: Readonly<Record<string, string>> = {
  foreign: 'of another organisation',
  'not-operator': 'not an operator',
  'not-admin': 'not an admin',
  'not-approver': 'not an approver',
  'channel-cap': 'the channel is capped',
  'other-channel': 'not into that channel',
};

function why(reason: unknown): string {
  const word = typeof reason === 'string' ? reason : 'no reason recorded';
  return Object.hasOwn(reasons, word) ? (reasons[word] ?? '') : escapeMrkdwn(word, 60);
}
