import type { Button, KnownBlock } from '@slack/types';
import type { BudgetState } from '../../commands/reports/accounts/budget.ts';
import { type Alert, canBeTakenOver, type Digest, type Incident } from '../../commands/reports/model.ts';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { overflow } from '../blocks/menu-of-buttons.ts';
import { capitalize, formatCode, join, type Maybe, truncateMarkup } from '../blocks/text.ts';
import { describeSubject } from './alerts/words.ts';
import { alertCard, digestCard, formatReaders } from './card.ts';
import { formatRunTime } from './digests/schedule.ts';
import { describeOrder } from './digests/words.ts';
import { describeBudget, describePause } from './words.ts';

/** A digest or an alert as a list and the Home tab show it. */
export interface Listed {
  readonly id: string;
  /** mrkdwn: how it is now. */
  readonly state: string;
  /** mrkdwn: what it does, and when. */
  readonly what: string;
  readonly place: string;
  readonly owner: string;
  /** Whether the person who reads the list owns it. */
  readonly own: boolean;
  readonly manages: boolean;
  /** Those that need somebody come first. */
  readonly urgency: number;
  readonly buttons: readonly Button[];
  /** Where the person who reads the list may take it over. */
  readonly takeOver: Button | undefined;
}

export interface ListWords {
  readonly noun: 'digest' | 'alert';
  readonly none: string;
  /** `2 firing`, `1 paused` */
  readonly counts: readonly Maybe<string>[];
  readonly sign?: string | undefined;
}

/** Lines with a menu each, then short lines by the ten: a message has 50 blocks and 12,000 characters. */
const mostMenus = 15;
const mostChunks = 5;

export function renderList(
  rows: readonly Listed[],
  { noun, none, counts, sign = '' }: ListWords,
  { budget, asOf }: { readonly budget: BudgetState; readonly asOf: Date },
): Message {
  const create = commandButton(`New ${noun}`, `${noun} new`, 0, { style: 'primary' });
  if (rows.length === 0) return say(none, actions(create));
  const text = join([pluralize(rows.length, noun), ...counts], ', ');
  const sorted = rows.toSorted((a, b) => b.urgency - a.urgency);
  const others = Array.from({ length: mostChunks }, (_, nth) =>
    sorted.slice(mostMenus + nth * 10, mostMenus + (nth + 1) * 10),
  );
  const more = rows.length - mostMenus - mostChunks * 10;
  return message(text, [
    section(`${sign}*${text}*`),
    ...sorted.slice(0, mostMenus).flatMap(renderRow),
    ...others.map(
      (ten) =>
        ten.length > 0 &&
        section(ten.map(({ id, what }) => truncateMarkup(`${formatCode(id)} ${what}`, 100))),
    ),
    more > 0 && context(`and ${pluralize(more, `more ${noun}`)}`),
    actions(create),
    context([rows.some(({ own }) => own) && describeBudget(budget), `as of ${formatMoment(asOf)}`]),
  ]);
}

function renderLines({ id, what, state, place, owner }: Listed): string {
  return `${formatCode(id)} ${what}\n${join([state, formatReaders(place, owner)], ' · ')}`;
}

const mostAtHome = 5;

/** For the Home tab: the first few, those that need somebody before all, and a button for all. */
export function renderAtHome(rows: readonly Listed[], noun: ListWords['noun']): KnownBlock[] {
  if (rows.length === 0) return [];
  const others = rows.filter(({ own }) => !own).length;
  const stopped = others > 0 ? ` · ${formatInteger(others)} owned by others stopped` : '';
  return [
    section(
      `*${capitalize(noun)}s:* ${pluralize(rows.length - others, noun)} of yours${stopped}`,
      commandButton(`All ${noun}s`, `${noun} list`),
    ),
    ...rows
      .toSorted((a, b) => b.urgency - a.urgency)
      .slice(0, mostAtHome)
      .flatMap(renderRow),
  ];
}

/** Its lines, a menu for those who manage it, and a button for people who can take it over. */
function renderRow(row: Listed): KnownBlock[] {
  const { manages, takeOver, buttons } = row;
  const lines = section(truncateMarkup(renderLines(row), 350));
  if (!manages) return [takeOver ? { ...lines, accessory: takeOver } : lines];
  const menu = overflow(...buttons);
  return [
    { ...lines, ...(menu ? { accessory: menu } : {}) },
    // Not in the menu: its confirmation would ask for every entry.
    ...(takeOver ? [actions(takeOver)] : []),
  ];
}

