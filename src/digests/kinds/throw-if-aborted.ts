import { ApiError } from '../../api/http/errors.ts';

/** @throws ApiError `cancelled` once the signal has ended, as the client does in the middle of asking. */
export function throwIfAborted(signal: AbortSignal, operation: string): void {
  if (signal.aborted) throw new ApiError({ code: 'cancelled', operation, sent: false });
}
