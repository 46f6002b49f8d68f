import type { AuditEvent } from '../../auth/audit/audit.ts';
import type { AuditRecord } from '../../auth/audit/chain.ts';
import { formatInteger, pluralize } from '../blocks/format.ts';
import { capitalize, escapeMarkup, escapeMrkdwn, join, plainText } from '../blocks/text.ts';

export interface AuditLine {
  readonly what: string;
  readonly who: string;
  readonly at: Date;
  readonly seq: number;
  /** To find it by: the seal of an operation, else the reference of a refusal or the CDN's request id. */
  readonly reference: string;
}

export function renderAuditLine(record: AuditRecord): AuditLine {
  const { seq, at, requestId, event, actor, subject } = record;
  // Older records call alerts watches.
  const name = event.replace(/^watch-/u, 'alert-');
  const words = Object.hasOwn(phrases, name) ? phrases[name as AuditEvent] : otherPhrase;
  const parts = typeof words === 'string' ? [nameSubject(words, record)] : [words(record)].flat();
  const reference = isSeal(subject) ? `seal ${subject.slice(0, 12)}` : (requestId ?? '');
  return {
    what: parts.map(renderPart).join(''),
    who: actor === 'system' ? 'the bot' : renderPart(nameId(actor)),
    at,
    seq,
    reference: escapeMrkdwn(reference, 40),
  };
}

/** Text, or the id of a person or channel. In a private answer a mention notifies nobody. */
type Part = string | { readonly person: string } | { readonly channel: string };

function renderPart(part: Part): string {
  if (typeof part === 'string') return escapeMarkup(part);
  return 'person' in part ? `<@${part.person}>` : `<#${part.channel}>`;
}

/** In a text `{}` is the subject. */
type Phrase = string | ((record: AuditRecord) => Part | readonly Part[]);

/** The words of each event, without the person who did it. */
const phrases: Readonly<Record<AuditEvent, Phrase>> = {
  'key-linked': ({ detail }) => (detail['replaced'] === true ? 'Key replaced' : 'Key connected'),
  'key-destroyed': ({ actor, subject, detail }) =>
    actor === subject
      ? 'Key disconnected'
      : ['Key of ', nameId(subject), ` destroyed${explain(detail['cause'])}`],
  'key-mismatch': ({ subject }) => ['Stored key of ', nameId(subject), ' does not match its record'],
  'key-entry-refused': ({ subject }) => ['Key entered for ', nameId(subject), ', refused by the CDN'],
  'policy-changed': (record) => nameSettings(record),
  'policy-asked': (record) => nameSettings(record, ' asked for'),
  'policy-rejected': (record) =>
    nameSettings(record, record.detail['asked'] === `asked by ${record.actor}` ? ' taken back' : ' rejected'),
  denied: ({ subject, detail: { reason, channel } }) => [
    `Refused: /cdn ${plainText(subject ?? '', 40)}`,
    ...(typeof channel === 'string' ? [' in ', nameId(channel)] : []),
    explain(typeof reason === 'string' && Object.hasOwn(reasons, reason) ? reasons[reason] : reason),
  ],
  'keyring-changed': ({ subject, detail: { step, rows } }) =>
    step === 'rewrapped' && typeof rows === 'number'
      ? `${pluralize(rows, 'row')} sealed under key ${plainText(subject ?? '', 40)}`
      : `Encryption key ${plainText(subject ?? '', 40)} changed`,
  'operation-proposed': (record) => `Asked${nameVia(record, ' through ')}: ${nameOperation(record)}`,
  'operation-approval': (record) => `Approved${countVotes(record)}: ${nameOperation(record)}`,
  'operation-approved': (record) =>
    `${record.detail['need'] !== 0 ? `Approved${countVotes(record)}, may run` : record.detail['via'] === undefined ? 'Needs no approval' : 'Confirmed'}: ${nameOperation(record)}`,
  'operation-executing': (record) => `Sent: ${nameOperation(record)}`,
  'operation-succeeded': (record) => `Done: ${nameOperation(record)}${nameOutcome(record)}`,
  'operation-failed': (record) => `Not done: ${nameOperation(record)}${nameOutcome(record)}`,
  'operation-unknown': (record) => `Outcome unknown: ${nameOperation(record)}${nameOutcome(record)}`,
  'operation-denied': (record) => `Denied: ${nameOperation(record)}`,
  'operation-expired': (record) => `Expired: ${nameOperation(record)}`,
  'operation-cancelled': (record) => `Taken back: ${nameOperation(record)}`,
  'export-made': ({ subject, detail: { outcome, rows, channel } }) => [
    `${outcome === 'done' ? 'Exported' : 'May have exported'} ${typeof rows === 'number' ? pluralize(rows, 'event') : 'events'} of ${plainText(subject ?? '', 40)} to `,
    nameId(String(channel ?? '')),
  ],
  'export-ended': ({ subject, detail: { outcome, by } }) => [
    `Export of ${plainText(subject ?? '', 40)} ${outcome === 'cancelled' ? 'stopped by ' : 'did not work'}`,
    ...(outcome === 'cancelled' ? [by === 'system' ? 'the bot' : nameId(String(by))] : []),
  ],
  'export-deleted': ({ subject }) => ['Files deleted of an export of ', nameId(subject)],
  'digest-created': 'Digest {} made',
  'digest-changed': 'Digest {} changed',
  'digest-paused': (record) => nameSubject('Digest {} paused', record) + explain(record.detail['reason']),
  'digest-taken-over': 'Digest {} taken over',
  'digest-deleted': 'Digest {} deleted',
  'alert-created': 'Alert {} made',
  'alert-changed': 'Alert {} changed',
  'alert-paused': (record) => nameSubject('Alert {} paused', record) + explain(record.detail['reason']),
  'alert-taken-over': 'Alert {} taken over',
  'alert-deleted': 'Alert {} deleted',
  'alert-acknowledged': 'Incident of alert {} acknowledged',
  'alert-snoozed': 'Alert {} snoozed',
  'answer-shared': ({ subject, detail: { channel } }) => [
    `Showed ${plainText(subject ?? '', 40)} in `,
    nameId(String(channel ?? '')),
  ],
  'token-made': () => 'Made a token for a client',
  'token-ended': () => 'Revoked a token of a client',
  'tool-run': (record) => `Asked${nameVia(record, ' ')} for ${plainText(record.subject ?? '', 40)}`,
  'step-run': 'Ran the workflow step {}',
  'name-given': 'Name given to {}',
  'name-removed': 'Name taken from {}',
  'default-zone-set': ({ detail: { channel, zone } }) => [
    `Zone ${plainText(String(zone ?? ''), 40)} set in `,
    nameId(String(channel ?? '')),
  ],
  'audit-exported': 'Audit record exported',
  'tenant-erased': 'Everything of {} erased',
};

