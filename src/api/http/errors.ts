/** What went wrong, as far as somebody who asks the CDN can tell it apart. */
export type ApiErrorCode =
  /** The key is wrong, gone or too weak. */
  | 'key_refused'
  /** Any other 4xx, or a refusal in the body of a 2xx. */
  | 'refused'
  | 'not_found'
  | 'rate_limited'
  /** 5xx. */
  | 'unavailable'
  /** No connection. */
  | 'unreachable'
  | 'timeout'
  /** The body broke off. */
  | 'cut'
  /** A redirect, HTML, or JSON of another shape. */
  | 'unexpected'
  | 'cancelled';

export interface FieldError {
  readonly field: string | undefined;
  readonly message: string;
}

export interface ApiErrorFacts {
  readonly code: ApiErrorCode;
  /** As the specification calls it: `List Pull Zones`. */
  readonly operation: string;
  /** False only where the request certainly never reached the service. */
  readonly sent: boolean;
  readonly status?: number | undefined;
  /** The service's own sentence: one line, bounded, without the key. Foreign text: escape it before showing it. */
  readonly serviceMessage?: string | undefined;
  readonly errorKey?: string | undefined;
  readonly fieldErrors?: readonly FieldError[] | undefined;
  /** Cdn-Requestid, to quote to the service's support. */
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** A refusal for what the account's plan includes: nothing that was typed is wrong (cdn-api.md §2.7: `invalid_plan_type.…`). */
export function isPlanError({ code, status, errorKey = '', serviceMessage = '' }: ApiError): boolean {
  return (
    code === 'refused' &&
    (status === 402 ||
      /plan|subscription|entitle|upgrade/iu.test(errorKey) ||
      /\b(?:plan|subscription|entitle\w*|upgrade)\b/iu.test(serviceMessage))
  );
}

/**
 * The one error of this folder, beside UserError for what a person mistyped. Its message holds only fixed words, so
 * it may be logged; it never has a cause, since ofetch's errors carry the key and the whole address.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly operation: string;
  readonly sent: boolean;
  readonly status: number | undefined;
  readonly serviceMessage: string | undefined;
  readonly errorKey: string | undefined;
  readonly fieldErrors: readonly FieldError[];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(facts: ApiErrorFacts) {
    super(`${facts.operation}: ${facts.code}${facts.status === undefined ? '' : ` (HTTP ${facts.status})`}`);
    this.code = facts.code;
    this.operation = facts.operation;
    this.sent = facts.sent;
    this.status = facts.status;
    this.serviceMessage = facts.serviceMessage;
    this.errorKey = facts.errorKey;
    this.fieldErrors = facts.fieldErrors ?? [];
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}
