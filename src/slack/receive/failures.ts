import { exportOperation, isWindowError } from '../../api/event-logs.ts';
import { ApiError, genericRefusal, isKeyRefusal, isPlanError } from '../../api/http/errors.ts';
import { isTransient as isTransientError } from '../../api/http/request.ts';
import { LinkedKeyError } from '../../auth/keys/key-store.ts';
import type { Right } from '../../auth/policy/policy.ts';
import {
  isAnswerLost,
  isDatabaseLost,
  isDiskFull,
  isReadOnly,
  SecretLeakBlocked,
  UserError,
} from '../../errors.ts';
import { describeLift, readCode, SlackFailure } from '../../outbox/slack-port.ts';
import type { Log } from '../../telemetry/log.ts';
import { makeReference } from '../../telemetry/reference.ts';
import { describeFields, type Failure } from '../../views/blocks/failure.ts';
import { formatDuration } from '../../views/blocks/format.ts';
import { escapeMrkdwn, formatCode } from '../../views/blocks/text.ts';
import { toSlackFailure } from '../send/clients.ts';
import { isBlocked } from '../send/egress.ts';

export interface FailedDelivery {
  readonly kind: string;
  readonly feature: string;
  /** The button that repeats the request, only if that is safe. */
  readonly retry?: Failure['retry'];
  /** The command for *Why?*. */
  readonly requested?: string | undefined;
  /** Only a failed change says that nothing was changed. */
  readonly needs?: Right;
}

/** The only place where an error becomes text: a sentence, a next step, and a reference that is also in the log. */
export function explainFailure(error: unknown, failed: FailedDelivery, log: Log): Failure {
  // Already logged where it was blocked. No retry button: the same would be blocked again.
  if (error instanceof SecretLeakBlocked || (error instanceof SlackFailure && error.code === 'held_back'))
    return { ...isBlocked, reference: error.reference };
  const { kind, feature, retry } = failed;
  const reference = (error instanceof UserError ? error.reference : undefined) ?? makeReference();
  const where = { reference, kind, feature };
  if (error instanceof UserError) {
    // The text may quote what the person typed, so it is not logged.
    log.info(where, 'refused a request');
    return { message: error.message, hint: error.hint, offer: error.offer, why: failed.requested, reference };
  }
  if (error instanceof ApiError) {
    const { code, operation, status, requestId, errorKey, network } = error;
    log.warn({ ...where, code, operation, status, requestId, errorKey, network }, 'CDN request failed');
    const isTransient = error.code === 'cancelled' || isTransientError(error);
    return { ...describeApiError(error), reference, retry, isTransient };
  }
  if (error instanceof LinkedKeyError) {
    log.error({ ...where, code: error.code, keyId: error.keyId }, 'cannot decrypt a stored key');
    return {
      ...(error.code === 'unknown_key' ? lostEncryptionKey : changedKey),
      offer: 'connect',
      reference,
    };
  }
  const slackFailure = toSlackFailure(error);
  if (slackFailure instanceof SlackFailure) {
    const { code, sentence } = slackFailure;
    const described = sentence ? { message: sentence } : describeSlackRefusal(code);
    if (described) {
      log.warn({ ...where, code, error }, 'Slack refused a call');
      return { ...described, reference, retry, isTransient: true };
    }
  }
  log.error({ ...where, error }, 'unexpected error');
  const [what, hint] = describeFault(slackFailure);
  const isRead = failed.needs === 'read' || kind === 'home';
  const outcome = isAnswerLost(error)
    ? '. Whether this was done is not known: look before you repeat it.'
    : ', and nothing was changed.';
  const message = `${what}${isRead ? '.' : outcome}`;
  return isDiskFull(error)
    ? { message, hint, reference }
    : { message, hint, reference, retry, isTransient: true };
}

