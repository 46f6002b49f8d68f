import type { SectionBlock, StaticSelect } from '@slack/types';
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

interface BrokenRecord {
  readonly seq: number;
  readonly problem: 'missing' | 'altered' | 'unlinked' | 'rewritten' | 'cut-off';
  readonly found?: number;
  readonly noted?: { readonly seq: number };
}

export interface AuditList {
  readonly view: AuditView;
  readonly lines: readonly AuditLine[];
  /** The names of all kinds of records. */
  readonly kinds: readonly string[];
  readonly state: {
    /** The newest record; undefined = there are none. */
    readonly head: { readonly seq: number; readonly hash: string } | undefined;
    readonly verdict: { readonly ok: true } | { readonly ok: false; readonly broken: BrokenRecord };
    /** The record from which on the chain was read. */
    readonly since: number;
  };
  readonly takenAt: Date;
  /** Encodes a view as a button's value. */
  readonly value: (view: AuditView) => string;
}

export function renderAuditList({ view, lines, kinds, state, takenAt, value }: AuditList): Message {
  const at = (change: Partial<AuditView>): string => value({ ...view, ...change });
  const headline = [describeIntegrity(state), describeSelection(view, lines.length)]
    .filter(Boolean)
    .join('\n');
  return message(unbold(headline), [
    section(headline),
    ...renderLines(lines),
    actions(
      renderKindMenu(view, kinds, at),
      lines.length > 0 && button('Download CSV', 'audit:file', at({})),
      overflow(
        button('Refresh', 'audit:list:refresh', at({})),
        (view.who !== undefined || view.kind !== undefined) &&
          button('All records', 'audit:list:all', at({ who: undefined, kind: undefined })),
        commandButton('Settings', 'settings'),
      ),
    ),
    context(
      join(
        [state.head && `Head ${formatCode(state.head.hash.slice(0, 12))}`, `as of ${formatMoment(takenAt)}`],
        ' · ',
      ),
    ),
  ]);
}

// Characters of a section: https://docs.slack.dev/reference/block-kit/blocks/section-block
const maxSection = 2_900;
// Of all lines; the file has the rest.
const maxCharacters = 10_000;

function renderLines(lines: readonly AuditLine[]): SectionBlock[] {
  const sections: string[] = [];
  let left = maxCharacters;
  for (const [nth, { what, who, at, seq, reference }] of lines.entries()) {
    const facts = [who, formatMoment(at), `no. ${formatInteger(seq)}`, reference];
    const line = `${what}\n      ${join(facts, ' · ')}`;
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

/** The file of the records that a list selects. `head`: of a file that holds all of them. */
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

function renderKindMenu(
  view: AuditView,
  kinds: readonly string[],
  at: (change: Partial<AuditView>) => string,
): StaticSelect {
  const options = [
    option('All kinds', at({ kind: undefined })),
    ...kinds.map((kind) => option(capitalize(kind.replaceAll('-', ' ')), at({ kind }))),
  ];
  return actionMenu('audit:list:kind', 'Kind', options, at({}));
}

/** The fault of the first wrong record, in plain text that needs no escaping. */
export function describeBroken({ seq, problem, found, noted }: BrokenRecord): string {
  const instead = Number.isSafeInteger(found)
    ? `record ${formatInteger(found ?? 0)} is in its place`
    : 'the record in its place has no number';
  const faults: Readonly<Record<BrokenRecord['problem'], string>> = {
    missing: `is missing: ${instead}.`,
    altered: 'was changed: its hash does not match its content.',
    unlinked: 'does not follow the record before it: its previous hash differs.',
    rewritten: 'is not the one in the log: it, or one before it, was rewritten since.',
    'cut-off': `and all after it are gone: the log has record ${formatInteger(noted?.seq ?? 0)}.`,
  };
  return `Record ${formatInteger(seq)} ${faults[problem]}`;
}
