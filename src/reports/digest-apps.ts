import type { AppSummary } from '../api/apps.ts';
import type { CollectInput } from './digest.ts';
import type { AppFigures, Compared, Point } from './digest-figures.ts';
import { kept } from './digest-roster.ts';
import { compared, type Earlier, earlier, noise } from './digest-series.ts';

const mostPoints = 30;

/** One app, compared with what earlier runs found. */
export function appFigures(id: string, app: AppSummary, input: CollectInput): AppFigures {
  const past = earlier(input, ({ apps }) => apps?.apps.find((found) => found.id === id));
  const latency = one(app.currentLatency, past, (found) => found.latency, noise.latency);
  const average = one(app.averageLatency, past, (found) => found.average, noise.latency);
  const cost = one(app.monthlyCost, past, (found) => found.cost, noise.dollars);
  const volumes = one(app.totalVolumeSizeInGb, past, (found) => found.volumes, 0);
  const was = past.previous?.figures.status;
  const points = past.series.flatMap(({ at, figures }): Point[] =>
    figures.average ? [[at, figures.average.now]] : [],
  );
  const latest: Point[] = average ? [[input.now.getTime(), average.now]] : [];
  return {
    id,
    ...(past.previous ? { since: new Date(past.previous.at).toISOString() } : {}),
    ...(app.status === undefined ? {} : { status: kept(app.status) }),
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
  read: (found: AppFigures) => Compared | undefined,
  floor: number,
): Compared | undefined {
  return now === undefined ? undefined : compared(now, past, (found) => read(found)?.now, floor);
}