function describeFault(error: unknown): readonly [what: string, hint: string] {
  const last = 'If it keeps happening, send the reference below to the team that runs this bot.';
  if (isDiskFull(error))
    return [
      'The bot’s disk is full',
      'Send the reference below to the team that runs this bot. It continues by itself once there is room.',
    ];
  if (isReadOnly(error))
    return ['The bot’s database is read-only right now', `Try again in a minute. ${last}`];
  if (isDatabaseLost(error))
    return ['The bot can’t reach its database right now', `Try again in a minute. ${last}`];
  // What was put aside never came to Slack.
  if (error instanceof SlackFailure && error.code !== 'put_aside')
    return [`Slack refused this (${error.code})`, `Try again. ${last}`];
  return ['Something went wrong on our side', `Try again. ${last}`];
}

/** Undefined where Slack refused what the bot sent: that is a fault of the bot. */
function describeSlackRefusal(code: string): { message: string; hint: string } | undefined {
  switch (readCode(code)) {
    case 'pass':
    case 'unclear':
      return {
        message: `Slack is not accepting this right now (${code}).`,
        hint: 'Nothing is wrong with your request: try again in a minute.',
      };
    case 'lift':
    case 'lacking':
      return { message: `Slack does not allow the bot to do this (${code}).`, hint: describeLift(code) };
    case 'place':
      return {
        message: `Slack does not let the bot write there (${code}).`,
        hint: 'Invite it with `/invite @cdn`, or choose another channel.',
      };
    case 'app':
      return {
        message: `Slack does not accept the bot’s token (${code}).`,
        hint: 'Ask the team that runs this bot to reinstall it.',
      };
    case 'absent':
      return {
        message: `What this refers to no longer exists in Slack (${code}).`,
        hint: 'Type `/cdn` and start again.',
      };
    case 'refused':
      return undefined;
  }
}

const lostEncryptionKey = {
  message: 'Your stored key is there, but the bot lacks the encryption key that opens it.',
  hint: 'Send the reference below to the team that runs this bot, or connect your key again.',
};
const changedKey = {
  message: 'Your stored key does not match its record; connect it again.',
  hint: 'The stored data may have been changed: send the reference below to the team that runs this bot.',
};

type Explanation = Pick<Failure, 'message' | 'offer'> & { readonly hint: string };

/** The service's own text appears where it explains a refusal or follows our sentence, escaped and truncated. */
export function describeApiError(error: ApiError): Explanation {
  const { code, serviceMessage, requestId } = error;
  const { message, hint, offer } = describeCode(error);
  const isQuoted = serviceMessage && code !== 'refused' && !genericRefusal.test(serviceMessage);
  const quote = quoteService(error);
  const says = isQuoted ? ` The CDN says${quote}${/[.!?]”$/.test(quote) ? '' : '.'}` : '';
  const lookUp = requestId ? ` The CDN’s support can look up the request ${formatCode(requestId, 80)}.` : '';
  return { message, hint: `${hint}${says}${lookUp}`, offer };
}

