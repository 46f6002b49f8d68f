import type { KnownBlock } from '@slack/types';
import type { BudgetState } from '../../../commands/reports/accounts/budget.ts';
import type { Digest } from '../../../commands/reports/digests/model.ts';
import { canBeTakenOver } from '../../../commands/reports/schedules/model.ts';
import { actions, context, limits, type Message, message, say, section } from '../../blocks/blocks.ts';
import { commandButton } from '../../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../../blocks/format.ts';
import { selectOf } from '../../blocks/menu-of-buttons.ts';
import { renderTable } from '../../blocks/table.ts';
import { formatCode, join, plainText } from '../../blocks/text.ts';
import { describeBudget, describePause } from '../schedules/words.ts';
import { digestCustody, ends, type Row, renderDigestRow } from './custody.ts';
import { describeSchedule, formatRunTime } from './schedule.ts';
import { describeKinds, describeThreshold } from './words.ts';

/** As many can be taken over by a press below the list. */
const mostOrphans = 2;

export function renderDigestList(
  rows: readonly Row[],
  { budget, asOf }: { readonly budget: BudgetState; readonly asOf: Date },
): Message {
  const create = commandButton('New digest', 'digest new', 0, { style: 'primary' });
  if (rows.length === 0) {
    const text = 'No digests yet: a digest posts how your CDN does, when you want it.';
    return say(text, actions(create));
  }
  const paused = rows.filter(({ digest }) => digest.paused).length;
  const text = `${pluralize(rows.length, 'digest')}${paused > 0 ? `, ${formatInteger(paused)} paused` : ''}`;
  const orphans = rows.filter(({ digest, own }) => !own && canBeTakenOver(digest));
  return message(text, [
    section(`*${text}*`),
    ...renderTable({
      caption: 'Digests',
      columns: ['Digest', 'Next', 'Where', 'Owner', 'Last', 'When', 'Id'],
      rows: rows.map(({ digest, last }) => [
        describeKinds(digest),
        describeState(digest),
        { parts: [{ channel: digest.channel }] },
        { person: digest.owner.userId },
        describeLast(digest, last),
        join(
          [describeSchedule(digest.schedule), describeThreshold(digest.subject.only, digest.subject.kinds)],
          ', ',
        ),
        digest.id,
      ]),
    }),
    actions(
      create,
      selectOf(
        'Run, pause, edit…',
        rows
          .filter(({ manages }) => manages)
          .map(({ digest }) => ({
            label: plainText(`${digest.id} · ${describeKinds(digest)}`, limits.option),
            buttons: digestCustody.manageButtons(digest),
          })),
      ),
      ...orphans
        .slice(0, mostOrphans)
        .map(({ digest: { id } }) => digestCustody.takeOverButton(id, `Take over ${id}`)),
    ),
    context([rows.some(({ own }) => own) && describeBudget(budget), `as of ${formatMoment(asOf)}`]),
  ]);
}

function describeState({ paused, nextDue, schedule }: Digest): string {
  if (paused) return paused.reason === 'by-hand' ? 'paused' : `paused: ${describePause(paused.reason)}`;
  return nextDue ? formatRunTime(nextDue, schedule.zone) : 'not planned';
}

function describeLast({ schedule }: Digest, last: Row['last']): string {
  return last ? `${ends[last.state] ?? 'under way'}, ${formatRunTime(last.due, schedule.zone)}` : 'never';
}

const mostAtHome = 5;

const isStuck = ({ digest }: Row): number => Number(canBeTakenOver(digest));

/** For the Home tab: the first few, those that can be taken over before all, and a button for all. */
export function digestsAtHome(rows: readonly Row[]): KnownBlock[] {
  if (rows.length === 0) return [];
  const others = rows.filter(({ own }) => !own).length;
  const stopped = others > 0 ? ` · ${others} of others’ stopped` : '';
  const shown = rows.toSorted((a, b) => isStuck(b) - isStuck(a));
  return [
    section(
      `*Digests:* ${pluralize(rows.length - others, 'digest')} of yours${stopped}`,
      commandButton('All digests', 'digest list'),
    ),
    ...shown.slice(0, mostAtHome).flatMap(renderDigestRow),
  ];
}

export function renderRunning({ id, channel }: Digest, isNew: boolean): Message {
  return say(`The digest ${formatCode(id)} is ${isNew ? '' : 'already '}on its way to <#${channel}>.`);
}

export function renderPostedAgain({ channel }: Digest): Message {
  return say(`It is on its way to <#${channel}>.`);
}
