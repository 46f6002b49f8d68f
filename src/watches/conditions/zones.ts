import type { ZoneSummary } from '../../api/zones/summary.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Evidence, LookInput, Part } from './condition.ts';

/** Bounds of what is stored of one look. */
const mostParts = 50;
const mostEvidence = 30;

/** The figure of one zone against the condition. `severity` orders: the highest is the worst. */
export interface ZoneFigure extends Evidence {
  readonly text: string;
  readonly severity: number;
  readonly value?: number | undefined;
}

/**
 * Looks at the chosen zones, or at all: what is wrong, and the figures nearest to it. `judge` returns undefined for a zone
 * that has no such figure. A chosen zone that is gone is not wrong.
 */
export async function lookAtZones(
  { account, subject }: Pick<LookInput<never>, 'account' | 'subject'>,
  judge: (zone: ZoneSummary) => ZoneFigure | undefined,
): Promise<{
  readonly parts: readonly Part[];
  readonly evidence: readonly Evidence[];
  readonly wrong: number;
}> {
  const { zones } = await account.pullZones.all();
  const chosen = new Set(subject.targets);
  const found: { zone: ZoneSummary; figure: ZoneFigure }[] = [];
  let wrong = 0;
  for (const [index, zone] of zones.entries()) {
    if (index % 2_500 === 0) await yieldToEventLoop();
    if (chosen.size > 0 && !chosen.has(zone.id)) continue;
    const figure = judge(zone);
    if (!figure) continue;
    if (figure.isWrong) wrong += 1;
    found.push({ zone, figure });
    // Sorted now and then, so that fifty thousand zones are not kept.
    if (found.length > 4 * mostParts) keepWorst(found);
  }
  keepWorst(found);
  return {
    wrong,
    parts: found.flatMap(({ zone, figure: { isWrong, text, value } }) =>
      isWrong ? [{ id: zone.id, name: nameOf(zone), text, value }] : [],
    ),
    evidence: found.slice(0, mostEvidence).map(({ figure: { name, is, wrongIf, isWrong } }) => ({
      name,
      is,
      wrongIf,
      isWrong,
    })),
  };
}

function keepWorst(found: { zone: ZoneSummary; figure: ZoneFigure }[]): void {
  found.sort((a, b) => b.figure.severity - a.figure.severity || (nameOf(a.zone) < nameOf(b.zone) ? -1 : 1));
  found.splice(mostParts);
}

export function nameOf({ name, id }: Pick<ZoneSummary, 'name' | 'id'>): string {
  return name === '' ? `zone ${id}` : name.slice(0, 60);
}

/** The host of a zone's origin, in lower case; undefined where it has none. */
export function readHost({ originUrl }: Pick<ZoneSummary, 'originUrl'>): string | undefined {
  const address = originUrl !== undefined && URL.canParse(originUrl) ? new URL(originUrl) : undefined;
  return address?.hostname.toLowerCase() || undefined;
}