function nameSubject(text: string, { subject }: AuditRecord): string {
  return text.replace('{}', () => plainText(subject ?? '', 40));
}

/** A record of another version: its name, its subject and its facts. */
function otherPhrase({ event, subject, actor, detail }: AuditRecord): readonly Part[] {
  const facts = Object.entries(detail).map(
    ([name, value]) => `${humanize(name)} ${plainText(String(value), 60)}`,
  );
  return [
    capitalize(humanize(event)),
    ...(subject === null || subject === actor ? [] : [': ', nameId(subject)]),
    facts.length > 0 ? ` (${plainText(facts.join(', '), 150)})` : '',
  ];
}

/** `Settings, version 3: operators, confirmed by @Carol`: the names of what changed, and the second admin. */
function nameSettings({ subject, detail }: AuditRecord, verb = ''): readonly Part[] {
  const version = /^policy v(\d+)$/u.exec(subject ?? '')?.[1];
  const { asked, confirmed, ...changes } = detail;
  const names = Object.values(changes).map((change) => humanize(String(change).split(':', 1)[0] ?? ''));
  const [, words = '', other = ''] = /^(\w+ by )(\w+)$/u.exec(String(confirmed ?? asked ?? '')) ?? [];
  return [
    `Settings${verb}${version ? `, version ${version}` : ''}: ${plainText(names.join(', ') || 'nothing', 120)}`,
    ...(words ? [`, ${words}`, nameId(other)] : []),
  ];
}

const operations: Readonly<Record<string, string>> = { 'volume-delete': 'delete', 'variable-update': 'set' };

/** `delete volume v1 of app a1`, `set FEATURE_X of script 301`. */
function nameOperation({ detail }: AuditRecord): string {
  const { kind, operation: id, volume, app, variable, name, script } = detail;
  const verb = typeof kind === 'string' && Object.hasOwn(operations, kind) ? operations[kind] : '';
  const what =
    typeof volume === 'string'
      ? `volume ${plainText(volume, 60)} of app ${plainText(String(app), 60)}`
      : typeof variable === 'string'
        ? `${typeof name === 'string' ? plainText(name, 60) : `variable ${plainText(variable, 30)}`} of script ${plainText(String(script), 30)}`
        : `request ${plainText(String(id ?? ''), 40)}`;
  return join([verb, what], ' ');
}

/** What acts in the name of the person: Slack's assistant, or a client with a token of theirs. */
function nameVia({ detail: { via } }: AuditRecord, before: string): string {
  if (typeof via !== 'string') return '';
  return before + (via === 'assistant' ? 'Slack’s assistant' : plainText(via, 60));
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
  return actor === 'system' ? explain(words.join(', ')) : ', said by a person who looked';
}

function explain(reason: AuditRecord['detail'][string] | undefined): string {
  return reason === undefined || reason === '' ? '' : `: ${plainText(String(reason), 60)}`;
}

function humanize(name: string): string {
  return plainText(name.replaceAll(/[-_]/gu, ' ').replaceAll(/(?<=[a-z])(?=[A-Z])/gu, ' '), 60).toLowerCase();
}

/** An id of a person or channel as a mention, anything else unchanged. */
function nameId(id: string | null): Part {
  if (id === null) return 'nobody named';
  if (/^[UW][A-Z0-9]{2,40}$/u.test(id)) return { person: id };
  if (/^[CG][A-Z0-9]{8,40}$/u.test(id)) return { channel: id };
  return plainText(id, 60);
}

function isSeal(text: string | null): text is string {
  return text !== null && /^[0-9a-f]{64}$/u.test(text);
}

const reasons: Readonly<Record<string, string>> = {
  foreign: 'of another organisation',
  'not-operator': 'not an operator',
  'not-admin': 'not an admin',
  'not-approver': 'not an approver',
  'channel-cap': 'the channel is capped',
  'other-channel': 'not into that channel',
};
