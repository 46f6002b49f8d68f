import type { Job } from './define.ts';
import { exportJob } from './export-run.ts';
import { exportUpkeep } from './export-upkeep.ts';
import { housekeeping } from './housekeeping.ts';

/** Every job there is. A new one is a file beside this one and a line here. */
export const jobs: readonly Job<never>[] = [housekeeping, exportJob, exportUpkeep];
