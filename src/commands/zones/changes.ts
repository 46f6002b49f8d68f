import { UserError } from '../../errors.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import { type Message, say } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { renderChanges } from '../../views/zones/changes.ts';
import { renderUnclearZone } from '../../views/zones/rows.ts';
import type { Action, Command, Feature, With } from '../define.ts';
import type { Words } from '../words.ts';
import { pickedZone } from './details.ts';
import { findKnownZones, lookUpZone } from './lookup.ts';

type Needed = 'settingsHistory' | 'zoneCache';

const changesCommand: Command<Needed> = {
  name: 'changes',
  aliases: ['changed'],
  usage: 'changes [zone] [24h|7d|30d]',
  summary:
    'What changed in the settings of your zones: before and after, found by comparing with the last look',
  label: 'Changed settings',
  examples: ['changes', 'changes shop', 'changes 30d', 'changes shop 24h'],
  needs: 'read',
  shares: true,
  run: (words, context) => showTyped(readTyped(words), context),
};

const changeActions: Action<Needed>[] = [
  {
    id: 'changes:show',
    needs: 'read',
    run(value, context) {
      const [typed = '', id] = value.split(' ');
      return showChanges(readPeriod([typed]) ?? weekOf, findZone(id, context), context);
    },
  },
  {
    id: 'changes:zone',
    needs: 'read',
    newMessage: true,
    async run(id, context) {
      if (!pickedZone.safeParse(id).success)
        throw new UserError('This line is no zone.', 'Pick another one, or type a part of its name.');
      return showChanges(weekOf, findZone(id, context), context);
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
  /** `7d` */
  readonly words: string;
  readonly ms: number;
}

const unitMs: Readonly<Record<string, number>> = { h: hourMs, d: dayMs, w: 7 * dayMs };
const weekOf: Period = { words: '7d', ms: 7 * dayMs };
/** As long as changes are kept. */
const longestMs = 100 * dayMs;

/** `7d`, `last 7 days`, `today`: undefined where the words are no period. @throws UserError for one that is too long. */
function readPeriod(words: readonly string[]): Period | undefined {
  const typed = words.join(' ').toLowerCase();
  if (typed === 'today') return { words: '24h', ms: dayMs };
  const shape = /^(?:(?:the )?(?:last|past) )?(\d{1,4}) ?(h|d|w)(?:rs?|ours?|ays?|eeks?)?$/u;
  const [, count, unit = ''] = shape.exec(typed) ?? [];
  const ms = Number(count) * (unitMs[unit] ?? 0);
  if (count === undefined || ms === 0) return undefined;
  if (ms <= longestMs) return { words: `${Number(count)}${unit}`, ms };
  throw new UserError('Changes are kept for 100 days.', 'Ask for less: `/cdn changes 100d`.');
}

/** `shop last 7 days`: no name has a space in it, so what follows it is the period. */
function readTyped({ list }: Words): { readonly zone: string; readonly period: Period } {
  for (const start of [0, 1]) {
    const period = readPeriod(list.slice(start));
    if (period) return { zone: list.slice(0, start).join(' '), period };
  }
  const [zone = '', ...rest] = list;
  if (rest.length === 0) return { zone, period: weekOf };
  throw new UserError(
    `${formatCode(rest.join(' '), 60)} is no period that can be read.`,
    'Type `24h`, `7d` or `last 30 days` behind the zone.',
  );
}

interface ZoneName {
  readonly id: string;
  readonly name: string;
}

async function* showTyped(
  { zone: typed, period }: ReturnType<typeof readTyped>,
  context: With<Needed>,
): AsyncGenerator<Message, void> {
  if (typed === '') {
    yield say('Comparing your zones with their last settings…');
    return yield await showChanges(period, undefined, context);
  }
  const found = await lookUpZone(typed, context);
  yield found.kind === 'one'
    ? await showChanges(period, found.zone, context)
    : renderUnclearZone(found, 'changes', period.words);
}

/** A zone by its id, with its name where that is known already. */
function findZone(id: string | undefined, context: With<Needed>): ZoneName | undefined {
  if (!id) return undefined;
  return findKnownZones(context)?.zones.find((zone) => zone.id === id) ?? { id, name: '' };
}

/** Looks now, and shows what this look and earlier ones found. */
async function showChanges(
  { words, ms }: Period,
  zone: ZoneName | undefined,
  context: With<Needed>,
): Promise<Message> {
  const { person, settingsHistory, now, panel } = context;
  const look = await settingsHistory.look(person, await context.cdn(), zone && [zone]);
  const asOf = now();
  const from = new Date(asOf.getTime() - ms);
  // As many as a table takes.
  const found = await settingsHistory.list(person, { from, zones: zone && [zone.id], most: 100 });
  if (look.missing.length > 0 && found.total === 0)
    throw new UserError(
      `There is no zone ${formatCode(zone?.id ?? '', 40)} among those that your key sees.`,
      'Type `/cdn zones` for the list as it is now.',
    );
  const name = zone?.name || found.changes[0]?.zoneName || '';
  const shown = zone && { id: zone.id, name };
  return renderChanges({ ...found, look, zone: shown, period: words, from, asOf, panel });
}
