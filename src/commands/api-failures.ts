import { exportOperation, isWindowError } from '../api/event-logs.ts';
import { type ApiError, isPlanError } from '../api/http/errors.ts';
import { escapeMrkdwn, formatCode, pluralize } from '../views/blocks/text.ts';

export interface ExplainedFailure {
  /** mrkdwn, foreign words escaped. */
  readonly message: string;
  readonly hint: string;
  readonly offer?: 'connect';
}

/**
 * The text for a failure of the CDN: the only place where error codes become sentences. The service's own text appears
 * only where it explains a refusal, escaped and truncated.
 */
export function describeApiError(error: ApiError): ExplainedFailure {
  const text = describeCode(error);
  const hint = error.requestId
    ? `${text.hint} The CDN's support can look up the request ${formatCode(error.requestId, 80)}.`
    : text.hint;
  return { ...text, hint };
}

function describeCode(error: ApiError): ExplainedFailure {
  switch (error.code) {
    case 'key_refused':
      return {
        message: 'The CDN refused your key.',
        hint: 'It was deleted or replaced there, or lacks this right. Connect the current one.',
        offer: 'connect',
      };
    case 'refused':
      return {
        message: `The CDN refused this${quoteService(error)}`,
        hint: isWindowError(error)
          ? 'It keeps events for 72 hours only, and the whole window has to lie in them. Choose one that does.'
          : isPlanError(error)
            ? 'Your plan there does not include it; nothing you typed is wrong. Whoever pays for the account can change the plan in the CDN’s own dashboard; then try again.'
            : 'Nothing was changed. Check what you typed.',
      };
    case 'not_found':
      return { message: 'The CDN does not know this id.', hint: describeIdSource(error.operation) };
    case 'rate_limited':
      return {
        message: 'The CDN asks for a pause: too many requests with your key.',
        hint: `Try again in ${formatWait(error.retryAfterSeconds)}.`,
      };
    case 'unavailable':
      return {
        message: `The CDN has a problem of its own${error.status ? ` (HTTP ${error.status})` : ''}.`,
        hint: 'Try again in a minute; its status page tells of outages.',
      };
    case 'unreachable':
      return {
        message: 'The CDN cannot be reached from here.',
        hint: 'Try again in a minute. If it stays so, the bot’s network or `CDN_API_URL` needs a look.',
      };
    case 'timeout':
      return { message: 'The CDN took too long to answer.', hint: 'Try again in a minute.' };
    case 'cut':
      return { message: 'The CDN’s answer broke off in the middle.', hint: 'Try again.' };
    case 'unexpected':
      return {
        message: 'The CDN answered with something unreadable, such as a web page where data belongs.',
        hint: 'Something between the bot and the CDN may be answering for it. Try again in a minute.',
      };
    case 'cancelled':
      return { message: 'This was stopped before it was done.', hint: 'Run it again.' };
  }
}

/** The service's message, else its error key. */
function quoteService({ serviceMessage, errorKey }: ApiError): string {
  if (serviceMessage) return `: “${escapeMrkdwn(serviceMessage, 300)}”`;
  return errorKey ? ` (${formatCode(errorKey, 80)}).` : '.';
}

/** Where the right id is found. */
function describeIdSource(operation: string): string {
  switch (operation) {
    case exportOperation:
    case 'Get upload scanning metrics':
      return 'It wants a shield zone’s id, which is not the pull zone’s. Check it for slips against the CDN’s own dashboard: the bot cannot list shield zones.';
    case 'Get Application Usage Summary':
      return 'It wants an app’s id. Check it for slips; `/cdn app` offers the apps that your zones belong to, and `/cdn zone` shows a zone’s.';
    case 'Delete All Volume Instances':
      return 'Either the app’s id or the volume’s is wrong, or the volume is gone. `/cdn app` offers the apps that your zones belong to; volumes are in the CDN’s own dashboard.';
    case 'Update Variable':
      return 'Either the script’s id or the variable’s is wrong, or the variable is gone. `/cdn zone` shows a zone’s scripts; variables are in the CDN’s own dashboard.';
    default:
      return 'Check it for slips; `/cdn zones` lists the zones your key sees.';
  }
}

function formatWait(seconds: number | undefined): string {
  if (seconds === undefined) return 'a minute';
  return seconds < 100
    ? pluralize(Math.max(1, Math.ceil(seconds)), 'second')
    : pluralize(Math.ceil(seconds / 60), 'minute');
}
