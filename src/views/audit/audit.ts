import type { KnownBlock, StaticSelect } from '@slack/types';
import { type AuditState, auditEvents } from '../../auth/audit/audit.ts';
import type { Broken } from '../../auth/audit/chain.ts';
import type { Checkpoint } from '../../auth/audit/checkpoint.ts';
import { actions, compact, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { actionMenu, option } from '../blocks/inputs.ts';
import { capitalize, escapeMrkdwn, truncate, truncateMarkup } from '../blocks/text.ts';
import type { AuditLine } from './words.ts';

/** The selection that a list shows. */
export interface AuditView {
  /** A user id: actor or subject. */
  readonly who: string | undefined;
  /** Which kind, as it was typed or chosen. */
  readonly kind: string | undefined;
  readonly most: number;
  readonly page: number;
}

export interface AuditPage {
  readonly view: AuditView;
  readonly pages: number;
  readonly lines: readonly AuditLine[];
  /** Records on all pages. */
  readonly found: number;
  readonly state: AuditState;
  /** Whether the settings name a channel for checkpoints. */
  readonly checkpoints: boolean;
  readonly takenAt: Date;
  /** Encodes a view as a button's value. */
  readonly value: (view: AuditView) => string;
}

/** The newest records in words, and whether the chain holds. */
export function renderAuditPage(page: AuditPage): Message {
  const { view, found, state } = page;
  const who = view.who === undefined ? '' : ` of <@${view.who}>`;
  const which = `${who}${view.kind === undefined ? '' : ` about ${escapeMrkdwn(view.kind, 40)}`}`;
  const shown =
    found < view.most
      ? capitalize(pluralize(found, 'record'))
      : `The newest ${formatInteger(found)} record${found === 1 ? '' : 's'}`;
  const total = state.head ? `*${shown}${which}* · ${pluralize(state.head.seq, 'record')} in all\n` : '';
  const headline = `${total}${describeIntegrity(state)}`;
  return message(headline, [
    section(headline),
    ...page.lines.map(renderLine),
    ...renderNavigation(page),
    context(describePage(page)),
  ]);
}

export function renderAuditFile(file: {
  readonly format: 'csv' | 'ndjson';
  readonly records: number;
  readonly head: string | undefined;
}): Message {
  const records = pluralize(file.records, 'record');
  const text =
    file.format === 'csv'
      ? `${capitalize(records)} as a table.`
      : `The whole record, ${records}, to be checked anywhere: \`npm run audit:verify -- --file …\`.`;
  return say(text, file.head && context(`Head \`${file.head}\``));
}

export function renderNoRecords(): Message {
  const text = 'There is nothing to put into a file: no record matches.';
  return say(text);
}

function describeIntegrity({ head, verdict, since }: AuditState): string {
  if (!verdict.ok)
    return `:rotating_light: *The record does not hold together.* ${describeBroken(verdict.broken)}`;
  if (!head) return '*Nothing has been recorded yet.*';
  return since === 1
    ? ':white_check_mark: All of them hold together.'
    : `:white_check_mark: The newest ${formatInteger(head.seq - since + 1)} hold together; \`npm run audit:verify\` looks at all.`;
}

// Three lines on a phone each; the file has everything.
const longestLine = 600;

function renderLine({ seq, at, says, requestId }: AuditLine): KnownBlock {
  const reference = requestId === null ? '' : ` · reference ${escapeMrkdwn(requestId, 60)}`;
  return section(
    `${truncateMarkup(says, longestLine)}\n#${formatInteger(seq)} · ${formatMoment(at)}${reference}`,
  );
}

function renderNavigation({ view, pages, found, state, value }: AuditPage): KnownBlock[] {
  const at = (change: Partial<AuditView>): string => value({ ...view, page: 1, ...change });
  const newer = button('‹ Newer', 'audit:page:newer', at({ page: view.page - 1 }));
  const older = button('Older ›', 'audit:page', at({ page: view.page + 1 }));
  const all = button('All records', 'audit:page:all', at({ who: undefined, kind: undefined }));
  const table = button('Table (CSV)', 'audit:file:csv', `${at({})}&as=csv`);
  const files = actions(
    button('File to verify', 'audit:file:ndjson', `${at({})}&as=ndjson`),
    found > 0 && table,
    commandButton('Settings', 'settings'),
  );
  return compact<KnownBlock>([
    actions(view.page > 1 && newer, view.page < pages && older),
    actions(
      renderKindMenu(view, at),
      (view.who !== undefined || view.kind !== undefined) && all,
      button('Refresh', 'audit:page:refresh', `${at({ page: view.page })}&fresh=1`),
    ),
    state.head && files,
  ]);
}

function renderKindMenu(view: AuditView, at: (change: Partial<AuditView>) => string): StaticSelect {
  const options = [
    option('All kinds', at({ kind: undefined })),
    ...auditEvents.map((kind) => option(kind.replaceAll('-', ' '), at({ kind }))),
  ];
  return actionMenu('audit:page:kind', 'Kind', options, at({}));
}

function describePage({ view, pages, state, checkpoints, takenAt }: AuditPage): string {
  const { head, checkpoint, lastDay } = state;
  const failed = lastDay?.state === 'failed' || lastDay?.state === 'unknown' ? lastDay : undefined;
  const page = pages > 1 ? `Page ${formatInteger(view.page)} of ${formatInteger(pages)} · ` : '';
  const lines = [
    `${page}as of ${formatMoment(takenAt)}`,
    head && `Head: record ${formatInteger(head.seq)}, \`${escapeMrkdwn(head.hash, 64)}\``,
    checkpoint &&
      `Last checkpoint: record ${formatInteger(checkpoint.seq)}, ${formatMoment(checkpoint.at)}, in <#${checkpoint.channel}>`,
    failed &&
      `:warning: The checkpoint of ${failed.day} could not be posted in <#${failed.channel}> (${escapeMrkdwn(failed.code ?? 'no answer', 40)}). Is the bot in that channel?`,
    !checkpoints && 'No daily checkpoint: name a channel for it in the settings.',
  ];
  return lines.flatMap((line) => (line ? [truncate(line, 500)] : [])).join('\n');
}

/** The daily message for a channel: for people, with a line that `npm run audit:verify` reads. */
export function renderCheckpoint(made: { checkpoint: Checkpoint; line: string; publicKey: string }): Message {
  const { line, publicKey } = made;
  const { seq, at, kid } = made.checkpoint;
  const records = pluralize(seq, 'record');
  return message(`Audit checkpoint: ${records}. ${line}`, [
    section(`*Audit checkpoint* · ${records} up to ${formatMoment(at)}`),
    section(`\`\`\`${line}\`\`\``),
    context(
      `Leave it here: a record that is rewritten or cut later no longer fits it. To check: \`npm run audit:verify -- --checkpoint "…"\` with this line. Public key ${kid}: \`${publicKey}\``,
    ),
  ]);
}

/** Posted instead of a checkpoint. */
export function renderBrokenRecord(broken: Broken): Message {
  const text = 'The audit record does not hold together, so no checkpoint was signed.';
  return message(text, [
    section(`:rotating_light: *${text}*\n${describeBroken(broken)}`),
    context(
      'The database may have been changed past the bot. Its operator: run `npm run audit:verify` and see docs/operating.md.',
    ),
  ]);
}

/** The fault of the first wrong record, in plain text that needs no escaping. */
export function describeBroken({ seq, problem, found, noted }: Broken): string {
  const checkpoint = `the checkpoint of record ${formatInteger(noted?.seq ?? 0)}`;
  const instead = Number.isSafeInteger(found)
    ? `record ${formatInteger(found ?? 0)} stands in its place`
    : 'the record in its place has no number';
  const faults: Readonly<Record<Broken['problem'], string>> = {
    missing: `is missing: ${instead}.`,
    altered: 'was changed: its hash does not fit its content.',
    unlinked: 'does not follow the record before it: its previous hash differs.',
    foreign: 'belongs to another workspace.',
    rewritten: `is not the one that ${checkpoint} was signed for: the record was rewritten since, at or before it.`,
    'cut-off': `and what follows is gone: ${checkpoint} says that there were more.`,
  };
  return `Record ${formatInteger(seq)} ${faults[problem]}`;
}
