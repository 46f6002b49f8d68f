import { type DigestKindName, digestKinds, findDigestKind } from '../../../commands/reports/digests/kinds.ts';
import type { DigestOrder, DigestSubject, Threshold } from '../../../commands/reports/model.ts';
import { formatInteger } from '../../blocks/format.ts';
import { join } from '../../blocks/text.ts';
import { nameTargets, targetNouns } from '../words.ts';
import { describeSchedule, joinWords } from './schedule.ts';

/** `Zones overview, origin errors every workday at 09:00, Europe/Vienna, only if something changed`. */
export function describeOrder(order: Omit<DigestOrder, 'channel'>): string {
  const { subject, schedule } = order;
  const threshold = describeThreshold(subject.only, subject.kinds);
  const when = `${describeTargets(subject) && ' ·'} ${describeSchedule(schedule)}`;
  return join([`${describeKinds(order)}${when}`, threshold], ', ');
}

/** `Zones overview, origin errors of shop, api` */
export function describeKinds({ subject }: Pick<DigestOrder, 'subject'>): string {
  const [first = '', ...others] = subject.kinds.map((name) => findDigestKind(name).label);
  const what = [first, ...others.map((label) => label.toLowerCase())].join(', ');
  return join([what, describeTargets(subject)], ' · ');
}

/** `shop, api and app checkout`; empty where it covers everything. */
export function describeTargets({ targets, called }: DigestSubject): string {
  const types = ['zones', 'shieldZones', 'apps'] as const;
  return joinWords(
    types.map((type) => nameTargets(targets[type], called, targetNouns[type])).filter(Boolean),
  );
}

/** `only above 10 origin errors`; empty for always. */
export function describeThreshold(only: Threshold, kinds: readonly DigestKindName[]): string {
  if (only === 'always') return '';
  if (only === 'changed') return 'only if something changed';
  if (only === 'new') return 'only what is new';
  return only.above === 0
    ? `only if there are any ${listTroubles(kinds, 'or')}`
    : `only above ${formatInteger(only.above)} ${describeTroubles(kinds)}`;
}

/** The unit of “above N” for these kinds: `origin errors and failing apps together`. */
export function describeTroubles(kinds: readonly DigestKindName[]): string {
  return `${listTroubles(kinds, 'and')}${kinds.length > 1 ? ' together' : ''}`;
}

function listTroubles(kinds: readonly DigestKindName[], joint: 'and' | 'or'): string {
  const words = digestKinds.filter(({ name }) => kinds.includes(name)).map(({ troubles }) => troubles);
  return joinWords(words, joint) || 'troubles';
}
