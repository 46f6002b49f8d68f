import type { KnownBlock, PlainTextOption, StaticSelect } from '@slack/types';
import type { AuditState } from '../../auth/audit/trail.ts';
import { actions, button, commandButton, context, message, plain, section } from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { Message } from '../blocks/message.ts';
import {
  escapeMrkdwn,
  formatInteger,
  plainText,
  pluralize,
  truncate,
  truncateMarkup,
} from '../blocks/text.ts';
import { describeBroken } from './checkpoint.ts';
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
  readonly kinds: readonly string[];
  readonly takenAt: Date;
  /** Encodes a view as a button's value. */
  readonly value: (view: AuditView) => string;
}

/** The newest records in words, and whether the chain holds. */
export function renderAuditPage(page: AuditPage): Message {
  const { view, found, state } = page;
  const records = state.head?.seq ?? 0;
  const which = [
    view.who === undefined ? '' : ` of <@${view.who}>`,
    view.kind === undefined ? '' : ` about ${escapeMrkdwn(view.kind, 40)}`,
  ].join('');
  const shown =
    found < view.most
      ? `${pluralize(found, 'record')}${which}`
      : `The newest ${formatInteger(found)} record${found === 1 ? '' : 's'}${which}`;
  const headline = state.head
    ? [`*${capital(shown)}* · ${pluralize(records, 'record')} in all`, integrity(state)]
    : [integrity(state)];
  return message(headline.join('\n'), [
    section(headline.join('\n')),
    ...page.lines.map(row),
    ...navigation(page),
    context(foot(page)),
  ]);
}

export interface AuditFileView {
  readonly kind: 'csv' | 'ndjson';
  readonly records: number;
  readonly head: string | undefined;
}

/** The message with a file. */
export function renderAuditFile({ kind, records, head }: AuditFileView): Message {
  const text =
    kind === 'csv'
      ? `${capital(pluralize(records, 'record'))} as a table.`
      : `The whole record, ${pluralize(records, 'record')}, to be checked anywhere: \`npm run audit:verify -- --file …\`.`;
  return message(text, [section(text), ...(head === undefined ? [] : [context(`Head \`${head}\``)])]);
}

export function renderNoRecords(): Message {
  const text = 'There is nothing to put into a file: no record matches.';
  return message(text, [section(text)]);
}

function integrity({ head, verdict, since }: AuditState): string {
  if (!verdict.ok)
    return `:rotating_light: *The record does not hold together.* ${describeBroken(verdict.broken)}`;
  if (!head) return '*Nothing has been recorded yet.*';
  return since === 1
    ? ':white_check_mark: All of them hold together.'
    : `:white_check_mark: The newest ${formatInteger(head.seq - since + 1)} hold together; \`npm run audit:verify\` looks at all.`;
}

// Three lines on a phone each; the file has everything.
const longestLine = 600;

function row({ seq, at, says, requestId }: AuditLine): KnownBlock {
  const facts = [
    `#${formatInteger(seq)}`,
    formatMoment(at),
    ...(requestId === undefined ? [] : [`reference ${escapeMrkdwn(requestId, 60)}`]),
  ];
  return section(`${truncateMarkup(says, longestLine)}\n${facts.join(' · ')}`);
}

function navigation({ view, pages, kinds, found, state, value }: AuditPage): KnownBlock[] {
  const at = (change: Partial<AuditView>): string => value({ ...view, page: 1, ...change });
  const pager = [
    ...(view.page > 1 ? [button('‹ Newer', 'audit:page:newer', at({ page: view.page - 1 }))] : []),
    ...(view.page < pages ? [button('Older ›', 'audit:page', at({ page: view.page + 1 }))] : []),
  ];
  const all = view.who !== undefined || view.kind !== undefined;
  return [
    ...(pager.length > 0 ? [actions(...pager)] : []),
    actions(
      kindMenu(view, kinds, at),
      ...(all ? [button('All records', 'audit:page:all', at({ who: undefined, kind: undefined }))] : []),
      button('Refresh', 'audit:page:refresh', `${at({ page: view.page })}&fresh=1`),
    ),
    ...(state.head
      ? [
          actions(
            button('File to verify', 'audit:file:ndjson', `${at({})}&as=ndjson`),
            ...(found > 0 ? [button('Table (CSV)', 'audit:file:csv', `${at({})}&as=csv`)] : []),
            commandButton('Settings', 'settings'),
          ),
        ]
      : []),
  ];
}

function kindMenu(
  view: AuditView,
  kinds: readonly string[],
  at: (change: Partial<AuditView>) => string,
): StaticSelect {
  const option = (text: string, kind: string | undefined): PlainTextOption => ({
    text: plain(plainText(text, 75)),
    value: at({ kind }),
  });
  const options = [
    option('All kinds', undefined),
    ...kinds.map((kind) => option(kind.replaceAll('-', ' '), kind)),
  ];
  const chosen = options[view.kind === undefined ? 0 : kinds.indexOf(view.kind) + 1];
  return {
    type: 'static_select',
    action_id: 'audit:page:kind',
    placeholder: plain('Kind'),
    options,
    ...(chosen && (view.kind === undefined || kinds.includes(view.kind)) ? { initial_option: chosen } : {}),
  };
}

function foot({ view, pages, state, checkpoints, takenAt }: AuditPage): string {
  const { head, checkpoint, lastDay } = state;
  const failed = lastDay?.state === 'failed' || lastDay?.state === 'unknown' ? lastDay : undefined;
  return [
    [
      pages > 1 ? `Page ${formatInteger(view.page)} of ${formatInteger(pages)}` : '',
      `as of ${formatMoment(takenAt)}`,
    ]
      .filter(Boolean)
      .join(' · '),
    head ? `Head: record ${formatInteger(head.seq)}, \`${escapeMrkdwn(head.hash, 64)}\`` : '',
    checkpoint
      ? `Last checkpoint: record ${formatInteger(checkpoint.seq)}, ${formatMoment(checkpoint.at)}, in <#${checkpoint.channel}>`
      : '',
    failed
      ? `:warning: The checkpoint of ${failed.day} could not be posted in <#${failed.channel}> (${escapeMrkdwn(failed.code ?? 'no answer', 40)}). Is the bot in that channel?`
      : '',
    checkpoints ? '' : 'No daily checkpoint: name a channel for it in the settings.',
  ]
    .filter(Boolean)
    .map((line) => truncate(line, 500))
    .join('\n');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
