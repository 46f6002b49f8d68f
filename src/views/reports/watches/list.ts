import type { KnownBlock } from '@slack/types';
import type { BudgetState } from '../../../commands/reports/accounts/budget.ts';
import { canBeTakenOver } from '../../../commands/reports/schedules/model.ts';
import { findCondition } from '../../../commands/reports/watches/conditions/list.ts';
import type { Incident, Watch } from '../../../commands/reports/watches/model.ts';
import { actions, context, limits, type Message, message, say, section } from '../../blocks/blocks.ts';
import { button, commandButton } from '../../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../../blocks/format.ts';
import { overflow, selectOf } from '../../blocks/menu-of-buttons.ts';
import { renderTable } from '../../blocks/table.ts';
import { formatCode, join, plainText } from '../../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { describeBudget, describePause } from '../schedules/words.ts';
import { formatReaders, watchCustody } from './custody.ts';
import { describeCondition, describeEvery, describeSubject } from './words.ts';

/** A watch, and what the person who looks may do with it. */
export interface Row {
  readonly watch: Watch;
  /** Its open incidents. */
  readonly open: readonly Incident[];
  readonly manages: boolean;
  /** Whether they own it. */
  readonly own: boolean;
}

/** As many can be taken over by a press below the list. */
const mostOrphans = 2;

export function renderWatchList(
  rows: readonly Row[],
  { budget, asOf }: { readonly budget: BudgetState; readonly asOf: Date },
): Message {
  const create = commandButton('New watch', 'watch new', 0, { style: 'primary' });
  if (rows.length === 0) {
    const text = 'No watches yet: a watch tells when something begins, changes or ends.';
    return say(text, actions(create));
  }
  const count = (has: (row: Row) => boolean): number => rows.filter(has).length;
  const wrong = count(({ open }) => open.some(({ kind }) => kind === 'wrong'));
  const blind = count(({ open }) => open.some(({ kind }) => kind === 'blind'));
  const paused = count(({ watch }) => watch.paused !== undefined);
  const text = join(
    [
      pluralize(rows.length, 'watch', 'watches'),
      wrong > 0 && `${pluralize(wrong, 'incident')} open`,
      blind > 0 && `${formatInteger(blind)} cannot look`,
      paused > 0 && `${formatInteger(paused)} paused`,
    ],
    ', ',
  );
  const orphans = rows.filter(({ watch, own }) => !own && canBeTakenOver(watch));
  return message(text, [
    section(`${wrong > 0 ? ':rotating_light: ' : ''}*${text}*`),
    ...renderTable({
      caption: 'Watches',
      columns: ['Watch', 'State', 'Last look', 'Where', 'Owner', 'Looks for', 'Id'],
      rows: rows
        .toSorted((a, b) => b.open.length - a.open.length)
        .map(({ watch, open }) => [
          findCondition(watch.subject.condition).label,
          describeState(watch, open),
          watch.lookedAt ? formatRunTime(watch.lookedAt, watch.subject.timeZone) : 'not yet',
          { parts: [/^[UW]/u.test(watch.channel) ? { person: watch.channel } : { channel: watch.channel }] },
          { person: watch.owner.userId },
          describeSubject(watch.subject),
          watch.id,
        ]),
    }),
    actions(
      create,
      selectOf(
        'Look, pause, edit…',
        rows
          .filter(({ manages }) => manages)
          .map(({ watch }) => ({
            label: plainText(`${watch.id} · ${findCondition(watch.subject.condition).label}`, limits.option),
            buttons: [button('Why', 'watches:why', watch.id), ...watchCustody.manageButtons(watch)],
          })),
      ),
      ...orphans
        .slice(0, mostOrphans)
        .map(({ watch: { id } }) => watchCustody.takeOverButton(id, `Take over ${id}`)),
    ),
    context([describeBudget(budget), `as of ${formatMoment(asOf)}`]),
  ]);
}

/** `wrong since Mon 23 Nov 10:02`, `cannot look since …`, `quiet until …`, `paused`, `fine` */
function describeState({ paused, snoozed, subject, lookedAt }: Watch, open: readonly Incident[]): string {
  if (paused) return paused.reason === 'by-hand' ? 'paused' : `paused: ${describePause(paused.reason)}`;
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  const [blind, wrong] = (['blind', 'wrong'] as const).map((kind) => open.find((one) => one.kind === kind));
  const state = join(
    [
      blind && `cannot look since ${at(blind.openedAt)}`,
      wrong && `wrong since ${at(wrong.openedAt)}`,
      snoozed && `quiet until ${at(snoozed.until)}`,
    ],
    ', ',
  );
  return state || (lookedAt ? 'fine' : 'has not looked yet');
}

const mostAtHome = 5;

/** For the Home tab: the first few, those that speak before all, and a button for all. */
export function watchesAtHome(rows: readonly Row[]): KnownBlock[] {
  if (rows.length === 0) return [];
  const others = rows.filter(({ own }) => !own).length;
  const stopped = others > 0 ? ` · ${others} of others’ stopped` : '';
  const urgency = ({ open, watch }: Row): number => open.length * 2 + Number(canBeTakenOver(watch));
  return [
    section(
      `*Watches:* ${pluralize(rows.length - others, 'watch', 'watches')} of yours${stopped}`,
      commandButton('All watches', 'watch list'),
    ),
    ...rows
      .toSorted((a, b) => urgency(b) - urgency(a))
      .slice(0, mostAtHome)
      .flatMap(renderRow),
  ];
}

function renderRow({ watch, open, manages, own }: Row): KnownBlock[] {
  const { id, subject, channel, owner } = watch;
  const sign = open.length > 0 ? ':rotating_light: ' : '';
  const state = sign + describeState(watch, open);
  const row = section(
    `${formatCode(id)} ${describeCondition(subject)}\n${formatReaders(channel, owner.userId)} · ${describeEvery(subject.every)} · ${state}`,
  );
  const isOrphaned = !own && canBeTakenOver(watch);
  if (!manages) return [isOrphaned ? { ...row, accessory: watchCustody.takeOverButton(id) } : row];
  const menu = overflow(button('Why', 'watches:why', id), ...watchCustody.manageButtons(watch));
  return [
    { ...row, ...(menu ? { accessory: menu } : {}) },
    // Not in the menu: its confirmation would ask for every entry.
    ...(isOrphaned ? [actions(watchCustody.takeOverButton(id))] : []),
  ];
}
