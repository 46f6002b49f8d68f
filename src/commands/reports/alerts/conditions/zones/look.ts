import type { ZoneSummary } from '../../../../../api/zones/summary.ts';
import { UserError } from '../../../../../errors.ts';
import { yieldToEventLoop } from '../../../../../lib/time.ts';
import { formatInteger } from '../../../../../views/blocks/format.ts';
import { truncate } from '../../../../../views/blocks/text.ts';
import type { Evidence, LookInput, Part } from '../condition.ts';

/** Bounds of what is stored of one look. */
const mostParts = 50;
const mostEvidence = 30;

/** A figure of one zone against the condition. `severity` orders: the highest is the worst. */
export interface ZoneFigure extends Evidence {
  /** Of its part; the zone's by default. */
  readonly id?: string;
  readonly text: string;
  readonly severity: number;
  readonly value?: number | undefined;
  /** The CDN did not report it: neither wrong nor fine. */
  readonly isUnknown?: boolean;
}

export type JudgeZone = (zone: ZoneSummary) => readonly ZoneFigure[];

export interface ZoneLook {
  readonly parts: readonly Part[];
  readonly evidence: readonly Evidence[];
  readonly unread: readonly string[];
  /** How many figures are wrong. */
  readonly wrong: number;
  /** The highest value of all figures. */
  readonly highest: number | undefined;
}

interface Found {
  readonly zone: ZoneSummary;
  readonly figure: ZoneFigure;
}

/**
 * Looks at the chosen zones, or at all: what is wrong, and the figures nearest to it. `judge` returns nothing for a zone
 * that has no such figure; `absent` says so of a chosen one. A chosen zone that is gone is not wrong.
 *
 * @throws ApiError, BudgetSpent; UserError where no chosen zone is there, and where no figure is reported.
 */
export async function lookAtZones(
  { account, subject }: Pick<LookInput<never>, 'account' | 'subject'>,
  judge: JudgeZone,
  absent = 'not reported',
): Promise<ZoneLook> {
  const { zones, skipped } = await account.pullZones.all();
  const missing = new Set(subject.targets);
  const isChosen = missing.size > 0;
  const found: Found[] = [];
  const rest: Evidence[] = [];
  const unread: string[] = [];
  let [wrong, judged] = [0, 0];
  let highest: number | undefined;
  for (const [index, zone] of zones.entries()) {
    if (index % 2_500 === 0) await yieldToEventLoop();
    if (isChosen && !missing.delete(zone.id)) continue;
    const figures = judge(zone);
    if (isChosen && figures.length === 0) rest.push(toNote(nameOf(zone), absent));
    for (const figure of figures) {
      if (figure.isUnknown) unread.push(figure.id ?? zone.id);
      else judged += 1;
      if (figure.isWrong) wrong += 1;
      if (figure.value !== undefined) highest = Math.max(highest ?? figure.value, figure.value);
      found.push({ zone, figure });
    }
    // Sorted now and then, so that fifty thousand zones are not kept.
    if (found.length > 4 * mostParts) keepWorst(found);
  }
  keepWorst(found);
  if (isChosen && missing.size === new Set(subject.targets).size) throw noneThere();
  if (unread.length > 0 && judged === 0)
    throw new UserError('The CDN did not report what this watch looks at.', 'Look at the zone itself.');
  const isOpen = ({ figure: { isWrong, isUnknown = false } }: Found) => isWrong || isUnknown;
  return {
    wrong,
    highest,
    // A zone of the list that could not be read may be a chosen one.
    unread: skipped > 0 ? [...unread, ...missing] : unread,
    parts: found.flatMap(({ zone, figure: { id = zone.id, name, isWrong, text, value } }) =>
      isWrong ? [{ id, name: truncate(name, 60), text, value }] : [],
    ),
    evidence: [
      ...found.filter(isOpen).map(toEvidence),
      ...listMissing(missing, skipped),
      ...found.filter((one) => !isOpen(one)).map(toEvidence),
      ...rest,
    ].slice(0, mostEvidence),
  };
}

/** Rows of chosen zones that the key does not see, and of zones that could not be read. */
export function listMissing(missing: Iterable<string>, skipped: number): Evidence[] {
  return [
    ...[...missing].map((id) => toNote(`zone ${id}`, 'not in the account')),
    ...(skipped > 0 ? [toNote(`${formatInteger(skipped)} zones`, 'not readable in the CDN’s list')] : []),
  ];
}

export function noneThere(): UserError {
  return new UserError(
    'No zone that this watch looks at is in the account any more.',
    'Choose others: edit the watch.',
  );
}

/** A row that explains, and is neither wrong nor fine. */
export function toNote(name: string, is: string): Evidence {
  return { name, is, isWrong: false };
}

function toEvidence({ figure: { name, is, wrongIf, isWrong } }: Found): Evidence {
  return { name: truncate(name, 60), is, wrongIf, isWrong };
}

function keepWorst(found: Found[]): void {
  found.sort((a, b) => b.figure.severity - a.figure.severity || (a.figure.name < b.figure.name ? -1 : 1));
  found.splice(mostParts);
}

/** At most 60 characters. */
export function nameOf({ name, id }: Pick<ZoneSummary, 'name' | 'id'>): string {
  return name === '' ? `zone ${id}` : truncate(name, 60);
}

/** The command that shows the zone of a part, whose id begins with the zone's. */
export function showZone(part: Part | undefined, otherwise: string) {
  if (!part) return { label: 'Show zones', command: otherwise };
  return { label: 'Show zone', command: `zone ${part.id.split('/', 1)[0]}` };
}
