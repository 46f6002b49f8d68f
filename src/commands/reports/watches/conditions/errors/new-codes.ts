import { dayMs } from '../../../../../lib/time.ts';
import { pluralize } from '../../../../../views/blocks/format.ts';
import { truncate } from '../../../../../views/blocks/text.ts';
import { otherCodes } from '../../../accounts/errors/tally.ts';
import type { Condition, Part } from '../condition.ts';
import { toNote } from '../zones/look.ts';
import { type ReadZone, readErrors, showErrors, withoutTarget } from './read.ts';

/** The codes that were known of each zone, and the day (UTC, counted from 1970) on which its log was read last. */
interface KnownCodes {
  readonly zones: Readonly<Record<string, { readonly read: number; readonly codes: readonly string[] }>>;
}

/** After a longer time without a look its codes are learned anew: counting began anew, too. */
const mostDays = 7;
/** Codes of a zone that was not read for longer are forgotten. */
const rememberedDays = 28;

/** A code that a zone did not have for four weeks: often the first sign of another kind of failure. */
export const newCodes: Condition<'errors-new-code', KnownCodes> = {
  name: 'errors-new-code',
  label: 'New code of origin errors',
  words: /\bcodes?\b/iu,
  target: 'origins',
  withoutTarget,
  damping: { open: [1, 1], close: 2 },
  isEvent: true,
  describe: () => 'an error code that a zone did not have for 28 days',
  async evaluate(input) {
    const { now, memory } = input;
    const today = Math.floor(now.getTime() / dayMs);
    const { read, notes } = await readErrors(input);
    const known = memory?.zones ?? {};
    const found = read.map((zone) => ({ zone, ...findNew(zone, known[zone.id], today) }));
    const parts = found.flatMap(({ zone, fresh }) => fresh.map((code) => toPart(zone, code)));
    const kept = Object.entries(known).filter(([, zone]) => zone.read >= today - rememberedDays);
    const current = found.map(({ zone: { id }, codes }) => [id, { read: today, codes }] as const);
    return {
      parts,
      count: parts.length,
      memory: { zones: Object.fromEntries([...kept, ...current]) },
      evidence: [
        ...parts.map(({ name, text: is }) => ({ name, is, wrongIf: 'a new code', isWrong: true })),
        ...notes.slice(0, 10),
        ...found.map(({ zone: { name }, codes, isLearning }) =>
          toNote(name, `${isLearning ? 'learning: ' : ''}knows ${describeCodes(codes)}`),
        ),
      ].slice(0, 30),
    };
  },
  next: showErrors,
};

function findNew(
  { counts }: ReadZone,
  known: KnownCodes['zones'][string] | undefined,
  today: number,
): { readonly fresh: readonly string[]; readonly codes: readonly string[]; readonly isLearning: boolean } {
  const codes = [...counts.firstSeen.keys()].filter((code) => code !== '' && code !== otherCodes);
  const isLearning = known === undefined || known.read < today - mostDays;
  if (isLearning) return { fresh: [], codes: [...new Set([...codes, ...(known?.codes ?? [])])], isLearning };
  return { fresh: codes.filter((code) => !known.codes.includes(code)), codes, isLearning };
}

function toPart({ id, name, counts }: ReadZone, code: string): Part {
  const errors = counts.sum(counts.since).codes.get(code) ?? 0;
  const text = `new code ${truncate(code, 60)}, ${pluralize(errors, 'error')} so far`;
  return { id: `${id}/${code}`, name, text, value: errors };
}

function describeCodes(codes: readonly string[]): string {
  const names = codes.slice(0, 5).map((code) => truncate(code, 30));
  if (codes.length === 0) return 'no code';
  const more = codes.length > 5 ? ` and ${codes.length - 5} more` : '';
  return `${pluralize(codes.length, 'code')}: ${names.join(', ')}${more}`;
}
