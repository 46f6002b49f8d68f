import type { AuditEvent } from '../../auth/audit/audit.ts';
import type { AuditRecord } from '../../auth/audit/record.ts';
import { formatInteger } from '../blocks/format.ts';
import { capitalize, escapeMrkdwn, formatCode, join } from '../blocks/text.ts';

/** One record as people read it: `says` is mrkdwn. */
export interface AuditLine extends Pick<AuditRecord, 'seq' | 'at' | 'requestId'> {
  readonly says: string;
}

/** Renders a record as a sentence. Any content, also of altered rows, is escaped. */
export function renderAuditLine(record: AuditRecord): AuditLine {
  const { seq, at, requestId, event } = record;
  const sentence = Object.hasOwn(sentences, event) ? sentences[event as AuditEvent] : otherSentence;
  const template = typeof sentence === 'string' ? sentence : sentence(record);
  // The facts are filled in at once, so that none of them is read as a placeholder.
  const says = template.replaceAll(/\{(\w+)(?: but ([\w,]+))?\}/gu, (_, name: keyof typeof facts, but = '') =>
    facts[name](record, String(but).split(',')),
  );
  return { seq, at, requestId, says };
}

/** The sentence of each event, or the one that fits the record. */
const sentences: Readonly<Record<AuditEvent, string | ((record: AuditRecord) => string)>> = {
  'key-linked': ({ detail }) =>
    `{who} ${detail['replaced'] === true ? 'replaced their' : 'connected a'} CDN key{rest but replaced}`,
  'key-destroyed': ({ actor, subject }) =>
    actor === subject
      ? '{who} disconnected their CDN key{rest}'
      : 'The CDN key of {whom} was destroyed by {actor}{rest}',
  'key-mismatch': ':warning: The stored key of {whom} does not match its record{rest}',
  'key-entry-refused': 'The CDN refused a key that was entered for {whom}{rest}',
  'policy-changed': '{who} changed the settings{version}: {changes}',
  'policy-asked': '{who} asked for a change of the settings{version}: {changes}',
  'policy-rejected': ({ actor, detail }) =>
    detail['asked'] === `asked by ${actor}`
      ? '{who} took back a change of the settings{version}: {changes}'
      : '{who} rejected a change of the settings{version}: {changes}',
  denied: ':no_entry: {who} was refused {command}{place}: {reason}',
  'keyring-changed': 'The encryption key {it} was changed by an operator{rest}',
  'operation-proposed': '{who} asked for {operation}',
  'operation-approval': '{who} approved {operation}{votes}',
  'operation-approved': ({ actor, detail }) =>
    actor === 'system' || detail['need'] === 0
      ? '{Operation} needs no approval'
      : '{who} approved {operation}{votes}: it may run',
  'operation-executing': 'The bot sent {operation}',
  'operation-succeeded': ':white_check_mark: {Operation} was done{outcome}',
  'operation-failed': ':x: {Operation} was not done{outcome}',
  'operation-unknown': ':grey_question: {Operation} has an unknown outcome{outcome}',
  'operation-denied': ':no_entry: {who} denied {operation}',
  'operation-expired': '{Operation} expired',
  'operation-cancelled': '{who} took back {operation}',
  'export-made': ({ detail }) =>
    `{who} ${detail['outcome'] === 'done' ? 'exported' : 'may have exported'} {events} of {it}, {window} UTC, to {channel}{rest but rows,from,to,channel,outcome,bytes}`,
  'export-ended': ({ detail }) =>
    `The export of {it} by {who} ${detail['outcome'] === 'cancelled' ? 'was stopped by {stopper}' : 'did not work'}{rest but outcome,by}`,
  'export-deleted': 'The bot deleted the files of an export of {whom}{rest}',
  'digest-created': '{who} made the digest {it}{rest}',
  'digest-changed': '{who} changed the digest {it}{rest}',
  'digest-paused': 'The digest {it} was paused by {actor}{rest}',
  'digest-taken-over': '{who} took over the digest {it}{rest}',
  'digest-deleted': '{who} deleted the digest {it}{rest}',
  'audit-exported': '{who} exported the audit record{rest}',
  'audit-key-made': 'The bot made the key {it} that signs audit checkpoints{rest}',
};

const otherSentence = '{who}: {event}{other}{rest}';

