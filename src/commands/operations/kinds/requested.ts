import { isObject } from '../../../api/http/errors.ts';
import type { Json } from '../../../lib/canonical-json.ts';
import type { VolumeShown } from '../../../views/operations/describe.ts';
import type { Context } from '../../define.ts';
import type { Kind } from './kind.ts';

/** A kind with what its commands read before it is requested, and after its outcome was lost. */
export interface RequestedKind<Request> extends Kind<Request> {
  /** Reads the facts that people decide by. @throws UserError, ApiError. Absent where the same is never asked for again. */
  load?(request: Request, context: Context): Promise<Json>;
  /** What a person may have seen in the CDN's panel where the outcome is unknown. */
  readonly check: {
    readonly done: string;
    readonly notDone: string;
    /** Where to look. */
    readonly look: string;
  };
}

/** Stored facts as they were shown; those of a variable are the zones alone. @throws where they are something else */
export function readShown(kept: unknown): VolumeShown {
  if (isObject(kept) && Array.isArray(kept['zones'])) return kept as unknown as VolumeShown;
  throw new Error('these are no facts about zones');
}
