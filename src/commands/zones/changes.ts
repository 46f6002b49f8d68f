import { UserError } from '../../errors.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import { type Message, say } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { renderChanges } from '../../views/zones/changes.ts';
import { renderUnclearZone } from '../../views/zones/rows.ts';
import type { Action, Command, Context, Feature, With } from '../define.ts';
import { splitPeriod, type TypedPeriod } from '../periods.ts';
import type { Words } from '../words.ts';
import { pickedZone } from './details.ts';
import { findKnownZones, lookUpZone } from './lookup.ts';

type Needed = 'settingsHistory' | 'zoneCache';

const changesCommand: Command<Needed> = {
  name: 'changes',
  aliases: ['changed'],
  usage: 'changes [zone] [24h|7d|30d]',
  summary: 'What changed in the settings of your zones: before and after',
  label: 'Changed settings',
  examples: ['changes', 'changes shop', 'changes 30d', 'changes shop 24h'],
  needs: 'read',
  shares: true,
  run: showTyped,
};

const changeActions: Action<Needed>[] = [
  {
    id: 'changes:show',
    needs: 'read',
    async run(value, context) {
      const [typed = '', id] = value.split(' ');
      const { period } = await readTyped({ list: typed.split('_') }, context);
      return showChanges(period, findZone(id, context), context);
    },
  },
  {
    id: 'changes:zone',
    needs: 'read',
    newMessage: true,
    async run(id, context) {
      if (!pickedZone.safeParse(id).success)
        throw new UserError('This line is no zone.', 'Pick another one, or type a part of its name.');
      return showChanges(toPeriod(undefined, context.now()), findZone(id, context), context);
    },
  },
];

/** What changed in settings since earlier looks. */
export const changes: Feature<Needed> = {
  name: 'changes',
  commands: [changesCommand],
  actions: changeActions,
};

interface Period {
  /** As it is typed, without spaces: `7d`, `2026-11-20T00:00Z..2026-11-21T00:00Z`. */
  readonly words: string;
  readonly from: Date;
  /** Undefined: until now. */
  readonly until?: Date;
}

/** As long as changes are kept. */
const longestMs = 100 * dayMs;

/** `shop last 7 days`, `yesterday shop`; a week by default. @throws UserError for words that are not a period. */
async function readTyped(words: Pick<Words, 'list' | 'quoted'>, { people, person, now }: Context) {
  const profile = await people.profile(person.userId);
  const clock = { now: now(), timeZone: profile?.timeZone ?? 'UTC' };
  const { subject, period: typed } = splitPeriod(words, clock);
  return { zone: subject.join(' '), period: toPeriod(typed, clock.now) };
}

function toPeriod(typed: TypedPeriod | undefined, now: Date): Period {
  const weekMinutes = 7 * 24 * 60;
  const last = typed ? typed.last : weekMinutes;
  const [from, until] = typed ? [typed.from, typed.to] : [now.getTime() - 7 * dayMs, now.getTime()];
  if (now.getTime() - from > longestMs + hourMs)
    throw new UserError('Changes are kept for 100 days.', 'Ask for less: `/cdn changes 100d`.');
  if (last !== undefined) return { words: writeLast(last), from: new Date(from) };
  const [start, end] = [from, until].map((at) => `${new Date(at).toISOString().slice(0, 16)}Z`);
  if (typed?.isOpen) return { words: `since_${start}`, from: new Date(from) };
  return { words: `${start}..${end}`, from: new Date(from), until: new Date(until) };
}

/** `7d`, `24h`, `90m` */
function writeLast(minutes: number): string {
  if (minutes % (24 * 60) === 0 && minutes > 24 * 60) return `${minutes / 24 / 60}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

interface ZoneName {
  readonly id: string;
  readonly name: string;
}

async function* showTyped(words: Words, context: With<Needed>): AsyncGenerator<Message, void> {
  const { zone: typed, period } = await readTyped(words, context);
  if (typed === '') {
    yield say('Comparing your zones with their last settings…');
    return yield await showChanges(period, undefined, context);
  }
  const found = await lookUpZone(typed, context);
  yield found.kind === 'one'
    ? await showChanges(period, found.zone, context)
    : renderUnclearZone(found, 'changes', period.words.replace('_', ' '));
}

/** A zone by its id, with its name where that is known already. */
function findZone(id: string | undefined, context: With<Needed>): ZoneName | undefined {
  if (!id) return undefined;
  return findKnownZones(context)?.zones.find((zone) => zone.id === id) ?? { id, name: '' };
}

/** Looks now, and shows what this look and earlier ones found. */
async function showChanges(
  { words, from, until }: Period,
  zone: ZoneName | undefined,
  context: With<Needed>,
): Promise<Message> {
  const { person, settingsHistory, now, panel } = context;
  const look = await settingsHistory.look(person, await context.cdn(), zone && [zone]);
  const asOf = now();
  // As many as a table takes.
  const found = await settingsHistory.list(person, { from, until, zones: zone && [zone.id], most: 100 });
  if (look.missing.length > 0 && found.total === 0)
    throw new UserError(
      `There is no zone ${formatCode(zone?.id ?? '', 40)} among those that your key sees.`,
      'Type `/cdn zones` for the list as it is now.',
    );
  const name = zone?.name || found.changes[0]?.zoneName || '';
  const shown = zone && { id: zone.id, name };
  return renderChanges({ ...found, look, zone: shown, period: words, from, until, asOf, panel });
}