/** Values for the placeholders of the sentences. */
const facts = {
  who: ({ actor }) => (actor === 'system' ? 'The bot' : formatId(actor)),
  actor: ({ actor }) => nameActor(actor),
  whom: ({ subject }) => formatId(subject),
  it: ({ subject }) => formatCode(subject ?? '', 40),
  operation: nameOperation,
  Operation: (record) => capitalize(nameOperation(record)),
  votes: ({ detail: { have, need } }) =>
    typeof have === 'number' && typeof need === 'number' && need > 1 ? ` (${have} of ${need})` : '',
  /** Told by a person who checked, else by the bot. */
  outcome: ({ actor, detail: { outcome, why, status } }) => {
    const words = [outcome, why, status === undefined ? undefined : `status ${status}`]
      .filter((word) => word !== undefined && word !== 'done')
      .map((word) => escapeMrkdwn(String(word), 60));
    const behind = words.length > 0 ? `: ${words.join(', ')}` : '';
    return actor === 'system' ? behind : `${behind} · said by ${formatId(actor)}`;
  },
  version: ({ subject }) => {
    const version = /^policy v(\d+)$/u.exec(subject ?? '')?.[1];
    return version ? ` to version ${version}` : '';
  },
  changes: ({ detail }) =>
    Object.values(detail)
      .map((change) => linkIds(String(change), 300))
      .join('; '),
  command: ({ subject }) => formatCode(`/cdn ${subject ?? ''}`, 60),
  place: ({ detail: { channel } }) => (typeof channel === 'string' ? ` in ${formatId(channel)}` : ''),
  reason: ({ detail: { reason } }) => {
    const word = typeof reason === 'string' ? reason : 'no reason recorded';
    return Object.hasOwn(reasons, word) ? (reasons[word] ?? '') : escapeMrkdwn(word, 60);
  },
  events: ({ detail: { rows } }) => (typeof rows === 'number' ? `${formatInteger(rows)} events` : 'events'),
  window: ({ detail: { from, to } }) =>
    [from, to].map((at) => (typeof at === 'string' ? at.slice(0, 16).replace('T', ' ') : '?')).join(' to '),
  channel: ({ detail: { channel } }) => formatId(String(channel ?? '')),
  stopper: ({ detail: { by } }) => nameActor(String(by)),
  event: ({ event }) => escapeMrkdwn(event.replaceAll('-', ' '), 60),
  other: ({ subject, actor }) => (subject === null || subject === actor ? '' : ` · ${formatId(subject)}`),
  /** The facts beside it, but for those that the sentence has said. */
  rest: ({ detail }, said) => {
    const others = Object.entries(detail).filter(([name]) => !said.includes(name));
    return others.length === 0 ? '' : ` (${others.map(nameFact).join(', ')})`;
  },
} satisfies Record<string, (record: AuditRecord, but: readonly string[]) => string>;

const operations: Readonly<Record<string, string>> = {
  'volume-delete': 'the deletion',
  'variable-update': 'the change',
};

/** `the deletion KX7… of volume v1 of app a1 (seal ab12…)`. */
function nameOperation({ detail, subject }: AuditRecord): string {
  const { kind, operation: id, volume, app, variable, name, script } = detail;
  const named =
    typeof name === 'string' ? `${formatCode(name, 60)} (${formatCode(String(variable), 30)})` : '';
  const words = [
    (typeof kind === 'string' && Object.hasOwn(operations, kind) && operations[kind]) || 'the operation',
    typeof id === 'string' && formatCode(id, 40),
    typeof volume === 'string'
      ? `of volume ${formatCode(volume, 60)} of app ${formatCode(String(app), 60)}`
      : typeof variable === 'string'
        ? `of ${named || `variable ${formatCode(variable, 30)}`} of script ${formatCode(String(script), 30)}`
        : '',
    subject !== null && `(${formatId(subject)})`,
  ];
  return join(words, ' ');
}

function nameActor(actor: string): string {
  return actor === 'system' ? 'the bot' : formatId(actor);
}

/** An id of a person or channel as a mention, a seal by its first characters, anything else as it is. */
function formatId(id: string | null): string {
  if (id === null) return 'nobody named';
  if (/^[UW][A-Z0-9]{2,40}$/u.test(id)) return `<@${id}>`;
  if (/^[CG][A-Z0-9]{8,40}$/u.test(id)) return `<#${id}>`;
  return isSeal(id) ? `seal ${formatCode(id.slice(0, 12))}` : formatCode(id, 80);
}

function nameFact([name, value]: [string, unknown]): string {
  const label = escapeMrkdwn(name.replaceAll(/[-_]/gu, ' '), 40);
  const text = String(value);
  return `${label} ${isSeal(text) ? formatCode(text.slice(0, 12)) : linkIds(text, 200)}`;
}

function isSeal(text: string): boolean {
  return /^[0-9a-f]{64}$/u.test(text);
}

/** Foreign text in which ids of people and channels are mentions. One that was cut is no id. */
function linkIds(text: string, length: number): string {
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
