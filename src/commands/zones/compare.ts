import { createSecretKey, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ZoneSettings } from '../../api/zones/settings.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { renderCompareForm, renderComparison } from '../../views/zones/changes.ts';
import { quoteWord, renderUnclearZone } from '../../views/zones/rows.ts';
import { type Context, defineForm, type Feature } from '../define.ts';
import type { Words } from '../words.ts';
import { readSettings, unpackSettings } from './history.ts';
import { createMissingError, lookUpZone, nameZone, type ZoneName } from './lookup.ts';
import { pickedZone } from './zones.ts';

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
        const { first, second } = readTyped(words);
        return second ? undefined : renderCompareForm(first);
      },
      async run(words, context) {
        const { first = '', second = '', all } = readTyped(words);
        if (second === '')
          throw new UserError('The second zone is missing.', 'Type both: `/cdn compare shop docs`.');
        const behind = all ? 'all' : '';
        const one = await lookUpZone(first, context);
        if (one.kind !== 'one')
          return renderUnclearZone(one, 'compare', `${quoteWord(second)} ${behind}`.trim());
        const other = await lookUpZone(second, context);
        if (other.kind !== 'one') return renderUnclearZone(other, `compare ${one.zone.id}`, behind);
        return compareZones([one.zone, other.zone], all, context);
      },
    },
  ],
  actions: [
    {
      // The other of its two pictures, read again, in its place.
      id: 'compare:show',
      needs: 'read',
      run(value, context) {
        const [first = '', second = '', all] = value.split(' ');
        return compareZones([nameZone(first, context), nameZone(second, context)], all === 'all', context);
      },
    },
  ],
  forms: [
    defineForm({
      id: 'compare:submit',
      needs: 'read',
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

function readTyped({ list }: Words) {
  const words = list.filter((word) => !/^(?:and|with|to|vs\.?)$/iu.test(word));
  const all = words.length > 2 && words.at(-1)?.toLowerCase() === 'all';
  const [first, second, ...more] = all ? words.slice(0, -1) : words;
  if (more.length > 0)
    throw new UserError('Two zones are compared at a time.', 'Type `/cdn compare shop docs`.');
  return { first, second, all };
}

async function compareZones(
  zones: readonly [ZoneName, ZoneName],
  all: boolean,
  context: Context,
): Promise<Message> {
  return renderComparison(await readTwoZones(zones, context), all, context.now());
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
    const settings = changed[0] && unpackSettings(changed[0].body);
    if (!settings) throw createMissingError(zone.id);
    return settings;
  };
  return Promise.all([read(one), read(other)]);
}
