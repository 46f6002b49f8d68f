import { ApiError } from '../../api/http/errors.ts';
import { LinkedKeyError } from '../../auth/keys/key-store.ts';
import { describeApiError } from '../../commands/api-failures.ts';
import { UserError } from '../../errors.ts';
import { SlackFailure } from '../../outbox/slack-port.ts';
import { type Log, makeReference } from '../../telemetry/log.ts';
import { type Failure, renderFailure } from '../../views/blocks/failure.ts';
import type { Message } from '../../views/blocks/message.ts';
import { isBlocked, SecretLeakBlocked } from '../send/egress.ts';

export interface FailedDelivery {
  readonly kind: string;
  readonly feature: string;
  /** A button that tries the same again, only where that is safe. */
  readonly retry?: { readonly actionId: string; readonly value: string } | undefined;
  /** The command that `Why?` asks about. */
  readonly requested?: string | undefined;
}

/** A failure as a message. */
export function describeFailure(error: unknown, failed: FailedDelivery, log: Log): Message {
  return renderFailure(explainFailure(error, failed, log));
}

/**
 * The one place where a failure becomes words: a sentence and a next step for the person, the rest for the log,
 * and a reference that is in both.
 */
export function explainFailure(error: unknown, failed: FailedDelivery, log: Log): Failure {
  // Told to the log where it was stopped, and not to be tried again: the same would come out.
  if (error instanceof SecretLeakBlocked || (error instanceof SlackFailure && error.code === 'held_back'))
    return { ...isBlocked, reference: error.reference };
  const reference = (error instanceof UserError ? error.reference : undefined) ?? makeReference();
  const where = { reference, kind: failed.kind, feature: failed.feature };
  if (error instanceof UserError) {
    // Its words may quote what somebody typed, so the log gets the place only.
    log.info(where, 'answered with a refusal');
    return { message: error.message, hint: error.hint, offer: error.offer, why: failed.requested, reference };
  }
  if (error instanceof ApiError) {
    const { code, operation, status, requestId, errorKey } = error;
    log.warn({ ...where, code, operation, status, requestId, errorKey }, 'the CDN refused or failed');
    return { ...describeApiError(error), reference, retry: failed.retry };
  }
  if (error instanceof LinkedKeyError) {
    log.error({ ...where, code: error.code, keyId: error.keyId }, 'a stored key does not open');
    return { ...describeLinkedKeyError(error), reference };
  }
  log.error({ ...where, error }, 'failed');
  return {
    message: 'Something went wrong on our side, and nothing was changed.',
    hint: 'Try again. If it keeps happening, tell whoever runs this bot the reference below.',
    reference,
    retry: failed.retry,
  };
}

function describeLinkedKeyError({ code }: LinkedKeyError): Pick<Failure, 'message' | 'hint' | 'offer'> {
  return code === 'unknown_key'
    ? {
        message: 'Your stored key is there, but the bot lacks the encryption key that opens it.',
        hint: 'Tell whoever runs this bot the reference below, or connect your key again.',
        offer: 'connect',
      }
    : {
        message: 'Your stored key does not match its record; connect it again.',
        hint: 'Somebody may have changed what is stored: tell whoever runs this bot the reference below.',
        offer: 'connect',
      };
}
