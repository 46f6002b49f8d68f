import type { Job } from './define.ts';
import { tellPaused, tellUnknown } from './digest-telling.ts';
import { digests, digestsNow } from './digests.ts';
import { housekeeping } from './housekeeping.ts';

/** Every job there is. A new one is a file beside this one and a line here. */
export const jobs: readonly Job<never>[] = [housekeeping, digests, digestsNow, tellPaused, tellUnknown];
