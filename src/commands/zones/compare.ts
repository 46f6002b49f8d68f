import { createSecretKey, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { CdnClient } from '../../api/cdn.ts';
import type { DigestKeys, ZoneSettings } from '../../api/zones/settings.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { renderCompareForm, renderComparison } from '../../views/zones/compare.ts';
import { quoteWord, renderUnclearZone } from '../../views/zones/rows.ts';
import { type Command, defineForm, type Feature, type With } from '../define.ts';
import type { Words } from '../words.ts';
import { pickedZone } from './details.ts';
import { findKnownZones, lookUpZone } from './lookup.ts';

const compareCommand: Command<'zoneCache'> = {
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
    return second === undefined ? renderCompareForm(first) : undefined;
  },
  async run(words, context) {
    const { first = '', second = '', all } = readTyped(words);
    const behind = all ? 'all' : '';
    const one = await lookUpZone(first, context);
    if (one.kind !== 'one') return renderUnclearZone(one, 'compare', `${quoteWord(second)} ${behind}`.trim());
    const other = await lookUpZone(second, context);
    if (other.kind !== 'one') return renderUnclearZone(other, `compare ${one.zone.id}`, behind);
    return compareZones([one.zone, other.zone], all, context);
  },
};

/** Two zones side by side. */
export const compare: Feature<'zoneCache'> = {
  name: 'compare',
  commands: [compareCommand],
  actions: [
    {
      // The other of its two pictures, read again, in its place.
      id: 'compare:show',
      needs: 'read',
      run(value, context) {
        const [first = '', second = '', all] = value.split(' ');
        return compareZones([findZone(first, context), findZone(second, context)], all === 'all', context);
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
      run: ({ zone, otherZone }, context: With<'zoneCache'>) =>
        compareZones([findZone(zone, context), findZone(otherZone, context)], false, context),
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

interface ZoneName {
  readonly id: string;
  readonly name: string;
}

function findZone(id: string, context: With<'zoneCache'>): ZoneName {
  return findKnownZones(context)?.zones.find((zone) => zone.id === id) ?? { id, name: '' };
}

async function compareZones(
  zones: readonly [ZoneName, ZoneName],
  all: boolean,
  context: With<'zoneCache'>,
): Promise<Message> {
  return renderComparison({ zones: await readTwoZones(zones, context), all, asOf: context.now() });
}

/** The settings of two zones. @throws UserError where they are one, or the key does not see one of them */
export async function readTwoZones(
  zones: readonly [ZoneName, ZoneName],
  context: With<'zoneCache'>,
): Promise<readonly [ZoneSettings, ZoneSettings]> {
  const [one, other] = zones;
  if (one.id === other.id) throw new UserError('That is one zone.', 'Name another one to compare it with.');
  const cdn = await context.cdn();
  // Of this comparison alone: it says whether two secrets are the same, and nothing about either.
  const digestKeys: DigestKeys = { keys: [createSecretKey(randomBytes(32))], acrossZones: true };
  const [a, b] = await Promise.all(zones.map((zone) => readZoneSettings(cdn, zone, digestKeys)));
  if (!a || !b)
    throw new UserError(
      `There is no zone ${formatCode((a ? other : one).id, 40)} among those that your key sees.`,
      'Type `/cdn zones` for the list as it is now.',
    );
  return [a, b];
}

/** A zone's name narrows the CDN's answer; a renamed one is found by its id alone. */
async function readZoneSettings(
  { pullZones }: CdnClient,
  { id, name }: ZoneName,
  digestKeys: DigestKeys,
): Promise<ZoneSettings | undefined> {
  const read = async (search?: string): Promise<ZoneSettings | undefined> => {
    let found: ZoneSettings | undefined;
    await pullZones.settings({
      search,
      digestKeys,
      wants: (one) => one === id,
      project: (settings) => (found = settings),
      enough: () => found !== undefined,
    });
    return found;
  };
  return (name && (await read(name))) || read();
}