function describeCode(error: ApiError): Explanation {
  const { retryAfterSeconds: seconds, serviceMessage: says = 'forbidden', status } = error;
  const isRightMissing = status === 403 && !genericRefusal.test(says) && !isKeyRefusal(says);
  const explanations: Readonly<Record<ApiError['code'], Explanation>> = {
    key_refused: {
      message: isRightMissing ? 'The CDN does not allow this with your key.' : 'The CDN refused your key.',
      hint: isRightMissing
        ? 'Connect a key that has the right.'
        : 'It was deleted or replaced there, or lacks this right. Connect the current one.',
      offer: 'connect',
    },
    refused: { message: `The CDN rejected it${quoteService(error)}`, hint: describeRefusal(error) },
    not_found:
      error.operation === 'Get Application Usage Summary'
        ? {
            message: 'No app with this ID.',
            hint: 'Choose one that your zones use.',
            offer: [{ label: 'Choose an app', types: 'app' }],
          }
        : {
            message: 'The CDN does not know this ID.',
            hint:
              idSources[error.operation] ?? 'Check it for typos; `/cdn zones` lists the zones your key sees.',
          },
    rate_limited: {
      message: 'The CDN is rate limiting your key: too many requests.',
      hint: `Try again in ${seconds === undefined ? 'a minute' : formatDuration(seconds * 1000)}.`,
    },
    unavailable: {
      message: `The CDN has a problem${error.status ? ` (HTTP ${error.status})` : ''}.`,
      hint: 'Try again in a minute; its status page shows outages.',
    },
    unreachable: describeUnreachable(error),
    timeout: { message: 'The CDN took too long to answer.', hint: 'Try again in a minute.' },
    cut: { message: 'The CDN’s answer was cut off.', hint: 'Try again.' },
    unexpected: {
      message: 'The CDN answered in a form I do not know, such as a web page where data belongs.',
      hint: 'Something between the bot and the CDN may be answering for it. Try again in a minute.',
    },
    too_large: {
      message: 'The CDN’s answer is larger than the bot reads.',
      hint: 'None of it was used. Send the reference below to the team that runs this bot.',
    },
    empty: {
      message: 'The CDN sent an empty file. Whether there were no events is unknown.',
      hint: 'Try a longer window, or the same one in a minute.',
    },
    held_back: {
      message: 'The request to the CDN held a secret, such as a name that is a key. It was not sent.',
      hint: 'Change that name in the CDN’s control panel, or send the reference below to the team that runs this bot.',
    },
    cancelled: { message: 'This was stopped before it finished.', hint: 'Run it again.' },
  };
  return explanations[error.code];
}

function describeUnreachable({ network }: ApiError): Explanation {
  if (!network || network.kind === 'closed')
    return {
      message: 'The CDN cannot be reached from here.',
      hint: 'Try again in a minute. If it keeps happening, check the bot’s network.',
    };
  return {
    message: `The CDN cannot be reached. ${network.message}`,
    hint: `For the team that runs this bot: ${network.hint}`,
  };
}

function describeRefusal(error: ApiError): string {
  if (isWindowError(error)) return 'Choose another window: one that begins later, or ends a little earlier.';
  // The service's words about a field are the next step.
  if (namedFields(error).length > 0) return '';
  // Words that are not about the key, with the status of a refused one.
  if (!isPlanError(error) && (error.status === 401 || error.status === 403))
    return 'Check what you typed. If your key was reset there, type `/cdn connect`.';
  if (isPlanError(error))
    return 'Your plan there does not include it; nothing you typed is wrong. The account’s owner can change the plan in the CDN’s control panel; then try again.';
  return `${writes.has(error.operation) ? 'Nothing was changed. ' : ''}Check what you typed.`;
}

function quoteService(error: ApiError): string {
  const { serviceMessage, errorKey } = error;
  const fields = namedFields(error);
  if (fields.length > 0) return `: ${describeFields(fields)}`;
  if (serviceMessage) return `: “${escapeMrkdwn(serviceMessage, 300)}”`;
  return errorKey ? ` (${formatCode(errorKey, 80)}).` : '.';
}

/** With field errors, the message itself says only "One or more validation errors occurred." */
function namedFields({ fieldErrors }: ApiError) {
  return fieldErrors.filter(({ field }) => field !== undefined && field !== '');
}

const writes: ReadonlySet<string> = new Set(['Update Variable', 'Delete All Volume Instances']);

const shieldZoneSource =
  'A shield zone’s ID is not the pull zone’s. It is in the CDN’s control panel; the bot offers those it has shown before.';

const idSources: Readonly<Record<string, string>> = {
  [exportOperation]: shieldZoneSource,
  'Get upload scanning metrics': shieldZoneSource,
  'Delete All Volume Instances':
    'Either the app’s ID or the volume’s is wrong, or the volume is gone. `/cdn app` offers the apps that your zones use; volumes are in the CDN’s control panel.',
  'Update Variable':
    'Either the script’s ID or the variable’s is wrong, or the variable is gone. `/cdn zone` shows a zone’s scripts; variables are in the CDN’s control panel.',
};
