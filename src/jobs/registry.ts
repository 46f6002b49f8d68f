import { auditCheckpoint } from './audit-checkpoint.ts';
import type { Job } from './define.ts';
import { tellPauses } from './digest-pauses.ts';
import { digestsReturned, tellReturned } from './digest-return.ts';
import { tellUnknown } from './digest-telling.ts';
import { digests, digestsNow } from './digests.ts';
import { exportBegin } from './export-begin.ts';
import { exportJob } from './export-run.ts';
import { exportEnd } from './export-telling.ts';
import { exportUpkeep } from './export-upkeep.ts';
import { housekeeping } from './housekeeping.ts';
import { operationClock } from './operation-clock.ts';
import { showOperation } from './operation-messages.ts';
import { runOperation } from './operation-run.ts';

/** Every job there is. A new one is a file beside this one and a line here. */
export const jobs: readonly Job<never>[] = [
  auditCheckpoint,
  digests,
  digestsNow,
  digestsReturned,
  tellReturned,
  tellPauses,
  tellUnknown,
  exportBegin,
  exportJob,
  exportEnd,
  exportUpkeep,
  housekeeping,
  operationClock,
  runOperation,
  showOperation,
];
