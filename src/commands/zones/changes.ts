import { createSecretKey, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ZoneSettings } from '../../api/zones/settings.ts';
import { UserError } from '../../errors.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import { type Message, say } from '../../views/blocks/blocks.ts';
import { type Period, rollBack, writeMovingPeriod } from '../../views/blocks/period.ts';
import {
  endsOf,
  renderChanges,
  renderCompareForm,
  renderComparison,
  type ShownChanges,
} from '../../views/zones/changes.ts';
import { quoteWord, renderUnclearZone } from '../../views/zones/rows.ts';
import { type Context, defineForm, type Feature } from '../define.ts';
import { type PeriodClock } from '../moments.ts';
import { splitZone } from '../periods.ts';
import type { Words } from '../words.ts';
import { inflate, readSettings, unpackSettings } from './history.ts';
import {
  createMissingError,
  loadAllZones,
  lookUpZone,
  nameZone,
  readZoneNames,
  type ZoneName,
} from './lookup.ts';
import { pickedZone, readPickedZone } from './zones.ts';

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

/** `shop last 7 days`, `yesterday shop`; a week by default. @throws UserError for words that are not a period. */
async function readTyped(
  words: Pick<Words, 'list' | 'quoted'>,
  { people, person, now }: Context,
): Promise<{ readonly zone: string; readonly period: Period }> {
  const profile = await people.profile(person.userId);
  const clock: PeriodClock = {
    now: now(),
    timeZone: profile?.timeZone ?? 'UTC',
    command: 'changes',
  };
  const { zone, period = rollBack(7 * 24 * 60, clock.now) } = splitZone(words, clock);
  if (clock.now.getTime() - period.from > 100 * dayMs + hourMs)
    throw new UserError('Changes are kept for 100 days.', 'Try a shorter period: `/cdn changes 100d`.');
  return { zone, period };
}

async function* showTyped(words: Words, context: Context): AsyncGenerator<Message, void> {
  const { zone: typed, period } = await readTyped(await readZoneNames(words, ['page'], context), context);
  const page = Number(words.named['page'] ?? 1);
  if (typed === '') {
    yield say('Comparing your zones with their last settings…');
    return yield await showChanges(period, undefined, context, page);
  }
  const found = await lookUpZone(typed, context);
  yield found.kind === 'one'
    ? await showChanges(period, found.zone, context, page)
    : renderUnclearZone(found, 'changes', writeMovingPeriod(period));
}

async function showChanges(
  period: Period,
  zone: ZoneName | undefined,
  context: Context,
  page?: number,
): Promise<Message> {
  return renderChanges({ ...(await readChanges(period, zone, context)), page });
}

/** Compares settings now, and lists the changes of the period. @throws UserError for a zone that the key does not see */
export async function readChanges(
  period: Period,
  zone: ZoneName | undefined,
  { person, cdn, settingsHistory, now, panel }: Context,
): Promise<ShownChanges> {
  const look = await settingsHistory.look(person, await cdn(), zone && [zone]);
  const asOf = now();
  const zones = zone && [zone.id];
  const { from, until } = endsOf(period, asOf);
  const found = await settingsHistory.list(person, { from, until, zones, most: 100 });
  if (zone && look.missing.length > 0 && found.total === 0) throw createMissingError(zone.id);
  const name = zone?.name || found.changes[0]?.zoneName || '';
  return { ...found, look, zone: zone && { id: zone.id, name }, period, asOf, panel };
}

export const compare: Feature = {
  name: 'compare',
  commands: [
    {
      name: 'compare',
      aliases: ['diff'],
      usage: 'compare <zone> <zone> [all]',
      summary: 'The settings of two zones side by side: those that differ, or all',
      label: 'Compare two zones',
      examples: ['compare shop shop-staging', 'compare shop docs all'],
      needs: 'read',
      shares: true,
      modal: (words) => {
        const { names } = readSides(words);
        return names.length < 2 ? renderCompareForm(names[0]) : undefined;
      },
      async run(words, context) {
        if (readSides(words).names.length > 2) await loadAllZones(context);
        const { names, all } = readSides(await readZoneNames(words, ['page'], context));
        const [first = '', second, ...others] = names;
        if (others.length > 0)
          throw new UserError('Only two zones can be compared at a time.', 'Type `/cdn compare shop docs`.');
        if (second === undefined)
          throw new UserError('The second zone is missing.', 'Type both: `/cdn compare shop docs`.');
        const behind = all ? 'all' : '';
        const one = await lookUpZone(first, context);
        if (one.kind !== 'one')
          return renderUnclearZone(one, 'compare', `${quoteWord(second)} ${behind}`.trim());
        const other = await lookUpZone(second, context);
        if (other.kind !== 'one') return renderUnclearZone(other, `compare ${one.zone.id}`, behind);
        return compareZones([one.zone, other.zone], all, context, Number(words.named['page'] ?? 1));
      },
    },
  ],
  forms: [
    defineForm({
      id: 'compare:submit',
      needs: 'read',
      again: () => ['help:run', 'compare'],
      fields: z
        .object({ zone: pickedZone, otherZone: pickedZone })
        .refine(({ zone, otherZone }) => zone !== otherZone, {
          path: ['otherZone'],
          error: 'Pick another zone.',
        }),
      run: ({ zone, otherZone }, context: Context) =>
        compareZones([nameZone(zone, context), nameZone(otherZone, context)], false, context),
    }),
  ],
};

/** `shop docs`, `shop and docs all`, `my big shop vs docs`: the words around `and`, or else each word. */
function readSides({ tokens }: Words) {
  // A zone may be called `video:live`.
  const typed = tokens.flatMap(({ name, text }) => (text === '' || name === 'page' ? [] : text));
  const all = typed.length > 2 && typed.at(-1)?.toLowerCase() === 'all';
  const sides: string[][] = [[]];
  for (const word of all ? typed.slice(0, -1) : typed)
    if (/^(?:and|with|to|vs\.?)$/iu.test(word)) sides.push([]);
    else sides.at(-1)?.push(word);
  const named = sides.filter((words) => words.length > 0).map((words) => words.join(' '));
  return { names: named.length > 1 ? named : sides.flat(), all };
}

async function compareZones(
  zones: readonly [ZoneName, ZoneName],
  all: boolean,
  context: Context,
  page?: number,
): Promise<Message> {
  return renderComparison(await readTwoZones(zones, context), all, context.now(), page);
}

/** The settings of two zones. @throws UserError where they are one, or the key does not see one of them */
export async function readTwoZones(
  [one, other]: readonly [ZoneName, ZoneName],
  context: Context,
): Promise<readonly [ZoneSettings, ZoneSettings]> {
  if (one.id === other.id) throw new UserError('That is one zone.', 'Name another one to compare it with.');
  const cdn = await context.cdn();
  // Of this comparison alone: it says whether two secrets are the same, and nothing about either.
  const digestKey = { key: createSecretKey(randomBytes(32)), acrossZones: true } as const;
  const read = async (zone: ZoneName) => {
    const { changed } = await readSettings(cdn, digestKey, [zone]);
    const settings = changed[0] && unpackSettings(inflate(changed[0]));
    if (!settings) throw createMissingError(zone.id);
    return settings;
  };
  return Promise.all([read(one), read(other)]);
}
