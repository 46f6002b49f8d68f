import type { SectionBlock } from '@slack/types';
import type { Audit } from '../../auth/audit/audit.ts';
import type { Broken } from '../../auth/audit/chain.ts';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton, overflow } from '../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { actionMenu, option } from '../blocks/inputs.ts';
import { capitalize, escapeMrkdwn, formatCode, join, unbold } from '../blocks/text.ts';
import type { AuditLine } from './words.ts';

export interface AuditView {
  readonly who: string | undefined;
  readonly kind: string | undefined;
  readonly most: number;
}

export interface AuditList {
  readonly view: AuditView;
  readonly lines: readonly AuditLine[];
  readonly kinds: readonly string[];
  readonly state: Awaited<ReturnType<Audit['check']>>;
  readonly takenAt: Date;
  readonly value: (view: AuditView) => string;
}

export function renderAuditList({ view, lines, kinds, state, takenAt, value }: AuditList): Message {
  const at = (change: Partial<AuditView>): string => value({ ...view, ...change });
  const headline = join([describeIntegrity(state), describeSelection(view, lines.length)], '\n');
  const head = state.head ? `Head ${formatCode(state.head.hash.slice(0, 12))} · ` : '';
  const options = [
    option('All kinds', at({ kind: undefined })),
    ...kinds.map((kind) => option(capitalize(kind.replaceAll('-', ' ')), at({ kind }))),
  ];
  return message(unbold(headline), [
    section(headline),
    ...renderLines(lines),
    actions(
      actionMenu('audit:list:kind', 'Kind', options, at({})),
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

// Characters of a section: https://docs.slack.dev/reference/block-kit/blocks/section-block
const maxSection = 2_900;
// Upper bound for all lines; the file has the rest.
const maxCharacters = 10_000;

function renderLines(lines: readonly AuditLine[]): SectionBlock[] {
  const sections: string[] = [];
  let left = maxCharacters;
  for (const [nth, { what, who, at, seq, reference }] of lines.entries()) {
    const line = join([what, who, formatMoment(at), `no. ${formatInteger(seq)}`, reference], ' · ');
    left -= line.length;
    if (left < 0) {
      sections.push(`${pluralize(lines.length - nth, 'older record')} in the CSV`);
      break;
    }
    const last = sections.at(-1);
    if (last === undefined || last.length + line.length > maxSection) sections.push(line);
    else sections[sections.length - 1] = `${last}\n${line}`;
  }
  return sections.map((text) => section(text));
}

/** The file of the selected records. `head`: set if the file holds all records. */
export function renderAuditFile(records: number, head: string | undefined): Message {
  return say(`${capitalize(pluralize(records, 'record'))} as CSV.`, head && context(`Head \`${head}\``));
}

export function renderNoRecords(): Message {
  return say('No record matches, so there is no file.');
}

function describeIntegrity({ head, verdict, since }: AuditList['state']): string {
  if (!verdict.ok) return `:rotating_light: *The audit is not intact.* ${describeBroken(verdict.broken)}`;
  if (!head) return '*Nothing has been recorded yet.*';
  const records = `:white_check_mark: *${pluralize(head.seq, 'record')}*`;
  return since === 1
    ? `${records}, none altered`
    : `${records}, none of the newest ${formatInteger(head.seq - since + 1)} altered (\`npm run audit:verify\` checks all)`;
}

/** `2 records about denied of @Bob`; nothing if all of the newest are shown. */
function describeSelection({ who, kind }: AuditView, found: number): string {
  if (who === undefined && kind === undefined) return '';
  const about = kind === undefined ? '' : ` about ${escapeMrkdwn(kind, 40)}`;
  const by = who === undefined ? '' : ` of <@${who}>`;
  return `${capitalize(pluralize(found, 'record'))}${about}${by}`;
}

/** The fault of the first wrong record, in plain text that needs no escaping. */
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
