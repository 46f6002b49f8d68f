import type { AppSummary } from '../../api/apps.ts';
import { findNamed } from '../figures/compact-ids.ts';
import type { AppFigures, Comparison, Point } from '../figures/figures.ts';
import { compareWithPast, type Earlier, estimateNoise, findEarlier } from '../figures/series.ts';
import type { CollectInput } from '../model.ts';

const mostPoints = 30;

/** One app, compared with what earlier runs found. */
export function collectApps(id: string, app: AppSummary, input: CollectInput): AppFigures {
  const past = findEarlier(input, ({ apps }) => apps?.apps.find((found) => found.id === id));
  const latency = one(app.currentLatency, past, (found) => found.latency, estimateNoise.latency);
  const average = one(app.averageLatency, past, (found) => found.average, estimateNoise.latency);
  const cost = one(app.monthlyCost, past, (found) => found.cost, estimateNoise.dollars);
  const volumes = one(app.totalVolumeSizeInGb, past, (found) => found.volumes, 0);
  const was = past.previous?.figures.status;
  const points = past.series.flatMap(({ at, figures }): Point[] =>
    figures.average ? [[at, figures.average.now]] : [],
  );
  const latest: Point[] = average ? [[input.now.getTime(), average.now]] : [];
  return {
    id,
    ...(past.previous ? { since: new Date(past.previous.at).toISOString() } : {}),
    ...(app.status === undefined ? {} : { status: findNamed(app.status) }),
    ...(was === undefined ? {} : { wasStatus: was }),
    ...(latency ? { latency } : {}),
    ...(average ? { average } : {}),
    ...(cost ? { cost } : {}),
    ...(volumes ? { volumes } : {}),
    trend: [...points.slice(0, mostPoints - 1).toReversed(), ...latest],
  };
}

/** Somebody has to look at it. */
export function isFailing({ status }: AppFigures): boolean {
  return status === 'failing' || status === 'suspended';
}

function one(
  now: number | undefined,
  past: Earlier<AppFigures>,
  read: (found: AppFigures) => Comparison | undefined,
  floor: number,
): Comparison | undefined {
  return now === undefined ? undefined : compareWithPast(now, past, (found) => read(found)?.now, floor);
}