/** What the person who reads a list may do with a report. */
interface Rights {
  readonly manages: boolean;
  /** Whether they own it. */
  readonly own: boolean;
}

/** A digest, and what the person who looks may do with it. */
export interface DigestRow extends Rights {
  readonly digest: Digest;
  readonly last: { readonly due: Date; readonly state: string } | undefined;
}

export function listDigest({ digest, last, manages, own }: DigestRow): Listed {
  const { id, owner, channel, schedule, paused, nextDue } = digest;
  const isStuck = canBeTakenOver(digest);
  const at = (moment: Date): string => formatRunTime(moment, schedule.zone);
  return {
    id,
    state: join(
      [
        paused
          ? `:double_vertical_bar: *paused:* ${describePause(paused.reason, paused.by)}`
          : nextDue
            ? `next ${at(nextDue)}`
            : 'not planned',
        last ? `last ${at(last.due)}: ${ends[last.state] ?? 'in progress'}` : 'has not run yet',
      ],
      ' · ',
    ),
    what: describeOrder(digest),
    place: channel,
    owner: owner.userId,
    own,
    manages,
    urgency: Number(isStuck),
    buttons: digestCard.manageButtons(digest),
    takeOver: !own && isStuck ? digestCard.takeOverButton(id) : undefined,
  };
}

export function countDigests(rows: readonly DigestRow[]) {
  const paused = rows.filter(({ digest }) => digest.paused).length;
  return {
    noun: 'digest',
    none: 'No digests yet. A digest posts a summary of your CDN on a schedule.',
    counts: [paused > 0 && `${formatInteger(paused)} paused`],
  } as const;
}

const ends: Readonly<Record<string, string>> = {
  sent: 'posted',
  quiet: 'nothing to report',
  skipped: 'skipped',
  failed: 'failed',
  unknown: 'unknown whether it arrived',
};

export function renderRunning({ id, channel }: Digest, isNew: boolean): Message {
  return say(`The digest ${formatCode(id)} is ${isNew ? '' : 'already '}on its way to <#${channel}>.`);
}

export function renderPostedAgain({ channel }: Digest): Message {
  return say(`It is on its way to <#${channel}>.`);
}

/** An alert, and what the person who looks may do with it. */
export interface AlertRow extends Rights {
  readonly alert: Alert;
  /** Its open incidents. */
  readonly open: readonly Incident[];
  /** Whether no place took the newest message about it. */
  readonly isUntold: boolean;
}

export function listAlert({ alert, open, isUntold, manages, own }: AlertRow): Listed {
  const { id, subject, channel, owner } = alert;
  const isStuck = canBeTakenOver(alert);
  return {
    id,
    state: describeAlertState(alert, open, isUntold),
    what: describeSubject(subject),
    place: channel,
    owner: owner.userId,
    own,
    manages,
    urgency: open.length * 2 + Number(isStuck),
    buttons: [button('Why', 'alerts:why', id), ...alertCard.manageButtons(alert)],
    takeOver: !own && isStuck ? alertCard.takeOverButton(id) : undefined,
  };
}

export function countAlerts(rows: readonly AlertRow[]) {
  const count = (has: (row: AlertRow) => boolean): number => rows.filter(has).length;
  const firing = count(({ open }) => open.some(({ kind }) => kind === 'firing'));
  const unreadable = count(({ open }) => open.some(({ kind }) => kind === 'unreadable'));
  const paused = count(({ alert }) => alert.paused !== undefined);
  return {
    noun: 'alert',
    none: 'No alerts yet. An alert tells you when something starts, changes or resolves.',
    sign: firing > 0 ? ':rotating_light: ' : '',
    counts: [
      firing > 0 && `${formatInteger(firing)} firing`,
      unreadable > 0 && `${formatInteger(unreadable)} can't check`,
      paused > 0 && `${formatInteger(paused)} paused`,
    ],
  } as const;
}

/** `firing since Mon 23 Nov 10:02`, `can't check since …`, `snoozed until …`, `paused`, `OK` */
function describeAlertState(
  { paused, snoozed, subject, checkedAt }: Alert,
  open: readonly Incident[],
  isUntold: boolean,
): string {
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  const untold = isUntold && ':warning: *could not be posted*';
  if (paused)
    return join(
      [`:double_vertical_bar: *paused:* ${describePause(paused.reason, paused.by)}`, untold],
      ' · ',
    );
  const [unreadable, firing] = (['unreadable', 'firing'] as const).map((kind) =>
    open.find((one) => one.kind === kind),
  );
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
  return join([state || (checkedAt && ':white_check_mark: OK'), checked], ' · ');
}
