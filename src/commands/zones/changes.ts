import { UserError } from '../../errors.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import { type Message, say } from '../../views/blocks/blocks.ts';
import { renderChanges } from '../../views/zones/changes.ts';
import { renderUnclearZone } from '../../views/zones/rows.ts';
import type { Context, Feature } from '../define.ts';
import { splitPeriod } from '../periods.ts';
import type { Words } from '../words.ts';
import { createMissingError, lookUpZone, nameZone, readZoneNames, type ZoneName } from './lookup.ts';
import { readPickedZone } from './zones.ts';

export const changes: Feature = {
  name: 'changes',
  commands: [
    {
      name: 'changes',
      aliases: ['changed'],
      usage: 'changes [zone] [24h|7d|30d]',
      summary: 'What changed in the settings of your zones: before and after',
      label: 'Changed settings',
      examples: ['changes', 'changes shop', 'changes 30d', 'changes shop 24h'],
      needs: 'read',
      shares: true,
      run: showTyped,
    },
  ],
  actions: [
    {
      id: 'changes:show',
      needs: 'read',
      async run(value, context) {
        const [typed = '', id] = value.split(' ');
        const { period } = await readTyped({ list: typed.split('_') }, context);
        return showChanges(period, id ? nameZone(id, context) : undefined, context);
      },
    },
    {
      id: 'changes:zone',
      needs: 'read',
      newMessage: true,
      async run(id, context) {
        const { period } = await readTyped({ list: [] }, context);
        return showChanges(period, nameZone(readPickedZone(id), context), context);
      },
    },
  ],
};

/** As it is typed, without spaces: `7d`, `2026-11-20T00:00Z..2026-11-21T00:00Z`; without `until` it ends now. */
type Period = { readonly words: string; readonly from: Date; readonly until?: Date };

/** `shop last 7 days`, `yesterday shop`; a week by default. @throws UserError for words that are not a period. */
async function readTyped(
  words: Pick<Words, 'list' | 'quoted'>,
  { people, person, now }: Context,
): Promise<{ readonly zone: string; readonly period: Period }> {
  const profile = await people.profile(person.userId);
  const clock = { now: now(), timeZone: profile?.timeZone ?? 'UTC' };
  const { subject, period } = splitPeriod(words, clock);
  const to = clock.now.getTime();
  const typed = period ?? { from: to - 7 * dayMs, to, last: 7 * 24 * 60 };
  const from = new Date(typed.from);
  if (to - typed.from > 100 * dayMs + hourMs)
    throw new UserError('Changes are kept for 100 days.', 'Ask for less: `/cdn changes 100d`.');
  const zone = subject.join(' ');
  if (typed.last !== undefined) return { zone, period: { words: writeLast(typed.last), from } };
  const [start, end] = [typed.from, typed.to].map((at) => `${new Date(at).toISOString().slice(0, 16)}Z`);
  if (typed.isOpen) return { zone, period: { words: `since_${start}`, from } };
  return { zone, period: { words: `${start}..${end}`, from, until: new Date(typed.to) } };
}

/** `7d`, `24h`, `90m` */
function writeLast(minutes: number): string {
  if (minutes % (24 * 60) === 0 && minutes > 24 * 60) return `${minutes / 24 / 60}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

async function* showTyped(words: Words, context: Context): AsyncGenerator<Message, void> {
  const { zone: typed, period } = await readTyped(await readZoneNames(words, [], context), context);
  if (typed === '') {
    yield say('Comparing your zones with their last settings…');
    return yield await showChanges(period, undefined, context);
  }
  const found = await lookUpZone(typed, context);
  yield found.kind === 'one'
    ? await showChanges(period, found.zone, context)
    : renderUnclearZone(found, 'changes', period.words.replace('_', ' '));
}

async function showChanges(
  { words, from, until }: Period,
  zone: ZoneName | undefined,
  context: Context,
): Promise<Message> {
  const { person, settingsHistory, now, panel } = context;
  const look = await settingsHistory.look(person, await context.cdn(), zone && [zone]);
  const asOf = now();
  // As many as a table takes.
  const found = await settingsHistory.list(person, { from, until, zones: zone && [zone.id], most: 100 });
  if (zone && look.missing.length > 0 && found.total === 0) throw createMissingError(zone.id);
  const name = zone?.name || found.changes[0]?.zoneName || '';
  const shown = zone && { id: zone.id, name };
  return renderChanges({ ...found, look, zone: shown, period: words, from, until, asOf, panel });
}
