import type { Button, ExternalSelect, StaticSelect } from '@slack/types';
import { shiftDay } from '../../lib/time.ts';
import { findMoment } from '../../lib/time-zone.ts';
import { plain } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { selectOf } from '../blocks/menu-of-buttons.ts';
import { quoteWord } from '../zones/rows.ts';
import { createClock } from './clock.ts';
import { createPeriod, encodePeriod, namePeriod, type Period } from './period.ts';
import { encodeQuestion, type Question, writeQuestion } from './question.ts';

const minutes = (last: number): Period => ({
  // A button says only how many; they are counted back from its press.
  days: { first: '', count: 1 },
  span: { from: 0, to: 0, last },
});

/** The same question about other times. `more` goes into the value of each. */
export function renderPeriodMenu(
  question: Question,
  view: { readonly today: string; readonly timeZone: string | undefined },
  more: Readonly<Record<string, string>> = {},
): StaticSelect | undefined {
  const { period } = question;
  const { today } = view;
  const { zone: timeZone } = createClock(view.timeZone);
  const yesterday = shiftDay(today, -1);
  const localDay = (first: string): Period => {
    if (timeZone === 'UTC') return { days: { first, count: 1 } };
    const [from, to] = [first, shiftDay(first, 1)].map((one) => findMoment(timeZone, one).getTime());
    const span = { from: from ?? 0, to: to ?? 0 };
    return createPeriod(first === today ? { ...span, isOpen: true } : span);
  };
  const offered: [label: string, id: string, period: Period][] = [
    ['Today', 'today', localDay(today)],
    ['Last hour', 'hour', minutes(60)],
    ['Last 24 hours', 'hours', minutes(24 * 60)],
    ['Yesterday', 'yesterday', localDay(yesterday)],
    ['Last 3 days', 'three', minutes(3 * 24 * 60)],
    ['Last 7 days', 'seven', minutes(7 * 24 * 60)],
  ];
  const key = JSON.stringify(encodePeriod(period));
  const known = offered.find(([, , one]) => JSON.stringify(encodePeriod(one)) === key);
  const chosen = known?.[0] ?? namePeriod(period, createClock(view.timeZone));
  if (!known) offered.push([chosen, 'same', period]);
  const { first, count } = period.days;
  if (!period.span && count === 1 && first < yesterday)
    offered.push(['The day before', 'before', { days: { first: shiftDay(first, -1), count: 1 } }]);
  const action = question.zone ? 'origin-errors:day' : 'origin-errors:zones';
  return selectOf(
    chosen,
    offered.map(([label, id, other]) =>
      button(label, `${action}:${id}`, encodeQuestion({ ...question, period: other }, more)),
    ),
    { chosen, nth: 1 },
  );
}

/** The same question about all zones. */
export function allZonesButton(question: Question): Button {
  return button('All zones', 'origin-errors:zones', encodeQuestion({ ...question, zone: undefined }));
}

/** Any zone, by a menu with search; the action's id has the words behind the zone. */
export function pickZone(question: Question): ExternalSelect {
  const [, , ...behind] = writeQuestion(question, { fixed: false }).split(' ');
  return {
    type: 'external_select',
    action_id: `origin-errors:pick:${behind.join(' ')}`,
    placeholder: plain('Another zone…'),
    min_query_length: 0,
  };
}

/** The typed command of a choice in that menu. */
export function readZonePick(actionId: string, chosen: string): string {
  return `errors ${quoteWord(chosen)} ${actionId.split(':').slice(2).join(':')}`.trim();
}
