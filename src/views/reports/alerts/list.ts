import { type Alert, canBeTakenOver, type Incident } from '../../../commands/reports/model.ts';
import { button } from '../../blocks/buttons.ts';
import { formatInteger } from '../../blocks/format.ts';
import { join } from '../../blocks/text.ts';
import { alertCard } from '../card.ts';
import { formatRunTime } from '../digests/schedule.ts';
import type { Listed } from '../list.ts';
import { describePause } from '../words.ts';
import { describeSubject, nameAlert } from './words.ts';

/** An alert, and what the person who looks may do with it. */
export interface Row {
  readonly alert: Alert;
  /** Its open incidents. */
  readonly open: readonly Incident[];
  /** Whether no place took the newest message about it. */
  readonly isUntold: boolean;
  readonly manages: boolean;
  /** Whether they own it. */
  readonly own: boolean;
}

export function listAlert({ alert, open, isUntold, manages, own }: Row): Listed {
  const { id, subject, channel, owner } = alert;
  const isStuck = canBeTakenOver(alert);
  return {
    id,
    name: nameAlert(subject),
    state: describeState(alert, open, isUntold),
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

export function countAlerts(rows: readonly Row[]) {
  const count = (has: (row: Row) => boolean): number => rows.filter(has).length;
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
function describeState(
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
