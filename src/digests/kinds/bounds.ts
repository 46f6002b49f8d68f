import type { ErrorFigures, Some, ZoneFigures } from '../figures/figures.ts';
import type { Collected } from '../model.ts';

/** Every run of a digest is kept, and sixty of them are read for the next. */
const aim = 50_000;

/**
 * Figures in at most about 50,000 characters of JSON. What is given up for that, one after the other until it is
 * enough, costs the next run a comparison by name, and this one nothing but names.
 */
export function boundFigures(collected: Collected): Collected {
  return steps.reduce((found, step) => (JSON.stringify(found).length > aim ? step(found) : found), collected);
}

const steps: readonly ((collected: Collected) => Collected)[] = [
  inErrors((errors) => ({
    ...errors,
    fresh: errors.fresh.map((one) => ({ ...one, zones: few(one.zones) })),
  })),
  inZones((zones) => ({ ...zones, busiest: zones.busiest.slice(0, 10) })),
];

function inZones(step: (zones: ZoneFigures) => ZoneFigures): (collected: Collected) => Collected {
  return (found) => (found.zones ? { ...found, zones: step(found.zones) } : found);
}

function inErrors(step: (errors: ErrorFigures) => ErrorFigures): (collected: Collected) => Collected {
  return (found) => (found.errors ? { ...found, errors: step(found.errors) } : found);
}

function few({ count, first }: Some): Some {
  return { count, first: first.slice(0, 3) };
}
