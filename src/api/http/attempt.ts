import { ApiError, type ApiErrorCode } from './errors.ts';

/** One try of a request, from its sending to the end of its body. */
export interface Attempt {
  /** The specification's name of the operation. */
  readonly name: string;
  /** `failed`: whoever read the answer failed. */
  readonly outcome: 'ok' | 'failed' | ApiErrorCode;
  /** Undefined where there was no answer. */
  readonly status: number | undefined;
  /** Milliseconds since the epoch, by the machine's clock. */
  readonly startedAt: number;
  readonly seconds: number;
}

/** Sends a request, has its answer read, and reports how that went. */
export async function observeAttempt<Request extends { readonly operation: string }, Reply, Result>(
  { onAttempt }: { readonly onAttempt?: (attempt: Attempt) => void },
  request: Request,
  send: (request: Request) => Promise<Reply & { readonly status: number }>,
  consume: (reply: Reply) => Promise<Result>,
): Promise<Result> {
  const startedAt = Date.now();
  const started = performance.now();
  let status: number | undefined;
  const report = (outcome: Attempt['outcome']): void => {
    const seconds = (performance.now() - started) / 1000;
    onAttempt?.({ name: request.operation, outcome, status, startedAt, seconds });
  };
  try {
    const reply = await send(request);
    ({ status } = reply);
    const result = await consume(reply);
    report('ok');
    return result;
  } catch (error) {
    if (error instanceof ApiError) status ??= error.status;
    report(error instanceof ApiError ? error.code : 'failed');
    throw error;
  }
}
