import type { StaticSelect } from '@slack/types';
import { type AuditState, auditEvents } from '../../auth/audit/audit.ts';
import type { Broken } from '../../auth/audit/chain.ts';
import type { Checkpoint } from '../../auth/audit/checkpoint.ts';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { actionMenu, option } from '../blocks/inputs.ts';
import { overflow } from '../blocks/menu-of-buttons.ts';
import { renderTable } from '../blocks/table.ts';
import { capitalize, escapeMrkdwn, formatCode, join, unbold } from '../blocks/text.ts';
import type { AuditRow } from './words.ts';

/** The selection that a list shows. */
export interface AuditView {
  /** A user id: actor or subject. */
  readonly who: string | undefined;
  /** Which kind, as it was typed or chosen. */
  readonly kind: string | undefined;
  readonly most: number;
}

export interface AuditList {
  readonly view: AuditView;
  readonly rows: readonly AuditRow[];
  readonly state: AuditState;
  /** Whether the settings name a channel for checkpoints. */
  readonly checkpoints: boolean;
  readonly takenAt: Date;
  /** Encodes a view as a button's value. */
  readonly value: (view: AuditView) => string;
}

/** The newest records as a table, and whether the chain holds. */
export function renderAuditList({ view, rows, state, checkpoints, takenAt, value }: AuditList): Message {
  const at = (change: Partial<AuditView>): string => value({ ...view, ...change });
  const headline = [describeIntegrity(state), describeSelection(view, rows.length)]
    .filter(Boolean)
    .join('\n');
  return message(unbold(headline), [
    section(headline),
    ...renderTable({
      caption: 'Records, newest first',
      columns: ['What', 'Who', 'When', 'No.', 'Reference'],
      rows: rows.map(({ what, who, at, seq, reference }) => [
        what,
        who,
        { at },
        { number: seq, text: formatInteger(seq) },
        reference,
      ]),
    }),
    actions(
      renderKindMenu(view, at),
      state.head && button('File to verify', 'audit:file:ndjson', `${at({})}&as=ndjson`),
      overflow(
        button('Refresh', 'audit:list:refresh', at({})),
        rows.length > 0 && button('Table (CSV)', 'audit:file:csv', `${at({})}&as=csv`),
        (view.who !== undefined || view.kind !== undefined) &&
          button('All records', 'audit:list:all', at({ who: undefined, kind: undefined })),
        commandButton('Settings', 'settings'),
      ),
    ),
    context(describeChain(state, checkpoints, takenAt)),
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
  const records = `:white_check_mark: *${pluralize(head.seq, 'record')}*`;
  return since === 1
    ? `${records}, none altered`
    : `${records}, none of the newest ${formatInteger(head.seq - since + 1)} altered; \`npm run audit:verify\` looks at all`;
}

/** `2 records about denied of @Bob`; nothing if all of the newest are shown. */
function describeSelection({ who, kind }: AuditView, found: number): string {
  if (who === undefined && kind === undefined) return '';
  const about = kind === undefined ? '' : ` about ${escapeMrkdwn(kind, 40)}`;
  const by = who === undefined ? '' : ` of <@${who}>`;
  return `${capitalize(pluralize(found, 'record'))}${about}${by}`;
}

function renderKindMenu(view: AuditView, at: (change: Partial<AuditView>) => string): StaticSelect {
  const options = [
    option('All kinds', at({ kind: undefined })),
    ...auditEvents.map((kind) => option(capitalize(kind.replaceAll('-', ' ')), at({ kind }))),
  ];
  return actionMenu('audit:list:kind', 'Kind', options, at({}));
}

function describeChain(
  { head, checkpoint, lastDay }: AuditState,
  checkpoints: boolean,
  takenAt: Date,
): string {
  const failed = lastDay?.state === 'failed' || lastDay?.state === 'unknown' ? lastDay : undefined;
  const signed =
    checkpoint &&
    `checkpoint of record ${formatInteger(checkpoint.seq)}, ${formatMoment(checkpoint.at)}, in <#${checkpoint.channel}>`;
  const facts = [
    head && `Head ${formatCode(head.hash.slice(0, 12))}`,
    checkpoints ? signed : 'no daily checkpoint: name a channel in the settings',
    `as of ${formatMoment(takenAt)}`,
  ];
  const warning =
    failed &&
    `:warning: The checkpoint of ${failed.day} could not be posted in <#${failed.channel}> (${escapeMrkdwn(failed.code ?? 'no answer', 40)}). Is the bot in that channel?`;
  return join([join(facts, ' · '), warning], '\n');
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
