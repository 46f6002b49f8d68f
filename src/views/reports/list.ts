import type { KnownBlock } from '@slack/types';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { commandButton } from '../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { capitalize, formatCode, join, truncateMarkup } from '../blocks/text.ts';
import { describeContent, manageMenu, takeOverButton } from './card.ts';
import { type Alert, canBeTakenOver, type Digest, type Incident, type Report } from './report.ts';
import { type Budget, describeBudget, describePaused, formatReaders, formatRunTime } from './words.ts';

type Flag = 'firing' | "can't check" | 'paused';

/** How a digest or an alert is now. */
export interface State {
  /** mrkdwn */
  readonly text: string;
  readonly flags: readonly Flag[];
}

/** A digest or an alert as a list and the Home tab show it. */
export interface Listed {
  readonly report: Report;
  readonly state: State;
  /** Whether the person who reads the list owns it. */
  readonly own: boolean;
  readonly manages: boolean;
}

const nothing = {
  digest: 'No digests yet. A digest posts a summary of your CDN on a schedule.',
  alert: 'No alerts yet. An alert tells you when something starts, changes or resolves.',
} as const;

/** Lines with a menu each, then short lines by the ten: a message has 50 blocks and 12,000 characters. */
const mostMenus = 15;
const mostChunks = 5;

export function renderList(
  kind: Report['kind'],
  rows: readonly Listed[],
  { budget, asOf }: { readonly budget: Budget; readonly asOf: Date },
): Message {
  const create = commandButton(`New ${kind}`, `${kind} new`, 0, { style: 'primary' });
  if (rows.length === 0) return say(nothing[kind], actions(create));
  const count = (flag: Flag): number => rows.filter(({ state }) => state.flags.includes(flag)).length;
  const counts = (['firing', "can't check", 'paused'] as const).map(
    (flag) => count(flag) > 0 && `${formatInteger(count(flag))} ${flag}`,
  );
  const text = join([pluralize(rows.length, kind), ...counts], ', ');
  const sorted = sortRows(rows);
  const others = Array.from({ length: mostChunks }, (_, nth) =>
    sorted.slice(mostMenus + nth * 10, mostMenus + (nth + 1) * 10),
  );
  const more = rows.length - mostMenus - mostChunks * 10;
  return message(text, [
    section(`${count('firing') > 0 ? ':rotating_light: ' : ''}*${text}*`),
    ...sorted.slice(0, mostMenus).flatMap(renderRow),
    ...others.map(
      (ten) =>
        ten.length > 0 &&
        section(
          ten.map(({ report }) => truncateMarkup(`${formatCode(report.id)} ${describeContent(report)}`, 100)),
        ),
    ),
    more > 0 && context(`and ${pluralize(more, `more ${kind}`)}`),
    actions(create),
    context([rows.some(({ own }) => own) && describeBudget(budget), `as of ${formatMoment(asOf)}`]),
  ]);
}

/** Those that need somebody come first. */
function sortRows(rows: readonly Listed[]): Listed[] {
  const urgency = ({ report, state: { flags } }: Listed): number =>
    flags.filter((flag) => flag !== 'paused').length * 2 + Number(canBeTakenOver(report));
  return rows.toSorted((a, b) => urgency(b) - urgency(a));
}

const mostAtHome = 5;

/** For the Home tab: the first few, those that need somebody before all, and a button for all. */
export function renderAtHome(kind: Report['kind'], rows: readonly Listed[]): KnownBlock[] {
  if (rows.length === 0) return [];
  const others = rows.filter(({ own }) => !own).length;
  const stopped = others > 0 ? ` · ${formatInteger(others)} owned by others stopped` : '';
  return [
    section(
      `*${capitalize(kind)}s:* ${pluralize(rows.length - others, kind)} of yours${stopped}`,
      commandButton(`All ${kind}s`, `${kind} list`),
    ),
    ...sortRows(rows).slice(0, mostAtHome).flatMap(renderRow),
  ];
}

/** Its lines, a menu for those who manage it, and a button for people who can take it over. */
function renderRow({ report, state, own, manages }: Listed): KnownBlock[] {
  const { id, channel, owner } = report;
  const facts = join([state.text, formatReaders(channel, owner.userId)], ' · ');
  const lines = section(truncateMarkup(`${formatCode(id)} ${describeContent(report)}\n${facts}`, 350));
  const takeOver = !own && canBeTakenOver(report) && takeOverButton(report);
  if (!manages) return [takeOver ? { ...lines, accessory: takeOver } : lines];
  const menu = manageMenu(report);
  return [
    { ...lines, ...(menu ? { accessory: menu } : {}) },
    // Not in the menu: its confirmation would ask for every entry.
    ...(takeOver ? [actions(takeOver)] : []),
  ];
}

/** `last`: its newest run that began. */
export function describeDigest(
  { schedule, paused, nextDue }: Digest,
  last: { readonly due: Date; readonly state: string } | undefined,
): State {
  const at = (moment: Date): string => formatRunTime(moment, schedule.zone);
  const next = nextDue ? `next ${at(nextDue)}` : 'not planned';
  const text = join(
    [
      paused ? describePaused(paused) : next,
      last ? `last ${at(last.due)}: ${ends[last.state] ?? 'in progress'}` : 'has not run yet',
    ],
    ' · ',
  );
  return { text, flags: paused ? ['paused'] : [] };
}

const ends: Readonly<Record<string, string>> = {
  sent: 'posted',
  quiet: 'nothing to report',
  skipped: 'skipped',
  failed: 'failed',
  unknown: 'unknown whether it arrived',
};

/** `firing since Mon 23 Nov 10:02`, `can't check since …`, `snoozed until …`, `paused`, `OK` */
export function describeAlert(
  { paused, snoozed, subject, checkedAt }: Alert,
  recent: readonly (Incident & { readonly isUntold: boolean })[],
): State {
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  const [unreadable, firing] = (['unreadable', 'firing'] as const).map((kind) =>
    recent.find((one) => one.kind === kind && !one.closedAt),
  );
  const flags: readonly (Flag | false)[] = [
    firing !== undefined && 'firing',
    unreadable !== undefined && "can't check",
    paused !== undefined && 'paused',
  ];
  const untold = recent.some(({ isUntold }) => isUntold) && ':warning: *could not be posted*';
  const state = join(
    [
      unreadable && `:see_no_evil: can't check since ${at(unreadable.openedAt)}`,
      firing && `:rotating_light: *firing* since ${at(firing.openedAt)}`,
      snoozed && `:zzz: snoozed until ${at(snoozed.until)}`,
      untold,
    ],
    ' · ',
  );
  const checked = checkedAt ? `last check ${at(checkedAt)}` : 'not checked yet';
  const text = paused
    ? join([describePaused(paused), untold], ' · ')
    : join([state || (checkedAt && ':white_check_mark: OK'), checked], ' · ');
  return { text, flags: flags.filter((flag) => flag !== false) };
}
